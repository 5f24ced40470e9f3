//! Findings as people read them, and as rows for programs.

use std::io::{self, BufWriter, Write};

use ad_bulk::check::{Finding, Verdict};
use ad_core::printable;
use ad_files::{
    Place, Severity,
    text::{counted, shortened},
};
use serde::Serialize;

use super::{Column, Output, Rows, Stream, Styled, Tone, progress::BlockingCounter};

/// What programs get of each finding; the names are the row's.
#[rustfmt::skip]
const COLUMNS: &[Column] = &Column::at_paths([
    "file", "line", "column", "index", "source_id", "vehicle_type", "severity", "field", "value", "message",
    "suggestions", "command",
]);

#[derive(Debug, Serialize)]
struct PrintedFinding<'a> {
    file: &'a str,
    index: u64,
    source_id: Option<&'a str>,
    vehicle_type: Option<&'static str>,
    #[serde(flatten)]
    finding: &'a Finding,
}

const LONGEST_SHOWN: usize = 60;

/// Most findings of a command that people see. Nobody reads more, and a short file can have a million.
const MOST_SHOWN: u64 = 1000;

/// Writes findings, and shows the number of validated payloads on a terminal.
#[derive(Debug)]
pub struct Findings {
    file: String,
    out: Output,
    /// Stdout, buffered.
    text: BufWriter<Stream>,
    /// What programs get, unless that is something else.
    rows: Option<Rows>,
    /// Findings that people saw, and those that they did not.
    shown: u64,
    more: u64,
    progress: BlockingCounter,
}

impl Findings {
    /// The findings of a file, in the requested format.
    pub fn new(file: &str, out: Output) -> Self {
        let (file, text) = (file.to_owned(), BufWriter::new(out.stdout()));
        let rows = (!out.is_for_people()).then(|| out.rows(COLUMNS));
        Self { file, out, text, rows, shown: 0, more: 0, progress: BlockingCounter::new(out, "payload") }
    }

    /// The same for people only: programs get something else.
    pub fn for_people(file: &str, out: Output) -> Self {
        Self { rows: None, ..Self::new(file, out) }
    }

    /// So many payloads have been validated.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn validated(&mut self, payloads: u64) -> io::Result<()> {
        if self.progress.is_due() {
            // A line that is not printed to its end would be overwritten.
            self.flush()?;
        }
        self.progress.show(payloads);
        Ok(())
    }

    /// Shows the findings of one payload.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn show(&mut self, verdict: &Verdict) -> io::Result<()> {
        if !verdict.findings.is_empty() {
            self.progress.hide();
        }
        for finding in &verdict.findings {
            if let Some(rows) = &mut self.rows {
                rows.push(&PrintedFinding {
                    file: &self.file,
                    index: verdict.index,
                    source_id: verdict.source_id.as_deref(),
                    vehicle_type: verdict.category.and_then(|category| category.vehicle_type),
                    finding,
                })?;
            } else if self.out.is_for_people() && self.shown >= MOST_SHOWN {
                self.more += 1;
            } else if self.out.is_for_people() {
                self.shown += 1;
                self.text.write_all(for_people(self.out, &self.file, verdict, finding).as_str().as_bytes())?;
            }
        }
        Ok(())
    }

    /// What follows is about this file.
    pub fn of(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Shows what there is so far, and no progress until more has been validated.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.progress.hide();
        self.text.flush()?;
        self.rows.as_mut().map_or(Ok(()), Rows::flush)
    }

    /// Ends the answer.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn end(mut self) -> io::Result<()> {
        self.progress.hide();
        self.text.flush()?;
        if self.more > 0 {
            let more = counted(self.more, "more finding");
            self.out.note(&format!("… and {more}; ad-cli validate --output csv lists all"));
        }
        self.rows.map_or(Ok(()), Rows::end)
    }
}

/// Where, what, why, and what to do:
///
/// ```text
/// cars.ndjson:3:118: error: category_fields.brand is "wolvo" (car-3)
///   "wolvo" is not a valid choice. Did you mean "volvo"?
///   see: ad-cli values car brand
/// ```
fn for_people(out: Output, file: &str, verdict: &Verdict, finding: &Finding) -> Styled {
    let (tone, severity) = match finding.severity {
        Severity::Error => (Tone::Bad, "error:"),
        Severity::Warning => (Tone::Warning, "warning:"),
    };
    let mut text = out.styled();
    let place = match finding.place {
        Place { line, column: 0 } => format!("{file}:{line}:"),
        Place { line, column } => format!("{file}:{line}:{column}:"),
    };
    text.toned(Tone::Strong, &place).push(" ").toned(tone, severity);
    if let Some(field) = &finding.field {
        text.push(" ").toned(Tone::Strong, field);
    }
    if let Some(value) = &finding.value {
        text.push(" is ").push(&shortened(&value.to_string(), LONGEST_SHOWN));
    }
    if let Some(source_id) = &verdict.source_id {
        text.toned(Tone::Faint, &format!(" ({})", shortened(source_id, LONGEST_SHOWN)));
    }
    let why = finding.messages.join(" ");
    if finding.field.is_none() {
        // The line has no other text.
        text.push(" ").push(&why).end_line();
        return text;
    }
    text.end_line();
    let is_new = |suggestion: &&String| !finding.messages.iter().any(|it| it.contains(&format!("\"{suggestion}\"")));
    let more: Vec<_> = finding.suggestions.iter().filter(is_new).map(|it| format!("\"{it}\"")).collect();
    let meant = if more.is_empty() { String::new() } else { format!(" Did you mean {}?", more.join(" or ")) };
    text.block(2, &printable::line(&format!("{why}{meant}")));
    if let Some(command) = &finding.command {
        text.push("  ").toned(Tone::Faint, "see:").push(" ").push(command).end_line();
    }
    text
}
