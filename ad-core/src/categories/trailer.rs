//! Trailer (1045). Its ads cannot be created, only read, updated and deleted. No powertrain fields.

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::{NUMBER_OF_OWNERS, REGISTERED},
    rules,
};
use crate::fields::{
    Field, LENGTH, WEIGHT,
    row::{boolean, measure, slug, text},
};

pub(super) static TRAILER: Category = Category {
    id: super::category::TRAILER,
    name: "Trailer",
    vehicle_type: Some("trailer"),
    from_v3: FromV3::Migrates(&[super::category::TRAILER]),
    registered: true,
    heading: Heading::Forbidden,
    tables: &[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)],
    rules: &[rules::REGISTERED, rules::OWNERS],
    compiled: compiled(|| Compiled::of(TRAILER.tables)),
};

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "trailer.body_type", "Body type"),
    slug("brand", "trailer.brand", "Brand"),
    text("model", "Model, free text"),
];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    boolean("condition.is_new_vehicle", "Whether the vehicle is new"),
    NUMBER_OF_OWNERS,
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.cargo.length", LENGTH, "Length of the cargo space"),
    measure("physics.cargo.width", LENGTH, "Width of the cargo space"),
    measure("physics.cargo.height", LENGTH, "Height of the cargo space"),
];
