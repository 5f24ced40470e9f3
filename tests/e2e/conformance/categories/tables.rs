//! The tables of `category-fields.md`, row for row.

use serde_json::{Value, json};

use super::row::{
    Row, boolean, choice, choice_any_case, choices, date, integer, integer_of, items, measure, measure_from, plate,
    slug, text, text_of, text_up_to, web_address,
};

const DISTANCE: &[&str] = &["km", "mil"];
const POWER: &[&str] = &["hp", "kw"];
const DISPLACEMENT: &[&str] = &["cc", "l"];
const WEIGHT: &[&str] = &["g", "kg", "t"];
const LENGTH: &[&str] = &["mm", "cm", "m"];
const VOLUME: &[&str] = &["m3", "l"];
const TRANSMISSIONS: &[&str] = &["manual", "automatic", "sequential"];
const FUELS: &[&str] = &["gasoline", "diesel", "electric", "ethanol", "natural_gas"];

/// The heading of 'Common fields of all registered vehicle categories'.
pub(super) const COMMON_SECTION: &str = "Common fields";

/// 'Common fields of all registered vehicle categories'. `model`, `registration_number` and `salesperson` have rules of
/// their own beside it.
pub(super) const COMMON: &[Row] = &[
    slug("body_type"),
    slug("brand"),
    text("model_type"),
    integer_of("model_year", 1900, 2100),
    date("in_traffic_date"),
    text_of("vin", 17, 19),
    text("color"),
    boolean("is_vat_deductible"),
    boolean("registration_number_hidden"),
    items("equipments"),
    text_up_to("warranty", 500),
    text_up_to("return_policy", 500),
    text_up_to("service_history", 500),
    text_up_to("home_delivery", 500),
    web_address("product_declaration"),
];

/// Rows of 'Common fields' that some types have otherwise: a car's `model` is validated against its brand's, and a
/// trailer's plate can only stay what it is.
pub(super) const COMMON_BUT: &[Row] = &[text("model"), plate("registration_number", Some(6))];

/// Fields of 'Common fields' with cases of their own.
pub(super) const COMMON_OWN: &[Row] = &[text("salesperson")];

fn leasing() -> Value {
    json!({"price": [{"type": "leasing", "amount": 3500}]})
}

/// 'Car (1020)'. `condition.wheels` and `condition.vehicle_ratings` have rules of their own beside it.
pub(super) const CAR: &[Row] = &[
    measure("condition.mileage", DISTANCE),
    boolean("condition.is_new_vehicle"),
    integer("condition.number_of_owners").since("V4"),
    choice("powertrain.transmission", TRANSMISSIONS),
    measure("powertrain.power", POWER),
    choices("powertrain.fuels", FUELS),
    choice_any_case("powertrain.drive_type", &["fwd", "rwd", "awd"]),
    measure("powertrain.displacement", DISPLACEMENT).since("V4"),
    measure("powertrain.environmental.fuel_consumption", &["l/100km"]).since("V4"),
    slug("powertrain.environmental.fuel_consumption_standard").since("V4"),
    measure("powertrain.environmental.energy_consumption", &["kWh/100km"]).since("V4"),
    slug("powertrain.environmental.energy_consumption_standard").since("V4"),
    measure("powertrain.environmental.co2_emission", &["g/km"]).since("V4"),
    measure("powertrain.environmental.driving_range", &["km"]).since("V4"),
    measure("powertrain.environmental.battery_capacity", &["kwh"]).since("V4"),
    integer("physics.number_of_seats").since("V4"),
    integer("physics.number_of_doors").since("V4"),
    measure("physics.boot_size", VOLUME).since("V4"),
    measure("physics.max_trailer_weight", WEIGHT).since("V4"),
    measure("physics.gross_weight", WEIGHT).since("V4.4"),
    measure("physics.curb_weight", WEIGHT).since("V4.4"),
    slug("color_group").since("V4"),
    text("interior_color").since("V4"),
    boolean("has_damages").since("V4"),
    boolean("has_repairs").since("V4"),
    boolean("has_been_tuned").since("V4"),
    boolean("has_liabilities").since("V4"),
    text("damages_details").since("V4"),
    text("repairs_details").since("V4"),
    text("tuning_details").since("V4"),
    text("liabilities_details").since("V4"),
    date("eu_check_last").since("V4"),
    date("eu_check_next").since("V4"),
    boolean("online_purchasable"),
    integer("leasing_details.mileage_remaining").since("V4.4").beside(leasing),
    integer("leasing_details.remaining_months").since("V4.4"),
    integer("leasing_details.initial_payment").since("V4.4"),
];

/// The rows of 'Car' whose shape is a rule of its own.
pub(super) const CAR_OWN: &[Row] = &[items("condition.wheels"), items("condition.vehicle_ratings")];

/// 'Transport (1021)': same as Car except.
pub(super) fn transport() -> Vec<Row> {
    let as_car = CAR.iter().filter(|row| {
        !row.path.starts_with("leasing_details.")
            && !["physics.curb_weight", "physics.gross_weight"].contains(&row.path)
    });
    let own = [
        measure("physics.gross_weight", WEIGHT),
        measure("powertrain.torque", &["nm", "lb-ft"]),
        measure("physics.length", LENGTH),
        measure("physics.cargo.length", LENGTH),
        measure("physics.cargo.width", LENGTH),
        measure("physics.cargo.height", LENGTH),
    ];
    as_car.copied().chain(own).collect()
}

/// 'Motorcycle (1140)'.
pub(super) const MOTORCYCLE: &[Row] = &[
    measure("condition.mileage", DISTANCE),
    boolean("condition.is_new_vehicle"),
    integer("condition.number_of_owners").since("V4.3"),
    measure("condition.engine_runtime", &["hour", "min"]),
    choice("powertrain.transmission", TRANSMISSIONS),
    measure("powertrain.power", POWER),
    choices("powertrain.fuels", FUELS),
    measure("powertrain.displacement", DISPLACEMENT),
    choice(
        "powertrain.engine_type",
        &[
            "unknown",
            "single",
            "flat-twin",
            "parallel-twin",
            "inline-2",
            "v-twin",
            "inline-3",
            "flat-4",
            "inline-4",
            "v-4",
            "flat-6",
            "inline-6",
            "v-twin-8",
        ],
    ),
];

/// 'Moped (1121)'.
pub(super) const MOPED: &[Row] = &[
    measure("condition.mileage", DISTANCE),
    boolean("condition.is_new_vehicle"),
    integer("condition.number_of_owners").since("V4.3"),
    measure("condition.engine_runtime", &["hour", "min"]),
    choice("powertrain.transmission", TRANSMISSIONS),
    measure("powertrain.power", POWER),
    choices("powertrain.fuels", FUELS),
    measure("physics.curb_weight", WEIGHT).since("V4.4"),
];

/// 'Snowmobile (1180)', and 'ATV (1143)' with the same fields.
pub(super) fn snowmobile() -> Vec<Row> {
    MOPED.iter().copied().chain([measure("powertrain.displacement", DISPLACEMENT)]).collect()
}

/// 'Camper (1102)'.
pub(super) const CAMPER: &[Row] = &[
    slug("bed_type").since("V4.3"),
    text("chassis_type").since("V4.3"),
    measure("condition.mileage", DISTANCE),
    boolean("condition.is_new_vehicle"),
    integer("condition.number_of_owners").since("V4.3"),
    boolean("condition.has_warranty").since("V4.4"),
    choice("powertrain.transmission", TRANSMISSIONS),
    measure("powertrain.power", POWER),
    choices("powertrain.fuels", FUELS),
    slug("powertrain.drive_type").since("V4.3"),
    measure("powertrain.displacement", DISPLACEMENT).since("V4.3"),
    measure("physics.gross_weight", WEIGHT),
    measure("physics.curb_weight", WEIGHT),
    measure("physics.length", LENGTH),
    measure("physics.width", LENGTH).since("V4.3"),
    integer("physics.number_of_beds"),
    integer("physics.number_of_seats").since("V4.3"),
];

/// 'Caravan (1101)'.
pub(super) const CARAVAN: &[Row] = &[
    boolean("condition.is_new_vehicle"),
    integer("condition.number_of_owners").since("V4.3"),
    boolean("condition.has_warranty").since("V4.3"),
    measure("physics.gross_weight", WEIGHT),
    measure("physics.curb_weight", WEIGHT),
    measure("physics.length", LENGTH),
    measure("physics.interior_length", LENGTH).since("V4.3"),
    measure("physics.width", LENGTH).since("V4.3"),
    integer("physics.number_of_beds"),
];

/// 'Trailer (1045)'.
pub(super) const TRAILER: &[Row] = &[
    boolean("condition.is_new_vehicle"),
    integer("condition.number_of_owners").since("V4.3"),
    measure("physics.gross_weight", WEIGHT),
    measure("physics.length", LENGTH),
    measure("physics.cargo.length", LENGTH),
    measure("physics.cargo.width", LENGTH),
    measure("physics.cargo.height", LENGTH),
];

/// 'Boat (1060)'.
pub(super) const BOAT: &[Row] = &[
    slug("brand"),
    text("model"),
    integer("model_year"),
    slug("body_type"),
    plate("registration_number", None),
    text("srs_number"),
    text("color"),
    measure("max_speed", &["knots", "kmh"]),
    boolean("motor_included"),
    slug("powertrain.type"),
    measure("powertrain.power", POWER),
    slug("powertrain.fuel"),
    text("powertrain.engine_brand"),
    measure("physics.length", LENGTH),
    measure("physics.depth", LENGTH),
    measure("physics.width", LENGTH),
    measure("physics.weight", WEIGHT),
    slug("physics.material"),
    integer("physics.number_of_seats"),
    integer("physics.number_of_beds"),
    items("equipments"),
];

/// 'Bus (1321) and Truck (1322)'; units as decision 19 has them.
pub(super) const BUS: &[Row] = &[
    slug("brand"),
    slug("body_type"),
    text("model"),
    integer("model_year"),
    plate("registration_number", None),
    text_of("vin", 5, 17),
    boolean("eu_approved"),
    date("eu_approved_date"),
    date("in_traffic_date"),
    measure("condition.mileage", DISTANCE),
    slug("powertrain.axle_type"),
    text("powertrain.transmission"),
    measure("powertrain.power", POWER),
    measure("powertrain.displacement", DISPLACEMENT),
    slug("physics.cabin_type"),
    slug("physics.box_type"),
    measure("physics.length", LENGTH),
    measure("physics.wheelbase", LENGTH),
    measure("physics.cargo_weight", WEIGHT),
    measure("physics.gross_weight", WEIGHT),
    measure("physics.boot_size", VOLUME),
    measure("physics.interior_size_height", LENGTH),
    measure("physics.interior_size_length", LENGTH),
    measure("physics.interior_size_width", LENGTH),
    integer("physics.number_of_seats"),
    slug("physics.suspension_front"),
    slug("physics.suspension_rear"),
    boolean("physics.extra_brake"),
    boolean("physics.tail_lift"),
    items("equipments"),
];

/// 'Truck additionally'.
pub(super) fn truck() -> Vec<Row> {
    let own = [measure("physics.box_length", LENGTH), integer_of("physics.number_of_pallets", 1, 50)];
    BUS.iter().copied().chain(own).collect()
}

/// 'Agriculture Thresher (1227)'.
pub(super) const THRESHER: &[Row] = &[
    slug("brand"),
    text("model"),
    integer("model_year"),
    slug("powertrain.fuel"),
    measure("powertrain.power", POWER),
    measure("powertrain.displacement", DISPLACEMENT),
    measure_from("condition.engine_runtime", &["hour"], 1),
    measure("physics.gross_weight", WEIGHT),
    items("equipments"),
];

/// 'Agriculture Tractor (1228)': all thresher fields plus.
pub(super) fn tractor() -> Vec<Row> {
    let own = [plate("registration_number", None), text_of("vin", 5, 17), text("tyre.front"), text("tyre.rear")];
    THRESHER.iter().copied().chain(own).collect()
}

/// 'Agriculture Tools (1229)'.
pub(super) const TOOLS: &[Row] = &[
    text("brand"),
    text("model"),
    integer("model_year"),
    measure("physics.gross_weight", WEIGHT),
    slug("tools_category"),
];

/// 'Construction (1323)'; units as decision 19 has them.
pub(super) const CONSTRUCTION: &[Row] = &[
    slug("brand"),
    slug("body_type"),
    integer_of("model_year", 1900, 2100),
    boolean("service_contract"),
    text("vin"),
    measure("condition.engine_runtime", &["hour"]),
    measure("powertrain.power", POWER),
    measure("powertrain.displacement", DISPLACEMENT),
    text("powertrain.transmission"),
    measure("physics.gross_weight", WEIGHT),
    measure("physics.workload", WEIGHT),
    measure("physics.lift_capacity", WEIGHT),
    measure("physics.lift_height", LENGTH),
    measure("physics.boot_size", VOLUME),
    integer("physics.max_speed"),
    boolean("physics.additional_hydraulics"),
    integer("physics.auxiliary_hydraulics_performance"),
    slug("physics.cab_type"),
    slug("physics.chassis_type"),
    boolean("physics.ce_marked"),
    boolean("physics.statement_of_compliance"),
];
