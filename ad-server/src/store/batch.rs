//! Runs statements that many callers ask for at the same time as one statement of many inputs.
//!
//! Most of the cost of a statement is not its rows, but the exchange with the database, the start of its execution and the commit. So
//! the inputs that arrive while a statement is running go into the next one together. None waits for others to arrive, but tasks
//! that are ready to run go first.

use std::sync::Arc;

use ad_core::ports::StoreError;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{statement::Statement, work::Ran};

/// Most inputs of one statement that writes, or reads rows that are small.
pub(super) const MOST_WRITES: usize = 64;

/// Most inputs of one statement that reads: its rows, each of which can be an ad of a megabyte, are in memory together.
pub(super) const MOST_READS: usize = 16;

/// Runs batches, one after the other.
pub(super) trait BatchRunner: Send + 'static {
    /// Most inputs of one statement.
    fn most(&self) -> usize;

    /// Runs statements that differ only in their values, and returns the result of each.
    fn run(&mut self, statements: Vec<Statement>) -> impl Future<Output = Vec<Result<Ran, StoreError>>> + Send;

    /// Called when no statement is waiting.
    fn rest(&mut self) {}
}

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

impl Batches {
    /// Runs as many batches at the same time as there are runners.
    pub(super) fn start<R: BatchRunner>(runners: impl IntoIterator<Item = R>) -> Self {
        let (queue, items) = mpsc::channel(4 * MOST_WRITES);
        let items = Arc::new(Mutex::new(items));
        for runner in runners {
            tokio::spawn(serve(runner, Arc::clone(&items)));
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

/// Runs batches until all handles are dropped.
async fn serve<R: BatchRunner>(mut runner: R, queue: BatchQueue) {
    while let Some(items) = next(&queue, &mut runner).await {
        for batch in batches(items) {
            let (statements, answers): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|item| (item.statement, item.answer)).unzip();
            for (answer, outcome) in answers.into_iter().zip(runner.run(statements).await) {
                // The caller may have been dropped.
                drop(answer.send(outcome));
            }
        }
    }
}

/// All waiting items, as soon as there are some.
async fn next(queue: &BatchQueue, runner: &mut impl BatchRunner) -> Option<Vec<BatchItem>> {
    let most = runner.most();
    let mut items = Vec::with_capacity(most);
    // Tasks that are ready may bring more: twice as many inputs per statement under load.
    tokio::task::yield_now().await;
    if let Ok(mut queue) = queue.try_lock() {
        items.extend(std::iter::from_fn(|| queue.try_recv().ok()).take(most));
    }
    if items.is_empty() {
        runner.rest();
        queue.lock().await.recv_many(&mut items, most).await;
    }
    (!items.is_empty()).then_some(items)
}

/// Items of the same statement together; those whose callers have left are dropped.
fn batches(items: Vec<BatchItem>) -> Vec<Vec<BatchItem>> {
    let wanted = items.into_iter().filter(|item| !item.answer.is_closed());
    grouped(wanted, |one, other| one.statement.is_like(&other.statement))
}

/// Items that are alike together, in the order of the first of each kind.
pub(super) fn grouped<T>(items: impl Iterator<Item = T>, alike: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| alike(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}
