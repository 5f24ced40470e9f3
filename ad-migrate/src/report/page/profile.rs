//! The columns of the file: how many values, and their range. A column that is not what it was taken for shows here.

use ad_cli::terminal::output::grouped;
use maud::{Markup, html};

use crate::check::{ColumnProfile, Totals};

/// Columns that are listed.
const MOST: usize = 300;

/// What is unlikely of whole columns.
pub(super) fn doubts(totals: &Totals) -> Markup {
    html! {
        @if !totals.doubts.is_empty() {
            section.alert {
                h2 { "Look at these columns first" }
                ul { @for doubt in &totals.doubts { li { (doubt.message) " " (doubt.advice) } } }
            }
        }
    }
}

pub(super) fn section(totals: &Totals) -> Markup {
    html! {
        @if !totals.profiles.is_empty() {
            section {
                h2 { "Columns of the file" }
                details open[totals.profiles.len() <= 40] {
                    summary { (grouped(totals.profiles.len() as u64)) " columns" }
                    table.profiles {
                        thead { tr { th { "Column" } th.number { "Filled" } th.number { "Different" } th.number { "Least" } th.number { "Median" } th.number { "Greatest" } th { "Values" } } }
                        tbody { @for column in totals.profiles.iter().take(MOST) { (row(column)) } }
                    }
                }
            }
        }
    }
}

fn row(column: &ColumnProfile) -> Markup {
    let distinct = grouped(column.distinct as u64);
    html! {
        tr {
            td data-label="Column" { (column.column) }
            td.number data-label="Filled" { (grouped(column.filled)) }
            td.number data-label="Different" { @if column.has_more { "more than " } (distinct) }
            td.number data-label="Least" { (number(column.minimum)) }
            td.number data-label="Median" { (number(column.median)) }
            td.number data-label="Greatest" { (number(column.maximum)) }
            td.value data-label="Values" { (column.samples.join(" · ")) }
        }
    }
}

fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
