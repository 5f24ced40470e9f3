//! What is allowed but probably not meant (decision 7).

use crate::categories::{Facts, rules};

/// Something that is allowed but probably not meant (decision 7).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// The field.
    pub field: String,
    /// What is odd about it.
    pub message: String,
}

/// The warnings of an ad that passed.
pub(super) fn of(facts: &Facts<'_>) -> Vec<Warning> {
    let mut warnings: Vec<_> = facts
        .check
        .ignored()
        .iter()
        .map(|field| Warning {
            field: (*field).to_owned(),
            message: "Ignored: only the service sets this field.".to_owned(),
        })
        .collect();
    let mut warn = |field: &str, message: &str| {
        warnings.push(Warning { field: field.to_owned(), message: message.to_owned() });
    };
    if !facts.ad.has_images {
        warn("image_urls", "The ad has no images.");
    }
    if facts.ad.price.is_empty() {
        warn("price", "The ad has no price.");
    }
    if facts.field("leasing_details").is_some() && !facts.has_price("leasing") {
        warn("category_fields.leasing_details", "The ad has leasing details without a price of type \"leasing\".");
    }
    let uncovered = rules::no_longer_covered(facts).into_iter();
    warnings.extend(uncovered.map(|(field, message)| Warning { field: field.to_owned(), message }));
    warnings
}
