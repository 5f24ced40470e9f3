//! Boat (1060). All fields optional.

use super::{
    category::{Category, FromV3, all_of, unregistered},
    common::{equipments, model_year, plate},
};
use crate::fields::{
    Field, LENGTH, POWER, WEIGHT,
    row::{boolean, count, measure, slug, text},
};

pub(super) static BOAT: Category =
    unregistered(1060, "boat", "Boats", FromV3::Migrates(&[1061, 1062, 1063, 1064, 1065, 1066, 1067]))
        .with_tables(&[all_of(FIELDS)]);

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    slug("brand", "boat.brand", "Brand"),
    text("model", "Model, free text"),
    model_year(),
    slug("body_type", "boat.body_type", "Boat class"),
    plate(),
    text("srs_number", "Boat register number"),
    text("color", "Colour, free text"),
    measure("max_speed", &["knots", "kmh"], "Maximal speed"),
    boolean("motor_included", "Whether a motor is included"),
    slug("powertrain.type", "boat.motor_type", "Motor type"),
    measure("powertrain.power", POWER, "Power"),
    slug("powertrain.fuel", "boat.fuel", "Fuel"),
    text("powertrain.engine_brand", "Engine brand, free text"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.depth", LENGTH, "Depth"),
    measure("physics.width", LENGTH, "Width"),
    measure("physics.weight", WEIGHT, "Weight"),
    slug("physics.material", "boat.material", "Hull material"),
    count("physics.number_of_seats", "Number of seats"),
    count("physics.number_of_beds", "Number of beds"),
    equipments(),
];
