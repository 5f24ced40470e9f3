//! Statements with their values, and what became of them.

use ad_core::ports::StoreError;
use futures_util::TryStreamExt;
use sqlx::{
    Arguments, Either, Encode, Executor, Sqlite, SqliteConnection, Type,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

use super::writer::Work;

/// Constant SQL with its values: can be run, and run again.
///
/// The SQL may be several statements divided by `;`. They reach the database in one go, which matters because each way
/// there and back crosses two threads. `$1` is the first value in all of them.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    sql: &'static str,
    values: SqliteArguments,
}

impl Statement {
    pub(crate) fn new(sql: &'static str) -> Self {
        Self { sql, values: SqliteArguments::default() }
    }

    /// Adds the next value.
    pub(crate) fn bind<'v, T: Encode<'v, Sqlite> + Type<Sqlite>>(mut self, value: T) -> Self {
        Arguments::add(&mut self.values, value).expect("texts and numbers always encode");
        self
    }

    pub(super) fn into_query<'q>(self) -> Query<'q, Sqlite, SqliteArguments> {
        sqlx::query_with(self.sql, self.values)
    }
}

/// What statements did.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// Rows that were inserted, updated or deleted, all statements together. Makes sense only where each of them writes:
    /// for a `SELECT` the database repeats the number of the statement before it.
    pub(crate) changed: u64,
    /// Rows that were returned, all statements together.
    pub(crate) rows: Vec<SqliteRow>,
}

impl Work for Statement {
    type Answer = Ran;

    async fn run(&self, connection: &mut SqliteConnection) -> sqlx::Result<Ran> {
        let mut ran = Ran::default();
        let mut results = connection.fetch_many(self.clone().into_query());
        while let Some(result) = results.try_next().await? {
            match result {
                Either::Left(done) => ran.changed += done.rows_affected(),
                Either::Right(row) => ran.rows.push(row),
            }
        }
        Ok(ran)
    }
}

/// Why the database did not do it, in a form that several callers can be given.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// Whether it may go well another time.
    pub(crate) passing: bool,
    text: String,
}

impl From<&sqlx::Error> for Failure {
    fn from(error: &sqlx::Error) -> Self {
        Self { passing: is_passing(error), text: error.to_string() }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        if failure.passing { Self::Unavailable(failure.text) } else { Self::Faulty(failure.text) }
    }
}

/// The error as callers of the store know it.
pub(crate) fn store_error(error: &sqlx::Error) -> StoreError {
    Failure::from(error).into()
}

/// Primary result codes <https://www.sqlite.org/rescode.html> of a database that cannot be used just now: `BUSY`,
/// `LOCKED`, `READONLY`, `IOERR`, `FULL`, `CANTOPEN`, `PROTOCOL`.
const PASSING: [i32; 7] = [5, 6, 8, 10, 13, 14, 15];

fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(_) => result_code(error).is_some_and(|code| PASSING.contains(&code)),
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

/// The primary result code of a database error; its extended codes keep it in the lowest byte.
pub(crate) fn result_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
