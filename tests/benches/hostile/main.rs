//! What one dealer's attacks do to another dealer. `cargo bench -p ad-tests --bench hostile` runs each attack for 30
//! seconds against a server of its own, on SQLite and on PostgreSQL, while another dealer creates ads and reads them. It
//! prints a table for each database and fails when a row is out of bounds:
//!
//! - p99 of the other dealer's POST and GET: below 50 ms
//! - every request of the other dealer succeeds
//! - peak of the server's resident memory: below 400 MB
//!
//! ```text
//! cargo bench -p ad-tests --bench hostile -- [sqlite|postgres] [ATTACK ...] [--seconds N]
//!
//!   sqlite, postgres   on this database only
//!   ATTACK             these attacks only, by their names (`-- list` prints them)
//!   --seconds N        how long each attack lasts (default: 30)
//! ```
//!
//! The attacker has 64 connections (1,000 where open connections are the attack) from an address of its own, ignores every
//! request to slow down, and connects again when it is disconnected. It is a process of its own at the lowest priority
//! (`nice -n 19`): a real attacker brings machines along and must not take the processors that server and bystander share
//! here. Image hosts of attacks run in that process too.
//!
//! The bystander is in this process. Its latencies are corrected for coordinated omission: while it waits for an answer it
//! sends nothing, and a stall of ten seconds would otherwise count as one slow request.

mod attacker;
mod attacks;
mod connection;
mod measure;
mod options;
mod process;
mod table;

use std::process::ExitCode;

use ad_tests::Postgres;
use attacks::Attack;
use measure::{Row, measure};
use options::{Command, Options};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(attacker) = process::Arguments::parse(&arguments) {
        attacker::run(&attacker).await;
        return ExitCode::SUCCESS;
    }
    // `cargo test` builds and runs benchmarks too; it passes no --bench.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let options = match options::parse(arguments.iter().filter(|argument| *argument != "--bench")) {
        Ok(Command::Run(options)) => options,
        Ok(Command::List) => {
            for attack in &attacks::ATTACKS {
                println!("{:<18}{}", attack.name, attack.about);
            }
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let mut terminated = signal(SignalKind::terminate()).expect("a signal handler can be installed");
    // What was started ends when its value is dropped, and so when a signal drops the whole run.
    tokio::select! {
        over = run(&options) => if over == 0 { ExitCode::SUCCESS } else {
            println!("\nrows out of bounds: {over}");
            ExitCode::FAILURE
        },
        _ = tokio::signal::ctrl_c() => ExitCode::from(130),
        _ = terminated.recv() => ExitCode::from(143),
    }
}

/// Prints a table for each database; returns how many rows are out of bounds.
async fn run(options: &Options) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{cores} cores, {} s per attack", options.time.as_secs());
    let mut over = 0;
    if options.sqlite {
        over += tabulate("SQLite with WAL and synchronous=FULL", options, None).await;
    }
    if options.postgres
        && let Some(server) = Postgres::start(&["fsync=on", "shared_buffers=512MB"]).await
    {
        over += tabulate("PostgreSQL on the same machine, fsync=on", options, Some(&server)).await;
    }
    over
}

async fn tabulate(database: &str, options: &Options, server: Option<&Postgres>) -> usize {
    let mut rows: Vec<Row> = Vec::new();
    for attack in &options.attacks {
        eprintln!("{database}: {}", attack.name);
        if let Some(row) = measure(attack, options.time, server).await {
            eprintln!("{}: {} | {:?}", attack.name, row.seen, row.answers);
            rows.push(row);
        }
    }
    table::print(database, &rows)
}
