//! The processing log of an ad ('Log entry'): the only progress record there is.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::time::Timestamp;

/// Entries that come with an ad; older ones are read page by page ('Limits').
pub const LATEST: usize = 100;

/// What is done to an ad, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The ad was created.
    Create,
    /// Its data was updated.
    Update,
    /// It was renewed: it appears as new.
    Bump,
    /// It was given pole position.
    Boost,
    /// Images were fetched or removed.
    HandleMedia,
    /// It was sent to the marketplaces.
    Publish,
    /// It was deleted.
    Delete,
    /// It was taken off the marketplaces.
    Unpublish,
}

/// How far an action has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionState {
    /// Begun.
    Processing,
    /// Completed.
    Done,
    /// Failed; the message tells why.
    Error,
}

/// The names of a closed list of the contract, for parsing and for messages.
macro_rules! names {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl $type {
            /// Every name on the wire.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// By its name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}
pub(crate) use names;

names!(Action {
    "create" => Create, "update" => Update, "bump" => Bump, "boost" => Boost, "handle_media" => HandleMedia,
    "publish" => Publish, "delete" => Delete, "unpublish" => Unpublish,
});
names!(ActionState { "processing" => Processing, "done" => Done, "error" => Error });

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The API request that it belongs to.
    pub request_id: Uuid,
    /// When it was written.
    pub created: Timestamp,
    /// What is done.
    pub action: Action,
    /// How far it has come.
    pub state: ActionState,
    /// Human-readable status or error details: a text, or an object with a `message` and details.
    pub external_message: Value,
}
