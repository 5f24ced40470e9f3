//! ATV (1143). Same fields as Snowmobile.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::REGISTERED,
    moped, rules, snowmobile,
};
use crate::fields::{
    Field,
    row::{slug, text},
};

pub(super) static ATV: Category = registered(1143, "atv", "ATV", FromV3::Converts)
    .with_tables(&[
        all_of(BODY),
        all_of(REGISTERED),
        moped::AS_MOTORCYCLE,
        all_of(moped::FIELDS),
        all_of(snowmobile::FIELDS),
    ])
    .with_rules(&[rules::REGISTERED, rules::OWNERS]);

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "atv.body_type", "Body type; `atv` if absent").default("atv"),
    slug("brand", "atv.brand", "Brand"),
    text("model", "Model, free text"),
];
