//! Price ('Price object', decision 13): at most one of each type, in whole currency units with at most two decimals.

use serde_json::Value;

use super::category::{Category, Facts, Rule};
use crate::{
    fields::{ChoiceValue, Field, FieldErrors, Kind, Mode, row::choice},
    violation::{Code, Violation},
};

/// Type of the regular price.
pub const LIST: &str = "list";
/// Type of a sale price, not allowed on create.
pub const REDUCED: &str = "reduced";
/// Type of a leasing price; for registered vehicles only.
pub const LEASING: &str = "leasing";

const TYPES: &[ChoiceValue] = &[
    (LIST, "Regular price"),
    (REDUCED, "Sale price"),
    (LEASING, "Leasing price"),
    ("monthly", "Monthly price"),
    ("call", "Call for the price"),
];

/// The types that a create or update of this category may have.
pub fn allowed_types(category: &Category, mode: Mode) -> impl Iterator<Item = &'static str> + Clone {
    let is_refused =
        move |kind: &str| (kind == REDUCED && mode == Mode::Create) || (kind == LEASING && !category.registered);
    TYPES.iter().map(|(kind, _)| *kind).filter(move |kind| !is_refused(kind))
}

/// Maximum number of prices of an ad, one of each type. Further ones are not checked.
pub(crate) const MOST: usize = 5;

/// Rows of one price object.
#[rustfmt::skip]
pub const FIELDS: &[Field] = &[
    choice("type", TYPES, "`list`; `reduced` in updates only; `leasing` for registered vehicles only; `monthly`; `call` with amount 0").required(),
    Field::new("amount", Kind::Decimal { min: 0.0, max: 1e12, decimals: Some(2), numeric_text: false }, "Amount in whole currency units, at most two decimals; more than 0, and 0 for `call`").required(),
    Field::new("currency", Kind::Currency, "ISO 4217 code; the dealer's currency if absent"),
];

/// The rule over the prices of an ad ('Price object').
pub const RULES: &[Rule] = &[Rule {
    name: "price",
    doc: "`reduced` is not allowed for new ads, `leasing` only for registered vehicles; the amount is 0 for `call` and positive for other types.",
    check,
}];

/// Gives every price without a currency the dealer's.
pub(crate) fn default_currency(prices: &mut [Value], currency: &str) {
    for price in prices.iter_mut().take(MOST) {
        if let Value::Object(price) = price
            && !price.contains_key("currency")
        {
            price.insert("currency".to_owned(), Value::from(currency));
        }
    }
}

fn check(facts: &Facts<'_>, errors: &mut FieldErrors) {
    for (index, price) in facts.ad.price.iter().take(MOST).enumerate() {
        let Some(kind) = price.get("type").and_then(Value::as_str) else { continue };
        let mut wrong = |name: &str, violation: Violation| {
            errors.at("price").at(&index.to_string()).push(name, violation);
        };
        match kind {
            REDUCED if facts.mode == Mode::Create => {
                let text =
                    "\"reduced\" is not allowed for a new ad; send \"list\", and \"reduced\" with a later update.";
                let stated = Violation::stated(Code::NotAllowed, text);
                wrong("type", stated.with_request("Updates are PUT and PATCH."));
            }
            LEASING if !facts.category.registered => {
                let text = "\"leasing\" is allowed for registered vehicles only.";
                wrong("type", Violation::stated(Code::NotAllowed, text));
            }
            _ => {}
        }
        match price.get("amount").and_then(Value::as_f64) {
            Some(amount) if kind == "call" && amount > 0.0 => {
                wrong("amount", Violation::stated(Code::OutOfRange, "Must be 0 for a price of type \"call\"."));
            }
            Some(0.0) if kind != "call" => {
                wrong("amount", Violation::stated(Code::OutOfRange, "Must be more than 0."));
            }
            _ => {}
        }
    }
}
