//! Caravan (1101). No powertrain fields.

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::{NUMBER_OF_OWNERS, REGISTERED},
    rules,
};
use crate::fields::{
    Field, LENGTH,
    Since::V43,
    WEIGHT,
    row::{boolean, count, measure, slug, text},
};

pub(super) static CARAVAN: Category = Category {
    id: 1101,
    name: "Caravan",
    vehicle_type: Some("caravan"),
    from_v3: FromV3::Migrates(&[1101]),
    registered: true,
    heading: Heading::Forbidden,
    tables: &[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)],
    rules: &[rules::REGISTERED, rules::OWNERS],
    compiled: compiled(|| Compiled::of(CARAVAN.tables)),
};

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "caravan.body_type", "Body type"),
    slug("brand", "caravan.brand", "Brand"),
    text("model", "Model, free text"),
];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    boolean("condition.is_new_vehicle", "Whether the vehicle is new"),
    NUMBER_OF_OWNERS,
    boolean("condition.has_warranty", "Whether there is a warranty").since(V43),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    measure("physics.curb_weight", WEIGHT, "Curb weight"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.interior_length", LENGTH, "Length of the interior").since(V43),
    measure("physics.width", LENGTH, "Width").since(V43),
    count("physics.number_of_beds", "Number of beds"),
];
