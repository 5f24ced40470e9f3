//! Events: log entries in the order of the transactions that wrote them.

use crate::statement::statements;

statements! {
    /// The newest transaction whose entries can be read.
    NewestTransaction {}
    sqlite "SELECT coalesce(max(transaction_id), 0) FROM log"
    postgres "
        SELECT coalesce(max(transaction_id), 0) FROM log WHERE transaction_id < (
            SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + added FROM log_transactions)";

    /// The dealers of entries after a transaction, each with the newest transaction that can be read, and whether there are some that
    /// cannot be read yet.
    DealersWithEvents { after: i64 }
    sqlite "
        SELECT dealer_code, max(transaction_id), false
        FROM log INDEXED BY log_transaction WHERE transaction_id > :after GROUP BY dealer_code"
    postgres "
        WITH readable AS MATERIALIZED (
            SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + added AS below FROM log_transactions
        )
        SELECT dealer_code, max(transaction_id) FILTER (WHERE transaction_id < (SELECT below FROM readable)),
            bool_or(transaction_id >= (SELECT below FROM readable))
        FROM log WHERE transaction_id > :after GROUP BY dealer_code";
}
