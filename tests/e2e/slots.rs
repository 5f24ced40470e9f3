//! Slots (extensions E9.3) of a running service: those beyond wait, and are published by themselves, oldest first, whatever is killed.

use std::time::Duration;

use ad_tests::{Client, Options, Postgres, Process, Server, eventually, eventually_within, ports};
use fastrand::Rng;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::payloads::{plain_boat, steps};

/// The number of ads of the fault test.
const ADS: usize = 24;
/// Their slots.
const SLOTS: usize = 3;

fn boat(source_id: &str) -> Value {
    let mut boat = plain_boat();
    boat["source_id"] = json!(source_id);
    boat
}

/// The file of dealers, in which `north-cars` has this tariff.
fn write_dealers(server: &Server, tariff: &str) {
    let file = include_str!("../data/dealers.toml");
    let (north, others) = file.split_once("\n[[dealer]]").unwrap();
    let north = format!("{north}\n[dealer.tariff]\n{tariff}\n\n[[dealer]]{others}");
    std::fs::write(server.dir().join("dealers.toml"), north).unwrap();
}

async fn set_slots(server: &Server, tariff: &str) {
    write_dealers(server, tariff);
    server.command(&["dealers", "import", "dealers.toml"]).await;
}

/// The source ids of the ads with a status, in the order of creation.
async fn with_status(client: &Client, status: &str) -> Vec<String> {
    let path = format!("/v4/ad?status={status}&ordering=created&fields=source_id&limit=500");
    let page = client.get(&path).await.expect(200);
    page["results"].as_array().unwrap().iter().map(|ad| ad["source_id"].as_str().unwrap().to_owned()).collect()
}

/// Waits until these ads are live and wait.
async fn settled(client: &Client, live: &str, waiting: &str) {
    eventually(&format!("live: {live}; waiting: {waiting}"), async || {
        let is = (with_status(client, "live").await.join(" "), with_status(client, "waiting").await.join(" "));
        let is_settled = with_status(client, "processing").await.is_empty();
        (is_settled && is == (live.to_owned(), waiting.to_owned())).then_some(())
    })
    .await;
}

/// Number of listings that are shown.
async fn listed(server: &Server) -> usize {
    server.listings().await.iter().filter(|it| it["state"] == "active").count()
}

async fn ads_wait_for_a_free_slot(database: &[&str]) {
    let args = database.iter().map(|arg| (*arg).to_owned()).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    set_slots(&server, "slots = 2").await;
    // Processes see a change of dealers within a second.
    sleep(Duration::from_millis(1500)).await;
    let client = &server.client;
    for id in ["a", "b", "c", "d", "e"] {
        client.post("/v4/boat", &boat(id)).await.expect(201);
        client.ended(id, "publish", None).await;
    }
    settled(client, "a b", "c d e").await;
    assert_eq!(listed(&server).await, 2);
    let log = client.log("c").await;
    assert_eq!(steps(&log).iter().filter(|step| step.starts_with("publish")).count(), 2, "{log:#?}");
    assert_eq!(log.last().unwrap()["code"], "slots_exceeded");
    let status = client.get("/v4/ad/c/status").await.expect(200);
    let channel = &status["channels"][0];
    assert_eq!(
        (&status["status"], &channel["status"], &channel["code"], &channel["who_acts"]),
        (&json!("waiting"), &json!("waiting"), &json!("slots_exceeded"), &json!("dealer"))
    );

    client.delete("/v4/ad/b").await.expect(200);
    settled(client, "a c", "d e").await;
    // An update keeps the slot, and the place of one that waits.
    client.patch("/v4/boat/a", &json!({"title": "Other"})).await.expect(200);
    client.patch("/v4/boat/d", &json!({"title": "Other"})).await.expect(200);
    client.patch("/v4/boat/a", &json!({"visible": false})).await.expect(200);
    settled(client, "c d", "e").await;
    client.patch("/v4/boat/a", &json!({"visible": true})).await.expect(200);
    settled(client, "c d", "a e").await;
    set_slots(&server, "slots = 3").await;
    settled(client, "c d e", "a").await;
    // Fewer: nobody is unpublished.
    set_slots(&server, "slots = 1").await;
    sleep(Duration::from_millis(1500)).await;
    client.post("/v4/boat", &boat("f")).await.expect(201);
    settled(client, "c d e", "a f").await;
    set_slots(&server, "").await;
    settled(client, "a c d e f", "").await;
    assert_eq!(listed(&server).await, 5);
}

#[tokio::test]
async fn ads_wait_for_a_free_slot_on_sqlite() {
    ads_wait_for_a_free_slot(&[]).await;
}

#[tokio::test]
async fn ads_wait_for_a_free_slot_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    ads_wait_for_a_free_slot(&["--database-url", &postgres.database().await]).await;
}

/// Sends a request until it is answered, through one of these processes.
async fn answered(clients: &[Client], method: Method, path: &str, body: Option<Value>) {
    let body = body.map(|body| body.to_string().into_bytes());
    eventually_within(Duration::from_mins(2), path, async || {
        let client = &clients[fastrand::usize(..clients.len())];
        let answer = client.try_send(method.clone(), path, body.clone()).await.ok()?;
        // 409: the answer to an earlier attempt was lost, the ad was not.
        assert!(answer.status.is_success() || answer.status.is_server_error() || answer.status == 409, "{answer:?}");
        (!answer.status.is_server_error()).then_some(())
    })
    .await;
}

/// Many ads come and go through all processes, one of which is killed again and again: no more are listed than there are slots, and none
/// is lost in the end.
async fn slots_are_never_exceeded(database: &[&str], has_second_process: bool) {
    let listen = ["--listen".to_owned(), format!("127.0.0.1:{}", ports::lasting())];
    let args: Vec<_> = listen.into_iter().chain(database.iter().map(|arg| (*arg).to_owned())).collect();
    let mut server = Server::with(Options { args, ..Options::default() }).await;
    write_dealers(&server, &format!("slots = {SLOTS}"));
    server.kill().await;
    server.restart().await;
    let mut clients = vec![server.client.clone()];
    let mut second = None;
    if has_second_process {
        let args = [&["serve", "--listen", "127.0.0.1:0", "--dealers", "dealers.toml"], database].concat();
        let process = Process::start(server.dir(), &args, &[]).await;
        clients.push(Client::new(process.base.clone(), server.client.token.clone()));
        second = Some(process);
    }

    let clients = &clients;
    let create = join_all((0..ADS).map(|number| {
        let id = format!("b{number}");
        async move { answered(clients, Method::POST, "/v4/boat", Some(boat(&id))).await }
    }));
    let mut random = Rng::new();
    let disturb = async {
        for round in 0..6 {
            sleep(Duration::from_millis(random.u64(100..900))).await;
            server.kill().await;
            server.restart().await;
            assert!(listed(&server).await <= SLOTS);
            let live = with_status(&server.client, "live").await;
            if let Some(gone) = live.get(random.usize(..live.len().max(1))) {
                if round % 2 == 0 {
                    answered(clients, Method::DELETE, &format!("/v4/ad/{gone}"), None).await;
                } else {
                    let hidden = Some(json!({"visible": false}));
                    answered(clients, Method::PATCH, &format!("/v4/boat/{gone}"), hidden).await;
                }
            }
            assert!(listed(&server).await <= SLOTS);
        }
    };
    tokio::join!(create, disturb);

    let client = &server.client;
    let gone = eventually_within(Duration::from_mins(2), "all slots in use", async || {
        assert!(listed(&server).await <= SLOTS);
        let (live, waiting) = (with_status(client, "live").await.len(), with_status(client, "waiting").await.len());
        let gone = with_status(client, "hidden").await.len() + with_status(client, "deleted").await.len();
        (live == SLOTS && live + waiting + gone == ADS).then_some(gone)
    })
    .await;
    assert_eq!(listed(&server).await, SLOTS);
    // Each waited at most once, and was not tried in vain.
    for number in 0..ADS {
        let log = client.log(&format!("b{number}")).await;
        let refusals = log.iter().filter(|entry| entry["code"] == "slots_exceeded").count();
        assert!(refusals <= 1, "{log:#?}");
    }
    set_slots(&server, "slots = 100").await;
    eventually("all published", async || (with_status(client, "live").await.len() == ADS - gone).then_some(())).await;
    assert_eq!(listed(&server).await, ADS - gone);
    drop(second);
}

#[tokio::test]
async fn slots_are_never_exceeded_while_a_process_is_killed_on_sqlite() {
    slots_are_never_exceeded(&[], false).await;
}

#[tokio::test]
async fn slots_are_never_exceeded_by_two_processes_one_of_which_is_killed_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    slots_are_never_exceeded(&["--database-url", &postgres.database().await], true).await;
}
