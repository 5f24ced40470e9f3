//! What every store has to do with promotions by the clock (`ad_core::ports::PromotionStore`), in memory, in SQLite, and in PostgreSQL.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use ad_core::{
    categories,
    memory::{CountingIds, ManualClock, MemoryDirectory},
    model::{
        AdsOrder, Amount, AskedBy, DEFAULT_PER_RUN, Dealer, MOST_PROMOTIONS, MOST_RUNS, Market, Month, Page, Promotion,
        PromotionKind, PromotionRules, PromotionRun, RequestOrigin, RunAd, RunOutcome, Timestamp, Via, Weekday,
    },
    ports::{
        AfterRun, ClaimedPromotion, PAGE_BYTES, PromotionLease, PromotionStore, RecordedRun, Scope, StartedRun, Store,
        StoreError,
    },
    rulebook::Rulebook,
    service::{Access, Promotions, Service},
    violation::Code,
};
use ad_server::api::{EmptyAnswer, selected};
use ad_tests::Postgres;
use futures_util::future::join_all;
use serde_json::json;
use uuid::Uuid;

use crate::store_contract::{at, database, id, on_every_store};

/// A store of both kinds.
trait BothStores: Store + PromotionStore {}
impl<T: Store + PromotionStore> BothStores for T {}

on_every_store!(
    a_schedule_is_read_and_listed_as_it_was_written,
    a_dealer_has_at_most_a_hundred_schedules,
    a_change_is_bound_to_a_revision_and_leaves_a_run_alone,
    schedules_are_claimed_by_the_time_at_which_they_are_due,
    of_many_who_claim_one_gets_each_schedule,
    a_run_is_recorded_in_parts_and_ends_once,
    who_lost_the_lease_records_nothing,
    a_run_that_is_put_off_is_resumed_as_it_was,
    a_removed_schedule_is_gone_with_its_runs,
    what_runs_have_cost_is_added_up_by_month,
    the_latest_runs_are_kept,
    a_page_of_runs_ends_at_its_most_bytes,
);

const LEASE: Duration = Duration::from_secs(30);
const NORTH: Scope<'_> = Scope::Dealer("north");

fn promotion(number: u128, dealer_code: &str, next_run: Option<Timestamp>) -> Promotion {
    let origin = RequestOrigin { asked_by: Some("jti-1".to_owned()), via: Some(Via::Api), ..RequestOrigin::default() };
    Promotion {
        id: id(number),
        dealer_code: dealer_code.to_owned(),
        rules: PromotionRules {
            kind: PromotionKind::Bump,
            select: json!({"category_id__in": [1020, 1060], "search": "Ö'\"\\\u{0}"}).as_object().cloned().unwrap(),
            order: AdsOrder::default(),
            most_per_run: DEFAULT_PER_RUN,
            min_age_days: Some(30),
            weekdays: Some(vec![Weekday::Monday, Weekday::Sunday]),
            at: "08:30".parse().unwrap(),
            zone: "Europe/Stockholm".to_owned(),
            until: Some("2026-12-31".parse().unwrap()),
            budget: Some(Amount::from_hundredths(12_345)),
            exclude_primary: false,
            exclude_secondary: true,
        },
        paused: next_run.is_none(),
        next_run,
        last_run: None,
        created: at(0),
        asked_by: AskedBy { token: Some("jti-1".to_owned()), label: None },
        revision: 0,
        origin,
    }
}

async fn add(store: &dyn BothStores, number: u128, next_run: Timestamp) -> Promotion {
    let promotion = promotion(number, "north", Some(next_run));
    assert!(store.add_promotion(&promotion).await.unwrap());
    promotion
}

async fn find(store: &dyn BothStores, promotion: &Promotion) -> Promotion {
    store.promotion(NORTH, promotion.id).await.unwrap().unwrap()
}

/// Claims the only schedule that is due.
async fn claim(store: &dyn BothStores, now: Timestamp) -> ClaimedPromotion {
    let mut claimed = store.claim_promotions(now, now + LEASE, 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    claimed.remove(0)
}

fn month(text: &str) -> Month {
    text.parse().unwrap()
}

fn open(n: u32) -> RunAd {
    RunAd { n, source_id: format!("car-{n}"), outcome: None }
}

fn promoted(n: u32) -> RunAd {
    let request_id = Uuid::from_u128(u128::from(n) + 100);
    let cost = Some(Amount::from_hundredths(2950));
    RunAd { outcome: Some(RunOutcome::Promoted { request_id, cost }), ..open(n) }
}

fn skipped(n: u32) -> RunAd {
    RunAd { outcome: Some(RunOutcome::Skipped(Code::AdHidden)), ..open(n) }
}

fn part(due: Timestamp, ads: &[RunAd], then: AfterRun) -> RecordedRun<'_> {
    let done: Vec<_> = ads.iter().filter(|ad| ad.outcome.is_some()).collect();
    let promoted = done.iter().filter(|ad| matches!(ad.outcome, Some(RunOutcome::Promoted { .. }))).count();
    let cost = (promoted > 0).then(|| Amount::from_hundredths(2950).times(u32::try_from(promoted).unwrap()));
    let last = done.last().map(|ad| ad.n);
    RecordedRun { due, started: due, month: month("2026-06"), cost, currency: "SEK", ads, last, then }
}

fn ended(at: Timestamp, next: Option<Timestamp>) -> AfterRun {
    AfterRun::Ended { revision: 0, ended: at, next }
}

async fn runs(store: &dyn BothStores, promotion: &Promotion) -> Vec<PromotionRun> {
    store.promotion_runs(promotion.id, Page::default()).await.unwrap().rows
}

async fn a_schedule_is_read_and_listed_as_it_was_written(store: &dyn BothStores) {
    let first = add(store, 1, at(10)).await;
    let paused = promotion(2, "south", None);
    assert!(store.add_promotion(&paused).await.unwrap());
    let third = add(store, 3, at(5)).await;
    assert_eq!(find(store, &first).await, first);
    assert_eq!(store.promotion(NORTH, paused.id).await.unwrap(), None);
    assert_eq!(store.promotion(NORTH, id(9)).await.unwrap(), None);
    let page = store.promotions(NORTH, Page::default()).await.unwrap();
    assert_eq!((page.count, page.rows), (2, vec![third.clone(), first.clone()]));
    let both = ["north".to_owned(), "south".to_owned()];
    let page = store.promotions(Scope::Dealers(&both), Page { limit: 1, offset: 1 }).await.unwrap();
    assert_eq!((page.count, page.rows), (3, vec![paused]));
    let page = store.promotions(Scope::Dealers(&[]), Page::default()).await.unwrap();
    assert_eq!((page.count, page.rows), (0, Vec::new()));
    let page = store.promotions(NORTH, Page { limit: 5, offset: 7 }).await.unwrap();
    assert_eq!((page.count, page.rows), (2, Vec::new()));
}

async fn a_dealer_has_at_most_a_hundred_schedules(store: &dyn BothStores) {
    let all: Vec<_> =
        (0..u128::from(MOST_PROMOTIONS) + 5).map(|number| promotion(number + 1, "north", Some(at(1)))).collect();
    let added = join_all(all.iter().map(|promotion| store.add_promotion(promotion))).await;
    assert_eq!(added.into_iter().filter(|added| *added.as_ref().unwrap()).count(), MOST_PROMOTIONS as usize);
    assert!(store.add_promotion(&promotion(900, "south", None)).await.unwrap());
    let page = store.promotions(NORTH, Page::default()).await.unwrap();
    assert!(store.remove_promotion(page.rows[0].id).await.unwrap());
    assert!(store.add_promotion(&promotion(901, "north", None)).await.unwrap());
    assert!(!store.add_promotion(&promotion(902, "north", None)).await.unwrap());
}

async fn a_change_is_bound_to_a_revision_and_leaves_a_run_alone(store: &dyn BothStores) {
    let made = add(store, 1, at(10)).await;
    let mut changed = Promotion { paused: true, next_run: None, ..made.clone() };
    changed.rules.most_per_run = 7;
    changed.origin.asked_by = Some("jti-2".to_owned());
    changed.asked_by.token = Some("jti-2".to_owned());
    assert!(store.change_promotion(&changed).await.unwrap());
    assert!(!store.change_promotion(&changed).await.unwrap());
    changed.revision = 1;
    assert_eq!(find(store, &made).await, changed);
    assert!(store.claim_promotions(at(20), at(50), 10).await.unwrap().is_empty());

    let resumed = Promotion { paused: false, next_run: Some(at(20)), ..changed };
    assert!(store.change_promotion(&resumed).await.unwrap());
    let claimed = claim(store, at(25)).await;
    let other = Promotion { paused: true, next_run: None, revision: 2, ..resumed };
    assert!(store.change_promotion(&other).await.unwrap());
    assert_eq!(find(store, &made).await.next_run, Some(at(20)), "a run is under way");
    let end = |revision| AfterRun::Ended { revision, ended: at(26), next: None };
    assert!(!store.record_run(claimed.lease, &part(at(20), &[promoted(0)], end(2))).await.unwrap());
    assert!(runs(store, &made).await.is_empty(), "nothing is recorded");
    assert!(store.record_run(claimed.lease, &part(at(20), &[promoted(0)], end(3))).await.unwrap());
    let now = find(store, &made).await;
    assert_eq!((now.next_run, now.last_run, now.paused), (None, Some(at(20)), true));
}

async fn schedules_are_claimed_by_the_time_at_which_they_are_due(store: &dyn BothStores) {
    let made = [add(store, 1, at(10)).await, add(store, 2, at(5)).await, add(store, 3, at(30)).await];
    assert!(store.claim_promotions(at(4), at(50), 10).await.unwrap().is_empty());
    let first = store.claim_promotions(at(20), at(50), 1).await.unwrap();
    let expected = ClaimedPromotion {
        lease: PromotionLease { promotion: made[1].id, lease: 1 },
        promotion: made[1].clone(),
        due: at(5),
        run: None,
    };
    assert_eq!(first, [expected]);
    let rest = store.claim_promotions(at(30), at(50), 10).await.unwrap();
    assert_eq!(rest.iter().map(|it| it.promotion.id).collect::<BTreeSet<_>>(), [made[0].id, made[2].id].into());
    assert!(store.claim_promotions(at(49), at(90), 10).await.unwrap().is_empty());
    let again = store.claim_promotions(at(50), at(90), 10).await.unwrap();
    assert_eq!(again.len(), 3);
    let second = again.iter().find(|it| it.promotion.id == made[1].id).unwrap();
    assert_eq!((second.due, second.lease.lease), (at(5), 2));
}

async fn of_many_who_claim_one_gets_each_schedule(store: &dyn BothStores) {
    for number in 1..=40 {
        add(store, number, at(10)).await;
    }
    let claimed = join_all((0..20).map(|_| store.claim_promotions(at(10), at(50), 7))).await;
    let all: Vec<_> = claimed.into_iter().flat_map(Result::unwrap).map(|it| it.promotion.id).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "one is claimed twice");
    let left = store.claim_promotions(at(10), at(50), 100).await.unwrap().len();
    assert_eq!(all.len() + left, 40);
}

async fn a_run_is_recorded_in_parts_and_ends_once(store: &dyn BothStores) {
    let made = add(store, 1, at(10)).await;
    let ClaimedPromotion { lease, .. } = claim(store, at(12)).await;
    let all = [open(0), open(1), open(2), open(3)];
    assert!(store.record_run(lease, &part(at(10), &all, AfterRun::GoOn(at(60)))).await.unwrap());
    let [run] = &runs(store, &made).await[..] else { panic!("no run") };
    assert!(run.promoted.is_empty() && run.skipped.is_empty() && run.ended.is_none());
    let some = [promoted(0), skipped(1)];
    assert!(store.record_run(lease, &part(at(10), &some, AfterRun::GoOn(at(60)))).await.unwrap());
    // A worker that is killed; the next one goes on.
    let next = claim(store, at(60)).await;
    let expected =
        StartedRun { started: at(10), month: month("2026-06"), ads: vec![promoted(0), skipped(1), open(2), open(3)] };
    assert_eq!((next.due, next.run), (at(10), Some(expected)));
    let done = [promoted(0), skipped(1), promoted(2)];
    assert!(store.record_run(next.lease, &part(at(10), &done, ended(at(61), Some(at(100))))).await.unwrap());
    let expected =
        PromotionRun::of(at(10), at(10), Some(at(61)), "SEK".to_owned(), vec![promoted(0), skipped(1), promoted(2)]);
    assert_eq!(expected.cost, Some(Amount::from_hundredths(5900)));
    assert_eq!(runs(store, &made).await, [expected]);
    let now = find(store, &made).await;
    assert_eq!((now.next_run, now.last_run), (Some(at(100)), Some(at(10))));
    assert!(store.claim_promotions(at(99), at(200), 10).await.unwrap().is_empty());
    let next = claim(store, at(100)).await;
    assert_eq!((next.due, next.run), (at(100), None));
    // A run without ads is recorded too.
    assert!(store.record_run(next.lease, &part(at(100), &[], ended(at(101), None))).await.unwrap());
    let latest = &runs(store, &made).await[0];
    assert_eq!((latest.due, latest.ended, latest.promoted.len()), (at(100), Some(at(101)), 0));
}

async fn who_lost_the_lease_records_nothing(store: &dyn BothStores) {
    let made = add(store, 1, at(10)).await;
    let slow = claim(store, at(10)).await;
    let quick = claim(store, at(50)).await;
    let lost = |result: Result<bool, StoreError>| matches!(result, Err(StoreError::LeaseLost));
    let go_on = AfterRun::GoOn(at(90));
    for then in [go_on, AfterRun::Later(at(51)), ended(at(51), None)] {
        assert!(lost(store.record_run(slow.lease, &part(at(10), &[promoted(0)], then)).await));
    }
    assert!(runs(store, &made).await.is_empty());
    assert!(store.record_run(quick.lease, &part(at(10), &[promoted(0)], ended(at(51), None))).await.unwrap());
    assert!(lost(store.record_run(quick.lease, &part(at(10), &[promoted(1)], go_on)).await), "its run has ended");
    assert_eq!(runs(store, &made).await[0].promoted.len(), 1);
}

async fn a_run_that_is_put_off_is_resumed_as_it_was(store: &dyn BothStores) {
    let made = add(store, 1, at(10)).await;
    let first = claim(store, at(10)).await;
    let strange = RunAd { source_id: "Ö'\"\\\u{0}\u{10fffe}".to_owned(), ..open(1) };
    let ads = [skipped(0), strange.clone()];
    assert!(store.record_run(first.lease, &part(at(10), &ads, AfterRun::Later(at(15)))).await.unwrap());
    let go_on = part(at(10), &[], AfterRun::GoOn(at(60)));
    assert!(matches!(store.record_run(first.lease, &go_on).await, Err(StoreError::LeaseLost)));
    let second = claim(store, at(15)).await;
    assert_eq!(second.run.map(|run| run.ads), Some(vec![skipped(0), strange]));
    assert_eq!(find(store, &made).await.next_run, Some(at(10)));
}

async fn a_removed_schedule_is_gone_with_its_runs(store: &dyn BothStores) {
    let made = add(store, 1, at(10)).await;
    let claimed = claim(store, at(10)).await;
    let ads = [promoted(0), open(1)];
    assert!(store.record_run(claimed.lease, &part(at(10), &ads, AfterRun::GoOn(at(60)))).await.unwrap());
    assert!(store.remove_promotion(made.id).await.unwrap());
    assert!(!store.remove_promotion(made.id).await.unwrap());
    assert_eq!(store.promotion(NORTH, made.id).await.unwrap(), None);
    let late = store.record_run(claimed.lease, &part(at(10), &ads, ended(at(11), None))).await;
    assert!(matches!(late, Err(StoreError::LeaseLost)));
    assert!(runs(store, &made).await.is_empty());
    assert_eq!(store.spent_by_promotion(made.id, month("2026-06"), at(0)).await.unwrap(), Amount::ZERO);
}

/// Makes a run of a schedule that is due.
async fn run(store: &dyn BothStores, due: Timestamp, month: Month, ads: &[RunAd], next: Timestamp) {
    let claimed = claim(store, due).await;
    let recorded = RecordedRun { month, ..part(due, ads, ended(due, Some(next))) };
    assert!(store.record_run(claimed.lease, &recorded).await.unwrap());
}

async fn what_runs_have_cost_is_added_up_by_month(store: &dyn BothStores) {
    let made = add(store, 1, at(10)).await;
    run(store, at(10), month("2026-06"), &[promoted(0), promoted(1)], at(20)).await;
    run(store, at(20), month("2026-06"), &[promoted(0)], at(30)).await;
    run(store, at(30), month("2026-07"), &[promoted(0)], at(40)).await;
    run(store, at(40), month("2026-07"), &[skipped(0)], at(50)).await;
    let spent = async |name, except| store.spent_by_promotion(made.id, month(name), except).await.unwrap().hundredths();
    assert_eq!(spent("2026-06", at(0)).await, 3 * 2950);
    assert_eq!(spent("2026-06", at(20)).await, 2 * 2950);
    assert_eq!(spent("2026-07", at(0)).await, 2950);
    assert_eq!(spent("2026-08", at(0)).await, 0);
}

async fn the_latest_runs_are_kept(store: &dyn BothStores) {
    let made = add(store, 1, at(0)).await;
    let most = i64::from(MOST_RUNS);
    for number in 0..most + 3 {
        run(store, at(number), month("2026-06"), &[promoted(0)], at(number + 1)).await;
    }
    let page = store.promotion_runs(made.id, Page { limit: 500, offset: 0 }).await.unwrap();
    assert_eq!((page.count, page.rows.len()), (u64::from(MOST_RUNS), MOST_RUNS as usize));
    assert_eq!((page.rows[0].due, page.rows.last().unwrap().due), (at(most + 2), at(3)));
    assert!(page.rows.iter().all(|run| run.promoted.len() == 1));
    let page = store.promotion_runs(made.id, Page { limit: 2, offset: 99 }).await.unwrap();
    assert_eq!((page.count, page.rows.len()), (u64::from(MOST_RUNS), 1));
}

async fn a_page_of_runs_ends_at_its_most_bytes(store: &dyn BothStores) {
    let made = add(store, 1, at(0)).await;
    let long: Vec<_> = (0..1000).map(|n| RunAd { source_id: format!("{n:0>255}"), ..skipped(n) }).collect();
    for number in 0..30 {
        run(store, at(number), month("2026-06"), &long, at(number + 1)).await;
    }
    let page = store.promotion_runs(made.id, Page { limit: 500, offset: 0 }).await.unwrap();
    let bytes = serde_json::to_vec(&page.rows).unwrap().len() as u64;
    assert_eq!(page.count, 30);
    assert!(!page.rows.is_empty() && page.rows.len() < 30, "{}", page.rows.len());
    assert!(bytes <= PAGE_BYTES + 100_000, "{bytes}");
}

/// 10,000 schedules of 100 dealers that are due at the same time, each for one ad.
async fn many_due_schedules(url: &str) {
    const DEALERS: usize = 100;
    const EACH: usize = 100;
    let store = Arc::new(database(url).await);
    let codes: Vec<_> = (0..DEALERS).map(|n| format!("dealer-{n}")).collect();
    let dealer = |code: &String| Dealer { bump: vec![Market::Primary], ..Dealer::named(code) };
    let directory: Arc<MemoryDirectory> = Arc::new(codes.iter().map(dealer).collect());
    let (clock, ids) = (Arc::new(ManualClock::default()), Arc::new(CountingIds::default()));
    let service = Service::new(store.clone(), directory, Arc::new(Rulebook::default()), clock.clone(), ids.clone());
    let promotions = Promotions::new(service.clone(), store.clone(), selected, &EmptyAnswer);
    let car = categories::by_vehicle_type("car").unwrap();
    let due = ad_core::ports::Clock::now(&*clock);
    let of_dealer = |(number, code): (usize, String)| {
        let (service, store, ids) = (&service, &store, &ids);
        async move {
            for n in 0..EACH {
                let payload = crate::payloads::plain_car(&format!("car-{n}"), &format!("ABC{n:03}"));
                let payload = payload.as_object().cloned().unwrap();
                let id = ad_core::ports::Ids::next(&**ids);
                service.create(&Access::Dealer(code.clone()), id, car, payload).await.unwrap();
                let mut made = promotion((number * EACH + n) as u128 + 1, &code, Some(due));
                made.rules.select = json!({"source_id": format!("car-{n}")}).as_object().cloned().unwrap();
                made.rules.budget = None;
                assert!(store.add_promotion(&made).await.unwrap());
            }
        }
    };
    join_all(codes.into_iter().enumerate().map(of_dealer)).await;
    let began = Instant::now();
    let workers = join_all((0..2).map(|_| async { while promotions.work().await.unwrap() {} }));
    workers.await;
    println!("{} schedules in {:.1} s", DEALERS * EACH, began.elapsed().as_secs_f64());
    let run = store.promotion_runs(id(1), Page::default()).await.unwrap().rows.remove(0);
    assert_eq!(run.promoted.len(), 1, "{run:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn ten_thousand_due_schedules_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    many_due_schedules(&format!("sqlite://{}", folder.path().join("ads.db").display())).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn ten_thousand_due_schedules_on_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    many_due_schedules(&server.database().await).await;
}
