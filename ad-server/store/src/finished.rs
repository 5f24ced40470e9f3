//! Those who wait for requests to be finished.
//!
//! A request that this process finishes ends their wait at once, and so does a notification of another process in PostgreSQL. While
//! there are waiters, one task polls for the rest: requests that other processes on the same SQLite file finish, and lost
//! notifications.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{lock::locked, ports::StoreError};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};
use uuid::Uuid;

use super::{Columns, Database, sql::queue as sql};

/// Shortest time between two polls.
const POLL: Duration = Duration::from_millis(100);

/// After a poll, the task pauses for so many times as long as the poll took.
const REST: u32 = 20;

/// The waits of this process.
#[derive(Debug, Clone, Default)]
pub(super) struct FinishedRequests(Arc<Mutex<RequestWaits>>);

#[derive(Debug, Default)]
struct RequestWaits {
    of_requests: HashMap<Uuid, Vec<oneshot::Sender<()>>>,
    is_watched: bool,
}

impl FinishedRequests {
    /// Returns when a request is finished.
    pub(super) async fn wait(&self, database: &Database, request: Uuid) -> Result<(), StoreError> {
        let (end, ended) = oneshot::channel();
        let starts_watch = {
            let mut waits = locked(&self.0);
            waits.of_requests.entry(request).or_default().push(end);
            !std::mem::replace(&mut waits.is_watched, true)
        };
        if starts_watch {
            tokio::spawn(self.clone().watch(database.clone()));
        }
        // It may have been finished before.
        let rows = database.look_up(sql::IsUnfinished { id: request }).await?;
        if !Columns::read_bool(&rows)? {
            return Ok(());
        }
        ended.await.map_err(|_| StoreError::Unavailable("the database is closed".into()))
    }

    pub(super) fn end(&self, request: Uuid) {
        let ended = locked(&self.0).of_requests.remove(&request).unwrap_or_default();
        for end in ended {
            // The waiter may have left.
            let _left = end.send(());
        }
    }

    /// Polls for finished requests until there are no waiters.
    async fn watch(self, database: Database) {
        let mut pause = POLL;
        loop {
            sleep(pause).await;
            let Some(requests) = self.awaited() else { return };
            let begun = Instant::now();
            match database.unfinished_of(&requests).await {
                Ok(unfinished) => {
                    requests.into_iter().filter(|id| !unfinished.contains(id)).for_each(|id| self.end(id));
                }
                Err(error) => tracing::debug!(%error, "cannot look for finished requests; will be retried"),
            }
            pause = POLL.max(begun.elapsed() * REST);
        }
    }

    /// The requests with waiters; `None` if there are none, which ends the task.
    fn awaited(&self) -> Option<Vec<Uuid>> {
        let mut waits = locked(&self.0);
        waits.of_requests.retain(|_, ends| {
            ends.retain(|end| !end.is_closed());
            !ends.is_empty()
        });
        waits.is_watched = !waits.of_requests.is_empty();
        waits.is_watched.then(|| waits.of_requests.keys().copied().collect())
    }
}

impl Database {
    async fn unfinished_of(&self, requests: &[Uuid]) -> Result<HashSet<Uuid>, StoreError> {
        let ids = requests.iter().map(Uuid::to_string).collect();
        let rows = self.read(sql::UnfinishedOf { ids }).await?;
        Ok(Columns::all(&rows)?.into_iter().collect())
    }
}
