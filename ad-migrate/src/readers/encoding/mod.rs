//! Detects the encoding of a file, and decodes its texts. UTF-16 is converted while it is read, because the parsers need ASCII bytes.

mod guess;
mod legacy;

use std::{borrow::Cow, io::Read};

use ad_files::{Malformed, Transcoded};
use encoding_rs::{
    Encoding, ISO_8859_15, KOI8_R, MACINTOSH, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, X_MAC_CYRILLIC, X_USER_DEFINED,
};
use legacy::Legacy;

use super::ReadError;

/// The encodings that can be set; others of the web, too.
const NAMES: &str = "utf-8, utf-16, utf-16le, utf-16be, windows-1252, iso-8859-1, iso-8859-15, windows-1250, windows-1251, koi8-r, cp437, \
                     cp850, cp858, cp865, macintosh, mac-cyrillic or utf-8-twice";

/// A byte that is never in UTF-8; it replaces invalid UTF-16.
const NOT_TEXT: u8 = 0xFF;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charset {
    pub(super) name: &'static str,
    encoding: &'static Encoding,
    /// How it becomes UTF-8, where the web has no such encoding.
    legacy: Option<Legacy>,
}

#[derive(Debug)]
pub(super) struct DetectedEncoding {
    pub(super) charset: Charset,
    /// Length of the byte order mark.
    pub(super) mark: usize,
    /// The reason, if it was not set.
    pub(super) note: Option<String>,
}

const fn charset(name: &'static str, encoding: &'static Encoding) -> Charset {
    Charset { name, encoding, legacy: None }
}

const fn legacy(name: &'static str, legacy: Legacy) -> Charset {
    Charset { name, encoding: UTF_8, legacy: Some(legacy) }
}

const TWICE: Charset = legacy("utf-8-twice", Legacy::Twice);
const CP850: Charset = legacy("cp850", Legacy::Dos(legacy::CP850));
const CP858: Charset = legacy("cp858", Legacy::Dos(legacy::CP858));
const MAC: Charset = charset("macintosh", MACINTOSH);
const MAC_CYRILLIC: Charset = charset("mac-cyrillic", X_MAC_CYRILLIC);
const LATIN_1: Charset = charset("iso-8859-1", WINDOWS_1252);
const LATIN_9: Charset = charset("iso-8859-15", ISO_8859_15);
const CENTRAL: Charset = charset("windows-1250", WINDOWS_1250);
const CYRILLIC: Charset = charset("windows-1251", WINDOWS_1251);
const KOI8: Charset = charset("koi8-r", KOI8_R);

/// Detects the encoding of a file from its beginning.
///
/// # Errors
/// When the encoding that is set is unknown, or contradicts the file's byte order mark.
pub(super) fn find(head: &[u8], set: Option<&str>, declared: Option<&str>) -> Result<DetectedEncoding, ReadError> {
    let marked = Encoding::for_bom(head);
    let mark = marked.map_or(0, |(_, length)| length);
    if let Some(set) = set {
        let charset = named(set, head)
            .ok_or_else(|| ReadError::new(format!("Unknown encoding {set:?}.")).hint(format!("Use {NAMES}.")))?;
        if let Some((encoding, _)) = marked.filter(|(encoding, _)| *encoding != charset.encoding) {
            let message = format!(
                "The encoding is set to {set}, but the file begins with the byte order mark of {}.",
                encoding.name()
            );
            return Err(ReadError::new(message).hint("Omit the encoding.".to_owned()));
        }
        return Ok(DetectedEncoding { charset, mark, note: None });
    }
    let (charset, note) = if let Some(twice) = detect_double_encoding(head) {
        twice
    } else if let Some((encoding, _)) = marked {
        let charset = of(encoding);
        (charset, format!("Encoding {}: the file begins with its byte order mark.", charset.name))
    } else if let Some(charset) = unmarked_utf_16(head) {
        (charset, format!("Encoding {}: every other byte of the beginning is zero.", charset.name))
    } else if let Some(name) = declared.filter(|name| !name.to_ascii_lowercase().starts_with("utf-16")) {
        // A declaration in single bytes that names UTF-16 is wrong.
        let charset = named(name, head).ok_or_else(|| {
            let message = format!("The file says that its encoding is {name:?}, which cannot be read.");
            ReadError::new(message).hint(format!("Save the file as UTF-8, or set the encoding: {NAMES}."))
        })?;
        let mut note = format!("Encoding {}: the file says so.", charset.name);
        if !charset.is_utf_8()
            && let (1.., 0) = sequences(head)
        {
            note.push_str(" But all of the beginning is valid UTF-8: if letters look wrong, set encoding = \"utf-8\".");
        }
        (charset, note)
    } else {
        guess::guess(head)
    };
    Ok(DetectedEncoding { charset, mark, note: Some(note) })
}

fn of(encoding: &'static Encoding) -> Charset {
    let name = match encoding {
        it if it == UTF_16LE => "utf-16le",
        it if it == UTF_16BE => "utf-16be",
        it if it == WINDOWS_1252 => "windows-1252",
        _ => "utf-8",
    };
    charset(name, encoding)
}

fn named(name: &str, head: &[u8]) -> Option<Charset> {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    Some(match name.as_str() {
        "utf-8" | "utf8" | "us-ascii" | "ascii" => of(UTF_8),
        "utf-16" | "utf16" if head.starts_with(b"\xFE\xFF") => of(UTF_16BE),
        "utf-16" | "utf16" => unmarked_utf_16(head).unwrap_or(of(UTF_16LE)),
        "utf-16le" => of(UTF_16LE),
        "utf-16be" => of(UTF_16BE),
        "windows-1252" | "cp1252" => of(WINDOWS_1252),
        // As browsers read it: only control characters differ.
        "iso-8859-1" | "latin-1" | "latin1" => LATIN_1,
        "latin-9" | "latin9" => LATIN_9,
        "cp437" | "ibm437" => legacy("cp437", Legacy::Dos(legacy::CP437)),
        "cp850" | "ibm850" | "dos" => CP850,
        "cp858" | "ibm858" | "cp00858" | "ibm00858" => CP858,
        "cp865" | "ibm865" => legacy("cp865", Legacy::Dos(legacy::CP865)),
        "macintosh" | "mac" | "mac-roman" | "macroman" => MAC,
        "mac-cyrillic" | "maccyrillic" => MAC_CYRILLIC,
        "utf-8-twice" => TWICE,
        name => {
            let encoding = Encoding::for_label(name.as_bytes())?;
            let known = [LATIN_9, CENTRAL, CYRILLIC, KOI8].into_iter().find(|known| known.encoding == encoding);
            let is_of_texts = ![REPLACEMENT, X_USER_DEFINED].contains(&encoding) && encoding.is_ascii_compatible();
            known.or_else(|| is_of_texts.then(|| charset(encoding.name(), encoding)))?
        }
    })
}

/// Whether a file is UTF-16, with or without a mark.
pub(super) fn is_utf_16(head: &[u8]) -> bool {
    Encoding::for_bom(head).is_some_and(|(encoding, _)| encoding != UTF_8) || unmarked_utf_16(head).is_some()
}

/// Text of Latin letters in UTF-16 has a zero in nearly every unit.
fn unmarked_utf_16(head: &[u8]) -> Option<Charset> {
    let units = &head[..head.len().min(4096)];
    let zeros = |offset: usize| units.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let enough = units.len() / 2 * 9 / 10;
    match (zeros(0), zeros(1)) {
        _ if units.len() < 4 => None,
        (0, low) if low >= enough.max(1) => Some(of(UTF_16LE)),
        (high, 0) if high >= enough.max(1) => Some(of(UTF_16BE)),
        _ => None,
    }
}

/// UTF-8 of which nearly all letters beyond ASCII were encoded twice.
fn detect_double_encoding(head: &[u8]) -> Option<(Charset, String)> {
    if head.is_ascii() || sequences(head).1 > 0 {
        return None;
    }
    let (twice, once) = legacy::twice_encoded(String::from_utf8_lossy(head).trim_start_matches('\u{feff}'));
    let note = format!(
        "Encoding utf-8-twice: {twice} parts of the beginning are UTF-8 that was taken for windows-1252 and encoded again, such as \
         \"Ã¤\" for \"ä\". It is decoded twice; if this is wrong, set encoding = \"utf-8\"."
    );
    (twice > once * 10).then_some((TWICE, note))
}

/// Counts letters of several bytes in UTF-8, and invalid bytes, except for a letter that the end of the text truncates.
fn sequences(text: &[u8]) -> (usize, usize) {
    let (mut good, mut bad) = (0, 0);
    let mut chunks = text.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        good += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        let is_cut = chunks.peek().is_none()
            && chunk.invalid().len() < 4
            && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        bad += if is_cut { 0 } else { chunk.invalid().len() };
    }
    (good, bad)
}

/// A text, and whether it was in another encoding than the file.
pub(super) type DecodedText<'a> = (Cow<'a, str>, bool);

impl Charset {
    /// Whether the parsers read UTF-8, converted or not.
    pub(super) fn is_utf_8(self) -> bool {
        self.encoding != WINDOWS_1252
    }

    /// Decodes a text. If it is not in this encoding, it is read as UTF-8, or as far as possible.
    pub(super) fn text(self, bytes: &[u8]) -> DecodedText<'_> {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.is_utf_8() || bytes.is_ascii() => (Cow::Borrowed(text), false),
            Ok(text) if is_plainly_utf_8(text) => (Cow::Borrowed(text), true),
            Err(_) if self.is_utf_8() => (String::from_utf8_lossy(bytes), true),
            _ => (self.encoding.decode_without_bom_handling(bytes).0, false),
        }
    }

    /// Decodes bytes of a file that has not been converted.
    pub(super) fn decoded(self, bytes: &[u8]) -> String {
        match self.legacy {
            Some(Legacy::Dos(upper_half)) => {
                let letter = |byte: &u8| match byte.checked_sub(0x80) {
                    None => char::from(*byte),
                    Some(at) => upper_half.chars().nth(usize::from(at)).unwrap_or(char::REPLACEMENT_CHARACTER),
                };
                bytes.iter().map(letter).collect()
            }
            _ => self.encoding.decode_without_bom_handling(bytes).0.into_owned(),
        }
    }

    /// The bytes of a file, without its mark, in an encoding that contains ASCII.
    pub(super) fn bytes(self, rest: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        match self.legacy {
            Some(legacy) => legacy.converted(rest),
            // Nearly all files have one of these two, and are read as they are.
            None if [UTF_8, WINDOWS_1252].contains(&self.encoding) => Box::new(rest),
            None => self.converted(rest),
        }
    }

    /// The bytes of a file, without its mark, as UTF-8.
    pub(super) fn converted(self, rest: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        if self.encoding == UTF_8 {
            return Box::new(rest);
        }
        Box::new(Transcoded::new(rest, self.encoding, Malformed::Mark(NOT_TEXT)))
    }

    /// The byte of a separator or a quote in the file.
    pub(super) fn byte(self, letter: char) -> Option<u8> {
        if let Ok(byte) = u8::try_from(letter)
            && byte.is_ascii()
        {
            return Some(byte);
        }
        let text = letter.to_string();
        match self.encoding.encode(&text) {
            (bytes, _, false) if !self.is_utf_8() && bytes.len() == 1 => bytes.first().copied(),
            _ => None,
        }
    }

    /// What to do about a text in another encoding.
    pub(super) fn advice(self) -> &'static str {
        if self.is_utf_8() {
            "Write the whole file in one encoding; if most of it is windows-1252, set encoding = \"windows-1252\"."
        } else {
            "Write the whole file in one encoding; if most of it is UTF-8, set encoding = \"utf-8\"."
        }
    }
}

/// Whether a text may contain NUL or letters that were encoded twice; quick to say no.
pub(crate) fn may_be_damaged(text: &str) -> bool {
    memchr::memchr(0, text.as_bytes()).is_some() || memchr::memmem::find(text.as_bytes(), "Ã".as_bytes()).is_some()
}

/// Whether all letters of a text beyond ASCII, are those of a text that was encoded twice.
pub(crate) fn is_twice_encoded(text: &str) -> bool {
    // The first byte of å, ä, ö, é and ü in UTF-8, taken for a letter. The languages of stock files do not use it.
    text.contains('Ã') && matches!(legacy::twice_encoded(text), (1.., 0))
}

/// Whether a text that is not ASCII is UTF-8 and not windows-1252 that happens to be valid UTF-8: in windows-1252, its letters would be Â,
/// Ã or â before signs that never follow these.
fn is_plainly_utf_8(text: &str) -> bool {
    text.chars()
        .filter(|letter| !letter.is_ascii())
        .all(|letter| matches!(letter, '\u{80}'..='\u{FF}' | '\u{2000}'..='\u{2FFF}'))
}
