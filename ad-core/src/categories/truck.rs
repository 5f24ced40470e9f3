//! Truck (1322). The table of buses with catalogue values of its own, and two rows more.

use super::{
    bus,
    category::{Category, FromV3, all_of, unregistered},
};
use crate::fields::{
    Field, LENGTH,
    row::{integer, measure, slug},
};

pub(super) static TRUCK: Category = unregistered(1322, "truck", "Truck", FromV3::Migrates(&[1221])).with_tables(&[
    all_of(SLUGS),
    all_of(bus::FIELDS),
    all_of(FIELDS),
]);

#[rustfmt::skip]
const SLUGS: &[Field] = &[
    slug("brand", "truck.brand", "Brand"),
    slug("body_type", "truck.body_type", "Body type"),
    slug("powertrain.axle_type", "truck.axle_type", "Axle type"),
    slug("physics.cabin_type", "truck.cabin_type", "Cabin type"),
    slug("physics.box_type", "truck.box_type", "Box type"),
    slug("physics.suspension_front", "truck.suspension", "Front suspension"),
    slug("physics.suspension_rear", "truck.suspension", "Rear suspension"),
];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    measure("physics.box_length", LENGTH, "Length of the box"),
    integer("physics.number_of_pallets", 1, 50, "Number of pallets"),
];
