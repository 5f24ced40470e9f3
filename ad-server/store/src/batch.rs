//! Runs statements that many callers ask for at the same time as one statement of many inputs.
//!
//! Most of the cost of a statement is not its rows, but the exchange with the database, the start of its execution and the commit. So
//! the inputs that arrive while a statement is running go into the next one together, in the order of [`FairQueue`]. None waits for others to
//! arrive, but tasks that are ready to run go first.

use std::sync::Arc;

use ad_core::ports::StoreError;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{statement::Statement, work::StatementResult};
use ad_server_base::limits::{FairQueue, QueueItem};

/// Most inputs of one statement that writes, or reads rows that are small.
pub(super) const MOST_WRITES: usize = 64;

/// Most inputs of one statement that reads: its rows, each of which can be an ad of a megabyte, are in memory together.
pub(super) const MOST_READS: usize = 16;

/// Runs batches, one after the other.
pub(super) trait BatchRunner: Send + 'static {
    /// Most inputs of one statement.
    fn most(&self) -> usize;

    /// Runs statements that differ only in their values, and returns the result of each.
    fn run(
        &mut self,
        statements: Vec<Statement>,
    ) -> impl Future<Output = Vec<Result<StatementResult, StoreError>>> + Send;

    /// Called when no statement is waiting.
    fn rest(&mut self) {}
}

/// Runs statements in batches. Clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Batches {
    queue: mpsc::UnboundedSender<BatchItem>,
}

/// A statement, and the caller who waits for it.
struct BatchItem {
    statement: Statement,
    answer: oneshot::Sender<Result<StatementResult, StoreError>>,
}

impl QueueItem for BatchItem {
    fn dealer(&self) -> Option<&str> {
        self.statement.dealer()
    }

    fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }
}

/// Items that wait. Their number is bounded by that of the callers.
struct BatchQueue {
    arriving: mpsc::UnboundedReceiver<BatchItem>,
    waiting: FairQueue<BatchItem>,
}

impl BatchQueue {
    /// The next items, if some are waiting.
    fn take(&mut self, most: usize) -> Vec<BatchItem> {
        while let Ok(item) = self.arriving.try_recv() {
            self.waiting.add(item);
        }
        std::iter::from_fn(|| self.waiting.next_wanted()).take(most).collect()
    }

    /// The next items, as soon as there are some; `None` when there will be none.
    async fn next(&mut self, most: usize) -> Option<Vec<BatchItem>> {
        loop {
            let items = self.take(most);
            if !items.is_empty() {
                return Some(items);
            }
            let first = self.arriving.recv().await?;
            self.waiting.add(first);
        }
    }
}

impl Batches {
    /// Runs as many batches at the same time as there are runners.
    pub(super) fn start<R: BatchRunner>(runners: impl IntoIterator<Item = R>) -> Self {
        let (queue, arriving) = mpsc::unbounded_channel();
        let waiting = Arc::new(Mutex::new(BatchQueue { arriving, waiting: FairQueue::default() }));
        for runner in runners {
            tokio::spawn(serve(runner, Arc::clone(&waiting)));
        }
        Self { queue }
    }

    pub(super) async fn run(&self, statement: Statement) -> Result<StatementResult, StoreError> {
        let ended = || StoreError::Unavailable("the database is closed".into());
        let (answer, answered) = oneshot::channel();
        self.queue.send(BatchItem { statement, answer }).map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

/// Runs batches until all handles are dropped.
async fn serve<R: BatchRunner>(mut runner: R, queue: Arc<Mutex<BatchQueue>>) {
    while let Some(items) = next(&queue, &mut runner).await {
        for batch in grouped(items.into_iter(), |one, other| one.statement.has_same_text(&other.statement)) {
            let (statements, answers): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|item| (item.statement, item.answer)).unzip();
            for (answer, outcome) in answers.into_iter().zip(runner.run(statements).await) {
                // The caller may have been dropped.
                drop(answer.send(outcome));
            }
        }
    }
}

/// Items that wait, as soon as there are some.
async fn next(queue: &Mutex<BatchQueue>, runner: &mut impl BatchRunner) -> Option<Vec<BatchItem>> {
    // Tasks that are ready may bring more: twice as many inputs per statement under load.
    tokio::task::yield_now().await;
    let items = queue.try_lock().map(|mut queue| queue.take(runner.most())).unwrap_or_default();
    if !items.is_empty() {
        return Some(items);
    }
    runner.rest();
    queue.lock().await.next(runner.most()).await
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
