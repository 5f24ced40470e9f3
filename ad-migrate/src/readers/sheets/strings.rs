//! The texts of an .xlsx workbook, to which its cells refer by number. The first ones are in memory, and further ones in a temporary file.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
};

use quick_xml::events::Event;

use super::{
    parser::{Malformed, Parser, add_text},
    xlsx::unescaped,
};

/// Most bytes of all texts.
const MOST: usize = 1 << 30;

/// Bytes that are in memory.
const IN_MEMORY: usize = 4 << 20;

/// Texts for each position that is known. Those between are passed over by their lengths.
const STEP: usize = 8;

/// Bytes of the file that are read at a time, and how many such blocks are kept.
const BLOCK: usize = 8 * 1024;
const BLOCKS: usize = 512;

/// Bytes before each text that say how long it is.
const LENGTH: usize = 4;

/// Texts, one behind the other, each behind its length.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// The first bytes, at most [`IN_MEMORY`].
    head: Vec<u8>,
    tail: Option<Tail>,
    /// The position of every [`STEP`]th text.
    positions: Vec<u32>,
    count: usize,
}

/// The bytes behind those in memory.
#[derive(Debug)]
struct Tail {
    file: BufWriter<File>,
    length: usize,
    /// Blocks of the file, each at its number modulo [`BLOCKS`].
    blocks: Vec<Option<(usize, Box<[u8]>)>>,
    /// A text that is in several blocks.
    text: Vec<u8>,
}

impl Strings {
    /// Reads the texts of a part.
    pub(super) fn read(mut parser: Parser<'_>) -> Result<Self, Malformed> {
        let (mut strings, mut text) = (Self::default(), String::new());
        let (mut is_text, mut is_phonetic) = (false, false);
        loop {
            let event = parser.next()?;
            match &event {
                Event::Start(start) => match start.local_name().as_ref() {
                    b"si" => text.clear(),
                    b"t" => is_text = !is_phonetic,
                    // How Japanese texts are pronounced.
                    b"rPh" => is_phonetic = true,
                    _ => {}
                },
                Event::Empty(start) if start.local_name().as_ref() == b"si" => strings.add("")?,
                Event::End(end) => match end.local_name().as_ref() {
                    b"si" => strings.add(&unescaped(&text))?,
                    b"t" => is_text = false,
                    b"rPh" => is_phonetic = false,
                    _ => {}
                },
                Event::Eof => {
                    strings.end().map_err(|error| unwritten(&error))?;
                    return Ok(strings);
                }
                _ if is_text => add_text(&mut text, &event)?,
                _ => {}
            }
        }
    }

    pub(super) fn add(&mut self, text: &str) -> Result<(), Malformed> {
        let position = self.head.len() + self.tail.as_ref().map_or(0, |tail| tail.length);
        if position + text.len() > MOST {
            return Err(Malformed::new(format!("it has more than {} MiB of texts", MOST >> 20)));
        }
        // Both fit, because all texts together do.
        if self.count.is_multiple_of(STEP) {
            self.positions.push(u32::try_from(position).unwrap_or(u32::MAX));
        }
        self.count += 1;
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
        if self.tail.is_none() && position + LENGTH + text.len() <= IN_MEMORY {
            self.head.extend(length);
            self.head.extend(text.as_bytes());
            return Ok(());
        }
        self.in_file(&length, text.as_bytes()).map_err(|error| unwritten(&error))
    }

    fn in_file(&mut self, length: &[u8], text: &[u8]) -> io::Result<()> {
        let tail = match &mut self.tail {
            Some(tail) => tail,
            None => self.tail.insert(Tail {
                file: BufWriter::new(tempfile::tempfile()?),
                length: 0,
                blocks: Vec::new(),
                text: Vec::new(),
            }),
        };
        tail.file.write_all(length)?;
        tail.file.write_all(text)?;
        tail.length += length.len() + text.len();
        Ok(())
    }

    /// Writes buffered texts to the file, so that all can be read.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if let Some(tail) = &mut self.tail {
            tail.file.flush()?;
            tail.blocks.resize_with(BLOCKS, || None);
        }
        Ok(())
    }

    /// The text of a number; `None` if there is none.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(super) fn get(&mut self, number: usize) -> io::Result<Option<&str>> {
        if number >= self.count {
            return Ok(None);
        }
        let mut position = self.positions[number / STEP] as usize;
        for _ in 0..number % STEP {
            position += LENGTH + self.length_at(position)?;
        }
        let length = self.length_at(position)?;
        let bytes = self.bytes(position + LENGTH, length)?;
        Ok(Some(std::str::from_utf8(bytes).unwrap_or_default()))
    }

    fn length_at(&mut self, position: usize) -> io::Result<usize> {
        let bytes = self.bytes(position, LENGTH)?;
        Ok(bytes.try_into().map_or(0, u32::from_le_bytes) as usize)
    }

    /// Bytes that are all in memory, or all in the file.
    fn bytes(&mut self, position: usize, length: usize) -> io::Result<&[u8]> {
        match (position.checked_sub(self.head.len()), &mut self.tail) {
            (Some(position), Some(tail)) => tail.bytes(position, length),
            _ => Ok(self.head.get(position..position + length).unwrap_or_default()),
        }
    }
}

impl Tail {
    fn bytes(&mut self, position: usize, length: usize) -> io::Result<&[u8]> {
        let (number, at) = (position / BLOCK, position % BLOCK);
        if at + length <= BLOCK {
            return Ok(self.block(number)?.get(at..at + length).unwrap_or_default());
        }
        self.text.clear();
        self.text.resize(length, 0);
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(position as u64))?;
        file.read_exact(&mut self.text)?;
        Ok(&self.text)
    }

    fn block(&mut self, number: usize) -> io::Result<&[u8]> {
        let Self { file, length, blocks, .. } = self;
        let kept = &mut blocks[number % BLOCKS];
        if kept.as_ref().is_none_or(|(known, _)| *known != number) {
            let file = file.get_mut();
            let mut block = vec![0; BLOCK.min(*length - number * BLOCK)].into_boxed_slice();
            file.seek(SeekFrom::Start((number * BLOCK) as u64))?;
            file.read_exact(&mut block)?;
            *kept = Some((number, block));
        }
        Ok(kept.as_ref().map_or(&[], |(_, block)| block))
    }
}

fn unwritten(error: &io::Error) -> Malformed {
    Malformed::new(format!("a temporary file cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_memory_and_in_the_file() {
        let mut strings = Strings::default();
        let text = |number: usize| format!("text {number} {}", "å".repeat(number % 400));
        let long = "x".repeat(3 * BLOCK);
        let count = 2 * IN_MEMORY / 400;
        (0..count).for_each(|number| strings.add(&text(number)).unwrap());
        strings.add(&long).unwrap();
        strings.add("").unwrap();
        strings.end().unwrap();
        assert!(strings.tail.is_some());
        for number in (0..count).step_by(997).chain((0..count).rev().step_by(1009)) {
            assert_eq!(strings.get(number).unwrap(), Some(&*text(number)));
        }
        assert_eq!(strings.get(count).unwrap(), Some(&*long));
        assert_eq!(strings.get(count + 1).unwrap(), Some(""));
        assert_eq!(strings.get(count + 2).unwrap(), None);
    }
}
