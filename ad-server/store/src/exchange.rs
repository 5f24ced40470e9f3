//! Time limits of exchanges with a database, so that one that does not answer is never waited for without end.

use std::{io, time::Duration};

use futures_util::FutureExt;
use tokio::time::timeout;

/// Time limit of a transaction in PostgreSQL. A server that answers ends a statement before, after 10 s.
pub(crate) const EXCHANGE: Duration = Duration::from_secs(12);

/// Time limit of work in either database, which includes waiting for other work.
pub(crate) const ANSWER: Duration = Duration::from_secs(25);

/// Waits for an answer of a database, for so long at most. Whether the work was done is unknown if it is late.
pub(crate) fn within<T>(
    limit: Duration,
    answer: impl Future<Output = sqlx::Result<T>>,
) -> impl Future<Output = sqlx::Result<T>> {
    // Not an async function, whose future would have the answer's in it twice.
    timeout(limit, answer).map(move |answer| answer.unwrap_or_else(|_| Err(late(limit))))
}

/// The error of an answer that has not come in time.
pub(crate) fn late(limit: Duration) -> sqlx::Error {
    let reason = format!("the database has not answered within {} s", limit.as_secs());
    io::Error::new(io::ErrorKind::TimedOut, reason).into()
}
