//! A file or stdin as a stream of UTF-8: byte order marks are skipped, UTF-16 is converted. Files that are not JSON are recognised and refused
//! before they are read.

use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::Path,
};

use ad_files::{Malformed, Transcoded};
use encoding_rs::{UTF_16BE, UTF_16LE};

use super::is_space;

/// Number of bytes by which the kind of a file is detected.
const LOOK: usize = 64 * 1024;

/// Why a file has no payloads to read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum NotPayloads {
    /// It cannot be opened or read.
    #[error("cannot read {name}: {reason}")]
    Unreadable { name: String, reason: String },
    /// There is nothing in it.
    #[error("{0} is empty")]
    Empty(String),
    /// It is in another format.
    #[error("{name} is {what}, not JSON")]
    Else { name: String, what: String },
    /// It is text in an encoding that is not read.
    #[error("{0} is UTF-32 text, not JSON")]
    Utf32(String),
    /// It is JSON, but nothing that could hold payloads.
    #[error("{name} is JSON, but contains {what} instead of an ad")]
    NoObject { name: String, what: &'static str },
}

/// A file of payloads, open at its beginning.
#[derive(derive_more::Debug)]
pub struct Source {
    /// Its name in messages: the path, `stdin`, or what the caller named it.
    pub name: String,
    /// The first bytes, as UTF-8, for detection.
    #[debug(skip)]
    pub(super) head: Vec<u8>,
    /// All of it, as UTF-8.
    #[debug(skip)]
    pub(super) reader: Box<dyn Read + Send>,
    /// Whether the file is UTF-16; it is read as UTF-8.
    pub is_utf_16: bool,
}

impl Source {
    /// Opens a file; `-` is stdin.
    ///
    /// # Errors
    /// When it cannot be read, or is no JSON at all.
    pub fn open(path: &Path) -> Result<Self, NotPayloads> {
        if path.as_os_str() == "-" {
            return Self::of("stdin", io::stdin());
        }
        Self::named(&path.display().to_string(), path)
    }

    /// Opens a file that has this name in messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn named(name: &str, path: &Path) -> Result<Self, NotPayloads> {
        let file = File::open(path).map_err(|error| unreadable(name, &error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(unreadable(name, &io::ErrorKind::IsADirectory.into()));
        }
        Self::of(name, file)
    }

    /// Reads a file whose lines are payloads or empty. `name` is its name in messages.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_lines(name: &str, path: &Path) -> Result<Self, NotPayloads> {
        let file = File::open(path).map_err(|error| unreadable(name, &error))?;
        // Detection would fail on a file that begins with empty lines.
        Ok(Self { name: name.to_owned(), head: b"{}\n".to_vec(), reader: Box::new(file), is_utf_16: false })
    }

    /// Reads from anything.
    ///
    /// # Errors
    /// When it cannot be read, or is no JSON at all.
    pub fn of(name: &str, mut input: impl Read + Send + 'static) -> Result<Self, NotPayloads> {
        let mut start = Vec::new();
        input.by_ref().take(LOOK as u64).read_to_end(&mut start).map_err(|error| unreadable(name, &error))?;
        let is_whole = start.len() < LOOK;
        let (mut reader, is_utf_16) = as_utf8(start, input);
        let mut head = Vec::new();
        reader.by_ref().take(LOOK as u64).read_to_end(&mut head).map_err(|error| unreadable(name, &error))?;
        let reader = Box::new(Cursor::new(head.clone()).chain(reader));
        Self { name: name.to_owned(), head, reader, is_utf_16 }.judged(is_whole)
    }

    /// Refuses a file that is not JSON.
    fn judged(self, is_whole: bool) -> Result<Self, NotPayloads> {
        let name = || self.name.clone();
        let Some(first) = self.head.iter().find(|byte| !is_space(**byte)) else {
            let other = NotPayloads::Else { name: name(), what: "only white space".to_owned() };
            return Err(if is_whole { NotPayloads::Empty(name()) } else { other });
        };
        if self.head.starts_with(b"\xff\xfe\0\0") {
            return Err(NotPayloads::Utf32(name()));
        }
        if let Some(what) = binary(&self.head) {
            return Err(NotPayloads::Else { name: name(), what: what.to_owned() });
        }
        if b"{[".contains(first) || has_an_object_on_a_line(&self.head) {
            return Ok(self);
        }
        if is_whole && let Ok(value) = serde_json::from_slice::<serde_json::Value>(&self.head) {
            let what = match value {
                serde_json::Value::String(_) => "a text",
                serde_json::Value::Number(_) => "a number",
                _ => "a single value",
            };
            return Err(NotPayloads::NoObject { name: name(), what });
        }
        Err(NotPayloads::Else { name: name(), what: text_like(&self.head).to_owned() })
    }
}

/// Says why a file cannot be read, without the number that the operating system adds.
fn unreadable(name: &str, error: &io::Error) -> NotPayloads {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder; use a file in it".to_owned(),
        _ => error.to_string(),
    };
    NotPayloads::Unreadable { name: name.to_owned(), reason }
}

/// The stream as UTF-8, and whether it is UTF-16. A zero byte has no place in JSON, so what has one where UTF-16 would is that.
fn as_utf8(head: Vec<u8>, rest: impl Read + Send + 'static) -> (Box<dyn Read + Send>, bool) {
    let (encoding, mark) = match head.as_slice() {
        [0xEF, 0xBB, 0xBF, ..] => (None, 3),
        [0xFF, 0xFE, 0, 0, ..] => (None, 0),
        [0xFF, 0xFE, ..] => (Some(UTF_16LE), 2),
        [0xFE, 0xFF, ..] => (Some(UTF_16BE), 2),
        [b'{' | b'[', 0, second, 0, ..] if *second != 0 => (Some(UTF_16LE), 0),
        [0, b'{' | b'[', 0, second, ..] if *second != 0 => (Some(UTF_16BE), 0),
        _ => (None, 0),
    };
    let mut head = Cursor::new(head);
    head.set_position(mark);
    let bytes = head.chain(rest);
    match encoding {
        None => (Box::new(bytes), false),
        Some(encoding) => (Box::new(Transcoded::new(bytes, encoding, Malformed::Fail)), true),
    }
}

/// Binary formats, by their first bytes.
const BINARY: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip archive or an Office document (such as .xlsx)"),
    (b"\x1f\x8b", "compressed (gzip)"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an Office document (such as .xls)"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\x7fELF", "a program"),
];

fn binary(head: &[u8]) -> Option<&'static str> {
    let known = BINARY.iter().find(|(start, _)| head.starts_with(start)).map(|(_, what)| *what);
    // JSON has no zero bytes, not even in strings.
    known.or_else(|| head.contains(&0).then_some("a binary file"))
}

/// Whether one of the first lines is a whole object: then the file is NDJSON, even if other lines are invalid.
fn has_an_object_on_a_line(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(5).any(is_object)
}

/// Whether a line is a whole object.
pub(super) fn is_object(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// What a text that is no JSON looks like.
fn text_like(head: &[u8]) -> &'static str {
    let start = head.trim_ascii_start();
    let begins = |what: &[u8]| start.get(..what.len()).is_some_and(|it| it.eq_ignore_ascii_case(what));
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let separators = |mark: u8| memchr::memchr_iter(mark, line).count();
    if begins(b"<!doctype html") || begins(b"<html") {
        "an HTML page"
    } else if begins(b"<") {
        "XML"
    } else if [b',', b';', b'\t', b'|'].into_iter().any(|mark| separators(mark) >= 2) {
        "a table of separated values (CSV)"
    } else if begins(b"---") {
        "YAML"
    } else {
        "plain text"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8]) -> Result<(String, bool), String> {
        let mut source = Source::of("cars.json", bytes).map_err(|error| error.to_string())?;
        let mut text = String::new();
        source.reader.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok((text, source.is_utf_16))
    }

    #[test]
    fn what_a_file_is_instead_of_json_is_told() {
        for (bytes, what) in [
            (&b"PK\x03\x04\x14\0"[..], "cars.json is a zip archive or an Office document (such as .xlsx), not JSON"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "cars.json is a JPEG image, not JSON"),
            (b"  <?xml version=\"1.0\"?>\n<ads/>", "cars.json is XML, not JSON"),
            (b"<!DOCTYPE html><html>", "cars.json is an HTML page, not JSON"),
            (b"id;brand;model\n1;volvo;v60\n", "cars.json is a table of separated values (CSV), not JSON"),
            (b"hello", "cars.json is plain text, not JSON"),
            (b"{\"a\":\0", "cars.json is a binary file, not JSON"),
            (b"\xff\xfe\0\0{\0\0\0", "cars.json is UTF-32 text, not JSON"),
            (b"\"car\"", "cars.json is JSON, but contains a text instead of an ad"),
            (b" 12\n", "cars.json is JSON, but contains a number instead of an ad"),
            (b"", "cars.json is empty"),
            (b" \r\n\xef", "cars.json is plain text, not JSON"),
            (b"\n\n  \n", "cars.json is empty"),
        ] {
            assert_eq!(read(bytes).unwrap_err(), what);
        }
    }

    #[test]
    fn utf_8_and_utf_16_are_read_with_and_without_a_mark() {
        assert_eq!(read(b"{}\n").unwrap(), ("{}\n".to_owned(), false));
        assert_eq!(read(b"\xef\xbb\xbf[{}]").unwrap(), ("[{}]".to_owned(), false));
        assert_eq!(read(b"\xff\xfe{\0\"\0\xe5\0\"\0").unwrap(), ("{\"å\"".to_owned(), true));
        assert_eq!(read(b"\xfe\xff\0{\0}").unwrap(), ("{}".to_owned(), true));
        assert_eq!(read(b"{\0\"\0\x3d\xd8\x97\xde\"\0").unwrap(), ("{\"🚗\"".to_owned(), true));
        assert_eq!(read(b"\xff\xfe{\0\x3d\xd8}\0").unwrap_err(), "cannot read cars.json: it contains invalid UTF-16");
    }

    #[test]
    fn a_bad_first_line_does_not_make_a_file_something_else() {
        assert!(read(b"# our stock\n{\"a\": 1}\n").is_ok());
    }
}
