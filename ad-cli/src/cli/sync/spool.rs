//! Texts that are needed again later, kept in a temporary file: a stock may be larger than memory should be.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use serde_json::{Map, Value};

use crate::cli::Failure;

/// The temporary file.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    end: u64,
}

/// Where a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    start: u64,
    length: usize,
}

impl Spool {
    /// An empty one.
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self { file: tempfile::tempfile().map_err(|error| no_temporary(&error))?, end: 0 })
    }

    /// Keeps a text.
    pub(super) fn keep(&mut self, text: &[u8]) -> Result<Kept, Failure> {
        let kept = Kept { start: self.end, length: text.len() };
        let written = self.file.seek(SeekFrom::Start(self.end)).and_then(|_| self.file.write_all(text));
        written.map_err(|error| no_temporary(&error))?;
        self.end += text.len() as u64;
        Ok(kept)
    }

    /// Keeps an object.
    pub(super) fn keep_object(&mut self, object: &Map<String, Value>) -> Result<Kept, Failure> {
        let text = serde_json::to_vec(object).map_err(io::Error::other)?;
        self.keep(&text)
    }

    /// A text as it was kept.
    pub(super) fn text(&mut self, kept: Kept) -> Result<Vec<u8>, Failure> {
        let mut text = vec![0; kept.length];
        let read = self.file.seek(SeekFrom::Start(kept.start)).and_then(|_| self.file.read_exact(&mut text));
        read.map_err(|error| no_temporary(&error))?;
        Ok(text)
    }

    /// An object as it was kept.
    pub(super) fn object(&mut self, kept: Kept) -> Result<Map<String, Value>, Failure> {
        let text = self.text(kept)?;
        serde_json::from_slice(&text).map_err(|error| no_temporary(&io::Error::other(error)))
    }
}

fn no_temporary(error: &io::Error) -> Failure {
    Failure::failed(format!("cannot create a temporary file for the stock: {error}"))
        .hint("set TMPDIR to a folder with free space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were_in_any_order() {
        let mut spool = Spool::new().unwrap();
        let first = spool.keep(b"{\"a\":1}").unwrap();
        let second = spool.keep("{\"å\":2}".as_bytes()).unwrap();
        assert_eq!(spool.text(second).unwrap(), "{\"å\":2}".as_bytes());
        assert_eq!(spool.object(first).unwrap()["a"], 1);
        let third = spool.keep(b"{}").unwrap();
        assert_eq!(spool.object(second).unwrap()["å"], 2);
        assert!(spool.object(third).unwrap().is_empty());
    }
}
