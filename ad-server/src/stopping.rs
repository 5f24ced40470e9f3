//! A process that is going to stop: `/readyz` answers 503, and each answer ends its connection, while the listener still serves. Load
//! balancers and clients turn to other processes before this one refuses connections.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use poem::{
    Response,
    http::{HeaderValue, Version, header},
};

/// Whether the process is going to stop. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stopping(Arc<AtomicBool>);

impl Stopping {
    /// From now on it is.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Has the connection closed after an answer; HTTP/2 has no such header, and its connections are told when the listener closes.
    pub(crate) fn closing(&self, version: Version, mut response: Response) -> Response {
        if self.has_begun() && version <= Version::HTTP_11 {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
