//! Tables of dBASE and `FoxPro` (.dbf): records of a fixed length behind a header with the names of the fields.
//!
//! A crate (`dbase`) reads them, too, but numbers only as floats, and it needs a second table of the code pages of DOS.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek},
};

use super::{
    Book, SheetName,
    cells::{At, Cells, Stopped},
    unreadable,
    value::{self, NumberFormat},
};
use crate::readers::{
    CellKind, ReadError,
    encoding::{self, Charset},
    source::Workbook,
};

/// Length of the header without fields, and of each field in it.
const HEADER: usize = 32;

/// Bytes of records from which the encoding is guessed.
const SAMPLE: u64 = 256 * 1024;

/// The encodings by the number of the code page in the header.
const CODE_PAGES: &[(u8, &str)] = &[
    (0x01, "cp437"),
    (0x02, "cp850"),
    (0x03, "windows-1252"),
    (0x04, "macintosh"),
    (0x08, "cp865"),
    (0x1B, "cp437"),
    (0x26, "ibm866"),
    (0x57, "windows-1252"),
    (0x58, "windows-1252"),
    (0x65, "ibm866"),
    (0x66, "cp865"),
    (0x96, "mac-cyrillic"),
    (0xC8, "windows-1250"),
    (0xC9, "windows-1251"),
];

/// Days from the first one of the Julian calendar to 1970.
const DAYS_BEFORE_1970: i64 = 2_440_588;

pub(super) struct Dbf {
    file: File,
    sheets: Vec<SheetName>,
    fields: Vec<Field>,
    /// Length of the header and of a record, and the number of records.
    header: u64,
    record: usize,
    records: u32,
    charset: Charset,
}

#[derive(Debug)]
struct Field {
    name: String,
    kind: u8,
    start: usize,
    length: usize,
}

/// Whether a file begins with the header of a table.
pub(in crate::readers) fn is_dbf(head: &[u8]) -> bool {
    let [version, _, month, day, ..] = head else { return false };
    let header = head.get(8..10).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    let first = head.get(HEADER..HEADER + 12);
    let has_field = first.is_some_and(|field| field[0].is_ascii_alphabetic() && field[11].is_ascii_alphabetic());
    matches!(version, 0x02 | 0x03 | 0x30 | 0x31 | 0x32 | 0x43 | 0x63 | 0x83 | 0x8B | 0xCB | 0xF5 | 0xFB)
        && (1..=12).contains(month)
        && (1..=31).contains(day)
        && header > HEADER
        && has_field
}

impl Dbf {
    pub(super) fn open(workbook: Workbook, set: Option<&str>) -> Result<Self, ReadError> {
        let Workbook { name, mut file, .. } = workbook;
        let failed = |error: io::Error| unreadable(&name, &error);
        file.rewind().map_err(failed)?;
        let mut head = [0; HEADER];
        file.read_exact(&mut head).map_err(failed)?;
        let length = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let records = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let (header, record) = (u64::from(length(8)), usize::from(length(10)));
        let mut descriptors = vec![0; usize::from(length(8)).saturating_sub(HEADER)];
        file.read_exact(&mut descriptors).map_err(failed)?;
        let mut sample = Vec::new();
        (&file).take(SAMPLE).read_to_end(&mut sample).map_err(failed)?;
        let page = CODE_PAGES.iter().find(|(number, _)| *number == head[29]).map(|(_, name)| *name);
        let charset = encoding::find(&sample, set, page)?.charset;
        let mut fields = Vec::new();
        // The first byte of a record says whether it is deleted.
        let mut start = 1;
        for field in descriptors.chunks_exact(HEADER).take_while(|field| field[0] != 0x0D) {
            let name = field[..11].split(|byte| *byte == 0).next().unwrap_or_default();
            let (name, kind) = (charset.decoded(name).trim().to_owned(), field[11]);
            let high = if kind == b'C' { usize::from(field[17]) << 8 } else { 0 };
            let length = usize::from(field[16]) + high;
            fields.push(Field { name, kind, start, length });
            start += length;
        }
        if fields.is_empty() || start > record {
            return Err(unreadable(&name, &"its header does not fit its records"));
        }
        let sheets = vec![SheetName { name: "Table".to_owned(), is_hidden: false }];
        Ok(Self { file, sheets, fields, header, record, records, charset })
    }
}

impl Book for Dbf {
    fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    fn read(&mut self, _: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let mut at = At::default();
        for (column, field) in (0..).zip(&self.fields) {
            out.cell(At { column, ..at }, CellKind::Text, &field.name)?;
            if matches!(field.kind, b'M' | b'G' | b'P') {
                out.notes().add(format!(
                    "Column {:?} is a memo, whose texts are in another file (.dbt or .fpt): they are not read. Save the table as .xlsx or \
                     CSV to have them.",
                    field.name
                ));
            }
        }
        self.file.seek(io::SeekFrom::Start(self.header)).map_err(|error| out.failed(&error))?;
        let mut bytes = BufReader::new(&self.file);
        let mut record = vec![0; self.record];
        for number in 0..self.records {
            if let Err(error) = bytes.read_exact(&mut record) {
                let what = format!("it has {number} of {} records: {error}", self.records);
                return Err(out.failed(&what));
            }
            at.row += 1;
            if record[0] == b'*' {
                continue;
            }
            for (column, field) in (0..).zip(&self.fields) {
                let raw = &record[field.start..field.start + field.length];
                let (kind, text) = self.value(field.kind, raw);
                out.cell(At { column, ..at }, kind, &text)?;
            }
        }
        Ok(())
    }
}

impl Dbf {
    fn value(&self, kind: u8, raw: &[u8]) -> (CellKind, String) {
        let text = self.charset.decoded(raw);
        let text = text.trim_matches(['\0', ' ']);
        let of = |kind: CellKind, text: &str| (kind, text.to_owned());
        match (kind, raw) {
            (b'N' | b'F', _) if text.is_empty() || text.starts_with('*') => of(CellKind::Text, ""),
            (b'N' | b'F', _) => {
                let (kind, text) = value::bare(value::number(text, &NumberFormat::Plain, false));
                (kind, text.into_owned())
            }
            (b'D', _) if text.len() == 8 && text.is_ascii() => {
                (CellKind::Date, format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
            }
            (b'L', _) => match text {
                "T" | "t" | "Y" | "y" => of(CellKind::Boolean, "true"),
                "F" | "f" | "N" | "n" => of(CellKind::Boolean, "false"),
                _ => of(CellKind::Text, ""),
            },
            (b'I' | b'+', _) if raw.len() == 4 => {
                let bytes = raw.try_into().unwrap_or_default();
                (CellKind::BareNumber, i32::from_le_bytes(bytes).to_string())
            }
            (b'Y' | b'B' | b'T' | b'@', _) if raw.len() == 8 => {
                let bytes: [u8; 8] = raw.try_into().unwrap_or_default();
                match kind {
                    b'Y' => {
                        let amount = i64::from_le_bytes(bytes);
                        let sign = if amount < 0 { "-" } else { "" };
                        let amount = amount.unsigned_abs();
                        let written = format!("{sign}{}.{:04}", amount / 10_000, amount % 10_000);
                        let (kind, text) = value::number(&written, &NumberFormat::Plain, false);
                        (kind, text.into_owned())
                    }
                    b'B' => {
                        let written = f64::from_le_bytes(bytes).to_string();
                        let (kind, text) = value::number(&written, &NumberFormat::Plain, false);
                        (kind, text.into_owned())
                    }
                    _ => (CellKind::Date, time_text(bytes)),
                }
            }
            // Memos, and fields of FoxPro that hold no values.
            (b'M' | b'G' | b'P' | b'0' | b'I' | b'+' | b'Y' | b'B' | b'T' | b'@', _) => of(CellKind::Text, ""),
            _ => of(CellKind::Text, text),
        }
    }
}

/// A day of the Julian calendar and the milliseconds of the day; nothing if both are zero.
fn time_text(bytes: [u8; 8]) -> String {
    let both = u64::from_le_bytes(bytes);
    let (day, milliseconds) = (both & u64::from(u32::MAX), both >> 32);
    let (day, milliseconds) = (i64::try_from(day).unwrap_or(0), i64::try_from(milliseconds).unwrap_or(0));
    if day == 0 {
        return String::new();
    }
    let seconds = (day - DAYS_BEFORE_1970) * 86_400 + (milliseconds + 500) / 1000;
    jiff::Timestamp::from_second(seconds)
        .map(|time| value::iso_date(&time.strftime("%Y-%m-%dT%H:%M:%S").to_string()).to_owned())
        .unwrap_or_default()
}
