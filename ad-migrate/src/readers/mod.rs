//! Files of legacy systems as rows of texts: whatever the form, the encoding and the packing, the rest of the crate sees the same.
//!
//! A row has values under names: a CSV file's columns (their positions from 1, where there is no header), or the paths of an XML or
//! JSON record below it, such as `matarstallning/@enhet` and `bilder/bild/@url` (XML) or `technical.odometer.unit` and `photos.href` (JSON).
//! A path that occurs several times in a record has several values, in their order. Everything is streamed.

mod row;

use std::path::Path;

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

/// A file that is being read.
#[derive(Debug)]
pub struct Reader {
    // helper R
}

impl Reader {
    /// Opens a file, finds out what it is, and reads as much as that takes.
    ///
    /// # Errors
    /// When it cannot be read, is nothing that can be read, or is not what the settings say.
    pub fn open(_path: &Path, _settings: &Settings) -> Result<Self, ReadError> {
        todo!()
    }

    /// How it is read.
    pub fn detected(&self) -> &Detected {
        todo!()
    }

    /// Bytes of the file on the disk that have been read, and all there are: for progress.
    pub fn progress(&self) -> (u64, u64) {
        todo!()
    }

    /// The next rows; `None` at the end. A batch that is not needed any more can be given back for its memory.
    ///
    /// # Errors
    /// When the file ends in the middle of a row or cannot be read on. Rows before that have been returned.
    pub fn next(&mut self, _reuse: Option<Batch>) -> Result<Option<Batch>, ReadError> {
        todo!()
    }
}
