//! Snowmobile (1180). Same fields as Moped, and the displacement.

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::REGISTERED,
    moped, rules,
};
use crate::fields::{
    DISPLACEMENT, Field,
    row::{measure, slug, text},
};

pub(super) static SNOWMOBILE: Category = Category {
    id: 1180,
    name: "Snowmobile",
    vehicle_type: Some("snowmobile"),
    from_v3: FromV3::Converts,
    registered: true,
    heading: Heading::Forbidden,
    tables: &[all_of(BODY), all_of(REGISTERED), moped::AS_MOTORCYCLE, all_of(moped::FIELDS), all_of(FIELDS)],
    rules: &[rules::REGISTERED, rules::OWNERS],
    compiled: compiled(|| Compiled::of(SNOWMOBILE.tables)),
};

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "snowmobile.body_type", "Body type; `snowmobile` if absent").default("snowmobile"),
    slug("brand", "snowmobile.brand", "Brand"),
    text("model", "Model, free text"),
];

/// What it has beyond mopeds.
#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement"),
];
