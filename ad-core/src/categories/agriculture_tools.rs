//! Agriculture Tools (1229).

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::model_year,
};
use crate::fields::{
    Field, WEIGHT,
    row::{measure, slug, text},
};

pub(super) static AGRICULTURE_TOOLS: Category = Category {
    id: 1229,
    name: "Agriculture tools",
    vehicle_type: Some("agriculture-tools"),
    from_v3: FromV3::Migrates(&[1225, 1226]),
    registered: false,
    heading: Heading::Required,
    tables: &[all_of(FIELDS)],
    rules: &[],
    compiled: compiled(|| Compiled::of(AGRICULTURE_TOOLS.tables)),
};

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    text("brand", "Brand, free text"),
    text("model", "Model, free text"),
    model_year(),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    slug("tools_category", "agriculture-tools.tools_category", "Tool sub-category"),
];
