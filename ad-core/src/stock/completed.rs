//! A payload that has some fields of an ad, completed by the others.

use serde_json::{Map, Value};

use crate::{
    categories::price::{LIST, REDUCED},
    model::Content,
    rulebook::merge::merge,
};

const PRICE: &str = "price";

/// A payload with what it leaves out of an ad. Prices of types that it does not have stay too, but for a reduced price that is not below a
/// new regular one.
///
/// ```
/// use ad_core::{model::Content, stock::completed};
/// use serde_json::{Map, Value, json};
///
/// let object = |value: Value| value.as_object().cloned().unwrap();
/// let price = |amounts: &[(&str, u32)]| amounts.iter().map(|(kind, amount)| json!({"type": kind, "amount": amount})).collect::<Vec<_>>();
/// let stored = json!({"body": "As new.", "image_urls": ["https://a.example/1.jpg"], "price": price(&[("list", 100), ("reduced", 90)])});
/// let stored = Content::from(object(stored));
/// let row = |amount: u32| object(json!({"source_id": "car-1", "price": price(&[("list", amount)])}));
///
/// let higher = completed(&stored, row(95));
/// assert_eq!((&higher["body"], &higher["source_id"]), (&json!("As new."), &json!("car-1")));
/// assert_eq!(higher["price"], json!(price(&[("list", 95), ("reduced", 90)])));
/// assert_eq!(completed(&stored, row(85))["price"], json!(price(&[("list", 85)])));
/// ```
#[must_use]
pub fn completed(stored: &Content, payload: Map<String, Value>) -> Map<String, Value> {
    let mut payload = payload;
    if let Some(Value::Array(prices)) = payload.get_mut(PRICE)
        && let Some(Value::Array(known)) = stored.get(PRICE)
    {
        let list = amount(prices, LIST);
        let has_type = |price: &Value| prices.iter().any(|own| own.get("type") == price.get("type"));
        let is_below = |price: &Value| {
            let reduced = price.get("amount").and_then(Value::as_f64);
            price.get("type").and_then(Value::as_str) != Some(REDUCED) || list.is_none_or(|list| reduced < Some(list))
        };
        let kept: Vec<_> = known.iter().filter(|price| !has_type(price) && is_below(price)).cloned().collect();
        prices.extend(kept);
    }
    merge(stored.fields(), payload)
}

/// The amount of the price of a type.
fn amount(prices: &[Value], kind: &str) -> Option<f64> {
    let of_type = |price: &&Value| price.get("type").and_then(Value::as_str) == Some(kind);
    prices.iter().find(of_type)?.get("amount")?.as_f64()
}
