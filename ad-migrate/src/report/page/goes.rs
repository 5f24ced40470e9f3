//! The valid rows: how many of each type, and the first ones as they will be submitted, which reveals mistaken columns.

use ad_files::{
    json::at,
    text::{grouped, plain, shortened},
};
use maud::{Markup, Render, html};
use serde_json::{Map, Value};

use super::{NUMBER, PageColumns, TEXT, VALUE, names, pictures, table};
use crate::{
    check::{OfType, Totals, Verdict},
    report::kept::Kept,
};

const TYPES: PageColumns<4> = (["Vehicle type", "Rows", "Valid", "Pictures"], [TEXT, NUMBER, NUMBER, NUMBER]);

const ADS: PageColumns<7> = (
    ["Row", "Source id", "Plate", "Vehicle", "Price", "Mileage", "Pictures"],
    [NUMBER, TEXT, TEXT, TEXT, NUMBER, NUMBER, TEXT],
);

const FIELDS: PageColumns<4> =
    (["Field of the ad", "Value in the ad", "Column of the file", "Value in the file"], [TEXT, VALUE, TEXT, VALUE]);

pub(super) fn section(totals: &Totals, kept: &Kept) -> Markup {
    html! {
        @if totals.valid > 0 {
            section {
                h2 { "Ads to submit" }
                (table(Some("types"), TYPES, totals.types.iter().map(of_type)))
                @if !kept.valid.is_empty() {
                    h3 { "The first ads, as they will be submitted" }
                    (table(None, ADS, kept.valid.iter().map(ad)))
                    h3 { "The same ads beside their rows" }
                    @for verdict in &kept.valid { (beside(verdict)) }
                }
            }
        }
    }
}

fn of_type((name, OfType { rows, valid, images }): (&&str, &OfType)) -> [String; 4] {
    let name = if name.is_empty() { "unknown" } else { name };
    [name.to_owned(), grouped(*rows), grouped(*valid), grouped(*images)]
}

fn ad(verdict: &Verdict) -> [Markup; 7] {
    let member = |name: &str| verdict.payload.as_ref().and_then(|payload| payload.get(name)).unwrap_or(&Value::Null);
    let fields = member("category_fields");
    let images = member("image_urls").as_array();
    let images: Vec<_> = images.into_iter().flatten().filter_map(Value::as_str).collect();
    let [source_id, plate] =
        [&verdict.source_id, &verdict.plate].map(|text| text.as_deref().unwrap_or_default().render());
    let vehicle = verdict.payload.as_ref().map(vehicle).unwrap_or_default().render();
    let price = price(&member("price")[0]).render();
    let mileage = measure(&fields["condition"]["mileage"]).render();
    let pictures = if images.is_empty() { "none".render() } else { pictures(&images) };
    [verdict.row.render(), source_id, plate, vehicle, price, mileage, pictures]
}

/// The rows of the file and their payloads, field by field.
fn beside(verdict: &Verdict) -> Markup {
    let (Some(source), Some(payload)) = (&verdict.source, &verdict.payload) else { return html! {} };
    let id = verdict.source_id.as_deref().unwrap_or_default();
    let is_used = |column: &&String| verdict.made_of.values().any(|columns| columns.contains(column));
    let made = verdict.made_of.iter().map(|(field, columns)| {
        [names::field(field), in_ad(payload, field), columns.join(", "), in_file(source, columns)]
    });
    let unused = source.iter().filter(|(column, _)| !is_used(column)).map(|(column, value)| {
        ["–".to_owned(), String::new(), column.clone(), shortened(&plain(value), LONGEST).into_owned()]
    });
    html! {
        details.beside {
            summary { "Row " (verdict.row) " · " (id) " · " (vehicle(payload)) }
            (table(None, FIELDS, made.chain(unused)))
        }
    }
}

fn in_file(source: &Map<String, Value>, columns: &[String]) -> String {
    let values: Vec<String> = columns.iter().filter_map(|column| Some(plain(source.get(column)?))).collect();
    shortened(&values.join(" · "), LONGEST).into_owned()
}

fn in_ad(payload: &Map<String, Value>, path: &str) -> String {
    let value = at(payload, path).unwrap_or(&Value::Null);
    let text = match value {
        Value::Object(_) => measure(value),
        Value::Array(items) if path == "price" => items.iter().map(price).collect::<Vec<_>>().join(", "),
        Value::Array(items) => {
            items.iter().map(|item| names::value(payload, path, &plain(item))).collect::<Vec<_>>().join(", ")
        }
        Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
        value => names::value(payload, path, &plain(value)),
    };
    shortened(&text, LONGEST).into_owned()
}

const LONGEST: usize = 200;

/// Its title, or the fields from which the service makes one.
fn vehicle(ad: &Map<String, Value>) -> String {
    if let Some(title) = ad.get("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    let parts = ["brand", "model", "model_type", "model_year"].map(|name| {
        let path = format!("category_fields.{name}");
        names::value(ad, &path, &plain(at(ad, &path).unwrap_or(&Value::Null)))
    });
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn price(price: &Value) -> String {
    let currency = plain(&price["currency"]);
    format!("{} {currency}", number(&price["amount"])).trim_end().to_owned()
}

fn measure(measure: &Value) -> String {
    let number = number(&measure["value"]);
    format!("{number} {}", plain(&measure["unit"])).trim().to_owned()
}

fn number(value: &Value) -> String {
    value.as_u64().map_or_else(|| plain(value), grouped)
}
