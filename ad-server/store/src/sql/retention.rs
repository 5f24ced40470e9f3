//! What is removed or erased when its retention time is over.

use ad_core::model::Timestamp;

use crate::statement::statements;

statements! {
    /// Ads that were deleted before a time, have content and no unfinished request, with their images. The longest deleted come first.
    ErasableBefore { before: Timestamp, limit: u32 }
    both "
        SELECT seq, image_refs FROM ads
        WHERE state = 'deleted' AND content <> '{}' AND updated < :before
            AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.ad = ads.seq)
        ORDER BY updated LIMIT :limit";

    /// Ads that were deleted before a time and have photos and no unfinished request. The longest deleted come first.
    PhotosOfDeletedBefore { before: Timestamp, limit: u32 }
    both "
        SELECT seq, image_refs FROM ads
        WHERE state = 'deleted' AND image_refs <> '[]' AND updated < :before
            AND NOT EXISTS (SELECT 1 FROM requests WHERE requests.ad = ads.seq)
        ORDER BY updated LIMIT :limit";

    /// Has ads show no photos.
    ForgetPhotosOfAds { ads: Vec<i64> }
    sqlite "
        UPDATE ads SET image_refs = '[]', image_sources = NULL, photos_due = NULL,
            visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
        WHERE seq IN (SELECT value FROM json_each(:ads))"
    postgres "
        UPDATE ads SET image_refs = '[]', image_sources = NULL, photos_due = NULL,
            visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
        WHERE seq = ANY (:ads)";

    /// Of the longest deleted ads with photos, so many at most: the first time of deletion, and the number of ads and photos that were
    /// deleted before a time.
    CountPhotosOfDeleted { before: Timestamp, at_most: u32 }
    sqlite "
        SELECT min(updated), coalesce(sum(updated < :before), 0), coalesce(sum(CASE WHEN updated < :before THEN photos END), 0) FROM (
            SELECT updated, json_array_length(image_refs) AS photos FROM ads
            WHERE state = 'deleted' AND image_refs <> '[]' ORDER BY updated LIMIT :at_most
        ) AS oldest"
    postgres "
        SELECT min(updated), count(*) FILTER (WHERE updated < :before),
            CAST(coalesce(sum(photos) FILTER (WHERE updated < :before), 0) AS BIGINT)
        FROM (
            SELECT updated, json_array_length(CAST(image_refs AS JSON)) AS photos FROM ads
            WHERE state = 'deleted' AND image_refs <> '[]' ORDER BY updated LIMIT :at_most
        ) AS oldest";

    /// The oldest log entries that may have messages: the transaction and time of each, and the transaction up to which none has one.
    /// On PostgreSQL, later transactions than these may still be running.
    OldestLogEntries { limit: u32 }
    sqlite "
        SELECT transaction_id, created, (SELECT transaction_id FROM log_retention)
        FROM log INDEXED BY log_transaction WHERE transaction_id > (SELECT transaction_id FROM log_retention)
        ORDER BY log.transaction_id LIMIT :limit"
    postgres "
        SELECT transaction_id, created, (SELECT transaction_id FROM log_retention)
        FROM log WHERE transaction_id > (SELECT transaction_id FROM log_retention) AND transaction_id < (
            SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + added FROM log_transactions)
        ORDER BY log.transaction_id LIMIT :limit";

    /// Notes that the ads of log entries look different from now on.
    TouchAdsOfLog { after: i64, up_to: i64 }
    both "
        UPDATE ads SET visible_changes = ((SELECT number << 40 FROM epoch) | (visible_changes & 1099511627775)) + 1
        WHERE seq IN (
            SELECT ad FROM log
            WHERE transaction_id > :after AND transaction_id <= :up_to AND (message <> '\"Erased\"' OR content_changes IS NOT NULL)
        )";

    /// Replaces the messages of log entries, and removes what requests have changed.
    EraseLogMessages { after: i64, up_to: i64 }
    both "
        UPDATE log SET message = '\"Erased\"', content_changes = NULL
        WHERE transaction_id > :after AND transaction_id <= :up_to AND (message <> '\"Erased\"' OR content_changes IS NOT NULL)";

    /// Notes up to which transaction log entries have no messages.
    SetLogRetention { up_to: i64 }
    both "UPDATE log_retention SET transaction_id = :up_to";

    /// Changes of ads from before a time that still have their differences: of each ad the newest one.
    ExpiredChanges { before: Timestamp, limit: u32 }
    both "
        SELECT ad, max(n) FROM (
            SELECT ad, n FROM revisions WHERE difference IS NOT NULL AND created < :before ORDER BY created LIMIT :limit
        ) AS expired
        GROUP BY ad";

    /// Forgets the contents before these changes, given as a JSON array of pairs of ad and number, and removes the changes before them. The
    /// changes themselves stay, because they say since when the ad has its content.
    ForgetChanges { changes: String }
    sqlite "
        DELETE FROM revisions WHERE (ad, n) IN (
            SELECT older.ad, older.n FROM json_each(:changes) AS expired
            JOIN revisions AS older ON older.ad = expired.value ->> 0 AND older.n < expired.value ->> 1);

        UPDATE revisions SET difference = NULL
        WHERE (ad, n) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:changes))"
    postgres "
        WITH expired AS MATERIALIZED (
            SELECT CAST(value ->> 0 AS BIGINT) AS ad, CAST(value ->> 1 AS BIGINT) AS n
            FROM json_array_elements(CAST(:changes AS JSON)) AS change (value)
        ), older AS (
            DELETE FROM revisions USING expired WHERE revisions.ad = expired.ad AND revisions.n < expired.n
        )
        UPDATE revisions SET difference = NULL FROM expired WHERE revisions.ad = expired.ad AND revisions.n = expired.n";

    /// Removes the oldest calls of marketplaces, if they are older than a time.
    RemoveCalls { before: Timestamp, at_most: u32 }
    both "
        DELETE FROM calls
        WHERE at < :before AND seq IN (SELECT seq FROM calls ORDER BY seq LIMIT :at_most)";

    /// Removes the oldest entries of the audit log, if they are older than a time.
    RemoveAudit { before: Timestamp, at_most: u32 }
    both "
        DELETE FROM audit WHERE seq IN (
            SELECT seq FROM (SELECT seq, at FROM audit ORDER BY seq LIMIT :at_most) AS oldest WHERE at < :before
        )";
}
