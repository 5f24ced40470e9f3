//! Tokens of operators, and who may see which of the pages of forms and tools.

use ad_tests::{Marketplace, Options, Postgres, Server, eventually};
use serde_json::{Value, json};

use super::{Visitor, ad_query, html};
use crate::payloads::plain_car;

pub(super) const OPERATORS: [&str; 6] = [
    "/console/operators",
    "/console/operators/queue",
    "/console/operators/ads",
    "/console/operators/dealers",
    "/console/operators/tokens",
    "/console/operators/limits",
];

/// Each page with the permission that it needs, and whether it takes a form.
pub(super) const PAGES: [(&str, Option<&str>, bool); 8] = [
    ("/console/new", Some("write"), true),
    ("/console/new?type=car", Some("write"), true),
    ("/console/ad/edit?{ad}", Some("write"), true),
    ("/console/paste", Some("write"), true),
    ("/console/webhooks", Some("webhooks"), true),
    ("/console/webhook?id=1", Some("webhooks"), true),
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
    for permissions in ["read", "write", "promote", "webhooks", "read,write,promote,webhooks", "operator"] {
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
        for path in OPERATORS {
            let answer = visitor.get(path).await;
            let expected = if permissions == "operator" { 200 } else { 403 };
            assert_eq!(answer.status, expected, "{permissions} {path}: {}", html(&answer));
            assert_eq!(visitor.post(path, &[]).await.status, 405);
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
    contains("/console/operators/queue", &["Request id"]).await;
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
