//! A JSON record as the values of its paths.

use std::{borrow::Cow, fmt, sync::Arc};

use ad_core::written::number;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::readers::{Batch, CellKind, Columns, LONGEST_PATH, MOST_PATHS, number_text};

/// Deepest value of a record.
const DEEPEST: usize = 32;

/// Longest number with a decimal point that is kept as it is written: its digits, the point and a sign.
const MOST_DIGITS: usize = 17;

#[derive(Debug)]
pub(super) struct Flat<'a> {
    pub(super) columns: &'a mut Arc<Columns>,
    pub(super) batch: &'a mut Batch,
    pub(super) path: &'a mut String,
    pub(super) depth: usize,
}

impl Flat<'_> {
    /// Adds the values of a record, or of a value in it, to the batch.
    ///
    /// # Errors
    /// When it is not valid JSON, or exceeds a limit. Values before that have been added.
    pub(super) fn value(&mut self, text: &str) -> Result<(), serde_json::Error> {
        match text.as_bytes().first() {
            Some(b'{' | b'[') => {
                if self.depth == DEEPEST {
                    return Err(serde_json::Error::custom(format!("it is nested deeper than {DEEPEST} levels")));
                }
                let mut deserializer = serde_json::Deserializer::from_str(text);
                let is_node = self.depth > 0 && text.starts_with('{');
                if is_node {
                    self.batch.enter(self.path.len());
                }
                let inner = Flat { columns: self.columns, batch: self.batch, path: self.path, depth: self.depth + 1 };
                inner.deserialize(&mut deserializer)?;
                if is_node {
                    self.batch.leave();
                }
                deserializer.end()
            }
            Some(b'n') => Ok(()),
            Some(b'"') => {
                let text: Text<'_> = serde_json::from_str(text)?;
                self.push(CellKind::Text, &text.0)
            }
            Some(b'-' | b'0'..=b'9') => self.number(text),
            _ => self.push(CellKind::Text, text),
        }
    }

    fn number(&mut self, text: &str) -> Result<(), serde_json::Error> {
        let has_exponent = text.contains(['e', 'E']);
        // More digits than a program computes with are not what anybody wrote.
        let is_rounded = text.contains('.') && (text.len() > MOST_DIGITS || number::has_two_readings(text));
        if !has_exponent && !is_rounded {
            return self.push(CellKind::Text, text);
        }
        let kind = if has_exponent { CellKind::Number } else { CellKind::Text };
        self.push(kind, &number_text(serde_json::from_str(text)?))
    }

    fn push(&mut self, kind: CellKind, value: &str) -> Result<(), serde_json::Error> {
        let column = match self.columns.id(self.path) {
            Some(column) => column,
            None if self.columns.names().len() >= MOST_PATHS => {
                return Err(serde_json::Error::custom(format!(
                    "the file has more than {MOST_PATHS} different paths, which no record has"
                )));
            }
            None => Arc::make_mut(self.columns).add(self.path),
        };
        if !self.batch.has_room(value) {
            return Err(serde_json::Error::custom("it has more values than any record may have"));
        }
        self.batch.push_of(kind, column, value);
        Ok(())
    }
}

/// A text, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for Flat<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Flat<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'de>>()? {
            // The raw text, because numbers are kept as written.
            let value = map.next_value::<&RawValue>()?;
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&key.0);
            if self.path.len() > LONGEST_PATH {
                return Err(A::Error::custom(format!("it has a path of names longer than {LONGEST_PATH} bytes")));
            }
            self.value(value.get()).map_err(A::Error::custom)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(value) = items.next_element::<&RawValue>()? {
            self.value(value.get()).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
