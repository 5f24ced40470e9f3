//! Linking to listings that existed before (interface, 'What the service does' 9; decision 25).

use ad_tests::{Options, Postgres, Server};
use serde_json::json;

use crate::payloads::plain_car;

async fn with_listings(lines: &[serde_json::Value]) -> Server {
    with_listings_in(&[], lines).await
}

/// In this database.
async fn with_listings_in(database: &[String], lines: &[serde_json::Value]) -> Server {
    let server = Server::with(Options { args: database.to_vec(), ..Options::default() }).await;
    let text: String = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    std::fs::write(server.dir().join("listings.ndjson"), text).unwrap();
    server.command(&["listings", "import", "listings.ndjson"]).await;
    server
}

fn listing(dealer: &str, plate: &str) -> serde_json::Value {
    json!({"marketplace": "primary", "dealer_code": dealer, "registration_number": plate, "title": "Old"})
}

async fn links_to_the_listing_of_its_plate(database: &[String]) {
    let server = with_listings_in(database, &[listing("north-cars", "lnk 001"), listing("south-cars", "LNK002")]).await;
    let listings = server.listings().await;
    let old = listings.iter().find(|it| it["dealer_code"] == "north-cars").unwrap();
    server.client.post("/v4/car", &plain_car("c", "LNK001")).await.expect(201);
    let ad = server.client.published("c").await;
    assert_eq!(ad["marketplace_ad_id"], old["id"]);
    let publish = server.client.ended("c", "publish", None).await;
    assert!(publish["external_message"]["message"].as_str().unwrap().contains("linked"), "{publish}");
    let listings = server.listings().await;
    let linked = listings.iter().find(|it| it["id"] == old["id"]).unwrap();
    assert_eq!((&linked["source_id"], &linked["title"]), (&json!("c"), &ad["title"]), "its data is overwritten");

    server.client.post("/v4/car", &plain_car("d", "LNK002")).await.expect(201);
    let other = server.client.published("d").await;
    let foreign = listings.iter().find(|it| it["dealer_code"] == "south-cars").unwrap();
    assert_ne!(other["marketplace_ad_id"], foreign["id"], "another dealer's listing");
}

#[tokio::test]
async fn an_ad_links_to_the_listing_of_its_plate() {
    links_to_the_listing_of_its_plate(&[]).await;
    never_takes_a_listing_of_another_live_ad(&[]).await;
}

#[tokio::test]
async fn an_ad_links_to_the_listing_of_its_plate_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    let database = async || ["--database-url".to_owned(), postgres.database().await];
    links_to_the_listing_of_its_plate(&database().await).await;
    never_takes_a_listing_of_another_live_ad(&database().await).await;
}

async fn never_takes_a_listing_of_another_live_ad(database: &[String]) {
    let server = with_listings_in(database, &[listing("north-cars", "TIE001")]).await;
    server.client.post("/v4/car", &plain_car("first", "TIE001")).await.expect(201);
    let first = server.client.published("first").await;
    server.client.post("/v4/car", &plain_car("second", "TIE001")).await.expect(201);
    let second = server.client.published("second").await;
    assert_ne!(first["marketplace_ad_id"], second["marketplace_ad_id"]);
    let publish = server.client.ended("second", "publish", None).await;
    assert!(publish["external_message"]["message"].as_str().unwrap().contains("warning"), "{publish}");
}

#[tokio::test]
async fn a_broken_listings_file_imports_nothing_and_names_every_line() {
    let server = with_listings(&[]).await;
    let text = format!("{}\nnot json\n{}\n", listing("north-cars", "BAD001"), json!({"marketplace": "third"}));
    std::fs::write(server.dir().join("bad.ndjson"), text).unwrap();
    let output = ad_tests::run(server.dir(), &["listings", "import", "bad.ndjson"]).await;
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("bad.ndjson") && said.contains('2') && said.contains('3'), "{said}");
    assert!(server.listings().await.is_empty());
}
