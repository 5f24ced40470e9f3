//! Gauges that are read from the database when metrics are requested: the queue, the last backup, whether the database answers.

use std::time::Duration;

use ad_core::{model::Timestamp, ports::StoreError};
use async_trait::async_trait;

use super::readings::{Reading, seconds_of};

/// The state of the queue, and other data of the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLoad {
    /// Requests that are not finished.
    pub depth: u64,
    /// For how long the oldest of them has waited; `None` when there is none.
    pub oldest: Option<Duration>,
    /// Waiting time of the oldest claimable request; `None` if unknown.
    pub oldest_due: Option<Duration>,
    pub pending_deliveries: u64,
    /// For how long the oldest log entry waits that cannot be read as an event yet; `None` when there is none.
    pub unread_events: Option<Duration>,
    /// Commits that have waited for a synchronous standby for some seconds.
    pub waiting_commits: u64,
    pub last_backup: Option<Timestamp>,
}

/// Counts the requests of the queue.
#[async_trait]
pub trait QueueSource: Send + Sync {
    /// The present counts and times.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn queue_state(&self) -> Result<QueueLoad, StoreError>;
}

/// The readings of the queue; `None` if it could not be read.
pub(super) fn readings(state: Option<QueueLoad>) -> Vec<Reading> {
    let is_up = f64::from(u8::from(state.is_some()));
    let up = Reading::gauge("ad_store_up", "Whether the database could be read when this was asked", is_up);
    let Some(state) = state else { return vec![up] };
    let QueueLoad { depth, oldest, oldest_due, pending_deliveries, unread_events, waiting_commits, last_backup } =
        state;
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    let (depth, pending, waiting) = (depth as f64, pending_deliveries as f64, waiting_commits as f64);
    // Zero when the queue is empty: an alert needs a value.
    let seconds = |age: Option<Duration>| age.unwrap_or_default().as_secs_f64();
    let deliveries = "Deliveries to webhooks that are pending, in the whole database";
    let unread = "For how long the oldest log entry has waited that cannot be read as an event yet";
    let commits = "Commits that have waited for a synchronous standby for some seconds, in the whole database";
    let due = "For how long the oldest request that could be worked on has waited";
    let queue = [
        ("ad_queue_depth", "Accepted requests that are not finished, in the whole database", depth),
        ("ad_webhook_pending_deliveries", deliveries, pending),
        ("ad_queue_oldest_seconds", "For how long the oldest unfinished request has waited", seconds(oldest)),
        ("ad_queue_oldest_due_seconds", due, seconds(oldest_due)),
        ("ad_events_oldest_unread_seconds", unread, seconds(unread_events)),
        ("ad_database_waiting_commits", commits, waiting),
    ];
    let help = "When the last backup was recorded, in seconds since 1970";
    let backup = last_backup.map(|at| Reading::gauge("ad_last_backup_timestamp_seconds", help, seconds_of(at)));
    let queue = queue.map(|(name, help, value)| Reading::gauge(name, help, value));
    [up].into_iter().chain(queue).chain(backup).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ad_core::model::Timestamp;

    use super::*;
    use crate::telemetry::{
        Metrics,
        metrics::tests::{NoQueue, lines},
    };

    struct Known;

    #[async_trait]
    impl QueueSource for Known {
        async fn queue_state(&self) -> Result<QueueLoad, StoreError> {
            let (oldest, oldest_due) = (Some(Duration::from_mins(1)), Some(Duration::from_millis(1500)));
            let last_backup = Some(Timestamp::from_millis(2500));
            let unread_events = Some(Duration::from_secs(2));
            let (pending_deliveries, waiting_commits) = (3, 4);
            Ok(QueueLoad {
                depth: 7,
                oldest,
                oldest_due,
                pending_deliveries,
                unread_events,
                waiting_commits,
                last_backup,
            })
        }
    }

    #[tokio::test]
    async fn the_queue_is_looked_at_when_somebody_asks() {
        let text = Metrics::new(Arc::new(Known), Timestamp::default()).text().await;
        assert_eq!(
            lines(&text, "ad_queue"),
            ["ad_queue_depth 7.0", "ad_queue_oldest_due_seconds 1.5", "ad_queue_oldest_seconds 60.0"]
        );
        assert_eq!(lines(&text, "ad_last_backup"), ["ad_last_backup_timestamp_seconds 2.5"]);
        assert_eq!(lines(&text, "ad_webhook_pending"), ["ad_webhook_pending_deliveries 3.0"]);
        assert_eq!(lines(&text, "ad_events_oldest"), ["ad_events_oldest_unread_seconds 2.0"]);
        assert_eq!(lines(&text, "ad_database_waiting"), ["ad_database_waiting_commits 4.0"]);
        assert_eq!(lines(&text, "ad_store_up"), ["ad_store_up 1.0"]);
        let text = Metrics::new(Arc::new(NoQueue), Timestamp::default()).text().await;
        assert_eq!(lines(&text, "ad_queue"), Vec::<&str>::new());
        assert_eq!(lines(&text, "ad_store_up"), ["ad_store_up 0.0"]);
    }
}
