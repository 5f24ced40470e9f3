//! Those who wait for new events.
//!
//! While there is somebody who waits, one task of the process looks whose events there are: soon after this process has written some
//! and, in PostgreSQL, another has notified of it; and ten times a second for the rest: what processes on the same SQLite file write,
//! and lost notifications. Whoever waits is woken when the events can be read, and reads them by a position of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ad_core::ports::{EventWatch, EventWatches, Scope, StoreError};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};

use super::{Columns, Database, sql::events as sql};

/// How often the task looks without being notified.
const POLL: Duration = Duration::from_millis(100);

/// Time between two looks at least.
const GAP: Duration = Duration::from_millis(5);

/// It rests for so many times as long as looking took.
const REST: u32 = 4;

/// Those who wait for events, and what makes the task look.
#[derive(Debug, Clone, Default)]
pub(super) struct EventLooks {
    watches: EventWatches,
    written: Arc<Notify>,
    is_looking: Arc<AtomicBool>,
}

/// What a look has found.
struct Look {
    /// The newest transaction that could be read.
    newest: i64,
    /// Whether there are entries that cannot be read yet.
    is_pending: bool,
}

impl EventLooks {
    /// A new watch for the dealers of a scope.
    pub(super) fn watch(&self, database: &Database, scope: Scope<'_>) -> EventWatch {
        let watch = self.watches.watch(scope);
        if !self.is_looking.swap(true, Ordering::SeqCst) {
            tokio::spawn(self.clone().look(database.clone()));
        }
        watch
    }

    /// There may be new events.
    pub(super) fn notify(&self) {
        self.written.notify_one();
    }

    /// Looks until nobody waits.
    async fn look(self, database: Database) {
        let (mut seen, mut retry) = (None, GAP);
        while !self.ends() {
            let begun = Instant::now();
            let pause = match self.look_once(&database, seen).await {
                Ok(Look { newest, is_pending }) => {
                    let is_new = seen.replace(newest) != Some(newest);
                    if is_new || !is_pending {
                        retry = GAP;
                    }
                    if is_pending { retry } else { POLL }
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot look for new events; will be retried");
                    POLL
                }
            };
            // What is pending may be so for as long as somebody's long transaction.
            retry = POLL.min(retry * 2);
            sleep(GAP.max(begun.elapsed() * REST)).await;
            // Notified or not.
            let _notified = timeout(pause, self.written.notified()).await;
        }
    }

    /// Wakes those who wait for events of transactions after the one that was seen last; at first everybody.
    async fn look_once(&self, database: &Database, seen: Option<i64>) -> Result<Look, StoreError> {
        let Some(seen) = seen else {
            let newest = database.newest_event().await?.transaction;
            self.watches.wake_all();
            // It was not asked whether there are any.
            return Ok(Look { newest, is_pending: true });
        };
        let mut look = Look { newest: seen, is_pending: false };
        for row in &database.read(sql::DealersWithEvents { after: seen }).await? {
            let mut columns = Columns::of(row);
            let dealer_code = columns.text()?;
            if let Some(newest) = columns.value::<Option<i64>>()? {
                look.newest = look.newest.max(newest);
                self.watches.wake(&dealer_code);
            }
            look.is_pending |= columns.value::<bool>()?;
        }
        Ok(look)
    }

    /// Whether nobody waits. Then the next one to wait starts the task again.
    fn ends(&self) -> bool {
        if !self.watches.is_empty() {
            return false;
        }
        self.is_looking.store(false, Ordering::SeqCst);
        // Somebody may have come before that, and left it to this task.
        self.watches.is_empty() || self.is_looking.swap(true, Ordering::SeqCst)
    }
}
