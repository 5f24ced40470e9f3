//! Rows of a table as payloads: [`ad_migrate`] reads, maps and validates them.
//!
//! Each payload is written on the line that its row has in the table, and the line of an invalid row has a [`RejectedRow`]. So the line of a
//! message is the row.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use ad_core::{
    categories,
    model::{ApiVersion, Timestamp},
    rulebook::Rulebook,
};
use ad_files::{Place, Severity, json::at, text::counted};
use ad_migrate::{
    check::{CheckError, OpenedFile, Payloads, Sink, Totals, Verdict, run},
    finding::Finding,
    readers::{ReadError, Settings},
};
use serde_json::{Map, Value};
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
            let (rows, them) = (counted(lines.warnings, "warning"), if lines.warnings == 1 { "it" } else { "them" });
            let http = if http_images { " --http-images" } else { "" };
            let check = format!("ad-migrate check {name} --mapping {mapping}{http} --output csv");
            context.out.note(&format!("{rows} of the mapping; to show {them}: {check}"));
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
        if verdict.is_valid() && verdict.payload.as_ref().is_some_and(is_example) {
            let message = "This is still the example row of the template: replace it, or delete the row.";
            let place = Place { line: verdict.line, column: 0 };
            let rejected_row = vec![check::Finding::whole(place, vec![message.to_owned()])];
            let source_id = verdict.source_id;
            serde_json::to_writer(&mut self.out, &RejectedRow { source_id, rejected_row, payload: None })?;
        } else if let Some(payload) = verdict.payload.as_ref().filter(|_| verdict.is_valid()) {
            serde_json::to_writer(&mut self.out, payload)?;
        } else {
            let rejected_row = verdict.errors().map(|finding| about_row(finding, verdict.line)).collect();
            let Verdict { source_id, payload, .. } = verdict;
            serde_json::to_writer(&mut self.out, &RejectedRow { source_id, rejected_row, payload })?;
        }
        self.out.write_all(b"\n")
    }
}

/// Whether a payload is the example of a sheet of `ad-cli template`: it would use up its source id and plate.
fn is_example(payload: &Map<String, Value>) -> bool {
    let category = payload.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    let Some((category, name)) = category.and_then(|category| Some((category, category.vehicle_type?))) else {
        return false;
    };
    // Only a suspect is compared with the example, which takes time to make.
    if payload.get("source_id").and_then(Value::as_str).and_then(|id| id.strip_prefix(name)) != Some("-1001") {
        return false;
    }
    let example = category.example(ApiVersion::V4, &Rulebook::default());
    ["category_fields.registration_number", "category_fields.vin", "title"]
        .iter()
        .all(|path| at(payload, path) == at(&example, path))
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
