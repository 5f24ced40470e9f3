//! `migrate-v4`: which ads of V3 convert by themselves, and which need what.

use ad_tests::{Cli, Server};
use serde_json::{Value, json};

use crate::payloads::{plain_boat, plain_car, sample};

async fn old_stock(server: &Server) {
    let mut moped = sample(include_str!("../../data/payloads/moped-v4.json"));
    moped["source_id"] = json!("moped-1");
    moped["category_fields"] = json!({"registration_number": "MOP123", "model_year": 2019});
    moped.as_object_mut().unwrap().remove("image_urls");
    let rib = json!({
        "source_id": "rib-1", "category_id": 1063, "title": "RIB", "contact": {"email": "a@north.example"},
        "category_fields": {"length": "5,5 m"},
    });
    let machine = json!({
        "source_id": "machine-1", "category_id": 1224, "title": "Forklift", "contact": {"email": "a@north.example"},
    });
    let bus =
        json!({"source_id": "bus-1", "category_id": 1221, "title": "Bus", "contact": {"email": "a@north.example"}});
    for ad in [plain_car("car-1", "ABC123"), moped, rib, machine, bus] {
        server.client.post("/v3/ad", &ad).await.expect(201);
    }
    server.client.post("/v4/car", &plain_car("new", "ABC124")).await.expect(201);
}

#[tokio::test]
async fn a_dry_run_tells_the_way_of_each_ad_and_changes_nothing() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    old_stock(&server).await;
    let told = cli.run("migrate-v4 --all --dry-run --output json").await;
    let rows = told.json();
    let ways: Vec<_> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["source_id"].as_str().unwrap(), row["way"].as_str().unwrap()))
        .collect();
    let expected = [
        ("car-1", "converts"),
        ("moped-1", "ready"),
        ("rib-1", "needs_data"),
        ("machine-1", "stays"),
        ("bus-1", "needs_type"),
    ];
    assert_eq!(ways, expected);
    let needs: Vec<_> =
        rows[2]["needs"].as_array().unwrap().iter().map(|need| need["field"].as_str().unwrap()).collect();
    assert!(needs.contains(&"category_fields.length"), "{needs:?}");
    assert_eq!(rows[4]["vehicle_types"], json!(["bus", "truck"]));
    assert_eq!(rows[4]["needs"][0]["messages"], json!(["--type bus or --type truck"]));
    let truck = cli.run("migrate-v4 bus-1 --type truck --dry-run --output json").await.json();
    assert_eq!(truck[0]["vehicle_types"], json!(["truck", "bus"]));
    assert_eq!(
        told.stderr,
        "V3 ads: 1 converted by the next update, 1 ready to migrate, 1 need data (--payloads), \
         1 need a vehicle type (--type), 1 stay V3\n"
    );
    let table = cli.run("migrate-v4 --all --dry-run").await;
    assert!(
        table.done().contains("needs data")
            && table.stdout.contains("category_fields.length: Unknown field. Did you mean"),
        "{table:?}"
    );
    assert_eq!(server.client.ad("car-1").await["api_version"], "v3");
}

#[tokio::test]
async fn what_is_ready_migrates_and_the_rest_with_payloads() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    old_stock(&server).await;
    let migrated = cli.run("migrate-v4 --all --output json").await;
    assert_eq!(migrated.code, 1, "some need data: {migrated:?}");
    for (id, version) in [("car-1", "v4"), ("moped-1", "v4"), ("rib-1", "v3"), ("machine-1", "v3")] {
        assert_eq!(server.client.ad(id).await["api_version"], version, "{id}");
    }
    assert!(migrated.stderr.starts_with("V3 ads: 2 accepted, 1 need data"), "{migrated:?}");

    let mut boat = plain_boat();
    boat["source_id"] = json!("rib-1");
    cli.file("boats.ndjson", format!("{boat}\n"));
    let rows: Value = cli.run("migrate-v4 --payloads boats.ndjson rib-1 --output json").await.json();
    assert_eq!(rows[0]["way"], "accepted");
    assert!(rows[0]["request_id"].is_string());
    let ad = server.client.ad("rib-1").await;
    assert_eq!((&ad["api_version"], &ad["category_id"]), (&json!("v4"), &json!(1060)));
    let again = cli.run("migrate-v4 rib-1").await;
    assert!(again.code == 0 && again.stderr.contains("rib-1 is already a V4 ad"), "{again:?}");
    let nothing = cli.run("migrate-v4 --dry-run").await;
    assert_eq!(nothing.code, 2, "which ads: {nothing:?}");
    cli.file("wrong.ndjson", "{\"category_id\": 1060}\n");
    let wrong = cli.run("migrate-v4 --payloads wrong.ndjson bus-1").await;
    assert_eq!(wrong.code, 3);
    assert!(wrong.stderr.contains("wrong.ndjson:1:1: the payload has no source_id"), "{wrong:?}");
}
