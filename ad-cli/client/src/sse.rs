//! Server-sent events: the fields of a stream of bytes, wherever its chunks begin and end.
//!
//! It limits the length of a line, since the bytes come from outside.

use std::time::Duration;

/// Maximum length of one block: an event of this service has at most some 20 kB.
const MOST_BYTES: usize = 1024 * 1024;

/// A block of lines that ended with an empty one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The position in the stream, if the block names one.
    pub(super) id: Option<String>,
    /// The lines of data, joined by line feeds; `None` for a block without data.
    pub(super) data: Option<String>,
    /// The pause before a new connection, if the block names one.
    pub(super) retry: Option<Duration>,
}

/// The stream is not one of server-sent events of this service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a block of more than {MOST_BYTES} bytes in the stream of events")]
pub(super) struct TooLong;

/// Finds the blocks in a stream of bytes. What has not been ended by an empty line is not returned.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    block: Block,
    /// Bytes of the block so far.
    bytes: usize,
    /// Whether the last byte was a carriage return: a line feed after it belongs to the same end of line.
    after_return: bool,
}

impl Parser {
    /// Reads a chunk; `found` gets each block that it ends.
    pub(super) fn read(&mut self, chunk: &[u8], mut found: impl FnMut(Block)) -> Result<(), TooLong> {
        for &byte in chunk {
            let ends_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if ends_return => {}
                b'\n' | b'\r' => {
                    if self.line.is_empty() {
                        self.bytes = 0;
                        found(std::mem::take(&mut self.block));
                    } else {
                        self.end_line();
                    }
                }
                byte => {
                    self.bytes += 1;
                    if self.bytes > MOST_BYTES {
                        return Err(TooLong);
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.block.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.block.id = Some(value.to_owned()),
            "retry" => self.block.retry = value.parse().ok().map(Duration::from_millis).or(self.block.retry),
            // A comment (the name is empty), the type (it is in the data too), or a field of a later version.
            _ => {}
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}retry: 3000\n\n: comment\n\nid: c1\nevent: ad.publish.done\ndata: {\"å\":1}\n\nid:c2\r\ndata: a\r\ndata: b\r\n\r\nid: c3\rdata\r\rid: c4\ndata: unfinished\n";

    fn blocks(chunks: impl Iterator<Item = impl AsRef<[u8]>>) -> Vec<Block> {
        let (mut parser, mut blocks) = (Parser::default(), Vec::new());
        for chunk in chunks {
            parser.read(chunk.as_ref(), |block| blocks.push(block)).unwrap();
        }
        blocks
    }

    #[test]
    fn blocks_are_the_same_wherever_chunks_begin_and_end() {
        let block = |id: Option<&str>, data: Option<&str>| Block {
            id: id.map(str::to_owned),
            data: data.map(str::to_owned),
            retry: None,
        };
        let expected = [
            Block { retry: Some(Duration::from_secs(3)), ..Block::default() },
            Block::default(),
            block(Some("c1"), Some("{\"å\":1}")),
            block(Some("c2"), Some("a\nb")),
            block(Some("c3"), Some("")),
        ];
        for size in 1..=STREAM.len() {
            assert_eq!(blocks(STREAM.as_bytes().chunks(size)), expected, "chunks of {size}");
        }
    }

    #[test]
    fn a_block_without_end_is_refused() {
        let mut parser = Parser::default();
        let line = [b"data: ", [b'x'; 1000].as_slice(), b"\n"].concat();
        let read = (0..2000).try_for_each(|_| parser.read(&line, |_| panic!("no block ends")));
        assert_eq!(read, Err(TooLong));
    }
}
