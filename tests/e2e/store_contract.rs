//! What every store has to do (`ad_core::ports::Store`). Each case runs against the store in memory, against SQLite in a
//! real file, and against a real PostgreSQL.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use ad_core::{
    memory::MemoryStore,
    model::{
        Action, ActionState, Ad, AdFilter, AdOrder, AdQuery, AdState, AdStatus, ApiVersion, AskedBy, Bound, CallAction,
        ChannelFailure, ChannelStatus, Content, ContentChange, ContentScore, Creation, EarlierPrices, Event, EventPage,
        EventPosition, EventQuery, EventTypes, FailedImage, FieldChange, ImageFlaw, ImageRef, ImageSource,
        ImageSources, Included, Leftover, LogEntry, LogQuery, MOST_EARLIER_PRICES, MOST_REVISIONS, Market,
        MarketplaceCall, Page, Plan, PlateMatch, Price, Progress, Publication, PublishedChannel, QueuedRequest,
        RecordedChange, Replaced, Request, RequestOrigin, RevisionOrigin, StatusCount, StatusWords, StoredImage,
        StoredRequest, Timestamp, Validators, Via, WaitingFor,
    },
    ports::{
        AdChange, AnswerKey, Capacity, Claimed, KeptAnswer, LogEntries, NewAd, Outcome, PAGE_BYTES, PageOf, Record,
        Revision, Scope, Store, StoreError, StoredAd, TagOfAd, Usage, VehicleQuery,
    },
    revisions::{apply, checksum, difference},
    violation::Code,
};
use ad_parameters::{AD_PARAMETERS, FromParameters, LOG_PARAMETERS};
use ad_server::store::{Database, DatabaseStore};
use ad_tests::{Postgres, eventually, incompressible_text};
use futures_util::future::{join, join_all, join3};
use serde_json::json;
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(10);

/// A store with what keeps it alive.
struct Fixture {
    store: Arc<dyn Store>,
    _folder: Option<tempfile::TempDir>,
}

fn memory() -> std::future::Ready<Fixture> {
    std::future::ready(Fixture { store: Arc::new(MemoryStore::default()), _folder: None })
}

async fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("ads.db").display());
    let database = Database::open(&url).await.unwrap();
    Fixture { store: Arc::new(DatabaseStore::new(database)), _folder: Some(folder) }
}

/// None when PostgreSQL is not installed.
async fn postgres() -> Option<Fixture> {
    let url = Postgres::shared().await?.database().await;
    let database = Database::open(&url).await.unwrap();
    Some(Fixture { store: Arc::new(DatabaseStore::new(database)), _folder: None })
}

/// Runs the cases of a contract on every store. They take `&dyn BothStores`, or whatever else the stores can be taken as.
macro_rules! on_every_store {
    ($($case:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test] async fn $case() { super::$case(&ad_core::memory::MemoryStore::default()).await; })+
        }
        mod in_sqlite {
            $(#[tokio::test] async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite://{}", folder.path().join("ads.db").display());
                super::$case(&crate::store_contract::database(&url).await).await;
            })+
        }
        mod in_postgres {
            $(#[tokio::test] async fn $case() {
                if let Some(server) = ad_tests::Postgres::shared().await {
                    super::$case(&crate::store_contract::database(&server.database().await).await).await;
                }
            })+
        }
    };
}
pub(crate) use on_every_store;

pub(crate) async fn database(url: &str) -> DatabaseStore {
    DatabaseStore::new(Database::open(url).await.unwrap())
}

macro_rules! contract {
    ($($case:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test] async fn $case() { super::$case(&*super::memory().await.store).await; })+
        }
        mod in_sqlite {
            $(#[tokio::test] async fn $case() { super::$case(&*super::sqlite().await.store).await; })+
        }
        mod in_postgres {
            $(#[tokio::test] async fn $case() {
                if let Some(fixture) = super::postgres().await {
                    super::$case(&*fixture.store).await;
                }
            })+
        }
    };
}

contract!(
    a_new_ad_is_found_with_its_first_entry,
    a_source_id_is_used_once_per_dealer_for_ever,
    a_group_finds_the_ads_of_all_its_dealers,
    a_change_on_an_old_revision_is_a_conflict,
    a_refused_write_leaves_no_request_behind,
    requests_of_one_ad_are_handed_out_one_at_a_time_and_in_order,
    different_ads_are_handed_out_side_by_side,
    a_lease_that_ended_is_handed_out_again_and_the_old_one_is_fenced,
    an_extended_lease_is_kept,
    a_waiting_request_is_due_at_its_time_and_blocks_its_ad,
    a_record_applies_everything_at_once,
    every_visible_change_moves_the_tag,
    a_request_is_found_by_its_id_while_it_is_queued_and_when_it_is_finished,
    every_change_of_the_worker_moves_updated,
    an_ad_has_at_most_a_hundred_unfinished_requests_and_one_deletion,
    of_many_writes_at_once_no_more_than_a_hundred_are_unfinished,
    what_a_dealer_has_is_counted,
    what_a_cleared_mileage_was_comes_back,
    progress_survives,
    dealers_take_turns,
    what_was_written_by_a_clock_ahead_is_due_at_once,
    requests_that_come_in_while_others_end_are_all_handed_out,
    of_many_writes_at_once_each_is_answered_for_itself,
    any_text_comes_back,
    only_the_latest_hundred_entries_come_with_an_ad,
    a_listing_is_tied_to_one_live_ad,
    lists_filter_order_and_page,
    text_is_found_in_any_case,
    searched_text_is_plain_text,
    a_changed_text_is_found_and_the_old_one_is_not,
    what_was_found_is_ordered_and_paged,
    ads_are_found_by_words_in_any_order,
    words_that_have_changed_are_found_within_a_second,
    logs_filter_order_and_page,
    a_page_ends_at_its_most_bytes_and_the_next_begins_behind_it,
    a_page_of_a_log_ends_at_its_most_bytes,
    an_answer_is_kept_with_its_write_and_keeps_the_key,
    a_refused_write_keeps_no_answer,
    of_many_writes_with_one_key_one_is_accepted,
    answers_are_removed_by_age,
    answers_of_a_holder_are_removed_by_size,
    a_promotion_coalesces_with_one_of_the_same_plan,
    of_many_promotions_at_once_one_is_accepted,
    who_waits_for_a_request_is_told_of_its_end,
    events_are_in_one_order_and_go_on_after_each,
    a_page_of_events_looks_at_a_bounded_number,
    a_page_of_events_ends_at_its_most_bytes,
    who_waits_for_events_is_woken_by_those_of_its_dealers,
    every_commit_sets_the_status,
    every_commit_sets_the_quality_score,
    contents_are_filtered_as_they_are_stored,
    earlier_prices_come_with_the_ad,
    earlier_prices_are_bounded,
    changes_of_the_content_are_recorded,
    what_is_recorded_is_bounded,
    a_page_of_changes_ends_at_its_most_bytes,
    calls_are_recorded_with_the_outcome,
    other_ads_of_the_same_vehicle_are_found,
    changes_come_with_the_requests_of_the_latest_entries,
);

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_768_471_200_000 + seconds * 1000)
}

pub(crate) fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number)
}

pub(crate) fn ad(number: u128, dealer: &str, source_id: &str) -> Ad {
    let content = json!({"title": format!("Volvo V60 {number}"), "body": "Fin bil", "category_fields": {
        "registration_number": format!("PLT{number:03}"), "model_year": 2019}});
    Ad {
        id: id(number),
        source_id: source_id.to_owned(),
        dealer_code: dealer.to_owned(),
        category_id: 1020,
        state: AdState::Created,
        api_version: ApiVersion::V4,
        content: Content::from(content.as_object().unwrap().clone()),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: at(i64::try_from(number).unwrap()),
        updated: at(i64::try_from(number).unwrap()),
    }
}

/// A stored image; the bytes of two are the same if their numbers are.
pub(crate) fn stored_image(number: u128) -> ImageRef {
    ImageRef {
        url: format!("https://a/{number}.jpg"),
        cdn_url: format!("https://b/{number}.jpg"),
        id: id(7000 + number),
        checksum: format!("{number:064}"),
        photo: None,
    }
}

pub(crate) fn with_body(ad: &Ad, body: &str) -> Content {
    let mut fields = ad.content.fields().clone();
    fields.insert("body".to_owned(), json!(body));
    fields.into()
}

fn plan(action: Action) -> Plan {
    Plan { actions: vec![action], markets: vec![Market::Primary] }
}

fn entry(request: Uuid, action: Action, state: ActionState, when: Timestamp) -> LogEntry {
    LogEntry::new(request, when, action, state, json!("Processing"))
}

/// Creates an ad; its request has the id 1000 above the ad's.
pub(crate) async fn create(store: &dyn Store, ad: &Ad) -> Result<Uuid, StoreError> {
    let request_id = Uuid::from_u128(ad.id.as_u128() + 1000);
    let request = Request::new(request_id, Some(plan(Action::Create)), ad.created);
    let entry = entry(request_id, Action::Create, ActionState::Processing, ad.created);
    store.create(NewAd { ad, request: &request, entry: &entry, answer: None }).await?;
    Ok(request_id)
}

pub(crate) async fn find(store: &dyn Store, ad: &Ad) -> (StoredAd, Vec<LogEntry>) {
    store
        .find(Scope::Dealer(&ad.dealer_code), &ad.source_id, LogEntries::Latest)
        .await
        .unwrap()
        .pop()
        .expect("it was stored")
}

pub(crate) async fn revise(store: &dyn Store, ad: &Ad, revision: i64, number: u128) -> Result<Uuid, StoreError> {
    let request = Request::new(id(number), Some(plan(Action::Update)), at(500));
    let revision = Revision {
        ad: ad.id,
        dealer_code: &ad.dealer_code,
        revision,
        content: Some(&ad.content),
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(500),
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(revision).await.map(|()| request.id)
}

pub(crate) async fn claim(store: &dyn Store, now: Timestamp) -> Vec<Claimed> {
    store.claim(now, now + LEASE, 100.into()).await.unwrap().claimed
}

pub(crate) fn record(claimed: &Claimed, outcome: Outcome) -> Record {
    Record {
        ad: claimed.stored.ad.id,
        request: claimed.request.id,
        lease: claimed.lease,
        entries: Vec::new(),
        changes: None,
        change: AdChange::default(),
        publication: None,
        calls: Vec::new(),
        confirmed: None,
        quality_score: None,
        words: StatusWords::default(),
        outcome,
        at: at(600),
    }
}

async fn finish(store: &dyn Store, claimed: &Claimed) {
    store.record(record(claimed, Outcome::Finished)).await.unwrap();
}

async fn a_new_ad_is_found_with_its_first_entry(store: &dyn Store) {
    let ad = ad(1, "north", "å/ä ö");
    let request = create(store, &ad).await.unwrap();
    let (stored, log) = find(store, &ad).await;
    assert_eq!(stored.ad, ad);
    assert_eq!(
        (stored.intent, stored.pole_position_until, stored.leftover),
        (AdState::Created, None, Leftover::default())
    );
    assert_eq!(log, [entry(request, Action::Create, ActionState::Processing, ad.created)]);
    assert!(store.is_live(ad.id).await.unwrap() && !store.is_live(id(99)).await.unwrap());
    store.check().await.unwrap();
}

async fn a_source_id_is_used_once_per_dealer_for_ever(store: &dyn Store) {
    create(store, &ad(1, "north", "a")).await.unwrap();
    assert!(matches!(create(store, &ad(2, "north", "a")).await, Err(StoreError::Duplicate)));
    create(store, &ad(3, "south", "a")).await.unwrap();
    create(store, &ad(4, "north", "A")).await.unwrap();
    assert!(store.is_used("north", "a").await.unwrap() && !store.is_used("east", "a").await.unwrap());
    let (first, log) = find(store, &ad(1, "north", "a")).await;
    assert_eq!((first.ad.id, log.len()), (id(1), 1), "the refused one left nothing");
    assert_eq!(claim(store, at(100)).await.len(), 3);
}

async fn a_group_finds_the_ads_of_all_its_dealers(store: &dyn Store) {
    for (number, dealer) in [(1, "north"), (2, "south"), (3, "east")] {
        create(store, &ad(number, dealer, "same")).await.unwrap();
    }
    let group = ["north".to_owned(), "east".to_owned()];
    let mut found: Vec<_> = store
        .find(Scope::Dealers(&group), "same", LogEntries::Omitted)
        .await
        .unwrap()
        .into_iter()
        .map(|(it, _)| it.ad.id)
        .collect();
    found.sort();
    assert_eq!(found, [id(1), id(3)]);
    assert!(store.find(Scope::Dealers(&[]), "same", LogEntries::Omitted).await.unwrap().is_empty());
    assert!(store.find(Scope::Dealer("west"), "same", LogEntries::Omitted).await.unwrap().is_empty());
}

async fn a_change_on_an_old_revision_is_a_conflict(store: &dyn Store) {
    let mut ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let (stored, _) = find(store, &ad).await;
    ad.content = with_body(&ad, "New");
    revise(store, &ad, stored.revision, 2001).await.unwrap();
    let (changed, _) = find(store, &ad).await;
    assert_eq!((changed.ad.content, changed.ad.updated), (ad.content.clone(), at(500)));
    assert!(matches!(revise(store, &ad, stored.revision, 2002).await, Err(StoreError::Conflict)));
    revise(store, &ad, changed.revision, 2003).await.unwrap();
}

async fn a_refused_write_leaves_no_request_behind(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    assert!(revise(store, &ad, 77, 2001).await.is_err());
    let claimed = claim(store, at(1000)).await;
    assert_eq!(claimed.len(), 1);
    finish(store, &claimed[0]).await;
    assert!(claim(store, at(1000)).await.is_empty());
}

async fn requests_of_one_ad_are_handed_out_one_at_a_time_and_in_order(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    let first = create(store, &ad).await.unwrap();
    let mut expected = vec![first];
    for number in 0..3 {
        let (stored, _) = find(store, &ad).await;
        expected.push(revise(store, &ad, stored.revision, 2000 + number).await.unwrap());
    }
    for request in expected {
        let claimed = claim(store, at(1000)).await;
        assert_eq!(claimed.iter().map(|it| it.request.id).collect::<Vec<_>>(), [request]);
        assert!(claim(store, at(1000)).await.is_empty(), "nothing else while it runs");
        finish(store, &claimed[0]).await;
    }
    assert!(claim(store, at(1000)).await.is_empty());
}

async fn different_ads_are_handed_out_side_by_side(store: &dyn Store) {
    for number in 1..=5 {
        create(store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    let now = at(1000);
    let first = store.claim(now, now + LEASE, 3.into()).await.unwrap().claimed;
    let second = store.claim(now, now + LEASE, 3.into()).await.unwrap().claimed;
    let ids: Vec<_> = first.iter().chain(&second).map(|it| it.stored.ad.id).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5].map(id), "in the order in which they were accepted");
    assert_eq!(first[0].request.plan, Some(plan(Action::Create)));
}

async fn a_lease_that_ended_is_handed_out_again_and_the_old_one_is_fenced(store: &dyn Store) {
    create(store, &ad(1, "north", "a")).await.unwrap();
    let old = claim(store, at(1000)).await.remove(0);
    let claims = store.claim(at(1005), at(1015), 10.into()).await.unwrap();
    assert!(claims.claimed.is_empty());
    assert_eq!(claims.next_due, Some(at(1010)), "when the lease ends");
    let new = claim(store, at(1010)).await.remove(0);
    assert_eq!(new.request.id, old.request.id);
    let mut late = record(&old, Outcome::Finished);
    late.entries = vec![entry(old.request.id, Action::Create, ActionState::Done, at(1011))];
    late.change.state = Some(AdState::Deleted);
    assert!(matches!(store.record(late).await, Err(StoreError::LeaseLost)));
    assert!(matches!(store.extend(old.request.id, old.lease, at(2000)).await, Err(StoreError::LeaseLost)));
    let (stored, log) = find(store, &old.stored.ad).await;
    assert_eq!((stored.ad.state, log.len()), (AdState::Created, 1), "nothing of it was stored");
    finish(store, &new).await;
    assert!(matches!(store.record(record(&new, Outcome::Finished)).await, Err(StoreError::LeaseLost)));
}

async fn an_extended_lease_is_kept(store: &dyn Store) {
    create(store, &ad(1, "north", "a")).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    store.extend(claimed.request.id, claimed.lease, at(1030)).await.unwrap();
    assert!(claim(store, at(1020)).await.is_empty());
    finish(store, &claimed).await;
}

async fn a_waiting_request_is_due_at_its_time_and_blocks_its_ad(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let (stored, _) = find(store, &ad).await;
    revise(store, &ad, stored.revision, 2000).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let progress = Progress { tries: 2, ..Progress::default() };
    store.record(record(&claimed, Outcome::Waits { progress: progress.clone(), until: at(1100) })).await.unwrap();
    let claims = store.claim(at(1050), at(1060), 10.into()).await.unwrap();
    assert_eq!((claims.claimed.len(), claims.next_due), (0, Some(at(1100))));
    let again = claim(store, at(1100)).await.remove(0);
    assert_eq!((again.request.id, again.request.progress), (claimed.request.id, progress));
}

async fn every_visible_change_moves_the_tag(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    create(store, &self::ad(2, "south", "a")).await.unwrap();
    let tag = async || {
        let (stored, _) = find(store, &ad).await;
        let known = TagOfAd { dealer_code: "north".to_owned(), category_id: 1020, tag: stored.tag };
        assert_eq!(store.tags(Scope::Dealer("north"), "a").await.unwrap(), [known]);
        (stored.tag.revision, stored.tag.n)
    };
    assert_eq!(tag().await, (0, 1), "one log entry");
    revise(store, &ad, 0, 2001).await.unwrap();
    assert_eq!(tag().await, (1, 1), "content");
    let request = Request::new(id(2002), None, at(500));
    let (ad_id, dealer_code, updated) = (ad.id, "north", at(500));
    let retry = Revision {
        ad: ad_id,
        dealer_code,
        revision: 1,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated,
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(retry).await.unwrap();
    assert_eq!(tag().await, (1, 2), "updated");
    let claimed = claim(store, at(1000)).await.into_iter().find(|it| it.stored.ad.id == ad.id).unwrap();
    assert_eq!((claimed.stored.tag.revision, claimed.stored.tag.n), (1, 2));
    let done = entry(claimed.request.id, Action::Create, ActionState::Done, at(600));
    let progress = Progress::default();
    let mut work = record(&claimed, Outcome::Continues { progress: progress.clone() });
    store.record(work.clone()).await.unwrap();
    assert_eq!(tag().await, (1, 2), "nothing");
    work.entries = vec![done.clone(), done.clone()];
    store.record(work.clone()).await.unwrap();
    assert_eq!(tag().await, (1, 4), "two log entries");
    work.entries = Vec::new();
    work.change.listings = vec![(Market::Primary, "l".to_owned())];
    store.record(work.clone()).await.unwrap();
    assert_eq!(tag().await, (1, 5), "a listing");
    (work.entries, work.outcome) = (vec![done], Outcome::Finished);
    store.record(work).await.unwrap();
    assert_eq!(tag().await, (1, 7), "a log entry and a change");
    assert_eq!(store.tags(Scope::Dealers(&["north".to_owned(), "south".to_owned()]), "a").await.unwrap().len(), 2);
    assert!(store.tags(Scope::Dealer("east"), "a").await.unwrap().is_empty());
}

async fn a_request_is_found_by_its_id_while_it_is_queued_and_when_it_is_finished(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    let request = create(store, &ad).await.unwrap();
    let behind = revise(store, &ad, 0, 2001).await.unwrap();
    let found = async |id| store.request(Scope::Dealer("north"), id).await.unwrap();
    let begun = entry(request, Action::Create, ActionState::Processing, ad.created);
    let queued = |progress, claimable| Some(QueuedRequest { progress, claimable });
    let mut expected = StoredRequest {
        id: request,
        dealer_code: "north".to_owned(),
        source_id: "a".to_owned(),
        accepted: ad.created,
        asked_by: None,
        plan_id: None,
        queued: queued(Progress::default(), Some(ad.created)),
        entries: vec![begun],
    };
    assert_eq!(found(request).await.as_ref(), Some(&expected));
    let second = found(behind).await.unwrap();
    assert_eq!((second.accepted, second.queued, second.entries), (at(500), queued(Progress::default(), None), vec![]));

    let claimed = claim(store, at(1000)).await.remove(0);
    let origin = RequestOrigin { asked_by: Some("token-7".to_owned()), ..RequestOrigin::default() };
    let progress = Progress { tries: 3, waiting_for: Some(WaitingFor::Secondary), origin, ..Progress::default() };
    let mut waits = record(&claimed, Outcome::Waits { progress: progress.clone(), until: at(1100) });
    waits.entries = vec![entry(request, Action::Publish, ActionState::Processing, at(600))];
    store.record(waits.clone()).await.unwrap();
    expected.entries.extend(waits.entries.clone());
    expected.asked_by = Some("token-7".to_owned());
    expected.queued = queued(progress, Some(at(1100)));
    assert_eq!(found(request).await.as_ref(), Some(&expected));

    let claimed = claim(store, at(1100)).await.remove(0);
    let mut end = record(&claimed, Outcome::Finished);
    end.entries = vec![
        entry(request, Action::Publish, ActionState::Done, at(1101)),
        entry(request, Action::Bump, ActionState::Done, at(1102)),
    ];
    store.record(end.clone()).await.unwrap();
    expected.entries.extend(end.entries);
    expected.queued = None;
    assert_eq!(found(request).await.as_ref(), Some(&expected));
    let next = claim(store, at(1200)).await.remove(0);
    let mut end = record(&next, Outcome::Finished);
    end.entries = vec![LogEntry::failed(behind, at(1201), Action::Update, Code::GivenUp, json!({"message": "å"}))];
    store.record(end.clone()).await.unwrap();
    let second = found(behind).await.unwrap();
    assert_eq!((second.accepted, second.queued, second.entries), (at(500), None, end.entries));
    assert_eq!(found(request).await.as_ref(), Some(&expected), "later requests change nothing about it");

    assert_eq!(found(id(9999)).await, None);
    assert_eq!(store.request(Scope::Dealer("south"), request).await.unwrap(), None);
    let group = ["south".to_owned(), "north".to_owned()];
    assert_eq!(store.request(Scope::Dealers(&group), request).await.unwrap(), Some(expected));
}

async fn a_record_applies_everything_at_once(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let image = stored_image(1);
    assert_eq!(claimed.image_sources, ImageSources::default());
    let validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    let sources = ImageSources::from([(image.url.clone(), ImageSource { bytes: 7, validators })]);
    let left =
        Leftover { delete: true, promotion: Some(plan(Action::Bump)), ..Leftover::publishing(vec![Market::Secondary]) };
    let mut done = record(&claimed, Outcome::Finished);
    done.entries = vec![
        entry(claimed.request.id, Action::Create, ActionState::Done, at(600)),
        LogEntry::failed(claimed.request.id, at(600), Action::Publish, Code::HeldByImages, json!("Not published")),
    ];
    done.change = AdChange {
        state: Some(AdState::Deleted),
        intent: Some(AdState::Deleted),
        image_refs: Some(vec![image.clone()]),
        listings: vec![(Market::Primary, "p1".into()), (Market::Secondary, "s1".into())],
        pole_position_until: Some(Some(at(700))),
        image_sources: Some(sources.clone()),
        leftover: Some(left.clone()),
    };
    store.record(done.clone()).await.unwrap();
    let (stored, log) = find(store, &ad).await;
    let changed = &stored.ad;
    assert_eq!((changed.state, stored.intent, changed.updated), (AdState::Deleted, AdState::Deleted, at(600)));
    assert_eq!((changed.marketplace_ad_id.as_deref(), changed.offer_id.as_deref()), (Some("p1"), Some("s1")));
    assert_eq!(changed.image_refs, [image]);
    assert_eq!((stored.pole_position_until, stored.leftover), (Some(at(700)), left));
    assert_eq!(log[1..], done.entries);
    assert!(!store.is_live(ad.id).await.unwrap());
    assert!(claim(store, at(5000)).await.is_empty(), "it is finished");
    assert!(!store.has_unfinished(ad.id).await.unwrap());
    revise(store, &ad, stored.revision, 9).await.unwrap();
    assert!(store.has_unfinished(ad.id).await.unwrap());
    assert_eq!(claim(store, at(6000)).await[0].image_sources, sources);
}

async fn every_change_of_the_worker_moves_updated(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let goes = || Outcome::Continues { progress: Progress::default() };
    store.record(record(&claimed, goes())).await.unwrap();
    assert_eq!(find(store, &ad).await.0.ad.updated, ad.updated, "nothing has changed");
    for (seconds, change) in (1..).zip([
        AdChange { pole_position_until: Some(None), ..AdChange::default() },
        AdChange { intent: Some(AdState::Created), ..AdChange::default() },
        AdChange { leftover: Some(Leftover::default()), ..AdChange::default() },
    ]) {
        store.record(Record { change, at: at(600 + seconds), ..record(&claimed, goes()) }).await.unwrap();
        assert_eq!(find(store, &ad).await.0.ad.updated, at(600 + seconds));
    }
}

/// Writes on an ad without content, one after the other until one is refused.
async fn fill(store: &dyn Store, ad: &Ad, numbers: impl Iterator<Item = u128>) -> StoreError {
    for number in numbers {
        let (stored, _) = find(store, ad).await;
        if let Err(error) = revise(store, ad, stored.revision, number).await {
            return error;
        }
    }
    unreachable!("one is refused")
}

async fn an_ad_has_at_most_a_hundred_unfinished_requests_and_one_deletion(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    create(store, &self::ad(2, "north", "b")).await.unwrap();
    let refused = fill(store, &ad, 2000..).await;
    assert!(matches!(refused, StoreError::QueueFull(100)), "{refused:?}");
    let (full, log) = find(store, &ad).await;
    assert_eq!((full.revision, log.len()), (99, 1), "what was refused has changed nothing");
    assert!(matches!(revise(store, &ad, full.revision - 1, 3000).await, Err(StoreError::Conflict)));

    let request = Request::new(id(4000), Some(plan(Action::Delete)), at(500));
    let delete = Revision {
        ad: ad.id,
        dealer_code: &ad.dealer_code,
        revision: full.revision,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: Some(AdState::Deleted),
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(501),
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(delete).await.unwrap();
    assert!(matches!(revise(store, &ad, full.revision + 1, 4001).await, Err(StoreError::QueueFull(101))));
    for _ in 0..2 {
        let mine = claim(store, at(1000)).await.into_iter().find(|claimed| claimed.stored.ad.id == ad.id).unwrap();
        finish(store, &mine).await;
    }
    revise(store, &ad, full.revision + 1, 4002).await.unwrap();
}

async fn of_many_writes_at_once_no_more_than_a_hundred_are_unfinished(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let ad = &ad;
    let many = |first: u128| async move {
        for number in first..first + 30 {
            let (stored, _) = find(store, ad).await;
            // A conflict is no wrong answer either; it is only not accepted.
            drop(revise(store, ad, stored.revision, number).await);
        }
    };
    join_all((0..8).map(|part| many(2000 + part * 30))).await;
    fill(store, ad, 3000..).await;
    assert_eq!(store.usage("north", Usage::Requests, 1000).await.unwrap(), 100);
}

async fn what_a_dealer_has_is_counted(store: &dyn Store) {
    for (number, dealer) in [(1, "north"), (2, "north"), (3, "south")] {
        create(store, &ad(number, dealer, &number.to_string())).await.unwrap();
    }
    let first = ad(1, "north", "1");
    revise(store, &first, 0, 2000).await.unwrap();
    let used = async |dealer, of, at_most| store.usage(dealer, of, at_most).await.unwrap();
    assert_eq!(used("north", Usage::Requests, 100).await, 3);
    assert_eq!(used("north", Usage::Requests, 2).await, 2, "counting ends there");
    assert_eq!((used("south", Usage::Requests, 9).await, used("east", Usage::Requests, 9).await), (1, 0));
    assert_eq!((used("north", Usage::Ads, 100).await, used("north", Usage::Ads, 1).await), (2, 1));
    let all = ["north", "east", "south"].map(str::to_owned);
    let count = async |scope| store.ads_by_dealer(scope).await.unwrap().into_iter().collect::<BTreeMap<_, _>>();
    assert_eq!(count(Scope::Dealers(&all)).await, [("north".to_owned(), 2), ("south".to_owned(), 1)].into());
    assert_eq!(count(Scope::Dealer("north")).await, [("north".to_owned(), 2)].into());
    for claimed in claim(store, at(1000)).await {
        let change = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
        store.record(Record { change, ..record(&claimed, Outcome::Finished) }).await.unwrap();
    }
    assert_eq!((used("north", Usage::Ads, 9).await, used("north", Usage::Requests, 9).await), (0, 1));
    assert_eq!(count(Scope::Dealers(&all)).await, [].into(), "deleted ads are not counted");

    assert!(store.add_dealer_image("north", "aa", 7).await.unwrap());
    assert!(!store.add_dealer_image("north", "aa", 7).await.unwrap(), "the same image");
    assert!(
        store.add_dealer_image("north", "bb", 5).await.unwrap()
            && store.add_dealer_image("south", "aa", 7).await.unwrap()
    );
    assert_eq!((used("north", Usage::ImageBytes, 0).await, used("south", Usage::ImageBytes, 0).await), (12, 7));
    assert!(
        store.has_dealer_image("north", "bb").await.unwrap() && !store.has_dealer_image("south", "bb").await.unwrap()
    );
}

async fn what_a_cleared_mileage_was_comes_back(store: &dyn Store) {
    let mut ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    ad.content = Content::stored(r#"{"cleared_mileage":"zero","title":"Volvo"}"#.to_owned()).unwrap();
    revise(store, &ad, 0, 2000).await.unwrap();
    let (stored, _) = find(store, &ad).await;
    assert_eq!(stored.ad.content.cleared_mileage(), ad.content.cleared_mileage());
    assert!(stored.ad.content.cleared_mileage().is_some());
    assert_eq!(json!(stored.ad.content), json!({"title": "Volvo"}));
}

fn failure() -> ChannelFailure {
    ChannelFailure { code: Code::MarketplaceBusy, reason: "429 \0 å".to_owned(), attempts: 2, paused: true }
}

async fn every_commit_sets_the_status(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let shown = async || {
        let stored = find(store, &ad).await.0;
        let facts = store.facts(Scope::Dealer("north"), "a").await.unwrap().remove(0);
        assert_eq!(facts.stored, stored);
        let counts = store.count_by_status(Scope::Dealer("north")).await.unwrap();
        assert_eq!(counts, [StatusCount { words: stored.words, category_id: 1020, ads: 1 }]);
        assert!(store.count_by_status(Scope::Dealer("south")).await.unwrap().is_empty());
        (stored.words.status, stored.words.channels(), stored.status_since, stored.tag.n, facts.unfinished.len())
    };
    let processing = "processing processing -".to_owned();
    assert_eq!(shown().await, (AdStatus::Processing, processing.clone(), ad.created, 1, 1));

    // An attempt has failed.
    let waiting = StatusWords {
        status: AdStatus::Waiting,
        primary: Some(ChannelStatus::Live),
        secondary: Some(ChannelStatus::Paused),
        failure: Some(Code::MarketplaceBusy),
    };
    let claimed = claim(store, at(1000)).await.remove(0);
    let outcome = Outcome::Waits { progress: Progress::default(), until: at(2000) };
    store.record(Record { words: waiting, ..record(&claimed, outcome) }).await.unwrap();
    let waits = "live paused marketplace_busy".to_owned();
    assert_eq!(shown().await, (AdStatus::Waiting, waits.clone(), at(600), 2, 1), "and the tag moves");

    // A further request does not change that; when the first one is finished, it is under way.
    revise(store, &ad, 0, 2001).await.unwrap();
    assert_eq!(shown().await, (AdStatus::Waiting, waits, at(600), 2, 2));
    let live = StatusWords {
        status: AdStatus::Live,
        primary: Some(ChannelStatus::Live),
        secondary: Some(ChannelStatus::Live),
        failure: None,
    };
    let claimed = claim(store, at(2000)).await.remove(0);
    let channel = PublishedChannel { listed: true, since: at(2000), failure: Some(failure()) };
    let publication = Publication { channels: [(Market::Secondary, channel)].into(), ..Publication::default() };
    let mut end = record(&claimed, Outcome::Finished);
    (end.words, end.publication, end.at) = (live, Some(publication.clone()), at(2001));
    end.entries = vec![entry(claimed.request.id, Action::Publish, ActionState::Done, at(2001))];
    let updated = find(store, &ad).await.0.ad.updated;
    store.record(end).await.unwrap();
    assert_eq!(shown().await, (AdStatus::Processing, processing.clone(), at(2001), 3, 1), "the entry moves the tag");
    let stored = find(store, &ad).await.0;
    assert_eq!((stored.publication, stored.ad.updated), (publication.clone(), updated));

    let claimed = claim(store, at(3000)).await.remove(0);
    assert_eq!(claimed.stored.publication, publication);
    let end = Record { words: live, at: at(3001), ..record(&claimed, Outcome::Finished) };
    store.record(end).await.unwrap();
    assert_eq!(shown().await, (AdStatus::Live, "live live -".to_owned(), at(3001), 4, 0));
    revise(store, &ad, 1, 2002).await.unwrap();
    let (status, channels, since, ..) = shown().await;
    let accepted = find(store, &ad).await.0.ad.updated;
    assert_eq!((status, channels, since), (AdStatus::Processing, "- - -".to_owned(), accepted), "as the revision says");
}

async fn every_commit_sets_the_quality_score(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let listed = async |filters: &[AdFilter], quality| {
        let query = AdQuery {
            filters: filters.to_vec(),
            included: Included { quality, ..Included::default() },
            ..AdQuery::default()
        };
        store.list(Scope::Dealer("north"), &query).await.unwrap().rows
    };
    let has = async |score: u8| {
        let at_least = |score| AdFilter::QualityScore(Bound::Gte, score);
        let below = |score| AdFilter::QualityScore(Bound::Lt, score);
        assert_eq!(listed(&[below(score)], false).await, [], "below {score}");
        assert_eq!(listed(&[at_least(score + 1)], false).await, [], "above {score}");
        assert_eq!(listed(&[at_least(score), below(score + 1)], false).await.len(), 1, "{score}");
    };
    has(ad_core::quality::score(&ad, &[])).await;

    let request = Request::new(id(2001), Some(plan(Action::Update)), at(500));
    let revision = Revision {
        ad: ad.id,
        dealer_code: "north",
        revision: 0,
        content: Some(&ad.content),
        quality_score: Some(40),
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(500),
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(revision).await.unwrap();
    has(40).await;
    revise(store, &ad, 1, 2002).await.unwrap();
    has(40).await;

    // The worker knows what became of the images, unless the ad has other content by now.
    let scored = |claimed: &Claimed, score| Some(ContentScore { revision: claimed.stored.tag.revision, score });
    let first = claim(store, at(1000)).await.remove(0);
    let failed = FailedImage {
        url: "https://a/1".into(),
        error: "404".into(),
        code: Code::ImageFailed,
        flaw: None,
        attempts: 1,
    };
    let publication = Publication { failed_images: vec![failed.clone()], ..Publication::default() };
    let goes = Outcome::Continues { progress: Progress::default() };
    let images =
        Record { publication: Some(publication), quality_score: scored(&first, 30), ..record(&first, goes.clone()) };
    store.record(images).await.unwrap();
    has(30).await;
    assert_eq!(listed(&[], true).await[0].failed_images, [failed]);
    assert_eq!(listed(&[], false).await[0].failed_images, []);
    revise(store, &ad, 2, 2003).await.unwrap();
    let words = StatusWords { status: AdStatus::Waiting, ..StatusWords::default() };
    for outcome in [goes, Outcome::Finished] {
        store.record(Record { quality_score: scored(&first, 20), words, ..record(&first, outcome) }).await.unwrap();
        has(30).await;
    }
    let second = claim(store, at(1000)).await.remove(0);
    store.record(Record { quality_score: scored(&second, 10), ..record(&second, Outcome::Finished) }).await.unwrap();
    has(10).await;
    finish(store, &claim(store, at(1000)).await.remove(0)).await;
    has(10).await;
}

async fn contents_are_filtered_as_they_are_stored(store: &dyn Store) {
    let price = |kind: &str, amount: &str| json!({"type": kind, "amount": amount.parse::<serde_json::Number>().unwrap(), "currency": "SEK"});
    let photos = |count: u32| json!((0..count).map(|number| format!("https://a/{number}.jpg")).collect::<Vec<_>>());
    let contents = [
        json!({"title": "a \0 b \\u0000", "price": [price("list", "200000")], "image_urls": photos(2), "category_fields": {"brand": "volvo"}}),
        // Buyers pay the reduced price, wherever it stands.
        json!({"price": [price("list", "250000"), price("leasing", "2000"), price("reduced", "199999.99")], "image_urls": photos(1),
            "category_fields": {"brand": "VOLVO"}}),
        // Neither leasing nor what is no amount is a price.
        json!({"price": [price("leasing", "3000"), price("monthly", "3000"), {"type": "list", "amount": "200000"}], "image_urls": photos(0),
            "category_fields": {"brand": null}}),
        json!({"price": [{"type": "reduced", "amount": null}, price("list", "2.0E5"), price("list", "1")], "image_urls": null}),
        json!({"price": [], "category_fields": {}}),
        json!({"price": [7, "x", null, [price("list", "200000")]], "category_fields": "none", "image_urls": "https://a/1.jpg"}),
        json!({"price": price("list", "200000"), "image_urls": {"0": "https://a/1.jpg"}, "category_fields": {"brand": "saab \0"}}),
        json!({}),
    ];
    for (number, content) in (1_u128..).zip(contents) {
        let content = Content::from(content.as_object().unwrap().clone());
        create(store, &Ad { content, ..ad(number, "north", &number.to_string()) }).await.unwrap();
    }
    create(store, &ad(9, "south", "south")).await.unwrap();
    let of = async |filters: &[AdFilter]| {
        let query =
            AdQuery { filters: filters.to_vec(), order: AdOrder::SourceId, descending: false, ..AdQuery::default() };
        let page = store.list(Scope::Dealer("north"), &query).await.unwrap();
        assert_eq!(page.count, page.rows.len() as u64, "{filters:?}");
        page.rows.into_iter().map(|listed| listed.ad.source_id).collect::<String>()
    };
    assert_eq!(of(&[AdFilter::Brand("volvo".to_owned())]).await, "1");
    assert_eq!(of(&[AdFilter::Brand("VOLVO".to_owned())]).await, "2");
    assert_eq!(of(&[AdFilter::Brand("none".to_owned())]).await, "");
    assert_eq!(of(&[AdFilter::Price(Bound::Gte, 200_000)]).await, "14");
    assert_eq!(of(&[AdFilter::Price(Bound::Lt, 200_000)]).await, "2");
    assert_eq!(of(&[AdFilter::Price(Bound::Gte, 0)]).await, "124", "those with a price");
    assert_eq!(of(&[AdFilter::Price(Bound::Gt, 199_999), AdFilter::Price(Bound::Lte, 200_000)]).await, "124");
    assert_eq!(of(&[AdFilter::ImageCount(Bound::Lt, 1)]).await, "345678");
    assert_eq!(of(&[AdFilter::ImageCount(Bound::Gte, 2)]).await, "1");
    assert_eq!(of(&[AdFilter::ImageCount(Bound::Lt, 3), AdFilter::Brand("volvo".to_owned())]).await, "1");
    assert_eq!(of(&[AdFilter::FailedImages(true)]).await, "");

    let first = claim(store, at(1000)).await.remove(0);
    assert_eq!(first.stored.ad.source_id, "1");
    let failed = FailedImage {
        url: "https://a/1".into(),
        error: "404 \0".into(),
        code: Code::ImageFailed,
        flaw: None,
        attempts: 1,
    };
    let publication = Publication { failed_images: vec![failed], ..Publication::default() };
    store.record(Record { publication: Some(publication), ..record(&first, Outcome::Finished) }).await.unwrap();
    assert_eq!(of(&[AdFilter::FailedImages(true)]).await, "1");
    assert_eq!(of(&[AdFilter::FailedImages(false), AdFilter::Price(Bound::Gte, 0)]).await, "24");

    // With other conditions, orders and pages.
    for (order, descending, expected) in [
        (AdOrder::Price, false, "35678214"),
        (AdOrder::Price, true, "41287653"),
        (AdOrder::QualityScore, true, "12345678"),
    ] {
        let query = AdQuery { order, descending, ..AdQuery::default() };
        let rows = store.list(Scope::Dealer("north"), &query).await.unwrap().rows;
        let mut ids: Vec<_> = rows.iter().map(|listed| listed.ad.source_id.clone()).collect();
        if order == AdOrder::QualityScore {
            let scores: Vec<_> = rows.iter().map(|listed| ad_core::quality::score(&listed.ad, &[])).collect();
            assert!(scores.is_sorted_by(|one, next| one >= next), "{scores:?}");
            ids.sort();
        }
        assert_eq!(ids.concat(), expected, "{order}");
    }
    let query = AdQuery {
        filters: vec![
            AdFilter::Price(Bound::Gte, 0),
            AdFilter::CategoryId(vec![1020]),
            AdFilter::Search("fin bil".to_owned()),
        ],
        page: Page { limit: 1, offset: 0 },
        ..AdQuery::default()
    };
    assert_eq!(store.list(Scope::Dealer("north"), &query).await.unwrap().count, 0, "none has such a text");
    let query = AdQuery {
        filters: vec![AdFilter::Price(Bound::Gte, 0), AdFilter::CategoryId(vec![1020])],
        page: Page { limit: 1, offset: 1 },
        ..AdQuery::default()
    };
    let page = store.list(Scope::Dealers(&["north".to_owned(), "south".to_owned()]), &query).await.unwrap();
    assert_eq!((page.count, page.rows[0].ad.source_id.as_str()), (3, "2"), "the newest but one");
}

async fn progress_survives(store: &dyn Store) {
    create(store, &ad(1, "north", "a")).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let progress = Progress {
        paid: Some(plan(Action::Bump)),
        origin: RequestOrigin {
            asked_by: Some("token-7".to_owned()),
            via: None,
            plan_id: Some(id(77)),
            trace: Some("00-1-2-01".to_owned()),
        },
        reason: Some("primary: timed out".to_owned()),
        code: Some(Code::MarketplaceUnreachable),
        waiting_for: Some(WaitingFor::Primary),
        ended: 1,
        begun: true,
        tries: 3,
        first_try: Some(at(900)),
        due: Some(at(950)),
        failures: [(Market::Secondary, failure())].into(),
        plan: Some(plan(Action::Publish)),
        store_tries: 2,
        store_first_try: Some(at(901)),
        reached: vec![Market::Primary],
        plate_matches: vec![PlateMatch {
            marketplace: Market::Primary,
            listing: "p1".into(),
            registration_number: "ABC123".into(),
            linked: true,
        }],
        stored: vec![StoredImage {
            shown: stored_image(8),
            source: Some(ImageSource { bytes: 9, validators: Validators::default() }),
        }],
        waiting_images: vec![FailedImage {
            url: "w".into(),
            error: "503".into(),
            code: Code::ImageFailed,
            flaw: Some(ImageFlaw::NoAnswer),
            attempts: 3,
        }],
        failed_images: vec![FailedImage {
            url: "v".into(),
            error: "404".into(),
            code: Code::ImageFailed,
            flaw: None,
            attempts: 1,
        }],
        changes: Some(ContentChange { fields: Vec::new(), left_out: 1 }),
    };
    store.record(record(&claimed, Outcome::Continues { progress: progress.clone() })).await.unwrap();
    let again = claim(store, at(1010)).await.remove(0);
    assert_eq!(again.request.progress, progress);
    assert_eq!(again.request.accepted, claimed.request.accepted);
}

async fn dealers_take_turns(store: &dyn Store) {
    for number in 1..=40 {
        create(store, &ad(number, "giant", &format!("g{number}"))).await.unwrap();
    }
    for (number, dealer) in [(50, "abc"), (51, "other"), (52, "zoo"), (53, "zoo")] {
        create(store, &ad(number, dealer, &number.to_string())).await.unwrap();
    }
    let (giant, zoo) = (["giant".to_owned()], ["zoo".to_owned()]);
    let mut taken = std::collections::BTreeMap::<String, usize>::new();
    let claim = async |capacity| store.claim(at(1000), at(1010), capacity).await.unwrap().claimed;
    for claimed in claim(Capacity { limit: 10, per_dealer: 4, full: &[], woken: false }).await {
        *taken.entry(claimed.stored.ad.dealer_code).or_default() += 1;
    }
    let expected = [("abc", 1), ("giant", 4), ("other", 1), ("zoo", 2)].map(|(code, number)| (code.to_owned(), number));
    assert_eq!(taken, expected.into());
    // Nobody else is waiting: the giant goes on, in the order in which it sent, but not when it has enough.
    assert_eq!(claim(Capacity { limit: 10, per_dealer: 4, full: &giant, woken: false }).await, []);
    let next = claim(Capacity { limit: 3, per_dealer: 4, full: &zoo, woken: false }).await;
    assert_eq!(next.iter().map(|it| it.stored.ad.id).collect::<Vec<_>>(), [id(5), id(6), id(7)]);
    // Also when a claim ended with the giant, nobody is passed over.
    create(store, &ad(60, "abc", "b")).await.unwrap();
    create(store, &ad(61, "zoo", "b")).await.unwrap();
    let next = claim(Capacity { limit: 6, per_dealer: 4, full: &[], woken: false }).await;
    let mut dealers: Vec<_> = next.iter().map(|it| it.stored.ad.dealer_code.as_str()).collect();
    dealers.sort_unstable();
    assert_eq!(dealers, ["abc", "giant", "giant", "giant", "giant", "zoo"]);
}

async fn what_was_written_by_a_clock_ahead_is_due_at_once(store: &dyn Store) {
    for number in 1..=3 {
        create(store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    // One is somebody's, one waits, one was accepted later than it is now.
    let late = Ad { created: at(9000), ..ad(4, "north", "4") };
    create(store, &late).await.unwrap();
    let claimed = claim(store, at(8000)).await;
    let waits = Outcome::Waits { progress: Progress::default(), until: at(8500) };
    store.record(record(&claimed[1], waits)).await.unwrap();
    finish(store, &claimed[2]).await;
    assert_eq!(claim(store, at(100)).await, []);
    store.release(at(100), at(10_000)).await.unwrap();
    assert_eq!(claim(store, at(100)).await, []);

    store.release(at(100), at(100)).await.unwrap();
    let again = claim(store, at(100)).await;
    assert_eq!(again.iter().map(|it| it.stored.ad.id).collect::<Vec<_>>(), [id(1), id(2), id(4)]);
    let stale = store.record(record(&claimed[0], Outcome::Finished)).await;
    assert!(matches!(stale, Err(StoreError::LeaseLost)), "{stale:?}");
}

/// At the very moment at which an ad's last request ends, the next one comes in.
async fn requests_that_come_in_while_others_end_are_all_handed_out(store: &dyn Store) {
    const ADS: u128 = 24;
    for number in 1..=ADS {
        create(store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    for round in 0..10 {
        let heads = claim(store, at(1000)).await;
        assert_eq!(heads.len(), usize::try_from(ADS).unwrap(), "in round {round}");
        let works = heads.iter().map(|head| async {
            let number = head.stored.ad.id.as_u128() - id(0).as_u128();
            let come_in = async {
                // A conflict is told to the service, which reads the ad again.
                revise(store, &head.stored.ad, head.stored.revision, 10_000 + 100 * round + number).await.unwrap();
            };
            join(finish(store, head), come_in).await;
        });
        join_all(works).await;
    }
    assert_eq!(claim(store, at(1000)).await.len(), usize::try_from(ADS).unwrap());
}

async fn of_many_writes_at_once_each_is_answered_for_itself(store: &dyn Store) {
    // Each source id is asked for three times; whoever comes first has it.
    let ads: Vec<Ad> = (0..90).map(|number| ad(number, "d1", &format!("s{}", number % 30))).collect();
    let created = join_all(ads.iter().map(|ad| create(store, ad))).await;
    for source_id in 0..30 {
        let outcomes: Vec<_> = created.iter().skip(source_id).step_by(30).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Err(StoreError::Duplicate))).count(), 2);
    }
    // Every third lease is lost; the others are recorded all the same, each on its own ad.
    let claimed = claim(store, at(1000)).await;
    assert_eq!(claimed.len(), 30);
    let records = claimed.iter().enumerate().map(|(number, claimed)| {
        let entry = entry(claimed.request.id, Action::Create, ActionState::Done, at(1000));
        let lease = claimed.lease - i64::from(number % 3 == 0);
        store.record(Record { lease, entries: vec![entry], ..record(claimed, Outcome::Finished) })
    });
    for (number, (outcome, claimed)) in join_all(records).await.iter().zip(&claimed).enumerate() {
        let is_lost = number % 3 == 0;
        assert_eq!(matches!(outcome, Err(StoreError::LeaseLost)), is_lost, "{outcome:?}");
        let (_, log) = find(store, &claimed.stored.ad).await;
        assert_eq!(log.len(), if is_lost { 1 } else { 2 });
        assert!(log.iter().all(|entry| entry.request_id == claimed.request.id));
    }
}

async fn any_text_comes_back(store: &dyn Store) {
    let texts = ["a\0b", "\0", "\u{10fffe}", "\u{10ffff}\0\u{10fffe}", "å\u{308}\n\t\"'\\", "日本 🚗"];
    for (number, text) in texts.iter().enumerate() {
        let mut ad = ad(number as u128 + 1, "north", text);
        ad.content = with_body(&ad, text);
        create(store, &ad).await.unwrap();
        let (stored, _) = find(store, &ad).await;
        assert_eq!(stored.ad, ad);
        assert!(store.is_used("north", text).await.unwrap());
        let query = [("source_id__in".to_owned(), (*text).to_owned())];
        let page = store.list(Scope::Dealer("north"), &AdQuery::parse(AD_PARAMETERS, &query).unwrap()).await.unwrap();
        assert_eq!(page.rows.iter().map(|listed| &listed.ad.source_id).collect::<Vec<_>>(), [text]);
        let holding = texts[..=number].iter().filter(|other| other.contains(text)).count() as u64;
        expect_found(store, &[("source_id__icontains", text)], holding).await;
    }
}

async fn only_the_latest_hundred_entries_come_with_an_ad(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let mut many = record(&claimed, Outcome::Finished);
    many.entries =
        (0..150).map(|second| entry(claimed.request.id, Action::Publish, ActionState::Done, at(second))).collect();
    store.record(many.clone()).await.unwrap();
    let (_, log) = find(store, &ad).await;
    assert_eq!(log, many.entries[50..], "the latest, oldest first");
    let mut query = AdQuery::default();
    query.included.log = true;
    let page = store.list(Scope::Dealer("north"), &query).await.unwrap();
    assert_eq!(page.rows[0].log, many.entries[50..]);
}

async fn a_listing_is_tied_to_one_live_ad(store: &dyn Store) {
    for number in 1..=3 {
        create(store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    let tie = async |number, market, listing| store.link_listing(id(number), market, listing).await.unwrap();
    assert!(tie(1, Market::Primary, "L").await);
    assert!(tie(1, Market::Primary, "L").await, "again is fine");
    assert!(!tie(2, Market::Primary, "L").await);
    assert!(tie(2, Market::Secondary, "L").await, "another marketplace's ids are others");
    let claimed = claim(store, at(1000)).await;
    let mut publish = record(&claimed[2], Outcome::Finished);
    publish.change.listings = vec![(Market::Primary, "M".to_owned())];
    store.record(publish).await.unwrap();
    assert!(!tie(2, Market::Primary, "M").await, "a live ad has it as its own");
    let mut delete = record(&claimed[0], Outcome::Finished);
    delete.change.state = Some(AdState::Deleted);
    store.record(delete).await.unwrap();
    assert!(tie(2, Market::Primary, "L").await, "a deleted ad's ties are free");
}

fn query(pairs: &[(&str, &str)]) -> AdQuery {
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    AdQuery::parse(AD_PARAMETERS, &pairs).unwrap()
}

async fn ids(store: &dyn Store, scope: Scope<'_>, pairs: &[(&str, &str)]) -> (u64, Vec<String>) {
    let page = store.list(scope, &query(pairs)).await.unwrap();
    (page.count, page.rows.into_iter().map(|listed| listed.ad.source_id).collect())
}

async fn lists_filter_order_and_page(store: &dyn Store) {
    for (number, dealer, source_id) in [(1, "north", "b"), (2, "north", "a"), (3, "south", "c"), (4, "north", "d")] {
        let mut ad = ad(number, dealer, source_id);
        if number == 4 {
            (ad.category_id, ad.created) = (1060, at(2));
        }
        create(store, &ad).await.unwrap();
    }
    let both = ["north".to_owned(), "south".to_owned()];
    let (north, both) = (Scope::Dealer("north"), Scope::Dealers(&both));
    let expect = async |scope, pairs: &[(&str, &str)], count, expected: &[&str]| {
        assert_eq!(
            ids(store, scope, pairs).await,
            (count, expected.iter().map(|id| (*id).to_owned()).collect()),
            "{pairs:?}"
        );
    };
    expect(north, &[], 3, &["d", "a", "b"]).await;
    expect(north, &[("ordering", "created")], 3, &["b", "a", "d"]).await;
    expect(both, &[("ordering", "source_id"), ("limit", "2"), ("offset", "1")], 4, &["b", "c"]).await;
    expect(both, &[("offset", "9")], 4, &[]).await;
    expect(both, &[("dealer_code", "south")], 1, &["c"]).await;
    expect(north, &[("dealer_code", "south")], 0, &[]).await;
    expect(Scope::Dealers(&[]), &[], 0, &[]).await;
    expect(both, &[("category_id", "1060")], 1, &["d"]).await;
    expect(both, &[("source_id__in", "a,c")], 2, &["c", "a"]).await;
    expect(both, &[("id", &id(3).to_string())], 1, &["c"]).await;
    expect(both, &[("registration_number", "plt 002")], 1, &["a"]).await;
    expect(both, &[("registration_number", "PLT004")], 0, &[]).await;
    expect(both, &[("state", "deleted")], 0, &[]).await;
    expect(both, &[("created__gt", &at(2).to_string())], 1, &["c"]).await;
    expect(both, &[("created__gte", &at(2).to_string()), ("ordering", "-source_id")], 3, &["d", "c", "a"]).await;
    expect(both, &[("updated__lte", &at(1).to_string())], 1, &["b"]).await;
}

async fn text_is_found_in_any_case(store: &dyn Store) {
    let mut first = ad(1, "north", "Lager-ÅÄÖ-1");
    first.content = with_body(&first, "Välskött FAMILJEBIL, 100% _ok_");
    create(store, &first).await.unwrap();
    create(store, &ad(2, "north", "other")).await.unwrap();
    let north = Scope::Dealer("north");
    for (name, value, count) in [
        ("search", "familjebil", 1),
        ("search", "VÄLSKÖTT", 1),
        ("search", "v60", 2),
        ("search", "100%", 1),
        ("search", "_ok", 1),
        ("search", "%", 1),
        ("search", "truck", 0),
        ("source_id__icontains", "lager-åäö", 1),
        ("source_id__icontains", "OTHE", 1),
    ] {
        assert_eq!(ids(store, north, &[(name, value)]).await.0, count, "{name}={value}");
    }
}

async fn expect_found(store: &dyn Store, pairs: &[(&str, &str)], count: u64) {
    assert_eq!(ids(store, Scope::Dealer("north"), pairs).await.0, count, "{pairs:?}");
}

async fn searched_text_is_plain_text(store: &dyn Store) {
    let text = "Å a*b \"citat\" 'NEAR(x y)' {col} : ^start AND 5-6 🚗 \\d";
    for (number, dealer) in [(1, "north"), (2, "south"), (3, "north")] {
        let mut ad = ad(number, dealer, &format!("Id%_\"{number}*"));
        if number < 3 {
            ad.content = with_body(&ad, text);
        }
        create(store, &ad).await.unwrap();
    }
    for term in
        ["å", "Å ", "*", "a*b", "\"citat\"", "'near(", "{COL} :", "^start", "start and 5", "-6", "🚗", " 🚗 \\", "\\d"]
    {
        expect_found(store, &[("search", term)], 1).await;
    }
    for term in ["a%b", "start OR", "a b", "col*", "citat citat", "NEAR(y x)", "å*"] {
        expect_found(store, &[("search", term)], 0).await;
    }
    // Title, a line feed, body: as one text.
    expect_found(store, &[("search", "60 1\nå a")], 1).await;
    expect_found(store, &[("search", "60 1å")], 0).await;
    expect_found(store, &[("search", "")], 2).await;
    for (part, count) in [("id%_\"", 2), ("\"3*", 1), ("%_", 2), ("*", 2), ("d__", 0), ("id\"", 0)] {
        expect_found(store, &[("source_id__icontains", part)], count).await;
    }
    expect_found(store, &[("source_id__icontains", "id%"), ("search", "citat")], 1).await;
    let both = ["north".to_owned(), "south".to_owned()];
    assert_eq!(ids(store, Scope::Dealers(&both), &[("search", "citat")]).await.0, 2);
    assert_eq!(ids(store, Scope::Dealers(&both), &[("search", "å"), ("dealer_code", "south")]).await.0, 1);
    assert_eq!(ids(store, Scope::Dealers(&[]), &[("search", "citat")]).await.0, 0);
}

async fn a_changed_text_is_found_and_the_old_one_is_not(store: &dyn Store) {
    let mut ad = ad(1, "north", "a");
    ad.content = with_body(&ad, "Nybesiktigad");
    create(store, &ad).await.unwrap();
    ad.content = with_body(&ad, "Renoveringsobjekt");
    revise(store, &ad, 0, 2001).await.unwrap();
    // At once, which is more than a store owes (decision 2: within a second).
    expect_found(store, &[("search", "RENOVERING")], 1).await;
    expect_found(store, &[("search", "besiktigad")], 0).await;
    expect_found(store, &[("search", "v60")], 1).await;
    for claimed in claim(store, at(1000)).await {
        let mut delete = record(&claimed, Outcome::Finished);
        delete.change.state = Some(AdState::Deleted);
        store.record(delete).await.unwrap();
    }
    expect_found(store, &[("search", "renovering"), ("state", "deleted")], 1).await;
}

async fn what_was_found_is_ordered_and_paged(store: &dyn Store) {
    for number in 1..=9 {
        let mut ad = ad(number, "north", &format!("ref-{}", 10 - number));
        if number % 3 == 0 {
            ad.content = with_body(&ad, "Samlarobjekt");
        }
        create(store, &ad).await.unwrap();
    }
    for (order, expected) in
        [("created", ["ref-4", "ref-1"]), ("-updated", ["ref-4", "ref-7"]), ("source_id", ["ref-4", "ref-7"])]
    {
        let pairs = [("search", "SAMLAR"), ("ordering", order), ("limit", "2"), ("offset", "1")];
        assert_eq!(
            ids(store, Scope::Dealer("north"), &pairs).await,
            (3, expected.map(str::to_owned).to_vec()),
            "{order}"
        );
    }
    let updated = at(4).to_string();
    for order in ["created", "updated", "source_id"] {
        expect_found(store, &[("search", "samlar"), ("updated__gt", &updated), ("ordering", order)], 2).await;
    }
}

/// Waits until lists with `q` know what was written; they may be a second behind.
async fn expect_words(store: &dyn Store, scope: Scope<'_>, pairs: &[(&str, &str)], count: u64) {
    let found = || async { (ids(store, scope, pairs).await.0 == count).then_some(()) };
    eventually(&format!("{count} by {pairs:?} in {scope:?}"), found).await;
}

async fn ads_are_found_by_words_in_any_order(store: &dyn Store) {
    for (number, dealer, source_id) in [
        (1, "north", "Lager-0012"),
        (2, "south", "Lager-0013"),
        (3, "north", "b%_'\"\\"),
        (4, "o'x\\/ y", "Lager-0014"),
    ] {
        let mut ad = ad(number, dealer, source_id);
        (ad.marketplace_ad_id, ad.offer_id) = (Some(format!("MP-77{number}")), Some(format!("OFF88{number}")));
        if number != 2 {
            let mut content = ad.content.fields().clone();
            content.insert("title".to_owned(), json!(format!("Citroën C{number} Välskött")));
            ad.content = Content::from(content);
        }
        create(store, &ad).await.unwrap();
    }
    let both = ["north".to_owned(), "south".to_owned()];
    let (north, both) = (Scope::Dealer("north"), Scope::Dealers(&both));
    expect_words(store, north, &[("q", "citroen")], 2).await;
    expect_words(store, both, &[("q", "lager")], 2).await;
    for (q, count) in [
        ("VALSKOTT citroën", 2),
        ("välsk c1", 1),
        ("c1 c3", 0),
        ("alskott", 0),
        ("lager-0012", 1),
        ("LAGER0012", 1),
        ("0012", 1),
        ("lager c1", 1),
        ("plt 001", 1),
        ("plt001", 1),
        ("PLT00", 2),
        ("plt 0 citro", 2),
        ("003 plt", 0),
        ("mp-771", 1),
        ("MP77", 2),
        ("off881", 1),
        ("ff881", 0),
        ("b%_'\"\\", 1),
        ("* OR \"NEAR(\" :* & | ! ' \\ # c1", 0),
        ("c1 * ( ) \" ' \\ # : & | !", 1),
        ("", 2),
        ("---", 2),
    ] {
        expect_words(store, north, &[("q", q)], count).await;
    }
    expect_words(store, both, &[("q", "lager"), ("dealer_code", "south")], 1).await;
    expect_words(store, both, &[("q", "lager"), ("source_id", "Lager-0013")], 1).await;
    expect_words(store, both, &[("q", "lager"), ("search", "citroën")], 1).await;
    expect_words(store, both, &[("q", "citroen"), ("ordering", "source_id"), ("limit", "1"), ("offset", "1")], 2).await;
    expect_words(store, both, &[("q", "citroen"), ("state", "deleted")], 0).await;
    expect_words(store, Scope::Dealers(&[]), &[("q", "citroen")], 0).await;
    expect_words(store, Scope::Dealer("o'x\\/ y"), &[("q", "citroen c4")], 1).await;
}

async fn words_that_have_changed_are_found_within_a_second(store: &dyn Store) {
    let north = Scope::Dealer("north");
    let mut ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    expect_words(store, north, &[("q", "v60")], 1).await;
    let mut content = ad.content.fields().clone();
    content.insert("title".to_owned(), json!("Saab 900"));
    ad.content = Content::from(content);
    revise(store, &ad, 0, 2001).await.unwrap();
    expect_words(store, north, &[("q", "saab")], 1).await;
    expect_words(store, north, &[("q", "v60")], 0).await;
    for claimed in claim(store, at(1000)).await {
        let mut delete = record(&claimed, Outcome::Finished);
        delete.change.state = Some(AdState::Deleted);
        delete.change.listings = vec![(Market::Primary, "Listing-5".to_owned())];
        store.record(delete).await.unwrap();
    }
    expect_words(store, north, &[("q", "saab listing"), ("state", "deleted")], 1).await;
}

async fn logs_filter_order_and_page(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    let request = create(store, &ad).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let mut more = record(&claimed, Outcome::Finished);
    more.entries = vec![
        entry(request, Action::Create, ActionState::Done, at(2)),
        entry(id(9), Action::Publish, ActionState::Processing, at(2)),
        LogEntry::failed(id(9), at(2), Action::Publish, Code::MarketplaceBusy, json!("Busy")),
    ];
    store.record(more).await.unwrap();
    for (pairs, count, first) in [
        (vec![], 4, Action::Create),
        (vec![("ordering", "-created")], 4, Action::Publish),
        (vec![("action", "publish")], 2, Action::Publish),
        (vec![("state", "done")], 1, Action::Create),
        (vec![("action", "publish"), ("limit", "1"), ("offset", "1")], 2, Action::Publish),
        (vec![("request_id", &*id(9).to_string())], 2, Action::Publish),
    ] {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let page = store.log(ad.id, &LogQuery::parse(LOG_PARAMETERS, &pairs).unwrap()).await.unwrap();
        assert_eq!((page.count, page.rows[0].action), (count, first), "{pairs:?}");
        let failed = |entry: &LogEntry| entry.state == ActionState::Error;
        for entry in &page.rows {
            assert_eq!(entry.code, failed(entry).then_some(Code::MarketplaceBusy), "{pairs:?}");
        }
    }
}

/// The source ids of each page of a list, by following its pages.
async fn pages(store: &dyn Store, pairs: &[(&str, &str)], count: u64) -> Vec<Vec<String>> {
    let mut pages: Vec<Vec<String>> = Vec::new();
    loop {
        let offset = pages.iter().map(Vec::len).sum::<usize>();
        let (all, page) =
            ids(store, Scope::Dealer("north"), &[pairs, &[("offset", &*offset.to_string())]].concat()).await;
        assert_eq!(all, count, "{pairs:?}");
        if page.is_empty() {
            return pages;
        }
        pages.push(page);
    }
}

async fn a_page_ends_at_its_most_bytes_and_the_next_begins_behind_it(store: &dyn Store) {
    let body = "x".repeat(1024 * 1024);
    for number in 1..=20 {
        let mut ad = ad(number, "north", &format!("{number:02}"));
        // One that is longer than a page may be.
        let body = if number == 12 { body.repeat(9) } else { body.clone() };
        ad.content = with_body(&ad, &body);
        create(store, &ad).await.unwrap();
    }
    let expected: Vec<String> = (1..=20).map(|number| format!("{number:02}")).collect();
    for (order, pairs) in
        [("created", vec![]), ("-created", vec![("fields", "title")]), ("source_id", vec![("include", "log")])]
    {
        let pairs = [&pairs[..], &[("ordering", order), ("limit", "500")]].concat();
        let mut pages = pages(store, &pairs, 20).await;
        assert!(pages.contains(&vec!["12".to_owned()]), "one row may be longer: {pages:?}");
        let longest = pages.iter().map(Vec::len).max().unwrap();
        assert_eq!(longest, 7, "as many as there is room for: {pages:?}");
        if order.starts_with('-') {
            pages.reverse();
            for page in &mut pages {
                page.reverse();
            }
        }
        assert_eq!(pages.concat(), expected, "each row once and in order");
    }
    // What is not asked for does not count.
    let page = pages(store, &[("fields", "id,state,image_refs"), ("limit", "500"), ("ordering", "created")], 20).await;
    assert_eq!(page, [expected]);
    let few = pages(store, &[("limit", "3"), ("ordering", "created")], 20).await;
    assert_eq!(few[..4].iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 2], "the limit counts as well");
}

async fn a_page_of_a_log_ends_at_its_most_bytes(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    create(store, &self::ad(2, "north", "b")).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let mut many = record(&claimed, Outcome::Finished);
    let long = "x".repeat(usize::try_from(PAGE_BYTES).unwrap() / 50);
    let published = |second| LogEntry {
        external_message: json!({"message": long, "number": second}),
        ..entry(claimed.request.id, Action::Publish, ActionState::Done, at(second))
    };
    many.entries = (0..120).map(published).collect();
    store.record(many.clone()).await.unwrap();
    for order in ["created", "-created"] {
        let mut seen = Vec::new();
        while seen.len() < 120 {
            let (offset, action) = (seen.len().to_string(), "publish".to_owned());
            let pairs =
                [("offset", offset), ("action", action), ("limit", "500".to_owned()), ("ordering", order.to_owned())];
            let query = LogQuery::parse(LOG_PARAMETERS, &pairs.map(|(name, value)| (name.to_owned(), value))).unwrap();
            let page = store.log(ad.id, &query).await.unwrap();
            assert_eq!(page.count, 120);
            assert!((1..50).contains(&page.rows.len()), "{} rows", page.rows.len());
            seen.extend(page.rows);
        }
        if order == "-created" {
            seen.reverse();
        }
        assert_eq!(seen, many.entries, "each entry once and in order");
    }
    // The log of an ad counts in a list that includes it.
    let with_log = pages(store, &[("include", "log"), ("ordering", "created")], 2).await;
    assert_eq!(with_log, [["a"], ["b"]]);
    let without = pages(store, &[("ordering", "created")], 2).await;
    assert_eq!(without, [["a", "b"]]);
}

/// The answer to request `number` under a key of a dealer.
fn answer(number: u128, key: &str) -> KeptAnswer {
    KeptAnswer {
        key: AnswerKey { holder: "dealer_code north".to_owned(), digest: key.to_owned() },
        fingerprint: format!("of {number}"),
        request_id: id(number),
        accepted: at(i64::try_from(number).unwrap()),
        answer: format!(
            "201\n[[\"etag\",\"\\\"0.1\\\"\"]]\n{}",
            json!({"body": "å\u{0}\"", "number": number.to_string()})
        ),
    }
}

async fn create_keyed(store: &dyn Store, ad: &Ad, answer: &KeptAnswer) -> Result<(), StoreError> {
    let request = Request::new(answer.request_id, Some(plan(Action::Create)), ad.created);
    let entry = entry(request.id, Action::Create, ActionState::Processing, ad.created);
    store.create(NewAd { ad, request: &request, entry: &entry, answer: Some(answer) }).await
}

/// A request that changes nothing about an ad but its time.
async fn promote(
    store: &dyn Store,
    ad: &Ad,
    revision: i64,
    request: &Request,
    answer: Option<&KeptAnswer>,
) -> Result<(), StoreError> {
    let revision = Revision {
        ad: ad.id,
        dealer_code: &ad.dealer_code,
        revision,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(500),
        request,
        coalesces: true,
        reservation: None,
        answer,
    };
    store.revise(revision).await
}

fn key_used(written: Result<(), StoreError>, by: &KeptAnswer) {
    let Err(StoreError::KeyUsed(kept)) = written else { panic!("{written:?}") };
    assert_eq!(&*kept, by);
}

async fn an_answer_is_kept_with_its_write_and_keeps_the_key(store: &dyn Store) {
    let first = ad(1, "north", "a");
    let kept = answer(1001, "one");
    create_keyed(store, &first, &kept).await.unwrap();
    assert_eq!(store.kept_answer(&kept.key).await.unwrap().as_ref(), Some(&kept));
    // The same again, another ad, and a change.
    key_used(create_keyed(store, &ad(2, "north", "a"), &answer(1002, "one")).await, &kept);
    key_used(create_keyed(store, &ad(3, "north", "b"), &answer(1003, "one")).await, &kept);
    let bump = Request::new(id(1004), Some(plan(Action::Bump)), at(500));
    key_used(promote(store, &first, 0, &bump, Some(&answer(1004, "one"))).await, &kept);
    key_used(promote(store, &first, 7, &bump, Some(&answer(1004, "one"))).await, &kept);
    key_used(store.keep_answer(first.id, &answer(1005, "one")).await, &kept);
    assert!(!store.is_used("north", "b").await.unwrap());
    assert_eq!(claim(store, at(1000)).await.len(), 1, "nothing else was accepted");

    let other = answer(1006, "two");
    promote(store, &first, 0, &bump, Some(&other)).await.unwrap();
    assert_eq!(store.kept_answer(&other.key).await.unwrap(), Some(other));
    let elsewhere = AnswerKey { holder: "dealer_group north".to_owned(), ..kept.key.clone() };
    assert_eq!(store.kept_answer(&elsewhere).await.unwrap(), None);
    store.keep_answer(first.id, &KeptAnswer { key: elsewhere, ..answer(1007, "one") }).await.unwrap();
    assert_eq!(store.usage("dealer_code north", Usage::Answers, 10).await.unwrap(), 2);
}

async fn a_refused_write_keeps_no_answer(store: &dyn Store) {
    let first = ad(1, "north", "a");
    create(store, &first).await.unwrap();
    let refused = [answer(1002, "one"), answer(1003, "two")];
    assert!(matches!(create_keyed(store, &ad(2, "north", "a"), &refused[0]).await, Err(StoreError::Duplicate)));
    let bump = Request::new(id(1003), Some(plan(Action::Bump)), at(500));
    assert!(matches!(promote(store, &first, 7, &bump, Some(&refused[1])).await, Err(StoreError::Conflict)));
    for refused in refused {
        assert_eq!(store.kept_answer(&refused.key).await.unwrap(), None);
    }
}

async fn of_many_writes_with_one_key_one_is_accepted(store: &dyn Store) {
    // Different ads, so that nothing but the key refuses the others.
    let write = async |number: u128| {
        create_keyed(store, &ad(number, "north", &number.to_string()), &answer(1000 + number, "one")).await
    };
    let written = join_all((1..=40).map(write)).await;
    assert_eq!(written.iter().filter(|written| written.is_ok()).count(), 1);
    let refused = written.iter().filter_map(|written| match written {
        Err(StoreError::KeyUsed(kept)) => Some(kept.request_id),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused.len(), 39, "{written:?}");
    let claimed = claim(store, at(1000)).await;
    assert_eq!(claimed.len(), 1);
    assert!(refused.iter().all(|first| *first == claimed[0].request.id));
}

async fn answers_are_removed_by_age(store: &dyn Store) {
    let of = ad(1, "north", "a");
    create_keyed(store, &of, &answer(1, "1")).await.unwrap();
    for number in 2..=5 {
        store.keep_answer(of.id, &answer(number, &number.to_string())).await.unwrap();
    }
    assert_eq!(store.remove_answers(at(4), 2).await.unwrap(), 2);
    assert_eq!(store.remove_answers(at(4), 2).await.unwrap(), 1);
    assert_eq!(store.remove_answers(at(4), 2).await.unwrap(), 0);
    assert_eq!(store.usage("dealer_code north", Usage::Answers, 10).await.unwrap(), 2);
    store.keep_answer(of.id, &answer(9, "1")).await.unwrap();
}

async fn answers_of_a_holder_are_removed_by_size(store: &dyn Store) {
    let of = ad(1, "north", "a");
    let large = |number: u128, key: &str| {
        let text = incompressible_text(u64::try_from(number).unwrap(), 6400);
        KeptAnswer { answer: format!("201\n[]\n{text}"), ..answer(number, key) }
    };
    create_keyed(store, &of, &large(1, "1")).await.unwrap();
    for number in 2..=6 {
        store.keep_answer(of.id, &large(number, &number.to_string())).await.unwrap();
    }
    let elsewhere = AnswerKey { holder: "dealer_group north".to_owned(), digest: "1".to_owned() };
    store.keep_answer(of.id, &KeptAnswer { key: elsewhere.clone(), ..large(7, "1") }).await.unwrap();
    let known = async || {
        let mut known = Vec::new();
        for number in 1..=6 {
            known.extend(store.kept_answer(&large(number, &number.to_string()).key).await.unwrap());
        }
        known.into_iter().map(|kept| kept.fingerprint).collect::<Vec<_>>()
    };
    assert_eq!(store.trim_answers("dealer_code north", 50_000).await.unwrap(), 0);
    assert_eq!(store.trim_answers("dealer_code north", 26_500).await.unwrap(), 2, "each has 6,400 bytes");
    assert_eq!(known().await, ["of 3", "of 4", "of 5", "of 6"]);
    // What was removed is new again.
    store.keep_answer(of.id, &large(9, "1")).await.unwrap();
    assert_eq!(store.trim_answers("dealer_code north", 13_500).await.unwrap(), 3);
    assert_eq!(known().await, ["of 9", "of 6"]);
    assert_eq!(store.trim_answers("dealer_code north", 1).await.unwrap(), 2);
    assert_eq!(known().await, [""; 0]);
    assert!(store.kept_answer(&elsewhere).await.unwrap().is_some());
}

async fn a_promotion_coalesces_with_one_of_the_same_plan(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    let first = create(store, &ad).await.unwrap();
    let request = |number, plan| Request::new(id(number), plan, at(500));
    let everywhere = Plan { markets: vec![Market::Primary, Market::Secondary], ..plan(Action::Bump) };
    let bump = request(2001, Some(plan(Action::Bump)));
    let retry = request(2002, None);
    promote(store, &ad, 0, &bump, None).await.unwrap();
    promote(store, &ad, 1, &retry, None).await.unwrap();
    promote(store, &ad, 2, &request(2003, Some(everywhere)), None).await.unwrap();
    promote(store, &ad, 3, &request(2004, Some(plan(Action::Boost))), None).await.unwrap();
    let kept = answer(2005, "one");
    for (again, same) in [(request(2005, bump.plan.clone()), bump.id), (request(2006, None), retry.id)] {
        // On the current revision and on an old one.
        for revision in [4, 1] {
            let refused = promote(store, &ad, revision, &again, Some(&kept)).await;
            assert!(matches!(refused, Err(StoreError::Underway(it)) if it == same), "{refused:?}");
        }
        assert_eq!(store.find_unfinished(ad.id, again.plan.as_ref()).await.unwrap(), Some(same));
    }
    assert_eq!(store.kept_answer(&kept.key).await.unwrap(), None);
    // The first bump, once it has ended, is no longer in the way.
    for finished in [first, bump.id] {
        let claimed = claim(store, at(1000)).await.pop().unwrap();
        assert_eq!(claimed.request.id, finished);
        finish(store, &claimed).await;
    }
    assert_eq!(store.find_unfinished(ad.id, bump.plan.as_ref()).await.unwrap(), None);
    promote(store, &ad, 4, &request(2007, bump.plan.clone()), None).await.unwrap();
}

async fn of_many_promotions_at_once_one_is_accepted(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let bumps: Vec<_> =
        (2001..2031).map(|number| Request::new(id(number), Some(plan(Action::Bump)), at(500))).collect();
    let written = join_all(bumps.iter().map(|bump| promote(store, &ad, 0, bump, None))).await;
    let accepted: Vec<_> = bumps.iter().zip(&written).filter(|(_, written)| written.is_ok()).collect();
    assert_eq!(accepted.len(), 1, "{written:?}");
    let first = accepted[0].0.id;
    for written in written.iter().filter_map(|written| written.as_ref().err()) {
        assert!(matches!(written, StoreError::Underway(it) if *it == first), "{written:?}");
    }
}

async fn who_waits_for_a_request_is_told_of_its_end(store: &dyn Store) {
    store.wait_until_finished(id(99)).await.unwrap();
    let (one, other) = (ad(1, "north", "a"), ad(2, "north", "b"));
    let [first, second] = [create(store, &one).await.unwrap(), create(store, &other).await.unwrap()];
    let ends = Cell::new(0);
    let wait = async |request| {
        store.wait_until_finished(request).await.unwrap();
        ends.set(ends.get() + 1);
    };
    let work = async {
        let mut claimed = claim(store, at(100)).await;
        claimed.sort_by_key(|claimed| claimed.request.id);
        let waits = Outcome::Waits { progress: Progress::default(), until: at(200) };
        store.record(record(&claimed[1], waits)).await.unwrap();
        finish(store, &claimed[0]).await;
        store.wait_until_finished(first).await.unwrap();
        assert!(ends.get() <= 1, "a request that waits is not finished");
        let again = claim(store, at(300)).await.pop().unwrap();
        finish(store, &again).await;
    };
    join3(wait(first), wait(second), work).await;
    assert_eq!(ends.get(), 2);
}

/// All events of a query, page by page.
async fn all_events(store: &dyn Store, scope: Scope<'_>, query: &EventQuery) -> Vec<Event> {
    let (mut query, mut events) = (query.clone(), Vec::new());
    loop {
        let page = store.events(scope, &query).await.unwrap();
        assert!(page.events.len() <= query.limit as usize && page.position >= query.after);
        assert!(page.events.iter().all(|event| event.position > query.after && event.position <= page.position));
        assert!(page.position > query.after || !page.has_more, "it goes on");
        events.extend(page.events);
        query.after = page.position;
        if !page.has_more {
            return events;
        }
    }
}

/// Waits until the newest event of a scope is this one of an ad: a transaction of another test may hold it back.
async fn until_readable(store: &dyn Store, scope: Scope<'_>, source_id: &str, sequence: i64) {
    let last = || async {
        let all = all_events(store, scope, &events(1000)).await;
        all.iter().any(|event| event.source_id == source_id && event.position.sequence == sequence).then_some(())
    };
    eventually("the event is readable", last).await;
}

fn sequences(events: &[Event]) -> Vec<(&str, i64)> {
    events.iter().map(|event| (event.source_id.as_str(), event.position.sequence)).collect()
}

async fn events_are_in_one_order_and_go_on_after_each(store: &dyn Store) {
    assert_eq!(store.events(Scope::Dealer("north"), &events(2)).await.unwrap(), EventPage::default());
    let before = store.newest_event().await.unwrap();
    for (number, dealer, source_id) in [(1, "north", "a"), (2, "south", "b"), (3, "north", "c"), (4, "south", "a")] {
        create(store, &ad(number, dealer, source_id)).await.unwrap();
    }
    let claimed = claim(store, at(1000)).await;
    for claimed in &claimed {
        let of = |action, state| entry(claimed.request.id, action, state, at(600));
        let mut work = record(claimed, Outcome::Continues { progress: Progress::default() });
        work.entries = vec![of(Action::Create, ActionState::Done), of(Action::Publish, ActionState::Processing)];
        store.record(work).await.unwrap();
    }
    let mut end = record(&claimed[0], Outcome::Finished);
    end.entries = vec![LogEntry {
        external_message: json!({"message": "not now", "å": [1, null]}),
        code: Some(Code::MarketplaceRefused),
        ..entry(claimed[0].request.id, Action::Publish, ActionState::Error, at(601))
    }];
    end.change.listings = vec![(Market::Secondary, "s-1".to_owned())];
    store.record(end.clone()).await.unwrap();

    let group = ["south".to_owned(), "north".to_owned(), "nobody".to_owned()];
    until_readable(store, Scope::Dealers(&group), "a", 4).await;
    let all = all_events(store, Scope::Dealers(&group), &events(100)).await;
    let expected = [("a", 1), ("b", 1), ("c", 1), ("a", 1), ("a", 2), ("a", 3), ("b", 2), ("b", 3), ("c", 2), ("c", 3)];
    assert_eq!(sequences(&all), [&expected[..], &[("a", 2), ("a", 3), ("a", 4)]].concat(), "in the order of commits");
    assert!(all.is_sorted_by(|one, next| one.position < next.position));
    let last = all.last().unwrap();
    assert_eq!(
        *last,
        Event {
            position: last.position,
            ad_id: id(1),
            source_id: "a".to_owned(),
            dealer_code: "north".to_owned(),
            category_id: 1020,
            marketplace_ad_id: None,
            offer_id: Some("s-1".to_owned()),
            plan_id: None,
            cost: None,
            entry: end.entries[0].clone(),
        }
    );
    for limit in 1..=5 {
        assert_eq!(all_events(store, Scope::Dealers(&group), &events(limit)).await, all, "in pages of {limit}");
    }
    let filtered = async |scope: Scope<'_>, query: EventQuery| all_events(store, scope, &query).await;
    let some = |keep: &dyn Fn(&Event) -> bool| all.iter().filter(|event| keep(event)).cloned().collect::<Vec<_>>();
    let of_north = some(&|event| event.dealer_code == "north");
    assert_eq!(filtered(Scope::Dealer("north"), events(2)).await, of_north);
    assert_eq!(filtered(Scope::Dealer("nobody"), events(2)).await, []);
    assert_eq!(filtered(Scope::Dealers(&[]), events(2)).await, []);
    let of_source = |source_id: &str| EventQuery { source_id: Some(source_id.to_owned()), ..events(2) };
    assert_eq!(filtered(Scope::Dealers(&group), of_source("a")).await, some(&|event| event.source_id == "a"));
    assert_eq!(filtered(Scope::Dealer("north"), of_source("b")).await, []);
    let types: Vec<EventTypes> = ["ad.publish.*", "ad.*.done"].map(|types| types.parse().unwrap()).to_vec();
    let matching = some(&|event| types.iter().any(|types| types.contain(event.entry.action, event.entry.state)));
    assert_eq!(matching.len(), 9);
    let of_types = EventQuery { types: types.clone(), ..events(2) };
    assert_eq!(filtered(Scope::Dealers(&group), of_types.clone()).await, matching);
    let both = EventQuery { types, ..of_source("c") };
    assert_eq!(sequences(&filtered(Scope::Dealer("north"), both).await), [("c", 2), ("c", 3)]);
    for (event, place) in all.iter().zip(1..) {
        let after = EventQuery { after: event.position, ..events(100) };
        assert_eq!(filtered(Scope::Dealers(&group), after).await, all[place..]);
    }
    let newest = store.newest_event().await.unwrap();
    assert!(before < all[0].position && newest >= last.position);
    let from_now = EventQuery { after: newest, ..events(2) };
    assert_eq!(store.events(Scope::Dealers(&group), &from_now).await.unwrap().position, newest);
    create(store, &ad(5, "north", "e")).await.unwrap();
    until_readable(store, Scope::Dealer("north"), "e", 1).await;
    assert_eq!(sequences(&filtered(Scope::Dealer("north"), from_now).await), [("e", 1)]);
}

async fn a_page_of_events_looks_at_a_bounded_number(store: &dyn Store) {
    create(store, &ad(1, "north", "a")).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let mut work = record(&claimed, Outcome::Continues { progress: Progress::default() });
    work.entries = vec![entry(claimed.request.id, Action::Bump, ActionState::Done, at(600)); 1500];
    store.record(work).await.unwrap();
    let mut end = record(&claimed, Outcome::Finished);
    end.entries = vec![entry(claimed.request.id, Action::Publish, ActionState::Done, at(601))];
    store.record(end).await.unwrap();
    until_readable(store, Scope::Dealer("north"), "a", 1502).await;
    for source_id in [None, Some("a".to_owned())] {
        let query = EventQuery { types: vec!["ad.publish.done".parse().unwrap()], source_id, ..events(10) };
        let first = store.events(Scope::Dealer("north"), &query).await.unwrap();
        assert_eq!((first.events.len(), first.position.sequence, first.has_more), (0, 1001, true));
        let rest = EventQuery { after: first.position, ..query };
        let rest = store.events(Scope::Dealer("north"), &rest).await.unwrap();
        assert_eq!((sequences(&rest.events), rest.has_more), (vec![("a", 1502)], false));
    }
}

async fn a_page_of_events_ends_at_its_most_bytes(store: &dyn Store) {
    create(store, &ad(1, "north", "a")).await.unwrap();
    let claimed = claim(store, at(1000)).await.remove(0);
    let long = LogEntry {
        external_message: json!("å".repeat(8000)),
        ..entry(claimed.request.id, Action::Bump, ActionState::Done, at(600))
    };
    let mut work = record(&claimed, Outcome::Continues { progress: Progress::default() });
    work.entries = vec![long; 70];
    for _ in 0..10 {
        store.record(work.clone()).await.unwrap();
    }
    until_readable(store, Scope::Dealer("north"), "a", 701).await;
    let page = store.events(Scope::Dealer("north"), &events(1000)).await.unwrap();
    let bytes: usize = page.events.iter().map(|event| event.entry.external_message.to_string().len()).sum();
    assert!(page.has_more && bytes as u64 <= PAGE_BYTES && bytes as u64 > PAGE_BYTES * 9 / 10, "{bytes}");
    assert_eq!(all_events(store, Scope::Dealer("north"), &events(1000)).await.len(), 701);
}

async fn who_waits_for_events_is_woken_by_those_of_its_dealers(store: &dyn Store) {
    let group = ["north".to_owned(), "south".to_owned()];
    let read = async |scope: Scope<'_>, after: EventPosition| {
        store.events(scope, &EventQuery { after, ..events(100) }).await.unwrap()
    };
    let follow = async |scope: Scope<'_>, wanted: usize| {
        let mut watch = store.watch_events(scope);
        let (mut after, mut seen) = (EventPosition::default(), Vec::new());
        loop {
            let page = read(scope, after).await;
            after = page.position;
            seen.extend(page.events);
            if seen.len() >= wanted {
                return seen;
            }
            watch.changed().await;
        }
    };
    let write = async || {
        for number in 1..=20 {
            let dealer = if number % 2 == 0 { "north" } else { "south" };
            create(store, &ad(number, dealer, &number.to_string())).await.unwrap();
        }
    };
    let (north, both, ()) =
        join3(follow(Scope::Dealer("north"), 10), follow(Scope::Dealers(&group), 20), write()).await;
    assert_eq!((north.len(), both.len()), (10, 20));
    // Those who have left are forgotten, and others come.
    create(store, &ad(21, "north", "21")).await.unwrap();
    assert_eq!(follow(Scope::Dealer("north"), 11).await.len(), 11);
}

fn events(limit: u32) -> EventQuery {
    EventQuery { limit, ..EventQuery::default() }
}

/// Stores a change of the price of an ad, given the price before.
async fn reprice(store: &dyn Store, ad: &Ad, revision: i64, before: &[Price]) -> Result<(), StoreError> {
    let number = 5000 + 1000 * before.len() as u128 + u128::try_from(revision).unwrap();
    let request = Request::new(id(number), Some(plan(Action::Update)), at(500 + revision));
    let revision = Revision {
        ad: ad.id,
        dealer_code: &ad.dealer_code,
        revision,
        content: Some(&ad.content),
        quality_score: None,
        price_before: Some(before.to_vec()),
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: request.accepted,
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(revision).await
}

fn list_price(amount: i64) -> Price {
    Price { kind: "list".to_owned(), amount: amount.into(), currency: "SEK".to_owned() }
}

async fn earlier_prices_come_with_the_ad(store: &dyn Store) {
    let (north, south) = (ad(1, "north", "a"), ad(2, "south", "a"));
    create(store, &north).await.unwrap();
    create(store, &south).await.unwrap();
    let earlier = async |scope: Scope<'_>| {
        let found = store.earlier_prices(scope, "a").await.unwrap();
        found.into_iter().map(|(ad, earlier)| (ad.id, earlier)).collect::<Vec<_>>()
    };
    assert_eq!(earlier(Scope::Dealer("north")).await, [(north.id, Vec::new())]);
    reprice(store, &north, 0, &[]).await.unwrap();
    assert!(
        matches!(reprice(store, &north, 0, &[list_price(1)]).await, Err(StoreError::Conflict)),
        "nothing is stored"
    );
    revise(store, &north, 1, 2001).await.unwrap();
    reprice(store, &north, 2, &[list_price(100), Price { kind: "leasing".to_owned(), ..list_price(9) }]).await.unwrap();
    let expected = vec![
        EarlierPrices { until: at(500), prices: Some(Vec::new()) },
        EarlierPrices {
            until: at(502),
            prices: Some(vec![list_price(100), Price { kind: "leasing".to_owned(), ..list_price(9) }]),
        },
    ];
    assert_eq!(earlier(Scope::Dealer("north")).await, [(north.id, expected.clone())]);
    let group = ["north".to_owned(), "south".to_owned()];
    assert_eq!(earlier(Scope::Dealers(&group)).await, [(north.id, expected), (south.id, Vec::new())]);
    assert_eq!(earlier(Scope::Dealer("east")).await, []);
}

async fn earlier_prices_are_bounded(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let most = i64::try_from(MOST_EARLIER_PRICES).unwrap();
    for revision in 0..most + 3 {
        reprice(store, &ad, revision, &[list_price(revision)]).await.unwrap();
        let claimed = claim(store, at(5000)).await.remove(0);
        finish(store, &claimed).await;
    }
    let (_, earlier) = store.earlier_prices(Scope::Dealer("north"), "a").await.unwrap().remove(0);
    let amounts: Vec<_> = earlier.iter().map(|it| it.prices.as_ref().unwrap()[0].amount.as_i64().unwrap()).collect();
    assert_eq!(amounts, (3..most + 3).collect::<Vec<_>>());
}

/// Changes the content of an ad as a request of a token, and returns what is to be recorded of it.
pub(crate) async fn change(store: &dyn Store, before: &StoredAd, content: &Content, number: u128) -> RecordedChange {
    let origin = RequestOrigin {
        asked_by: Some("token-7".to_owned()),
        via: Some(Via::Console),
        plan_id: Some(id(77)),
        trace: None,
    };
    let progress = Progress { origin, ..Progress::default() };
    let accepted = at(500 + i64::try_from(number).unwrap());
    let request = Request { progress, ..Request::new(id(2000 + number), Some(plan(Action::Update)), accepted) };
    let replaced = Replaced {
        revision: before.tag.revision,
        version: (number == 2).then_some((ApiVersion::V3, 1021)),
        difference: difference(content, &before.ad.content).unwrap(),
    };
    let revision = Revision {
        ad: before.ad.id,
        dealer_code: &before.ad.dealer_code,
        revision: before.revision,
        content: Some(content),
        quality_score: None,
        price_before: None,
        replaced: Some(replaced.clone()),
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: accepted,
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(revision).await.unwrap();
    for claimed in claim(store, at(100_000)).await {
        finish(store, &claimed).await;
    }
    RecordedChange {
        revision: before.tag.revision + 1,
        origin: RevisionOrigin {
            created: accepted,
            request_id: request.id,
            asked_by: AskedBy { token: Some("token-7".to_owned()), label: None },
            via: Some(Via::Console),
            plan_id: Some(id(77)),
        },
        replaced: replaced.revision,
        version: replaced.version,
        difference: Some(replaced.difference),
        checksum: checksum(&content.stored_text().unwrap()),
    }
}

async fn changes_of_the_content_are_recorded(store: &dyn Store) {
    let new = ad(1, "north", "a");
    let request_id = create(store, &new).await.unwrap();
    create(store, &ad(2, "south", "a")).await.unwrap();
    let creation = Creation {
        revision: 0,
        origin: RevisionOrigin {
            created: new.created,
            request_id,
            asked_by: AskedBy::default(),
            via: None,
            plan_id: None,
        },
        checksum: Some(checksum(&new.content.stored_text().unwrap())),
    };
    assert_eq!(store.creation(new.id).await.unwrap(), Some(creation));
    assert_eq!(store.creation(id(99)).await.unwrap(), None);
    assert_eq!(store.recorded(new.id, i64::MAX).await.unwrap(), [], "a new ad costs nothing");
    let mut expected = Vec::new();
    for (number, body) in [(1, "Ö \0\u{10fffe} \\u0000"), (2, ""), (3, "Fin bil")] {
        let before = find(store, &new).await.0;
        expected.insert(0, change(store, &before, &with_body(&new, body), number).await);
    }
    // What changes nothing is not recorded, and a write that is refused neither.
    revise(store, &new, 3, 4000).await.unwrap();
    revise(store, &new, 3, 4001).await.unwrap_err();
    let (present, _) = find(store, &new).await;
    assert_eq!(present.tag.revision, 4);
    assert_eq!(store.recorded(new.id, present.tag.revision).await.unwrap(), expected);
    assert_eq!(store.recorded(new.id, expected[0].replaced).await.unwrap(), expected[1..]);
    assert_eq!(store.recorded(new.id, 0).await.unwrap(), []);
    assert_eq!(store.recorded(id(2), i64::MAX).await.unwrap(), []);
    let mut content = present.ad.content;
    for change in expected {
        assert_eq!(checksum(&content.stored_text().unwrap()), change.checksum);
        content = apply(&change.difference.unwrap(), content).unwrap();
    }
    assert_eq!(content, new.content);
}

/// A call that published a listing.
pub(crate) fn call(claimed: &Claimed, seconds: i64) -> MarketplaceCall {
    let (request_id, marketplace, action) = (claimed.request.id, Market::Secondary, CallAction::Publish);
    MarketplaceCall {
        at: at(seconds),
        marketplace,
        action,
        request_id,
        idempotency_key: Some(format!("{request_id}:publish:secondary")),
        status: Some(200),
        code: None,
        latency_ms: 7,
        listing_id: Some("Ö-1".to_owned()),
        content_sha256: Some("ab".repeat(32)),
        revision: claimed.stored.tag.revision,
    }
}

async fn calls_are_recorded_with_the_outcome(store: &dyn Store) {
    let (first, other) = (ad(1, "north", "a"), ad(2, "north", "b"));
    for ad in [&first, &other] {
        create(store, ad).await.unwrap();
    }
    let claimed = claim(store, at(1000)).await;
    let [claimed, of_other] = &claimed[..] else { panic!("{claimed:?}") };
    let published = call(claimed, 500);
    let found = MarketplaceCall {
        marketplace: Market::Primary,
        action: CallAction::FindByPlate,
        idempotency_key: None,
        status: None,
        code: Some(Code::MarketplaceUnreachable),
        listing_id: None,
        content_sha256: None,
        ..published.clone()
    };
    let gone = MarketplaceCall { status: Some(404), code: Some(Code::NotListed), ..published.clone() };
    let calls = vec![published.clone(), found.clone()];
    let goes = Outcome::Continues { progress: Progress::default() };
    store.record(Record { calls, ..record(claimed, goes) }).await.unwrap();
    store.record(Record { calls: vec![call(of_other, 500)], ..record(of_other, Outcome::Finished) }).await.unwrap();
    store.record(Record { calls: vec![gone.clone()], ..record(claimed, Outcome::Finished) }).await.unwrap();
    // What lost its lease made no difference.
    store.record(Record { calls: vec![gone.clone()], ..record(claimed, Outcome::Finished) }).await.unwrap_err();

    let page = async |ad, limit, offset| store.calls(ad, Page { limit, offset }).await.unwrap();
    let expected = [gone, found, published];
    let all = page(first.id, 500, 0).await;
    assert_eq!((all.count, &all.rows[..]), (3, &expected[..]));
    let second = page(first.id, 1, 1).await;
    assert_eq!((second.count, &second.rows[..]), (3, &expected[1..2]));
    assert_eq!(page(first.id, 10, 3).await, PageOf { count: 3, rows: vec![] });
    assert_eq!(page(other.id, 10, 0).await.rows, [call(of_other, 500)]);
    assert_eq!(page(id(99), 10, 0).await, PageOf { count: 0, rows: vec![] });
}

async fn what_is_recorded_is_bounded(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let mut before = find(store, &ad).await.0;
    let mut changes = Vec::new();
    for number in 0..MOST_REVISIONS as u128 + 3 {
        let content = with_body(&ad, &format!("Number {number}"));
        changes.insert(0, change(store, &before, &content, 10 + number).await);
        before.ad.content = content;
        before.tag.revision += 1;
        before.revision += 1;
    }
    changes.truncate(MOST_REVISIONS);
    assert_eq!(store.recorded(ad.id, i64::MAX).await.unwrap(), changes);
}

async fn a_page_of_changes_ends_at_its_most_bytes(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let large = "å".repeat(2 * 1024 * 1024);
    let mut changes = Vec::new();
    for number in 1..=5 {
        let before = find(store, &ad).await.0;
        let body = if number % 2 == 1 { format!("{large}{number}") } else { String::new() };
        changes.insert(0, change(store, &before, &with_body(&ad, &body), number).await);
    }
    // The second and the fourth lead back to large contents, of 4 MiB each.
    let page = async |up_to| {
        let changes = store.recorded(ad.id, up_to).await.unwrap();
        changes.iter().map(|change| change.revision).collect::<Vec<_>>()
    };
    assert_eq!(page(5).await, [5, 4, 3]);
    assert_eq!(page(2).await, [2, 1]);
}

async fn other_ads_of_the_same_vehicle_are_found(store: &dyn Store) {
    const VIN: &str = "YV1UZH5V1M1000001";
    let with_vin = |number, dealer: &str, source_id: &str, vin: &str| {
        let mut ad = ad(number, dealer, source_id);
        let mut fields = ad.content.into_fields();
        fields["category_fields"]["vin"] = json!(vin);
        ad.content = fields.into();
        ad
    };
    let (one, twin) = (with_vin(1, "north", "a", VIN), with_vin(2, "north", "b", "yv1uzh5v-1m 1000001"));
    for ad in [&one, &twin, &with_vin(3, "south", "a", VIN), &with_vin(4, "north", "c", "YV1"), &ad(5, "north", "d")] {
        create(store, ad).await.unwrap();
    }
    let found = async |plate, vin, source_id| {
        let query = VehicleQuery { dealer_code: "north", plate, vin, source_id };
        let same = store.same_vehicle(query).await.unwrap();
        (same.plate, same.vin)
    };
    let of = |source_id: &str| Some(source_id.to_owned());
    assert_eq!(found(None, None, None).await, (None, None));
    assert_eq!(found(None, Some(VIN), Some("a")).await, (None, of("b")));
    assert_eq!(found(Some("PLT005"), Some(VIN), Some("b")).await, (of("d"), of("a")));
    assert_eq!(
        found(Some("PLT005"), Some("YV1"), Some("d")).await,
        (None, None),
        "not itself, and no VIN of that form"
    );
    // A change of the content changes what it is found by; a deleted ad is not found.
    let other = Ad { content: with_vin(2, "north", "b", "WVWZZZ1JZ3W386752").content, ..twin };
    revise(store, &other, 0, 2001).await.unwrap();
    assert_eq!(found(None, Some(VIN), Some("a")).await, (None, None));
    assert_eq!(found(None, Some("WVWZZZ1JZ3W386752"), None).await, (None, of("b")));
    let claimed = claim(store, at(1000)).await.into_iter().find(|it| it.stored.ad.id == one.id).unwrap();
    let deleted = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
    store.record(Record { change: deleted, ..record(&claimed, Outcome::Finished) }).await.unwrap();
    assert_eq!(found(Some("PLT001"), Some(VIN), None).await, (None, None));
}

async fn changes_come_with_the_requests_of_the_latest_entries(store: &dyn Store) {
    let ad = ad(1, "north", "a");
    let request = create(store, &ad).await.unwrap();
    let claimed = claim(store, at(100)).await.remove(0);
    let field = FieldChange {
        path: "category_fields.å".to_owned(),
        before: Some("\"Å\u{1f697}\\u0000".to_owned()),
        after: None,
    };
    let change = ContentChange { fields: vec![field], left_out: 2 };
    let progress = Progress { changes: Some(change.clone()), ..Progress::default() };
    let goes = || Outcome::Continues { progress: progress.clone() };
    let entries = |request, count| vec![entry(request, Action::Update, ActionState::Done, at(600)); count];
    let changes = async || store.changes(ad.id).await.unwrap();
    store.record(Record { changes: Some(change.clone()), ..record(&claimed, goes()) }).await.unwrap();
    assert_eq!(changes().await, HashMap::new(), "there is no entry to store them with");
    let logged = Record { entries: entries(request, 1), changes: Some(change.clone()), ..record(&claimed, goes()) };
    store.record(logged).await.unwrap();
    let expected = HashMap::from([(request, change.clone())]);
    assert_eq!(changes().await, expected);
    for (more, expected) in [(99, expected), (1, HashMap::new())] {
        store.record(Record { entries: entries(id(9), more), ..record(&claimed, goes()) }).await.unwrap();
        assert_eq!(changes().await, expected, "{more}");
    }
    assert_eq!(store.changes(id(99)).await.unwrap(), HashMap::new());
    let again = claim(store, at(200) + LEASE).await.remove(0);
    assert_eq!(again.request.progress.changes, Some(change));
}
