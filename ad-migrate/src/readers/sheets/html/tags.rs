//! The tags of a page and the texts between them.

use std::io::{self, BufRead, BufReader};

use super::LONGEST;

/// A tag, or the text between two.
pub(super) enum Piece<'a> {
    Tag(Tag<'a>),
    Text(&'a str),
}

pub(super) struct Tag<'a> {
    /// In lower case, with its `/` if it ends an element.
    pub(super) name: String,
    /// All of it, without `<` and `>`.
    pub(super) text: &'a str,
}

impl Tag<'_> {
    /// The number that a spreadsheet program says a cell has, and the code of its format if that is known.
    pub(super) fn number(&self) -> Option<(String, Option<String>)> {
        if !self.text.contains('=') {
            return None;
        }
        let text = |name: &str| self.attribute(name).map(|text| htmlize::unescape_attribute(&text).into_owned());
        let found = if let Some(number) = text("sdval") {
            let code = text("sdnum").unwrap_or_default().splitn(3, ';').nth(2).unwrap_or_default().to_owned();
            (number, Some(code))
        } else if text("data-t").is_some_and(|kind| kind == "n") {
            (text("data-v")?, Some(text("data-z").unwrap_or_default()))
        } else {
            (text("x:num")?, None)
        };
        found.0.parse::<f64>().is_ok().then_some(found)
    }

    /// The value of an attribute, as it is written.
    pub(super) fn attribute(&self, wanted: &str) -> Option<String> {
        let mut rest = self.text.trim_start_matches('/');
        rest = &rest[rest.find(char::is_whitespace)?..];
        loop {
            rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end.max(1).min(rest.len()));
            let behind = behind.trim_start();
            let Some(value) = behind.strip_prefix('=') else {
                rest = behind;
                continue;
            };
            let value = value.trim_start();
            let (value, behind) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value.to_owned());
            }
            rest = behind;
        }
    }
}

/// The tags and texts of a page, one by one.
pub(super) struct Tags<R> {
    bytes: BufReader<R>,
    raw: Vec<u8>,
    text: String,
    /// Whether the next piece is a tag.
    is_tag: bool,
}

impl<R: io::Read> Tags<R> {
    pub(super) fn new(bytes: R) -> Self {
        Self { bytes: BufReader::new(bytes), raw: Vec::new(), text: String::new(), is_tag: false }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.raw.clear();
        if !std::mem::replace(&mut self.is_tag, true) {
            // Behind the last text, there is no tag.
            self.is_tag = self.until(b'<')?;
            if self.raw.is_empty() && !self.is_tag {
                return Ok(None);
            }
            self.text = String::from_utf8_lossy(&self.raw).into_owned();
            return Ok(Some(Piece::Text(&self.text)));
        }
        self.is_tag = false;
        // What looks like a tag and is none belongs to the text.
        let first = self.bytes.fill_buf()?.first();
        if !first.is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'/' | b'!' | b'?')) {
            return Ok(Some(Piece::Text("<")));
        }
        while self.until(b'>')? && !is_closed(&self.raw) {
            self.raw.push(b'>');
        }
        self.text = String::from_utf8_lossy(&self.raw).into_owned();
        let end = self.text.find(|letter: char| letter.is_whitespace()).unwrap_or(self.text.len());
        let name = self.text[..end].to_ascii_lowercase();
        if name == "script" || name == "style" {
            self.skip_to_end_of(&name)?;
        }
        Ok(Some(Piece::Tag(Tag { name, text: &self.text })))
    }

    /// Reads up to a byte and past it; whether it was found.
    fn until(&mut self, end: u8) -> io::Result<bool> {
        loop {
            let available = self.bytes.fill_buf()?;
            if available.is_empty() {
                return Ok(false);
            }
            let found = memchr::memchr(end, available);
            let length = found.unwrap_or(available.len());
            self.raw.extend_from_slice(&available[..length]);
            self.bytes.consume(length + usize::from(found.is_some()));
            if self.raw.len() > LONGEST {
                return Err(io::Error::other(format!("a tag or text is longer than {} MiB", LONGEST >> 20)));
            }
            if found.is_some() {
                return Ok(true);
            }
        }
    }

    /// Passes over the content of an element that is no text.
    fn skip_to_end_of(&mut self, name: &str) -> io::Result<()> {
        let end = format!("/{name}");
        loop {
            self.raw.clear();
            if !self.until(b'<')? {
                return Ok(());
            }
            self.raw.clear();
            let is_found = self.until(b'>')?;
            let begin = self.raw.get(..end.len()).unwrap_or_default();
            if begin.eq_ignore_ascii_case(end.as_bytes()) || !is_found {
                return Ok(());
            }
        }
    }
}

/// Whether a tag ends with the text so far: not within quotes of an attribute, nor within a comment.
fn is_closed(text: &[u8]) -> bool {
    if text.starts_with(b"!--") {
        return text.len() >= 5 && text.ends_with(b"--");
    }
    let mut quote = None;
    let mut before = b' ';
    for byte in text {
        match quote {
            Some(open) if *byte == open => quote = None,
            // Only behind =, a quote begins a value.
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(*byte),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = *byte;
        }
    }
    quote.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_may_be_quoted_or_not() {
        let tag = Tag { name: "td".to_owned(), text: "td class=xl24 colspan = '2' ROWSPAN=\"3\" x:str nowrap" };
        let of = |name| tag.attribute(name);
        assert_eq!(of("class").as_deref(), Some("xl24"));
        assert_eq!(of("colspan").as_deref(), Some("2"));
        assert_eq!(of("rowspan").as_deref(), Some("3"));
        assert_eq!((of("x:str"), of("style")), (None, None));
    }
}
