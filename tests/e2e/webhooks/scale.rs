//! Thousands of events behind, a day behind, and a process that dies with them.

use std::collections::{BTreeMap, BTreeSet};

use ad_tests::{Behaviour, MovedClock, PATIENCE, Process, eventually_within};
use sqlx::{Connection, Executor, PgConnection, SqliteConnection};

use super::*;

/// Adds entries of published updates to the log, so many for each ad of `north-cars`, as one transaction.
async fn add_entries(server: &Server, database: Option<&str>, number: usize) {
    let columns = "ad, n, request_id, created, action, state, message, dealer_code";
    let values = "seq, newest + number, id, created, 'publish', 'done', '\"Done\"', dealer_code";
    let own = "own AS MATERIALIZED (SELECT *, (SELECT max(n) FROM log WHERE ad = seq) AS newest FROM ads WHERE dealer_code = 'north-cars')";
    if let Some(url) = database {
        let text = format!(
            "WITH numbers AS (SELECT generate_series(1, {number}) AS number), {own} \
             INSERT INTO log ({columns}) SELECT {values} FROM own CROSS JOIN numbers"
        );
        let mut connection = PgConnection::connect(url).await.unwrap();
        connection.execute(sqlx::AssertSqlSafe(text)).await.unwrap();
    } else {
        let text = format!(
            "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {number}), {own} \
             INSERT INTO log ({columns}, transaction_id) \
             SELECT {values}, (SELECT max(transaction_id) + 1 FROM log) FROM own CROSS JOIN numbers"
        );
        let url = format!("sqlite://{}/data/ads.db", server.dir().display());
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        connection.execute(sqlx::AssertSqlSafe(text)).await.unwrap();
    }
}

async fn far_behind(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let server = server_with(database, &["--webhook-retries", "1h"]).await;
    let (north, south) = (&server.client, server.client_of(&["--dealer-code", "south-cars"]).await);
    cars(north, "DEAD", 1).await;
    north.published("DEAD-0").await;
    let dead = create(north, "http://127.0.0.1:9/").await;
    create(&south, &receiver.url("/good")).await;
    add_entries(&server, database, 50_000).await;
    let full = async || {
        let webhook = north.get(&path(&dead)).await.expect(200);
        (webhook["pending"] == 1000 && webhook["last_failure"].is_string()).then_some(())
    };
    eventually_within(4 * PATIENCE, "as many deliveries are pending as may be", full).await;
    cars(&south, "GOOD", 3).await;
    arrived(&receiver, "/good", "GOOD", 3).await;
    full().await.expect("the dead endpoint was still behind");
    let list = north.get(&format!("{}/deliveries?limit=1", path(&dead))).await.expect(200);
    assert_eq!(list["count"], 1000, "the position waits");
}

#[tokio::test]
async fn a_dead_endpoint_with_50000_events_behind_delays_nobody() {
    far_behind(None).await;
}

#[tokio::test]
async fn a_dead_endpoint_with_50000_events_behind_delays_nobody_in_postgresql() {
    let Some(database) = postgres().await else { return };
    far_behind(Some(&database)).await;
}

/// Each event once, by ad and number of the entry, in the order of arrival; a repeated one has the same id.
fn in_order(received: &[Received]) -> BTreeMap<String, Vec<u64>> {
    let mut ids = BTreeMap::new();
    let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for one in received {
        let event = &one.json()["data"];
        let (ad, number) = (event["source_id"].as_str().unwrap().to_owned(), event["sequence"].as_u64().unwrap());
        let id = ids.entry((ad.clone(), number)).or_insert_with(|| {
            numbers.entry(ad).or_default().push(number);
            one.id().to_owned()
        });
        assert_eq!(id, one.id());
    }
    assert_eq!(ids.values().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
    numbers
}

async fn a_day_later(database: Option<&str>) {
    let Some(clock) = MovedClock::start() else { return };
    let server = Server::with(Options { env: clock.env(), ..options(database, &[]) }).await;
    let client = &server.client;
    let receiver = WebhookReceiver::start().await;
    let body = json!({"url": receiver.url("/hook"), "types": ["ad.*.*"]});
    let webhook = client.post("/v4/webhooks", &body).await.expect(201);
    receiver.behave("/hook", Behaviour::Status(410));
    cars(client, "DAY", 3).await;
    eventually("it is disabled", || async {
        (client.get(&path(&webhook)).await.expect(200)["disabled_reason"] == "gone").then_some(())
    })
    .await;
    for jump in ["+12h", "+25h"] {
        clock.set(jump);
        for index in 0..3 {
            let patch = client.patch(&format!("/v4/car/DAY-{index}"), &json!({"body": jump})).await;
            patch.expect(200);
            client.ended(&format!("DAY-{index}"), "publish", patch.header("x-request-id")).await;
        }
    }
    let mut logged = BTreeMap::new();
    for index in 0..3 {
        let source_id = format!("DAY-{index}");
        let entries = client.log(&source_id).await.len() as u64;
        logged.insert(source_id, (1..=entries).collect::<Vec<_>>());
    }
    let refused = receiver.received("/hook").len();
    receiver.behave("/hook", Behaviour::Status(200));
    client.patch(&path(&webhook), &json!({"enabled": true})).await.expect(200);
    eventually("every event has come, those of an ad in the order of its log", || async {
        (in_order(&receiver.received("/hook")[refused..]) == logged).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_enabled_a_day_later_gets_all_events_in_order() {
    a_day_later(None).await;
}

#[tokio::test]
async fn an_endpoint_enabled_a_day_later_gets_all_events_in_order_in_postgresql() {
    let Some(database) = postgres().await else { return };
    a_day_later(Some(&database)).await;
}

#[tokio::test]
async fn no_event_is_left_out_when_one_of_two_processes_is_killed_while_it_sends() {
    const CARS: usize = 10;
    const EACH: usize = 20;
    let Some(database) = postgres().await else { return };
    let receiver = WebhookReceiver::start().await;
    let server = server_with(Some(&database), &["--workers", "0"]).await;
    let args = [vec!["worker".to_owned()], options(Some(&database), &["--webhook-retries", "1s,1s,1s"]).args].concat();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let worker = async || Process::start_until(server.dir(), &args, &[], &["working"]).await.0;
    let mut first = worker().await;
    create(&server.client, &receiver.url("/hook")).await;
    cars(&server.client, "KILL", CARS).await;
    arrived(&receiver, "/hook", "KILL", CARS).await;
    let _second = worker().await;
    add_entries(&server, Some(&database), EACH).await;
    let before = arrived(&receiver, "/hook", "KILL", CARS * (EACH + 1)).await.len();
    receiver.behave("/hook", Behaviour::Hang);
    add_entries(&server, Some(&database), EACH).await;
    eventually("it is sending", || async { (receiver.received("/hook").len() > before).then_some(()) }).await;
    first.kill().await;
    receiver.behave("/hook", Behaviour::Status(200));
    let received = arrived(&receiver, "/hook", "KILL", CARS * (2 * EACH + 1)).await;
    for numbers in in_order(&received).values() {
        assert_eq!(numbers.len(), 2 * EACH + 1);
        assert!(numbers[1..].is_sorted_by(|one, next| one + 1 == *next), "none is left out: {numbers:?}");
    }
    assert!(received.len() > CARS * (2 * EACH + 1), "what was being sent comes again");
}
