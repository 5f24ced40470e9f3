//! A database that was restored, or whose standby has taken over without the last commits: what clients hold of the lost part is
//! refused for ever, and nothing new is mistaken for it.

use std::{collections::BTreeSet, fs, path::Path};

use ad_tests::{Answer, Client, Options, Postgres, Server, SilentProxy, eventually};
use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

use crate::payloads::plain_car;

/// What a client holds of an ad and of the events.
struct Held {
    cursor: String,
    events: BTreeSet<String>,
    tag: String,
}

async fn events_after(client: &Client, cursor: &str) -> (Vec<Value>, String) {
    let (mut events, mut cursor) = (Vec::new(), cursor.to_owned());
    loop {
        let page = client.get(&format!("/v4/events?limit=1000&after={cursor}")).await.expect(200);
        events.extend(page["events"].as_array().unwrap().iter().cloned());
        page["cursor"].as_str().unwrap().clone_into(&mut cursor);
        if page["has_more"] == false {
            return (events, cursor);
        }
    }
}

fn ids(events: &[Value]) -> BTreeSet<String> {
    events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

async fn tag_of(client: &Client, id: &str) -> String {
    client.get(&format!("/v4/ad/{id}")).await.header("etag").unwrap().to_owned()
}

/// All events, as soon as the last one of an ad that has been processed can be read: in PostgreSQL it waits for earlier transactions.
async fn events_to_the_last_of(client: &Client, source_id: &str) -> Value {
    let entries = client.log(source_id).await.len();
    eventually("the last event can be read", async || {
        let page = client.get("/v4/events?limit=1000").await.expect(200);
        let is_last = |event: &Value| event["source_id"] == source_id && event["sequence"] == entries;
        page["events"].as_array().unwrap().iter().any(is_last).then_some(page)
    })
    .await
}

async fn hold(client: &Client) -> Held {
    let page = events_to_the_last_of(client, "old").await;
    let events = ids(page["events"].as_array().unwrap());
    Held { cursor: page["cursor"].as_str().unwrap().to_owned(), events, tag: tag_of(client, "old").await }
}

async fn patch(client: &Client, body: &str, tag: &str) -> Answer {
    let headers = [("if-match", tag.to_owned())];
    client.send_with(Method::PATCH, "/v4/car/old", &headers, Some(json!({"body": body}).to_string().into())).await
}

/// Changes the ad, which then has been processed.
async fn change(client: &Client, body: &str) {
    let answer = client.patch("/v4/car/old", &json!({"body": body})).await;
    answer.expect(200);
    client.ended("old", "publish", answer.header("x-request-id")).await;
}

async fn begin(client: &Client) -> Held {
    client.post("/v4/car", &plain_car("old", "EPO001")).await.expect(201);
    client.published("old").await;
    change(client, "kept").await;
    hold(client).await
}

/// What will be lost: changes of an ad that stays, and another ad.
async fn lose(client: &Client) -> Held {
    change(client, "lost").await;
    client.post("/v4/car", &plain_car("gone", "EPO002")).await.expect(201);
    client.published("gone").await;
    events_to_the_last_of(client, "gone").await;
    hold(client).await
}

/// After the loss.
async fn expect_epoch(client: &Client, kept: &Held, lost: &Held) {
    assert_eq!(client.ad("old").await["body"], "kept");
    let refused = async || client.get(&format!("/v4/events?after={}", lost.cursor)).await.expect(400);
    assert!(refused().await["after"][0].as_str().unwrap().contains("Send \"now\""));
    let problem = client
        .send_with(
            Method::GET,
            &format!("/v4/events?after={}", lost.cursor),
            &[("accept", "application/problem+json".to_owned())],
            None,
        )
        .await;
    assert_eq!(problem.json()["errors"][0]["code"], "cursor_beyond_end");

    // The tag of what was lost is never one of what comes, nor before it is processed.
    patch(client, "x", &lost.tag).await.expect(412);
    let changed = patch(client, "new", &kept.tag).await;
    changed.expect(200);
    assert_ne!(changed.header("etag"), Some(&*lost.tag));
    patch(client, "x", &lost.tag).await.expect(412);
    client.ended("old", "publish", changed.header("x-request-id")).await;
    let mut tags = BTreeSet::from([tag_of(client, "old").await]);
    for number in 0..8 {
        change(client, &format!("new {number}")).await;
        tags.insert(tag_of(client, "old").await);
    }
    assert!(tags.len() == 9 && !tags.contains(&lost.tag), "{tags:?}");
    // The answer to a write has the tag that a read has.
    let hidden = client.patch("/v4/car/old", &json!({"visible": false})).await;
    assert!(hidden.header("etag").unwrap().split('.').next() == tag_of(client, "old").await.split('.').next());
    client.ended("old", "unpublish", hidden.header("x-request-id")).await;
    client.post("/v4/car", &plain_car("gone", "EPO003")).await.expect(201);
    client.published("gone").await;
    for source_id in ["old", "gone"] {
        events_to_the_last_of(client, source_id).await;
    }

    // However many events have come, the cursor stays refused, and the earlier one goes on without a gap.
    refused().await;
    let (new, cursor) = events_after(client, &kept.cursor).await;
    let seen = lost.events.difference(&kept.events).cloned().collect::<BTreeSet<_>>();
    assert!(new.len() > seen.len());
    let again: Vec<_> = ids(&new).intersection(&lost.events).cloned().collect();
    assert!(again.is_empty(), "{again:?}");
    let all = client.get("/v4/events?limit=1000").await.expect(200);
    assert_eq!(all["events"].as_array().unwrap().len(), kept.events.len() + new.len());
    assert!(kept.events.iter().all(|id| ids(all["events"].as_array().unwrap()).contains(id)));
    let (none, _) = events_after(client, &cursor).await;
    assert_eq!(none.len(), 0);
}

async fn said_so(server: &Server) {
    eventually("the log says so", async || {
        server.said().into_iter().find(|line| line.contains("a new epoch of events and tags begins"))
    })
    .await;
}

/// Copies a database that others use.
async fn back_up(from: &Path, to: &Path) {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", from.display())).await.unwrap();
    let sql = format!("VACUUM INTO '{}'", to.display());
    sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_file_that_was_restored_begins_an_epoch() {
    let mut server = Server::start().await;
    let kept = begin(&server.client).await;
    let (file, copy) = (server.dir().join("data/ads.db"), server.dir().join("backup.db"));
    back_up(&file, &copy).await;
    let lost = lose(&server.client).await;
    restore(&mut server, &copy).await;
    expect_epoch(&server.client, &kept, &lost).await;

    // And once more, with a backup of the second history.
    let kept = hold(&server.client).await;
    fs::remove_file(&copy).unwrap();
    back_up(&file, &copy).await;
    server.client.post("/v4/car", &plain_car("late", "EPO009")).await.expect(201);
    server.client.published("late").await;
    events_to_the_last_of(&server.client, "late").await;
    let (_, late) = events_after(&server.client, &kept.cursor).await;
    restore(&mut server, &copy).await;
    for cursor in [&lost.cursor, &late] {
        server.client.get(&format!("/v4/events?after={cursor}")).await.expect(400);
    }
    server.restart().await;
    let (none, _) = events_after(&server.client, &kept.cursor).await;
    assert_eq!(none.len(), 0, "a restart begins none");
}

async fn restore(server: &mut Server, copy: &Path) {
    server.stop().await;
    for name in ["ads.db", "ads.db-wal", "ads.db-shm"] {
        drop(fs::remove_file(server.dir().join("data").join(name)));
    }
    fs::copy(copy, server.dir().join("data/ads.db")).unwrap();
    server.restart().await;
    said_so(server).await;
}

async fn execute(url: &str, sql: &'static str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
}

async fn has_replayed(primary: &str, standby: &str) {
    eventually("the standby has replayed everything", async || {
        let mut primary = PgConnection::connect(primary).await.unwrap();
        let at: String =
            sqlx::query_scalar("SELECT CAST(pg_current_wal_lsn() AS TEXT)").fetch_one(&mut primary).await.unwrap();
        let mut standby = PgConnection::connect(standby).await.unwrap();
        let behind = sqlx::query_scalar("SELECT pg_last_wal_replay_lsn() < CAST($1 AS pg_lsn)").bind(at);
        let is_behind: bool = behind.fetch_one(&mut standby).await.unwrap();
        (!is_behind).then_some(())
    })
    .await;
}

fn at(url: &str) -> Options {
    Options { args: vec!["--database-url".to_owned(), url.to_owned()], ..Options::default() }
}

#[tokio::test]
async fn a_standby_that_takes_over_without_the_last_commits_begins_an_epoch() {
    let Some(mut primary) = Postgres::start(&[]).await else { return };
    let direct = primary.database().await;
    let mut standby = primary.standby().await;
    let replica = standby.same_database(&direct);
    let proxy = SilentProxy::start(([127, 0, 0, 1], primary.port()).into()).await;
    let url = direct.replace(&format!("127.0.0.1:{}", primary.port()), &proxy.address.to_string());
    // One process runs on, the other one is off meanwhile.
    let server = Server::with(at(&url)).await;
    let mut other = Server::with(at(&url)).await;
    let kept = begin(&server.client).await;
    other.stop().await;
    has_replayed(&direct, &replica).await;
    standby.stop("fast");
    let lost = lose(&server.client).await;
    let mut stream = stream_after(&server.client, &lost.cursor).await;

    primary.stop("immediate");
    standby.start_again().await;
    proxy.lead_to(([127, 0, 0, 1], standby.port()).into());
    execute(&replica, "SELECT pg_promote()").await;
    eventually("the process works again", async || {
        let answers = [server.client.get("/readyz").await, server.client.get("/v4/ad/old").await];
        answers.iter().all(|answer| answer.status == 200).then_some(())
    })
    .await;
    expect_epoch(&server.client, &kept, &lost).await;
    said_so(&server).await;
    // The stream ends instead of going on behind what it has sent.
    let ended = async { while stream.next().await.is_some_and(|chunk| chunk.is_ok()) {} };
    tokio::time::timeout(ad_tests::PATIENCE, ended).await.expect("the stream ends");

    other.restart().await;
    let client = other.client.clone();
    client.get(&format!("/v4/events?after={}", lost.cursor)).await.expect(400);
    let (new, _) = events_after(&client, &kept.cursor).await;
    assert!(!new.is_empty() && ids(&new).is_disjoint(&lost.events));
}

/// The bytes of a stream of events.
async fn stream_after(
    client: &Client,
    cursor: &str,
) -> impl StreamExt<Item = reqwest::Result<impl AsRef<[u8]>>> + Unpin {
    let request = reqwest::Client::new().get(format!("{}/v4/events?after={cursor}", client.base));
    let request =
        request.header("accept", "text/event-stream").header("x-auth-token", client.token.as_deref().unwrap());
    Box::pin(request.send().await.unwrap().bytes_stream())
}

#[tokio::test]
async fn a_dump_that_was_restored_begins_an_epoch() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    let mut server = Server::with(at(&url)).await;
    let kept = begin(&server.client).await;
    let copy = postgres.copy_of(&url).await;
    let lost = lose(&server.client).await;
    server.restart_with(at(&copy)).await;
    said_so(&server).await;
    expect_epoch(&server.client, &kept, &lost).await;
}
