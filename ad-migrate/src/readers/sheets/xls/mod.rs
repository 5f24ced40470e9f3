//! Workbooks of Excel from 5.0 to 2003 (.xls): records of a stream (BIFF5 and BIFF8) in a compound file, which the crate `cfb` opens.
//!
//! `calamine` reads such files, too, but not how numbers are shown, and it takes a format of a workbook for the built-in one of that number, so
//! that numbers of gnumeric become dates.

mod records;
mod sheet;

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
};

use cfb::CompoundFile;
use records::{BOF, CONTINUE, END, Records, Texts, at, too_short, u16_at, u32_at, unicode};
use rustc_hash::FxHashMap;
use sheet::Sheet;

use super::{
    Book, SheetName,
    cells::{Cells, Stopped},
    parser::Kept,
    strings::Strings,
    unreadable,
    value::NumberFormat,
};
use crate::readers::{
    ReadError,
    encoding::{self, Charset},
    source::Workbook,
};

const PASSWORD: u16 = 0x002F;
const CODE_PAGE: u16 = 0x0042;
const IS_1904: u16 = 0x0022;
const SHEET: u16 = 0x0085;
const FORMAT: u16 = 0x041E;
const STYLE: u16 = 0x00E0;
const STRINGS: u16 = 0x00FC;

/// The version of BIFF8; before it, texts are bytes of a code page.
const BIFF8: u16 = 0x0600;

pub(super) struct Xls {
    book: CompoundFile<File>,
    stream: &'static str,
    sheets: Vec<SheetName>,
    /// Where each sheet begins, in bytes from the beginning of the stream.
    starts: Vec<u64>,
    texts: Texts,
    strings: Strings,
    /// The formats of numbers by the style of a cell.
    formats: Vec<NumberFormat>,
    is_1904: bool,
}

impl Xls {
    pub(super) fn open(workbook: Workbook) -> Result<Self, ReadError> {
        let Workbook { name, mut file, .. } = workbook;
        let no_book = || {
            // A document of Word, an encrypted workbook, or a damaged file.
            let what = "an Office document of the old format (such as .xls) or with a password";
            ReadError::new(format!("{name} is {what}, and neither CSV, XML, JSON nor a spreadsheet."))
                .hint("Save or export it as .xlsx, or as CSV in UTF-8, without a password; CSV may be in gzip or zip.")
        };
        fill_up(&mut file).map_err(|error| unreadable(&name, &error))?;
        let book = CompoundFile::open(file).map_err(|_| no_book())?;
        let stream = ["/Workbook", "/Book"].into_iter().find(|name| book.is_stream(name)).ok_or_else(no_book)?;
        let charset = encoding::find(b"", Some("windows-1252"), None)?.charset;
        let texts = Texts { is_unicode: true, charset };
        let (sheets, starts, formats) = (Vec::new(), Vec::new(), Vec::new());
        let mut xls =
            Self { book, stream, sheets, starts, texts, strings: Strings::default(), formats, is_1904: false };
        xls.globals().map_err(|error| unreadable(&name, &error))?;
        Ok(xls)
    }

    fn records(&mut self, start: u64) -> io::Result<Records> {
        let mut stream = self.book.open_stream(self.stream)?;
        stream.seek(SeekFrom::Start(start))?;
        Ok(Records { stream: BufReader::new(stream), data: Vec::new(), next: None })
    }

    /// Reads what all sheets share.
    fn globals(&mut self) -> io::Result<()> {
        let mut records = self.records(0)?;
        let mut codes: FxHashMap<u16, NumberFormat> = FxHashMap::default();
        let mut styles: Vec<u16> = Vec::new();
        let mut kept = Kept::default();
        while let Some(record) = records.next()? {
            let data = records.data.as_slice();
            match record {
                BOF => self.texts.is_unicode = u16_at(data, 0)? == BIFF8,
                PASSWORD => return Err(io::Error::other("it has a password")),
                CODE_PAGE => self.texts.charset = code_page(u16_at(data, 0)?).unwrap_or(self.texts.charset),
                IS_1904 => self.is_1904 = u16_at(data, 0)? == 1,
                // Charts and macros are sheets, too.
                SHEET if at(data, 5)? == 0 => {
                    let name = self.texts.short(data, 6)?;
                    kept.add(name.len()).map_err(io::Error::other)?;
                    self.sheets.push(SheetName { name, is_hidden: at(data, 4)? & 3 != 0 });
                    self.starts.push(u32_at(data, 0)?.into());
                }
                FORMAT => {
                    let code =
                        if self.texts.is_unicode { self.texts.long(data, 2)? } else { self.texts.short(data, 2)? };
                    codes.insert(u16_at(data, 0)?, NumberFormat::of_code(&code));
                }
                STYLE => {
                    kept.add(0).map_err(io::Error::other)?;
                    styles.push(u16_at(data, 2)?);
                }
                STRINGS => self.strings = shared(&mut records)?,
                END => break,
                _ => {}
            }
        }
        let format = |id: &u16| codes.get(id).cloned().unwrap_or_else(|| NumberFormat::of_id((*id).into()));
        self.formats = styles.iter().map(format).collect();
        Ok(())
    }
}

/// Makes a file as long as its last sector of the allocation table has entries: `SheetJS` writes entries beyond the end, which `cfb` does not accept.
/// The file is a copy.
fn fill_up(file: &mut File) -> io::Result<()> {
    let mut head = [0; 48];
    file.rewind()?;
    if file.read(&mut head)? == head.len() && matches!(u16_at(&head, 30)?, 9 | 12) {
        let size = 1_u64 << u16_at(&head, 30)?;
        let covered = size / 4 * size;
        let (length, full) = (file.metadata()?.len(), u64::from(u32_at(&head, 44)?).saturating_mul(covered) + size);
        if (length..length + covered).contains(&full) {
            file.set_len(full)?;
        }
    }
    file.rewind()
}

fn code_page(number: u16) -> Option<Charset> {
    let name = match number {
        0x8000 => "macintosh".to_owned(),
        0x8001 => "windows-1252".to_owned(),
        number @ (437 | 850 | 858 | 865 | 866) => format!("cp{number}"),
        number => format!("windows-{number}"),
    };
    encoding::find(b"", Some(&name), None).ok().map(|found| found.charset)
}

/// Reads the shared texts, which go on in further records: within a text, with a byte that says how wide its characters are there.
fn shared(records: &mut Records) -> io::Result<Strings> {
    let mut strings = Strings::default();
    let count = u32_at(&records.data, 4)?;
    let mut at = 8;
    for _ in 0..count {
        if at >= records.data.len() && !go_on(records, &mut at)? {
            break;
        }
        let (mut left, mut flags) = (usize::from(u16_at(&records.data, at)?), self::at(&records.data, at + 2)?);
        at += 3;
        let mut surplus = 0;
        if flags & 8 != 0 {
            surplus += 4 * usize::from(u16_at(&records.data, at)?);
            at += 2;
        }
        if flags & 4 != 0 {
            surplus += u32_at(&records.data, at)? as usize;
            at += 4;
        }
        let mut text = String::new();
        loop {
            let width = if flags & 1 != 0 { 2 } else { 1 };
            let here = left.min(records.data.len().saturating_sub(at) / width);
            text.push_str(&unicode(&records.data[at..at + here * width], width == 2));
            at += here * width;
            left -= here;
            if left == 0 {
                break;
            }
            if !go_on(records, &mut at)? {
                return Err(too_short());
            }
            flags = self::at(&records.data, 0)?;
            at = 1;
        }
        while surplus > 0 {
            let here = surplus.min(records.data.len().saturating_sub(at));
            (at, surplus) = (at + here, surplus - here);
            if surplus > 0 && !go_on(records, &mut at)? {
                return Err(too_short());
            }
        }
        strings.add(&text).map_err(io::Error::other)?;
    }
    strings.end()?;
    Ok(strings)
}

/// Goes on to the record that continues this one, if one does.
fn go_on(records: &mut Records, at: &mut usize) -> io::Result<bool> {
    *at = 0;
    match records.next()? {
        Some(CONTINUE) => Ok(true),
        other => {
            records.next = other;
            Ok(false)
        }
    }
}

impl Book for Xls {
    fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    fn read(&mut self, index: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let records = self.records(self.starts[index]).map_err(|error| out.failed(&error))?;
        let Self { texts, strings, formats, is_1904, .. } = self;
        let sheet = Sheet {
            texts: *texts,
            strings,
            formats,
            is_1904: *is_1904,
            hidden: rustc_hash::FxHashSet::default(),
            formula: None,
        };
        sheet.read(records, out)
    }
}
