//! A job for one ad.

use serde_json::value::RawValue;

use super::Identity;
use crate::bulk::payloads::Place;

/// What is done with one ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
    /// Create the ad. This must happen only once.
    Create,
    /// Retry the ad's failed steps.
    Retry,
    /// It becomes visible.
    Show,
}

/// A job for one ad.
#[derive(Debug)]
pub(super) struct Job {
    /// Which payload of the file it is.
    pub(super) index: u64,
    /// Which ad.
    pub(super) ad: Identity,
    /// The vehicle type of its path; `None` on `/v3/ad`.
    pub(super) vehicle_type: Option<&'static str>,
    /// What is sent.
    pub(super) body: Box<RawValue>,
    /// Its text in the file, and where that begins.
    pub(super) text: Vec<u8>,
    pub(super) place: Place,
    /// What is done.
    pub(super) kind: JobKind,
    /// The `Idempotency-Key` of its request.
    pub(super) key: String,
    /// Whether an earlier run may have sent it.
    pub(super) is_unclear: bool,
}
