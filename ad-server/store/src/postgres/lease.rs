//! Connections of the pools, each leased for one piece of work.
//!
//! A connection on which nothing arrives any more stays open: a host has vanished behind it, or a proxy or firewall has forgotten it. The
//! driver would wait for ever, for answers as well as for the check of a connection that goes back to its pool. So every exchange with
//! the server has a time limit in this process, and a connection whose exchange has not ended is closed.

use std::time::Duration;

use derive_more::{Deref, DerefMut};
use futures_util::TryStreamExt;
use sqlx::{
    Connection, Either, Executor, FromRow, PgPool, Postgres,
    error::DatabaseError,
    pool::PoolConnection,
    postgres::{PgArguments, PgRow},
    query::QueryAs,
};
use tokio::time::timeout;

use crate::{
    exchange::{EXCHANGE, within},
    rows::Row,
    statement::Statement,
    work::RowReader,
};

/// Time limit of a check whether the server answers.
pub(super) const CHECK: Duration = Duration::from_secs(1);

/// This process waits a little longer than the server's time limit of a read, so that the connection stays usable.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// A connection. It is closed unless it is [released](Self::release), so that work that was dropped is not waited for: the server then
/// cancels its statement. Only [searches](Self::read_cancellable), which clients leave most often, keep it.
#[derive(Deref, DerefMut)]
pub(super) struct Lease(PoolConnection<Postgres>);

impl Lease {
    pub(super) async fn of(pool: &PgPool) -> sqlx::Result<Self> {
        let mut connection = pool.acquire().await?;
        connection.close_on_drop();
        Ok(Self(connection))
    }

    /// Gives the connection back to its pool, once the server has answered a check.
    pub(super) fn release(mut self) {
        tokio::spawn(timeout(CHECK, self.0.return_to_pool()));
    }

    /// Gives it back after its last exchange, unless that shows that nothing arrives any more.
    pub(super) fn end<T>(self, outcome: sqlx::Result<T>) -> sqlx::Result<T> {
        if !outcome.as_ref().is_err_and(is_lost) {
            self.release();
        }
        outcome
    }

    /// Runs a statement and hands over its rows as they are read.
    pub(super) async fn read(mut self, statement: &Statement, read: &mut RowReader<'_>) -> sqlx::Result<()> {
        self.rows(statement, read).await?;
        self.release();
        Ok(())
    }

    /// The same. When it is dropped, the statement is cancelled by a connection of `others`, and the connection stays open.
    pub(super) async fn read_cancellable(
        mut self,
        others: &PgPool,
        statement: &Statement,
        read: &mut RowReader<'_>,
    ) -> sqlx::Result<()> {
        // The driver keeps it to itself.
        let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut **self).await?;
        let mut running = RunningRead { lease: Some(self), backend, others: others.clone() };
        if let Some(lease) = &mut running.lease {
            lease.rows(statement, read).await?;
        }
        if let Some(lease) = running.lease.take() {
            lease.release();
        }
        Ok(())
    }

    async fn rows(&mut self, statement: &Statement, read: &mut RowReader<'_>) -> sqlx::Result<()> {
        let mut results = self.fetch_many(statement.for_postgres());
        while let Some(result) = results.try_next().await? {
            if let Either::Right(row) = result {
                read(Row::Postgres(row))?;
            }
        }
        Ok(())
    }
}

/// A read whose statement is cancelled when it is dropped before its end.
struct RunningRead {
    lease: Option<Lease>,
    /// The process of the server that runs it.
    backend: i32,
    others: PgPool,
}

impl Drop for RunningRead {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            tokio::spawn(cancel(lease, self.backend, self.others.clone()));
        }
    }
}

/// Cancels the statement of a lease, and gives the connection back to its pool if the server then answers on it. Otherwise it is closed, by
/// which the server notices as well.
///
/// The request to cancel cannot hit a later statement: the server process has got its signal before the other connection has the answer,
/// only then is it asked whether it answers, and it ignores the signal when it runs nothing.
async fn cancel(mut lease: Lease, backend: i32, others: PgPool) {
    let cancel = sqlx::query_as("SELECT pg_cancel_backend($1)").bind(backend);
    let cancelled = within(CHECK, async {
        let (_is_there,): (bool,) = read_one(&others, cancel).await?;
        match lease.ping().await {
            // The end of the statement. The pool would take it for that of the connection.
            Err(error) if has_timed_out(&error) => Ok(()),
            answered => answered,
        }
    });
    match cancelled.await {
        Ok(()) => lease.release(),
        Err(error) => {
            tracing::debug!(%error, "a search that nobody waits for was not cancelled; closing its connection");
        }
    }
}

/// Reads the only row of a query.
pub(super) async fn read_one<T>(pool: &PgPool, query: QueryAs<'_, Postgres, T, PgArguments>) -> sqlx::Result<T>
where
    T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
{
    let mut lease = Lease::of(pool).await?;
    let row = within(EXCHANGE, query.fetch_one(&mut **lease)).await;
    lease.end(row)
}

/// Whether a connection is of no use after an error: it is closed, or nothing arrives on it any more.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_))
}

/// Whether the server has ended a statement because its time was over, or it was cancelled (`query_canceled`).
pub(super) fn has_timed_out(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "57014")
}
