//! One row: a fresh server, an attacker, and a bystander who works before the attack and during it.

use std::time::Duration;

use ad_tests::{BucketServer, Bystander, Options, Postgres, Seen, Server};
use tokio::time::{interval, sleep};

use crate::{
    Attack,
    attacks::Store,
    process::{Answers, Arguments, Process},
};

/// How long the bystander works before anything is measured.
const WARM_UP: Duration = Duration::from_secs(2);
/// How long it is measured without an attack. All rows of a database together give the quiet latencies.
const QUIET: Duration = Duration::from_secs(5);
/// How long the attack lasts when the bystander begins.
const HEAD_START: Duration = Duration::from_millis(500);
/// Bytes of memory at which a server is killed, so that the machine survives the attack.
const DEADLY: u64 = 4_000_000_000;

pub(crate) struct Row {
    pub(crate) attack: &'static Attack,
    pub(crate) quiet: Seen,
    pub(crate) seen: Seen,
    pub(crate) answers: Answers,
    /// Most bytes of the server in memory at once.
    pub(crate) peak: u64,
    /// Whether the attacker could prepare its attack.
    pub(crate) prepared: bool,
    /// Whether the server was still there in the end.
    pub(crate) survived: bool,
}

/// Measures an attack, on PostgreSQL if there is a server. `None` when what it needs is not installed, which was said.
pub(crate) async fn measure(attack: &'static Attack, time: Duration, postgres: Option<&Postgres>) -> Option<Row> {
    let mut options = Options::default();
    let database = match postgres {
        Some(postgres) => Some((postgres, postgres.database().await)),
        None => None,
    };
    if let Some((_, url)) = &database {
        options.args.extend(["--database-url".to_owned(), url.clone()]);
    }
    let store = match attack.store {
        Store::Folder => None,
        Store::Frozen => {
            let store = BucketServer::start().await?;
            options.args.extend(["--media".to_owned(), store.place()]);
            options.env = store.environment();
            Some(store)
        }
    };
    let mut server = Server::with(options).await;
    let mut memory = Memory::of(server.pid());
    let address = server.client.base.trim_start_matches("http://").parse().expect("it serves HTTP on an address");
    let token = server.token(&["--dealer-code", "south-cars"]).await;
    let mut attacker = Process::start(&Arguments { attack, server: address, token, time });
    let prepared = tokio::select! {
        ready = attacker.is_ready() => ready,
        () = memory.watch() => false,
    };
    Bystander::work_for(&server.client, "warm-up", WARM_UP).await;
    let quiet = Bystander::work_for(&server.client, "quiet", QUIET).await;
    if let Some(store) = &store {
        store.signal("STOP").await;
    }
    attacker.release().await;
    // The bystander's connections are new too, as those of a dealer who comes when the attack is under way.
    sleep(HEAD_START).await;
    let bystander = Bystander::start(&server.client, "attacked");
    tokio::select! {
        () = sleep(time.saturating_sub(HEAD_START)) => {}
        () = memory.watch() => server.kill().await,
    }
    memory.look();
    let seen = bystander.stop().await;
    let answers = attacker.answers().await;
    drop(server);
    if let Some((postgres, url)) = &database {
        postgres.drop_database(url).await;
    }
    Some(Row { attack, quiet, seen, answers, peak: memory.peak, prepared, survived: memory.there })
}

/// The memory of a process.
struct Memory {
    status: String,
    peak: u64,
    there: bool,
}

impl Memory {
    fn of(pid: u32) -> Self {
        Self { status: format!("/proc/{pid}/status"), peak: 0, there: true }
    }

    /// Looks until the process is gone, or so large that it has to go.
    async fn watch(&mut self) {
        let mut ticks = interval(Duration::from_millis(50));
        while self.there && self.peak < DEADLY {
            ticks.tick().await;
            self.look();
        }
        self.there = false;
    }

    /// Reads the most that the process ever had in memory.
    fn look(&mut self) {
        let status = std::fs::read_to_string(&self.status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        match kilobytes {
            Some(kilobytes) => self.peak = self.peak.max(kilobytes * 1024),
            // A process that has ended has no memory.
            None => self.there = false,
        }
    }
}
