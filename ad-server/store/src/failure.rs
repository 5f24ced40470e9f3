//! Errors of the databases as errors of the store: which of them are temporary.

use std::io::ErrorKind;

use ad_core::ports::StoreError;
use sqlx::{error::DatabaseError, postgres::PgDatabaseError};

/// An error of the database, which can be cloned for several callers.
#[derive(Debug, Clone)]
pub struct DatabaseFailure {
    /// Whether another attempt may succeed.
    pub is_temporary: bool,
    text: String,
}

impl From<&sqlx::Error> for DatabaseFailure {
    fn from(error: &sqlx::Error) -> Self {
        Self { is_temporary: is_temporary(error), text: plain_text(error) }
    }
}

impl From<DatabaseFailure> for StoreError {
    fn from(failure: DatabaseFailure) -> Self {
        if failure.is_temporary { Self::Unavailable(failure.text.into()) } else { Self::Faulty(failure.text.into()) }
    }
}

/// The error as callers of the store know it.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    DatabaseFailure::from(&error).into()
}

/// The error in words that say where to look.
pub(crate) fn plain_text(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::PoolTimedOut => {
            "no connection to the database could be opened, or became free, in time".to_owned()
        }
        sqlx::Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused => "nothing listens at the address of the database".to_owned(),
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => "the database, or a proxy before it, has closed the connection".to_owned(),
            _ => error.to_string(),
        },
        // The first message to a server; a proxy without one closes the connection instead of answering it.
        sqlx::Error::Protocol(text) if text.contains("SSLRequest") => {
            "a proxy has accepted the connection and closed it: it knows no database that answers".to_owned()
        }
        error => error.to_string(),
    }
}

fn is_temporary(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
            Some(error) => is_temporary_in_postgres(error.code()),
            None => sqlite_code(&**error).is_some_and(|code| TEMPORARY_IN_SQLITE.contains(&code)),
        },
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        // A server that shuts down in the middle of an answer.
        | sqlx::Error::Protocol(_) => true,
        _ => false,
    }
}

/// Primary result codes (<https://www.sqlite.org/rescode.html>): `BUSY`, `LOCKED`, `READONLY`, `IOERR`, `FULL`, `CANTOPEN`,
/// `PROTOCOL`.
const TEMPORARY_IN_SQLITE: [i32; 7] = [5, 6, 8, 10, 13, 14, 15];

/// The primary result code of an error of SQLite, which is the lowest byte of its extended code.
pub(super) fn sqlite_code(error: &dyn DatabaseError) -> Option<i32> {
    let code: i32 = error.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Classes of <https://www.postgresql.org/docs/current/errcodes-appendix.html>: connections, conflicts, resources such as the
/// disk, operator intervention, I/O errors; and a server that is read-only, and a lock that is not available.
fn is_temporary_in_postgres(code: &str) -> bool {
    ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class)) || matches!(code, "25006" | "55P03")
}
