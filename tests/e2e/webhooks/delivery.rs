//! Every event arrives, whatever happens to processes and endpoints.

use std::collections::BTreeSet;

use ad_core::{model::EventPosition, service::Access};
use ad_server::events::CursorScope;
use ad_tests::Process;

use super::*;

async fn delivered_across_kills(database: Option<&str>) {
    const CARS: usize = 40;
    let mut server = server(database).await;
    let receiver = WebhookReceiver::start().await;
    create(&server.client, &receiver.url("/hook")).await;
    for round in 0..4 {
        cars(&server.client, &format!("K{round}"), CARS / 4).await;
        server.kill().await;
        server.restart().await;
    }
    let mut ids = BTreeSet::new();
    for round in 0..4 {
        let received = arrived(&receiver, "/hook", &format!("K{round}"), CARS / 4).await;
        ids.extend(received.iter().map(|it| (it.id().to_owned(), it.json()["data"]["source_id"].to_string())));
    }
    let repeated = receiver.received("/hook").len() - ids.len();
    println!("{} events, {repeated} repeated", ids.len());
    assert_eq!(ids.len(), CARS, "a repeated event has the same id");
}

#[tokio::test]
async fn no_event_is_left_out_when_the_server_is_killed() {
    delivered_across_kills(None).await;
}

#[tokio::test]
async fn no_event_is_left_out_when_the_server_is_killed_with_postgresql() {
    let Some(database) = postgres().await else { return };
    delivered_across_kills(Some(&database)).await;
}

async fn another_process_goes_on(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    // This one serves the API alone; the workers are processes of their own.
    let server = server_with(database, &["--workers", "0"]).await;
    let args: Vec<String> = options(database, &["--webhook-retries", "1s,1s,1s"]).args;
    let args: Vec<&str> = ["worker"].into_iter().chain(args.iter().map(String::as_str)).collect();
    let worker = async || Process::start_until(server.dir(), &args, &[], &["working"]).await.0;
    let mut first = worker().await;
    create(&server.client, &receiver.url("/hook")).await;
    cars(&server.client, "ONE", 3).await;
    arrived(&receiver, "/hook", "ONE", 3).await;
    let _second = worker().await;
    first.kill().await;
    cars(&server.client, "TWO", 3).await;
    arrived(&receiver, "/hook", "TWO", 3).await;
}

#[tokio::test]
async fn another_process_sends_when_the_first_is_killed() {
    another_process_goes_on(None).await;
}

#[tokio::test]
async fn another_process_sends_when_the_first_is_killed_with_postgresql() {
    let Some(database) = postgres().await else { return };
    another_process_goes_on(Some(&database)).await;
}

async fn disabled_and_enabled(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let server = server(database).await;
    let client = &server.client;
    let one = create(client, &receiver.url("/one")).await;
    let other = create(client, &receiver.url("/other")).await;
    for webhook in [&one, &other] {
        client.patch(&path(webhook), &json!({"enabled": false})).await.expect(200);
    }
    cars(client, "OFF", 3).await;
    for index in 0..3 {
        client.published(&format!("OFF-{index}")).await;
    }
    assert_eq!((receiver.received("/one").len(), receiver.received("/other").len()), (0, 0));
    client.patch(&path(&one), &json!({"enabled": true})).await.expect(200);
    arrived(&receiver, "/one", "OFF", 3).await;
    let resumed = client.patch(&path(&other), &json!({"enabled": true, "resume": "now"})).await.expect(200);
    assert_eq!((&resumed["enabled"], &resumed["pending"]), (&json!(true), &json!(0)));
    cars(client, "ON", 1).await;
    arrived(&receiver, "/other", "ON", 1).await;
    assert_eq!(receiver.received("/other").len(), 1, "what happened before was skipped");
}

#[tokio::test]
async fn a_disabled_endpoint_goes_on_where_it_stopped_or_from_now() {
    disabled_and_enabled(None).await;
}

#[tokio::test]
async fn a_disabled_endpoint_goes_on_where_it_stopped_or_from_now_in_postgresql() {
    let Some(database) = postgres().await else { return };
    disabled_and_enabled(Some(&database)).await;
}

async fn sent_again(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let server = server(database).await;
    let client = &server.client;
    let webhook = create(client, &receiver.url("/hook")).await;
    cars(client, "OLD", 2).await;
    let first = arrived(&receiver, "/hook", "OLD", 2).await;
    let delivered = eventually("both are recorded", || async {
        let delivered = client.get(&format!("{}/deliveries?state=delivered", path(&webhook))).await.expect(200);
        (delivered["count"] == 2).then_some(delivered)
    })
    .await;
    let one = delivered["results"].as_array().unwrap().iter().find(|it| it["event_id"] == first[0].id()).unwrap();
    let attempt = &one["attempts"][0];
    let expected = json!({"event_id": first[0].id(), "type": "ad.publish.done", "state": "delivered", "created": one["created"],
        "next_attempt": null, "attempts": [{"at": attempt["at"], "status": 200, "latency_ms": attempt["latency_ms"], "error": null,
            "response": "answer 200"}]});
    assert_eq!(*one, expected);
    assert!(attempt["latency_ms"].is_u64() && attempt["at"].is_string(), "{one}");
    assert_eq!(client.get(&format!("{}/deliveries?state=failed", path(&webhook))).await.expect(200)["count"], 0);

    let resent =
        post_to(client, &webhook, &format!("deliveries/{}/resend", first[0].id()), json!({})).await.expect(200);
    assert_eq!(resent["event_id"], first[0].id());
    // The worker may have sent it before the answer was read.
    assert!(resent["state"] == "pending" || resent["state"] == "delivered", "{resent}");
    eventually("it comes again", || async {
        let times = receiver.received("/hook").iter().filter(|it| it.id() == first[0].id()).count();
        (times == 2).then_some(())
    })
    .await;
    post_to(client, &webhook, "deliveries/evt_none/resend", json!({})).await.expect(404);

    let test = post_to(client, &webhook, "test", json!({})).await.expect(200);
    assert_eq!(test["type"], "webhook.test");
    eventually("the test event", || async {
        let received = receiver.received("/hook");
        let test = received.iter().find(|it| it.id() == test["event_id"])?;
        let body = test.json();
        assert_eq!((&body["type"], &body["data"]), (&json!("webhook.test"), &json!({"webhook_id": webhook["id"]})));
        Some(())
    })
    .await;
}

#[tokio::test]
async fn deliveries_are_listed_and_sent_again_and_a_test_event_is_sent() {
    sent_again(None).await;
}

#[tokio::test]
async fn deliveries_are_listed_and_sent_again_and_a_test_event_is_sent_in_postgresql() {
    let Some(database) = postgres().await else { return };
    sent_again(Some(&database)).await;
}

async fn replayed(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let server = server(database).await;
    let client = &server.client;
    cars(client, "OLD", 3).await;
    for index in 0..3 {
        client.published(&format!("OLD-{index}")).await;
    }
    let webhook = create(client, &receiver.url("/hook")).await;
    let scope = CursorScope::of(&Access::Dealer("north-cars".to_owned()));
    let start = scope.encode(EventPosition::default());
    post_to(client, &webhook, "replay", json!({"after": start})).await.expect(200);
    let first = arrived(&receiver, "/hook", "OLD", 3).await;
    let times = |received: &[Received], id: &str| received.iter().filter(|it| it.id() == id).count();
    let last = first.iter().map(|it| it.json()["timestamp"].as_str().unwrap().to_owned()).max().unwrap();
    post_to(client, &webhook, "replay", json!({"after": last})).await.expect(200);
    // A time goes back a minute, which is before all of them.
    eventually("all come again", || async {
        let received = receiver.received("/hook");
        first.iter().all(|it| times(&received, it.id()) >= 2).then_some(())
    })
    .await;
    let before = receiver.received("/hook").len();
    let future = EventPosition { transaction: 1 << 50, ..EventPosition::default() };
    let foreign = CursorScope::of(&Access::Dealer("south-cars".to_owned())).encode(EventPosition::default());
    for after in ["nonsense", "2026-13-01", &foreign, &scope.encode(future)] {
        let refused = post_to(client, &webhook, "replay", json!({"after": after})).await.expect(400);
        assert!(refused["after"].is_array(), "{refused}");
    }
    // After a time that is far ahead there is nothing.
    post_to(client, &webhook, "replay", json!({"after": "2999-01-01T00:00:00Z"})).await.expect(200);
    cars(client, "NEW", 1).await;
    arrived(&receiver, "/hook", "NEW", 1).await;
    assert_eq!(receiver.received("/hook").len(), before + 1);
}

#[tokio::test]
async fn events_are_replayed_from_a_cursor_or_time() {
    replayed(None).await;
}

#[tokio::test]
async fn events_are_replayed_from_a_cursor_or_time_in_postgresql() {
    let Some(database) = postgres().await else { return };
    replayed(Some(&database)).await;
}

#[tokio::test]
async fn a_group_gets_events_of_all_its_dealers_or_of_one() {
    let receiver = WebhookReceiver::start().await;
    let server = server(None).await;
    let group = server.client_of(&["--dealer-group", "north"]).await;
    create(&group, &receiver.url("/all")).await;
    let body = json!({"url": receiver.url("/one"), "types": ["ad.publish.done"], "dealer_code": "coast-boats"});
    group.post("/v4/webhooks", &body).await.expect(201);
    cars(&server.client, "NOR", 1).await;
    cars(&server.client_of(&["--dealer-code", "coast-boats"]).await, "COA", 1).await;
    cars(&server.client_of(&["--dealer-code", "south-cars"]).await, "SOU", 1).await;
    for (at, name) in [("/all", "NOR"), ("/all", "COA"), ("/one", "COA")] {
        arrived(&receiver, at, name, 1).await;
    }
    cars(&server.client, "END", 1).await;
    arrived(&receiver, "/all", "END", 1).await;
    assert_eq!((receiver.received("/all").len(), receiver.received("/one").len()), (3, 1));
}
