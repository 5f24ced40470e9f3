//! CSV: rows of cells under the names of a header, or under their positions. Errors are reported with their row, and the next row is read.
//! [`shape`] detects separator, quotes and header; [`scan`] finds the ends of cells.

mod clean;
mod data;
mod preamble;
mod scan;
mod second;
mod shape;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

use ad_core::lock::locked;
use clean::Cleaner;
pub(super) use scan::Dialect;
use scan::{CellSpan, QuoteError, RowEnd};
use shape::{Shape, Width, sign};

use super::{
    Batch, CellKind, ColumnId, Columns, Detected, LONGEST_ROW, ReadError, Records, Settings, error, feed::Feed,
    foreign_text, quoted, sheets::LateNotes, too_long,
};
use crate::finding::Finding;

/// How rows of a spreadsheet are written for [`Csv`]: separated by control characters that no cell can contain.
pub(super) const SHEET: Dialect = Dialect { separator: 0x1F, quote: 0, line_end: 0x1E, escape: 0 };

/// What a cell of a spreadsheet has if its formula cannot be computed.
const FORMULA_ERRORS: &[&str] =
    &["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA", "#SPILL!", "#CALC!"];

/// Most columns of a file.
const MOST_COLUMNS: usize = 2000;

/// Most cells without a column that are shown.
const SHOWN: usize = 3;

/// The rows of a CSV file.
#[derive(Debug)]
pub(super) struct Csv {
    feed: Feed,
    dialect: Dialect,
    columns: Arc<Columns>,
    width: Width,
    /// Number of rows read so far.
    number: u64,
    /// The cells of the last row that was cut.
    cells: Vec<CellSpan>,
    /// Of the rows of a spreadsheet: what is said about it at its end.
    sheet: Option<LateNotes>,
    /// Takes guards and escapes off texts.
    cleaner: Cleaner,
    /// Lines at the end that are no rows.
    skip_last: usize,
    /// The line of the header; empty without one.
    header: Vec<u8>,
    /// Whether the first row has numbers, dates, addresses and the like.
    begins_with_data: bool,
    /// Whether an empty line has been skipped since the last row.
    is_behind_gap: bool,
}

/// What is cut out next.
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
    pub(super) fn open(feed: Feed, settings: &Settings, detected: &mut Detected) -> Result<Self, ReadError> {
        let shape = Shape::find(&feed, settings)?;
        detected.separator = (shape.dialect.separator != 0).then(|| char::from(shape.dialect.separator));
        Self::of_shape(feed, shape, settings, detected)
    }

    /// The rows of a spreadsheet, which [`super::sheets`] writes in [`SHEET`].
    ///
    /// # Errors
    /// When it has too many columns.
    pub(super) fn of_sheet(
        feed: Feed,
        notes: LateNotes,
        settings: &Settings,
        detected: &mut Detected,
    ) -> Result<Self, ReadError> {
        let shape = Shape::of_sheet(&feed, settings);
        Ok(Self { sheet: Some(notes), ..Self::of_shape(feed, shape, settings, detected)? })
    }

    fn of_shape(mut feed: Feed, shape: Shape, settings: &Settings, detected: &mut Detected) -> Result<Self, ReadError> {
        detected.header = Some(shape.has_header);
        detected.skip_first = shape.skipped;
        detected.notes.extend(shape.notes);
        if shape.names.len() > MOST_COLUMNS {
            let count = shape.names.len();
            return Err(ReadError::new(format!("The file has {count} columns; at most {MOST_COLUMNS} can be read."))
                .hint("Check separator and quote of CSV, and that each vehicle has its own row."));
        }
        let mut columns = Columns::default();
        for name in &shape.names {
            columns.add(name);
        }
        let codes = shape.codes.iter().enumerate().filter(|(_, has_codes)| **has_codes);
        columns.set_codes(codes.filter_map(|(index, _)| columns.at(index)).collect());
        feed.line_end = shape.dialect.line_end;
        feed.skip(shape.skip);
        let mut csv = Self {
            feed,
            dialect: shape.dialect,
            columns: Arc::new(columns),
            width: shape.width,
            number: 0,
            cells: Vec::new(),
            sheet: None,
            cleaner: shape.cleaner,
            skip_last: settings.skip_last,
            header: Vec::new(),
            begins_with_data: false,
            is_behind_gap: false,
        };
        if shape.has_header
            && let Some(CsvCut::Row(found)) = csv.cut()
        {
            csv.feed.rest()[..found.length].trim_ascii_end().clone_into(&mut csv.header);
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
                    if self.skip_last > 0 && self.is_near_end(found.length) {
                        self.feed.skip(self.feed.rest().len());
                        return None;
                    }
                    return Some(CsvCut::Row(found));
                }
                self.is_behind_gap = true;
                self.feed.skip(found.length);
            } else if text.len() > LONGEST_ROW {
                return Some(CsvCut::TooLong);
            } else if !self.feed.more() {
                return None;
            }
        }
    }

    /// Whether fewer lines than are skipped at the end follow a row.
    fn is_near_end(&mut self, length: usize) -> bool {
        let Dialect { separator, line_end, .. } = self.dialect;
        let is_filled = |line: &&[u8]| line.iter().any(|byte| !byte.is_ascii_whitespace() && *byte != separator);
        loop {
            let after = self.feed.rest()[length..].split(|byte| *byte == line_end).filter(is_filled);
            if after.take(self.skip_last).count() == self.skip_last {
                return false;
            }
            if !self.feed.more() {
                return true;
            }
        }
    }

    /// Without a header, or in ragged files, later rows may have more columns.
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
    fn push(&mut self, found: RowEnd, batch: &mut Batch) {
        let text = &self.feed.rest()[..found.length];
        let is_sheet = self.sheet.is_some();
        let (mut foreign, mut failed) = (None, Vec::new());
        // Nearly always the whole row is valid, and its cells need not be checked one by one.
        let all = if self.feed.charset.is_utf_8() || text.is_ascii() { std::str::from_utf8(text).ok() } else { None };
        let may_have_escapes = memchr::memchr(b'\\', text).is_some();
        for (at, cell) in self.cells.iter().enumerate() {
            let Some(column) = self.columns.at(at) else { break };
            let mut cell = *cell;
            let kind = if is_sheet { cell.take_mark(text) } else { CellKind::Text };
            let mut value = if let Some(value) = all.and_then(|all| all.get(cell.start..cell.end)) {
                Cow::Borrowed(value)
            } else {
                let (value, is_foreign) = self.feed.charset.text(&text[cell.start..cell.end]);
                if is_foreign && foreign.is_none() {
                    foreign = Some((column, value.clone().into_owned()));
                }
                value
            };
            if kind == CellKind::Failed || (is_sheet && value.starts_with('#') && FORMULA_ERRORS.contains(&&*value)) {
                failed.push((column, value.into_owned()));
                continue;
            }
            if cell.is_doubled {
                let quote = char::from(self.dialect.quote);
                value = value.replace(&format!("{quote}{quote}"), &quote.to_string()).into();
            }
            if kind == CellKind::Text {
                value = self.cleaner.cleaned(at, value, may_have_escapes);
            }
            batch.push_of(kind, column, &value);
        }
        for (column, value) in failed {
            batch.error(self.formula_error(column, &value));
        }
        if let Some((cell, value)) = foreign {
            let place = format!("Column {} contains bytes", quoted(self.columns.name(cell)));
            batch.error(Finding {
                columns: vec![self.columns.name(cell).to_owned()],
                ..foreign_text(self.feed.charset, &place, &value)
            });
        }
        if let Some(error) = found.flaw.map(|flaw| self.flaw(flaw)).or_else(|| self.check_width(text)) {
            batch.error(error);
        }
    }

    /// The text of a cell of a row.
    fn text<'a>(&self, row: &'a [u8], mut cell: CellSpan) -> Cow<'a, str> {
        if self.sheet.is_some() {
            cell.take_mark(row);
        }
        self.feed.charset.text(&row[cell.start..cell.end]).0
    }

    /// An error in the quotes of a row.
    fn flaw(&self, (flaw, cell, at): (QuoteError, usize, usize)) -> Finding {
        let line = self.feed.place_of(at).line;
        let name = self.cell_name(cell);
        let (row, quote) = (self.number, sign(self.dialect.quote));
        let (reason, message) = match flaw {
            QuoteError::Open => (
                "a quote is not closed",
                format!(
                    "In row {row}, line {line}, {name} opens a quote ({quote}) that is never closed. The row is read up to the end of that \
                     line."
                ),
            ),
            QuoteError::Stray => (
                "a quote within a quoted text",
                format!("In row {row}, line {line}, {name} has a quote ({quote}) in its text that is not doubled."),
            ),
        };
        let advice = format!("Double quotes within a quoted text ({quote}{quote}), and end the text with one.");
        Finding { columns: self.column_names(cell), ..error(reason, message, advice) }
    }

    /// A cell of a spreadsheet whose formula has no value.
    fn formula_error(&self, column: ColumnId, value: &str) -> Finding {
        let name = self.columns.name(column);
        let message = format!("The formula in column {} has the error {value} instead of a value.", quoted(name));
        let advice = "Correct the formula in the spreadsheet, or replace it with its value.";
        Finding { columns: vec![name.to_owned()], ..error("a formula with an error", message, advice) }
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
    fn check_width(&self, text: &[u8]) -> Option<Finding> {
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
        let shown: Vec<_> = surplus.iter().take(SHOWN).map(|cell| quoted(&self.text(text, *cell))).collect();
        let more = if surplus.len() > SHOWN { ", …" } else { "" };
        let shown = shown.join(", ");
        let message = format!("The row has {has} columns instead of {expected}: {shown}{more} at its end is too many.");
        let advice = if self.sheet.is_some() {
            "Give the columns a name in the header of the sheet, or remove the cells.".to_owned()
        } else {
            format!("Quote texts that contain the separator ({}).", sign(self.dialect.separator))
        };
        Some(error("too many columns", message, advice))
    }
}

impl Records for Csv {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        let Some(cut) = self.cut() else {
            self.feed.check()?;
            return Ok(false);
        };
        if let CsvCut::Row(found) = &cut {
            if self.number == 0 {
                self.begins_with_data = self.has_data(&self.feed.rest()[..found.length]);
            } else if let Some(error) = self.second_table(found) {
                return Err(error);
            }
        }
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

    fn columns(&mut self) -> &mut Arc<Columns> {
        &mut self.columns
    }

    fn late_notes(&mut self) -> Vec<String> {
        let name = |index: usize| self.columns.at(index).map_or("", |column| self.columns.name(column));
        let mut notes = self.cleaner.take_notes(name);
        if let Some(of_sheet) = &self.sheet {
            notes.append(&mut locked(of_sheet));
        }
        notes
    }

    fn add_column(&mut self, name: &str) -> ColumnId {
        // Later rows cannot have columns of their own then.
        self.width.may_be_more = false;
        Arc::make_mut(&mut self.columns).add(name)
    }
}
