//! `ad-cli` and `ad-migrate` as processes: a person at a terminal, or a script.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, process::Command};

use crate::Server;

/// A command line's binary: it is built beside the tests'.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let beside = test.parent().and_then(Path::parent).expect("tests live below target/<profile>/deps");
    beside.join(name)
}

/// Somebody with a folder and a configuration of their own, who calls a server or none.
#[derive(Debug)]
pub struct Cli {
    home: TempDir,
    env: Vec<(String, String)>,
    binary: &'static str,
}

/// Result of a command.
#[derive(Debug, Clone)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// The answer, of a command that must have done what it was asked.
    ///
    /// # Panics
    /// When it has not.
    pub fn done(&self) -> &str {
        assert_eq!(self.code, 0, "{self:?}");
        &self.stdout
    }

    /// The answer as JSON, of a command that must have done what it was asked.
    ///
    /// # Panics
    /// When it has not, or the answer is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.done()).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// The answer's lines as JSON, of a command that must have done what it was asked.
    ///
    /// # Panics
    /// When it has not, or a line is not JSON.
    pub fn ndjson(&self) -> Vec<serde_json::Value> {
        let row = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.done().lines().map(row).collect()
    }
}

impl Cli {
    /// Somebody who calls nobody yet.
    ///
    /// # Panics
    /// When there cannot be a folder.
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        Self { home, env: Vec::new(), binary: "cli-under-test" }
    }

    /// Somebody who calls this server, as dealer `north-cars`, without a limit of requests.
    pub fn of(server: &Server) -> Self {
        let token = server.client.token.clone().unwrap_or_default();
        Self::new().with("AD_URL", &server.client.base).with("AD_TOKEN", &token).with("AD_RATE", "unlimited")
    }

    /// The same, who runs `ad-migrate`.
    #[must_use]
    pub fn migrating(self) -> Self {
        Self { binary: "migrate-under-test", ..self }
    }

    /// With something in the environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Their folder: where commands run, and where their configuration is.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file into their folder.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, content).expect("a temporary folder can be written");
        path
    }

    /// A command with nothing on its stdin. What is set in the environment of the tests does not count.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(built(self.binary));
        command.args(args).current_dir(self.home()).stdin(Stdio::null()).kill_on_drop(true);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let is_wanted = matches!(text.as_ref(), "PATH" | "LD_LIBRARY_PATH" | "SystemRoot" | "TMPDIR");
            if !is_wanted {
                command.env_remove(&name);
            }
        }
        command.env("HOME", self.home()).env("XDG_CONFIG_HOME", self.home().join(".config"));
        command.envs(self.env.iter().cloned());
        command
    }

    /// Runs a command line, its words separated by spaces, to its end.
    pub async fn run(&self, line: &str) -> Ended {
        self.args(line.split_whitespace()).await
    }

    /// Runs a command with these arguments to its end.
    pub async fn args<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ended {
        ended(&self.command(args).output().await.expect("the binary can be started"))
    }

    /// Runs a command line with this on its stdin.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn piped(&self, line: &str, input: impl AsRef<[u8]>) -> Ended {
        let mut command = self.command(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let input = input.as_ref().to_owned();
        // One that does not read to the end is free to do so.
        let writing = tokio::spawn(async move { stdin.write_all(&input).await });
        let output = child.wait_with_output().await.expect("an own process can be waited for");
        let _ = writing.await.expect("writing does not panic");
        ended(&output)
    }
}

impl Default for Cli {
    fn default() -> Self {
        Self::new()
    }
}

fn ended(output: &Output) -> Ended {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // A process that a signal ended has no code.
    let code = output.status.code().unwrap_or(-1);
    Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}
