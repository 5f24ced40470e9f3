//! Connections for reads of clients. When a read exceeds its time limit or its client has left, it is interrupted, its connection is
//! closed, and the next read opens another one.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::TryStreamExt;
use sqlx::{Connection, Either, Executor, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::store::{options::PoolUse, rows::Row, statement::Statement, work::RowReader};

/// Instructions of SQLite's virtual machine between two checks for an interrupt. A row takes about ten instructions, of which a
/// search in one text takes up to 5 ms.
const LOOK_EVERY: i32 = 50;

/// A fixed number of connections.
#[derive(Debug)]
pub(in crate::store) struct SqliteReaders {
    connect: SqliteConnectOptions,
    connections: u32,
    free: Semaphore,
    /// Longest time to wait for a connection.
    patience: Duration,
    idle: Mutex<Vec<Reader>>,
}

/// A connection with the flag that interrupts its statement.
#[derive(Debug)]
struct Reader {
    connection: SqliteConnection,
    stop: Arc<AtomicBool>,
}

impl Reader {
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

    /// A connection, which is used again after [`SqliteLease::run`] came to its end.
    pub(super) async fn acquire(&self) -> sqlx::Result<SqliteLease<'_>> {
        let place = timeout(self.patience, self.free.acquire()).await.map_err(|_| sqlx::Error::PoolTimedOut)?;
        let place = place.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.connect).await?,
        };
        Ok(SqliteLease { readers: self, reader: Some(reader), is_done: false, _place: place })
    }

    /// Their use, for metrics.
    pub(super) fn used(&self, name: &'static str) -> PoolUse {
        let limit = self.connections as usize;
        PoolUse { name, busy: limit.saturating_sub(self.free.available_permits()), idle: self.idle().len(), limit }
    }

    /// Closes the connections after all reads have ended.
    pub(super) async fn close(&self) {
        let all = self.free.acquire_many(self.connections).await;
        let idle = std::mem::take(&mut *self.idle());
        for reader in idle {
            if let Err(error) = reader.connection.close().await {
                tracing::debug!(%error, "read connection not closed cleanly");
            }
        }
        drop(all);
        self.free.close();
    }

    /// What is behind this lock is whole at any moment.
    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in use.
pub(super) struct SqliteLease<'r> {
    readers: &'r SqliteReaders,
    reader: Option<Reader>,
    is_done: bool,
    _place: SemaphorePermit<'r>,
}

impl SqliteLease<'_> {
    /// Runs a statement and hands over its rows as they are read.
    pub(super) async fn run(mut self, statement: &Statement, read: &mut RowReader<'_>) -> sqlx::Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let mut results = reader.connection.fetch_many(statement.for_sqlite());
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
            self.readers.idle().push(reader);
        } else {
            reader.stop.store(true, Ordering::Relaxed);
        }
    }
}
