//! Going through a JSON text of any length: into it, over what is not wanted, and to the end of what is.

use crate::readers::{
    LONGEST_ROW, ReadError,
    feed::{Feed, Place},
    quoted,
};
use ad_cli::bulk::payloads::JsonEnd;

/// A JSON text, and where in it one is.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) feed: Feed,
}

/// A value, cut.
pub(super) enum Cut {
    /// It has so many bytes.
    Whole(usize),
    /// It is longer than any row may be, and has been passed over.
    TooLong,
}

impl Walk {
    /// Goes to the value of a member of the object that was opened last.
    pub(super) fn find_member(&mut self, name: &str, so_far: &str) -> Result<(), ReadError> {
        loop {
            match self.peek() {
                Some(b'"') => {}
                Some(b'}') | None => {
                    let message = format!("There is no {so_far:?} in the file, where the records should be.");
                    return Err(self
                        .broken(message)
                        .hint("Set rows to where they are, or leave it out to have them looked for."));
                }
                Some(_) => return Err(self.expected("the name of a member in quotes")),
            }
            let Some(Cut::Whole(length)) = self.cut() else {
                return Err(self.half("the name of a member"));
            };
            let key: Option<String> = serde_json::from_slice(&self.feed.rest()[..length]).ok();
            self.feed.skip(length);
            self.expect(b':', so_far)?;
            if key.as_deref() == Some(name) {
                self.skip_space();
                return Ok(());
            }
            self.skip_space();
            self.skip_value(JsonEnd::default())?;
            if self.peek() == Some(b',') {
                self.feed.skip(1);
            }
        }
    }

    /// Goes to the next byte that is no white space.
    pub(super) fn skip_space(&mut self) {
        loop {
            let rest = self.feed.rest();
            let space = rest.iter().position(|byte| !byte.is_ascii_whitespace());
            match space {
                Some(length) => return self.feed.skip(length),
                None => self.feed.skip(rest.len()),
            }
            if !self.feed.more() {
                return;
            }
        }
    }

    /// The next byte that is no white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.feed.rest().first().copied()
    }

    /// Goes behind a sign that must come next.
    pub(super) fn expect(&mut self, byte: u8, at: &str) -> Result<(), ReadError> {
        if self.peek() == Some(byte) {
            self.feed.skip(1);
            return Ok(());
        }
        let sign = char::from(byte);
        let at = if at.is_empty() { String::new() } else { format!(" at {at:?}") };
        Err(self.expected(&format!("{sign}{at}")))
    }

    /// Goes behind a value of any length.
    pub(super) fn skip_value(&mut self, mut end: JsonEnd) -> Result<(), ReadError> {
        loop {
            if let Some(length) = end.find(self.feed.rest()) {
                self.feed.skip(length);
                return Ok(());
            }
            self.feed.skip(self.feed.rest().len());
            if !self.feed.more() {
                return Err(self.half("a value"));
            }
        }
    }

    /// Finds the end of the value that begins here; `None` when the file ends first.
    pub(super) fn cut(&mut self) -> Option<Cut> {
        let (mut end, mut seen) = (JsonEnd::default(), 0);
        loop {
            if let Some(length) = end.find(&self.feed.rest()[seen..]) {
                return Some(Cut::Whole(seen + length));
            }
            seen = self.feed.rest().len();
            if seen > LONGEST_ROW {
                self.feed.skip(seen);
                self.skip_value(end).ok()?;
                return Some(Cut::TooLong);
            }
            if !self.feed.more() {
                // A number may end with the file.
                let is_scalar = seen > 0 && !b"{[\"".contains(&self.feed.rest()[0]) && !self.feed.is_cut();
                return is_scalar.then_some(Cut::Whole(seen));
            }
        }
    }

    /// Goes behind the line.
    pub(super) fn skip_line(&mut self) {
        loop {
            if let Some(end) = memchr::memchr(b'\n', self.feed.rest()) {
                return self.feed.skip(end + 1);
            }
            self.feed.skip(self.feed.rest().len());
            if !self.feed.more() {
                return;
            }
        }
    }

    /// Why the text cannot be read on: first of all, because the file cannot.
    fn broken(&mut self, message: String) -> ReadError {
        self.feed.check().err().unwrap_or_else(|| ReadError::new(message))
    }

    /// That something else should be here.
    pub(super) fn expected(&mut self, what: &str) -> ReadError {
        let Place { line, column } = self.feed.place();
        let found = match self.feed.rest() {
            [] => "the end of the file".to_owned(),
            rest => quoted(&String::from_utf8_lossy(&rest[..rest.len().min(20)])),
        };
        self.broken(format!(
            "No JSON any more in line {line}, column {column}: {what} was expected, and there is {found}."
        ))
        .hint("Rows before that have been read.")
    }

    /// That the file ends in the middle of something.
    pub(super) fn half(&mut self, what: &str) -> ReadError {
        let Place { line, column } = self.feed.place().after(self.feed.rest());
        let begun = self.feed.place();
        let from = if begun.line == line { String::new() } else { format!(" that begins in line {}", begun.line) };
        self.broken(format!("Truncated JSON: the file ends in line {line}, column {column}, within {what}{from}."))
            .hint("Have the file written again, whole.")
    }
}
