//! A process that is about to stop: `/readyz` answers 503, and each answer closes its connection, while the listener still serves.
//! Load balancers and clients switch to other processes before this one refuses connections.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use poem::{
    Response,
    http::{HeaderValue, Version, header},
};

/// Whether the process is about to stop. Clones share the value.
#[derive(Debug, Clone, Default)]
pub struct Stopping(Arc<AtomicBool>);

impl Stopping {
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the stop has been announced.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Closes the connection after an answer. HTTP/2 has no such header; its connections are closed with the listener.
    pub fn closing(&self, version: Version, mut response: Response) -> Response {
        if self.has_begun() && version <= Version::HTTP_11 {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
