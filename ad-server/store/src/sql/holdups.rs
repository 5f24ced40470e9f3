//! What holds a PostgreSQL database up: commits that wait for a standby, and transactions of others that keep events from being read.

use crate::statement::statements;

statements! {
    /// The number of commits that have waited for a synchronous standby for some seconds.
    WaitingCommits {}
    sqlite "SELECT 0"
    postgres "
        SELECT count(*) FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - INTERVAL '5 s'";

    /// Ends the wait of commits that this program has given up, which then are durable on the primary alone, and returns their number.
    CancelWaitingCommits {}
    sqlite "SELECT 0"
    postgres "
        SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - INTERVAL '15 s'
            AND usename = current_user AND application_name = 'ad-server'";

    /// When the oldest entry was logged that cannot be read as an event yet, and the oldest open transaction of the server that has changed
    /// something: its process or the name under which it is prepared, its database, and since when it is open.
    OldestUnread {}
    sqlite "SELECT NULL, NULL, NULL, NULL, NULL"
    postgres "
        SELECT unread.created, open.pid, open.gid, open.database, CAST(extract(epoch FROM open.since) * 1000 AS BIGINT)
        FROM (
            SELECT log.created FROM log WHERE log.transaction_id >= (
                SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + added FROM log_transactions)
            ORDER BY log.transaction_id LIMIT 1
        ) AS unread LEFT JOIN LATERAL (
            SELECT * FROM (
                SELECT CAST(pid AS BIGINT) AS pid, NULL AS gid, CAST(datname AS TEXT) AS database, xact_start AS since, backend_xid AS xid
                FROM pg_stat_activity WHERE backend_xid IS NOT NULL
                UNION ALL
                SELECT NULL, gid, CAST(database AS TEXT), prepared, transaction FROM pg_prepared_xacts
            ) AS changing
            ORDER BY age(xid) DESC LIMIT 1
        ) AS open ON true";
}
