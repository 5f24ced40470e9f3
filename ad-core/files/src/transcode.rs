//! Another encoding, read as UTF-8.

use std::io::{self, Cursor, Read};

use encoding_rs::{DecoderResult, Encoding};

/// What to do with bytes that are invalid in the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The text, which is UTF-16, cannot be read.
    Fail,
    /// This byte stands for them.
    Mark(u8),
}

/// Appends the converted bytes of a block, the last of which is empty.
type Convert = dyn FnMut(&[u8], &mut Vec<u8>) -> io::Result<()> + Send;

/// Bytes in an encoding, as UTF-8.
#[derive(derive_more::Debug)]
pub struct Transcoded<R> {
    #[debug(skip)]
    bytes: R,
    #[debug(skip)]
    convert: Box<Convert>,
    #[debug(skip)]
    raw: Vec<u8>,
    /// Converted bytes that have not been read yet.
    #[debug(skip)]
    ready: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R: Read> Transcoded<R> {
    /// Reads on from bytes behind a byte order mark.
    pub fn new(bytes: R, encoding: &'static Encoding, malformed: Malformed) -> Self {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        Self::with(bytes, move |block, text| {
            let mut at = 0;
            loop {
                let written = text.len();
                // A byte becomes at most three bytes, after the rest of the last block.
                text.resize(written + 3 * (block.len() - at) + 16, 0);
                let (from, to) = (&block[at..], &mut text[written..]);
                let (result, taken, more) = decoder.decode_to_utf8_without_replacement(from, to, block.is_empty());
                at += taken;
                text.truncate(written + more);
                match (result, malformed) {
                    (DecoderResult::InputEmpty, _) => return Ok(()),
                    (DecoderResult::OutputFull, _) => {}
                    (DecoderResult::Malformed(..), Malformed::Mark(byte)) => text.push(byte),
                    (DecoderResult::Malformed(..), Malformed::Fail) => {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "it contains invalid UTF-16"));
                    }
                }
            }
        })
    }

    /// The same for an encoding without a decoder: the function appends the UTF-8 of each block, and gets an empty one at the end.
    pub fn with(bytes: R, convert: impl FnMut(&[u8], &mut Vec<u8>) -> io::Result<()> + Send + 'static) -> Self {
        let raw = vec![0; 64 * 1024];
        Self { bytes, convert: Box::new(convert), raw, ready: Cursor::default(), has_ended: false }
    }

    /// Reads and converts the next block.
    fn refill(&mut self) -> io::Result<()> {
        let read = self.bytes.read(&mut self.raw)?;
        self.has_ended = read == 0;
        let mut text = std::mem::take(&mut self.ready).into_inner();
        text.clear();
        (self.convert)(&self.raw[..read], &mut text)?;
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
