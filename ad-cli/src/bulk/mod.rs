//! Files of payloads: read, checked, imported and followed, without a terminal. Memory does not depend on the length of a file.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`payloads`] | a file as a stream of payloads, each with its position |
//! | [`check`] | payloads against the rules, with findings that point at the file |
//! | [`import`] | creates ads from files, each exactly once |
//! | [`follow`] | the states of ads, and the outcomes of requests |
//! | [`conversion`] | ads of V3: which convert, which migrate, and which data they lack |
//! | [`payload_of`] | from an ad back to a payload |
//! | [`parallel`], [`sorter`], [`spool`], [`identities`] | tools for files of any length: all processors, and temporary files |
//!
//! Functions return values and call back; the caller shows them. [`ad_core`] has the rules.

pub mod check;
pub mod conversion;
mod error;
pub mod follow;
pub mod identities;
pub mod import;
pub mod parallel;
mod payload_of;
pub mod payloads;
pub mod sorter;
pub mod spool;
mod write_if;

pub use error::BulkError;
pub use follow::AdOutcome;
#[cfg(feature = "cli")]
pub(crate) use payload_of::as_written;
pub use payload_of::payload_of;
#[cfg(feature = "cli")]
pub(crate) use write_if::TRIES;
pub use write_if::write_if;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Target;

/// An ad, as a payload names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The client's reference.
    pub source_id: String,
    /// The dealer, where it is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealer_code: Option<String>,
}

impl Identity {
    /// The ad of a payload; `None` without a `source_id`.
    pub fn of(payload: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { source_id: text("source_id")?, dealer_code: text("dealer_code") })
    }

    /// The ad for a request.
    pub fn target(&self) -> Target<'_> {
        Target::from(&self.source_id).of_dealer(self.dealer_code.as_deref())
    }
}

/// The value at a dotted path of an object, in which a number is the index of an item.
pub fn at<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = object.get(names.next()?)?;
    names.try_fold(first, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

/// A text without its quotes, and any other value as JSON.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The values within a value that are not `null`, with their dotted paths: those for which `is_one` holds, and those that contain no others.
pub fn leaves(value: &Value, is_one: fn(&Value) -> bool) -> Vec<(String, &Value)> {
    type Found<'a> = Vec<(String, &'a Value)>;
    fn walk<'a>(path: &str, value: &'a Value, is_one: fn(&Value) -> bool, found: &mut Found<'a>) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match value {
            Value::Null => {}
            Value::Object(members) if !is_one(value) => {
                members.iter().for_each(|(name, value)| walk(&below(name), value, is_one, found));
            }
            Value::Array(items) if !is_one(value) => {
                (0..)
                    .zip(items)
                    .for_each(|(index, value): (usize, _)| walk(&below(&index.to_string()), value, is_one, found));
            }
            leaf => found.push((path.to_owned(), leaf)),
        }
    }
    let mut found = Vec::new();
    walk("", value, is_one, &mut found);
    found
}

/// A text for messages, truncated to this number of characters.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}
