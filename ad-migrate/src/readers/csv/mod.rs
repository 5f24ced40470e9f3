//! CSV: rows of cells under the names of a header, or under their positions. Errors are reported with their row, and the next row is read.
//! [`shape`] detects separator, quotes and header; [`scan`] finds the ends of cells.

mod data;
mod scan;
mod shape;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

use scan::{CellSpan, Dialect, Flaw, RowEnd};
use shape::{Shape, Width, sign};

use super::{
    Batch, Columns, Detected, Form, LONGEST_ROW, ReadError, Records, Settings,
    encoding::Charset,
    error,
    feed::{Feed, lines},
    foreign_text, quoted, too_long,
};
use crate::finding::Finding;

/// Most columns of a file.
const MOST_COLUMNS: usize = 2000;

/// Most cells without a column that are shown.
const SHOWN: usize = 3;

/// The rows of a CSV file.
#[derive(Debug)]
pub(super) struct Csv {
    feed: Feed,
    charset: Charset,
    dialect: Dialect,
    columns: Arc<Columns>,
    width: Width,
    /// Rows so far.
    number: u64,
    /// The cells of the last row that was cut.
    cells: Vec<CellSpan>,
}

/// What comes next.
enum CsvCut {
    Row(RowEnd),
    /// A line that is too long for a row.
    TooLong,
}

impl Csv {
    /// Detects separator, quotes and columns, and skips the header.
    ///
    /// # Errors
    /// When a setting is impossible.
    pub(super) fn open(
        mut feed: Feed,
        settings: &Settings,
        charset: Charset,
        detected: &mut Detected,
    ) -> Result<Self, ReadError> {
        let shape = Shape::find(feed.rest(), feed.is_all(), settings, charset)?;
        detected.form = Form::Csv;
        detected.separator = (shape.dialect.separator != 0).then(|| char::from(shape.dialect.separator));
        detected.header = Some(shape.has_header);
        detected.notes.extend(shape.notes);
        if shape.names.len() > MOST_COLUMNS {
            let count = shape.names.len();
            return Err(ReadError::new(format!("The file has {count} columns; at most {MOST_COLUMNS} can be read."))
                .hint("Check the separator and quote, and that each vehicle has its own line."));
        }
        let mut columns = Columns::default();
        for name in &shape.names {
            columns.add(name);
        }
        feed.skip(shape.skip);
        let Shape { dialect, width, .. } = shape;
        let mut csv = Self { feed, charset, dialect, columns: Arc::new(columns), width, number: 0, cells: Vec::new() };
        if shape.has_header
            && let Some(CsvCut::Row(found)) = csv.cut()
        {
            csv.feed.skip(found.length);
        }
        Ok(csv)
    }

    /// Finds the next row that is not empty; `None` at the end.
    fn cut(&mut self) -> Option<CsvCut> {
        loop {
            let text = self.feed.rest();
            let is_all = self.feed.is_all() && !self.feed.is_cut();
            if text.is_empty() {
                if !self.feed.more() {
                    return None;
                }
            } else if let Some(found) = self.dialect.row(text, is_all, &mut self.cells) {
                if self.cells.iter().any(|cell| !text[cell.start..cell.end].trim_ascii().is_empty()) {
                    return Some(CsvCut::Row(found));
                }
                self.feed.skip(found.length);
            } else if text.len() > LONGEST_ROW {
                return Some(CsvCut::TooLong);
            } else if !self.feed.more() {
                return None;
            }
        }
    }

    /// Without a header, later rows may have more columns.
    fn widen(&mut self) {
        let wanted = self.cells.len().min(MOST_COLUMNS);
        let known = self.columns.names().len();
        if self.width.may_be_more && wanted > known {
            let columns = Arc::make_mut(&mut self.columns);
            for position in known..wanted {
                columns.add(&(position + 1).to_string());
            }
            self.width.expected = wanted;
        }
    }

    /// Adds the last row that was cut to the batch.
    fn push(&self, found: RowEnd, batch: &mut Batch) {
        let text = &self.feed.rest()[..found.length];
        let mut foreign = None;
        // Nearly always the whole row is valid, and its cells need not be checked one by one.
        let all = if self.charset.is_utf_8() || text.is_ascii() { std::str::from_utf8(text).ok() } else { None };
        for (at, cell) in self.cells.iter().enumerate() {
            let Some(column) = self.columns.at(at) else { break };
            let value = if let Some(value) = all.and_then(|all| all.get(cell.start..cell.end)) {
                Cow::Borrowed(value)
            } else {
                let (value, is_foreign) = self.charset.text(&text[cell.start..cell.end]);
                if is_foreign && foreign.is_none() {
                    foreign = Some((column, value.clone().into_owned()));
                }
                value
            };
            if cell.is_doubled {
                let quote = char::from(self.dialect.quote);
                batch.push(column, &value.replace(&format!("{quote}{quote}"), &quote.to_string()));
            } else {
                batch.push(column, &value);
            }
        }
        if let Some((cell, value)) = foreign {
            let place = format!("Column {} contains bytes", quoted(self.columns.name(cell)));
            batch.error(Finding {
                columns: vec![self.columns.name(cell).to_owned()],
                ..foreign_text(self.charset, &place, &value)
            });
        }
        if let Some(error) = found.flaw.map(|flaw| self.flaw(flaw, text)).or_else(|| self.misfit(text)) {
            batch.error(error);
        }
    }

    /// An error in the quotes of a row.
    fn flaw(&self, (flaw, cell, at): (Flaw, usize, usize), text: &[u8]) -> Finding {
        let line = self.feed.place().line + lines(&text[..at]);
        let name = self.cell_name(cell);
        let (row, quote) = (self.number, sign(self.dialect.quote));
        let (reason, message) = match flaw {
            Flaw::Open => (
                "a quote is not closed",
                format!(
                    "In row {row}, line {line}, {name} opens a quote ({quote}) that is not closed where a quote can be. The row is read up to \
                     the end of that line."
                ),
            ),
            Flaw::Stray => (
                "a quote within a quoted text",
                format!("In row {row}, line {line}, {name} has a quote ({quote}) in its text that is not doubled."),
            ),
        };
        let advice = format!("Double quotes within a quoted text ({quote}{quote}), and end the text with one.");
        Finding { columns: self.column_names(cell), ..error(reason, message, advice) }
    }

    /// The name of the column of a cell, if it has one.
    fn column_names(&self, cell: usize) -> Vec<String> {
        self.columns.at(cell).map(|column| self.columns.name(column).to_owned()).into_iter().collect()
    }

    fn cell_name(&self, cell: usize) -> String {
        let name = self.columns.at(cell).map(|column| quoted(self.columns.name(column)));
        format!("column {}", name.unwrap_or_else(|| (cell + 1).to_string()))
    }

    /// Checks that the row has as many columns as it should.
    fn misfit(&self, text: &[u8]) -> Option<Finding> {
        let Width { expected, may_be_less, .. } = self.width;
        let has = self.cells.len();
        if has < expected && !may_be_less {
            let last = has.saturating_sub(1);
            let name = self.cell_name(last);
            let message = format!("The row has {has} columns instead of {expected}: it ends with {name}.");
            let advice = "Quote texts with line breaks, and add missing columns.";
            return Some(Finding { columns: self.column_names(last), ..error("too few columns", message, advice) });
        }
        let surplus = self.cells.get(expected..).unwrap_or_default();
        // Separators at the end of a line, with nothing behind them, mean nothing.
        if surplus.iter().all(|cell| text[cell.start..cell.end].trim_ascii().is_empty()) {
            return None;
        }
        let shown: Vec<_> =
            surplus.iter().take(SHOWN).map(|cell| quoted(&self.charset.text(&text[cell.start..cell.end]).0)).collect();
        let more = if surplus.len() > SHOWN { ", …" } else { "" };
        let shown = shown.join(", ");
        let message = format!("The row has {has} columns instead of {expected}: {shown}{more} at its end is too many.");
        let advice = format!("Quote texts that contain the separator ({}).", sign(self.dialect.separator));
        Some(error("too many columns", message, advice))
    }
}

impl Records for Csv {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        let Some(cut) = self.cut() else {
            self.feed.check()?;
            return Ok(false);
        };
        self.number += 1;
        batch.begin(self.number, self.feed.place().line);
        match cut {
            CsvCut::Row(found) => {
                self.widen();
                self.push(found, batch);
                self.feed.skip(found.length);
            }
            CsvCut::TooLong => {
                batch.error(too_long());
                self.feed.skip_line(self.dialect.line_end);
            }
        }
        Ok(true)
    }

    fn columns(&self) -> Arc<Columns> {
        self.columns.clone()
    }
}
