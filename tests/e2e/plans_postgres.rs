//! How PostgreSQL goes about lists: by the plans that it says it has used, for what the store really sent
//! (`auto_explain`). What SQLite does is asked in `ad-server/store/src/tests/plans.rs`.

use std::collections::BTreeSet;

use ad_core::{
    model::{AdFilter, AdOrder, AdQuery, AdState, AdStatus, Bound, Included, Page, Timestamp},
    ports::{Scope, Store},
};
use ad_server::store::{Database, DatabaseStore, Options};
use ad_tests::{Options as ServerOptions, Postgres, Server, WebhookReceiver, eventually};
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

/// Has the server write every plan into a file, one JSON object a line.
///
/// Only the tests vacuum: a snapshot that autovacuum holds meanwhile would leave pages that are not known to be visible
/// to all, for which the planner reads whole rows.
const EXPLAIN: [&str; 7] = [
    "autovacuum=off",
    "log_min_messages=log",
    "logging_collector=on",
    "log_destination=jsonlog",
    "shared_preload_libraries=auto_explain",
    "auto_explain.log_min_duration=0",
    "auto_explain.log_format=json",
];

/// Dealers with 250 ads each and one with 4,000, all of whom write at the same time. The ads are as large as real ones.
const STOCK: &str = "\
INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, \
    registration_number, marketplace_ad_id, offer_id, status, channels, quality_score, image_refs, content) \
SELECT CAST(lpad(to_hex(n), 32, '0') AS UUID), 'Lager-' || n, CASE n % 5 WHEN 0 THEN 'giant' ELSE 'd' || n % 80 END, \
    CASE n % 5 WHEN 3 THEN 1060 ELSE 1020 END, CASE n % 100 WHEN 7 THEN 'deleted' ELSE 'created' END, 'v4', 0, 'created', \
    n * 1000, n * 1000 + n * 7919 % 1000000, 'P' || n, 'L' || n, 'S' || n, CASE n % 100 WHEN 7 THEN 'deleted' WHEN 9 THEN 'failed' ELSE 'live' END, \
    CASE n % 100 WHEN 7 THEN 'not_listed not_listed -' WHEN 9 THEN 'failed failed given_up' ELSE 'live live -' END, n % 101, '[]', \
    json_build_object('title', 'Volvo V60', 'url', repeat(md5(CAST(n AS TEXT)), 50)) \
FROM generate_series(1, 20000) AS n; \
INSERT INTO texts (ad, dealer_code, search, source_id) \
SELECT seq, dealer_code, 'volvo v60 ' || seq || repeat(' välvårdad', 40), lower(source_id) FROM ads; \
INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code) \
SELECT seq, n, id, created, 'publish', 'done', '\"Done\"', dealer_code FROM ads, generate_series(1, 8) AS n";

/// Every filter; whether it names a few ads.
fn filters() -> Vec<(Option<AdFilter>, bool)> {
    let text = |text: &str| text.to_owned();
    let wide = [
        AdFilter::State(AdState::Created),
        AdFilter::State(AdState::Deleted),
        AdFilter::Status(vec![AdStatus::Failed]),
        AdFilter::Status(vec![AdStatus::Live, AdStatus::Processing]),
        AdFilter::QualityScore(Bound::Lt, 3),
        AdFilter::QualityScore(Bound::Gte, 50),
        AdFilter::DealerCode(text("d1")),
        AdFilter::CategoryId(vec![1060]),
        AdFilter::CategoryId(vec![1020, 1060]),
        AdFilter::Search(text("vårdad")),
        AdFilter::Search(text("v60 77")),
        AdFilter::Search(text("volvo v60 77 välvårdad")),
        AdFilter::SourceIdContains(text("lager")),
        AdFilter::SourceIdContains(text("77")),
        AdFilter::Words(text("volvo v6")),
        AdFilter::Words(text("Lager-77")),
    ];
    let times = [AdOrder::Created, AdOrder::Updated].into_iter().flat_map(|order| {
        [(Bound::Gt, 19_000), (Bound::Gte, 1000), (Bound::Lt, 19_000), (Bound::Lte, 1000)]
            .map(|(bound, seconds)| AdFilter::Time(order, bound, Timestamp::from_millis(seconds * 1000)))
    });
    let few = [
        AdFilter::Id(Uuid::from_u128(0x64)),
        AdFilter::SourceId(vec![text("Lager-100"), text("Lager-101")]),
        AdFilter::MarketplaceAdId(vec![text("L100"), text("L101")]),
        AdFilter::RegistrationNumber(text("P100")),
    ];
    let wide = wide.into_iter().chain(times).map(|filter| (Some(filter), false));
    wide.chain(few.into_iter().map(|filter| (Some(filter), true))).chain([(None, false)]).collect()
}

/// A server with the stock, and a store on it that has one connection, whose statements are planned again and again.
struct Explained {
    server: Postgres,
    store: DatabaseStore,
}

impl Explained {
    /// None when PostgreSQL is not installed.
    async fn start() -> Option<Self> {
        let server = Postgres::start(&EXPLAIN).await?;
        let url = server.database().await;
        let database = Database::open_with(&url, &Options { connections: 1, ..Options::default() }).await.unwrap();
        let mut connection = PgConnection::connect(&url).await.unwrap();
        connection.execute(STOCK).await.unwrap();
        let store = DatabaseStore::new(database.clone());
        while database.words_due().await.unwrap() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        connection.execute("VACUUM ANALYZE").await.unwrap();
        connection.close().await.unwrap();
        Some(Self { server, store })
    }

    /// The plans of so many lists, in the order in which they were asked for.
    async fn plans(&self, lists: usize) -> Vec<Value> {
        let written = || {
            let mut plans = plans(&self.server);
            plans.retain(|plan| plan["Query Text"].as_str().unwrap().contains("matching AS"));
            std::future::ready((plans.len() >= lists).then_some(plans))
        };
        let plans = eventually("the server has written its plans down", written).await;
        assert_eq!(plans.len(), lists);
        plans.into_iter().map(|mut plan| plan["Plan"].take()).collect()
    }
}

/// All plans that a server has written down so far, with the statements.
fn plans(server: &Postgres) -> Vec<Value> {
    let folder = server.folder().join("data/log");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    text.lines().filter_map(plan).collect()
}

/// The plan in a line of the log.
fn plan(line: &str) -> Option<Value> {
    // The last line may not be whole yet.
    let line: Value = serde_json::from_str(line).ok()?;
    let (_, plan) = line["message"].as_str()?.split_once("plan:\n")?;
    Some(serde_json::from_str(plan).expect("auto_explain was asked for JSON"))
}

/// The steps of a plan.
fn steps<'p>(step: &'p Value, found: &mut Vec<&'p Value>) {
    found.push(step);
    for step in step["Plans"].as_array().into_iter().flatten() {
        steps(step, found);
    }
}

/// So many ads may be looked at for a page of 50.
const FEW: f64 = 100.0;

/// What is wrong with a step.
fn fault(step: &Value, names_few: bool) -> Option<&'static str> {
    let text = |name: &str| step[name].as_str().unwrap_or_default();
    let (kind, index, condition) = (text("Node Type"), text("Index Name"), text("Index Cond"));
    if kind == "Seq Scan" && ["ads", "texts", "words", "log"].contains(&text("Relation Name")) {
        return Some("reads a whole table");
    }
    // The rows of a page, of what was searched, and the logs of a page are found by their numbers.
    if !kind.contains("Index") || condition.starts_with("(seq = ") || condition.starts_with("(ad = ") {
        return None;
    }
    if names_few {
        let names = ["(id = ", "source_id = ", "marketplace_ad_id = ", "registration_number = "];
        return (!names.iter().any(|name| condition.contains(name))).then_some("does not find the ads by their names");
    }
    // Of a status that few of the dealer's ads have, these are looked at.
    if index == "ads_status"
        && condition.contains("status = ")
        && step["Plan Rows"].as_f64().is_some_and(|rows| rows <= FEW)
    {
        return None;
    }
    // Its words begin with the code of the dealer.
    if index == "words_words" && condition.contains("words @@ ") {
        return None;
    }
    if !condition.contains("dealer_code = ") {
        return Some("does not keep to the dealers' part of an index");
    }
    (kind != "Index Only Scan" && index != "texts_pkey").then_some("reads whole ads for more than the page")
}

/// What a step does, in short.
fn summary(step: &Value) -> String {
    let said =
        ["Node Type", "Relation Name", "Index Name", "Index Cond", "Recheck Cond", "Filter", "Sort Key", "Plan Rows"];
    let said: Vec<_> = said.into_iter().filter(|name| !step[*name].is_null()).collect();
    said.iter().map(|name| format!("{name} {}", step[*name])).collect::<Vec<_>>().join(", ")
}

/// How often each list is asked for: the database plans a statement five times for its values, then perhaps once for all.
const ROUNDS: usize = 3;

#[tokio::test]
async fn every_list_is_answered_from_an_index() {
    let Some(explained) = Explained::start().await else { return };
    let (small, large) = (["d1".to_owned(), "d2".to_owned()], ["d1".to_owned(), "giant".to_owned()]);
    let scopes = [Scope::Dealer("d1"), Scope::Dealer("giant"), Scope::Dealers(&small), Scope::Dealers(&large)];
    let mut asked = Vec::new();
    for (filter, names_few) in filters() {
        for order in [AdOrder::Created, AdOrder::Updated, AdOrder::SourceId] {
            for (descending, log) in [(true, false), (false, true)] {
                let page = Page { limit: 50, offset: 0 };
                let filters = filter.iter().cloned().collect();
                let query = AdQuery {
                    filters,
                    order,
                    descending,
                    page,
                    fields: None,
                    included: Included { log, status: false, quality: false, warnings: false },
                };
                for scope in scopes.repeat(ROUNDS) {
                    explained.store.list(scope, &query).await.unwrap();
                    asked.push((scope, query.clone(), names_few));
                }
            }
        }
    }
    let plans = explained.plans(asked.len()).await;
    let mut wrong = Vec::new();
    for ((scope, query, names_few), plan) in asked.iter().zip(&plans) {
        let mut found = Vec::new();
        steps(plan, &mut found);
        for step in found {
            if let Some(fault) = fault(step, *names_few) {
                wrong.push(format!("{query:?} in {scope:?} {fault}: {}", summary(step)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Plans that were made while the queue was empty are used while it is long, so they must not read whole tables.
#[tokio::test]
async fn writes_and_the_queue_go_by_index_when_they_were_planned_on_empty_tables() {
    let Some(postgres) = Postgres::start(&EXPLAIN).await else { return };
    let url = postgres.database().await;
    let args = ["--allow-private-webhooks", "--database-url", &url].map(str::to_owned).to_vec();
    let server = Server::with(ServerOptions { args, ..ServerOptions::default() }).await;
    let receiver = WebhookReceiver::start().await;
    let webhook = server.client.post("/v4/webhooks", &json!({"url": receiver.url("/")})).await.expect(201);
    let publish = async |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let source_id = format!("boat-{number}");
            let mut boat: Value = serde_json::from_str(include_str!("../data/payloads/boat-v4.json")).unwrap();
            boat["source_id"] = source_id.as_str().into();
            boat["image_urls"] = json!([]);
            server.client.post("/v4/boat", &boat).await.expect(201);
            let patch = server.client.patch(&format!("/v4/boat/{source_id}"), &json!({"title": "Fin båt"})).await;
            patch.expect(200);
            let request = format!("/v4/requests/{}", patch.header("x-request-id").unwrap());
            server.client.get(&request).await.expect(200);
            server.client.ended(&source_id, "publish", patch.header("x-request-id")).await;
            server.client.get(&request).await.expect(200);
            let known = [("if-none-match", "*".to_owned())];
            let ad = format!("/v4/ad/{source_id}");
            assert_eq!(server.client.send_with(reqwest::Method::GET, &ad, &known, None).await.status, 304);
        }
    };
    publish(0..2).await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    connection.execute("TRUNCATE ads, log, requests, texts, listings, photo_looks").await.unwrap();
    connection.execute("VACUUM ANALYZE").await.unwrap();
    connection.execute("SELECT 'from here'").await.unwrap();
    let test = format!("/v4/webhooks/{}/test", webhook["id"].as_str().unwrap());
    server.client.post(&test, &json!({})).await.expect(200);
    let tests = || receiver.received("/").iter().filter(|received| received.json()["type"] == "webhook.test").count();
    eventually("the test event", || async { (tests() == 1).then_some(()) }).await;
    publish(2..20).await;
    eventually("a webhook for each publication", || async {
        (receiver.received("/").len() >= 18 + tests()).then_some(())
    })
    .await;
    connection.execute("SELECT 'to here'").await.unwrap();
    let is = |plan: &Value, text: &str| plan["Query Text"].as_str().unwrap().contains(text);
    let written = || {
        let plans = plans(&postgres);
        std::future::ready(plans.iter().any(|plan| is(plan, "'to here'")).then_some(plans))
    };
    let plans = eventually("the server has written its plans down", written).await;
    let begin = plans.iter().position(|plan| is(plan, "'from here'")).unwrap();
    let mut wrong = BTreeSet::new();
    for plan in &plans[begin..] {
        let mut found = Vec::new();
        steps(&plan["Plan"], &mut found);
        for step in found {
            let grows = ["ads", "log", "requests", "texts", "words", "listings", "deliveries"]
                .contains(&step["Relation Name"].as_str().unwrap_or_default());
            let kind = step["Node Type"].as_str().unwrap();
            // The oldest and the next request of the queue are the first ones of its index.
            let is_first = step["Index Name"] == "requests_claimable";
            let is_table = grows && kind.contains("Scan") && kind != "Bitmap Heap Scan" && !is_first;
            // This step does not name its table.
            let is_index = kind == "Bitmap Index Scan";
            if (is_table || is_index) && step["Index Cond"].is_null() {
                wrong.insert(format!("{}\n  reads a whole table: {}", plan["Query Text"], summary(step)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}
