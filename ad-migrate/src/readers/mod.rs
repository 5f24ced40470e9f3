//! Files of legacy systems as rows of texts: whatever the form, the encoding and the packing, the rest of the crate sees the same.
//!
//! A row has values under names: a CSV file's columns (their positions from 1, where there is no header), or the paths of an XML or
//! JSON record below it, such as `matarstallning/@enhet` and `bilder/bild/@url` (XML) or `technical.odometer.unit` and `photos.href` (JSON).
//! A path that occurs several times in a record has several values, in their order. Everything is streamed.

mod csv;
mod detect;
mod encoding;
mod feed;
mod json;
mod packing;
mod row;
mod source;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tree;
mod xml;

use std::{
    borrow::Cow,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use ad_cli::bulk::shortened;
use encoding::Charset;
#[cfg(test)]
pub(crate) use row::rows_of;
pub use row::{Batch, ColumnId, Columns, Row, Trouble};

/// How a file is to be read, where it is not to be detected. The `[file]` table of a mapping, and options of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What it is.
    pub form: Option<Form>,
    /// Its encoding: `utf-8`, `utf-16`, `utf-16le`, `utf-16be`, `windows-1252`, `iso-8859-1` (`latin-1`).
    pub encoding: Option<String>,
    /// What separates the columns of CSV.
    pub separator: Option<char>,
    /// What texts of CSV are quoted with.
    pub quote: Option<char>,
    /// Whether the first row of CSV has the names of the columns.
    pub header: Option<bool>,
    /// Where the records are: `lager/fordon` in XML, `vehicles` in JSON; detected as what repeats.
    pub rows: Option<String>,
    /// Which file of an archive.
    pub member: Option<String>,
}

/// Forms of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Columns, with any separator.
    Csv,
    /// One JSON text that holds an array of records.
    Json,
    /// A JSON record on each line.
    Ndjson,
    /// An XML document with an element for each record.
    Xml,
}

/// How a file is read, and why.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Detected {
    /// What it is.
    pub form: Form,
    /// Name of the encoding.
    pub encoding: String,
    /// CSV: what separates columns.
    pub separator: Option<char>,
    /// CSV: whether there is a header.
    pub header: Option<bool>,
    /// XML and JSON: where the records are.
    pub rows: Option<String>,
    /// `gzip`, `zip`, or nothing.
    pub packing: Option<String>,
    /// The file of an archive that was read.
    pub member: Option<String>,
    /// What was inferred rather than told, each with its reason, in sentences for people.
    pub notes: Vec<String>,
}

/// Why a file cannot be read, or cannot be read on.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// What went wrong, with the place.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl ReadError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new() }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says why something cannot be done; with advice, where what failed below is one of ours.
    fn io(error: &io::Error, doing: &str) -> Self {
        let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        Self { message: format!("{doing}: {error}."), hints: ours.map(|ours| ours.hints.clone()).unwrap_or_default() }
    }
}

/// Longest row.
const LONGEST_ROW: usize = 4 * 1024 * 1024;

/// Most different paths of XML and JSON: a name for each record is no name.
const MOST_PATHS: usize = 5000;

/// Longest path of XML and JSON, in bytes.
const LONGEST_PATH: usize = 1000;

/// Bytes of the beginning in which an encoding is looked for.
const HEAD: usize = 2 * 1024 * 1024;

/// Bytes of the beginning in which a form is looked for.
const LOOK: usize = 1024 * 1024;

/// The rows of a file of one form.
trait Records: Send + std::fmt::Debug {
    /// Adds the next row to a batch. `false` when there is none.
    ///
    /// # Errors
    /// When the file cannot be read on behind the rows that are in the batch.
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError>;

    /// The columns seen so far.
    fn columns(&self) -> Arc<Columns>;

    /// Makes a batch of the next rows. `false` when there are no more behind them.
    ///
    /// # Errors
    /// When the file cannot be read on behind the rows that are in the batch.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        batch.clear(Arc::default());
        let mut filled = Ok(true);
        while !batch.is_full() && matches!(filled, Ok(true)) {
            filled = self.row(batch);
        }
        batch.set_columns(self.columns());
        filled
    }
}

/// A file that is being read.
#[derive(Debug)]
pub struct Reader {
    detected: Detected,
    records: Box<dyn Records>,
    /// Whether there is nothing more.
    has_ended: bool,
    /// Why, where rows before it had to be handed over first.
    failed: Option<ReadError>,
    read: Arc<AtomicU64>,
    size: u64,
}

impl Reader {
    /// Opens a file, finds out what it is, and reads as much as that takes. `-` is stdin.
    ///
    /// # Errors
    /// When it cannot be read, is nothing that can be read, or is not what the settings say.
    pub fn open(path: &Path, settings: &Settings) -> Result<Self, ReadError> {
        let source = source::open(path, settings)?;
        let (read, size) = (source.read.clone(), source.size);
        let (detected, records) = detect::records(source, settings)?;
        Ok(Self { detected, records, has_ended: false, failed: None, read, size })
    }

    /// How it is read.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// Bytes of the file on the disk that have been read, and all there are (zero where that is not known): for progress.
    pub fn progress(&self) -> (u64, u64) {
        let read = self.read.load(Ordering::Relaxed);
        (if self.size == 0 { read } else { read.min(self.size) }, self.size)
    }

    /// The next rows; `None` at the end. A batch that is not needed any more can be given back for its memory.
    ///
    /// # Errors
    /// When the file ends in the middle of a row or cannot be read on. Rows before that have been returned.
    pub fn next(&mut self, reuse: Option<Batch>) -> Result<Option<Batch>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.has_ended {
            return Ok(None);
        }
        let mut batch = reuse.unwrap_or_default();
        let filled = self.records.fill(&mut batch);
        self.has_ended = !matches!(filled, Ok(true));
        match filled {
            Err(error) if batch.is_empty() => return Err(error),
            Err(error) => self.failed = Some(error),
            Ok(_) => {}
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// Most characters of a value or a name in a message.
const LONGEST_QUOTED: usize = 60;

/// A value as messages show it: in quotes, and not too long.
fn quoted(value: &str) -> String {
    match value.char_indices().nth(LONGEST_QUOTED) {
        None => format!("{value:?}"),
        Some((end, _)) => format!("{:?}…", &value[..end]),
    }
}

/// A name as messages show it: not too long.
fn short(name: &str) -> Cow<'_, str> {
    shortened(name, LONGEST_QUOTED)
}

/// A row that is longer than any row may be.
fn too_long() -> Trouble {
    Trouble {
        reason: "the row is too long",
        column: None,
        message: format!("The row is longer than the limit of {} MiB and is skipped.", LONGEST_ROW >> 20),
        advice: Some(
            "Check whether the file contains image data, or a line break or closing tag is missing.".to_owned(),
        ),
    }
}

/// A value that is not in the encoding that the file has.
fn foreign(charset: Charset, columns: &Columns, column: ColumnId, value: &str) -> Trouble {
    let (name, encoding) = (quoted(columns.name(column)), charset.name);
    Trouble {
        reason: "not in the file's encoding",
        column: Some(column),
        message: format!(
            "Column {name} contains bytes that are not {encoding}, the encoding of the file: {}.",
            quoted(value)
        ),
        advice: Some(charset.advice()),
    }
}

/// The same of a record whose paths cannot be told.
fn foreign_record(charset: Charset, line: u64, near: &str) -> Trouble {
    let encoding = charset.name;
    Trouble {
        reason: "not in the file's encoding",
        column: None,
        message: format!(
            "The record contains bytes in line {line} that are not {encoding}, the encoding of the file: {}.",
            quoted(near)
        ),
        advice: Some(charset.advice()),
    }
}
