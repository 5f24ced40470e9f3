//! Image hosts at their worst: what is told of each, what is used all the same, and that the others do not wait for them.

use ad_tests::{ImageHost, Options, Server, eventually};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Addresses of the images that an ad has, in their order.
fn stored(ad: &Value) -> Vec<&str> {
    ad["image_refs"].as_array().unwrap().iter().map(|image| image["url"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_fault_is_told_and_a_retry_fetches_what_was_missing() {
    let once = Options { args: vec!["--image-tries".to_owned(), "1".to_owned()], ..Options::default() };
    let (server, images) = (Server::with(once).await, ImageHost::start().await);
    let faults = [
        ("silent", "the host sent nothing for 10 s"),
        ("stalled", "the host sent less than 16 KiB/s"),
        ("dripping", "the host sent less than 16 KiB/s"),
        ("torn", "the connection broke off before the end of the file"),
        ("endless", "larger than 15 MB; it needs another address"),
        ("inward", "the address resolves to a private network; it needs another address"),
    ];
    let bad = faults.iter().zip(11..).map(|((fault, _), seed)| images.url(&format!("faulty/{fault}/{seed}.jpg")));
    let urls: Vec<String> = bad.chain([images.url("1.jpg"), images.url("2.png")]).collect();
    let mut ad = plain_car("worst", "IMH001");
    ad["image_urls"] = json!(urls);
    server.client.post("/v4/car", &ad).await.expect(201);

    // A slow image holds up nothing but itself, but the ad waits for it.
    eventually("the good images fetched", || async { (images.calls("2.png") == 1).then_some(()) }).await;
    let entry = server.client.ended("worst", "handle_media", None).await;
    let told: Vec<Value> =
        faults.iter().zip(&urls).map(|((_, error), url)| json!({"url": url, "error": error})).collect();
    assert_eq!(entry["external_message"], json!({"message": "6 of 8 images failed", "images": told}));
    assert_eq!(stored(&server.client.published("worst").await), urls[6..]);

    images.heal();
    let answer = server.client.get("/v4/ad/worst/retry").await;
    answer.expect(200);
    let entry = server.client.ended("worst", "handle_media", answer.header("x-request-id")).await;
    assert_eq!(entry["external_message"], "8 images stored");
    assert_eq!(stored(&server.client.ad("worst").await), urls);
    assert_eq!(images.calls("1.jpg"), 1, "what was there is not fetched again");
}

#[tokio::test]
async fn each_photo_that_waits_has_its_own_cause() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    // Nothing listens here any more.
    let closed = std::net::TcpListener::bind("127.0.0.3:0").unwrap().local_addr().unwrap();
    let urls = [
        format!("http://{closed}/1.jpg"),
        images.url("flaky/60/1.jpg"),
        images.url("missing.jpg"),
        images.url("faulty/torn/1.jpg"),
    ];
    let mut ad = plain_car("causes", "IMH003");
    ad["image_urls"] = json!(urls);
    server.client.post("/v4/car", &ad).await.expect(201);
    let waiting = || async {
        let status = server.client.get("/v4/ad/causes/status").await.expect(200);
        let images = status["images"].as_array().unwrap().clone();
        let texts: Vec<_> = images.iter().map(|image| image["text"].as_str().unwrap().to_owned()).collect();
        texts[0].starts_with("Is fetched again").then_some(texts)
    };
    let texts = eventually("the photos wait", waiting).await;
    for (text, cause) in texts.iter().zip(["the host refuses connections", "503", "404", "the connection broke off"]) {
        assert!(text.contains(cause), "{cause}: {texts:?}");
    }
}

#[tokio::test]
async fn nobody_waits_for_the_host_of_another() {
    let (server, silent, images) =
        (Server::start().await, ImageHost::start().await, ImageHost::start_at("127.0.0.2").await);
    // More than one dealer has places at a host, and more than an ad fetches side by side.
    let held_up: Vec<String> = (0..12).map(|number| format!("held-up-{number}")).collect();
    for (number, source_id) in held_up.iter().enumerate() {
        let mut ad = plain_car(source_id, &format!("IMS{number:03}"));
        let urls = (0..6).map(|image| silent.url(&format!("faulty/silent/{}.jpg", 10 * number + image)));
        ad["image_urls"] = json!(urls.collect::<Vec<_>>());
        server.client.post("/v4/car", &ad).await.expect(201);
    }
    eventually("every place at the silent host taken", || async { (silent.all_calls() >= 14).then_some(()) }).await;
    let other = server.client_of(&["--dealer-code", "south-cars"]).await;
    let mut ad = plain_car("swift", "IMS100");
    ad["image_urls"] = json!((0..20).map(|image| images.url(&format!("{image}.jpg"))).collect::<Vec<_>>());
    other.post("/v4/car", &ad).await.expect(201);
    assert_eq!(other.published("swift").await["image_refs"].as_array().unwrap().len(), 20);

    // All that while the silent host was waited for, by no more than have places there.
    assert_eq!(silent.all_calls(), 14);
    for source_id in &held_up {
        let log = server.client.log(source_id).await;
        let last = log.last().unwrap();
        assert_eq!((&last["action"], &last["state"]), (&json!("handle_media"), &json!("processing")));
    }
    silent.heal();
    eventually("the host asked again", || async { (silent.all_calls() > 14).then_some(()) }).await;
    for source_id in &held_up {
        let ad = server.client.published(source_id).await;
        assert_eq!(ad["image_refs"].as_array().unwrap().len(), 6, "{ad}");
    }
}

#[tokio::test]
async fn a_host_that_asks_for_a_pause_gets_it() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut ad = plain_car("busy", "IMH002");
    ad["image_urls"] = json!([images.url("busy/2/x.jpg")]);
    server.client.post("/v4/car", &ad).await.expect(201);
    let entry = server.client.ended("busy", "handle_media", None).await;
    assert_eq!(entry["external_message"], "1 image stored");
    assert_eq!(images.calls("busy/2/x.jpg"), 3);
}
