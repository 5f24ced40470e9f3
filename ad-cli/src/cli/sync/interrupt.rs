//! SIGINT and SIGTERM: once means to end in order, twice at once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

use crate::cli::{Context, Exit, interrupt::interrupted};

/// Whether somebody wants an end.
#[derive(Debug, Clone, Default)]
pub(super) struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_wanted: AtomicBool,
    notify: Notify,
}

impl Interrupt {
    /// Listens from now on.
    pub(super) fn listen(context: &Context) -> Self {
        let interrupt = Self::default();
        let (heard, out) = (interrupt.clone(), context.out);
        tokio::spawn(async move {
            interrupted().await;
            out.note("stopping after the running requests; press Ctrl-C again to stop at once");
            heard.0.is_wanted.store(true, Ordering::SeqCst);
            heard.0.notify.notify_waiters();
            interrupted().await;
            std::process::exit(Exit::Failed as i32);
        });
        interrupt
    }

    /// Whether an end is wanted.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.is_wanted.load(Ordering::SeqCst)
    }

    /// Waits until an end is wanted.
    pub(super) async fn wanted(&self) {
        let notified = self.0.notify.notified();
        if !self.is_wanted() {
            notified.await;
        }
    }
}
