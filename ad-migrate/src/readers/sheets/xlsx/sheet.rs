//! The cells of a sheet.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};

use super::{
    super::{
        cells::{At, Cells, Stopped},
        parser::{Malformed, Parser, add_text, attribute, count, is_set},
        strings::Strings,
        value::{self, NumberFormat},
    },
    unescaped,
};
use crate::readers::CellKind;

/// What values of cells refer to.
pub(super) struct Values<'a> {
    pub(super) strings: &'a mut Strings,
    pub(super) formats: &'a [NumberFormat],
    pub(super) is_1904: bool,
    pub(super) is_computed_later: bool,
}

/// The part of a cell to which texts of the XML belong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    None,
    Value,
    Text,
    Formula,
}

/// A sheet while it is read.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// Whether the row is hidden, and that is noted.
    is_hidden: bool,
    /// The place of the next cell.
    at: At,
    style: usize,
    type_of: TypeOf,
    part: Part,
    is_phonetic: bool,
    value: String,
    text: String,
    formula: Option<String>,
}

/// The type of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TypeOf {
    #[default]
    Number,
    Shared,
    Text,
    Boolean,
    Error,
    Date,
}

impl Sheet {
    pub(super) fn read(
        mut self,
        mut parser: Parser<'_>,
        values: &mut Values<'_>,
        out: &mut dyn Cells,
    ) -> Result<(), Stopped> {
        let (mut is_data, mut next_row) = (false, 0);
        loop {
            let event = parser.next().map_err(|error| out.failed(&error))?;
            match &event {
                Event::Start(start) => match start.local_name().as_ref() {
                    b"c" if is_data => self.begin(start).map_err(|error| out.failed(&error))?,
                    b"v" if is_data => self.part = Part::Value,
                    b"t" if is_data && !self.is_phonetic => self.part = Part::Text,
                    b"f" if is_data => {
                        self.part = Part::Formula;
                        self.formula.get_or_insert_default();
                    }
                    b"row" if is_data => {
                        let row = count(start, "r").map_or(next_row, |row| row.saturating_sub(1));
                        self.at = At { row, column: 0 };
                        next_row = row.saturating_add(1);
                        self.is_hidden = is_set(start, "hidden");
                    }
                    b"rPh" => self.is_phonetic = true,
                    b"sheetData" => is_data = true,
                    _ => Self::beside(start, out),
                },
                Event::Empty(start) => match start.local_name().as_ref() {
                    b"c" if is_data => {
                        self.begin(start).map_err(|error| out.failed(&error))?;
                        self.at.column = self.at.column.saturating_add(1);
                    }
                    // One of several cells with the same formula.
                    b"f" if is_data => _ = self.formula.get_or_insert_default(),
                    b"row" if is_data => next_row = count(start, "r").unwrap_or(next_row.saturating_add(1)),
                    _ => Self::beside(start, out),
                },
                Event::End(end) => match end.local_name().as_ref() {
                    b"c" if is_data => self.end(values, out)?,
                    b"v" | b"t" | b"f" => self.part = Part::None,
                    b"rPh" => self.is_phonetic = false,
                    b"sheetData" => is_data = false,
                    _ => {}
                },
                Event::Eof => return Ok(()),
                _ => {
                    let text = match self.part {
                        Part::None => continue,
                        Part::Value => &mut self.value,
                        Part::Text => &mut self.text,
                        Part::Formula => self.formula.get_or_insert_default(),
                    };
                    add_text(text, &event).map_err(|error| out.failed(&error))?;
                }
            }
        }
    }

    /// Begins a cell with place, style and type from its start tag.
    fn begin(&mut self, start: &BytesStart<'_>) -> Result<(), Malformed> {
        (self.style, self.type_of, self.part) = (0, TypeOf::Number, Part::None);
        self.value.clear();
        self.text.clear();
        self.formula = None;
        for attribute in start.attributes().with_checks(false).flatten() {
            match attribute.key.as_ref() {
                b"r" => self.at = place(&attribute.value)?,
                b"s" => self.style = number_of(&attribute.value).unwrap_or_default(),
                b"t" => {
                    self.type_of = match &*attribute.value {
                        b"s" => TypeOf::Shared,
                        b"str" | b"inlineStr" => TypeOf::Text,
                        b"b" => TypeOf::Boolean,
                        b"e" => TypeOf::Error,
                        b"d" => TypeOf::Date,
                        _ => TypeOf::Number,
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes the cell on to `out`, unless it has neither a value nor a formula.
    fn end(&mut self, values: &mut Values<'_>, out: &mut dyn Cells) -> Result<(), Stopped> {
        let at = self.at;
        self.at.column = at.column.saturating_add(1);
        let is_computed_later = values.is_computed_later;
        let stored = self.stored(values).map_err(|error| out.failed(&error))?;
        let is_hidden = self.is_hidden;
        let (kind, text) = match &self.formula {
            None => match stored {
                Some(stored) => stored,
                None => return Ok(()),
            },
            Some(formula) => {
                let is_unknown = is_computed_later && self.type_of == TypeOf::Number && self.value.trim() == "0";
                value::of_formula(&unescaped(formula), stored.filter(|_| !is_unknown))
            }
        };
        let is_filled = kind != CellKind::Text || !text.is_empty();
        if is_hidden && is_filled {
            out.notes().add_hidden(at.row);
        }
        out.cell(at, kind, &text)?;
        // Once for a row.
        self.is_hidden = is_hidden && !is_filled;
        Ok(())
    }

    /// The value that the file has; `None` if it has none.
    fn stored<'a>(&'a self, values: &'a mut Values<'_>) -> Result<Option<(CellKind, Cow<'a, str>)>, Malformed> {
        let written = self.value.trim();
        Ok(Some(match self.type_of {
            TypeOf::Text if self.text.is_empty() => (CellKind::Text, unescaped(&self.value)),
            TypeOf::Text => (CellKind::Text, unescaped(&self.text)),
            _ if written.is_empty() => return Ok(None),
            TypeOf::Number => match values.formats.get(self.style) {
                Some(format) => value::number(written, format, values.is_1904),
                None if self.style == 0 => value::number(written, &NumberFormat::Plain, values.is_1904),
                // The workbook does not have the style.
                None => value::bare(value::number(written, &NumberFormat::Plain, values.is_1904)),
            },
            TypeOf::Shared => {
                let wrong = || Malformed::new(format!("the workbook has no text {written:?}"));
                let number = number_of(written.as_bytes()).ok_or_else(wrong)?;
                let text = values.strings.get(number).map_err(|error| Malformed::new(error.to_string()))?;
                let text = text.ok_or_else(wrong)?;
                (CellKind::Text, text.into())
            }
            TypeOf::Boolean if matches!(written, "0" | "false") => (CellKind::Boolean, "false".into()),
            TypeOf::Boolean => (CellKind::Boolean, "true".into()),
            TypeOf::Error => (CellKind::Failed, written.into()),
            TypeOf::Date => (CellKind::Date, value::iso_date(written).into()),
        }))
    }

    /// What stands beside the cells.
    fn beside(start: &BytesStart<'_>, out: &mut dyn Cells) {
        match start.local_name().as_ref() {
            b"autoFilter" => out.notes().is_filtered = true,
            b"mergeCell" => {
                if let Some(range) = attribute(start, "ref").filter(|range| range.contains(':')) {
                    out.notes().add_merged(range.into_owned());
                }
            }
            _ => {}
        }
    }
}

fn number_of(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The place that a name such as `AB12` means.
fn place(name: &[u8]) -> Result<At, Malformed> {
    let wrong = || Malformed::new(format!("there is no cell {:?}", String::from_utf8_lossy(name)));
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let column = name[..letters].iter().try_fold(0_u32, |column, letter| {
        column.checked_mul(26)?.checked_add(u32::from(letter.to_ascii_uppercase() - b'A') + 1)
    });
    let row = number_of(&name[letters..]).and_then(|row| u32::try_from(row).ok());
    match (row.and_then(|row| row.checked_sub(1)), column.and_then(|column| column.checked_sub(1))) {
        (Some(row), Some(column)) => Ok(At { row, column }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_letters_and_digits() {
        assert_eq!(place(b"A1").unwrap(), At { row: 0, column: 0 });
        assert_eq!(place(b"AB12").unwrap(), At { row: 11, column: 27 });
        for wrong in ["", "A", "1", "A0", "ZZZZZZZZZ1", "A99999999999", "A-1"] {
            assert!(place(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
