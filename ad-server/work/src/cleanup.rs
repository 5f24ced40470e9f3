//! Removes what is kept for a limited time, a little at a time, so that no write waits for it.

use std::time::Duration;

use ad_core::ports::{Clock, StoreError};

use ad_server_outside::marketplace;
use ad_server_store::Database;

/// Most rows of one kind that one statement removes.
pub const BATCH: u32 = 500;

/// Pause between two statements, for the writes of others.
pub const PAUSE: Duration = Duration::from_millis(20);

/// How long sessions of the console are kept after they have expired.
const SESSIONS_KEPT: Duration = Duration::from_hours(30 * 24);

/// How long rows are kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Answers to requests with an idempotency key.
    pub answers: Duration,
    /// Deliveries to webhooks that ended.
    pub deliveries: Duration,
}

impl Kept {
    pub fn shortest(self) -> Duration {
        self.answers.min(self.deliveries)
    }
}

/// Removes all that has expired.
pub async fn run(database: &Database, clock: &dyn Clock, kept: Kept) -> Result<(), StoreError> {
    while database.remove_answers(clock.now() - kept.answers, BATCH).await? >= u64::from(BATCH) {
        tokio::time::sleep(PAUSE).await;
    }
    while marketplace::forget_calls(database, clock.now(), BATCH).await? {
        tokio::time::sleep(PAUSE).await;
    }
    while database.remove_deliveries(clock.now() - kept.deliveries, BATCH).await? >= u64::from(BATCH) {
        tokio::time::sleep(PAUSE).await;
    }
    while database.remove_deleted_webhooks(BATCH).await? > 0 {
        tokio::time::sleep(PAUSE).await;
    }
    while database.forget_image_holds(clock.now(), BATCH).await? >= u64::from(BATCH) {
        tokio::time::sleep(PAUSE).await;
    }
    while database.remove_console_access(clock.now() - SESSIONS_KEPT, BATCH).await? >= u64::from(BATCH) {
        tokio::time::sleep(PAUSE).await;
    }
    database.forget_owners(clock.now()).await?;
    Ok(())
}
