//! Stock plans through the API (extensions E8), on both databases.

mod bodies;
mod faults;

use ad_tests::{Answer, Client, Options, Postgres, Server, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::{plain_boat, plain_car};

pub(super) const PLANS: &str = "/v4/stock/plans";

pub(super) fn boat(source_id: &str, body: &str) -> Value {
    let mut boat = plain_boat();
    boat["source_id"] = json!(source_id);
    boat["body"] = json!(body);
    boat
}

/// Payloads, one on each line.
pub(super) fn lines<'a>(payloads: impl IntoIterator<Item = &'a Value>) -> Vec<u8> {
    payloads.into_iter().flat_map(|payload| format!("{payload}\n").into_bytes()).collect()
}

/// The answer to a stock, for which the client waits.
pub(super) async fn planned(client: &Client, query: &str, body: Vec<u8>) -> Answer {
    let wait = [("prefer", "wait=30".to_owned())];
    client.send_with(Method::POST, &format!("{PLANS}{query}"), &wait, Some(body)).await
}

pub(super) fn path_of(plan: &Value) -> String {
    format!("{PLANS}/{}", plan["id"].as_str().unwrap_or_else(|| panic!("no plan: {plan}")))
}

/// Applies a plan, and returns it when all requests of its changes are finished.
pub(super) async fn applied(client: &Client, plan: &Value) -> Value {
    client.post(&format!("{}/apply", path_of(plan)), &Value::Null).await.expect(202);
    finished(client, plan).await
}

pub(super) async fn finished(client: &Client, plan: &Value) -> Value {
    let path = path_of(plan);
    eventually(&format!("end of {path}"), async || {
        let wait = [("prefer", "wait=20".to_owned())];
        let plan = client.send_with(Method::GET, &path, &wait, None).await.expect(200);
        (plan["state"] != "applying" && plan["dealers"][0]["outcomes"]["accepted"] == 0).then_some(plan)
    })
    .await
}

pub(super) async fn changes(client: &Client, plan: &Value, query: &str) -> Vec<Value> {
    let page = client.get(&format!("{}/changes?limit=500{query}", path_of(plan))).await.expect(200);
    page["results"].as_array().unwrap().clone()
}

/// The members of counts that are not 0.
pub(super) fn counted(counts: &Value) -> Value {
    let counts = counts.as_object().unwrap().iter().filter(|(_, count)| **count != 0);
    counts.map(|(name, count)| (name.clone(), count.clone())).collect::<serde_json::Map<_, _>>().into()
}

pub(super) fn counts(plan: &Value) -> Value {
    counted(&plan["dealers"][0]["counts"])
}

async fn server_of(database: &[&str]) -> Server {
    let args = database.iter().map(|arg| (*arg).to_owned()).collect();
    Server::with(Options { args, ..Options::default() }).await
}

async fn a_stock_becomes_what_is_sent(database: &[&str]) {
    let server = server_of(database).await;
    let client = &server.client;
    let first: Vec<_> = (0..30).map(|n| boat(&format!("b{n}"), "First")).collect();

    // Without a preference, the answer does not wait. Nothing changes before the plan is applied.
    let sent = client.send(Method::POST, PLANS, Some(lines(&first))).await;
    let location = sent.header("location").unwrap().to_owned();
    let plan = sent.expect(202);
    assert!(location.ends_with(&path_of(&plan)), "{location} {plan}");
    let plan = finished(client, &plan).await;
    assert_eq!((&plan["state"], counts(&plan)), (&json!("ready"), json!({"create": 30})));
    assert_eq!(client.get("/v4/ad").await.expect(200)["count"], 0);
    let plan = applied(client, &plan).await;
    assert_eq!(
        (&plan["state"], counted(&plan["dealers"][0]["outcomes"])),
        (&json!("applied"), json!({"done": 30})),
        "{plan}"
    );
    client.published("b0").await;

    // The same stock in another form changes nothing.
    let same = planned(client, "?missing=delete", serde_json::to_vec(&first).unwrap()).await.expect(200);
    assert_eq!((counts(&same), &same["guard"]["removals"]), (json!({"unchanged": 30}), &json!(0)));
    client.delete(&path_of(&same)).await.expect(200);

    // Updates, new ads and removals; one ad changes meanwhile.
    let mut second: Vec<_> = first[2..].to_vec();
    second[0]["body"] = json!("Second");
    second[1]["body"] = json!("Second");
    second.push(boat("new", "New"));
    second.push(json!({"source_id": "wrong", "category_id": 1060, "title": 7}));
    let plan = planned(client, "?missing=delete", lines(&second)).await.expect(200);
    assert_eq!(counts(&plan), json!({"create": 1, "update": 2, "unchanged": 26, "delete": 2, "invalid": 1}));
    assert_eq!(plan["guard"], json!({"most_removals": 3, "removals": 2, "exceeded": false}));
    let updates = changes(client, &plan, "&kind=update").await;
    assert_eq!(
        (&updates[0]["source_id"], &updates[0]["line"], &updates[0]["revision"], &updates[0]["fields"]),
        (&json!("b2"), &json!(1), &json!(0), &json!([{"pointer": "/body", "from": "First", "to": "Second"}]))
    );
    let invalid = changes(client, &plan, "&source_id=wrong").await;
    assert!(invalid[0]["errors"].as_array().unwrap().iter().any(|error| error["pointer"] == "/title"), "{invalid:?}");
    client.patch("/v4/boat/b2", &json!({"body": "By hand"})).await.expect(200);
    let plan = applied(client, &plan).await;
    assert_eq!(counted(&plan["dealers"][0]["outcomes"]), json!({"done": 4, "conflict": 1}), "{plan}");
    let conflict = changes(client, &plan, "&outcome=conflict").await;
    assert_eq!((&conflict[0]["source_id"], &conflict[0]["code"]), (&json!("b2"), &json!("precondition_failed")));
    let body = async |source_id: &str| client.ad(source_id).await["body"].clone();
    assert_eq!(
        (body("b2").await, body("b3").await, body("new").await),
        ("By hand".into(), "Second".into(), "New".into())
    );
    for gone in ["b0", "b1"] {
        assert_eq!(client.ended(gone, "delete", None).await["state"], "done");
    }

    // Requests, events and the record say which plan they are of.
    let made = changes(client, &plan, "&source_id=b3").await;
    let request = made[0]["request_id"].as_str().unwrap();
    let status = client.get(&format!("/v4/requests/{request}")).await.expect(200);
    assert_eq!((&status["plan_id"], &status["state"]), (&plan["id"], &json!("done")));
    let revisions = client.get("/v4/boat/b3/revisions").await.expect(200);
    assert_eq!(revisions["results"][0]["plan_id"], plan["id"]);
    let events = client.get("/v4/events?source_id=b3&types=ad.update.done").await.expect(200);
    assert_eq!(events["events"][0]["plan_id"], plan["id"]);

    // A second time is the same plan, and nothing is made twice.
    let again = client.post(&format!("{}/apply", path_of(&plan)), &Value::Null).await.expect(202);
    assert_eq!((&again["state"], &again["dealers"]), (&json!("applied"), &plan["dealers"]));
    let log = client.log("b3").await;
    assert_eq!(log.iter().filter(|entry| entry["action"] == "update" && entry["state"] == "done").count(), 1);

    // What was deleted comes back.
    second[0]["body"] = json!("By hand");
    second.pop();
    second.push(boat("b0", "Back"));
    let plan = planned(client, "", lines(&second)).await.expect(200);
    assert_eq!(counts(&plan), json!({"revive": 1, "unchanged": 29}), "{plan}");
    applied(client, &plan).await;
    assert_eq!(client.published("b0").await["body"], "Back");
}

#[tokio::test]
async fn a_stock_becomes_what_is_sent_on_sqlite() {
    a_stock_becomes_what_is_sent(&[]).await;
}

#[tokio::test]
async fn a_stock_becomes_what_is_sent_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    a_stock_becomes_what_is_sent(&["--database-url", &postgres.database().await]).await;
}

#[tokio::test]
async fn more_removals_than_the_guard_allows_need_their_number() {
    let server = Server::start().await;
    let client = &server.client;
    let all: Vec<_> = (0..20).map(|n| boat(&format!("b{n}"), "Text")).collect();
    let plan = planned(client, "", lines(&all)).await.expect(200);
    applied(client, &plan).await;

    let plan = planned(client, "?missing=hide", lines(&all[5..])).await.expect(200);
    assert_eq!(plan["guard"], json!({"most_removals": 2, "removals": 5, "exceeded": true}));
    let apply = async |query: &str| {
        let problem = [("accept", "application/problem+json".to_owned())];
        client.send_with(Method::POST, &format!("{}/apply{query}", path_of(&plan)), &problem, None).await
    };
    for query in ["", "?allow_removals=4", "?allow_removals=6"] {
        let refused = apply(query).await.expect(409);
        assert_eq!(
            (&refused["code"], refused["detail"].as_str().unwrap().contains("removes 5 ads")),
            (&json!("too_many_removals"), true)
        );
    }
    apply("?allow_removals=-5").await.expect(400);
    assert_eq!(client.ad("b0").await["visible"], true);
    apply("?allow_removals=5").await.expect(202);
    assert_eq!(counted(&finished(client, &plan).await["dealers"][0]["outcomes"]), json!({"done": 5}));
    assert_eq!((&client.ad("b0").await["visible"], &client.ad("b5").await["visible"]), (&json!(false), &json!(true)));

    // A number of its own, and only some vehicle types.
    let plan =
        planned(client, "?missing=delete&most_removals=20&vehicle_types=car", lines(&all[..1])).await.expect(200);
    assert_eq!(plan["guard"], json!({"most_removals": 20, "removals": 0, "exceeded": false}));
    let plan = planned(client, "?missing=delete&most_removals=20", lines(&all[..1])).await.expect(200);
    assert_eq!(plan["guard"], json!({"most_removals": 20, "removals": 19, "exceeded": false}));
}

#[tokio::test]
async fn plans_are_those_of_the_scope_and_bounded() {
    let server = Server::start().await;
    let client = &server.client;
    let stock = || lines(&[boat("b1", "Text")]);
    let plan = planned(client, "", stock()).await.expect(200);

    let group = server.client_of(&["--dealer-code", "south-cars"]).await;
    let reader = server.client_of(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    group.get(&path_of(&plan)).await.expect(404);
    group.post(&format!("{}/apply", path_of(&plan)), &Value::Null).await.expect(404);
    group.delete(&path_of(&plan)).await.expect(404);
    group.get(&format!("{}/changes", path_of(&plan))).await.expect(404);
    assert_eq!(group.get(PLANS).await.expect(200)["count"], 0);
    client.get(&format!("{PLANS}/unknown")).await.expect(404);
    reader.get(&path_of(&plan)).await.expect(200);
    reader.post(&format!("{}/apply", path_of(&plan)), &Value::Null).await.expect(403);
    planned(&reader, "", stock()).await.expect(403);
    planned(client, "?dealer_code=south-cars", stock()).await.expect(400);
    planned(client, "?vehicle_types=cars", stock()).await.expect(400);
    planned(client, "?missing=remove", stock()).await.expect(400);

    for _ in 0..2 {
        planned(client, "", stock()).await.expect(200);
    }
    let refused = planned(client, "", stock()).await.expect(409);
    assert!(refused["detail"].as_str().unwrap().contains("north-cars has 3 stock plans"), "{refused}");
    planned(&group, "", stock()).await.expect(200);
    let cancelled = client.delete(&path_of(&plan)).await.expect(200);
    assert_eq!(cancelled["state"], "cancelled");
    client.post(&format!("{}/apply", path_of(&plan)), &Value::Null).await.expect(409);
    assert_eq!(client.delete(&path_of(&plan)).await.expect(200)["state"], "cancelled");
    planned(client, "", stock()).await.expect(200);
    let listed = client.get(&format!("{PLANS}?limit=3")).await.expect(200);
    assert_eq!((&listed["count"], listed["results"].as_array().unwrap().len()), (&json!(4), 3));
}

#[tokio::test]
async fn one_change_of_selected_ads_is_a_plan() {
    let server = Server::start().await;
    let client = &server.client;
    let priced = |id: &str, kind: &str, amount: f64| {
        let mut boat = boat(id, "Text");
        boat["price"] = json!([{"type": kind, "amount": amount, "currency": "SEK"}]);
        boat
    };
    let stock = [priced("b1", "list", 19_990.0), priced("b2", "list", 151.25), priced("b3", "monthly", 900.0)];
    let plan = planned(client, "", lines(&stock)).await.expect(200);
    applied(client, &plan).await;
    let select = async |selection: Value| planned(client, "", serde_json::to_vec_pretty(&selection).unwrap()).await;
    let lower = json!({"select": {"category_id": 1060}, "change": {"price_percent": -5, "round": 10}});
    let plan = select(lower).await.expect(200);
    assert_eq!(counts(&plan), json!({"update": 2, "unchanged": 1}));
    let fields = &changes(client, &plan, "&source_id=b1").await[0]["fields"];
    assert_eq!((&fields[0]["pointer"], &fields[0]["to"][0]["amount"]), (&json!("/price"), &json!(18_990)));
    applied(client, &plan).await;
    let amount = async |id: &str| client.ad(id).await["price"][0]["amount"].to_string();
    assert_eq!([amount("b1").await, amount("b2").await, amount("b3").await], ["18990", "140", "900.0"]);

    let hidden = json!({"select": {"source_id__in": ["b1", "b2"]}, "change": {"set": {"visible": false}}});
    let plan = select(hidden).await.expect(200);
    assert_eq!((counts(&plan), &plan["guard"]["exceeded"]), (json!({"hide": 2}), &json!(true)));
    for (selection, status) in [
        (json!({"select": {"category_id": "boats"}, "change": {"price_percent": -5}}), 400),
        (json!({"select": {"limit": 5}, "change": {"price_percent": -5}}), 400),
        (json!({"select": {}, "change": {"price_percent": "-5"}}), 400),
        (json!({"select": {}, "change": {}}), 400),
        (json!({"select": {}}), 400),
        (json!({"select": {"source_id": "none"}, "change": {"set": {"visible": true}}}), 400),
    ] {
        select(selection).await.expect(status);
    }
    let missing = json!({"select": {}, "change": {"set": {"visible": true}}});
    planned(client, "?missing=delete", missing.to_string().into_bytes()).await.expect(400);
    planned(client, "", format!("{missing}\n{missing}\n").into_bytes()).await.expect(400);
}

#[tokio::test]
async fn a_group_plans_for_one_dealer_or_for_those_that_occur() {
    let server = Server::start().await;
    let group = server.client_of(&["--dealer-group", "north"]).await;
    let dealers: Vec<String> = group.get("/v4/me").await.expect(200)["dealers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dealer| dealer["code"].as_str().unwrap().to_owned())
        .collect();
    let of = |dealer: &str| {
        let mut car = plain_car("c1", "ABC123");
        car["dealer_code"] = json!(dealer);
        car
    };
    let stock: Vec<_> = dealers.iter().map(|dealer| of(dealer)).collect();
    let plan = planned(&group, "", lines(&stock)).await.expect(200);
    let of_dealers: Vec<_> = plan["dealers"].as_array().unwrap().iter().map(|it| it["dealer_code"].clone()).collect();
    assert_eq!((of_dealers.len(), plan["state"].as_str()), (dealers.len(), Some("ready")), "{plan}");
    let plan = applied(&group, &plan).await;
    for dealer in plan["dealers"].as_array().unwrap() {
        assert_eq!(counted(&dealer["outcomes"]), json!({"done": 1}), "{plan}");
    }
    let of_one = planned(&group, &format!("?dealer_code={}", dealers[0]), lines(&[plain_car("c1", "ABC123")])).await;
    assert_eq!(counts(&of_one.expect(200)), json!({"unchanged": 1}));
    let elsewhere = planned(&group, &format!("?dealer_code={}", dealers[0]), lines(&stock)).await.expect(200);
    assert_eq!(counts(&elsewhere)["unchanged"], 1, "{elsewhere}");
    assert_eq!(elsewhere["errors"][0]["pointer"], "/dealer_code", "{elsewhere}");
}
