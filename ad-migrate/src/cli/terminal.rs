//! The report on the terminal: invalid rows, then counts of reasons; for programs, all findings as records.

use std::io;

use ad_files::text::{counted, grouped, plain, shortened};
use ad_terminal::output::{Cell, Column, Output, Rows, Tone};
use serde::Serialize;
use serde_json::Value;

use crate::{
    check::{Totals, Verdict},
    finding::{Finding, Severity},
    report::{About, few},
};

/// The columns of the table for people.
const SHOWN: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("LINE", "line"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("COLUMN", "columns").shown(columns),
    Column::new("VALUE", "value").shown(value),
    Column::new("PROBLEM", "message").wrapped(),
    Column::new("WHAT TO DO", "advice").wrapped(),
];

/// The columns for programs; their names are stable.
#[rustfmt::skip]
const COLUMNS: &[Column] = &Column::at_paths([
    "file", "row", "line", "source_id", "plate", "vehicle_type", "severity", "reason", "columns", "value", "field",
    "message", "advice",
]);

const REASONS: &[Column] = &[
    Column::new("REASON", "reason"),
    Column::new("KIND", "severity").shown(severity),
    Column::new("ROWS", "rows"),
    Column::new("FIRST", "examples"),
];

/// Longest value in the table.
const LONGEST_VALUE: usize = 40;

#[derive(Debug, Serialize)]
struct FindingRow<'a> {
    file: &'a str,
    row: u64,
    line: u64,
    source_id: Option<&'a str>,
    plate: Option<&'a str>,
    vehicle_type: Option<&'static str>,
    #[serde(flatten)]
    finding: &'a Finding,
}

#[derive(Debug)]
pub(crate) struct Terminal {
    out: Output,
    file: String,
    rows: Rows,
    most: u64,
    shown: u64,
}

impl Terminal {
    /// A report in the output's format; people see at most `most` invalid rows.
    pub(crate) fn new(out: Output, about: &About, most: u64) -> Self {
        let columns = if out.is_for_people() { SHOWN } else { COLUMNS };
        Self { out, file: about.file.clone(), rows: out.rows(columns), most, shown: 0 }
    }

    /// Adds the findings of a row.
    pub(crate) fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        let people = self.out.is_for_people();
        if people && (verdict.is_valid() || self.shown >= self.most) {
            return Ok(());
        }
        self.shown += 1;
        for finding in verdict.findings.iter().filter(|finding| !people || finding.severity == Severity::Error) {
            self.rows.push(&FindingRow {
                file: &self.file,
                row: verdict.row,
                line: verdict.line,
                source_id: verdict.source_id.as_deref(),
                plate: verdict.plate.as_deref(),
                vehicle_type: verdict.vehicle_type,
                finding,
            })?;
        }
        Ok(())
    }

    /// Ends it with the totals.
    pub(crate) fn end(self, totals: &Totals) -> io::Result<()> {
        let out = self.out;
        // A column that the file lacks is the cause of many errors.
        if out.is_for_people() && totals.invalid > 0 {
            warn_of_missing(out, totals);
        }
        if !out.is_for_people() || self.shown > 0 {
            self.rows.end()?;
        }
        if out.is_for_people() && self.shown > 0 && totals.invalid > self.shown {
            let more = counted(totals.invalid - self.shown, "more invalid row");
            out.note(&format!("… and {more}; --limit-shown shows more, --report and --json all"));
        }
        if out.is_for_people() && !totals.reasons.is_empty() {
            out.text("\n")?;
            out.table(REASONS, &totals.reasons)?;
            if totals.other_reasons > 0 {
                out.note(&format!("… and {} for other reasons", counted(totals.other_reasons, "finding")));
            }
            out.text("\n")?;
        }
        about_file(out, &self.file, totals, !out.is_for_people() || totals.invalid == 0);
        Ok(())
    }
}

/// Lists the errors of an invalid row on stderr, for commands whose stdout has something else: `stock.csv:14: …`.
pub(crate) fn problems(out: Output, file: &str, verdict: &Verdict) {
    for Finding { columns, value, message, advice, .. } in verdict.errors() {
        let mut text = format!("{file}:{}: row {}", verdict.line, verdict.row);
        if !columns.is_empty() {
            text = format!("{text}, column {}", few(columns));
        }
        if let Some(value) = value {
            text = format!("{text}, value \"{}\"", shortened(value, LONGEST_VALUE));
        }
        out.note(&format!("{text}: {message}{}", advice.as_ref().map(|it| format!(" {it}")).unwrap_or_default()));
    }
}

/// Shows on stderr what concerns the whole file, after the [problems] of the first `shown` invalid rows.
pub(crate) fn notes(out: Output, file: &str, totals: &Totals, shown: u64) {
    if totals.invalid > shown {
        let more = counted(totals.invalid - shown, if shown > 0 { "more invalid row" } else { "invalid row" });
        out.note(&format!("… {more}; --limit-shown lists more, ad-migrate check all"));
    }
    about_file(out, file, totals, true);
}

/// Inferences, doubts, quality and counts.
fn about_file(out: Output, file: &str, totals: &Totals, with_missing: bool) {
    inferred(out, totals, with_missing);
    for doubt in &totals.doubts {
        out.warning(&format!("{} {}", doubt.message, doubt.advice));
    }
    rated(out, totals);
    out.note(&summary(file, totals));
}

/// Missing columns that are listed one by one.
const MOST_MISSING: usize = 5;

/// Warns of columns of the mapping that the file lacks.
pub(crate) fn warn_of_missing(out: Output, totals: &Totals) {
    // Without rows, no columns are known.
    if totals.rows == 0 {
        return;
    }
    let (shown, more) = totals.missing.split_at(totals.missing.len().min(MOST_MISSING));
    for column in shown {
        out.warning(column);
    }
    if !more.is_empty() {
        let more = counted(more.len() as u64, "more column");
        out.warning(&format!("… and {more} of the mapping; check that it is the mapping for this file"));
    }
}

fn inferred(out: Output, totals: &Totals, with_missing: bool) {
    for note in &totals.detected.notes {
        out.headed_note("inferred:", note);
    }
    if with_missing {
        warn_of_missing(out, totals);
    }
    if !totals.unused.is_empty() {
        out.headed_note("unused columns:", &totals.unused.join(", "));
    }
}

/// Shows how good the ads will be, and how many of them have which findings.
fn rated(out: Output, totals: &Totals) {
    if totals.valid == 0 {
        return;
    }
    let findings = if totals.quality.is_empty() { "" } else { "; findings, which reject nothing:" };
    out.note(&format!("quality of the valid rows: {}{findings}", totals.levels()));
    for finding in &totals.quality {
        let (code, about) = (finding.code, finding.code.about());
        out.note(&format!("  {:>6}  {code}: {} (rows {})", grouped(finding.rows), about.title, finding.first()));
    }
}

/// `stock.csv: 19,412 of 20,000 rows are valid, 588 invalid, 1,200 with warnings`
fn summary(file: &str, totals: &Totals) -> String {
    let are = if totals.rows == 1 { "is" } else { "are" };
    let mut summary = format!("{file}: {} of {} {are} valid", grouped(totals.valid), counted(totals.rows, "row"));
    for (count, what) in
        [(totals.invalid, "invalid"), (totals.skipped, "skipped"), (totals.with_warnings, "with warnings")]
    {
        if count > 0 {
            summary = format!("{summary}, {} {what}", grouped(count));
        }
    }
    summary
}

fn columns(columns: &Value) -> Cell {
    let names: Vec<_> = columns.as_array().into_iter().flatten().map(plain).collect();
    few(&names).into()
}

fn value(value: &Value) -> Cell {
    shortened(&plain(value), LONGEST_VALUE).into()
}

fn severity(severity: &Value) -> Cell {
    let text = plain(severity);
    let tone = if text == "error" { Tone::Bad } else { Tone::Warning };
    Cell::toned(text, tone)
}
