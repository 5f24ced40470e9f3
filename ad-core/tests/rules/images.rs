//! What is stored stays: images that cannot be fetched or stored now, and what becomes of the ones that an ad has (decision 23).

use std::time::Duration;

use ad_core::{
    memory::one_pixel,
    model::{Ad, ImageFlaw},
    ports::{ImageError, ImageStoreError},
};
use serde_json::{Value, json};

use crate::support::{House, car, with};

const ONE: &str = "https://cdn.example.com/1.jpg";
const TWO: &str = "https://cdn.example.com/2.jpg";

fn busy() -> ImageError {
    ImageError::Transient { reason: "503".to_owned(), retry_after: None }
}

fn gone() -> ImageError {
    ImageError::Unusable(ImageFlaw::Missing, "the host answered 404 Not Found".to_owned())
}

fn checksums(ad: &Ad) -> Vec<&str> {
    ad.image_refs.iter().map(|image| image.checksum.as_str()).collect()
}

/// The message of the latest `handle_media` entry that has ended.
async fn media_message(house: &House) -> Value {
    let (_, log) = house.ads().await.remove(0);
    let ended =
        |entry: &&ad_core::model::LogEntry| entry.action.name() == "handle_media" && entry.state.name() != "processing";
    log.iter().rev().find(ended).unwrap().external_message.clone()
}

/// A published car with two images whose addresses have failed since.
async fn with_failing_addresses(failures: [ImageError; 2], over: Value) -> (House, Ad) {
    let (house, ad) = House::with("car", with(&with(&car(), json!({"image_urls": [ONE, TWO]})), over)).await;
    assert_eq!(ad.image_refs.len(), 2);
    for (url, failure) in [ONE, TWO].into_iter().zip(failures) {
        house.kit.images.clear(url);
        house.kit.images.fail(url, failure);
    }
    (house, ad)
}

#[tokio::test]
async fn an_image_that_the_ad_shows_stays_when_fetching_it_again_fails() {
    let (house, before) = with_failing_addresses([busy(), gone()], json!({})).await;
    house.update("car-1", json!({"body": "Sold soon", "image_urls": [TWO, ONE]})).await.unwrap();
    house.run_to_the_end().await;
    assert_eq!(
        media_message(&house).await,
        json!({"message": "2 of 2 images failed; 2 that were stored before are kept", "images": [
            {"url": TWO, "error": "the host answered 404 Not Found; it needs another address", "kept": true},
            {"url": ONE, "error": "503 (5 tries)", "kept": true}]})
    );
    let after = house.ad().await;
    assert_eq!(after.image_refs, [before.image_refs[1].clone(), before.image_refs[0].clone()], "in the new order");
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
    assert_eq!(house.kit.primary.shown(ad_core::ports::Clock::now(&*house.clock))[0].images.len(), 2);
}

#[tokio::test]
async fn a_kept_image_is_not_missing_and_leaves_nothing_to_retry() {
    let (house, before) =
        with_failing_addresses([busy(), gone()], json!({"dont_publish_on_failed_images": true})).await;
    house.update("car-1", json!({"image_urls": [ONE, TWO]})).await.unwrap();
    house.run_to_the_end().await;
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published", "it is not held back");
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await, ["publish processing: Publishing", "publish done: Ad published"]);
    assert_eq!(house.ad().await.image_refs, before.image_refs);
}

#[tokio::test]
async fn a_new_address_that_fails_is_missing_beside_one_that_is_kept() {
    let (house, before) = with_failing_addresses([busy(), busy()], json!({})).await;
    let new = "https://new.example/3.jpg";
    house.update("car-1", json!({"image_urls": [ONE, new]})).await.unwrap();
    house.run_to_the_end().await;
    assert_eq!(
        media_message(&house).await,
        json!({"message": "2 of 2 images failed; 1 that was stored before is kept", "images": [
            {"url": ONE, "error": "503 (5 tries)", "kept": true},
            {"url": new, "error": "nothing is at this address; it needs another address"}]})
    );
    assert_eq!(house.ad().await.image_refs, before.image_refs[..1]);
}

#[tokio::test]
async fn an_unchanged_image_is_asked_for_conditionally_and_a_changed_one_is_fetched() {
    let (house, urls) = (House::new(), json!({"image_urls": ["https://v.example/1.jpg"]}));
    house.kit.images.put_version("https://v.example/1.jpg", one_pixel(7), "\"1\"");
    house.create("car", with(&car(), urls.clone())).await.unwrap();
    house.run().await;
    let before = house.ad().await;

    // Other bytes of the same version would be fetched only by asking without condition.
    house.kit.images.clear("https://v.example/1.jpg");
    house.kit.images.put_version("https://v.example/1.jpg", one_pixel(8), "\"1\"");
    for _ in 0..2 {
        house.update("car-1", urls.clone()).await.unwrap();
        house.run().await;
        assert_eq!(media_message(&house).await, "1 image stored");
        assert_eq!(house.ad().await.image_refs, before.image_refs);
    }
    house.kit.images.clear("https://v.example/1.jpg");
    house.kit.images.put_version("https://v.example/1.jpg", one_pixel(9), "\"2\"");
    house.update("car-1", urls).await.unwrap();
    house.run().await;
    assert_eq!(checksums(&house.ad().await), [one_pixel(9).checksum.to_string()]);
}

#[tokio::test]
async fn the_image_store_is_waited_for_as_long_as_a_marketplace() {
    let house = House::new();
    for _ in 0..9 {
        house.kit.media.fail_next(ImageStoreError::Unavailable);
    }
    house.create("car", with(&car(), json!({"image_urls": [ONE]}))).await.unwrap();
    let pauses = house.run_to_the_end().await;
    assert_eq!(pauses.len(), 9);
    assert!(pauses.iter().sum::<Duration>() > Duration::from_mins(10), "{pauses:?}");
    assert_eq!(
        house.log(1).await[3..],
        ["handle_media done: 1 image stored", "publish processing: Publishing", "publish done: Ad published"]
    );
}

#[tokio::test]
async fn an_image_store_that_stays_away_is_named_in_the_entry_and_a_retry_stores_the_image() {
    let house = House::new();
    for _ in 0..10 {
        house.kit.media.fail_next(ImageStoreError::Full);
    }
    house.create("car", with(&car(), json!({"image_urls": [ONE]}))).await.unwrap();
    house.run_to_the_end().await;
    let error = "the service's image store has no space left (10 tries)";
    assert_eq!(
        media_message(&house).await,
        json!({"message": "1 of 1 image failed", "images": [{"url": ONE, "error": error}]})
    );
    let (_, log) = house.ads().await.remove(0);
    assert_eq!(log.iter().find_map(|entry| entry.code), Some(ad_core::violation::Code::ImageStoreUnavailable));
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.ad().await.image_refs.len(), 1);
}

#[tokio::test]
async fn tries_that_the_image_store_cost_are_not_taken_from_an_image_host() {
    let house = House::new();
    for _ in 0..6 {
        house.kit.media.fail_next(ImageStoreError::Unavailable);
    }
    let slow = "https://slow.example/1.jpg";
    for _ in 0..4 {
        house.kit.images.fail(slow, busy());
    }
    house.kit.images.put(slow, one_pixel(5));
    house.create("car", with(&car(), json!({"image_urls": [ONE, slow]}))).await.unwrap();
    // Six for the store, and then four of the host's own.
    assert_eq!(house.run_to_the_end().await.len(), 10);
    assert_eq!(house.ad().await.image_refs.len(), 2);
}

#[tokio::test]
async fn what_will_not_work_is_not_fetched_again_while_another_image_is_waited_for() {
    let house = House::new();
    let (bad, slow) = ("https://bad.example/1.jpg", "https://slow.example/1.jpg");
    // A second look would find an image.
    house.kit.images.fail(bad, gone());
    house.kit.images.put(bad, one_pixel(4));
    house.kit.images.fail(slow, busy());
    house.kit.images.put(slow, one_pixel(5));
    house.create("car", with(&car(), json!({"image_urls": [bad, slow]}))).await.unwrap();
    house.run_to_the_end().await;
    assert_eq!(media_message(&house).await["images"].as_array().unwrap().len(), 1);
    assert_eq!(checksums(&house.ad().await), [one_pixel(5).checksum.to_string()]);
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.ad().await.image_refs.len(), 2, "an explicit retry fetches it");
}

#[tokio::test]
async fn an_entry_of_failed_images_is_bounded() {
    let house = House::new();
    let url = |number: usize| format!("https://images.example/{}/{number:02}.jpg", "a".repeat(1900));
    let urls: Vec<String> = (0..20).map(url).collect();
    for url in &urls {
        house.kit.images.fail(url, ImageError::Unusable(ImageFlaw::Refused, format!("\u{1b}[31m{}", "b".repeat(1000))));
    }
    house.create("car", with(&car(), json!({"image_urls": urls}))).await.unwrap();
    house.run().await;
    let told = media_message(&house).await;
    let images = told["images"].as_array().unwrap();
    assert_eq!(images.len(), 20);
    assert!(images[19]["url"].as_str().unwrap().ends_with("/19.jpg"), "{}", images[19]);
    assert!(told.to_string().len() < 12_000 && !told.to_string().contains("u001b"), "{}", told.to_string().len());
}
