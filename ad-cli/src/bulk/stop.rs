//! A request to end early, shared by tasks.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// Whether work is to end early. Clones share the request.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_requested: AtomicBool,
    notify: Notify,
}

impl Stop {
    /// Requests it.
    pub fn request(&self) {
        self.0.is_requested.store(true, Ordering::SeqCst);
        self.0.notify.notify_waiters();
    }

    /// Whether it was requested.
    pub fn is_requested(&self) -> bool {
        self.0.is_requested.load(Ordering::SeqCst)
    }

    /// Waits until it is requested.
    pub async fn requested(&self) {
        let notified = self.0.notify.notified();
        if !self.is_requested() {
            notified.await;
        }
    }
}
