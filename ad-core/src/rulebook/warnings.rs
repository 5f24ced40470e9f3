//! Warnings about what is allowed but probably a mistake (decision 7).

use crate::{
    categories::{Facts, price, rules},
    violation::Code,
};

/// A warning about something that is allowed but probably a mistake (decision 7).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// Dotted path of the field, from the ad.
    pub field: String,
    /// Identifier for programs, listed in `docs/errors.md`.
    pub code: Code,
    /// The probable mistake, in a sentence.
    pub message: String,
}

/// The warnings of a valid ad.
pub(super) fn of(facts: &Facts<'_>) -> Vec<Warning> {
    let mut warnings: Vec<_> = facts
        .check
        .ignored()
        .iter()
        .map(|field| Warning {
            field: (*field).to_owned(),
            code: Code::IgnoredField,
            message: "Ignored: only the service sets this field.".to_owned(),
        })
        .collect();
    let mut warn = |field: &str, code: Code, message: &str| {
        warnings.push(Warning { field: field.to_owned(), code, message: message.to_owned() });
    };
    if facts.ad.images.is_empty() {
        warn("image_urls", Code::NoImages, "The ad has no images.");
    }
    if facts.ad.price.is_empty() {
        warn("price", Code::NoPrice, "The ad has no price.");
    }
    match (facts.price(price::REDUCED), facts.price(price::LIST)) {
        (Some(_), None) => {
            warn("price", Code::ReducedWithoutList, "The ad has a reduced price without a price of type \"list\".");
        }
        (Some(reduced), Some(list)) if reduced >= list => {
            warn("price", Code::ReducedNotBelowList, "The reduced price is not below the price of type \"list\".");
        }
        _ => {}
    }
    if facts.ad.fields.leasing_details.is_some() && !facts.has_price("leasing") {
        let message = "The ad has leasing details without a price of type \"leasing\".";
        warn("category_fields.leasing_details", Code::LeasingDetailsWithoutPrice, message);
    }
    let uncovered = rules::no_longer_covered(facts).into_iter();
    let code = Code::NoLongerCovered;
    warnings.extend(uncovered.map(|(field, message)| Warning { field: field.to_owned(), code, message }));
    warnings
}
