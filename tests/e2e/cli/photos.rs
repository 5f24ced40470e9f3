//! `ad-cli photos check`: whether the service could fetch images.

use ad_server::media::FetchOptions;
use ad_tests::{Cli, ImageHost, Server};
use serde_json::{Value, json};

use super::sync::ndjson;
use crate::payloads::plain_car;

#[tokio::test]
async fn each_address_of_a_file_is_tried() {
    let host = ImageHost::start().await;
    let cli = Cli::new();
    let mut car = plain_car("car-1", "ABC101");
    car["image_urls"] = json!([host.url("1.jpg"), host.url("2.png"), host.url("page.jpg")]);
    cli.file("cars.ndjson", ndjson(&[car, plain_car("car-2", "ABC102")]));
    let ended = cli.run("photos check cars.ndjson --http-images --output ndjson").await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("3 photos: 2 can be fetched, 1 cannot\n1 ad without photos"), "{ended:?}");
    let rows: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = rows.iter().map(|row| (row["media_type"].as_str(), row["problem"].as_str())).collect();
    let problem = "neither JPEG nor PNG, but an HTML page";
    assert_eq!(found, [(Some("image/jpeg"), None), (Some("image/png"), None), (None, Some(problem))]);
    assert!(rows.iter().all(|row| row["source_id"] == "car-1" && row["line"] == 1), "{rows:#?}");

    // What the service does not fetch is not even asked for.
    let calls = host.all_calls();
    let refused = cli.run("photos check cars.ndjson").await;
    assert!(refused.code == 1 && refused.stdout.contains("it must begin with https://"), "{refused:?}");
    assert_eq!(host.all_calls(), calls);
}

#[tokio::test]
async fn photos_of_ads_are_tried_whether_the_service_has_them_or_not() {
    let server = Server::start().await;
    let host = ImageHost::start().await;
    let cli = Cli::of(&server);
    let mut car = plain_car("car-1", "ABC101");
    car["image_urls"] = json!([host.url("1.jpg"), host.url("2.png")]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("car-1").await;
    let ended = cli.run("photos check ABC101 --http-images").await;
    assert!(ended.stderr.contains("2 photos: 2 can be fetched, 0 cannot"), "{ended:?}");
    assert_eq!(ended.code, 0);
}

#[tokio::test]
async fn a_folder_of_photos_is_explained() {
    let cli = Cli::new();
    std::fs::create_dir(cli.home().join("photos")).unwrap();
    cli.file("1.jpg", b"\xff\xd8\xff");
    for (what, told) in
        [("photos", "photos is a folder; the service takes no files"), ("1.jpg", "1.jpg is an image file")]
    {
        let ended = cli.run(&format!("photos check {what}")).await;
        assert!(ended.code == 2 && ended.stderr.contains(told), "{ended:?}");
        assert!(ended.stderr.contains("https addresses"), "{ended:?}");
    }
}

#[test]
fn the_limits_are_those_of_the_service() {
    let service = FetchOptions::default();
    assert_eq!(ad_cli::cli::MOST_IMAGE_BYTES, service.max_bytes);
    assert_eq!(ad_cli::cli::MOST_IMAGE_REDIRECTS, service.redirects);
}
