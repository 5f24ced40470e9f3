//! Calls of marketplaces about an ad, as stores keep them and as the API shows them (extensions E10).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Action, Market, Timestamp, names::names};
use crate::violation::Code;

names! {
    /// What a call of a marketplace asks for.
    pub enum CallAction {
        /// The listing of a plate.
        FindByPlate = "find_by_plate",
        /// A new listing, or the update of the one that the ad has.
        Publish = "publish",
        /// New content for a listing.
        Update = "update",
        /// The end of a listing.
        Unpublish = "unpublish",
        /// The first place for a listing.
        Bump = "bump",
        /// Pole position for a listing.
        Boost = "boost",
    }
}

impl CallAction {
    /// The action of a request that makes such calls with an idempotency key; `None` for those that change nothing.
    pub fn keyed_by(self) -> Option<Action> {
        match self {
            Self::FindByPlate => None,
            Self::Publish | Self::Update => Some(Action::Publish),
            Self::Unpublish => Some(Action::Unpublish),
            Self::Bump => Some(Action::Bump),
            Self::Boost => Some(Action::Boost),
        }
    }
}

/// A call of a marketplace that was made, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketplaceCall {
    /// When the service began the call, by its own clock.
    pub at: Timestamp,
    /// The marketplace that was called.
    pub marketplace: Market,
    /// The operation of the marketplace that was called.
    pub action: CallAction,
    /// The request of the API that it was made for.
    pub request_id: Uuid,
    /// Its idempotency key; `None` for those that change nothing.
    pub idempotency_key: Option<String>,
    /// The HTTP status of the answer; `None` if no answer came. Marketplaces in the service itself answer as those over HTTP should.
    pub status: Option<u16>,
    /// Why it failed; `None` if it was done.
    pub code: Option<Code>,
    /// Time until the answer was read, or none came, in milliseconds.
    pub latency_ms: u64,
    /// The listing that was asked for or found; `None` if there was none.
    pub listing_id: Option<String>,
    /// SHA-256 of the listing as it was sent, in hexadecimal; `None` for calls that send none.
    pub content_sha256: Option<String>,
    /// The revision of the ad's content then.
    pub revision: i64,
}
