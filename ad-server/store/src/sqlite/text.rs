//! The task that keeps the index of trigrams ([`search`](crate::search)) up to date.
//!
//! Texts are in `texts`, ordered by dealer. Indexing a text costs more than storing it, so it is done a moment later, in batches. Until
//! then every search of its dealer reads the text itself: lists are exact even if the index lags behind.

use std::time::Duration;

use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use super::writer::WeakWriter;
use crate::{
    statement::statements,
    work::{Link, Work},
};

statements! {
    /// Indexes a batch of texts, ordered by dealer, within a number of texts and of bytes. Each text is prefixed with three characters of
    /// a private-use plane for the number of its dealer.
    ///
    /// The savepoint makes the index write to its tables now. Otherwise it would do so at the beginning of a later statement of another
    /// operation in the same commit, whose `changes()` would count it, and a write on an old revision would be accepted.
    IndexTexts { texts: i64, bytes: i64 }
    sqlite "
        INSERT OR REPLACE INTO trigrams (rowid, text)
        SELECT place,
            char(1048576 + (number >> 20), 1048576 + (number >> 10 & 1023), 1048576 + (number & 1023))
                || search || char(10) || texts.source_id
        FROM (
            SELECT place, sum(bytes) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before
            FROM (
                SELECT place, coalesce(octet_length(search), 0) AS bytes
                FROM unindexed LEFT JOIN texts USING (place) ORDER BY place LIMIT :texts
            )
        ) JOIN texts USING (place) JOIN dealer_numbers ON number = place >> 40
        WHERE bytes_before < :bytes ORDER BY place;

        SAVEPOINT indexed; RELEASE indexed;

        DELETE FROM unindexed WHERE place IN (
            SELECT place FROM (
                SELECT place, sum(bytes) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before
                FROM (
                    SELECT place, coalesce(octet_length(search), 0) AS bytes
                    FROM unindexed LEFT JOIN texts USING (place) ORDER BY place LIMIT :texts
                )
            )
            WHERE bytes_before < :bytes
        )";

    /// The number of texts that are not indexed, or have changed since.
    CountUnindexed {}
    sqlite "SELECT count(*) FROM unindexed";
}

/// Maximum number and bytes of texts in one batch. They bound how long writes wait for it: a few milliseconds, and about 15 ms for
/// the longest text.
const BATCH: (i64, i64) = (64, 32 * 1024);
/// Delay of indexing after a write, in which a batch is collected.
const GATHER: Duration = Duration::from_millis(50);
/// While there are writes, indexing uses one in this number of parts of the time.
const SHARE: u32 = 16;
/// Pause after an update of the index failed.
const AGAIN: Duration = Duration::from_secs(1);

/// Time between two polls for texts that other processes have written.
const POLL: Duration = Duration::from_secs(5);

/// Indexes new texts, from the first notification until the database is closed.
pub(super) async fn keep_indexed(writer: WeakWriter, mut written: mpsc::Receiver<()>) {
    let mut notified = written.recv().await;
    while notified.is_some() && index_all(&writer, &mut written).await.is_some() {
        notified = timeout(POLL, written.recv()).await.unwrap_or(Some(()));
    }
}

/// Indexes all pending texts. `None` when the database is closed.
async fn index_all(writer: &WeakWriter, written: &mut mpsc::Receiver<()>) -> Option<()> {
    let mut pause = Some(GATHER);
    while let Some(time) = pause {
        sleep(time).await;
        let writer = writer.upgrade()?;
        let indexed = writer.run(IndexBatch).await;
        let is_busy = written.try_recv().is_ok();
        pause = match indexed {
            Ok((_, took)) if is_busy => Some(GATHER.max(took * (SHARE - 1))),
            Ok((texts, _)) => (texts > 0).then_some(Duration::ZERO),
            Err(error) => {
                tracing::warn!(%error, "cannot index texts; searches are slower meanwhile");
                Some(AGAIN)
            }
        };
    }
    Some(())
}

/// Indexes one batch; returns its number of texts, and how long it occupied the writer.
struct IndexBatch;

impl Work for IndexBatch {
    type Answer = (u64, Duration);

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<(u64, Duration)> {
        let start = Instant::now();
        let indexed = link.run(&IndexTexts { texts: BATCH.0, bytes: BATCH.1 }.into()).await?;
        Ok((indexed.changed, start.elapsed()))
    }
}
