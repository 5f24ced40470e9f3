//! Stores texts for later: in memory up to a limit, beyond it in a temporary file.

use std::{
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    marker::PhantomData,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use tempfile::SpooledTempFile;

const IN_MEMORY: usize = 4 * 1024 * 1024;

/// Texts that are being collected.
#[derive(Debug)]
pub struct Spool {
    file: SpooledTempFile,
    end: u64,
}

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Bytes before it.
    pub start: u64,
    /// Bytes of it.
    pub length: usize,
}

impl Default for Spool {
    fn default() -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), end: 0 }
    }
}

impl Spool {
    /// Adds a text.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add(&mut self, text: &[u8]) -> io::Result<Span> {
        let span = Span { start: self.end, length: text.len() };
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(text)?;
        self.end += text.len() as u64;
        Ok(span)
    }

    /// Adds a value as a line of JSON.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_line(&mut self, value: &impl Serialize) -> io::Result<Span> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.add(&line)
    }

    /// A text as it was added.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn text(&mut self, span: Span) -> io::Result<Vec<u8>> {
        let mut text = vec![0; span.length];
        self.file.seek(SeekFrom::Start(span.start))?;
        self.file.read_exact(&mut text)?;
        Ok(text)
    }

    /// An object as it was added.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn object(&mut self, span: Span) -> io::Result<Map<String, Value>> {
        Ok(serde_json::from_slice(&self.text(span)?)?)
    }

    /// All values that were added as lines, in order.
    ///
    /// # Errors
    /// When the temporary file cannot be read; so each value, later.
    pub fn lines<T: DeserializeOwned>(&mut self) -> io::Result<Lines<&mut SpooledTempFile, T>> {
        self.file.rewind()?;
        Ok(Lines::of(&mut self.file))
    }
}

/// Values that were added as lines.
#[derive(Debug)]
pub struct Lines<R, T> {
    file: BufReader<R>,
    line: Vec<u8>,
    of: PhantomData<fn() -> T>,
}

impl<R: Read, T> Lines<R, T> {
    fn of(file: R) -> Self {
        Self { file: BufReader::with_capacity(64 * 1024, file), line: Vec::new(), of: PhantomData }
    }
}

impl<R: Read, T: DeserializeOwned> Iterator for Lines<R, T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line.clear();
        match self.file.read_until(b'\n', &mut self.line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_slice(&self.line).map_err(io::Error::from)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// A queue of any length, first in, first out.
#[derive(Debug)]
pub struct Queue<T> {
    reading: Option<Lines<SpooledTempFile, T>>,
    writing: Spool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { reading: None, writing: Spool::default() }
    }
}

impl<T: Serialize + DeserializeOwned> Queue<T> {
    /// Adds a value at the end.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn push(&mut self, value: &T) -> io::Result<()> {
        self.writing.add_line(value).map(drop)
    }

    /// Takes the first value.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn pop(&mut self) -> io::Result<Option<T>> {
        if let Some(value) = self.reading.as_mut().and_then(Iterator::next) {
            return value.map(Some);
        }
        // Frees the disk space of entries that were read.
        let mut file = std::mem::take(&mut self.writing).file;
        file.rewind()?;
        let mut lines = Lines::of(file);
        let first = lines.next().transpose();
        self.reading = Some(lines);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were_in_any_order() {
        let mut spool = Spool::default();
        let first = spool.add(b"{\"a\":1}").unwrap();
        let second = spool.add("{\"å\":2}".as_bytes()).unwrap();
        assert_eq!(spool.text(second).unwrap(), "{\"å\":2}".as_bytes());
        assert_eq!(spool.object(first).unwrap()["a"], 1);
        let third = spool.add(b"{}").unwrap();
        assert_eq!(spool.object(second).unwrap()["å"], 2);
        assert!(spool.object(third).unwrap().is_empty());
    }

    #[test]
    fn a_queue_hands_out_what_was_put_in_first() {
        let mut queue = Queue::default();
        assert_eq!(queue.pop().unwrap(), None::<String>);
        let long = "x".repeat(IN_MEMORY / 3);
        for round in 0..3 {
            for number in 0..7 {
                queue.push(&format!("{round}-{number}-{long}")).unwrap();
            }
            for number in 0..7 {
                let again = queue.pop().unwrap().unwrap();
                assert_eq!(again, format!("{round}-{number}-{long}"));
                queue.push(&again).unwrap();
            }
            for number in 0..7 {
                assert_eq!(queue.pop().unwrap(), Some(format!("{round}-{number}-{long}")));
            }
        }
        assert_eq!(queue.pop().unwrap(), None);
    }
}
