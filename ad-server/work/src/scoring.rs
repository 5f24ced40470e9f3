//! Computes the quality scores of ads that an earlier version of the service has stored, in the background and a few at a time, so that
//! no write waits for it.

use std::time::Duration;

use ad_server_store::Database;

/// Most ads of one statement.
const BATCH: u32 = 200;

/// Pause between two statements, for the writes of others.
const PAUSE: Duration = Duration::from_millis(20);

/// Pause after the database failed.
const AGAIN: Duration = Duration::from_mins(1);

/// Ends when every ad has a score.
pub async fn run(database: Database) {
    loop {
        let pause = match database.score_ads(BATCH).await {
            Ok(0) => return,
            Ok(_) => PAUSE,
            Err(error) => {
                tracing::warn!(%error, "cannot compute quality scores of stored ads; will be retried");
                AGAIN
            }
        };
        tokio::time::sleep(pause).await;
    }
}
