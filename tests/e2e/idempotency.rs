//! Idempotency keys, coalescing and `Prefer: wait` (extensions E3.2 to E3.4), with several processes on either database.

use std::time::Duration;

use ad_tests::{Answer, Client, MARKETPLACE_TOKEN, Options, Postgres, Server, eventually, incompressible_text};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{payloads::plain_car, tags::Pair};

/// A client of the process without a worker.
fn api_only(pair: &Pair) -> Client {
    pair.client(1)
}

async fn keyed(client: &Client, method: Method, path: &str, key: &str, body: Option<&Value>) -> Answer {
    let body = body.map(|body| body.to_string().into_bytes());
    client.send_with(method, path, &[("idempotency-key", key.to_owned())], body).await
}

async fn waiting(client: &Client, method: Method, path: &str, body: Option<&Value>) -> Answer {
    let body = body.map(|body| body.to_string().into_bytes());
    client.send_with(method, path, &[("prefer", "wait=30".to_owned())], body).await
}

/// A server whose marketplaces do not answer, so that requests stay unfinished.
async fn without_marketplaces(args: &[&str]) -> Server {
    let silent = ["--primary-marketplace", "http://127.0.0.1:9", "--secondary-marketplace", "http://127.0.0.1:9"];
    let env = ["PRIMARY", "SECONDARY"]
        .map(|market| (format!("AD_SERVER_{market}_MARKETPLACE_TOKEN"), MARKETPLACE_TOKEN.to_owned()));
    let args = [&silent[..], args].concat().into_iter().map(str::to_owned).collect();
    Server::with(Options { args, env: env.into(), ..Options::default() }).await
}

async fn race(pair: &Pair) {
    const CLIENTS: usize = 64;
    let car = plain_car("race", "RAC002");
    let clients: Vec<_> = (0..CLIENTS).map(|number| pair.client(number)).collect();
    let posts = clients.iter().map(|client| keyed(client, Method::POST, "/v4/car", "\"race\"", Some(&car)));
    let answers = join_all(posts).await;
    let first = answers.iter().find(|answer| answer.header("idempotency-replayed").is_none()).unwrap();
    let shown = |answer: &Answer| {
        let header = |name| answer.header(name).map(str::to_owned);
        (answer.status, answer.bytes.clone(), header("x-request-id"), header("etag"), header("location"))
    };
    let equal = answers.iter().filter(|answer| shown(answer) == shown(first)).count();
    let replayed = answers.iter().filter(|answer| answer.header("idempotency-replayed") == Some("true")).count();
    let ads = pair.one.client.get("/v4/car?source_id=race").await.expect(200)["count"].clone();
    println!("{equal} equal answers, {replayed} replayed, {ads} ads");
    assert_eq!((first.status.as_u16(), equal, replayed, ads), (201, CLIENTS, CLIENTS - 1, json!(1)));
    pair.one.client.published("race").await;

    // And promotions, with a key each and without.
    let bumps = clients.iter().enumerate().map(|(number, client)| async move {
        let key = format!("bump-{}", number % 2);
        keyed(client, Method::POST, "/v4/ad/race/bump", &key, None).await
    });
    for answer in join_all(bumps).await {
        answer.expect(200);
    }
    let posts: Vec<_> = pair.one.client.log("race").await;
    let entries = posts.iter().filter(|entry| entry["action"] == "bump" && entry["state"] == "processing").count();
    assert!(entries <= 2, "one for each key at most, fewer where they met: {entries}");
}

#[tokio::test]
async fn of_64_equal_posts_with_one_key_one_makes_an_ad() {
    race(&Pair::start(None).await).await;
}

#[tokio::test]
async fn of_64_equal_posts_with_one_key_one_makes_an_ad_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    race(&Pair::start(Some(&postgres.database().await)).await).await;
}

async fn wait_for_another_process(pair: &Pair) {
    let client = api_only(pair);
    let created = waiting(&client, Method::POST, "/v4/car", Some(&plain_car("w", "WAI001"))).await;
    assert_eq!(created.header("preference-applied"), Some("wait"));
    let ad = created.expect(201);
    assert!(ad["marketplace_ad_id"].is_string() && ad["offer_id"].is_string(), "{ad}");
    let deleted = waiting(&client, Method::DELETE, "/v4/ad/w", None).await;
    assert_eq!(deleted.expect(200)["state"], "deleted");
    let tag = client.get("/v4/ad/w").await.header("etag").unwrap().to_owned();
    assert_eq!(deleted.header("etag"), Some(&*tag));
}

#[tokio::test]
async fn a_request_waits_for_the_worker_of_another_process() {
    wait_for_another_process(&Pair::start(None).await).await;
}

#[tokio::test]
async fn a_request_waits_for_the_worker_of_another_process_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    wait_for_another_process(&Pair::start(Some(&postgres.database().await)).await).await;
}

#[tokio::test]
async fn a_wait_ends_with_its_time_and_shows_the_ad_as_it_is() {
    let server = without_marketplaces(&["--longest-wait", "1s"]).await;
    let answer = waiting(&server.client, Method::POST, "/v4/car", Some(&plain_car("t", "TIM001"))).await;
    assert_eq!((answer.header("preference-applied"), &answer.expect(201)["offer_id"]), (Some("wait"), &Value::Null));
}

#[tokio::test]
async fn more_waits_than_allowed_are_refused_and_others_go_on() {
    let server = without_marketplaces(&["--waiting-requests", "8"]).await;
    let waits: Vec<_> = (0..8)
        .map(|number| {
            let client = server.client.anew();
            tokio::spawn(async move {
                let car = plain_car(&format!("w{number}"), &format!("WAX{number:03}"));
                // Until there is a place.
                while waiting(&client, Method::POST, "/v4/car", Some(&car)).await.status == 429 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            })
        })
        .collect();
    // One place of eight is for a dealer who has none.
    let refused = eventually("all places are taken", || async {
        let car = plain_car("more", "WAY001");
        let body = Some(car.to_string().into_bytes());
        let answer = server.client.send_with(Method::POST, "/v4/car", &[("prefer", "wait=1".to_owned())], body).await;
        if answer.status == 429 { Some(answer) } else { None }
    })
    .await;
    assert!(refused.header("retry-after").is_some());
    assert!(refused.expect(429)["detail"].as_str().unwrap().contains("Prefer: wait"));
    server.client.post("/v4/car", &plain_car("free", "WAZ001")).await.expect(201);
    server.client.get("/v4/car").await.expect(200);
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    let headers = [("prefer", "wait=1".to_owned())];
    let body = Some(plain_car("south", "WAS001").to_string().into_bytes());
    south.send_with(Method::POST, "/v4/car", &headers, body).await.expect(201);
    for wait in waits {
        wait.abort();
    }
}

#[tokio::test]
async fn keys_expire_and_are_bounded_for_each_dealer() {
    let args = ["--idempotency-keys-kept", "1s", "--dealer-idempotency-keys", "1"].map(str::to_owned).into();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let create = async |client: &Client, id: &str, plate: &str| {
        keyed(client, Method::POST, "/v4/car", &format!("key-{id}"), Some(&plain_car(id, plate))).await
    };
    // The other one is refused until the key of the first has expired.
    create(client, "a", "EXP001").await.expect(201);
    eventually("the key has expired", || async {
        let answer = create(client, "b", "EXP002").await;
        assert!([201, 429].contains(&answer.status.as_u16()), "{}", answer.json());
        (answer.status == 201).then_some(())
    })
    .await;
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    create(&south, "s", "EXP003").await.expect(201);
    eventually("the first key is known no more", || async {
        let answer = create(client, "a", "EXP001").await;
        assert!([409, 429].contains(&answer.status.as_u16()), "{}", answer.json());
        (answer.status == 409).then_some(())
    })
    .await;
}

/// Writes an ad again and again, each time with a new key and other text that does not compress.
async fn the_oldest_answers_make_room(database: Option<String>) {
    let database = database.iter().flat_map(|url| ["--database-url", url]);
    let args = ["--dealer-idempotency-bytes", "1MiB"].into_iter().chain(database).map(str::to_owned).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("k", "KEY002")).await.expect(201);
    let patch = async |number: u64| {
        let patch = json!({"body": incompressible_text(number, 100_000)});
        keyed(client, Method::PATCH, "/v4/car/k", &format!("key-{number}"), Some(&patch)).await
    };
    for number in 0..40 {
        patch(number).await.expect(200);
    }
    let is_known = async |number: u64| patch(number).await.header("idempotency-replayed").is_some();
    assert!(is_known(39).await && is_known(33).await, "the newest are known");
    let kept = server.command(&["dealers", "show", "north-cars", "--json"]).await;
    let usage: Value = serde_json::from_str(&kept).unwrap();
    let bytes = usage["limits"].as_array().unwrap().iter().find(|it| it["setting"] == "dealer_idempotency_bytes");
    let bytes = bytes.unwrap()["number"].as_u64().unwrap();
    assert!((700_000..=1_048_576).contains(&bytes), "{bytes}");
    // 40 answers have nearly 4 MB. A key that is not known any more is that of a new request.
    assert!(!is_known(0).await);
}

#[tokio::test]
async fn the_oldest_answers_make_room_on_sqlite() {
    the_oldest_answers_make_room(None).await;
}

#[tokio::test]
async fn the_oldest_answers_make_room_on_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    the_oldest_answers_make_room(Some(server.database().await)).await;
}

#[tokio::test]
async fn an_answer_is_replayed_whatever_has_happened_since() {
    let server = Server::start().await;
    let client = &server.client;
    let car = plain_car("k", "KEY001");
    let created = keyed(client, Method::POST, "/v4/car", "1", Some(&car)).await;
    created.expect(201);
    client.published("k").await;
    let patch = json!({"body": "New"});
    let patched = keyed(client, Method::PATCH, "/v4/car/k", "1", Some(&patch)).await;
    assert_eq!(patched.header("idempotency-replayed"), None, "another method, another key");
    let deleted = keyed(client, Method::DELETE, "/v4/ad/k", "1", None).await;
    deleted.expect(200);
    client.ended("k", "delete", None).await;
    let entries = client.log("k").await.len();
    for (first, method, path, body) in [
        (&created, Method::POST, "/v4/car", Some(&car)),
        (&patched, Method::PATCH, "/v4/car/k", Some(&patch)),
        (&deleted, Method::DELETE, "/v4/ad/k", None),
    ] {
        let again = keyed(client, method, path, "\"1\"", body).await;
        assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
        assert_eq!(again.header("x-request-id"), first.header("x-request-id"));
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
    }
    assert_eq!(client.log("k").await.len(), entries, "nothing was done");
    let other = keyed(client, Method::PATCH, "/v4/car/k", "1", Some(&json!({"body": "Newer"}))).await;
    assert!(other.expect(422)["detail"].as_str().unwrap().contains(patched.header("x-request-id").unwrap()));
    // Of a dealer's group, the key is another one.
    let group = server.client_of(&["--dealer-group", "north"]).await;
    keyed(&group, Method::PATCH, "/v4/car/k", "1", Some(&patch)).await.expect(400);
    // Without the permission there is no replay.
    let reader = server.client_of(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    keyed(&reader, Method::PATCH, "/v4/car/k", "1", Some(&patch)).await.expect(403);
    tokio::time::timeout(Duration::from_secs(5), waiting(client, Method::DELETE, "/v4/ad/k", None))
        .await
        .expect("there is nothing to wait for")
        .expect(200);
}

#[tokio::test]
async fn promotions_of_one_kind_coalesce_while_one_is_unfinished() {
    let mut server = Server::start().await;
    server.client.post("/v4/car", &plain_car("c", "COA001")).await.expect(201);
    server.client.published("c").await;
    // Nothing is worked on from now on.
    let args = ["--workers", "0"].map(str::to_owned).into();
    server.restart_with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    for path in ["bump", "pole_position", "retry"] {
        let generic = format!("/v4/ad/c/{path}");
        let first = client.send(Method::POST, &generic, None).await;
        first.expect(200);
        let id = first.header("x-request-id");
        for (method, base) in [(Method::GET, "/v4/ad"), (Method::POST, "/v4/car"), (Method::GET, "/v3/ad")] {
            let again = client.send(method, &format!("{base}/c/{path}"), None).await;
            assert_eq!(again.header("request-coalesced-with"), id, "{}", again.json());
            assert_eq!(again.header("cache-control"), Some("no-store"));
            assert_eq!(again.header("etag"), first.header("etag"), "nothing has changed");
            again.expect(200);
        }
        // The answer of a coalesced request is kept too.
        let [one, other] = [(); 2].map(|()| keyed(client, Method::POST, &generic, "1", None));
        let (one, other) = (one.await, other.await);
        assert_eq!((one.header("request-coalesced-with"), one.header("idempotency-replayed")), (id, None));
        assert_eq!((other.header("request-coalesced-with"), other.header("idempotency-replayed")), (id, Some("true")));
    }
    let bump = client.get("/v4/ad/c/bump?exclude_secondary=true").await;
    bump.expect(200);
    assert_eq!(bump.header("request-coalesced-with"), None, "other exclusions");
    let queue: Value = serde_json::from_str(&server.command(&["queue", "list", "--json"]).await).unwrap();
    assert_eq!(queue.as_array().map(Vec::len), Some(4), "{queue}");
}
