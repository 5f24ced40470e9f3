//! Agriculture thresher (1227): its table, row for row.

use super::{
    category::{Category, FromV3, all_of, unregistered},
    common::{equipments, model_year},
};
use crate::fields::{
    DISPLACEMENT, Field, Kind, POWER, WEIGHT,
    row::{measure, slug, text},
};

pub(super) static AGRICULTURE_THRESHER: Category =
    unregistered(1227, "agriculture-thresher", "Agriculture thresher", FromV3::Migrates(&[1222]))
        .with_tables(&[all_of(FIELDS)]);

#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    slug("brand", "agriculture-thresher.brand", "Brand"),
    text("model", "Model, free text"),
    model_year(),
    slug("powertrain.fuel", "agriculture-thresher.fuel", "Fuel"),
    measure("powertrain.power", POWER, "Power"),
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement"),
    Field::new("condition.engine_runtime", Kind::Measure { units: &["hour"], min: 1.0 }, "Working hours, at least 1"),
    measure("physics.gross_weight", WEIGHT, "Gross weight"),
    equipments(),
];
