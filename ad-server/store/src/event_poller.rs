//! Waking those who wait for new events.
//!
//! While there are waiters, one task of the process polls for dealers with new events: soon after this process has written some or, in
//! PostgreSQL, another has notified it, and at least ten times a second, for other processes on the same SQLite file and for lost
//! notifications. Waiters are woken when the events can be read, and each reads from its own position.

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

/// Time between two polls without a notification.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time between two polls, at least.
const MIN_INTERVAL: Duration = Duration::from_millis(8);

/// After a poll, the task pauses for so many times as long as the poll took, up to [`INTERVAL`]: on a busy database, streams then read
/// several events at a time.
const PAUSE_FACTOR: u32 = 8;

/// It pauses for so many times as long at the least, however long a poll takes, so it uses at most a third of a processor.
const LEAST_PAUSE_FACTOR: u32 = 2;

/// Those who wait for events, and the task that wakes them. Clones share everything.
#[derive(Debug, Clone, Default)]
pub(super) struct EventPoller {
    watches: EventWatches,
    written: Arc<Notify>,
    is_running: Arc<AtomicBool>,
}

struct PollResult {
    /// The newest transaction that could be read.
    newest: i64,
    /// Whether there are entries that cannot be read yet.
    is_pending: bool,
}

impl EventPoller {
    /// A new watch for the dealers of a scope.
    pub(super) fn watch(&self, database: &Database, scope: Scope<'_>) -> EventWatch {
        let watch = self.watches.watch(scope);
        if !self.is_running.swap(true, Ordering::SeqCst) {
            tokio::spawn(self.clone().run(database.clone()));
        }
        watch
    }

    /// Announces that there may be new events.
    pub(super) fn notify(&self) {
        self.written.notify_one();
    }

    /// Polls until no watch remains.
    async fn run(self, database: Database) {
        let (mut seen, mut retry) = (None, MIN_INTERVAL);
        while !self.ends() {
            let begun = Instant::now();
            let pause = match self.poll(&database, seen).await {
                Ok(PollResult { newest, is_pending }) => {
                    let is_new = seen.replace(newest) != Some(newest);
                    if is_new || !is_pending {
                        retry = MIN_INTERVAL;
                    }
                    if is_pending { retry } else { INTERVAL }
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot poll for new events; will be retried");
                    INTERVAL
                }
            };
            // A long transaction of others can keep entries unreadable for as long.
            retry = INTERVAL.min(retry * 2);
            let took = begun.elapsed();
            sleep((took * PAUSE_FACTOR).clamp(MIN_INTERVAL, INTERVAL).max(took * LEAST_PAUSE_FACTOR)).await;
            // Notified or not.
            let _notified = timeout(pause, self.written.notified()).await;
        }
    }

    /// Wakes those who wait for events of transactions after the one that was seen last; all of them at first.
    async fn poll(&self, database: &Database, seen: Option<i64>) -> Result<PollResult, StoreError> {
        let Some(seen) = seen else {
            let newest = database.newest_event().await?.transaction;
            self.watches.wake_all();
            // Whether any are pending was not asked.
            return Ok(PollResult { newest, is_pending: true });
        };
        let mut found = PollResult { newest: seen, is_pending: false };
        for row in &database.read(sql::DealersWithEvents { after: seen }).await? {
            let mut columns = Columns::of(row);
            let dealer_code = columns.text()?;
            if let Some(newest) = columns.value::<Option<i64>>()? {
                found.newest = found.newest.max(newest);
                self.watches.wake(&dealer_code);
            }
            found.is_pending |= columns.value::<bool>()?;
        }
        Ok(found)
    }

    /// Whether no watch is registered. If so, the task ends, and the next watch starts it again.
    fn ends(&self) -> bool {
        if !self.watches.is_empty() {
            return false;
        }
        self.is_running.store(false, Ordering::SeqCst);
        // A waiter may have come just before, and relies on this task.
        self.watches.is_empty() || self.is_running.swap(true, Ordering::SeqCst)
    }
}
