//! Caravan (1101). No powertrain fields.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::{NUMBER_OF_OWNERS, REGISTERED, body},
    rules,
};
use crate::fields::{
    Field, LENGTH,
    Since::V43,
    WEIGHT,
    row::{boolean, count, measure},
};

pub(super) static CARAVAN: Category = registered(1101, "caravan", "Caravan", FromV3::Migrates(&[1101]))
    .with_tables(&[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)])
    .with_rules(&[rules::REGISTERED, rules::OWNERS]);

const BODY: &[Field] = &body("caravan.body_type", "caravan.brand");

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
