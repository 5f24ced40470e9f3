//! Finds out whether a connection leads to another history of the database than the last one: to a promoted standby or a restored server.

use sqlx::{Executor, PgConnection};

use crate::epochs::{ALL, Epochs};

/// Where the database is: a restored server has another identifier, a promoted one another timeline, a restored dump another table.
macro_rules! here {
    () => {
        "(SELECT concat_ws(' ', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8), CAST(CAST('log' AS regclass) AS oid)) \
            FROM pg_control_system())"
    };
}

/// Whether the server can be written to, and if so, whether the database is where it was, and its epoch.
const IS_HERE: &str = concat!(
    "SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN false ELSE place IS NOT DISTINCT FROM ",
    here!(),
    " END, number FROM epoch"
);

/// Begins an epoch, unless another process has done so. A database of before this table keeps its epoch, unless the server has not reached
/// the numbers of its transactions: then it was restored from a dump of another server.
const BEGIN: &str = concat!(
    "BEGIN ISOLATION LEVEL READ COMMITTED; \
DO $$
DECLARE
    here TEXT;
    was TEXT;
    last BIGINT;
BEGIN
    LOCK TABLE epoch IN EXCLUSIVE MODE;
    here := ",
    here!(),
    ";
    was := (SELECT place FROM epoch);
    last := coalesce((SELECT max(transaction_id) FROM log), 0);
    IF was IS NULL AND last < (
        SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) + added FROM log_transactions
    ) THEN
        UPDATE epoch SET place = here;
    ELSIF was IS DISTINCT FROM here THEN
        LOCK TABLE log IN ACCESS EXCLUSIVE MODE;
        INSERT INTO past_epochs (number, last_transaction)
            SELECT number, coalesce((SELECT max(transaction_id) FROM log), 0) FROM epoch;
        -- Minutes since 2026: higher than all numbers that the database has had, also in a history that is lost.
        UPDATE epoch SET place = here,
            number = greatest(number + 1, CAST(extract(epoch FROM clock_timestamp()) AS BIGINT) / 60 - 29453760);
        UPDATE log_transactions SET added = (SELECT number << 40 FROM epoch)
            - CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT);
        EXECUTE format('ALTER TABLE log ALTER COLUMN transaction_id
            SET DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + %s', (SELECT added FROM log_transactions));
    END IF;
END
$$; COMMIT"
);

/// Makes sure that the epoch is that of the server. A server that cannot be written to is an error: it may become the primary later, with
/// other commits than were seen before.
pub(super) async fn enter(connection: &mut PgConnection, epochs: &Epochs) -> sqlx::Result<()> {
    let (is_standby, is_here, number): (bool, bool, i64) = sqlx::query_as(IS_HERE).fetch_one(&mut *connection).await?;
    if is_standby {
        return Err(sqlx::Error::Configuration("the address of the database leads to a standby".into()));
    }
    if !is_here {
        connection.execute(BEGIN).await?;
    }
    if !is_here || number != epochs.current() {
        epochs.set(sqlx::query_as::<_, (i64, Option<i64>)>(ALL).fetch_all(&mut *connection).await?);
    }
    if !is_here && epochs.current() != number {
        epochs.log_beginning();
    }
    Ok(())
}
