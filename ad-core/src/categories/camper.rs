//! Camper (1102): its table, row for row.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::{FUELS, NUMBER_OF_OWNERS, REGISTERED, TRANSMISSIONS, body},
    rules,
};
use crate::fields::{
    DISPLACEMENT, Field, Kind, LENGTH, MILEAGE, POWER,
    Since::{V43, V44},
    WEIGHT,
    row::{boolean, choice, count, list, measure, slug, text},
};

pub(super) static CAMPER: Category = registered(1102, "camper", "Motorhome (camper)", FromV3::Migrates(&[1102]))
    .with_tables(&[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)])
    .with_rules(&[rules::REGISTERED, rules::OWNERS]);

const BODY: &[Field] = &body("camper.body_type", "camper.brand");

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    slug("bed_type", "camper.bed_type", "Bed type").since(V43),
    text("chassis_type", "Base vehicle, free text").since(V43),
    measure("condition.mileage", MILEAGE, "Mileage; may change between zero and non-zero"),
    boolean("condition.is_new_vehicle", "Whether the vehicle is new; derived from the mileage if absent"),
    NUMBER_OF_OWNERS,
    boolean("condition.has_warranty", "Whether there is a warranty").since(V44),
    choice("powertrain.transmission", TRANSMISSIONS, "Transmission"),
    measure("powertrain.power", POWER, "Power"),
    list("powertrain.fuels", &Kind::Choice { values: FUELS, any_case: true }, 5, "Fuels, several allowed, in any case"),
    slug("powertrain.drive_type", "camper.drive_type", "Driven wheels").since(V43),
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement").since(V43),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    measure("physics.curb_weight", WEIGHT, "Curb weight"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.width", LENGTH, "Width").since(V43),
    count("physics.number_of_beds", "Number of beds"),
    count("physics.number_of_seats", "Number of seats").since(V43),
];
