//! What the tests of the forms share: a file with something in it, and its rows as they can be compared.

use std::{io::Write, path::Path};

use super::{ReadError, Reader, Settings};

/// What came of a file.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) reader: Reader,
    /// Each row: its number, line, values as `name=value`, and reasons of its troubles.
    pub(super) rows: Vec<String>,
    pub(super) messages: Vec<String>,
    pub(super) error: Option<ReadError>,
}

/// A file that is there as long as this is.
pub(crate) fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Why a file cannot be read at all.
pub(super) fn refused(bytes: &[u8]) -> String {
    Reader::open(file(bytes).path(), &Settings::default())
        .map(|reader| reader.detected().clone())
        .unwrap_err()
        .to_string()
}

pub(super) fn read(bytes: impl AsRef<[u8]>) -> Seen {
    read_with(bytes, &Settings::default())
}

/// Reads all of a file.
pub(super) fn read_with(bytes: impl AsRef<[u8]>, settings: &Settings) -> Seen {
    let file = file(bytes.as_ref());
    seen_of(file.path(), settings)
}

/// The rows of a file that may need others beside it.
pub(super) fn rows_of_path(path: &Path, settings: &Settings) -> Vec<String> {
    seen_of(path, settings).rows
}

fn seen_of(path: &Path, settings: &Settings) -> Seen {
    let reader = Reader::open(path, settings).unwrap();
    let mut seen = Seen { reader, rows: Vec::new(), messages: Vec::new(), error: None };
    let mut batch = None;
    loop {
        match seen.reader.next(batch.take()) {
            Ok(Some(it)) => {
                for row in it.rows() {
                    let values = row.cells().map(|(column, value)| format!("{}={value}", row.columns().name(column)));
                    let findings = row.findings().iter().map(|finding| format!("!{}", finding.reason));
                    let all: Vec<_> = values.chain(findings).collect();
                    let other = if row.is_replaced() { " (other)" } else { "" };
                    seen.rows.push(format!("{}@{} {}{other}", row.number(), row.line(), all.join("; ")));
                    seen.messages.extend(row.findings().iter().map(|finding| finding.message.clone()));
                }
                batch = Some(it);
            }
            Ok(None) => return seen,
            Err(error) => {
                seen.error = Some(error);
                assert!(seen.reader.next(None).unwrap().is_none(), "nothing comes behind an error");
                return seen;
            }
        }
    }
}
