//! The one connection that writes. A commit takes longer than all its statements, because it has to reach the disk. So all operations
//! that arrive during one commit share the next one.
//!
//! If more operations wait than fit into a commit, half of it is for writes of clients, of their dealers in turn, and half for records of
//! workers. So no write waits behind all those of another dealer, and workers keep up.
//!
//! Operations of the same statement are sent to the thread of the connection a few at a time, because each exchange with it costs as much
//! as a small statement.
//!
//! Operations are independent. If one fails, its transaction is rolled back, and each operation of it is run again in its own
//! transaction, so that only the faulty one fails. An operation that has nothing to do (a duplicate, a lost lease) is not a failure.

use std::{sync::Arc, time::Duration};

use ad_core::ports::StoreError;
use futures_util::future::BoxFuture;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::{
    sync::{Mutex, Notify, mpsc, oneshot},
    task::JoinHandle,
    time::Instant,
};

use crate::{
    batch::grouped,
    failure::DatabaseFailure,
    statement::Statement,
    work::{Link, StatementResult, Work, run_grouped},
};
use ad_server_base::{
    limits::{FairQueue, QueueItem},
    telemetry::FaultLog,
};

static REJECTED: FaultLog = FaultLog::new("the database rejects writes");

/// Minimum time for which a transaction accepts operations. It accepts them for as long as the last commit took, if that is longer:
/// many operations share a slow commit, and none waits long for others before a quick one.
const LEAST_TIME: Duration = Duration::from_millis(3);
/// Maximum number of operations of one transaction.
const MOST: usize = 256;
/// How many of them are sorted by their statements at a time.
const SORTED: usize = 32;
/// Capacity of the queue of operations.
const WAITING: usize = 1024;

/// Sends operations to the task that owns the connection. The task ends when the last handle is dropped.
#[derive(Clone, derive_more::Debug)]
#[debug("Writer {{ free: {}, .. }}", queue.capacity())]
pub struct Writer {
    queue: mpsc::Sender<Box<dyn QueuedWork>>,
    end: Arc<Notify>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Writer {
    /// Starts the task. `options` are for reconnecting if the connection breaks.
    pub(super) fn start(connection: SqliteConnection, options: SqliteConnectOptions) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING);
        let end = Arc::new(Notify::new());
        let task = WriterTask { options, connection: Some(connection), commit_took: Duration::ZERO };
        let task = tokio::spawn(task.serve(waiting, Arc::clone(&end)));
        Self { queue, end, task: Arc::new(Mutex::new(Some(task))) }
    }

    /// A weak handle, which does not keep the task alive.
    pub(super) fn downgrade(&self) -> WeakWriter {
        WeakWriter { queue: self.queue.downgrade(), end: Arc::clone(&self.end), task: Arc::clone(&self.task) }
    }

    /// Runs work and returns when it is durable.
    pub async fn run<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let (answer, answered) = oneshot::channel();
        let ended = || StoreError::Unavailable("the database is closed".into());
        self.queue.send(Box::new(WaitingWork { work, result: None, answer })).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }

    /// Rejects new operations, finishes those that wait, and closes the connection.
    pub(super) async fn close(&self) {
        self.end.notify_one();
        if let Some(task) = self.task.lock().await.take()
            && let Err(error) = task.await
        {
            tracing::error!(%error, "database writer task panicked");
        }
    }
}

pub(super) struct WeakWriter {
    queue: mpsc::WeakSender<Box<dyn QueuedWork>>,
    end: Arc<Notify>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl WeakWriter {
    pub(super) fn upgrade(&self) -> Option<Writer> {
        let queue = self.queue.upgrade().filter(|queue| !queue.is_closed())?;
        Some(Writer { queue, end: Arc::clone(&self.end), task: Arc::clone(&self.task) })
    }
}

/// A [`Work`] of any type, with its caller.
trait QueuedWork: QueueItem + Send {
    /// The statement that it is, if it is only one.
    fn statement(&self) -> Option<&Statement>;

    /// Holds the answer of its statement, which was run with others, until it is committed.
    fn hold(&mut self, ran: StatementResult);

    /// Runs it and holds the answer until it is committed.
    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, sqlx::Result<()>>;

    /// Sends the outcome to the caller.
    fn finish(self: Box<Self>, outcome: Result<(), DatabaseFailure>);
}

struct WaitingWork<W: Work> {
    work: W,
    result: Option<W::Answer>,
    answer: oneshot::Sender<Result<W::Answer, StoreError>>,
}

impl<W: Work> QueueItem for WaitingWork<W> {
    fn dealer(&self) -> Option<&str> {
        self.work.dealer()
    }

    fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }
}

impl<W: Work> QueuedWork for WaitingWork<W> {
    fn statement(&self) -> Option<&Statement> {
        self.work.statement()
    }

    fn hold(&mut self, ran: StatementResult) {
        self.result = W::answer(ran);
    }

    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, sqlx::Result<()>> {
        Box::pin(async {
            self.result = Some(self.work.run(&mut Link::Sqlite(connection)).await?);
            Ok(())
        })
    }

    fn finish(self: Box<Self>, outcome: Result<(), DatabaseFailure>) {
        let answer = match outcome {
            Ok(()) => self.result.ok_or_else(|| StoreError::Faulty("an operation was not run".into())),
            Err(failure) => Err(failure.into()),
        };
        // The caller may have been dropped.
        drop(self.answer.send(answer));
    }
}

/// The failure of a transaction. Nothing of it was stored.
enum TransactionFault {
    /// It could not begin or commit, which concerns all operations.
    Transaction(DatabaseFailure),
    /// One operation failed; the others of its group are stored.
    Operation(DatabaseFailure),
}

struct WriterTask {
    options: SqliteConnectOptions,
    connection: Option<SqliteConnection>,
    /// How long the last commit took.
    commit_took: Duration,
}

impl WriterTask {
    async fn serve(mut self, mut queue: mpsc::Receiver<Box<dyn QueuedWork>>, end: Arc<Notify>) {
        let mut pending = FairQueue::default();
        loop {
            tokio::select! {
                biased;
                () = end.notified(), if !queue.is_closed() => queue.close(),
                () = std::future::ready(()), if !pending.is_empty() => {},
                first = queue.recv() => match first {
                    Some(first) => pending.add(first),
                    None => break,
                },
            }
            // Callers wait for their answers before they send more, so this loop ends.
            while let Ok(next) = queue.try_recv() {
                pending.add(next);
            }
            self.write(&mut pending).await;
        }
        if let Some(connection) = self.connection
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "database not closed cleanly; SQLite recovers it at the next start");
        }
    }

    /// Runs as many operations as fit into one commit.
    async fn write(&mut self, pending: &mut FairQueue<Box<dyn QueuedWork>>) {
        let mut batch = Vec::new();
        let outcome = match self.transaction(pending, &mut batch).await {
            Ok(()) => Ok(()),
            Err(TransactionFault::Operation(_)) if batch.len() > 1 => return self.write_singly(batch).await,
            Err(TransactionFault::Operation(failure) | TransactionFault::Transaction(failure)) => Err(failure),
        };
        for operation in batch {
            operation.finish(outcome.clone());
        }
    }

    async fn write_singly(&mut self, batch: Vec<Box<dyn QueuedWork>>) {
        // If no transaction can begin, the other operations would fail as well.
        let mut refused = None;
        for operation in batch {
            let mut alone = vec![];
            let outcome = match &refused {
                Some(failure) => {
                    alone.push(operation);
                    Err(DatabaseFailure::clone(failure))
                }
                None => match self.transaction(&mut FairQueue::from(operation), &mut alone).await {
                    Ok(()) => Ok(()),
                    Err(TransactionFault::Operation(failure)) => Err(failure),
                    Err(TransactionFault::Transaction(failure)) => Err(refused.insert(failure).clone()),
                },
            };
            for operation in alone {
                operation.finish(outcome.clone());
            }
        }
    }

    /// Runs operations in one transaction, and moves those to `batch` to which its outcome applies.
    async fn transaction(
        &mut self,
        pending: &mut FairQueue<Box<dyn QueuedWork>>,
        batch: &mut Vec<Box<dyn QueuedWork>>,
    ) -> Result<(), TransactionFault> {
        let until = Instant::now() + self.commit_took.max(LEAST_TIME);
        let connection = match self.begin().await {
            Ok(connection) => connection,
            Err(failure) => {
                batch.extend(std::iter::from_fn(|| pending.next_wanted()));
                return Err(TransactionFault::Transaction(failure));
            }
        };
        while batch.len() < MOST && (batch.is_empty() || Instant::now() < until) && !pending.is_empty() {
            let next = std::iter::from_fn(|| pending.next_wanted()).take(SORTED.min(MOST - batch.len()));
            let mut ran = Ok(());
            for mut group in grouped(next, |one, other| can_group(&**one, &**other)) {
                if ran.is_ok() {
                    ran = run_group(&mut group, connection).await;
                }
                batch.extend(group);
            }
            if let Err(error) = ran {
                roll_back(connection).await;
                return Err(TransactionFault::Operation(DatabaseFailure::from(&error)));
            }
        }
        let begun = Instant::now();
        if let Err(error) = run(connection, "COMMIT").await {
            roll_back(connection).await;
            return Err(TransactionFault::Transaction(DatabaseFailure::from(&error)));
        }
        self.commit_took = begun.elapsed();
        Ok(())
    }

    /// Begins a transaction, on a new connection if the last one is broken.
    async fn begin(&mut self) -> Result<&mut SqliteConnection, DatabaseFailure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                SqliteConnection::connect_with(&self.options).await.map_err(|error| DatabaseFailure::from(&error))?
            }
        };
        match run(&mut connection, "BEGIN IMMEDIATE").await {
            Ok(()) => Ok(self.connection.insert(connection)),
            Err(error) => {
                let failure = DatabaseFailure::from(&error);
                // After a lock the connection is still usable; after any other error a new one is needed.
                if failure.is_temporary && error.as_database_error().is_some() {
                    self.connection = Some(connection);
                }
                REJECTED.report(&error);
                Err(failure)
            }
        }
    }
}

/// Whether two operations are the same statement with different values.
fn can_group(one: &dyn QueuedWork, other: &dyn QueuedWork) -> bool {
    one.statement().zip(other.statement()).is_some_and(|(one, other)| one.has_same_text(other))
}

/// Runs operations of the same statement, or one of another kind.
async fn run_group(operations: &mut [Box<dyn QueuedWork>], connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let statements: Vec<_> = operations.iter().filter_map(|operation| operation.statement()).collect();
    if statements.is_empty() {
        for operation in operations {
            operation.run(connection).await?;
        }
        return Ok(());
    }
    let rans = run_grouped(connection, &statements).await?;
    for (operation, ran) in operations.iter_mut().zip(rans) {
        operation.hold(ran);
    }
    Ok(())
}

/// Transactions use plain statements: sqlx counts its own transactions, and the count becomes wrong when SQLite rolls back by itself,
/// for example on a full disk.
async fn run(connection: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::query(sql).execute(connection).await.map(drop)
}

async fn roll_back(connection: &mut SqliteConnection) {
    if let Err(error) = run(connection, "ROLLBACK").await {
        tracing::debug!(%error, "transaction already rolled back");
    }
}
