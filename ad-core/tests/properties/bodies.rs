//! Bodies that are not JSON: each has an explanation.

use ad_core::not_json;
use proptest::prelude::*;
use serde_json::Value;

use crate::odd::of_pieces;

/// What bodies are made of, right and wrong.
#[rustfmt::skip]
const PIECES: [&str; 44] = [
    "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "\\", "\\u", "\\ud83d", "\\'", "d83d", "å", "👍", "\u{a0}", "null", "NULL", "None",
    "True", "NaN", "inf", "12900,5", "007", ".5", "5.", "-", "1e", "1e5", "'", "HASH(0x1)", "[object Object]", "\n", "\0", "\u{1}", "%7B",
    "<a>", "a=b", "- a", "ABC123", " ", "//", "\u{feff}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn what_is_not_json_is_explained(text in of_pieces(&PIECES, 0..12)) {
        if let Err(error) = serde_json::from_str::<Value>(&text) {
            assert!(!not_json::explanation(text.as_bytes(), &error).is_empty());
        }
    }

    #[test]
    fn bytes_are_explained(bytes in prop::collection::vec(any::<u8>(), 0..20), text in of_pieces(&PIECES, 0..6)) {
        let body = [text.as_bytes(), &bytes].concat();
        if let Err(error) = serde_json::from_slice::<Value>(&body) {
            assert!(!not_json::explanation(&body, &error).is_empty());
        }
    }
}
