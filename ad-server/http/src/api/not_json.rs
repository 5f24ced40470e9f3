//! Recognises what was sent instead of JSON, for the answer to a body that cannot be parsed (decision 9).

/// Longest word of a body that a message repeats, in bytes.
const LONGEST_WORD: usize = 40;

/// The first bytes of bodies that are not text.
const FORMATS: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "The body is compressed with gzip; declare it with Content-Encoding: gzip, or send it uncompressed."),
    (b"PK\x03\x04", "The body is a zip archive; send a JSON object."),
    (b"\xff\xd8\xff", "The body is a JPEG image; send a JSON object with the addresses of images in image_urls."),
    (b"\x89PNG", "The body is a PNG image; send a JSON object with the addresses of images in image_urls."),
    (b"%PDF", "The body is a PDF document; send a JSON object."),
];

/// What is wrong with a body that is not JSON, and what to send. The error is that of parsing it.
pub(super) fn explanation(bytes: &[u8], error: &serde_json::Error) -> String {
    let text = bytes.trim_ascii();
    if text.is_empty() {
        return "The body is empty; send a JSON object.".to_owned();
    }
    if let Some((_, explanation)) = FORMATS.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
        return (*explanation).to_owned();
    }
    let Ok(text) = std::str::from_utf8(text) else { return not_utf8(bytes) };
    if text.bytes().take(2).any(|byte| byte == 0) {
        return "The body is in UTF-16 or UTF-32; encode it in UTF-8.".to_owned();
    }
    if text.starts_with('<') {
        let what = if text.to_ascii_lowercase().starts_with("<!doctype html") { "HTML" } else { "XML" };
        return format!("The body is {what}; this API takes JSON: send a JSON object.");
    }
    if text.starts_with("--") && text.contains("Content-Disposition") {
        return "The body is form data (multipart/form-data); send a JSON object with Content-Type: application/json."
            .to_owned();
    }
    if is_form(text) {
        return "The body is form data (name=value); send a JSON object with Content-Type: application/json."
            .to_owned();
    }
    of_json(bytes, error)
}

fn not_utf8(bytes: &[u8]) -> String {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return "The body is in UTF-16; encode it in UTF-8.".to_owned();
    }
    let valid = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
    let (line, column) = position(bytes, valid);
    let byte = bytes.get(valid).copied().unwrap_or_default();
    format!(
        "The body is not in UTF-8: byte 0x{byte:02X} at line {line}, column {column} looks like Latin-1 (ISO 8859-1) or \
         Windows-1252. Encode the body in UTF-8."
    )
}

/// Whether a text begins with the name of a form's field and an equals sign.
fn is_form(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    let is_in_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+%[]".contains(&byte);
    name.len() < text.len() && !name.is_empty() && name.bytes().all(is_in_a_name)
}

/// The usual mistakes in a text that is nearly JSON.
fn of_json(bytes: &[u8], error: &serde_json::Error) -> String {
    let mut at = offset(bytes, error.line(), error.column());
    // The parser reports an error at a line break as column 0 of the next line.
    if error.column() == 0 {
        at = at.saturating_sub(1);
    }
    let (line, column) = position(bytes, at);
    let here = format!("at line {line}, column {column}");
    if error.is_eof() {
        return format!(
            "The body ends {here} before the JSON object does; it was cut off, or a bracket or quote is missing."
        );
    }
    let found = bytes.get(at).copied().unwrap_or_default();
    let before = bytes[..at.min(bytes.len())].trim_ascii_end();
    match (found, before.last()) {
        (b'}' | b']', Some(b',')) => {
            let (line, column) = position(bytes, before.len() - 1);
            return format!("Trailing comma at line {line}, column {column}; remove it.");
        }
        (b'\'', _) => return format!("Single quote {here}; JSON uses double quotes."),
        (b'/', _) => return format!("Comment {here}; JSON has no comments, remove it."),
        (b'{' | b'[', Some(b'}' | b']')) => {
            return format!("A second JSON value begins {here}; send one ad in each request.");
        }
        (b'\n' | b'\r' | b'\t', _) => {
            return format!("Line break or tab within a text {here}; write it as \\n or \\t.");
        }
        _ => {}
    }
    let word = word(bytes, at);
    match word {
        "NaN" | "Infinity" | "-Infinity" | "undefined" => {
            format!("{word} {here} is not a JSON value; send null, or leave the field out.")
        }
        "None" => format!("None {here} is not a JSON value; send null."),
        "True" | "False" => format!("{word} {here} is not a JSON value; write it in lower case."),
        _ if is_name(word) && matches!(before_word(bytes, at), Some(b'{' | b',')) => {
            format!("{word} {here} is not in quotes; write \"{word}\".")
        }
        _ => {
            let reason = error.to_string();
            let reason = reason.split(" at line").next().unwrap_or_default();
            format!("{reason} {here}.")
        }
    }
}

fn is_name(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Where the word at a place begins.
fn start_of_word(bytes: &[u8], at: usize) -> usize {
    at - bytes[..at.min(bytes.len())].iter().rev().take(LONGEST_WORD).take_while(|byte| is_of_a_word(**byte)).count()
}

fn word(bytes: &[u8], at: usize) -> &str {
    let rest = bytes.get(start_of_word(bytes, at)..).unwrap_or_default();
    let length = rest.iter().take(LONGEST_WORD).take_while(|byte| is_of_a_word(**byte)).count();
    std::str::from_utf8(&rest[..length]).unwrap_or_default()
}

/// The last byte before the word at a place, apart from white space.
fn before_word(bytes: &[u8], at: usize) -> Option<u8> {
    bytes[..start_of_word(bytes, at).min(bytes.len())].trim_ascii_end().last().copied()
}

/// The place of a line and column, which count from 1.
fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1));
    (lines.map(<[u8]>::len).sum::<usize>() + column.saturating_sub(1)).min(bytes.len())
}

/// The line and column of a place, which count from 1.
fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn explained(bytes: &[u8]) -> String {
        explanation(bytes, &serde_json::from_slice::<Value>(bytes).unwrap_err())
    }

    #[test]
    fn what_came_instead_of_json_is_named() {
        for (body, says) in [
            ("", "empty"),
            (" \n", "empty"),
            ("source_id=1&brand=volvo", "form data (name=value)"),
            ("--x\r\nContent-Disposition: form-data; name=\"a\"", "multipart/form-data"),
            ("<?xml version=\"1.0\"?><ad/>", "XML"),
            ("<!DOCTYPE html>", "HTML"),
            ("{'a': 1}", "Single quote at line 1, column 2; JSON uses double quotes."),
            ("{\"a\": 'b'}", "Single quote at line 1, column 7"),
            ("{\"a\": 1,\n  \"b\": 2,\n}", "Trailing comma at line 2, column 9; remove it."),
            ("{\"a\": [1, 2, ]}", "Trailing comma at line 1, column 12"),
            ("{\"a\": NaN}", "NaN at line 1, column 7 is not a JSON value"),
            ("{\"a\": -Infinity}", "-Infinity"),
            ("{\"a\": undefined}", "undefined"),
            ("{\"a\": None}", "send null"),
            ("{\"a\": True}", "lower case"),
            ("{a: 1}", "write \"a\""),
            ("{\"a\": 1, b: 2}", "write \"b\""),
            ("{\"a\": 1} // done", "Comment"),
            ("{} {}", "second JSON value"),
            ("{\"a\": 1", "cut off"),
            ("{\"a\": \"x\ny\"}", "Line break"),
            ("{\"a\" 1}", "expected `:`"),
            ("\u{0}\u{1}", "UTF-16"),
        ] {
            let explained = explained(body.as_bytes());
            assert!(explained.contains(says), "{body}: {explained}");
        }
        for (body, says) in [
            (&b"\x1f\x8b\x08\x00"[..], "Content-Encoding: gzip"),
            (b"\xff\xd8\xff\xe0", "JPEG"),
            (b"{\"body\": \"\xe5\"}", "byte 0xE5 at line 1, column 11 looks like Latin-1"),
            (b"\xff\xfe{\0}\0", "UTF-16"),
        ] {
            let explained = explained(body);
            assert!(explained.contains(says), "{body:?}: {explained}");
        }
    }

    #[test]
    fn hostile_bodies_are_explained_at_once() {
        for body in [vec![b'['; 1 << 20], vec![b'a'; 1 << 20], [&b"{\""[..], &vec![b'\n'; 1 << 20]].concat()] {
            assert!(explained(&body).len() < 300);
        }
    }
}
