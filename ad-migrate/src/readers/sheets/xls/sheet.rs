//! The cells of a sheet, which are records.

use std::{borrow::Cow, io};

use rustc_hash::FxHashSet;

use super::{
    super::{
        cells::{At, Cells, Stopped},
        range_name,
        strings::Strings,
        value::{self, NumberFormat},
    },
    records::{BOF, END, Records, Texts, at, bytes, u16_at, u32_at},
};
use crate::readers::CellKind;

const ROW: u16 = 0x0208;
const NUMBER: u16 = 0x0203;
const RK: u16 = 0x027E;
const MANY_RK: u16 = 0x00BD;
const SHARED_LABEL: u16 = 0x00FD;
const LABEL: u16 = 0x0204;
const RICH_LABEL: u16 = 0x00D6;
const BOOLEAN_OR_ERROR: u16 = 0x0205;
const FORMULA: u16 = 0x0006;
const RESULT: u16 = 0x0207;
const MERGED: u16 = 0x00E5;
const FILTER: u16 = 0x009B;
const FILTERS: u16 = 0x009D;

/// Errors of formulas by their codes.
const ERRORS: &[(u8, &str)] = &[
    (0x00, "#NULL!"),
    (0x07, "#DIV/0!"),
    (0x0F, "#VALUE!"),
    (0x17, "#REF!"),
    (0x1D, "#NAME?"),
    (0x24, "#NUM!"),
    (0x2A, "#N/A"),
];

/// The number of the function HYPERLINK.
const HYPERLINK: u16 = 0x0167;

/// A sheet while it is read.
pub(super) struct Sheet<'a> {
    pub(super) texts: Texts,
    pub(super) strings: &'a mut Strings,
    pub(super) formats: &'a [NumberFormat],
    pub(super) is_1904: bool,
    /// Hidden rows that have no cells yet.
    pub(super) hidden: FxHashSet<u32>,
    /// A formula whose text comes next.
    pub(super) formula: Option<(At, String)>,
}

/// The value of a cell.
type Value<'v> = (CellKind, Cow<'v, str>);

impl Sheet<'_> {
    pub(super) fn read(mut self, mut records: Records, out: &mut dyn Cells) -> Result<(), Stopped> {
        let mut depth = 0;
        loop {
            let record = records.next().map_err(|error| out.failed(&error))?;
            match record {
                Some(BOF) => depth += 1,
                // Charts are within the sheet.
                Some(END) if depth > 1 => depth -= 1,
                Some(END) | None => return Ok(()),
                Some(record) if depth == 1 => self.record(record, &records.data, out)?,
                Some(_) => {}
            }
        }
    }

    fn record(&mut self, record: u16, data: &[u8], out: &mut dyn Cells) -> Result<(), Stopped> {
        let failed = |error: io::Error, out: &dyn Cells| out.failed(&error);
        match record {
            ROW => {
                let hidden = u16_at(data, 12).is_ok_and(|flags| flags & 0x20 != 0);
                let row = u16_at(data, 0).map_err(|error| failed(error, out))?;
                if hidden {
                    self.hidden.insert(row.into());
                }
            }
            MERGED => {
                let ranges = data.get(2..).unwrap_or_default().chunks_exact(8);
                for range in ranges {
                    let [first, last, left, right] =
                        [0, 2, 4, 6].map(|at| u16_at(range, at).unwrap_or_default().into());
                    if (first, left) != (last, right) {
                        let (first, last) = (At { row: first, column: left }, At { row: last, column: right });
                        out.notes().add_merged(range_name(first, last));
                    }
                }
            }
            FILTER | FILTERS => out.notes().is_filtered = true,
            MANY_RK => {
                let cells = data.get(4..data.len().saturating_sub(2)).unwrap_or_default();
                for (more, cell) in (0..).zip(cells.chunks_exact(6)) {
                    let value = self.rk(cell, 0).map_err(|error| failed(error, out))?;
                    let mut at = place(data).map_err(|error| failed(error, out))?;
                    at.column += more;
                    self.cell(at, value, out)?;
                }
            }
            RESULT => {
                if let Some((at, formula)) = self.formula.take() {
                    let text = self.texts.long(data, 0).map_err(|error| failed(error, out))?;
                    self.cell(at, value::of_formula(&formula, Some((CellKind::Text, text.into()))), out)?;
                }
            }
            FORMULA | NUMBER | RK | SHARED_LABEL | LABEL | RICH_LABEL | BOOLEAN_OR_ERROR => {
                let at = place(data).map_err(|error| failed(error, out))?;
                if let Some(value) = self.value(record, data, at).map_err(|error| failed(error, out))? {
                    self.cell(at, value, out)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn cell(&mut self, at: At, (kind, text): Value<'_>, out: &mut dyn Cells) -> Result<(), Stopped> {
        if (kind != CellKind::Text || !text.is_empty()) && self.hidden.remove(&at.row) {
            out.notes().add_hidden(at.row);
        }
        out.cell(at, kind, &text)
    }

    /// The value of a record with one cell; `None` if it comes with the next record.
    fn value(&mut self, record: u16, data: &[u8], at: At) -> io::Result<Option<Value<'static>>> {
        Ok(Some(match record {
            NUMBER => self.number(f64::from_le_bytes(bytes(data, 6)?), data)?,
            RK => self.rk(data, 4)?,
            SHARED_LABEL => {
                let text = self.strings.get(u32_at(data, 6)? as usize)?;
                let text = text.ok_or_else(|| io::Error::other("the workbook does not have a text of a cell"))?;
                (CellKind::Text, text.to_owned().into())
            }
            LABEL | RICH_LABEL => (CellKind::Text, self.texts.long(data, 6)?.into()),
            BOOLEAN_OR_ERROR => truth(self::at(data, 6)?, self::at(data, 7)? != 0),
            _ => return self.formula(data, at),
        }))
    }

    fn formula(&mut self, data: &[u8], at: At) -> io::Result<Option<Value<'static>>> {
        let (result, flags): ([u8; 8], _) = (bytes(data, 6)?, u16_at(data, 14)?);
        let length = usize::from(u16_at(data, 20)?);
        let tokens = data.get(22..22 + length).unwrap_or_default();
        let formula = formula(tokens, self.texts).unwrap_or_default();
        let stored = match result {
            [0, .., 0xFF, 0xFF] => {
                self.formula = Some((at, formula));
                return Ok(None);
            }
            [1, _, value, .., 0xFF, 0xFF] => Some(truth(value, false)),
            [2, _, value, .., 0xFF, 0xFF] => Some(truth(value, true)),
            // xlwt writes an empty text as the result of every formula.
            [3, .., 0xFF, 0xFF] if is_number(tokens) => None,
            [3, .., 0xFF, 0xFF] => Some((CellKind::Text, "".into())),
            // A program that does not compute asks Excel to do it, and writes zero.
            result if flags & 3 != 0 && f64::from_le_bytes(result) == 0.0 => None,
            result => Some(self.number(f64::from_le_bytes(result), data)?),
        };
        Ok(Some(value::of_formula(&formula, stored)))
    }

    /// A number of 30 bits, perhaps hundredths, behind its style.
    fn rk(&self, data: &[u8], position: usize) -> io::Result<Value<'static>> {
        let rk = u32_at(data, position + 2)?;
        let number =
            if rk & 2 != 0 { f64::from(rk.cast_signed() >> 2) } else { f64::from_bits(u64::from(rk & !3) << 32) };
        let number = if rk & 1 != 0 { number / 100.0 } else { number };
        self.styled(number, u16_at(data, position)?)
    }

    fn number(&self, number: f64, data: &[u8]) -> io::Result<Value<'static>> {
        self.styled(number, u16_at(data, 4)?)
    }

    #[expect(clippy::unnecessary_wraps, reason = "all values of records are results")]
    fn styled(&self, number: f64, style: u16) -> io::Result<Value<'static>> {
        let format = self.formats.get(usize::from(style)).unwrap_or(&NumberFormat::Plain);
        // With an exponent, it is known to be rounded.
        let written = if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") };
        let (kind, text) = value::number(&written, format, self.is_1904);
        Ok((kind, text.into_owned().into()))
    }
}

/// The place of a cell at the beginning of its record.
fn place(data: &[u8]) -> io::Result<At> {
    Ok(At { row: u16_at(data, 0)?.into(), column: u16_at(data, 2)?.into() })
}

/// A truth value, or an error.
fn truth(value: u8, is_error: bool) -> Value<'static> {
    if is_error {
        let name = ERRORS.iter().find(|(code, _)| *code == value).map_or("#ERROR!", |(_, name)| name);
        (CellKind::Failed, name.into())
    } else {
        (CellKind::Boolean, if value == 0 { "false" } else { "true" }.into())
    }
}

/// Functions whose results are numbers: COUNT, SUM, AVERAGE, MIN, MAX, INT, ROUND and PRODUCT.
const OF_NUMBERS: [u16; 8] = [0, 4, 5, 6, 7, 25, 27, 183];

/// Whether the result of a formula is a number: its last operation is one of arithmetic, or such a function.
fn is_number(tokens: &[u8]) -> bool {
    let call = tokens.len().checked_sub(4).map_or(&[][..], |at| &tokens[at..]);
    match (tokens, call) {
        ([0x1E | 0x1F, ..] | [.., 0x03..=0x07 | 0x12..=0x14], _) | (_, [0x19, 0x10, ..]) => true,
        (_, [0x22 | 0x42 | 0x62, _, low, high]) => OF_NUMBERS.contains(&u16::from_le_bytes([*low, *high])),
        _ => false,
    }
}

/// A formula of texts and HYPERLINK as people write it; `None` for others, and for those whose parts would be copied again and again.
fn formula(tokens: &[u8], texts: Texts) -> Option<String> {
    const MOST_COPIED: usize = 16;
    let (mut stack, mut position) = (Vec::<String>::new(), 0);
    let mut left = MOST_COPIED * tokens.len();
    let mut copied = |text: &str| -> Option<()> {
        left = left.checked_sub(text.len())?;
        Some(())
    };
    while position < tokens.len() {
        position += match tokens[position] {
            0x17 => {
                let length = (*tokens.get(position + 1)?).into();
                let (text, end) = texts.text(tokens, position + 2, length).ok()?;
                stack.push(format!("\"{}\"", text.replace('"', "\"\"")));
                end - position
            }
            // Volatile, or a space.
            0x19 => 4,
            // In parentheses.
            0x15 => 1,
            0x08 => {
                let (last, mut first) = (stack.pop()?, stack.pop()?);
                copied(&last)?;
                first.push('&');
                first.push_str(&last);
                stack.push(first);
                1
            }
            0x22 | 0x42 | 0x62 if u16_at(tokens, position + 2).ok()? == HYPERLINK => {
                let count = usize::from(*tokens.get(position + 1)? & 0x7F);
                let arguments = stack.split_off(stack.len().checked_sub(count)?);
                arguments.iter().try_for_each(|argument| copied(argument))?;
                stack.push(format!("HYPERLINK({})", arguments.join(",")));
                4
            }
            _ => return None,
        };
    }
    stack.pop().filter(|_| stack.is_empty())
}
