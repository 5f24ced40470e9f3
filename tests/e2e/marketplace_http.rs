//! Marketplaces over HTTP: a real `ad-server marketplace` and a real `serve` that publishes on it, every way in which the
//! one can fail the other, and the contract between them (`docs/marketplace-adapter.md`).

use ad_tests::{ImageHost, MARKETPLACE_TOKEN, Marketplace, Server, eventually, run};
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::{boat, car, plain_car};

/// Patience that a test can wait for: three tries within three seconds, each of half a second.
const HASTY: &[&str] = &["--marketplace-tries", "3", "--marketplace-within", "3s", "--marketplace-timeout", "500ms"];
/// A breaker that stays out of the way.
const NO_BREAKER: &[&str] = &["--marketplace-failures", "100000"];

/// The listing that shows an ad on a marketplace.
fn of<'l>(listings: &'l [Value], marketplace: &str, source_id: &str) -> &'l Value {
    let mut all = listings.iter().filter(|it| it["marketplace"] == marketplace && it["source_id"] == source_id);
    let listing = all.next().unwrap_or_else(|| panic!("{source_id} is not on {marketplace}: {listings:?}"));
    assert_eq!(all.next(), None, "{source_id} is on {marketplace} twice");
    listing
}

/// How the publishing of an ad ended on a marketplace, as its log tells.
async fn told(server: &Server, source_id: &str, action: &str, marketplace: &str) -> String {
    let entry = server.client.ended(source_id, action, None).await;
    let each = entry["external_message"]["marketplaces"].as_array().unwrap_or_else(|| panic!("{entry}")).clone();
    let told = each.into_iter().find(|it| it["marketplace"] == marketplace).unwrap();
    told["error"].as_str().unwrap_or("done").to_owned()
}

async fn has_said(server: &Server, text: &str) {
    eventually(text, async || server.said().iter().any(|line| line.contains(text)).then_some(())).await;
}

#[tokio::test]
async fn an_ad_lives_on_marketplaces_over_http() {
    let images = ImageHost::start().await;
    let marketplace = Marketplace::start(&[]).await;
    let server = Server::with(marketplace.options(&[])).await;
    let client = &server.client;
    client.post("/v4/car", &car("c", "WEB001", &images)).await.expect(201);
    let ad = client.published("c").await;
    let listings = marketplace.listings().await;
    let (primary, secondary) = (of(&listings, "primary", "c"), of(&listings, "secondary", "c"));
    assert_eq!((&ad["marketplace_ad_id"], &ad["offer_id"]), (&primary["id"], &secondary["id"]));
    assert_eq!((&primary["title"], &primary["registration_number"]), (&ad["title"], &json!("WEB001")));
    assert!(server.listings().await.is_empty(), "nothing is kept at home");

    let updated = client.patch("/v4/car/c", &json!({"category_fields": {"model_year": 2020}})).await.expect(200);
    client.published("c").await;
    eventually("the update", async || {
        let listings = marketplace.listings().await;
        let titles = ["primary", "secondary"].map(|market| of(&listings, market, "c")["title"].clone());
        titles.iter().all(|title| *title == updated["title"]).then_some(())
    })
    .await;

    client.post("/v4/car", &car("other", "WEB002", &images)).await.expect(201);
    client.published("other").await;
    assert_eq!(of(&marketplace.listings().await, "primary", "c")["position"], 2);
    client.get("/v4/car/c/bump?exclude_secondary=true").await.expect(200);
    client.ended("c", "bump", None).await;
    client.get("/v4/car/c/pole_position").await.expect(200);
    assert_eq!(client.ended("c", "boost", None).await["state"], "done");
    let listings = marketplace.listings().await;
    let listing = of(&listings, "primary", "c");
    assert_eq!(listing["position"], 1);
    assert!(listing["pole_position_until"].is_string(), "{listing}");
    assert_eq!(of(&listings, "secondary", "c")["position"], 2);

    client.delete("/v4/car/c").await.expect(200);
    assert_eq!(client.ended("c", "delete", None).await["state"], "done");
    let listings = marketplace.listings().await;
    let states = ["primary", "secondary"].map(|market| of(&listings, market, "c")["state"].clone());
    assert_eq!(states, ["removed", "removed"]);
}

#[tokio::test]
async fn an_ad_links_to_the_listing_of_its_plate_over_http() {
    let marketplace = Marketplace::start(&[]).await;
    let old = json!({"marketplace": "primary", "dealer_code": "north-cars", "registration_number": "lnk 901", "title": "Old"});
    std::fs::write(marketplace.dir().join("old.ndjson"), old.to_string()).unwrap();
    marketplace.listings_command(&["import", "old.ndjson"]).await;
    let server = Server::with(marketplace.options(&[])).await;
    server.client.post("/v4/car", &plain_car("c", "LNK901")).await.expect(201);
    let ad = server.client.published("c").await;
    let listings = marketplace.listings().await;
    let linked = of(&listings, "primary", "c");
    assert_eq!((&ad["marketplace_ad_id"], &linked["title"]), (&linked["id"], &ad["title"]));
    assert_eq!(listings.len(), 2, "one on each marketplace");
    let publish = server.client.ended("c", "publish", None).await;
    assert!(publish["external_message"]["message"].as_str().unwrap().contains("linked"), "{publish}");
}

#[tokio::test]
async fn every_fault_of_the_sandbox_is_told_in_the_log() {
    let marketplace = Marketplace::start(&["--sandbox"]).await;
    let server = Server::with(marketplace.options(&[HASTY, NO_BREAKER].concat())).await;
    let faults = [
        ("fault-429-primary-a", "the marketplace answered 429 Too Many Requests (2 tries)"),
        ("fault-500-primary-b", "the marketplace answered 500 Internal Server Error (3 tries)"),
        ("fault-timeout-primary-c", "the marketplace did not answer within 500 ms (3 tries)"),
        ("fault-refused-primary-d", "Rejected by an injected fault"),
        ("fault-lost-primary-e", "the connection to the marketplace broke off (3 tries)"),
    ];
    for (number, (source_id, _)) in faults.iter().enumerate() {
        server.client.post("/v4/car", &plain_car(source_id, &format!("FLT00{number}"))).await.expect(201);
    }
    for (source_id, reason) in faults {
        assert_eq!(told(&server, source_id, "publish", "primary").await, reason, "{source_id}");
        assert_eq!(told(&server, source_id, "publish", "secondary").await, "done", "{source_id}");
    }
    let listings = marketplace.listings().await;
    let primary: Vec<_> = listings.iter().filter(|it| it["marketplace"] == "primary").collect();
    assert_eq!(primary.len(), 1, "only the lost one was done: {primary:?}");
    assert_eq!((&primary[0]["source_id"], &primary[0]["changes"]), (&json!("fault-lost-primary-e"), &json!(1)));
}

#[tokio::test]
async fn what_passes_within_the_tries_leaves_no_trace_in_the_log() {
    let marketplace = Marketplace::start(&["--sandbox"]).await;
    let patient = ["--marketplace-tries", "5", "--marketplace-within", "20s", "--marketplace-timeout", "500ms"];
    let server = Server::with(marketplace.options(&[&patient, NO_BREAKER].concat())).await;
    let faults = ["fault-500-2x-a", "fault-timeout-1x-b", "fault-lost-1x-c", "fault-429-1x-d"];
    for (number, source_id) in faults.iter().enumerate() {
        server.client.post("/v4/car", &plain_car(source_id, &format!("PAS00{number}"))).await.expect(201);
    }
    for source_id in faults {
        server.client.published(source_id).await;
        let listings = marketplace.listings().await;
        for market in ["primary", "secondary"] {
            assert_eq!(of(&listings, market, source_id)["changes"], 1, "{source_id} on {market} is done once");
        }
    }
    // 429 comes with Retry-After: 2, and the first pause by itself would be half a second.
    let log = server.client.log("fault-429-1x-d").await;
    let at = |state: &str| {
        let entry = log.iter().find(|it| it["action"] == "publish" && it["state"] == state).unwrap();
        entry["created"].as_str().unwrap().parse::<ad_core::model::Timestamp>().unwrap()
    };
    assert!(at("done") - at("processing") >= std::time::Duration::from_secs(2), "{log:?}");
}

#[tokio::test]
async fn each_action_can_fail_and_a_lost_answer_does_it_once() {
    let marketplace = Marketplace::start(&["--sandbox"]).await;
    let server = Server::with(marketplace.options(&[HASTY, NO_BREAKER].concat())).await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("fault-lost-1x-bump-boost-unpublish-a", "ACT001")).await.expect(201);
    client.post("/v4/car", &plain_car("fault-refused-bump-boost-unpublish-b", "ACT002")).await.expect(201);
    let (lost, refused) = ("fault-lost-1x-bump-boost-unpublish-a", "fault-refused-bump-boost-unpublish-b");
    for source_id in [lost, refused] {
        client.published(source_id).await;
        client.get(&format!("/v4/car/{source_id}/bump")).await.expect(200);
        client.ended(source_id, "bump", None).await;
        client.get(&format!("/v4/car/{source_id}/pole_position")).await.expect(200);
        client.ended(source_id, "boost", None).await;
        client.delete(&format!("/v4/car/{source_id}")).await.expect(200);
        client.ended(source_id, "delete", None).await;
    }
    for action in ["bump", "boost", "unpublish", "delete"] {
        assert_eq!(client.ended(lost, action, None).await["state"], "done", "{action}");
        assert_eq!(client.ended(refused, action, None).await["state"], "error", "{action}");
    }
    let listings = marketplace.listings().await;
    assert_eq!(of(&listings, "primary", lost)["changes"], 4, "published, bumped, boosted, taken off");
    assert_eq!(of(&listings, "secondary", lost)["changes"], 3, "published, bumped, taken off");
    assert_eq!(of(&listings, "primary", refused)["changes"], 1, "published");
}

#[tokio::test]
async fn a_marketplace_that_keeps_failing_is_left_alone_and_no_ad_pays_for_it() {
    let marketplace = Marketplace::start(&[]).await;
    let breaker = ["--marketplace-failures", "3", "--marketplace-pause", "300ms"];
    let patience = ["--marketplace-tries", "4", "--marketplace-within", "30s"];
    let server = Server::with(marketplace.options(&[breaker, patience].concat())).await;
    marketplace.faults(json!([{"fault": "500", "marketplace": "primary"}])).await;
    for number in 0..8 {
        server.client.post("/v4/car", &plain_car(&format!("c{number}"), &format!("BRK00{number}"))).await.expect(201);
    }
    has_said(&server, "circuit breaker opened").await;
    eventually("the other marketplace goes on", async || (marketplace.listings().await.len() == 8).then_some(())).await;
    marketplace.faults(json!([])).await;
    for number in 0..8 {
        server.client.published(&format!("c{number}")).await;
    }
    has_said(&server, "circuit breaker closed").await;
    let listings = marketplace.listings().await;
    assert_eq!(listings.len(), 16);
    assert!(listings.iter().all(|listing| listing["changes"] == 1), "{listings:?}");
    let opened = server.said().iter().filter(|line| line.contains("circuit breaker opened")).count();
    assert_eq!(opened, 1, "said once, not at each probe");
}

#[tokio::test]
async fn a_marketplace_that_is_down_for_a_while_gets_everything_when_it_is_back() {
    let images = ImageHost::start().await;
    let mut marketplace = Marketplace::start(&[]).await;
    let breaker = ["--marketplace-failures", "2", "--marketplace-pause", "300ms"];
    let server = Server::with(marketplace.options(&[&breaker[..], &["--marketplace-within", "2m"]].concat())).await;
    server.client.post("/v4/car", &plain_car("c", "DWN001")).await.expect(201);
    server.client.published("c").await;
    marketplace.process.kill().await;
    server.client.patch("/v4/car/c", &json!({"body": "Ny"})).await.expect(200);
    server.client.post("/v4/boat", &boat("b", &images)).await.expect(201);
    has_said(&server, "circuit breaker opened").await;
    marketplace.restart().await;
    server.client.published("b").await;
    eventually("the update", async || {
        (of(&marketplace.listings().await, "primary", "c")["changes"] == 2).then_some(())
    })
    .await;
    assert_eq!(marketplace.listings().await.len(), 3);
}

#[tokio::test]
async fn a_wrong_credential_is_the_operators_to_mend_and_refuses_no_ad() {
    let marketplace = Marketplace::start(&[]).await;
    let mut wrong = marketplace.options(&["--marketplace-within", "2m", "--marketplace-pause", "200ms"]);
    wrong.env = vec![
        ("AD_SERVER_PRIMARY_MARKETPLACE_TOKEN".to_owned(), "w0rng-secret".to_owned()),
        ("RUST_LOG".to_owned(), "trace".to_owned()),
    ];
    let mut server = Server::with(wrong).await;
    server.client.post("/v4/car", &plain_car("c", "CRD001")).await.expect(201);
    has_said(&server, "set the token that the marketplace issued").await;
    let log = server.said().join("\n");
    assert!(log.contains("ERROR") && log.contains("primary"), "an operator sees it");
    assert!(!log.contains("w0rng-secret") && !log.contains(MARKETPLACE_TOKEN), "no secret is logged");
    let state = server.client.log("c").await.pop().unwrap();
    assert_eq!((&state["action"], &state["state"]), (&json!("publish"), &json!("processing")));
    server.stop().await;
    server.restart_with(marketplace.options(&[])).await;
    server.client.published("c").await;
}

#[tokio::test]
async fn a_wrong_address_takes_no_listing_for_gone() {
    let marketplace = Marketplace::start(&[]).await;
    let mut server = Server::with(marketplace.options(&[])).await;
    server.client.post("/v4/car", &plain_car("c", "ADR001")).await.expect(201);
    server.client.published("c").await;
    server.stop().await;
    let mut elsewhere = marketplace.options(&["--marketplace-tries", "2", "--marketplace-within", "1s"]);
    let base = elsewhere.args.iter_mut().find(|arg| arg.ends_with("/primary")).unwrap();
    *base = base.replace("/primary", "/somewhere");
    server.restart_with(elsewhere).await;
    server.client.delete("/v4/car/c").await.expect(200);
    assert_eq!(server.client.ended("c", "delete", None).await["state"], "error");
    assert_eq!(
        told(&server, "c", "unpublish", "primary").await,
        "the marketplace answered 404 Not Found (2 tries)",
        "it is shown still, and nobody may believe otherwise"
    );
    has_said(&server, "check the address of the marketplace").await;
}

#[tokio::test]
async fn rules_can_be_given_at_start_and_changed_by_whoever_has_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("faults.toml");
    std::fs::write(&file, "[[rules]]\nfault = \"refused\"\nreason = \"No boats\"\nregistration_number = \"RUL001\"\n")
        .unwrap();
    let flags = ["--faults", file.to_str().unwrap(), "--fault", "fault = \"500\", per_mille = 50, times = 1"];
    let marketplace = Marketplace::start(&flags).await;
    let (_, rules) = marketplace.call(Method::GET, "/faults", None).await;
    assert_eq!(
        rules,
        json!({"rules": [
            {"fault": "500", "per_mille": 50, "times": 1},
            {"fault": "refused", "per_mille": 1000, "registration_number": "RUL001", "reason": "No boats"},
        ]})
    );
    let server = Server::with(marketplace.options(&["--marketplace-within", "20s"])).await;
    server.client.post("/v4/car", &plain_car("c", "RUL001")).await.expect(201);
    assert_eq!(told(&server, "c", "publish", "primary").await, "No boats");
    marketplace.faults(json!([])).await;
    let retry = server.client.get("/v4/car/c/retry").await;
    retry.expect(200);
    let entry = server.client.ended("c", "publish", retry.header("x-request-id")).await;
    assert_eq!(entry["state"], "done", "{entry}");

    let (status, problem) = marketplace.call(Method::PUT, "/faults", Some(json!({"rules": [{"fault": "418"}]}))).await;
    assert_eq!((status, &problem["code"]), (400, &json!("malformed")), "{problem}");
    let stranger = ad_tests::http_client().build().unwrap();
    for path in ["/faults", "/primary/listings", "/secondary/listings/1/bump"] {
        let answer = stranger.get(format!("{}{path}", marketplace.process.base)).bearer_auth("x").send().await.unwrap();
        assert_eq!(answer.status(), 401, "{path}");
    }
}

#[tokio::test]
async fn what_is_missing_is_told_at_start() {
    let folder = tempfile::tempdir().unwrap();
    for (args, told) in [
        (
            &["serve", "--listen", "127.0.0.1:0", "--primary-marketplace", "http://127.0.0.1:9"][..],
            "set AD_SERVER_PRIMARY_MARKETPLACE_TOKEN",
        ),
        (
            &[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--secondary-marketplace",
                "http://127.0.0.1:9",
                "--secondary-marketplace-token-file",
                "no-such-file",
            ],
            "no-such-file",
        ),
        (&["marketplace", "--listen", "127.0.0.1:0"], "set AD_SERVER_MARKETPLACE_TOKEN"),
        (&["marketplace", "--listen", "127.0.0.1:0", "--token-file", "no-such-file"], "no-such-file"),
    ] {
        let output = run(folder.path(), args).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = said.lines().last().unwrap_or_default();
        assert!(!output.status.success() && last.starts_with("error: ") && last.contains(told), "{args:?}: {said}");
    }
    std::fs::write(folder.path().join("token"), "x").unwrap();
    for (rule, told) in
        [("fault = \"418\"", "unknown variant"), ("fault = \"500\", times = 0", "times: "), ("", "fault")]
    {
        let output =
            run(folder.path(), &["marketplace", "--listen", "127.0.0.1:0", "--token-file", "token", "--fault", rule])
                .await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("--fault") && said.contains(told), "{rule}: {said}");
    }
}
