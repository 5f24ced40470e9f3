//! Fields that the service derives or rewrites: the generated title, `is_new_vehicle`, the currency of prices, and `<` and `>` in
//! a text (decisions 13, 16 and 18).

use serde_json::{Map, Value};

use super::title;
use crate::{
    catalogue::Catalogue,
    categories::{AdFacts, Category, FieldFacts, Heading, price, rules},
    model::{ClearedMileage, Content, DEFAULT_CURRENCY, Dealer, get},
};

/// Removes a generated title, so that it is generated again. If titles must not be sent, a client may still send back the title
/// that it read. If they may be sent, the generated title follows the fields that it is made of.
pub(super) fn forget_generated_title(
    catalogue: &Catalogue,
    category: &Category,
    before: &Map<String, Value>,
    ad: &mut Map<String, Value>,
    sent: bool,
) {
    let generated = match category.heading {
        Heading::Forbidden => ad.get("title") == before.get("title"),
        Heading::Optional if !sent => {
            let title = generated_title(catalogue, category, &AdFacts::from(before).fields);
            ad.get("title").and_then(Value::as_str) == title.as_deref()
        }
        _ => false,
    };
    if generated {
        ad.remove("title");
    }
}

/// The generated title of an ad; `None` for categories that require a title, or if the fields for it are missing.
pub(super) fn generated_title(catalogue: &Catalogue, category: &Category, fields: &FieldFacts<'_>) -> Option<String> {
    let generated = title::generate(category, fields, catalogue);
    match category.heading {
        Heading::Forbidden => generated,
        Heading::Optional => generated.or_else(|| Some(category.name.to_owned())),
        Heading::Required => None,
    }
}

/// Inserts derived fields, and rewrites others. It takes one pass, which is faster than looking up each name.
pub(super) fn fill(category: &Category, dealer: Option<&Dealer>, ad: &mut Map<String, Value>) {
    for (name, value) in ad {
        match (name.as_str(), value) {
            // Not `any`: reading all bytes without a branch is faster than stopping early.
            ("body", Value::String(body))
                if body.bytes().fold(false, |found, it| found | matches!(it, b'<' | b'>')) =>
            {
                *body = body.replace(['<', '>'], "-");
            }
            ("price", Value::Array(prices)) => {
                let currency = dealer.map_or(DEFAULT_CURRENCY, |dealer| &dealer.currency);
                price::default_currency(prices, currency);
            }
            ("category_fields", Value::Object(fields)) => fill_fields(category, fields),
            _ => {}
        }
    }
}

fn fill_fields(category: &Category, fields: &mut Map<String, Value>) {
    if let Some(Value::Object(condition)) = fields.get_mut("condition")
        && !condition.contains_key("is_new_vehicle")
        && category.field("condition.is_new_vehicle").is_some()
        && let Some(is_new) = rules::is_new(condition)
    {
        condition.insert("is_new_vehicle".to_owned(), Value::from(is_new));
    }
    if fields.get("salesperson").and_then(Value::as_str) == Some("") {
        fields.remove("salesperson");
    }
}

/// Whether `is_new_vehicle` was derived from the mileage and so follows a patch that changes the mileage: if new or used is not
/// locked, and the patch does not have `is_new_vehicle`.
pub(super) fn follows_the_mileage(
    category: &Category,
    before: &Map<String, Value>,
    patch: &Map<String, Value>,
) -> bool {
    let mileage = |ad: &Map<String, Value>| get(ad, "category_fields.condition.mileage.value").and_then(Value::as_f64);
    let is_new = "category_fields.condition.is_new_vehicle";
    !category.is_open()
        && !category.has_rule(rules::LOCK)
        && get(patch, "category_fields.condition.mileage").is_some()
        && get(patch, is_new).is_none()
        && mileage(before).is_some_and(|mileage| get(before, is_new) == Some(&Value::Bool(mileage == 0.0)))
}

/// The stored `is_new_vehicle`, if it is locked and was probably derived from the mileage: then a payload without both does not clear it.
/// Whether it was derived can be told by the mileage, also by one that was cleared; who does not see that one gives `sees_cleared: false`.
pub(crate) fn locked_newness(category: &Category, stored: &Content, sees_cleared: bool) -> Option<bool> {
    if !category.has_rule(rules::LOCK) {
        return None;
    }
    let is_new = stored.get("category_fields.condition.is_new_vehicle")?.as_bool()?;
    let mileage = stored.get("category_fields.condition.mileage.value").and_then(Value::as_f64);
    let was_zero = match (mileage, stored.cleared_mileage()) {
        (Some(mileage), _) => Some(mileage == 0.0),
        (None, Some(cleared)) => Some(cleared == ClearedMileage::Zero),
        (None, None) => (!sees_cleared).then_some(is_new),
    };
    (was_zero == Some(is_new)).then_some(is_new)
}

/// Removes the derived `is_new_vehicle`, so that it is derived again.
pub(super) fn forget_is_new_vehicle(ad: &mut Map<String, Value>) {
    let fields = ad.get_mut("category_fields").and_then(Value::as_object_mut);
    if let Some(Value::Object(condition)) = fields.and_then(|fields| fields.get_mut("condition")) {
        condition.remove("is_new_vehicle");
    }
}
