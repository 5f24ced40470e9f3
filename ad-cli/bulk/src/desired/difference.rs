//! Changes as people write them.

use ad_core::stock::same;
use ad_files::text::{amount as amount_of, counted};
use serde_json::{Map, Value};

use super::contents::{Change, IMAGES, shorten_value};

/// `2800 mil → 2900 mil`, or of prices those that differ: `list 105,000 → 95,000 SEK`.
pub fn difference(change: &Change) -> String {
    let (old, new) = (&change.old, &change.new);
    if change.field == PRICE
        && let (Some(old), Some(new)) = (prices(old), prices(new))
    {
        return price_difference(&old, &new);
    }
    if change.field == IMAGES
        && let (Some(old), Some(new)) = (images(old), images(new))
    {
        let added = new.iter().filter(|url| !old.contains(url)).count();
        let removed = old.iter().filter(|url| !new.contains(url)).count();
        let how = if added + removed == 0 {
            "in another order".to_owned()
        } else {
            format!("{added} added, {removed} removed")
        };
        return format!("{} → {} ({how})", counted(old.len() as u64, "image"), counted(new.len() as u64, "image"));
    }
    format!("{} → {}", shorten_value(old), shorten_value(new))
}

const PRICE: &str = "price";

/// The prices of an ad by their types.
fn prices(value: &Value) -> Option<Vec<(&str, &Map<String, Value>)>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(prices) => prices
            .iter()
            .map(|price| {
                let price = price.as_object()?;
                Some((price.get("type")?.as_str()?, price))
            })
            .collect(),
        _ => None,
    }
}

fn price_difference(old: &[(&str, &Map<String, Value>)], new: &[(&str, &Map<String, Value>)]) -> String {
    let of = |prices: &[(&str, &Map<String, Value>)], kind: &str, member: &str| {
        let price = prices.iter().find(|(of_kind, _)| *of_kind == kind)?.1;
        price.get(member).filter(|value| !value.is_null()).cloned()
    };
    let kinds = old.iter().chain(new.iter().filter(|(kind, _)| !old.iter().any(|(known, _)| known == kind)));
    let changed = kinds.filter_map(|(kind, _)| {
        let [before, after] = [old, new].map(|prices| of(prices, kind, "amount"));
        let [was, is] = [old, new].map(|prices| of(prices, kind, "currency"));
        let is_same_currency = was == is || is.is_none();
        if is_same_currency && same(&before.clone().unwrap_or_default(), &after.clone().unwrap_or_default()) {
            return None;
        }
        let amount = |amount: Option<Value>, currency: Option<&Value>| {
            let amount = amount.map_or_else(|| "(none)".to_owned(), |number| amount_of(&number));
            currency.and_then(Value::as_str).map_or_else(|| amount.clone(), |currency| format!("{amount} {currency}"))
        };
        let has_both = before.is_some() && after.is_some();
        let first = was.as_ref().filter(|_| !has_both || !is_same_currency);
        let second = is.as_ref().or(was.as_ref()).filter(|_| after.is_some());
        Some(format!("{kind} {} → {}", amount(before, first), amount(after, second)))
    });
    changed.collect::<Vec<_>>().join(", ")
}

fn images(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_are_told_as_people_write_values() {
        let told = |field: &str, old: Value, new: Value| difference(&Change { field: field.to_owned(), old, new });
        let mil = |value| json!({"value": value, "unit": "mil"});
        assert_eq!(told("category_fields.condition.mileage", mil(2800), mil(2900)), "2800 mil → 2900 mil");
        let of = |kind: &str, amount: Value| json!({"type": kind, "amount": amount, "currency": "SEK"});
        let list = |amount: i64| of("list", json!(amount));
        assert_eq!(told("price", json!([]), json!([list(100)])), "list (none) → 100 SEK");
        assert_eq!(told("price", json!([list(105_000)]), json!([list(95_000)])), "list 105,000 → 95,000 SEK");
        let leased = json!([list(105_000), of("leasing", json!(2_995))]);
        assert_eq!(
            told("price", leased, json!([of("list", json!(1_129_900.5))])),
            "list 105,000 → 1,129,900.5 SEK, leasing 2,995 SEK → (none)"
        );
        let in_euros = json!([{"type": "list", "amount": 9_500, "currency": "EUR"}]);
        assert_eq!(told("price", json!([list(105_000)]), in_euros), "list 105,000 SEK → 9,500 EUR");
        assert_eq!(told("location", Value::Null, json!({"zipcode": "90326"})), "(none) → zipcode 90326");
        assert_eq!(told("visible", json!(true), json!(false)), "true → false");
        assert_eq!(told("body", json!("x".repeat(100)), Value::Null), format!("{}… → (none)", "x".repeat(59)));
        assert_eq!(told(IMAGES, json!(["a", "b"]), json!(["b", "a"])), "2 images → 2 images (in another order)");
        assert_eq!(told(IMAGES, json!(["a"]), json!(["b", "c"])), "1 image → 2 images (2 added, 1 removed)");
        assert_eq!(
            told("category_fields.fuels", json!(["petrol"]), json!(["petrol", "ethanol"])),
            "petrol → petrol, ethanol"
        );
    }
}
