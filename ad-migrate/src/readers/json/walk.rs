//! Moves through a JSON text of any length, and skips or cuts values.

use ad_files::JsonEnd;

use super::JsonRecords;
use crate::readers::{LONGEST_ROW, ReadError, feed::Place, quoted};

/// A value, cut out of the text.
pub(super) enum Cut {
    /// The value has this length, in bytes.
    Whole(usize),
    /// It exceeds the limit on rows and has been skipped.
    TooLong,
}

impl JsonRecords {
    /// Moves to the value of a member of the current object, or to its end if it has no such member.
    pub(super) fn find_member(&mut self, name: &str, so_far: &str) -> Result<bool, ReadError> {
        while !matches!(self.peek(), Some(b'}') | None) {
            if self.name(so_far)?.as_deref() == Some(name) {
                return Ok(true);
            }
            self.skip_value(JsonEnd::default())?;
            if self.peek() == Some(b',') {
                self.feed.skip(1);
            }
        }
        Ok(false)
    }

    /// Reads the name of a member, and what separates it from its value.
    pub(super) fn name(&mut self, so_far: &str) -> Result<Option<String>, ReadError> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("the name of a member in quotes"));
        }
        let Some(Cut::Whole(length)) = self.cut() else {
            return Err(self.truncated("the name of a member"));
        };
        let name = serde_json::from_slice(&self.feed.rest()[..length]).ok();
        self.feed.skip(length);
        self.expect(b':', so_far)?;
        self.skip_space();
        Ok(name)
    }

    /// The error that there are no records at a path.
    pub(super) fn no_member(&mut self, so_far: &str) -> ReadError {
        self.broken(format!("There is no {so_far:?} in the file, where the records should be."))
            .hint("Set rows to where they are, or leave it out to have them looked for.")
    }

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

    /// The next byte that is not white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.feed.rest().first().copied()
    }

    /// Skips a byte that must come next.
    pub(super) fn expect(&mut self, byte: u8, at: &str) -> Result<(), ReadError> {
        if self.peek() == Some(byte) {
            self.feed.skip(1);
            return Ok(());
        }
        let sign = char::from(byte);
        let at = if at.is_empty() { String::new() } else { format!(" at {at:?}") };
        Err(self.expected(&format!("{sign}{at}")))
    }

    /// Skips a value of any length.
    pub(super) fn skip_value(&mut self, mut end: JsonEnd) -> Result<(), ReadError> {
        loop {
            if let Some(length) = end.find(self.feed.rest()) {
                self.feed.skip(length);
                return Ok(());
            }
            self.feed.skip(self.feed.rest().len());
            if !self.feed.more() {
                return Err(self.truncated("a value"));
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

    /// An error at the current position; an I/O error takes precedence.
    fn broken(&mut self, message: String) -> ReadError {
        self.feed.check().err().unwrap_or_else(|| ReadError::new(message))
    }

    /// The error that something else was expected.
    pub(super) fn expected(&mut self, what: &str) -> ReadError {
        let Place { line, column } = self.feed.place();
        let found = match self.feed.rest() {
            [] => "the end of the file".to_owned(),
            rest => quoted(&String::from_utf8_lossy(&rest[..rest.len().min(20)])),
        };
        self.broken(format!("Invalid JSON in line {line}, column {column}: expected {what}, found {found}."))
            .hint("Rows before that have been read.")
    }

    /// The error that the file ends within something.
    pub(super) fn truncated(&mut self, what: &str) -> ReadError {
        let Place { line, column } = self.feed.place().after(self.feed.rest());
        let begun = self.feed.place();
        let from = if begun.line == line { String::new() } else { format!(" that begins in line {}", begun.line) };
        self.broken(format!("Truncated JSON: the file ends in line {line}, column {column}, within {what}{from}."))
            .hint("Have the file written again, whole.")
    }
}
