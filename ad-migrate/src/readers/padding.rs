//! Leaves out what fills a file up behind its last line: the end mark of DOS (0x1A), and NULs of a file that was created with a size.

use std::io::{self, Read};

const BLOCK: usize = 64 * 1024;

/// Most runs of equal bytes that are kept back until it is known whether anything follows.
const MOST_RUNS: usize = 1000;

/// The bytes of a file without its padding.
pub(super) struct Unpadded<R> {
    inner: R,
    block: Vec<u8>,
    /// The bytes of the block that have not been read.
    ready: (usize, usize),
    /// Runs of padding before these bytes.
    before: Vec<(u8, u64)>,
    /// Runs of padding so far with nothing behind them.
    held: Vec<(u8, u64)>,
}

impl<R: Read> Unpadded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, block: vec![0; BLOCK], ready: (0, 0), before: Vec::new(), held: Vec::new() }
    }

    /// Reads the next block with something else than padding; `false` at the end.
    fn refill(&mut self) -> io::Result<bool> {
        loop {
            let read = self.inner.read(&mut self.block)?;
            if read == 0 {
                return Ok(false);
            }
            let text = &self.block[..read];
            let end = text.iter().rposition(|byte| !is_padding(*byte)).map_or(0, |last| last + 1);
            let is_too_much = self.held.len() >= MOST_RUNS;
            if end > 0 || is_too_much {
                self.before = std::mem::take(&mut self.held);
                self.before.reverse();
                self.ready = (0, if is_too_much { read } else { end });
            }
            for byte in &text[if is_too_much { read } else { end }..] {
                match self.held.last_mut() {
                    Some((last, count)) if last == byte => *count += 1,
                    _ => self.held.push((*byte, 1)),
                }
            }
            if self.ready.0 < self.ready.1 {
                return Ok(true);
            }
        }
    }
}

/// Whether a byte may be padding.
pub(super) fn is_padding(byte: u8) -> bool {
    matches!(byte, 0 | 0x1A)
}

impl<R: Read> Read for Unpadded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || (self.before.is_empty() && self.ready.0 == self.ready.1 && !self.refill()?) {
            return Ok(0);
        }
        if let Some((byte, count)) = self.before.last_mut() {
            let length = usize::try_from(*count).unwrap_or(usize::MAX).min(buffer.len());
            buffer[..length].fill(*byte);
            *count -= length as u64;
            if *count == 0 {
                self.before.pop();
            }
            return Ok(length);
        }
        let (start, end) = self.ready;
        let length = (end - start).min(buffer.len());
        buffer[..length].copy_from_slice(&self.block[start..start + length]);
        self.ready.0 += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        Unpadded::new(bytes).read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn padding_is_left_out_behind_the_last_line_only() {
        for (bytes, text) in [
            (&b"a\r\n\x1a"[..], &b"a\r\n"[..]),
            (b"a\n\0\0\x1a\0", b"a\n"),
            (b"a\0b\x1ac", b"a\0b\x1ac"),
            (b"\0\0", b""),
            (b"", b""),
        ] {
            assert_eq!(read(bytes), text);
        }
        let long = [b"x".repeat(BLOCK - 1), b"\0".repeat(3 * BLOCK), b"y".to_vec()].concat();
        assert_eq!(read(&long), long);
        assert_eq!(read(&[long.clone(), b"\0".repeat(3 * BLOCK)].concat()), long);
        let mixed = [b"x".to_vec(), b"\0\x1a".repeat(3 * BLOCK), b"y".to_vec()].concat();
        assert_eq!(read(&mixed), mixed);
    }
}
