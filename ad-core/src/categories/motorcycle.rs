//! Motorcycle (1140): its table, row for row.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::{FUELS, NUMBER_OF_OWNERS, REGISTERED, TRANSMISSIONS, body},
    rules,
};
use crate::fields::{
    ChoiceValue, DISPLACEMENT, Field, Kind, MILEAGE, POWER,
    row::{boolean, choice, list, measure},
};

pub(super) static MOTORCYCLE: Category = registered(1140, "motorcycle", "Motorcycle", FromV3::Converts)
    .with_tables(&[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)])
    .with_rules(&[rules::REGISTERED, rules::OWNERS]);

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

const BODY: &[Field] = &body("motorcycle.body_type", "motorcycle.brand");

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
