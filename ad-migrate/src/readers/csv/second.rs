//! Detects a second table below the first one.
//!
//! Its rows would be read with the columns of the first table, so the file is read no further. A table below another one begins with the same
//! header again, or after an empty line with a header of its own: texts that are names and not data, and rows that are no wider.
//!
//! Without an empty line, a row of texts may be a vehicle of which little is known. It is a header only if most of its cells, and at least
//! three, are names of different columns of stock files, such as `Regnr`, and it is between rows of data. Other headers are not recognised.

use std::collections::HashSet;

use ad_core::synonyms::names::Names;

use super::{Csv, RowEnd, data::data};
use crate::readers::{ReadError, quoted};

/// Rows below a header that are compared with it.
const COMPARED: usize = 50;

/// Names of columns that a message shows.
const NAMES: usize = 4;

/// Fewest known names of a header directly below a row.
const KNOWN: usize = 3;

impl Csv {
    /// The error that a second table begins with the row that was cut last, if one does.
    pub(super) fn second_table(&mut self, found: &RowEnd) -> Option<ReadError> {
        let is_behind_gap = std::mem::take(&mut self.is_behind_gap);
        let text = &self.feed.rest()[..found.length];
        if !self.header.is_empty() && text.trim_ascii_end() == self.header {
            let hint = "Remove the line if the rows below it belong to the same table.";
            return Some(
                self.ends_at(&format!("The header is repeated on line {}", self.feed.place().line)).hint(hint),
            );
        }
        // Nearly all rows have data, which ends the look at them soon.
        if !is_behind_gap && self.has_data(text) {
            return None;
        }
        let names = self.texts(text);
        let is_shaped_differently = names.len() != self.width.expected;
        let is_other = self.begins_with_data || (is_behind_gap && is_shaped_differently);
        if !is_header(&names) || !is_other || !(is_behind_gap || are_known(&names)) {
            return None;
        }
        let below = self.rows_below(found.length);
        let first = below.first()?;
        let has_data = first.iter().any(|text| data(text).is_some());
        if below.iter().any(|row| row.len() > names.len()) || !(is_behind_gap || has_data) {
            return None;
        }
        let shown: Vec<_> = names.iter().filter(|name| !name.is_empty()).take(NAMES).map(|name| quoted(name)).collect();
        let more = if names.len() > NAMES { ", …" } else { "" };
        let line = self.feed.place().line;
        let error = self.ends_at(&format!("A second table begins on line {line} ({}{more})", shown.join(", ")));
        Some(error.hint(
            "To read only the first table, set skip_last in [file] of the mapping to the number of lines of the second one; to read only the \
             second table, set skip_first to the number of lines before it.",
        ))
    }

    fn ends_at(&self, what: &str) -> ReadError {
        let place = if self.sheet.is_some() { "sheet" } else { "file" };
        ReadError::new(format!("{what}, but only one table per {place} can be read."))
            .hint(format!("Move each table to a {place} of its own."))
    }

    /// Whether one of the cells that were cut last has data.
    pub(super) fn has_data(&self, text: &[u8]) -> bool {
        self.cells.iter().any(|cell| data(self.text(text, *cell).trim()).is_some())
    }

    /// The cells that were cut last, without empty ones at the end.
    fn texts(&self, text: &[u8]) -> Vec<String> {
        let text = |cell: &super::CellSpan| self.text(text, *cell).trim().to_owned();
        let mut texts: Vec<_> = self.cells.iter().map(text).collect();
        texts.truncate(texts.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1));
        texts
    }

    /// The rows from a byte of the rest to the next empty line.
    fn rows_below(&mut self, mut from: usize) -> Vec<Vec<String>> {
        let (mut rows, cells) = (Vec::new(), std::mem::take(&mut self.cells));
        while rows.len() < COMPARED {
            let is_all = self.feed.is_all() && !self.feed.is_cut();
            let text = self.feed.rest().get(from..).unwrap_or_default();
            if let Some(found) = self.dialect.row(text, is_all, &mut self.cells).filter(|_| !text.is_empty()) {
                let row = self.texts(text);
                if row.is_empty() {
                    break;
                }
                rows.push(row);
                from += found.length;
            } else if !self.feed.more() {
                break;
            }
        }
        self.cells = cells;
        rows
    }
}

/// Whether most texts of a row are names of different columns of stock files.
fn are_known(texts: &[String]) -> bool {
    let fields: HashSet<_> = texts.iter().filter_map(|text| Names::builtin().column(text)).collect();
    let filled = texts.iter().filter(|text| !text.is_empty()).count();
    fields.len() >= KNOWN && fields.len() * 2 > filled
}

/// Whether the texts of a row can be names of columns: several different ones, none of them data, and few with digits.
fn is_header(texts: &[String]) -> bool {
    let filled: Vec<_> = texts.iter().filter(|text| !text.is_empty()).collect();
    let with_digits = filled.iter().filter(|text| text.bytes().any(|byte| byte.is_ascii_digit())).count();
    let is_repeated = |at: usize| filled[..at].contains(&filled[at]);
    filled.len() > 1
        && with_digits * 2 <= filled.len()
        && filled.iter().all(|text| data(text).is_none())
        && !(0..filled.len()).any(is_repeated)
}
