//! The valid rows: how many of each type, and the first ones as they will be submitted, which reveals mistaken columns.

use ad_cli::{
    bulk::{at, shortened},
    terminal::output::{grouped, plain},
};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::pictures;
use crate::{
    check::{Totals, Verdict},
    report::kept::Kept,
};

pub(super) fn section(totals: &Totals, kept: &Kept) -> Markup {
    html! {
        @if totals.valid > 0 {
            section {
                h2 { "Ads to submit" }
                table.types {
                    thead { tr { th { "Vehicle type" } th.number { "Rows" } th.number { "Valid" } th.number { "Pictures" } } }
                    tbody {
                        @for (name, of_type) in &totals.types {
                            tr {
                                td data-label="Vehicle type" { @if name.is_empty() { "unknown" } @else { (name) } }
                                td.number data-label="Rows" { (grouped(of_type.rows)) }
                                td.number data-label="Valid" { (grouped(of_type.valid)) }
                                td.number data-label="Pictures" { (grouped(of_type.images)) }
                            }
                        }
                    }
                }
                @if !kept.valid.is_empty() {
                    h3 { "The first ads, as they will be submitted" }
                    table {
                        thead { tr { th.number { "Row" } th { "Source id" } th { "Plate" } th { "Vehicle" } th.number { "Price" } th.number { "Mileage" } th { "Pictures" } } }
                        tbody { @for verdict in &kept.valid { (row(verdict)) } }
                    }
                    h3 { "The same ads beside their rows" }
                    @for verdict in &kept.valid { (beside(verdict)) }
                }
            }
        }
    }
}

fn row(verdict: &Verdict) -> Markup {
    let member = |name: &str| verdict.payload.as_ref().and_then(|payload| payload.get(name)).unwrap_or(&Value::Null);
    let fields = member("category_fields");
    let images = member("image_urls").as_array();
    let images: Vec<_> = images.into_iter().flatten().filter_map(Value::as_str).collect();
    html! {
        tr {
            td.number data-label="Row" { (verdict.row) }
            td data-label="Source id" { (verdict.source_id.as_deref().unwrap_or_default()) }
            td data-label="Plate" { (verdict.plate.as_deref().unwrap_or_default()) }
            td data-label="Vehicle" { (vehicle(member("title"), fields)) }
            td.number data-label="Price" { (price(&member("price")[0])) }
            td.number data-label="Mileage" { (measure(&fields["condition"]["mileage"])) }
            td data-label="Pictures" { @if images.is_empty() { "none" } @else { (pictures(&images)) } }
        }
    }
}

/// The rows of the file and their payloads, field by field.
fn beside(verdict: &Verdict) -> Markup {
    let (Some(source), Some(payload)) = (&verdict.source, &verdict.payload) else { return html! {} };
    let id = verdict.source_id.as_deref().unwrap_or_default();
    let is_used = |column: &&String| verdict.made_of.values().any(|columns| columns.contains(column));
    html! {
        details.beside {
            summary { "Row " (verdict.row) " · " (id) " · " (vehicle(&Value::Null, payload.get("category_fields").unwrap_or(&Value::Null))) }
            table {
                thead { tr { th { "Field of the ad" } th { "Value in the ad" } th { "Column of the file" } th { "Value in the file" } } }
                tbody {
                    @for (field, columns) in &verdict.made_of {
                        tr {
                            td data-label="Field of the ad" { (field.strip_prefix("category_fields.").unwrap_or(field)) }
                            td.value data-label="Value in the ad" { (in_ad(payload, field)) }
                            td data-label="Column of the file" { (columns.join(", ")) }
                            td.value data-label="Value in the file" { (in_file(source, columns)) }
                        }
                    }
                    @for (column, value) in source.iter().filter(|(column, _)| !is_used(column)) {
                        tr {
                            td data-label="Field of the ad" { "–" }
                            td.value data-label="Value in the ad" { }
                            td data-label="Column of the file" { (column) }
                            td.value data-label="Value in the file" { (shortened(&plain(value), LONGEST)) }
                        }
                    }
                }
            }
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
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        value => plain(value),
    };
    shortened(&text, LONGEST).into_owned()
}

const LONGEST: usize = 200;

/// Its title, or the fields from which the service makes one.
fn vehicle(title: &Value, fields: &Value) -> String {
    if let Some(title) = title.as_str() {
        return title.to_owned();
    }
    let parts = ["brand", "model", "model_type", "model_year"].map(|name| plain(&fields[name]));
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
