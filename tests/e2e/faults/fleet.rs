//! Processes of the service on one database, which are killed and started again.

use std::time::{Duration, Instant};

use ad_tests::{Client, Process, ports, run};
use serde_json::Value;
use tempfile::TempDir;

/// How long everything that was accepted may take to be finished.
const PATIENCE: Duration = Duration::from_mins(4);

/// The processes; they end with the value.
pub(super) struct Fleet {
    processes: Vec<Role>,
    dir: TempDir,
    database: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

/// A process, and how it is started again.
struct Role {
    process: Process,
    command: Vec<String>,
}

impl Fleet {
    /// Starts a process for each command, in one folder, with these further arguments.
    pub(super) async fn start(
        commands: &[&[&str]],
        database: &str,
        args: Vec<String>,
        env: Vec<(String, String)>,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut fleet = Self { processes: Vec::new(), dir, database: database.to_owned(), args, env };
        for command in commands {
            let mut command: Vec<String> = command.iter().map(|arg| (*arg).to_owned()).collect();
            if command[0] == "serve" {
                // Its clients know an API by its port, also after it was killed.
                command.extend(["--listen".to_owned(), format!("127.0.0.1:{}", ports::lasting())]);
            }
            let process = fleet.spawn(&command).await;
            fleet.processes.push(Role { process, command });
        }
        fleet
    }

    async fn spawn(&self, command: &[String]) -> Process {
        let database = ["--database-url".to_owned(), self.database.clone()];
        let args: Vec<&str> = command.iter().chain(&database).chain(&self.args).map(String::as_str).collect();
        if command[0] == "worker" {
            Process::start_until(self.dir.path(), &args, &self.env, &["working"]).await.0
        } else {
            Process::start(self.dir.path(), &args, &self.env).await
        }
    }

    /// Kills a process, be it of the API or a worker, and starts it again, where it was.
    pub(super) async fn kill_one(&mut self, dice: &mut fastrand::Rng) {
        let number = dice.usize(..self.processes.len());
        let role = &mut self.processes[number];
        role.process.kill().await;
        let command = role.command.clone();
        let process = self.spawn(&command).await;
        self.processes[number].process = process;
    }

    /// A token, by the arguments of `token issue`.
    pub(super) async fn token(&self, args: &[&str]) -> String {
        self.command(&[&["token", "issue"], args].concat()).await.trim().to_owned()
    }

    /// A client of each API process.
    pub(super) fn clients(&self, token: &str) -> Vec<Client> {
        let apis = self.processes.iter().filter(|role| role.command[0] == "serve");
        apis.map(|role| Client::new(&role.process.base, Some(token.to_owned()))).collect()
    }

    /// Runs a subcommand on the database; it must succeed. Returns what it printed.
    async fn command(&self, args: &[&str]) -> String {
        let output = run(self.dir.path(), &[args, &["--database-url", &self.database]].concat()).await;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until everything that was accepted is finished.
    pub(super) async fn settle(&self) {
        let start = Instant::now();
        loop {
            let state: Value = serde_json::from_str(&self.command(&["queue", "--json"]).await).unwrap();
            if state["queue"]["depth"] == 0 {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "not finished: {state}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}
