//! What an ad said before (extensions E10) on both databases, through the API, the client and the command line.

use std::collections::{BTreeMap, BTreeSet};

use ad_cli::{Client as ApiClient, Target};
use ad_core::{
    categories::{TRAILER, typed},
    model::ApiVersion,
    rulebook::Rulebook,
};
use ad_tests::{Answer, Cli, Client, Options, Postgres, Server};
use futures_util::future::join;
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::{plain_boat, plain_car};

fn numbers(page: &Value) -> Vec<i64> {
    page["results"].as_array().unwrap().iter().map(|row| row["revision"].as_i64().unwrap()).collect()
}

fn new_boat() -> Value {
    let mut boat = plain_boat();
    boat["source_id"] = json!("boat-1");
    boat
}

async fn revisions(client: &Client, source_id: &str) -> Value {
    let path = |base: &str| format!("{base}/{source_id}/revisions");
    let answer = client.get(&path("/v4/car")).await.expect(200);
    for base in ["/v4/ad", "/v3/ad"] {
        let other = client.get(&path(base)).await.expect(200);
        assert_eq!((&other["count"], &other["results"]), (&answer["count"], &answer["results"]));
    }
    answer
}

async fn every_change_is_recorded(database: &[&str]) {
    let args = database.iter().map(|arg| (*arg).to_owned()).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let created = client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    client.published("car-1").await;
    let first = revisions(client, "car-1").await;
    assert_eq!((&first["count"], numbers(&first)), (&json!(1), vec![0]));
    let row = &first["results"][0];
    assert_eq!((&row["created"], &row["action"], &row["changes"]), (&created["created"], &json!("create"), &json!([])));

    let patch = async |body: Value| client.patch("/v4/car/car-1", &body).await;
    let updated = patch(json!({"body": "Second", "url": "https://a.example"})).await;
    let request_id = updated.header("x-request-id").unwrap().to_owned();
    let updated = updated.expect(200);
    patch(json!({"body": "Second"})).await.expect(200);
    patch(json!({"body": 7})).await.expect(400);
    patch(json!({"url": null})).await.expect(200);
    let listed = revisions(client, "car-1").await;
    assert_eq!((&listed["count"], numbers(&listed)), (&json!(3), vec![3, 1, 0]));
    let row = &listed["results"][1];
    assert_eq!(
        (&row["created"], &row["request_id"], &row["action"], &row["via"]),
        (&updated["updated"], &json!(request_id), &json!("update"), &json!("api"))
    );
    assert!(row["asked_by"]["token"].is_string(), "{row}");
    assert_eq!(
        row["changes"],
        json!([
            {"pointer": "/body", "from": created["body"], "to": "Second"},
            {"pointer": "/url", "from": null, "to": "https://a.example"},
        ])
    );
    let page = client.get("/v4/ad/car-1/revisions?limit=1&offset=1").await.expect(200);
    assert_eq!((numbers(&page), page["next"].is_string(), page["previous"].is_string()), (vec![1], true, true));

    // As it was, by number and by time.
    let second = client.get("/v4/car/car-1/revisions/1").await.expect(200);
    assert_eq!(
        (&second["body"], &second["url"], &second["revision"], &second["updated"]),
        (&json!("Second"), &json!("https://a.example"), &json!(1), &updated["updated"])
    );
    assert_eq!(client.get("/v3/ad/car-1/revisions/2").await.expect(200)["body"], "Second");
    let at = |time: &Value| format!("/v4/ad/car-1?at={}", time.as_str().unwrap());
    assert_eq!(client.get(&at(&created["created"])).await.expect(200)["body"], created["body"]);
    assert_eq!(client.get(&at(&updated["updated"])).await.expect(200), second);
    let fields = client.get(&format!("{}&fields=body", at(&updated["updated"]))).await.expect(200);
    assert_eq!(fields, json!({"body": "Second", "revision": 1}));
    for (path, status, code) in [
        ("/v4/ad/car-1?at=2020-01-01T00:00:00Z".to_owned(), 400, "not_recorded"),
        ("/v4/ad/car-1?at=yesterday".to_owned(), 400, "validation_failed"),
        (format!("{}&include=log", at(&updated["updated"])), 400, "validation_failed"),
        ("/v4/ad/car-1/revisions/9".to_owned(), 404, "not_found"),
        ("/v4/ad/car-1/revisions/first".to_owned(), 400, "validation_failed"),
        ("/v4/ad/unknown/revisions".to_owned(), 404, "not_found"),
        ("/v4/boat/car-1/revisions/0".to_owned(), 404, "not_found"),
    ] {
        let accept = [("accept", "application/problem+json".to_owned())];
        let problem = client.send_with(Method::GET, &path, &accept, None).await.expect(status);
        assert_eq!(problem["code"], code, "{path}: {problem}");
    }
    server.client_of(&["--dealer-code", "south-cars"]).await.get("/v4/ad/car-1/revisions").await.expect(404);

    // Back again, bound to what was read.
    let restore = |base: &str, revision: &str| format!("{base}/car-1/revisions/{revision}/restore");
    let bound = async |base: &str, tag: &str| {
        client.send_with(Method::POST, &restore(base, "1"), &[("if-match", tag.to_owned())], None).await
    };
    bound("/v4/ad", "\"1\"").await.expect(412);
    let restored = bound("/v4/car", "\"3\"").await;
    assert!(restored.header("etag").unwrap().starts_with("\"4."), "{restored:?}");
    let restored = restored.expect(200);
    assert_eq!((&restored["body"], &restored["url"]), (&json!("Second"), &json!("https://a.example")));
    assert!(restored["warnings"].is_array(), "{restored}");
    client.post(&restore("/v4/ad", "9"), &Value::Null).await.expect(404);
    client.post(&restore("/v3/ad", "0"), &Value::Null).await.expect(400);
    let listed = revisions(client, "car-1").await;
    assert_eq!(numbers(&listed), [4, 3, 1, 0]);

    // Also of a deleted ad.
    client.delete("/v4/car/car-1").await.expect(200);
    client.ended("car-1", "delete", None).await;
    assert_eq!(revisions(client, "car-1").await["results"], listed["results"]);
    let deleted = client.get("/v4/ad/car-1").await.expect(200);
    assert_eq!(client.get("/v4/ad/car-1?at=2999-01-01T00:00:00Z").await.expect(200)["state"], deleted["state"]);
    assert_eq!(client.get(&at(&restored["updated"])).await.expect(200)["state"], "created");
    client.post(&restore("/v4/ad", "0"), &Value::Null).await.expect(400);

    let token = client.token.as_deref().unwrap();
    let api = ApiClient::builder(&client.base).token(token).rate(None).build().unwrap();
    let typed = api.v4().revision(Target::from("car-1"), 1).await.unwrap().body;
    assert_eq!(serde_json::to_value(&typed).unwrap(), client.get("/v4/ad/car-1/revisions/1").await.expect(200));
}

#[tokio::test]
async fn every_accepted_change_is_recorded() {
    every_change_is_recorded(&[]).await;
}

#[tokio::test]
async fn every_accepted_change_is_recorded_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    every_change_is_recorded(&["--database-url", &postgres.database().await]).await;
}

#[tokio::test]
async fn the_command_line_shows_and_restores_what_an_ad_said() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/boat", &new_boat()).await.expect(201);
    let api = ApiClient::builder(&server.client.base).token(server.client.token.as_deref().unwrap()).build().unwrap();
    api.typed("boat").update("boat-1", &json!({"body": "Second"})).await.unwrap();

    let shown = cli.run("history boat-1").await;
    let lines: Vec<_> = shown.done().lines().collect();
    assert!(lines[0].starts_with("REVISION") && lines.len() == 3, "{shown:?}");
    assert!(lines[1].contains("update") && lines[1].contains("command line"), "{shown:?}");
    assert!(lines[2].contains("create"), "{shown:?}");
    let listed = cli.run("history boat-1 --output json").await.json();
    assert_eq!(listed, server.client.get("/v4/ad/boat-1/revisions").await.expect(200)["results"]);

    let first = cli.run("get boat-1 --revision 0 --output json").await.json();
    assert_eq!(first, server.client.get("/v4/ad/boat-1/revisions/0").await.expect(200));
    let at = listed[1]["created"].as_str().unwrap();
    assert_eq!(cli.run(&format!("get boat-1 --at {at} --output json")).await.json(), first);
    let shown = cli.run("get boat-1 --revision 0").await;
    assert!(shown.stderr.contains("revision 0; to restore it: ad-cli restore boat-1 0"), "{shown:?}");
    assert_eq!(cli.run("get boat-1 --at 2020-01-01T00:00:00Z").await.code, 3);
    assert_eq!(cli.run("restore boat-1 7").await.code, 1);

    let restored = cli.run("restore boat-1 0 --wait --output json").await.json();
    assert_eq!((&restored[0]["outcome"], &restored[0]["ad"]["body"]), (&json!("published"), &first["body"]));
    assert_eq!(numbers(&server.client.get("/v4/ad/boat-1/revisions").await.expect(200)), [2, 1, 0]);
}

/// The members of an ad that its dealer writes.
fn content(ad: &Value) -> Value {
    let names = ["title", "body", "visible", "price", "url", "location", "contact", "category_fields"];
    names.into_iter().map(|name| (name.to_owned(), ad[name].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// The revision that an answer shows.
fn revision_of(answer: &Answer) -> i64 {
    let tag = answer.header("etag").unwrap_or_else(|| panic!("{answer:?}")).trim_matches('"');
    tag.split('.').next().unwrap().parse().unwrap()
}

/// Changes and restores ads of all types at random, and kills the server while it does so.
async fn every_accepted_change_is_there_after_kills(database: &[&str]) {
    const CHANGES: usize = 300;
    let args = database.iter().map(|arg| (*arg).to_owned()).collect();
    let mut server = Server::with(Options { args, ..Options::default() }).await;
    let rulebook = Rulebook::default();
    let mut ads = Vec::new();
    for (vehicle_type, category) in typed().filter(|(_, category)| category.id != TRAILER) {
        let mut example = category.example(ApiVersion::V4, &rulebook);
        for name in ["dealer_code", "salesperson", "image_urls"] {
            example.remove(name);
        }
        example.insert("source_id".to_owned(), json!(vehicle_type));
        let created = server.client.post(&format!("/v4/{vehicle_type}"), &example.into()).await;
        let revision = revision_of(&created);
        let ad = created.expect(201);
        ads.push((vehicle_type, BTreeMap::from([(revision, ad)])));
    }
    let mut random = 49_u64;
    let mut below = |end: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % end
    };
    let mut lost = 0;
    for number in 1..=CHANGES {
        let at = below(ads.len());
        let (source_id, known) = &mut ads[at];
        let back = *known.keys().nth(below(known.len())).unwrap();
        let restored = (below(4) == 0).then(|| known[&back].clone());
        let path = format!("/v4/{source_id}/{source_id}");
        // Which prices an ad may have depends on its type.
        let mut prices = known.values().next().unwrap()["price"].clone();
        if let Some(price) = prices.get_mut(0) {
            price["amount"] = json!(number);
        }
        let update = match number % 4 {
            0 => json!({"body": format!("Text {number}"), "url": format!("https://a.example/{number}")}),
            1 => json!({"price": prices}),
            2 => json!({"url": null, "price": prices}),
            _ => json!({"body": null}),
        };
        let client = server.client.clone();
        let send = async {
            match &restored {
                Some(_) => client.try_send(Method::POST, &format!("{path}/revisions/{back}/restore"), None).await,
                None => client.try_send(Method::PATCH, &path, Some(update.to_string().into_bytes())).await,
            }
        };
        let answer = if number % 40 == 0 {
            let (answer, ()) = join(send, server.kill()).await;
            server.restart().await;
            answer
        } else {
            send.await
        };
        let Ok(answer) = answer else {
            lost += 1;
            continue;
        };
        let revision = revision_of(&answer);
        let ad = answer.expect(200);
        match restored {
            Some(earlier) => assert_eq!(content(&ad), content(&earlier), "{source_id} {back}"),
            None => {
                for name in ["body", "url"].into_iter().filter(|name| update.get(name).is_some()) {
                    assert_eq!(ad[name], update[name], "{source_id}");
                }
            }
        }
        known.insert(revision, ad);
    }
    assert!(lost <= CHANGES / 40, "only what was sent while the server was killed has no answer");
    for (source_id, known) in ads {
        every_publish_has_its_calls(&server.client, source_id).await;
        let listed = server.client.get(&format!("/v4/ad/{source_id}/revisions?limit=500")).await.expect(200);
        assert_eq!(numbers(&listed).last(), Some(&0), "{source_id} from the beginning");
        for (revision, ad) in known {
            let shown = server.client.get(&format!("/v4/ad/{source_id}/revisions/{revision}")).await.expect(200);
            assert_eq!(content(&shown), content(&ad), "{source_id} {revision}");
            let path = format!("/v4/ad/{source_id}?at={}", ad["updated"].as_str().unwrap());
            let then = server.client.get(&path).await.expect(200);
            // Two changes may come in the same millisecond.
            assert!(
                content(&then) == content(&ad) || then["updated"] == ad["updated"],
                "{source_id} {revision}: {then}"
            );
        }
    }
}

/// Of each publish that ended well, the marketplaces have been called, and each call that was done is recorded once.
async fn every_publish_has_its_calls(client: &Client, source_id: &str) {
    client.published(source_id).await;
    let log = client.get(&format!("/v4/ad/{source_id}/log?limit=500&action=publish&state=done")).await.expect(200);
    let calls = client.get(&format!("/v4/ad/{source_id}/calls?limit=500")).await.expect(200);
    let calls = calls["results"].as_array().unwrap();
    for entry in log["results"].as_array().unwrap() {
        let of_request = calls.iter().filter(|call| call["request_id"] == entry["request_id"]);
        let done: Vec<_> =
            of_request.filter(|call| call["action"] != "find_by_plate" && call["status"] == 200).collect();
        let keys: BTreeSet<_> = done.iter().map(|call| call["idempotency_key"].to_string()).collect();
        assert!(!done.is_empty() && keys.len() == done.len(), "{source_id} {entry}: {calls:?}");
    }
}

#[tokio::test]
async fn a_killed_server_has_recorded_every_accepted_change() {
    every_accepted_change_is_there_after_kills(&[]).await;
}

#[tokio::test]
async fn a_killed_server_has_recorded_every_accepted_change_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    every_accepted_change_is_there_after_kills(&["--database-url", &postgres.database().await]).await;
}
