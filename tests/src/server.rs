//! The server as a process.

use std::{
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::Client;

/// Two dealers of one group and one of another.
const DEALERS: &str = include_str!("../data/dealers.toml");

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Arguments behind those that every test server gets; a repeated one replaces the earlier.
    pub args: Vec<String>,
    /// Whether images come from public https addresses only, as in production.
    pub strict_images: bool,
    /// Environment.
    pub env: Vec<(String, String)>,
}

/// A server with a folder of its own; it ends with the value.
#[derive(Debug)]
pub struct Server {
    /// Client with a token of dealer `north-cars`.
    pub client: Client,
    dir: TempDir,
    options: Options,
    process: Child,
}

/// The server's binary: it is built beside the tests'.
fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let beside = test.parent().and_then(Path::parent).expect("tests live below target/<profile>/deps");
    beside.join("server-under-test")
}

/// A subcommand in a folder, with nothing on its stdin. What is set in the environment of the tests does not count.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(dir).args(args).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name == "RUST_LOG" || name.to_string_lossy().starts_with("AD_SERVER_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a subcommand in a folder to its end.
///
/// # Panics
/// When it cannot be started.
pub async fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().await.expect("the server's binary can be started")
}

impl Server {
    /// A server with nothing special, on a free port.
    pub async fn start() -> Self {
        Self::with(Options::default()).await
    }

    /// A server started in this way.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(dir.path().join("dealers.toml"), DEALERS).expect("a temporary folder can be written");
        let (process, base) = spawn(dir.path(), &options).await;
        let client = Client::new(base, None);
        let mut server = Self { client, dir, options, process };
        server.client.token = Some(server.token(&["--dealer-code", "north-cars"]).await);
        server
    }

    /// Its folder: `data/ads.db`, `data/media`, `dealers.toml`.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Kills it as the operating system does when it must: at once.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill(&mut self) {
        self.process.kill().await.expect("an own process can be killed");
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    ///
    /// # Panics
    /// When it cannot be asked.
    pub async fn stop(&mut self) -> std::process::ExitStatus {
        let pid = self.process.id().expect("it runs").to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill is there");
        assert!(asked.success());
        self.process.wait().await.expect("an own process can be waited for")
    }

    /// Starts it again on the same folder, on another port.
    pub async fn restart(&mut self) {
        let (process, base) = spawn(self.dir.path(), &self.options).await;
        self.process = process;
        self.client.base = base;
    }

    /// Starts it again with other options.
    pub async fn restart_with(&mut self, options: Options) {
        self.options = options;
        self.restart().await;
    }

    /// Runs a subcommand on its folder; it must succeed. Returns what it printed.
    ///
    /// # Panics
    /// When it fails.
    pub async fn command(&self, args: &[&str]) -> String {
        let output = run(self.dir.path(), args).await;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A token, by the arguments of `token issue`.
    pub async fn token(&self, args: &[&str]) -> String {
        self.command(&[&["token", "issue"], args].concat()).await.trim().to_owned()
    }

    /// A client with the token that these arguments of `token issue` give.
    pub async fn client_of(&self, args: &[&str]) -> Client {
        self.client.with_token(Some(self.token(args).await))
    }

    /// The listings of the local marketplaces, as the command prints them.
    ///
    /// # Panics
    /// When it prints no JSON.
    pub async fn listings(&self) -> Vec<serde_json::Value> {
        let text = self.command(&["listings", "list", "--json"]).await;
        serde_json::from_str(&text).expect("--json prints JSON")
    }
}

/// Starts a process in a folder and waits until it says where it listens.
async fn spawn(dir: &Path, options: &Options) -> (Child, String) {
    let mut process = command(dir, &["serve", "--listen", "127.0.0.1:0", "--dealers", "dealers.toml"])
        .args((!options.strict_images).then_some("--allow-private-images"))
        .args(&options.args)
        .envs(options.env.iter().cloned())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the server's binary can be started");
    let mut lines = BufReader::new(process.stderr.take().expect("stderr is piped")).lines();
    let mut said = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some((_, rest)) = line.split_once("http://") {
            let base = format!("http://{}", rest.split('/').next().unwrap_or_default());
            // Its log goes to the test's own stderr, which the test runner shows when a test fails.
            tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    eprintln!("{line}");
                }
            });
            return (process, base);
        }
        said.push(line);
    }
    panic!("the server did not start:\n{}", said.join("\n"));
}
