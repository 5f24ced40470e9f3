//! The binary under test as a process: any of its subcommands.

use std::{
    path::{Path, PathBuf},
    process::{ExitStatus, Output, Stdio},
    sync::{Arc, Mutex},
};

use ad_server::auth::KeySet;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// The server's binary: it is built beside the tests'. The environment variable `SERVER_UNDER_TEST` names another, such as one of a
/// release build.
fn binary() -> PathBuf {
    if let Some(binary) = std::env::var_os("SERVER_UNDER_TEST") {
        return binary.into();
    }
    let test = std::env::current_exe().expect("a running test has a path");
    let beside = test.parent().and_then(Path::parent).expect("tests live below target/<profile>/deps");
    beside.join("server-under-test")
}

/// A subcommand in a folder, with nothing on its stdin. What is set in the environment of the tests does not count. Servers migrate
/// PostgreSQL databases, of which each test has its own, and do not wait long for what is not there.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(dir).args(args).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text == "RUST_LOG" || text.starts_with("AD_SERVER_") || text.starts_with("OTEL_") {
            command.env_remove(&name);
        }
    }
    command.env("AD_SERVER_MIGRATE", "true").env("AD_SERVER_STARTUP_TIMEOUT", "1s");
    command
}

/// Runs a subcommand in a folder to its end.
///
/// # Panics
/// When it cannot be started.
pub async fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().await.expect("the server's binary can be started")
}

/// A folder with a database and token keys, as the first start of a server leaves them.
///
/// # Panics
/// When it cannot be made.
pub async fn installed() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let migrated = run(folder.path(), &["migrate"]).await;
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    KeySet::load_or_create(&folder.path().join("data/token-keys.json")).expect("keys can be made");
    folder
}

/// What the address of a server begins with.
const ADDRESS: [&str; 2] = ["http://", "https://"];

/// The address in a line.
fn address(line: &str) -> String {
    let start = ADDRESS.iter().find_map(|address| line.find(address)).unwrap_or_default();
    line[start..].split('/').take(3).collect::<Vec<_>>().join("/")
}

/// A subcommand that serves something; it ends with the value.
#[derive(Debug)]
pub struct Process {
    /// Where it says that it serves.
    pub base: String,
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Process {
    /// Starts a subcommand in a folder and waits until it says on stderr where it serves: `http://…`.
    ///
    /// # Panics
    /// When it ends without.
    pub async fn start(dir: &Path, args: &[&str], env: &[(String, String)]) -> Self {
        let (mut process, line) = Self::start_until(dir, args, env, &ADDRESS).await;
        process.base = address(&line);
        process
    }

    /// Starts a subcommand in a folder and waits until it says one of these on stderr; returns the line in which it did.
    ///
    /// # Panics
    /// When it ends without.
    pub async fn start_until(dir: &Path, args: &[&str], env: &[(String, String)], says: &[&str]) -> (Self, String) {
        let mut command = command(dir, args);
        command.envs(env.iter().cloned());
        Self::spawn(command, says).await
    }

    /// Starts the binary under test by another program, whose last arguments it is, and waits until it says where it
    /// serves.
    ///
    /// # Panics
    /// When it ends without.
    pub async fn start_by(program: &str, args: &[&str], dir: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(args).current_dir(dir).stdin(Stdio::null());
        let (mut process, line) = Self::spawn(command, &ADDRESS).await;
        process.base = address(&line);
        process
    }

    async fn spawn(mut command: Command, says: &[&str]) -> (Self, String) {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the server's binary can be started");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let said = Arc::new(Mutex::new(Vec::new()));
        let keep = |said: &Mutex<Vec<String>>, line: &str| {
            said.lock().expect("nobody panics with it").push(line.to_owned());
        };
        while let Ok(Some(line)) = lines.next_line().await {
            keep(&said, &line);
            if !says.iter().any(|says| line.contains(says)) {
                continue;
            }
            // Its log goes to the test's own stderr too, which the test runner shows when a test fails.
            let log = Arc::clone(&said);
            tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    eprintln!("{line}");
                    keep(&log, &line);
                }
            });
            return (Self { base: String::new(), child, said }, line);
        }
        panic!("{command:?} did not start:\n{}", said.lock().expect("nobody panics with it").join("\n"));
    }

    /// Its id.
    ///
    /// # Panics
    /// When it has ended.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Its resident memory in bytes (Linux).
    ///
    /// # Panics
    /// When it has ended.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs, on Linux");
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux says how much memory it has");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") * 1024
    }

    /// The lines that it has written to stderr so far.
    ///
    /// # Panics
    /// Never.
    pub fn said(&self) -> Vec<String> {
        self.said.lock().expect("nobody panics with it").clone()
    }

    /// Kills it as the operating system does when it must: at once.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("an own process can be killed");
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    ///
    /// # Panics
    /// When it cannot be asked.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal("TERM").await;
        self.ended().await
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.pid().to_string()]).status().await;
        assert!(sent.expect("kill is there").success());
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub async fn ended(&mut self) -> ExitStatus {
        self.child.wait().await.expect("an own process can be waited for")
    }
}
