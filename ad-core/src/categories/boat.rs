//! Boat (1060). All fields optional.

use super::{
    Category,
    common::{EQUIPMENT, MOST_EQUIPMENTS},
    tree_of,
};
use crate::fields::{
    Field, Kind, LENGTH, Tree, WEIGHT,
    row::{boolean, count, integer, list, measure, slug, text},
};

pub(super) static BOAT: Category = Category {
    id: 1060,
    name: "Boats",
    vehicle_type: "boat",
    registered: false,
    tables: &[FIELDS],
    rules: &[],
    tree: tree_of(|| Tree::new(BOAT.fields())),
};

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    slug("brand", "boat.brand", "Brand"),
    text("model", "Model, free text"),
    integer("model_year", 0, 9999, "Model year"),
    slug("body_type", "boat.body_type", "Boat class"),
    Field::new("registration_number", Kind::Plate { max: 255 }, "Registration number"),
    text("srs_number", "Boat register number"),
    text("color", "Colour, free text"),
    measure("max_speed", &["knots", "kmh"], "Maximal speed"),
    boolean("motor_included", "Whether a motor is included"),
    slug("powertrain.type", "boat.motor_type", "Motor type"),
    measure("powertrain.power", &["hp", "kw"], "Power"),
    slug("powertrain.fuel", "boat.fuel", "Fuel"),
    text("powertrain.engine_brand", "Engine brand, free text"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.depth", LENGTH, "Depth"),
    measure("physics.width", LENGTH, "Width"),
    measure("physics.weight", WEIGHT, "Weight"),
    slug("physics.material", "boat.material", "Hull material"),
    count("physics.number_of_seats", "Number of seats"),
    count("physics.number_of_beds", "Number of beds"),
    list("equipments", EQUIPMENT, MOST_EQUIPMENTS, "Equipment, one item per element, no commas inside an item"),
];
