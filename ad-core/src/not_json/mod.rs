//! What came instead of a JSON object, and what to write (decision 9). A body is parsed elsewhere; this module explains why that failed,
//! so that a valid body does not pay for it.
//!
//! | Module | What it is for |
//! |---|---|
//! | `formats` | the table of other formats, which a body is recognised by as a whole |
//! | `scan` | finds where JSON ends, and what was expected there |
//! | `slips` | the tables of what may stand there, and what to write |

mod formats;
mod scan;
mod slips;

use serde_json::Value;

/// What is wrong with a body that is not JSON, and what to send. The error is that of parsing it.
pub fn explanation(bytes: &[u8], error: &serde_json::Error) -> String {
    let text = bytes.trim_ascii();
    if text.is_empty() {
        return "The body is empty; send a JSON object.".to_owned();
    }
    if let Some(explanation) = formats::of_bytes(bytes) {
        return explanation.to_owned();
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return not_utf8(bytes) };
    let begins = text.trim_start();
    if begins.bytes().take(2).any(|byte| byte == 0) {
        return "The body is in UTF-16 or UTF-32; encode it in UTF-8.".to_owned();
    }
    if let Some(explanation) = formats::of_text(begins) {
        return explanation;
    }
    if error.is_eof() {
        let (line, column) = position(bytes, bytes.trim_ascii_end().len());
        return format!(
            "The body ends at line {line}, column {column} before the JSON object does; it was cut off, or a bracket or quote is missing."
        );
    }
    let explained = scan::stop(text).and_then(|stop| slips::explain(text, stop));
    explained.unwrap_or_else(|| {
        let reason = error.to_string();
        let reason = reason.split(" at line").next().unwrap_or_default();
        format!("{reason} at line {}, column {}.", error.line(), error.column())
    })
}

/// What is wrong with a body of JSON that is no object, and what to send.
pub fn not_an_object(value: &Value) -> String {
    let is_operation = |item: &Value| item.get("op").is_some() && item.get("path").is_some();
    let advice = match value {
        Value::Array(items) if items.first().is_some_and(is_operation) => {
            " It is a JSON Patch (RFC 6902), which is not supported: send an object of the fields that change, such as \
             {\"body\": \"New tyres.\"}."
        }
        Value::Array(items) if items.len() == 1 && items[0].is_object() => {
            " It is a list of one object; send the object without the list."
        }
        Value::Array(items) if items.first().is_some_and(Value::is_object) => " Send each ad in a request of its own.",
        Value::Array(items) if items.is_empty() => " An empty list came: send {} for an object without members.",
        Value::String(text) if text.trim_start().starts_with('{') => {
            " It is a text that contains JSON: it was encoded twice. Send the object itself."
        }
        Value::Null => " null came; the variable that was encoded is probably not set.",
        _ => "",
    };
    format!("The body must be a JSON object.{advice}")
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

/// The line and column of a place, which count from 1.
fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests;
