//! Snowmobile (1180). Same fields as Moped, and the displacement.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::REGISTERED,
    moped, rules,
};
use crate::fields::{
    DISPLACEMENT, Field,
    row::{measure, slug, text},
};

pub(super) static SNOWMOBILE: Category = registered(1180, "snowmobile", "Snowmobile", FromV3::Converts)
    .with_tables(&[all_of(BODY), all_of(REGISTERED), moped::AS_MOTORCYCLE, all_of(moped::FIELDS), all_of(FIELDS)])
    .with_rules(&[rules::REGISTERED, rules::OWNERS]);

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
