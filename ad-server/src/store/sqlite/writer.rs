//! The one connection that writes. A commit has to reach the disk, which takes longer than all the statements before it;
//! so whatever waits while one commit is on its way goes into the next one together.
//!
//! Operations do not know of each other. When one of them fails, the commit that it was in is taken back and each of its
//! operations is run again by itself, so that only the one at fault fails. An operation that finds that it has nothing
//! to do (a duplicate, a lost lease) writes nothing and is not a failure.

use std::{fmt, sync::Arc};

use ad_core::ports::StoreError;
use futures_util::future::BoxFuture;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::{
    sync::{Mutex, Notify, mpsc, oneshot},
    task::JoinHandle,
};

use crate::store::{
    database::{Link, Work},
    statement::Failure,
};

/// Most operations of one commit. Bounds how long the first of them waits for the last.
const MOST: usize = 256;
/// Operations that may wait for the writer before their callers have to.
const WAITING: usize = 1024;

/// Hands operations to the task that owns the connection. The task ends when the last handle is gone.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Operation>>,
    end: Arc<Notify>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Writer").field("free", &self.queue.capacity()).finish_non_exhaustive()
    }
}

impl Writer {
    /// Starts the task. `options` serve to connect again, should the connection break.
    pub(super) fn start(connection: SqliteConnection, options: SqliteConnectOptions) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING);
        let end = Arc::new(Notify::new());
        let task = Task { options, connection: Some(connection) };
        let task = tokio::spawn(task.serve(waiting, Arc::clone(&end)));
        Self { queue, end, task: Arc::new(Mutex::new(Some(task))) }
    }

    /// A handle that does not keep the task from ending.
    pub(super) fn downgrade(&self) -> WeakWriter {
        WeakWriter { queue: self.queue.downgrade(), end: Arc::clone(&self.end), task: Arc::clone(&self.task) }
    }

    /// Does something and returns when it is on the disk.
    pub(crate) async fn run<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let (answer, answered) = oneshot::channel();
        let ended = || StoreError::Unavailable("the database is closed".to_owned());
        self.queue.send(Box::new(Waiting { work, result: None, answer })).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }

    /// Takes nothing new, finishes what waits, and closes the connection.
    pub(super) async fn close(&self) {
        self.end.notify_one();
        if let Some(task) = self.task.lock().await.take()
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the writer of the database ended badly");
        }
    }
}

/// A [`Writer`] as long as somebody else has it too.
pub(super) struct WeakWriter {
    queue: mpsc::WeakSender<Box<dyn Operation>>,
    end: Arc<Notify>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl WeakWriter {
    pub(super) fn upgrade(&self) -> Option<Writer> {
        let queue = self.queue.upgrade().filter(|queue| !queue.is_closed())?;
        Some(Writer { queue, end: Arc::clone(&self.end), task: Arc::clone(&self.task) })
    }
}

/// A [`Work`] of any kind, with the caller who waits for it.
trait Operation: Send {
    /// Whether somebody still waits for it.
    fn is_wanted(&self) -> bool;

    /// Runs it and keeps the answer back until it is committed.
    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, sqlx::Result<()>>;

    /// Tells the caller.
    fn finish(self: Box<Self>, outcome: Result<(), Failure>);
}

struct Waiting<W: Work> {
    work: W,
    result: Option<W::Answer>,
    answer: oneshot::Sender<Result<W::Answer, StoreError>>,
}

impl<W: Work> Operation for Waiting<W> {
    fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }

    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, sqlx::Result<()>> {
        Box::pin(async {
            self.result = Some(self.work.run(&mut Link::Sqlite(connection)).await?);
            Ok(())
        })
    }

    fn finish(self: Box<Self>, outcome: Result<(), Failure>) {
        let answer = match outcome {
            Ok(()) => self.result.ok_or_else(|| StoreError::Faulty("an operation was not run".to_owned())),
            Err(failure) => Err(failure.into()),
        };
        // A caller who has gone away does not want to know.
        drop(self.answer.send(answer));
    }
}

/// What went wrong in a transaction. Nothing of it was stored.
enum Fault {
    /// It could not begin or not commit: that concerns all of it.
    Transaction(Failure),
    /// One operation failed.
    Operation(Failure),
}

struct Task {
    options: SqliteConnectOptions,
    connection: Option<SqliteConnection>,
}

impl Task {
    async fn serve(mut self, mut queue: mpsc::Receiver<Box<dyn Operation>>, end: Arc<Notify>) {
        let mut batch = Vec::with_capacity(MOST);
        loop {
            tokio::select! {
                biased;
                () = end.notified(), if !queue.is_closed() => queue.close(),
                taken = queue.recv_many(&mut batch, MOST) => {
                    if taken == 0 {
                        break;
                    }
                    batch.retain(|operation| operation.is_wanted());
                    self.write(&mut batch).await;
                }
            }
        }
        if let Some(connection) = self.connection
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the database was not closed cleanly; its next start will see to it");
        }
    }

    async fn write(&mut self, batch: &mut Vec<Box<dyn Operation>>) {
        let outcome = match self.transaction(batch).await {
            Ok(()) => Ok(()),
            Err(Fault::Operation(_)) if batch.len() > 1 => return self.write_singly(batch).await,
            Err(Fault::Operation(failure) | Fault::Transaction(failure)) => Err(failure),
        };
        for operation in batch.drain(..) {
            operation.finish(outcome.clone());
        }
    }

    async fn write_singly(&mut self, batch: &mut Vec<Box<dyn Operation>>) {
        // Once the database does not even take a transaction, there is no point in making the others wait for it too.
        let mut refused = None;
        for mut operation in batch.drain(..) {
            let outcome = match &refused {
                Some(failure) => Err(Failure::clone(failure)),
                None => match self.transaction(std::slice::from_mut(&mut operation)).await {
                    Ok(()) => Ok(()),
                    Err(Fault::Operation(failure)) => Err(failure),
                    Err(Fault::Transaction(failure)) => Err(refused.insert(failure).clone()),
                },
            };
            operation.finish(outcome);
        }
    }

    async fn transaction(&mut self, batch: &mut [Box<dyn Operation>]) -> Result<(), Fault> {
        if batch.is_empty() {
            return Ok(());
        }
        let connection = self.begin().await.map_err(Fault::Transaction)?;
        for operation in batch {
            if let Err(error) = operation.run(connection).await {
                roll_back(connection).await;
                return Err(Fault::Operation(Failure::from(&error)));
            }
        }
        if let Err(error) = run(connection, "COMMIT").await {
            roll_back(connection).await;
            return Err(Fault::Transaction(Failure::from(&error)));
        }
        Ok(())
    }

    /// Begins a transaction, on a new connection if the last one broke.
    async fn begin(&mut self) -> Result<&mut SqliteConnection, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.options).await.map_err(|error| Failure::from(&error))?,
        };
        match run(&mut connection, "BEGIN IMMEDIATE").await {
            Ok(()) => Ok(self.connection.insert(connection)),
            Err(error) => {
                let failure = Failure::from(&error);
                // A database that is locked now takes the same connection later; anything else asks for a new one.
                if failure.passing && error.as_database_error().is_some() {
                    self.connection = Some(connection);
                }
                tracing::warn!(%error, "the database takes no writes");
                Err(failure)
            }
        }
    }
}

/// Transactions are begun and ended by plain statements: the library keeps count of its own ones, and loses count when
/// the database rolls back by itself, as it does when the disk is full.
async fn run(connection: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::query(sql).execute(connection).await.map(drop)
}

async fn roll_back(connection: &mut SqliteConnection) {
    if let Err(error) = run(connection, "ROLLBACK").await {
        tracing::debug!(%error, "already rolled back");
    }
}
