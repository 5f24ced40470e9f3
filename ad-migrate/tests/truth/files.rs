//! The files, as real systems write them, with the truth of every row.

mod encodings;
mod north;
mod traps;
mod trees;
mod west;

use serde_json::Value;

/// A file with what is true of it.
pub(super) struct StockFile {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    /// The column of the source id, as a mapping names it.
    pub(super) source_id: &'static str,
    /// A mapping with which every right row is accepted, complete.
    pub(super) finished: &'static str,
    pub(super) rows: Vec<Truth>,
}

/// What is true of a row.
pub(super) struct Truth {
    pub(super) payload: Value,
    /// Whether the row must not be accepted.
    pub(super) is_bad: bool,
    /// Whether the finished mapping leaves the row out.
    pub(super) is_skipped: bool,
}

impl From<Value> for Truth {
    fn from(payload: Value) -> Self {
        Self { payload, is_bad: false, is_skipped: false }
    }
}

/// Rows that must not be accepted.
fn bad() -> Truth {
    Truth { payload: Value::Null, is_bad: true, is_skipped: false }
}

/// The stock files of all systems.
pub(super) fn all() -> Vec<StockFile> {
    vec![
        west::german_portal(),
        trees::british_feed(),
        encodings::swedish_utf_16(),
        north::norwegian(),
        trees::keyed_by_id(),
        north::headerless(),
        west::danish_zip(),
        trees::lines_with_nulls(),
        north::mixed_types(),
        west::mixed_currencies(),
        encodings::twice_encoded(),
        encodings::dos(),
        encodings::french_mac(),
        north::finnish(),
        west::dutch(),
        traps::american(),
        traps::swedish(),
    ]
}

/// Rows of cells as CSV.
fn table(separator: &str, header: Option<&str>, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = header.map_or_else(String::new, |header| format!("{header}\r\n"));
    for cells in rows {
        let cells: Vec<String> =
            cells.into_iter().map(|cell| if cell.contains(separator) { format!("\"{cell}\"") } else { cell }).collect();
        text.push_str(&cells.join(separator));
        text.push_str("\r\n");
    }
    text
}

/// The text of a number, or nothing.
fn some(number: usize) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}
