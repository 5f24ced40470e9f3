//! A database of either kind behind one face: statements go in, rows come out.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use ad_core::ports::StoreError;
use futures_util::{Stream, TryStreamExt};
use sqlx::{PgConnection, SqliteConnection};
use tokio::sync::Notify;

use crate::shares::{Share, Shares};

use super::{
    Columns, Row, Sql, Statement,
    postgres::{self, Postgres},
    sqlite::{self, Sqlite, writer::Writer},
    statement::{Dialect, Ran, store_error},
};

/// A write with texts of so many bytes keeps the database busy for milliseconds.
const LARGE: usize = 64 * 1024;

/// Most large writes at the same time.
const LARGE_WRITES: usize = 4;

/// How the database is used.
#[derive(Debug, Clone)]
pub struct Options {
    /// SQLite: how long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// SQLite: most connections that read single ads for clients at the same time, and as many for what the service itself
    /// reads.
    pub readers: u32,
    /// SQLite: most connections that read lists for clients at the same time. Each keeps a core busy.
    pub lists: u32,
    /// Most time that a read may take that a client asked for.
    pub read_timeout: Duration,
    /// SQLite: most pages of 4 KiB of the file; as many as fit on the disk if absent.
    pub max_pages: Option<u32>,
    /// PostgreSQL: most connections of this process.
    pub connections: u32,
}

impl Default for Options {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            // One more than a dealer alone may have (see `Lists`).
            lists: cores.clamp(2, 4) + 1,
            read_timeout: Duration::from_secs(2),
            max_pages: None,
            connections: 16,
        }
    }
}

/// Why the database cannot be opened: one line that says what to do. Nothing was left behind.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Not the address of a database.
    #[error(
        "\"{0}\" is not the address of a database; write it as sqlite://path/to/file.db or postgres://user@host/database"
    )]
    Url(String),
    /// The folder cannot be made.
    #[error("cannot create the folder {}: {error}; create it, or set another path with --database-url", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The file cannot be used.
    #[error("cannot open the database {}: {reason}; {advice}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// The server cannot be used.
    #[error("cannot open the database {name}: {reason}; {advice}")]
    Server {
        /// Which, without a password.
        name: String,
        /// Why not.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
}

/// A database. Clones share everything.
#[derive(Debug, Clone)]
pub struct Database {
    engine: Engine,
    queued: Arc<Notify>,
    read_timeout: Duration,
    list_connections: u32,
    large_writes: Shares,
    look_ups: Shares,
}

/// Takes the rows of a read as they come.
pub(super) type Reading<'r> = dyn FnMut(Row) -> sqlx::Result<()> + Send + 'r;

#[derive(Debug, Clone)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Something to be done in a transaction.
pub(crate) trait Work: Send + Sync + 'static {
    /// What the caller wants to know of it.
    type Answer: Send + 'static;

    /// What PostgreSQL wraps around it.
    const WRAP: Wrap = Wrap::Snapshot;

    /// The dealer whose client waits for it; `None` if it is the service's own. SQLite's writer serves dealers by turns.
    fn dealer(&self) -> Option<&str> {
        None
    }

    /// How long its texts are together.
    fn text_bytes(&self) -> usize {
        0
    }

    /// Does it. May be called again when the transaction was taken back.
    fn run(&self, link: &mut Link<'_>) -> impl Future<Output = sqlx::Result<Self::Answer>> + Send;
}

/// How PostgreSQL runs a [`Work`]. SQLite has one writer, to whom all of these are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// Nothing: it is one statement, which is a transaction by itself.
    Nothing,
    /// A transaction that sees one state of the database throughout, and is taken back and run again when somebody else
    /// changed what it changes.
    Snapshot,
    /// A transaction whose statements each see what was committed before them, and which waits for nobody.
    Committed,
}

/// A connection within a transaction.
pub(crate) enum Link<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Link<'_> {
    /// Runs a statement.
    pub(crate) async fn run(&mut self, statement: &Statement) -> sqlx::Result<Ran> {
        match self {
            Self::Sqlite(connection) => sqlite::run(connection, statement).await,
            Self::Postgres(connection) => postgres::run(connection, statement).await,
        }
    }
}

impl Work for Statement {
    type Answer = Ran;

    const WRAP: Wrap = Wrap::Nothing;

    fn dealer(&self) -> Option<&str> {
        self.of_dealer()
    }

    fn text_bytes(&self) -> usize {
        Self::text_bytes(self)
    }

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Ran> {
        link.run(self).await
    }
}

/// One connection for several transactions that share what the connection keeps for itself: temporary tables.
pub(crate) enum Session {
    Sqlite(Writer),
    Postgres(postgres::Held),
}

impl Session {
    /// Does something in a transaction, and returns when it is on the disk.
    pub(crate) async fn write<W: Work>(&mut self, work: W) -> Result<W::Answer, StoreError> {
        match self {
            Self::Sqlite(writer) => writer.run(work).await,
            Self::Postgres(held) => held.write(work).await,
        }
    }
}

impl Database {
    /// Opens `sqlite://path`, which is made if it is not there, or `postgres://user:password@host:port/database`, which has
    /// to be there. Its tables are made or brought up to date.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, &Options::default()).await
    }

    /// Opens it with these options.
    pub async fn open_with(url: &str, options: &Options) -> Result<Self, OpenError> {
        let queued = Arc::new(Notify::new());
        let (engine, (list_connections, look_up_connections)) = if postgres::is_address(url) {
            let postgres = Postgres::open(url, options, Arc::clone(&queued)).await?;
            let connections = (postgres.list_connections(), postgres.look_up_connections());
            (Engine::Postgres(postgres), connections)
        } else {
            (Engine::Sqlite(Sqlite::open(url, options).await?), (options.lists, options.readers))
        };
        let look_ups = Shares::with_reserve(look_up_connections as usize, usize::from(look_up_connections > 1));
        let large_writes = Shares::with_reserve(LARGE_WRITES, LARGE_WRITES - 1);
        Ok(Self { engine, queued, read_timeout: options.read_timeout, list_connections, large_writes, look_ups })
    }

    /// Its address as it may be shown: without user and password.
    pub fn name_of(url: &str) -> String {
        postgres::name_of(url).unwrap_or_else(|| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, place))) if scheme != "sqlite" => format!("{scheme}://{place}"),
            _ => url.to_owned(),
        })
    }

    /// Finishes what is being written, then closes every connection. Dropping the last clone does the same in the
    /// background.
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.engine {
            Engine::Sqlite(_) => Dialect::Sqlite,
            Engine::Postgres(_) => Dialect::Postgres,
        }
    }

    /// A text as it stands within JSON that the database takes apart.
    pub(crate) fn storable(&self, text: String) -> String {
        match self.engine {
            Engine::Postgres(_) => postgres::storable(&text).into_owned(),
            Engine::Sqlite(_) => text,
        }
    }

    /// How many lists can be read at the same time. Whoever has more read at once has them wait for each other, whichever
    /// dealer they are for.
    pub fn list_connections(&self) -> usize {
        self.list_connections as usize
    }

    /// Reads single ads for a client, on connections of their own and within the time that a read may take. It is
    /// interrupted when the future is dropped. Dealers share the connections.
    pub(super) async fn look_up(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let _turn = self.look_ups.take(statement.of_dealer().unwrap_or_default(), 1).await;
        let mut rows = Vec::new();
        let read = &mut |row| {
            rows.push(row);
            Ok(())
        };
        match &self.engine {
            Engine::Sqlite(it) => sqlite::read_within(&it.look_ups, self.read_timeout, &statement, read).await?,
            Engine::Postgres(it) => postgres::read_within(&it.look_ups, self.read_timeout, &statement, read).await?,
        }
        Ok(rows)
    }

    /// Reads a list for a client, likewise. Each row is taken over before the next is read.
    pub(super) async fn list(
        &self,
        statement: Statement,
        mut take: impl FnMut(&Row) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        let mut failed = Ok(());
        let read = &mut |row: Row| {
            take(&row).map_err(|error| {
                failed = Err(error);
                sqlx::Error::Decode("a row cannot be read".into())
            })
        };
        let ran = match &self.engine {
            Engine::Sqlite(it) => sqlite::read_within(&it.lists, self.read_timeout, &statement, read).await,
            Engine::Postgres(it) => postgres::read_within(&it.lists, self.read_timeout, &statement, read).await,
        };
        failed.and(ran)
    }

    /// Runs statements that only read, for the service itself: the directory, readiness, metrics, workers and commands.
    /// No client makes these wait.
    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let read = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(&statement).await,
            Engine::Postgres(postgres) => postgres.read(&statement).await,
        };
        read.map_err(|error| store_error(&error))
    }

    /// Runs a statement that only reads and has one number for an answer.
    pub(super) async fn read_number(&self, sql: Sql) -> Result<u64, StoreError> {
        let rows = self.read(Statement::new(sql)).await?;
        rows.first().map_or(Ok(0), |row| Columns::of(row).number())
    }

    /// Runs a statement that only reads, and hands out its rows as they come.
    pub(crate) fn stream<'s>(
        &'s self,
        statement: &Statement,
    ) -> impl Stream<Item = Result<Row, StoreError>> + Send + use<'s> {
        let rows = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.stream(statement),
            Engine::Postgres(postgres) => postgres.stream(statement),
        };
        rows.map_err(|error| store_error(&error))
    }

    /// A place for a large write, of which each dealer and the service itself have one.
    async fn place(&self, work: &impl Work) -> Option<Share> {
        if work.text_bytes() < LARGE {
            return None;
        }
        Some(self.large_writes.take(work.dealer().unwrap_or_default(), 1).await)
    }

    /// Does something in a transaction, and returns when it is on the disk.
    pub(crate) async fn write<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        let _place = self.place(&work).await;
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer().run(work).await,
            Engine::Postgres(postgres) => postgres.write(work).await,
        }
    }

    /// Runs a statement as [`write`](Self::write) does; PostgreSQL together with those like it that others ask for at the
    /// same time.
    pub(crate) async fn share(&self, statement: Statement) -> Result<Ran, StoreError> {
        let _place = self.place(&statement).await;
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer().run(statement).await,
            Engine::Postgres(postgres) => postgres.gather(statement).await,
        }
    }

    /// The same for one that only reads.
    pub(crate) async fn share_read(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => self.read(statement).await,
            Engine::Postgres(postgres) => Ok(postgres.gather(statement).await?.rows),
        }
    }

    /// A connection to itself.
    pub(crate) async fn session(&self) -> Result<Session, StoreError> {
        Ok(match &self.engine {
            Engine::Sqlite(sqlite) => Session::Sqlite(sqlite.writer().clone()),
            Engine::Postgres(postgres) => Session::Postgres(postgres.hold().await?),
        })
    }

    /// Has texts that are not in the index for searching yet brought into it, in the background.
    pub(crate) fn index_texts(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.index_texts(),
            // It has no such index: a search reads the texts of the dealer.
            Engine::Postgres(_) => {}
        }
    }

    /// Notified when a request can be claimed that could not before: of what this process writes, and in PostgreSQL also of
    /// what others do. Whoever waits for it looks by the clock as well.
    pub(super) fn queued(&self) -> Arc<Notify> {
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.listen();
        }
        Arc::clone(&self.queued)
    }

    /// Wakes the workers, here and elsewhere.
    pub(super) fn wake(&self) {
        self.queued.notify_one();
        if let Engine::Postgres(postgres) = &self.engine {
            postgres.wake_others();
        }
    }

    /// Texts that are not in the index for searching yet. Lists find them all the same.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be read.
    pub async fn unindexed(&self) -> Result<u64, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => self.read_number(sqlite::text::UNINDEXED).await,
            Engine::Postgres(_) => Ok(0),
        }
    }
}
