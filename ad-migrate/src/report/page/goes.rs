//! The valid rows: how many of each type, and the first ones as they will be submitted, which reveals mistaken columns.

use ad_cli::terminal::output::{grouped, plain};
use maud::{Markup, html};
use serde_json::Value;

use super::pictures;
use crate::{
    check::{Totals, Verdict},
    report::kept::Kept,
};

pub(super) fn section(totals: &Totals, kept: &Kept) -> Markup {
    html! {
        @if totals.good > 0 {
            section {
                h2 { "Ads to submit" }
                table.types {
                    thead { tr { th { "Vehicle type" } th.number { "Rows" } th.number { "Valid" } th.number { "Pictures" } } }
                    tbody {
                        @for (name, of_type) in &totals.types {
                            tr {
                                td data-label="Vehicle type" { @if name.is_empty() { "unknown" } @else { (name) } }
                                td.number data-label="Rows" { (grouped(of_type.rows)) }
                                td.number data-label="Valid" { (grouped(of_type.good)) }
                                td.number data-label="Pictures" { (grouped(of_type.images)) }
                            }
                        }
                    }
                }
                @if !kept.good.is_empty() {
                    h3 { "The first ads, as they will be submitted" }
                    table {
                        thead { tr { th.number { "Row" } th { "Source id" } th { "Plate" } th { "Vehicle" } th.number { "Price" } th.number { "Mileage" } th { "Pictures" } } }
                        tbody { @for good in &kept.good { (row(good)) } }
                    }
                }
            }
        }
    }
}

fn row(good: &Verdict) -> Markup {
    let member = |name: &str| good.payload.as_ref().and_then(|payload| payload.get(name)).unwrap_or(&Value::Null);
    let fields = member("category_fields");
    let images = member("image_urls").as_array();
    let images: Vec<_> = images.into_iter().flatten().filter_map(Value::as_str).collect();
    html! {
        tr {
            td.number data-label="Row" { (good.row) }
            td data-label="Source id" { (good.source_id.as_deref().unwrap_or_default()) }
            td data-label="Plate" { (good.plate.as_deref().unwrap_or_default()) }
            td data-label="Vehicle" { (vehicle(member("title"), fields)) }
            td.number data-label="Price" { (price(&member("price")[0])) }
            td.number data-label="Mileage" { (measure(&fields["condition"]["mileage"])) }
            td data-label="Pictures" { @if images.is_empty() { "none" } @else { (pictures(&images)) } }
        }
    }
}

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
