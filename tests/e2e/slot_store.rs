//! What every store has to do with slots (`ad_core::ports::SlotStore`), in memory, in SQLite, and in PostgreSQL.

use std::collections::HashMap;

use ad_core::{
    model::{
        AdState, AdStatus, ChannelFailure, ChannelStatus, Market, Publication, PublishedChannel, StatusWords, Timestamp,
    },
    ports::{AdChange, Claimed, Outcome, Record, SlotRequest, SlotStore, Store},
    violation::Code,
};
use futures_util::future::join_all;
use uuid::Uuid;

use crate::store_contract::{ad, at, claim, create, find, id, on_every_store, record, revise};

/// A store of both kinds.
trait BothStores: Store + SlotStore {}
impl<T: Store + SlotStore> BothStores for T {}

on_every_store!(
    slots_are_taken_up_to_the_most_and_the_others_wait,
    of_many_at_once_as_many_get_a_slot_as_are_free,
    a_slot_is_free_when_its_request_ends_without_a_listing,
    ads_that_are_listed_use_a_slot,
    free_slots_go_to_those_that_have_waited_longest,
    an_ad_keeps_its_place_as_long_as_it_waits,
    an_ad_that_is_not_to_be_live_waits_no_more,
    a_write_to_an_ad_that_waits_is_under_way,
    dealers_do_not_share_slots,
);

fn seconds(number: u128) -> i64 {
    i64::try_from(number).unwrap()
}

/// What the request that creates an ad asks for: it was accepted at the second of the ad's number.
fn wanted(number: u128, most: u32) -> SlotRequest<'static> {
    SlotRequest {
        ad: id(number),
        dealer_code: "north",
        request: id(number + 1000),
        most,
        accepted: at(seconds(number)),
        waits: false,
        now: at(600),
    }
}

async fn take(store: &dyn BothStores, number: u128, most: u32) -> bool {
    store.take_slot(wanted(number, most)).await.unwrap()
}

/// Creates ads of a dealer, and claims their requests.
async fn ads(store: &dyn BothStores, numbers: impl IntoIterator<Item = u128>) -> HashMap<Uuid, Claimed> {
    for number in numbers {
        create(store, &ad(number, "north", &format!("car-{number}"))).await.unwrap();
    }
    claim(store, at(1000)).await.into_iter().map(|claimed| (claimed.stored.ad.id, claimed)).collect()
}

fn channel(listed: bool, failure: Option<Code>) -> Publication {
    let failure =
        failure.map(|code| ChannelFailure { code, reason: "\"listed\":true".to_owned(), attempts: 0, paused: false });
    let channel = PublishedChannel { listed, since: at(600), failure };
    Publication { channels: [(Market::Primary, channel)].into(), ..Publication::default() }
}

fn words(status: AdStatus, primary: ChannelStatus, failure: Option<Code>) -> StatusWords {
    StatusWords { status, primary: Some(primary), secondary: None, failure }
}

/// The end of a request after which the ad is live.
fn live(claimed: &Claimed) -> Record {
    let words = words(AdStatus::Live, ChannelStatus::Live, None);
    Record { publication: Some(channel(true, None)), words, ..record(claimed, Outcome::Finished) }
}

/// The end of a request after which the ad waits for a slot.
fn waiting(claimed: &Claimed) -> Record {
    let code = Some(Code::SlotsExceeded);
    let words = words(AdStatus::Waiting, ChannelStatus::Waiting, code);
    Record { publication: Some(channel(false, code)), words, ..record(claimed, Outcome::Finished) }
}

/// Creates ads that use all of so many slots and are live, and others that wait, and ends their requests.
async fn settled(store: &dyn BothStores, most: u32, numbers: std::ops::Range<u128>) -> HashMap<Uuid, Claimed> {
    let claimed = ads(store, numbers.clone()).await;
    for number in numbers {
        let of = &claimed[&id(number)];
        let end = if take(store, number, most).await { live(of) } else { waiting(of) };
        store.record(end).await.unwrap();
    }
    claimed
}

async fn next(store: &dyn BothStores, most: impl Into<Option<u32>>) -> Vec<String> {
    store.next_for_slots("north", most.into(), 10).await.unwrap()
}

/// Accepts a further request of an ad, claims it, and ends it in this way.
async fn then(store: &dyn BothStores, number: u128, request: u128, end: impl FnOnce(&Claimed) -> Record) {
    let ad = find(store, &ad(number, "north", &format!("car-{number}"))).await.0;
    revise(store, &ad.ad, ad.revision, request).await.unwrap();
    let claimed = claim(store, at(2000)).await.into_iter().find(|claimed| claimed.request.id == id(request)).unwrap();
    store.record(end(&claimed)).await.unwrap();
}

/// The end of a request after which the ad is not listed.
fn gone(status: AdStatus) -> impl FnOnce(&Claimed) -> Record {
    move |claimed| Record {
        publication: Some(channel(false, None)),
        words: words(status, ChannelStatus::NotListed, None),
        change: AdChange {
            state: (status == AdStatus::Deleted).then_some(AdState::Deleted),
            intent: (status == AdStatus::Deleted).then_some(AdState::Deleted),
            ..AdChange::default()
        },
        ..record(claimed, Outcome::Finished)
    }
}

async fn slots_are_taken_up_to_the_most_and_the_others_wait(store: &dyn BothStores) {
    let claimed = ads(store, 1..6).await;
    assert_eq!(store.slots_used("north").await.unwrap(), 0);
    assert!(!take(store, 1, 0).await);
    assert!(take(store, 1, 2).await && take(store, 2, 2).await);
    assert!(!take(store, 3, 2).await && !take(store, 4, 2).await);
    // The same request again, as after a crash.
    assert!(take(store, 1, 2).await && !take(store, 3, 2).await);
    assert_eq!(store.slots_used("north").await.unwrap(), 2);
    assert_eq!(store.dealers_waiting_for_slots().await.unwrap(), ["north"]);
    // Each of them has an unfinished request.
    assert_eq!(next(store, 4).await, [""; 0]);
    store.record(waiting(&claimed[&id(3)])).await.unwrap();
    store.record(waiting(&claimed[&id(4)])).await.unwrap();
    assert_eq!(next(store, 2).await, [""; 0]);
    assert_eq!(next(store, 3).await, ["car-3"]);
    assert_eq!(next(store, None).await, ["car-3", "car-4"]);
    assert_eq!(store.next_for_slots("north", None, 1).await.unwrap(), ["car-3"]);
    // More slots: those that waited come first.
    assert!(!take(store, 5, 4).await && take(store, 5, 5).await);
    assert_eq!(store.slots_used("north").await.unwrap(), 3);
}

async fn of_many_at_once_as_many_get_a_slot_as_are_free(store: &dyn BothStores) {
    ads(store, 1..31).await;
    let taken = join_all((1..31).map(|number| take(store, number, 7))).await;
    assert!(taken.iter().filter(|taken| **taken).count() <= 7);
    // Each again, as the requests of those that wait are; the oldest get what is left.
    for number in 1..31 {
        take(store, number, 7).await;
    }
    assert_eq!(store.slots_used("north").await.unwrap(), 7);
}

async fn a_slot_is_free_when_its_request_ends_without_a_listing(store: &dyn BothStores) {
    let claimed = ads(store, 1..4).await;
    assert!(take(store, 1, 1).await && !take(store, 2, 1).await);
    let refused = words(AdStatus::Failed, ChannelStatus::Failed, Some(Code::MarketplaceRefused));
    let publication = Some(channel(false, Some(Code::MarketplaceRefused)));
    let end = record(&claimed[&id(1)], Outcome::Finished);
    store.record(Record { publication, words: refused, ..end }).await.unwrap();
    assert_eq!(store.slots_used("north").await.unwrap(), 0, "the reason of a failure is not read as a listing");
    assert!(!take(store, 3, 1).await, "another is ahead");
    assert!(take(store, 2, 1).await && !take(store, 3, 1).await);
}

async fn ads_that_are_listed_use_a_slot(store: &dyn BothStores) {
    let claimed = ads(store, 1..5).await;
    // Without a slot, as before the setting.
    for number in 1..3 {
        store.record(live(&claimed[&id(number)])).await.unwrap();
    }
    assert_eq!(store.slots_used("north").await.unwrap(), 2);
    assert!(!take(store, 3, 2).await);
    // While it is updated, and when hiding it has failed.
    let stored = find(store, &ad(1, "north", "car-1")).await.0;
    revise(store, &stored.ad, stored.revision, 2001).await.unwrap();
    assert_eq!(find(store, &ad(1, "north", "car-1")).await.0.words.status, AdStatus::Processing);
    let hidden = words(AdStatus::Hidden, ChannelStatus::Outdated, Some(Code::MarketplaceRefused));
    let publication = Some(channel(true, Some(Code::MarketplaceRefused)));
    then(store, 2, 2002, |of| Record { publication, words: hidden, ..record(of, Outcome::Finished) }).await;
    assert_eq!(store.slots_used("north").await.unwrap(), 2);
    assert!(!take(store, 3, 2).await && take(store, 3, 3).await);
}

async fn free_slots_go_to_those_that_have_waited_longest(store: &dyn BothStores) {
    settled(store, 2, 1..6).await;
    assert_eq!((store.slots_used("north").await.unwrap(), next(store, 2).await.len()), (2, 0));
    then(store, 1, 2001, gone(AdStatus::Deleted)).await;
    assert_eq!(next(store, 2).await, ["car-3"]);
    // A new ad does not overtake it.
    ads(store, [9]).await;
    assert!(!take(store, 9, 2).await);
    let retry = |number, request| SlotRequest { request: id(request), waits: true, ..wanted(number, 2) };
    assert!(!store.take_slot(retry(4, 2004)).await.unwrap());
    let car = find(store, &ad(3, "north", "car-3")).await.0;
    revise(store, &car.ad, car.revision, 2003).await.unwrap();
    assert_eq!(next(store, 2).await, [""; 0], "the slot is for the one that is under way");
    assert!(store.take_slot(retry(3, 2003)).await.unwrap());
    assert_eq!(next(store, None).await, ["car-4", "car-5"]);
}

async fn an_ad_keeps_its_place_as_long_as_it_waits(store: &dyn BothStores) {
    settled(store, 1, 1..4).await;
    let again = |waits| SlotRequest { request: id(2002), accepted: at(900), waits, ..wanted(2, 1) };
    assert!(!store.take_slot(again(true)).await.unwrap());
    assert_eq!(next(store, None).await, ["car-2", "car-3"]);
    // It was hidden in between.
    assert!(!store.take_slot(again(false)).await.unwrap());
    assert_eq!(next(store, None).await, ["car-3", "car-2"]);
}

async fn an_ad_that_is_not_to_be_live_waits_no_more(store: &dyn BothStores) {
    settled(store, 1, 1..6).await;
    then(store, 2, 2002, gone(AdStatus::Hidden)).await;
    then(store, 3, 2003, gone(AdStatus::Deleted)).await;
    // As when the operator has removed the limit.
    then(store, 4, 2004, live).await;
    assert_eq!(next(store, 4).await, ["car-5"]);
    then(store, 5, 2005, live).await;
    assert_eq!(next(store, None).await, [""; 0]);
    assert_eq!(store.slots_used("north").await.unwrap(), 3);
}

async fn a_write_to_an_ad_that_waits_is_under_way(store: &dyn BothStores) {
    settled(store, 0, 1..2).await;
    let stored = find(store, &ad(1, "north", "car-1")).await.0;
    assert_eq!(stored.words.channels(), "waiting - slots_exceeded");
    revise(store, &stored.ad, stored.revision, 2001).await.unwrap();
    let stored = find(store, &ad(1, "north", "car-1")).await.0;
    assert_eq!((stored.words, stored.status_since), (StatusWords::default(), at(500)));
}

async fn dealers_do_not_share_slots(store: &dyn BothStores) {
    ads(store, 1..3).await;
    create(store, &ad(7, "south", "car-7")).await.unwrap();
    let south = SlotRequest { dealer_code: "south", ..wanted(7, 1) };
    assert!(take(store, 1, 1).await && !take(store, 2, 1).await);
    assert!(store.take_slot(south).await.unwrap());
    assert_eq!((store.slots_used("north").await.unwrap(), store.slots_used("south").await.unwrap()), (1, 1));
    assert_eq!(store.slots_used("east").await.unwrap(), 0);
    // What was counted a moment ago is counted again when it has become old.
    let later = |most, now| SlotRequest { now, ..wanted(2, most) };
    assert!(!store.take_slot(later(1, Timestamp::from_millis(0))).await.unwrap());
    assert!(store.take_slot(later(2, at(9000))).await.unwrap());
}
