//! Removes what is kept for a limited time, in the background and a little at a time, so that no write waits for it.

use std::{sync::Arc, time::Duration};

use ad_core::ports::{Clock, StoreError};

use ad_server_outside::marketplace;
use ad_server_store::Database;

/// Pause between two runs, unless rows are kept for a shorter time.
const EVERY: Duration = Duration::from_mins(1);

/// Most rows of one kind that one statement removes.
const BATCH: u32 = 500;

/// Pause between two statements, for the writes of others.
const PAUSE: Duration = Duration::from_millis(20);

/// How long rows are kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Answers to requests with an idempotency key.
    pub answers: Duration,
    /// Deliveries to webhooks that ended.
    pub deliveries: Duration,
}

impl Kept {
    /// Nothing of it is removed.
    pub const FOR_EVER: Self = Self { answers: Duration::MAX, deliveries: Duration::MAX };
}

/// Removes expired rows, for ever.
pub async fn run(database: Database, clock: Arc<dyn Clock>, kept: Kept) {
    loop {
        tokio::time::sleep(EVERY.min(kept.answers).min(kept.deliveries)).await;
        if let Err(error) = clean(&database, &*clock, kept).await {
            tracing::warn!(%error, "cannot remove expired rows; will be retried");
        }
    }
}

/// Removes all that has expired.
async fn clean(database: &Database, clock: &dyn Clock, kept: Kept) -> Result<(), StoreError> {
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
    database.forget_owners(clock.now()).await?;
    Ok(())
}
