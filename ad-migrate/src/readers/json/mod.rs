//! JSON: an array of records, anywhere in the text, or one record after another (NDJSON). Records are cut from the text and parsed one by
//! one, so that files may have any length, and a bad record does not affect others.

mod find;
mod flat;
#[cfg(test)]
mod tests;
mod walk;

use std::{borrow::Cow, sync::Arc};

use ad_files::JsonEnd;
use flat::Flat;
use walk::Cut;

use super::{
    Batch, ColumnId, Columns, Detected, Form, LONGEST_ROW, ReadError, Records, Settings, error,
    feed::{Feed, Place},
    foreign_text, quoted, too_long,
};
use crate::finding::Finding;

/// The records of a JSON file.
#[derive(Debug)]
pub(super) struct JsonRecords {
    feed: Feed,
    columns: Arc<Columns>,
    next: Next,
    /// The names that lead to the records.
    steps: Vec<String>,
    /// The objects and lists that are open around the current position; the last one has the records.
    open: Vec<Open>,
    number: u64,
    path: String,
}

/// Means every member of an object or item of a list.
const ANY: &str = "*";

/// The column of the names of members that [`ANY`] stands for; of a second one, `@key2`.
const KEY: &str = "@key";

/// An object or a list that is open.
#[derive(Debug)]
struct Open {
    /// Where its name is among the steps, if all of its members or items are meant.
    any: Option<usize>,
    /// The bracket that closes it: `}` or `]`.
    end: u8,
    /// The column of the names of its members.
    column: Option<ColumnId>,
    /// The name of the current one.
    key: Option<String>,
}

/// What the parser expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The value of such a step.
    Enter(usize),
    /// The first member or item of what is open.
    FirstChild,
    /// What follows such a value.
    Up,
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
    /// Nothing but the end of the file.
    End,
}

impl JsonRecords {
    /// Finds the records.
    ///
    /// # Errors
    /// When there are none where they should be.
    pub(super) fn open(feed: Feed, settings: &Settings, detected: &mut Detected) -> Result<Self, ReadError> {
        let columns = Arc::default();
        let (next, steps, open, path) = (Next::End, Vec::new(), Vec::new(), String::new());
        let mut json = Self { feed, columns, next, steps, open, number: 0, path };
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
        json.steps = path;
        json.next = Next::Enter(0);
        while json.is_on_the_way() {
            json.go_on()?;
        }
        Ok(json)
    }

    /// Whether no record comes next.
    fn is_on_the_way(&self) -> bool {
        matches!(self.next, Next::Enter(_) | Next::FirstChild | Next::Up)
    }

    /// Goes on towards the next record.
    fn go_on(&mut self) -> Result<(), ReadError> {
        match self.next {
            Next::Enter(step) => self.enter(step),
            Next::FirstChild => self.child(false),
            _ => self.up(),
        }
    }

    /// Enters the value of a step. Below [`ANY`], values that lack the next name are passed over.
    fn enter(&mut self, step: usize) -> Result<(), ReadError> {
        let so_far = self.steps[..self.steps.len().min(step + 1)].join(".");
        let is_below_any = self.open.iter().any(|open| open.any.is_some());
        let byte = self.peek();
        match self.steps.get(step).map(String::as_str) {
            Some(ANY) if matches!(byte, Some(b'{' | b'[')) => {
                let is_object = byte == Some(b'{');
                let column = is_object.then(|| self.key_column(step));
                self.open_value(Some(step), column);
                self.next = if step + 1 == self.steps.len() { Next::FirstItem } else { Next::FirstChild };
            }
            Some(name) if name != ANY && byte == Some(b'{') => {
                let name = name.to_owned();
                self.open_value(None, None);
                let is_found = self.find_member(&name, &so_far)?;
                if !is_found && !is_below_any {
                    return Err(self.no_member(&so_far));
                }
                self.next = if is_found { Next::Enter(step + 1) } else { Next::Up };
            }
            None if byte == Some(b'[') => {
                self.open_value(None, None);
                self.next = Next::FirstItem;
            }
            None if byte == Some(b'{') && step > 0 => self.next = Next::Only,
            _ if is_below_any => {
                self.skip_value(JsonEnd::default())?;
                self.next = Next::Up;
            }
            Some(name) => self.expect(if name == ANY { b'[' } else { b'{' }, &so_far)?,
            None => self.expect(b'[', &so_far)?,
        }
        Ok(())
    }

    fn open_value(&mut self, any: Option<usize>, column: Option<ColumnId>) {
        let end = if self.feed.rest().first() == Some(&b'{') { b'}' } else { b']' };
        self.feed.skip(1);
        self.open.push(Open { any, end, column, key: None });
    }

    /// The column of the names that a step stands for.
    fn key_column(&mut self, step: usize) -> ColumnId {
        let name = match self.steps[..step].iter().filter(|name| *name == ANY).count() {
            0 => KEY.to_owned(),
            before => format!("{KEY}{}", before + 1),
        };
        let known = self.columns.id(&name);
        known.unwrap_or_else(|| Arc::make_mut(&mut self.columns).add(&name))
    }

    /// Enters the next member or item of what is open, or leaves it.
    fn child(&mut self, is_behind_another: bool) -> Result<(), ReadError> {
        let Some(Open { any: Some(step), end, column, .. }) = self.open.last() else {
            self.next = Next::Up;
            return Ok(());
        };
        let (step, end, has_names) = (*step, *end, column.is_some());
        if self.peek() == Some(end) {
            self.feed.skip(1);
            self.leave();
            return Ok(());
        }
        if is_behind_another {
            self.expect(b',', "")?;
        }
        if has_names {
            self.read_key()?;
        }
        self.next = Next::Enter(step + 1);
        Ok(())
    }

    /// Leaves what was open. Behind the outermost value, nothing may follow.
    fn leave(&mut self) {
        self.open.pop();
        self.next = if self.open.is_empty() { Next::End } else { Next::Up };
    }

    /// Goes on behind a value in which there are no more records.
    fn up(&mut self) -> Result<(), ReadError> {
        match self.open.last() {
            None => self.next = Next::End,
            Some(open) if open.any.is_some() => return self.child(true),
            Some(_) => {
                self.skip_value(JsonEnd::of_open(1))?;
                self.leave();
            }
        }
        Ok(())
    }

    fn at_end(&mut self) -> Result<bool, ReadError> {
        self.feed.check()?;
        match self.next {
            Next::End | Next::Record => Ok(false),
            Next::Only => Err(self.truncated("the record")),
            _ => Err(self.truncated("the array of records: ] is missing")),
        }
    }

    /// The end of what the records are in, if they are in something.
    fn end(&self) -> Option<u8> {
        self.open.last().map(|open| open.end)
    }

    /// Whether the records are the members of an object.
    fn have_names(&self) -> bool {
        self.open.last().is_some_and(|open| open.column.is_some())
    }

    /// Begins a record with the names of the members in which it is.
    fn begin(&mut self, line: u64, batch: &mut Batch) {
        self.number += 1;
        batch.begin(self.number, line);
        for open in &self.open {
            if let (Some(column), Some(key)) = (open.column, &open.key) {
                batch.push(column, key);
            }
        }
    }

    /// Reads a record, with its name if it is a member of an object.
    fn record(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        let (now, place) = (self.next, self.feed.place());
        if self.have_names() {
            self.read_key()?;
        }
        let Some(cut) = self.cut() else { return Err(self.truncated("a record")) };
        self.begin(place.line, batch);
        self.next = match now {
            Next::Only if self.open.is_empty() => Next::End,
            Next::Only => Next::Up,
            Next::Record => Next::Record,
            _ => Next::Comma,
        };
        match cut {
            Cut::Whole(length) => {
                if now == Next::Comma {
                    batch.error(broken("a comma is missing before it", place));
                }
                self.push(length, batch);
                self.feed.skip(length);
            }
            Cut::TooLong => batch.error(too_long()),
        }
        Ok(true)
    }

    /// Reads the name of the next member of what is open.
    fn read_key(&mut self) -> Result<(), ReadError> {
        let key = self.name("")?;
        if let Some(open) = self.open.last_mut() {
            open.key = key;
        }
        Ok(())
    }

    /// Reads the record of a line.
    fn line(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            let rest = self.feed.rest();
            match memchr::memchr(b'\n', rest) {
                Some(end) if rest[..end].trim_ascii().is_empty() => self.feed.skip(end + 1),
                Some(end) => return Ok(self.whole_line(end + 1, batch)),
                None if rest.len() > LONGEST_ROW => {
                    self.begin(self.feed.place().line, batch);
                    batch.error(too_long());
                    self.feed.skip_line(b'\n');
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
        self.begin(self.feed.place().line, batch);
        self.push(length, batch);
        self.feed.skip(length);
        true
    }

    /// Parses a record of this many bytes into a row.
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
                let place = format!("The record contains bytes in line {line}");
                batch.error(foreign_text(self.feed.charset, &place, &near));
                text
            }
        };
        let text = text.trim_ascii();
        if !text.starts_with('{') {
            batch.error(broken(&format!("it is no object, but {}", quoted(text)), place));
            return;
        }
        self.path.clear();
        let mut flat = Flat { columns: &mut self.columns, batch, path: &mut self.path, depth: 0 };
        if let Err(error) = flat.value(text) {
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
            let Some(byte) = self.peek() else { return self.at_end() };
            match (self.next, byte) {
                (Next::End, _) => return Err(self.expected("nothing behind the end of the JSON text")),
                (Next::Enter(_) | Next::FirstChild | Next::Up, _) => self.go_on()?,
                (Next::FirstItem | Next::Comma, end) if Some(end) == self.end() => {
                    self.feed.skip(1);
                    self.leave();
                }
                (Next::Comma, b',') => {
                    self.feed.skip(1);
                    self.next = Next::Item;
                }
                (Next::Comma, byte) if byte != b'{' || self.have_names() => {
                    return Err(self.expected("a comma or ]"));
                }
                (Next::FirstItem | Next::Item, _) if self.have_names() => return self.record(batch),
                (_, b',' | b':' | b']' | b'}') => return Err(self.expected("a record, {…}")),
                _ => return self.record(batch),
            }
        }
    }

    fn columns(&mut self) -> &mut Arc<Columns> {
        &mut self.columns
    }
}
