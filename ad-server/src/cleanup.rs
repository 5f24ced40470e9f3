//! Removes what is kept for a limited time, in the background and a little at a time, so that no write waits for it.

use std::{sync::Arc, time::Duration};

use ad_core::ports::{Clock, StoreError};

use crate::{marketplace, store::Database};

/// How often it looks, unless answers are kept for a shorter time.
const EVERY: Duration = Duration::from_mins(1);

/// Most rows of one kind that one statement removes.
const BATCH: u32 = 500;

/// Pause between two statements, for the writes of others.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks for ever. Answers to requests with an idempotency key are kept for this long.
pub(crate) async fn run(database: Database, clock: Arc<dyn Clock>, answers_kept: Duration) {
    loop {
        tokio::time::sleep(EVERY.min(answers_kept)).await;
        if let Err(error) = clean(&database, &*clock, answers_kept).await {
            tracing::warn!(%error, "cannot remove expired rows; will be retried");
        }
    }
}

/// Removes all that has expired.
async fn clean(database: &Database, clock: &dyn Clock, answers_kept: Duration) -> Result<(), StoreError> {
    while database.remove_answers(clock.now() - answers_kept, BATCH).await? >= u64::from(BATCH) {
        tokio::time::sleep(PAUSE).await;
    }
    while marketplace::forget_calls(database, clock.now(), BATCH).await? {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
