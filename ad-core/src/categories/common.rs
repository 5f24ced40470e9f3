//! 'Common fields of all registered vehicle categories', and lists of values that several categories share.

use crate::fields::{
    ChoiceValue, Field, Kind, Since,
    row::{boolean, count, date, integer, list, slug, text, text_between, text_up_to, web_address},
};

/// Kind of the items of `equipments`: no commas.
const EQUIPMENT: &Kind = &Kind::Text { min: 1, max: 500, without: Some(',') };

/// Maximum number of items of `equipments`, for which the contract has no limit.
const MOST_EQUIPMENTS: usize = 1000;

pub(super) const fn equipments() -> Field {
    list("equipments", EQUIPMENT, MOST_EQUIPMENTS, "Equipment, one item per element, no commas inside an item")
}

/// The rows of body type, brand and model, by the lists of the first two.
pub(super) const fn body(body_types: &'static str, brands: &'static str) -> [Field; 3] {
    [slug("body_type", body_types, "Body type"), slug("brand", brands, "Brand"), text("model", "Model, free text")]
}

/// The row of a model year without limits in the document.
pub(super) const fn model_year() -> Field {
    integer("model_year", 0, 9999, "Model year")
}

/// The row of a licence plate that is optional and may change.
pub(super) const fn plate() -> Field {
    Field::new("registration_number", Kind::Plate { max: 255 }, "Registration number")
}

pub(super) const TRANSMISSIONS: &[ChoiceValue] =
    &[("manual", "Manual"), ("automatic", "Automatic"), ("sequential", "Sequential")];

pub(super) const FUELS: &[ChoiceValue] = &[
    ("gasoline", "Gasoline"),
    ("diesel", "Diesel"),
    ("electric", "Electric"),
    ("ethanol", "Ethanol"),
    ("natural_gas", "Natural gas"),
];

pub(super) const DRIVE_TYPES: &[ChoiceValue] =
    &[("fwd", "Front-wheel drive"), ("rwd", "Rear-wheel drive"), ("awd", "All-wheel drive")];

/// The number of owners in categories that have it since V4.3.
pub(super) const NUMBER_OF_OWNERS: Field =
    count("condition.number_of_owners", "Number of owners; 0 or null only for new vehicles, at least 1 for used ones")
        .since(Since::V43);

/// 'Common fields of all registered vehicle categories', except brand, body type and model, which differ by category and are
/// in its own table.
#[rustfmt::skip]
pub const REGISTERED: &[Field] = &[
    text("model_type", "Trim or variant, free text"),
    integer("model_year", 1900, 2100, "Model year").required(),
    date("in_traffic_date", "Date of the first registration"),
    Field::new("registration_number", Kind::Plate { max: 6 }, "Licence plate; a new ad needs it if `vin` is absent, and cannot change after creation"),
    text_between("vin", 17, 19, "Vehicle identification number; a new ad needs it if `registration_number` is absent"),
    text("color", "Colour, free text"),
    boolean("is_vat_deductible", "Whether the buyer can deduct VAT"),
    boolean("registration_number_hidden", "Hides the licence plate in the public listing"),
    equipments(),
    Field::new("salesperson", Kind::Email { or_empty: true }, "E-mail address of a salesperson registered for the dealer; `null` or an empty string unsets it"),
    text_up_to("warranty", 500, "Warranty"),
    text_up_to("return_policy", 500, "Return policy"),
    text_up_to("service_history", 500, "Service history"),
    text_up_to("home_delivery", 500, "Home delivery"),
    web_address("product_declaration", "Address of a product declaration"),
];
