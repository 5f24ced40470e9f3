//! Estimates the memory of a parsed JSON document from its text.
//!
//! Text needs little more memory than its length, but each item needs a value, each member of an object also a name, and even the
//! smallest array and object reserve space: `{"":0},` has 7 bytes and takes nearly 700 when parsed.

/// Up to this size, commas and brackets within texts do not matter.
const ROUGHLY: usize = 512 * 1024;

/// Nesting beyond which the parser fails.
const PARSED_LEVELS: usize = 128;

/// Bytes for an item or member, and more for the first of an array and of an object.
const ITEM: usize = 128;
const ARRAY: usize = 128;
const OBJECT: usize = 640;

/// Numbers of the parts of a document.
#[derive(Debug, Default)]
struct JsonCounts {
    commas: usize,
    arrays: usize,
    objects: usize,
}

impl JsonCounts {
    /// Counts punctuation within texts too, so the result is never too low.
    fn estimate(document: &[u8]) -> Self {
        let mut shape = Self::default();
        for byte in document {
            shape.count(*byte);
        }
        shape
    }

    /// Skips texts, and stops where parsing would fail.
    fn measure(document: &[u8]) -> Self {
        let (mut shape, mut level) = (Self::default(), 0_usize);
        let mut bytes = document.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => skip_text(&mut bytes),
                b'[' | b'{' => level += 1,
                b']' | b'}' => level = level.saturating_sub(1),
                _ => {}
            }
            if level > PARSED_LEVELS {
                break;
            }
            shape.count(*byte);
        }
        shape
    }

    fn count(&mut self, byte: u8) {
        self.commas += usize::from(byte == b',');
        self.arrays += usize::from(byte == b'[');
        self.objects += usize::from(byte == b'{');
    }

    fn size(&self, document: &[u8]) -> usize {
        document.len() + self.commas * ITEM + self.arrays * ARRAY + self.objects * OBJECT
    }
}

/// Goes to the end of a text whose first quotation mark has been read.
fn skip_text<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

/// An estimate of the bytes that a parsed document needs, rather too high than too low.
pub(super) fn parsed_size(document: &[u8]) -> usize {
    let rough = JsonCounts::estimate(document).size(document);
    if rough <= ROUGHLY { rough } else { JsonCounts::measure(document).size(document) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(item: &str, times: usize) -> String {
        format!("[{}0]", item.repeat(times))
    }

    #[test]
    fn a_document_needs_no_more_than_its_size_says() {
        for body in
            [of("[],", 20_000), of("[0],", 20_000), of("{\"\":0},", 20_000), of("0,", 40_000), of("\"\",", 40_000)]
        {
            let said = parsed_size(body.as_bytes());
            // The sizes of `Value`, whose arrays grow by doubling, of an array's first capacity and of an object's first node.
            let items = body.matches(',').count();
            let needed = items * 32 * 2 + body.matches("[0]").count() * 4 * 32 + body.matches('{').count() * 632;
            assert!(said >= needed && said < needed * 5, "{}…: {said} said, {needed} needed", &body[..8]);
        }
        assert!(parsed_size(include_bytes!("../../../../tests/data/payloads/car-v4.json")) < 100_000);
    }

    #[test]
    fn what_stands_in_texts_needs_nothing_more() {
        let text = format!("[\"{}\"]", ",\\\"[{\\\\".repeat(100_000));
        assert!(parsed_size(text.as_bytes()) < text.len() + 1000);
        // The parser fails before it needs much memory.
        assert!(parsed_size("[".repeat(100_000).as_bytes()) < 1_000_000);
    }
}
