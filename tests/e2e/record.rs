//! The calls of marketplaces about an ad, and its signed record (extensions E10), on both databases, through the API and the command line,
//! and verified by the program of `docs/record.md`.

use std::{fs, path::Path};

use ad_tests::{
    Cli, Client, Marketplace, Options, Postgres, Server,
    tools::{self, Tool},
};
use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::payloads::plain_car;

const GUIDE: &str = include_str!("../../docs/record.md");

/// What calls say whichever marketplaces are called.
fn asked(calls: &Value) -> Vec<Value> {
    let of = |call: &Value| {
        let names = ["marketplace", "action", "status", "code", "revision"];
        let mut shown: Map<_, _> = names.map(|name| (name.to_owned(), call[name].clone())).into_iter().collect();
        for name in ["listing_id", "content_sha256", "idempotency_key"] {
            shown.insert(name.to_owned(), call[name].is_string().into());
        }
        shown.into()
    };
    let mut asked: Vec<_> = calls["results"].as_array().unwrap().iter().map(of).collect();
    // Both marketplaces are called at the same time.
    asked.sort_by_key(Value::to_string);
    asked
}

/// The calls about a car that is published, bumped and deleted.
async fn calls_of(client: &Client) -> (Value, Vec<Value>) {
    client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    client.published("car-1").await;
    client.post("/v4/car/car-1/bump", &Value::Null).await.expect(200);
    client.ended("car-1", "bump", None).await;
    client.delete("/v4/car/car-1").await.expect(200);
    client.ended("car-1", "delete", None).await;
    let calls = client.get("/v4/car/car-1/calls").await.expect(200);
    for base in ["/v4/ad", "/v3/ad"] {
        assert_eq!(client.get(&format!("{base}/car-1/calls")).await.expect(200)["results"], calls["results"]);
    }
    let asked = asked(&calls);
    (calls, asked)
}

#[tokio::test]
async fn every_call_is_recorded_alike_of_local_marketplaces_and_those_over_http() {
    let Some(postgres) = Postgres::shared().await else { return };
    let postgres = ["--database-url".to_owned(), postgres.database().await];
    let server = Server::with(Options { args: postgres.into(), ..Options::default() }).await;
    let (calls, local) = calls_of(&server.client).await;
    assert_eq!((&calls["count"], local.len()), (&json!(6), 6), "{calls}");
    let newest = &calls["results"][0];
    assert_eq!(
        (&newest["action"], &newest["status"], &newest["code"]),
        (&json!("unpublish"), &json!(204), &Value::Null)
    );
    let page = server.client.get("/v4/ad/car-1/calls?limit=3&offset=4").await.expect(200);
    assert_eq!(page["results"], json!(calls["results"].as_array().unwrap()[4..]));

    let marketplace = Marketplace::start(&[]).await;
    let server = Server::with(marketplace.options(&[])).await;
    assert_eq!(calls_of(&server.client).await.1, local);
}

/// Saves the record of a car that was changed.
async fn save(server: &Server, folder: &Path) -> Vec<u8> {
    let client = &server.client;
    client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    let changed = client.patch("/v4/car/car-1", &json!({"body": "Skick: \u{e4}lskad"})).await;
    client.ended("car-1", "publish", changed.header("x-request-id")).await;
    let record = client.get("/v4/ad/car-1/record").await;
    fs::write(folder.join("car-1.record.json"), &record.bytes).unwrap();
    let keys = client.with_token(None).get("/.well-known/jwks.json").await;
    assert_eq!(keys.header("content-type"), Some("application/jwk-set+json"));
    fs::write(folder.join("keys.json"), &keys.bytes).unwrap();
    record.bytes.to_vec()
}

#[tokio::test]
async fn a_record_has_everything_of_the_ad() {
    let Some(postgres) = Postgres::shared().await else { return };
    let args = ["--public-url", "https://ads.example", "--database-url", &postgres.database().await].map(str::to_owned);
    let server = Server::with(Options { args: args.into(), ..Options::default() }).await;
    let folder = tempfile::tempdir().unwrap();
    let signed: Value = serde_json::from_slice(&save(&server, folder.path()).await).unwrap();
    let record = &signed["record"];
    let client = &server.client;
    let of = async |what: &str| client.get(&format!("/v4/ad/car-1/{what}")).await.expect(200);
    assert_eq!((&record["ad"]["body"], &record["ad"]["revision"]), (&json!("Skick: \u{e4}lskad"), &json!(1)));
    for (name, listed) in [("revisions", of("revisions").await), ("calls", of("calls").await)] {
        assert_eq!(
            (&record[name]["count"], &record[name]["results"]),
            (&listed["count"], &listed["results"]),
            "{name}"
        );
    }
    let log = of("log?ordering=-created&limit=500").await;
    assert_eq!((&record["log"]["count"], &record["log"]["results"]), (&log["count"], &log["results"]));
    assert_eq!(record["service"], json!("https://ads.example"));
    assert_eq!((&record["charges"]["count"], &record["photos"]), (&json!(0), &json!([])));
    // Also of a deleted ad, and of nobody else's.
    client.delete("/v4/car/car-1").await.expect(200);
    client.ended("car-1", "delete", None).await;
    assert_eq!(of("record").await["record"]["ad"]["state"], "deleted");
    server.client_of(&["--dealer-code", "south-cars"]).await.get("/v4/ad/car-1/record").await.expect(404);
}

#[tokio::test]
async fn a_saved_record_is_verified_without_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start().await;
    let record = save(&server, folder.path()).await;
    let cli = Cli::of(&server);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (saved, keys) = (path("saved.json"), path("saved-keys.json"));
    cli.run(&format!("record car-1 --out {saved}")).await.done();
    cli.run(&format!("record keys --out {keys}")).await.done();
    // A file of somebody else is left.
    fs::write(path("mine.json"), "{}").unwrap();
    assert_eq!(cli.run(&format!("record car-1 --out {}", path("mine.json"))).await.code, 2);
    assert_eq!(cli.run(&format!("record car-1 --out {saved}")).await.code, 2);
    cli.run(&format!("record car-1 --force --out {saved}")).await.done();
    // Without keys, the service is asked for them. No token is needed for that.
    cli.run(&format!("record verify {saved}")).await.done();
    Cli::new().with("AD_URL", &server.client.base).run(&format!("record verify {saved}")).await.done();
    let mistyped = cli.run(&format!("record verfy {saved}")).await;
    assert!(mistyped.stderr.contains("to verify a saved record: ad-cli record verify FILE"), "{mistyped:?}");

    server.stop().await;
    for file in [path("car-1.record.json"), saved] {
        let verified = cli.run(&format!("record verify {file} --keys {keys}")).await;
        let said = verified.done();
        let expected = "whole and unchanged: the record of car-1 of dealer north-cars, made at ";
        assert!(said.starts_with(expected) && said.contains("2 revisions, "), "{said}");
    }
    let first = path("car-1.record.json");
    let facts = cli.run(&format!("record verify {first} --keys {keys} --output json")).await.json();
    assert_eq!((&facts["ad"]["source_id"], &facts["revisions"]), (&json!("car-1"), &json!({"present": 2, "all": 2})));
    let unsent = cli.run(&format!("record verify {first}")).await;
    assert!(unsent.code == 5 && unsent.stderr.contains("--keys FILE"), "{unsent:?}");
    let verify = async |bytes: &[u8]| {
        fs::write(path("changed.json"), bytes).unwrap();
        cli.run(&format!("record verify {} --keys {keys}", path("changed.json"))).await
    };
    let text = String::from_utf8(record.clone()).unwrap();
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let mut shorter = parsed.clone();
    shorter["record"]["log"]["results"].as_array_mut().unwrap().pop();
    let mut strange = parsed.clone();
    strange["record"]["log"]["results"][0]["request_id"] = json!("01a1fa93-5971-7147-bce3-60bca733d9f8");
    let changed = [text.replace("lskad", "lskat"), shorter.to_string(), strange.to_string(), format!("{parsed:#}")];
    for changed in changed {
        let refused = verify(changed.as_bytes()).await;
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains("it was changed after the service signed it"), "{refused:?}");
    }
    // Every byte counts.
    for place in (0..record.len()).step_by(101) {
        let mut changed = record.clone();
        changed[place] ^= 1;
        let refused = verify(&changed).await;
        assert!(matches!(refused.code, 1 | 2), "{place}: {refused:?}");
    }
    assert_eq!(verify(&record[..record.len() / 2]).await.code, 2);
    assert_eq!(verify(b"{}").await.code, 2);
    assert_eq!(verify(text.replacen('{', r#"{"verified":true,"#, 1).as_bytes()).await.code, 2);
    assert_eq!(verify(&record).await.code, 0);
}

#[tokio::test]
async fn a_record_of_another_service_is_told_apart_and_old_keys_stay_published() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start().await;
    save(&server, folder.path()).await;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let other = Server::start().await;
    let cli = Cli::of(&other);
    let refused = cli.run(&format!("record verify {}", path("car-1.record.json"))).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("signed with another key than these: by another service"), "{refused:?}");

    // A new key signs, and the old one verifies.
    let file = server.dir().join("data/webhook-key");
    let old = fs::read_to_string(&file).unwrap();
    let new = fs::read_to_string(other.dir().join("data/webhook-key")).unwrap();
    fs::write(&file, format!("{new}{old}")).unwrap();
    server.restart().await;
    let cli = Cli::of(&server);
    cli.run(&format!("record verify {}", path("car-1.record.json"))).await.done();
    cli.run(&format!("record car-1 --out {}", path("new.json"))).await.done();
    let refused = cli.run(&format!("record verify {} --keys {}", path("new.json"), path("keys.json"))).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    Cli::of(&other).run(&format!("record verify {}", path("new.json"))).await.done();
}

#[tokio::test]
async fn another_library_verifies_a_record() {
    let Some(python) = tools::find(Tool::Python("import jwcrypto")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start().await;
    let record = save(&server, folder.path()).await;
    let (_, program) = GUIDE.split_once("```python\n").unwrap();
    fs::write(folder.path().join("verify.py"), program.split_once("```").unwrap().0).unwrap();
    let verify = async || {
        let args = ["verify.py", "car-1.record.json", "keys.json"];
        Command::new(&python).args(args).current_dir(folder.path()).output().await.unwrap()
    };
    let verified = verify().await;
    let printed = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success() && printed.contains("car-1 is whole and unchanged"), "{verified:?}");
    let changed = String::from_utf8(record).unwrap().replace("lskad", "lskat");
    fs::write(folder.path().join("car-1.record.json"), changed).unwrap();
    let refused = verify().await;
    assert!(!refused.status.success(), "{refused:?}");
}
