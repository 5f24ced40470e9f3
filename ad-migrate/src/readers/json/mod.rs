//! JSON: an array of records, anywhere in the text, or one record after another (NDJSON). Records are cut from the text and parsed one by
//! one, so that files may have any length, and a bad record does not affect others.

mod find;
mod flat;
#[cfg(test)]
mod tests;
mod walk;

use ad_cli::bulk::payloads::JsonEnd;
use std::{borrow::Cow, sync::Arc};

use flat::Flat;
use walk::{Cut, Walk};

use super::{
    Batch, ColumnId, Columns, Detected, Form, LONGEST_ROW, ReadError, Records, Settings,
    encoding::Charset,
    error,
    feed::{Feed, Place},
    foreign_text, quoted, too_long,
};
use crate::finding::Finding;

/// The records of a JSON file.
#[derive(Debug)]
pub(super) struct JsonRecords {
    walk: Walk,
    charset: Charset,
    columns: Arc<Columns>,
    next: Next,
    /// Objects that are open around the array.
    around: usize,
    /// The column of the keys, if the records are the members of an object.
    key: Option<ColumnId>,
    number: u64,
    path: String,
}

/// The column of the names of members, where these are the records.
const KEY: &str = "@key";

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

impl JsonRecords {
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
        let (next, path) = (Next::End, String::new());
        let mut json = Self { walk: Walk { feed }, charset, columns, next, around: 0, key: None, number: 0, path };
        if detected.form == Form::Ndjson {
            if settings.rows.is_some() {
                let message = "In NDJSON, each line is a record: rows cannot be set.";
                return Err(ReadError::new(message).hint("Leave rows out, or set form = \"json\"."));
            }
            json.next = if are_lines(json.walk.feed.rest()) { Next::Line } else { Next::Record };
            return Ok(json);
        }
        json.walk.skip_space();
        let place = find::find(json.walk.feed.rest());
        let is_array = json.walk.feed.rest().first() == Some(&b'[');
        let path: Vec<String> = match &settings.rows {
            Some(rows) => rows.split('.').map(str::to_owned).collect(),
            None if is_array => Vec::new(),
            None if !place.repeats && place.path.is_empty() => {
                let note =
                    "Records: the text is one object without a list of objects that has most of it; it is the record.";
                detected.notes.push(note.to_owned());
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

    /// Enters the array at a path.
    ///
    /// `*` as the last name means the members of an object, whatever their names, which are the column [`KEY`].
    fn descend(&mut self, path: &[String]) -> Result<(), ReadError> {
        let (path, is_any) = match path.split_last() {
            Some((last, path)) if last == "*" => (path, true),
            _ => (path, false),
        };
        for (depth, name) in path.iter().enumerate() {
            let so_far = path[..=depth].join(".");
            self.walk.expect(b'{', &so_far)?;
            self.around += 1;
            self.walk.find_member(name, &so_far)?;
        }
        if is_any && self.walk.peek() == Some(b'{') {
            self.walk.feed.skip(1);
            self.key = Some(Arc::make_mut(&mut self.columns).add(KEY));
            self.next = Next::FirstItem;
            return Ok(());
        }
        if self.walk.peek() == Some(b'{') && !path.is_empty() {
            self.next = Next::Only;
            return Ok(());
        }
        self.walk.expect(b'[', &path.join("."))?;
        self.next = Next::FirstItem;
        Ok(())
    }

    fn at_end(&mut self) -> Result<bool, ReadError> {
        self.walk.feed.check()?;
        match self.next {
            Next::End | Next::Record => Ok(false),
            Next::Only => Err(self.walk.half("the record")),
            _ => Err(self.walk.half("the array of records: ] is missing")),
        }
    }

    /// The end of what the records are in.
    fn end(&self) -> u8 {
        if self.key.is_some() { b'}' } else { b']' }
    }

    /// Reads a member of an object as a record.
    fn member(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        let line = self.walk.feed.place().line;
        let Some(Cut::Whole(length)) = self.walk.cut() else {
            return Err(self.walk.half("the name of a member"));
        };
        let key: Option<String> = serde_json::from_slice(&self.walk.feed.rest()[..length]).ok();
        self.walk.feed.skip(length);
        self.walk.expect(b':', "")?;
        self.walk.skip_space();
        let Some(cut) = self.walk.cut() else { return Err(self.walk.half("a record")) };
        self.number += 1;
        self.next = Next::Comma;
        batch.begin(self.number, line);
        if let (Some(column), Some(key)) = (self.key, key) {
            batch.push(column, &key);
        }
        match cut {
            Cut::Whole(length) => {
                self.push(length, batch);
                self.walk.feed.skip(length);
            }
            Cut::TooLong => batch.error(too_long()),
        }
        Ok(true)
    }

    /// Reads the record of a line.
    fn line(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            let rest = self.walk.feed.rest();
            match memchr::memchr(b'\n', rest) {
                Some(end) if rest[..end].trim_ascii().is_empty() => self.walk.feed.skip(end + 1),
                Some(end) => return Ok(self.whole_line(end + 1, batch)),
                None if rest.len() > LONGEST_ROW => {
                    self.number += 1;
                    batch.begin(self.number, self.walk.feed.place().line);
                    batch.error(too_long());
                    self.walk.feed.skip_line(b'\n');
                    return Ok(true);
                }
                None if self.walk.feed.more() => {}
                None => {
                    self.walk.feed.check()?;
                    let length = self.walk.feed.rest().len();
                    return Ok(!self.walk.feed.rest().trim_ascii().is_empty() && self.whole_line(length, batch));
                }
            }
        }
    }

    fn whole_line(&mut self, length: usize, batch: &mut Batch) -> bool {
        self.number += 1;
        batch.begin(self.number, self.walk.feed.place().line);
        self.push(length, batch);
        self.walk.feed.skip(length);
        true
    }

    /// Parses a record.
    fn push(&mut self, length: usize, batch: &mut Batch) {
        let place = self.walk.feed.place();
        let bytes = &self.walk.feed.rest()[..length];
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                let text = String::from_utf8_lossy(bytes);
                let (good, bad) = bytes.split_at(error.valid_up_to());
                let near = String::from_utf8_lossy(&bad[..bad.len().min(40)]);
                let line = place.after(good).line;
                let place = format!("The record contains bytes in line {line}");
                batch.error(foreign_text(self.charset, &place, &near));
                text
            }
        };
        let text = text.trim_ascii();
        if !text.starts_with('{') {
            batch.error(broken(&format!("it is no object, but {}", quoted(text)), place));
            return;
        }
        self.path.clear();
        let flat = Flat { columns: &mut self.columns, batch, path: &mut self.path, depth: 0 };
        if let Err(error) = flat.record(text) {
            let at =
                Place { line: place.line + (error.line() as u64).saturating_sub(1), column: error.column() as u64 };
            batch.error(broken(&error.to_string(), at));
        }
    }
}

/// A record that cannot be read.
fn broken(what: &str, Place { line, column }: Place) -> Finding {
    let message = format!("The record in line {line}, column {column}, cannot be read: {what}.");
    error("the record is no JSON object", message, "Have whatever writes the file write valid JSON.")
}

/// Whether another object begins behind the first one.
pub(super) fn another_follows(text: &[u8]) -> bool {
    JsonEnd::default().find(text).is_some_and(|end| text[end..].trim_ascii_start().first() == Some(&b'{'))
}

/// The first lines that are not empty.
fn first_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(5)
}

/// Whether at least half of the first lines are whole JSON values.
fn are_lines(text: &[u8]) -> bool {
    let is_whole = |line: &&[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    first_lines(text).filter(is_whole).count() * 2 >= first_lines(text).count()
}

/// Whether a text has a JSON object on each line.
pub(super) fn is_ndjson(text: &[u8]) -> bool {
    first_lines(text).filter(|line| line.first() == Some(&b'{')).count() > 1 && are_lines(text)
}

impl Records for JsonRecords {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            if self.next == Next::Line {
                return self.line(batch);
            }
            let Some(byte) = self.walk.peek() else { return self.at_end() };
            match (self.next, byte) {
                (Next::End, _) => return Err(self.walk.expected("nothing behind the end of the JSON text")),
                (Next::FirstItem | Next::Comma, end) if end == self.end() => {
                    self.walk.feed.skip(1);
                    self.next = if self.around > 0 { Next::Close } else { Next::End };
                }
                (Next::Close, _) => {
                    self.walk.skip_value(JsonEnd::of_open(self.around))?;
                    self.next = Next::End;
                }
                (Next::Comma, b',') => {
                    self.walk.feed.skip(1);
                    self.next = Next::Item;
                }
                (Next::FirstItem | Next::Item, b'"') if self.key.is_some() => return self.member(batch),
                (Next::Comma, byte) if byte != b'{' || self.key.is_some() => {
                    return Err(self.walk.expected("a comma or ]"));
                }
                (Next::FirstItem | Next::Item, _) if self.key.is_some() => {
                    return Err(self.walk.expected("the name of a member in quotes"));
                }
                (_, b',' | b':' | b']' | b'}') => return Err(self.walk.expected("a record, {…}")),
                (now, _) => {
                    let place = self.walk.feed.place();
                    let Some(cut) = self.walk.cut() else { return Err(self.walk.half("a record")) };
                    self.number += 1;
                    batch.begin(self.number, place.line);
                    self.next = match now {
                        Next::Only if self.around > 0 => Next::Close,
                        Next::Only => Next::End,
                        Next::Record => Next::Record,
                        _ => Next::Comma,
                    };
                    match cut {
                        Cut::Whole(length) => {
                            if now == Next::Comma {
                                batch.error(broken("a comma is missing before it", place));
                            }
                            self.push(length, batch);
                            self.walk.feed.skip(length);
                        }
                        Cut::TooLong => batch.error(too_long()),
                    }
                    return Ok(true);
                }
            }
        }
    }

    fn columns(&self) -> Arc<Columns> {
        self.columns.clone()
    }
    fn add_column(&mut self, name: &str) -> ColumnId {
        Arc::make_mut(&mut self.columns).add(name)
    }
}
