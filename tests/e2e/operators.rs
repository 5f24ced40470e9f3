//! What operators see and do by commands: who has work in the queue, which ads failed and why, pauses of marketplaces, suspended
//! dealers, tokens, and the audit log. On both databases.

use std::path::Path;

use ad_tests::{Client, Options, Postgres, Server, eventually, run};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// A sandbox, whose marketplaces fail on demand, and its database as an argument.
async fn start(database: Option<String>) -> (Server, Vec<String>) {
    let database = database.map_or_else(Vec::new, |url| vec!["--database-url".to_owned(), url]);
    let args = [&["--sandbox".to_owned()], &database[..]].concat();
    (Server::with(Options { args, ..Options::default() }).await, database)
}

/// Runs a command that must succeed, and returns its stdout.
async fn done(dir: &Path, line: &str, database: &[String]) -> String {
    let args: Vec<&str> = line.split_whitespace().chain(database.iter().map(String::as_str)).collect();
    let output = run(dir, &args).await;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn json_of(dir: &Path, line: &str, database: &[String]) -> Value {
    serde_json::from_str(&done(dir, &format!("{line} --json"), database).await).unwrap()
}

async fn client_of(server: &Server, database: &[String], issue: &str) -> Client {
    let token = done(server.dir(), &format!("token issue {issue}"), database).await;
    server.client.with_token(Some(token.trim().to_owned()))
}

/// Runs a test on SQLite, and on PostgreSQL if it is installed.
async fn on_both<F: Future<Output = ()>>(test: impl Fn(Option<String>) -> F) {
    test(None).await;
    if let Some(postgres) = Postgres::shared().await {
        test(Some(postgres.database().await)).await;
    }
}

#[tokio::test]
async fn work_for_a_paused_marketplace_waits_and_says_so_until_it_is_resumed() {
    on_both(|database| async {
        let (server, database) = start(database).await;
        let client = client_of(&server, &database, "--dealer-code north-cars").await;
        let command = async |line: &str| done(server.dir(), line, &database).await;
        client.post("/v4/car", &plain_car("before", "PAU001")).await.expect(201);
        client.published("before").await;
        let mut pause = vec!["marketplaces", "pause", "secondary", "--reason", "their upgrade"];
        pause.extend(database.iter().map(String::as_str));
        assert!(run(server.dir(), &pause).await.status.success());

        // Within a second, every request waits.
        let mut number = 0;
        let waiting = eventually("a request waits for the pause", || {
            number += 1;
            let source_id = format!("car-{number}");
            let client = &client;
            async move {
                client.post("/v4/car", &plain_car(&source_id, &format!("PAU{:03}", number + 100))).await.expect(201);
                eventually("it is published or waits", || async {
                    let status = client.get(&format!("/v4/ad/{source_id}/status")).await.expect(200);
                    ["live", "waiting"].contains(&status["status"].as_str().unwrap()).then_some(status)
                })
                .await["channels"][1]["status"]
                    .as_str()
                    .filter(|status| *status == "paused")
                    .map(|_| source_id)
            }
        })
        .await;
        let status = client.get(&format!("/v4/ad/{waiting}/status")).await.expect(200);
        let channel = &status["channels"][1];
        assert_eq!(
            (&channel["code"], &channel["who_acts"], &channel["attempts"]),
            (&json!("marketplace_paused"), &json!("operator"), &json!(0)),
            "{status}"
        );
        assert!(channel["text"].as_str().unwrap().contains("their upgrade"), "{status}");
        assert_eq!(status["channels"][0]["status"], "live", "the other marketplace is called: {status}");
        let shown = command(&format!("ads show {waiting} --dealer-code north-cars")).await;
        assert!(shown.contains("marketplace_paused") && shown.contains("their upgrade"), "{shown}");
        let paused = json_of(server.dir(), "marketplaces status", &database).await;
        assert_eq!(paused["waiting"], 1);
        assert_eq!(paused["marketplaces"][1]["paused"]["reason"], "their upgrade");
        assert_eq!(paused["marketplaces"][0]["paused"], Value::Null);
        let listed = json_of(server.dir(), "ads list --marketplace secondary", &database).await;
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        let listed = json_of(server.dir(), "ads list --marketplace primary", &database).await;
        assert_eq!(listed, json!([]));

        command("marketplaces resume secondary").await;
        client.published(&waiting).await;
        assert_eq!(json_of(server.dir(), "marketplaces", &database).await["waiting"], 0);
        let mut again = vec!["marketplaces", "resume", "secondary"];
        again.extend(database.iter().map(String::as_str));
        assert_eq!(run(server.dir(), &again).await.status.code(), Some(1), "it is not paused any more");
    })
    .await;
}

#[tokio::test]
async fn a_suspended_dealer_reads_and_deletes_but_changes_nothing() {
    on_both(|database| async {
        let (server, database) = start(database).await;
        let north = client_of(&server, &database, "--dealer-code north-cars").await;
        let other = client_of(&server, &database, "--dealer-code other").await;
        north.post("/v4/car", &plain_car("a", "SUS001")).await.expect(201);
        north.published("a").await;
        let mut suspend = vec!["dealers", "suspend", "north-cars", "--reason", "sends in a loop"];
        suspend.extend(database.iter().map(String::as_str));
        assert!(run(server.dir(), &suspend).await.status.success());
        let refused = eventually("the server obeys", || async {
            let answer = north.patch("/v4/car/a", &json!({"body": "New"})).await;
            (answer.status != 200).then_some(answer)
        })
        .await;
        assert!(refused.expect(400).to_string().contains("sends in a loop"));
        north.post("/v4/car", &plain_car("b", "SUS002")).await.expect(400);
        other.post("/v4/car", &plain_car("c", "SUS003")).await.expect(201);
        north.get("/v4/ad/a").await.expect(200);
        // An update that was accepted before the server obeyed is still finished.
        let shown = eventually("the ad is live", || async {
            let shown = json_of(server.dir(), "dealers show north-cars", &database).await;
            (shown["ads"]["live"] == 1).then_some(shown)
        })
        .await;
        assert_eq!(shown["suspended"]["reason"], "sends in a loop");
        assert_eq!(shown["tokens"], 2, "{shown}");
        north.delete("/v4/ad/a").await.expect(200);
        done(server.dir(), "dealers resume north-cars", &database).await;
        eventually("the server obeys", || async {
            (north.post("/v4/car", &plain_car("b", "SUS002")).await.status == 201).then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn the_queue_shows_who_fills_it_and_when_it_drains() {
    on_both(|database| async {
        let (server, database) = start(database).await;
        let north = client_of(&server, &database, "--dealer-code north-cars").await;
        let boats = client_of(&server, &database, "--dealer-code coast-boats").await;
        north.post("/v4/car", &plain_car("done", "QUE001")).await.expect(201);
        north.published("done").await;
        done(server.dir(), "marketplaces pause primary --reason x", &database).await;
        done(server.dir(), "marketplaces pause secondary --reason x", &database).await;
        let shown = eventually("requests of both wait", || async {
            let number = fastrand::u32(100..1000);
            let id = format!("car-{}", fastrand::u64(..));
            north.post("/v4/car", &plain_car(&id, &format!("QAE{number}"))).await.expect(201);
            boats.post("/v4/car", &plain_car(&id, &format!("QBE{number}"))).await.expect(201);
            let shown = json_of(server.dir(), "queue", &database).await;
            let of = |dealer: &str| {
                let dealers = shown["dealers"].as_array().unwrap();
                dealers.iter().find(|it| it["dealer_code"] == dealer).map(|it| it["unfinished"].as_u64().unwrap())
            };
            (of("north-cars") > Some(1) && of("coast-boats") > Some(1)).then(|| shown.clone())
        })
        .await;
        let dealers = shown["dealers"].as_array().unwrap();
        let north = dealers.iter().find(|it| it["dealer_code"] == "north-cars").unwrap();
        assert!(north["finished"].as_u64() >= Some(1) && north["drains_in"].is_u64(), "{shown}");
        let table = done(server.dir(), "queue", &database).await;
        assert!(table.contains("DRAINS") && table.contains("coast-boats"), "{table}");
        let waiting = json_of(server.dir(), "queue list --code marketplace_paused", &database).await;
        assert!(!waiting.as_array().unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn acts_of_operators_are_recorded_and_tokens_are_found_by_dealer() {
    on_both(|database| async {
        let (server, database) = start(database).await;
        let client = client_of(&server, &database, "--dealer-code coast-boats --label stock-system").await;
        client.get("/v4/ad").await.expect(200);
        done(server.dir(), "token issue --dealer-code coast-boats", &database).await;
        done(server.dir(), "token issue --dealer-code other", &database).await;
        let tokens = json_of(server.dir(), "token list --dealer-code coast-boats", &database).await;
        let [first, _] = tokens.as_array().unwrap().as_slice() else { panic!("{tokens}") };
        assert_eq!(first["label"], "stock-system");
        eventually("its use is noted", || async {
            let tokens = json_of(server.dir(), "token list --dealer-code coast-boats", &database).await;
            (tokens[0]["last_used"].is_string() && tokens[1]["last_used"].is_null()).then_some(())
        })
        .await;
        assert!(first["kid"].is_string() && first["issued_by"].is_string(), "{first}");
        done(server.dir(), "token revoke --dealer-code coast-boats", &database).await;
        eventually("both are rejected", || async { (client.get("/v4/ad").await.status == 401).then_some(()) }).await;
        let audit = json_of(server.dir(), "audit list", &database).await;
        let acts: Vec<_> = audit.as_array().unwrap().iter().map(|it| it["act"].as_str().unwrap()).collect();
        let issued = ["token issue"; 3];
        assert_eq!(acts[..5], [&["token revoke"; 2][..], &issued].concat(), "{audit}");
        assert!(audit[0]["subject"] == tokens[1]["jti"] && audit[0]["details"] == "coast-boats", "{audit}");
        assert!(audit[0]["operator"].is_string() && audit[0]["at"].is_string());
    })
    .await;
}

#[tokio::test]
async fn a_dealer_that_does_not_exist_is_not_shown_and_the_audit_log_is_in_plain_words() {
    on_both(|database| async {
        let (server, database) = start(database).await;
        let unknown = ["dealers", "show", "nobody"].into_iter().chain(database.iter().map(String::as_str));
        let output = run(server.dir(), &unknown.collect::<Vec<_>>()).await;
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no dealer \"nobody\""), "{output:?}");
        let filter = "--status failed,partly_live --code marketplace_refused --marketplace primary";
        done(server.dir(), &format!("ads retry {filter} --yes"), &database).await;
        let audit = json_of(server.dir(), "audit list", &database).await;
        let details = "status failed,partly_live, code marketplace_refused, not live on primary";
        assert_eq!((&audit[0]["act"], &audit[0]["details"]), (&json!("ads retry"), &json!(details)), "{audit}");
    })
    .await;
}
