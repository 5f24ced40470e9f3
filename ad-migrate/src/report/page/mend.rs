//! The reasons of errors and warnings: how often, what to do, and which rows.

use ad_files::text::{counted, grouped};
use maud::{Markup, Render, html};

use super::{NUMBER, PageColumns, TEXT, VALUE, percent, pictures, table};
use crate::{
    check::{Counted, Totals},
    finding::Severity,
    report::{
        few,
        kept::{Kept, ListedRow},
    },
};

/// Reasons with a bar of their own.
const MOST_BARS: usize = 15;

/// Rows of a reason that are seen at once.
const FIRST: usize = 10;

/// How often which reason, errors first.
pub(super) fn chart(totals: &Totals) -> Markup {
    let most = totals.reasons.iter().map(|reason| reason.rows).max().unwrap_or_default();
    let more = totals.reasons.len().saturating_sub(MOST_BARS);
    html! {
        @if !totals.reasons.is_empty() {
            section {
                h2 { "Why" }
                ol.chart {
                    @for (index, reason) in totals.reasons.iter().enumerate().take(MOST_BARS) {
                        li {
                            a href={ "#" (anchor(reason.severity, index)) } { (reason.reason) }
                            svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                                rect class=(class(reason.severity)) x="0" y="0" height="10" width=(format!("{:.2}", percent(reason.rows, most).max(0.4))) {}
                            }
                            span.count { (grouped(reason.rows)) }
                        }
                    }
                }
                @if more > 0 { p.note { "and " (counted(more as u64, "more reason")) ", below" } }
                @if totals.other_reasons > 0 {
                    p.note { "and " (counted(totals.other_reasons, "finding")) " for further reasons" }
                }
            }
        }
    }
}

/// The reasons of one severity, each with its rows.
pub(super) fn sections(totals: &Totals, kept: &Kept, severity: Severity) -> Markup {
    let reasons: Vec<_> = totals.reasons.iter().enumerate().filter(|(_, reason)| reason.severity == severity).collect();
    html! {
        @if !reasons.is_empty() {
            section.mend {
                @match severity {
                    Severity::Error => {
                        h2 { "Errors" }
                        input.filter type="search" placeholder="Find a row, source id, plate or value" aria-label="Find rows" hidden;
                    }
                    Severity::Warning => h2 { "Warnings" },
                }
                @for (index, reason) in reasons {
                    (section(index, reason, kept.of(severity, &reason.reason), severity == Severity::Error))
                }
            }
        }
    }
}

fn section(index: usize, reason: &Counted, rows: &[ListedRow], open: bool) -> Markup {
    let more = reason.rows.saturating_sub(rows.len() as u64);
    let (first, others) = rows.split_at(rows.len().min(FIRST));
    // The advice is shown once, if it is the same for all rows.
    let same = rows.iter().all(|row| row.finding.advice == reason.advice);
    let table = |rows: &[ListedRow]| table(Some("rows"), COLUMNS, rows.iter().map(|row| listed(row, !same)));
    html! {
        details.reason id=(anchor(reason.severity, index)) open[open] {
            summary {
                span.dot.(class(reason.severity)) {}
                h3 { (reason.reason) }
                span.count { (counted(reason.rows, "row")) }
            }
            @if same && let Some(advice) = &reason.advice { p.advice { strong { "What to do: " } (advice) } }
            @if !first.is_empty() { (table(first)) }
            @if !others.is_empty() {
                details.more {
                    summary { "Show " (counted(others.len() as u64, "more row")) }
                    (table(others))
                }
            }
            @if more > 0 { p.note { "and " (grouped(more)) " more, see the JSON report (--json)" } }
        }
    }
}

const COLUMNS: PageColumns<7> = (
    ["Row", "Line", "Source id", "Plate", "Column", "Value", "Problem"],
    [NUMBER, NUMBER, TEXT, TEXT, TEXT, VALUE, TEXT],
);

fn listed(row: &ListedRow, with_advice: bool) -> [Markup; 7] {
    let ListedRow { row, line, source_id, plate, finding, images } = row;
    let images: Vec<_> = images.iter().map(String::as_str).collect();
    let problem = html! {
        div {
            (finding.message)
            @if with_advice && let Some(advice) = &finding.advice { span.hint { (advice) } }
            (pictures(&images))
        }
    };
    let [source_id, plate, value] =
        [source_id, plate, &finding.value].map(|text| text.as_deref().unwrap_or_default().render());
    [row.render(), line.render(), source_id, plate, few(&finding.columns).render(), value, problem]
}

fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "invalid",
        Severity::Warning => "doubtful",
    }
}

fn anchor(severity: Severity, index: usize) -> String {
    format!("{}-{index}", class(severity))
}
