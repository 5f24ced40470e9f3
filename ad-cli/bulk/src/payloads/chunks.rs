//! Cuts the stream between payloads: each chunk contains whole payloads and can be processed alone.
//!
//! NDJSON is cut at line breaks, which costs next to nothing, and an invalid line does not affect the next one. In arrays and for objects
//! over several lines, the end of each object has to be found; if that fails, the rest of the file cannot be read.

use std::{
    io::{self, Read},
    ops::Range,
};

use ad_core::rulebook::size::MOST_BYTES;
use ad_files::JsonEnd;

use super::{NotPayloads, Place, Source, is_space, source::is_object};

/// Bytes that are read at a time.
const BLOCK: usize = 256 * 1024;

/// Most payloads of a chunk. What is found about each takes memory, however short it is.
const MOST_PAYLOADS: usize = 500;

/// Closing braces after which a chunk of lines ends, because a line can have several payloads. A payload has about ten.
const MOST_BRACES: usize = 5 * MOST_PAYLOADS;

/// Most payloads of one line.
const MOST_ON_A_LINE: usize = 1000;

/// Maximum length of the text of one payload. Unlike at the service, white space counts.
const LONGEST: usize = 2 * MOST_BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    /// One after the other, over any number of lines.
    Objects,
    Array,
}

/// What comes next in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Start,
    FirstItem,
    Item,
    Comma,
    /// The array has been closed.
    End,
    /// The rest cannot be read.
    Nothing,
}

/// The payloads of a file, in chunks.
#[derive(derive_more::Debug)]
pub struct Chunks {
    name: String,
    #[debug(skip)]
    input: Box<dyn Read + Send>,
    form: Layout,
    next: Next,
    /// Bytes that belong to the next chunk.
    #[debug(skip)]
    carry: Vec<u8>,
    /// Where those begin in the file.
    place: Place,
    is_skipping: bool,
    /// Whether there are whole payloads among the bytes that belong to the next chunk.
    is_behind: bool,
    has_ended: bool,
}

/// A part of a file that holds whole payloads.
#[derive(Debug)]
pub struct Chunk {
    /// Its text. The buffer is reused for a later chunk.
    pub text: Vec<u8>,
    place: Place,
    /// The payloads; `None` when each line is one.
    framed: Option<Vec<Framed>>,
}

#[derive(Debug)]
struct Framed {
    range: Range<usize>,
    place: Place,
    problem: Option<&'static str>,
}

/// The text of one payload of a file, or of something that should be one.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// Its text, without white space around it.
    pub text: &'a [u8],
    /// Where it begins in the file.
    pub place: Place,
    /// Why it cannot be a payload.
    pub problem: Option<&'static str>,
}

const TOO_LONG_LINE: &str = "The line is longer than 2 MiB; one payload is at most 1 MiB.";
const TOO_MANY: &str =
    "The line has more than 1000 payloads; write each on a line of its own. The rest of the line is not read.";
const NO_END: &str =
    "No end of this payload within 2 MiB: a quote or bracket is probably not closed. The rest of the file is not read.";
const HALF: &str = "Truncated JSON: the file ends within this payload.";
const OPEN_ARRAY: &str = "Truncated JSON: the file ends before the array is closed with ].";
const NO_COMMA: &str = "Expected a comma between two payloads of the array.";
const ODD_COMMA: &str = "A comma without a payload before or after it.";
const AFTER: &str = "Unexpected text after the end of the array. The rest of the file is not read.";

impl Chunks {
    /// The payloads of a file from its beginning.
    pub fn new(source: Source) -> Self {
        let form = form(&source.head);
        Self {
            name: source.name,
            input: source.reader,
            form,
            next: Next::Start,
            carry: Vec::new(),
            place: Place::default(),
            is_skipping: false,
            is_behind: false,
            has_ended: false,
        }
    }

    /// The next chunk; `None` at the end of the file.
    ///
    /// # Errors
    /// When the file cannot be read on.
    pub fn next(&mut self, mut text: Vec<u8>) -> Result<Option<Chunk>, NotPayloads> {
        text.clear();
        text.append(&mut self.carry);
        if std::mem::take(&mut self.is_behind)
            && !text.is_empty()
            && let Some(chunk) = self.cut(&mut text)
        {
            return Ok(Some(chunk));
        }
        while !self.has_ended {
            let wanted = text.len() + BLOCK;
            let read = self.input.by_ref().take(BLOCK as u64).read_to_end(&mut text);
            read.map_err(|error| NotPayloads::Unreadable {
                name: format!("{}, line {}", self.name, self.place.line),
                reason: error.to_string(),
            })?;
            self.has_ended = text.len() < wanted;
            if let Some(chunk) = self.cut(&mut text) {
                return Ok(Some(chunk));
            }
        }
        Ok(if text.is_empty() { None } else { self.cut(&mut text) })
    }

    /// Shows each payload of the file, in order, until one fails.
    ///
    /// # Errors
    /// When the file cannot be read on, and those of `show`.
    pub fn try_each<E: From<NotPayloads>>(mut self, mut show: impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut text = Vec::new();
        while let Some(chunk) = self.next(text)? {
            let mut result = Ok(());
            chunk.each(|piece| {
                if result.is_ok() {
                    result = show(piece);
                }
            });
            result?;
            text = chunk.text;
        }
        Ok(())
    }

    /// Takes a chunk from the bytes that have been read; `None` if more bytes are needed.
    fn cut(&mut self, text: &mut Vec<u8>) -> Option<Chunk> {
        let (end, framed) = match self.form {
            Layout::Lines => self.cut_lines(text)?,
            Layout::Objects | Layout::Array => {
                let (end, framed) = self.frame(text);
                if framed.is_empty() && !self.has_ended && end == 0 {
                    return None;
                }
                (end, Some(framed))
            }
        };
        self.carry.extend_from_slice(&text[end..]);
        text.truncate(end);
        let place = self.place;
        self.place = place.after(text);
        if self.next == Next::Nothing {
            (self.has_ended, self.input) = (true, Box::new(io::empty()));
            self.carry.clear();
        }
        Some(Chunk { text: std::mem::take(text), place, framed })
    }

    fn cut_lines(&mut self, text: &mut Vec<u8>) -> Option<(usize, Option<Vec<Framed>>)> {
        if self.is_skipping {
            let end = memchr::memchr(b'\n', text);
            self.place = self.place.after(&text[..end.unwrap_or(text.len())]);
            text.drain(..end.unwrap_or(text.len()));
            self.is_skipping = end.is_none();
            if self.is_skipping {
                return None;
            }
        }
        if let Some(end) = end_of_enough(text) {
            self.is_behind = true;
            return Some((end, None));
        }
        match memchr::memrchr(b'\n', text) {
            _ if self.has_ended => Some((text.len(), None)),
            Some(last) => Some((last + 1, None)),
            None if text.len() > LONGEST => {
                self.is_skipping = true;
                let framed = Framed { range: 0..0, place: self.place, problem: Some(TOO_LONG_LINE) };
                Some((text.len(), Some(vec![framed])))
            }
            None => None,
        }
    }

    /// Finds the payloads in a text, and the length of their part of it.
    fn frame(&mut self, text: &[u8]) -> (usize, Vec<Framed>) {
        let mut frames = Frames { text, at: 0, found: Vec::new(), known: (0, self.place) };
        while self.next != Next::Nothing {
            if !frames.skip_space() {
                if self.has_ended && self.form == Layout::Array && self.next != Next::End {
                    frames.problem(OPEN_ARRAY);
                    self.next = Next::Nothing;
                }
                break;
            }
            if frames.found.len() >= MOST_PAYLOADS {
                self.is_behind = true;
                break;
            }
            if self.next == Next::End {
                frames.problem(AFTER);
                self.next = Next::Nothing;
            } else if self.form != Layout::Array || !self.step(&mut frames) {
                match frames.item(self.has_ended) {
                    Some(next) => self.next = next,
                    None => break,
                }
            }
        }
        if self.next == Next::Nothing {
            frames.at = text.len();
        }
        (frames.at, frames.found)
    }

    /// Reads what separates the items of an array; whether an item still has to be read here.
    fn step(&mut self, frames: &mut Frames<'_>) -> bool {
        let byte = frames.text[frames.at];
        let problem;
        (self.next, problem) = match (self.next, byte) {
            (Next::Start, _) => (Next::FirstItem, None),
            (Next::Comma, b',') => (Next::Item, None),
            (Next::Comma | Next::FirstItem, b']') => (Next::End, None),
            (Next::Item, b']') => (Next::End, Some(ODD_COMMA)),
            (Next::Item | Next::FirstItem, b',') => (Next::Item, Some(ODD_COMMA)),
            (Next::Comma, _) => {
                frames.problem(NO_COMMA);
                self.next = Next::Item;
                return false;
            }
            _ => return false,
        };
        if let Some(problem) = problem {
            frames.problem(problem);
        }
        frames.at += 1;
        true
    }
}

/// A search for the ends of payloads that are not one a line.
struct Frames<'a> {
    text: &'a [u8],
    at: usize,
    found: Vec<Framed>,
    /// An offset with its line and column in the file.
    known: (usize, Place),
}

impl Frames<'_> {
    /// Skips white space; `false` at the end of the text.
    fn skip_space(&mut self) -> bool {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
        self.at < self.text.len()
    }

    fn push(&mut self, range: Range<usize>, problem: Option<&'static str>) {
        let (known, place) = self.known;
        let place = place.after(&self.text[known..range.start]);
        self.known = (range.start, place);
        self.found.push(Framed { range, place, problem });
    }

    fn problem(&mut self, problem: &'static str) {
        self.push(self.at..self.at, Some(problem));
    }

    /// Takes the value that begins here as a payload, and returns what follows it; `None` if more bytes are needed.
    fn item(&mut self, is_all: bool) -> Option<Next> {
        let rest = &self.text[self.at..];
        if let Some(length) = JsonEnd::of(rest) {
            // A closing bracket or comma without a value.
            let problem = b"}],:".contains(&rest[0]).then_some("Expected a payload here: {…}.");
            self.push(self.at..self.at + length, problem);
            self.at += length;
            return Some(Next::Comma);
        }
        let problem = match rest[0] {
            _ if is_all => HALF,
            _ if rest.len() > LONGEST => NO_END,
            _ => return None,
        };
        self.push(self.at..self.text.len(), Some(problem));
        self.at = self.text.len();
        Some(Next::Nothing)
    }
}

/// The layout of a file that begins like this.
fn form(head: &[u8]) -> Layout {
    let start = head.trim_ascii_start();
    if start.first() == Some(&b'[') {
        return Layout::Array;
    }
    // The last line here may be incomplete, and the last line of the file may have no line break.
    let lines: Vec<_> = start
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|line| !line.is_empty())
        .take(5)
        .collect();
    match lines.as_slice() {
        // A line with only an opening bracket begins an object over several lines.
        [b"{" | b"[", ..] => Layout::Objects,
        lines if lines.iter().any(|line| is_object(line)) => Layout::Lines,
        _ => Layout::Objects,
    }
}

impl Chunk {
    /// Shows each payload, in order.
    pub fn each<'a>(&'a self, mut show: impl FnMut(Piece<'a>)) {
        match &self.framed {
            Some(framed) => framed.iter().for_each(|it| {
                show(Piece { text: &self.text[it.range.clone()], place: it.place, problem: it.problem });
            }),
            None => lines(&self.text, self.place, show),
        }
    }
}

/// Where a chunk ends, if a text has more lines, or lines with more payloads, than a chunk should have.
fn end_of_enough(text: &[u8]) -> Option<usize> {
    let (mut lines, mut braces) = (0, 0);
    let mut marks = memchr::memchr2_iter(b'\n', b'}', text);
    let end = marks.find(|at| {
        if text[*at] == b'}' {
            braces += 1;
            return false;
        }
        lines += 1;
        lines >= MOST_PAYLOADS || braces >= MOST_BRACES
    })?;
    Some(end + 1).filter(|end| *end < text.len())
}

fn lines<'a>(text: &'a [u8], from: Place, mut show: impl FnMut(Piece<'a>)) {
    let (mut start, mut line) = (0, from.line);
    for end in memchr::memchr_iter(b'\n', text).chain((text.last() != Some(&b'\n')).then_some(text.len())) {
        let whole = &text[start..end];
        let text = whole.trim_ascii_start();
        let indent = whole.len() - text.len();
        let column = if line == from.line { from.column } else { 1 } + indent as u64;
        let text = text.trim_ascii_end();
        if !text.is_empty() {
            one_or_more(Piece { text, place: Place { line, column }, problem: None }, &mut show);
        }
        (start, line) = (end + 1, line + 1);
    }
}

/// Nearly always a line is one object. It has several where line breaks are missing.
fn one_or_more<'a>(line: Piece<'a>, show: &mut impl FnMut(Piece<'a>)) {
    let mut rest = line;
    // If no second object begins on the line, the line is one object. That is looked for once, not behind each of them.
    if memchr::memmem::find(rest.text, b"}{").is_none() && memchr::memmem::find(rest.text, b"} {").is_none() {
        return show(rest);
    }
    for number in 1.. {
        let Some(length) = JsonEnd::of(rest.text).filter(|length| *length < rest.text.len()) else { break };
        let (first, behind) = rest.text.split_at(length);
        let next = behind.trim_ascii_start();
        if next.first() != Some(&b'{') {
            break;
        }
        show(Piece { text: first, ..rest });
        let place = rest.place.after(first).after(&behind[..behind.len() - next.len()]);
        rest = Piece { text: next, place, problem: None };
        if number == MOST_ON_A_LINE {
            rest = Piece { text: &next[..0], problem: Some(TOO_MANY), ..rest };
            break;
        }
    }
    show(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time, as a pipe may.
    struct Slowly(Vec<u8>, usize);

    impl Read for Slowly {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1).min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    /// `line:column text`, or the problem.
    fn read(text: &str) -> Vec<String> {
        let mut chunks = Chunks::new(Source::of("test", Slowly(text.as_bytes().to_vec(), 70_000)).unwrap());
        let mut seen = Vec::new();
        while let Some(chunk) = chunks.next(Vec::new()).unwrap() {
            chunk.each(|piece| {
                let what =
                    piece.problem.map_or_else(|| String::from_utf8_lossy(piece.text).into_owned(), str::to_owned);
                seen.push(format!("{}:{} {what}", piece.place.line, piece.place.column));
            });
        }
        seen
    }

    #[test]
    fn lines_are_payloads_and_a_broken_one_harms_no_other() {
        assert_eq!(read("{\"a\":1}\r\n\n  {\"b\":2}"), ["1:1 {\"a\":1}", "3:3 {\"b\":2}"]);
        assert_eq!(read("{\"a\":1\n{\"b\":2}\n]\n"), ["1:1 {\"a\":1", "2:1 {\"b\":2}", "3:1 ]"]);
        assert_eq!(read("# stock\n{\"b\":2}\n"), ["1:1 # stock", "2:1 {\"b\":2}"]);
        assert_eq!(
            read("{\"a\":\"å}{\"} {\"b\":2}{}\n{}"),
            ["1:1 {\"a\":\"å}{\"}", "1:13 {\"b\":2}", "1:20 {}", "2:1 {}"]
        );
    }

    #[test]
    fn objects_may_spread_over_lines() {
        assert_eq!(read("{\n \"a\": {}\n}\n"), ["1:1 {\n \"a\": {}\n}"]);
        assert_eq!(read("{\n \"a\": {}\n} {\n}\n"), ["1:1 {\n \"a\": {}\n}", "3:3 {\n}"]);
        assert_eq!(read("{\n \"a\": {}\n},\n{\n}")[1], "3:2 Expected a payload here: {…}.");
        assert_eq!(read("{\n \"a\": {}\n}\n{\n"), ["1:1 {\n \"a\": {}\n}".to_owned(), format!("4:1 {HALF}")]);
    }

    #[test]
    fn arrays_hold_payloads_and_say_where_they_break() {
        assert_eq!(
            read(" [{\"a\": [1]}, {}\n,{\"å\":1} , {}]\n"),
            ["1:3 {\"a\": [1]}", "1:15 {}", "2:2 {\"å\":1}", "2:12 {}"]
        );
        assert!(read("[]").is_empty());
        assert_eq!(read("[{}, 12, \"x\", [{}]]"), ["1:2 {}", "1:6 12", "1:10 \"x\"", "1:15 [{}]"]);
        assert_eq!(read("[{} {}]"), ["1:2 {}".to_owned(), format!("1:5 {NO_COMMA}"), "1:5 {}".to_owned()]);
        assert_eq!(read("[{},]"), ["1:2 {}".to_owned(), format!("1:5 {ODD_COMMA}")]);
        assert_eq!(read("[{},\n {\"a\": "), ["1:2 {}".to_owned(), format!("2:2 {HALF}")]);
        assert_eq!(read("[{}\n"), ["1:2 {}".to_owned(), format!("2:1 {OPEN_ARRAY}")]);
        assert_eq!(read("[{}]\n{}"), ["1:2 {}".to_owned(), format!("2:1 {AFTER}")]);
        assert_eq!(
            read("[{}}, {}]"),
            [
                "1:2 {}".to_owned(),
                format!("1:4 {NO_COMMA}"),
                "1:4 Expected a payload here: {…}.".to_owned(),
                "1:7 {}".to_owned()
            ]
        );
    }

    /// The number of payloads of each chunk, and the problems among them.
    fn counted(text: &str) -> (Vec<usize>, Vec<&'static str>) {
        let mut chunks = Chunks::new(Source::of("test", Slowly(text.as_bytes().to_vec(), 70_000)).unwrap());
        let (mut counts, mut problems) = (Vec::new(), Vec::new());
        while let Some(chunk) = chunks.next(Vec::new()).unwrap() {
            let mut count = 0;
            chunk.each(|piece| {
                count += 1;
                problems.extend(piece.problem);
            });
            counts.push(count);
        }
        (counts, problems)
    }

    #[test]
    fn a_chunk_has_a_bounded_number_of_payloads_however_short_they_are() {
        let array = format!("[{}{{}}]", "{},".repeat(199_999));
        for text in ["{}\n".repeat(200_000), "{}".repeat(200_000), "{}{} {}\n".repeat(70_000), array] {
            let (counts, problems) = counted(&text);
            let all = if text.contains(' ') { 210_000 } else { 200_000 };
            assert_eq!((counts.iter().sum::<usize>(), problems), (all, Vec::new()), "{text:.20}");
            assert!(counts.iter().all(|count| *count <= MOST_BRACES + 3), "{text:.20} {counts:?}");
        }
        // A line is not longer than 2 MiB, and has so many payloads at most.
        for glued in ["{}", "{} "] {
            let (counts, problems) = counted(&format!("{{}}\n{}\n{{}}\n", glued.repeat(500_000)));
            assert_eq!((counts.iter().sum::<usize>(), problems), (MOST_ON_A_LINE + 3, vec![TOO_MANY]));
        }
        // What is wrong at the end of a file is told, also where the last chunk is full.
        let (counts, problems) = counted(&format!("[{}", "{},".repeat(MOST_PAYLOADS)));
        assert_eq!((counts.iter().sum::<usize>(), problems), (MOST_PAYLOADS + 1, vec![OPEN_ARRAY]));
    }

    #[test]
    fn places_stay_right_over_any_number_of_chunks() {
        let payload =
            |index: usize| format!("{{\"source_id\":\"å-{index}\",\"body\":\"{}\"}}", "x".repeat(index % 400));
        let count = 5_000;
        for (before, between, behind, lines) in
            [("", "\n", "\n", 1), ("[", ", ", "]", 0), ("[\n", ",\n", "\n]", 1), ("{\n}\n", "\n", "", 1)]
        {
            let text = before.to_owned() + &(0..count).map(payload).collect::<Vec<_>>().join(between) + behind;
            let seen = read(&text);
            let seen = if before.starts_with('{') { &seen[1..] } else { &seen[..] };
            assert_eq!(seen.len(), count, "{before:?}");
            let mut place = Place::default().after(before.as_bytes());
            for (index, seen) in seen.iter().enumerate() {
                assert_eq!(*seen, format!("{}:{} {}", place.line, place.column, payload(index)));
                place = place.after(payload(index).as_bytes()).after(between.as_bytes());
            }
            assert_eq!(lines > 0, place.line > 1);
        }
    }

    #[test]
    fn what_has_no_end_is_not_kept_in_memory() {
        let long = "x".repeat(LONGEST + 3 * BLOCK);
        let lines = format!("{{}}\n{{\"a\":\"{long}\"}}\n{{\"b\":1}}\n");
        assert_eq!(read(&lines), ["1:1 {}".to_owned(), format!("2:1 {TOO_LONG_LINE}"), "3:1 {\"b\":1}".to_owned()]);
        let array = format!("[{{}},\n{{\"a\": \"{long}");
        let array = format!("{array}{long}{long}");
        assert_eq!(read(&array), ["1:2 {}".to_owned(), format!("2:1 {NO_END}")]);
    }
}
