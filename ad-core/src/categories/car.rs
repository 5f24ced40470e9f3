//! Car (1020): its table, row for row, and the names of its rules.

use super::{
    category::{Category, FromV3, all_of, registered},
    common::{DRIVE_TYPES, FUELS, REGISTERED, TRANSMISSIONS},
    rules,
};
use crate::fields::{
    ChoiceValue, DISPLACEMENT, Field, Kind, MILEAGE, POWER,
    Since::{V4, V44},
    VOLUME, WEIGHT,
    row::{boolean, choice, choice_any_case, count, date, list, measure, objects, slug, text},
};

pub(super) static CAR: Category = registered(1020, "car", "Cars", FromV3::Converts)
    .with_tables(&[all_of(BODY), all_of(REGISTERED), all_of(FIELDS)])
    .with_rules(&[
        rules::REGISTERED,
        rules::MODELS,
        rules::NEW_USED_LOCK,
        rules::OWNERS,
        rules::WHEELS_AND_RATINGS,
        rules::LEASING_DETAILS,
        rules::ONLINE_PURCHASE,
    ]);

const WHEEL_SETS: &[ChoiceValue] = &[("summer", "Summer"), ("winter", "Winter"), ("winter_studded", "Winter, studded")];

const RATED: &[ChoiceValue] = &[
    ("exterior", "Exterior"),
    ("interior", "Interior"),
    ("engine", "Engine"),
    ("brakes", "Brakes"),
    ("equipment", "Equipment"),
];

/// The values of both groups of ratings; [`rules`] says which go with which name.
const RATINGS: &[ChoiceValue] = &[
    ("very_good", "Very good"),
    ("good", "Good"),
    ("approved", "Approved"),
    ("poor", "Poor"),
    ("minor_deviation", "Minor deviation"),
    ("greater_deviation", "Greater deviation"),
];

const fn millimetres(path: &'static str, doc: &'static str) -> Field {
    let kind = Kind::Decimal { min: 0.0, max: 30.0, decimals: None, numeric_text: false };
    Field::new(path, kind, doc).required()
}

const TYRE: &[Field] = &[millimetres("thread_depth", "Thread depth in mm, 0 to 30")];

const fn tyre(path: &'static str) -> Field {
    Field::new(path, Kind::Object { fields: TYRE }, "The tyre of this position").required()
}

const TYRES: &[Field] = &[tyre("front_left"), tyre("front_right"), tyre("rear_left"), tyre("rear_right")];

#[rustfmt::skip]
const WHEELS: &[Field] = &[
    choice("name", WHEEL_SETS, "Name of the set").required(),
    Field::new("tires", Kind::Object { fields: TYRES }, "Thread depth of each of the four tyres").required(),
    Field::new("rim_size", Kind::Decimal { min: 10.0, max: 30.0, decimals: None, numeric_text: false }, "Rim size in inches, 10 to 30").required(),
];

#[rustfmt::skip]
const VEHICLE_RATINGS: &[Field] = &[
    choice("name", RATED, "Rated part").required(),
    choice("value", RATINGS, "`very_good`, `good`, `approved` or `poor` for exterior and interior; `good`, `minor_deviation` or `greater_deviation` for the others").required(),
];

#[rustfmt::skip]
const BODY: &[Field] = &[
    slug("body_type", "car.body_type", "Body type"),
    slug("brand", "car.brand", "Brand"),
    Field::new("model", Kind::Model { list: "car-models" }, "Model of the brand"),
];

#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    measure("condition.mileage", MILEAGE, "Mileage; once set it cannot switch between zero and non-zero"),
    boolean("condition.is_new_vehicle", "Whether the vehicle is new; derived from the mileage if absent, and cannot change once set"),
    count("condition.number_of_owners", "Number of owners; 0 or null only for new vehicles, at least 1 for used ones").since(V4),
    objects("condition.wheels", WHEELS, 2, "name", "Sets of wheels; required if `vehicle_ratings` is given"),
    objects("condition.vehicle_ratings", VEHICLE_RATINGS, 5, "name", "Ratings; required if `wheels` is given"),
    choice("powertrain.transmission", TRANSMISSIONS, "Transmission"),
    measure("powertrain.power", POWER, "Power"),
    list("powertrain.fuels", &Kind::Choice { values: FUELS, any_case: true }, 5, "Fuels, several allowed, in any case"),
    choice_any_case("powertrain.drive_type", DRIVE_TYPES, "Driven wheels, in any case"),
    measure("powertrain.displacement", DISPLACEMENT, "Engine displacement").since(V4),
    measure("powertrain.environmental.fuel_consumption", &["l/100km"], "Fuel consumption").since(V4),
    slug("powertrain.environmental.fuel_consumption_standard", "car.consumption_standard", "Standard of the fuel consumption").since(V4),
    measure("powertrain.environmental.energy_consumption", &["kWh/100km"], "Energy consumption").since(V4),
    slug("powertrain.environmental.energy_consumption_standard", "car.consumption_standard", "Standard of the energy consumption").since(V4),
    measure("powertrain.environmental.co2_emission", &["g/km"], "CO2 emission").since(V4),
    measure("powertrain.environmental.driving_range", &["km"], "Driving range").since(V4),
    measure("powertrain.environmental.battery_capacity", &["kwh"], "Battery capacity").since(V4),
    count("physics.number_of_seats", "Number of seats").since(V4),
    count("physics.number_of_doors", "Number of doors").since(V4),
    measure("physics.boot_size", VOLUME, "Boot size").since(V4),
    measure("physics.max_trailer_weight", WEIGHT, "Maximal trailer weight").since(V4),
    measure("physics.gross_weight", WEIGHT, "Gross weight").since(V44),
    measure("physics.curb_weight", WEIGHT, "Curb weight").since(V44),
    slug("color_group", "car.color_group", "Exterior colour group").since(V4),
    text("interior_color", "Interior colour, free text").since(V4),
    boolean("has_damages", "Whether there are damages").since(V4),
    text("damages_details", "Details of the damages, free text").since(V4),
    boolean("has_repairs", "Whether there were repairs").since(V4),
    text("repairs_details", "Details of the repairs, free text").since(V4),
    boolean("has_been_tuned", "Whether the vehicle has been tuned").since(V4),
    text("tuning_details", "Details of the tuning, free text").since(V4),
    boolean("has_liabilities", "Whether there are liabilities").since(V4),
    text("liabilities_details", "Details of the liabilities, free text").since(V4),
    date("eu_check_last", "Last EU check").since(V4),
    date("eu_check_next", "Next EU check").since(V4),
    boolean("online_purchasable", "Whether it can be bought online; requires the online-purchase product, and is incompatible with leasing prices"),
    count("leasing_details.mileage_remaining", "Remaining mileage in Swedish mil; requires a leasing price on the ad").since(V44),
    count("leasing_details.remaining_months", "Remaining months of the leasing contract").since(V44),
    count("leasing_details.initial_payment", "Initial payment, in the currency unit of the ad's price").since(V44),
];
