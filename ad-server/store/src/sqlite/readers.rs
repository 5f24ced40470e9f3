//! Connections for reads of clients. When a read exceeds its time limit or its client has left, it is interrupted, its connection is
//! closed, and the next read opens another one.
//! Reads of single ads that arrive while others run share one statement.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ad_core::{lock::locked, ports::StoreError};
use futures_util::TryStreamExt;
use sqlx::{Connection, Either, Executor, SqliteConnection, SqlitePool, sqlite::SqliteConnectOptions};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{
    batch::{BatchRunner, MOST_READS, MOST_WRITES},
    failure::{DatabaseFailure, store_error},
    options::PoolUse,
    rows::Row,
    statement::{SqliteQuery, Statement},
    work::{RowReader, StatementResult, run_grouped},
};

/// Instructions of SQLite's virtual machine between two checks for an interrupt. A row takes about ten instructions, of which a
/// search in one text takes up to 5 ms.
const LOOK_EVERY: i32 = 50;

/// A fixed number of connections.
#[derive(Debug)]
pub(crate) struct SqliteReaders {
    connect: SqliteConnectOptions,
    connections: u32,
    free: Semaphore,
    /// Longest time to wait for a connection.
    patience: Duration,
    idle: Mutex<Vec<SqliteReader>>,
}

/// A connection with the flag that interrupts its statement.
#[derive(Debug)]
struct SqliteReader {
    connection: SqliteConnection,
    stop: Arc<AtomicBool>,
}

impl SqliteReader {
    async fn open(connect: &SqliteConnectOptions) -> sqlx::Result<Self> {
        let mut connection = SqliteConnection::connect_with(connect).await?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        connection.lock_handle().await?.set_progress_handler(LOOK_EVERY, move || !stopped.load(Ordering::Relaxed));
        Ok(Self { connection, stop })
    }
}

impl SqliteReaders {
    pub(super) fn new(connect: SqliteConnectOptions, connections: u32, patience: Duration) -> Self {
        let free = Semaphore::new(connections as usize);
        Self { connect, connections, free, patience, idle: Mutex::default() }
    }

    /// Runs a query for so long at most, and hands over its rows as they are read.
    pub(crate) async fn read(
        &self,
        limit: Duration,
        query: SqliteQuery,
        read: &mut RowReader<'_>,
    ) -> Result<(), StoreError> {
        let lease = self.acquire().await.map_err(store_error)?;
        let ran = timeout(limit, lease.run(query, read)).await.map_err(|_| StoreError::TimedOut(limit))?;
        ran.map_err(store_error)
    }

    /// A connection, which is used again after [`SqliteLease::run`] came to its end.
    async fn acquire(&self) -> sqlx::Result<SqliteLease<'_>> {
        let place = timeout(self.patience, self.free.acquire()).await.map_err(|_| sqlx::Error::PoolTimedOut)?;
        let place = place.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = locked(&self.idle).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => SqliteReader::open(&self.connect).await?,
        };
        Ok(SqliteLease { readers: self, reader: Some(reader), is_done: false, _place: place })
    }

    /// Connections in use and idle, for metrics.
    pub(super) fn used(&self, name: &'static str) -> PoolUse {
        let limit = self.connections as usize;
        PoolUse {
            name,
            busy: limit.saturating_sub(self.free.available_permits()),
            idle: locked(&self.idle).len(),
            limit,
        }
    }

    /// Closes the connections after all reads have ended.
    pub(super) async fn close(&self) {
        let all = self.free.acquire_many(self.connections).await;
        let idle = std::mem::take(&mut *locked(&self.idle));
        for reader in idle {
            if let Err(error) = reader.connection.close().await {
                tracing::debug!(%error, "read connection not closed cleanly");
            }
        }
        drop(all);
        self.free.close();
    }
}

/// Runs batches of reads, each on a free connection.
pub(super) struct SqliteBatches {
    pub(super) readers: Arc<SqliteReaders>,
    /// Longest time of a batch.
    pub(super) limit: Duration,
}

impl BatchRunner for SqliteBatches {
    fn most(&self) -> usize {
        MOST_READS
    }

    async fn run(&mut self, statements: Vec<Statement>) -> Vec<Result<StatementResult, StoreError>> {
        match self.read_together(&statements).await {
            Ok(rans) => rans.into_iter().map(Ok).collect(),
            Err(StoreError::TimedOut(limit)) => statements.iter().map(|_| Err(StoreError::TimedOut(limit))).collect(),
            Err(StoreError::Unavailable(reason)) => {
                let reason = reason.to_string();
                statements.iter().map(|_| Err(StoreError::Unavailable(reason.clone().into()))).collect()
            }
            // One of them may be the cause.
            Err(_) => {
                let mut outcomes = Vec::with_capacity(statements.len());
                for statement in &statements {
                    let ran = self.read_together(std::slice::from_ref(statement)).await;
                    outcomes.push(ran.map(|rans| rans.into_iter().next().unwrap_or_default()));
                }
                outcomes
            }
        }
    }
}

impl SqliteBatches {
    async fn read_together(&self, statements: &[Statement]) -> Result<Vec<StatementResult>, StoreError> {
        let mut rans = StatementResult::of_batch(statements.len());
        let query = Statement::batch_for_sqlite(statements);
        self.readers.read(self.limit, query, &mut |row| StatementResult::add(&mut rans, row)).await?;
        Ok(rans)
    }
}

/// Runs batches of small reads of the service itself, such as look-ups of workers.
pub(super) struct OwnBatches(pub(super) SqlitePool);

impl BatchRunner for OwnBatches {
    fn most(&self) -> usize {
        MOST_WRITES
    }

    async fn run(&mut self, statements: Vec<Statement>) -> Vec<Result<StatementResult, StoreError>> {
        let read = async {
            let mut connection = self.0.acquire().await?;
            run_grouped(&mut connection, &statements.iter().collect::<Vec<_>>()).await
        };
        match read.await {
            Ok(rans) => rans.into_iter().map(Ok).collect(),
            Err(error) => {
                let failure = DatabaseFailure::from(&error);
                statements.iter().map(|_| Err(failure.clone().into())).collect()
            }
        }
    }
}

/// A connection that is returned to the readers after use.
struct SqliteLease<'r> {
    readers: &'r SqliteReaders,
    reader: Option<SqliteReader>,
    is_done: bool,
    _place: SemaphorePermit<'r>,
}

impl SqliteLease<'_> {
    /// Runs a query and hands over its rows as they are read.
    async fn run(mut self, query: SqliteQuery, read: &mut RowReader<'_>) -> sqlx::Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let mut results = reader.connection.fetch_many(query);
        while let Some(result) = results.try_next().await? {
            if let Either::Right(row) = result {
                read(Row::Sqlite(row))?;
            }
        }
        drop(results);
        self.is_done = true;
        Ok(())
    }
}

impl Drop for SqliteLease<'_> {
    fn drop(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        if self.is_done {
            locked(&self.readers.idle).push(reader);
        } else {
            reader.stop.store(true, Ordering::Relaxed);
        }
    }
}
