//! XML: an element for each record, its values under the paths below it. Namespaces are left out. Entities are those that every document
//! has; a document that declares its own is refused before any is looked at.

mod find;
#[cfg(test)]
mod tests;

use std::{
    io::{self, BufRead, Read},
    sync::Arc,
};

pub(super) use find::declared_encoding;
use quick_xml::{
    Reader,
    escape::unescape,
    events::{BytesRef, BytesStart, Event},
};

use super::{
    Batch, Columns, Detected, Form, LONGEST_ROW, MOST_PATHS, ReadError, Records, Settings, Trouble, encoding::Charset,
    feed::Feed, quoted, too_long,
};

/// Deepest element.
const DEEPEST: usize = 64;

/// Longest tag or text.
const LONGEST_PIECE: usize = 16 * 1024 * 1024;

/// The records of an XML document.
#[derive(Debug)]
pub(super) struct Xml {
    reader: Reader<Pieces>,
    buffer: Vec<u8>,
    charset: Charset,
    columns: Arc<Columns>,
    /// The names of elements down to the record; `*` is any.
    rows: Vec<String>,
    /// Those that are open around it.
    outer: Vec<String>,
    number: u64,
    record: Record,
}

/// A record that is being read.
#[derive(Debug, Default)]
struct Record {
    /// Elements that are open, that of the record first; none is outside of a record.
    open: Vec<Element>,
    /// Names below the record.
    path: String,
    /// Texts of the elements that are open, one behind the other.
    text: String,
    /// Bytes of values so far.
    size: usize,
    /// Whether the rest of it is passed over.
    is_broken: bool,
    /// The name of its element.
    name: String,
}

#[derive(Debug)]
struct Element {
    path: usize,
    text: usize,
    /// Whether it has elements or attributes.
    has_more: bool,
}

/// What a piece of the document came to.
enum Step {
    Inside,
    Row,
    End,
}

/// A file of which no piece may be too long.
#[derive(Debug)]
struct Pieces {
    feed: Feed,
    left: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Pieces {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(io::Error::other(format!("a tag or text is longer than {} MiB", LONGEST_PIECE >> 20)));
        }
        let available = self.feed.fill_buf()?;
        Ok(&available[..available.len().min(self.left)])
    }

    fn consume(&mut self, length: usize) {
        self.left = self.left.saturating_sub(length);
        self.feed.skip(length);
    }
}

impl Xml {
    /// Finds the records.
    ///
    /// # Errors
    /// When there are none, or the document declares entities.
    pub(super) fn open(
        feed: Feed,
        settings: &Settings,
        charset: Charset,
        detected: &mut Detected,
    ) -> Result<Self, ReadError> {
        let rows: Vec<String> = match &settings.rows {
            Some(rows) => rows.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            None => find_rows(&feed, detected),
        };
        if rows.is_empty() {
            return Err(ReadError::new("The XML has no elements within its root that could be records.")
                .hint("Set rows to the path of the element that is one record, such as lager/fordon."));
        }
        detected.form = Form::Xml;
        detected.rows = Some(rows.join("/"));
        let mut reader = Reader::from_reader(Pieces { feed, left: LONGEST_PIECE });
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        // A record with tags that do not match is told, and the next one read.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        // So is one with a bare &.
        config.allow_dangling_amp = true;
        let (columns, record) = (Arc::default(), Record::default());
        Ok(Self { reader, buffer: Vec::new(), charset, columns, rows, outer: Vec::new(), number: 0, record })
    }

    /// Reads on to the end of a record; `false` at the end of the document.
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            self.reader.get_mut().left = LONGEST_PIECE;
            let line = self.reader.get_ref().feed.place().line;
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            let step = match self.reader.read_event_into(&mut buffer) {
                Ok(event) => self.event(event, line, batch),
                Err(error) => self.error(&error, line, batch),
            };
            self.buffer = buffer;
            match step? {
                Step::Inside => {}
                Step::Row => return Ok(true),
                Step::End => return Ok(false),
            }
        }
    }

    fn event(&mut self, event: Event<'_>, line: u64, batch: &mut Batch) -> Result<Step, ReadError> {
        let is_inside = !self.record.open.is_empty();
        match event {
            Event::Start(start) if is_inside => return self.start(&start, line, batch),
            Event::Start(start) => self.outer_start(&start, line, batch)?,
            Event::End(end) => return self.end(&local(end.local_name().as_ref()), line, batch),
            Event::Text(text) if is_inside => self.text(&text, true, line, batch),
            Event::CData(text) if is_inside => self.text(&text, false, line, batch),
            Event::GeneralRef(entity) if is_inside => self.entity(&entity, line, batch),
            Event::DocType(doctype) => {
                if memchr::memmem::find(&doctype.to_ascii_uppercase(), b"<!ENTITY").is_some() {
                    let message = format!(
                        "The XML declares entities of its own (<!DOCTYPE … <!ENTITY, line {line}), which can be made to explode; it is not read."
                    );
                    return Err(ReadError::new(message).hint("Have the file written without a DOCTYPE."));
                }
            }
            Event::Eof => return self.at_end(batch).map(|()| Step::End),
            _ => {}
        }
        Ok(Step::Inside)
    }

    fn outer_start(&mut self, start: &BytesStart<'_>, line: u64, batch: &mut Batch) -> Result<(), ReadError> {
        let name = local(start.local_name().as_ref());
        let depth = self.outer.len();
        if depth >= DEEPEST {
            return Err(ReadError::new(format!("The XML is nested deeper than {DEEPEST} elements, in line {line}.")));
        }
        let fits = |wanted: &String, name: &String| wanted == "*" || wanted == name;
        let is_on_the_way = self.rows.iter().zip(&self.outer).all(|(wanted, open)| fits(wanted, open));
        if depth + 1 == self.rows.len() && is_on_the_way && fits(&self.rows[depth], &name) {
            self.number += 1;
            batch.begin(self.number, line);
            self.record.begin(name);
            self.enter(start, line, batch);
        } else {
            self.outer.push(name);
        }
        Ok(())
    }

    /// An element of a record.
    fn start(&mut self, start: &BytesStart<'_>, line: u64, batch: &mut Batch) -> Result<Step, ReadError> {
        let name = start.local_name();
        if self.record.is_broken {
            // The next record begins, wherever this one ended.
            if name.as_ref() == self.record.name.as_bytes() {
                self.record.open.clear();
                self.outer_start(start, line, batch)?;
                return Ok(Step::Inside);
            }
            return Ok(Step::Inside);
        }
        if self.record.open.len() >= DEEPEST {
            self.broken(
                "elements are nested too deeply",
                format!("Elements are nested deeper than {DEEPEST} in line {line}."),
                batch,
            );
            return Ok(Step::Inside);
        }
        if self.record.open.len() > 1 {
            self.record.path.push('/');
        }
        self.record.path.push_str(&local(name.as_ref()));
        self.enter(start, line, batch);
        Ok(Step::Inside)
    }

    /// Opens an element whose path is set.
    fn enter(&mut self, start: &BytesStart<'_>, line: u64, batch: &mut Batch) {
        let record = &mut self.record;
        if let Some(parent) = record.open.last_mut() {
            parent.has_more = true;
        }
        let path = record.path.len();
        let mut has_more = false;
        for (name, value) in attributes(start) {
            has_more = true;
            self.record.path.push_str(if self.record.open.is_empty() { "@" } else { "/@" });
            self.record.path.push_str(&name);
            let value = String::from_utf8_lossy(&value);
            match unescape(&value) {
                Ok(value) => self.value(&value, line, batch),
                Err(_) => {
                    let message = format!(
                        "The attribute {name} in line {line} has an entity that is unknown, or a bare &: {}.",
                        quoted(&value)
                    );
                    self.trouble("an unknown entity", message, batch);
                    self.value(&value, line, batch);
                }
            }
            self.record.path.truncate(path);
        }
        let text = self.record.text.len();
        self.record.open.push(Element { path, text, has_more });
    }

    fn end(&mut self, name: &str, line: u64, batch: &mut Batch) -> Result<Step, ReadError> {
        if self.record.open.is_empty() {
            return match self.outer.pop() {
                Some(open) if open == name => Ok(Step::Inside),
                Some(open) => Err(ReadError::new(format!("<{open}> is closed with </{name}> in line {line}."))),
                None => Err(ReadError::new(format!("</{name}> in line {line} closes nothing."))),
            };
        }
        if self.record.is_broken {
            if name == self.record.name {
                self.record.open.clear();
                return Ok(Step::Row);
            }
            return Ok(Step::Inside);
        }
        let wanted = self.record.last_name();
        if wanted != name {
            let message =
                format!("<{wanted}> is closed with </{name}> in line {line}. The rest of the record is not read.");
            self.broken("tags that do not match", message, batch);
            if name == self.record.name {
                self.record.open.clear();
                return Ok(Step::Row);
            }
            return Ok(Step::Inside);
        }
        let Some(element) = self.record.open.pop() else { return Ok(Step::Inside) };
        let text = self.record.text.split_off(element.text);
        let value = text.trim();
        if (!value.is_empty() || !element.has_more) && !self.record.open.is_empty() {
            self.value(value, line, batch);
        }
        let before =
            if self.record.open.len() > 1 { self.record.path[..element.path].rfind('/').unwrap_or(0) } else { 0 };
        self.record.path.truncate(before);
        Ok(if self.record.open.is_empty() { Step::Row } else { Step::Inside })
    }

    /// Hands over a value of the path.
    fn value(&mut self, value: &str, line: u64, batch: &mut Batch) {
        self.record.size += value.len();
        if self.record.size > LONGEST_ROW {
            self.record.is_broken = true;
            batch.trouble(too_long());
            return;
        }
        let column = match self.columns.id(&self.record.path) {
            Some(column) => column,
            None if self.columns.names().len() >= MOST_PATHS => {
                let message = format!("The file has more than {MOST_PATHS} different paths, up to line {line}.");
                return self.broken("too many different paths", message, batch);
            }
            None => Arc::make_mut(&mut self.columns).add(&self.record.path),
        };
        batch.push(column, value);
    }

    fn text(&mut self, text: &[u8], is_plain: bool, line: u64, batch: &mut Batch) {
        if self.record.is_broken {
            return;
        }
        if is_plain && memchr::memchr(b'&', text).is_some() {
            self.trouble(
                "a bare & in a text",
                format!("The text in line {line} has a & that begins no entity."),
                batch,
            );
        }
        match std::str::from_utf8(text) {
            Ok(text) => self.record.text.push_str(text),
            Err(_) => {
                let text = String::from_utf8_lossy(text);
                batch.trouble(super::foreign_record(self.charset, line, &text));
                self.record.text.push_str(&text);
            }
        }
        if self.record.text.len() > LONGEST_ROW {
            self.record.is_broken = true;
            batch.trouble(too_long());
        }
    }

    fn entity(&mut self, entity: &BytesRef<'_>, line: u64, batch: &mut Batch) {
        let name = String::from_utf8_lossy(entity).into_owned();
        match entity.resolve_char_ref() {
            Ok(Some(letter)) => return self.record.text.push(letter),
            Ok(None) => {
                if let Some(text) = quick_xml::escape::resolve_xml_entity(&name) {
                    return self.record.text.push_str(text);
                }
            }
            Err(_) => {}
        }
        self.record.text.push_str(&format!("&{name};"));
        let message = format!("The text in line {line} has the entity &{name};, which XML does not know.");
        self.trouble("an unknown entity", message, batch);
    }

    fn error(&mut self, error: &quick_xml::Error, line: u64, batch: &mut Batch) -> Result<Step, ReadError> {
        match error {
            quick_xml::Error::Io(error) => {
                self.forget(batch);
                Err(ReadError::io(error, &format!("The file cannot be read on in line {line}")))
            }
            _ => {
                self.forget(batch);
                Err(ReadError::new(format!("The XML cannot be read on in line {line}: {error}."))
                    .hint("Have the file written again, whole and as valid XML."))
            }
        }
    }

    /// Leaves a record out that has no end.
    fn forget(&mut self, batch: &mut Batch) {
        if !self.record.open.is_empty() {
            self.record.open.clear();
            batch.undo();
        }
    }

    fn at_end(&mut self, batch: &mut Batch) -> Result<(), ReadError> {
        let line = self.reader.get_ref().feed.place().line;
        let within = if self.record.open.is_empty() { self.outer.last() } else { Some(&self.record.name) };
        let Some(within) = within else { return Ok(()) };
        let message = format!("The file ends in line {line} within <{within}>: it has been cut off.");
        self.forget(batch);
        Err(ReadError::new(message).hint("Have the file written again, whole."))
    }

    fn trouble(&self, reason: &'static str, message: String, batch: &mut Batch) {
        let advice = "Have whatever writes the file write valid XML: & as &amp;, < as &lt;, and letters as they are.";
        batch.trouble(Trouble { reason, column: None, message, advice: Some(advice.to_owned()) });
    }

    fn broken(&mut self, reason: &'static str, message: String, batch: &mut Batch) {
        self.record.is_broken = true;
        self.trouble(reason, message, batch);
    }
}

impl Record {
    fn begin(&mut self, name: String) {
        self.open.clear();
        self.path.clear();
        self.text.clear();
        (self.size, self.is_broken, self.name) = (0, false, name);
    }

    /// The name of the element that was opened last.
    fn last_name(&self) -> &str {
        if self.open.len() == 1 { &self.name } else { self.path.rsplit('/').next().unwrap_or_default() }
    }
}

/// Looks for the records, and tells why they are.
fn find_rows(feed: &Feed, detected: &mut Detected) -> Vec<String> {
    let place = find::find(feed.rest());
    let rows = place.path.join("/");
    let (last, values) = (place.path.last().map_or("", String::as_str), place.values);
    detected.notes.push(if place.repeats {
        format!("Records: {rows}, for <{last}> repeats and has most of the file's different values ({values}).")
    } else {
        format!("Records: {rows}, for <{last}> has most of the file's different values ({values}), though it occurs only once.")
    });
    for beside in place.beside {
        detected.notes.push(format!(
            "Beside them <{beside}> repeats, which is not read; set rows for it, or end rows in * for both."
        ));
    }
    place.path
}

/// A name without its namespace.
fn local(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Names and values of an element's attributes, as they stand.
fn attributes<'a>(start: &'a BytesStart<'_>) -> impl Iterator<Item = (String, std::borrow::Cow<'a, [u8]>)> {
    let mut attributes = start.attributes();
    attributes.with_checks(false);
    attributes.flatten().filter_map(|attribute| {
        let is_namespace = attribute.key.as_ref() == b"xmlns" || attribute.key.as_ref().starts_with(b"xmlns:");
        (!is_namespace).then(|| (local(attribute.key.local_name().as_ref()), attribute.value))
    })
}

impl Records for Xml {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        batch.clear(Arc::default());
        let mut filled = Ok(true);
        while !batch.is_full() && matches!(filled, Ok(true)) {
            filled = self.row(batch);
        }
        batch.set_columns(self.columns.clone());
        filled
    }
}
