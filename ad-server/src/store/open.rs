//! Opens the database file, and makes it where there is none.
//!
//! A new database is made beside its place and moved there when it is complete: whatever goes wrong, and whoever else
//! opens it at the same moment, there is never half a database to be found.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use ad_core::ports::StoreError;
use futures_util::{Stream, TryStreamExt};
use percent_encoding::percent_decode_str;
use sqlx::{
    ConnectOptions, Connection, SqliteConnection, SqlitePool,
    migrate::{MigrateError, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous},
};
use tokio::sync::mpsc;

use super::{
    statement::{Statement, result_code, store_error},
    text,
    writer::{Work, Writer},
};

pub(super) static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// Result code of a database that another process keeps to itself.
const BUSY: i32 = 5;
/// Result code of a file that is something else.
const NOT_A_DATABASE: i32 = 26;

/// How the database is used.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// Most connections that read at the same time.
    pub readers: u32,
    /// Most pages of 4 KiB of the file; as many as fit on the disk if absent.
    pub max_pages: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5), readers: 4, max_pages: None }
    }
}

/// Why the database cannot be opened: one line that says what to do. Nothing was left behind.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Not the address of a file.
    #[error("\"{0}\" is not the address of an SQLite database file; write it as sqlite://path/to/file.db")]
    Url(String),
    /// The folder cannot be made.
    #[error("cannot make the folder {}: {error}; make it yourself or name another place by --database-url", .path.display())]
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
}

const ANOTHER_FILE: &str = "name another file by --database-url";
const PERMISSIONS: &str =
    "see that the folder exists and is writable and the disk is not full, or name another file by --database-url";

/// The database: a few connections that read and one that writes. Readers see the last commit and never wait.
#[derive(Debug, Clone)]
pub struct Database {
    readers: SqlitePool,
    writer: Writer,
    written: mpsc::Sender<()>,
}

impl Database {
    /// Opens `sqlite://path`, and makes the file and its folder if there is none.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, &Options::default()).await
    }

    /// Opens it with these options.
    pub async fn open_with(url: &str, options: &Options) -> Result<Self, OpenError> {
        let path = path(url)?;
        let failed = |failure: Failed| failure.at(&path);
        let folders = MadeFolders::above(&path)?;
        if !path.exists() {
            make(&path, options).await.map_err(failed)?;
        }
        let connect = writing(&path, options);
        let mut connection = SqliteConnection::connect_with(&connect).await.map_err(|error| failed(error.into()))?;
        if let Err(failure) = migrate(&mut connection).await {
            // What it fails to close it has not changed.
            drop(connection.close().await);
            return Err(failed(failure));
        }
        folders.keep();
        let readers = SqlitePoolOptions::new()
            .max_connections(options.readers)
            .acquire_timeout(options.busy_timeout)
            .idle_timeout(None)
            .max_lifetime(None)
            // The connection is a thread of this process: asking whether it is still there is a waste.
            .test_before_acquire(false)
            .connect_lazy_with(reading(&path, options));
        let writer = Writer::start(connection, connect);
        let (written, receiver) = mpsc::channel(1);
        tokio::spawn(text::keep_indexed(writer.downgrade(), receiver));
        Ok(Self { readers, writer, written })
    }

    /// Finishes what is being written, then closes every connection; the write-ahead log is then part of the file again.
    /// Dropping the last clone does the same in the background.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Runs statements that only read.
    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<SqliteRow>, StoreError> {
        let mut connection = self.readers.acquire().await.map_err(|error| store_error(&error))?;
        statement.run(&mut connection).await.map(|ran| ran.rows).map_err(|error| store_error(&error))
    }

    /// Runs a statement that only reads, and hands out its rows as they come.
    pub(crate) fn stream(&self, statement: Statement) -> impl Stream<Item = Result<SqliteRow, StoreError>> + Send {
        statement.into_query().fetch(&self.readers).map_err(|error| store_error(&error))
    }

    /// The connections that read.
    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// Does something in a transaction, and returns when it is on the disk.
    pub(crate) async fn write<W: Work>(&self, work: W) -> Result<W::Answer, StoreError> {
        self.writer.run(work).await
    }

    /// Has texts that are not in the index for searching yet brought into it, in the background.
    pub(crate) fn index_texts(&self) {
        // When it was told already, that serves for this as well.
        let _told = self.written.try_send(());
    }
}

fn path(url: &str) -> Result<PathBuf, OpenError> {
    let wrong = || OpenError::Url(url.to_owned());
    let path = url.strip_prefix("sqlite:").ok_or_else(wrong)?;
    let path = path.strip_prefix("//").unwrap_or(path);
    // A database in memory would be another one for every connection; parameters could turn off what we rely on.
    if path.is_empty() || path.starts_with(':') || path.contains('?') {
        return Err(wrong());
    }
    let path = percent_decode_str(path).decode_utf8().map_err(|_| wrong())?;
    Ok(PathBuf::from(path.as_ref()))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Folders that were made for the database; they go again unless they are kept.
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
                // Somebody else makes the same.
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
            // It stays if somebody has put something into it meanwhile.
            drop(std::fs::remove_dir(path));
        }
    }
}

fn connecting(path: &Path, options: &Options) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(options.busy_timeout)
        // The statements never leave a reference behind, and checking each would cost a look-up per row.
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
    connecting(path, options).read_only(true)
}

async fn make(path: &Path, options: &Options) -> Result<(), Failed> {
    let file = tempfile::Builder::new().prefix(".new-").suffix(".db").tempfile_in(folder(path))?;
    let mut connection = SqliteConnection::connect_with(&writing(file.path(), options)).await?;
    let migrated = migrate(&mut connection).await;
    connection.close().await?;
    migrated?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        // Another process was quicker; it has made the same.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error.into()),
    }
}

/// One transaction for all of them, so that two processes cannot get in each other's way.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), Failed> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let foreign: bool = sqlx::query_scalar(
        "SELECT count(*) > 0 AND NOT count(*) FILTER (WHERE name = '_sqlx_migrations') FROM sqlite_schema",
    )
    .fetch_one(&mut *transaction)
    .await?;
    if foreign {
        return Err(Failed::new("it belongs to another program", ANOTHER_FILE));
    }
    MIGRATIONS.run(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(())
}

/// An [`OpenError::File`] that does not know its path yet.
struct Failed {
    reason: String,
    advice: &'static str,
}

impl Failed {
    fn new(reason: impl Into<String>, advice: &'static str) -> Self {
        Self { reason: reason.into(), advice }
    }

    fn at(self, path: &Path) -> OpenError {
        OpenError::File { path: path.to_owned(), reason: self.reason, advice: self.advice }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string(), PERMISSIONS)
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        match result_code(&error) {
            Some(BUSY) => return Self::new("another process keeps it locked", "stop that one, or try again"),
            Some(NOT_A_DATABASE) => return Self::new("it is not an SQLite database", ANOTHER_FILE),
            _ => {}
        }
        let reason = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
        Self::new(reason, PERMISSIONS)
    }
}

impl From<MigrateError> for Failed {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            MigrateError::VersionMissing(_) => {
                Self::new("a newer version of ad-server has used it", "use that version, or a copy made before")
            }
            error => Self::new(error.to_string(), ANOTHER_FILE),
        }
    }
}
