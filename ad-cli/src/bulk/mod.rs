//! Files of payloads: read, checked, imported and followed, without a terminal. Memory does not depend on the length of a file.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`payloads`] | a file as a stream of payloads, each with its place |
//! | [`check`] | payloads against the rules, with findings that point at the file |
//! | [`import`] | payload files become ads, once each, whatever happens on the way |
//! | [`follow`] | how ads are at the service, and what becomes of requests |
//! | [`conversion`] | ads of V3: which convert, which migrate, and what they need for it |
//! | [`payload_of`] | from an ad back to a payload |
//! | [`parallel`], [`sorter`], [`spool`], [`identities`] | what files of any length take: all processors, and temporary files |
//!
//! What people see of it is the caller's: functions here return values and call back. [`ad_core`] has the rules.

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
pub use payload_of::payload_of;
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

/// A text with so many characters at most, as messages show it.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}
