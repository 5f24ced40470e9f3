//! The values of examples: a text for each path, parsed by the kind of its field. A measure is `197 hp`, and commas separate the
//! items of a list. The values of a vehicle type take precedence over those of all types.

use crate::{
    categories::Category,
    fields::{
        Field,
        row::{integer, measure, text},
    },
};

type Texts = &'static [(&'static str, &'static str)];

/// The texts of one category.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExampleValues {
    own: Texts,
    only: Option<&'static str>,
}

impl ExampleValues {
    pub(super) fn of(category: &Category) -> Self {
        let of_type = OF_TYPES.iter().find(|(vehicle_type, _)| Some(*vehicle_type) == category.vehicle_type);
        Self { own: of_type.map_or(WITHOUT_TYPE, |(_, own)| own), only: None }
    }

    /// The texts that do not depend on the category.
    pub(super) fn of_all() -> Self {
        Self { own: &[], only: None }
    }

    /// The same text whatever the path.
    pub(super) fn only(text: &'static str) -> Self {
        Self { own: &[], only: Some(text) }
    }

    /// The text of a path, or else of its last name.
    pub(super) fn text(self, path: &str) -> Option<&'static str> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let found =
            |texts: Texts, wanted: &str| texts.iter().find(|(known, _)| *known == wanted).map(|(_, text)| *text);
        let known = found(self.own, path).or_else(|| found(OF_ALL, path)).or_else(|| found(OF_ALL, name));
        self.only.or(known)
    }

    /// The price of the example, in whole SEK.
    pub(super) fn amount(self) -> u64 {
        self.text("amount").and_then(|text| text.parse().ok()).unwrap_or(49_900)
    }
}

/// Some fields that a category without a table may have.
pub(super) const UNTABLED: &[Field] = &[
    text("brand", "Brand"),
    text("model", "Model"),
    integer("model_year", 0, 9999, "Model year"),
    measure("condition.mileage", &["km"], "Mileage"),
];

const WITHOUT_TYPE: Texts = &[("brand", "Linde"), ("model", "E20"), ("condition.mileage", "18400 km")];

const OF_ALL: Texts = &[
    ("dealer_code", "north-cars"),
    ("dealer_group", "north"),
    ("latitude", "63.825"),
    ("longitude", "20.263"),
    ("salesperson", "anna@dealer.example"),
    ("body", "Well kept, serviced regularly, viewing by appointment."),
    ("name", "Anna Berg"),
    ("phone", "+46701234567"),
    ("email", "anna@dealer.example"),
    ("model_year", "2021"),
    ("in_traffic_date", "2021-04-16"),
    ("eu_approved", "true"),
    ("eu_approved_date", "2021-02-01"),
    ("eu_check_last", "2025-03-10"),
    ("eu_check_next", "2026-05-31"),
    ("color", "Dark grey metallic"),
    ("color_group", "grey"),
    ("interior_color", "Black"),
    ("is_vat_deductible", "true"),
    ("registration_number_hidden", "false"),
    ("equipments", "Tow bar, Cruise control, LED lights"),
    ("warranty", "12 months"),
    ("return_policy", "14 days"),
    ("service_history", "Full service history"),
    ("home_delivery", "Within 200 km"),
    ("product_declaration", "https://dealer.example/declaration.pdf"),
    ("service_contract", "true"),
    ("condition.is_new_vehicle", "false"),
    ("condition.number_of_owners", "1"),
    ("condition.has_warranty", "true"),
    ("condition.engine_runtime", "1850 hour"),
    ("condition.wheels.name", "summer"),
    ("condition.wheels.rim_size", "19"),
    ("thread_depth", "6.5"),
    ("condition.vehicle_ratings.name", "exterior"),
    ("condition.vehicle_ratings.value", "very_good"),
    ("powertrain.transmission", "automatic"),
    ("powertrain.fuels", "diesel"),
    ("powertrain.fuel", "diesel"),
    ("powertrain.drive_type", "fwd"),
    ("powertrain.environmental.fuel_consumption", "6.4 l/100km"),
    ("powertrain.environmental.fuel_consumption_standard", "wltp"),
    ("powertrain.environmental.energy_consumption", "19.8 kWh/100km"),
    ("powertrain.environmental.energy_consumption_standard", "wltp"),
    ("powertrain.environmental.co2_emission", "62 g/km"),
    ("powertrain.environmental.driving_range", "46 km"),
    ("powertrain.environmental.battery_capacity", "18.8 kwh"),
    ("physics.number_of_doors", "5"),
    ("physics.number_of_seats", "5"),
    ("physics.max_trailer_weight", "2250 kg"),
    ("has_damages", "true"),
    ("damages_details", "Small scratch on the rear bumper"),
    ("has_repairs", "true"),
    ("repairs_details", "New windscreen in 2024"),
    ("has_been_tuned", "true"),
    ("tuning_details", "Engine software of the manufacturer"),
    ("has_liabilities", "false"),
    ("liabilities_details", "None"),
    ("online_purchasable", "false"),
    ("leasing_details.mileage_remaining", "3200"),
    ("leasing_details.remaining_months", "22"),
    ("leasing_details.initial_payment", "30000"),
];

#[rustfmt::skip]
const OF_TYPES: &[(&str, Texts)] = &[
    ("car", &[
        ("amount", "349900"), ("brand", "volvo"), ("model", "xc60"), ("model_type", "T6 AWD"), ("body_type", "suv"),
        ("registration_number", "CAR21A"), ("vin", "YV1UZH5V1M1000001"), ("condition.mileage", "2800 mil"),
        ("powertrain.power", "341 hp"), ("powertrain.fuels", "gasoline, electric"), ("powertrain.drive_type", "awd"),
        ("powertrain.displacement", "1969 cc"), ("physics.boot_size", "483 l"), ("physics.gross_weight", "2660 kg"),
        ("physics.curb_weight", "2150 kg"),
    ]),
    ("transport", &[
        ("amount", "289900"), ("brand", "volkswagen"), ("model", "Transporter"), ("model_type", "2.0 TDI L2H1"),
        ("body_type", "panel_van"), ("registration_number", "VAN21A"), ("vin", "WV1ZZZ7HZMH000001"),
        ("condition.mileage", "5400 mil"), ("powertrain.power", "150 hp"), ("powertrain.displacement", "1968 cc"),
        ("powertrain.torque", "340 nm"), ("powertrain.environmental.co2_emission", "196 g/km"), ("physics.number_of_seats", "3"),
        ("physics.gross_weight", "3000 kg"), ("physics.boot_size", "6.7 m3"), ("physics.length", "5.3 m"),
        ("physics.cargo.length", "294 cm"), ("physics.cargo.width", "170 cm"), ("physics.cargo.height", "141 cm"),
    ]),
    ("motorcycle", &[
        ("amount", "94900"), ("brand", "yamaha"), ("model", "MT-07"), ("model_type", "ABS"), ("body_type", "naked"),
        ("registration_number", "MCY21A"), ("vin", "JYARM331000000001"), ("condition.mileage", "9200 km"),
        ("condition.engine_runtime", "210 hour"), ("powertrain.transmission", "manual"), ("powertrain.power", "73 hp"),
        ("powertrain.fuels", "gasoline"), ("powertrain.displacement", "689 cc"), ("powertrain.engine_type", "parallel-twin"),
        ("equipments", "Top case, Heated grips"),
    ]),
    ("moped", &[
        ("amount", "39900"), ("brand", "vespa"), ("model", "Primavera 50"), ("model_type", "Sport"), ("body_type", "class_1"),
        ("registration_number", "MPD21A"), ("vin", "ZAPCA0100MM000001"), ("condition.mileage", "1800 km"),
        ("condition.engine_runtime", "90 hour"), ("powertrain.power", "3 hp"), ("powertrain.fuels", "gasoline"),
        ("physics.curb_weight", "118 kg"), ("equipments", "Windscreen, Top case"),
    ]),
    ("snowmobile", &[
        ("amount", "139900"), ("brand", "lynx"), ("model", "49 Ranger"), ("model_type", "600R E-TEC"), ("body_type", "utility"),
        ("registration_number", "SNW21A"), ("vin", "YH2LUPMA0MR000001"), ("condition.mileage", "4100 km"),
        ("condition.engine_runtime", "160 hour"), ("powertrain.power", "125 hp"), ("powertrain.fuels", "gasoline"),
        ("powertrain.displacement", "599 cc"), ("physics.curb_weight", "276 kg"), ("equipments", "Tow hook, Reverse gear"),
    ]),
    ("atv", &[
        ("amount", "109900"), ("brand", "polaris"), ("model", "Sportsman 570"), ("model_type", "EPS"), ("body_type", "utility_quad"),
        ("registration_number", "ATV21A"), ("vin", "4XASEA570MA000001"), ("condition.mileage", "2300 km"),
        ("condition.engine_runtime", "240 hour"), ("powertrain.power", "44 hp"), ("powertrain.fuels", "gasoline"),
        ("powertrain.displacement", "567 cc"), ("physics.curb_weight", "326 kg"), ("equipments", "Winch, Snow plough"),
    ]),
    ("camper", &[
        ("amount", "749000"), ("brand", "adria"), ("model", "Coral"), ("model_type", "Axess 670 SL"), ("body_type", "semi_integrated"),
        ("bed_type", "queen_bed"), ("chassis_type", "Fiat Ducato"), ("registration_number", "CMP21A"), ("vin", "ZFA25000002000001"),
        ("condition.mileage", "3900 mil"), ("powertrain.power", "140 hp"), ("powertrain.displacement", "2287 cc"),
        ("physics.gross_weight", "3500 kg"), ("physics.curb_weight", "2950 kg"), ("physics.length", "7.39 m"),
        ("physics.width", "229 cm"), ("physics.number_of_beds", "4"), ("physics.number_of_seats", "4"),
        ("equipments", "Awning, Solar panel, Bicycle rack"),
    ]),
    ("caravan", &[
        ("amount", "329000"), ("brand", "kabe"), ("model", "Royal 560"), ("model_type", "XL KS"), ("body_type", "winter_caravan"),
        ("registration_number", "CRV21A"), ("vin", "YKKABE560M1000001"), ("physics.gross_weight", "1900 kg"),
        ("physics.curb_weight", "1620 kg"), ("physics.length", "7.7 m"), ("physics.interior_length", "5.6 m"),
        ("physics.width", "250 cm"), ("physics.number_of_beds", "4"), ("equipments", "Underfloor heating, Awning"),
    ]),
    ("trailer", &[
        ("amount", "24900"), ("brand", "fogelsta"), ("model", "F1425"), ("model_type", "Tip"), ("body_type", "general"),
        ("registration_number", "TRL21A"), ("vin", "YU6F14250M1000001"), ("physics.gross_weight", "750 kg"),
        ("physics.length", "3.8 m"), ("physics.cargo.length", "250 cm"), ("physics.cargo.width", "142 cm"),
        ("physics.cargo.height", "40 cm"), ("equipments", "Tarpaulin, Support wheel"),
    ]),
    ("boat", &[
        ("amount", "1249000"), ("brand", "nimbus"), ("model", "305 Coupé"), ("model_year", "2016"), ("body_type", "cabin_cruiser"),
        ("registration_number", "SBR-1234"), ("srs_number", "SRS 12345"), ("color", "White"), ("max_speed", "22 knots"),
        ("motor_included", "true"), ("powertrain.type", "inboard"), ("powertrain.power", "260 hp"),
        ("powertrain.engine_brand", "Volvo Penta D4"), ("physics.length", "9.5 m"), ("physics.depth", "90 cm"),
        ("physics.width", "325 cm"), ("physics.weight", "4200 kg"), ("physics.material", "fibreglass"),
        ("physics.number_of_seats", "8"), ("physics.number_of_beds", "6"), ("equipments", "Plotter, Bow thruster"),
    ]),
    ("agriculture-thresher", &[
        ("amount", "1890000"), ("brand", "claas"), ("model", "Lexion 670"), ("model_year", "2015"), ("powertrain.power", "313 kw"),
        ("powertrain.displacement", "12.5 l"), ("physics.gross_weight", "16.5 t"), ("equipments", "Straw chopper, Yield mapping"),
    ]),
    ("agriculture-tractor", &[
        ("amount", "990000"), ("brand", "valtra"), ("model", "T174"), ("model_year", "2019"), ("registration_number", "TRC19A"),
        ("vin", "YK5T174001000001"), ("powertrain.power", "175 hp"), ("powertrain.displacement", "7.4 l"),
        ("condition.engine_runtime", "3400 hour"), ("physics.gross_weight", "12 t"), ("tyre.front", "540/65R28"),
        ("tyre.rear", "650/65R38"), ("equipments", "Front loader, Cab suspension"),
    ]),
    ("agriculture-tools", &[
        ("amount", "189000"), ("brand", "Väderstad"), ("model", "Carrier 420"), ("model_year", "2018"),
        ("physics.gross_weight", "3150 kg"), ("tools_category", "disc_harrows"),
    ]),
    ("bus", &[
        ("amount", "1450000"), ("brand", "volvo"), ("model", "9700"), ("model_year", "2017"), ("body_type", "coach"),
        ("registration_number", "BUS17A"), ("vin", "YV3T2U8270A000001"), ("condition.mileage", "412000 km"),
        ("powertrain.axle_type", "6x2"), ("powertrain.transmission", "I-Shift"), ("powertrain.power", "460 hp"),
        ("powertrain.displacement", "10.8 l"), ("physics.cabin_type", "closed_drivers_cabin"),
        ("physics.box_type", "underfloor_luggage_compartment"), ("physics.suspension_front", "air"),
        ("physics.suspension_rear", "air"), ("physics.length", "13.8 m"), ("physics.wheelbase", "7.1 m"),
        ("physics.cargo_weight", "5200 kg"), ("physics.gross_weight", "24.8 t"), ("physics.boot_size", "11 m3"),
        ("physics.interior_size_height", "205 cm"), ("physics.interior_size_length", "12.4 m"),
        ("physics.interior_size_width", "248 cm"), ("physics.number_of_seats", "53"), ("physics.extra_brake", "true"),
        ("physics.tail_lift", "false"), ("equipments", "Air conditioning, Toilet"),
    ]),
    ("truck", &[
        ("amount", "890000"), ("brand", "scania"), ("model", "R 500"), ("model_year", "2018"), ("body_type", "box"),
        ("registration_number", "TRK18A"), ("vin", "YS2R6X20001000001"), ("condition.mileage", "64000 mil"),
        ("powertrain.axle_type", "6x2"), ("powertrain.transmission", "Opticruise"), ("powertrain.power", "500 hp"),
        ("powertrain.displacement", "12.7 l"), ("physics.cabin_type", "high_sleeper"), ("physics.box_type", "closed_box"),
        ("physics.suspension_front", "air"), ("physics.suspension_rear", "air"), ("physics.length", "10.5 m"),
        ("physics.wheelbase", "5.5 m"), ("physics.cargo_weight", "13.2 t"), ("physics.gross_weight", "27 t"),
        ("physics.boot_size", "48 m3"), ("physics.interior_size_height", "260 cm"), ("physics.interior_size_length", "7.5 m"),
        ("physics.interior_size_width", "248 cm"), ("physics.number_of_seats", "2"), ("physics.extra_brake", "true"),
        ("physics.tail_lift", "true"), ("physics.box_length", "7.7 m"), ("physics.number_of_pallets", "18"),
        ("equipments", "Retarder, Refrigerator"),
    ]),
    ("construction", &[
        ("amount", "1150000"), ("brand", "volvo"), ("body_type", "crawler_excavator"), ("model_year", "2017"),
        ("vin", "VCEC220EJ00000001"), ("condition.engine_runtime", "6200 hour"), ("powertrain.power", "129 kw"),
        ("powertrain.displacement", "5.7 l"), ("powertrain.transmission", "Hydrostatic"), ("physics.gross_weight", "22.5 t"),
        ("physics.workload", "7.4 t"), ("physics.lift_capacity", "8.1 t"), ("physics.lift_height", "9.6 m"),
        ("physics.boot_size", "1.2 m3"), ("physics.max_speed", "6"), ("physics.additional_hydraulics", "true"),
        ("physics.auxiliary_hydraulics_performance", "120"), ("physics.cab_type", "closed_cab"),
        ("physics.chassis_type", "steel_tracks"), ("physics.ce_marked", "true"), ("physics.statement_of_compliance", "true"),
    ]),
];
