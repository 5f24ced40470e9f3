//! Connections for reads of clients. When a read exceeds its time limit or its client has left, its connection is closed, which
//! cancels the statement on the server, and the next read opens another one.

use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::{Either, Executor, PgPool, Postgres, error::DatabaseError, pool::PoolConnection};

use crate::{rows::Row, statement::Statement, work::RowReader};

/// A fixed number of connections, whose statements have the time limit of reads.
#[derive(Debug, Clone)]
pub(crate) struct PostgresReaders(pub(super) PgPool);

impl PostgresReaders {
    /// A connection, which is used again after [`PostgresLease::run`] came to its end.
    pub(super) async fn acquire(&self) -> sqlx::Result<PostgresLease> {
        self.0.acquire().await.map(PostgresLease::of)
    }
}

/// A connection that is returned to its pool after use.
pub(super) struct PostgresLease(Option<PoolConnection<Postgres>>);

impl PostgresLease {
    /// A lease of an open connection.
    pub(super) fn of(connection: PoolConnection<Postgres>) -> Self {
        Self(Some(connection))
    }

    /// Runs a statement and hands over its rows as they are read.
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
        // The pool would wait until the statement ends.
        drop(self.0.take().map(PoolConnection::detach));
    }
}

/// This process waits a little longer than the server's time limit, so that the connection stays usable.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// Whether the server has ended a statement because its time was over (`query_canceled`).
pub(super) fn has_timed_out(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "57014")
}
