//! A database of either kind: runs statements and returns rows.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::{
    model::Timestamp,
    ports::{EventWatch, Scope, StoreError},
};
use futures_util::{FutureExt, Stream, TryStreamExt};
use tokio::{sync::Notify, time::timeout};
use uuid::Uuid;

use super::{
    epochs::Epochs,
    event_poller::EventPoller,
    exchange::{ANSWER, late},
    failure::store_error,
    finished::FinishedRequests,
    holders::Holders,
    options::{OpenError, Options, PoolUse},
    postgres::{self, NotificationTargets, Postgres, Replica},
    rows::{Columns, FromColumns, Row},
    schema::SchemaState,
    sql::{
        answers::{AnswerBytesOfHolder, RemoveAnswers},
        words::CountWordsDue,
    },
    sqlite::{self, Sqlite, text::CountUnindexed, writer::Writer},
    statement::{Dialect, Statement},
    words::WordIndexer,
    work::{StatementResult, Work},
};
use ad_server_base::limits::{
    FairPermit, FairSemaphore,
    table::{LARGE_WRITE, LARGE_WRITES},
};

/// How long closing waits for the database.
const CLOSE: Duration = Duration::from_secs(5);

/// A database. Clones share everything.
///
/// # Errors
/// Everything that it reads and writes fails with [`StoreError::Unavailable`] while the server or the disk is not available, with
/// [`StoreError::Faulty`] if a row cannot be understood, and a read for a client with [`StoreError::TimedOut`] after its time limit.
#[derive(Debug, Clone)]
pub struct Database {
    engine: Engine,
    queued: Arc<Notify>,
    finished: FinishedRequests,
    event_poller: EventPoller,
    epochs: Epochs,
    holders: Holders,
    read_timeout: Duration,
    list_connections: u32,
    large_writes: FairSemaphore,
    look_ups: FairSemaphore,
    /// Once a store uses the database.
    indexer: Arc<OnceLock<WordIndexer>>,
}

#[derive(Debug, Clone)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Which connections a read for a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadSize {
    LookUp,
    List,
}

/// One connection for several transactions that share its temporary tables.
pub enum Session {
    Sqlite(Writer),
    Postgres(postgres::ExclusiveConnection),
}

ad_server_base::debug_by_name!(Session);

impl Session {
    /// Runs work in a transaction, and returns when it is durable.
    pub async fn write<W: Work>(&mut self, work: W) -> Result<W::Answer, StoreError> {
        match self {
            Self::Sqlite(writer) => writer.run(work).await,
            Self::Postgres(connection) => connection.write(work).await,
        }
    }
}

impl Database {
    /// Opens `sqlite://path`, which is created if it is missing, or `postgres://user:password@host:port/database`, which must exist.
    /// Migrates its schema.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, &Options::default()).await
    }

    pub async fn open_with(url: &str, options: &Options) -> Result<Self, OpenError> {
        let (queued, finished, event_poller, epochs) =
            <(Arc<Notify>, FinishedRequests, EventPoller, Epochs)>::default();
        let woken = NotificationTargets {
            queued: Arc::clone(&queued),
            finished: finished.clone(),
            event_poller: event_poller.clone(),
        };
        let holders = Holders::new(postgres::is_address(url));
        let (engine, (list_connections, look_up_connections)) = if postgres::is_address(url) {
            let postgres = Postgres::open(url, options, &epochs, woken, &holders).await?;
            let connections = (postgres.list_connections(), postgres.look_up_connections());
            (Engine::Postgres(postgres), connections)
        } else {
            (Engine::Sqlite(Sqlite::open(url, options, &epochs).await?), (options.lists, options.readers))
        };
        let look_ups = FairSemaphore::with_reserve(look_up_connections as usize, usize::from(look_up_connections > 1));
        let large_writes = FairSemaphore::with_reserve(LARGE_WRITES, LARGE_WRITES - 1);
        let read_timeout = options.read_timeout;
        Ok(Self {
            engine,
            queued,
            finished,
            event_poller,
            epochs,
            holders,
            read_timeout,
            list_connections,
            large_writes,
            look_ups,
            indexer: Arc::default(),
        })
    }

    /// How the schema of a database compares with what this program knows. Creates and changes nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn schema(url: &str) -> Result<SchemaState, OpenError> {
        if postgres::is_address(url) { postgres::schema(url).await } else { sqlite::schema(url).await }
    }

    /// Tries whether a PostgreSQL server, and a pooler before it, give a process so many connections at the same time.
    ///
    /// # Errors
    /// How many there were, and why there were no more.
    pub async fn try_connections(url: &str, wanted: u32) -> Result<(), (usize, String)> {
        postgres::try_connections(url, wanted).await
    }

    /// Whether an address is that of a PostgreSQL database.
    pub fn is_postgres(url: &str) -> bool {
        postgres::is_address(url)
    }

    /// Its address without user and password.
    pub fn name_of(url: &str) -> String {
        postgres::name_of(url).unwrap_or_else(|| sqlite::name_of(url))
    }

    /// Finishes what is being written, then closes every connection; gives up on a database that does not answer. Dropping the last clone
    /// does the same in the background.
    pub async fn close(&self) {
        if let Some(indexer) = self.indexer.get() {
            indexer.stop();
        }
        let close = async {
            match &self.engine {
                Engine::Sqlite(sqlite) => sqlite.close().await,
                Engine::Postgres(postgres) => postgres.close().await,
            }
        };
        if timeout(CLOSE, close).await.is_err() {
            tracing::warn!("the database has not answered within {} s; closing its connections", CLOSE.as_secs());
        }
    }

    pub fn dialect(&self) -> Dialect {
        match self.engine {
            Engine::Sqlite(_) => Dialect::Sqlite,
            Engine::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Maximum number of lists that are read concurrently. Further ones wait, whichever dealer they are for.
    pub fn list_connections(&self) -> usize {
        self.list_connections as usize
    }

    /// The epochs of the database, as its connections have found them.
    pub(super) fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    pub(super) fn holders(&self) -> &Holders {
        &self.holders
    }

    /// The numbers of the processes that are there.
    pub(super) async fn present_holders(&self) -> Result<Vec<i64>, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(vec![self.holders.own().into()]),
            Engine::Postgres(postgres) => answered(postgres.holders().map(|found| found.map_err(store_error))).await,
        }
    }

    /// How the connections of this process are used.
    pub fn pools(&self) -> Vec<PoolUse> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.pools(),
            Engine::Postgres(postgres) => postgres.pools(),
        }
    }

    /// The number of lists that were read on the standby, and on the primary because the standby could not be used. Both are 0 without a
    /// standby.
    pub fn lists_read(&self) -> (u64, u64) {
        self.replica().map_or((0, 0), Replica::lists_read)
    }

    /// Bytes of the primary's log that the standby has not replayed yet; `None` without a standby.
    ///
    /// # Errors
    /// When it cannot be used as a standby of this database.
    pub async fn standby_lag(&self) -> Option<Result<u64, String>> {
        match self.replica() {
            Some(replica) => Some(replica.lag().await),
            None => None,
        }
    }

    fn replica(&self) -> Option<&Replica> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => postgres.replica.as_ref(),
        }
    }

    /// Reads single ads for a client, on connections of their own, which dealers share, and within the time limit. The read is
    /// interrupted when the future is dropped.
    pub(super) async fn look_up(&self, statement: impl Into<Statement>) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::new();
        let take = |row| {
            rows.push(row);
            Ok(())
        };
        self.look_up_each(statement.into(), take).await?;
        Ok(rows)
    }

    /// Reads a few rows for a client, likewise. Each row is handed over before the next one is read. Statements of a batch run together;
    /// such a read is not interrupted when its client leaves.
    pub(super) async fn look_up_each(
        &self,
        statement: Statement,
        take: impl FnMut(Row) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        if statement.is_batch(self.dialect()) {
            let batches = match &self.engine {
                Engine::Sqlite(sqlite) => &sqlite.look_up_batches,
                Engine::Postgres(postgres) => &postgres.look_up_batches,
            };
            let ran = timeout(self.read_timeout + postgres::GRACE, batches.run(statement)).await;
            let ran = ran.map_err(|_| StoreError::TimedOut(self.read_timeout))??;
            return ran.rows.into_iter().try_for_each(take);
        }
        let _turn = self.look_ups.take(statement.dealer().unwrap_or_default(), 1).await;
        self.read_for_client(ReadSize::LookUp, &statement, take).await
    }

    /// Reads a list for a client, likewise.
    pub(super) async fn list<T: FromColumns>(
        &self,
        statement: Statement,
        mut take: impl FnMut(T) + Send,
    ) -> Result<(), StoreError> {
        self.read_for_client(ReadSize::List, &statement, |row| Columns::of(&row).read().map(&mut take)).await
    }

    async fn read_for_client(
        &self,
        size: ReadSize,
        statement: &Statement,
        mut take: impl FnMut(Row) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let mut failed = Ok(());
        let read = &mut |row: Row| {
            take(row).map_err(|error| {
                failed = Err(error);
                sqlx::Error::Decode("a row cannot be read".into())
            })
        };
        let is_list = size == ReadSize::List;
        let ran = match &self.engine {
            Engine::Sqlite(it) => {
                let readers = if is_list { &it.lists } else { &it.look_ups };
                readers.read(self.read_timeout, statement.for_sqlite(), read).await
            }
            Engine::Postgres(it) if is_list => it.list(self.read_timeout, statement, read).await,
            Engine::Postgres(it) => it.look_up(self.read_timeout, statement, read).await,
        };
        failed.and(ran)
    }

    /// Reads for the service itself: the directory, readiness, metrics, workers and commands. These reads do not wait for clients.
    /// Statements that PostgreSQL runs in batches run together.
    pub async fn read(&self, statement: impl Into<Statement>) -> Result<Vec<Row>, StoreError> {
        let statement = statement.into();
        let read = async {
            match &self.engine {
                Engine::Sqlite(it) if statement.is_batch(Dialect::Postgres) => {
                    Ok(it.batches.run(statement).await?.rows)
                }
                Engine::Sqlite(sqlite) => sqlite.read(&statement).await.map_err(store_error),
                Engine::Postgres(it) if statement.is_batch(Dialect::Postgres) => {
                    Ok(it.batches.run(statement).await?.rows)
                }
                Engine::Postgres(postgres) => postgres.read(&statement).await.map_err(store_error),
            }
        };
        answered(read).await
    }

    /// Reads one number, for the service itself.
    pub(super) async fn read_number(&self, statement: impl Into<Statement>) -> Result<u64, StoreError> {
        let rows = self.read(statement).await?;
        Columns::first(&rows).map(Option::unwrap_or_default)
    }

    /// Reads for the service itself, and hands over rows as they are read.
    pub fn stream<'s>(&'s self, statement: &Statement) -> impl Stream<Item = Result<Row, StoreError>> + Send + use<'s> {
        let rows = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.stream(statement),
            Engine::Postgres(postgres) => postgres.stream(statement),
        };
        rows.map_err(store_error)
    }

    /// A slot for a large write. Each dealer, and the service itself, has one.
    async fn place(&self, work: &impl Work) -> Option<FairPermit> {
        if work.text_bytes() < LARGE_WRITE {
            return None;
        }
        Some(self.large_writes.take(work.dealer().unwrap_or_default(), 1).await)
    }

    /// Runs work in a transaction, and returns when it is durable.
    pub async fn write<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let write = async {
            let _place = self.place(&work).await;
            match &self.engine {
                Engine::Sqlite(sqlite) => sqlite.writer().run(work).await,
                Engine::Postgres(postgres) => postgres.write(work).await,
            }
        };
        answered(write).await
    }

    /// Runs a statement in a transaction, and returns when it is durable. PostgreSQL runs batch statements of concurrent callers
    /// together.
    pub async fn run(&self, statement: impl Into<Statement>) -> Result<StatementResult, StoreError> {
        let statement = statement.into();
        match &self.engine {
            Engine::Postgres(postgres) if statement.is_batch(Dialect::Postgres) => {
                let run = async {
                    let _place = self.place(&statement).await;
                    postgres.batches.run(statement).await
                };
                answered(run).await
            }
            _ => self.write(statement).await,
        }
    }

    /// A session for work that needs the same connection throughout.
    pub async fn session(&self) -> Result<Session, StoreError> {
        Ok(match &self.engine {
            Engine::Sqlite(sqlite) => Session::Sqlite(sqlite.writer().clone()),
            Engine::Postgres(postgres) => Session::Postgres(postgres.exclusive().await?),
        })
    }

    /// Has PostgreSQL measure tables that have grown by a lot, so that it plans lists for their present sizes.
    pub async fn analyze_grown(&self) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(postgres) => postgres.analyze_grown().await.map_err(store_error),
        }
    }

    /// Starts indexing new texts for searching, in the background.
    pub fn index_texts(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.index_texts(),
            // PostgreSQL has no such index: a search reads the texts of the dealer.
            Engine::Postgres(_) => {}
        }
    }

    /// Notified when a request becomes claimable by a write of this process or, in PostgreSQL, of others. Notifications can be lost,
    /// so callers poll as well.
    pub(super) fn queued(&self) -> Arc<Notify> {
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake.listen();
        }
        Arc::clone(&self.queued)
    }

    /// Wakes the workers of this process and of others.
    pub(super) fn wake(&self) {
        self.queued.notify_one();
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake.notify_queued();
        }
    }

    /// Removes kept answers of requests that were accepted before a time, at most so many, and returns how many.
    pub async fn remove_answers(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        Ok(self.run(RemoveAnswers { before, at_most }).await?.changed)
    }

    /// Bytes of the kept answers of a holder of keys, as they are stored.
    pub async fn answer_bytes(&self, holder: &str) -> Result<u64, StoreError> {
        self.read_number(AnswerBytesOfHolder { holder }).await
    }

    /// Wakes those who wait for events, in this process and in others.
    pub(super) fn logged(&self) {
        self.event_poller.notify();
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake.notify_logged();
        }
    }

    /// A watch that new events of these dealers wake.
    pub(super) fn watch_events(&self, scope: Scope<'_>) -> EventWatch {
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake.listen();
        }
        self.event_poller.watch(self, scope)
    }

    /// Ends the waits for a request, in this process and in others.
    pub(super) fn finished(&self, request: Uuid) {
        self.finished.end(request);
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake.notify_finished(request);
        }
    }

    /// Returns when a request is finished, at once if there is no such unfinished request.
    pub(super) async fn wait_for(&self, request: Uuid) -> Result<(), StoreError> {
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake.listen();
        }
        self.finished.wait(self, request).await
    }

    /// Number of texts that are not indexed for searching yet. Searches find them nevertheless.
    pub async fn unindexed(&self) -> Result<u64, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => self.read_number(CountUnindexed {}).await,
            Engine::Postgres(_) => Ok(0),
        }
    }

    /// From now on, indexes the words of ads in the background, for as long as the database is open.
    pub(super) fn keep_words_indexed(&self) {
        // The task must not keep itself alive.
        let database = || Self { indexer: Arc::default(), ..self.clone() };
        self.indexer.get_or_init(|| WordIndexer::start(database()));
    }

    /// Number of notes about ads whose words are not indexed yet. Until then, lists with `q` do not find these ads by new words.
    pub async fn words_due(&self) -> Result<u64, StoreError> {
        self.read_number(CountWordsDue {}).await
    }
}

/// Waits for an answer of the database, so that no caller waits for one that does not answer.
pub(super) fn answered<T>(
    answer: impl Future<Output = Result<T, StoreError>>,
) -> impl Future<Output = Result<T, StoreError>> {
    timeout(ANSWER, answer).map(|answer| answer.unwrap_or_else(|_| Err(store_error(late(ANSWER)))))
}

impl SchemaState {
    /// Why this program cannot use the database at an address, and what to do; `None` if it can.
    pub fn problem(&self, database_url: &str) -> Option<String> {
        let known = if postgres::is_address(database_url) { &postgres::MIGRATIONS } else { &sqlite::MIGRATIONS };
        self.refusal(known).map(|(reason, advice)| format!("{reason}; {advice}"))
    }
}
