//! The store: ads, logs, the queue, dealers and tokens in one database.

use ad_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What is kept about an issued token; never the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its id, the `jti` claim.
    pub jti: Uuid,
    /// `dealer_code` or `dealer_group`.
    pub scope_type: String,
    /// The dealer or the group.
    pub scope: String,
    /// `read`, `write`, `promote`; `None` means all.
    pub permissions: Option<Vec<String>>,
    /// When it was issued.
    pub issued: Timestamp,
    /// When it ends, if it does.
    pub expires: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked: Option<Timestamp>,
}
