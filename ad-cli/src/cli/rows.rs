//! Rows of a table as payloads: [`ad_migrate`] reads, maps and validates them.
//!
//! Each payload is written on the line that its row has in the table, and the line of an invalid row has a [`RejectedRow`]. So the line of a
//! message is the row.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use ad_core::model::Timestamp;
use ad_files::{Place, Severity, text::counted};
use ad_migrate::{
    check::{CheckError, OpenedFile, Payloads, Sink, Totals, Verdict, run},
    finding::Finding,
    readers::{ReadError, Settings},
};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::{
    bulk::{
        BulkError,
        check::{self, RejectedRow},
        payloads::{NotPayloads, Source},
    },
    terminal::{Context, Failure, progress::waiting, until_interrupted},
};

#[derive(Debug)]
pub(crate) struct Rows {
    name: String,
    pub(super) mapping: String,
    pub(super) payloads: NamedTempFile,
}

impl Rows {
    /// Converts the rows of a table; `-` is stdin.
    pub(super) async fn convert(
        context: &Context,
        file: &Path,
        mapping: String,
        http_images: bool,
    ) -> Result<Self, Failure> {
        let name = if file.as_os_str() == "-" { "stdin".to_owned() } else { file.display().to_string() };
        if file.is_dir() {
            let reason = "it is a folder; use a file in it".to_owned();
            return Err(NotPayloads::Unreadable { name, reason }.into());
        }
        let mut lines = Lines::begin().map_err(no_room())?;
        let (table, by, now) = (file.to_owned(), mapping.clone(), context.now());
        let work = tokio::task::spawn_blocking(move || {
            let totals = lines.convert(&table, &by, http_images, now)?;
            Ok::<_, Failure>((totals, lines))
        });
        let work = until_interrupted(waiting(context.out, format!("reading {name}"), work));
        let (totals, lines) = work.await.ok_or_else(Failure::interrupted)?.map_err(BulkError::from)??;
        if let Some(error) = totals.unusable(&name) {
            return Err(not_read(error));
        }
        context.out.note(&format!("{name}: rows are read with the mapping {mapping}"));
        if lines.warnings > 0 {
            let rows = counted(lines.warnings, "warning");
            context.out.note(&format!("{rows}; to show them: ad-migrate check {name} --mapping {mapping}"));
        }
        if lines.is_shared {
            return Err(Failure::usage(format!("{name} has several rows on a line"))
                .hint(format!("to import it: ad-migrate run {name} --mapping {mapping}")));
        }
        let payloads = lines.out.into_inner().map_err(io::IntoInnerError::into_error).map_err(no_room())?;
        Ok(Self { name, mapping, payloads })
    }

    /// The payloads, from the beginning.
    pub(super) fn source(&self) -> Result<Source, NotPayloads> {
        Source::of_lines(&self.name, self.payloads.path())
    }
}

/// The file of payloads while rows are converted.
struct Lines {
    out: BufWriter<NamedTempFile>,
    /// The last line that has been written.
    line: u64,
    /// Whether a line has several rows.
    is_shared: bool,
    warnings: u64,
}

impl Lines {
    fn begin() -> io::Result<Self> {
        Ok(Self { out: BufWriter::new(NamedTempFile::new()?), line: 0, is_shared: false, warnings: 0 })
    }

    fn convert(&mut self, file: &Path, mapping: &str, http_images: bool, now: Timestamp) -> Result<Totals, Failure> {
        let OpenedFile { rulebook, mapping, reader } =
            OpenedFile::open(file, mapping, http_images, Settings::clone).map_err(not_read)?;
        let totals = run(reader, &mapping, &rulebook, Payloads::AllAndInvalid, now, self);
        totals.map_err(|error| match error {
            CheckError::Sink(error) => no_room()(error).into(),
            CheckError::Temporary(_) => {
                Failure::failed(error.to_string()).hint("set TMPDIR to a folder with free space")
            }
        })
    }
}

impl Sink for Lines {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        let warnings = verdict.findings.iter().filter(|finding| finding.severity == Severity::Warning);
        self.warnings += warnings.count() as u64;
        if verdict.line <= self.line {
            self.is_shared = true;
            return Ok(());
        }
        while self.line + 1 < verdict.line {
            self.out.write_all(b"\n")?;
            self.line += 1;
        }
        self.line = verdict.line;
        if let Some(payload) = verdict.payload.as_ref().filter(|_| verdict.is_valid()) {
            serde_json::to_writer(&mut self.out, payload)?;
        } else {
            let rejected_row = verdict.errors().map(|finding| about_row(finding, verdict.line)).collect();
            let Verdict { source_id, payload, .. } = verdict;
            serde_json::to_writer(&mut self.out, &RejectedRow { source_id, rejected_row, payload })?;
        }
        self.out.write_all(b"\n")
    }
}

/// A finding about a row as one about a payload, with the names of the columns.
fn about_row(Finding { columns, value, field, message, advice, .. }: &Finding, line: u64) -> check::Finding {
    let columns = columns.join(", ");
    let of = if columns.is_empty() { String::new() } else { format!("Column {columns}: ") };
    check::Finding {
        place: Place { line, column: 0 },
        field: field.clone(),
        value: value.clone().map(Value::String),
        messages: [format!("{of}{message}")].into_iter().chain(advice.clone()).collect(),
        ..check::Finding::default()
    }
}

/// A table or mapping that cannot be used is a usage error.
fn not_read(error: ReadError) -> Failure {
    error.hints.into_iter().fold(Failure::usage(error.message), Failure::hint)
}

/// The error of the temporary file of the rows.
fn no_room() -> impl Fn(io::Error) -> BulkError {
    BulkError::temporary("for the rows")
}
