//! 'Common fields of all registered vehicle categories', and the enums that several categories share.

use crate::fields::{
    ChoiceValue, Field, Kind, Since,
    row::{boolean, count, date, integer, list, text, text_between, text_up_to, web_address},
};

/// Items of fields named `equipments`: one per element, no commas.
const EQUIPMENT: &Kind = &Kind::Text { min: 1, max: 500, without: Some(',') };

/// Most items of `equipments`; the contract has no bound, and memory does.
const MOST_EQUIPMENTS: usize = 1000;

/// The row of every category that has `equipments`.
pub(super) const fn equipments() -> Field {
    list("equipments", EQUIPMENT, MOST_EQUIPMENTS, "Equipment, one item per element, no commas inside an item")
}

/// A model year where the document gives no bounds.
pub(super) const fn model_year() -> Field {
    integer("model_year", 0, 9999, "Model year")
}

/// A licence plate where it is neither demanded nor fixed.
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

/// Owners in the categories that have them since V4.3.
pub(super) const NUMBER_OF_OWNERS: Field =
    count("condition.number_of_owners", "Number of owners; 0 or null only for new vehicles, at least 1 for used ones")
        .since(Since::V43);

/// 'Common fields of all registered vehicle categories', but for brand, body type and model: these differ by category
/// and stand in its own table.
#[rustfmt::skip]
pub const REGISTERED: &[Field] = &[
    text("model_type", "Trim or variant, free text"),
    integer("model_year", 1900, 2100, "Model year").required(),
    date("in_traffic_date", "Date of the first registration"),
    Field::new("registration_number", Kind::Plate { max: 6 }, "Licence plate; required on POST if `vin` is absent, and cannot change after creation"),
    text_between("vin", 17, 19, "Vehicle identification number; required on POST if `registration_number` is absent"),
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
