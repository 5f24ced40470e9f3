//! One record of an XML document, as the values of its paths.

use std::sync::Arc;

use quick_xml::{
    escape::unescape,
    events::{BytesRef, BytesStart},
};

use super::{DEEPEST, attributes, local};
use crate::{
    finding::Finding,
    readers::{
        Batch, Columns, LONGEST_PATH, LONGEST_ROW, MOST_PATHS, encoding::Charset, error, foreign_text, quoted, short,
        too_long,
    },
};

#[derive(Debug)]
pub(super) struct Record {
    charset: Charset,
    /// The paths of all records so far.
    pub(super) columns: Arc<Columns>,
    /// The open elements, the record's first; empty outside of a record.
    open: Vec<Element>,
    /// Path of the open elements, below the record.
    path: String,
    /// The texts of the open elements, one after another.
    text: String,
    /// Whether the rest of it is skipped.
    is_broken: bool,
    /// The name of its element.
    pub(super) name: String,
}

#[derive(Debug)]
struct Element {
    path: usize,
    text: usize,
    /// Whether it has elements or attributes.
    has_more: bool,
}

impl Record {
    /// The state before the first record.
    pub(super) fn new(charset: Charset) -> Self {
        let (open, columns) = (Vec::new(), Arc::default());
        let (path, text, name) = (String::new(), String::new(), String::new());
        Self { charset, columns, open, path, text, is_broken: false, name }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Begins a record, which the batch has begun.
    pub(super) fn begin(&mut self, name: String, start: &BytesStart<'_>, line: u64, batch: &mut Batch) {
        self.open.clear();
        self.path.clear();
        self.text.clear();
        (self.is_broken, self.name) = (false, name);
        self.enter(start, line, batch);
    }

    /// Opens an element; `false` if it is the next record instead.
    pub(super) fn start(&mut self, start: &BytesStart<'_>, line: u64, batch: &mut Batch) -> bool {
        let name = start.local_name();
        if self.is_broken {
            // The next record begins, wherever this one ended.
            let is_next = name.as_ref() == self.name.as_bytes();
            if is_next {
                self.open.clear();
            }
            return !is_next;
        }
        if self.open.len() >= DEEPEST {
            let message = format!("Elements are nested deeper than {DEEPEST} in line {line}.");
            self.broken("elements are nested too deeply", message, batch);
            return true;
        }
        if self.open.len() > 1 {
            self.path.push('/');
        }
        self.path.push_str(&local(name));
        self.enter(start, line, batch);
        true
    }

    /// Closes an element; returns whether it was the record's.
    pub(super) fn end(&mut self, name: &str, line: u64, batch: &mut Batch) -> bool {
        let wanted = self.last_name();
        if !self.is_broken && wanted != name {
            let (wanted, name) = (short(wanted), short(name));
            let message =
                format!("<{wanted}> is closed with </{name}> in line {line}. The rest of the record is not read.");
            self.broken("tags that do not match", message, batch);
        }
        if self.is_broken {
            let is_its = name == self.name;
            if is_its {
                self.open.clear();
            }
            return is_its;
        }
        let Some(element) = self.open.pop() else { return true };
        let mut text = std::mem::take(&mut self.text);
        let value = text[element.text..].trim();
        if (!value.is_empty() || !element.has_more) && !self.open.is_empty() {
            self.value(value, line, batch);
        }
        batch.leave();
        text.truncate(element.text);
        self.text = text;
        let before = if self.open.len() > 1 { self.path[..element.path].rfind('/').unwrap_or(0) } else { 0 };
        self.path.truncate(before);
        self.open.is_empty()
    }

    /// The name of the innermost open element.
    fn last_name(&self) -> &str {
        if self.open.len() == 1 { &self.name } else { self.path.rsplit('/').next().unwrap_or_default() }
    }

    /// Opens an element whose path is set.
    fn enter(&mut self, start: &BytesStart<'_>, line: u64, batch: &mut Batch) {
        let path = self.path.len();
        if let Some(parent) = self.open.last_mut() {
            parent.has_more = true;
            batch.enter(path);
        }
        let mut has_more = false;
        for (name, value) in attributes(start) {
            if self.is_broken {
                break;
            }
            has_more = true;
            self.path.push_str(if self.open.is_empty() { "@" } else { "/@" });
            self.path.push_str(&name);
            let value = String::from_utf8_lossy(&value);
            if let Ok(value) = unescape(&value) {
                self.value(&value, line, batch);
            } else {
                let message = format!(
                    "The attribute {} in line {line} has an entity that is unknown, or a bare &: {}.",
                    short(&name),
                    quoted(&value)
                );
                batch.error(invalid("an unknown entity", message));
                self.value(&value, line, batch);
            }
            self.path.truncate(path);
        }
        let text = self.text.len();
        self.open.push(Element { path, text, has_more });
    }

    /// Adds a value of the current path.
    fn value(&mut self, value: &str, line: u64, batch: &mut Batch) {
        if !batch.has_room(value) {
            self.is_broken = true;
            batch.error(too_long());
            return;
        }
        if self.path.len() > LONGEST_PATH {
            let message = format!("The names of elements down to line {line} are longer than {LONGEST_PATH} bytes.");
            return self.broken("names of elements are too long", message, batch);
        }
        let column = match self.columns.id(&self.path) {
            Some(column) => column,
            None if self.columns.names().len() >= MOST_PATHS => {
                let message = format!("The file has more than {MOST_PATHS} different paths, up to line {line}.");
                return self.broken("too many different paths", message, batch);
            }
            None => Arc::make_mut(&mut self.columns).add(&self.path),
        };
        batch.push(column, value);
    }

    /// A text within an element; a plain one must not contain `&`.
    pub(super) fn text(&mut self, text: &[u8], is_plain: bool, line: u64, batch: &mut Batch) {
        if self.is_broken {
            return;
        }
        if is_plain && memchr::memchr(b'&', text).is_some() {
            let message = format!("The text in line {line} has a & that begins no entity.");
            batch.error(invalid("a bare & in a text", message));
        }
        if let Ok(text) = std::str::from_utf8(text) {
            self.append(&[text], batch);
        } else {
            let text = String::from_utf8_lossy(text);
            batch.error(foreign_text(self.charset, &format!("The record contains bytes in line {line}"), &text));
            self.append(&[&text], batch);
        }
    }

    /// Adds to the text of the innermost open element.
    fn append(&mut self, parts: &[&str], batch: &mut Batch) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if self.text.len() + length > LONGEST_ROW {
            self.is_broken = true;
            batch.error(too_long());
        } else {
            self.text.extend(parts.iter().copied());
        }
    }

    /// An entity within a text.
    pub(super) fn entity(&mut self, entity: &BytesRef<'_>, line: u64, batch: &mut Batch) {
        if self.is_broken {
            return;
        }
        let name = String::from_utf8_lossy(entity);
        match entity.resolve_char_ref() {
            Ok(Some(letter)) => return self.append(&[letter.encode_utf8(&mut [0; 4])], batch),
            Ok(None) => {
                if let Some(text) = quick_xml::escape::resolve_xml_entity(&name) {
                    return self.append(&[text], batch);
                }
            }
            Err(_) => {}
        }
        self.append(&["&", &name, ";"], batch);
        let name = short(&name);
        let message = format!("The text in line {line} has the entity &{name};, which XML does not know.");
        batch.error(invalid("an unknown entity", message));
    }

    /// Discards a record without an end.
    pub(super) fn forget(&mut self, batch: &mut Batch) {
        if !self.open.is_empty() {
            self.open.clear();
            batch.undo();
        }
    }

    fn broken(&mut self, reason: &'static str, message: String, batch: &mut Batch) {
        self.is_broken = true;
        batch.error(invalid(reason, message));
    }
}

/// An error of a record.
fn invalid(reason: &str, message: String) -> Finding {
    let advice = "Have whatever writes the file write valid XML: & as &amp;, < as &lt;, and letters as they are.";
    error(reason, message, advice)
}
