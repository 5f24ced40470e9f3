//! Statements, commits and writing transactions that each operation needs, on both databases: a guard that does not depend on the speed
//! of the machine. Whoever changes one of these figures says why in the same commit.

use std::{collections::HashSet, path::Path};

use ad_tests::{Client, Options, Postgres, Server};
use reqwest::Method;
use serde_json::json;

use crate::payloads::plain_car;

/// What is counted while a client does something.
trait Counter {
    /// How often each operation is repeated. What the service does by itself meanwhile, such as the index of texts for searching, must
    /// be less than 0.9 for each of them.
    const REPEATED: usize;

    async fn count(&self) -> usize;
}

/// Statements of the service in the log of a PostgreSQL server, BEGIN and COMMIT too. How many notifications it sends to other
/// processes depends on the time, so they are not counted.
struct Statements<'s>(&'s Postgres);

impl Counter for Statements<'_> {
    const REPEATED: usize = 200;

    async fn count(&self) -> usize {
        statements(self.0).len()
    }
}

/// Transactions of these statements that have written something.
struct WritingTransactions<'s>(&'s Postgres);

impl Counter for WritingTransactions<'_> {
    const REPEATED: usize = 40;

    async fn count(&self) -> usize {
        statements(self.0).iter().filter(|&&transaction| transaction != 0).collect::<HashSet<_>>().len()
    }
}

/// Settings that make PostgreSQL log the end of each statement with its program and transaction.
const LOG_STATEMENTS: [&str; 7] = [
    "log_min_messages=log",
    "log_min_duration_statement=0",
    "log_line_prefix=%a %x ",
    "logging_collector=on",
    "log_directory=log",
    "log_filename=statements.log",
    "log_rotation_size=0",
];

/// The transaction of each statement of the service in the log of a PostgreSQL server: 0 if it has not written anything.
fn statements(postgres: &Postgres) -> Vec<u64> {
    let log = std::fs::read_to_string(postgres.folder().join("data/log/statements.log")).unwrap();
    log.lines().filter_map(transaction_of_statement).collect()
}

/// Of a line like `ad-server 731 LOG:  duration: 0.027 ms  execute sqlx_s_1: SELECT 1`.
fn transaction_of_statement(line: &str) -> Option<u64> {
    let (transaction, logged) = line.strip_prefix("ad-server ")?.split_once(" LOG:  duration: ")?;
    let (_, step) = logged.split_once(" ms  ")?;
    let is_executed = step.starts_with("execute ") || step.starts_with("statement: ");
    let is_notification = step.contains("pg_notify");
    (is_executed && !is_notification).then(|| transaction.parse().unwrap())
}

/// Commits in the write-ahead log of an SQLite database (its file format, 4.1).
struct Commits<'d>(&'d Path);

impl Counter for Commits<'_> {
    /// Few enough that the log does not start again.
    const REPEATED: usize = 40;

    async fn count(&self) -> usize {
        let log = std::fs::read(self.0.join("data/ads.db-wal")).unwrap();
        let (header, frames) = log.split_at(32);
        let page = u32::from_be_bytes(header[8..12].try_into().unwrap()) as usize;
        let is_commit = |frame: &&[u8]| frame[4..8] != [0; 4] && frame[8..16] == header[16..24];
        frames.chunks_exact(24 + page).filter(is_commit).count()
    }
}

/// Does something again and again, and returns how much of what is counted each time needs.
async fn each<C: Counter, F: Future>(counter: &C, act: impl Fn(usize) -> F) -> usize {
    let before = counter.count().await;
    for number in 0..C::REPEATED {
        act(number).await;
    }
    // The last of it may not be in the log yet.
    let late = C::REPEATED / 10;
    (counter.count().await - before + late) / C::REPEATED
}

/// Runs every operation on a service without workers, and returns what each needs.
async fn measure<C: Counter>(client: &Client, counter: &C) -> Vec<(&'static str, usize)> {
    let car = |number: usize| plain_car(&format!("car-{number}"), &format!("DBA{number:03}"));
    let path = |number: usize| format!("/v4/car/car-{number}");
    let change = json!({"body": "One owner"});
    vec![
        ("POST", each(counter, async |number| client.post("/v4/car", &car(number)).await.expect(201)).await),
        ("PATCH", each(counter, async |number| client.patch(&path(number), &change).await.expect(200)).await),
        ("GET", each(counter, async |number| client.get(&path(number)).await.expect(200)).await),
        ("list of 50 ads", each(counter, async |_| client.get("/v4/ad?limit=50").await.expect(200)).await),
        ("page of 100 events", each(counter, async |_| client.get("/v4/events?limit=100").await.expect(200)).await),
    ]
}

/// What one ad without images needs from its POST until it is published on both local marketplaces, with a worker. Steps that wait for each other
/// on a busy machine share a commit, so this may be less than on an idle one, but not more.
async fn publish<C: Counter>(client: &Client, counter: &C) -> usize {
    let wait = [("prefer", "wait=30".to_owned())];
    let post = async |number: usize| {
        let car = plain_car(&format!("car-{number}"), &format!("DBA{number:03}"));
        let answer = client.send_with(Method::POST, "/v4/car", &wait, Some(car.to_string().into_bytes())).await;
        let ad = answer.expect(201);
        assert!(ad["offer_id"].is_string(), "{ad}");
    };
    each(counter, post).await
}

async fn server(args: &[&str]) -> Server {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    Server::with(Options { args, ..Options::default() }).await
}

#[tokio::test]
async fn operations_need_as_many_statements_on_postgresql_as_before() {
    let Some(postgres) = Postgres::start(&LOG_STATEMENTS).await else { return };
    let url = postgres.database().await;
    let server = server(&["--workers", "0", "--database-url", &url]).await;
    let figures = measure(&server.client, &Statements(&postgres)).await;
    let expected = [("POST", 1), ("PATCH", 2), ("GET", 1), ("list of 50 ads", 1), ("page of 100 events", 1)];
    assert_eq!(figures, expected);
}

#[tokio::test]
async fn operations_need_as_many_commits_on_sqlite_as_before() {
    let server = server(&["--workers", "0"]).await;
    let figures = measure(&server.client, &Commits(server.dir())).await;
    let expected = [("POST", 1), ("PATCH", 1), ("GET", 0), ("list of 50 ads", 0), ("page of 100 events", 0)];
    assert_eq!(figures, expected);
}

#[tokio::test]
async fn publishing_needs_no_more_commits_on_sqlite_than_before() {
    let server = server(&["--workers", "1"]).await;
    let commits = publish(&server.client, &Commits(server.dir())).await;
    assert!(commits <= 6, "{commits}");
}

#[tokio::test]
async fn publishing_needs_no_more_writing_transactions_on_postgresql_than_before() {
    let Some(postgres) = Postgres::start(&LOG_STATEMENTS).await else { return };
    let url = postgres.database().await;
    let server = server(&["--workers", "1", "--database-url", &url]).await;
    let transactions = publish(&server.client, &WritingTransactions(&postgres)).await;
    assert!(transactions <= 5, "{transactions}");
}
