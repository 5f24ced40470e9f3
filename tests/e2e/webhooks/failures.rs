//! Receivers that fail in every way, and others that are not late for it.

use std::time::Duration;

use ad_tests::{Behaviour, run};

use super::*;
use crate::console::Visitor;

async fn receivers_fail(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let server = server(database).await;
    let client = &server.client;
    for (at, behaviour) in [
        ("/error", Behaviour::Status(500)),
        ("/busy", Behaviour::Busy(3)),
        ("/moved", Behaviour::Redirect),
        ("/gone", Behaviour::Status(410)),
        ("/silent", Behaviour::Hang),
        ("/endless", Behaviour::Gigabyte),
    ] {
        receiver.behave(at, behaviour);
    }
    let mut webhooks = Vec::new();
    for at in ["/error", "/busy", "/moved", "/gone", "/silent", "/endless", "/good"] {
        webhooks.push(create(client, &receiver.url(at)).await);
    }
    let dead = create(client, "http://127.0.0.1:9/").await;
    let [error, busy, moved, gone, silent, endless, _good] = &webhooks[..] else { unreachable!() };
    cars(client, "AAA", 1).await;
    arrived(&receiver, "/silent", "AAA", 1).await;
    cars(client, "BBB", 3).await;
    arrived(&receiver, "/good", "BBB", 3).await;
    let waiting = deliveries(client, silent).await;
    assert!(
        waiting.iter().all(|it| it["attempts"] == json!([])),
        "others were not late for the one that hangs: {waiting:?}"
    );

    let first = async |webhook: &Value| {
        eventually("an attempt", || async {
            let oldest = deliveries(client, webhook).await.pop()?;
            let attempt = oldest["attempts"].get(0)?.clone();
            Some((oldest, attempt))
        })
        .await
    };
    let (_, attempt) = first(error).await;
    assert_eq!((&attempt["status"], &attempt["error"]), (&json!(500), &json!("answered 500")));
    assert_eq!(attempt["response"], "answer 500");
    let (_, attempt) = first(moved).await;
    assert_eq!(attempt["error"], "answered 301; redirects are not followed");
    assert!(receiver.received("/redirected").is_empty());
    let (_, attempt) = first(endless).await;
    assert_eq!(attempt["response"].as_str().unwrap(), "x".repeat(500));
    let (_, attempt) = first(&dead).await;
    assert_eq!((&attempt["status"], &attempt["error"]), (&Value::Null, &json!("the host refuses connections")));

    // Gone: disabled, until it is enabled; then the same event comes again.
    let disabled = eventually("it is disabled", || async {
        let webhook = client.get(&path(gone)).await.expect(200);
        (webhook["enabled"] == false).then_some(webhook)
    })
    .await;
    assert_eq!(disabled["disabled_reason"], "gone");
    let refused = receiver.received("/gone");
    receiver.behave("/gone", Behaviour::Status(204));
    client.patch(&path(gone), &json!({"enabled": true})).await.expect(200);
    let again = arrived(&receiver, "/gone", "AAA", 1).await;
    assert_eq!(again[0].id(), refused[0].id());
    arrived(&receiver, "/gone", "BBB", 3).await;

    // The others get what they missed when they are well again, with the ids that the events had before.
    let before = receiver.received("/error");
    for at in ["/error", "/busy", "/moved", "/endless"] {
        receiver.behave(at, Behaviour::Status(200));
    }
    for webhook in [error, busy, moved, endless] {
        eventually("nothing is pending", || async {
            let webhook = client.get(&path(webhook)).await.expect(200);
            (webhook["pending"] == 0 && webhook["last_success"].is_string()).then_some(())
        })
        .await;
    }
    let again = receiver.received("/error");
    assert!(before.iter().all(|one| again[before.len()..].iter().any(|other| other.id() == one.id())));
    let of_busy = receiver.received("/busy");
    let times: Vec<_> = of_busy.iter().filter(|it| it.id() == of_busy[0].id()).map(|it| it.at).collect();
    assert!(times[1] - times[0] >= Duration::from_secs(3), "Retry-After is honoured");
    let taken = receiver.sent() / receiver.received("/endless").len();
    assert!(taken < 32 << 20, "a body is not read to its end: {taken} bytes for each");
    assert!(client.get(&path(silent)).await.expect(200)["enabled"] == true);
}

#[tokio::test]
async fn every_failure_is_retried_and_nobody_else_is_late() {
    receivers_fail(None).await;
}

#[tokio::test]
async fn every_failure_is_retried_and_nobody_else_is_late_with_postgresql() {
    let Some(database) = postgres().await else { return };
    receivers_fail(Some(&database)).await;
}

#[tokio::test]
async fn a_delivery_fails_after_its_last_attempt_and_does_not_hold_up_later_ones() {
    let receiver = WebhookReceiver::start().await;
    let server = server_with(None, &["--webhook-retries", "1s"]).await;
    let client = &server.client;
    receiver.behave("/hook", Behaviour::Status(500));
    let webhook = create(client, &receiver.url("/hook")).await;
    cars(client, "AAA", 1).await;
    let failed = eventually("it has failed", || async {
        let list = client.get(&format!("{}/deliveries?state=failed", path(&webhook))).await.expect(200);
        list["results"].get(0).cloned()
    })
    .await;
    assert_eq!((failed["attempts"].as_array().unwrap().len(), &failed["next_attempt"]), (2, &Value::Null));
    receiver.behave("/hook", Behaviour::Status(200));
    cars(client, "BBB", 1).await;
    arrived(&receiver, "/hook", "BBB", 1).await;
}

#[tokio::test]
async fn an_endpoint_without_a_success_is_disabled_and_says_so() {
    let receiver = WebhookReceiver::start().await;
    let args = ["--webhook-retries", "1s,1s,1s,1s,1s,1s,1s,1s", "--webhook-disabled-after", "3s"];
    let server = server_with(None, &args).await;
    let client = &server.client;
    receiver.behave("/hook", Behaviour::Status(500));
    let webhook = create(client, &receiver.url("/hook")).await;
    cars(client, "AAA", 1).await;
    let disabled = eventually("it is disabled", || async {
        let webhook = client.get(&path(&webhook)).await.expect(200);
        (webhook["enabled"] == false).then_some(webhook)
    })
    .await;
    assert_eq!((&disabled["disabled_reason"], &disabled["pending"]), (&json!("failing"), &json!(1)));
    assert!(server.said().iter().any(|line| line.contains("webhook disabled") && line.contains("failing")));
    receiver.behave("/hook", Behaviour::Status(200));
    client.patch(&path(&webhook), &json!({"enabled": true})).await.expect(200);
    eventually("it is delivered", || async {
        (client.get(&path(&webhook)).await.expect(200)["pending"] == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_name_that_turns_private_is_not_connected_to() {
    let receiver = WebhookReceiver::start().await;
    let mut server = server(None).await;
    // When it was created, the address was permitted.
    let url = receiver.url("/hook").replace("http://127.0.0.1", "https://localhost");
    let webhook = create(&server.client, &url).await;
    server.restart_with(Options::default()).await;
    cars(&server.client, "AAA", 1).await;
    let attempt = eventually("an attempt", || async {
        let oldest = deliveries(&server.client, &webhook).await.pop()?;
        oldest["attempts"].get(0).cloned()
    })
    .await;
    assert_eq!(attempt["error"], "the address resolves to a private network");
}

async fn the_key_is_missing(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let mut server = server(database).await;
    let webhook = create(&server.client, &receiver.url("/hook")).await;
    let key = server.dir().join("data/webhook-key");
    let url = database.map_or_else(|| "sqlite:data/ads.db".to_owned(), str::to_owned);
    let of_check = async |server: &Server| {
        let printed = run(server.dir(), &["check", "--database-url", &url, "--json"]).await;
        let checks: Vec<Value> = serde_json::from_slice(&printed.stdout).unwrap();
        let check = checks.iter().find(|it| it["check"] == "webhook secrets").unwrap().clone();
        (check["ok"].as_bool().unwrap(), check["detail"].as_str().unwrap().to_owned())
    };
    assert_eq!(of_check(&server).await, (true, "can be read for 1 webhook".to_owned()));

    // As on a second machine to which nobody has copied the key: it makes one of its own.
    server.stop().await;
    let right = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let unreadable = "cannot be read for 1 of 1 webhook: nothing is sent to them; copy webhook_key from the processes that created \
                      them to ./data/webhook-key";
    assert_eq!(of_check(&server).await, (false, unreadable.to_owned()), "the file is not there");
    assert!(!key.exists(), "a check creates nothing");
    server.restart().await;
    assert_eq!(of_check(&server).await, (false, unreadable.to_owned()), "the file has another key");
    let shown = server.client.get(&path(&webhook)).await.expect(200);
    assert_eq!((&shown["enabled"], &shown["problem"]), (&json!(true), &json!("secret_unreadable")), "{shown}");
    let visitor = Visitor::signed_in(&server.client).await;
    for (page, expected) in [
        ("/console/webhooks".to_owned(), "cannot be sent: key"),
        (format!("/console/webhook?id={}", webhook["id"].as_str().unwrap()), "Ask the operator"),
    ] {
        let page = visitor.page(&page).await;
        assert!(page.contains(expected), "{page}");
    }
    let disabled = server.client.patch(&path(&webhook), &json!({"enabled": false})).await.expect(200);
    assert_eq!(disabled.get("problem"), None, "what is disabled has another reason");
    server.client.patch(&path(&webhook), &json!({"enabled": true})).await.expect(200);
    cars(&server.client, "KEY", 1).await;
    server.client.published("KEY-0").await;

    server.stop().await;
    std::fs::write(&key, right).unwrap();
    server.restart().await;
    arrived(&receiver, "/hook", "KEY", 1).await;
    assert_eq!(server.client.get(&path(&webhook)).await.expect(200).get("problem"), None);
    assert_eq!(of_check(&server).await, (true, "can be read for 1 webhook".to_owned()));
}

#[tokio::test]
async fn a_webhook_whose_secret_no_process_can_read_says_so() {
    the_key_is_missing(None).await;
}

#[tokio::test]
async fn a_webhook_whose_secret_no_process_can_read_says_so_in_postgresql() {
    let Some(database) = postgres().await else { return };
    the_key_is_missing(Some(&database)).await;
}
