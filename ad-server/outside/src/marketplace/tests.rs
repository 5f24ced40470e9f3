use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use ad_core::{
    model::{Action, ActionState, Ad, ImageRef, LogEntry, Market, Request, Timestamp},
    ports::{
        Answered, Clock, IdempotencyKey, Listing, Marketplace, MarketplaceError, NewAd, PlateListing, PublishedByPlate,
        Store,
    },
};
use futures_util::TryStreamExt;
use serde_json::json;
use uuid::Uuid;

use super::*;
use ad_server_base::lines::ImportError;
use ad_server_store::DatabaseStore;
use ad_tests::{TemporaryStore, sample_ad as ad};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Goes on by a millisecond whenever it is asked.
#[derive(Default)]
struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        at(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

fn local(temporary: &TemporaryStore, market: Market) -> Local {
    Local::new(temporary.database.clone(), market, Arc::new(Ticks::default()))
}

fn key(request: u128, action: Action) -> IdempotencyKey {
    IdempotencyKey { request: Uuid::from_u128(request), action, market: Market::Primary }
}

async fn publish(local: &Local, request: u128, ad: &Ad) -> String {
    local.publish(key(request, Action::Publish), Listing { ad, images: &[] }).await.unwrap().value
}

async fn rows(temporary: &TemporaryStore) -> Vec<ListingRow> {
    list_listings(&temporary.database, &ListingFilter::default()).try_collect().await.unwrap()
}

/// Source ids in the listing order, with the number of changes.
async fn order(temporary: &TemporaryStore) -> Vec<(String, Option<i64>, i64)> {
    let rows = rows(temporary).await.into_iter();
    rows.map(|row| (row.source_id.unwrap_or_default(), row.position, row.changes)).collect()
}

fn place(source_id: &str, position: i64, changes: i64) -> (String, Option<i64>, i64) {
    (source_id.to_owned(), Some(position), changes)
}

async fn import(temporary: &TemporaryStore, lines: &str) -> Result<usize, ImportError> {
    import_listings(&temporary.database, lines.as_bytes(), at(5)).await
}

const OLD_CAR: &str =
    r#"{"marketplace": "primary", "dealer_code": "d1", "registration_number": "abc 001", "title": "Old"}"#;

#[tokio::test]
async fn the_same_call_changes_nothing() {
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    let first = ad(1, 0);
    let id = publish(&primary, 1, &first).await;
    assert_eq!(id, "20000001");
    assert_eq!(publish(&primary, 1, &first).await, id);
    assert_eq!(order(&temporary).await, [place("Bil-1", 1, 1)]);

    let images = [ImageRef {
        url: String::new(),
        cdn_url: "/m/1".to_owned(),
        id: Uuid::nil(),
        checksum: String::new(),
        photo: None,
    }];
    let listing = Listing { ad: &first, images: &images };
    for _ in 0..2 {
        primary.update(key(2, Action::Publish), &id, listing).await.unwrap();
        primary.bump(key(3, Action::Bump), &id).await.unwrap();
        primary.boost(key(4, Action::Boost), &id, at(99)).await.unwrap();
    }
    // Also when another came between.
    assert_eq!(order(&temporary).await, [place("Bil-1", 1, 4)]);
    for _ in 0..2 {
        primary.unpublish(key(5, Action::Unpublish), &id).await.unwrap();
    }
    let row = rows(&temporary).await.remove(0);
    assert_eq!((row.changes, row.state, row.position), (5, ListingState::Removed, None));
}

#[tokio::test]
async fn a_call_that_arrives_late_and_was_done_in_the_meantime_changes_nothing() {
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    let id = publish(&primary, 1, &ad(1, 0)).await;
    let listing = Listing { ad: &ad(1, 0), images: &[] };
    primary.update(key(2, Action::Publish), &id, listing).await.unwrap();
    for request in 3..6 {
        primary.bump(key(request, Action::Bump), &id).await.unwrap();
    }
    primary.unpublish(key(6, Action::Unpublish), &id).await.unwrap();
    // What was given up and made again before arrives now.
    assert_eq!(publish(&primary, 1, &ad(1, 0)).await, id);
    primary.update(key(2, Action::Publish), &id, listing).await.unwrap();
    let row = rows(&temporary).await.remove(0);
    assert_eq!((row.changes, row.state), (6, ListingState::Removed));

    // The ad has moved on to another listing.
    assert_eq!(import(&temporary, OLD_CAR).await.unwrap(), 1);
    let other = primary.find_by_plate("d1", "ABC001").await.unwrap().value.unwrap().id;
    primary.update(key(7, Action::Publish), &other, listing).await.unwrap();
    primary.update(key(2, Action::Publish), &id, listing).await.unwrap();
    assert_eq!(primary.find_by_plate("d1", "ABC001").await.unwrap().value.unwrap().id, other);
    let shown: Vec<_> = rows(&temporary).await.into_iter().filter(|row| row.state == ListingState::Active).collect();
    assert_eq!(shown.len(), 1);
}

#[tokio::test]
async fn an_ad_has_one_listing_on_each_marketplace() {
    let temporary = TemporaryStore::open().await;
    let (primary, secondary) = (local(&temporary, Market::Primary), local(&temporary, Market::Secondary));
    let id = publish(&primary, 1, &ad(1, 0)).await;
    let offer = publish(&secondary, 1, &ad(1, 0)).await;
    assert_eq!(offer, "VM20000002");
    primary.unpublish(key(2, Action::Unpublish), &id).await.unwrap();
    assert_eq!(publish(&primary, 3, &ad(1, 0)).await, id);
    // Ids of the other marketplace, or of none.
    for id in [&offer[2..], "VM20000001", "x", ""] {
        assert_eq!(primary.bump(key(4, Action::Bump), id).await, Err(MarketplaceError::GONE));
        primary.unpublish(key(4, Action::Unpublish), id).await.unwrap();
    }
    assert_eq!(order(&temporary).await, [place("Bil-1", 1, 3), place("Bil-1", 1, 1)]);
}

#[tokio::test]
async fn the_newest_and_the_bumped_come_first_and_an_update_does_not() {
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    let mut ids = Vec::new();
    for number in 1..=3 {
        ids.push(publish(&primary, u128::from(number), &ad(number, 0)).await);
    }
    publish(&primary, 4, &ad(1, 0)).await;
    assert_eq!(order(&temporary).await, [place("Bil-3", 1, 1), place("Bil-2", 2, 1), place("Bil-1", 3, 2)]);
    primary.bump(key(5, Action::Bump), &ids[0]).await.unwrap();
    assert_eq!(order(&temporary).await, [place("Bil-1", 1, 3), place("Bil-3", 2, 1), place("Bil-2", 3, 1)]);
    primary.unpublish(key(6, Action::Unpublish), &ids[2]).await.unwrap();
    let removed = ("Bil-3".to_owned(), None, 2);
    assert_eq!(order(&temporary).await, [place("Bil-1", 1, 3), place("Bil-2", 2, 1), removed]);
    assert_eq!(primary.bump(key(7, Action::Bump), &ids[2]).await, Err(MarketplaceError::GONE));
    primary.update(key(8, Action::Publish), &ids[2], Listing { ad: &ad(3, 0), images: &[] }).await.unwrap();
    assert_eq!(order(&temporary).await[0], place("Bil-3", 1, 3));
}

#[tokio::test]
async fn an_imported_listing_is_found_by_its_plate_and_taken_over() {
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    let first = ad(1, 0);
    let own = publish(&primary, 1, &first).await;
    primary.unpublish(key(2, Action::Unpublish), &own).await.unwrap();
    assert_eq!(import(&temporary, OLD_CAR).await.unwrap(), 1);
    let found = primary.find_by_plate("d1", "ABC001").await.unwrap().value.unwrap();
    assert_eq!(found, PlateListing { id: "20000002".to_owned(), reference: None });
    assert_eq!(primary.find_by_plate("d2", "ABC001").await.unwrap(), Answered::ok(None));

    primary.update(key(3, Action::Publish), &found.id, Listing { ad: &first, images: &[] }).await.unwrap();
    let found = primary.find_by_plate("d1", "ABC001").await.unwrap().value.unwrap();
    assert_eq!(found.reference, Some(first.id));
    // It is the ad's listing now, so the ad has no other.
    assert_eq!(publish(&primary, 4, &first).await, found.id);
    let listing = Listing { ad: &first, images: &[] };
    assert_eq!(primary.update(key(5, Action::Publish), "29999999", listing).await, Err(MarketplaceError::GONE));
    assert_eq!(order(&temporary).await[0], place("Bil-1", 1, 2));
}

#[tokio::test]
async fn one_call_links_publishes_or_finds_the_listing_taken() {
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    let by_plate = async |request, ad: &Ad| {
        let listing = Listing { ad, images: &[] };
        primary.publish_by_plate(key(request, Action::Publish), listing, "ABC001").await.unwrap().value.unwrap()
    };
    let (first, second) = (ad(1, 0), Ad { content: ad(1, 0).content, ..ad(2, 0) });
    let own = publish(&primary, 1, &first).await;
    primary.unpublish(key(2, Action::Unpublish), &own).await.unwrap();
    assert_eq!(import(&temporary, OLD_CAR).await.unwrap(), 1);
    let linked = PublishedByPlate::Shown { id: "20000002".to_owned(), linked: true };
    for _ in 0..2 {
        assert_eq!(by_plate(3, &first).await, linked, "also when the call is repeated");
    }
    // It is the ad's only listing, and keeps its place.
    assert_eq!(publish(&primary, 4, &first).await, "20000002");
    assert_eq!(order(&temporary).await[0], place("Bil-1", 1, 2));
    let taken = PlateListing { id: "20000002".to_owned(), reference: Some(first.id) };
    for _ in 0..2 {
        assert_eq!(by_plate(5, &second).await, PublishedByPlate::Taken(taken.clone()));
    }
    assert_eq!(order(&temporary).await[0], place("Bil-1", 1, 2), "nothing was changed");
    // The same key publishes it then.
    let other = publish(&primary, 5, &second).await;
    assert_eq!(by_plate(6, &second).await, PublishedByPlate::Shown { id: other.clone(), linked: false });
    for (request, id) in [(7, &taken.id), (8, &other)] {
        primary.unpublish(key(request, Action::Unpublish), id).await.unwrap();
    }
    assert_eq!(by_plate(3, &first).await, linked, "a call that arrives late changes nothing");
    assert!(rows(&temporary).await.iter().all(|row| row.state == ListingState::Removed));
    assert_eq!(by_plate(9, &first).await, PublishedByPlate::Shown { id: taken.id, linked: false }, "it is shown again");
}

#[tokio::test]
async fn an_import_is_refused_whole_with_every_wrong_line() {
    let temporary = TemporaryStore::open().await;
    let lines = [
        OLD_CAR,
        "",
        "nonsense",
        &OLD_CAR.replace("primary", "tertiary"),
        &OLD_CAR.replace("Old", " "),
        &OLD_CAR.replace("abc 001", "Abc001"),
        &OLD_CAR.replace("title", "titel"),
    ];
    let error = import(&temporary, &lines.join("\n")).await.unwrap_err().to_string();
    let lines: Vec<_> = error.lines().map(|line| line.split_once(": ").unwrap()).collect();
    assert_eq!(
        lines.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
        ["line 3", "line 4", "line 5", "line 6", "line 7"]
    );
    assert_eq!(lines[2].1, "title is empty");
    assert_eq!(lines[3].1, "the same plate of the same dealer as in line 1");
    assert!(rows(&temporary).await.is_empty());

    let two = format!("{}\n{OLD_CAR}\n", OLD_CAR.replace("abc 001", "DEF002"));
    assert_eq!(import(&temporary, &two).await.unwrap(), 2);
    let error = import(&temporary, &format!("{}\n{OLD_CAR}", OLD_CAR.replace("d1", "d2"))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: this plate of this dealer is already listed as 20000002 on the primary marketplace"
    );
    assert_eq!(rows(&temporary).await.len(), 2);
}

#[tokio::test]
async fn operators_see_what_they_ask_for() {
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    import(&temporary, &format!("{}\n{OLD_CAR}", OLD_CAR.replace("primary", "secondary"))).await.unwrap();
    let second = publish(&primary, 2, &ad(2, 0)).await;
    primary.boost(key(3, Action::Boost), &second, at(1000)).await.unwrap();
    let filter = ListingFilter {
        marketplace: Some(Market::Primary),
        dealer_code: Some("d1".to_owned()),
        registration_number: Some(" abc 001".to_owned()),
    };
    let found: Vec<_> = list_listings(&temporary.database, &filter).try_collect().await.unwrap();
    let expected = json!([{
        "id": "20000002", "marketplace": "primary", "dealer_code": "d1", "registration_number": "ABC001",
        "title": "Old", "source_id": null, "position": 2, "pole_position_until": null, "state": "active",
        "changed": "1970-01-01T00:00:00.005Z", "changes": 0,
    }]);
    assert_eq!(serde_json::to_value(found).unwrap(), expected);
    let all = serde_json::to_value(rows(&temporary).await).unwrap();
    assert_eq!(all[0]["pole_position_until"], "1970-01-01T00:00:01.000Z");
    assert_eq!(all.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn calls_are_forgotten_after_a_week_unless_their_request_is_unfinished() {
    const WEEK: i64 = 7 * 24 * 3_600_000;
    let temporary = TemporaryStore::open().await;
    let primary = local(&temporary, Market::Primary);
    // Ids as they are made at these times.
    let request = |millis: i64| u128::try_from(millis).unwrap() << 80 | 7;
    for (number, millis) in [(1, 1000), (2, 2000), (3, 3000)] {
        publish(&primary, request(millis), &ad(number, 0)).await;
    }
    let calls = async || temporary.number("SELECT count(*) FROM listing_calls").await;
    let forget = async |now| forget_calls(&temporary.database, at(now), 1).await.unwrap();
    assert!(!forget(WEEK + 500).await);
    assert_eq!(calls().await, 3);

    let unfinished = Request::new(Uuid::from_u128(request(2000)), None, at(2000));
    let car = ad(4, 0);
    let entry = LogEntry::new(unfinished.id, at(2000), Action::Create, ActionState::Processing, "Processing".into());
    DatabaseStore::new(temporary.database.clone())
        .create(NewAd { ad: &car, request: &unfinished, entry: &entry, answer: None })
        .await
        .unwrap();
    assert!(forget(WEEK + 5000).await, "one is forgotten at a time");
    assert!(!forget(WEEK + 5000).await, "the unfinished request may repeat its calls");
    assert_eq!(calls().await, 2);
    assert_eq!(publish(&primary, request(2000), &ad(2, 0)).await, "20000002");
}
