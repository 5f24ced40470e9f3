//! Removes what is kept for a limited time, in the background and a little at a time, so that no write waits for it.

use std::{sync::Arc, time::Duration};

use ad_core::ports::{Clock, StoreError};

use crate::{marketplace, store::Database};

/// How often it looks.
const EVERY: Duration = Duration::from_mins(1);

/// Most rows of one kind that one statement removes.
const BATCH: u32 = 500;

/// Pause between two statements, for the writes of others.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks for ever.
pub(crate) async fn run(database: Database, clock: Arc<dyn Clock>) {
    loop {
        tokio::time::sleep(EVERY).await;
        if let Err(error) = clean(&database, &*clock).await {
            tracing::warn!(%error, "cannot remove expired rows; will be retried");
        }
    }
}

/// Removes all that has expired.
async fn clean(database: &Database, clock: &dyn Clock) -> Result<(), StoreError> {
    while marketplace::forget_calls(database, clock.now(), BATCH).await? {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
