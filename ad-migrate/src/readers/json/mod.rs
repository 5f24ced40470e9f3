//! JSON: an array of records, wherever in the text it is, or record after record (NDJSON). Records are cut from what has been read and
//! taken apart one by one, so that neither the length of the file nor one bad record matters.

mod ends;
mod find;
mod flat;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

use ends::End;
use flat::Flat;

use super::{
    Batch, Columns, Detected, Form, LONGEST_ROW, ReadError, Records, Settings, Trouble,
    encoding::Charset,
    feed::{Feed, Place},
    quoted, too_long,
};

/// The records of a JSON file.
#[derive(Debug)]
pub(super) struct Json {
    feed: Feed,
    charset: Charset,
    columns: Arc<Columns>,
    next: Next,
    /// Objects that are open around the array.
    around: usize,
    number: u64,
    path: String,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A record on a line.
    Line,
    /// A record, over any number of lines.
    Record,
    /// A record, or the end of the array.
    FirstItem,
    /// A record of the array.
    Item,
    /// A comma, or the end of the array.
    Comma,
    /// The one record that there is.
    Only,
    /// What is around it.
    Close,
    /// Nothing.
    End,
}

/// A record, cut.
enum Cut {
    Record(usize),
    TooLong,
}

impl Json {
    /// Finds the records.
    ///
    /// # Errors
    /// When there are none where they should be.
    pub(super) fn open(
        feed: Feed,
        settings: &Settings,
        charset: Charset,
        detected: &mut Detected,
    ) -> Result<Self, ReadError> {
        let columns = Arc::default();
        let mut json = Self { feed, charset, columns, next: Next::End, around: 0, number: 0, path: String::new() };
        if detected.form == Form::Ndjson {
            if settings.rows.is_some() {
                let message = "In NDJSON, each line is a record: rows cannot be set.";
                return Err(ReadError::new(message).hint("Leave rows out, or set form = \"json\"."));
            }
            json.next = if are_lines(json.feed.rest()) { Next::Line } else { Next::Record };
            return Ok(json);
        }
        json.skip_space();
        let place = find::find(json.feed.rest());
        let is_array = json.feed.rest().first() == Some(&b'[');
        let path: Vec<String> = match &settings.rows {
            Some(rows) => rows.split('.').map(str::to_owned).collect(),
            None if is_array => Vec::new(),
            None if !place.repeats && place.path.is_empty() => {
                detected.notes.push(
                    "Records: the text is one object without a list of objects that has most of it; it is the record."
                        .to_owned(),
                );
                json.next = Next::Only;
                return Ok(json);
            }
            None => place.path,
        };
        if !path.is_empty() {
            let rows = path.join(".");
            if settings.rows.is_none() {
                let values = place.values;
                detected.notes.push(format!(
                    "Records: in {rows}, the list of objects that has most of the file's different values ({values})."
                ));
                for beside in place.beside {
                    detected.notes.push(format!(
                        "Beside them is another list of objects, {beside:?}, which is not read; set rows for it."
                    ));
                }
            }
            detected.rows = Some(rows);
        }
        json.descend(&path)?;
        Ok(json)
    }

    /// Goes into the array at a path.
    fn descend(&mut self, path: &[String]) -> Result<(), ReadError> {
        for (depth, name) in path.iter().enumerate() {
            let so_far = path[..=depth].join(".");
            self.expect(b'{', &so_far)?;
            self.around += 1;
            self.find_member(name, &so_far)?;
        }
        if self.peek() == Some(b'{') && !path.is_empty() {
            self.next = Next::Only;
            return Ok(());
        }
        self.expect(b'[', &path.join("."))?;
        self.next = Next::FirstItem;
        Ok(())
    }

    /// Goes to the value of a member of the object that was opened last.
    fn find_member(&mut self, name: &str, so_far: &str) -> Result<(), ReadError> {
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
            let Some(Cut::Record(length)) = self.cut() else {
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
            self.skip_value(End::default())?;
            if self.peek() == Some(b',') {
                self.feed.skip(1);
            }
        }
    }

    fn skip_space(&mut self) {
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
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.feed.rest().first().copied()
    }

    fn expect(&mut self, byte: u8, at: &str) -> Result<(), ReadError> {
        if self.peek() == Some(byte) {
            self.feed.skip(1);
            return Ok(());
        }
        let sign = char::from(byte);
        let at = if at.is_empty() { String::new() } else { format!(" at {at:?}") };
        Err(self.expected(&format!("{sign}{at}")))
    }

    /// Goes behind a value of any length.
    fn skip_value(&mut self, mut end: End) -> Result<(), ReadError> {
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
    fn cut(&mut self) -> Option<Cut> {
        let (mut end, mut seen) = (End::default(), 0);
        loop {
            if let Some(length) = end.find(&self.feed.rest()[seen..]) {
                return Some(Cut::Record(seen + length));
            }
            seen = self.feed.rest().len();
            if seen > LONGEST_ROW {
                let place = self.feed.place();
                self.feed.skip(seen);
                self.skip_value(end).ok()?;
                debug_assert!(place.line <= self.feed.place().line);
                return Some(Cut::TooLong);
            }
            if !self.feed.more() {
                // A number may end with the file.
                let is_scalar = seen > 0 && !b"{[\"".contains(&self.feed.rest()[0]) && !self.feed.is_cut();
                return is_scalar.then_some(Cut::Record(seen));
            }
        }
    }

    /// Reads one record, if there is one; `false` at the end.
    fn record(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            if self.next == Next::Line {
                return self.line(batch);
            }
            let Some(byte) = self.peek() else { return self.at_end() };
            match (self.next, byte) {
                (Next::End, _) => return Err(self.expected("nothing behind the end of the JSON text")),
                (Next::FirstItem | Next::Comma, b']') => {
                    self.feed.skip(1);
                    self.next = if self.around > 0 { Next::Close } else { Next::End };
                }
                (Next::Close, _) => {
                    self.skip_value(End::of_open(self.around))?;
                    self.next = Next::End;
                }
                (Next::Comma, b',') => {
                    self.feed.skip(1);
                    self.next = Next::Item;
                }
                (Next::Comma, byte) if byte != b'{' => return Err(self.expected("a comma or ]")),
                (_, b',' | b':' | b']' | b'}') => return Err(self.expected("a record, {…}")),
                (now, _) => {
                    let place = self.feed.place();
                    let Some(cut) = self.cut() else { return Err(self.half("a record")) };
                    self.number += 1;
                    batch.begin(self.number, place.line);
                    self.next = match now {
                        Next::Only if self.around > 0 => Next::Close,
                        Next::Only => Next::End,
                        Next::Record => Next::Record,
                        _ => Next::Comma,
                    };
                    match cut {
                        Cut::Record(length) => {
                            if now == Next::Comma {
                                batch.trouble(broken("a comma is missing before it", place));
                            }
                            self.push(length, batch);
                            self.feed.skip(length);
                        }
                        Cut::TooLong => batch.trouble(too_long()),
                    }
                    return Ok(true);
                }
            }
        }
    }

    fn at_end(&mut self) -> Result<bool, ReadError> {
        self.feed.check()?;
        match self.next {
            Next::End | Next::Record => Ok(false),
            Next::Only => Err(self.half("the record")),
            _ => Err(self.half("the array of records: ] is missing")),
        }
    }

    /// Reads the record of a line.
    fn line(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            let rest = self.feed.rest();
            match memchr::memchr(b'\n', rest) {
                Some(end) if rest[..end].trim_ascii().is_empty() => self.feed.skip(end + 1),
                Some(end) => return Ok(self.whole_line(end + 1, batch)),
                None if rest.len() > LONGEST_ROW => {
                    self.number += 1;
                    batch.begin(self.number, self.feed.place().line);
                    batch.trouble(too_long());
                    self.skip_line();
                    return Ok(true);
                }
                None if self.feed.more() => {}
                None => {
                    self.feed.check()?;
                    let length = self.feed.rest().len();
                    return Ok(!self.feed.rest().trim_ascii().is_empty() && self.whole_line(length, batch));
                }
            }
        }
    }

    fn whole_line(&mut self, length: usize, batch: &mut Batch) -> bool {
        self.number += 1;
        batch.begin(self.number, self.feed.place().line);
        self.push(length, batch);
        self.feed.skip(length);
        true
    }

    fn skip_line(&mut self) {
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

    /// Takes a record apart.
    fn push(&mut self, length: usize, batch: &mut Batch) {
        let place = self.feed.place();
        let bytes = &self.feed.rest()[..length];
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                let text = String::from_utf8_lossy(bytes);
                let (good, bad) = bytes.split_at(error.valid_up_to());
                let near = String::from_utf8_lossy(&bad[..bad.len().min(40)]);
                let line = place.after(good).line;
                batch.trouble(super::foreign_record(self.charset, line, &near));
                text
            }
        };
        let text = text.trim_ascii();
        if !text.starts_with('{') {
            batch.trouble(broken(&format!("it is no object, but {}", quoted(text)), place));
            return;
        }
        self.path.clear();
        let flat = Flat { columns: &mut self.columns, batch, path: &mut self.path, depth: 0 };
        if let Err(error) = flat.record(text) {
            let at =
                Place { line: place.line + (error.line() as u64).saturating_sub(1), column: error.column() as u64 };
            batch.trouble(broken(&error.to_string(), at));
        }
    }

    fn broken(&mut self, message: String) -> ReadError {
        self.feed.check().err().unwrap_or_else(|| ReadError::new(message))
    }

    fn expected(&mut self, what: &str) -> ReadError {
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

    fn half(&mut self, what: &str) -> ReadError {
        let Place { line, column } = self.feed.place().after(self.feed.rest());
        let begun = self.feed.place();
        let from = if begun.line == line { String::new() } else { format!(" that begins in line {}", begun.line) };
        self.broken(format!("Half-written JSON: the file ends in line {line}, column {column}, within {what}{from}."))
            .hint("Have the file written again, whole.")
    }
}

fn broken(what: &str, Place { line, column }: Place) -> Trouble {
    Trouble {
        reason: "the record is no JSON object",
        column: None,
        message: format!("The record in line {line}, column {column}, cannot be read: {what}."),
        advice: Some("Have whatever writes the file write valid JSON.".to_owned()),
    }
}

/// Whether another object begins behind the first one.
pub(super) fn another_follows(text: &[u8]) -> bool {
    End::default().find(text).is_some_and(|end| text[end..].trim_ascii_start().first() == Some(&b'{'))
}

/// Whether the first lines are objects, each by itself.
fn are_lines(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(5);
    let whole = |line: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    let (mut good, mut all) = (0, 0);
    for line in lines {
        good += usize::from(whole(line));
        all += 1;
    }
    good * 2 >= all
}

impl Records for Json {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        batch.clear(Arc::default());
        let mut filled = Ok(true);
        while !batch.is_full() && matches!(filled, Ok(true)) {
            filled = self.record(batch);
        }
        batch.set_columns(self.columns.clone());
        filled
    }
}
