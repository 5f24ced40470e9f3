//! Runs statements that many callers ask for at the same time as one statement of many inputs.
//!
//! Most of the cost of a statement is not its rows, but the round trip, the start of its execution and the commit. So the inputs that
//! arrive while a statement is running go into the next one together. None waits for others to arrive.

use std::sync::Arc;

use ad_core::ports::StoreError;
use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{TRIES, insist, is_conflict};
use crate::store::{
    failure::{DatabaseFailure, store_error},
    statement::Statement,
    work::{Isolation, Link, Ran, Work, run_batch},
};

/// Most inputs of one statement.
const MOST: usize = 64;

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

type BatchQueue = Arc<Mutex<mpsc::Receiver<BatchItem>>>;
/// A connection while there is something to run.
type BatchConnection = Option<PoolConnection<Postgres>>;

impl Batches {
    /// Uses this many connections of a pool.
    pub(super) fn start(pool: &PgPool, connections: u32) -> Self {
        let (queue, items) = mpsc::channel(4 * MOST);
        let items = Arc::new(Mutex::new(items));
        for _ in 0..connections {
            tokio::spawn(serve(pool.clone(), Arc::clone(&items)));
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
async fn serve(pool: PgPool, queue: BatchQueue) {
    let mut connection = None;
    while let Some(items) = next(&queue, &mut connection).await {
        for batch in batches(items) {
            run(&pool, &mut connection, batch).await;
        }
    }
}

/// All waiting items, as soon as there are some. Until then the connection is in the pool, which checks that it is still open.
async fn next(queue: &BatchQueue, connection: &mut BatchConnection) -> Option<Vec<BatchItem>> {
    let mut items = Vec::with_capacity(MOST);
    if let Ok(mut queue) = queue.try_lock() {
        items.extend(std::iter::from_fn(|| queue.try_recv().ok()).take(MOST));
    }
    if items.is_empty() {
        *connection = None;
        queue.lock().await.recv_many(&mut items, MOST).await;
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

async fn run(pool: &PgPool, connection: &mut BatchConnection, items: Vec<BatchItem>) {
    let (statements, answers): (Vec<_>, Vec<_>) = items.into_iter().map(|item| (item.statement, item.answer)).unzip();
    for (answer, outcome) in answers.into_iter().zip(outcomes(pool, connection, Batch(statements)).await) {
        // The caller may have been dropped.
        drop(answer.send(outcome));
    }
}

async fn outcomes(pool: &PgPool, connection: &mut BatchConnection, batch: Batch) -> Vec<Result<Ran, StoreError>> {
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
            all_failed(error)
        }
    }
}
