//! Images: fetched, judged by their bytes, stored once, served (decision 23).

use ad_tests::{ImageHost, Options, Server};
use serde_json::{Value, json};

use crate::payloads::{car, plain_car};

#[tokio::test]
async fn good_images_are_used_and_each_bad_one_is_named() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut ad = plain_car("m", "MED001");
    let bad = ["broken.jpg", "page.jpg", "missing.gif"];
    let urls: Vec<String> =
        ["1.jpg", "broken.jpg", "lying.jpg", "page.jpg", "missing.gif", "2.png"].map(|file| images.url(file)).to_vec();
    ad["image_urls"] = json!(urls);
    server.client.post("/v4/car", &ad).await.expect(201);
    let entry = server.client.ended("m", "handle_media", None).await;
    assert_eq!(entry["state"], "error");
    let failed = entry["external_message"]["images"].as_array().unwrap();
    let named: Vec<_> = failed.iter().map(|image| image["url"].clone()).collect();
    assert_eq!(named, bad.map(|file| json!(images.url(file))));
    assert!(failed.iter().all(|image| image["error"].is_string()), "{entry}");

    let ad = server.client.published("m").await;
    let refs: Vec<_> = ad["image_refs"].as_array().unwrap().iter().map(|image| image["url"].clone()).collect();
    assert_eq!(refs, ["1.jpg", "lying.jpg", "2.png"].map(|file| json!(images.url(file))), "the order is kept");
}

#[tokio::test]
async fn stored_images_are_served_for_ever_and_the_same_bytes_once() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/car", &car("one", "MED002", &images)).await.expect(201);
    server.client.post("/v4/car", &car("two", "MED003", &images)).await.expect(201);
    let (one, two) = (server.client.published("one").await, server.client.published("two").await);
    let first = &one["image_refs"][0];
    assert_eq!(first["checksum"], two["image_refs"][0]["checksum"]);
    assert_eq!(first["cdn_url"], two["image_refs"][0]["cdn_url"]);

    let path = first["cdn_url"].as_str().unwrap().strip_prefix(&server.client.base).unwrap().to_owned();
    let image = server.client.with_token(None).get(&path).await;
    assert_eq!(image.status, 200);
    assert_eq!(image.header("content-type"), Some("image/jpeg"));
    assert!(image.header("cache-control").unwrap().contains("immutable"));
    let sum = ad_core::ports::Checksum::of(&image.bytes).to_string();
    assert_eq!(first["checksum"], sum);
    for path in ["/media/x.jpg", "/media/..%2f..%2fads.db", &format!("/media/{}.jpg", "0".repeat(64))] {
        assert_eq!(server.client.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn an_update_with_the_same_images_keeps_their_ids_and_an_empty_list_removes_them() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/car", &car("i", "MED004", &images)).await.expect(201);
    let before = server.client.published("i").await;
    let urls = json!([images.url("2.png"), images.url("9.jpg"), images.url("1.jpg")]);
    let answer = server.client.patch("/v4/car/i", &json!({"image_urls": urls})).await;
    server.client.ended("i", "publish", answer.header("x-request-id")).await;
    let after = server.client.ad("i").await;
    assert_eq!(after["image_refs"][0]["id"], before["image_refs"][1]["id"]);
    assert_eq!(after["image_refs"][2]["id"], before["image_refs"][0]["id"]);

    let answer = server.client.patch("/v4/car/i", &json!({"image_urls": []})).await;
    let entry = server.client.ended("i", "handle_media", answer.header("x-request-id")).await;
    assert_eq!(entry["external_message"], "Images removed");
    assert_eq!(server.client.ad("i").await["image_refs"], json!([]));
}

#[tokio::test]
async fn a_passing_failure_is_tried_again() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut ad = plain_car("f", "MED005");
    ad["image_urls"] = json!([images.url("flaky/1/x.jpg")]);
    server.client.post("/v4/car", &ad).await.expect(201);
    let entry = server.client.ended("f", "handle_media", None).await;
    assert_eq!(entry["state"], "done", "{entry}");
    assert_eq!(images.calls("flaky/1/x.jpg"), 2);
}

#[tokio::test]
async fn private_addresses_and_http_are_refused_unless_permitted() {
    let images = ImageHost::start().await;
    let port = images.base.rsplit(':').next().unwrap();
    // The harness permits them; this server is started without.
    let server = Server::with(Options { strict_images: true, ..Options::default() }).await;
    let mut ad = plain_car("p", "MED006");
    ad["image_urls"] = json!([images.url("1.jpg")]);
    let errors = server.client.post("/v4/car", &ad).await.expect(400);
    assert_eq!(errors["image_urls"]["0"], json!(["Enter a URL that starts with https://."]));
    ad["image_urls"] = json!([
        format!("https://localhost:{port}/1.jpg"),
        format!("https://127.0.0.1:{port}/1.jpg"),
        "https://169.254.169.254/latest/meta-data/1.jpg",
        "https://[::1]/1.jpg",
    ]);
    server.client.post("/v4/car", &ad).await.expect(201);
    let entry = server.client.ended("p", "handle_media", None).await;
    let failed = entry["external_message"]["images"].as_array().unwrap();
    assert_eq!(failed.len(), 4, "{entry}");
    assert!(failed.iter().all(|image| image["error"] != Value::Null));
    assert_eq!(images.calls("1.jpg"), 0, "nothing was asked for");
}
