//! Images: one dealer who wants all places and all memory, and outages of image hosts and of the service's own image store
//! (decisions 23 and 24).

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ad_tests::{BucketServer, Bystander, Client, ImageHost, Options, Server, eventually};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use crate::payloads::plain_car;

/// How long another dealer's ads may take under an attack. Alone they take less than a tenth of it.
const SOON: Duration = Duration::from_secs(3);

fn options(args: &[&str]) -> Options {
    Options { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() }
}

fn with_images(source_id: &str, plate: &str, urls: impl IntoIterator<Item = String>) -> Value {
    let mut ad = plain_car(source_id, plate);
    ad["image_urls"] = urls.into_iter().collect();
    ad
}

fn addresses(ad: &Value) -> Vec<&str> {
    ad["image_refs"].as_array().unwrap().iter().map(|image| image["url"].as_str().unwrap()).collect()
}

/// Publishes ads with three photos each, one after the other, and returns how long the slowest took.
async fn publish_with_photos(client: &Client, images: &ImageHost) -> Duration {
    let mut slowest = Duration::ZERO;
    for number in 0..3 {
        let (source_id, begun) = (format!("photos-{number}"), Instant::now());
        let urls = (0..3).map(|image| images.url(&format!("{}.jpg", 10 * number + image)));
        client.post("/v4/car", &with_images(&source_id, &format!("PHO{number:03}"), urls)).await.expect(201);
        let published = client.published(&source_id).await;
        assert_eq!(published["image_refs"].as_array().unwrap().len(), 3, "{published}");
        slowest = slowest.max(begun.elapsed());
    }
    slowest
}

/// Hosts that accept connections and never answer, one at each port; counts the connections.
async fn silent_ports(ports: usize) -> (Vec<String>, Arc<AtomicUsize>, JoinSet<()>) {
    let (mut bases, mut serving) = (Vec::new(), JoinSet::new());
    let connections = Arc::new(AtomicUsize::new(0));
    for _ in 0..ports {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        bases.push(format!("http://{}", listener.local_addr().unwrap()));
        let connections = Arc::clone(&connections);
        serving.spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                held.push(stream);
            }
        });
    }
    (bases, connections, serving)
}

#[tokio::test]
async fn many_ports_of_one_address_are_one_host_and_another_dealer_publishes_meanwhile() {
    let (server, images) = (Server::start().await, ImageHost::start_at("127.0.0.2").await);
    let (ports, connections, _serving) = silent_ports(40).await;
    let url = |ad: usize, image: usize| format!("{}/{ad}-{image}.jpg", ports[(ad + image) % ports.len()]);
    let flood = (0..80).map(async |ad| {
        let urls = (0..8).map(|image| url(ad, image));
        let ad = with_images(&format!("flood-{ad}"), &format!("FLD{ad:03}"), urls);
        server.client.post("/v4/car", &ad).await.expect(201);
    });
    join_all(flood).await;
    eventually("the flood", || async { (connections.load(Ordering::SeqCst) >= 14).then_some(()) }).await;
    let other = server.client_of(&["--dealer-code", "south-cars"]).await;
    let bystander = Bystander::start(&other, "bystander");
    let slowest = publish_with_photos(&other, &images).await;
    println!("with photos during a flood of silent ports: {slowest:.1?}; {}", bystander.stop().await);
    assert!(slowest < SOON, "{slowest:?}");
    assert!(connections.load(Ordering::SeqCst) <= 2 * 14, "{connections:?} connections to one address");
}

#[tokio::test]
async fn large_images_that_trickle_leave_memory_to_another_dealer() {
    let (server, attacker) = (Server::start().await, ImageHost::start().await);
    let images = ImageHost::start_at("127.0.0.2").await;
    for ad in 0..6 {
        let urls = (0..4).map(|image| attacker.url(&format!("faulty/trickling/{}.jpg", 10 * ad + image)));
        let ad = with_images(&format!("trickle-{ad}"), &format!("TRI{ad:03}"), urls);
        server.client.post("/v4/car", &ad).await.expect(201);
    }
    eventually("the attack", || async { (attacker.all_calls() >= 14).then_some(()) }).await;
    let other = server.client_of(&["--dealer-code", "south-cars"]).await;
    let bystander = Bystander::start(&other, "bystander");
    let slowest = publish_with_photos(&other, &images).await;
    println!("with photos while large images trickle: {slowest:.1?}; {}", bystander.stop().await);
    assert!(slowest < SOON, "{slowest:?}");
}

/// A number that `/metrics` shows, 0 if it is not there.
async fn metric(client: &Client, name: &str) -> u64 {
    let answer = client.get("/metrics").await;
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn an_image_store_that_is_away_takes_no_photo_from_any_ad() {
    let Some(mut bucket) = BucketServer::start().await else { return };
    let mut options = options(&[
        "--image-tries",
        "2",
        "--image-within",
        "1s",
        "--marketplace-within",
        "30s",
        "--media",
        &bucket.place(),
    ]);
    options.env = bucket.environment();
    let (server, images) = (Server::with(options).await, ImageHost::start().await);
    let client = &server.client;
    let urls = || ["1.jpg", "2.png"].map(|file| images.url(file));
    client.post("/v4/car", &with_images("before", "AWY000", urls())).await.expect(201);
    client.published("before").await;

    bucket.kill().await;
    let again = client.patch("/v4/car/before", &json!({"body": "Sold soon", "image_urls": urls()})).await;
    again.expect(200);
    let new: Vec<String> = (1..=8).map(|number| format!("new-{number}")).collect();
    for (number, source_id) in new.iter().enumerate() {
        client.post("/v4/car", &with_images(source_id, &format!("AWY{:03}", number + 1), urls())).await.expect(201);
    }
    let failures = "ad_image_store_writes_total{outcome=\"unavailable\"}";
    // Every ad has failed more often than an image host may.
    eventually("failures counted", || async { (metric(client, failures).await >= 3 * 9).then_some(()) }).await;
    client.get("/readyz").await.expect(200);
    assert_eq!(addresses(&client.ad("before").await), urls(), "it stays while the store is away");
    for source_id in &new {
        let log = client.log(source_id).await;
        assert_eq!(log.last().unwrap()["action"], "handle_media", "{log:?}");
    }
    bucket.restart().await;
    let entry = client.ended("before", "publish", again.header("x-request-id")).await;
    assert_eq!(entry["state"], "done", "{entry}");
    for source_id in new.iter().map(String::as_str).chain(["before"]) {
        assert_eq!(addresses(&client.published(source_id).await), urls(), "{source_id}");
    }
    println!("image store away: 9 of 9 ads published with photos after {} failures", metric(client, failures).await);
}

#[tokio::test]
async fn an_image_host_that_answers_500_takes_no_photo_from_an_ad_and_a_later_retry_fetches_new_ones() {
    let server = Server::with(options(&["--image-tries", "2", "--image-within", "1s"])).await;
    let (client, images) = (&server.client, ImageHost::start().await);
    let urls = || ["1.jpg", "2.png"].map(|file| images.url(file));
    client.post("/v4/car", &with_images("old", "DWN001", urls())).await.expect(201);
    let before = client.published("old").await;

    images.set_down(true);
    let again = client.patch("/v4/car/old", &json!({"body": "Sold soon", "image_urls": urls()})).await;
    client.post("/v4/car", &with_images("new", "DWN002", urls())).await.expect(201);
    let entry = client.ended("old", "handle_media", again.header("x-request-id")).await;
    let failed = urls()
        .map(|url| json!({"url": url, "error": "the host answered 500 Internal Server Error (2 tries)", "kept": true}));
    assert_eq!((&entry["state"], &entry["external_message"]["images"]), (&json!("error"), &json!(failed)), "{entry}");
    client.ended("old", "publish", again.header("x-request-id")).await;
    assert_eq!(client.ad("old").await["image_refs"], before["image_refs"]);
    assert_eq!(addresses(&client.published("new").await), Vec::<&str>::new());

    images.set_down(false);
    let update = client.patch("/v4/car/new", &json!({"body": "Not about images"})).await;
    client.ended("new", "publish", update.header("x-request-id")).await;
    let retry = client.get("/v4/ad/new/retry").await;
    let entry = client.ended("new", "publish", retry.header("x-request-id")).await;
    assert_eq!(entry["state"], "done", "{entry}");
    assert_eq!(addresses(&client.ad("new").await), urls());
}

#[tokio::test]
async fn an_image_that_its_host_calls_unchanged_is_not_transferred_again_and_its_version_is_not_shown() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let client = &server.client;
    let urls = [images.url("versioned/7.jpg")];
    client.post("/v4/car", &with_images("same", "SAM001", urls.clone())).await.expect(201);
    let before = client.published("same").await;
    for _ in 0..2 {
        let answer = client.patch("/v4/car/same", &json!({"image_urls": urls})).await;
        let entry = client.ended("same", "handle_media", answer.header("x-request-id")).await;
        assert_eq!(entry["external_message"], "1 image stored");
    }
    assert_eq!(images.calls("versioned/7.jpg"), 3);
    assert_eq!(metric(client, "ad_image_fetches_total{outcome=\"unchanged\"}").await, 2);
    let shown = client.ad("same").await["image_refs"].clone();
    assert_eq!(shown, before["image_refs"]);
    let mut members: Vec<&String> = shown[0].as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["cdn_url", "checksum", "height", "id", "renditions", "url", "width"]);
}

#[tokio::test]
async fn an_ad_that_is_held_back_cannot_be_bumped_until_a_retry_has_published_it() {
    let server = Server::with(options(&["--image-tries", "1"])).await;
    let (client, images) = (&server.client, ImageHost::start().await);
    let mut ad = with_images("held", "HLD001", [images.url("faulty/torn/1.jpg")]);
    ad["dont_publish_on_failed_images"] = json!(true);
    client.post("/v4/car", &ad).await.expect(201);
    assert_eq!(client.ended("held", "publish", None).await["state"], "error");
    let refusal = client.get("/v4/ad/held/bump").await.expect(400);
    let text = refusal[0].as_str().unwrap();
    assert!(text.starts_with("Ad is not published on the primary or secondary marketplace, cannot bump"), "{text}");

    images.heal();
    let retry = client.get("/v4/ad/held/retry").await;
    // Accepted while the retry may still publish it, or when it has.
    let bump = client.get("/v4/ad/held/bump").await;
    bump.expect(200);
    assert_eq!(client.ended("held", "publish", retry.header("x-request-id")).await["state"], "done");
    assert_eq!(client.ended("held", "bump", bump.header("x-request-id")).await["state"], "done");
}
