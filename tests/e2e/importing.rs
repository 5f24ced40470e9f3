//! `ad-server ads import`: stored ads of another system, V3 and trailers included (decision 28).

use std::process::Stdio;

use ad_tests::{ImageHost, Postgres, Server, command, run};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::payloads::steps;

/// A trailer of V3 that was published before, as GET showed it.
fn trailer(images: &ImageHost) -> Value {
    json!({"source_id": "släp/1", "dealer_code": "north-cars", "category_id": 1045, "api_version": "v3",
        "title": "Whatever it was", "marketplace_ad_id": "old-7", "created": "2020-02-03T04:05:06.789Z",
        "image_refs": [{"url": images.url("1.jpg")}],
        "category_fields": {"brand": "brenderup", "model_year": 2015, "registration_number": "abc 123"}})
}

fn lines(ads: &[Value]) -> String {
    ads.iter().flat_map(|ad| [ad.to_string(), "\n".to_owned()]).collect()
}

/// Runs the import of a file in the server's folder; returns whether it succeeded and what it said.
async fn import(server: &Server, lines: &str) -> (bool, Vec<String>) {
    std::fs::write(server.dir().join("ads.ndjson"), lines).unwrap();
    // Images of the tests come over http.
    std::fs::write(server.dir().join("ad-server.toml"), "allow_private_images = true\n").unwrap();
    let output = run(server.dir(), &["ads", "import", "ads.ndjson", "--config", "ad-server.toml"]).await;
    let said = String::from_utf8(output.stderr).unwrap();
    // The first line names the database.
    (output.status.success(), said.lines().skip(1).map(str::to_owned).collect())
}

#[tokio::test]
async fn an_imported_trailer_is_read_updated_migrated_and_deleted_like_any_other() {
    let images = ImageHost::start().await;
    let server = Server::start().await;
    let (done, said) = import(&server, &lines(&[trailer(&images)])).await;
    assert!(done, "{said:?}");
    assert_eq!(said, ["imported 1 ad from ads.ndjson"]);

    let client = &server.client;
    let source_id = "sl%C3%A4p%2F1";
    let ad = client.ad(source_id).await;
    assert_eq!((&ad["api_version"], &ad["title"]), (&json!("v3"), &json!("Brenderup 2015")));
    assert_eq!((&ad["created"], &ad["marketplace_ad_id"]), (&json!("2020-02-03T04:05:06.789Z"), &json!("old-7")));
    assert_eq!(steps(ad["log"].as_array().unwrap()), ["create done"]);
    assert_eq!(client.get("/v4/trailer").await.expect(200)["count"], 1);

    // What the import leaves to do, a retry does: images first.
    client.get(&format!("/v4/ad/{source_id}/retry")).await.expect(200);
    let shown = client.published(source_id).await;
    assert_eq!(shown["image_refs"].as_array().unwrap().len(), 1);

    let patch = json!({"body": "Nyservad"});
    assert_eq!(client.put(&format!("/v3/ad/{source_id}"), &patch).await.expect(200)["api_version"], "v3");
    let refused = client.patch(&format!("/v4/trailer/{source_id}"), &patch).await.expect(400);
    assert_eq!(refused["error"], "incompatible_api_version");
    assert_eq!(refused["migration_options"].as_array().unwrap().len(), 1, "no other trailer can be created");
    let whole = json!({"category_fields": {"registration_number": "ABC123", "model_year": 2015,
        "condition": {"number_of_owners": 2}}});
    let migrated = client.post(&format!("/v4/trailer/{source_id}/migrate"), &whole).await.expect(200);
    assert_eq!((&migrated["api_version"], &migrated["id"]), (&json!("v4"), &ad["id"]));
    client.patch(&format!("/v4/trailer/{source_id}"), &patch).await.expect(200);
    client.delete(&format!("/v4/trailer/{source_id}")).await.expect(200);
    assert_eq!(client.ended(source_id, "delete", None).await["state"], "done");
    let log = client.get(&format!("/v4/ad/{source_id}/log")).await.expect(200);
    assert_eq!(log["results"][0]["external_message"], "Imported", "the history is kept");
}

#[tokio::test]
async fn one_wrong_line_and_nothing_is_imported_and_every_error_is_told_by_line() {
    let images = ImageHost::start().await;
    let server = Server::start().await;
    let car = |source_id: &str, more: Value| {
        let mut car = json!({"source_id": source_id, "dealer_code": "south-cars", "category_id": 1020,
            "category_fields": {"vin": "12345678901234567", "model_year": 2015}});
        car.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        car
    };
    let ads = [
        trailer(&images),
        car("a", json!({"marketplace_ad_id": "old-7"})),
        car("b", json!({"category_fields": {"model_year": "2015"}, "color": "red"})),
        car("a", json!({})),
        car("c", json!({"id": "nonsense"})),
    ];
    let text = lines(&ads) + "\n{\"source_id\": \n" + &format!("{{\"body\": \"{}\"}}\n", "x".repeat(1 << 20));
    let (done, mut said) = import(&server, &text).await;
    assert!(!done);
    let summary = said.pop().unwrap();
    assert_eq!(summary, "error: ads.ndjson has 9 errors; nothing was imported");
    said.sort();
    assert_eq!(
        said,
        [
            "ads.ndjson:2: marketplace_ad_id: used by line 1",
            "ads.ndjson:3: category_fields.model_year: A valid integer is required. Send 2015, without quotes.",
            "ads.ndjson:3: category_fields.registration_number: At least one of registration_number and vin is required.",
            "ads.ndjson:3: category_fields.vin: At least one of registration_number and vin is required.",
            "ads.ndjson:3: color: Unknown field. Did you mean \"category_fields.color\"?",
            "ads.ndjson:4: source_id: used by line 2, and a dealer uses each only once",
            "ads.ndjson:5: id: Must be a valid UUID.",
            "ads.ndjson:7: not JSON: EOF while parsing a value at column 13",
            "ads.ndjson:8: longer than 1048576 bytes",
        ]
    );
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 0);

    assert!(import(&server, &lines(&ads[..1])).await.0);
    let (done, said) = import(&server, &lines(&ads[..1])).await;
    assert!(!done);
    assert_eq!(said[0], "ads.ndjson:1: source_id: used by an ad that is here, and a dealer uses each only once");
    assert_eq!(said[1], "ads.ndjson:1: marketplace_ad_id: used by an ad that is here");
}

#[tokio::test]
async fn many_ads_come_from_stdin_while_the_server_runs_and_keep_the_order_of_their_lines() {
    let server = Server::start().await;
    let ad = |n: usize| {
        json!({"source_id": format!("b{n:04}"), "dealer_code": "north-cars", "category_id": 1061 + n % 7,
            "title": format!("Båt {n}"), "contact": {"email": "a@b.se"}, "visible": false,
            "created": "2019-01-01T00:00:00Z"})
    };
    let ads: Vec<_> = (0..1203).map(ad).collect();
    let mut process =
        command(server.dir(), &["ads", "import", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all(lines(&ads).as_bytes()).await.unwrap();
    let output = process.wait_with_output().await.unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("\nimported 1203 ads from stdin\n"), "{output:?}");
    let page = server.client.get("/v4/boat?ordering=created&offset=1200").await.expect(200);
    assert_eq!(page["count"], 1203);
    let ids: Vec<_> = page["results"].as_array().unwrap().iter().map(|ad| ad["source_id"].clone()).collect();
    assert_eq!(ids, [json!("b1200"), json!("b1201"), json!("b1202")]);
    let found = server.client.get("/v4/ad?search=b%C3%A5t%20777").await.expect(200);
    assert_eq!((found["count"].clone(), found["results"][0]["source_id"].clone()), (json!(1), json!("b0777")));

    let missing = run(server.dir(), &["ads", "import", "nowhere.ndjson"]).await;
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("error: cannot read nowhere.ndjson: "));
}

#[tokio::test]
async fn postgresql_takes_all_of_a_file_or_nothing() {
    let Some(postgres) = Postgres::shared().await else { return };
    let (url, folder) = (postgres.database().await, tempfile::tempdir().unwrap());
    assert!(run(folder.path(), &["migrate", "--database-url", &url]).await.status.success());
    let trailer = |source_id: &str| {
        json!({"source_id": source_id, "dealer_code": "north-cars", "category_id": 1045, "api_version": "v3",
            "category_fields": {"model_year": 2015, "registration_number": "ABC123"}})
    };
    let import = async |ads: &[Value]| {
        std::fs::write(folder.path().join("ads.ndjson"), lines(ads)).unwrap();
        let output = run(folder.path(), &["ads", "import", "ads.ndjson", "--database-url", &url]).await;
        let said = String::from_utf8(output.stderr).unwrap();
        said.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(import(&[trailer("1"), trailer("2")]).await, "imported 2 ads from ads.ndjson\n");
    let said = import(&[trailer("3"), trailer("2"), trailer("3")]).await;
    let said: Vec<_> = said.lines().collect();
    assert_eq!(
        said,
        [
            "ads.ndjson:2: source_id: used by an ad that is here, and a dealer uses each only once",
            "ads.ndjson:3: source_id: used by line 1, and a dealer uses each only once",
            "error: ads.ndjson has 2 errors; nothing was imported",
        ]
    );
    assert_eq!(import(&[trailer("3")]).await, "imported 1 ad from ads.ndjson\n");
}
