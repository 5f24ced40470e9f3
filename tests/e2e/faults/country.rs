//! A small country: PostgreSQL, both marketplaces over HTTP, API processes and worker processes.

use std::time::{Duration, Instant};

use ad_tests::{Client, Marketplace, Postgres, Process, ports, run};
use serde_json::Value;
use tempfile::TempDir;

/// How long everything that was accepted may take to be finished.
const PATIENCE: Duration = Duration::from_mins(4);

/// Everything; it ends with the value.
pub(super) struct Country {
    pub(super) postgres: Postgres,
    pub(super) marketplace: Marketplace,
    processes: Vec<Role>,
    dir: TempDir,
    args: Vec<String>,
    env: Vec<(String, String)>,
    token: String,
}

/// A process, and how it is started again.
struct Role {
    process: Process,
    command: Vec<String>,
}

impl Country {
    /// So many processes of each kind. None when PostgreSQL is not installed.
    pub(super) async fn start(apis: usize, workers: usize) -> Option<Self> {
        Self::start_with(apis, workers, Vec::new()).await
    }

    /// The same in an environment.
    pub(super) async fn start_with(apis: usize, workers: usize, env: Vec<(String, String)>) -> Option<Self> {
        let postgres = Postgres::start(&[]).await?;
        let url = postgres.database().await;
        let marketplace = Marketplace::start(&[]).await;
        let dir = tempfile::tempdir().unwrap();
        let options = marketplace.options(&[
            "--database-url",
            &url,
            // Patient enough for what is tried here.
            "--marketplace-within",
            "10m",
            "--marketplace-tries",
            "12",
            "--marketplace-timeout",
            "2s",
            "--marketplace-pause",
            "1s",
        ]);
        let env = [options.env, env].concat();
        let mut country =
            Self { postgres, marketplace, processes: Vec::new(), dir, args: options.args, env, token: String::new() };
        for number in 0..apis + workers {
            // Its clients know an API by its port, also after it was killed.
            let listen = format!("127.0.0.1:{}", ports::lasting());
            let command =
                if number < apis { vec!["serve", "--workers", "0", "--listen", &listen] } else { vec!["worker"] };
            country.add(command.into_iter().map(str::to_owned).collect()).await;
        }
        let token = country.command(&["token", "issue", "--dealer-code", "north-cars"]).await;
        country.token.push_str(token.trim());
        Some(country)
    }

    async fn add(&mut self, command: Vec<String>) {
        let process = self.spawn(&command).await;
        self.processes.push(Role { process, command });
    }

    async fn spawn(&self, command: &[String]) -> Process {
        let args: Vec<&str> = command.iter().chain(&self.args).map(String::as_str).collect();
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

    /// A client of each API process.
    pub(super) fn clients(&self) -> Vec<Client> {
        let apis = self.processes.iter().filter(|role| role.command[0] == "serve");
        apis.map(|role| Client::new(&role.process.base, Some(self.token.clone()))).collect()
    }

    /// Runs a subcommand on the database; it must succeed. Returns what it printed.
    pub(super) async fn command(&self, args: &[&str]) -> String {
        let database =
            ["--database-url", self.args[self.args.iter().position(|it| it == "--database-url").unwrap() + 1].as_str()];
        let output = run(self.dir.path(), &[args, &database].concat()).await;
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
