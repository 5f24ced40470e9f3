//! XML of spreadsheets, event by event.

use std::{
    borrow::Cow,
    io::{BufReader, Read},
};

use quick_xml::{
    Reader,
    events::{BytesRef, BytesStart, Event},
};

use crate::readers::pieces::Pieces;

/// Longest text of a cell; longer ones are an error of the file. Excel has 32,767 characters.
const LONGEST_TEXT: usize = 4 * 1024 * 1024;

/// Most bytes of what is kept beside the cells.
const MOST_KEPT: usize = 32 << 20;

const BLOCK: usize = 128 * 1024;

pub(super) struct Parser<'r> {
    reader: Reader<Pieces<BufReader<Box<dyn Read + 'r>>>>,
    buffer: Vec<u8>,
}

/// Why XML cannot be read any further.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(String);

impl Malformed {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }
}

impl From<quick_xml::Error> for Malformed {
    fn from(error: quick_xml::Error) -> Self {
        Self(match error {
            // Our own limits say enough.
            quick_xml::Error::Io(error) => error.to_string(),
            error => error.to_string(),
        })
    }
}

impl<'r> Parser<'r> {
    pub(super) fn new(bytes: impl Read + 'r) -> Self {
        let bytes: Box<dyn Read + 'r> = Box::new(bytes);
        let mut reader = Reader::from_reader(Pieces::new(BufReader::with_capacity(BLOCK, bytes)));
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self { reader, buffer: Vec::new() }
    }

    /// The next event; an error if a tag or text is too long for [`Pieces`].
    pub(super) fn next(&mut self) -> Result<Event<'_>, Malformed> {
        self.reader.get_mut().begin();
        self.buffer.clear();
        Ok(self.reader.read_event_into(&mut self.buffer)?)
    }
}

/// What a spreadsheet has besides its cells, and that is in memory while they are read: names of sheets, parts, styles and formats.
#[derive(Debug)]
pub(super) struct Kept {
    left: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self { left: MOST_KEPT }
    }
}

impl Kept {
    /// Most styles, and names with 8 letters, of a spreadsheet are some 400,000; Excel has at most 65,490 styles.
    const EACH: usize = 72;

    /// Counts something with texts of so many bytes.
    pub(super) fn add(&mut self, length: usize) -> Result<(), Malformed> {
        match self.left.checked_sub(Self::EACH + length) {
            Some(left) => self.left = left,
            None => return Err(Malformed::new("it has more sheets, styles and names than can be kept".to_owned())),
        }
        Ok(())
    }
}

/// An attribute of an element, by its name with its prefix.
pub(super) fn attribute<'a>(start: &'a BytesStart<'_>, name: &str) -> Option<Cow<'a, str>> {
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|it| it.key.as_ref() == name.as_bytes())?;
    let text = match found.value {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    };
    Some(if text.contains('&') {
        quick_xml::escape::unescape(&text).map_or_else(|_| text.to_string(), Cow::into_owned).into()
    } else {
        text
    })
}

/// A number in an attribute.
pub(super) fn count(start: &BytesStart<'_>, name: &str) -> Option<u32> {
    attribute(start, name)?.trim().parse().ok()
}

/// Whether an attribute of truth is set.
pub(super) fn is_set(start: &BytesStart<'_>, name: &str) -> bool {
    attribute(start, name).is_some_and(|value| matches!(&*value, "1" | "true"))
}

/// Adds the text of an event; others have none.
pub(super) fn add_text(text: &mut String, event: &Event<'_>) -> Result<(), Malformed> {
    match event {
        Event::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(more) => text.push_str(more),
            Err(_) => text.push_str(&String::from_utf8_lossy(bytes)),
        },
        Event::CData(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
        Event::GeneralRef(entity) => add_entity(text, entity),
        _ => {}
    }
    if text.len() > LONGEST_TEXT {
        return Err(Malformed(format!("a cell has a text longer than {} MiB", LONGEST_TEXT >> 20)));
    }
    Ok(())
}

fn add_entity(text: &mut String, entity: &BytesRef<'_>) {
    let name = String::from_utf8_lossy(entity);
    match (entity.resolve_char_ref(), quick_xml::escape::resolve_xml_entity(&name)) {
        (Ok(Some(letter)), _) => text.push(letter),
        (_, Some(known)) => text.push_str(known),
        // Pages have entities that XML does not know.
        _ => text.push_str(&htmlize::unescape(format!("&{name};"))),
    }
}
