//! Agriculture Tractor (1228). All thresher fields, with brands of its own, and what stands here.

use super::{
    agriculture_thresher,
    category::{Category, FromV3, all_of, except, unregistered},
    common::plate,
};
use crate::fields::{
    Field,
    row::{slug, text, text_between},
};

pub(super) static AGRICULTURE_TRACTOR: Category =
    unregistered(1228, "agriculture-tractor", "Agriculture tractor", FromV3::Migrates(&[1222])).with_tables(&[
        all_of(BRAND),
        except(agriculture_thresher::FIELDS, &["brand"]),
        all_of(FIELDS),
    ]);

const BRAND: &[Field] = &[slug("brand", "agriculture-tractor.brand", "Brand")];

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    plate(),
    text_between("vin", 5, 17, "Vehicle identification number, 5 to 17 characters"),
    text("tyre.front", "Size of the front tyres, free text"),
    text("tyre.rear", "Size of the rear tyres, free text"),
];
