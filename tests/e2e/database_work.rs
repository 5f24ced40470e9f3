//! Statements and commits that each operation needs, on both databases: a guard that does not depend on the speed of the machine.
//! Whoever changes one of these figures says why in the same commit.

use std::path::Path;

use ad_tests::{Options, Postgres, Server};
use reqwest::Method;
use serde_json::json;

use crate::payloads::plain_car;

/// Operations of each kind. What the service does by itself meanwhile is less than one statement for each of them.
const REPEATED: usize = 40;

/// What is counted while a client does something.
trait Counter {
    fn count(&self) -> usize;
}

/// Statements in the log of a PostgreSQL server, BEGIN and COMMIT too.
struct Statements<'s>(&'s Postgres);

impl Counter for Statements<'_> {
    fn count(&self) -> usize {
        let log = std::fs::read_to_string(self.0.folder().join("data/log/statements.log")).unwrap();
        log.lines().filter(|line| is_statement(line)).count()
    }
}

fn is_statement(line: &str) -> bool {
    line.starts_with("ad-server LOG:  execute ") || line.starts_with("ad-server LOG:  statement: ")
}

/// Commits in the write-ahead log of an SQLite database (its file format, 4.1).
struct Commits<'d>(&'d Path);

impl Counter for Commits<'_> {
    fn count(&self) -> usize {
        let log = std::fs::read(self.0.join("data/ads.db-wal")).unwrap();
        let (header, frames) = log.split_at(32);
        let page = u32::from_be_bytes(header[8..12].try_into().unwrap()) as usize;
        let is_commit = |frame: &&[u8]| frame[4..8] != [0; 4] && frame[8..16] == header[16..24];
        frames.chunks_exact(24 + page).filter(is_commit).count()
    }
}

/// Does something once for each of the ads, and returns how much of what is counted each time needs.
async fn each<F: Future>(counter: &impl Counter, act: impl Fn(usize) -> F) -> usize {
    let before = counter.count();
    for number in 0..REPEATED {
        act(number).await;
    }
    (counter.count() - before) / REPEATED
}

/// Runs every operation, and returns what each needs.
async fn measure(server: &mut Server, database: &[String], counter: &impl Counter) -> Vec<(&'static str, usize)> {
    let options = |workers: &str| Options {
        args: [database, &["--workers".to_owned(), workers.to_owned()]].concat(),
        ..Options::default()
    };
    let car = |name: &str, number: usize| plain_car(&format!("{name}-{number}"), &format!("{name}{number:03}"));
    server.restart_with(options("0")).await;
    let client = &server.client;
    let mut figures = vec![
        ("POST", each(counter, async |number| client.post("/v4/car", &car("DBA", number)).await.expect(201)).await),
        ("PATCH", {
            let change = json!({"body": "One owner"});
            each(counter, async |number| client.patch(&format!("/v4/car/DBA-{number}"), &change).await.expect(200))
                .await
        }),
        ("GET", each(counter, async |number| client.get(&format!("/v4/car/DBA-{number}")).await.expect(200)).await),
        ("list of 50 ads", each(counter, async |_| client.get("/v4/ad?limit=50").await.expect(200)).await),
        ("page of 100 events", each(counter, async |_| client.get("/v4/events?limit=100").await.expect(200)).await),
    ];
    for number in 0..REPEATED {
        client.delete(&format!("/v4/car/DBA-{number}")).await.expect(200);
    }
    server.restart_with(options("8")).await;
    let client = &server.client;
    for number in 0..REPEATED {
        client.ended(&format!("DBA-{number}"), "delete", None).await;
    }
    let published = async |number| {
        let body = serde_json::to_vec(&car("DBB", number)).unwrap();
        let wait = [("prefer", "wait=30".to_owned())];
        let ad = client.send_with(Method::POST, "/v4/car", &wait, Some(body)).await.expect(201);
        assert!(ad["marketplace_ad_id"].is_string(), "{ad}");
    };
    figures.push(("POST with Prefer: wait, until published", each(counter, published).await));
    figures
}

#[tokio::test]
async fn operations_need_as_many_statements_on_postgresql_as_before() {
    let log = ["log_min_messages=log", "log_statement=all", "log_line_prefix=%a ", "logging_collector=on"];
    let log = [&log[..], &["log_directory=log", "log_filename=statements.log", "log_rotation_size=0"]].concat();
    let Some(postgres) = Postgres::start(&log).await else { return };
    let url = postgres.database().await;
    let database = ["--database-url".to_owned(), url];
    let mut server = Server::with(Options { args: database.to_vec(), ..Options::default() }).await;
    let figures = measure(&mut server, &database, &Statements(&postgres)).await;
    let expected = [
        ("POST", 1),
        ("PATCH", 2),
        ("GET", 1),
        ("list of 50 ads", 2),
        ("page of 100 events", 1),
        ("POST with Prefer: wait, until published", 6),
    ];
    assert_eq!(figures, expected);
}

#[tokio::test]
async fn operations_need_as_many_commits_on_sqlite_as_before() {
    let mut server = Server::start().await;
    let folder = server.dir().to_owned();
    let figures = measure(&mut server, &[], &Commits(&folder)).await;
    let expected = [
        ("POST", 1),
        ("PATCH", 1),
        ("GET", 0),
        ("list of 50 ads", 0),
        ("page of 100 events", 0),
        ("POST with Prefer: wait, until published", 5),
    ];
    assert_eq!(figures, expected);
}
