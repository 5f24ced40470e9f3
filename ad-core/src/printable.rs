//! Escaping of untrusted text for terminals: control characters and characters that change the direction of text become escapes
//! such as `\u{1b}`, so that no text moves the cursor, sets the title of a terminal, or reorders words.
//!
//! Everything that a program of this workspace prints for people passes through one of these functions last. Text that needs no
//! escape is not copied.

use std::{borrow::Cow, fmt::Write};

/// Whether a character has an effect on a terminal: C0 and C1 control characters, DEL, line and paragraph separators, and
/// bidirectional embeddings, overrides and isolates.
const fn is_active(character: char) -> bool {
    matches!(character, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text on one line: line breaks and tabs are escaped too, as `\n` and `\t`.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_active, |out, character| match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        character => out.extend(character.escape_unicode()),
    })
}

/// A text of several lines: line breaks and tabs are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_unwanted = |character| is_active(character) && !matches!(character, '\n' | '\t');
    escape(text, is_unwanted, |out, character| out.extend(character.escape_unicode()))
}

/// An equivalent JSON document, in which strings also escape characters that JSON does not, such as DEL and C1.
pub fn json(document: &str) -> Cow<'_, str> {
    // Valid JSON has C0 characters only between tokens, and the others only within strings.
    let is_unwanted = |character| is_active(character) && !character.is_ascii_control() || character == '\u{7f}';
    escape(document, is_unwanted, |out, character| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{:04x}", u32::from(character));
    })
}

fn escape(text: &str, is_unwanted: impl Fn(char) -> bool, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let Some(first) = text.find(&is_unwanted) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(clean);
    for character in rest.chars() {
        if is_unwanted(character) { write(&mut out, character) } else { out.push(character) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_written_out() {
        let table = [
            ("Volvo XC60, 349 900 kr – grön", "Volvo XC60, 349 900 kr – grön"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("a\r\n\tb\u{2028}c", "a\\r\\n\\tb\\u{2028}c"),
            ("", ""),
        ];
        for (text, shown) in table {
            assert_eq!(line(text), shown);
        }
        assert_eq!(lines("a\r\n\tb\u{1b}"), "a\\u{d}\n\tb\\u{1b}");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({"\u{9b}k": ["\u{1b}[2J", "\u{7f}\u{85}\u{202e}\u{2069}", "å\n\\"]});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = json(&text);
            assert!(!shown.chars().any(|character| is_active(character) && character != '\n'), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
        assert!(matches!(json("{\"a\": \"å\"}"), Cow::Borrowed(_)));
    }
}
