//! Warnings about what is allowed but probably a mistake (decision 7).

use serde_json::{Map, Value};

use super::meant::trimmed;
use crate::{
    categories::{Facts, price, rules},
    violation::{Code, Warning},
};

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

/// The warning about a source id with spaces at its ends.
pub(super) fn spaces(source_id: &str) -> Option<Warning> {
    let plain = trimmed(source_id);
    (plain.len() < source_id.len()).then(|| Warning {
        field: "source_id".to_owned(),
        code: Code::SourceIdSpaces,
        message: format!(
            "\"{source_id}\" begins or ends with a space or a character that is not visible, which is part of the id. Send \"{plain}\" if it is not meant."
        ),
    })
}

/// The warning about stored prices of types that a patch with prices does not have.
pub(super) fn dropped_prices(before: &Map<String, Value>, patch: &Map<String, Value>) -> Option<Warning> {
    let sent = patch.get("price")?.as_array().filter(|sent| !sent.is_empty())?;
    let kind = |price: &Value| price.get("type").and_then(Value::as_str).map(str::to_owned);
    let stored = before.get("price").and_then(Value::as_array)?;
    let is_sent = |kind: &String| sent.iter().any(|price| price.get("type").and_then(Value::as_str) == Some(kind));
    let dropped: Vec<String> = stored.iter().filter_map(kind).filter(|kind| !is_sent(kind)).collect();
    let types = dropped.iter().map(|kind| format!("\"{kind}\"")).collect::<Vec<_>>().join(" and ");
    (!dropped.is_empty()).then(|| Warning {
        field: "price".to_owned(),
        code: Code::PriceDropped,
        message: format!(
            "The price of type {types} is removed: price is replaced as a whole. Send it too if it is still valid."
        ),
    })
}
