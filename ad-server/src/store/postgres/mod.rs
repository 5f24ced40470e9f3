//! The store's engine in PostgreSQL, where any number of processes work side by side.
//!
//! | Module | What it is for |
//! |---|---|
//! | `open` | connects, and brings the tables up to date |
//! | `readers` | connections for what clients read, each read bounded in time |
//! | `gather` | does what many ask for at the same time in one statement |
//! | `wake` | tells the workers of other processes that there is something to do, and listens to them |
//! | `text` | the one character that PostgreSQL cannot store |
//!
//! A write is one statement and so one round trip. It sees one state of the database (`REPEATABLE READ`); when somebody
//! else has changed what it is about to change, the database refuses it and it is run again. What must not be missed
//! rests on that: a request that comes in while the one before it ends changes the same row as the end does.

mod gather;
mod open;
mod readers;
mod text;
mod wake;

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use sqlx::{
    Connection, Either, Executor, PgConnection, PgPool, Postgres as Engine, Row as _, error::DatabaseError,
    pool::PoolConnection, postgres::PgDatabaseError,
};
use tokio::sync::Notify;

use super::{
    database::{Link, OpenError, Options, Reading, Work, Wrap},
    rows::Row,
    statement::{Ran, Statement, store_error},
};
use ad_core::ports::StoreError;
use gather::Gather;
use open::Pools;
pub(super) use open::{is_address, name_of};
use readers::Readers;
pub(super) use text::{restored, storable};
use wake::Wake;

/// How often a write is tried that others get in the way of.
const TRIES: u32 = 12;
/// Before it is tried for the second time; each further pause is half as long again.
const PAUSE: Duration = Duration::from_millis(1);

/// A PostgreSQL database.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    /// For what the service itself reads.
    own: PgPool,
    /// For single ads that clients read.
    pub(super) look_ups: Readers,
    /// For lists that clients read.
    pub(super) lists: Readers,
    /// For writes, each by itself.
    single: PgPool,
    /// For writes that are done together.
    together: PgPool,
    gather: Gather,
    wake: Arc<Wake>,
}

impl Postgres {
    pub(super) async fn open(url: &str, options: &Options, queued: Arc<Notify>) -> Result<Self, OpenError> {
        let Pools { own, look_ups, lists, single, together, budget } = open::open(url, options).await?;
        let gather = Gather::start(&together, budget.together);
        let wake = Arc::new(Wake::start(&own, queued));
        let (look_ups, lists) = (Readers(look_ups), Readers(lists));
        Ok(Self { own, look_ups, lists, single, together, gather, wake })
    }

    pub(super) async fn close(&self) {
        self.wake.stop();
        for pool in [&self.look_ups.0, &self.lists.0, &self.single, &self.together, &self.own] {
            pool.close().await;
        }
    }

    /// Has other processes wake the workers of this one.
    pub(super) fn listen(&self) {
        self.wake.listen();
    }

    /// Has the workers of other processes look into the queue soon.
    pub(super) fn wake_others(&self) {
        self.wake.others();
    }

    pub(super) async fn read(&self, statement: &Statement) -> sqlx::Result<Vec<Row>> {
        let mut connection = self.own.acquire().await?;
        Ok(run(&mut connection, statement).await?.rows)
    }

    /// How many lists can be read at the same time.
    pub(super) fn list_connections(&self) -> u32 {
        self.lists.0.options().get_max_connections()
    }

    /// How many single ads can be read at the same time.
    pub(super) fn look_up_connections(&self) -> u32 {
        self.look_ups.0.options().get_max_connections()
    }

    /// Runs a statement together with those like it that others ask for at the same time.
    pub(super) async fn gather(&self, statement: Statement) -> Result<Ran, StoreError> {
        self.gather.run(statement).await
    }

    pub(super) fn stream<'s>(&'s self, statement: &Statement) -> BoxStream<'s, sqlx::Result<Row>> {
        statement.for_postgres().fetch(&self.own).map_ok(Row::Postgres).boxed()
    }

    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let mut connection = self.single.acquire().await.map_err(|error| store_error(&error))?;
        insist(&mut connection, &work, TRIES).await.map_err(|error| store_error(&error))
    }

    pub(super) async fn hold(&self) -> Result<Held, StoreError> {
        self.own.acquire().await.map(Held).map_err(|error| store_error(&error))
    }
}

/// Reads for a client, for so long at most.
pub(super) async fn read_within(
    readers: &Readers,
    limit: Duration,
    statement: &Statement,
    read: &mut Reading<'_>,
) -> Result<(), StoreError> {
    let lease = readers.acquire().await.map_err(|error| store_error(&error))?;
    match tokio::time::timeout(limit + readers::GRACE, lease.run(statement, read)).await {
        Ok(Err(error)) if readers::has_timed_out(&error) => Err(StoreError::TimedOut(limit)),
        Ok(ran) => ran.map_err(|error| store_error(&error)),
        Err(_) => Err(StoreError::TimedOut(limit)),
    }
}

/// A connection that nobody else uses.
pub(crate) struct Held(PoolConnection<Engine>);

impl Held {
    pub(super) async fn write<W: Work>(&mut self, work: W) -> Result<W::Answer, StoreError> {
        insist(&mut self.0, &work, TRIES).await.map_err(|error| store_error(&error))
    }
}

/// Does something, again if others get in the way.
async fn insist<W: Work>(connection: &mut PgConnection, work: &W, tries: u32) -> sqlx::Result<W::Answer> {
    let mut pause = PAUSE;
    for _ in 1..tries {
        match attempt(connection, work).await {
            Err(error) if is_conflict(&error) => {
                tracing::debug!(%error, "others were quicker; once more");
                tokio::time::sleep(pause).await;
                pause = pause * 3 / 2;
            }
            done => return done,
        }
    }
    attempt(connection, work).await
}

async fn attempt<W: Work>(connection: &mut PgConnection, work: &W) -> sqlx::Result<W::Answer> {
    let begin = match W::WRAP {
        Wrap::Nothing => return work.run(&mut Link::Postgres(connection)).await,
        Wrap::Snapshot => "BEGIN",
        Wrap::Committed => "BEGIN ISOLATION LEVEL READ COMMITTED",
    };
    let mut transaction = connection.begin_with(begin).await?;
    let answer = work.run(&mut Link::Postgres(&mut transaction)).await?;
    transaction.commit().await?;
    Ok(answer)
}

/// Runs a statement on a connection.
pub(super) async fn run(connection: &mut PgConnection, statement: &Statement) -> sqlx::Result<Ran> {
    if statement.is_for_many() {
        return Ok(run_together(connection, std::slice::from_ref(statement)).await?.pop().unwrap_or_default());
    }
    let mut ran = Ran::default();
    let mut results = connection.fetch_many(statement.for_postgres());
    while let Some(result) = results.try_next().await? {
        match result {
            Either::Left(done) => ran.changed += done.rows_affected(),
            Either::Right(row) => ran.rows.push(Row::Postgres(row)),
        }
    }
    Ok(ran)
}

/// Runs a statement of many inputs, whose values these statements have. Each is told the rows of its own.
async fn run_together(connection: &mut PgConnection, statements: &[Statement]) -> sqlx::Result<Vec<Ran>> {
    let mut rans: Vec<Ran> = statements.iter().map(|_| Ran::default()).collect();
    let mut rows = connection.fetch(Statement::together(statements));
    while let Some(row) = rows.try_next().await? {
        let input: i64 = row.try_get(row.len() - 1)?;
        let place = usize::try_from(input - 1).ok().and_then(|place| rans.get_mut(place));
        let ran =
            place.ok_or_else(|| sqlx::Error::Protocol(format!("a row of an input {input} that was not given")))?;
        ran.changed += 1;
        ran.rows.push(Row::Postgres(row));
    }
    Ok(rans)
}

/// `serialization_failure` and `deadlock_detected`: nothing was done, and doing it again may go well.
fn is_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| matches!(&*code, "40001" | "40P01"))
}

/// Whether a failure may go well another time, by <https://www.postgresql.org/docs/current/errcodes-appendix.html>:
/// connections, conflicts, resources such as the disk, operators who intervene, a server that only reads just now, and
/// what keeps files from being read or written.
pub(super) fn is_passing(error: &PgDatabaseError) -> bool {
    let code = error.code();
    ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class)) || matches!(code, "25006" | "55P03")
}
