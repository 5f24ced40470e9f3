//! The rows of a sheet as separated cells, which a thread writes while they are read.

use std::{
    borrow::Cow,
    fmt,
    io::{self, Read},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use calamine::{DataType, ExcelDateTime};

use crate::readers::{ReadError, csv::SHEET, number_text};

/// Bytes of rows that pass between the threads at a time.
const CHUNK: usize = 64 * 1024;

/// Most chunks that wait for the reader.
const CHUNKS: usize = 4;

pub(super) struct Rows {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
}

impl Rows {
    pub(super) fn begin(write: impl FnOnce(&mut RowWriter) -> Result<(), Stopped> + Send + 'static) -> Self {
        let (chunks, received) = sync_channel(CHUNKS);
        let mut out = RowWriter { chunks, chunk: Vec::new(), row: 0, column: 0 };
        thread::spawn(move || {
            let written = write(&mut out);
            // Nobody may read the rest.
            if matches!(written, Err(Stopped::Unread)) || out.send().is_err() {
                return;
            }
            if let Err(Stopped::Failed(error)) = written {
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
pub(super) enum Stopped {
    /// Nobody reads it any more.
    Unread,
    Failed(ReadError),
}

/// Writes the cells of a sheet in the order of its rows.
pub(super) struct RowWriter {
    chunks: SyncSender<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// Where the next cell would be without gaps.
    row: u32,
    column: u32,
}

impl RowWriter {
    pub(super) fn unreadable(&self, error: &dyn fmt::Display) -> Stopped {
        let message = format!("the sheet cannot be read after row {}: {error}", self.row + 1);
        Stopped::Failed(ReadError::new(message).hint("Open and save the spreadsheet again."))
    }

    pub(super) fn cell(&mut self, row: u32, column: u32, value: &impl DataType) -> Result<(), Stopped> {
        text(value).map_or(Ok(()), |value| self.text(row, column, &value))
    }

    pub(super) fn text(&mut self, row: u32, column: u32, value: &str) -> Result<(), Stopped> {
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
fn text(value: &impl DataType) -> Option<Cow<'_, str>> {
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
        Cow::Owned(date_text(time))
    } else {
        Cow::Owned(value.get_error()?.to_string())
    };
    (!text.is_empty()).then_some(text)
}

/// `2019-05-04`, with a time unless it is midnight, or the hours and minutes of a duration.
fn date_text(time: ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        format!("{}:{:02}", (minutes / 60.0).floor(), minutes % 60.0)
    } else if (hour, minute, second) == (0, 0, 0) {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    }
}
