//! CSV: rows of cells under the names of a header, or under their positions. What is wrong with a row is told with it, and the next one
//! is read. Which separator, quotes and header a file has, [`shape`] finds out; where cells end, [`scan`].

mod data;
mod scan;
mod shape;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

use scan::{CellSpan, Dialect, Flaw, RowEnd};
use shape::{Shape, Width, sign};

use super::{
    Batch, ColumnId, Columns, Detected, Form, LONGEST_ROW, ReadError, Records, Settings, Trouble,
    encoding::Charset,
    feed::{Feed, lines},
    quoted, too_long,
};

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
    /// Those of the row that was cut last.
    cells: Vec<CellSpan>,
}

/// What comes next.
enum CsvCut {
    Row(RowEnd),
    /// A line that is too long for a row.
    TooLong,
}

impl Csv {
    /// Finds out what the file is like, and reads its header.
    ///
    /// # Errors
    /// When what is set cannot be.
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

    /// Finds the next row that has something in it; `None` at the end.
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

    /// Goes behind a line that is too long.
    fn skip_line(&mut self) {
        loop {
            if let Some(end) = memchr::memchr(self.dialect.line_end, self.feed.rest()) {
                return self.feed.skip(end + 1);
            }
            self.feed.skip(self.feed.rest().len());
            if !self.feed.more() {
                return;
            }
        }
    }

    /// Without a header, the last columns may be as many as there is something for.
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

    /// Hands over the row that was cut last.
    fn push(&self, found: RowEnd, batch: &mut Batch) {
        let text = &self.feed.rest()[..found.length];
        let mut foreign = None;
        // Nearly always all of a row is as it should be, and need not be looked at cell by cell.
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
        if let Some((column, value)) = foreign {
            batch.trouble(super::foreign(self.charset, &self.columns, column, &value));
        }
        match found.flaw {
            Some(flaw) => batch.trouble(self.flaw(flaw, text)),
            None => {
                if let Some(trouble) = self.misfit(text) {
                    batch.trouble(trouble);
                }
            }
        }
    }

    fn flaw(&self, (flaw, cell, at): (Flaw, usize, usize), text: &[u8]) -> Trouble {
        let line = self.feed.place().line + lines(&text[..at]);
        let column = self.columns.at(cell);
        let name = self.column(column, cell);
        let quote = sign(self.dialect.quote);
        let (reason, message) = match flaw {
            Flaw::Open => (
                "a quote is not closed",
                format!(
                    "In row {}, line {line}, {name} opens a quote ({quote}) that is not closed where a quote can be. The row is read up to \
                     the end of that line.",
                    self.number
                ),
            ),
            Flaw::Stray => (
                "a quote within a quoted text",
                format!(
                    "In row {}, line {line}, {name} has a quote ({quote}) in its text that is not doubled.",
                    self.number
                ),
            ),
        };
        let advice = format!("Double quotes within a quoted text ({quote}{quote}), and end the text with one.");
        Trouble { reason, column, message, advice: Some(advice) }
    }

    fn column(&self, column: Option<ColumnId>, at: usize) -> String {
        column.map_or_else(
            || format!("column {}", at + 1),
            |column| format!("column {}", quoted(self.columns.name(column))),
        )
    }

    /// Whether the row has the columns that it should have.
    fn misfit(&self, text: &[u8]) -> Option<Trouble> {
        let Width { expected, may_be_less, .. } = self.width;
        let has = self.cells.len();
        if has < expected && !may_be_less {
            let last = self.columns.at(has.saturating_sub(1));
            return Some(Trouble {
                reason: "too few columns",
                column: last,
                message: format!(
                    "The row has {has} columns instead of {expected}: it ends with {}.",
                    self.column(last, has)
                ),
                advice: Some("Quote texts with line breaks, and add missing columns.".to_owned()),
            });
        }
        let surplus = self.cells.get(expected..).unwrap_or_default();
        // Separators at the end of a line, with nothing behind them, say nothing.
        if surplus.iter().all(|cell| text[cell.start..cell.end].trim_ascii().is_empty()) {
            return None;
        }
        let shown: Vec<_> =
            surplus.iter().take(SHOWN).map(|cell| quoted(&self.charset.text(&text[cell.start..cell.end]).0)).collect();
        let more = if surplus.len() > SHOWN { ", …" } else { "" };
        Some(Trouble {
            reason: "too many columns",
            column: None,
            message: format!(
                "The row has {has} columns instead of {expected}: {}{more} at its end is too many.",
                shown.join(", ")
            ),
            advice: Some(format!("Quote texts that contain the separator ({}).", sign(self.dialect.separator))),
        })
    }
}

impl Csv {
    /// Reads one row, if there is one; `false` at the end.
    fn next_row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
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
                batch.trouble(too_long());
                self.skip_line();
            }
        }
        Ok(true)
    }
}

impl Records for Csv {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        self.next_row(batch)
    }

    fn columns(&self) -> Arc<Columns> {
        self.columns.clone()
    }
}
