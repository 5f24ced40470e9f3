//! A database that stalls, waits for a standby, is held up by others, or stands behind a pooler: the service notices, says so,
//! and goes on without a restart.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use ad_tests::{
    Answer, Client, Options, Pooler, Postgres, Process, Server, SilentProxy, eventually, eventually_within, run,
};
use reqwest::Method;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{console::Visitor, payloads::plain_car};

/// In which everything is well again after connections have fallen silent.
const RECOVERY: Duration = Duration::from_secs(20);
/// The longest time to an answer: `request_timeout` and some seconds.
const ANSWER: Duration = Duration::from_secs(35);

fn at(url: &str) -> Options {
    Options { args: vec!["--database-url".to_owned(), url.to_owned()], ..Options::default() }
}

/// A database behind a proxy, and its address.
async fn behind_proxy(postgres: &Postgres) -> (SilentProxy, String) {
    let direct = postgres.database().await;
    let proxy = SilentProxy::start(([127, 0, 0, 1], postgres.port()).into()).await;
    let url = direct.replace(&format!("127.0.0.1:{}", postgres.port()), &proxy.address.to_string());
    (proxy, url)
}

async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
}

async fn metric(client: &Client, name: &str) -> f64 {
    let answer = client.with_token(None).get("/metrics").await;
    let text = String::from_utf8(answer.bytes.to_vec()).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("{name} is missing: {text}")).parse().unwrap()
}

/// The result of one check of `ad-server check`: whether it is ok, and its detail.
async fn check(server: &Server, url: &str, name: &str) -> (bool, String) {
    let printed = run(server.dir(), &["check", "--database-url", url, "--json"]).await;
    let checks: Vec<Value> = serde_json::from_slice(&printed.stdout).unwrap();
    let found = checks.iter().find(|it| it["check"] == name).unwrap_or_else(|| panic!("no {name}: {checks:?}"));
    (found["ok"] == true, found["detail"].as_str().unwrap().to_owned())
}

async fn post(client: &Client, id: &str, plate: &str) -> Answer {
    let begun = Instant::now();
    let answer = client.post("/v4/car", &plain_car(id, plate)).await;
    assert!(begun.elapsed() < ANSWER, "{:?} to the answer", begun.elapsed());
    answer
}

/// Everything works: writes, their processing, and readiness.
async fn works(server: &Server, id: &str, plate: &str) {
    eventually_within(RECOVERY, "writes are accepted", async || {
        (post(&server.client, id, plate).await.status == 201).then_some(())
    })
    .await;
    eventually_within(RECOVERY, "reads are answered", async || {
        (server.client.get("/v4/ad").await.status == 200
            && server.client.get(&format!("/v4/ad/{id}")).await.status == 200)
            .then_some(())
    })
    .await;
    server.client.published(id).await;
    assert_eq!(server.client.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn connections_that_fall_silent_are_given_up() {
    let Some(postgres) = Postgres::shared().await else { return };
    let (proxy, url) = behind_proxy(postgres).await;
    let mut server = Server::with(at(&url)).await;
    works(&server, "before", "SIL001").await;

    // Under load: all connections are in use.
    let silent = Instant::now();
    proxy.silence();
    let posts = (0..12).map(|number| {
        let (client, id) = (server.client.clone(), format!("during-{number}"));
        async move { post(&client, &id, &format!("SIL1{number:02}")).await.status.as_u16() }
    });
    let statuses = futures_util::future::join_all(posts).await;
    assert!(statuses.iter().all(|status| [201, 503].contains(status)), "{statuses:?}");
    works(&server, "after", "SIL002").await;
    assert!(silent.elapsed() < RECOVERY, "{:?}", silent.elapsed());

    // Without traffic: nobody has used a connection when the first request comes.
    proxy.silence();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let silent = Instant::now();
    works(&server, "idle", "SIL003").await;
    assert!(silent.elapsed() < RECOVERY, "{:?}", silent.elapsed());

    // One line for each fault, and one every few seconds.
    let lines = server.said();
    let warned = lines.iter().filter(|line| line.contains("the database is not available")).count();
    assert!(warned <= 8, "{lines:#?}");

    // Nothing that stops the process waits for a database.
    proxy.silence_all();
    let stopped = Instant::now();
    server.stop().await;
    assert!(stopped.elapsed() < ANSWER, "{:?}", stopped.elapsed());
}

#[tokio::test]
async fn a_synchronous_standby_that_is_away_is_an_answer_and_not_a_silence() {
    let Some(postgres) = Postgres::start(&[]).await else { return };
    let url = postgres.database().await;
    let mut standby = postgres.standby().await;
    let server = Server::with(at(&url)).await;
    execute(&url, "ALTER SYSTEM SET synchronous_standby_names = '*'").await;
    execute(&url, "SELECT pg_reload_conf()").await;
    works(&server, "before", "SYN001").await;

    standby.stop("immediate");
    let keyed = async || {
        let (headers, body) = ([("idempotency-key", "away".to_owned())], plain_car("during", "SYN002").to_string());
        server.client.send_with(Method::POST, "/v4/car", &headers, Some(body.into())).await
    };
    let begun = Instant::now();
    let refused = keyed().await;
    assert!(begun.elapsed() < ANSWER, "{:?}", begun.elapsed());
    refused.expect(503);
    assert!(refused.header("retry-after").is_some());
    eventually("the process is not ready", async || (server.client.get("/readyz").await.status == 503).then_some(()))
        .await;
    assert!(metric(&server.client, "ad_database_waiting_commits").await > 0.0);
    eventually("the log says so", async || {
        server.said().into_iter().find(|line| line.contains("commits wait for a synchronous standby"))
    })
    .await;
    // The wait of what was given up ends, so that connections of the server do not run out.
    eventually("waits are cancelled", async || {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let oldest: Option<f64> = sqlx::query_scalar(
            "SELECT CAST(extract(epoch FROM max(clock_timestamp() - query_start)) AS FLOAT8) FROM pg_stat_activity
             WHERE wait_event = 'SyncRep'",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        oldest.is_none_or(|seconds| seconds < 20.0).then_some(())
    })
    .await;

    standby.start_again().await;
    // What was stored is found by its key.
    let repeated = eventually("writes are accepted", async || {
        let answer = keyed().await;
        (answer.status != 503).then_some(answer)
    })
    .await;
    assert_eq!(repeated.expect(201)["source_id"], "during");
    works(&server, "after", "SYN003").await;
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 3);
}

#[tokio::test]
async fn a_foreign_transaction_that_holds_events_up_is_named() {
    let Some(postgres) = Postgres::start(&["max_prepared_transactions=2"]).await else { return };
    let (url, elsewhere) = (postgres.database().await, postgres.database().await);
    let server = Server::with(at(&url)).await;
    works(&server, "before", "XID001").await;
    assert_eq!(check(&server, &url, "events").await, (true, "can be read".to_owned()));

    let mut foreign = PgConnection::connect(&elsewhere).await.unwrap();
    let mut open = foreign.begin().await.unwrap();
    sqlx::query("SELECT pg_current_xact_id()").execute(&mut *open).await.unwrap();
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *open).await.unwrap();
    works(&server, "during", "XID002").await;
    eventually("the metric rises", async || {
        (metric(&server.client, "ad_events_oldest_unread_seconds").await > 0.5).then_some(())
    })
    .await;
    let operator = Visitor::with_token(&server, &["--operator"]).await;
    eventually("operators see it", async || {
        operator.page("/console/operators").await.contains(&format!("pid {pid}")).then_some(())
    })
    .await;
    // Only what lasts is a fault.
    assert!(check(&server, &url, "events").await.0);
    execute(&url, "UPDATE log SET created = created - 120000").await;
    let (ok, detail) = check(&server, &url, "events").await;
    assert!(!ok && detail.contains(&format!("pg_terminate_backend({pid})")), "{detail}");
    open.rollback().await.unwrap();
    assert!(check(&server, &url, "events").await.0);

    execute(&elsewhere, "CREATE TABLE t (n INT)").await;
    for sql in ["BEGIN", "INSERT INTO t VALUES (1)", "PREPARE TRANSACTION 'stock-42'"] {
        sqlx::raw_sql(sql).execute(&mut foreign).await.unwrap();
    }
    works(&server, "prepared", "XID003").await;
    execute(&url, "UPDATE log SET created = created - 120000").await;
    let (ok, detail) = check(&server, &url, "events").await;
    assert!(!ok && detail.contains("ROLLBACK PREPARED 'stock-42'"), "{detail}");
    sqlx::raw_sql("ROLLBACK PREPARED 'stock-42'").execute(&mut foreign).await.unwrap();
    assert_eq!(check(&server, &url, "events").await, (true, "can be read".to_owned()));
}

#[tokio::test]
async fn a_pooler_must_be_in_session_mode() {
    let Some(postgres) = Postgres::shared().await else { return };
    let direct = postgres.database().await;
    let Some(transactions) = Pooler::start(postgres, "transaction", 20).await else { return };
    let server = Server::with(at(&direct)).await;
    let url = transactions.url(&direct);
    let refused = run(server.dir(), &["serve", "--listen", "127.0.0.1:0", "--database-url", &url]).await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("set the pooler to session mode"), "{said}");
    let (ok, detail) = check(&server, &url, "database").await;
    assert!(!ok && detail.contains("session mode"), "{detail}");

    // The tested configuration, word for word but for its addresses.
    let sessions = Pooler::start(postgres, "session", 20).await.expect("it was there");
    let pooled = Server::with(at(&sessions.url(&direct))).await;
    works(&pooled, "pooled", "POL001").await;
    let few = Pooler::start(postgres, "session", 4).await.expect("it was there");
    let (ok, detail) = check(&server, &few.url(&direct), "connections").await;
    assert!(!ok && detail.contains("of 16"), "{detail}");
}

#[tokio::test]
async fn an_address_leads_to_one_primary() {
    let Some(postgres) = Postgres::start(&[]).await else { return };
    let url = postgres.database().await;
    let server = Server::with(at(&url)).await;
    let (beginning, database) = url.rsplit_once('/').unwrap();
    for several in [
        format!("{beginning},other:5432/{database}"),
        format!("{url}?host=one,two"),
        format!("{url}?target_session_attrs=read-write"),
    ] {
        let (ok, detail) = check(&server, &several, "database").await;
        assert!(!ok && detail.contains("HAProxy"), "{several}: {detail}");
    }

    let standby = postgres.standby().await;
    let replica = standby.same_database(&url);
    let (ok, detail) = check(&server, &replica, "database").await;
    assert!(!ok && detail.contains("it is a standby"), "{detail}");
    let args = ["serve", "--listen", "127.0.0.1:0", "--startup-timeout", "30s", "--database-url", &replica];
    let promote = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        execute(&replica, "SELECT pg_promote()").await;
    };
    let (process, ()) = tokio::join!(Process::start(server.dir(), &args, &[]), promote);
    let said = process.said();
    assert!(said.iter().any(|line| line.contains("waiting for the database") && line.contains("standby")), "{said:#?}");
}

/// Loaded into a process, it makes every sync of a file wait as long as the file named by `STALLED` exists.
const STALL: &str = r#"
#include <stdlib.h>
#include <unistd.h>
static int stall(void) {
    const char *file = getenv("STALLED");
    while (file && access(file, F_OK) == 0) usleep(10000);
    return 0;
}
int fsync(int file) { (void)file; return stall(); }
int fdatasync(int file) { (void)file; return stall(); }
"#;

#[tokio::test]
async fn a_disk_that_stalls_is_an_answer_and_not_a_silence() {
    let dir = tempfile::tempdir().unwrap();
    let (source, library, stalled) =
        (dir.path().join("stall.c"), dir.path().join("stall.so"), dir.path().join("stalled"));
    fs::write(&source, STALL).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output();
    let made = made.expect("the service was built with a C compiler");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let env = vec![("LD_PRELOAD".to_owned(), text(&library)), ("STALLED".to_owned(), text(&stalled))];
    let mut server = Server::with(Options { env, ..Options::default() }).await;
    works(&server, "before", "DSK001").await;

    fs::write(&stalled, "").unwrap();
    let refused = post(&server.client, "during", "DSK002").await;
    refused.expect(503);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(server.client.get("/v4/ad/before").await.status, 200, "reads go on");
    fs::remove_file(&stalled).unwrap();
    works(&server, "after", "DSK003").await;
    // It was stored, or not at all.
    assert!([201, 409].contains(&post(&server.client, "during", "DSK002").await.status.as_u16()));

    fs::write(&stalled, "").unwrap();
    let stopped = Instant::now();
    server.stop().await;
    assert!(stopped.elapsed() < ANSWER, "{:?}", stopped.elapsed());
}
