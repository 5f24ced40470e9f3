//! Agriculture tools (1229): its table, row for row.

use super::{
    category::{Category, FromV3, all_of, unregistered},
    common::model_year,
};
use crate::fields::{
    Field, WEIGHT,
    row::{measure, slug, text},
};

pub(super) static AGRICULTURE_TOOLS: Category =
    unregistered(1229, "agriculture-tools", "Agriculture tools", FromV3::Migrates(&[1225, 1226]))
        .with_tables(&[all_of(FIELDS)]);

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    text("brand", "Brand, free text"),
    text("model", "Model, free text"),
    model_year(),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    slug("tools_category", "agriculture-tools.tools_category", "Tool sub-category"),
];
