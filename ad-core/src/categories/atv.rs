//! ATV (1143). Same fields as Snowmobile.

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::REGISTERED,
    moped, rules, snowmobile,
};
use crate::fields::{
    Field,
    row::{slug, text},
};

pub(super) static ATV: Category = Category {
    id: 1143,
    name: "ATV",
    vehicle_type: Some("atv"),
    from_v3: FromV3::Converts,
    registered: true,
    heading: Heading::Forbidden,
    tables: &[
        all_of(BODY),
        all_of(REGISTERED),
        moped::AS_MOTORCYCLE,
        all_of(moped::FIELDS),
        all_of(snowmobile::FIELDS),
    ],
    rules: &[rules::REGISTERED, rules::OWNERS],
    compiled: compiled(|| Compiled::of(ATV.tables)),
};

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "atv.body_type", "Body type; `atv` if absent").default("atv"),
    slug("brand", "atv.brand", "Brand"),
    text("model", "Model, free text"),
];
