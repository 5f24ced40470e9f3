//! What readers of events cost those who write, and how fast they are. `cargo bench -p ad-tests --bench events` prints a
//! table for each database and fails when a bound is missed; `-- sqlite`, `-- postgres` one of them; `-- consoles` only the
//! rows of open consoles; `-- --before PATH` only compares with the server of an earlier version.
//!
//! The service runs as processes, the readers in this one, on the same machine: what they need for themselves counts too.

mod readers;
mod site;
#[path = "../support/steady.rs"]
mod steady;
#[path = "../support/mod.rs"]
mod support;

use std::{path::Path, process::ExitCode, sync::atomic::Ordering, time::Duration};

use ad_tests::Postgres;
use readers::{Receiver, Streams};
use reqwest::Method;
use serde_json::json;
use site::Site;
use steady::{at_rate, percentile};
use support::{CLIENTS, client, cores, median};

/// The allocator of the programs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of dealers whose ads are written.
const DEALERS: usize = 100;
/// Of them, those with a stream and a webhook.
const WITH_READERS: usize = 10;
/// Ads that are written in each turn.
const LOAD: usize = 4000;
/// Number of turns of each side.
const TURNS: usize = 9;
/// Least part of the rate without readers that is left with them, and of that of an earlier version.
const WITH_TEN: f64 = 0.9;
const BEFORE: f64 = 0.95;
/// Events a second whose latency is measured, and how many an ad has from creation to publication.
const EVENTS: f64 = 1000.0;
const EVENTS_OF_AN_AD: f64 = 4.0;
/// Most milliseconds until half of them have come, and 99 of 100.
const P50: f64 = 20.0;
const P99: f64 = 250.0;
/// Open streams, the bytes that they may cost, and the least part of the rate of writes that is left.
const STREAMS: usize = 2000;
const STREAMS_MEMORY: u64 = 100 << 20;
const WITH_STREAMS: f64 = 0.9;
/// Open pages of the console of each dealer who writes, the bytes that all may cost, and the least part of the rate of writes that is left.
const CONSOLES_OF_DEALER: usize = 2;
const CONSOLES_MEMORY: u64 = 50 << 20;
const WITH_CONSOLES: f64 = 0.95;

#[tokio::main]
async fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too; it passes no --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let wanted = |name: &str| std::env::args().any(|argument| argument == name);
    let before = std::env::args().skip_while(|argument| argument != "--before").nth(1);
    println!("{} cores, {CLIENTS} clients", cores());
    let mut table = Table { missed: 0 };
    if !wanted("postgres") {
        println!("\nSQLite with WAL and synchronous=FULL");
        table.fill(None, before.as_deref()).await;
    }
    if !wanted("sqlite")
        && let Some(server) = Postgres::start(&["fsync=on", "shared_buffers=512MB"]).await
    {
        println!("\nPostgreSQL on the same machine, fsync=on, synchronous_commit=on");
        table.fill(Some(&server), before.as_deref()).await;
    }
    if table.missed > 0 {
        println!("\n{} bounds missed", table.missed);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The rows that are printed, and how many of them miss their bound.
struct Table {
    missed: usize,
}

impl Table {
    async fn fill(&mut self, server: Option<&Postgres>, before: Option<&str>) {
        if let Some(before) = before {
            return self.compare_with(server, Path::new(before)).await;
        }
        if std::env::args().any(|argument| argument == "consoles") {
            return self.consoles(server).await;
        }
        self.ten_readers(server).await;
        self.latency(server).await;
        self.many_streams(server).await;
        self.consoles(server).await;
    }

    /// Rates of two sides in turns.
    fn at_least(&mut self, name: &str, turns: &[(f64, f64)], bound: f64) {
        let (one, other) = (median(turns.iter().map(|turn| turn.0)), median(turns.iter().map(|turn| turn.1)));
        let ratio = median(turns.iter().map(|turn| turn.0 / turn.1));
        println!("{name:<44}{one:>10.0}{other:>10.0}{ratio:>8.2}{bound:>8.2}");
        self.missed += usize::from(ratio < bound);
    }

    fn at_most(&mut self, name: &str, unit: &str, value: f64, bound: f64) {
        println!("{:<54}{value:>10.1}{bound:>16.0}", format!("{name}, {unit}"));
        self.missed += usize::from(value > bound);
    }

    #[expect(clippy::cast_precision_loss)]
    fn memory(&mut self, name: &str, bytes: u64, bound: u64) {
        self.at_most(name, "MB", bytes as f64 / 1e6, bound as f64 / 1e6);
    }

    /// This version against another, without readers.
    async fn compare_with(&mut self, server: Option<&Postgres>, binary: &Path) {
        let now = Site::start(database(server).await).await;
        let then = Site::of_binary(binary, database(server).await).await;
        println!("{:<44}{:>10}{:>10}", "No readers, ads/s", "now", "before");
        let (now_database, then_database) = (now.database().await, then.database().await);
        let (now_tokens, then_tokens) = (tokens(&now, 0..DEALERS), tokens(&then, 0..DEALERS));
        let mut turns = Vec::new();
        for _ in 0..=TURNS {
            let now = now.publish(&now_database, &now_tokens).await;
            turns.push((now, then.publish(&then_database, &then_tokens).await));
        }
        self.publishing(&turns, BEFORE);
    }

    /// Rates of accepting and publishing; the first turn warms up.
    fn publishing(&mut self, turns: &[([f64; 2], [f64; 2])], bound: f64) {
        for (place, name) in ["accepted", "accepted and published"].into_iter().enumerate() {
            let turns: Vec<_> = turns[1..].iter().map(|(one, other)| (one[place], other[place])).collect();
            self.at_least(name, &turns, bound);
        }
    }

    /// Writes while dealers have a stream and a webhook each, against writes without any.
    async fn ten_readers(&mut self, server: Option<&Postgres>) {
        let site = Site::start(database(server).await).await;
        let (client, database, receiver) = (client(), site.database().await, Receiver::start().await);
        let tokens = tokens(&site, 0..DEALERS);
        let mut webhooks = Vec::new();
        for token in &tokens[..WITH_READERS] {
            let body = json!({"url": receiver.url});
            let webhook = site.call(&client, token, Method::POST, "/v4/webhooks", &body).await;
            webhooks.push((token, format!("/v4/webhooks/{}", webhook["id"].as_str().expect("it has an id"))));
        }
        println!(
            "{:<44}{:>10}{:>10}{:>8}{:>8}",
            "Ten streams and ten webhooks, ads/s", "with", "without", "ratio", "bound"
        );
        let (mut turns, mut streamed) = (Vec::new(), 0);
        for _ in 0..=TURNS {
            for (token, path) in &webhooks {
                let on = json!({"enabled": true, "resume": "now"});
                site.call(&client, token, Method::PATCH, path, &on).await;
            }
            let streams = Streams::open(&client, &site, 0, &tokens[..WITH_READERS], false).await;
            let with = site.publish(&database, &tokens).await;
            receiver.settled().await;
            streamed += streams.events.load(Ordering::Relaxed);
            drop(streams);
            for (token, path) in &webhooks {
                site.call(&client, token, Method::PATCH, path, &json!({"enabled": false})).await;
            }
            turns.push((with, site.publish(&database, &tokens).await));
        }
        self.publishing(&turns, WITH_TEN);
        println!("  {streamed} events streamed, {} delivered", receiver.received.load(Ordering::Relaxed));
    }

    /// From when an event was written until it came by a stream; from another process where there can be one.
    async fn latency(&mut self, server: Option<&Postgres>) {
        let mut site = Site::start(database(server).await).await;
        if server.is_some() {
            site.add_process().await;
        }
        let client = client();
        let tokens = tokens(&site, 0..WITH_READERS);
        let last = site.processes.len() - 1;
        let streams = Streams::open(&client, &site, last, &tokens, true).await;
        let ads = EVENTS / EVENTS_OF_AN_AD;
        at_rate(&client, ads, Duration::from_secs(20), |number| site.post(&tokens[number % tokens.len()])).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut latencies = std::mem::take(&mut *streams.latencies.lock().expect("nobody panics with it"));
        println!("{:<54}{:>10}{:>16}", format!("Latency at {EVENTS} events/s, {} process", last + 1), "", "bound");
        println!("  {} events came", latencies.len());
        self.at_most("from the entry's time to a stream, p50", "ms", percentile(&mut latencies, 0.5), P50);
        self.at_most("from the entry's time to a stream, p99", "ms", percentile(&mut latencies, 0.99), P99);
    }

    /// Writes while others have many open streams, against writes without them.
    async fn many_streams(&mut self, server: Option<&Postgres>) {
        let site = Site::start(database(server).await).await;
        let (client, database) = (client(), site.database().await);
        let (readers, writers) = (tokens(&site, 0..DEALERS), tokens(&site, DEALERS..2 * DEALERS));
        let of_streams: Vec<_> = (0..STREAMS).map(|number| readers[number % DEALERS].clone()).collect();
        println!(
            "{:<44}{:>10}{:>10}{:>8}{:>8}",
            format!("{STREAMS} open streams, ads/s"),
            "with",
            "without",
            "ratio",
            "bound"
        );
        let (mut turns, mut memory) = (Vec::new(), 0);
        for _ in 0..=TURNS {
            let before = site.processes[0].memory();
            let streams = Streams::open(&client, &site, 0, &of_streams, false).await;
            memory = memory.max(site.processes[0].memory().saturating_sub(before));
            let with = site.publish(&database, &writers).await;
            drop(streams);
            turns.push((with, site.publish(&database, &writers).await));
        }
        self.publishing(&turns, WITH_STREAMS);
        self.memory("memory of the streams", memory, STREAMS_MEMORY);
    }

    /// Writes of dealers whose staff have the console open, against writes without.
    async fn consoles(&mut self, server: Option<&Postgres>) {
        let site = Site::start(database(server).await).await;
        let (client, database, tokens) = (client(), site.database().await, tokens(&site, 0..DEALERS));
        let mut pages = Vec::new();
        for token in &tokens {
            for _ in 0..CONSOLES_OF_DEALER {
                pages.push(site.console_stream(token).await);
            }
        }
        let what = format!("{} consoles of those who write, ads/s", pages.len());
        println!("{what:<44}{:>10}{:>10}{:>8}{:>8}", "with", "without", "ratio", "bound");
        let (mut turns, mut memory) = (Vec::new(), 0);
        for _ in 0..=TURNS {
            let before = site.processes[0].memory();
            let requests = pages.iter().map(|page| page.try_clone().expect("it has no body")).collect();
            let streams = Streams::of(&client, requests, false).await;
            memory = memory.max(site.processes[0].memory().saturating_sub(before));
            let with = site.publish(&database, &tokens).await;
            drop(streams);
            turns.push((with, site.publish(&database, &tokens).await));
        }
        self.publishing(&turns, WITH_CONSOLES);
        self.memory("memory of the consoles", memory, CONSOLES_MEMORY);
    }
}

/// A new database on a server; `None` for SQLite.
async fn database(server: Option<&Postgres>) -> Option<String> {
    match server {
        Some(server) => Some(server.database().await),
        None => None,
    }
}

/// A token of each of these dealers.
fn tokens(site: &Site, dealers: std::ops::Range<usize>) -> Vec<String> {
    dealers.map(|dealer| site.token(dealer)).collect()
}
