//! Parses one payload.

use std::str::{self, Utf8Error};

use ad_core::rulebook::size::{MOST_BYTES, MOST_LEVELS, deeper_than};
use serde_json::{Map, Value, error::Category};

/// Why a text is no payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What is wrong, as sentences.
    pub message: String,
    /// Number of valid bytes before it.
    pub at: usize,
}

impl Broken {
    fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at }
    }
}

/// Parses a text as an object, with the limits of the service on size and depth. Of repeated members the last one counts.
///
/// # Errors
/// The error and its position.
pub fn parse(text: &[u8]) -> Result<Map<String, Value>, Broken> {
    // Checked once: given bytes, the parser would check the encoding of each string.
    let utf8 = str::from_utf8(text).map_err(|error| not_utf8(text, error))?;
    let value: Value = serde_json::from_str(utf8).map_err(|error| broken(text, &error))?;
    if deeper_than(&value, MOST_LEVELS) {
        return Err(Broken::new(format!("The payload is nested too deeply: at most {MOST_LEVELS} levels."), 0));
    }
    // White space is not sent.
    if text.len() > MOST_BYTES && value.to_string().len() > MOST_BYTES {
        let most = format!("The payload is larger than {MOST_BYTES} bytes, the maximum that the service accepts.");
        return Err(Broken::new(most, 0));
    }
    match value {
        Value::Object(object) => Ok(object),
        other => Err(Broken::new(expected_object(&other), 0)),
    }
}

fn expected_object(found: &Value) -> String {
    let what = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("Expected a JSON object, found {what}.")
}

fn not_utf8(text: &[u8], error: Utf8Error) -> Broken {
    let at = error.valid_up_to();
    let byte = text.get(at).copied().unwrap_or_default();
    Broken::new(format!("Not UTF-8: byte 0x{byte:02X}{}. Save the file as UTF-8.", guess(text, at)), at)
}

fn broken(text: &[u8], error: &serde_json::Error) -> Broken {
    let at = offset(text, error.line(), error.column());
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&place).unwrap_or(&message);
    match error.classify() {
        Category::Eof => Broken::new(format!("Truncated JSON: {message}."), text.len()),
        _ => Broken::new(format!("Not JSON: {message}."), at),
    }
}

/// What a byte that is not UTF-8 probably was: `, which is "å" in Windows-1252`.
fn guess(text: &[u8], at: usize) -> String {
    let Some(byte) = text.get(at..=at) else { return String::new() };
    let (letter, _, _) = encoding_rs::WINDOWS_1252.decode(byte);
    if letter.chars().all(char::is_alphabetic) {
        format!(", which is \"{letter}\" in Windows-1252")
    } else {
        String::new()
    }
}

/// From a line and a column in bytes, both counted from 1, to the byte that they mean.
fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let start = match line {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text).nth(line - 2).map_or(text.len(), |newline| newline + 1),
    };
    (start + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(text: &[u8]) -> (String, usize) {
        let broken = parse(text).unwrap_err();
        (broken.message, broken.at)
    }

    #[test]
    fn a_payload_is_an_object_whose_last_word_counts() {
        let object = parse(br#"{"a": 1, "b": 12345678901234567890.5, "a": {"c": 2}}"#).unwrap();
        assert_eq!(Value::Object(object), json!({"a": {"c": 2}, "b": 12_345_678_901_234_567_890.5_f64}));
    }

    #[test]
    fn what_is_none_is_told_with_its_place() {
        assert_eq!(wrong(b"[1]"), ("Expected a JSON object, found an array.".to_owned(), 0));
        assert_eq!(wrong(b"{\"a\": 1"), ("Truncated JSON: EOF while parsing an object.".to_owned(), 7));
        assert_eq!(wrong(b"{\"a\": 1,\n \"b\" 2}"), ("Not JSON: expected `:`.".to_owned(), 14));
        assert_eq!(wrong(b"{\"a\": 1,}"), ("Not JSON: trailing comma.".to_owned(), 8));
        assert_eq!(
            wrong(b"{\"a\": \"V\xe4lsk\xf6tt\"}"),
            ("Not UTF-8: byte 0xE4, which is \"ä\" in Windows-1252. Save the file as UTF-8.".to_owned(), 8)
        );
    }

    #[test]
    fn it_is_neither_deeper_nor_larger_than_the_service_takes() {
        let deep = |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(deep(31).as_bytes()).is_ok());
        assert!(wrong(deep(32).as_bytes()).0.contains("at most 32 levels"));
        // Deeper than anything should be read at all.
        assert!(wrong(deep(100_000).as_bytes()).0.contains("recursion limit"));
        let large = |text: &str| format!("{{\"body\": \"{text}\"}}");
        assert!(wrong(large(&"x".repeat(MOST_BYTES)).as_bytes()).0.contains("larger than 1048576 bytes"));
        let spaced = format!("{{{}\"a\": 1}}", " ".repeat(MOST_BYTES));
        assert!(parse(spaced.as_bytes()).is_ok());
    }
}
