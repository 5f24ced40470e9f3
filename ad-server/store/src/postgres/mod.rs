//! The store's engine in PostgreSQL, where any number of processes work side by side.
//!
//! | Module | What it is for |
//! |---|---|
//! | `open` | connects, and migrates the schema |
//! | `readers` | connections for what clients read, each read bounded in time |
//! | `replica` | lists read on a standby that is not behind |
//! | `batch` | runs batches of statements |
//! | `wake` | notifies other processes of new and finished requests and of events, and listens to them |
//!
//! A write is one statement and so one round trip. It sees one snapshot of the database (`REPEATABLE READ`). If another transaction
//! has changed the same rows, the database reports a conflict, and the write is retried. So a request that is accepted while the one
//! before it ends is never missed: both change the same row.

mod batch;
mod open;
mod readers;
mod replica;
mod wake;

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use sqlx::{Connection, PgConnection, PgPool, Postgres as Engine, error::DatabaseError, pool::PoolConnection};

use super::{
    batch::Batches,
    failure::store_error,
    options::{OpenError, Options, PoolUse},
    rows::Row,
    statement::Statement,
    work::{Isolation, Link, RowReader, Work},
};
use ad_core::ports::StoreError;
use batch::{BatchKind, PostgresBatches};
use open::Pools;
pub(super) use open::{MIGRATIONS, is_address, name_of, schema};
#[cfg(test)]
pub(super) use open::{SETTINGS, SETTINGS_BY_INDEX};
pub(super) use readers::GRACE;
use readers::{PostgresLease, PostgresReaders};
pub(super) use replica::Replica;
pub(super) use wake::NotificationTargets;
use wake::Wake;

/// Attempts of a write with conflicts.
const TRIES: u32 = 12;
/// The pause before the second attempt; each further pause is half as long again.
const PAUSE: Duration = Duration::from_millis(1);

/// A PostgreSQL database, with its pools of connections.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    /// For reads of the service itself.
    own: PgPool,
    /// For single ads that clients read.
    look_ups: PostgresReaders,
    /// For lists that clients read.
    lists: PostgresReaders,
    /// For lists too, if there is a standby.
    pub(super) replica: Option<Replica>,
    /// For writes that run by themselves.
    single: PgPool,
    /// For writes that run in batches.
    together: PgPool,
    pub(super) batches: Batches,
    /// Of reads of single ads.
    pub(super) look_up_batches: Batches,
    /// Sends and receives notifications between processes.
    pub(super) wake: Arc<Wake>,
}

impl Postgres {
    pub(super) async fn open(url: &str, options: &Options, woken: NotificationTargets) -> Result<Self, OpenError> {
        let Pools { own, look_ups, lists, replica, single, together, budget } = open::open(url, options).await?;
        let in_batches =
            |pool, connections, kind| Batches::start((0..connections).map(|_| PostgresBatches::new(pool, kind)));
        let batches = in_batches(&together, budget.together, BatchKind::Writes);
        let look_up_batches = in_batches(&look_ups, budget.look_up_batches(), BatchKind::Reads(options.read_timeout));
        let wake = Arc::new(Wake::start(&own, woken));
        let replica = replica.map(|standby| Replica::new(PostgresReaders(standby), look_ups.clone()));
        let (look_ups, lists) = (PostgresReaders(look_ups), PostgresReaders(lists));
        Ok(Self { own, look_ups, lists, replica, single, together, batches, look_up_batches, wake })
    }

    pub(super) async fn close(&self) {
        self.wake.stop();
        if let Some(replica) = &self.replica {
            replica.close().await;
        }
        for pool in [&self.look_ups.0, &self.lists.0, &self.single, &self.together, &self.own] {
            pool.close().await;
        }
    }

    pub(super) async fn read(&self, statement: &Statement) -> sqlx::Result<Vec<Row>> {
        let mut connection = self.own.acquire().await?;
        Ok(Link::Postgres(&mut connection).run(statement).await?.rows)
    }

    /// Reads a single ad or the like for a client, for so long at most.
    pub(super) async fn look_up(
        &self,
        limit: Duration,
        statement: &Statement,
        read: &mut RowReader<'_>,
    ) -> Result<(), StoreError> {
        read_within(self.look_ups.acquire().await.map_err(store_error)?, limit, statement, read).await
    }

    /// Reads a list for a client, likewise: on the standby if there is one that is not behind.
    pub(super) async fn list(
        &self,
        limit: Duration,
        statement: &Statement,
        read: &mut RowReader<'_>,
    ) -> Result<(), StoreError> {
        if let Some(replica) = &self.replica
            && let Some(lease) = replica.lease().await
        {
            let mut has_rows = false;
            let read = &mut |row: Row| {
                has_rows = true;
                read(row)
            };
            match read_within(lease, limit, statement, read).await {
                // A standby cancels reads that conflict with what it replays, and all reads when it stops.
                Err(StoreError::Unavailable(reason)) if !has_rows => {
                    tracing::debug!(%reason, "the standby has not read a list; reading on the primary");
                }
                done => {
                    replica.has_read();
                    return done;
                }
            }
        }
        if let Some(replica) = &self.replica {
            replica.has_not_read();
        }
        read_within(self.lists.acquire().await.map_err(store_error)?, limit, statement, read).await
    }

    pub(super) fn pools(&self) -> Vec<PoolUse> {
        let own = [
            PoolUse::of("service", &self.own),
            PoolUse::of("single_ads", &self.look_ups.0),
            PoolUse::of("lists", &self.lists.0),
            PoolUse::of("writes", &self.single),
            PoolUse::of("batches", &self.together),
        ];
        let standby = self.replica.as_ref().map(|replica| PoolUse::of("standby", replica.pool()));
        own.into_iter().chain(standby).collect()
    }

    /// How many lists can be read at the same time.
    pub(super) fn list_connections(&self) -> u32 {
        self.lists.0.options().get_max_connections()
    }

    /// How many single ads can be read at the same time.
    pub(super) fn look_up_connections(&self) -> u32 {
        self.look_ups.0.options().get_max_connections()
    }

    pub(super) fn stream<'s>(&'s self, statement: &Statement) -> BoxStream<'s, sqlx::Result<Row>> {
        statement.for_postgres().fetch(&self.own).map_ok(Row::Postgres).boxed()
    }

    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let mut connection = self.single.acquire().await.map_err(store_error)?;
        retry_serialization(&mut connection, &work, TRIES).await.map_err(store_error)
    }

    pub(super) async fn exclusive(&self) -> Result<ExclusiveConnection, StoreError> {
        self.own.acquire().await.map(ExclusiveConnection).map_err(store_error)
    }
}

/// Reads for a client, for so long at most.
async fn read_within(
    lease: PostgresLease,
    limit: Duration,
    statement: &Statement,
    read: &mut RowReader<'_>,
) -> Result<(), StoreError> {
    match tokio::time::timeout(limit + GRACE, lease.run(statement, read)).await {
        Ok(Err(error)) if readers::has_timed_out(&error) => Err(StoreError::TimedOut(limit)),
        Ok(ran) => ran.map_err(store_error),
        Err(_) => Err(StoreError::TimedOut(limit)),
    }
}

/// A connection for exclusive use.
pub struct ExclusiveConnection(PoolConnection<Engine>);

ad_server_base::debug_by_name!(ExclusiveConnection);

impl ExclusiveConnection {
    pub(super) async fn write<W: Work>(&mut self, work: W) -> Result<W::Answer, StoreError> {
        retry_serialization(&mut self.0, &work, TRIES).await.map_err(store_error)
    }
}

/// Runs work, and retries it on a conflict.
async fn retry_serialization<W: Work>(connection: &mut PgConnection, work: &W, tries: u32) -> sqlx::Result<W::Answer> {
    let mut pause = PAUSE;
    for _ in 1..tries {
        match attempt(connection, work).await {
            Err(error) if is_conflict(&error) => {
                tracing::debug!(%error, "serialization conflict; retrying");
                tokio::time::sleep(pause).await;
                pause = pause * 3 / 2;
            }
            done => return done,
        }
    }
    attempt(connection, work).await
}

async fn attempt<W: Work>(connection: &mut PgConnection, work: &W) -> sqlx::Result<W::Answer> {
    let begin = match W::ISOLATION {
        Isolation::SingleStatement => return work.run(&mut Link::Postgres(connection)).await,
        Isolation::RepeatableRead => "BEGIN",
        Isolation::ReadCommitted => "BEGIN ISOLATION LEVEL READ COMMITTED",
    };
    let mut transaction = connection.begin_with(begin).await?;
    let answer = work.run(&mut Link::Postgres(&mut transaction)).await?;
    transaction.commit().await?;
    Ok(answer)
}

/// `serialization_failure` and `deadlock_detected`: nothing was done, and a retry may succeed.
fn is_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| matches!(&*code, "40001" | "40P01"))
}
