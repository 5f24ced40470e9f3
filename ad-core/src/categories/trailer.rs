//! Trailer (1045). Its ads cannot be created, only read, updated and deleted. No powertrain fields.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::{NUMBER_OF_OWNERS, REGISTERED, body},
    rules,
};
use crate::fields::{
    Field, LENGTH, WEIGHT,
    row::{boolean, measure},
};

pub(super) static TRAILER: Category =
    registered(super::category::TRAILER, "trailer", "Trailer", FromV3::Migrates(&[super::category::TRAILER]))
        .with_tables(&[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)])
        .with_rules(&[rules::REGISTERED, rules::OWNERS]);

const BODY: &[Field] = &body("trailer.body_type", "trailer.brand");

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
