//! Lists and logs: what is found ('List parameters', decisions 1 and 2).

use std::time::Duration;

use ad_core::{
    model::{Ad, AdQuery, LogQuery},
    ports::Clock,
};
use ad_parameters::{AD_PARAMETERS, FromParameters, LOG_PARAMETERS};
use serde_json::json;
use uuid::Uuid;

use crate::support::{House, access, boat, car_of, target, with};

fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap();
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn ads(query: &str) -> AdQuery {
    AdQuery::parse(AD_PARAMETERS, &pairs(query)).unwrap()
}

/// Source ids of a list over three published ads: a car `Car-1`, a boat `boat-8` a second later, a car `c%_2`.
async fn found(house: &House, query: &str) -> Vec<String> {
    let page = house.kit.service.list(&access(), None, ads(query)).await.unwrap();
    let ids: Vec<String> = page.rows.into_iter().map(|listed| listed.ad.source_id).collect();
    assert!(page.count >= ids.len() as u64);
    ids
}

async fn three_ads() -> House {
    let house = House::new();
    let car = |source_id, plate| {
        with(
            &car_of(json!({"registration_number": plate, "brand": "volvo"})),
            json!({"source_id": source_id, "body": "Ångfartyg säljes"}),
        )
    };
    house.create("car", car("Car-1", "ABC123")).await.unwrap();
    house.run().await;
    house.clock.advance(Duration::from_secs(1));
    house.create("boat", with(&boat(), json!({"category_fields": {"registration_number": "ABC123"}}))).await.unwrap();
    house.create("car", car("c%_2", "DEF456")).await.unwrap();
    house.run().await;
    house
}

#[tokio::test]
async fn filters_find_what_they_say() {
    let house = three_ads().await;
    for (query, ids) in [
        ("", vec!["c%_2", "boat-8", "Car-1"]),
        ("ordering=created", vec!["Car-1", "boat-8", "c%_2"]),
        ("ordering=source_id", vec!["Car-1", "boat-8", "c%_2"]),
        ("ordering=-source_id", vec!["c%_2", "boat-8", "Car-1"]),
        ("ordering=created&limit=1&offset=1", vec!["boat-8"]),
        ("offset=3", vec![]),
        ("source_id=car-1", vec![]),
        ("source_id=Car-1", vec!["Car-1"]),
        ("source_id__in=Car-1,boat-8,x", vec!["boat-8", "Car-1"]),
        ("source_id__icontains=CAR", vec!["Car-1"]),
        ("source_id__icontains=%_", vec!["c%_2"]),
        ("category_id=1060", vec!["boat-8"]),
        ("category_id__in=1020,1060&ordering=created&limit=2", vec!["Car-1", "boat-8"]),
        ("search=ÅNGFARTYG", vec!["c%_2", "Car-1"]),
        ("search=nimbus", vec!["boat-8"]),
        ("search=volvo", vec!["c%_2", "Car-1"]),
        ("registration_number=abc 123", vec!["Car-1"]),
        ("marketplace_ad_id=primary-2", vec!["boat-8"]),
        ("marketplace_ad_id__in=primary-1,primary-3", vec!["c%_2", "Car-1"]),
        ("state=deleted", vec![]),
        ("dealer_code=south", vec![]),
        ("dealer_code=north-cars&source_id=Car-1", vec!["Car-1"]),
        ("quality_score__gte=1", vec!["c%_2", "boat-8", "Car-1"]),
        ("quality_score__gte=100", vec![]),
        ("quality_score__gte=1&quality_score__lt=1", vec![]),
        ("brand=volvo", vec!["c%_2", "Car-1"]),
        ("brand=Volvo", vec![]),
        ("failed_images=true", vec![]),
        ("failed_images=false&category_id=1060", vec!["boat-8"]),
        ("created__gt=2026-01-15 10:00:00", vec!["c%_2", "boat-8"]),
        ("created__gte=2026-01-15 10:00:00&created__lt=2026-01-15 10:00:01", vec!["Car-1"]),
        ("updated__lte=2026-01-15 10:00:00", vec!["Car-1"]),
        ("updated__gt=2026-01-15 10:00:01", vec![]),
    ] {
        assert_eq!(found(&house, query).await, ids, "{query}");
    }
}

#[tokio::test]
async fn a_typed_list_has_ads_of_its_category_and_counts_all_of_them() {
    let house = three_ads().await;
    let car = Some(crate::support::category("car"));
    let page = house.kit.service.list(&access(), car, ads("limit=1")).await.unwrap();
    assert_eq!((page.count, page.rows.len()), (2, 1));
}

#[tokio::test]
async fn a_log_comes_with_a_list_only_when_it_is_asked_for() {
    let house = three_ads().await;
    let logs = async |query| {
        let page = house.kit.service.list(&access(), None, ads(query)).await.unwrap();
        page.rows.iter().map(|listed| listed.log.len()).collect::<Vec<_>>()
    };
    assert_eq!(logs("ordering=created").await, [0, 0, 0]);
    assert_eq!(logs("ordering=created&include=log").await, [4, 6, 4]);
}

#[tokio::test]
async fn a_log_is_filtered_and_ordered() {
    let house = three_ads().await;
    let log = async |query| {
        let query = LogQuery::parse(LOG_PARAMETERS, &pairs(query)).unwrap();
        let page = house.kit.service.log(&access(), target("Car-1"), &query).await.unwrap();
        (page.count, crate::support::entry_texts(&page.rows, usize::MAX))
    };
    assert_eq!(
        log("action=publish").await,
        (2, vec!["publish processing: Publishing".to_owned(), "publish done: Ad published".to_owned()])
    );
    assert_eq!(log("state=done&limit=1&ordering=-created").await, (2, vec!["publish done: Ad published".to_owned()]));
    assert_eq!(log(&format!("request_id={}", Uuid::nil())).await, (0, vec![]));
}

#[tokio::test]
async fn a_view_has_only_the_fields_that_were_asked_for() {
    let house = three_ads().await;
    let ad: Ad = house.ads().await.remove(0).0;
    let created = house.clock.now().as_millis() - 1000;
    let created = ad_core::model::Timestamp::from_millis(created);
    let query = ads("fields=source_id,title,created,log");
    assert_eq!(
        json!(ad.view(Some(&[])).only(query.fields.as_deref())),
        json!({"source_id": "Car-1", "title": "Volvo 2019", "created": created, "log": []})
    );
}
