//! Spreadsheets: the rows of one sheet, read by [`calamine`] and written as [`SHEET`](super::csv::SHEET), so that header, width and names of columns
//! are detected as in CSV. A thread reads the sheet while its rows are used.
//!
//! Formulas count by their last value, and dates as ISO 8601. The rows of an .xlsx sheet are streamed; its texts are in memory, because the
//! format keeps them apart. An .ods file is in memory as a whole.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    fs::File,
    io::{self, BufReader, Read},
    sync::{
        Arc,
        atomic::AtomicU64,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use ad_core::violation::nearest;
use calamine::{DataType, Dimensions, ExcelDateTime, Ods, Reader as _, Sheet, SheetType, SheetVisible, Xlsx};
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::{
    Detected, Form, LOOK, ReadError, Records, Settings,
    csv::{Csv, SHEET},
    encoding,
    feed::Feed,
    number_text,
    packing::CountedRead,
    quoted,
    source::Workbook,
};

/// Bytes of rows that pass between the threads at a time.
const CHUNK: usize = 64 * 1024;

/// Chunks that may wait.
const CHUNKS: usize = 4;

/// Most cells of an .ods file, with their repetitions.
const MOST_CELLS: u64 = 20_000_000;

/// Sheets and merged cells that a message lists.
const SHOWN: usize = 5;

type Input = BufReader<CountedRead<File>>;

/// Opens a sheet.
///
/// # Errors
/// When the file is damaged or encrypted, or has no such sheet.
pub(super) fn records(workbook: Workbook, settings: &Settings) -> Result<(Detected, Box<dyn Records>), ReadError> {
    let Workbook { name, form, file, read, .. } = workbook;
    if let Some(set) = settings.form.filter(|set| *set != form) {
        let message = format!("{name} is a spreadsheet ({}), but its format is set to {}.", form.name(), set.name());
        return Err(ReadError::new(message).hint("Omit form; the format is detected."));
    }
    let mut detected = Detected {
        form,
        encoding: "utf-8".to_owned(),
        separator: None,
        header: None,
        rows: None,
        packing: None,
        member: None,
        sheet: None,
        notes: Vec::new(),
    };
    let wanted = settings.sheet.as_deref();
    let rows = if form == Form::Ods {
        ods(&name, file, read, wanted, &mut detected)?
    } else {
        xlsx(&name, file, read, wanted, &mut detected)?
    };
    let mut feed = Feed::new(Box::new(rows));
    feed.look(LOOK);
    // The thread writes UTF-8.
    let charset = encoding::find(b"", None, None)?.charset;
    let csv = Csv::of_sheet(feed, settings, charset, &mut detected)?;
    Ok((detected, Box::new(csv)))
}

/// Begins to read a sheet of an .xlsx file.
fn xlsx(
    name: &str,
    file: File,
    read: Arc<AtomicU64>,
    wanted: Option<&str>,
    detected: &mut Detected,
) -> Result<Rows, ReadError> {
    let unread = |error| unreadable(name, &error);
    let mut book: Xlsx<Input> = Xlsx::new(BufReader::new(CountedRead { inner: file, read })).map_err(unread)?;
    let sheets = book.sheets_metadata().to_vec();
    let sheet = choose(name, &sheets, wanted, detected, |sheet| {
        let mut cells = book.worksheet_cells_reader(sheet).map_err(unread)?;
        while let Some(cell) = cells.next_cell().map_err(unread)? {
            if !cell.get_value().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    })?;
    let merged = book.merge_cells_by_sheet_name(&sheet).unwrap_or_default();
    if !merged.is_empty() {
        detected.notes.push(merged_note(&format!("merged cells: {}", shown(merged.iter().map(range_name)))));
    }
    Ok(Rows::begin(move |out| {
        let mut cells = book.worksheet_cells_reader(&sheet).map_err(|error| out.unreadable(&error))?;
        while let Some(cell) = cells.next_cell().map_err(|error| out.unreadable(&error))? {
            let (row, column) = cell.get_position();
            out.cell(row, column, cell.get_value())?;
        }
        Ok(())
    }))
}

/// Reads an .ods file, and begins to write the rows of a sheet.
fn ods(
    name: &str,
    file: File,
    read: Arc<AtomicU64>,
    wanted: Option<&str>,
    detected: &mut Detected,
) -> Result<Rows, ReadError> {
    let unread = |error| unreadable(name, &error);
    let (cells, merged) = scan_ods(name, &file)?;
    if cells > MOST_CELLS {
        let message = format!("The spreadsheet {name} has more than {MOST_CELLS} cells.");
        return Err(ReadError::new(message).hint("Save it as .xlsx or CSV, which may have any size."));
    }
    let mut book: Ods<Input> = Ods::new(BufReader::new(CountedRead { inner: file, read })).map_err(unread)?;
    let sheets = book.sheets_metadata().to_vec();
    let has_data = |sheet: &str| Ok(book.worksheet_range(sheet).is_ok_and(|range| !range.is_empty()));
    let sheet = choose(name, &sheets, wanted, detected, has_data)?;
    if merged > 0 {
        detected.notes.push(merged_note(&format!("{merged} cells of the file are merged")));
    }
    let range = book.worksheet_range(&sheet).map_err(unread)?;
    Ok(Rows::begin(move |out| {
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            out.cell(index(row) + top, index(column) + left, value)?;
        }
        Ok(())
    }))
}

fn unreadable(name: &str, error: &dyn fmt::Display) -> ReadError {
    ReadError::new(format!("The spreadsheet {name} cannot be read: {error}."))
        .hint("Open and save it again, as .xlsx without a password, or as CSV (UTF-8).")
}

fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The sheet that is set, or the first visible one with data.
fn choose(
    name: &str,
    sheets: &[Sheet],
    wanted: Option<&str>,
    detected: &mut Detected,
    mut has_data: impl FnMut(&str) -> Result<bool, ReadError>,
) -> Result<String, ReadError> {
    let sheets = || sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let is_hidden = |sheet: &Sheet| sheet.visible != SheetVisible::Visible;
    let all = || {
        shown(sheets().map(|sheet| {
            let hidden = if is_hidden(sheet) { " (hidden)" } else { "" };
            format!("{}{hidden}", quoted(&sheet.name))
        }))
    };
    let found = if let Some(wanted) = wanted {
        let found = sheets().find(|sheet| sheet.name == wanted);
        let found = found.or_else(|| sheets().find(|sheet| sheet.name.to_lowercase() == wanted.to_lowercase()));
        let found = found.ok_or_else(|| {
            let error = ReadError::new(format!("{name} has no sheet {}.", quoted(wanted)));
            let meant = nearest::did_you_mean(wanted, sheets().map(|sheet| sheet.name.as_str()));
            error.hint(meant.unwrap_or_else(|| format!("It has {}.", all())))
        })?;
        if !has_data(&found.name)? {
            return Err(ReadError::new(format!("The sheet {} of {name} is empty.", quoted(&found.name)))
                .hint(format!("The file has {}.", all())));
        }
        found.name.clone()
    } else {
        let mut found = None;
        for sheet in sheets().filter(|sheet| !is_hidden(sheet)) {
            if found.is_none() && has_data(&sheet.name)? {
                found = Some(sheet.name.clone());
            }
        }
        let found = found.ok_or_else(|| {
            let error = ReadError::new(format!("{name} has no visible sheet with data."));
            error.hint(format!("It has {}; to read a hidden sheet, set its name: --sheet NAME.", all()))
        })?;
        detected.notes.push(if sheets().nth(1).is_none() {
            format!("Sheet {}: it is the only one.", quoted(&found))
        } else {
            let (found, all) = (quoted(&found), all());
            format!("Sheet {found}: the first visible one with data, of {all}. Set sheet to read another one.")
        });
        found
    };
    detected.sheet = Some(found.clone());
    Ok(found)
}

/// The first of several texts.
fn shown(texts: impl Iterator<Item = String> + Clone) -> String {
    let more = if texts.clone().nth(SHOWN).is_some() { ", …" } else { "" };
    texts.take(SHOWN).collect::<Vec<_>>().join(", ") + more
}

fn merged_note(what: &str) -> String {
    format!(
        "The sheet has merged cells ({what}): the first cell of each has the value, and the others are empty. If several rows share a value, \
         unmerge the cells in the spreadsheet and fill each row."
    )
}

/// `A1:C2`
fn range_name(range: &Dimensions) -> String {
    let name = |(row, column): (u32, u32)| {
        let (mut letters, mut rest) = (String::new(), column + 1);
        while rest > 0 {
            letters.insert(0, char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or_default()));
            rest = (rest - 1) / 26;
        }
        format!("{letters}{}", row + 1)
    };
    format!("{}:{}", name(range.start), name(range.end))
}

/// Counts the cells of an .ods file with their repetitions, which a small file can state in any number, and its merged cells.
fn scan_ods(name: &str, file: &File) -> Result<(u64, u64), ReadError> {
    let failed = |error: &dyn fmt::Display| unreadable(name, error);
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| failed(&error))?;
    let content = archive.by_name("content.xml").map_err(|error| failed(&error))?;
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(content));
    let (mut cells, mut merged, mut buffer) = (0_u64, 0_u64, Vec::new());
    let number = |start: &BytesStart<'_>, name: &str| {
        let attribute = start.try_get_attribute(name).ok().flatten();
        attribute.and_then(|it| std::str::from_utf8(&it.value).ok()?.parse::<u64>().ok()).unwrap_or(1)
    };
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| failed(&error))? {
            Event::Eof => return Ok((cells, merged)),
            Event::Start(start) | Event::Empty(start) if start.name().as_ref() == b"table:table-cell" => {
                cells = cells.saturating_add(number(&start, "table:number-columns-repeated").min(1 << 14));
                let spanned = ["table:number-columns-spanned", "table:number-rows-spanned"];
                merged += u64::from(spanned.iter().any(|name| number(&start, name) > 1));
            }
            _ => {}
        }
    }
}

/// The rows of a sheet, which a thread writes.
struct Rows {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
}

impl Rows {
    /// Begins to write rows.
    fn begin(write: impl FnOnce(&mut RowWriter) -> Result<(), Stopped> + Send + 'static) -> Self {
        let (chunks, received) = sync_channel(CHUNKS);
        let mut out = RowWriter { chunks, chunk: Vec::new(), scratch: String::new(), row: 0, column: 0 };
        thread::spawn(move || {
            let written = write(&mut out);
            let error = match written {
                Ok(()) => None,
                Err(Stopped::Unread) => return,
                Err(Stopped::Failed(error)) => Some(error),
            };
            // Nobody may read the rest.
            if out.send().is_ok()
                && let Some(error) = error
            {
                let _ = out.chunks.send(Err(io::Error::other(error)));
            }
        });
        Self { chunks: received, chunk: io::Cursor::default() }
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.chunks.recv() {
                Ok(chunk) => self.chunk = io::Cursor::new(chunk?),
                // The thread has ended.
                Err(_) => return Ok(0),
            }
        }
    }
}

/// Why a sheet is not written to its end.
enum Stopped {
    /// Nobody reads it any more.
    Unread,
    Failed(ReadError),
}

/// Writes the cells of a sheet in the order of its rows.
struct RowWriter {
    chunks: SyncSender<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    scratch: String,
    /// Where the next cell would be without gaps.
    row: u32,
    column: u32,
}

impl RowWriter {
    fn unreadable(&self, error: &dyn fmt::Display) -> Stopped {
        let message = format!("the sheet cannot be read after row {}: {error}", self.row + 1);
        Stopped::Failed(ReadError::new(message).hint("Open and save the spreadsheet again."))
    }

    /// Writes a cell.
    fn cell(&mut self, row: u32, column: u32, value: &impl DataType) -> Result<(), Stopped> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let written = text(value, &mut scratch).map_or(Ok(()), |value| self.text(row, column, &value));
        self.scratch = scratch;
        written
    }

    fn text(&mut self, row: u32, column: u32, value: &str) -> Result<(), Stopped> {
        if row < self.row || (row == self.row && column < self.column) {
            return Err(self.unreadable(&"its cells are not in order"));
        }
        // Empty rows are written too: the number of a line is the row of the sheet.
        while self.row < row {
            self.row += 1;
            self.column = 0;
            self.chunk.push(SHEET.line_end);
            self.send_full()?;
        }
        for _ in self.column..column {
            self.chunk.push(SHEET.separator);
        }
        self.column = column;
        let is_mark = |byte: u8| byte == SHEET.separator || byte == SHEET.line_end;
        self.chunk.extend(value.bytes().filter(|byte| !is_mark(*byte)));
        self.send_full()
    }

    fn send_full(&mut self) -> Result<(), Stopped> {
        if self.chunk.len() < CHUNK { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Stopped> {
        self.chunks.send(Ok(std::mem::take(&mut self.chunk))).map_err(|_| Stopped::Unread)
    }
}

/// The text of a cell; `None` if it is empty.
fn text<'a>(value: &'a impl DataType, scratch: &'a mut String) -> Option<Cow<'a, str>> {
    let iso = || value.get_datetime_iso().or(value.get_duration_iso());
    let text = if let Some(text) = value.get_string().or_else(iso) {
        Cow::Borrowed(text)
    } else if let Some(number) = value.get_float() {
        Cow::Owned(number_text(number))
    } else if let Some(number) = value.get_int() {
        Cow::Owned(number.to_string())
    } else if let Some(is) = value.get_bool() {
        Cow::Borrowed(if is { "true" } else { "false" })
    } else if let Some(time) = value.get_datetime() {
        scratch.clear();
        date_text(time, scratch);
        Cow::Borrowed(scratch.as_str())
    } else {
        Cow::Owned(value.get_error()?.to_string())
    };
    (!text.is_empty()).then_some(text)
}

/// `2019-05-04`, with a time unless it is midnight, or the hours and minutes of a duration.
fn date_text(time: ExcelDateTime, out: &mut String) {
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let written = if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        write!(out, "{}:{:02}", (minutes / 60.0).floor(), minutes % 60.0)
    } else if (hour, minute, second) == (0, 0, 0) {
        write!(out, "{year:04}-{month:02}-{day:02}")
    } else {
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    };
    written.expect("memory takes everything");
}
