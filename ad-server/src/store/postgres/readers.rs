//! Connections for what clients read. A read that nobody waits for any more, because its time was over or its client has
//! left, is interrupted: its connection is given up, which the server notices, and the next read opens another.

use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::{Either, Executor, PgPool, Postgres, error::DatabaseError, pool::PoolConnection};

use crate::store::{rows::Row, statement::Statement, work::RowReader};

/// A fixed number of connections. Their statements end by themselves after the time that a read may take.
#[derive(Debug, Clone)]
pub(in crate::store) struct PostgresReaders(pub(super) PgPool);

impl PostgresReaders {
    /// A connection, which is used again after [`PostgresLease::run`] came to its end.
    pub(super) async fn acquire(&self) -> sqlx::Result<PostgresLease> {
        self.0.acquire().await.map(PostgresLease::of)
    }
}

/// A connection in use.
pub(super) struct PostgresLease(Option<PoolConnection<Postgres>>);

impl PostgresLease {
    /// Of a connection that is ready.
    pub(super) fn of(connection: PoolConnection<Postgres>) -> Self {
        Self(Some(connection))
    }

    /// Runs a statement and hands out its rows as they come.
    pub(super) async fn run(mut self, statement: &Statement, read: &mut RowReader<'_>) -> sqlx::Result<()> {
        let Some(connection) = &mut self.0 else { return Ok(()) };
        let mut results = connection.fetch_many(statement.for_postgres());
        while let Some(result) = results.try_next().await? {
            if let Either::Right(row) = result {
                read(Row::Postgres(row))?;
            }
        }
        drop(results);
        // Back to the pool.
        drop(self.0.take());
        Ok(())
    }
}

impl Drop for PostgresLease {
    fn drop(&mut self) {
        // The pool would wait for the end of the statement.
        drop(self.0.take().map(PoolConnection::detach));
    }
}

/// How much later than the server this process ends a read: the connection can then be used again.
pub(super) const GRACE: Duration = Duration::from_millis(200);

/// Whether the server has ended a statement because its time was over (`query_canceled`).
pub(super) fn has_timed_out(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "57014")
}
