//! Files of legacy systems as rows of texts, whatever their format, encoding and compression.
//!
//! A row has values under names: a CSV file's columns (their positions from 1, where there is no header), or the paths of an XML or
//! JSON record below it, such as `matarstallning/@enhet` and `bilder/bild/@url` (XML) or `technical.odometer.unit` and `photos.href` (JSON).
//! A path that occurs several times in a record has several values, in order. Everything is streamed, except for the texts of .xlsx and .xls,
//! which are apart from the rows.

mod csv;
mod detect;
mod encoding;
mod feed;
mod fixed;
mod join;
mod json;
mod markup;
mod packing;
mod padding;
mod pieces;
mod row;
mod row_limit;
mod same;
mod sheets;
mod source;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tree;
mod xml;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::SystemTime,
};

use ad_core::written::number;
use ad_files::text::shortened;
use encoding::Charset;
pub(crate) use encoding::{is_twice_encoded, may_be_damaged};
pub use fixed::CharRange;
pub use join::Join;
use packing::Progress;
#[cfg(any(test, feature = "cli"))]
pub(crate) use row::row_of_paths;
#[cfg(test)]
pub(crate) use row::rows_of;
pub use row::{Batch, CellKind, ColumnId, Columns, Row};
pub(crate) use row::{BesideValues, PlacedText, Unpaired};
use row_limit::RowLimit;
pub use same::{SameRows, Take};
use source::OpenedSource;

use crate::finding::{Finding, Severity};

/// How to read a file, instead of detecting it: the `[file]` table of a mapping, and options of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Format of the file; `None`: detect it.
    pub form: Option<Form>,
    /// Its encoding: `utf-8`, `utf-16`, `utf-16le`, `utf-16be`, `windows-1252`, `iso-8859-1` (`latin-1`), another one of the web such as
    /// `iso-8859-15`, `windows-1250`, `windows-1251` or `koi8-r`, `cp437`, `cp850`, `cp858`, `cp865`, `macintosh`, `mac-cyrillic`, or
    /// `utf-8-twice` for UTF-8 that was encoded again.
    pub encoding: Option<String>,
    /// What separates the columns of CSV.
    pub separator: Option<char>,
    /// What texts of CSV are quoted with; NUL if they are not.
    #[serde(deserialize_with = "quote")]
    pub quote: Option<char>,
    /// Whether the first row of CSV has the names of the columns.
    pub header: Option<bool>,
    /// The path of the records: `lager/fordon` in XML, `vehicles` in JSON.
    pub rows: Option<String>,
    /// Which file of an archive.
    pub member: Option<String>,
    /// Which sheet of a spreadsheet.
    pub sheet: Option<String>,
    /// Lines of CSV, or rows of a sheet, before the header.
    pub skip_first: usize,
    /// Lines of CSV, or rows of a sheet, at the end that are no data, such as a sum; empty ones do not count.
    pub skip_last: usize,
    /// Whether rows of CSV may have any number of columns.
    pub ragged: bool,
    /// Fixed-width files: the characters of each column.
    pub columns: BTreeMap<String, CharRange>,
    /// Files whose columns are added to the rows, by name.
    pub join: BTreeMap<String, Join>,
    /// Rows that are about the same vehicle: `same` of the `[rows]` table of a mapping.
    #[serde(skip)]
    pub same: Option<SameRows>,
}

/// The quote of CSV: a character, or an empty text for none.
fn quote<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<char>, D::Error> {
    let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (None, _) => Ok(Some('\0')),
        (quote, None) => Ok(quote),
        _ => Err(serde::de::Error::custom("expected one character, or an empty text for files without a quote mark")),
    }
}

/// The formats of files that can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Lines of cells, with any separator.
    #[default]
    Csv,
    /// One JSON text that holds an array of records.
    Json,
    /// A JSON record on each line.
    Ndjson,
    /// An XML document with an element for each record.
    Xml,
    /// A sheet of an Excel workbook.
    Xlsx,
    /// A sheet of an `OpenDocument` spreadsheet, packed or as one XML document.
    Ods,
    /// A sheet of an Excel workbook of before 2007.
    Xls,
    /// A table of dBASE or `FoxPro`.
    Dbf,
    /// A sheet of an XML Spreadsheet 2003.
    Xml2003,
    /// A table of an HTML page.
    Html,
    /// Columns at the same characters of each line.
    Fixed,
}

impl Form {
    /// Whether its columns are there for all rows. In the other formats, a record leaves out what it does not have.
    pub const fn is_table(self) -> bool {
        !matches!(self, Self::Json | Self::Ndjson | Self::Xml)
    }

    /// The name in capitals, such as `CSV` or `XLSX`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Ndjson => "NDJSON",
            Self::Xml => "XML",
            Self::Xlsx => "XLSX",
            Self::Ods => "ODS",
            Self::Xls => "XLS",
            Self::Dbf => "DBF",
            Self::Xml2003 => "XML2003",
            Self::Html => "HTML",
            Self::Fixed => "FIXED",
        }
    }
}

/// How a file is read.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Detected {
    /// Format of the file, detected or as set.
    pub form: Form,
    /// Name of the encoding, such as `windows-1252`.
    pub encoding: String,
    /// CSV: the separator of columns.
    pub separator: Option<char>,
    /// CSV and spreadsheets: whether there is a header.
    pub header: Option<bool>,
    /// CSV and spreadsheets: lines above the header that were found to be no data.
    #[serde(skip_serializing_if = "is_zero")]
    pub skip_first: usize,
    /// XML and JSON: the path of the records.
    pub rows: Option<String>,
    /// How the file was packed: `gzip` or `zip`.
    pub packing: Option<String>,
    /// The file of an archive that was read.
    pub member: Option<String>,
    /// The sheet of a spreadsheet.
    pub sheet: Option<String>,
    /// Inferences, each with its reason, in sentences for people.
    pub notes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Why a file cannot be read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[error("{message}")]
pub struct ReadError {
    /// What went wrong, and where.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl ReadError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// An I/O error; with the hints of the [`ReadError`] that it may contain.
    fn io(error: &io::Error, doing: &str) -> Self {
        let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        Self { message: format!("{doing}: {error}."), hints: ours.map(|ours| ours.hints.clone()).unwrap_or_default() }
    }
}

/// Longest row, in bytes.
const LONGEST_ROW: usize = 4 * 1024 * 1024;

/// Most different paths of XML and JSON.
const MOST_PATHS: usize = 5000;

/// Longest path of XML and JSON, in bytes.
const LONGEST_PATH: usize = 1000;

/// Bytes from the beginning of a file in which the encoding is detected.
const HEAD: usize = 2 * 1024 * 1024;

/// Bytes from the beginning of a file in which the format is detected.
const LOOK: usize = 1024 * 1024;

/// The rows of a file of one format.
trait Records: Send + std::fmt::Debug {
    /// Adds the next row to a batch. `false` at the end of the file.
    ///
    /// # Errors
    /// When the file cannot be read any further.
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError>;

    /// The columns seen so far.
    fn columns(&mut self) -> &mut Arc<Columns>;

    /// What is known about the file when it has been read to its end, in sentences for people.
    fn late_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Adds a column that is not in the file, before any row is read.
    fn add_column(&mut self, name: &str) -> ColumnId {
        Arc::make_mut(self.columns()).add(name)
    }

    /// Fills a batch with the next rows. `false` at the end of the file.
    ///
    /// # Errors
    /// When the file cannot be read beyond the rows that are in the batch.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        batch.clear(Arc::default());
        let mut filled = Ok(true);
        while !batch.is_full() && matches!(filled, Ok(true)) {
            filled = self.row(batch);
        }
        batch.columns = self.columns().clone();
        filled
    }
}

/// A file that is being read.
#[derive(Debug)]
pub struct Reader {
    detected: Detected,
    records: Box<dyn Records>,
    /// Whether all rows have been read.
    has_ended: bool,
    /// An error after rows that are returned first.
    failed: Option<ReadError>,
    progress: Progress,
    row_limit: RowLimit,
    /// The file as it was when it was opened; not of stdin.
    opened: Option<(PathBuf, FileState)>,
}

/// Size and time of a file, by which one that is still being written is noticed.
type FileState = (u64, Option<SystemTime>);

fn state(path: &Path) -> Option<FileState> {
    let metadata = path.metadata().ok()?;
    metadata.is_file().then(|| (metadata.len(), metadata.modified().ok()))
}

fn changed(path: &Path) -> ReadError {
    let message = format!("{} changed while it was read: it may still be being written.", path.display());
    ReadError::new(message)
        .hint("Run the command again when the export has finished; have it write to another name and rename the file.")
}

impl Reader {
    /// Opens a file and detects its format. `-` is stdin.
    ///
    /// # Errors
    /// When it cannot be read, has another format, or contradicts the settings.
    pub fn open(path: &Path, settings: &Settings) -> Result<Self, ReadError> {
        let before = state(path);
        let opened = source::open(path, settings)?;
        let progress = opened.progress();
        let (detected, records) = match opened {
            OpenedSource::Text(source) => detect::records(source, settings)?,
            OpenedSource::Workbook(workbook) => sheets::records(workbook, settings)?,
        };
        let records = same::with(records, path, settings)?;
        let records = join::with(records, path, settings, &detected)?;
        let opened = before.map(|state| (path.to_owned(), state));
        Ok(Self { detected, records, has_ended: false, failed: None, progress, row_limit: RowLimit::default(), opened })
    }

    /// Format, encoding and structure of the file; with what only its end shows, if all rows have been read.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// Adds what the rows so far show to what is [detected](Self::detected).
    pub(crate) fn settle(&mut self) {
        self.detected.notes.extend(self.records.late_notes());
    }

    /// Bytes of the file on the disk that have been read, and all there are (zero where that is not known): for progress.
    pub fn progress(&self) -> (u64, u64) {
        let (read, size) = (self.progress.read.load(Ordering::Relaxed), self.progress.size);
        (if size == 0 { read } else { read.min(size) }, size)
    }

    /// The next rows; `None` at the end. The memory of a batch can be reused.
    ///
    /// # Errors
    /// When the file ends within a row or cannot be read any further. Rows before that have been returned.
    pub fn next(&mut self, reuse: Option<Batch>) -> Result<Option<Batch>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.has_ended {
            return Ok(None);
        }
        let mut batch = reuse.unwrap_or_default();
        let filled = self.records.fill(&mut batch);
        let (read, _) = self.progress();
        let filled = self.row_limit.add(batch.rows().len(), read, &self.detected).and(filled);
        self.has_ended = !matches!(filled, Ok(true));
        if self.has_ended {
            self.settle();
        }
        // A file that has changed may have no end where it seems to have one.
        let opened = self.opened.take_if(|_| self.has_ended);
        let filled = match opened.filter(|(path, before)| state(path).as_ref() != Some(before)) {
            Some((path, _)) => Err(changed(&path)),
            None => filled,
        };
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

/// The text of a number that has only one reading: `1.234`, which could be thousands, becomes `1.2340`. It has the 15 digits that spreadsheets
/// show and no exponent.
fn number_text(number: f64) -> String {
    let rounded = format!("{number:.14e}").parse().unwrap_or(number);
    let mut text = f64::to_string(&rounded);
    if number::has_two_readings(&text) {
        text.push('0');
    }
    text
}

/// A value in messages: in quotes, and shortened.
fn quoted(value: &str) -> String {
    match value.char_indices().nth(LONGEST_QUOTED) {
        None => format!("{value:?}"),
        Some((end, _)) => format!("{:?}…", &value[..end]),
    }
}

/// A name in messages: shortened.
fn short(name: &str) -> Cow<'_, str> {
    shortened(name, LONGEST_QUOTED)
}

/// An error of a row itself.
fn error(reason: &str, message: String, advice: impl Into<String>) -> Finding {
    Finding { advice: Some(advice.into()), ..Finding::new(Severity::Error, reason, message) }
}

/// A row that exceeds the limit.
fn too_long() -> Finding {
    error(
        "the row is too long",
        format!("The row is longer than the limit of {} MiB and is skipped.", LONGEST_ROW >> 20),
        "Check whether the file contains image data, or a line break or closing tag is missing.",
    )
}

/// A text that is not in the encoding of the file. `place` is `Column "x" contains bytes`, for example.
fn foreign_text(charset: Charset, place: &str, text: &str) -> Finding {
    let encoding = charset.name;
    let message = format!("{place} that are not {encoding}, the encoding of the file: {}.", quoted(text));
    error("not in the file's encoding", message, charset.advice())
}
