//! How a database is opened, and why it cannot be.

use std::{io, path::PathBuf, time::Duration};

/// What opening does when the database is missing, or its schema is not that of this program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SchemaPolicy {
    /// Creates the file of a SQLite database, and migrates the schema.
    #[default]
    Migrate,
    /// Changes nothing: a missing database, and a schema that this program cannot use, are errors.
    Require,
}

/// How the database is used.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to do about a missing database or an old schema.
    pub schema: SchemaPolicy,
    /// SQLite: how long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// SQLite: most connections for reads of single ads for clients, and as many for reads of the service itself.
    pub readers: u32,
    /// SQLite: maximum number of connections for lists for clients. Each uses a core.
    pub lists: u32,
    /// Time limit of a read for a client.
    pub read_timeout: Duration,
    /// SQLite: most pages of 4 KiB of the file; as many as fit on the disk if absent.
    pub max_pages: Option<u32>,
    /// PostgreSQL: most connections of this process.
    pub connections: u32,
    /// PostgreSQL: address of a standby, from which lists are read.
    pub replica: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
        Self {
            schema: SchemaPolicy::default(),
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            // One more than the maximum of one dealer (see `Lists`).
            lists: cores.clamp(2, 4) + 1,
            read_timeout: Duration::from_secs(2),
            max_pages: None,
            connections: 16,
            replica: None,
        }
    }
}

/// How the connections for one purpose are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Purpose of the connections, as metrics name it.
    pub name: &'static str,
    /// Number of connections in use.
    pub busy: usize,
    /// Open connections that are not in use.
    pub idle: usize,
    /// Most connections for the purpose.
    pub limit: usize,
}

impl PoolUse {
    pub(super) fn of<DB: sqlx::Database>(name: &'static str, pool: &sqlx::Pool<DB>) -> Self {
        let (open, idle) = (pool.size() as usize, pool.num_idle());
        Self { name, busy: open.saturating_sub(idle), idle, limit: pool.options().get_max_connections() as usize }
    }
}

/// Why the database cannot be opened, and what to do. Nothing was left behind.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "\"{0}\" is not the address of a database; write it as sqlite://path/to/file.db or postgres://user@host/database"
    )]
    Url(String),
    #[error(
        "the address of the database names several hosts, or target_session_attrs, which is not supported; set an address that always \
         leads to the primary, such as that of HAProxy (docs/operations/failover.md)"
    )]
    SeveralHosts,
    #[error("cannot create the folder {}: {error}; create it, or set another path with --database-url", .path.display())]
    Folder { path: PathBuf, error: io::Error },
    /// The file cannot be used.
    #[error("cannot open the database {}: {reason}; {advice}", .path.display())]
    File { path: PathBuf, reason: String, advice: &'static str },
    /// The server cannot be used.
    #[error("cannot open the database {name}: {reason}; {advice}")]
    Server {
        /// Host and database, without a password.
        name: String,
        reason: String,
        advice: &'static str,
    },
    /// The server does not answer, or not yet.
    #[error("cannot open the database {name}: {reason}; {advice}")]
    Unreachable {
        /// Host and database, without a password.
        name: String,
        reason: String,
        advice: &'static str,
    },
}

impl OpenError {
    /// Whether a retry may succeed.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}
