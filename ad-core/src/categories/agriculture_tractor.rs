//! Agriculture Tractor (1228). All thresher fields, with brands of its own, and what stands here.

use super::{
    agriculture_thresher,
    category::{Category, Compiled, FromV3, Heading, all_of, compiled, except},
    common::plate,
};
use crate::fields::{
    Field,
    row::{slug, text, text_between},
};

pub(super) static AGRICULTURE_TRACTOR: Category = Category {
    id: 1228,
    name: "Agriculture tractor",
    vehicle_type: Some("agriculture-tractor"),
    from_v3: FromV3::Migrates(&[1222]),
    registered: false,
    heading: Heading::Required,
    tables: &[all_of(BRAND), except(agriculture_thresher::FIELDS, &["brand"]), all_of(FIELDS)],
    rules: &[],
    compiled: compiled(|| Compiled::of(AGRICULTURE_TRACTOR.tables)),
};

const BRAND: &[Field] = &[slug("brand", "agriculture-tractor.brand", "Brand")];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    plate(),
    text_between("vin", 5, 17, "Vehicle identification number, 5 to 17 characters"),
    text("tyre.front", "Size of the front tyres, free text"),
    text("tyre.rear", "Size of the rear tyres, free text"),
];
