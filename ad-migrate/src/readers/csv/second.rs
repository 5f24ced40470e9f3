//! Detects a second table below the first one.
//!
//! Its rows would be read with the columns of the first table, so the file is read no further. A table below another one begins with the same
//! header again, or after an empty line with a header of its own: texts that are names and not data, and rows that are no wider.

use super::{Csv, RowEnd, data::data};
use crate::readers::{ReadError, quoted};

/// Rows below a header that are compared with it.
const COMPARED: usize = 50;

/// Names of columns that a message shows.
const NAMES: usize = 4;

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
        if !is_behind_gap {
            return None;
        }
        let names = self.texts(text);
        let is_shaped_differently = names.len() != self.width.expected;
        if !is_header(&names) || !(self.begins_with_data || is_shaped_differently) {
            return None;
        }
        let below = self.rows_below(found.length);
        if below.is_empty() || below.iter().any(|row| row.len() > names.len()) {
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
        let place = if self.is_sheet { "sheet" } else { "file" };
        ReadError::new(format!("{what}, but only one table per {place} can be read."))
            .hint(format!("Move each table to a {place} of its own."))
    }

    /// Remembers whether the first row has data.
    pub(super) fn note_first(&mut self, found: &RowEnd) {
        let texts = self.texts(&self.feed.rest()[..found.length]);
        self.begins_with_data = texts.iter().any(|text| data(text).is_some());
    }

    /// The cells that were cut last, without empty ones at the end.
    fn texts(&self, text: &[u8]) -> Vec<String> {
        let text = |cell: &super::CellSpan| self.charset.text(&text[cell.start..cell.end]).0.trim().to_owned();
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
