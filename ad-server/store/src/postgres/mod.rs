//! The store's engine in PostgreSQL, where any number of processes work side by side.
//!
//! | Module | What it is for |
//! |---|---|
//! | `open` | connects, and migrates the schema |
//! | `lease` | a connection for one piece of work, with a time limit |
//! | `replica` | lists read on a standby that is not behind |
//! | `epoch` | whether a new connection leads to another history of the database |
//! | `batch` | runs batches of statements |
//! | `wake` | notifies other processes of new and finished requests and of events, and listens to them |
//!
//! A write is one statement and so one round trip. It sees one snapshot of the database (`REPEATABLE READ`). If another transaction
//! has changed the same rows, the database reports a conflict, and the write is retried. So a request that is accepted while the one
//! before it ends is never missed: both change the same row.

mod batch;
mod epoch;
mod lease;
mod open;
mod replica;
mod wake;

use std::{sync::Arc, time::Duration};

use futures_util::{
    TryStreamExt,
    future::join_all,
    stream::{BoxStream, StreamExt, poll_fn},
};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, PgPool, error::DatabaseError};
use tokio::{sync::mpsc, time::timeout};

use super::{
    batch::Batches,
    epochs::Epochs,
    exchange::{EXCHANGE, within},
    failure::store_error,
    holders::Holders,
    options::{OpenError, Options, PoolUse},
    rows::Row,
    statement::Statement,
    work::{Isolation, Link, RowReader, Work},
};
use ad_core::ports::StoreError;
use batch::{BatchKind, PostgresBatches};
pub(super) use lease::GRACE;
use lease::Lease;
use open::Pools;
pub(super) use open::{MIGRATIONS, is_address, name_of, schema, try_connections};
#[cfg(test)]
pub(super) use open::{SETTINGS, SETTINGS_BY_INDEX};
pub(super) use replica::Replica;
pub(super) use wake::NotificationTargets;
use wake::Wake;

/// The tables of ads of which half or more has changed since they were measured.
const GROWN: &str = "SELECT relname::text FROM pg_stat_user_tables \
    WHERE schemaname = current_schema() AND relname IN ('ads', 'log', 'texts', 'words') \
        AND n_mod_since_analyze > 1000 AND n_mod_since_analyze > n_live_tup / 2";
/// The processes that hold their lock ([`wake::HOLD`]).
const HOLDERS: &str = "SELECT CAST(objid AS BIGINT) FROM pg_locks \
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
        AND CAST(classid AS BIGINT) = CAST(hashtext('ad-server process ' || current_schema()) AS BIGINT) & 4294967295";
/// Attempts of a write with conflicts.
const TRIES: u32 = 12;
/// Time limit of a transaction on a connection for exclusive use, and of its statements in the server.
const EXCLUSIVE: Duration = Duration::from_secs(33);
/// Its commits are not cancelled while they wait for a standby.
const EXCLUSIVE_SETTINGS: &str = "SET statement_timeout = '30s'; SET application_name = 'ad-server exclusive'";
/// The pause before the second attempt; each further pause is half as long again.
const PAUSE: Duration = Duration::from_millis(1);

/// A PostgreSQL database, with its pools of connections.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    /// For reads of the service itself.
    own: PgPool,
    /// For single ads that clients read.
    look_ups: PgPool,
    /// For lists that clients read.
    lists: PgPool,
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
    pub(super) async fn open(
        url: &str,
        options: &Options,
        epochs: &Epochs,
        woken: NotificationTargets,
        holders: &Holders,
    ) -> Result<Self, OpenError> {
        let Pools { own, look_ups, lists, replica, single, together, budget } =
            open::open(url, options, epochs).await?;
        let in_batches =
            |pool, connections, kind| Batches::start((0..connections).map(|_| PostgresBatches::new(pool, kind)));
        let batches = in_batches(&together, budget.together, BatchKind::Writes);
        let look_up_batches = in_batches(&look_ups, budget.look_up_batches(), BatchKind::Reads(options.read_timeout));
        let wake = Arc::new(Wake::start(&own, woken, holders.clone()));
        let replica = replica.map(|standby| Replica::new(standby, look_ups.clone()));
        Ok(Self { own, look_ups, lists, replica, single, together, batches, look_up_batches, wake })
    }

    pub(super) async fn close(&self) {
        self.wake.stop();
        let standby = self.replica.as_ref().map(Replica::pool);
        let own = [&self.look_ups, &self.lists, &self.single, &self.together, &self.own];
        let pools = standby.into_iter().chain(own).map(PgPool::close);
        join_all(pools).await;
    }

    pub(super) async fn read(&self, statement: &Statement) -> sqlx::Result<Vec<Row>> {
        let mut lease = Lease::of(&self.own).await?;
        let ran = within(EXCHANGE, Link::Postgres(&mut lease).run(statement)).await;
        Ok(lease.end(ran)?.rows)
    }

    /// Reads a single ad or the like for a client, for so long at most.
    pub(super) async fn look_up(
        &self,
        limit: Duration,
        statement: &Statement,
        read: &mut RowReader<'_>,
    ) -> Result<(), StoreError> {
        read_within(Lease::of(&self.look_ups).await.map_err(store_error)?, limit, statement, read).await
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
        let lease = Lease::of(&self.lists).await.map_err(store_error)?;
        if statement.is_search() {
            return answered_within(limit, lease.read_cancellable(&self.own, statement, read)).await;
        }
        read_within(lease, limit, statement, read).await
    }

    /// Has the server measure the tables of ads that have grown by a lot since it did so last: until then it plans lists for small
    /// ones.
    pub(super) async fn analyze_grown(&self) -> sqlx::Result<()> {
        let mut lease = Lease::of(&self.own).await?;
        let analyzed = within(EXCHANGE, async {
            let tables: Vec<String> = sqlx::query_scalar(GROWN).fetch_all(&mut **lease).await?;
            for table in tables {
                lease.execute(AssertSqlSafe(format!("ANALYZE (SKIP_LOCKED) {table}"))).await?;
            }
            Ok(())
        });
        let analyzed = analyzed.await;
        lease.end(analyzed)
    }

    /// The numbers of the processes that are there.
    pub(super) async fn holders(&self) -> sqlx::Result<Vec<i64>> {
        let mut lease = Lease::of(&self.own).await?;
        let found = within(EXCHANGE, sqlx::query_scalar(HOLDERS).fetch_all(&mut **lease)).await;
        lease.end(found)
    }

    pub(super) fn pools(&self) -> Vec<PoolUse> {
        let own = [
            PoolUse::of("service", &self.own),
            PoolUse::of("single_ads", &self.look_ups),
            PoolUse::of("lists", &self.lists),
            PoolUse::of("writes", &self.single),
            PoolUse::of("batches", &self.together),
        ];
        let standby = self.replica.as_ref().map(|replica| PoolUse::of("standby", replica.pool()));
        own.into_iter().chain(standby).collect()
    }

    /// How many lists can be read at the same time.
    pub(super) fn list_connections(&self) -> u32 {
        self.lists.options().get_max_connections()
    }

    /// How many single ads can be read at the same time.
    pub(super) fn look_up_connections(&self) -> u32 {
        self.look_ups.options().get_max_connections()
    }

    pub(super) fn stream(&self, statement: &Statement) -> BoxStream<'static, sqlx::Result<Row>> {
        let (rows, mut received) = mpsc::channel(1);
        tokio::spawn(send_rows(self.own.clone(), statement.clone(), rows));
        poll_fn(move |context| received.poll_recv(context)).boxed()
    }

    pub(super) async fn write<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let mut lease = Lease::of(&self.single).await.map_err(store_error)?;
        let ran = retry_serialization(&mut lease, &work, EXCHANGE, TRIES).await;
        lease.end(ran).map_err(store_error)
    }

    pub(super) async fn exclusive(&self) -> Result<ExclusiveConnection, StoreError> {
        let mut lease = Lease::of(&self.own).await.map_err(store_error)?;
        within(EXCHANGE, lease.execute(EXCLUSIVE_SETTINGS)).await.map_err(store_error)?;
        Ok(ExclusiveConnection(lease))
    }
}

/// Reads for a client, for so long at most.
async fn read_within(
    lease: Lease,
    limit: Duration,
    statement: &Statement,
    read: &mut RowReader<'_>,
) -> Result<(), StoreError> {
    answered_within(limit, lease.read(statement, read)).await
}

async fn answered_within(limit: Duration, read: impl Future<Output = sqlx::Result<()>>) -> Result<(), StoreError> {
    match timeout(limit + GRACE, read).await {
        Ok(Err(error)) if lease::has_timed_out(&error) => Err(StoreError::TimedOut(limit)),
        Ok(ran) => ran.map_err(store_error),
        Err(_) => Err(StoreError::TimedOut(limit)),
    }
}

/// Sends the rows of a statement as they are taken.
async fn send_rows(pool: PgPool, statement: Statement, rows: mpsc::Sender<sqlx::Result<Row>>) {
    let sent = async {
        let mut lease = Lease::of(&pool).await?;
        let mut found = statement.for_postgres().fetch(&mut **lease);
        while let Some(row) = within(EXCHANGE, found.try_next()).await? {
            if rows.send(Ok(Row::Postgres(row))).await.is_err() {
                return Ok(());
            }
        }
        drop(found);
        lease.release();
        Ok(())
    };
    if let Err(error) = sent.await {
        // Nobody may read any more.
        let _unread = rows.send(Err(error)).await;
    }
}

/// A connection for exclusive use, which is closed in the end.
pub struct ExclusiveConnection(Lease);

ad_server_base::debug_by_name!(ExclusiveConnection);

impl ExclusiveConnection {
    pub(super) async fn write<W: Work>(&mut self, work: W) -> Result<W::Answer, StoreError> {
        retry_serialization(&mut self.0, &work, EXCLUSIVE, TRIES).await.map_err(store_error)
    }
}

/// Runs work, each attempt for so long at most, and retries it on a conflict.
async fn retry_serialization<W: Work>(
    connection: &mut PgConnection,
    work: &W,
    limit: Duration,
    tries: u32,
) -> sqlx::Result<W::Answer> {
    let mut pause = PAUSE;
    for _ in 1..tries {
        match within(limit, attempt(connection, work)).await {
            Err(error) if is_conflict(&error) => {
                tracing::debug!(%error, "serialization conflict; retrying");
                tokio::time::sleep(pause).await;
                pause = pause * 3 / 2;
            }
            done => return done,
        }
    }
    within(limit, attempt(connection, work)).await
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
