//! Writes that are bound to a revision, and what has become of requests.

use std::sync::atomic::{AtomicU32, Ordering};

use ad_cli::{Client, ErrorKind, bulk::write_if};
use ad_tests::{Cli, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// The tag that `get` shows.
async fn etag(cli: &Cli) -> String {
    let shown = cli.run("get car-1 --output wide").await;
    let line = shown.stderr.lines().find_map(|line| line.strip_prefix("ETag: "));
    line.unwrap_or_else(|| panic!("{shown:?}")).to_owned()
}

#[tokio::test]
async fn an_update_changes_the_revision_that_it_names_or_nothing() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    server.client.published("car-1").await;
    let before = etag(&cli).await;
    let update = async |tag: &str, body: &str| {
        cli.args(["update", "car-1", "--if-match", tag, "--set", &format!("body={body}")]).await
    };
    update(&before, "First").await.done();
    let late = update(&before, "Second").await;
    assert_eq!(late.code, 3, "{late:?}");
    assert!(late.stderr.contains("error: nothing was changed: ") && late.stderr.contains("ad-cli get"), "{late:?}");
    assert_eq!(server.client.ad("car-1").await["body"], "First");
    // Shells take the quotes away; the part before the point is enough.
    let now = etag(&cli).await.replace('"', "");
    update(now.split('.').next().unwrap(), "Third").await.done();
    update("*", "Fourth").await.done();
    assert_eq!(server.client.ad("car-1").await["body"], "Fourth");
    assert_eq!(update("\"1\", \"2\"", "Fifth").await.code, 2);
}

#[tokio::test]
async fn an_ad_that_others_change_meanwhile_is_read_again() {
    let server = Server::start().await;
    let token = server.client.token.as_deref().unwrap();
    let client = Client::builder(&server.client.base).token(token).rate(None).build().unwrap();
    client.typed("car").create(&plain_car("car-1", "ABC123")).await.unwrap();
    let (cars, looks) = (client.typed("car"), AtomicU32::new(0));
    let look = |ad: &ad_cli::Ad| {
        looks.fetch_add(1, Ordering::SeqCst);
        if ad.body.as_deref() == Some("Stop") { Err("stopped") } else { Ok(()) }
    };
    let other = json!({"body": "Of others"});
    let written = write_if(&cars, "car-1".into(), look, async |bound| {
        // The first time, somebody else is faster.
        if looks.load(Ordering::SeqCst) == 1 {
            cars.update("car-1", &other).await?;
            let error = bound.update("car-1", &json!({"body": "Lost"})).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::PreconditionFailed(_)) && error.is_refusal(), "{error:?}");
            return Err(error);
        }
        bound.update("car-1", &json!({"visible": false})).await
    });
    let written = written.await.unwrap().unwrap();
    assert_eq!((looks.load(Ordering::SeqCst), written.body.body.as_deref()), (2, Some("Of others")));
    assert!(!written.visible && written.etag.is_some());
    cars.update("car-1", &json!({"body": "Stop"})).await.unwrap();
    let refused = write_if(&cars, "car-1".into(), look, async |bound| bound.delete("car-1").await).await.unwrap();
    assert_eq!(refused.unwrap_err(), "stopped");
    let log = client.v4().read("car-1").await.unwrap().body.log.unwrap();
    assert!(log.iter().all(|entry| entry.action.name() != "delete"), "{log:?}");
}

#[tokio::test]
async fn a_request_is_shown_by_its_id() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("car.json", plain_car("car-1", "ABC123").to_string());
    let created = cli.run("create car.json --wait --output json").await.json();
    let id = created[0]["request_id"].as_str().unwrap();
    let status: Value = cli.run(&format!("request {id} --output json")).await.json();
    assert_eq!(
        (&status["request_id"], &status["source_id"], &status["state"]),
        (&json!(id), &json!("car-1"), &json!("done"))
    );
    let shown = cli.run(&format!("request {id}")).await;
    let text = shown.done();
    assert!(text.lines().any(|line| line.split_whitespace().eq(["state", "done"])), "{text}");
    assert!(text.contains("ACTION") && text.contains("publish"), "{text}");
    let unknown = cli.run("request 00000000-0000-4000-8000-000000000000").await;
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert_eq!(cli.run("request car-1").await.code, 2);
}
