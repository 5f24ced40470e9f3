//! An ad's way through create, update, hiding, deletion and revival (decisions 21, 22 and 26).

use ad_core::{
    memory::{Operation, one_pixel},
    model::{AdState, Dealer},
    ports::{Clock, Ids},
    service::{Access, ServiceError, Target},
};
use serde_json::{Value, json};

use crate::support::{DEALER, House, boat, car, category, entry_texts, object, reasons, sample, target, with, without};

const CREATED: [&str; 2] = ["create processing: Processing", "create done: Ad created"];
const UPDATED: [&str; 2] = ["update processing: Processing", "update done: Ad updated"];
const PUBLISHED: [&str; 2] = ["publish processing: Publishing", "publish done: Ad published"];
const UNPUBLISHED: [&str; 2] = ["unpublish processing: Processing", "unpublish done: Ad unpublished"];

fn media(outcome: &str) -> [String; 2] {
    ["handle_media processing: Processing".to_owned(), format!("handle_media done: {outcome}")]
}

fn joined<const N: usize>(parts: [&[&str; 2]; N]) -> Vec<String> {
    parts.into_iter().flatten().map(|line| (*line).to_owned()).collect()
}

/// The operations that a marketplace applied.
fn operations(market: &ad_core::memory::MemoryMarketplace) -> Vec<Operation> {
    market.calls().into_iter().map(|call| call.operation).collect()
}

#[tokio::test]
async fn the_log_of_a_create_is_that_of_the_sample() {
    let (house, _) = House::with("car", car()).await;
    let (_, log) = house.ads().await.remove(0);
    let mut expected = sample!("log-of-a-create");
    for entry in expected.as_array_mut().unwrap() {
        entry["request_id"] = json!(log[0].request_id);
        entry["code"] = json!(null);
    }
    assert_eq!(json!(log), expected);
}

#[tokio::test]
async fn a_created_ad_is_answered_at_once_and_has_its_ids_and_images_when_it_is_published() {
    let house = House::new();
    let answer = house.create("car", car()).await.unwrap();
    assert_eq!((answer.marketplace_ad_id.as_ref(), answer.image_refs.len()), (None, 0));
    assert_eq!(house.ad().await, answer);
    assert_eq!(house.log(1).await, CREATED[..1]);

    house.run().await;
    let read = json!(house.ad().await.view(None));
    let image = |mark: u8, id: &str| {
        let checksum = one_pixel(mark).checksum.to_string();
        json!({"url": format!("https://cdn.example.com/{mark}.jpg"), "id": format!("00000000-0000-0000-0000-{id:0>12}"),
            "cdn_url": format!("memory:/media/{checksum}.png"), "checksum": checksum,
            "width": null, "height": null, "renditions": null})
    };
    let mut expected = with(
        &without(car(), "image_urls"),
        json!({
            "id": answer.id, "dealer_code": DEALER, "state": "created", "title": "Volvo XC60 T6 AWD 2022",
            "image_refs": [image(1, "3"), image(2, "4")], "video_url": null, "location": null, "contact": null,
            "dont_publish_on_failed_images": false, "product_declaration": null, "marketplace_ad_id": "primary-1",
            "offer_id": "secondary-1", "api_version": "v4", "created": "2026-01-15T10:00:00.000Z",
            "updated": "2026-01-15T10:00:00.000Z"}),
    );
    expected["category_fields"]["condition"]["is_new_vehicle"] = json!(false);
    assert_eq!(read, expected);
    let shown = house.kit.primary.shown(house.clock.now()).remove(0);
    assert_eq!((shown.title.as_str(), shown.images.len()), ("Volvo XC60 T6 AWD 2022", 2));
}

#[tokio::test]
async fn a_boat_goes_to_the_primary_marketplace_only() {
    let (house, ad) = House::with("boat", boat()).await;
    assert_eq!((ad.marketplace_ad_id.as_deref(), ad.offer_id), (Some("primary-1"), None));
    assert_eq!(house.kit.secondary.calls(), []);
}

#[tokio::test]
async fn an_update_without_images_leaves_them_alone() {
    let (house, before) = House::with("car", car()).await;
    let answer = house.update("car-1", json!({"body": "Ny text"})).await.unwrap();
    assert_eq!(answer.content.text("body"), Some("Ny text"));
    house.run().await;
    assert_eq!(house.log(1).await, joined([&UPDATED, &PUBLISHED]));
    let after = house.ad().await;
    assert_eq!((after.image_refs, after.marketplace_ad_id), (before.image_refs, before.marketplace_ad_id));
    assert_eq!(operations(&house.kit.primary), [Operation::Publish, Operation::Update]);
}

#[tokio::test]
async fn an_update_with_images_replaces_the_list_and_the_same_bytes_keep_their_id() {
    let (house, before) = House::with("car", car()).await;
    house.kit.images.put("https://moved.example/1.jpg", one_pixel(1));
    house.kit.images.put("https://cdn.example.com/3.jpg", one_pixel(3));
    let urls = json!(["https://cdn.example.com/3.jpg", "https://moved.example/1.jpg"]);
    house.update("car-1", json!({"image_urls": urls})).await.unwrap();
    house.run().await;
    let told = house.log(1).await;
    let stored = media("2 images stored");
    assert_eq!(told, [&joined([&UPDATED])[..], &stored[..], &joined([&PUBLISHED])[..]].concat());
    let after = house.ad().await;
    assert_eq!(json!(after.image_refs.iter().map(|image| &image.url).collect::<Vec<_>>()), urls);
    assert_eq!(after.image_refs[1].id, before.image_refs[0].id);
    assert_ne!(after.image_refs[0].id, before.image_refs[1].id);
    let shown = house.kit.primary.shown(house.clock.now()).remove(0);
    assert_eq!(shown.images, [after.image_refs[0].cdn_url.clone(), after.image_refs[1].cdn_url.clone()]);
}

#[tokio::test]
async fn images_can_be_removed() {
    for none in [json!([]), json!(null)] {
        let (house, _) = House::with("boat", boat()).await;
        house.update("boat-8", json!({"image_urls": none})).await.unwrap();
        house.run().await;
        assert_eq!(house.log(1).await[2..4], media("Images removed"));
        assert_eq!(house.ad().await.image_refs, []);
    }
}

#[tokio::test]
async fn the_same_image_twice_is_stored_once() {
    let house = House::new();
    house.kit.images.put("https://cdn.example.com/again.jpg", one_pixel(1));
    let urls = json!(["https://cdn.example.com/1.jpg", "https://cdn.example.com/again.jpg"]);
    house.create("car", with(&car(), json!({"image_urls": urls}))).await.unwrap();
    house.run().await;
    assert_eq!(house.kit.media.len(), 1);
    let images = house.ad().await.image_refs;
    assert_eq!((images[0].id, &images[0].cdn_url), (images[1].id, &images[1].cdn_url));
}

#[tokio::test]
async fn an_invisible_ad_is_not_published_and_no_entry_says_so() {
    let hidden = with(&without(car(), "image_urls"), json!({"visible": false}));
    let (house, ad) = House::with("car", hidden).await;
    assert_eq!((house.log(9).await, ad.marketplace_ad_id), (joined([&CREATED]), None));
    house.update("car-1", json!({"body": "Ny text"})).await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await, joined([&UPDATED]));
    assert_eq!(house.kit.primary.calls(), []);
}

#[tokio::test]
async fn hiding_unpublishes_and_showing_again_keeps_the_listing() {
    let (house, before) = House::with("car", car()).await;
    house.update("car-1", json!({"visible": false})).await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await, joined([&UPDATED, &UNPUBLISHED]));
    assert_eq!(house.kit.primary.shown(house.clock.now()), []);
    assert_eq!(house.kit.secondary.shown(house.clock.now()), []);
    assert_eq!(house.ad().await.state, AdState::Created);

    house.update("car-1", json!({"visible": null})).await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await, joined([&UPDATED, &PUBLISHED]));
    assert_eq!(house.ad().await.marketplace_ad_id, before.marketplace_ad_id);
    assert_eq!(house.kit.primary.shown(house.clock.now()).len(), 1);
}

#[tokio::test]
async fn an_ad_hidden_before_it_was_published_is_never_shown() {
    let house = House::new();
    house.create("car", without(car(), "image_urls")).await.unwrap();
    house.update("car-1", json!({"visible": false})).await.unwrap();
    house.run().await;
    assert_eq!(house.log(9).await, joined([&CREATED, &UPDATED, &UNPUBLISHED]));
    assert_eq!(house.kit.primary.calls(), []);
}

#[tokio::test]
async fn a_deletion_unpublishes_and_then_changes_the_state() {
    let (house, before) = House::with("car", car()).await;
    let answer = house.delete("car-1").await.unwrap();
    assert_eq!(answer.state, AdState::Created);
    house.run().await;
    let log = [
        "delete processing: Processing",
        "unpublish processing: Unpublishing",
        "unpublish done: Ad unpublished",
        "delete done: Ad deleted",
    ];
    assert_eq!(house.log(1).await, log);
    let after = house.ad().await;
    assert_eq!((after.state, &after.content), (AdState::Deleted, &before.content));
    assert_eq!(house.kit.primary.shown(house.clock.now()), []);

    house.delete("car-1").await.unwrap();
    assert_eq!(house.run().await, 0);
    assert_eq!(house.log(1).await, log);
    assert!(matches!(house.create("car", car()).await, Err(ServiceError::Duplicate { .. })));
}

#[tokio::test]
async fn a_deleted_car_stays_deleted() {
    let (house, _) = House::with("car", car()).await;
    house.delete("car-1").await.unwrap();
    // Before the worker has deleted it and afterwards.
    for _ in 0..2 {
        let refusal = reasons(house.update("car-1", json!({"body": "x"})).await);
        assert_eq!(refusal, ["Ad has been deleted, cannot update"]);
        house.run().await;
    }
}

#[tokio::test]
async fn an_update_revives_a_deleted_boat_and_publishes_it_again() {
    let (house, before) = House::with("boat", boat()).await;
    house.delete("boat-8").await.unwrap();
    house.run().await;
    let answer = house.update("boat-8", json!({"body": "Åter till salu"})).await.unwrap();
    assert_eq!(answer.state, AdState::Deleted);
    house.run().await;
    assert_eq!(house.log(1).await, joined([&UPDATED, &PUBLISHED]));
    let after = house.ad().await;
    assert_eq!((after.state, after.marketplace_ad_id), (AdState::Created, before.marketplace_ad_id));
    assert_eq!(house.kit.primary.shown(house.clock.now()).len(), 1);
}

#[tokio::test]
async fn an_update_accepted_while_a_deletion_waits_revives_too() {
    let (house, _) = House::with("boat", boat()).await;
    house.delete("boat-8").await.unwrap();
    house.update("boat-8", json!({"body": "Ändå till salu"})).await.unwrap();
    assert_eq!(house.run().await, 2);
    assert_eq!(house.ad().await.state, AdState::Created);
    assert_eq!(house.kit.primary.shown(house.clock.now()).len(), 1);
    house.delete("boat-8").await.unwrap();
    house.run().await;
    assert_eq!(house.ad().await.state, AdState::Deleted);
}

#[tokio::test]
async fn requests_of_one_ad_run_in_the_order_in_which_they_were_accepted() {
    let house = House::new();
    house.create("boat", without(boat(), "image_urls")).await.unwrap();
    for title in ["Ett", "Två", "Tre"] {
        house.update("boat-8", json!({"title": title})).await.unwrap();
    }
    house.delete("boat-8").await.unwrap();
    assert_eq!(house.run().await, 5);
    let begun: Vec<String> = house.log(9).await.into_iter().filter(|line| line.contains("processing")).collect();
    assert_eq!(
        begun,
        [
            "create processing: Processing",
            "publish processing: Publishing",
            "update processing: Processing",
            "publish processing: Publishing",
            "update processing: Processing",
            "publish processing: Publishing",
            "update processing: Processing",
            "publish processing: Publishing",
            "delete processing: Processing",
            "unpublish processing: Unpublishing"
        ]
    );
}

#[tokio::test]
async fn validating_stores_nothing() {
    let house = House::new();
    let validate = async |payload: Value| {
        house.kit.service.validate(&crate::support::access(), category("boat"), object(payload)).await
    };
    let valid = validate(without(boat(), "source_id")).await.unwrap();
    assert_eq!((valid.source_id, valid.dealer_code.as_str(), valid.category_id), (None, DEALER, 1060));
    assert!(matches!(validate(without(boat(), "title")).await, Err(ServiceError::Invalid(_))));
    assert!(house.ads().await.is_empty());
    house.create("boat", boat()).await.unwrap();
    assert!(matches!(validate(boat()).await, Err(ServiceError::Duplicate { .. })));
}

#[tokio::test]
async fn an_ad_is_found_under_its_own_type_and_by_its_own_dealer_only() {
    let (house, _) = House::with("boat", boat()).await;
    let read = async |access: Access, target| {
        house.kit.service.read(&access, target).await.map(|(_, log)| entry_texts(&log, 1).len())
    };
    let ours = || Access::Dealer(DEALER.to_owned());
    assert_eq!(read(ours(), target("boat-8")).await.unwrap(), 6);
    assert_eq!(read(ours(), Target { category: Some(category("boat")), ..target("boat-8") }).await.unwrap(), 6);
    for (access, target) in [
        (ours(), target("boat-9")),
        (Access::Dealer("south".to_owned()), target("boat-8")),
        (Access::Group("syd".to_owned()), target("boat-8")),
    ] {
        assert!(matches!(read(access, target).await, Err(ServiceError::NotFound)));
    }
    let as_car = Target { category: Some(category("car")), ..target("boat-8") };
    let Err(ServiceError::Elsewhere { found, asked }) = read(ours(), as_car).await else { panic!("found as a car") };
    assert_eq!((&*found.source_id, found.category.id, asked.id), ("boat-8", 1060, 1020));
    assert_eq!(read(Access::Group("nord".to_owned()), target("boat-8")).await.unwrap(), 6);
}

#[tokio::test]
async fn a_group_says_which_dealer_it_means() {
    let house = House::new();
    house.kit.directory.put(Dealer { group: Some("nord".to_owned()), ..Dealer::named("north-boats") });
    let group = Access::Group("nord".to_owned());
    let create = async |payload| {
        let created = house.kit.service.create(&group, house.kit.ids.next(), category("boat"), object(payload)).await;
        created.map_err(|error| match error {
            ServiceError::Invalid(errors) => json!(errors),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(
        create(boat()).await.unwrap_err(),
        json!({"dealer_code": ["This field is required.",
            "The token's scope is a dealer group; say which dealer's ad it is: \"north-boats\", \"north-cars\"."]})
    );
    assert_eq!(
        create(with(&without(boat(), "title"), json!({"dealer_code": "north-cats"}))).await.unwrap_err(),
        json!({"title": ["This field is required."], "dealer_code": ["\"north-cats\" is not a dealer of the token's group.",
            "Did you mean \"north-cars\"?"]})
    );
    for code in ["north-cars", "north-boats"] {
        create(with(&boat(), json!({"dealer_code": code}))).await.unwrap();
    }
    let read = async |dealer_code| house.kit.service.read(&group, Target { dealer_code, ..target("boat-8") }).await;
    let Err(ServiceError::InvalidQuery(errors)) = read(None).await else { panic!("not ambiguous") };
    assert_eq!(
        json!(errors),
        json!({"dealer_code": ["Several dealers have this source_id; set dealer_code to one of: \"north-cars\", \"north-boats\"."]})
    );
    assert_eq!(read(Some("north-boats")).await.unwrap().0.ad.dealer_code, "north-boats");
}
