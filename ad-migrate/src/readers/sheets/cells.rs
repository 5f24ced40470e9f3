//! The cells of a sheet as they are read: written as separated texts, which a thread does while they are used, or only looked at.

use std::{
    fmt,
    io::{self, Read},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use ad_core::lock::locked;

use super::{Book, notes::SheetNotes};
use crate::readers::{CellKind, ReadError, csv::SHEET};

/// Most rows and columns of a sheet, as spreadsheet programs have them.
const MOST_ROWS: u32 = 1 << 20;
pub(super) const MOST_COLUMNS: u32 = 1 << 14;

/// Most cells that are written because a file says that a cell or a row is repeated.
const MOST_REPEATED: u64 = 20_000_000;

/// Bytes that any sheet may become, whatever the size of its file, and how many times its size it may become beyond that: a small file can
/// refer to a long text very often.
const ANY_LENGTH: u64 = 64 << 20;
const MOST_TIMES: u64 = 250;

/// Bytes of rows that pass between the threads at a time.
const CHUNK: usize = 64 * 1024;

/// Most chunks that wait for the reader.
const CHUNKS: usize = 4;

/// Why a sheet is not read to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The receiver of the cells needs no more of them.
    Unread,
    Failed(ReadError),
}

/// The place of a cell, from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) row: u32,
    pub(super) column: u32,
}

/// Takes the cells of a sheet, in the order of its rows.
pub(super) trait Cells {
    /// Takes a cell. Empty texts are no cells.
    fn cell(&mut self, at: At, kind: CellKind, text: &str) -> Result<(), Stopped>;

    /// What else is said about the sheet.
    fn notes(&mut self) -> &mut SheetNotes;

    /// The row that is being written, from 0.
    fn row(&self) -> u32;

    /// Takes a cell that the file repeats in the columns behind it.
    fn repeated(&mut self, at: At, times: u32, kind: CellKind, text: &str) -> Result<(), Stopped> {
        (0..times).try_for_each(|more| {
            self.cell(At { column: at.column.saturating_add(more), ..at }, kind, text)?;
            if more > 0 { self.count_repeated() } else { Ok(()) }
        })
    }

    /// Counts a cell that the file has only once, and that is written several times.
    fn count_repeated(&mut self) -> Result<(), Stopped> {
        let repeated = &mut self.notes().repeated;
        *repeated += 1;
        if *repeated > MOST_REPEATED {
            let message = format!("the sheet repeats more than {MOST_REPEATED} cells");
            return Err(Stopped::Failed(ReadError::new(message).hint("Delete the rows and columns behind the table.")));
        }
        Ok(())
    }

    /// The error that the rest of the sheet cannot be read.
    fn failed(&self, error: &dyn fmt::Display) -> Stopped {
        let message = format!("the sheet cannot be read after row {}: {error}", self.row() + 1);
        Stopped::Failed(ReadError::new(message).hint("Open and save the spreadsheet again."))
    }
}

/// The rows of a sheet, in [`SHEET`].
pub(super) struct Rows {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
}

impl Rows {
    /// Begins to read a sheet of a file of this size. When its rows have been read to the end, there are notes about it.
    pub(super) fn begin(mut book: Box<dyn Book>, index: usize, size: u64) -> (Self, Arc<Mutex<Vec<String>>>) {
        let (chunks, received) = sync_channel(CHUNKS);
        let late = Arc::<Mutex<Vec<String>>>::default();
        let notes = late.clone();
        thread::spawn(move || {
            let mut out = RowWriter::new(chunks, size);
            let written = book.read(index, &mut out);
            locked(&notes).extend(out.notes.sentences());
            // Nobody may read the rest.
            if matches!(written, Err(Stopped::Unread)) || out.send().is_err() {
                return;
            }
            if let Err(Stopped::Failed(error)) = written {
                let _ = out.chunks.send(Err(io::Error::other(error)));
            }
        });
        (Self { chunks: received, chunk: io::Cursor::default() }, late)
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

/// Writes the cells of a sheet.
struct RowWriter {
    chunks: SyncSender<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// The place of the last cell.
    at: At,
    /// Whether the row has one.
    is_filled: bool,
    /// Bytes that may still be written.
    left: u64,
    notes: SheetNotes,
}

impl Cells for RowWriter {
    fn cell(&mut self, at: At, kind: CellKind, text: &str) -> Result<(), Stopped> {
        if text.is_empty() && kind == CellKind::Text {
            return Ok(());
        }
        if at < self.at || (at == self.at && self.is_filled) {
            return Err(self.failed(&"its cells are not in order"));
        }
        if at.row >= MOST_ROWS || at.column >= MOST_COLUMNS {
            let place = format!("row {} and column {}", u64::from(at.row) + 1, u64::from(at.column) + 1);
            let most = format!("a sheet has at most {MOST_ROWS} rows and {MOST_COLUMNS} columns");
            return Err(self.failed(&format!("it has a cell in {place}, but {most}")));
        }
        let length = u64::from(at.row - self.at.row) + u64::from(at.column) + text.len() as u64;
        let Some(left) = self.left.checked_sub(length) else {
            return Err(self.failed(
                &"it has far more in its cells than in its file, as files have that are meant to fill a disk",
            ));
        };
        self.left = left;
        // Empty rows are written too: the number of a line is the row of the sheet.
        while self.at.row < at.row {
            self.at = At { row: self.at.row + 1, column: 0 };
            self.is_filled = false;
            self.chunk.push(SHEET.line_end);
            self.send_full()?;
        }
        self.chunk.resize(self.chunk.len() + (at.column - self.at.column) as usize, SHEET.separator);
        (self.at, self.is_filled) = (at, true);
        self.chunk.extend(kind.mark());
        let is_sign = |byte: u8| byte == SHEET.separator || byte == SHEET.line_end || CellKind::is_mark(byte);
        if text.bytes().any(is_sign) {
            self.chunk.extend(text.bytes().filter(|byte| !is_sign(*byte)));
        } else {
            self.chunk.extend_from_slice(text.as_bytes());
        }
        self.send_full()
    }

    fn notes(&mut self) -> &mut SheetNotes {
        &mut self.notes
    }

    fn row(&self) -> u32 {
        self.at.row
    }
}

impl RowWriter {
    fn new(chunks: SyncSender<io::Result<Vec<u8>>>, size: u64) -> Self {
        let (chunk, at, is_filled, notes) = (Vec::new(), At::default(), false, SheetNotes::default());
        let left = ANY_LENGTH.saturating_add(MOST_TIMES.saturating_mul(size));
        Self { chunks, chunk, at, is_filled, left, notes }
    }

    fn send_full(&mut self) -> Result<(), Stopped> {
        if self.chunk.len() < CHUNK { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Stopped> {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK + CHUNK / 4));
        self.chunks.send(Ok(chunk)).map_err(|_| Stopped::Unread)
    }
}

/// What a look at the beginning of a sheet shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    #[default]
    Nothing,
    /// Some cells, such as a cover sheet has.
    Cells,
    /// At least [`Glance::ROWS`] rows with at least [`Glance::CELLS`] cells each.
    Table,
}

/// Looks at cells until a table is found.
#[derive(Debug, Default)]
pub(super) struct Glance {
    row: u32,
    cells: u32,
    rows: u32,
    seen: u32,
    bytes: usize,
    notes: SheetNotes,
}

impl Glance {
    /// Fewest rows of a table, and fewest cells of each.
    const ROWS: u32 = 2;
    const CELLS: u32 = 3;

    /// Most cells that are looked at, and most bytes of their texts: thousands of cells may refer to the same long one.
    const MOST: u32 = 20_000;
    const MOST_BYTES: usize = 4 << 20;

    pub(super) fn of(book: &mut dyn Book, index: usize) -> Result<Shown, ReadError> {
        let mut glance = Self::default();
        if let Err(Stopped::Failed(error)) = book.read(index, &mut glance) {
            return Err(error);
        }
        Ok(if glance.has_table() {
            Shown::Table
        } else if glance.seen > 0 {
            Shown::Cells
        } else {
            Shown::Nothing
        })
    }

    fn has_table(&self) -> bool {
        self.rows >= Self::ROWS
    }
}

impl Cells for Glance {
    fn cell(&mut self, at: At, kind: CellKind, text: &str) -> Result<(), Stopped> {
        if kind == CellKind::Text && text.trim().is_empty() {
            return Ok(());
        }
        if at.row != self.row {
            (self.row, self.cells) = (at.row, 0);
        }
        self.seen += 1;
        self.bytes += text.len();
        self.cells += 1;
        self.rows += u32::from(self.cells == Self::CELLS);
        let is_enough = self.has_table() || self.seen == Self::MOST || self.bytes > Self::MOST_BYTES;
        if is_enough { Err(Stopped::Unread) } else { Ok(()) }
    }

    fn notes(&mut self) -> &mut SheetNotes {
        &mut self.notes
    }

    fn row(&self) -> u32 {
        self.row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(result: Result<(), Stopped>) -> String {
        match result {
            Err(Stopped::Failed(error)) => error.message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_long_text_in_many_cells_is_looked_at_few_times() {
        let mut glance = Glance::default();
        let text = "x".repeat(1 << 20);
        let looked = (0..100).find(|row| glance.cell(At { row: *row, column: 0 }, CellKind::Text, &text).is_err());
        assert_eq!(looked, Some(4));
    }

    #[test]
    fn what_a_small_file_repeats_or_places_far_away_is_bounded() {
        let (chunks, _received) = sync_channel(100);
        let mut out = RowWriter::new(chunks, 0);
        let repeated = (0..=MOST_REPEATED).map(|_| out.count_repeated()).find(Result::is_err).unwrap();
        assert_eq!(failure(repeated), "the sheet repeats more than 20000000 cells");
        for at in [At { row: u32::MAX, column: 0 }, At { row: 0, column: u32::MAX }] {
            let error = failure(out.cell(at, CellKind::Text, "x"));
            assert!(error.ends_with("but a sheet has at most 1048576 rows and 16384 columns"), "{error}");
        }
        out.cell(At { row: 0, column: 1 }, CellKind::Number, "5").unwrap();
        let again = failure(out.cell(At { row: 0, column: 1 }, CellKind::Text, "x"));
        assert!(again.ends_with("its cells are not in order"), "{again}");
        assert_eq!(out.chunk, b"\x1f\x015");
        let text = "x".repeat(1 << 20);
        let long = (1..).map(|row| {
            out.chunk.clear();
            out.cell(At { row, column: 0 }, CellKind::Text, &text)
        });
        let error = failure(long.take(65).find(Result::is_err).unwrap());
        assert!(error.contains("far more in its cells than in its file"), "{error}");
    }
}
