//! Work in a transaction of either database.

use futures_util::TryStreamExt;
use sqlx::{Either, Executor, PgConnection, SqliteConnection};

use super::{
    rows::Row,
    statement::{Dialect, Statement},
};

/// Receives the rows of a read one by one.
pub(super) type RowReader<'r> = dyn FnMut(Row) -> sqlx::Result<()> + Send + 'r;

/// Work that is done in a transaction.
pub trait Work: Send + Sync + 'static {
    type Answer: Send + 'static;

    /// Isolation level in PostgreSQL.
    const ISOLATION: Isolation = Isolation::RepeatableRead;

    /// The dealer whose client waits for it; `None` for work of the service itself. SQLite's writer serves dealers in turn.
    fn dealer(&self) -> Option<&str> {
        None
    }

    /// The total length of its texts.
    fn text_bytes(&self) -> usize {
        0
    }

    /// The statement that it is, if it is only one. SQLite's writer sends several together.
    fn statement(&self) -> Option<&Statement> {
        None
    }

    /// The answer to a work that is one statement.
    fn answer(_ran: StatementResult) -> Option<Self::Answer> {
        None
    }

    /// Runs it. Called again if the transaction was rolled back.
    fn run(&self, link: &mut Link<'_>) -> impl Future<Output = sqlx::Result<Self::Answer>> + Send;
}

/// How PostgreSQL runs a [`Work`]. SQLite has one writer, for which all of these are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// One statement, which is a transaction of its own.
    SingleStatement,
    /// A transaction with one snapshot of the database, which is rolled back and run again when others have changed what it
    /// changes.
    RepeatableRead,
    /// A transaction whose statements each see what was committed before them.
    ReadCommitted,
}

impl Work for Statement {
    type Answer = StatementResult;

    const ISOLATION: Isolation = Isolation::SingleStatement;

    fn dealer(&self) -> Option<&str> {
        self.dealer()
    }

    fn text_bytes(&self) -> usize {
        self.text_bytes()
    }

    fn statement(&self) -> Option<&Statement> {
        Some(self)
    }

    fn answer(ran: StatementResult) -> Option<StatementResult> {
        Some(ran)
    }

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<StatementResult> {
        link.run(self).await
    }
}

#[derive(Debug, Default)]
pub struct StatementResult {
    /// Rows that were inserted, updated or deleted, by all parts of the statement together; in PostgreSQL, the number of its
    /// last part. Not meaningful where a part is a `SELECT`: SQLite repeats the number of the part before it.
    pub changed: u64,
    /// Rows that were returned, by all parts together.
    pub rows: Vec<Row>,
}

impl StatementResult {
    /// Results for so many inputs of a batch.
    pub(super) fn of_batch(inputs: usize) -> Vec<Self> {
        std::iter::repeat_with(Self::default).take(inputs).collect()
    }

    pub(super) fn add(batch: &mut [Self], row: Row) -> sqlx::Result<()> {
        let input = row.input()?;
        let place = usize::try_from(input - 1).ok().and_then(|place| batch.get_mut(place));
        let ran = place.ok_or_else(|| sqlx::Error::Protocol(format!("a row of unknown input {input}")))?;
        ran.changed += 1;
        ran.rows.push(row);
        Ok(())
    }
}

/// A connection within a transaction.
pub enum Link<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

ad_server_base::debug_by_name!(Link<'_>);

impl Link<'_> {
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Runs statements that differ only in their values.
    pub(super) async fn run_alike(&mut self, statements: &[Statement]) -> sqlx::Result<()> {
        match self {
            Self::Sqlite(connection) => run_grouped(connection, &statements.iter().collect::<Vec<_>>()).await.map(drop),
            Self::Postgres(connection) => run_batch(connection, statements).await.map(drop),
        }
    }

    /// Runs a statement within the transaction.
    pub async fn run(&mut self, statement: &Statement) -> sqlx::Result<StatementResult> {
        let mut ran = StatementResult::default();
        match self {
            Self::Sqlite(connection) => {
                let mut results = connection.fetch_many(statement.for_sqlite());
                while let Some(result) = results.try_next().await? {
                    match result {
                        Either::Left(done) => ran.changed += done.rows_affected(),
                        Either::Right(row) => ran.rows.push(Row::Sqlite(row)),
                    }
                }
            }
            Self::Postgres(connection) if statement.is_batch(Dialect::Postgres) => {
                return Ok(run_batch(connection, std::slice::from_ref(statement)).await?.pop().unwrap_or_default());
            }
            Self::Postgres(connection) => {
                let mut results = connection.fetch_many(statement.for_postgres());
                while let Some(result) = results.try_next().await? {
                    match result {
                        Either::Left(done) => ran.changed += done.rows_affected(),
                        Either::Right(row) => ran.rows.push(Row::Postgres(row)),
                    }
                }
            }
        }
        Ok(ran)
    }
}

/// Runs statements of SQLite that differ only in their values, as many as possible in one exchange with the connection's thread.
pub(super) async fn run_grouped(
    connection: &mut SqliteConnection,
    statements: &[&Statement],
) -> sqlx::Result<Vec<StatementResult>> {
    let mut rans = Vec::with_capacity(statements.len());
    while let rest @ [first, ..] = &statements[rans.len()..] {
        let together = &rest[..Statement::together(rest)];
        let (begin, parts, mut done) = (rans.len(), first.parts(), 0);
        rans.extend(StatementResult::of_batch(together.len()));
        let mut results = connection.fetch_many(Statement::together_for_sqlite(together));
        while let Some(result) = results.try_next().await? {
            let ran = rans.get_mut(begin + done / parts);
            let ran = ran.ok_or_else(|| sqlx::Error::Protocol("a result of no statement".to_owned()))?;
            match result {
                Either::Left(part) => {
                    ran.changed += part.rows_affected();
                    done += 1;
                }
                Either::Right(row) => ran.rows.push(Row::Sqlite(row)),
            }
        }
    }
    Ok(rans)
}

/// Runs one statement of PostgreSQL for the inputs of these, and gives each of them its rows.
pub(super) async fn run_batch(
    connection: &mut PgConnection,
    statements: &[Statement],
) -> sqlx::Result<Vec<StatementResult>> {
    let mut rans = StatementResult::of_batch(statements.len());
    let mut rows = connection.fetch(Statement::batch_for_postgres(statements));
    while let Some(row) = rows.try_next().await? {
        StatementResult::add(&mut rans, Row::Postgres(row))?;
    }
    Ok(rans)
}
