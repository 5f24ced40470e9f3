//! Estimates the memory of a parsed JSON document from its text.
//!
//! Text needs little more memory than its length, but each item needs a value, each member of an object also a name, and even the
//! smallest array and object reserve space: `{"":0},` has 7 bytes and takes nearly 700 when parsed.

/// Nesting beyond which the parser fails.
const PARSED_LEVELS: usize = 128;

/// Bytes for an item or member, and more for the first of an array and of an object.
const ITEM: usize = 128;
const ARRAY: usize = 128;
const OBJECT: usize = 640;

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

/// An estimate of the bytes that a parsed document needs, rather too high than too low. It ends where parsing would fail.
pub(super) fn parsed_size(document: &[u8]) -> usize {
    let (mut size, mut level) = (document.len(), 0_usize);
    let mut bytes = document.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_text(&mut bytes),
            b',' => size += ITEM,
            b'[' | b'{' if level == PARSED_LEVELS => break,
            b'[' => (size, level) = (size + ARRAY, level + 1),
            b'{' => (size, level) = (size + OBJECT, level + 1),
            b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
    }
    size
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
