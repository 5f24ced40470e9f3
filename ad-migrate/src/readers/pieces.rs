//! XML whose tags and texts have a limited length, because the parser keeps each as a whole.

use std::io::{self, BufRead, Read};

/// Longest tag or text, in bytes.
const LONGEST_PIECE: usize = 16 * 1024 * 1024;

/// Reads XML, and fails when a tag or text is longer than [`LONGEST_PIECE`].
#[derive(Debug)]
pub(super) struct Pieces<R> {
    inner: R,
    left: usize,
}

impl<R> Pieces<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, left: LONGEST_PIECE }
    }

    /// The next piece may have the full length.
    pub(super) fn begin(&mut self) -> &R {
        self.left = LONGEST_PIECE;
        &self.inner
    }

    pub(super) fn inner(&self) -> &R {
        &self.inner
    }
}

impl<R: BufRead> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Pieces<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(io::Error::other(format!("a tag or text is longer than {} MiB", LONGEST_PIECE >> 20)));
        }
        let available = self.inner.fill_buf()?;
        Ok(&available[..available.len().min(self.left)])
    }

    fn consume(&mut self, length: usize) {
        self.left = self.left.saturating_sub(length);
        self.inner.consume(length);
    }
}
