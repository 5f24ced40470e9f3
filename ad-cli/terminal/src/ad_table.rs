//! Ads as people see them in tables.

use ad_core::{
    categories,
    model::{ActionState, AdState, QualitySummary, Timestamp},
};
use serde::Deserialize;
use serde_json::Value;

use super::{Cell, Column, Tone, counted, plain, quality};

/// What programs get of an ad in a list as CSV: what people see in the table, with amount and currency apart, and ids and times.
pub const COLUMNS: &[Column] = &[
    at("source_id"),
    at("category_fields.registration_number").in_csv("plate", Value::clone),
    at("title"),
    at("price").in_csv("price", |prices| of_shown_price(prices, "amount")),
    at("price").in_csv("currency", |prices| of_shown_price(prices, "currency")),
    at("price").in_csv("price_type", |prices| of_shown_price(prices, "type")),
    at("image_refs").in_csv("photos", |images| images.as_array().map_or(Value::Null, |images| images.len().into())),
    at("category_id").in_csv("type", |id| vehicle_type(id).text.into()),
    at("category_id"),
    at("state"),
    at("dealer_code"),
    at("marketplace_ad_id"),
    at("offer_id"),
    at("created"),
    at("updated"),
];

const fn at(path: &'static str) -> Column {
    Column::new(path, path)
}

/// What people see of an ad in a list.
pub const SHOWN: &[Column] = &[
    Column::new("SOURCE ID", "source_id").shortened(),
    STATUS,
    Column::new("PLATE", "category_fields.registration_number").rank(3),
    Column::new("TITLE", "title").least(18),
    Column::new("PRICE", "price").shown(price).rank(1),
    Column::new("PHOTOS", "image_refs").shown(photos).rank(4),
    Column::new("TYPE", "category_id").shown(vehicle_type).rank(5),
    DEALER,
    Column::new("LISTING", "marketplace_ad_id").for_programs(),
    Column::new("OFFER", "offer_id").for_programs(),
    Column::new("CREATED", "created").shown(minute).for_programs(),
    Column::new("UPDATED", "updated").shown(minute).for_programs(),
];

/// Whose ad it is: of interest to groups of dealers.
pub const DEALER: Column = Column::new("DEALER", "dealer_code").rank(2);

/// The status, where a list has it.
pub const STATUS: Column = Column::new("STATUS", "status").shown(status);

/// The quality, where a list has it.
pub const QUALITY: Column = Column::new("QUALITY", "quality").shown(quality);

/// The column of a field that `--fields` names.
pub fn column(field: &'static str) -> Column {
    match field {
        "created" | "updated" => Column::new(field, field).shown(minute),
        "body" | "image_refs" | "category_fields" | "log" => Column::new(field, field).wrapped(),
        "status" => STATUS,
        "state" => Column::new("STATE", field).shown(ad_state),
        field => SHOWN.iter().find(|column| column.is_of(field)).copied().unwrap_or(Column::new(field, field)),
    }
}

/// `car`, or the category where V4 has no vehicle type for it.
pub fn vehicle_type(id: &Value) -> Cell {
    let category = id.as_u64().and_then(|id| u16::try_from(id).ok()).and_then(categories::by_id);
    match category {
        Some(category) => category.vehicle_type.map_or_else(|| category.to_string(), str::to_owned).into(),
        None => plain(id).into(),
    }
}

/// The state of an ad.
pub fn ad_state(state: &Value) -> Cell {
    let text = plain(state);
    if text == AdState::Deleted.name() { Cell::toned(text, Tone::Faint) } else { text.into() }
}

/// The state of an action.
pub fn action_state(state: &Value) -> Cell {
    let text = plain(state);
    let tone = match ActionState::from_name(&text) {
        Some(ActionState::Done) => Tone::Good,
        Some(ActionState::Error) => Tone::Bad,
        Some(ActionState::Processing) => Tone::Warning,
        None => return text.into(),
    };
    Cell::toned(text, tone)
}

/// The status of an ad, a channel or an image: `partly live`.
pub fn status(status: &Value) -> Cell {
    let text = plain(status).replace('_', " ");
    let tone = match text.as_str() {
        "live" | "stored" => Tone::Good,
        "failed" => Tone::Bad,
        "hidden" | "deleted" | "not listed" => Tone::Faint,
        "" => return text.into(),
        _ => Tone::Warning,
    };
    Cell::toned(text, tone)
}

/// The quality of an ad in a list: `62 good, 3 findings`.
fn quality(summary: &Value) -> Cell {
    let Ok(QualitySummary { score, level, findings }) = QualitySummary::deserialize(summary) else {
        return Cell::default();
    };
    let findings = if findings == 0 { String::new() } else { format!(", {}", counted(findings as u64, "finding")) };
    Cell::toned(format!("{score} {}{findings}", level.name()), quality::tone(level))
}

/// What became of an ad.
pub fn outcome(outcome: &Value) -> Cell {
    let text = plain(outcome).replace('_', " ");
    match text.as_str() {
        "" => text.into(),
        "rejected" | "failed" | "not sent" | "unclear" | "conflict" => Cell::toned(text, Tone::Bad),
        "under way" => Cell::toned("unfinished", Tone::Warning),
        _ => Cell::toned(text, Tone::Good),
    }
}

/// How many photos are stored.
fn photos(images: &Value) -> Cell {
    match images.as_array().map(Vec::len) {
        Some(0) => Cell::toned("none", Tone::Warning),
        Some(count) => count.to_string().into(),
        None => Cell::default(),
    }
}

/// The price that a list shows: the reduced one, the list price, or the first there is.
fn shown_price(prices: &Value) -> Option<&Value> {
    let prices = prices.as_array()?;
    let of = |kind: &str| prices.iter().find(|price| price["type"] == kind);
    of("reduced").or_else(|| of("list")).or_else(|| prices.first())
}

fn of_shown_price(prices: &Value, member: &str) -> Value {
    shown_price(prices).map_or(Value::Null, |price| price[member].clone())
}

/// The price that a list shows: `349,900 SEK`.
fn price(prices: &Value) -> Cell {
    let Some(price) = shown_price(prices) else { return Cell::default() };
    let amount = money(&price["amount"], &price["currency"]);
    match price["type"].as_str() {
        Some("call") => "on request".into(),
        Some("leasing" | "monthly") => format!("{amount}/month").into(),
        _ => amount.into(),
    }
}

/// All prices with their types: `list 349,900 SEK, reduced 329,900 SEK`.
pub fn prices(prices: &Value) -> Cell {
    let price = |price: &Value| format!("{} {}", plain(&price["type"]), money(&price["amount"], &price["currency"]));
    prices.as_array().into_iter().flatten().map(price).collect::<Vec<_>>().join(", ").into()
}

/// An amount with its currency, such as `349,900 SEK`.
pub fn money(amount: &Value, currency: &Value) -> String {
    format!("{} {}", ad_files::text::amount(amount), plain(currency))
}

/// A time to the minute, in UTC.
pub fn minute(time: &Value) -> Cell {
    utc(&plain(time), 16).into()
}

/// A time to the minute as a text.
pub fn minute_of(time: Timestamp) -> String {
    utc(&time.to_string(), 16)
}

/// A time to the second, in UTC.
pub fn second(time: &Value) -> Cell {
    utc(&plain(time), 19).into()
}

fn utc(text: &str, length: usize) -> String {
    text.get(..length).map_or_else(|| text.to_owned(), |time| format!("{}Z", time.replace('T', " ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_see_what_an_ad_is() {
        assert_eq!(vehicle_type(&json!(1020)).text, "car");
        assert!(vehicle_type(&json!(1122)).text.contains("1122"));
        assert_eq!(price(&json!([{"type": "leasing", "amount": 1, "currency": "SEK"}, {"type": "list", "amount": 1_349_900.5, "currency": "SEK"}])).text, "1,349,900.5 SEK");
        assert_eq!(price(&json!([{"type": "monthly", "amount": 3_995, "currency": "SEK"}])).text, "3,995 SEK/month");
        assert_eq!(price(&json!([{"type": "call", "amount": 0, "currency": "SEK"}])).text, "on request");
        assert_eq!(price(&json!([])).text, "");
        assert_eq!(minute(&json!("2026-01-15T10:00:59.999Z")).text, "2026-01-15 10:00Z");
        assert_eq!(outcome(&json!("under_way")), Cell::toned("unfinished", Tone::Warning));
    }
}
