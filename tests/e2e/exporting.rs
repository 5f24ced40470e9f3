//! `ad-server export`: everything of a dealer, nothing of others, and no secrets.

use std::collections::BTreeMap;

use ad_core::ports::StoreError;
use ad_server::store::{Database, DatabaseStore};
use ad_tests::{ImageHost, Options, Postgres, Server, run};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    payloads::{boat, plain_boat},
    store_contract::{ad, create},
};

/// Everything of a dealer, read in pages of so many rows, in one order.
async fn in_pages_of(database: &Database, dealer_code: &str, page: u32) -> Vec<String> {
    let mut lines = Vec::new();
    let take = |line: &str| {
        lines.push(line.to_owned());
        Ok::<_, StoreError>(())
    };
    database.export_in_pages(dealer_code, page, take).await.unwrap();
    lines.sort_unstable();
    lines
}

async fn everything_is_exported(database: Option<String>) {
    let images = ImageHost::start().await;
    let database = database.map_or_else(Vec::new, |url| vec!["--database-url".to_owned(), url]);
    let server = Server::with(Options { args: database.clone(), ..Options::default() }).await;
    let client = &server.client;
    let other = server.client_of(&["--dealer-code", "south-cars"]).await;
    let mut ad = boat("mine", &images);
    ad["title"] = json!("RIB 5.5 \"å\"");
    let headers = [("Idempotency-Key", "key-1".to_owned())];
    let created =
        client.send_with(reqwest::Method::POST, "/v4/boat", &headers, Some(ad.to_string().into_bytes())).await;
    created.expect(201);
    client.published("mine").await;
    // The second changes nothing, so no log entry has it.
    for key in ["key-2", "key-3"] {
        let headers = [("Idempotency-Key", key.to_owned())];
        let change = json!({"visible": true, "body": "Changed"}).to_string().into_bytes();
        let changed = client.send_with(reqwest::Method::PATCH, "/v4/boat/mine", &headers, Some(change)).await;
        changed.expect(200);
        if key == "key-2" {
            client.ended("mine", "publish", changed.header("X-Request-Id")).await;
        }
    }
    // Of events that do not come, so that nothing is delivered between the exports that are compared.
    let webhook = json!({"url": "https://receiver.example/hook", "types": ["ad.delete.done"]});
    let webhook = client.post("/v4/webhooks", &webhook).await.expect(201);
    let secret = webhook["secret"].as_str().unwrap().to_owned();
    other.post("/v4/boat", &boat("theirs", &images)).await.expect(201);

    let shown = server.command(&["export", "--dealer-code", "north-cars", "--output", "north.ndjson"]).await;
    assert!(shown.contains("log_entry"), "{shown}");
    let file = server.dir().join("north.ndjson");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("theirs") && !text.contains("south-cars"), "nothing of others");
    assert!(!text.contains(&secret) && !text.contains("whsec_"), "no secrets");
    assert!(!text.contains(server.client.token.as_deref().unwrap()), "no tokens");
    let mut kinds: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        kinds.entry(row["kind"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    let of = |kind: &str| kinds.get(kind).unwrap_or_else(|| panic!("no {kind} in {text}"));
    assert_eq!(of("ad").len(), 1);
    let (exported, shown) = (&of("ad")[0], client.ad("mine").await);
    assert_eq!((&exported["source_id"], &exported["content"]["body"]), (&json!("mine"), &shown["body"]));
    assert_eq!(exported["image_refs"].as_array().unwrap().len(), shown["image_refs"].as_array().unwrap().len());
    assert_eq!(of("token").len(), 1);
    assert_eq!(of("dealer")[0]["dealer"]["code"], "north-cars");
    assert_eq!(of("webhook")[0]["url"], "https://receiver.example/hook");
    assert!(of("local_listing").iter().all(|listing| listing["source_id"] == "mine"));
    // What the first change replaced; the second changed nothing.
    let revisions = of("revision");
    assert_eq!((revisions.len(), &revisions[0]["difference"]["body"]), (1, &ad["body"]), "{revisions:?}");
    let answers = of("kept_answer");
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert!(answers.iter().all(|answer| answer["body"].as_str().unwrap().contains("RIB 5.5")));
    let actions: Vec<_> = of("log_entry").iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert!(actions.contains(&"create") && actions.contains(&"publish"), "{actions:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0, "for its owner only");
    }
    // The size of pages changes nothing. The last use of tokens may be noted meanwhile.
    let url = database.get(1).cloned().unwrap_or_else(|| format!("sqlite://{}/data/ads.db", server.dir().display()));
    let opened = Database::open(&url).await.unwrap();
    let without_tokens = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().filter(|line| serde_json::from_str::<Value>(line).unwrap()["kind"] != "token").collect()
    };
    let mut in_file: Vec<String> = text.lines().map(str::to_owned).collect();
    in_file.sort_unstable();
    assert_eq!(without_tokens(in_pages_of(&opened, "north-cars", 1).await), without_tokens(in_file));
    opened.close().await;
    // It replaces no file.
    let mut again = vec!["export", "--dealer-code", "north-cars", "--output", "north.ndjson"];
    again.extend(database.iter().map(String::as_str));
    let again = run(server.dir(), &again).await;
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("north.ndjson exists"));
    assert!(server.command(&["audit", "list"]).await.contains("export"));
}

#[tokio::test]
async fn everything_of_a_dealer_is_exported_from_sqlite() {
    everything_is_exported(None).await;
}

#[tokio::test]
async fn everything_of_a_dealer_is_exported_from_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    everything_is_exported(Some(server.database().await)).await;
}

async fn answers_of_unfinished_requests_are_exported(database: Option<String>) {
    let mut args = vec!["--workers".to_owned(), "0".to_owned()];
    args.extend(database.into_iter().flat_map(|url| ["--database-url".to_owned(), url]));
    let server = Server::with(Options { args, ..Options::default() }).await;
    let mut ad = plain_boat();
    ad["source_id"] = json!("mine");
    for (method, path, body, status) in [
        (reqwest::Method::POST, "/v4/boat", ad, 201),
        (reqwest::Method::PATCH, "/v4/boat/mine", json!({"body": "Changed"}), 200),
    ] {
        let headers = [("Idempotency-Key", format!("key-{status}"))];
        server.client.send_with(method, path, &headers, Some(body.to_string().into_bytes())).await.expect(status);
    }
    server.command(&["export", "--dealer-code", "north-cars", "--output", "north.ndjson"]).await;
    let text = std::fs::read_to_string(server.dir().join("north.ndjson")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let statuses: Vec<_> = rows.filter(|row| row["kind"] == "kept_answer").map(|row| row["status"].clone()).collect();
    assert_eq!(statuses, [201, 200], "{text}");
}

#[tokio::test]
async fn answers_of_unfinished_requests_are_exported_from_sqlite() {
    answers_of_unfinished_requests_are_exported(None).await;
}

#[tokio::test]
async fn answers_of_unfinished_requests_are_exported_from_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    answers_of_unfinished_requests_are_exported(Some(server.database().await)).await;
}

/// A dealer with many ads, among those of another. No statement reads more than a page of them.
async fn a_large_dealer_is_exported_in_pages(url: &str) {
    let database = Database::open(url).await.unwrap();
    let store = DatabaseStore::new(database.clone());
    let numbers: Vec<u128> = (1..=3000).collect();
    for some in numbers.chunks(250) {
        let creating = some.iter().map(|number| {
            let dealer = if number % 3 == 0 { "other" } else { "large" };
            let (store, ad) = (&store, ad(*number, dealer, &format!("Bil {number}")));
            async move { create(store, &ad).await.unwrap() }
        });
        join_all(creating).await;
    }
    let all = in_pages_of(&database, "large", 7).await;
    let of = |kind: &str| all.iter().filter(|line| line.contains(&format!("{kind}\""))).count();
    assert_eq!((of("\"ad"), of("\"log_entry"), of("\"unfinished_request")), (2000, 2000, 2000));
    assert_eq!(all.len(), 6000);
    assert_eq!(all, in_pages_of(&database, "large", 5000).await);
}

#[tokio::test]
async fn a_large_dealer_is_exported_in_pages_from_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    a_large_dealer_is_exported_in_pages(&format!("sqlite://{}", folder.path().join("ads.db").display())).await;
}

#[tokio::test]
async fn a_large_dealer_is_exported_in_pages_from_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    a_large_dealer_is_exported_in_pages(&server.database().await).await;
}
