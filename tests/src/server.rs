//! `ad-server serve` with a folder of its own.

use std::{path::Path, process::ExitStatus};

use tempfile::TempDir;

use crate::{Client, Process, run};

/// The flag that names the database.
const DATABASE: &str = "--database-url";

/// Two dealers of one group and one of another.
const DEALERS: &str = include_str!("../data/dealers.toml");

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Arguments behind those that every test server gets; a repeated one replaces the earlier.
    pub args: Vec<String>,
    /// Whether images come from public https addresses only, as in production.
    pub strict_images: bool,
    /// Environment variables of the process.
    pub env: Vec<(String, String)>,
}

/// A server with a folder of its own; it ends with the value.
#[derive(Debug)]
pub struct Server {
    /// Client with a token of dealer `north-cars`.
    pub client: Client,
    dir: TempDir,
    options: Options,
    process: Process,
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
        let process = spawn(dir.path(), &options).await;
        let client = Client::new(process.base.clone(), None);
        let mut server = Self { client, dir, options, process };
        server.client.token = Some(server.token(&["--dealer-code", "north-cars", "--expires", "never"]).await);
        server
    }

    /// Its folder: `data/ads.db`, `data/media`, `dealers.toml`.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The id of its process.
    ///
    /// # Panics
    /// When it has ended.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Its resident memory in bytes (Linux).
    pub fn memory(&self) -> u64 {
        self.process.memory()
    }

    /// The lines that it has written to stderr since its last start.
    pub fn said(&self) -> Vec<String> {
        self.process.said()
    }

    /// Kills it as the operating system does when it must: at once.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    ///
    /// # Panics
    /// When it cannot be asked.
    pub async fn stop(&mut self) -> ExitStatus {
        self.process.stop().await
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn signal(&self, signal: &str) {
        self.process.signal(signal).await;
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub async fn ended(&mut self) -> ExitStatus {
        self.process.ended().await
    }

    /// Starts it again on the same folder, on another port.
    pub async fn restart(&mut self) {
        self.process = spawn(self.dir.path(), &self.options).await;
        self.client.base.clone_from(&self.process.base);
    }

    /// Starts it again with other options.
    pub async fn restart_with(&mut self, options: Options) {
        self.options = options;
        self.restart().await;
    }

    /// Runs a subcommand on its folder and database; it must succeed. Returns what it printed.
    ///
    /// # Panics
    /// When it fails.
    pub async fn command(&self, args: &[&str]) -> String {
        let own: Vec<&str> = self.options.args.iter().map(String::as_str).collect();
        let database = own.iter().position(|arg| *arg == DATABASE).filter(|_| !args.contains(&DATABASE));
        let database = database.map_or(&[][..], |place| &own[place..place + 2]);
        let args = &[args, database].concat();
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

/// Starts `serve` in a folder.
async fn spawn(dir: &Path, options: &Options) -> Process {
    // Renditions change an ad once more at a time of their own; tests of them turn them on.
    let mut args = vec!["serve", "--listen", "127.0.0.1:0", "--dealers", "dealers.toml", "--renditions=false"];
    args.extend((!options.strict_images).then_some("--allow-private-images"));
    args.extend(options.args.iter().map(String::as_str));
    Process::start(dir, &args, &options.env).await
}
