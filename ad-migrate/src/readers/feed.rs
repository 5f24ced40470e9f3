//! A window on the bytes of a file, with its position, for the parsers.

use std::io::{self, BufRead, Read};

use super::{ReadError, encoding::Charset};

/// Bytes that are read at a time.
const BLOCK: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Number of the line, from 1.
    pub(super) line: u64,
    /// Position in the line, in bytes, from 1.
    pub(super) column: u64,
}

impl Place {
    /// The place after a text that begins here.
    pub(super) fn after(self, text: &[u8]) -> Self {
        self.after_lines(text, b'\n')
    }

    /// The same, where another byte ends lines.
    fn after_lines(self, text: &[u8], line_end: u8) -> Self {
        match memchr::memrchr(line_end, text) {
            None => Self { column: self.column + text.len() as u64, ..self },
            Some(last) => {
                let lines = memchr::memchr_iter(line_end, text).count() as u64;
                Self { line: self.line + lines, column: (text.len() - last) as u64 }
            }
        }
    }
}

/// A file that is read from its beginning to its end.
#[derive(derive_more::Debug)]
pub(super) struct Feed {
    /// The encoding of the file, from which its bytes may have been converted.
    pub(super) charset: Charset,
    #[debug(skip)]
    input: Box<dyn Read + Send>,
    #[debug(skip)]
    buffer: Vec<u8>,
    /// Start of the bytes in the buffer that are not skipped yet.
    start: usize,
    has_ended: bool,
    failed: Option<io::Error>,
    place: Place,
    /// The byte by which lines are counted from here on.
    pub(super) line_end: u8,
}

impl Feed {
    pub(super) fn new(input: Box<dyn Read + Send>, charset: Charset) -> Self {
        let place = Place { line: 1, column: 1 };
        Self { charset, input, buffer: Vec::new(), start: 0, has_ended: false, failed: None, place, line_end: b'\n' }
    }

    /// The place of a byte of the rest.
    pub(super) fn place_of(&self, at: usize) -> Place {
        self.place.after_lines(&self.rest()[..at], self.line_end)
    }

    /// The bytes that have been read and not skipped.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The position of their beginning.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Whether they reach to the end of the file.
    pub(super) fn is_all(&self) -> bool {
        self.has_ended
    }

    /// Reads more bytes; `false` at the end of the file.
    pub(super) fn more(&mut self) -> bool {
        if self.has_ended {
            return false;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let before = self.buffer.len();
        match self.input.by_ref().take(BLOCK as u64).read_to_end(&mut self.buffer) {
            Ok(read) => self.has_ended = read < BLOCK,
            Err(error) => (self.has_ended, self.failed) = (true, Some(error)),
        }
        self.buffer.len() > before
    }

    /// Reads until so many bytes are in the window, or all.
    pub(super) fn look(&mut self, length: usize) {
        while self.rest().len() < length && self.more() {}
    }

    /// Skips bytes of the window.
    pub(super) fn skip(&mut self, length: usize) {
        let length = length.min(self.rest().len());
        self.place = self.place.after_lines(&self.buffer[self.start..self.start + length], self.line_end);
        self.start += length;
    }

    /// Skips to the beginning of the next line.
    pub(super) fn skip_line(&mut self, line_end: u8) {
        loop {
            if let Some(end) = memchr::memchr(line_end, self.rest()) {
                return self.skip(end + 1);
            }
            self.skip(self.rest().len());
            if !self.more() {
                return;
            }
        }
    }

    /// Whether the file could not be read to its end, so that the rest may be part of a row.
    pub(super) fn is_cut(&self) -> bool {
        self.failed.is_some()
    }

    /// # Errors
    /// Once, if the file could not be read to its end.
    pub(super) fn check(&mut self) -> Result<(), ReadError> {
        match self.failed.take() {
            None => Ok(()),
            Some(error) => {
                let line = self.place_of(self.rest().len()).line;
                Err(ReadError::io(&error, &format!("The file cannot be read any further in line {line}")))
            }
        }
    }
}

impl Read for Feed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.skip(read);
        Ok(read)
    }
}

impl BufRead for Feed {
    /// The bytes that have been read and not skipped; if there are none, reads more.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest().is_empty()
            && !self.more()
            && let Some(error) = self.failed.take()
        {
            return Err(error);
        }
        Ok(self.rest())
    }

    fn consume(&mut self, length: usize) {
        self.skip(length);
    }
}
