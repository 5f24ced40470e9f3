//! XML: one element for each record, with values under the paths below it. Namespaces are ignored. Only the predefined entities are
//! supported: a document that declares its own is rejected.

mod find;
mod record;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc};

pub(super) use find::declared_encoding;
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
    name::LocalName,
};
use record::Record;

use super::{Batch, Columns, Detected, LONGEST_PATH, ReadError, Records, Settings, feed::Feed, pieces::Pieces, short};

/// Deepest nesting of elements that is read.
const DEEPEST: usize = 64;

/// Longest name of an element.
const LONGEST_NAME: usize = LONGEST_PATH;

/// Most elements that may be open at a time, in records that are not read to their end too: their names are kept.
const MOST_OPEN: usize = 10_000;

/// The records of an XML document.
#[derive(Debug)]
pub(super) struct Xml {
    reader: Reader<Pieces<Feed>>,
    buffer: Vec<u8>,
    /// The names of elements down to the record; `*` is any name.
    rows: Vec<String>,
    /// The names of the open elements around it.
    outer: Vec<String>,
    number: u64,
    record: Record,
    /// Number of open elements, as the parser counts them.
    open: usize,
}

/// The result of an event.
enum XmlStep {
    Inside,
    Row,
    End,
}

impl Xml {
    /// Finds the records.
    ///
    /// # Errors
    /// When there are none, or the document declares entities.
    pub(super) fn open(feed: Feed, settings: &Settings, detected: &mut Detected) -> Result<Self, ReadError> {
        let rows: Vec<String> = match &settings.rows {
            Some(rows) => rows.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            None => find_rows(&feed, detected),
        };
        if rows.is_empty() {
            return Err(ReadError::new("The XML has no elements within its root that could be records.")
                .hint("Set rows to the path of the element that is one record, such as lager/fordon."));
        }
        detected.rows = Some(rows.join("/"));
        let record = Record::new(feed.charset);
        let mut reader = Reader::from_reader(Pieces::new(feed));
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        // A record with mismatched tags is reported, and reading continues.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        // So is a record with a bare &.
        config.allow_dangling_amp = true;
        Ok(Self { reader, buffer: Vec::new(), rows, outer: Vec::new(), number: 0, record, open: 0 })
    }

    fn event(&mut self, event: Event<'_>, line: u64, batch: &mut Batch) -> Result<XmlStep, ReadError> {
        let is_inside = self.record.is_open();
        self.bound(&event, line)?;
        match event {
            Event::Start(start) if is_inside && self.record.start(&start, line, batch) => {}
            Event::Start(start) => self.outer_start(&start, line, batch)?,
            Event::End(end) => return self.end(&local(end.local_name()), line, batch),
            Event::Text(text) if is_inside => self.record.text(&text, true, line, batch),
            Event::CData(text) if is_inside => self.record.text(&text, false, line, batch),
            Event::GeneralRef(entity) if is_inside => self.record.entity(&entity, line, batch),
            Event::DocType(doctype) if memchr::memmem::find(&doctype.to_ascii_uppercase(), b"<!ENTITY").is_some() => {
                let message = format!(
                    "The XML declares entities of its own (<!DOCTYPE … <!ENTITY, line {line}), which can be made to explode; it is not read."
                );
                return Err(ReadError::new(message).hint("Have the file written without a DOCTYPE."));
            }
            Event::Eof => return self.at_end(batch).map(|()| XmlStep::End),
            _ => {}
        }
        Ok(XmlStep::Inside)
    }

    /// Rejects what would take the parser itself too much memory.
    fn bound(&mut self, event: &Event<'_>, line: u64) -> Result<(), ReadError> {
        match event {
            Event::Start(start) if start.name().as_ref().len() > LONGEST_NAME => {
                let name = local(start.local_name());
                let message = format!(
                    "An element in line {line} has a name of more than {LONGEST_NAME} bytes: <{}.",
                    short(&name)
                );
                return Err(ReadError::new(message));
            }
            Event::Start(_) if self.open == MOST_OPEN => {
                return Err(ReadError::new(format!(
                    "More than {MOST_OPEN} elements are not closed, up to line {line}."
                ))
                .hint("Have the file written again, as valid XML."));
            }
            Event::Start(_) => self.open += 1,
            Event::End(_) => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        Ok(())
    }

    fn outer_start(&mut self, start: &BytesStart<'_>, line: u64, batch: &mut Batch) -> Result<(), ReadError> {
        let name = local(start.local_name()).into_owned();
        let depth = self.outer.len();
        if depth >= DEEPEST {
            return Err(ReadError::new(format!("The XML is nested deeper than {DEEPEST} elements, in line {line}.")));
        }
        let fits = |wanted: &String, name: &String| wanted == "*" || wanted == name;
        let is_on_the_way = self.rows.iter().zip(&self.outer).all(|(wanted, open)| fits(wanted, open));
        if depth + 1 == self.rows.len() && is_on_the_way && fits(&self.rows[depth], &name) {
            self.number += 1;
            batch.begin(self.number, line);
            self.record.begin(name, start, line, batch);
        } else {
            self.outer.push(name);
        }
        Ok(())
    }

    fn end(&mut self, name: &str, line: u64, batch: &mut Batch) -> Result<XmlStep, ReadError> {
        if self.record.is_open() {
            let has_ended = self.record.end(name, line, batch);
            return Ok(if has_ended { XmlStep::Row } else { XmlStep::Inside });
        }
        match self.outer.pop() {
            Some(open) if open == name => Ok(XmlStep::Inside),
            Some(open) => Err(ReadError::new(format!("<{open}> is closed with </{}> in line {line}.", short(name)))),
            None => Err(ReadError::new(format!("</{}> in line {line} closes nothing.", short(name)))),
        }
    }

    fn error(&mut self, error: &quick_xml::Error, line: u64, batch: &mut Batch) -> Result<XmlStep, ReadError> {
        self.record.forget(batch);
        Err(match error {
            quick_xml::Error::Io(error) => {
                ReadError::io(error, &format!("The file cannot be read any further in line {line}"))
            }
            error => ReadError::new(format!("The XML cannot be read any further in line {line}: {error}."))
                .hint("Have the file written again, whole and as valid XML."),
        })
    }

    fn at_end(&mut self, batch: &mut Batch) -> Result<(), ReadError> {
        let line = self.reader.get_ref().inner().place().line;
        let within = if self.record.is_open() { Some(&self.record.name) } else { self.outer.last() };
        let Some(within) = within else { return Ok(()) };
        let message = format!("The file ends in line {line} within <{within}>: it has been cut off.");
        self.record.forget(batch);
        Err(ReadError::new(message).hint("Have the file written again, whole."))
    }
}

/// Detects the path of the records, and notes why.
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
fn local(name: LocalName<'_>) -> Cow<'_, str> {
    String::from_utf8_lossy(name.into_inner())
}

/// Names and values of an element's attributes, unescaped.
fn attributes<'a>(start: &'a BytesStart<'_>) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, [u8]>)> {
    let mut attributes = start.attributes();
    attributes.with_checks(false);
    attributes.flatten().filter_map(|attribute| {
        let is_namespace = attribute.key.as_ref() == b"xmlns" || attribute.key.as_ref().starts_with(b"xmlns:");
        (!is_namespace).then(|| (local(attribute.key.local_name()), attribute.value))
    })
}

impl Records for Xml {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        loop {
            let line = self.reader.get_mut().begin().place().line;
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            let step = match self.reader.read_event_into(&mut buffer) {
                Ok(event) => self.event(event, line, batch),
                Err(error) => self.error(&error, line, batch),
            };
            self.buffer = buffer;
            match step? {
                XmlStep::Inside => {}
                XmlStep::Row => return Ok(true),
                XmlStep::End => return Ok(false),
            }
        }
    }

    fn columns(&mut self) -> &mut Arc<Columns> {
        &mut self.record.columns
    }
}
