//! `OpenDocument` spreadsheets, packed (.ods) or as one XML document (.fods). All sheets are in one document, which is read once for their
//! names, and again for the cells of one.

mod styles;

use std::{borrow::Cow, io::Read};

use quick_xml::events::{BytesStart, Event};
use styles::Styles;

use super::{
    Book, SheetName,
    cells::{At, Cells, MOST_COLUMNS, Stopped},
    document::Document,
    package::Package,
    parser::{Malformed, Parser, add_text, attribute, count},
    value::{self, NumberFormat},
};
use crate::readers::{CellKind, LONGEST_ROW, ReadError, source::Workbook};

/// Most spaces that one element stands for.
const MOST_SPACES: u32 = 1000;

pub(super) struct Ods {
    content: Content,
    sheets: Vec<SheetName>,
    styles: Styles,
}

/// The document with the sheets.
enum Content {
    Packed(Box<Package>),
    Flat(Document),
}

/// Where the document of a packed spreadsheet is, and the one with further styles.
const CONTENT: &str = "content.xml";
const STYLES: &str = "styles.xml";
const MANIFEST: &str = "META-INF/manifest.xml";

const MIME_TYPE: &str = "application/vnd.oasis.opendocument.spreadsheet";

impl Ods {
    /// Reads the names of the sheets of a packed spreadsheet.
    pub(super) fn open(workbook: Workbook) -> Result<Self, ReadError> {
        let mut package = Package::open(workbook)?;
        let mut kind = String::new();
        let read = match package.part("mimetype")? {
            Some(part) => part.take(200).read_to_string(&mut kind),
            None => Ok(0),
        };
        read.map_err(|error| package.unreadable(&error))?;
        if !kind.is_empty() && !kind.starts_with(MIME_TYPE) {
            return Err(package.unreadable(&format!("it is no OpenDocument spreadsheet, but {:?}", kind.trim())));
        }
        if package.read(MANIFEST, is_encrypted)? == Some(true) {
            return Err(package.unreadable(&"it has a password"));
        }
        let mut styles = Styles::default();
        package.read(STYLES, |parser| styles.read(parser, |_, _| Ok(())))?;
        Self::with(Content::Packed(Box::new(package)), styles)
    }

    /// The same for one XML document.
    pub(super) fn flat(document: Document) -> Result<Self, ReadError> {
        Self::with(Content::Flat(document), Styles::default())
    }

    fn with(mut content: Content, mut styles: Styles) -> Result<Self, ReadError> {
        let mut sheets = Vec::new();
        let read = {
            let parser = content.parser()?;
            styles.read(parser, |start, styles| {
                let style = attribute(start, "table:style-name");
                let is_hidden = style.is_some_and(|style| styles.hidden.contains(&*style));
                let name = attribute(start, "table:name").unwrap_or_default().into_owned();
                styles.kept.add(name.len())?;
                sheets.push(SheetName { name, is_hidden });
                Ok(())
            })
        };
        read.map_err(|error| content.unreadable(&error))?;
        Ok(Self { content, sheets, styles })
    }
}

impl Content {
    fn parser(&mut self) -> Result<Parser<'_>, ReadError> {
        Ok(match self {
            Self::Packed(package) => Parser::new(package.needed(CONTENT)?),
            Self::Flat(document) => Parser::new(document.bytes()?),
        })
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> ReadError {
        match self {
            Self::Packed(package) => package.unreadable(error),
            Self::Flat(document) => document.unreadable(error),
        }
    }
}

fn is_encrypted(mut parser: Parser<'_>) -> Result<bool, Malformed> {
    loop {
        match parser.next()? {
            Event::Start(start) | Event::Empty(start) if start.local_name().as_ref() == b"encryption-data" => {
                return Ok(true);
            }
            Event::Eof => return Ok(false),
            _ => {}
        }
    }
}

impl Book for Ods {
    fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    fn read(&mut self, index: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let Self { content, styles, .. } = self;
        let parser = content.parser().map_err(Stopped::Failed)?;
        Table::new(styles).read(parser, index, out)
    }
}

/// A sheet while it is read.
struct Table<'s> {
    styles: &'s Styles,
    /// The default format of the cells of each column, with the column behind its last one.
    columns: Vec<(u32, Option<NumberFormat>)>,
    at: At,
    row_repeats: u32,
    is_hidden: bool,
    /// The cells of the row, if it is repeated.
    row: Vec<(u32, u32, CellKind, String)>,
    /// Bytes of memory that these cells take, at most [`LONGEST_ROW`].
    row_length: usize,
    cell: Cell,
}

/// A cell while it is read.
#[derive(Debug, Default)]
struct Cell {
    is_open: bool,
    repeats: u32,
    value_type: String,
    value: Option<String>,
    formula: Option<String>,
    style: Option<String>,
    is_error: bool,
    /// The paragraphs of its text.
    text: String,
    paragraphs: u32,
    /// Open paragraphs, and open elements whose text is not that of the cell.
    in_paragraph: u32,
    silent: u32,
}

impl<'s> Table<'s> {
    fn new(styles: &'s Styles) -> Self {
        Self {
            styles,
            columns: Vec::new(),
            at: At::default(),
            row_repeats: 1,
            is_hidden: false,
            row: Vec::new(),
            row_length: 0,
            cell: Cell::default(),
        }
    }

    fn read(mut self, mut parser: Parser<'_>, index: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let (mut seen, mut depth) = (0, 0_u32);
        loop {
            let event = parser.next().map_err(|error| out.failed(&error))?;
            if let Event::Eof = event {
                return Ok(());
            }
            match &event {
                Event::Start(start) if start.name().as_ref() == b"table:table" => depth += 1,
                Event::Empty(start) if start.name().as_ref() == b"table:table" => seen += usize::from(depth == 0),
                Event::End(end) if end.name().as_ref() == b"table:table" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        if seen == index {
                            return Ok(());
                        }
                        seen += 1;
                    }
                }
                // The cells of a table within a cell are not those of the sheet.
                _ if depth != 1 || seen != index => {}
                Event::Start(start) => self.start(start, out),
                Event::Empty(start) => {
                    self.start(start, out);
                    self.end(start.name().as_ref(), out)?;
                }
                Event::End(end) => self.end(end.name().as_ref(), out)?,
                _ if self.cell.in_paragraph > 0 && self.cell.silent == 0 => {
                    add_text(&mut self.cell.text, &event).map_err(|error| out.failed(&error))?;
                }
                _ => {}
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>, out: &mut dyn Cells) {
        let Self { cell, .. } = self;
        match start.name().as_ref() {
            b"table:table-column" => {
                let before = self.columns.last().map_or(0, |(end, _)| *end);
                let end = before.saturating_add(count(start, "table:number-columns-repeated").unwrap_or(1));
                let style = attribute(start, "table:default-cell-style-name").unwrap_or_default();
                // Further ones have no cells.
                if before < MOST_COLUMNS && end > before {
                    self.columns.push((end, self.styles.cells.get(&*style).cloned()));
                }
            }
            b"table:table-row" => {
                self.at.column = 0;
                self.row_repeats = count(start, "table:number-rows-repeated").unwrap_or(1).max(1);
                let visibility = attribute(start, "table:visibility");
                self.is_hidden = visibility.as_deref().is_some_and(|visibility| visibility != "visible");
                out.notes().is_filtered |= visibility.is_some_and(|visibility| visibility == "filter");
            }
            b"table:table-cell" | b"table:covered-table-cell" if !cell.is_open => self.begin(start, out),
            name if cell.is_open && cell.silent > 0 => cell.silent += u32::from(is_silent(name)),
            name if cell.is_open && is_silent(name) => cell.silent = 1,
            b"text:p" | b"text:h" if cell.is_open => {
                cell.in_paragraph += 1;
                cell.paragraphs += 1;
                if cell.paragraphs > 1 {
                    cell.text.push('\n');
                }
            }
            b"text:s" if cell.in_paragraph > 0 => {
                let spaces = count(start, "text:c").unwrap_or(1).min(MOST_SPACES);
                cell.text.extend((0..spaces).map(|_| ' '));
            }
            b"text:tab" if cell.in_paragraph > 0 => cell.text.push('\t'),
            b"text:line-break" if cell.in_paragraph > 0 => cell.text.push('\n'),
            _ => {}
        }
    }

    /// Begins a cell with the attributes of its start tag.
    fn begin(&mut self, start: &BytesStart<'_>, out: &mut dyn Cells) {
        let owned = |name: &str| attribute(start, name).map(Cow::into_owned);
        let value_type = owned("office:value-type").unwrap_or_default();
        let value =
            ["office:value", "office:date-value", "office:time-value", "office:boolean-value", "office:string-value"];
        self.cell = Cell {
            is_open: true,
            repeats: count(start, "table:number-columns-repeated").unwrap_or(1).max(1),
            value: value.into_iter().find_map(owned),
            formula: owned("table:formula"),
            style: owned("table:style-name"),
            is_error: attribute(start, "calcext:value-type").is_some_and(|of| of == "error"),
            value_type,
            ..Cell::default()
        };
        let spanned = ["table:number-columns-spanned", "table:number-rows-spanned"];
        let [columns, rows] = spanned.map(|name| count(start, name).unwrap_or(1).max(1));
        if columns > 1 || rows > 1 {
            let At { row, column } = self.at;
            let last = At { row: row.saturating_add(rows - 1), column: column.saturating_add(columns - 1) };
            out.notes().add_merged(super::range_name(self.at, last));
        }
    }

    fn end(&mut self, name: &[u8], out: &mut dyn Cells) -> Result<(), Stopped> {
        match name {
            b"table:table-cell" | b"table:covered-table-cell" if self.cell.is_open && self.cell.silent == 0 => {
                let cell = std::mem::take(&mut self.cell);
                let (kind, text) = self.value(&cell);
                let at = self.at;
                self.at.column = at.column.saturating_add(cell.repeats);
                if kind == CellKind::Text && text.is_empty() {
                    return Ok(());
                }
                if std::mem::take(&mut self.is_hidden) {
                    out.notes().add_hidden(at.row);
                }
                if self.row_repeats > 1 {
                    self.row_length += text.len() + size_of::<(u32, u32, CellKind, String)>();
                    if self.row_length > LONGEST_ROW {
                        return Err(out.failed(&format!("it repeats a row of more than {} MiB", LONGEST_ROW >> 20)));
                    }
                    self.row.push((at.column, cell.repeats, kind, text.clone().into_owned()));
                }
                out.repeated(at, cell.repeats, kind, &text)
            }
            b"table:table-row" => {
                let row = std::mem::take(&mut self.row);
                self.row_length = 0;
                for more in 1..if row.is_empty() { 1 } else { self.row_repeats } {
                    for (column, repeats, kind, text) in &row {
                        let at = At { row: self.at.row.saturating_add(more), column: *column };
                        out.count_repeated()?;
                        out.repeated(at, *repeats, *kind, text)?;
                    }
                }
                self.at = At { row: self.at.row.saturating_add(self.row_repeats), column: 0 };
                Ok(())
            }
            b"text:p" | b"text:h" if self.cell.silent == 0 => {
                self.cell.in_paragraph = self.cell.in_paragraph.saturating_sub(1);
                Ok(())
            }
            name if self.cell.silent > 0 && is_silent(name) => {
                self.cell.silent -= 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The value of a cell.
    fn value<'a>(&self, cell: &'a Cell) -> (CellKind, Cow<'a, str>) {
        let text = Cow::Borrowed(&*cell.text);
        let written = cell.value.as_deref().map(str::trim);
        let stored = match (&*cell.value_type, written) {
            _ if cell.is_error => Some((CellKind::Failed, text)),
            ("float" | "currency" | "percentage", Some(written)) => {
                let shown = value::shown_with_zeros(written, cell.text.trim()).filter(|_| cell.value_type == "float");
                Some(match shown {
                    Some(shown) => (CellKind::Number, shown.into()),
                    None => value::number(written, self.format(cell), false),
                })
            }
            ("date", Some(written)) => Some((CellKind::Date, value::iso_date(written).into())),
            ("time", Some(written)) => Some((CellKind::Date, written.into())),
            ("boolean", Some(written)) => {
                Some((CellKind::Boolean, if written.eq_ignore_ascii_case("true") { "true" } else { "false" }.into()))
            }
            // Old programs write no type.
            ("", Some(written)) if written.parse::<f64>().is_ok() => {
                Some(value::number(written, self.format(cell), false))
            }
            ("", None) if text.is_empty() => None,
            // A text may be in an attribute alone.
            (_, Some(_)) if text.is_empty() => Some((CellKind::Text, cell.value.as_deref().unwrap_or_default().into())),
            _ => Some((CellKind::Text, text)),
        };
        match (&cell.formula, stored) {
            (Some(formula), stored) => value::of_formula(formula, stored),
            (None, stored) => stored.unwrap_or_default(),
        }
    }

    /// The format of the number in a cell.
    fn format(&self, cell: &Cell) -> &NumberFormat {
        let of_column = || {
            let place = self.columns.partition_point(|(end, _)| *end <= self.at.column);
            self.columns.get(place)?.1.as_ref()
        };
        let of_cell = cell.style.as_ref().map(|style| self.styles.cells.get(style));
        of_cell.unwrap_or_else(of_column).unwrap_or(&NumberFormat::Plain)
    }
}

/// Whether the texts in an element are not those of its cell.
fn is_silent(name: &[u8]) -> bool {
    name == b"office:annotation" || name.starts_with(b"draw:") || name == b"table:shapes" || name == b"text:note"
}
