//! Verdicts that wait for the end of the file: a line of JSON each, in memory while they are few, then in a temporary file.

use std::io::{self, BufRead, BufReader, Seek, Write};

use tempfile::SpooledTempFile;

use super::Verdict;

/// Bytes that stay in memory.
const IN_MEMORY: usize = 4 * 1024 * 1024;

/// Verdicts that are being collected.
#[derive(Debug)]
pub(super) struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Self {
        Self(SpooledTempFile::new(IN_MEMORY))
    }
}

impl Spool {
    /// A verdict as it is kept.
    pub(super) fn line(verdict: &Verdict, to: &mut Vec<u8>) {
        serde_json::to_writer(&mut *to, verdict).expect("memory takes everything, and all keys of a verdict are texts");
        to.push(b'\n');
    }

    /// Keeps [lines](Self::line).
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub(super) fn add(&mut self, lines: &[u8]) -> io::Result<()> {
        self.0.write_all(lines)
    }

    /// Everything that was kept, in its order.
    ///
    /// # Errors
    /// When the temporary file cannot be read; so each verdict, later.
    pub(super) fn verdicts(mut self) -> io::Result<impl Iterator<Item = io::Result<Verdict>>> {
        self.0.rewind()?;
        let mut lines = BufReader::with_capacity(64 * 1024, self.0);
        let mut line = Vec::new();
        Ok(std::iter::from_fn(move || {
            line.clear();
            match lines.read_until(b'\n', &mut line) {
                Ok(0) => None,
                Ok(_) => Some(serde_json::from_slice(&line).map_err(io::Error::from)),
                Err(error) => Some(Err(error)),
            }
        }))
    }
}
