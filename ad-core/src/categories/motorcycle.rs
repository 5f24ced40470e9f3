//! Motorcycle (1140).

use super::{
    category::{Category, Compiled, FromV3, Heading, all_of, compiled},
    common::{FUELS, NUMBER_OF_OWNERS, REGISTERED, TRANSMISSIONS},
    rules,
};
use crate::fields::{
    ChoiceValue, DISPLACEMENT, Field, Kind, MILEAGE, POWER,
    row::{boolean, choice, list, measure, slug, text},
};

pub(super) static MOTORCYCLE: Category = Category {
    id: 1140,
    name: "Motorcycle",
    vehicle_type: Some("motorcycle"),
    from_v3: FromV3::Converts,
    registered: true,
    heading: Heading::Forbidden,
    tables: &[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)],
    rules: &[rules::REGISTERED, rules::OWNERS],
    compiled: compiled(|| Compiled::of(MOTORCYCLE.tables)),
};

const ENGINE_TYPES: &[ChoiceValue] = &[
    ("unknown", "Unknown"),
    ("single", "Single"),
    ("flat-twin", "Flat twin"),
    ("parallel-twin", "Parallel twin"),
    ("inline-2", "Inline 2"),
    ("v-twin", "V-twin"),
    ("inline-3", "Inline 3"),
    ("flat-4", "Flat 4"),
    ("inline-4", "Inline 4"),
    ("v-4", "V4"),
    ("flat-6", "Flat 6"),
    ("inline-6", "Inline 6"),
    ("v-twin-8", "V-twin 8"),
];

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "motorcycle.body_type", "Body type"),
    slug("brand", "motorcycle.brand", "Brand"),
    text("model", "Model, free text"),
];

#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    measure("condition.mileage", MILEAGE, "Mileage; may change between zero and non-zero"),
    boolean("condition.is_new_vehicle", "Whether the vehicle is new; derived from the mileage if absent"),
    NUMBER_OF_OWNERS,
    measure("condition.engine_runtime", &["hour", "min"], "Operating time of the engine"),
    choice("powertrain.transmission", TRANSMISSIONS, "Transmission"),
    measure("powertrain.power", POWER, "Power"),
    list("powertrain.fuels", &Kind::Choice { values: FUELS, any_case: true }, 5, "Fuels, several allowed, in any case"),
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement"),
    choice("powertrain.engine_type", ENGINE_TYPES, "Engine type"),
];
