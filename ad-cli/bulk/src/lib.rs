//! Files of payloads: read, checked, imported and followed, without a terminal. Memory does not depend on the length of a
//! file, except for some 35 bytes for each ad of an import.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`payloads`] | a file as a stream of payloads, each with its position |
//! | [`check`] | payloads against the rules, with findings that point at the file |
//! | [`import`] | creates ads from files, each exactly once |
//! | [`follow`] | the states of ads, and the outcomes of requests |
//! | [`conversion`] | ads of V3: which convert, which migrate, and which data they lack |
//! | [`desired`] | an ad compared to a payload: what differs, and the update |
//! | [`payload_of`] | from an ad back to a payload |
//!
//! Functions return values and call back; the caller shows them. [`ad_core`] has the rules.
#![warn(missing_docs)]

pub mod check;
pub mod conversion;
pub mod desired;
mod error;
pub mod follow;
pub mod import;
mod invocation;
mod payload_of;
pub mod payloads;
mod write_if;

pub use error::BulkError;
pub use follow::AdOutcome;
pub use invocation::{Invocation, Surface};
pub use payload_of::{as_written, payload_of};
pub use write_if::{TRIES, write_if};

use ad_client::{Ad, Target};
use ad_files::identities::{Hash, hash};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An ad, as a payload names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Unique among the ads of its dealer.
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

    /// What stands for the ad where many are in memory.
    pub fn hash(&self) -> Hash {
        hash(&self.source_id, self.dealer_code.as_deref())
    }

    /// The ad for a request.
    pub fn target(&self) -> Target<'_> {
        Target::from(&self.source_id).of_dealer(self.dealer_code.as_deref())
    }
}

impl From<&Ad> for Identity {
    fn from(ad: &Ad) -> Self {
        Self { source_id: ad.source_id.clone(), dealer_code: Some(ad.dealer_code.clone()) }
    }
}

/// A text without its quotes, and any other value as JSON.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
