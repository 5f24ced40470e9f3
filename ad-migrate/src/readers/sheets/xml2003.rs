//! XML Spreadsheet 2003, which many programs write and name `.xls`.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};
use rustc_hash::FxHashMap;

use super::{
    Book, SheetName,
    cells::{At, Cells, Stopped},
    document::Document,
    parser::{Kept, Malformed, Parser, add_text},
    range_name,
    value::{self, NumberFormat},
};
use crate::readers::{CellKind, ReadError};

/// Formats with names. Those of dates are not needed, because dates have a type of their own.
const NAMED: &[&str] = &[
    "General Number",
    "General Date",
    "Long Date",
    "Medium Date",
    "Short Date",
    "Long Time",
    "Medium Time",
    "Short Time",
    "Currency",
    "Euro Currency",
    "Fixed",
    "Standard",
    "Percent",
    "Scientific",
    "Yes/No",
    "True/False",
    "On/Off",
];

pub(super) struct Xml2003 {
    document: Document,
    sheets: Vec<SheetName>,
    /// The formats of numbers by the ids of styles.
    formats: FxHashMap<String, NumberFormat>,
}

/// An attribute by its name without prefix.
fn attribute<'a>(start: &'a BytesStart<'_>, name: &str) -> Option<Cow<'a, str>> {
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|it| it.key.local_name().as_ref() == name.as_bytes())?;
    let text = String::from_utf8_lossy(&found.value).into_owned();
    Some(quick_xml::escape::unescape(&text).map(Cow::into_owned).unwrap_or(text).into())
}

fn count(start: &BytesStart<'_>, name: &str) -> Option<u32> {
    attribute(start, name)?.trim().parse().ok()
}

impl Xml2003 {
    /// Reads the names of the sheets and the formats of numbers.
    pub(super) fn open(mut document: Document) -> Result<Self, ReadError> {
        let found = names(Parser::new(document.bytes()?));
        let (sheets, formats) = found.map_err(|error| document.unreadable(&error))?;
        Ok(Self { document, sheets, formats })
    }
}

fn names(mut parser: Parser<'_>) -> Result<(Vec<SheetName>, FxHashMap<String, NumberFormat>), Malformed> {
    let (mut sheets, mut formats) = (Vec::<SheetName>::new(), FxHashMap::default());
    let (mut style, mut is_visibility, mut kept) = (String::new(), false, Kept::default());
    loop {
        match parser.next()? {
            Event::Start(start) | Event::Empty(start) => match start.local_name().as_ref() {
                b"Worksheet" => {
                    let name = attribute(&start, "Name").unwrap_or_default().into_owned();
                    kept.add(name.len())?;
                    sheets.push(SheetName { name, is_hidden: false });
                }
                b"Style" => {
                    style = attribute(&start, "ID").unwrap_or_default().into_owned();
                    kept.add(style.len())?;
                    let parent = attribute(&start, "Parent").and_then(|parent| formats.get(&*parent).cloned());
                    formats.extend(parent.map(|format| (style.clone(), format)));
                }
                b"NumberFormat" => {
                    let code = attribute(&start, "Format").filter(|code| !NAMED.contains(&&**code));
                    let format = code.map(|code| NumberFormat::of_code(&code)).unwrap_or_default();
                    formats.insert(style.clone(), format);
                }
                b"Visible" => is_visibility = true,
                _ => {}
            },
            Event::Text(text) if is_visibility => {
                if let Some(sheet) = sheets.last_mut() {
                    sheet.is_hidden = text.trim_ascii() != b"SheetVisible";
                }
            }
            Event::End(_) => is_visibility = false,
            Event::Eof => return Ok((sheets, formats)),
            _ => {}
        }
    }
}

impl Book for Xml2003 {
    fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    fn read(&mut self, index: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let Self { document, formats, .. } = self;
        let parser = Parser::new(document.bytes().map_err(Stopped::Failed)?);
        Sheet::default().read(parser, index, formats, out)
    }
}

/// A sheet while it is read.
#[derive(Debug, Default)]
struct Sheet {
    at: At,
    row_style: Option<String>,
    is_hidden: bool,
    /// The columns that the cell covers beside its own.
    across: u32,
    style: Option<String>,
    formula: Option<String>,
    /// The type of the value, which a cell has if it is not empty.
    type_of: Option<String>,
    is_value: bool,
    is_comment: bool,
    text: String,
}

impl Sheet {
    fn read(
        mut self,
        mut parser: Parser<'_>,
        index: usize,
        formats: &FxHashMap<String, NumberFormat>,
        out: &mut dyn Cells,
    ) -> Result<(), Stopped> {
        let (mut sheets, mut next_row) = (0, 0_u32);
        loop {
            let event = parser.next().map_err(|error| out.failed(&error))?;
            let is_empty = matches!(event, Event::Empty(_));
            match &event {
                Event::Eof => return Ok(()),
                Event::Start(start) | Event::Empty(start) if start.local_name().as_ref() == b"Worksheet" => sheets += 1,
                _ if sheets > index + 1 => return Ok(()),
                _ if sheets <= index => {}
                Event::Start(start) | Event::Empty(start) => match start.local_name().as_ref() {
                    b"Row" => {
                        let row = count(start, "Index").and_then(|row| row.checked_sub(1)).unwrap_or(next_row);
                        self.at = At { row, column: 0 };
                        next_row = row.saturating_add(1).saturating_add(count(start, "Span").unwrap_or_default());
                        self.row_style = attribute(start, "StyleID").map(Cow::into_owned);
                        self.is_hidden = attribute(start, "Hidden").is_some_and(|hidden| hidden == "1");
                    }
                    b"Cell" => {
                        self.begin(start, out);
                        if is_empty {
                            self.end(formats, out)?;
                        }
                    }
                    b"Data" if !self.is_comment => {
                        self.type_of = Some(attribute(start, "Type").unwrap_or_default().into_owned());
                        self.is_value = !is_empty;
                    }
                    b"Comment" => self.is_comment = !is_empty,
                    b"AutoFilter" => out.notes().is_filtered = true,
                    _ => {}
                },
                Event::End(end) => match end.local_name().as_ref() {
                    b"Cell" => self.end(formats, out)?,
                    b"Data" => self.is_value = false,
                    b"Comment" => self.is_comment = false,
                    _ => {}
                },
                _ if self.is_value => add_text(&mut self.text, &event).map_err(|error| out.failed(&error))?,
                _ => {}
            }
        }
    }

    fn begin(&mut self, start: &BytesStart<'_>, out: &mut dyn Cells) {
        self.text.clear();
        (self.type_of, self.is_value, self.is_comment) = (None, false, false);
        self.formula = attribute(start, "Formula").map(Cow::into_owned);
        self.style = attribute(start, "StyleID").map(Cow::into_owned);
        if let Some(index) = count(start, "Index") {
            self.at.column = index.saturating_sub(1);
        }
        self.across = count(start, "MergeAcross").unwrap_or_default();
        let down = count(start, "MergeDown").unwrap_or_default();
        if self.across > 0 || down > 0 {
            let At { row, column } = self.at;
            let last = At { row: row.saturating_add(down), column: column.saturating_add(self.across) };
            out.notes().add_merged(range_name(self.at, last));
        }
    }

    fn end(&mut self, formats: &FxHashMap<String, NumberFormat>, out: &mut dyn Cells) -> Result<(), Stopped> {
        let at = self.at;
        self.at.column = at.column.saturating_add(1).saturating_add(self.across);
        let written = self.text.trim();
        let format = self.style.as_ref().or(self.row_style.as_ref()).and_then(|style| formats.get(style));
        let stored = self.type_of.as_deref().map(|type_of| match type_of {
            "Number" => value::number(written, format.unwrap_or(&NumberFormat::Plain), false),
            "DateTime" => (CellKind::Date, value::iso_date(written).into()),
            "Boolean" => (CellKind::Boolean, if written == "0" { "false" } else { "true" }.into()),
            "Error" => (CellKind::Failed, written.into()),
            _ => (CellKind::Text, Cow::Borrowed(&*self.text)),
        });
        let (kind, text) = match (&self.formula, stored) {
            (Some(formula), stored) => value::of_formula(formula, stored),
            (None, stored) => stored.unwrap_or_default(),
        };
        if std::mem::take(&mut self.is_hidden) && !text.is_empty() {
            out.notes().add_hidden(at.row);
        }
        out.cell(at, kind, &text)
    }
}
