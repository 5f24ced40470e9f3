//! Detects separator, quotes, header and number of columns of a CSV file from its beginning.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    SHEET,
    clean::Cleaner,
    data::data,
    scan::{CellSpan, Dialect, RowEnd},
};
use crate::readers::{CellKind, ReadError, Settings, encoding::Charset, feed::Feed, quoted};

/// In order of preference. The comma is last, because texts and amounts contain it, too.
const SEPARATORS: &[u8] = b"\t;|,";

/// Rows from which the shape is detected.
const ROWS: usize = 2000;

#[derive(Debug)]
pub(super) struct Shape {
    pub(super) dialect: Dialect,
    pub(super) names: Vec<String>,
    pub(super) has_header: bool,
    pub(super) width: Width,
    /// Bytes before the first row of data or header.
    pub(super) skip: usize,
    /// Lines above the header that were found.
    pub(super) skipped: usize,
    /// Whether each column has codes of letters and digits.
    pub(super) codes: Vec<bool>,
    /// Takes guards and escapes off texts.
    pub(super) cleaner: Cleaner,
    pub(super) notes: Vec<String>,
}

/// How many cells a row may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Width {
    /// The usual number of cells.
    pub(super) expected: usize,
    /// Whether it may have fewer, because empty cells at the end are omitted.
    pub(super) may_be_less: bool,
    /// Whether it may have more, because there is no header and the last column repeats.
    pub(super) may_be_more: bool,
}

/// The texts of the first rows.
pub(super) struct Sample {
    pub(super) rows: Vec<Vec<String>>,
    /// Where each row begins, in bytes from the beginning of the text.
    pub(super) starts: Vec<usize>,
    /// Of each column, the texts with letters and all values.
    texts: Vec<(usize, usize)>,
}

impl Shape {
    /// Detects separator, quotes, header and width from the first rows.
    pub(super) fn find(feed: &Feed, settings: &Settings) -> Result<Self, ReadError> {
        let (head, charset) = (feed.rest(), feed.charset);
        let mut notes = Vec::new();
        let line_end = line_end(head);
        let (announced, announced_length) = announced(head);
        let skip = announced_length + lines(&head[announced_length..], settings.skip_first, line_end);
        let text = &head[skip..];
        let quote = match settings.quote {
            // No byte of a cell is NUL.
            Some('\0') => 0,
            Some(quote) => byte(quote, "quote", charset)?,
            None => find_quote(text, &mut notes),
        };
        let separator = match (settings.separator, announced) {
            (Some(separator), _) => byte(separator, "separator", charset)?,
            (None, Some(separator)) => {
                notes.push(format!("Separator {}: the first line says so (sep=).", sign(separator)));
                separator
            }
            (None, None) => find_separator(text, feed.is_all(), quote, line_end, &mut notes),
        };
        if separator == quote {
            return Err(ReadError::new(format!("The separator and the quote are both {}.", sign(quote))));
        }
        let mut dialect = Dialect { separator, quote, line_end, escape: 0 };
        if has_escapes(text, feed.is_all(), dialect) {
            dialect.escape = b'\\';
            notes.push("Escapes: \\ before a separator, a quote or a line break makes it part of the text.".to_owned());
        }
        Ok(Self::of_rows(feed, skip, dialect, settings, notes))
    }

    /// The shape of a spreadsheet, whose rows end with their last cell that is not empty.
    pub(super) fn of_sheet(feed: &Feed, settings: &Settings) -> Self {
        let skip = lines(feed.rest(), settings.skip_first, SHEET.line_end);
        let mut shape = Self::of_rows(feed, skip, SHEET, settings, Vec::new());
        shape.width.may_be_less = true;
        shape.width.may_be_more |= !shape.has_header;
        shape
    }

    /// The header and the width of rows, which are after the bytes to skip.
    fn of_rows(feed: &Feed, mut skip: usize, dialect: Dialect, settings: &Settings, mut notes: Vec<String>) -> Self {
        let mut sample = Sample::read(&feed.rest()[skip..], feed.is_all(), dialect, feed.charset);
        let mut skipped = 0;
        if settings.header.is_none()
            && settings.skip_first == 0
            && let Some(lines) = sample.take_preamble(&mut notes)
        {
            let length = sample.starts.first().copied().unwrap_or_default();
            skipped = lines_in(&feed.rest()[skip..skip + length], dialect.line_end);
            debug_assert!(skipped >= lines, "each row has a line");
            skip += length;
        }
        let has_header = match settings.header {
            Some(has_header) => has_header,
            None => sample.has_header(&mut notes),
        };
        let mut width = sample.width(has_header, &mut notes);
        if settings.ragged {
            let expected = if has_header { width.expected } else { sample.widest() };
            width = Width { expected, may_be_less: true, may_be_more: true };
        }
        let names = if has_header {
            header_names(sample.rows.first().map(Vec::as_slice).unwrap_or_default(), &mut notes)
        } else {
            (1..=width.expected).map(|position| position.to_string()).collect()
        };
        let data = &sample.rows[usize::from(has_header).min(sample.rows.len())..];
        let cleaner = Cleaner::new(data, dialect.escape != 0);
        let codes = sample.texts.iter().map(|(texts, all)| texts * 2 >= *all && *texts > 0).collect();
        Self { dialect, names, has_header, width, skip, skipped, codes, cleaner, notes }
    }
}

/// The byte that ends lines. Line breaks in quotes may be others.
fn line_end(text: &[u8]) -> u8 {
    let (mut is_quoted, mut returns, mut feeds) = (false, 0, 0);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => feeds += 1,
            b'\r' if !is_quoted && text.get(at + 1) != Some(&b'\n') => returns += 1,
            _ => {}
        }
    }
    let has = |byte: u8| memchr::memchr(byte, text).is_some();
    if (returns > 0 && feeds == 0) || (has(b'\r') && !has(b'\n')) { b'\r' } else { b'\n' }
}

/// Whether more rows have the usual number of cells, and fewer errors, if a backslash makes what follows it part of the text.
fn has_escapes(text: &[u8], is_all: bool, dialect: Dialect) -> bool {
    if memchr::memchr(b'\\', text).is_none() {
        return false;
    }
    let wrong = |dialect: Dialect| {
        let mut widths = Vec::new();
        let mut flaws = 0;
        each_row(text, is_all, dialect, |_, found, cells| {
            widths.push(cells.len());
            flaws += usize::from(found.flaw.is_some());
        });
        let (_, usual) = most_often(widths.iter().copied());
        widths.len() - usual + flaws
    };
    wrong(Dialect { escape: b'\\', ..dialect }) < wrong(dialect)
}

/// The number of lines of a text.
fn lines_in(text: &[u8], line_end: u8) -> usize {
    memchr::memchr_iter(line_end, text).count()
}

/// The length of the first lines of a text.
fn lines(text: &[u8], count: usize, line_end: u8) -> usize {
    text.split_inclusive(|byte| *byte == line_end).take(count).map(<[u8]>::len).sum()
}

/// The separator in a first line such as `sep=;`, as Excel writes it, and the length of that line.
fn announced(head: &[u8]) -> (Option<u8>, usize) {
    let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    let is_announced = head.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"sep="));
    match (head.get(4).copied().filter(|_| is_announced), head[..end].trim_ascii_end().len()) {
        // Trimming removes a tab.
        (Some(separator), 5) | (Some(separator @ b'\t'), 4) => (Some(separator), (end + 1).min(head.len())),
        _ => (None, 0),
    }
}

fn byte(letter: char, what: &str, charset: Charset) -> Result<u8, ReadError> {
    let byte = charset.byte(letter).filter(|byte| !b"\r\n\0".contains(byte));
    byte.ok_or_else(|| {
        let message = format!("The {what} {letter:?} cannot be one in a file of {}.", charset.name);
        ReadError::new(message).hint("Use an ASCII character, such as ; , | or a tab.".to_owned())
    })
}

/// A separator or a quote in messages.
pub(super) fn sign(byte: u8) -> String {
    match byte {
        b'\t' => "tab".to_owned(),
        byte if byte.is_ascii_graphic() => char::from(byte).to_string(),
        byte => format!("0x{byte:02X}"),
    }
}

/// Apostrophes are quotes only if they are around cells and quotation marks are not.
fn find_quote(text: &[u8], notes: &mut Vec<String>) -> u8 {
    let around = |quote: u8| text.windows(3).filter(|it| it[1] == quote && (is_edge(it[0]) != is_edge(it[2]))).count();
    let (marks, apostrophes) = (around(b'"'), around(b'\''));
    if marks == 0 && apostrophes >= 8 && apostrophes % 2 == 0 {
        notes.push("Quote ': cells are in apostrophes.".to_owned());
        b'\''
    } else {
        b'"'
    }
}

fn is_edge(byte: u8) -> bool {
    SEPARATORS.contains(&byte) || byte == b'\n' || byte == b'\r'
}

/// The separator with which most rows have the same number of cells.
fn find_separator(text: &[u8], is_all: bool, quote: u8, line_end: u8, notes: &mut Vec<String>) -> u8 {
    let mut best: Option<(u64, u8, usize, usize, usize)> = None;
    for separator in SEPARATORS {
        let dialect = Dialect { separator: *separator, quote, line_end, escape: 0 };
        let mut widths = Vec::new();
        each_row(text, is_all, dialect, |_, _, cells| widths.push(cells.len()));
        let (width, rows) = most_often(widths.iter().copied());
        if width < 2 {
            continue;
        }
        // More columns are better: a text may have one comma, but rarely nineteen.
        let score = 1_000_000 * rows as u64 / widths.len() as u64 * (width as u64 - 1) / width as u64;
        if best.is_none_or(|(score_so_far, ..)| score > score_so_far) {
            best = Some((score, *separator, width, rows, widths.len()));
        }
    }
    if let Some((_, separator, width, rows, all)) = best {
        let sign = sign(separator);
        notes.push(format!("Separator {sign}: with it, {rows} of the first {all} rows have {width} columns."));
        separator
    } else {
        notes.push("One column: most rows contain none of the usual separators (tab ; | ,).".to_owned());
        0
    }
}

/// Shows the first rows that are not empty, with the rest of the text from their beginning.
fn each_row(mut text: &[u8], is_all: bool, dialect: Dialect, mut show: impl FnMut(&[u8], RowEnd, &[CellSpan])) {
    let mut cells = Vec::new();
    let mut rows = 0;
    while rows < ROWS && !text.is_empty() {
        let Some(found) = dialect.row(text, is_all, &mut cells) else { break };
        if cells.iter().any(|cell| !text[cell.start..cell.end].trim_ascii().is_empty()) {
            show(text, found, &cells);
            rows += 1;
        }
        text = &text[found.length..];
    }
}

fn most_often(widths: impl Iterator<Item = usize>) -> (usize, usize) {
    let mut counts = FxHashMap::<usize, usize>::default();
    for width in widths {
        *counts.entry(width).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(width, count)| (*count, *width)).unwrap_or_default()
}

impl Sample {
    fn read(all: &[u8], is_all: bool, dialect: Dialect, charset: Charset) -> Self {
        let mut sample = Self { rows: Vec::new(), starts: Vec::new(), texts: Vec::new() };
        each_row(all, is_all, dialect, |text, _, cells| {
            let mut row = Vec::with_capacity(cells.len());
            sample.texts.resize(sample.texts.len().max(cells.len()), (0, 0));
            for (cell, (texts, values)) in cells.iter().zip(&mut sample.texts) {
                let mut cell = *cell;
                let kind = if dialect == SHEET { cell.take_mark(text) } else { CellKind::Text };
                let value = charset.text(&text[cell.start..cell.end]).0.trim().to_owned();
                let is_text = kind == CellKind::Text && value.contains(char::is_alphabetic);
                // The first row may be a header.
                *texts += usize::from(is_text && !sample.rows.is_empty());
                *values += usize::from(!value.is_empty() && !sample.rows.is_empty());
                row.push(value);
            }
            sample.rows.push(row);
            sample.starts.push(all.len() - text.len());
        });
        sample
    }

    /// Whether the first row is a header: its cells do not look like data, and do not recur below.
    pub(super) fn has_header(&self, notes: &mut Vec<String>) -> bool {
        let Some((first, rest)) = self.rows.split_first() else { return false };
        let looking = |row: &[String]| row.iter().filter(|cell| data(cell).is_some()).count();
        let below = most_often(rest.iter().map(|row| looking(row))).0;
        let of_them = first.iter().find_map(|cell| data(cell).map(|what| (cell, what)));
        let certain =
            first.iter().find_map(|cell| data(cell).filter(|what| what.is_certain()).map(|what| (cell, what)));
        let filled = first.iter().filter(|cell| !cell.is_empty()).count();
        let different = first.iter().filter(|cell| !cell.is_empty()).collect::<FxHashSet<_>>().len();
        let recurs = first.iter().enumerate().find(|(at, cell)| {
            !cell.is_empty()
                && rest.iter().take(200).filter(|row| row.get(*at) == Some(cell)).count() > rest.len().min(200) / 20
        });
        let without = if let Some((cell, what)) = certain.or(of_them.filter(|_| looking(first) * 5 > below)) {
            format!("{} in the first row is {}", quoted(cell), what.name())
        } else if filled * 2 < first.len() {
            "most cells of the first row are empty".to_owned()
        } else if different * 2 < filled {
            "most cells of the first row are the same".to_owned()
        } else if let Some((_, cell)) = recurs.filter(|_| below == 0) {
            format!("{} of the first row also occurs in the same column below", quoted(cell))
        } else {
            let cells = first.len();
            notes.push(match below {
                0 => format!("Header: the {cells} cells of the first row are different texts."),
                below => format!("Header: the {cells} cells of the first row are texts, while in most rows below {below} are numbers, dates, addresses and the like."),
            });
            return true;
        };
        notes.push(format!("No header: {without}. Columns are numbered from 1."));
        false
    }

    /// The sample from a row on.
    pub(super) fn below(&self, at: usize) -> Self {
        Self { rows: self.rows[at..].to_vec(), starts: self.starts[at..].to_vec(), texts: self.texts.clone() }
    }

    fn widest(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or_default()
    }

    fn width(&self, has_header: bool, notes: &mut Vec<String>) -> Width {
        let rows = &self.rows[usize::from(has_header).min(self.rows.len())..];
        let widest = rows.iter().map(Vec::len).max().unwrap_or_default();
        let (usual, count) = most_often(rows.iter().map(Vec::len));
        let named = self.rows.first().map_or(0, Vec::len);
        let expected = if has_header { named } else { usual };
        let short = rows.iter().filter(|row| row.len() < widest.min(expected.max(usual))).count();
        // A system that omits empty cells at the end writes none there, and many rows are short.
        let ends_empty = rows.iter().any(|row| row.len() > 1 && row.last().is_some_and(String::is_empty));
        let may_be_less = !ends_empty && short * 20 > rows.len() && rows.len() > 1;
        if has_header {
            if may_be_less {
                notes.push(format!(
                    "Rows may be short: {short} of the first {} omit empty cells at the end.",
                    rows.len()
                ));
            }
            return Width { expected, may_be_less, may_be_more: false };
        }
        let varies = !ends_empty && (rows.len() - count) * 5 > rows.len();
        if varies {
            notes.push(format!("Rows have up to {widest} columns: the number of trailing columns varies."));
            return Width { expected: widest, may_be_less: true, may_be_more: true };
        }
        Width { expected: usual, may_be_less, may_be_more: false }
    }
}

/// The names of columns; duplicates get a number, empty names their position.
fn header_names(cells: &[String], notes: &mut Vec<String>) -> Vec<String> {
    let mut taken: FxHashSet<String> = cells.iter().cloned().collect();
    let mut seen = FxHashSet::default();
    // The number that the next column of a name may get.
    let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
    let mut names = Vec::with_capacity(cells.len());
    for (at, cell) in cells.iter().enumerate() {
        let base = if cell.is_empty() { (at + 1).to_string() } else { cell.clone() };
        let mut name = base.clone();
        if seen.contains(&name) || (cell.is_empty() && taken.contains(&name)) {
            let number = numbers.entry(base.clone()).or_insert(2);
            while taken.contains(&name) {
                name = format!("{base} ({number})");
                *number += 1;
            }
            notes.push(format!(
                "Column {} is called {}, because its name in the header is a duplicate.",
                at + 1,
                quoted(&name)
            ));
        } else if cell.is_empty() {
            notes.push(format!("Column {} has no name in the header and is identified by its position.", at + 1));
        }
        taken.insert(name.clone());
        seen.insert(name.clone());
        names.push(name);
    }
    names
}
