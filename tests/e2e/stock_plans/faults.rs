//! Plans of random stocks while uploads are cut and processes are killed: every ad ends as the last plan that was applied says.
//!
//! ```sh
//! FAULTS=full cargo test -p ad-tests --test e2e stock_plans::faults -- --nocapture --test-threads 1
//! ```

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use ad_tests::{Client, Options, Postgres, Server, eventually_within, ports};
use fastrand::Rng;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, time::sleep};

use super::{PLANS, boat, bodies, counted, lines, path_of};

const TIMEOUT: Duration = Duration::from_mins(10);

/// What becomes of a server that a test kills.
struct Killed {
    server: Server,
    kills: usize,
}

impl Killed {
    /// Does something, and kills the server after a time of its own.
    async fn while_doing<T>(&mut self, after: Option<Duration>, work: impl Future<Output = T>) -> T {
        let Some(after) = after else { return work.await };
        let kill = async {
            sleep(after).await;
            self.server.kill().await;
            self.server.restart().await;
        };
        self.kills += 1;
        tokio::join!(work, kill).0
    }
}

/// Sends a request until it is answered.
async fn answered(client: &Client, method: Method, path: &str) -> ad_tests::Answer {
    eventually_within(TIMEOUT, path, async || {
        let answer = client.try_send(method.clone(), path, None).await.ok()?;
        (answer.status.as_u16() < 500).then_some(answer)
    })
    .await
}

/// All ads by their source ids: text, visibility and state.
async fn stored(client: &Client) -> BTreeMap<String, Value> {
    let (mut ads, mut offset) = (BTreeMap::new(), 0);
    loop {
        let path = format!("/v4/ad?fields=source_id,body,state,visible&ordering=created&limit=500&offset={offset}");
        let page = answered(client, Method::GET, &path).await.expect(200);
        let rows = page["results"].as_array().unwrap();
        ads.extend(rows.iter().map(|ad| (ad["source_id"].as_str().unwrap().to_owned(), ad.clone())));
        offset += rows.len();
        if page["next"].is_null() {
            return ads;
        }
    }
}

/// Waits until a plan is in one of these states.
async fn in_state(client: &Client, path: &str, states: &[&str]) -> Value {
    eventually_within(TIMEOUT, &format!("{states:?} of {path}"), async || {
        let plan = answered(client, Method::GET, path).await.expect(200);
        let is_finished = plan["dealers"][0]["outcomes"]["accepted"] == 0;
        (is_finished && states.contains(&plan["state"].as_str().unwrap())).then_some(plan)
    })
    .await
}

/// A plan of a stock that is ready, however often the server is killed meanwhile.
async fn ready(house: &mut Killed, client: &Client, query: &str, stock: &[u8], random: &mut Rng, ads: usize) -> Value {
    loop {
        let kill = (random.u8(..3) == 0).then(|| Duration::from_millis(random.u64(..ads as u64)));
        let path = format!("{PLANS}{query}");
        let sent = house.while_doing(kill, client.try_send(Method::POST, &path, Some(stock.to_vec()))).await;
        if let Ok(answer) = sent {
            let path = path_of(&answer.expect(202));
            // Killed behind the answer, it would be computing for two minutes, and then refused.
            let (begun, patience) = (Instant::now(), Duration::from_secs(10 + ads as u64 / 50));
            while begun.elapsed() < patience {
                let plan = answered(client, Method::GET, &path).await.expect(200);
                if plan["state"] == "ready" {
                    return plan;
                }
                sleep(Duration::from_millis(50)).await;
            }
        }
        // What is left is cancelled, as a vendor would.
        for plan in answered(client, Method::GET, PLANS).await.expect(200)["results"].as_array().unwrap() {
            answered(client, Method::DELETE, &path_of(plan)).await.expect(200);
        }
    }
}

/// Applies a plan by three requests, however often the server is killed meanwhile.
async fn apply(house: &mut Killed, client: &Client, plan: &Value, kill: Option<Duration>) -> Value {
    let (path, removals) = (path_of(plan), &plan["guard"]["removals"]);
    let mut apply = format!("{path}/apply");
    if plan["guard"]["exceeded"] == true {
        answered(client, Method::POST, &apply).await.expect(409);
        apply = format!("{apply}?allow_removals={removals}");
    }
    let applying = async {
        answered(client, Method::POST, &apply).await.expect(202);
        tokio::join!(answered(client, Method::POST, &apply), answered(client, Method::POST, &apply));
    };
    house.while_doing(kill, applying).await;
    in_state(client, &path, &["applied"]).await
}

/// The number of changes that a plan makes.
fn made(plan: &Value) -> u64 {
    let counts = &plan["dealers"][0]["counts"];
    ["create", "update", "revive", "hide", "delete"].map(|kind| counts[kind].as_u64().unwrap()).iter().sum()
}

async fn every_ad_is_as_the_last_applied_plan_says(database: &[&str]) {
    let is_full = std::env::var_os("FAULTS").is_some_and(|value| value == "full");
    let (plans, ads) = if is_full { (10, 5000) } else { (5, 100) };
    let seed = std::env::var("FAULTS_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("FAULTS_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let address = ["--listen".to_owned(), format!("127.0.0.1:{}", ports::lasting())];
    let args = address.into_iter().chain(database.iter().map(|arg| (*arg).to_owned())).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = server.client.clone();
    let mut house = Killed { server, kills: 0 };

    let mut wanted: BTreeMap<String, Value> =
        (0..ads).map(|n| format!("b{n}")).map(|id| (id.clone(), boat(&id, "Text 0"))).collect();
    let mut is: BTreeMap<String, Value> = BTreeMap::new();
    let mut cut = 0;
    for number in 1..=plans {
        // A tenth of the ads change, some are gone, some are new or come back.
        for _ in 0..ads / 10 {
            let id = format!("b{}", random.usize(..ads + ads / 5));
            match random.u8(..8) {
                0 => drop(wanted.remove(&id)),
                _ => drop(wanted.insert(id.clone(), boat(&id, &format!("Text {number}")))),
            }
        }
        let missing = ["keep", "delete"][random.usize(..2)];
        let query = format!("?missing={missing}&dealer_code=north-cars");
        let stock = lines(wanted.values());
        if random.bool() {
            // An upload that is cut changes nothing.
            cut += 1;
            let before = bodies::latest(&client).await;
            let mut upload = bodies::upload(&client, &query, &format!("Content-Length: {}", stock.len())).await;
            upload.write_all(&stock[..random.usize(1..stock.len())]).await.unwrap();
            drop(upload);
            let plan = bodies::newest(&client, &before).await;
            assert_eq!(plan["state"], "refused", "{plan}");
        }
        let plan = ready(&mut house, &client, &query, &stock, &mut random, ads).await;
        let gone = is.keys().filter(|id| !wanted.contains_key(*id)).count();
        assert_eq!(plan["guard"]["removals"], if missing == "delete" { gone } else { 0 }, "{plan}");
        let kill = (random.u8(..3) > 0).then(|| Duration::from_millis(random.u64(..(2 * ads) as u64)));
        let ended = apply(&mut house, &client, &plan, kill).await;
        let outcomes = counted(&ended["dealers"][0]["outcomes"]);
        assert_eq!(outcomes, if made(&ended) == 0 { json!({}) } else { json!({"done": made(&ended)}) }, "{ended}");

        is.extend(wanted.clone());
        if missing == "delete" {
            is.retain(|id, _| wanted.contains_key(id));
        } else {
            wanted.extend(is.clone());
        }
        let stored = stored(&client).await;
        for (id, ad) in &stored {
            match is.get(id) {
                Some(payload) => assert_eq!((&ad["body"], &ad["state"]), (&payload["body"], &json!("created")), "{id}"),
                None => assert_eq!(ad["state"], "deleted", "{id}"),
            }
        }
        assert!(is.keys().all(|id| stored.contains_key(id)));
    }
    // Each ad was created once, and has one listing if it is not deleted.
    for id in is.keys().take(100) {
        let log = answered(&client, Method::GET, &format!("/v4/ad/{id}/log?action=create&state=done")).await;
        assert_eq!(log.expect(200)["count"], 1, "{id}");
    }
    let listings = house.server.listings().await;
    let active = listings.iter().filter(|it| it["marketplace"] == "primary" && it["state"] == "active");
    assert_eq!(active.count(), is.len());
    println!("{} ads, {} kills, {cut} uploads cut", is.len(), house.kills);
}

#[tokio::test]
async fn every_ad_is_as_the_last_applied_plan_says_on_sqlite() {
    every_ad_is_as_the_last_applied_plan_says(&[]).await;
}

#[tokio::test]
async fn every_ad_is_as_the_last_applied_plan_says_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    every_ad_is_as_the_last_applied_plan_says(&["--database-url", &postgres.database().await]).await;
}
