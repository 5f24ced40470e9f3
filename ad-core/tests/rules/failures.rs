//! Images and marketplaces that fail: what is told, what is kept, what a retry does (decisions 23 to 27).

use std::time::Duration;

use ad_core::{
    memory::{MemoryMarketplace, Operation, one_pixel},
    model::{ActionState, AdState, Exclusions, ImageFlaw, Market},
    ports::{Clock, ImageError, MarketplaceError},
    violation::Code,
};
use serde_json::{Value, json};

use crate::support::{House, boat, car, car_of, reasons, with, without};

fn timeout() -> MarketplaceError {
    MarketplaceError::unreachable("timeout", None)
}

fn no() -> MarketplaceError {
    MarketplaceError::refused("no wheels")
}

fn busy() -> ImageError {
    ImageError::Transient { reason: "503".to_owned(), retry_after: None }
}

fn operations(market: &MemoryMarketplace) -> Vec<Operation> {
    market.calls().into_iter().map(|call| call.operation).collect()
}

/// A car whose second image is broken.
async fn with_a_broken_image(over: Value) -> House {
    let house = House::new();
    house.kit.images.fail(
        "https://broken.example/2.jpg",
        ImageError::Unusable(ImageFlaw::NotAPhoto, "neither JPEG nor PNG".to_owned()),
    );
    let urls =
        json!(["https://cdn.example.com/1.jpg", "https://broken.example/2.jpg", "https://cdn.example.com/2.jpg"]);
    house.create("car", with(&with(&car(), json!({"image_urls": urls})), over)).await.unwrap();
    house.run().await;
    house
}

/// The message of the last entry of an action that is an error.
async fn error_of(house: &House, action: &str) -> Value {
    let (_, log) = house.ads().await.remove(0);
    let entry = log.into_iter().rev().find(|entry| entry.action.name() == action).unwrap();
    assert_eq!(entry.state.name(), "error");
    entry.external_message
}

/// Action and code of each failed entry of the last request.
async fn codes(house: &House) -> Vec<(&'static str, Code)> {
    let (_, log) = house.ads().await.remove(0);
    let last = log.last().unwrap().request_id;
    assert!(log.iter().all(|entry| entry.code.is_some() == (entry.state == ActionState::Error)), "{log:?}");
    log.iter()
        .filter(|entry| entry.request_id == last)
        .filter_map(|entry| Some((entry.action.name(), entry.code?)))
        .collect()
}

/// Extensions E1.4: each entry with an error has a code.
#[tokio::test]
async fn a_failed_entry_has_a_code() {
    let house = with_a_broken_image(json!({"dont_publish_on_failed_images": true})).await;
    assert_eq!(codes(&house).await, [("handle_media", Code::ImageFailed), ("publish", Code::HeldByImages)]);

    let transient =
        |code| MarketplaceError::Transient { code, reason: "no".to_owned(), retry_after: None, status: Some(503) };
    for (error, code) in [
        (no(), Code::MarketplaceRefused),
        (MarketplaceError::GONE, Code::NotListed),
        (transient(Code::MarketplaceBusy), Code::MarketplaceBusy),
        (transient(Code::MarketplaceCredentials), Code::MarketplaceCredentials),
        (timeout(), Code::MarketplaceUnreachable),
    ] {
        let (house, _) = House::with("boat", boat()).await;
        let is_passing = matches!(error, MarketplaceError::Transient { .. });
        (0..if is_passing { 10 } else { 1 }).for_each(|_| house.kit.primary.fail_next(error.clone()));
        house.bump("boat-8", Exclusions { primary: false, secondary: false }).await.unwrap();
        house.run_to_the_end().await;
        assert_eq!(codes(&house).await, [("bump", code)]);
        let message = error_of(&house, "bump").await;
        assert_eq!(message["marketplaces"][0]["code"], json!(code));
    }

    let (house, _) = House::with("boat", boat()).await;
    house.kit.primary.fail_next(no());
    house.delete("boat-8").await.unwrap();
    house.run().await;
    assert_eq!(codes(&house).await, [("unpublish", Code::MarketplaceRefused), ("delete", Code::MarketplaceRefused)]);
}

#[tokio::test]
async fn the_good_images_are_used_and_the_bad_ones_are_told() {
    let house = with_a_broken_image(json!({})).await;
    assert_eq!(
        error_of(&house, "handle_media").await,
        json!({"message": "1 of 3 images failed",
            "images": [{"url": "https://broken.example/2.jpg",
                "error": "neither JPEG nor PNG; it needs another address"}]})
    );
    let ad = house.ad().await;
    let urls: Vec<&str> = ad.image_refs.iter().map(|image| image.url.as_str()).collect();
    assert_eq!(urls, ["https://cdn.example.com/1.jpg", "https://cdn.example.com/2.jpg"]);
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
    assert!(ad.marketplace_ad_id.is_some());
}

#[tokio::test]
async fn an_ad_that_asks_for_it_is_held_back_by_a_failed_image() {
    let house = with_a_broken_image(json!({"dont_publish_on_failed_images": true})).await;
    assert_eq!(
        house.log(1).await[4..],
        [
            "publish processing: Publishing",
            "publish error: Not published: images failed, and dont_publish_on_failed_images is set"
        ]
    );
    assert_eq!(house.ad().await.image_refs.len(), 2);
    assert_eq!((house.kit.primary.calls(), house.kit.secondary.calls()), (vec![], vec![]));
}

#[tokio::test]
async fn an_update_without_images_does_not_publish_what_is_held_back_and_its_retry_fetches_them() {
    let house = with_a_broken_image(json!({"dont_publish_on_failed_images": true})).await;
    house.update("car-1", json!({"body": "New"})).await.unwrap();
    house.run().await;
    assert_eq!(
        error_of(&house, "publish").await,
        "Not published: images failed, and dont_publish_on_failed_images is set"
    );
    assert_eq!(house.kit.primary.calls(), vec![]);

    house.kit.images.put("https://broken.example/2.jpg", one_pixel(9));
    for _ in 0..2 {
        house.retry("car-1").await.unwrap();
        house.run().await;
    }
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
}

#[tokio::test]
async fn a_retry_fetches_what_is_missing_and_publishes() {
    let house = with_a_broken_image(json!({"dont_publish_on_failed_images": true})).await;
    let before = house.ad().await.image_refs;
    house.kit.images.put("https://broken.example/2.jpg", one_pixel(9));
    // The first answer stays until it was taken once more.
    for _ in 0..2 {
        house.retry("car-1").await.unwrap();
        house.run().await;
    }
    assert_eq!(
        house.log(1).await,
        [
            "handle_media processing: Processing",
            "handle_media done: 3 images stored",
            "publish processing: Publishing",
            "publish done: Ad published"
        ]
    );
    let after = house.ad().await.image_refs;
    assert_eq!([&after[0], &after[2]], [&before[0], &before[1]]);
}

#[tokio::test]
async fn a_passing_failure_of_an_image_is_tried_again_with_growing_pauses() {
    let house = House::new();
    for _ in 0..3 {
        house.kit.images.fail("https://slow.example/1.jpg", busy());
    }
    house.kit.images.put("https://slow.example/1.jpg", one_pixel(5));
    house.create("car", with(&car(), json!({"image_urls": ["https://slow.example/1.jpg"]}))).await.unwrap();
    let pauses = house.run_to_the_end().await;
    assert_eq!(pauses.len(), 3);
    assert!(pauses.is_sorted_by(|one, next| *one * 3 / 2 < *next), "{pauses:?}");
    assert_eq!(house.log(1).await[2..4], ["handle_media processing: Processing", "handle_media done: 1 image stored"]);
}

#[tokio::test]
async fn an_image_that_keeps_failing_becomes_an_error_within_a_minute() {
    let house = House::new();
    house.kit.images.fail("https://slow.example/1.jpg", busy());
    house.create("car", with(&car(), json!({"image_urls": ["https://slow.example/1.jpg"]}))).await.unwrap();
    let pauses = house.run_to_the_end().await;
    assert_eq!(pauses.len(), 4);
    assert!(pauses.iter().sum::<Duration>() <= Duration::from_mins(1));
    assert_eq!(
        error_of(&house, "handle_media").await,
        json!({"message": "1 of 1 image failed", "images": [{"url": "https://slow.example/1.jpg", "error": "503 (5 tries)"}]})
    );
}

#[tokio::test]
async fn an_image_host_that_is_not_asked_costs_time_but_no_tries() {
    let not_asked = || ImageError::NotAsked { reason: "silent".to_owned(), retry_after: Duration::from_secs(4) };
    let urls = json!({"image_urls": ["https://slow.example/1.jpg"]});
    let house = House::new();
    for _ in 0..10 {
        house.kit.images.fail("https://slow.example/1.jpg", not_asked());
    }
    house.kit.images.put("https://slow.example/1.jpg", one_pixel(5));
    house.create("car", with(&car(), urls.clone())).await.unwrap();
    assert_eq!(house.run_to_the_end().await.len(), 10);
    assert_eq!(house.log(1).await[3], "handle_media done: 1 image stored");

    let house = House::new();
    for failure in [busy(), busy(), not_asked()] {
        house.kit.images.fail("https://slow.example/1.jpg", failure);
    }
    house.create("car", with(&car(), urls)).await.unwrap();
    assert!(house.run_to_the_end().await.iter().sum::<Duration>() <= Duration::from_mins(1));
    assert_eq!(error_of(&house, "handle_media").await["images"][0]["error"], "silent (2 tries)");
}

#[tokio::test]
async fn a_passing_failure_of_a_marketplace_is_tried_again_and_leaves_no_error() {
    let house = House::new();
    house.kit.primary.fail_next(timeout());
    house.kit.primary.fail_next(timeout());
    house.create("car", without(car(), "image_urls")).await.unwrap();
    let pauses = house.run_to_the_end().await;
    assert_eq!(pauses.len(), 2);
    assert!(pauses[1] > pauses[0]);
    assert_eq!(house.log(1).await[2..], ["publish processing: Publishing", "publish done: Ad published"]);
    assert_eq!(operations(&house.kit.primary), [Operation::Publish]);
    assert_eq!(operations(&house.kit.secondary), [Operation::Publish]);
}

#[tokio::test]
async fn a_marketplace_may_ask_for_a_longer_pause() {
    let house = House::new();
    let retry_after = Some(Duration::from_mins(10));
    house.kit.primary.fail_next(MarketplaceError::unreachable("429", retry_after));
    house.create("boat", boat()).await.unwrap();
    assert_eq!(house.run_to_the_end().await, [Duration::from_mins(10)]);
}

#[tokio::test]
async fn a_marketplace_that_keeps_failing_becomes_an_error_within_an_hour() {
    let house = House::new();
    for _ in 0..10 {
        house.kit.primary.fail_next(timeout());
    }
    house.create("boat", boat()).await.unwrap();
    let pauses = house.run_to_the_end().await;
    assert_eq!(pauses.len(), 9);
    assert!(pauses.is_sorted() && pauses.iter().sum::<Duration>() <= Duration::from_hours(1), "{pauses:?}");
    assert_eq!(
        error_of(&house, "publish").await,
        json!({"message": "publish failed on primary: timeout (10 tries)",
            "marketplaces": [{"marketplace": "primary", "state": "error", "error": "timeout (10 tries)",
                "code": "marketplace_unreachable"}]})
    );
}

#[tokio::test]
async fn a_marketplace_that_is_not_asked_costs_time_but_no_tries() {
    let not_asked = || MarketplaceError::NotAsked {
        code: Code::MarketplaceUnreachable,
        reason: "down".to_owned(),
        retry_after: Duration::from_mins(1),
    };
    let house = House::new();
    for _ in 0..30 {
        house.kit.primary.fail_next(not_asked());
    }
    house.create("boat", boat()).await.unwrap();
    let pauses = house.run_to_the_end().await;
    assert_eq!(pauses.len(), 30);
    let quarter_more = Duration::from_secs(75);
    assert!(pauses.iter().all(|pause| (Duration::from_mins(1)..=quarter_more).contains(pause)), "{pauses:?}");
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");

    let house = House::new();
    for _ in 0..3 {
        house.kit.primary.fail_next(timeout());
    }
    for _ in 0..100 {
        house.kit.primary.fail_next(not_asked());
    }
    house.create("boat", boat()).await.unwrap();
    assert!(house.run_to_the_end().await.iter().sum::<Duration>() <= Duration::from_hours(1));
    assert_eq!(error_of(&house, "publish").await["marketplaces"][0]["error"], "down (3 tries)");
}

#[tokio::test]
async fn nothing_is_given_up_while_an_operator_pauses_a_marketplace() {
    let paused = || MarketplaceError::NotAsked {
        code: Code::MarketplacePaused,
        reason: "paused".to_owned(),
        retry_after: Duration::from_mins(1),
    };
    let house = House::new();
    house.kit.primary.fail_next(timeout());
    for _ in 0..600 {
        house.kit.primary.fail_next(paused());
    }
    for _ in 0..8 {
        house.kit.primary.fail_next(timeout());
    }
    house.create("boat", boat()).await.unwrap();
    let waits = house.run_to_the_end().await;
    // Ten hours of pause, and after them all attempts that were left before.
    assert_eq!(waits.len(), 609);
    assert!(waits[1..601].iter().sum::<Duration>() >= Duration::from_hours(10));
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
}

#[tokio::test]
async fn time_in_which_nobody_could_try_does_not_count() {
    let house = House::new();
    for _ in 0..9 {
        house.kit.primary.fail_next(timeout());
    }
    house.create("boat", boat()).await.unwrap();
    house.run().await;
    for _ in 0..2 {
        // The service was down for a day, or the clock was set forward.
        house.clock.advance(Duration::from_hours(24));
        house.run().await;
    }
    assert_eq!(house.run_to_the_end().await.len(), 7);
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
}

#[tokio::test]
async fn a_waiting_request_holds_back_its_own_ad_only() {
    let house = House::new();
    house.kit.primary.fail_next(timeout());
    house.create("boat", boat()).await.unwrap();
    house.update("boat-8", json!({"title": "Ny"})).await.unwrap();
    house.create("boat", with(&boat(), json!({"source_id": "boat-9"}))).await.unwrap();
    assert_eq!(house.run().await, 2);
    let ads = house.ads().await;
    assert_eq!(
        (ads[0].0.marketplace_ad_id.as_deref(), ads[1].0.marketplace_ad_id.as_deref()),
        (None, Some("primary-1"))
    );
    house.run_to_the_end().await;
    assert_eq!(house.kit.primary.shown(house.clock.now()).len(), 2);
}

#[tokio::test]
async fn the_id_of_the_marketplace_that_took_an_ad_is_kept_and_a_retry_goes_to_the_other_only() {
    let house = House::new();
    house.kit.secondary.fail_next(no());
    house.create("car", without(car(), "image_urls")).await.unwrap();
    house.run().await;
    assert_eq!(
        error_of(&house, "publish").await,
        json!({"message": "publish failed on secondary: no wheels", "marketplaces": [
            {"marketplace": "primary", "state": "done"},
            {"marketplace": "secondary", "state": "error", "error": "no wheels", "code": "marketplace_refused"}]})
    );
    let ad = house.ad().await;
    assert_eq!((ad.marketplace_ad_id.as_deref(), ad.offer_id), (Some("primary-1"), None));

    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await, ["publish processing: Publishing", "publish done: Ad published"]);
    assert_eq!(house.ad().await.offer_id.as_deref(), Some("secondary-1"));
    assert_eq!(operations(&house.kit.primary), [Operation::Publish]);
}

#[tokio::test]
async fn when_nothing_was_left_undone_a_retry_publishes_again() {
    let (house, _) = House::with("car", car()).await;
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await, ["publish processing: Publishing", "publish done: Ad published"]);
    for market in [&house.kit.primary, &house.kit.secondary] {
        assert_eq!(operations(market), [Operation::Publish, Operation::Update]);
    }
}

#[tokio::test]
async fn a_failed_request_does_not_block_the_next() {
    let house = House::new();
    house.kit.primary.fail_next(no());
    house.create("boat", boat()).await.unwrap();
    house.update("boat-8", json!({"title": "Ny"})).await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
}

#[tokio::test]
async fn an_answer_that_was_lost_does_not_double_the_listing() {
    let house = House::new();
    house.kit.primary.lose_next_answer(timeout());
    house.create("car", without(car(), "image_urls")).await.unwrap();
    house.run_to_the_end().await;
    assert_eq!(house.log(1).await[2..], ["publish processing: Publishing", "publish done: Ad published"]);
    assert_eq!(house.ad().await.marketplace_ad_id.as_deref(), Some("primary-1"));
    assert_eq!(house.kit.primary.calls().len(), 1);
}

#[tokio::test]
async fn a_listing_that_a_marketplace_lost_is_published_anew() {
    let (house, _) = House::with("boat", boat()).await;
    house.kit.primary.fail_next(MarketplaceError::GONE);
    house.update("boat-8", json!({"title": "Ny"})).await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await[2..], ["publish processing: Publishing", "publish done: Ad published"]);
}

#[tokio::test]
async fn a_listing_of_the_same_plate_is_linked_and_overwritten() {
    let house = House::new();
    let known = house.kit.primary.preset("north-cars", "abc 123", "Fin Volvo");
    house.kit.primary.preset("south", "ABC123", "Somebody else's");
    house.create("car", without(car(), "image_urls")).await.unwrap();
    house.run().await;
    let log = house.log(1).await;
    assert_eq!(
        log.last().unwrap(),
        &format!(
            "publish done: Ad published; linked to listing {known} on the primary marketplace by its plate ABC123"
        )
    );
    let ad = house.ad().await;
    assert_eq!(ad.marketplace_ad_id.as_ref(), Some(&known));
    let listing = house.kit.primary.listing(&known).unwrap();
    assert_eq!((listing.title.as_str(), listing.reference), ("Volvo XC60 T6 AWD 2022", Some(ad.id)));
    assert_eq!(house.kit.primary.shown(house.clock.now()).len(), 2);
    assert_eq!(ad.offer_id.as_deref(), Some("secondary-1"));
}

#[tokio::test]
async fn a_listing_of_another_live_ad_is_not_taken_but_that_of_a_deleted_one_is_no_hindrance() {
    let of = |source_id| with(&car_of(json!({})), json!({"source_id": source_id}));
    let (house, _) = House::with("car", of("first")).await;
    house.create("car", of("second")).await.unwrap();
    house.run().await;
    let (second, log) = house.ads().await.remove(1);
    let told = crate::support::entry_texts(&log, 1);
    assert_eq!(
        told.last().unwrap(),
        "publish done: Ad published; \
         warning: listing primary-1 on the primary marketplace has the same plate ABC123 and belongs to another ad; \
         warning: listing secondary-1 on the secondary marketplace has the same plate ABC123 and belongs to another ad"
    );
    assert_eq!(
        (second.marketplace_ad_id.as_deref(), second.offer_id.as_deref()),
        (Some("primary-2"), Some("secondary-2"))
    );

    house.delete("first").await.unwrap();
    house.delete("second").await.unwrap();
    house.create("car", of("third")).await.unwrap();
    house.run().await;
    let (third, log) = house.ads().await.remove(2);
    assert_eq!(crate::support::entry_texts(&log, 1).last().unwrap(), "publish done: Ad published");
    assert_eq!(third.marketplace_ad_id.as_deref(), Some("primary-3"));
}

#[tokio::test]
async fn an_ad_that_could_not_be_taken_off_is_not_deleted_and_a_retry_deletes_it() {
    let (house, _) = House::with("car", car()).await;
    house.kit.secondary.fail_next(no());
    house.delete("car-1").await.unwrap();
    house.run().await;
    let log = house.log(1).await;
    assert_eq!(log[..2], ["delete processing: Processing", "unpublish processing: Unpublishing"]);
    assert!(log[2].starts_with("unpublish error: {"), "{log:?}");
    assert_eq!(log[3], "delete error: Not deleted: the ad could not be unpublished everywhere");
    assert_eq!(house.ad().await.state, AdState::Created);

    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await.last().unwrap(), "delete done: Ad deleted");
    assert_eq!(house.ad().await.state, AdState::Deleted);
    assert_eq!(operations(&house.kit.primary), [Operation::Publish, Operation::Unpublish]);
    assert_eq!(reasons(house.update("car-1", json!({"body": "x"})).await), ["Ad has been deleted, cannot update"]);
}

#[tokio::test]
async fn a_deleted_ad_is_not_retried() {
    let (house, _) = House::with("boat", boat()).await;
    house.delete("boat-8").await.unwrap();
    assert_eq!(reasons(house.retry("boat-8").await), ["Ad has been deleted, cannot retry"]);
    assert_eq!(house.kit.primary.calls()[0].key.market, Market::Primary);
}
