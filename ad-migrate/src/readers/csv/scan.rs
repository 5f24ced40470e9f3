//! Finds the ends of rows and cells in CSV.
//!
//! The `csv` crate silently repairs bad quoting, and has no limit for a row: one quote that is not closed would swallow a file.
//! Here, a quote must be closed before a separator or the end of a line. Otherwise the row ends with the line of the opening quote, with
//! an error, and the next line is the next row. A test ensures that both read valid quoting alike.

use memchr::{memchr, memchr_iter, memchr2_iter};

use crate::readers::CellKind;

/// Longest cell in quotes; beyond it, the quote is not closed.
pub(super) const LONGEST_CELL: usize = 1024 * 1024;

/// Most cells of a row; the last one contains the rest. Far more than a file may have columns.
const MOST_CELLS: usize = 64 * 1024;

/// The separators of cells and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::readers) struct Dialect {
    /// Between cells; zero, which no text contains, if there is only one column.
    pub(in crate::readers) separator: u8,
    /// Around cells that may contain separators and line breaks; zero if cells are not quoted.
    pub(super) quote: u8,
    /// The end of lines; a carriage return before it belongs to it.
    pub(in crate::readers) line_end: u8,
    /// Before separators, quotes and line ends that belong to a text; zero if nothing is.
    pub(super) escape: u8,
}

/// The position of a cell in the text of its row, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether quotes in it are doubled.
    pub(super) is_doubled: bool,
}

impl CellSpan {
    /// Takes off the byte that says what a cell of a spreadsheet is.
    pub(super) fn take_mark(&mut self, row: &[u8]) -> CellKind {
        let kind = row[self.start..self.end].first().and_then(|byte| CellKind::of_mark(*byte));
        self.start += usize::from(kind.is_some());
        kind.unwrap_or_default()
    }
}

/// An error in the quotes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteError {
    /// A quote is opened and not closed.
    Open,
    /// A quote that closes a cell is not followed by a separator.
    Stray,
}

/// The end of a row, and errors in its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowEnd {
    /// Bytes of the row with its line break.
    pub(super) length: usize,
    /// The first error in its quotes, the cell, and the position of the opening quote.
    pub(super) flaw: Option<(QuoteError, usize, usize)>,
}

impl Dialect {
    /// Finds the cells of the first row of a text; `None` if it may continue after the text.
    pub(super) fn row(self, text: &[u8], is_all: bool, cells: &mut Vec<CellSpan>) -> Option<RowEnd> {
        cells.clear();
        let line = self.end_of_line(text, 0).or(is_all.then_some(text.len()))?;
        if self.quote == 0 || memchr(self.quote, &text[..line]).is_none() {
            let end = self.before_return(text, line);
            self.split(text, 0, end, cells);
            return Some(RowEnd { length: (line + 1).min(text.len()), flaw: None });
        }
        self.quoted_row(text, is_all, cells)
    }

    /// The end of the line with the byte at a position.
    fn end_of_line(self, text: &[u8], from: usize) -> Option<usize> {
        let mut ends = memchr_iter(self.line_end, &text[from..]).map(|at| from + at);
        ends.find(|at| !self.is_escaped(text, *at))
    }

    /// Whether a byte belongs to a text, whatever it usually means.
    fn is_escaped(self, text: &[u8], at: usize) -> bool {
        let is_escape = |byte: &&u8| **byte == self.escape;
        self.escape != 0 && text[..at].iter().rev().take_while(is_escape).count() % 2 == 1
    }

    /// Cells between separators, without any quotes.
    fn split(self, text: &[u8], mut start: usize, end: usize, cells: &mut Vec<CellSpan>) {
        let from = start;
        for at in memchr_iter(self.separator, &text[from..end]) {
            if cells.len() == MOST_CELLS {
                break;
            }
            if self.is_escaped(text, from + at) {
                continue;
            }
            cells.push(CellSpan { start, end: from + at, is_doubled: false });
            start = from + at + 1;
        }
        cells.push(CellSpan { start, end, is_doubled: false });
    }

    fn quoted_row(self, text: &[u8], is_all: bool, cells: &mut Vec<CellSpan>) -> Option<RowEnd> {
        let (mut at, mut flaw) = (0, None);
        loop {
            let rest = &text[at..];
            let (cell, behind) = if rest.first() == Some(&self.quote) {
                if let Ok(found) = self.quoted(text, at, is_all)? {
                    found
                } else {
                    let line = self.end_of_line(text, at).or(is_all.then_some(text.len()))?;
                    let end = self.before_return(text, line);
                    let Some(found) = self.within_line(text, at, end) else {
                        flaw = flaw.or(Some((QuoteError::Open, cells.len(), at)));
                        self.split(text, at, end, cells);
                        return Some(RowEnd { length: (line + 1).min(text.len()), flaw });
                    };
                    flaw = flaw.or(Some((QuoteError::Stray, cells.len(), at)));
                    found
                }
            } else {
                let mut ends = memchr2_iter(self.separator, self.line_end, rest).map(|end| at + end);
                let end = ends.find(|end| !self.is_escaped(text, *end)).or(is_all.then_some(text.len()))?;
                let is_last = text.get(end) != Some(&self.separator);
                let cell_end = if is_last { self.before_return(text, end).max(at) } else { end };
                (CellSpan { start: at, end: cell_end, is_doubled: false }, end)
            };
            cells.push(cell);
            if text.get(behind) != Some(&self.separator) {
                return Some(RowEnd { length: (behind + 1).min(text.len()), flaw });
            }
            at = behind + 1;
        }
    }

    /// The cell whose quote is opened here, and the position of the separator or line end after it. `Err` if the quote is not closed
    /// correctly, `None` if that may be after the text.
    fn quoted(self, text: &[u8], open: usize, is_all: bool) -> Option<Result<(CellSpan, usize), ()>> {
        let (mut at, mut is_doubled) = (open + 1, false);
        loop {
            let Some(found) = memchr(self.quote, &text[at..]) else {
                return (is_all || text.len() - open > LONGEST_CELL).then_some(Err(()));
            };
            let close = at + found;
            if close - open > LONGEST_CELL {
                return Some(Err(()));
            }
            match self.behind(text, close) {
                _ if self.is_escaped(text, close) => at = close + 1,
                _ if text.get(close + 1) == Some(&self.quote) => (at, is_doubled) = (close + 2, true),
                Some(behind) if behind < text.len() || is_all => {
                    return Some(Ok((CellSpan { start: open + 1, end: close, is_doubled }, behind)));
                }
                // More of the file must be read.
                Some(_) => return None,
                None => return Some(Err(())),
            }
        }
    }

    /// The position of the separator or line end after a quote that may close a cell.
    fn behind(self, text: &[u8], close: usize) -> Option<usize> {
        match text.get(close + 1) {
            None => Some(text.len()),
            Some(byte) if *byte == self.separator || *byte == self.line_end => Some(close + 1),
            Some(b'\r') => match text.get(close + 2) {
                None => Some(text.len()),
                Some(byte) => (*byte == self.line_end).then_some(close + 2),
            },
            Some(_) => None,
        }
    }

    /// The same within one line, where other quotes belong to the text.
    fn within_line(self, text: &[u8], open: usize, line: usize) -> Option<(CellSpan, usize)> {
        let within = &text[..line];
        let close = memchr_iter(self.quote, &within[open + 1..])
            .map(|at| open + 1 + at)
            .find(|at| within.get(at + 1).is_none_or(|byte| *byte == self.separator))?;
        let behind = if close + 1 < line {
            close + 1
        } else {
            memchr(self.line_end, &text[line..]).map_or(text.len(), |at| line + at)
        };
        Some((CellSpan { start: open + 1, end: close, is_doubled: false }, behind))
    }

    fn before_return(self, text: &[u8], end: usize) -> usize {
        if self.line_end == b'\n' && end > 0 && text.get(end - 1) == Some(&b'\r') { end - 1 } else { end }
    }
}
