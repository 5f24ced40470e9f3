//! Random sequences of operations, by which no two stores may be told apart: whatever is done to the store in memory, to SQLite
//! and to PostgreSQL, each answers alike and holds the same afterwards. `store_contract` says what is right.
//!
//! A longer run: `STORE_PROPERTIES=500 cargo test -p ad-tests --test e2e store_properties`

use std::{
    cell::Cell,
    fmt::Debug,
    sync::Arc,
    time::{Duration, Instant},
};

use ad_core::{
    memory::MemoryStore,
    model::{
        Action, ActionState, Ad, AdFilter, AdOrder, AdQuery, AdState, AdStatus, ApiVersion, Bound, ChannelFailure,
        ChannelStatus, Content, ContentScore, ImageRef, ImageSource, Included, Leftover, LogEntry, LogQuery, Market,
        Page, Plan, Progress, Publication, PublishedChannel, Request, StatusWords, Timestamp, Validators,
    },
    ports::{
        AdChange, Capacity, Claimed, LogEntries, NewAd, Outcome, Record, Revision, Scope, Store, StoreError, StoredAd,
        Usage,
    },
    status,
    violation::Code,
};
use ad_server::store::{Database, DatabaseStore};
use ad_tests::Postgres;
use proptest::{
    option::weighted as maybe,
    prelude::*,
    sample::{select, subsequence},
    test_runner::{Config, TestError, TestRunner},
};
use serde_json::json;
use uuid::Uuid;

/// Cases of a usual run; it ends sooner when it takes [`LONGEST`].
const CASES: u32 = 60;
const LONGEST: Duration = Duration::from_secs(6);

const DEALERS: [&str; 2] = ["north", "south"];
const SOURCES: [&str; 3] = ["a", "A", "å/ 1"];
const LEASE: Duration = Duration::from_secs(10);

/// One operation. Ads are named by the order in which they were created, claims by that in which they were made; what is not there
/// is another one that is, or nobody's.
#[derive(Debug, Clone)]
enum Operation {
    Create { dealer: &'static str, source: &'static str, content: Text },
    Revise { ad: usize, stale: bool, change: Change, request_in: u64 },
    Claim { nothing: bool, full: Vec<&'static str> },
    Record { claim: usize, entries: usize, change: Work, outcome: Then },
    Extend { claim: usize, seconds: u64 },
    Release { after: u64 },
    Tie { ad: usize, market: Market, listing: &'static str },
    Image { dealer: &'static str, checksum: &'static str, bytes: u64 },
    Wait { seconds: u64 },
}

#[derive(Debug, Clone, Copy)]
enum Text {
    Plain,
    Other,
    Odd,
    Empty,
    ClearedMileage,
}

#[derive(Debug, Clone)]
struct Change {
    content: Option<Text>,
    version: Option<(ApiVersion, u16)>,
    intent: Option<AdState>,
    pole_position: Option<u64>,
}

#[derive(Debug, Clone)]
#[expect(clippy::option_option, reason = "as in AdChange: kept, cleared or set")]
struct Work {
    state: Option<AdState>,
    intent: Option<AdState>,
    images: Option<usize>,
    listings: Vec<(Market, &'static str)>,
    pole_position: Option<Option<u64>>,
    leftover: Option<Option<Action>>,
}

#[derive(Debug, Clone, Copy)]
enum Then {
    Goes,
    Waits(u64),
    Finished,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let seconds = || 0..30_u64;
    let dealer = || select(&DEALERS[..]);
    let state = || select(&[AdState::Created, AdState::Deleted][..]);
    let market = || select(&[Market::Primary, Market::Secondary][..]);
    let listing = || select(&["l-1", "l-2"][..]);
    let text = || select(&[Text::Plain, Text::Other, Text::Odd, Text::Empty, Text::ClearedMileage][..]);
    let version = select(&[(ApiVersion::V3, 1122), (ApiVersion::V4, 1020), (ApiVersion::V4, 1060)][..]);
    let change = (maybe(0.5, text()), maybe(0.2, version), maybe(0.3, state()), maybe(0.2, seconds()))
        .prop_map(|(content, version, intent, pole_position)| Change { content, version, intent, pole_position });
    let action = select(&[Action::Publish, Action::Delete][..]);
    let work = (
        maybe(0.2, state()),
        maybe(0.2, state()),
        maybe(0.2, 0..3_usize),
        proptest::collection::vec((market(), listing()), 0..2),
        maybe(0.2, maybe(0.5, seconds())),
        maybe(0.2, maybe(0.5, action)),
    )
        .prop_map(|(state, intent, images, listings, pole_position, leftover)| Work {
            state,
            intent,
            images,
            listings,
            pole_position,
            leftover,
        });
    let then = prop_oneof![Just(Then::Goes), seconds().prop_map(Then::Waits), Just(Then::Finished)];
    let operation = prop_oneof![
        4 => (dealer(), select(&SOURCES[..]), text())
            .prop_map(|(dealer, source, content)| Operation::Create { dealer, source, content }),
        4 => (0..4_usize, proptest::bool::weighted(0.1), change, 0..3_u64)
            .prop_map(|(ad, stale, change, request_in)| Operation::Revise { ad, stale, change, request_in }),
        4 => (proptest::bool::weighted(0.1), subsequence(&DEALERS[..], 0..=1))
            .prop_map(|(nothing, full)| Operation::Claim { nothing, full }),
        6 => (0..6_usize, 0..3_usize, work, then)
            .prop_map(|(claim, entries, change, outcome)| Operation::Record { claim, entries, change, outcome }),
        1 => (0..6_usize, seconds()).prop_map(|(claim, seconds)| Operation::Extend { claim, seconds }),
        1 => seconds().prop_map(|after| Operation::Release { after }),
        2 => (0..5_usize, market(), listing()).prop_map(|(ad, market, listing)| Operation::Tie { ad, market, listing }),
        1 => (dealer(), select(&["aa", "bb"][..]), 0..9_u64)
            .prop_map(|(dealer, checksum, bytes)| Operation::Image { dealer, checksum, bytes }),
        2 => seconds().prop_map(|seconds| Operation::Wait { seconds }),
    ];
    proptest::collection::vec(operation, 1..30)
}

/// A store with what this run knows of it.
struct Subject {
    name: &'static str,
    store: Arc<dyn Store>,
    claims: Vec<Claimed>,
}

/// What all stores are told alike: names of this run only, so that runs do not meet in one database.
struct World {
    run: u64,
    now: Timestamp,
    ads: Vec<Ad>,
    requests: u128,
}

impl World {
    fn dealer(&self, dealer: &str) -> String {
        format!("{dealer}-{}", self.run)
    }

    fn listing(&self, listing: &str) -> String {
        format!("{listing}-{}", self.run)
    }

    fn id(&self, number: u128) -> Uuid {
        Uuid::from_u128((u128::from(self.run) << 32) + number)
    }

    /// An ad, or the id of one that is not there.
    fn ad(&self, number: usize) -> Uuid {
        self.ads.get(number).map_or_else(|| self.id(0xffff), |ad| ad.id)
    }

    /// Ids of the latest requests; not all were accepted.
    fn latest_requests(&self) -> impl Iterator<Item = Uuid> {
        (1..=self.requests).rev().take(6).map(|number| self.request_id(number))
    }

    fn request_id(&self, number: u128) -> Uuid {
        self.id(0x1_0000 + number)
    }

    fn request(&mut self, action: Action, accepted: Timestamp) -> Request {
        self.requests += 1;
        let plan = Plan { actions: vec![action], markets: vec![Market::Primary] };
        Request::new(self.request_id(self.requests), Some(plan), accepted)
    }
}

fn content(text: Text) -> Content {
    let fields = match text {
        Text::Plain => {
            json!({"title": "Volvo V60", "body": "Fin bil", "category_fields": {"registration_number": "ABC123"}})
        }
        Text::Other => json!({"title": "Saab", "body": "ÅÄÖ fin", "category_fields": {"model_year": 2019.5}}),
        Text::Odd => json!({"body": "\u{0} \\u0000 \" 🚗", "category_fields": {"registration_number": "åäö"}}),
        Text::Empty => json!({}),
        Text::ClearedMileage => {
            let text = r#"{"cleared_mileage":"zero","title":"Fin","visible":false}"#;
            return Content::stored(text.to_owned()).unwrap();
        }
    };
    fields.as_object().unwrap().clone().into()
}

/// Does an operation, and tells the outcome in words that are the same for every store.
async fn apply(subject: &mut Subject, world: &World, operation: &Operation, request: &Request) -> String {
    let store = &*subject.store;
    match operation {
        Operation::Create { content: text, dealer, source } => {
            let ad = new_ad(world, dealer, source, *text);
            let entry = entry(request.id, Action::Create, world.now);
            told(store.create(NewAd { ad: &ad, request, entry: &entry, answer: None }).await)
        }
        Operation::Revise { ad, stale, change, .. } => {
            let found = match world.ads.get(*ad) {
                Some(ad) => find(store, &ad.dealer_code, &ad.source_id).await,
                None => None,
            };
            let content = change.content.map(content);
            let revision = Revision {
                ad: world.ad(*ad),
                dealer_code: found.as_ref().map_or("", |(stored, _)| stored.ad.dealer_code.as_str()),
                revision: found.as_ref().map_or(0, |(stored, _)| stored.revision) - i64::from(*stale),
                content: content.as_ref(),
                quality_score: content.as_ref().and_then(|content| u8::try_from(content.bytes() % 101).ok()),
                price_before: None,
                replaced: None,
                version: change.version,
                intent: change.intent,
                pole_position_until: change.pole_position.map(|seconds| world.now + Duration::from_secs(seconds)),
                words: StatusWords::default(),
                updated: world.now,
                request,
                coalesces: false,
                reservation: None,
                answer: None,
            };
            told(store.revise(revision).await)
        }
        Operation::Claim { nothing, full } => {
            let full: Vec<_> = full.iter().map(|dealer| world.dealer(dealer)).collect();
            let capacity =
                Capacity { limit: if *nothing { 0 } else { 1000 }, per_dealer: 1000, full: &full, woken: false };
            let claims = store.claim(world.now, world.now + LEASE, capacity).await.unwrap();
            let shown: Vec<_> =
                claims.claimed.iter().map(|claimed| (claimed.request.clone(), shown(&claimed.stored))).collect();
            subject.claims.extend(claims.claimed);
            format!("{shown:?}, next {:?}", claims.next_due)
        }
        Operation::Record { claim, entries, change, outcome } => {
            let Some(claimed) = subject.claims.get(*claim) else { return String::new() };
            let record = record(world, claimed, *entries, change, *outcome);
            told(store.record(record).await)
        }
        Operation::Extend { claim, seconds } => {
            let Some(claimed) = subject.claims.get(*claim) else { return String::new() };
            let until = world.now + Duration::from_secs(*seconds);
            told(store.extend(claimed.request.id, claimed.lease, until).await)
        }
        Operation::Release { after } => told(store.release(world.now, world.now + Duration::from_secs(*after)).await),
        Operation::Tie { ad, market, listing } => {
            told(store.link_listing(world.ad(*ad), *market, &world.listing(listing)).await)
        }
        Operation::Image { dealer, checksum, bytes } => {
            told(store.add_dealer_image(&world.dealer(dealer), checksum, *bytes).await)
        }
        Operation::Wait { .. } => String::new(),
    }
}

/// Reasons of failures are each store's own.
fn told<T: Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(StoreError::Unavailable(reason) | StoreError::Faulty(reason)) => panic!("{reason}"),
        Err(error) => format!("{error:?}"),
    }
}

fn new_ad(world: &World, dealer: &str, source: &str, text: Text) -> Ad {
    Ad {
        id: world.id(world.ads.len() as u128),
        source_id: source.to_owned(),
        dealer_code: world.dealer(dealer),
        category_id: 1020,
        state: AdState::Created,
        api_version: ApiVersion::V4,
        content: content(text),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: world.now,
        updated: world.now,
    }
}

fn entry(request_id: Uuid, action: Action, created: Timestamp) -> LogEntry {
    LogEntry::new(request_id, created, action, ActionState::Done, json!({"message": "Å", "n": [1, null]}))
}

fn record(world: &World, claimed: &Claimed, entries: usize, work: &Work, outcome: Then) -> Record {
    let until = |seconds| world.now + Duration::from_secs(seconds);
    let image = |number: usize| ImageRef {
        url: format!("https://a/{number}"),
        cdn_url: format!("https://b/{number}"),
        id: world.id(0xf000 + number as u128),
        checksum: "ab".to_owned(),
        photo: None,
    };
    let source = |number: usize| ImageSource { bytes: number as u64, validators: Validators::default() };
    let progress = Progress { tries: 3, reason: Some("Å".to_owned()), ..Progress::default() };
    let words = |status, channel, failure| StatusWords { status, primary: Some(channel), secondary: None, failure };
    let listed = |(market, _): &(Market, _)| {
        let failure = ChannelFailure { code: Code::GivenUp, reason: "Å\0".to_owned(), attempts: 1, paused: false };
        (*market, PublishedChannel { listed: true, since: world.now, failure: Some(failure) })
    };
    let publication = Publication { channels: work.listings.iter().map(listed).collect(), ..Publication::default() };
    Record {
        ad: claimed.stored.ad.id,
        request: claimed.request.id,
        lease: claimed.lease,
        entries: vec![entry(claimed.request.id, Action::Publish, world.now); entries],
        calls: Vec::new(),
        confirmed: None,
        changes: None,
        change: AdChange {
            state: work.state,
            intent: work.intent,
            image_refs: work.images.map(|count| (0..count).map(image).collect()),
            image_sources: work
                .images
                .map(|count| (0..count).map(|number| (image(number).url, source(number))).collect()),
            listings: work.listings.iter().map(|(market, listing)| (*market, world.listing(listing))).collect(),
            pole_position_until: work.pole_position.map(|until_in| until_in.map(until)),
            leftover: work.leftover.map(|action| Leftover {
                delete: action == Some(Action::Delete),
                promotion: action.map(|action| Plan { actions: vec![action], markets: vec![] }),
                ..Leftover::default()
            }),
        },
        publication: (!work.listings.is_empty()).then_some(publication),
        quality_score: work.images.and_then(|count| {
            Some(ContentScore { revision: claimed.stored.tag.revision, score: u8::try_from(count * 40).ok()? })
        }),
        words: match outcome {
            Then::Goes => StatusWords::processing(&[Market::Primary]),
            Then::Waits(_) => words(AdStatus::Waiting, ChannelStatus::Waiting, Some(Code::MarketplaceBusy)),
            Then::Finished if work.state == Some(AdState::Deleted) => {
                words(AdStatus::Deleted, ChannelStatus::NotListed, None)
            }
            Then::Finished => words(AdStatus::Live, ChannelStatus::Live, None),
        },
        outcome: match outcome {
            Then::Goes => Outcome::Continues { progress },
            Then::Waits(seconds) => Outcome::Waits { progress, until: until(seconds) },
            Then::Finished => Outcome::Finished,
        },
        at: world.now,
    }
}

async fn find(store: &dyn Store, dealer: &str, source: &str) -> Option<(StoredAd, Vec<LogEntry>)> {
    store.find(Scope::Dealer(dealer), source, LogEntries::Latest).await.unwrap().pop()
}

/// All of an ad, told alike whether its content was taken apart or not.
fn shown(stored: &StoredAd) -> String {
    let StoredAd { ad, revision, tag, intent, pole_position_until, leftover, publication, words, status_since } =
        stored;
    let text = ad.content.stored_text().unwrap();
    format!(
        "{} {text} {revision} {tag} {intent:?} {pole_position_until:?} {leftover:?} {publication:?} {words:?} {status_since}",
        json!(ad.view(None))
    )
}

/// Everything that can be seen in a store.
async fn state(store: &dyn Store, world: &World) -> Vec<String> {
    let mut seen = Vec::new();
    let dealers = DEALERS.map(|dealer| world.dealer(dealer));
    for source in SOURCES {
        for (stored, log) in store.find(Scope::Dealers(&dealers), source, LogEntries::Latest).await.unwrap() {
            seen.push(format!("{source}: {} {log:?}", shown(&stored)));
        }
        seen.push(told(store.tags(Scope::Dealers(&dealers), source).await));
        for facts in store.facts(Scope::Dealers(&dealers), source).await.unwrap() {
            seen.push(format!("{} {:?}", shown(&facts.stored), facts.unfinished));
        }
        seen.push(told(store.is_used(&dealers[0], source).await));
    }
    for request in world.latest_requests() {
        seen.push(told(store.request(Scope::Dealers(&dealers), request).await));
    }
    for number in 0..=world.ads.len() {
        seen.push(told(store.is_live(world.ad(number)).await));
        let query = LogQuery {
            dealer_code: None,
            action: (number % 2 == 0).then_some(Action::Publish),
            state: None,
            request_id: None,
            descending: number % 3 == 0,
            page: Page { limit: 3, offset: 1 },
        };
        seen.push(told(store.log(world.ad(number), &query).await));
    }
    let counts = store.count_by_status(Scope::Dealers(&dealers)).await.unwrap();
    seen.push(format!("{:?}", status::summary(counts)));
    for (number, filters) in filters(world).into_iter().enumerate() {
        let query = AdQuery {
            filters,
            order: [AdOrder::Created, AdOrder::Updated, AdOrder::SourceId][number % 3],
            descending: number % 2 == 0,
            page: Page { limit: 4, offset: u64::from(number % 4 == 3) },
            fields: None,
            included: Included { log: false, status: true, quality: false, warnings: false },
        };
        let page = store.list(Scope::Dealers(&dealers), &query).await.unwrap();
        let rows: Vec<_> = page
            .rows
            .iter()
            .map(|listed| json!(listed.ad.view(Some(&listed.log)).with_status(Some(listed.words.status))).to_string())
            .collect();
        seen.push(format!("list {number}: {} {rows:?}", page.count));
    }
    for dealer in &dealers {
        for of in [Usage::Requests, Usage::Ads, Usage::ImageBytes] {
            seen.push(format!("{of:?}: {}", told(store.usage(dealer, of, 3).await)));
        }
        seen.push(told(store.has_dealer_image(dealer, "aa").await));
    }
    seen
}

fn filters(world: &World) -> Vec<Vec<AdFilter>> {
    vec![
        vec![],
        vec![AdFilter::Search("fin".to_owned())],
        vec![AdFilter::State(AdState::Deleted)],
        vec![AdFilter::Status(vec![AdStatus::Live, AdStatus::Waiting])],
        vec![AdFilter::Status(vec![AdStatus::Processing]), AdFilter::CategoryId(vec![1020])],
        vec![AdFilter::RegistrationNumber("ABC123".to_owned())],
        vec![AdFilter::MarketplaceAdId(vec![world.listing("l-1")])],
        vec![AdFilter::SourceIdContains("A".to_owned()), AdFilter::CategoryId(vec![1020, 1060])],
        vec![AdFilter::QualityScore(Bound::Lt, 40)],
        vec![AdFilter::QualityScore(Bound::Gte, 40), AdFilter::State(AdState::Created)],
        vec![AdFilter::Time(AdOrder::Updated, Bound::Gte, world.now)],
    ]
}

/// Runs the operations on every store at once, and compares after each.
async fn compare(subjects: &mut [Subject], world: &mut World, operations: &[Operation]) -> Result<(), TestCaseError> {
    for operation in operations {
        if let Operation::Wait { seconds } = operation {
            world.now = world.now + Duration::from_secs(*seconds);
        }
        let accepted = match operation {
            Operation::Revise { request_in, .. } => world.now + Duration::from_secs(*request_in),
            _ => world.now,
        };
        let request = world.request(Action::Update, accepted);
        let mut outcomes = Vec::new();
        for subject in &mut *subjects {
            outcomes.push(apply(subject, world, operation, &request).await);
        }
        if let (Operation::Create { dealer, source, content }, "()") = (operation, outcomes[0].as_str()) {
            world.ads.push(new_ad(world, dealer, source, *content));
        }
        let expected = state(&*subjects[0].store, world).await;
        for (subject, outcome) in subjects.iter().zip(&outcomes).skip(1) {
            prop_assert_eq!(&outcomes[0], outcome, "{} answers {:?} otherwise", subject.name, operation);
            let seen = state(&*subject.store, world).await;
            let differs = expected.iter().zip(&seen).find(|(expected, seen)| expected != seen);
            prop_assert!(differs.is_none(), "{} differs after {:?}: {:#?}", subject.name, operation, differs);
        }
    }
    Ok(())
}

/// Finishes what the run before left in the queue.
async fn drain(subject: &mut Subject, now: Timestamp) {
    loop {
        let claims = subject.store.claim(now, now + LEASE, 1000.into()).await.unwrap();
        if claims.claimed.is_empty() {
            break;
        }
        for claimed in claims.claimed {
            let record = Record {
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
                outcome: Outcome::Finished,
                at: now,
            };
            subject.store.record(record).await.unwrap();
        }
    }
    subject.claims.clear();
}

#[test]
fn no_sequence_of_operations_tells_the_stores_apart() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut subjects = runtime.block_on(async {
        let url = format!("sqlite://{}", folder.path().join("ads.db").display());
        let sqlite = DatabaseStore::new(Database::open(&url).await.unwrap());
        let mut stores: Vec<(_, Arc<dyn Store>)> =
            vec![("memory", Arc::new(MemoryStore::default())), ("SQLite", Arc::new(sqlite))];
        if let Some(postgres) = Postgres::shared().await {
            let database = Database::open(&postgres.database().await).await.unwrap();
            stores.push(("PostgreSQL", Arc::new(DatabaseStore::new(database))));
        }
        stores.into_iter().map(|(name, store)| Subject { name, store, claims: Vec::new() }).collect::<Vec<_>>()
    });
    let asked: Option<u32> = std::env::var("STORE_PROPERTIES").ok().and_then(|cases| cases.parse().ok());
    let begun = Instant::now();
    let runs = Cell::new(0_u64);
    let config = Config { cases: asked.unwrap_or(CASES), failure_persistence: None, ..Config::default() };
    let subjects = std::cell::RefCell::new(&mut subjects);
    let failed = Cell::new(false);
    let outcome = TestRunner::new(config).run(&operations(), |operations| {
        // A sequence that fails is shortened however long that takes.
        if asked.is_none() && !failed.get() && begun.elapsed() > LONGEST {
            return Ok(());
        }
        runs.set(runs.get() + 1);
        // No run reaches the time of the next.
        let now = Timestamp::from_millis(1_768_471_200_000) + Duration::from_hours(runs.get());
        let mut world = World { run: runs.get(), now, ads: Vec::new(), requests: 0 };
        let mut subjects = subjects.borrow_mut();
        let compared = runtime.block_on(async {
            for subject in subjects.iter_mut() {
                drain(subject, now).await;
            }
            compare(&mut subjects, &mut world, &operations).await
        });
        failed.set(failed.get() || compared.is_err());
        compared
    });
    println!("{} sequences", runs.get());
    if let Err(TestError::Fail(reason, operations)) = outcome {
        panic!("{reason}\nafter the operations {operations:#?}");
    }
}
