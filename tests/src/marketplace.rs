//! `ad-server marketplace` with a folder of its own.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Options, Process, ports, run};

/// The token that its callers need.
pub const MARKETPLACE_TOKEN: &str = "t0p-secret-of-the-marketplace";

/// Both marketplaces over HTTP; they end with the value.
#[derive(Debug)]
pub struct Marketplace {
    pub process: Process,
    dir: TempDir,
    args: Vec<String>,
    http: reqwest::Client,
}

impl Marketplace {
    /// Starts them with more arguments, on a free port.
    ///
    /// # Panics
    /// When they do not start.
    pub async fn start(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(dir.path().join("token"), MARKETPLACE_TOKEN).expect("a temporary folder can be written");
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let process = spawn(dir.path(), &format!("127.0.0.1:{}", ports::lasting()), &args).await;
        let http = crate::http_client().build().expect("a plain client can be built");
        Self { process, dir, args, http }
    }

    /// Starts them again, on the same folder and port.
    pub async fn restart(&mut self) {
        let address = self.process.base.trim_start_matches("http://").to_owned();
        self.process = spawn(self.dir.path(), &address, &self.args).await;
    }

    /// Options of a server that publishes on them, with more arguments.
    pub fn options(&self, args: &[&str]) -> Options {
        let base = &self.process.base;
        let mut all = vec![
            "--primary-marketplace".to_owned(),
            format!("{base}/primary"),
            "--secondary-marketplace".to_owned(),
            format!("{base}/secondary/"),
            "--secondary-marketplace-token-file".to_owned(),
            self.token_file().display().to_string(),
        ];
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        let env = vec![("AD_SERVER_PRIMARY_MARKETPLACE_TOKEN".to_owned(), MARKETPLACE_TOKEN.to_owned())];
        Options { args: all, env, ..Options::default() }
    }

    /// The file with the token.
    pub fn token_file(&self) -> PathBuf {
        self.dir.path().join("token")
    }

    /// Lets calls go wrong by these rules from now on.
    ///
    /// # Panics
    /// When the rules are not taken.
    pub async fn faults(&self, rules: Value) {
        let answer = self.call(Method::PUT, "/faults", Some(json!({"rules": rules}))).await;
        assert_eq!(answer.0, 200, "{}", answer.1);
    }

    /// Makes a call; returns its status and the JSON that came back, if any.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.http.request(method, format!("{}{path}", self.process.base));
        request = request.bearer_auth(MARKETPLACE_TOKEN);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await.expect("it answers");
        let status = response.status().as_u16();
        let bytes = response.bytes().await.expect("it answers whole");
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Runs `listings …` on their database; it must succeed. Returns what it printed.
    ///
    /// # Panics
    /// When it fails.
    pub async fn listings_command(&self, args: &[&str]) -> String {
        let database = ["--database-url", "sqlite://data/marketplace.db"];
        let output = run(self.dir.path(), &[&["listings"], args, &database].concat()).await;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What they show.
    ///
    /// # Panics
    /// When the command prints no JSON.
    pub async fn listings(&self) -> Vec<Value> {
        serde_json::from_str(&self.listings_command(&["list", "--json"]).await).expect("--json prints JSON")
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }
}

async fn spawn(dir: &Path, address: &str, args: &[String]) -> Process {
    let mut all = vec!["marketplace", "--listen", address, "--token-file", "token"];
    all.extend(args.iter().map(String::as_str));
    Process::start(dir, &all, &[]).await
}
