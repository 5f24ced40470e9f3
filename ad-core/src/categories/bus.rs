//! Bus (1321). Its table, but for the slugs, is that of trucks too.

use super::{
    category::{Category, FromV3, all_of, unregistered},
    common::{equipments, model_year, plate},
};
use crate::fields::{
    DISPLACEMENT, Field, LENGTH, MILEAGE, POWER, VOLUME, WEIGHT,
    row::{boolean, count, date, measure, slug, text, text_between},
};

pub(super) static BUS: Category =
    unregistered(1321, "bus", "Bus", FromV3::Migrates(&[1221])).with_tables(&[all_of(SLUGS), all_of(FIELDS)]);

#[rustfmt::skip]
const SLUGS: &[Field] = &[
    slug("brand", "bus.brand", "Brand"),
    slug("body_type", "bus.body_type", "Body type"),
    slug("powertrain.axle_type", "bus.axle_type", "Axle type"),
    slug("physics.cabin_type", "bus.cabin_type", "Cabin type"),
    slug("physics.box_type", "bus.box_type", "Box type"),
    slug("physics.suspension_front", "bus.suspension", "Front suspension"),
    slug("physics.suspension_rear", "bus.suspension", "Rear suspension"),
];

#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    text("model", "Model, free text"),
    model_year(),
    plate(),
    text_between("vin", 5, 17, "Vehicle identification number, 5 to 17 characters"),
    boolean("eu_approved", "Whether it is EU approved"),
    date("eu_approved_date", "Date of the EU approval"),
    date("in_traffic_date", "Date of the first registration"),
    measure("condition.mileage", MILEAGE, "Mileage"),
    text("powertrain.transmission", "Transmission, free text"),
    measure("powertrain.power", POWER, "Power"),
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.wheelbase", LENGTH, "Wheelbase"),
    measure("physics.cargo_weight", WEIGHT, "Cargo weight"),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    measure("physics.boot_size", VOLUME, "Boot size"),
    measure("physics.interior_size_height", LENGTH, "Height of the interior"),
    measure("physics.interior_size_length", LENGTH, "Length of the interior"),
    measure("physics.interior_size_width", LENGTH, "Width of the interior"),
    count("physics.number_of_seats", "Number of seats"),
    boolean("physics.extra_brake", "Whether there is an extra brake"),
    boolean("physics.tail_lift", "Whether there is a tail lift"),
    equipments(),
];
