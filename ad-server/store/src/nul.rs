//! Escapes NUL, the one character that PostgreSQL cannot store in a text. It is stored as two noncharacters of Unicode. Texts that
//! contain noncharacters themselves stay unambiguous.

use std::borrow::Cow;

/// The first character of an escape.
const MARK: char = '\u{10fffe}';
/// Behind a [`MARK`] that the text has itself.
const ITSELF: char = '\u{10ffff}';

pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    if !text.contains('\0') && !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => stored.extend([MARK, MARK]),
            MARK => stored.extend([MARK, ITSELF]),
            other => stored.push(other),
        }
    }
    Cow::Owned(stored)
}

pub(crate) fn restored(stored: &str) -> Cow<'_, str> {
    if !stored.contains(MARK) {
        return Cow::Borrowed(stored);
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        match character {
            MARK if characters.next() == Some(MARK) => text.push('\0'),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        let texts = ["", "Volvo", "a\0b", "\0", "\u{10fffe}", "\u{10ffff}", "\u{10fffe}\0\u{10ffff}\0\0\u{10fffe}"];
        for text in texts {
            assert!(!storable(text).contains('\0'));
            assert_eq!(restored(&storable(text)), text, "{text:?}");
        }
        assert_ne!(storable("\0"), storable("\u{10fffe}\u{10fffe}"));
        assert!(matches!(storable("Volvo"), Cow::Borrowed(_)) && matches!(restored("Volvo"), Cow::Borrowed(_)));
    }
}
