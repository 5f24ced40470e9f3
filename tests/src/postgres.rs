//! A real PostgreSQL server for tests, in a folder of its own.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;

use crate::{
    eventually, ports,
    tools::{self, Tool},
};

/// Ends the server when stdin closes, that is when the tests have ended, however they have, and removes its folder: nothing else does
/// for the [shared](Postgres::shared) one. After a line from stdin, the folder stays.
const KEEP: &str = r#""$0" "$@" & server=$!; read -r stays; kill -INT "$server" 2>/dev/null; wait
[ -n "$stays" ] || rm -rf "${2%/data}""#;

/// How durable a commit is. Tests that kill processes need not wait for the disk: what the operating system has been
/// given outlives them.
const SETTINGS: [&str; 6] = [
    "fsync=off",
    "max_connections=300",
    "listen_addresses=127.0.0.1",
    "log_min_messages=fatal",
    "shared_buffers=64MB",
    "unix_socket_directories=",
];

/// A server. It ends with the value.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    keeper: Option<Child>,
    databases: AtomicUsize,
}

impl Postgres {
    /// The one that all tests of this process share, each with databases of its own. `None` when PostgreSQL is not
    /// installed; that was said.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        static STARTING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _one = STARTING.lock().await;
        if SHARED.get().is_none() {
            SHARED.set(Self::start(&[]).await?).ok();
        }
        SHARED.get()
    }

    /// A new one, with further settings such as `fsync=on`.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(settings: &[&str]) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        own(folder.path());
        let made = as_owner(&programs.join("initdb"))
            .args(["--auth=trust", "--username=ads", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--pgdata"])
            .arg(folder.path().join("data"))
            .output()
            .expect("initdb can be started");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let settings = SETTINGS.iter().chain(settings).map(|it| (*it).to_owned()).collect();
        let port = ports::lasting();
        let mut server = Self { programs, folder, port, settings, keeper: None, databases: AtomicUsize::new(0) };
        server.run().await;
        Some(server)
    }

    /// A standby of it, which has all its databases and follows it.
    ///
    /// # Panics
    /// When it cannot be copied or does not start.
    pub async fn standby(&self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        own(folder.path());
        let copied = as_owner(&self.programs.join("pg_basebackup"))
            .args(["--host=127.0.0.1", "--username=ads", "--checkpoint=fast", "--no-sync", "--write-recovery-conf"])
            .arg(format!("--port={}", self.port))
            .arg("--pgdata")
            .arg(folder.path().join("data"))
            .output()
            .expect("pg_basebackup can be started");
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let (programs, settings) = (self.programs.clone(), self.settings.clone());
        let port = ports::lasting();
        let mut standby = Self { programs, folder, port, settings, keeper: None, databases: AtomicUsize::new(0) };
        standby.run().await;
        standby
    }

    /// The same database on another server, such as a standby.
    ///
    /// # Panics
    /// When this is not the address of a database.
    pub fn same_database(&self, url: &str) -> String {
        self.url(url.rsplit('/').next().expect("the address of a database ends with its name"))
    }

    /// Its folder, in which a test may look after the disk.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The id of its first process, whose children are the others.
    ///
    /// # Panics
    /// When it does not run.
    pub fn pid(&self) -> u32 {
        let file = std::fs::read_to_string(self.folder().join("data/postmaster.pid")).expect("it runs");
        file.lines().next().and_then(|line| line.parse().ok()).expect("PostgreSQL begins the file with it")
    }

    async fn run(&mut self) {
        let mut keeper = as_owner(Path::new("sh"));
        keeper.arg("-c").arg(KEEP).arg(self.programs.join("postgres")).arg("-D").arg(self.folder.path().join("data"));
        keeper.arg("-p").arg(self.port.to_string());
        for setting in &self.settings {
            keeper.arg("-c").arg(setting);
        }
        let keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.keeper = Some(keeper.expect("a shell can be started"));
        eventually("PostgreSQL answers", || async { PgConnection::connect(&self.url("postgres")).await.ok() }).await;
    }

    /// Stops it: `fast`, or `immediate` as a crash does.
    ///
    /// # Panics
    /// When it cannot be stopped.
    pub fn stop(&mut self, mode: &str) {
        let stopped = as_owner(&self.programs.join("pg_ctl"))
            .args(["stop", "--wait", "--mode", mode, "--pgdata"])
            .arg(self.folder.path().join("data"))
            .output()
            .expect("pg_ctl can be started");
        assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
        if let Some(mut keeper) = self.keeper.take() {
            keeper.stdin.take().expect("it is piped").write_all(b"stays\n").expect("the shell reads");
            keeper.wait().expect("an own process can be waited for");
        }
    }

    /// Starts it again after [`stop`](Self::stop).
    pub async fn start_again(&mut self) {
        self.run().await;
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of one of its databases.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://ads@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database, and returns its address.
    ///
    /// # Panics
    /// When the server does not answer.
    pub async fn database(&self) -> String {
        let name = format!("ads_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut connection = PgConnection::connect(&self.url("postgres")).await.expect("it answers");
        let sql = format!("CREATE DATABASE {name}");
        sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.expect("a database can be made");
        self.url(&name)
    }

    /// Restores a dump of a database into a new one, and returns its address.
    ///
    /// # Panics
    /// When PostgreSQL's programs fail.
    pub async fn copy_of(&self, url: &str) -> String {
        let copy = self.database().await;
        let mut dump = as_owner(&self.programs.join("pg_dump"));
        let dump = dump.arg("--dbname").arg(url).output().expect("pg_dump can be started");
        assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
        let mut restore = as_owner(&self.programs.join("psql"));
        restore.args(["--quiet", "--set=ON_ERROR_STOP=1", "--dbname"]).arg(&copy);
        let mut restore = restore.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("psql can be started");
        restore.stdin.take().expect("it is piped").write_all(&dump.stdout).expect("psql reads");
        assert!(restore.wait().expect("an own process can be waited for").success());
        copy
    }

    /// Drops a database, whoever is connected to it, so that the server does not go on vacuuming it.
    ///
    /// # Panics
    /// When it cannot be dropped.
    pub async fn drop_database(&self, url: &str) {
        let name = url.rsplit('/').next().expect("the address of a database ends with its name");
        let mut connection = PgConnection::connect(&self.url("postgres")).await.expect("it answers");
        let sql = format!("DROP DATABASE {name} WITH (FORCE)");
        sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the database can be dropped");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            // Its folder goes with it.
            drop(keeper.wait());
        }
    }
}

/// The folder of PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let initdb = tools::find(Tool::Program("initdb"))?;
    // The path may have a link where the other programs are not beside it.
    let initdb = initdb.canonicalize().expect("what was found is there");
    initdb.parent().map(Path::to_owned)
}

/// PostgreSQL refuses to run as root: then its owner is the user that every system has for what is nobody's.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

pub(crate) fn own(folder: &Path) {
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).expect("root can give folders away");
    }
}

pub(crate) fn as_owner(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}
