//! Earlier contents of an ad, as stores keep them and as the API shows them (extensions E10). `revisions` rebuilds them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{Action, Ad, ApiVersion, Timestamp, names::names};

/// Maximum number of changes of an ad that a store keeps; the oldest ones are removed.
pub const MOST_REVISIONS: usize = 500;

names! {
    /// Through what a request was sent.
    pub enum Via {
        /// The API, by any program but those below.
        Api = "api",
        /// A form of the console.
        Console = "console",
        /// The API, by `ad-cli` or `ad-migrate`.
        CommandLine = "command_line",
    }
}

/// The token with which a request was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedBy {
    /// Id of the token (`jti`); `None` if unknown.
    pub token: Option<String>,
    /// Its label, if it was issued here with one.
    pub label: Option<String>,
}

/// What an accepted write replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The revision of the content ([`AdTag::revision`](super::AdTag::revision)).
    pub revision: i64,
    /// API version and category, if the ad gets others.
    pub version: Option<(ApiVersion, u16)>,
    /// What makes the content before out of the new one.
    pub difference: String,
}

/// The request that led to a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionOrigin {
    /// When it was accepted; of an imported ad, when it was imported.
    pub created: Timestamp,
    /// Its id, as in the header `X-Request-Id`.
    pub request_id: Uuid,
    /// With which token it was sent.
    pub asked_by: AskedBy,
    /// Through what it was sent; `None` if unknown.
    pub via: Option<Via>,
    /// The stock plan that it is of.
    pub plan_id: Option<Uuid>,
}

/// How an ad came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    /// The number of its first revision.
    pub revision: i64,
    /// The request that created it, or the import.
    pub origin: RevisionOrigin,
    /// The [checksum](crate::revisions::checksum) of its first content; `None` if that is not known.
    pub checksum: Option<i64>,
}

/// A change of the content of an ad, as stores keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The revision that it led to.
    pub revision: i64,
    /// The request that made it.
    pub origin: RevisionOrigin,
    /// The revision of the content before. Revisions between the two have that content, too.
    pub replaced: i64,
    /// API version and category before, if they changed.
    pub version: Option<(ApiVersion, u16)>,
    /// What makes the content before out of the one that it led to; `None` if its retention time is over.
    pub difference: Option<String>,
    /// The [checksum](crate::revisions::checksum) of the content that it led to.
    pub checksum: i64,
}

/// A revision of an ad in a list, as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevisionEntry {
    /// Its number: the first part of the ad's `ETag` then.
    pub revision: i64,
    /// When the write that made it was accepted; `None` if that is not recorded, because it was before the service recorded changes.
    pub created: Option<Timestamp>,
    /// The request that made it; `None` if that is not recorded.
    pub request_id: Option<Uuid>,
    /// `create` or `update`; `None` if that is not recorded.
    pub action: Option<Action>,
    /// The token with which it was sent.
    pub asked_by: AskedBy,
    /// The stock plan that it is of; `None` if it is of none.
    pub plan_id: Option<Uuid>,
    /// Through what it was sent; `None` if that is not recorded.
    pub via: Option<Via>,
    /// The fields that it changed; `None` if the content before is not recorded (any more).
    pub changes: Option<Vec<ValueChange>>,
}

/// A value that a write changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueChange {
    /// Where: a JSON Pointer (RFC 6901) from the ad, such as `/category_fields/brand`. Lists are changed as a whole.
    pub pointer: String,
    /// The value before; null if there was none.
    pub from: Value,
    /// The value after; null if there is none.
    pub to: Value,
}

/// An ad as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct PastAd {
    /// The ad with the content, category and API version of then, and `updated` when that revision was made. Images and ids of
    /// listings are those of today; of the images, those at addresses that the ad had then.
    pub ad: Ad,
    /// The number of the revision.
    pub revision: i64,
}
