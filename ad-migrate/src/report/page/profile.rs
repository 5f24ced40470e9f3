//! The columns of the file: how many values, and their range. A column that is not what it was taken for shows here.

use ad_files::text::grouped;
use maud::{Markup, html};

use super::{NUMBER, PageColumns, TEXT, VALUE, table};
use crate::check::{ColumnProfile, Totals};

/// Most columns that are listed.
const MOST: usize = 300;

const COLUMNS: PageColumns<7> = (
    ["Column", "Filled", "Different", "Least", "Median", "Greatest", "Values"],
    [TEXT, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, VALUE],
);

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
                    (table(Some("profiles"), COLUMNS, totals.profiles.iter().take(MOST).map(row)))
                }
            }
        }
    }
}

fn row(column: &ColumnProfile) -> [String; 7] {
    let more = if column.has_more { "more than " } else { "" };
    let different = format!("{more}{}", grouped(column.distinct as u64));
    let [least, median, greatest] = [column.minimum, column.median, column.maximum]
        .map(|number| number.map_or_else(String::new, |number| number.to_string()));
    let values = column.samples.join(" · ");
    [column.column.clone(), grouped(column.filled), different, least, median, greatest, values]
}
