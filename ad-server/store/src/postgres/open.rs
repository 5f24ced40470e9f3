//! Connects to the database, and migrates its schema. Several processes may do so at once: they take turns.

use std::{
    collections::HashSet,
    str::FromStr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use futures_util::future::join_all;
use include_dir::{Dir, include_dir};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, PgPool, Row,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::{epoch, lease::CHECK};
use crate::{
    epochs::Epochs,
    exchange::within,
    failure::plain_text,
    options::{OpenError, Options, SchemaPolicy},
    schema::{self, Applied, SchemaState},
};

static MIGRATION_FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/migrations/postgres");
pub(crate) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| schema::migrator(&MIGRATION_FILES));

/// The oldest version that the tests run on.
const OLDEST: i32 = 150_000;

/// How long a caller waits for a connection when all are in use, or the server is away.
const PATIENCE: Duration = Duration::from_secs(5);

/// Settings of every connection. A write sees one snapshot of the database. Every statement has an index, and uses it even if the
/// tables were small when it was planned, because they grow. Scans of the few small tables without an index then seem expensive,
/// and JIT would compile them each time, so it is off. The time limits end statements that are stuck, and sessions whose process or network
/// is gone.
pub(crate) const SETTINGS: &str = "\
SET default_transaction_isolation = 'repeatable read'; \
SET enable_seqscan = off; \
SET jit = off; \
SET statement_timeout = '10s'; \
SET idle_in_transaction_session_timeout = '15s'; \
SET tcp_keepalives_idle = 5; \
SET tcp_keepalives_interval = 5; \
SET tcp_keepalives_count = 2; \
SET tcp_user_timeout = '15s'";

/// Idle time after which a connection is tested before it is used.
const FRESH: Duration = Duration::from_secs(1);

/// Whether an address is one of a PostgreSQL database.
pub(crate) fn is_address(url: &str) -> bool {
    url.starts_with("postgres:") || url.starts_with("postgresql:")
}

/// Its address without user, password and parameters.
pub(crate) fn name_of(url: &str) -> Option<String> {
    is_address(url).then(|| PgConnectOptions::from_str(url).map_or_else(|_| "postgres://…".to_owned(), |it| name(&it)))
}

fn name(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_else(|| options.get_username());
    format!("postgres://{}:{}/{database}", options.get_host(), options.get_port())
}

/// For everything but lists: inputs are looked up by index one by one. Otherwise a plan that was made while the queue was empty could
/// read the whole queue for a join, and would be kept when the queue is long.
pub(crate) const SETTINGS_BY_INDEX: &str =
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off";

/// For statements of many inputs: they are planned once, not for each number of inputs.
const SETTINGS_TOGETHER: &str = "SET plan_cache_mode = force_generic_plan";

/// For lists: the best index depends on the values, such as how many ads a dealer has.
const SETTINGS_LISTS: &str = "SET plan_cache_mode = force_custom_plan";

/// Maximum number of connections for batches. With more, each batch would be smaller.
const MOST_TOGETHER: u32 = 4;

/// Connections on which notifications of other processes are received.
const LISTENING: u32 = 1;

/// Maximum number of connections for lists. Each uses a core of the server.
const MOST_LISTS: u32 = 4;

/// Minimum time for connecting, whatever the time limit of reads is.
const MIN_PATIENCE: Duration = Duration::from_secs(1);

/// How often the server checks whether the client of a running read is still connected. A cancelled read closes its connection.
const CLIENT_CHECK: &str = "SET client_connection_check_interval = '20ms'";

/// How the connections of a process are divided, so that no kind of work can use those of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// For the directory, readiness, metrics and commands.
    pub(super) own: u32,
    /// For single ads that clients read.
    pub(super) look_ups: u32,
    /// For lists that clients read.
    pub(super) lists: u32,
    /// For writes, each by itself.
    pub(super) single: u32,
    /// For batches of writes, and of reads of single ads.
    pub(super) together: u32,
}

impl Budget {
    /// Of 16: 2 for the service itself and 1 for notifications, 3 for single ads, 3 for lists, 5 for single writes and 2 for batches, which
    /// are larger, and so cost less, if there are few of them. Each part has at least one, so there are never less than 7.
    fn of(connections: u32) -> Self {
        let own = 2;
        let look_ups = (connections / 5).max(1);
        let lists = (connections / 5).clamp(1, MOST_LISTS);
        let together = (connections / 8).clamp(1, MOST_TOGETHER);
        let single = connections.saturating_sub(own + LISTENING + look_ups + lists + together).max(1);
        Self { own, look_ups, lists, single, together }
    }

    /// How many of the connections for single ads batches use. They leave one to other reads, if there is another one.
    pub(super) fn look_up_batches(self) -> u32 {
        self.look_ups.saturating_sub(1).clamp(1, MOST_TOGETHER)
    }
}

/// The connections of a process, by what they are used for.
pub(super) struct Pools {
    pub(super) own: PgPool,
    pub(super) look_ups: PgPool,
    pub(super) lists: PgPool,
    /// For lists, on the standby if there is one.
    pub(super) replica: Option<PgPool>,
    pub(super) single: PgPool,
    pub(super) together: PgPool,
    pub(super) budget: Budget,
}

pub(super) async fn open(url: &str, options: &Options, epochs: &Epochs) -> Result<Pools, OpenError> {
    let connect = address(url)?;
    let name = name(&connect);
    prepare(&connect, options.schema).await.map_err(|failed| failed.at(name))?;
    let budget = Budget::of(options.connections);
    let reading =
        format!("SET statement_timeout = '{}ms'", options.read_timeout.as_millis().clamp(1, i32::MAX as u128));
    let standby = options.replica.as_deref().map(address).transpose()?;
    let lazily = |pool: PgPoolOptions| pool.connect_lazy_with(connect.clone());
    let open = |connections, settings: &[&str], epochs: Option<&Epochs>| {
        pool(connections, settings.iter().map(|settings| (*settings).to_owned()).collect(), epochs.cloned())
    };
    let reader = |connections, settings: &[&str]| {
        lazily(open(connections, settings, Some(epochs)).acquire_timeout(options.read_timeout.max(MIN_PATIENCE)))
    };
    let writer = |connections, settings: &[&str]| lazily(open(connections, settings, Some(epochs)));
    Ok(Pools {
        own: writer(budget.own, &[SETTINGS_BY_INDEX]),
        look_ups: reader(budget.look_ups, &[CLIENT_CHECK, SETTINGS_BY_INDEX, SETTINGS_TOGETHER, &reading]),
        lists: reader(budget.lists, &[CLIENT_CHECK, SETTINGS_LISTS, &reading]),
        replica: standby
            .map(|it| open(budget.lists, &[CLIENT_CHECK, SETTINGS_LISTS, &reading], None).connect_lazy_with(it)),
        single: writer(budget.single, &[SETTINGS_BY_INDEX]),
        together: writer(budget.together, &[SETTINGS_BY_INDEX, SETTINGS_TOGETHER]),
        budget,
    })
}

/// Parses an address. Its error does not contain the address, which may contain a password.
fn address(url: &str) -> Result<PgConnectOptions, OpenError> {
    if names_several_hosts(url) {
        return Err(OpenError::SeveralHosts);
    }
    let connect = PgConnectOptions::from_str(url).map_err(|_| OpenError::Url("postgres://…".to_owned()))?;
    // Poolers refuse a connection with a parameter that they do not know.
    Ok(connect.application_name("ad-server").extra_float_digits(None).disable_statement_logging())
}

/// Whether an address has what libpq reads as a list of servers, of which the driver would take a part for the only one.
fn names_several_hosts(url: &str) -> bool {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let after_scheme = place.split_once("://").map_or(place, |(_, rest)| rest);
    let hosts = after_scheme.split('/').next().and_then(|it| it.rsplit('@').next()).unwrap_or_default();
    let mut parameters = query.split('&').filter_map(|it| it.split_once('='));
    hosts.contains(',')
        || parameters.any(|(name, value)| match name {
            "target_session_attrs" => true,
            "host" | "hostaddr" | "port" => value.contains(',') || value.to_ascii_lowercase().contains("%2c"),
            _ => false,
        })
}

/// A pool with these settings of each connection beside [`SETTINGS`]. `epochs`: of a database that is written to.
fn pool(connections: u32, settings: Arc<[String]>, epochs: Option<Epochs>) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .before_acquire(|connection, about| {
            Box::pin(async move {
                if about.idle_for > FRESH {
                    within(CHECK, connection.ping()).await?;
                }
                Ok(true)
            })
        })
        .after_connect(move |connection, _| {
            let (settings, epochs) = (Arc::clone(&settings), epochs.clone());
            Box::pin(async move {
                connection.execute(SETTINGS).await?;
                // Before the limit of reads, which may be shorter than this takes.
                if let Some(epochs) = epochs {
                    epoch::enter(connection, &epochs).await?;
                }
                for settings in &*settings {
                    let set = connection.execute(AssertSqlSafe(settings.clone())).await;
                    // Not every server and system supports it. Without it, abandoned reads end a little later.
                    if let (CLIENT_CHECK, Err(sqlx::Error::Database(error))) = (settings.as_str(), &set) {
                        tracing::debug!(%error, "the server does not support client_connection_check_interval");
                    } else {
                        set?;
                    }
                }
                Ok(())
            })
        })
}

/// Migrates or checks the schema.
async fn prepare(options: &PgConnectOptions, schema: SchemaPolicy) -> Result<(), ServerFailure> {
    let mut connection = suitable(options).await?;
    let version: i32 =
        sqlx::query_scalar("SELECT current_setting('server_version_num')::int4").fetch_one(&mut connection).await?;
    if version < OLDEST {
        tracing::warn!(version, "database is older than PostgreSQL 15 or another engine, which is not tested");
    }
    match (state(&mut connection).await?, schema) {
        (SchemaState::Empty | SchemaState::Old { .. }, SchemaPolicy::Migrate) => {
            // Suppresses notices about existing tables.
            connection.execute("SET client_min_messages = warning").await?;
            MIGRATIONS.run(&mut connection).await?;
        }
        (state, _) => {
            if let Some((reason, advice)) = state.refusal(&MIGRATIONS) {
                return Err(ServerFailure::new(reason, advice));
            }
        }
    }
    Ok(connection.close().await?)
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, ServerFailure> {
    Ok(within(PATIENCE, PgConnection::connect_with(options)).await?)
}

/// A connection to a database that the service can use: a primary, and no pooler that shares its connections.
async fn suitable(options: &PgConnectOptions) -> Result<PgConnection, ServerFailure> {
    let mut connection = connect(options).await?;
    if is_pooled(&mut connection, options).await? {
        return Err(ServerFailure::new(POOLED, SESSION_MODE));
    }
    let is_standby = sqlx::query_scalar("SELECT pg_is_in_recovery()").fetch_one(&mut connection);
    let is_standby: bool = within(PATIENCE, is_standby).await?;
    if is_standby {
        return Err(ServerFailure { advice: PRIMARY, ..ServerFailure::unreachable("it is a standby") });
    }
    Ok(connection)
}

const POOLED: &str = "a pooler in front of it runs the statements of one connection on several connections of the server, which breaks the \
    isolation of writes";
const SESSION_MODE: &str = "set the pooler to session mode (docs/postgresql.md), or connect without it";
const PRIMARY: &str = "wait until it is promoted, or set the address of the primary with --database-url, such as that of a proxy that knows it";

/// Whether a pooler runs the statements of one connection on several of the server, or those of two connections on the same. The
/// statements are not prepared, because that is what poolers support last.
async fn is_pooled(connection: &mut PgConnection, options: &PgConnectOptions) -> Result<bool, ServerFailure> {
    let mut other = connect(options).await?;
    let mut backends = [HashSet::new(), HashSet::new()];
    for _ in 0..3 {
        backends[0].insert(backend(connection).await?);
        backends[1].insert(backend(&mut other).await?);
    }
    within(PATIENCE, other.close()).await?;
    Ok(backends.iter().any(|of_one| of_one.len() > 1) || backends[0] == backends[1])
}

/// The process of the server that runs the statements of a connection.
async fn backend(connection: &mut PgConnection) -> sqlx::Result<i32> {
    within(PATIENCE, connection.fetch_one("SELECT pg_backend_pid()")).await?.try_get(0)
}

/// Opens so many connections at the same time. Returns how many could be opened, and why no more.
pub(crate) async fn try_connections(url: &str, wanted: u32) -> Result<(), (usize, String)> {
    let options = address(url).map_err(|error| (0, error.to_string()))?;
    // A pooler takes a connection of the server for the first statement only.
    let open = async || -> Result<PgConnection, ServerFailure> {
        let mut connection = connect(&options).await?;
        backend(&mut connection).await?;
        Ok(connection)
    };
    let opened = join_all((0..wanted).map(|_| open())).await;
    let (mut open, mut failed) = (Vec::new(), None);
    for outcome in opened {
        match outcome {
            Ok(connection) => open.push(connection),
            Err(failure) => failed = Some(failure),
        }
    }
    let count = open.len();
    join_all(open.into_iter().map(Connection::close)).await;
    failed.map_or(Ok(()), |failure| Err((count, failure.reason)))
}

/// The schema of a database; nothing is created.
pub(crate) async fn schema(url: &str) -> Result<SchemaState, OpenError> {
    let options = address(url)?;
    let name = name(&options);
    let read = async {
        let mut connection = suitable(&options).await?;
        let state = state(&mut connection).await?;
        connection.close().await?;
        Ok(state)
    };
    read.await.map_err(|failed: ServerFailure| failed.at(name))
}

async fn state(connection: &mut PgConnection) -> Result<SchemaState, ServerFailure> {
    let (tables, is_ours): (i64, bool) = sqlx::query_as(
        "SELECT count(*), count(*) FILTER (WHERE table_name = '_sqlx_migrations') > 0 \
         FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
    )
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

const REACH: &str = "check that PostgreSQL runs and is reachable at this address, or set another with --database-url";
const ANOTHER: &str = "set another database with --database-url, or another schema with ?options=-csearch_path%3DNAME";

/// An [`OpenError::Server`] that does not know its name yet.
struct ServerFailure {
    reason: String,
    advice: &'static str,
    is_unreachable: bool,
}

impl ServerFailure {
    fn new(reason: impl Into<String>, advice: &'static str) -> Self {
        Self { reason: reason.into(), advice, is_unreachable: false }
    }

    /// The server does not answer, or not yet.
    fn unreachable(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), advice: REACH, is_unreachable: true }
    }

    fn at(self, name: String) -> OpenError {
        let Self { reason, advice, is_unreachable } = self;
        if is_unreachable {
            OpenError::Unreachable { name, reason, advice }
        } else {
            OpenError::Server { name, reason, advice }
        }
    }
}

impl From<sqlx::Error> for ServerFailure {
    fn from(error: sqlx::Error) -> Self {
        let Some(error) = error.as_database_error() else { return Self::unreachable(plain_text(&error)) };
        // The server starts, stops, or has no connection left.
        if matches!(error.code().as_deref(), Some("57P03" | "57P01" | "53300")) {
            return Self::unreachable(error.message());
        }
        let advice = match error.code().as_deref() {
            Some("3D000") => "create it, for example with createdb",
            Some("28P01" | "28000") => "check user and password in --database-url",
            Some("42501") => "grant the user the right to create tables",
            _ => REACH,
        };
        Self::new(error.message(), advice)
    }
}

impl From<MigrateError> for ServerFailure {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            error => Self::new(error.to_string(), ANOTHER),
        }
    }
}
