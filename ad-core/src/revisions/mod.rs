//! Earlier contents of an ad: how they are kept, and how they are read again (`docs/record.md`).
//!
//! A store keeps the present content of an ad and, of each change, the [`difference()`] back to the content before. So a new ad costs
//! nothing, and an earlier content is what the differences, applied one after the other, make out of the present one. The difference of
//! the content that a change led to has a [`checksum`], which tells whether something has changed the ad meanwhile without recording it,
//! such as an earlier version of the service.

mod difference;

pub(crate) use difference::update_to;
pub use difference::{WrongDifference, apply, changes, difference};

/// A checksum of the [stored text](crate::model::Content::stored_text) of content: FNV-1a on words of eight bytes. It finds texts that
/// differ, and is no protection against those who make them the same on purpose.
pub fn checksum(text: &str) -> i64 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mixed = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        hash ^ hash >> 32
    };
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, bytes| mixed(hash, u64::from_le_bytes(*bytes)));
    // The length tells a rest of zeros from none.
    let hash = mixed(mixed(hash, word(rest)), text.len() as u64);
    i64::from_le_bytes(hash.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn texts_that_differ_have_other_checksums() {
        let text = r#"{"body":"Välskött","category_fields":{"model_year":2022},"visible":true}"#;
        let mut texts: Vec<String> = (0..=text.len()).filter_map(|end| text.get(..end)).map(str::to_owned).collect();
        texts.extend((1..20).map(|zeros| "\0".repeat(zeros)));
        texts.extend((0..1000).map(|number| text.replace("2022", &number.to_string())));
        let checksums: HashSet<_> = texts.iter().map(|text| checksum(text)).collect();
        assert_eq!(checksums.len(), texts.len());
        // It is stored.
        assert_eq!((checksum(""), checksum(text)), (7_531_491_279_257_128_099, 27_355_771_565_068_659));
    }
}
