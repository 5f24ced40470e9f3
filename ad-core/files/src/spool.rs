//! Stores texts for later: in memory up to a limit, beyond it in a temporary file.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

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

/// The position of a text in a [`Spool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Number of bytes before it.
    pub start: u64,
    /// Its length in bytes.
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
    pub fn lines<T: DeserializeOwned>(&mut self) -> io::Result<impl Iterator<Item = io::Result<T>>> {
        self.file.rewind()?;
        let lines = BufReader::with_capacity(64 * 1024, &mut self.file).split(b'\n');
        Ok(lines.map(|line| Ok(serde_json::from_slice(&line?)?)))
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
}
