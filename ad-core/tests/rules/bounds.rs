//! How much a dealer may write: the size of an ad, the length of its queue and its log, and quotas.

use std::{sync::Arc, time::Duration};

use ad_core::{
    categories::by_id,
    model::{Ad, ApiVersion, Content, Dealer, MOST_UNFINISHED, Timestamp},
    ports::{AnswerKey, Clock, Ids, KeptAnswer, Store, Usage},
    quotas::{DealerQuotas, Quotas},
    rulebook::{CheckedPayload, Rulebook, SourceId, WriteContext, size::MOST_BYTES},
    service::{ServiceError, TooManyRequests},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{DEALER, House, access, boat, car_of, category, dealer, object, with};

/// An open category, whose content may be as large as the client likes: so many texts of 10,000 characters.
fn tractor(texts: usize) -> Value {
    let fields: serde_json::Map<_, _> = (0..texts)
        .map(|number| (format!("t{:03}", number % 60), json!(vec!["x".repeat(10_000); 1 + number / 60])))
        .collect();
    json!({"source_id": "t", "category_id": 1222, "title": "Tractor", "contact": {"email": "a@b.se"},
        "category_fields": fields})
}

fn write(dealer: &Dealer) -> WriteContext<'_> {
    WriteContext { category: by_id(1222).unwrap(), version: ApiVersion::V3, dealer: Some(dealer) }
}

fn update(ad: &Ad, patch: Value) -> Result<CheckedPayload, Value> {
    Rulebook::default().update(write(&dealer()), ad, object(patch)).map_err(|errors| json!(errors))
}

/// An ad that was accepted before there was a limit.
fn stored(payload: Value, house: &House) -> Ad {
    let mut fields = object(payload);
    fields.remove("source_id");
    fields.remove("category_id");
    let now = house.clock.now();
    Ad {
        id: house.kit.ids.next(),
        source_id: "t".to_owned(),
        dealer_code: DEALER.to_owned(),
        category_id: 1222,
        state: ad_core::model::AdState::Created,
        api_version: ApiVersion::V3,
        content: Content::stored(Value::Object(fields).to_string()).unwrap(),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: now,
        updated: now,
    }
}

#[test]
fn content_is_at_most_a_mebibyte_on_create_import_and_update() {
    let (rulebook, dealer) = (Rulebook::default(), dealer());
    let large = tractor(110);
    assert!(large.to_string().len() > MOST_BYTES);
    let created = rulebook.create(write(&dealer), object(large.clone()), SourceId::Required).unwrap_err();
    let imported = rulebook.import(write(&dealer), object(large)).unwrap_err();
    assert_eq!(created, imported);
    let message = json!(created)[0].as_str().unwrap().to_owned();
    for part in ["1,048,576", "Shorten or clear its largest fields: category_fields.t0"] {
        assert!(message.contains(part), "{message}");
    }

    let ad = stored(tractor(100), &House::new());
    let grown = update(&ad, json!({"category_fields": {"more": vec!["y".repeat(10_000); 8]}})).unwrap_err();
    assert!(grown[0].as_str().unwrap().contains("category_fields.more (80,025 bytes)"), "{grown}");
    update(&ad, json!({"category_fields": {"more": "y"}})).unwrap();
}

#[test]
fn the_limit_is_exact() {
    let (rulebook, dealer) = (Rulebook::default(), dealer());
    let of = |last: usize| {
        let mut payload = tractor(104);
        payload["category_fields"]["z"] = json!(["y".repeat(last / 2), "y".repeat(last - last / 2)]);
        rulebook.create(write(&dealer), object(payload), SourceId::Required)
    };
    let bytes = |last| of(last).unwrap().content.stored_text().unwrap().len();
    let exact = MOST_BYTES - bytes(0);
    assert_eq!(bytes(exact), MOST_BYTES);
    assert!(of(exact + 1).is_err());
}

#[test]
fn an_ad_that_was_larger_before_may_become_smaller_step_by_step() {
    let ad = stored(tractor(300), &House::new());
    let smaller = update(&ad, json!({"category_fields": {"t000": null}})).unwrap();
    assert!(smaller.content.stored_text().unwrap().len() > MOST_BYTES);
    for patch in [json!({"title": "Traktor"}), json!({"visible": false})] {
        assert!(update(&ad, patch).unwrap_err().is_array(), "as large as before is too large");
    }
}

#[tokio::test]
async fn an_ad_has_at_most_a_hundred_unfinished_requests_and_may_always_be_deleted() {
    let house = House::new();
    let ad = house.create("boat", boat()).await.unwrap();
    for _ in 1..MOST_UNFINISHED {
        house.update(&ad.source_id, json!({})).await.unwrap();
    }
    let full = |result: Result<Ad, ServiceError>| match result {
        Err(ServiceError::TooManyRequests(TooManyRequests::OfAd { unfinished })) => unfinished,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(full(house.retry(&ad.source_id).await), 100);
    assert_eq!(full(house.update(&ad.source_id, json!({"body": "x"})).await), 100);
    house.delete(&ad.source_id).await.unwrap();
    // Reviving it would be one more.
    assert_eq!(full(house.update(&ad.source_id, json!({"body": "x"})).await), 101);
    house.delete(&ad.source_id).await.unwrap();
    assert_eq!(house.kit.store.usage(DEALER, Usage::Requests, 1000).await.unwrap(), 101);
    assert_eq!(house.run().await, 101);
    house.update(&ad.source_id, json!({"body": "x"})).await.unwrap();
}

/// A house that holds its dealers to quotas.
fn limited(quotas: DealerQuotas) -> (House, Arc<Quotas>) {
    let mut house = House::new();
    let quotas = Arc::new(Quotas::new(quotas, house.kit.store.clone(), house.clock.clone()));
    house.kit.pipeline = house.kit.pipeline.with_quotas(Arc::clone(&quotas));
    house.kit.service = house.kit.service.with_quotas(Arc::clone(&quotas));
    (house, quotas)
}

fn car(number: usize) -> Value {
    with(&car_of(json!({"registration_number": format!("ABC{number:03}")})), json!({"source_id": format!("c{number}")}))
}

#[tokio::test]
async fn a_dealer_has_no_more_unfinished_requests_than_its_quota() {
    let (house, _) = limited(DealerQuotas { requests: Some(2), ..DealerQuotas::default() });
    house.create("car", car(1)).await.unwrap();
    house.create("car", car(2)).await.unwrap();
    let refused = house.create("car", car(3)).await;
    assert!(matches!(refused, Err(ServiceError::TooManyRequests(TooManyRequests::OfDealer(_)))), "{refused:?}");
    let message = house.retry("c1").await.unwrap_err().to_string();
    assert!(message.contains("2 unfinished requests, and at most 2 are accepted (dealer_requests)"), "{message}");
    house.delete("c1").await.unwrap();
    house.run().await;
    house.clock.advance(Duration::from_millis(100));
    house.create("car", car(3)).await.unwrap();
}

#[tokio::test]
async fn deleted_ads_make_room_in_the_quota_and_reviving_one_takes_it() {
    let (house, _) = limited(DealerQuotas { ads: Some(1), ..DealerQuotas::default() });
    house.create("boat", boat()).await.unwrap();
    let refused = house.create("car", car(1)).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Refused(_)) && refused.to_string().contains("dealer_ads"), "{refused}");
    let boat = house.ad().await.source_id;
    house.update(&boat, json!({"body": "Still mine"})).await.unwrap();
    house.delete(&boat).await.unwrap();
    house.run().await;
    house.clock.advance(Duration::from_millis(100));
    let valid = house.kit.service.validate(&access(), category("car"), object(car(1))).await;
    valid.unwrap();
    house.create("car", car(1)).await.unwrap();
    let refused = house.update(&boat, json!({"body": "Back again"})).await.unwrap_err();
    assert!(refused.to_string().contains("dealer_ads"), "{refused}");
}

#[tokio::test]
async fn an_image_beyond_the_quota_is_unusable_and_a_known_one_is_not() {
    let image = ad_core::memory::one_pixel(1);
    let (house, quotas) =
        limited(DealerQuotas { image_bytes: Some(image.bytes.len() as u64), ..DealerQuotas::default() });
    let images = |files: &[&str]| json!({"image_urls": files.iter().map(|file| format!("https://cdn.example.com/{file}")).collect::<Vec<_>>()});
    house.create("car", with(&car(1), images(&["1.jpg", "2.jpg"]))).await.unwrap();
    house.run().await;
    assert_eq!(house.ad().await.image_refs.len(), 1);
    let told = house.log(1).await.join("\n");
    assert!(told.contains("dealer_image_bytes") && told.contains("handle_media error"), "{told}");
    let (_, log) = house.ads().await.remove(0);
    assert_eq!(log.iter().find_map(|entry| entry.code), Some(ad_core::violation::Code::QuotaExceeded));
    house.update("c1", images(&["1.jpg"])).await.unwrap();
    house.run().await;
    assert_eq!(house.ad().await.image_refs.len(), 1, "the same bytes count once");
    quotas.admit_image("south", &image).await.unwrap();
}

#[tokio::test]
async fn the_oldest_answers_make_room_for_new_ones() {
    let house = House::new();
    let store = house.kit.store.clone();
    let quotas = || {
        let limits = DealerQuotas { answer_bytes: Some(4000), ..DealerQuotas::default() };
        Quotas::new(limits, house.kit.store.clone(), house.clock.clone())
    };
    let holder = "dealer_code north";
    let answer = |number: u128| KeptAnswer {
        key: AnswerKey { holder: holder.to_owned(), digest: number.to_string() },
        fingerprint: String::new(),
        request_id: Uuid::from_u128(number),
        accepted: Timestamp::from_millis(i64::try_from(number).unwrap()),
        answer: "x".repeat(300),
    };
    let keep = async |quotas: &Quotas, number: u128| {
        quotas.make_room_for_answer(holder, 300).await.unwrap();
        store.keep_answer(Uuid::nil(), &answer(number)).await.unwrap();
    };
    let known = async || {
        let mut known = Vec::new();
        for number in 0..100 {
            known.extend(store.kept_answer(&answer(number).key).await.unwrap().map(|_| number));
        }
        known
    };
    let process = quotas();
    let mut most = 0;
    for number in 0..50 {
        keep(&process, number).await;
        most = most.max(known().await.len() * 300);
    }
    assert!((3600..=4000).contains(&most), "it is used, and not exceeded: {most}");
    let newest = known().await;
    assert!(newest.len() >= 10 && newest.last() == Some(&49), "three quarters stay: {newest:?}");
    assert!(newest.iter().zip(&newest[1..]).all(|(one, next)| one + 1 == *next), "the oldest go: {newest:?}");
    // Each further process exceeds it by a quarter at most, and begins with what it finds.
    let other = quotas();
    for number in 50..90 {
        keep(if number % 2 == 0 { &process } else { &other }, number).await;
        let bytes = known().await.len() * 300;
        assert!(bytes <= 5000, "{bytes}");
    }
    // A dealer without a key costs nothing, and a process without the quota keeps all.
    let without = Quotas::new(DealerQuotas::default(), house.kit.store.clone(), house.clock.clone());
    let before = known().await;
    for number in 90..100 {
        keep(&without, number).await;
    }
    assert_eq!(known().await.len(), before.len() + 10);
}

#[tokio::test]
async fn a_quota_counts_once_a_second_and_what_is_added_in_between() {
    let house = House::new();
    let quotas = Quotas::new(
        DealerQuotas { image_bytes: Some(10), ..DealerQuotas::default() },
        house.kit.store.clone(),
        house.clock.clone(),
    );
    let admit = |more| quotas.admit("north", Usage::ImageBytes, more);
    admit(10).await.unwrap();
    assert!(admit(11).await.is_err());
    // Another process adds some, which is not seen at once.
    house.kit.store.add_dealer_image("north", "aa", 8).await.unwrap();
    admit(10).await.unwrap();
    quotas.added("north", Usage::ImageBytes, 1);
    house.clock.advance(Duration::from_millis(1));
    assert!(admit(10).await.is_err(), "what would be refused is counted again");
    admit(2).await.unwrap();
    house.kit.store.add_dealer_image("north", "bb", 2).await.unwrap();
    house.clock.advance(Duration::from_secs(1));
    assert!(admit(1).await.is_err());
    // A clock that is set back does not keep old counts alive.
    house.clock.set(ad_core::model::Timestamp::from_millis(0));
    assert!(admit(1).await.is_err());
}
