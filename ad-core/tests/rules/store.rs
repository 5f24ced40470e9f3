//! What every store keeps: leases, fencing, the order of one ad's requests, ties of listings.

use std::time::Duration;

use ad_core::{
    memory::{CountingIds, ManualClock, MemoryStore},
    model::{
        Action, ActionState, Ad, AdState, Leftover, LogEntry, Market, Plan, Progress, Request, StatusWords, Timestamp,
    },
    ports::{AdChange, Claimed, Clock, Ids, LogEntries, NewAd, Outcome, Record, Revision, Scope, Store, StoreError},
};
use uuid::Uuid;

use crate::support::{DEALER, Desk, boat, dealer, with};

const LEASE: Duration = Duration::from_secs(30);

/// A store with its clock and ids.
#[derive(Default)]
struct Shelf {
    store: MemoryStore,
    clock: ManualClock,
    ids: CountingIds,
}

impl Shelf {
    fn boat(&self, source_id: &str) -> Ad {
        let ad = Desk(dealer()).stored("boat", with(&boat(), serde_json::json!({"source_id": source_id})));
        Ad { id: self.ids.next(), ..ad }
    }

    fn request(&self) -> Request {
        let plan = Plan { actions: vec![Action::Publish], markets: vec![Market::Primary] };
        Request::new(self.ids.next(), Some(plan), self.clock.now())
    }

    async fn create(&self, source_id: &str) -> Result<Ad, StoreError> {
        let (ad, request) = (self.boat(source_id), self.request());
        let entry = self.entry(request.id);
        self.store.create(NewAd { ad: &ad, request: &request, entry: &entry, answer: None }).await.map(|()| ad)
    }

    async fn revise(&self, ad: &Ad, revision: i64) -> Result<Uuid, StoreError> {
        let request = self.request();
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
            updated: self.clock.now(),
            request: &request,
            coalesces: false,
            reservation: None,
            answer: None,
        };
        self.store.revise(revision).await.map(|()| request.id)
    }

    fn entry(&self, request_id: Uuid) -> LogEntry {
        LogEntry::new(request_id, self.clock.now(), Action::Publish, ActionState::Processing, "Publishing".into())
    }

    async fn claim(&self, limit: usize) -> (Vec<Claimed>, Option<Timestamp>) {
        let now = self.clock.now();
        let claims = self.store.claim(now, now + LEASE, limit.into()).await.unwrap();
        (claims.claimed, claims.next_due)
    }

    async fn claim_one(&self) -> Claimed {
        let (mut claimed, _) = self.claim(1).await;
        claimed.pop().unwrap()
    }

    async fn record(&self, claimed: &Claimed, change: AdChange, outcome: Outcome) -> Result<(), StoreError> {
        let record = Record {
            ad: claimed.stored.ad.id,
            request: claimed.request.id,
            lease: claimed.lease,
            entries: vec![self.entry(claimed.request.id)],
            changes: None,
            change,
            publication: None,
            calls: Vec::new(),
            confirmed: None,
            quality_score: None,
            words: StatusWords::default(),
            outcome,
            at: self.clock.now(),
        };
        self.store.record(record).await
    }

    async fn finish(&self, claimed: &Claimed) {
        self.record(claimed, AdChange::default(), Outcome::Finished).await.unwrap();
    }

    async fn entries(&self, source_id: &str) -> usize {
        self.store.find(Scope::Dealer(DEALER), source_id, LogEntries::Latest).await.unwrap()[0].1.len()
    }
}

#[tokio::test]
async fn a_source_id_is_used_once_for_ever_but_by_each_dealer() {
    let shelf = Shelf::default();
    let ad = shelf.create("a/å 1").await.unwrap();
    assert!(matches!(shelf.create("a/å 1").await, Err(StoreError::Duplicate)));
    assert!(shelf.store.is_used(DEALER, "a/å 1").await.unwrap());
    assert!(!shelf.store.is_used("south", "a/å 1").await.unwrap());

    let theirs = Ad { id: shelf.ids.next(), dealer_code: "south".to_owned(), ..ad.clone() };
    let request = shelf.request();
    let entry = shelf.entry(request.id);
    shelf.store.create(NewAd { ad: &theirs, request: &request, entry: &entry, answer: None }).await.unwrap();
    let found = async |codes: &[&str]| {
        let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
        let found = shelf.store.find(Scope::Dealers(&codes), "a/å 1", LogEntries::Omitted).await.unwrap();
        found.into_iter().map(|(stored, log)| (stored.ad.id, log.len())).collect::<Vec<_>>()
    };
    assert_eq!(found(&["south", DEALER]).await, [(ad.id, 0), (theirs.id, 0)]);
    assert_eq!(found(&["west"]).await, []);
}

#[tokio::test]
async fn a_write_on_an_old_revision_is_a_conflict() {
    let shelf = Shelf::default();
    let ad = shelf.create("a").await.unwrap();
    shelf.revise(&ad, 0).await.unwrap();
    assert!(matches!(shelf.revise(&ad, 0).await, Err(StoreError::Conflict)));
    shelf.revise(&ad, 1).await.unwrap();
}

#[tokio::test]
async fn what_a_worker_changes_is_no_conflict_for_a_client() {
    let shelf = Shelf::default();
    let ad = shelf.create("a").await.unwrap();
    let claimed = shelf.claim_one().await;
    let change = AdChange { listings: vec![(Market::Primary, "p-1".to_owned())], ..AdChange::default() };
    shelf.record(&claimed, change, Outcome::Finished).await.unwrap();
    shelf.revise(&ad, 0).await.unwrap();
}

#[tokio::test]
async fn requests_of_one_ad_are_claimed_in_order_and_those_of_others_beside_them() {
    let shelf = Shelf::default();
    let first = shelf.create("a").await.unwrap();
    let second = shelf.revise(&first, 0).await.unwrap();
    shelf.create("b").await.unwrap();

    let (claimed, _) = shelf.claim(10).await;
    let ads: Vec<&str> = claimed.iter().map(|claimed| claimed.stored.ad.source_id.as_str()).collect();
    assert_eq!(ads, ["a", "b"]);
    let lease_ends = shelf.clock.now() + LEASE;
    assert_eq!(shelf.claim(10).await, (vec![], Some(lease_ends)));
    shelf.finish(&claimed[0]).await;
    let (claimed, _) = shelf.claim(10).await;
    assert_eq!(claimed.iter().map(|claimed| claimed.request.id).collect::<Vec<_>>(), [second]);
}

#[tokio::test]
async fn no_more_is_claimed_than_was_asked_for() {
    let shelf = Shelf::default();
    for source_id in ["a", "b", "c"] {
        shelf.create(source_id).await.unwrap();
    }
    assert_eq!(shelf.claim(2).await.0.len(), 2);
    assert_eq!(shelf.claim(2).await.0.len(), 1);
}

#[tokio::test]
async fn a_waiting_request_is_claimed_when_it_is_due_and_holds_back_the_later_ones_of_its_ad() {
    let shelf = Shelf::default();
    let ad = shelf.create("a").await.unwrap();
    shelf.revise(&ad, 0).await.unwrap();
    let claimed = shelf.claim_one().await;
    let until = shelf.clock.now() + Duration::from_secs(5);
    let progress = Progress { tries: 1, ..Progress::default() };
    shelf.record(&claimed, AdChange::default(), Outcome::Waits { progress: progress.clone(), until }).await.unwrap();

    assert_eq!(shelf.claim(10).await, (vec![], Some(until)));
    shelf.clock.set(until);
    let (again, next_due) = shelf.claim(10).await;
    assert_eq!((again.len(), next_due), (1, None));
    assert_eq!((again[0].request.id, &again[0].request.progress), (claimed.request.id, &progress));
}

#[tokio::test]
async fn a_request_is_taken_over_when_its_lease_ends_and_its_old_owner_can_record_nothing_more() {
    let shelf = Shelf::default();
    shelf.create("a").await.unwrap();
    let lost = shelf.claim_one().await;
    let progress = Progress { begun: true, ..Progress::default() };
    shelf.record(&lost, AdChange::default(), Outcome::Continues { progress: progress.clone() }).await.unwrap();

    shelf.clock.advance(LEASE.saturating_sub(Duration::from_millis(1)));
    assert_eq!(shelf.claim(1).await.0, []);
    shelf.clock.advance(Duration::from_millis(1));
    let taken = shelf.claim_one().await;
    assert_eq!(taken.request, Request { progress, ..lost.request.clone() });

    let change = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
    let late = shelf.record(&lost, change, Outcome::Finished).await;
    assert!(matches!(late, Err(StoreError::LeaseLost)));
    assert!(matches!(
        shelf.store.extend(lost.request.id, lost.lease, shelf.clock.now()).await,
        Err(StoreError::LeaseLost)
    ));
    assert_eq!(shelf.entries("a").await, 2);
    assert!(shelf.store.is_live(taken.stored.ad.id).await.unwrap());
    shelf.finish(&taken).await;
    let twice = shelf.record(&taken, AdChange::default(), Outcome::Finished).await;
    assert!(matches!(twice, Err(StoreError::LeaseLost)));
}

#[tokio::test]
async fn a_lease_can_be_made_to_last() {
    let shelf = Shelf::default();
    shelf.create("a").await.unwrap();
    let claimed = shelf.claim_one().await;
    shelf.clock.advance(LEASE / 2);
    shelf.store.extend(claimed.request.id, claimed.lease, shelf.clock.now() + LEASE).await.unwrap();
    shelf.clock.advance(LEASE.saturating_sub(Duration::from_millis(1)));
    assert_eq!(shelf.claim(1).await.0, []);
    shelf.finish(&claimed).await;
}

#[tokio::test]
async fn every_change_of_the_worker_moves_updated_and_a_record_without_one_does_not() {
    let shelf = Shelf::default();
    shelf.create("a").await.unwrap();
    let claimed = shelf.claim_one().await;
    let created = shelf.clock.now();
    let updated =
        async || shelf.store.find(Scope::Dealer(DEALER), "a", LogEntries::Omitted).await.unwrap()[0].0.ad.updated;
    let goes = || Outcome::Continues { progress: Progress::default() };

    shelf.clock.advance(Duration::from_secs(1));
    shelf.record(&claimed, AdChange::default(), goes()).await.unwrap();
    assert_eq!(updated().await, created);
    for change in [
        AdChange { leftover: Some(Leftover::default()), ..AdChange::default() },
        AdChange { pole_position_until: Some(None), ..AdChange::default() },
        AdChange { intent: Some(AdState::Created), ..AdChange::default() },
        AdChange { image_refs: Some(vec![]), ..AdChange::default() },
    ] {
        shelf.clock.advance(Duration::from_secs(1));
        shelf.record(&claimed, change, goes()).await.unwrap();
        assert_eq!(updated().await, shelf.clock.now());
    }
}

#[tokio::test]
async fn a_listing_is_tied_to_one_live_ad() {
    let shelf = Shelf::default();
    let one = shelf.create("a").await.unwrap().id;
    let other = shelf.create("b").await.unwrap().id;
    let tie = async |ad, market| shelf.store.link_listing(ad, market, "l-1").await.unwrap();

    assert!(tie(one, Market::Primary).await);
    assert!(tie(one, Market::Primary).await);
    assert!(!tie(other, Market::Primary).await);
    assert!(tie(other, Market::Secondary).await);

    let claimed = shelf.claim_one().await;
    let deleted = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
    shelf.record(&claimed, deleted, Outcome::Finished).await.unwrap();
    assert!(!shelf.store.is_live(one).await.unwrap());
    assert!(tie(other, Market::Primary).await);
    assert!(!shelf.store.is_live(Uuid::nil()).await.unwrap());
}

#[tokio::test]
async fn an_ad_comes_with_its_latest_hundred_entries_oldest_first() {
    let shelf = Shelf::default();
    shelf.create("a").await.unwrap();
    let claimed = shelf.claim_one().await;
    for _ in 0..150 {
        shelf.clock.advance(Duration::from_millis(1));
        shelf
            .record(&claimed, AdChange::default(), Outcome::Continues { progress: Progress::default() })
            .await
            .unwrap();
    }
    let log = shelf.store.find(Scope::Dealer(DEALER), "a", LogEntries::Latest).await.unwrap().remove(0).1;
    assert_eq!(log.len(), 100);
    assert_eq!(log[99].created, shelf.clock.now());
    assert!(log.is_sorted_by_key(|entry| entry.created));
}
