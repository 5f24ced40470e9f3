//! Another encoding, read as UTF-8.

use std::io::{self, Cursor, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

/// What to do with bytes that are invalid in the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The text, which is UTF-16, cannot be read.
    Fail,
    /// This byte stands for them.
    Mark(u8),
}

/// Bytes in an encoding, as UTF-8.
pub struct Transcoded<R> {
    bytes: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    malformed: Malformed,
    raw: Vec<u8>,
    /// Converted bytes that have not been read yet.
    ready: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R> std::fmt::Debug for Transcoded<R> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Transcoded").field("encoding", &self.encoding).finish_non_exhaustive()
    }
}

impl<R: Read> Transcoded<R> {
    /// Reads on from bytes behind a byte order mark.
    pub fn new(bytes: R, encoding: &'static Encoding, malformed: Malformed) -> Self {
        let decoder = encoding.new_decoder_without_bom_handling();
        let raw = vec![0; 64 * 1024];
        Self { bytes, encoding, decoder, malformed, raw, ready: Cursor::default(), has_ended: false }
    }

    /// Reads and converts the next block.
    fn refill(&mut self) -> io::Result<()> {
        let read = self.bytes.read(&mut self.raw)?;
        self.has_ended = read == 0;
        let mut text = std::mem::take(&mut self.ready).into_inner();
        text.clear();
        let mut at = 0;
        loop {
            let written = text.len();
            // A byte becomes at most three bytes, after the rest of the last block.
            text.resize(written + 3 * (read - at) + 16, 0);
            let (from, to) = (&self.raw[at..read], &mut text[written..]);
            let (result, taken, more) = self.decoder.decode_to_utf8_without_replacement(from, to, self.has_ended);
            at += taken;
            text.truncate(written + more);
            match (result, self.malformed) {
                (DecoderResult::InputEmpty, _) => break,
                (DecoderResult::OutputFull, _) => {}
                (DecoderResult::Malformed(..), Malformed::Mark(byte)) => text.push(byte),
                (DecoderResult::Malformed(..), Malformed::Fail) => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "it contains invalid UTF-16"));
                }
            }
        }
        self.ready = Cursor::new(text);
        Ok(())
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.ready.read(buffer)? {
                0 if !self.has_ended && !buffer.is_empty() => self.refill()?,
                read => return Ok(read),
            }
        }
    }
}
