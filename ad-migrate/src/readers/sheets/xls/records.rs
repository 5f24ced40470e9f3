//! The records of a workbook, and the numbers and texts in them.

use std::{
    fs::File,
    io::{self, BufReader, Read},
};

use crate::readers::encoding::Charset;

pub(super) const BOF: u16 = 0x0809;
pub(super) const END: u16 = 0x000A;
pub(super) const CONTINUE: u16 = 0x003C;

type Stream = cfb::Stream<File>;

/// How texts are encoded: in Unicode (BIFF8), or in bytes of a code page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts {
    pub(super) is_unicode: bool,
    pub(super) charset: Charset,
}

/// The records of a stream, one by one.
pub(super) struct Records {
    pub(super) stream: BufReader<Stream>,
    /// The data of the current one.
    pub(super) data: Vec<u8>,
    /// The number of a record whose data has been read too early.
    pub(super) next: Option<u16>,
}

impl Records {
    /// The number of the next record; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<u16>> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        let mut head = [0; 4];
        if self.stream.read(&mut head[..1])? == 0 {
            return Ok(None);
        }
        self.stream.read_exact(&mut head[1..])?;
        self.data.resize(u16::from_le_bytes([head[2], head[3]]).into(), 0);
        self.stream.read_exact(&mut self.data)?;
        Ok(Some(u16::from_le_bytes([head[0], head[1]])))
    }
}

pub(super) fn too_short() -> io::Error {
    io::Error::other("a record is too short")
}

pub(super) fn at(data: &[u8], at: usize) -> io::Result<u8> {
    data.get(at).copied().ok_or_else(too_short)
}

pub(super) fn bytes<const N: usize>(data: &[u8], at: usize) -> io::Result<[u8; N]> {
    data.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).ok_or_else(too_short)
}

pub(super) fn u16_at(data: &[u8], at: usize) -> io::Result<u16> {
    bytes(data, at).map(u16::from_le_bytes)
}

pub(super) fn u32_at(data: &[u8], at: usize) -> io::Result<u32> {
    bytes(data, at).map(u32::from_le_bytes)
}

/// The text of bytes: of two for each character, or of one.
pub(super) fn unicode(bytes: &[u8], is_wide: bool) -> String {
    if is_wide {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        String::from_utf16_lossy(&units)
    } else {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }
}

impl Texts {
    /// A text behind its length in one byte.
    pub(super) fn short(self, data: &[u8], position: usize) -> io::Result<String> {
        self.text(data, position + 1, at(data, position)?.into()).map(|(text, _)| text)
    }

    /// A text behind its length in two bytes.
    pub(super) fn long(self, data: &[u8], position: usize) -> io::Result<String> {
        self.text(data, position + 2, u16_at(data, position)?.into()).map(|(text, _)| text)
    }

    /// A text of so many characters, and the position behind it.
    pub(super) fn text(self, data: &[u8], position: usize, length: usize) -> io::Result<(String, usize)> {
        if !self.is_unicode {
            let end = position + length;
            return Ok((self.charset.decoded(data.get(position..end).ok_or_else(too_short)?), end));
        }
        let flags = at(data, position)?;
        let mut begin = position + 1;
        begin += if flags & 8 != 0 { 2 } else { 0 };
        begin += if flags & 4 != 0 { 4 } else { 0 };
        let end = begin + length * if flags & 1 != 0 { 2 } else { 1 };
        Ok((unicode(data.get(begin..end).ok_or_else(too_short)?, flags & 1 != 0), end))
    }
}
