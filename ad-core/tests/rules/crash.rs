//! A worker that dies at any moment: whatever it had begun is finished by the next one, and nothing is done or told twice.

use std::collections::{BTreeMap, HashMap};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use ad_core::{
    memory::{Call, MemoryStore, one_pixel},
    model::{
        Ad, AdQuery, Amount, Charge, ChargeQuery, ContentChange, Creation, EarlierPrices, EventPage, EventPosition,
        EventQuery, Exclusions, LogEntry, LogQuery, Market, MarketplaceCall, Month, MonthlyCharges, Page, Plan,
        RecordedChange, SameVehicle, StatusCount, StoredRequest, Timestamp,
    },
    pipeline::{Pipeline, PipelinePorts},
    ports::{
        AccountStore, AnswerKey, Capacity, Claims, EventWatch, KeptAnswer, ListedAd, LogEntries, NewAd, PageOf,
        PhotoQuery, Record, Revision, Scope, SlotRequest, SlotStore, StatusFacts, Store, StoreError, StoredAd, TagOfAd,
        Usage, VehicleQuery,
    },
};
use async_trait::async_trait;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{House, boat, car, entry_texts, with};

/// On which side of a commit the worker dies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Dies {
    /// Nothing of it is stored.
    Before,
    /// It is stored, and the worker does not learn of it.
    After,
}

/// A store whose worker dies at one of its commits.
struct Mortal {
    store: Arc<MemoryStore>,
    commits_to_live: AtomicUsize,
    dies: Dies,
}

#[async_trait]
impl AccountStore for Mortal {
    async fn monthly_charges(
        &self,
        dealer_code: &str,
        month: Month,
        currency: &str,
    ) -> Result<MonthlyCharges, StoreError> {
        self.store.monthly_charges(dealer_code, month, currency).await
    }

    async fn charges(&self, scope: Scope<'_>, query: &ChargeQuery) -> Result<PageOf<Charge>, StoreError> {
        self.store.charges(scope, query).await
    }

    async fn set_own_budget(&self, dealer_code: &str, own: Option<Amount>, at: Timestamp) -> Result<(), StoreError> {
        self.store.set_own_budget(dealer_code, own, at).await
    }
}

#[async_trait]
impl SlotStore for Mortal {
    async fn take_slot(&self, wanted: SlotRequest<'_>) -> Result<bool, StoreError> {
        self.store.take_slot(wanted).await
    }

    async fn slots_used(&self, dealer_code: &str) -> Result<u64, StoreError> {
        self.store.slots_used(dealer_code).await
    }

    async fn dealers_waiting_for_slots(&self) -> Result<Vec<String>, StoreError> {
        self.store.dealers_waiting_for_slots().await
    }

    async fn next_for_slots(
        &self,
        dealer_code: &str,
        most: Option<u32>,
        at_most: u32,
    ) -> Result<Vec<String>, StoreError> {
        self.store.next_for_slots(dealer_code, most, at_most).await
    }
}

#[async_trait]
impl Store for Mortal {
    async fn record(&self, record: Record) -> Result<(), StoreError> {
        let dead = || Err(StoreError::Unavailable("the worker died".into()));
        match (self.commits_to_live.fetch_sub(1, Ordering::SeqCst), self.dies) {
            (1, Dies::Before) => dead(),
            (1, Dies::After) => self.store.record(record).await.and_then(|()| dead()),
            _ => self.store.record(record).await,
        }
    }

    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError> {
        self.store.create(new).await
    }

    async fn revise(&self, revision: Revision<'_>) -> Result<(), StoreError> {
        self.store.revise(revision).await
    }

    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        log: LogEntries,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError> {
        self.store.find(scope, source_id, log).await
    }

    async fn tags(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<TagOfAd>, StoreError> {
        self.store.tags(scope, source_id).await
    }

    async fn request(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<StoredRequest>, StoreError> {
        self.store.request(scope, id).await
    }

    async fn find_unfinished(&self, ad: Uuid, plan: Option<&Plan>) -> Result<Option<Uuid>, StoreError> {
        self.store.find_unfinished(ad, plan).await
    }

    async fn wait_until_finished(&self, request: Uuid) -> Result<(), StoreError> {
        self.store.wait_until_finished(request).await
    }

    async fn keep_answer(&self, ad: Uuid, answer: &KeptAnswer) -> Result<(), StoreError> {
        self.store.keep_answer(ad, answer).await
    }

    async fn kept_answer(&self, key: &AnswerKey) -> Result<Option<KeptAnswer>, StoreError> {
        self.store.kept_answer(key).await
    }

    async fn remove_answers(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.store.remove_answers(before, at_most).await
    }

    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError> {
        self.store.is_used(dealer_code, source_id).await
    }

    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<ListedAd>, StoreError> {
        self.store.list(scope, query).await
    }

    async fn facts(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<StatusFacts>, StoreError> {
        self.store.facts(scope, source_id).await
    }

    async fn earlier_prices(
        &self,
        scope: Scope<'_>,
        source_id: &str,
    ) -> Result<Vec<(Ad, Vec<EarlierPrices>)>, StoreError> {
        self.store.earlier_prices(scope, source_id).await
    }

    async fn recorded(&self, ad: Uuid, up_to: i64) -> Result<Vec<RecordedChange>, StoreError> {
        self.store.recorded(ad, up_to).await
    }

    async fn creation(&self, ad: Uuid) -> Result<Option<Creation>, StoreError> {
        self.store.creation(ad).await
    }

    async fn calls(&self, ad: Uuid, page: Page) -> Result<PageOf<MarketplaceCall>, StoreError> {
        self.store.calls(ad, page).await
    }

    async fn changes(&self, ad: Uuid) -> Result<HashMap<Uuid, ContentChange>, StoreError> {
        self.store.changes(ad).await
    }

    async fn same_vehicle(&self, query: VehicleQuery<'_>) -> Result<SameVehicle, StoreError> {
        self.store.same_vehicle(query).await
    }

    async fn same_photos(&self, query: PhotoQuery<'_>) -> Result<BTreeMap<usize, String>, StoreError> {
        self.store.same_photos(query).await
    }

    async fn count_by_status(&self, scope: Scope<'_>) -> Result<Vec<StatusCount>, StoreError> {
        self.store.count_by_status(scope).await
    }

    async fn ads_by_dealer(&self, scope: Scope<'_>) -> Result<HashMap<String, u64>, StoreError> {
        self.store.ads_by_dealer(scope).await
    }

    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        self.store.log(ad, query).await
    }

    async fn events(&self, scope: Scope<'_>, query: &EventQuery) -> Result<EventPage, StoreError> {
        self.store.events(scope, query).await
    }

    async fn newest_event(&self) -> Result<EventPosition, StoreError> {
        self.store.newest_event().await
    }

    fn watch_events(&self, scope: Scope<'_>) -> EventWatch {
        self.store.watch_events(scope)
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
    ) -> Result<Claims, StoreError> {
        self.store.claim(now, lease_until, capacity).await
    }

    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError> {
        self.store.release(now, after).await
    }

    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError> {
        self.store.extend(request, lease, until).await
    }

    async fn hold_image(
        &self,
        checksum: &str,
        request: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.store.hold_image(checksum, request, now, until).await
    }

    async fn link_listing(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError> {
        self.store.link_listing(ad, market, listing).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.store.check().await
    }

    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError> {
        self.store.is_live(ad).await
    }

    async fn has_unfinished(&self, ad: Uuid) -> Result<bool, StoreError> {
        self.store.has_unfinished(ad).await
    }

    async fn trim_answers(&self, holder: &str, bytes: u64) -> Result<u64, StoreError> {
        self.store.trim_answers(holder, bytes).await
    }

    async fn usage(&self, dealer_code: &str, of: Usage, at_most: u64) -> Result<u64, StoreError> {
        self.store.usage(dealer_code, of, at_most).await
    }

    async fn add_dealer_image(&self, dealer_code: &str, checksum: &str, bytes: u64) -> Result<bool, StoreError> {
        self.store.add_dealer_image(dealer_code, checksum, bytes).await
    }

    async fn has_dealer_image(&self, dealer_code: &str, checksum: &str) -> Result<bool, StoreError> {
        self.store.has_dealer_image(dealer_code, checksum).await
    }
}

/// What can be seen of an ad from outside: itself, its log, and the calls that the marketplaces applied.
#[derive(Debug, PartialEq)]
struct Seen {
    ad: Value,
    log: Vec<String>,
    calls: Vec<Call>,
}

async fn seen(house: &House) -> Seen {
    let (ad, log) = house.ads().await.remove(0);
    let calls = [house.kit.primary.calls(), house.kit.secondary.calls()].concat();
    let mut ad = json!(ad.view(None));
    // Images get their ids, and everything its time, when they come to be.
    ad["image_refs"].as_array_mut().unwrap().iter_mut().for_each(|image| image["id"] = Value::Null);
    ad["updated"] = Value::Null;
    Seen { ad, log: entry_texts(&log, usize::MAX), calls }
}

/// Runs what is due with a worker that dies at its nth commit, and then what it left; `false` when it did not live long
/// enough to die.
async fn run_dying(house: &House, commits: usize, dies: Dies) -> bool {
    let mortal = Mortal { store: house.kit.store.clone(), commits_to_live: AtomicUsize::new(commits), dies };
    let pipeline = Pipeline::new(PipelinePorts { store: Arc::new(mortal), ..house.kit.pipeline.ports().clone() });
    let fell = pipeline.run_due().await.is_err();
    house.clock.advance(pipeline.settings().lease);
    house.run().await;
    fell
}

/// Lives a scenario with a death at each commit, on either side of it, and compares with a life without one.
async fn survives(requests: impl AsyncFn(&House)) {
    let start = async || {
        let house = House::new();
        house.kit.images.put("https://cdn.example.com/3.jpg", one_pixel(3));
        requests(&house).await;
        house
    };
    let undisturbed = start().await;
    undisturbed.run().await;
    let expected = seen(&undisturbed).await;
    for dies in [Dies::Before, Dies::After] {
        for commits in 1.. {
            let house = start().await;
            let died = run_dying(&house, commits, dies).await;
            assert_eq!(seen(&house).await, expected, "the worker died {dies:?} commit {commits}");
            if !died {
                assert!(commits > 4, "the worker has hardly died");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_car_created_updated_hidden_and_deleted() {
    survives(async |house| {
        house.create("car", car()).await.unwrap();
        house
            .update("car-1", json!({"image_urls": ["https://cdn.example.com/3.jpg", "https://cdn.example.com/1.jpg"]}))
            .await
            .unwrap();
        house.delete("car-1").await.unwrap();
    })
    .await;
}

/// The marketplaces have the ad, the worker dies before it can say so, and then its dealer hides it.
#[tokio::test]
async fn a_car_hidden_after_its_worker_died_is_shown_nowhere() {
    for commits in 1..4 {
        let house = House::new();
        house.create("car", with(&car(), json!({"image_urls": null}))).await.unwrap();
        let mortal =
            Mortal { store: house.kit.store.clone(), commits_to_live: AtomicUsize::new(commits), dies: Dies::Before };
        let pipeline = Pipeline::new(PipelinePorts { store: Arc::new(mortal), ..house.kit.pipeline.ports().clone() });
        drop(pipeline.run_due().await);
        house.update("car-1", json!({"visible": false})).await.unwrap();
        house.clock.advance(pipeline.settings().lease);
        house.run().await;
        for market in [&house.kit.primary, &house.kit.secondary] {
            assert!(market.shown(house.kit.pipeline.ports().clock.now()).is_empty(), "died at commit {commits}");
        }
    }
}

#[tokio::test]
async fn a_boat_deleted_and_revived() {
    survives(async |house| {
        house.create("boat", boat()).await.unwrap();
        house.delete("boat-8").await.unwrap();
        house.update("boat-8", json!({"title": "Ny", "image_urls": null})).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_car_with_a_broken_image_bumped_and_boosted() {
    survives(async |house| {
        let urls = json!(["https://cdn.example.com/1.jpg", "https://nowhere.example/2.jpg"]);
        house.create("car", with(&car(), json!({"image_urls": urls}))).await.unwrap();
        house.bump("car-1", Exclusions::default()).await.unwrap();
        house.retry("car-1").await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_car_linked_by_its_plate() {
    survives(async |house| {
        house.kit.primary.preset("north-cars", "ABC123", "Fin Volvo");
        house.create("car", car()).await.unwrap();
        house.retry("car-1").await.unwrap();
    })
    .await;
}
