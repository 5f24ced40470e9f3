//! Tables of HTML pages, which many programs write and name `.xls`. Each table is a sheet; of cells, the text counts that a browser shows.
//!
//! Only tags of tables are understood, and they may be unclosed, as HTML allows. A spreadsheet program may write the number of a cell beside what it
//! shows: as `sdval` (`LibreOffice`), `x:num` (Excel) or `data-v` (`SheetJS`).

mod tags;

use std::{borrow::Cow, ops::Range};

use tags::{Piece, Tag, Tags};

use super::{
    Book, SheetName,
    cells::{At, Cells, MOST_COLUMNS, Stopped},
    document::Document,
    range_name,
    value::{self, NumberFormat},
};
use crate::readers::{CellKind, ReadError};

/// Longest tag or text, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// Most tables of a page, and most of them within each other.
const MOST_TABLES: usize = 1000;
const DEEPEST: usize = 32;

/// Most columns and rows that a cell covers.
const MOST_COVERED: u32 = 1000;

/// Tags at which a line ends.
const BREAKS: &[&str] = &["br", "/p", "/div", "/li"];

pub(super) struct Html {
    document: Document,
    sheets: Vec<SheetName>,
    /// Whether Excel wrote the page, which breaks lines of its source anywhere.
    is_of_excel: bool,
}

impl Html {
    /// Counts the tables, each of which is a sheet; at most [`MOST_TABLES`].
    pub(super) fn open(mut document: Document) -> Result<Self, ReadError> {
        let (mut tables, mut depth, mut is_of_excel) = (0, 0_usize, false);
        let mut tags = Tags::new(document.bytes()?);
        let read = loop {
            match tags.next() {
                Ok(Some(Piece::Tag(tag))) => {
                    // Rows may be without a table.
                    if tag.name == "table" || (tag.name == "tr" && depth == 0) {
                        tables += 1;
                        depth += 1;
                    } else if tag.name == "/table" {
                        depth = depth.saturating_sub(1);
                    }
                    is_of_excel |= tag.text.contains("urn:schemas-microsoft-com:office:excel");
                }
                Ok(Some(Piece::Text(_))) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(tags);
        read.map_err(|error| document.unreadable(&error))?;
        let name = |number| SheetName { name: format!("Table {number}"), is_hidden: false };
        Ok(Self { document, sheets: (1..=tables.min(MOST_TABLES)).map(name).collect(), is_of_excel })
    }
}

impl Book for Html {
    fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    fn read(&mut self, index: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let Self { document, is_of_excel, .. } = self;
        let mut tags = Tags::new(document.bytes().map_err(Stopped::Failed)?);
        let mut page = HtmlPage { seen: 0, open: Vec::new(), index, is_of_excel: *is_of_excel };
        while let Some(piece) = tags.next().map_err(|error| out.failed(&error))? {
            if !page.take(piece, out)? {
                break;
            }
        }
        page.close_all(out)
    }
}

/// The open tables of a page while it is read.
struct HtmlPage {
    /// Number of tables so far.
    seen: usize,
    open: Vec<Table>,
    /// The table whose cells are wanted.
    index: usize,
    is_of_excel: bool,
}

/// A table whose end has not been read.
#[derive(Debug, Default)]
struct Table {
    is_wanted: bool,
    /// The row, and the column of the next cell.
    row: Option<u32>,
    column: u32,
    /// Of each column, the row behind those that a cell above covers.
    covered: Vec<u32>,
    cell: Option<OpenCell>,
}

#[derive(Debug)]
struct OpenCell {
    at: At,
    text: String,
    /// The number, and the code of its format if that is known.
    number: Option<(String, Option<String>)>,
    /// The address of the first link or picture.
    address: Option<String>,
    has_breaks: bool,
}

impl HtmlPage {
    /// Takes the next piece; `false` behind the wanted table.
    fn take(&mut self, piece: Piece<'_>, out: &mut dyn Cells) -> Result<bool, Stopped> {
        let is_of_excel = self.is_of_excel;
        match piece {
            Piece::Text(text) => {
                if let Some(cell) = self.open.last_mut().and_then(|table| table.cell.as_mut()) {
                    cell.add(text).map_err(|error| out.failed(&error))?;
                }
            }
            Piece::Tag(tag) if tag.name == "table" => self.begin_table(out)?,
            Piece::Tag(tag) => {
                if tag.name == "tr" && self.open.is_empty() {
                    self.begin_table(out)?;
                }
                let Some(table) = self.open.last_mut() else { return Ok(true) };
                match tag.name.as_str() {
                    "/table" => {
                        table.end_cell(is_of_excel, out)?;
                        let is_last = table.is_wanted;
                        self.open.pop();
                        return Ok(!is_last);
                    }
                    "tr" => {
                        table.end_cell(is_of_excel, out)?;
                        table.begin_row();
                    }
                    "td" | "th" => {
                        table.end_cell(is_of_excel, out)?;
                        table.begin_cell(&tag, out);
                    }
                    "/tr" | "/td" | "/th" => table.end_cell(is_of_excel, out)?,
                    name => {
                        if let Some(cell) = &mut table.cell {
                            cell.tag(name, &tag);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    fn begin_table(&mut self, out: &dyn Cells) -> Result<(), Stopped> {
        if self.open.len() == DEEPEST {
            return Err(out.failed(&format!("it has more than {DEEPEST} tables within each other")));
        }
        self.open.push(Table { is_wanted: self.seen == self.index, ..Table::default() });
        self.seen += 1;
        Ok(())
    }

    /// Ends tables that the page does not close.
    fn close_all(&mut self, out: &mut dyn Cells) -> Result<(), Stopped> {
        self.open.iter_mut().try_for_each(|table| table.end_cell(self.is_of_excel, out))
    }
}

impl Table {
    fn begin_row(&mut self) {
        self.row = Some(self.row.map_or(0, |row| row.saturating_add(1)));
        self.column = 0;
    }

    fn cover(&mut self, columns: Range<u32>, behind: u32) {
        let [first, end] = [columns.start, columns.end.min(MOST_COLUMNS)].map(|column| column as usize);
        if first < end {
            self.covered.resize(self.covered.len().max(end), 0);
            self.covered[first..end].iter_mut().for_each(|of| *of = behind.max(*of));
        }
    }

    fn begin_cell(&mut self, tag: &Tag<'_>, out: &mut dyn Cells) {
        if self.row.is_none() {
            self.begin_row();
        }
        let row = self.row.unwrap_or_default();
        // The places of other tables are not wanted.
        while self.is_wanted && self.covered.get(self.column as usize).is_some_and(|behind| row < *behind) {
            self.column += 1;
        }
        let covered = |name: &str| {
            let count = tag.attribute(name).and_then(|count| count.trim().parse().ok());
            count.unwrap_or(1).clamp(1, MOST_COVERED)
        };
        let (columns, rows, at) = (covered("colspan"), covered("rowspan"), At { row, column: self.column });
        if self.is_wanted && rows > 1 {
            self.cover(at.column..at.column.saturating_add(columns), row.saturating_add(rows));
        }
        if self.is_wanted && (columns > 1 || rows > 1) {
            let last = At { row: row.saturating_add(rows - 1), column: at.column.saturating_add(columns - 1) };
            out.notes().add_merged(range_name(at, last));
        }
        self.column = at.column.saturating_add(columns);
        let number = tag.number();
        self.cell = Some(OpenCell { at, text: String::new(), number, address: None, has_breaks: false });
    }

    fn end_cell(&mut self, is_of_excel: bool, out: &mut dyn Cells) -> Result<(), Stopped> {
        let Some(cell) = self.cell.take().filter(|_| self.is_wanted) else { return Ok(()) };
        let text = htmlize::unescape(&cell.text);
        let text = tidied(&text, is_of_excel || cell.has_breaks);
        if let Some((kind, number)) =
            cell.number.as_ref().and_then(|(number, code)| number_of(number, code.as_deref(), &text))
        {
            return out.cell(cell.at, kind, &number);
        }
        let text = if text.is_empty() { cell.address.unwrap_or_default() } else { text };
        out.cell(cell.at, CellKind::Text, &text)
    }
}

/// The value of a number with this text, or the text if they are different things: a date, for example.
fn number_of<'a>(number: &'a str, code: Option<&str>, shown: &str) -> Option<(CellKind, Cow<'a, str>)> {
    if shown.is_empty() {
        return None;
    }
    if let Some(code) = code {
        return Some(value::number(number, &NumberFormat::of_code(code), false));
    }
    let digits = |text: &str| -> String {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.trim_end_matches('0').to_owned()
    };
    let is_same = value::shown_with_zeros(number, shown).is_none() && digits(number) == digits(shown);
    is_same.then(|| value::number(number, &NumberFormat::Plain, false))
}

/// Stands for a line break that the page asks for.
const BREAK: char = '\u{1E}';

impl OpenCell {
    fn add(&mut self, text: &str) -> Result<(), String> {
        self.text.push_str(text);
        if self.text.len() > LONGEST {
            return Err(format!("a cell has a text longer than {} MiB", LONGEST >> 20));
        }
        Ok(())
    }

    fn tag(&mut self, name: &str, tag: &Tag<'_>) {
        if BREAKS.contains(&name.trim_end_matches('/')) {
            self.has_breaks |= name.starts_with("br");
            self.text.push(BREAK);
        }
        let address = match name {
            "a" => tag.attribute("href"),
            "img" => tag.attribute("src"),
            _ => None,
        };
        if self.address.is_none() {
            self.address = address.map(|address| htmlize::unescape_attribute(&address).into_owned());
        }
    }
}

/// A text without the white space of the page's source. Line ends of the source count, unless the page says where lines end.
fn tidied(text: &str, are_lines_marked: bool) -> String {
    let mut tidy = String::with_capacity(text.len());
    let is_space = |letter: char| matches!(letter, ' ' | '\t' | '\r' | '\n' | BREAK);
    for run in text.split_inclusive(|letter| !is_space(letter)) {
        let (space, letter) = run.split_at(run.trim_end_matches(|letter| !is_space(letter)).len());
        let is_end = |letter: char| letter == BREAK || (letter == '\n' && !are_lines_marked);
        let ends = space.matches(is_end).count();
        match ends {
            0 if space.is_empty() => {}
            0 => tidy.push(' '),
            ends => tidy.extend(std::iter::repeat_n('\n', ends.min(2))),
        }
        tidy.push_str(letter);
    }
    tidy.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_of_the_source_is_no_text() {
        assert_eq!(tidied("\n   ABC 123\n  ", false), "ABC 123");
        assert_eq!(tidied("one\n  two", false), "one\ntwo");
        assert_eq!(tidied("one\n  two\u{1E}three", true), "one two\nthree");
        assert_eq!(tidied("  \u{a0} ", false), "");
        assert_eq!(tidied("", false), "");
    }

    #[test]
    fn a_number_counts_unless_something_else_is_shown() {
        for (number, code, shown, value) in [
            ("101", Some("00000"), "00101", Some("00101")),
            ("125000", Some("#,##0"), "125,000", Some("125000")),
            ("40939", Some("YYYY-MM-DD"), "31.01.12", Some("2012-01-31")),
            ("129900.5", None, "129 900,50 kr", Some("129900.5")),
            ("40939", None, "2012-01-31", None),
            ("101", None, "00101", None),
            ("5", None, "", None),
        ] {
            assert_eq!(number_of(number, code, shown).map(|(_, text)| text).as_deref(), value, "{number} {shown}");
        }
    }
}
