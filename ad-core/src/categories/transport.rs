//! Transport (1021). Same as Car except for what stands here.

use super::{
    car,
    category::{Category, FromV3, all_of, except, registered},
    common::{REGISTERED, body},
    rules,
};
use crate::fields::{Field, LENGTH, Since::V4, VOLUME, WEIGHT, row::measure};

pub(super) static TRANSPORT: Category = registered(1021, "transport", "Vans", FromV3::Converts)
    .with_tables(&[
        all_of(BODY),
        all_of(REGISTERED),
        except(car::FIELDS, &["leasing_details", "physics.curb_weight", "physics.gross_weight", "physics.boot_size"]),
        all_of(FIELDS),
    ])
    .with_rules(&[
        rules::REGISTERED,
        rules::NEW_USED_LOCK,
        rules::OWNERS,
        rules::WHEELS_AND_RATINGS,
        rules::ONLINE_PURCHASE,
    ]);

const BODY: &[Field] = &body("transport.body_type", "transport.brand");

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
