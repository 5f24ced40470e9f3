//! A job for one ad.

use ad_files::Place;
use serde_json::value::RawValue;

use super::Identity;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
    /// Create the ad. This must happen only once.
    Create,
    Retry,
    /// It becomes visible.
    Show,
}

#[derive(Debug)]
pub(super) struct Job {
    /// Which payload of the file it is.
    pub(super) index: u64,
    pub(super) ad: Identity,
    /// The vehicle type of its path; `None` on `/v3/ad`.
    pub(super) vehicle_type: Option<&'static str>,
    pub(super) body: Box<RawValue>,
    /// Its text in the file, and where that begins.
    pub(super) text: Vec<u8>,
    pub(super) place: Place,
    pub(super) kind: JobKind,
    /// The `Idempotency-Key` of its request.
    pub(super) key: String,
    /// Whether an earlier run may have sent it.
    pub(super) is_unclear: bool,
}
