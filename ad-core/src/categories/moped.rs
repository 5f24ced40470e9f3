//! Moped (1121). Fields as Motorcycle except for what stands here.

use super::{
    category::{Category, FromV3, Rows, all_of, except, registered},
    common::REGISTERED,
    motorcycle, rules,
};
use crate::fields::{
    Field,
    Since::V44,
    WEIGHT,
    row::{measure, slug, text},
};

pub(super) static MOPED: Category = registered(1121, "moped", "Mopeds", FromV3::Migrates(&[1121]))
    .with_tables(&[all_of(BODY), all_of(REGISTERED), AS_MOTORCYCLE, all_of(FIELDS)])
    .with_rules(&[rules::REGISTERED, rules::OWNERS]);

/// What mopeds, and the types that have the same fields, share with motorcycles.
pub(super) const AS_MOTORCYCLE: Rows =
    except(motorcycle::FIELDS, &["powertrain.displacement", "powertrain.engine_type"]);

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "moped.body_type", "Body type; `moped` if absent").default("moped"),
    slug("brand", "moped.brand", "Brand"),
    text("model", "Model, free text"),
];

/// Rows of mopeds beyond those of motorcycles.
#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    measure("physics.curb_weight", WEIGHT, "Curb weight").since(V44),
];
