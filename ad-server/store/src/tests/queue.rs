use ad_core::{
    model::{LATEST_ENTRIES, Leftover, Progress, StatusWords},
    ports::{AdChange, Claimed, LogEntries, Outcome, Record, Revision, Scope},
};

use super::*;
use crate::sql::queue::{ClaimDue, NextClaimable};

/// Adds a request without content to an ad.
async fn revise(store: &DatabaseStore, ad_number: u32, revision: i64, number: u32, accepted: i64) {
    let request = request(number, accepted);
    let revision = Revision {
        ad: ad(ad_number, 0).id,
        dealer_code: "d1",
        revision,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(accepted),
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(revision).await.unwrap();
}

async fn claim(store: &DatabaseStore, now: i64, until: i64) -> Vec<Claimed> {
    store.claim(at(now), at(until), 10.into()).await.unwrap().claimed
}

fn ids(claimed: &[Claimed]) -> Vec<Uuid> {
    claimed.iter().map(|claimed| claimed.request.id).collect()
}

fn record(claimed: &Claimed, outcome: Outcome) -> Record {
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
        at: at(50),
    }
}

#[tokio::test]
async fn one_request_of_an_ad_at_a_time_in_order() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    create(&store, 2, &ad(2, 11)).await.unwrap();
    revise(&store, 1, 0, 3, 12).await;
    revise(&store, 1, 1, 4, 13).await;

    assert_eq!(store.claim(at(10), at(40), 10.into()).await.unwrap().next_due, Some(at(11)));
    let first = claim(&store, 20, 40).await;
    assert_eq!(ids(&first), [request_id(2)]);
    assert_eq!((&first[0].request, &first[0].stored.ad), (&request(2, 11), &ad(2, 11)));
    let nothing = store.claim(at(39), at(90), 10.into()).await.unwrap();
    assert_eq!((nothing.claimed, nothing.next_due), (Vec::new(), Some(at(40))));
    // The leases have ended.
    let again = claim(&store, 40, 60).await;
    assert_eq!(ids(&again), [request_id(1), request_id(2)]);
    for expected in [3, 4] {
        let head = claim(&store, 100 + i64::from(expected), 200).await;
        store.record(record(&head[0], Outcome::Finished)).await.unwrap();
        let next = claim(&store, 100 + i64::from(expected), 100).await;
        assert_eq!(ids(&next)[0], request_id(expected));
    }
}

#[tokio::test]
async fn a_request_that_waits_holds_back_those_behind_it() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    revise(&store, 1, 0, 2, 11).await;
    let head = claim(&store, 20, 40).await.remove(0);
    let progress = Progress { tries: 1, begun: true, ..Progress::default() };
    store.record(record(&head, Outcome::Waits { progress: progress.clone(), until: at(70) })).await.unwrap();
    // It is nobody's now.
    assert!(matches!(store.extend(head.request.id, head.lease, at(99)).await, Err(StoreError::LeaseLost)));
    let waiting = store.claim(at(69), at(99), 10.into()).await.unwrap();
    assert_eq!((waiting.claimed, waiting.next_due), (Vec::new(), Some(at(70))));
    let again = claim(&store, 70, 99).await;
    assert_eq!((ids(&again), &again[0].request.progress), (vec![request_id(1)], &progress));
}

#[tokio::test]
async fn a_record_commits_log_ad_and_request_together() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    let head = claim(&store, 20, 40).await.remove(0);
    let done = entry(1, Action::Create, ActionState::Done, 21);
    let publish = entry(1, Action::Publish, ActionState::Processing, 21);
    let progress = Progress { ended: 1, begun: true, ..Progress::default() };
    let entries = vec![done.clone(), publish.clone()];
    store.record(Record { entries, ..record(&head, Outcome::Continues { progress }) }).await.unwrap();
    let published = entry(1, Action::Publish, ActionState::Done, 30);
    let change = AdChange {
        listings: vec![(Market::Primary, "p1".to_owned()), (Market::Secondary, "s1".to_owned())],
        leftover: Some(Leftover::publishing(vec![Market::Secondary])),
        pole_position_until: Some(Some(at(77))),
        ..AdChange::default()
    };
    let end = Record { entries: vec![published.clone()], change, ..record(&head, Outcome::Finished) };
    store.record(end.clone()).await.unwrap();
    assert!(matches!(store.record(end).await, Err(StoreError::LeaseLost)));

    let (stored, log) = store.find(Scope::Dealer("d1"), "Bil-1", LogEntries::Latest).await.unwrap().remove(0);
    assert_eq!(log, [entry(1, Action::Create, ActionState::Processing, 10), done, publish, published]);
    let ad = &stored.ad;
    assert_eq!((ad.marketplace_ad_id.as_deref(), ad.offer_id.as_deref()), (Some("p1"), Some("s1")));
    assert_eq!(
        (ad.updated, stored.pole_position_until, stored.leftover),
        (at(50), Some(at(77)), Leftover::publishing(vec![Market::Secondary]))
    );
    assert_eq!((stored.revision, ad.state), (0, AdState::Created));
    assert_eq!(claim(&store, 1000, 2000).await, []);
}

#[tokio::test]
async fn a_lost_lease_writes_nothing() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    revise(&store, 1, 0, 2, 11).await;
    let slow = claim(&store, 20, 30).await.remove(0);
    store.extend(slow.request.id, slow.lease, at(35)).await.unwrap();
    assert_eq!(claim(&store, 34, 60).await, []);
    let quick = claim(&store, 35, 60).await.remove(0);

    let change = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
    let entries = vec![entry(1, Action::Publish, ActionState::Done, 40)];
    for outcome in [Outcome::Finished, Outcome::Continues { progress: Progress::default() }] {
        for change in [change.clone(), AdChange::default()] {
            let late = Record { entries: entries.clone(), change, ..record(&slow, outcome.clone()) };
            assert!(matches!(store.record(late).await, Err(StoreError::LeaseLost)));
        }
    }
    let (stored, log) = store.find(Scope::Dealer("d1"), "Bil-1", LogEntries::Latest).await.unwrap().remove(0);
    assert_eq!((stored.ad.state, log.len()), (AdState::Created, 1));
    store.extend(quick.request.id, quick.lease, at(80)).await.unwrap();
    assert_eq!(claim(&store, 79, 90).await, []);
}

#[tokio::test]
async fn workers_are_woken_by_what_they_can_claim() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    let queued = store.queued();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    queued.notified().await;
    revise(&store, 1, 0, 2, 11).await;
    queued.notified().await;
    let head = claim(&store, 20, 40).await.remove(0);
    store.record(record(&head, Outcome::Finished)).await.unwrap();
    queued.notified().await;
    // From when the one before it was finished.
    assert_eq!(ids(&claim(&store, 50, 80).await), [request_id(2)]);
}

#[tokio::test]
async fn the_latest_entries_come_oldest_first() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    let head = claim(&store, 20, 40).await.remove(0);
    let entries: Vec<_> = (0..150).map(|number| entry(number, Action::Publish, ActionState::Processing, 21)).collect();
    let goes = Outcome::Continues { progress: Progress::default() };
    store.record(Record { entries: entries.clone(), ..record(&head, goes) }).await.unwrap();
    let (_, log) = store.find(Scope::Dealer("d1"), "Bil-1", LogEntries::Latest).await.unwrap().remove(0);
    assert_eq!(log, entries[entries.len() - LATEST_ENTRIES..]);
}

#[tokio::test]
async fn a_listing_is_tied_to_one_live_ad() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    let (one, two) = (ad(1, 10), ad(2, 11));
    create(&store, 1, &one).await.unwrap();
    create(&store, 2, &two).await.unwrap();
    let tie = async |ad: &Ad, market, listing| store.link_listing(ad.id, market, listing).await.unwrap();
    assert!(tie(&one, Market::Primary, "p1").await);
    assert!(tie(&one, Market::Primary, "p1").await);
    assert!(!tie(&two, Market::Primary, "p1").await);
    assert!(tie(&two, Market::Secondary, "p1").await);
    assert!(!tie(&ad(3, 0), Market::Primary, "p3").await);

    // What an ad was published as is its own too.
    let heads = claim(&store, 20, 40).await;
    let listings = vec![(Market::Primary, "p9".to_owned()), (Market::Secondary, "s9".to_owned())];
    let change = AdChange { listings, ..AdChange::default() };
    let goes = Outcome::Continues { progress: Progress::default() };
    store.record(Record { change, ..record(&heads[0], goes) }).await.unwrap();
    assert!(!tie(&two, Market::Primary, "p9").await);
    assert!(!tie(&two, Market::Secondary, "s9").await);
    assert!(tie(&one, Market::Secondary, "s9").await);

    let change = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
    store.record(Record { change, ..record(&heads[0], Outcome::Finished) }).await.unwrap();
    assert!(!store.is_live(one.id).await.unwrap());
    assert!(tie(&two, Market::Primary, "p1").await);
    assert!(tie(&two, Market::Primary, "p9").await);
    assert!(!tie(&one, Market::Primary, "p1").await);
}

/// Polling must not depend on how long the queue is, nor on how many requests one ad has.
#[tokio::test]
async fn claims_use_the_index_of_what_can_be_claimed() {
    let temporary = TestDatabase::open().await;
    for (statement, index) in [
        (NextClaimable::default().into(), "requests_claimable (claimable"),
        (ClaimDue::default().into(), "requests_dealer (dealer_code=?"),
    ] {
        let plan = explained(&temporary.database, &statement).await;
        assert!(plan.iter().any(|step| step.contains(index)), "{plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("SCAN requests")), "{plan:#?}");
    }
}
