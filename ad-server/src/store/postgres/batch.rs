//! Runs statements that many callers ask for at the same time as one statement of many inputs.
//!
//! Most of the cost of a statement is not its rows, but the round trip, the start of its execution and the commit. So the inputs that
//! arrive while a statement is running go into the next one together. None waits for others to arrive.

use std::{sync::Arc, time::Duration};

use ad_core::ports::StoreError;
use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{TRIES, insist, is_conflict, readers::has_timed_out};
use crate::store::{
    failure::{DatabaseFailure, store_error},
    statement::Statement,
    work::{Isolation, Link, Ran, Work, run_batch},
};

/// Most inputs of one statement that writes.
const MOST_WRITES: usize = 64;

/// Most inputs of one statement that reads: its rows, each of which can be an ad of a megabyte, are in memory together.
const MOST_READS: usize = 16;

/// Attempts of a batch with conflicts, before each input is run by itself.
const BATCH_TRIES: u32 = 3;

/// Runs statements in batches. Clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Batches {
    queue: mpsc::Sender<BatchItem>,
}

/// A statement, and the caller who waits for it.
struct BatchItem {
    statement: Statement,
    answer: oneshot::Sender<Result<Ran, StoreError>>,
}

/// What the statements of batches do.
#[derive(Debug, Clone, Copy)]
pub(super) enum BatchKind {
    Writes,
    /// Read for clients, with this time limit.
    Reads(Duration),
}

impl BatchKind {
    /// Most inputs of one statement.
    fn most(self) -> usize {
        match self {
            Self::Writes => MOST_WRITES,
            Self::Reads(_) => MOST_READS,
        }
    }
}

type BatchQueue = Arc<Mutex<mpsc::Receiver<BatchItem>>>;
/// A connection while there is something to run.
type BatchConnection = Option<PoolConnection<Postgres>>;

impl Batches {
    /// Uses this many connections of a pool.
    pub(super) fn start(pool: &PgPool, connections: u32, kind: BatchKind) -> Self {
        let (queue, items) = mpsc::channel(4 * MOST_WRITES);
        let items = Arc::new(Mutex::new(items));
        for _ in 0..connections {
            tokio::spawn(serve(pool.clone(), Arc::clone(&items), kind));
        }
        Self { queue }
    }

    pub(super) async fn run(&self, statement: Statement) -> Result<Ran, StoreError> {
        let ended = || StoreError::Unavailable("the database is closed".into());
        let (answer, answered) = oneshot::channel();
        self.queue.send(BatchItem { statement, answer }).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

/// Runs batches on one connection until all handles are dropped.
async fn serve(pool: PgPool, queue: BatchQueue, kind: BatchKind) {
    let mut connection = None;
    while let Some(items) = next(&queue, &mut connection, kind.most()).await {
        for batch in batches(items) {
            run(&pool, &mut connection, batch, kind).await;
        }
        if matches!(kind, BatchKind::Reads(_)) {
            // The pool is also for reads outside batches: whoever waits for a connection longest gets it.
            connection = None;
        }
    }
}

/// All waiting items, as soon as there are some. Until then the connection is in the pool, which checks that it is still open.
async fn next(queue: &BatchQueue, connection: &mut BatchConnection, most: usize) -> Option<Vec<BatchItem>> {
    let mut items = Vec::with_capacity(most);
    if let Ok(mut queue) = queue.try_lock() {
        items.extend(std::iter::from_fn(|| queue.try_recv().ok()).take(most));
    }
    if items.is_empty() {
        *connection = None;
        queue.lock().await.recv_many(&mut items, most).await;
    }
    (!items.is_empty()).then_some(items)
}

/// Items of the same statement together; those whose callers have left are dropped.
fn batches(items: Vec<BatchItem>) -> Vec<Vec<BatchItem>> {
    let mut batches: Vec<Vec<BatchItem>> = Vec::new();
    for item in items.into_iter().filter(|item| !item.answer.is_closed()) {
        match batches.iter_mut().find(|batch| batch[0].statement.is_like(&item.statement)) {
            Some(batch) => batch.push(item),
            None => batches.push(vec![item]),
        }
    }
    batches
}

/// Inputs of one statement.
struct Batch(Vec<Statement>);

impl Work for Batch {
    type Answer = Vec<Ran>;

    const ISOLATION: Isolation = Isolation::SingleStatement;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Vec<Ran>> {
        match link {
            Link::Postgres(connection) => run_batch(connection, &self.0).await,
            Link::Sqlite(_) => unreachable!("batches are for PostgreSQL"),
        }
    }
}

async fn run(pool: &PgPool, connection: &mut BatchConnection, items: Vec<BatchItem>, kind: BatchKind) {
    let (statements, answers): (Vec<_>, Vec<_>) = items.into_iter().map(|item| (item.statement, item.answer)).unzip();
    for (answer, outcome) in answers.into_iter().zip(outcomes(pool, connection, Batch(statements), kind).await) {
        // The caller may have been dropped.
        drop(answer.send(outcome));
    }
}

async fn outcomes(
    pool: &PgPool,
    connection: &mut BatchConnection,
    batch: Batch,
    kind: BatchKind,
) -> Vec<Result<Ran, StoreError>> {
    let all_failed = |error| {
        let failure = DatabaseFailure::from(&error);
        batch.0.iter().map(|_| Err(failure.clone().into())).collect()
    };
    let open = match connection {
        Some(open) => open,
        None => match pool.acquire().await {
            Ok(open) => connection.insert(open),
            Err(error) => return all_failed(error),
        },
    };
    match insist(open, &batch, BATCH_TRIES).await {
        Ok(rans) => rans.into_iter().map(Ok).collect(),
        // Nothing was done; one of them may be the cause.
        Err(error) if is_conflict(&error) || !DatabaseFailure::from(&error).is_temporary => {
            let mut outcomes = Vec::with_capacity(batch.0.len());
            for statement in &batch.0 {
                outcomes.push(insist(open, statement, TRIES).await.map_err(store_error));
            }
            outcomes
        }
        Err(error) => {
            *connection = None;
            match kind {
                BatchKind::Reads(limit) if has_timed_out(&error) => {
                    batch.0.iter().map(|_| Err(StoreError::TimedOut(limit))).collect()
                }
                _ => all_failed(error),
            }
        }
    }
}
