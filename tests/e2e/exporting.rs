//! `ad-server export`: everything of a dealer, nothing of others, and no secrets.

use std::collections::BTreeMap;

use ad_tests::{ImageHost, Options, Postgres, Server, run};
use serde_json::{Value, json};

use crate::payloads::boat;

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
    let webhook = json!({"url": "https://receiver.example/hook", "types": ["ad.publish.done"]});
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
    assert!(of("kept_answer")[0]["body"].as_str().unwrap().contains("RIB 5.5"));
    let actions: Vec<_> = of("log_entry").iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert!(actions.contains(&"create") && actions.contains(&"publish"), "{actions:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0, "for its owner only");
    }
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
