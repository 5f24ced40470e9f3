//! Construction (1323): its table, row for row.

use super::category::{Category, FromV3, all_of, unregistered};
use crate::fields::{
    DISPLACEMENT, Field, LENGTH, POWER, VOLUME, WEIGHT,
    row::{boolean, count, integer, measure, slug, text},
};

pub(super) static CONSTRUCTION: Category =
    unregistered(1323, "construction", "Construction", FromV3::Migrates(&[1223])).with_tables(&[all_of(FIELDS)]);

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    slug("brand", "construction.brand", "Brand"),
    slug("body_type", "construction.body_type", "Body type"),
    integer("model_year", 1900, 2100, "Model year"),
    boolean("service_contract", "Whether there is a service contract"),
    text("vin", "Vehicle identification number"),
    measure("condition.engine_runtime", &["hour"], "Working hours"),
    measure("powertrain.power", POWER, "Power"),
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement"),
    text("powertrain.transmission", "Transmission, free text"),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    measure("physics.workload", WEIGHT, "Workload"),
    measure("physics.lift_capacity", WEIGHT, "Lift capacity"),
    measure("physics.lift_height", LENGTH, "Lift height"),
    measure("physics.boot_size", VOLUME, "Boot size"),
    count("physics.max_speed", "Maximal speed in km/h"),
    boolean("physics.additional_hydraulics", "Whether there are additional hydraulics"),
    count("physics.auxiliary_hydraulics_performance", "Performance of the auxiliary hydraulics in litres per minute"),
    slug("physics.cab_type", "construction.cab_type", "Cab type"),
    slug("physics.chassis_type", "construction.chassis_type", "Chassis type"),
    boolean("physics.ce_marked", "Whether it is CE marked"),
    boolean("physics.statement_of_compliance", "Whether there is a statement of compliance"),
];
