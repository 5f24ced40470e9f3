//! The store's engine in a SQLite file, which it creates if it is missing.
//!
//! | Module | What it is for |
//! |---|---|
//! | `writer` | one connection that writes, many operations to a commit |
//! | `readers` | connections for what clients read, each read bounded in time |
//! | `epoch` | whether the file was restored from a backup |
//! | `text` | searching in texts, and the index for it |
//!
//! A new database is created under a temporary name and renamed when it is complete, so that no process ever finds an incomplete one.

mod epoch;
mod readers;
pub(super) mod text;
pub(super) mod writer;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use include_dir::{Dir, include_dir};
use percent_encoding::percent_decode_str;
use sqlx::{
    ConnectOptions, Connection, SqliteConnection, SqlitePool,
    migrate::{MigrateError, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::mpsc;

use super::{
    batch::Batches,
    epochs::Epochs,
    failure::sqlite_code,
    options::{OpenError, Options, PoolUse, SchemaPolicy},
    rows::Row,
    schema::{self, Applied, SchemaState},
    statement::Statement,
    work::Link,
};
use readers::{OwnBatches, SqliteBatches, SqliteReaders};
use writer::Writer;

static MIGRATION_FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/migrations/sqlite");
pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| schema::migrator(&MIGRATION_FILES));

/// Result code of a database that another process has locked.
const BUSY: i32 = 5;
/// Result code of a file that is not a database.
const NOT_A_DATABASE: i32 = 26;

/// Batches of reads of single ads at the same time: they leave connections to other reads, and are larger the fewer they are.
const LOOK_UP_BATCHES: usize = 2;

/// How long to wait for others before a file is rewritten.
const COMPACT_WITHIN: Duration = Duration::from_mins(1);

const ANOTHER_FILE: &str = "set another file with --database-url";
const MISSING: &str = "run the command in the folder of the server and with its --config, or pass --database-url; \
    `ad-server migrate` creates a database";
const PERMISSIONS: &str =
    "check that the folder exists and is writable and the disk is not full, or set another file with --database-url";

/// A SQLite database: a few connections that read and one that writes. Readers see the last commit and never wait.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite {
    /// For reads of the service itself.
    readers: SqlitePool,
    /// Of those that many workers make.
    pub(super) batches: Batches,
    /// For single ads that clients read.
    pub(super) look_ups: Arc<SqliteReaders>,
    /// Of reads of single ads.
    pub(super) look_up_batches: Batches,
    /// For lists that clients read.
    pub(super) lists: Arc<SqliteReaders>,
    writer: Writer,
    written: mpsc::Sender<()>,
}

impl Sqlite {
    /// Opens `sqlite://path`. Makes the file and its folder if there is none and the options say so.
    pub(super) async fn open(url: &str, options: &Options, epochs: &Epochs) -> Result<Self, OpenError> {
        let path = path(url)?;
        let failed = |failure: FileFailure| failure.at(&path);
        let connect = writing(&path, options);
        let mut connection = match options.schema {
            SchemaPolicy::Migrate => {
                let folders = MadeFolders::above(&path)?;
                if !path.exists() {
                    make(&path, options).await.map_err(failed)?;
                }
                let connection = prepared(&connect, migrate).await.map_err(failed)?;
                folders.keep();
                connection
            }
            SchemaPolicy::Require if !path.exists() => {
                return Err(failed(FileFailure::new("there is no such file", MISSING)));
            }
            SchemaPolicy::Require => prepared(&connect, require).await.map_err(failed)?,
        };
        epoch::enter(&mut connection, &path, epochs).await.map_err(|error| failed(error.into()))?;
        let readers = SqlitePoolOptions::new()
            .max_connections(options.readers)
            .acquire_timeout(options.busy_timeout)
            .idle_timeout(None)
            .max_lifetime(None)
            // A connection is a thread of this process, and needs no liveness test.
            .test_before_acquire(false)
            .connect_lazy_with(reading(&path, options));
        let batches = Batches::start([OwnBatches(readers.clone())]);
        let for_clients =
            |connect, connections| Arc::new(SqliteReaders::new(connect, connections, options.read_timeout));
        let look_ups = for_clients(reading(&path, options), options.readers);
        let look_up_batch = || SqliteBatches { readers: Arc::clone(&look_ups), limit: options.read_timeout };
        let look_up_batches = Batches::start(std::iter::repeat_with(look_up_batch).take(LOOK_UP_BATCHES));
        // A list reads the rows of its page twice, first for their lengths. The second time they should be in the cache.
        let lists = for_clients(reading(&path, options).pragma("cache_size", "-8000"), options.lists);
        let writer = Writer::start(connection, connect);
        let (written, receiver) = mpsc::channel(1);
        tokio::spawn(text::keep_indexed(writer.downgrade(), receiver));
        Ok(Self { readers, batches, look_ups, look_up_batches, lists, writer, written })
    }

    pub(super) async fn close(&self) {
        self.look_ups.close().await;
        self.lists.close().await;
        self.readers.close().await;
        self.writer.close().await;
    }

    pub(super) fn pools(&self) -> Vec<PoolUse> {
        vec![PoolUse::of("service", &self.readers), self.look_ups.used("single_ads"), self.lists.used("lists")]
    }

    pub(super) async fn read(&self, statement: &Statement) -> sqlx::Result<Vec<Row>> {
        let mut connection = self.readers.acquire().await?;
        Ok(Link::Sqlite(&mut connection).run(statement).await?.rows)
    }

    pub(super) fn stream<'s>(&'s self, statement: &Statement) -> BoxStream<'s, sqlx::Result<Row>> {
        statement.for_sqlite().fetch(&self.readers).map_ok(Row::Sqlite).boxed()
    }

    pub(super) fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Starts indexing new texts for searching, in the background.
    pub(super) fn index_texts(&self) {
        // A notification that is pending already is enough.
        let _sent = self.written.try_send(());
    }
}

/// The address for messages, with the absolute path.
pub(super) fn name_of(url: &str) -> String {
    let absolute = path(url).ok().and_then(|path| std::path::absolute(path).ok());
    absolute.map_or_else(|| shown(url), |path| format!("sqlite://{}", path.display()))
}

/// Removes user and password, in case it is an address of another kind.
fn shown(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) if scheme != "sqlite" => format!("{scheme}://{place}"),
        _ => url.to_owned(),
    }
}

fn path(url: &str) -> Result<PathBuf, OpenError> {
    let wrong = || OpenError::Url(shown(url));
    let path = url.strip_prefix("sqlite:").ok_or_else(wrong)?;
    let path = path.strip_prefix("//").unwrap_or(path);
    // Every connection would have its own database in memory, and parameters could turn off required settings.
    if path.is_empty() || path.starts_with(':') || path.contains('?') {
        return Err(wrong());
    }
    let path = percent_decode_str(path).decode_utf8().map_err(|_| wrong())?;
    Ok(PathBuf::from(path.as_ref()))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Folders that were created for the database. They are removed unless they are kept.
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    fn above(path: &Path) -> Result<Self, OpenError> {
        let folder = folder(path);
        let missing: Vec<_> =
            folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        let mut made = Self(Vec::new());
        for path in missing.into_iter().rev() {
            match std::fs::create_dir(path) {
                Ok(()) => made.0.push(path.to_owned()),
                // Another process creates the same folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OpenError::Folder { path: path.to_owned(), error }),
            }
        }
        Ok(made)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // It stays if it is not empty.
            drop(std::fs::remove_dir(path));
        }
    }
}

fn connecting(path: &Path, options: &Options) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(options.busy_timeout)
        // The statements keep references valid, and checking each one would cost a look-up per row.
        .foreign_keys(false)
        .disable_statement_logging()
}

fn writing(path: &Path, options: &Options) -> SqliteConnectOptions {
    let connect = connecting(path, options)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-8000")
        // Pages that many commits have touched are then copied into the file once instead of often.
        .pragma("wal_autocheckpoint", "4000");
    match options.max_pages {
        Some(pages) => connect.pragma("max_page_count", pages.to_string()),
        None => connect,
    }
}

fn reading(path: &Path, options: &Options) -> SqliteConnectOptions {
    connecting(path, options).read_only(true).with_regexp()
}

async fn make(path: &Path, options: &Options) -> Result<(), FileFailure> {
    let file = tempfile::Builder::new().prefix(".new-").suffix(".db").tempfile_in(folder(path))?;
    let mut connection = SqliteConnection::connect_with(&writing(file.path(), options)).await?;
    let migrated = migrate(&mut connection).await;
    connection.close().await?;
    migrated?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        // Another process has created it first.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error.into()),
    }
}

/// A connection whose database has been checked or migrated.
async fn prepared(
    connect: &SqliteConnectOptions,
    prepare: impl AsyncFnOnce(&mut SqliteConnection) -> Result<(), FileFailure>,
) -> Result<SqliteConnection, FileFailure> {
    let mut connection = SqliteConnection::connect_with(connect).await?;
    if let Err(failure) = prepare(&mut connection).await {
        // A failure to close it changes nothing.
        drop(connection.close().await);
        return Err(failure);
    }
    Ok(connection)
}

/// Runs all migrations in one transaction, so that two processes do not interfere.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), FileFailure> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    match state(&mut transaction).await? {
        SchemaState::Usable { .. } => return Ok(transaction.rollback().await?),
        SchemaState::Empty | SchemaState::Old { .. } => {}
        state => return refuse(&state),
    }
    MIGRATIONS.run(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(())
}

async fn require(connection: &mut SqliteConnection) -> Result<(), FileFailure> {
    let state = state(connection).await?;
    refuse(&state)
}

fn refuse(state: &SchemaState) -> Result<(), FileFailure> {
    match state.refusal(&MIGRATIONS) {
        Some((reason, advice)) => Err(FileFailure::new(reason, advice)),
        None => Ok(()),
    }
}

/// The schema of a database that may not exist; nothing is created.
pub(super) async fn schema(url: &str) -> Result<SchemaState, OpenError> {
    let path = path(url)?;
    if !path.exists() {
        return Ok(SchemaState::Empty);
    }
    let read = async {
        let options = writing(&path, &Options::default());
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let state = state(&mut connection).await;
        connection.close().await?;
        state
    };
    read.await.map_err(|failure: FileFailure| failure.at(&path))
}

/// Rewrites the file without what was removed, and empties its log.
pub(super) async fn compact(url: &str) -> sqlx::Result<()> {
    let path = path(url).map_err(|error| sqlx::Error::Configuration(error.into()))?;
    let options = Options { busy_timeout: COMPACT_WITHIN, ..Options::default() };
    let mut connection = SqliteConnection::connect_with(&writing(&path, &options)).await?;
    // Otherwise the index of words keeps those that were removed until it is merged.
    sqlx::query("INSERT INTO word_index (word_index) VALUES ('optimize')").execute(&mut connection).await?;
    sqlx::query("VACUUM").execute(&mut connection).await?;
    let (busy, ..): (i64, i64, i64) =
        sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut connection).await?;
    connection.close().await?;
    if busy == 0 { Ok(()) } else { Err(sqlx::Error::Protocol("other processes keep reading it".to_owned())) }
}

async fn state(connection: &mut SqliteConnection) -> Result<SchemaState, FileFailure> {
    let (tables, is_ours): (i64, bool) =
        sqlx::query_as("SELECT count(*), count(*) FILTER (WHERE name = '_sqlx_migrations') > 0 FROM sqlite_schema")
            .fetch_one(&mut *connection)
            .await?;
    if !is_ours {
        return Ok(if tables == 0 { SchemaState::Empty } else { SchemaState::Foreign });
    }
    let applied: Vec<Applied> = sqlx::query_as(schema::APPLIED).fetch_all(&mut *connection).await?;
    let needs = if SchemaState::has_support(&MIGRATIONS, &applied) {
        sqlx::query_scalar(schema::NEEDS).fetch_optional(&mut *connection).await?
    } else {
        None
    };
    Ok(SchemaState::of(&MIGRATIONS, &applied, needs))
}

/// An [`OpenError::File`] that does not know its path yet.
struct FileFailure {
    reason: String,
    advice: &'static str,
}

impl FileFailure {
    fn new(reason: impl Into<String>, advice: &'static str) -> Self {
        Self { reason: reason.into(), advice }
    }

    fn at(self, path: &Path) -> OpenError {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        OpenError::File { path, reason: self.reason, advice: self.advice }
    }
}

impl From<io::Error> for FileFailure {
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string(), PERMISSIONS)
    }
}

impl From<sqlx::Error> for FileFailure {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(sqlite_code) {
            Some(BUSY) => return Self::new("another process has locked it", "stop that process, or try again"),
            Some(NOT_A_DATABASE) => return Self::new("it is not an SQLite database", ANOTHER_FILE),
            _ => {}
        }
        let reason = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
        Self::new(reason, PERMISSIONS)
    }
}

impl From<MigrateError> for FileFailure {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            error => Self::new(error.to_string(), ANOTHER_FILE),
        }
    }
}
