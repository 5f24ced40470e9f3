//! The status of ads on both databases (extensions E6): each situation as a client sees it, the same word in lists and counts, and the
//! commands of operators.

use ad_tests::{Client, MARKETPLACE_TOKEN, Options, Postgres, Server, eventually};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// The status of an ad, when it has this word. A single read, a list, and a filter show the same word.
async fn status(client: &Client, source_id: &str, word: &str) -> Value {
    let path = format!("/v4/ad/{source_id}/status");
    let status = eventually(&format!("{source_id} is {word}"), || async {
        Some(client.get(&path).await.expect(200)).filter(|status| status["status"] == word)
    })
    .await;
    let single = client.get(&format!("/v4/car/{source_id}?include=status&fields=source_id")).await.expect(200);
    assert_eq!(single, json!({"source_id": source_id, "status": word}));
    let listed =
        client.get(&format!("/v4/ad?status={word}&include=status&fields=source_id&limit=500")).await.expect(200);
    assert!(listed["results"].as_array().unwrap().contains(&single), "{listed}");
    for path in [format!("/v4/car/{source_id}/status"), format!("/v3/ad/{source_id}/status")] {
        assert_eq!(client.get(&path).await.expect(200)["status"], word);
    }
    status
}

/// Status, code and who acts of each channel.
fn channels(status: &Value) -> Value {
    let channel = |it: &Value| json!([it["marketplace"], it["status"], it["code"], it["who_acts"]]);
    status["channels"].as_array().unwrap().iter().map(channel).collect()
}

/// Compares the counts with what lists find.
async fn check_summary(client: &Client) -> Value {
    let summary = client.get("/v4/summary").await.expect(200);
    let numbers = |of: &Value| of.as_object().unwrap().clone().into_iter().collect::<Vec<_>>();
    let mut ads = 0;
    for (word, count) in numbers(&summary["by_status"]) {
        let found = client.get(&format!("/v4/ad?status={word}&limit=1")).await.expect(200);
        assert_eq!(found["count"], count, "{word}");
        ads += count.as_u64().unwrap();
    }
    assert_eq!(
        (summary["ads"].as_u64(), &client.get("/v4/ad?limit=1").await.expect(200)["count"]),
        (Some(ads), &json!(ads))
    );
    assert_eq!(summary["by_vehicle_type"], json!({"car": summary["by_status"]}));
    for (_, of) in numbers(&summary["by_channel"]) {
        assert_eq!(numbers(&of).iter().filter_map(|(_, count)| count.as_u64()).sum::<u64>(), ads);
    }
    summary
}

async fn every_situation_has_its_word(database: &[&str]) {
    let args = [&["--sandbox"], database].concat().into_iter().map(str::to_owned).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let create = async |source_id: &str, number: u32| {
        client.post("/v4/car", &plain_car(source_id, &format!("STA{number:03}"))).await.expect(201)
    };
    let live = json!([["primary", "live", null, "nobody"], ["secondary", "live", null, "nobody"]]);

    create("live", 1).await;
    let shown = status(client, "live", "live").await;
    assert_eq!(channels(&shown), live);
    assert_eq!(shown["channels"][0]["listing_id"], client.ad("live").await["marketplace_ad_id"]);
    assert_eq!((&shown["unfinished"], &shown["pole_position_until"]), (&json!([]), &Value::Null));

    create("hidden", 2).await;
    client.patch("/v4/car/hidden", &json!({"visible": false})).await.expect(200);
    let shown = status(client, "hidden", "hidden").await;
    assert_eq!(
        channels(&shown),
        json!([["primary", "not_listed", null, "nobody"], ["secondary", "not_listed", null, "nobody"]])
    );

    create("deleted", 3).await;
    client.delete("/v4/car/deleted").await.expect(200);
    assert_eq!(status(client, "deleted", "deleted").await["state"], "deleted");

    create("fault-refused-secondary-a", 4).await;
    let shown = status(client, "fault-refused-secondary-a", "partly_live").await;
    let refused = json!(["secondary", "failed", "marketplace_refused", "dealer"]);
    assert_eq!(channels(&shown), json!([live[0], refused]));
    assert_eq!(shown["channels"][1]["what_to_do"], "Update the ad: correct the problem that the reason names.");

    create("fault-500-publish-b", 5).await;
    let shown = status(client, "fault-500-publish-b", "failed").await;
    let down = |market: &str| json!([market, "failed", "marketplace_unreachable", "marketplace"]);
    assert_eq!(channels(&shown), json!([down("primary"), down("secondary")]));
    assert_eq!(shown["channels"][0]["attempts"], 3, "as often as a sandbox tries");

    // Of a deletion that failed on one marketplace, the listing there is left.
    create("fault-refused-unpublish-secondary-c", 6).await;
    status(client, "fault-refused-unpublish-secondary-c", "live").await;
    client.delete("/v4/car/fault-refused-unpublish-secondary-c").await.expect(200);
    let shown = status(client, "fault-refused-unpublish-secondary-c", "partly_live").await;
    let outdated = json!(["secondary", "outdated", "marketplace_refused", "dealer"]);
    assert_eq!(channels(&shown), json!([["primary", "not_listed", null, "nobody"], outdated]));

    let image = format!("{}/sandbox/images/missing.jpg", client.base);
    let mut held = plain_car("held", "STA007");
    held["image_urls"] = json!([image]);
    held["dont_publish_on_failed_images"] = json!(true);
    client.post("/v4/car", &held).await.expect(201);
    let shown = status(client, "held", "failed").await;
    let held = |market: &str| json!([market, "failed", "held_by_images", "dealer"]);
    assert_eq!(channels(&shown), json!([held("primary"), held("secondary")]));
    assert_eq!(
        (&shown["images"][0]["url"], &shown["images"][0]["status"], &shown["images"][0]["code"]),
        (&json!(image), &json!("failed"), &json!("image_failed"))
    );

    let summary = check_summary(client).await;
    assert_eq!(summary["by_status"], json!({"live": 1, "hidden": 1, "deleted": 1, "partly_live": 2, "failed": 2}));
    assert_eq!(
        summary["failures"],
        json!({"marketplace_refused": 2, "marketplace_unreachable": 1, "held_by_images": 1})
    );

    let list = [&["ads", "list", "--status", "failed,partly_live", "--json"], database].concat();
    let listed: Value = serde_json::from_str(&server.command(&list).await).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 4, "{listed}");
    let list = [&["ads", "list", "--code", "held_by_images", "--dealer-code", "north-cars"], database].concat();
    let table = server.command(&list).await;
    assert!(table.lines().count() == 2 && table.contains("held") && table.contains("failed"), "{table}");

    // Of 4 ads one is accepted again at each marketplace: the one of which only publishing fails.
    let retry = [&["ads", "retry", "--status", "failed", "--code", "marketplace_unreachable"], database].concat();
    let asked = ad_tests::run(server.dir(), &retry).await;
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(!asked.status.success() && said.contains("1 ad would be retried"), "{said}");
    let before = client.log("fault-500-publish-b").await.len();
    let done = ad_tests::run(server.dir(), &[&retry[..], &["--yes"]].concat()).await;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("1 ad will be retried"), "{said}");
    eventually("it was retried", || async {
        let log = client.log("fault-500-publish-b").await;
        (log.len() > before && log.last().unwrap()["state"] == "error").then_some(())
    })
    .await;
    status(client, "fault-500-publish-b", "failed").await;
    let nothing = ad_tests::run(server.dir(), &[&["ads", "retry", "--yes"], database].concat()).await;
    assert!(!nothing.status.success());
}

#[tokio::test]
async fn every_situation_of_an_ad_has_its_word() {
    every_situation_has_its_word(&[]).await;
}

#[tokio::test]
async fn every_situation_of_an_ad_has_its_word_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    every_situation_has_its_word(&["--database-url", &postgres.database().await]).await;
}

/// A marketplace that is down for long.
async fn an_ad_waits(database: &[&str]) {
    let args = [&["--primary-marketplace", "http://127.0.0.1:9"][..], database].concat();
    let env = vec![("AD_SERVER_PRIMARY_MARKETPLACE_TOKEN".to_owned(), MARKETPLACE_TOKEN.to_owned())];
    let args = args.into_iter().map(str::to_owned).collect();
    let server = Server::with(Options { args, env, ..Options::default() }).await;
    let client = &server.client;
    let post = client.post("/v4/car", &plain_car("waits", "WAI001")).await;
    let waiting = status(client, "waits", "waiting").await;
    let primary = &waiting["channels"][0];
    assert!(["waiting", "paused"].contains(&primary["status"].as_str().unwrap()), "{waiting}");
    assert_eq!((&primary["code"], &primary["who_acts"]), (&json!("marketplace_unreachable"), &json!("marketplace")));
    assert_eq!(waiting["channels"][1]["status"], "live", "the other marketplace has it: {waiting}");
    assert_eq!(waiting["unfinished"][0]["request_id"].as_str(), post.header("x-request-id"));
    // It is `null` while an attempt is under way.
    eventually("the time of the next attempt", || async {
        let waiting = client.get("/v4/ad/waits/status").await.expect(200);
        let times = (&waiting["channels"][0]["next_attempt"], &waiting["unfinished"][0]["next_attempt"]);
        (times.0.is_string() && times.0 == times.1).then_some(())
    })
    .await;
    client.patch("/v4/car/waits", &json!({"body": "later"})).await.expect(200);
    assert_eq!(status(client, "waits", "waiting").await["unfinished"].as_array().unwrap().len(), 2);
    check_summary(client).await;

    // Status and tag change together.
    let tag = async || client.get("/v4/car/waits?include=status").await.header("etag").unwrap().to_owned();
    let before = tag().await;
    let ids: Vec<String> = client.get("/v4/ad/waits/status").await.expect(200)["unfinished"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| request["request_id"].as_str().unwrap().to_owned())
        .collect();
    server.command(&[&["queue", "drop", &ids[0], &ids[1], "--yes"], database].concat()).await;
    let dropped = status(client, "waits", "partly_live").await;
    assert_eq!(channels(&dropped)[0], json!(["primary", "failed", "given_up", "operator"]));
    assert_ne!(tag().await, before);
}

#[tokio::test]
async fn an_ad_waits_for_a_marketplace_and_says_why() {
    an_ad_waits(&[]).await;
}

#[tokio::test]
async fn an_ad_waits_for_a_marketplace_and_says_why_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    an_ad_waits(&["--database-url", &postgres.database().await]).await;
}
