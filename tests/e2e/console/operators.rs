//! Tokens of operators, and who may see which of the pages of forms and tools.

use ad_tests::{Client, Marketplace, Options, Postgres, Server, eventually};
use serde_json::{Value, json};

use super::{Visitor, ad_query, html};
use crate::payloads::plain_car;

/// The pages of operators, and the statuses of a page and of an empty form.
pub(super) const OPERATORS: [(&str, u16, u16); 11] = [
    ("/console/operators", 200, 405),
    ("/console/operators/marketplaces", 405, 400),
    ("/console/operators/queue", 200, 405),
    // Asks whether all ads that need somebody are to be retried.
    ("/console/operators/ads", 200, 200),
    ("/console/operators/dealers", 200, 405),
    ("/console/operators/dealer?code=north-cars", 200, 400),
    ("/console/operators/tokens", 200, 400),
    ("/console/operators/access", 200, 400),
    ("/console/operators/limits", 200, 405),
    ("/console/operators/audit", 200, 405),
    ("/console/operators/erase?dealer_code=north-cars", 200, 400),
];

/// Each page with the permission that it needs, and whether it takes a form.
pub(super) const PAGES: [(&str, Option<&str>, bool); 14] = [
    ("/console/new", Some("write"), true),
    ("/console/new?type=car", Some("write"), true),
    ("/console/ad/edit?{ad}", Some("write"), true),
    ("/console/paste", Some("write"), true),
    ("/console/import", Some("write"), true),
    ("/console/import/columns?id=1", Some("write"), true),
    ("/console/webhooks", Some("webhooks"), true),
    ("/console/webhook?id=1", Some("webhooks"), true),
    ("/console/access", Some("access"), true),
    ("/console/account", Some("read"), false),
    ("/console/schedules", Some("read"), false),
    ("/console/schedule/edit", Some("promote"), true),
    ("/console/requests", Some("read"), false),
    ("/console/developers", None, false),
];

#[tokio::test]
async fn every_page_needs_the_permission_of_what_it_does() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("c-1", "OPR001")).await.expect(201);
    server.client.published("c-1").await;
    let ad = ad_query("c-1");
    let stranger = Visitor::of(&server.client);
    let operator = ["--operator"];
    for permissions in
        ["read", "write", "promote", "webhooks", "access", "read,write,promote,webhooks,access", "operator"]
    {
        let args = ["--dealer-code", "north-cars", "--permissions", permissions];
        let args = if permissions == "operator" { &operator[..] } else { &args };
        let visitor = Visitor::with_token(&server, args).await;
        let may = |permission: &str| permissions.split(',').any(|own| own == permission);
        for (path, permission, takes_form) in PAGES {
            let path = path.replace("{ad}", &ad);
            let is_permitted = permission.is_none_or(may);
            let answer = visitor.get(&path).await;
            let expected = if !is_permitted {
                403
            } else if path.contains("id=1") {
                404
            } else {
                200
            };
            assert_eq!(answer.status, expected, "{permissions} {path}: {}", html(&answer));
            let posted = visitor.post(&path, &[("do", "check"), ("revision", "0")]).await;
            assert_eq!(posted.status == 403, !is_permitted && takes_form, "{permissions} {path}: {}", html(&posted));
            assert_eq!(posted.status == 405, !takes_form, "{permissions} {path}: {}", html(&posted));
            // Nothing that is refused is offered.
            let offered = html(&visitor.get("/console/developers").await);
            assert!(is_permitted || !offered.contains(&format!("href=\"{path}\"")), "{permissions} {path}");
            assert_eq!(stranger.get(&path).await.status, 303, "{path}");
            assert_ne!(stranger.post(&path, &[]).await.status, 200, "{path}");
        }
        if !may("read") {
            assert_eq!(visitor.get("/console/events").await.status, 403, "{permissions}");
        }
        for (path, page, form) in OPERATORS {
            let expected = |status| if permissions == "operator" || status == 405 { status } else { 403 };
            let answer = visitor.get(path).await;
            assert_eq!(answer.status, expected(page), "{permissions} {path}: {}", html(&answer));
            let answer = visitor.post(path, &[]).await;
            assert_eq!(answer.status, expected(form), "{permissions} {path}: {}", html(&answer));
            assert_ne!(stranger.post(path, &[]).await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn an_operators_token_opens_no_path_of_the_api() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("c-1", "OPR002")).await.expect(201);
    let operator = server.client_of(&["--operator"]).await;
    for path in [
        "/v4/ad",
        "/v4/ad/c-1",
        "/v4/car",
        "/v3/ad",
        "/v4/me",
        "/v4/events",
        "/v4/summary",
        "/v4/webhooks",
        "/v4/vehicles/car/brand",
    ] {
        let refused = operator.get(path).await.expect(403);
        assert!(refused["detail"].as_str().unwrap().contains("operator"), "{path}: {refused}");
    }
    operator.post("/v4/car", &plain_car("c-2", "OPR003")).await.expect(403);
    operator.post("/v4/car/validate", &plain_car("c-2", "OPR003")).await.expect(403);
    operator.delete("/v4/ad/c-1").await.expect(403);
    let visitor = Visitor::signed_in(&operator).await;
    for path in ["/console/stock", "/console/ad?source_id=c-1", "/console/events"] {
        assert_eq!(visitor.get(path).await.status, 403, "{path}");
    }
    assert_eq!(visitor.get("/console/").await.header("location"), Some("/console/operators"));
    let listed: Value = serde_json::from_str(&server.command(&["token", "list", "--json"]).await).unwrap();
    let record = listed.as_array().unwrap().iter().find(|token| token["scope_type"] == "operator").unwrap();
    assert_eq!(record["permissions"], Value::Null);
    let output = ad_tests::run(server.dir(), &["token", "issue", "--operator", "--dealer-code", "north-cars"]).await;
    assert!(!output.status.success());
    let output = ad_tests::run(server.dir(), &["token", "issue", "--operator", "--permissions", "read"]).await;
    assert!(!output.status.success());
}

#[tokio::test]
async fn operators_see_all_dealers() {
    operators_see(None).await;
    if let Some(postgres) = Postgres::shared().await {
        operators_see(Some(postgres.database().await)).await;
    }
}

async fn operators_see(database: Option<String>) {
    const MARKUP: &str = "<script>alert(1)</script>";
    let records_tokens = database.is_none();
    let database = database.into_iter().flat_map(|url| ["--database-url".to_owned(), url]);
    let faults = ["--sandbox".to_owned()].into_iter().chain(database).collect();
    let server = Server::with(Options { args: faults, ..Options::default() }).await;
    let source_id = format!("fault-refused-{MARKUP}");
    server.client.post("/v4/car", &plain_car(&source_id, "OPR004")).await.expect(201);
    let encoded = percent_encoding::utf8_percent_encode(&source_id, percent_encoding::NON_ALPHANUMERIC).to_string();
    server.client.ended(&encoded, "publish", None).await;
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    south.post("/v4/car", &json!({"source_id": "fault-refused-2", "category_id": 1020, "category_fields": {"registration_number": "OPR005", "model_year": 2020}})).await.expect(201);
    south.ended("fault-refused-2", "publish", None).await;

    let visitor = Visitor::with_token(&server, &["--operator", "--label", MARKUP]).await;
    let contains = async |path: &str, expected: &[&str]| {
        let page = visitor.page(path).await;
        for text in expected {
            assert!(page.contains(text), "{path} {text}: {page}");
        }
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        page
    };
    contains("/console/operators", &["Unfinished requests", "marketplace_refused", "Primary marketplace"]).await;
    contains("/console/operators/queue?dealer_code=nobody", &["Nothing to show."]).await;
    contains("/console/operators/ads", &["north-cars", "south-cars", "fault-refused-2", "marketplace_refused"]).await;
    let some =
        contains("/console/operators/ads?dealer_code=south-cars&code=marketplace_refused", &["fault-refused-2"]).await;
    assert!(!some.contains("OPR004") && !some.contains("<td>north-cars</td>"), "{some}");
    contains("/console/operators/dealers", &["North Cars AB", "south-cars", "online_purchase"]).await;
    contains("/console/operators/dealers?limit=1&offset=1", &["of", "3"]).await;
    // Where the server has another database than the command, the records are there.
    let records: &[&str] = if records_tokens { &["dealer_code north-cars", "operator *", "Valid"] } else { &[] };
    contains("/console/operators/tokens", records).await;
    for wrong in ["/console/operators/ads?code=nonsense", "/console/operators/ads?status=nonsense"] {
        assert_eq!(visitor.get(wrong).await.status, 404, "{wrong}");
    }
    assert_eq!(visitor.get("/console/operators/tokens?limit=x").await.status, 400);
}

#[tokio::test]
async fn operators_pause_retry_suspend_revoke_and_erase_and_it_is_recorded() {
    operators_act(None).await;
    if let Some(postgres) = Postgres::shared().await {
        operators_act(Some(postgres.database().await)).await;
    }
}

async fn operators_act(database: Option<String>) {
    const MARKUP: &str = "<script>alert(1)</script>";
    let database = database.into_iter().flat_map(|url| ["--database-url".to_owned(), url]);
    let args = ["--sandbox".to_owned()].into_iter().chain(database).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let visitor = Visitor::with_token(&server, &["--operator", "--label", "night shift"]).await;
    let north = &server.client;
    let done = async |path: &str, form: &[(&str, &str)]| {
        let path = format!("/console/operators{path}");
        let asked = visitor.post(&path, form).await;
        let page = html(&asked);
        assert_eq!((asked.status.as_u16(), page.contains("name=\"confirmed\"")), (200, true), "{form:?}: {page}");
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        let confirmed = [form, &[("confirmed", "yes"), ("reason", MARKUP)]].concat();
        let elsewhere = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
        assert_eq!(visitor.post_from(&path, &confirmed, &elsewhere).await.status, 403);
        let answer = visitor.post(&path, &confirmed).await;
        assert_eq!(answer.status, 303, "{form:?}: {}", html(&answer));
        let page = visitor.page(answer.header("location").unwrap()).await;
        assert!(page.contains("notice success") && !page.contains(MARKUP), "{page}");
        page
    };

    // A marketplace.
    let pause = [("marketplace", "primary"), ("do", "pause")];
    let without_reason = [&pause[..], &[("confirmed", "yes"), ("reason", " ")]].concat();
    assert_eq!(visitor.post("/console/operators/marketplaces", &without_reason).await.status, 400);
    assert!(!visitor.page("/console/operators").await.contains("Paused by an operator"));
    let page = done("/marketplaces", &pause).await;
    assert!(page.contains("Paused by an operator") && page.contains("&lt;script&gt;"), "{page}");
    let mut number = 0;
    let waiting = eventually("an ad waits for the end of the pause", || {
        number += 1;
        let source_id = format!("car-{number}");
        async move {
            north.post("/v4/car", &plain_car(&source_id, &format!("OPA{number:03}"))).await.expect(201);
            let channel = eventually("it is published or waits", || async {
                let status = north.get(&format!("/v4/ad/{source_id}/status")).await.expect(200);
                let channel = status["channels"][0]["status"].as_str().unwrap().to_owned();
                ["live", "paused"].contains(&channel.as_str()).then_some(channel)
            });
            (channel.await == "paused").then_some(source_id)
        }
    })
    .await;
    let page = done("/marketplaces", &[("marketplace", "primary"), ("do", "resume")]).await;
    assert!(!page.contains("Paused by an operator"), "{page}");
    north.published(&waiting).await;

    // Failed ads.
    north.post("/v4/car", &plain_car("fault-refused-1", "OPB001")).await.expect(201);
    eventually("it has failed on both marketplaces", || async {
        let status = north.get("/v4/ad/fault-refused-1/status").await.expect(200);
        (status["status"] == "failed").then_some(())
    })
    .await;
    let failed = north.ended("fault-refused-1", "publish", None).await;
    let page = done("/ads", &[("code", "marketplace_refused"), ("dealer_code", "north-cars")]).await;
    assert!(page.contains("Will be retried: 1"), "{page}");
    eventually("it was published again", || async {
        let last = north.ended("fault-refused-1", "publish", None).await;
        (last["request_id"] != failed["request_id"]).then_some(())
    })
    .await;

    // A dealer.
    let page = done("/dealer", &[("code", "north-cars"), ("do", "suspend")]).await;
    assert!(page.contains("Suspended") && page.contains("&lt;script&gt;"), "{page}");
    assert!(page.contains("dealer_requests") && page.contains("End the suspension"), "{page}");
    assert!(visitor.page("/console/operators/dealers").await.contains("Suspended"));
    eventually("the server obeys", || async {
        (north.patch(&format!("/v4/car/{waiting}"), &json!({"body": "New"})).await.status == 400).then_some(())
    })
    .await;
    done("/dealer", &[("code", "north-cars"), ("do", "resume")]).await;
    eventually("the server obeys", || async {
        (north.patch(&format!("/v4/car/{waiting}"), &json!({"body": "Personal text"})).await.status == 200)
            .then_some(())
    })
    .await;

    // A token.
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    let jti = south.get("/v4/me").await.expect(200)["token"]["jti"].as_str().unwrap().to_owned();
    done("/tokens", &[("jti", &jti)]).await;
    eventually("the token is refused", || async { (south.get("/v4/me").await.status == 401).then_some(()) }).await;

    erases(&visitor, north, &waiting).await;
    let page = visitor.page("/console/operators/audit").await;
    for act in [
        "marketplaces pause",
        "marketplaces resume",
        "ads retry",
        "dealers suspend",
        "dealers resume",
        "token revoke",
        "erase",
    ] {
        assert!(page.contains(&format!("<code>{act}</code>")), "{act}: {page}");
    }
    assert!(page.contains("night shift (token ") && page.contains(&jti), "{page}");
    assert_eq!(page.matches("<script").count(), 1, "{page}");
}

/// Erases the ads of a dealer, by steps until nothing is left. One of them has a personal text.
async fn erases(visitor: &Visitor, north: &Client, source_id: &str) {
    let page = visitor.page("/console/operators/erase?dealer_code=north-cars").await;
    assert!(page.contains("Would be erased: north-cars"), "{page}");
    assert!(page.contains("Photos of deleted ads") && page.contains("They are removed after days: 730"), "{page}");
    let path = "/console/operators/erase";
    let form = |confirmed| [("dealer_code", "north-cars"), ("confirmed", confirmed)];
    for mistyped in ["", "yes", "North-cars", "south-cars"] {
        assert_eq!(visitor.post(path, &form(mistyped)).await.status, 400, "{mistyped}");
    }
    let get = async || north.get(&format!("/v4/ad/{source_id}")).await.expect(200).to_string();
    assert!(get().await.contains("Personal text"));
    eventually("nothing is left to erase", || async {
        let answer = visitor.post(path, &form("north-cars")).await;
        assert_eq!(answer.status, 200, "{}", html(&answer));
        html(&answer).contains("Nothing is left to erase.").then_some(())
    })
    .await;
    assert!(!get().await.contains("Personal text"));
    assert!(
        visitor.page("/console/operators/erase?dealer_code=north-cars").await.contains("There is nothing to erase.")
    );
}

#[tokio::test]
async fn operators_see_who_has_met_a_limit() {
    let args = ["--rate-limit", "20/h burst 20"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let operator = Visitor::with_token(&server, &["--operator"]).await;
    let limits = async || operator.page("/console/operators/limits").await;
    assert!(limits().await.contains("No limit has refused a request."));
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    for _ in 0..20 {
        south.get("/v4/me").await.expect(200);
    }
    south.get("/v4/me").await.expect(429);
    south.get("/v4/ad").await.expect(429);
    let page = limits().await;
    for expected in ["south-cars", "rate_limited", "<td class=\"number\">2</td>"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("north-cars"), "{page}");
}

#[tokio::test]
async fn operators_see_the_circuit_breakers_of_the_process() {
    let marketplace = Marketplace::start(&[]).await;
    let breaker = ["--marketplace-failures", "2", "--marketplace-pause", "60s", "--marketplace-within", "1h"];
    let server = Server::with(marketplace.options(&breaker)).await;
    let operator = Visitor::with_token(&server, &["--operator"]).await;
    let page = operator.page("/console/operators").await;
    assert_eq!(page.matches("Closed: calls go through").count(), 2, "{page}");
    marketplace.faults(json!([{"fault": "500", "marketplace": "primary"}])).await;
    for (source_id, plate) in [("c-1", "OPR006"), ("c-2", "OPR007")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
    }
    let page = eventually("the breaker is open", || async {
        let page = operator.page("/console/operators").await;
        page.contains("Calls are paused").then_some(page)
    })
    .await;
    assert_eq!(page.matches("Closed: calls go through").count(), 1, "each has its own: {page}");
}
