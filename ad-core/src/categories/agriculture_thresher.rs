//! Agriculture Thresher (1227).

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::{equipments, model_year},
};
use crate::fields::{
    DISPLACEMENT, Field, Kind, POWER, WEIGHT,
    row::{measure, slug, text},
};

pub(super) static AGRICULTURE_THRESHER: Category = Category {
    id: 1227,
    name: "Agriculture thresher",
    vehicle_type: Some("agriculture-thresher"),
    from_v3: FromV3::Migrates(&[1222]),
    registered: false,
    heading: Heading::Required,
    tables: &[all_of(FIELDS)],
    rules: &[],
    compiled: compiled(|| Compiled::of(AGRICULTURE_THRESHER.tables)),
};

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
