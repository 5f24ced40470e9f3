//! A stock file that somebody has sent: what its columns are, by `ad-migrate`, and its rows as a stock plan takes them. Nothing here waits
//! for anything: it runs where long computations run.

use std::{collections::HashMap, io::Write, path::Path};

use ad_core::{
    catalogue::Catalogue,
    model::{ChangeError, PlanError},
    violation::Code,
};
use ad_migrate::{
    finding::{Finding, Severity},
    inspect::{Choices, Draft, Known, inspect_with},
    mapping::{Bound, Mapped, Mapping},
    readers::{Batch, ReadError, Reader, Row, Settings},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::editor::propose_source_id;
use crate::api::StockRow;
use ad_server_base::limits::table::STOCK_FILE_COLUMNS;

/// Rows that are passed on together.
const PART: usize = 100;

/// An estimate of the bytes of a field of a payload.
const FIELD_BYTES: usize = 32;

/// What was said about the columns of a header.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Answers {
    pub(super) choices: Choices,
    /// Whether ads that the file does not have are hidden.
    pub(super) hides_missing: bool,
}

/// Why a file is no table of vehicles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoTable {
    Empty,
    /// It has text, and no columns.
    NoColumns,
    TooManyColumns,
    /// It cannot be read: why, in English.
    Unreadable(String),
}

/// What the columns of a file are, with what is known of its dealer and was said about them.
pub(super) fn look((name, bytes): (&str, &[u8]), catalogue: &Catalogue, known: Known<'_>) -> Result<Draft, NoTable> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(NoTable::Empty);
    }
    let file = StoredFile::new(name, bytes)?;
    let mut reader = file.open(&Settings::default())?;
    let draft = inspect_with(&mut reader, catalogue, known).map_err(|error| file.unreadable(&error))?;
    match draft.columns.len() {
        _ if draft.rows == 0 => Err(NoTable::Empty),
        0 | 1 => Err(NoTable::NoColumns),
        columns if columns > STOCK_FILE_COLUMNS => Err(NoTable::TooManyColumns),
        _ => Ok(draft),
    }
}

/// By what files with the same columns are known.
pub(super) fn header(draft: &Draft) -> String {
    let mut hash = Sha256::new();
    for column in &draft.columns {
        hash.update(column.column.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"))
}

/// Reads the rows of a file by a mapping, and passes them on until that returns false.
pub(super) fn read(
    (name, bytes): (&str, &[u8]),
    mapping: &Mapping,
    each: &mut dyn FnMut(Vec<StockRow>) -> bool,
) -> Result<(), PlanError> {
    let broken = |why: NoTable| {
        let text = match &why {
            NoTable::Unreadable(text) => text,
            _ => "The file cannot be read",
        };
        PlanError::of_body(Code::IncompleteBody, None, text)
    };
    let file = StoredFile::new(name, bytes).map_err(broken)?;
    let mut reader = file.open(mapping.reading()).map_err(broken)?;
    let (mut reuse, mut seen): (Option<Batch>, _) = (None, HashMap::new());
    while let Some(batch) = reader.next(reuse.take()).map_err(|error| broken(file.unreadable(&error)))? {
        let bound = mapping.bind(batch.columns());
        let mut part = Vec::new();
        for row in batch.rows().filter(|row| !bound.is_skipped(*row)) {
            part.push(converted(&bound, row, &mut seen));
            if part.len() == PART && !each(std::mem::take(&mut part)) {
                return Ok(());
            }
        }
        if !each(part) {
            return Ok(());
        }
        reuse = Some(batch);
    }
    Ok(())
}

/// A row as a plan takes it. `seen` has the rows of the source ids before.
fn converted(bound: &Bound<'_>, row: Row<'_>, seen: &mut HashMap<String, u64>) -> StockRow {
    let Mapped { mut payload, findings, .. } = bound.apply(row);
    let line = row.line();
    propose_source_id(&mut payload);
    let source_id = payload.get("source_id").and_then(Value::as_str).map(str::to_owned);
    let errors: Vec<&Finding> =
        row.findings().iter().chain(&findings).filter(|finding| finding.severity == Severity::Error).collect();
    if !errors.is_empty() {
        let values = errors.iter().filter_map(|finding| Some((pointer(finding), finding.value.clone()?))).collect();
        return StockRow::Unreadable {
            line,
            source_id,
            errors: errors.into_iter().map(change_error).collect(),
            values,
        };
    }
    if let Some(id) = &source_id
        && let Some(first) = seen.insert(id.clone(), line)
    {
        seen.insert(id.clone(), first);
        let pointer = "/source_id".to_owned();
        let error = ChangeError {
            pointer: pointer.clone(),
            code: Code::DuplicateItem,
            detail: format!("It stands in row {first} too."),
            suggestion: None,
            rule: None,
        };
        let values = vec![(pointer, id.clone())];
        return StockRow::Unreadable { line, source_id, errors: vec![error], values };
    }
    StockRow::Payload { line, bytes: bytes_of(&payload), object: payload }
}

/// The field of a finding as a JSON Pointer; empty if it is about the row.
fn pointer(finding: &Finding) -> String {
    finding.field.as_ref().map_or_else(String::new, |field| format!("/{}", field.replace('.', "/")))
}

fn change_error(finding: &Finding) -> ChangeError {
    let columns = finding.columns.join(", ");
    let of = if columns.is_empty() { String::new() } else { format!("Column {columns}: ") };
    ChangeError {
        pointer: pointer(finding),
        code: if finding.value.is_some() { Code::InvalidFormat } else { Code::Unknown },
        detail: format!("{of}{}", finding.message),
        suggestion: None,
        rule: None,
    }
}

/// An estimate of the bytes of a payload.
fn bytes_of(payload: &Map<String, Value>) -> usize {
    payload.values().fold(0, |sum, value| {
        let own = match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::len).sum(),
            Value::Object(members) => bytes_of(members),
            _ => 0,
        };
        sum + own + FIELD_BYTES
    })
}

/// A file in the folder of temporary files, where it can be read.
struct StoredFile<'a> {
    name: &'a str,
    file: NamedTempFile,
}

impl<'a> StoredFile<'a> {
    fn new(name: &'a str, bytes: &[u8]) -> Result<Self, NoTable> {
        let write = || {
            let mut file = NamedTempFile::new()?;
            file.write_all(bytes)?;
            file.flush()?;
            Ok::<_, std::io::Error>(file)
        };
        let file = write().map_err(|error| {
            tracing::error!(%error, "a temporary file could not be written");
            NoTable::Unreadable("The service has no space for the file. Try again later.".to_owned())
        })?;
        Ok(Self { name, file })
    }

    fn open(&self, settings: &Settings) -> Result<Reader, NoTable> {
        Reader::open(self.path(), settings).map_err(|error| self.unreadable(&error))
    }

    fn path(&self) -> &Path {
        self.file.path()
    }

    /// The error with the name of the file that its sender knows.
    fn unreadable(&self, error: &ReadError) -> NoTable {
        NoTable::Unreadable(error.message.replace(&self.path().display().to_string(), self.name))
    }
}
