//! Transport (1021). Same as Car except for what stands here.

use super::{
    car,
    category::{Category, Compiled, FromV3, Heading, all_of, compiled, except},
    common::REGISTERED,
    rules,
};
use crate::fields::{
    Field, LENGTH,
    Since::V4,
    VOLUME, WEIGHT,
    row::{measure, slug, text},
};

pub(super) static TRANSPORT: Category = Category {
    id: 1021,
    name: "Vans",
    vehicle_type: Some("transport"),
    from_v3: FromV3::Converts,
    registered: true,
    heading: Heading::Forbidden,
    tables: &[
        all_of(BODY),
        all_of(REGISTERED),
        except(car::FIELDS, &["leasing_details", "physics.curb_weight", "physics.gross_weight", "physics.boot_size"]),
        all_of(FIELDS),
    ],
    rules: &[rules::REGISTERED, rules::NEW_USED_LOCK, rules::OWNERS, rules::WHEELS_AND_RATINGS, rules::ONLINE_PURCHASE],
    compiled: compiled(|| Compiled::of(TRANSPORT.tables)),
};

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "transport.body_type", "Body type"),
    slug("brand", "transport.brand", "Brand"),
    text("model", "Model, free text"),
];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    measure("physics.boot_size", VOLUME, "Boot size").since(V4),
    measure("powertrain.torque", &["nm", "lb-ft"], "Torque"),
    measure("physics.length", LENGTH, "Length"),
    measure("physics.cargo.length", LENGTH, "Length of the cargo space"),
    measure("physics.cargo.width", LENGTH, "Width of the cargo space"),
    measure("physics.cargo.height", LENGTH, "Height of the cargo space"),
];
