//! Stock plans: the whole stock is compared before anything changes, and then made so, once (extensions E8).

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ad_core::{
    model::{
        AdState, ChangeCounts, ChangeKind, ChangeOutcome, ChangeQuery, Dealer, Guard, MissingAds, OutcomeCounts, Page,
        PlanError, PlanOptions, PlanState, PlannedChange, RequestOrigin, StockPlan, Timestamp, Via,
    },
    ports::{Clock, Scope, Store},
    rulebook::Rulebook,
    service::{Access, PlanLimits, Service, ServiceError, StockPlanError, StockPlans},
    violation::Code,
};
use futures_util::FutureExt;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{self, DEALER, House, access, object, target, with, without};

pub(crate) fn car(number: u32) -> Value {
    json!({"source_id": format!("car-{number}"), "category_id": 1020, "body": "Fin bil",
        "category_fields": {"registration_number": format!("ABC{number:03}"), "model_year": 2019}})
}

pub(crate) fn boat(number: u32) -> Value {
    let boat = without(support::boat(), "image_urls");
    with(&boat, json!({"source_id": format!("boat-{number}")}))
}

pub(crate) fn plans_of(house: &House) -> StockPlans {
    let (service, store) = (house.kit.service.clone(), house.kit.store.clone());
    StockPlans::new(service, store, PlanLimits::default())
}

pub(crate) fn options(missing: MissingAds) -> PlanOptions {
    PlanOptions { missing, ..PlanOptions::default() }
}

/// The plan of payloads, one on each line.
async fn plan(
    plans: &StockPlans,
    access: &Access,
    options: PlanOptions,
    payloads: impl IntoIterator<Item = Value>,
) -> Result<StockPlan, StockPlanError> {
    let mut writer = plans.begin(access, options).await?;
    let computed = async {
        for (line, payload) in (1..).zip(payloads) {
            writer.add(line, 100, object(payload)).await?;
        }
        writer.check().await?;
        writer.finish().await
    };
    match computed.await {
        Err(StockPlanError::Ended(plan)) => Ok(*plan),
        ended => ended,
    }
}

async fn of_dealer(plans: &StockPlans, missing: MissingAds, payloads: impl IntoIterator<Item = Value>) -> StockPlan {
    plan(plans, &access(), options(missing), payloads).await.unwrap()
}

pub(crate) async fn changes(plans: &StockPlans, plan: &StockPlan) -> Vec<PlannedChange> {
    let page = Page { limit: 500, offset: 0 };
    plans.changes(&access(), plan.id, &ChangeQuery { page, ..ChangeQuery::default() }).await.unwrap().rows
}

/// What each change is about, and what has become of it.
pub(crate) async fn outcomes(
    plans: &StockPlans,
    plan: &StockPlan,
) -> Vec<(String, ChangeKind, Option<ChangeOutcome>, Option<Code>)> {
    let changes = changes(plans, plan).await.into_iter();
    changes.map(|it| (it.source_id.unwrap_or_default(), it.kind, it.outcome, it.code)).collect()
}

pub(crate) async fn apply(
    plans: &StockPlans,
    plan: &StockPlan,
    allow_removals: Option<u64>,
) -> Result<StockPlan, StockPlanError> {
    let origin = RequestOrigin { asked_by: Some("jti-1".to_owned()), via: Some(Via::Api), ..RequestOrigin::default() };
    plans.apply(&access(), plan.id, allow_removals, &origin).await
}

/// Lets the worker of plans and that of requests run until nothing is left to do for minutes.
pub(crate) async fn run(house: &House, plans: &StockPlans) {
    for _ in 0..60 {
        while plans.work().await.unwrap() {}
        house.run_to_the_end().await;
        house.clock.advance(Duration::from_secs(5));
    }
}

pub(crate) async fn applied(
    house: &House,
    plans: &StockPlans,
    plan: &StockPlan,
    allow_removals: Option<u64>,
) -> StockPlan {
    apply(plans, plan, allow_removals).await.unwrap();
    run(house, plans).await;
    plans.plan(&access(), plan.id).await.unwrap()
}

pub(crate) fn done(done: u64) -> OutcomeCounts {
    OutcomeCounts { done, ..OutcomeCounts::default() }
}

#[tokio::test]
async fn nothing_changes_before_a_plan_is_applied_and_then_everything() {
    let house = House::new();
    for payload in [car(1), car(2), car(3)] {
        house.create("car", payload).await.unwrap();
    }
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let invalid = with(&car(4), json!({"category_fields": {"model_year": 1066}}));
    let stock = [car(1), with(&car(2), json!({"body": "Sänkt pris"})), invalid, car(5)];
    let planned = of_dealer(&plans, MissingAds::Delete, stock).await;
    assert_eq!(planned.state, PlanState::Ready);
    let counts = ChangeCounts { create: 1, update: 1, unchanged: 1, delete: 1, invalid: 1, ..ChangeCounts::default() };
    assert_eq!((planned.dealers[0].counts, planned.dealers[0].outcomes), (counts, OutcomeCounts::default()));
    assert_eq!(planned.guard, Guard { most_removals: 0, removals: 1, exceeded: true });
    assert_eq!(
        (planned.errors[0].pointer.as_deref(), planned.errors[0].line),
        (Some("/category_fields/model_year"), Some(3))
    );
    assert_eq!(planned, plans.plan(&access(), planned.id).await.unwrap());
    let listed = changes(&plans, &planned).await;
    let shown: Vec<_> = listed.iter().map(|it| (it.line, it.source_id.as_deref().unwrap(), it.kind)).collect();
    let expected = [
        (Some(2), "car-2", ChangeKind::Update),
        (Some(3), "car-4", ChangeKind::Invalid),
        (Some(4), "car-5", ChangeKind::Create),
        (None, "car-3", ChangeKind::Delete),
    ];
    assert_eq!(shown, expected);
    assert_eq!(json!(listed[0].details.fields), json!([{"pointer": "/body", "from": "Fin bil", "to": "Sänkt pris"}]));
    assert_eq!(house.ads().await.len(), 3, "nothing has changed");

    let refused = apply(&plans, &planned, Some(2)).await.unwrap_err();
    assert!(matches!(refused, StockPlanError::GuardExceeded { removals: 1, most_removals: 0 }), "{refused}");
    let applied = applied(&house, &plans, &planned, Some(1)).await;
    assert_eq!((applied.state, applied.dealers[0].outcomes), (PlanState::Applied, done(3)));
    let ads = house.ads().await;
    let states: BTreeMap<_, _> =
        ads.iter().map(|(ad, _)| (ad.source_id.as_str(), (ad.state, ad.content.text("body")))).collect();
    let created = |body| (AdState::Created, Some(body));
    assert_eq!(states["car-1"], created("Fin bil"));
    assert_eq!(states["car-2"], created("Sänkt pris"));
    assert_eq!(states["car-3"].0, AdState::Deleted);
    assert_eq!(states["car-5"], created("Fin bil"));
    assert_eq!(states.len(), 4);
    // Applied again, it is answered with the same plan.
    assert_eq!(apply(&plans, &planned, None).await.unwrap(), applied);
    // The stock is now as wanted.
    let again =
        of_dealer(&plans, MissingAds::Delete, [car(1), with(&car(2), json!({"body": "Sänkt pris"})), car(5)]).await;
    assert_eq!(again.dealers[0].counts, ChangeCounts { unchanged: 3, ..ChangeCounts::default() });
    let applied = self::applied(&house, &plans, &again, None).await;
    assert_eq!((applied.state, applied.dealers[0].outcomes), (PlanState::Applied, OutcomeCounts::default()));
}

#[tokio::test]
async fn requests_of_a_plan_are_ordinary_and_name_it() {
    let house = House::new();
    let plans = plans_of(&house);
    let planned = of_dealer(&plans, MissingAds::Keep, [car(1)]).await;
    applied(&house, &plans, &planned, None).await;
    let change = changes(&plans, &planned).await.remove(0);
    let request = change.request_id.unwrap();
    assert_eq!(request, PlannedChange::request_of(planned.id, 0));
    let stored = house.kit.store.request(Scope::Dealer(DEALER), request).await.unwrap().unwrap();
    assert_eq!((stored.asked_by.as_deref(), stored.plan_id), (Some("jti-1"), Some(planned.id)));
    let revisions = house.kit.service.revisions(&access(), target("car-1"), Page::default()).await.unwrap();
    assert_eq!((revisions.rows[0].plan_id, revisions.rows[0].via), (Some(planned.id), Some(Via::Api)));
}

#[tokio::test]
async fn an_ad_that_changed_since_the_plan_stays_as_it_is() {
    let house = House::new();
    for payload in [car(1), car(2), boat(1)] {
        let vehicle_type = if payload["category_id"] == 1020 { "car" } else { "boat" };
        house.create(vehicle_type, payload).await.unwrap();
    }
    house.run_to_the_end().await;
    house.delete("boat-1").await.unwrap();
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let options = PlanOptions { most_removals: Some(9), ..options(MissingAds::Delete) };
    let stock = [with(&car(1), json!({"body": "Ny"})), car(3), with(&boat(1), json!({"body": "Ny"}))];
    let planned = plan(&plans, &access(), options, stock).await.unwrap();
    house.update("car-1", json!({"body": "Med hand"})).await.unwrap();
    house.update("car-2", json!({"body": "Med hand"})).await.unwrap();
    house.update("boat-1", json!({"body": "Med hand"})).await.unwrap();
    house.create("car", car(3)).await.unwrap();
    let applied = applied(&house, &plans, &planned, None).await;
    assert_eq!(applied.state, PlanState::Applied);
    let conflict = Some(ChangeOutcome::Conflict);
    let expected = [
        ("car-1".to_owned(), ChangeKind::Update, conflict, Some(Code::PreconditionFailed)),
        ("car-3".to_owned(), ChangeKind::Create, conflict, Some(Code::DuplicateSourceId)),
        ("boat-1".to_owned(), ChangeKind::Revive, conflict, Some(Code::PreconditionFailed)),
        ("car-2".to_owned(), ChangeKind::Delete, conflict, Some(Code::PreconditionFailed)),
    ];
    assert_eq!(outcomes(&plans, &planned).await, expected);
    for (ad, _) in house.ads().await {
        assert_eq!(ad.state, AdState::Created, "{}", ad.source_id);
    }
}

#[tokio::test]
async fn a_body_that_is_no_stock_changes_nothing() {
    let house = House::new();
    house.create("car", car(1)).await.unwrap();
    let plans = plans_of(&house);
    let unnamed = json!({"category_id": 1020, "category_fields": {"model_year": 2019}});
    for (stock, code, line) in [
        (vec![], Code::EmptyStock, None),
        (vec![json!({"source_id": "car-9"})], Code::NoValidAd, None),
        (vec![car(2), car(3), car(2), car(4)], Code::DuplicateItem, Some(3)),
        (vec![unnamed.clone()], Code::NoValidAd, None),
    ] {
        let refused = of_dealer(&plans, MissingAds::Delete, stock).await;
        assert_eq!((refused.state, refused.errors[0].code, refused.errors[0].line), (PlanState::Refused, code, line));
        let error = apply(&plans, &refused, None).await.unwrap_err();
        assert!(matches!(error, StockPlanError::NotReady(PlanState::Refused)), "{error}");
    }
    // While one is read, its reader finds that the body is broken.
    let broken = format!("Line 2 is not JSON. {}", Code::NotJson.about().cure);
    let mut writer = plans.begin(&access(), options(MissingAds::Delete)).await.unwrap();
    writer.add(1, 100, object(car(2))).await.unwrap();
    let error = writer.refuse(PlanError::of_body(Code::NotJson, Some(2), "Line 2 is not JSON")).await;
    let StockPlanError::Ended(refused) = error else { panic!("{error}") };
    assert_eq!((refused.state, refused.errors[0].detail.as_str()), (PlanState::Refused, broken.as_str()));
    assert_eq!(plans.plan(&access(), refused.id).await.unwrap(), *refused);
    // Nothing is removed as long as an ad without an id may be any.
    let planned = of_dealer(&plans, MissingAds::Delete, [car(2), unnamed]).await;
    assert_eq!(planned.dealers[0].counts, ChangeCounts { create: 1, invalid: 1, ..ChangeCounts::default() });
    let most = PlanLimits { most_ads: 2, ..PlanLimits::default() };
    let few = StockPlans::new(house.kit.service.clone(), house.kit.store.clone(), most);
    let refused = of_dealer(&few, MissingAds::Keep, [car(2), car(3), car(4)]).await;
    assert_eq!(
        (refused.state, refused.errors[0].code, refused.errors[0].line),
        (PlanState::Refused, Code::TooMany, Some(3))
    );
}

#[tokio::test]
async fn reasons_are_counted_and_their_number_is_bounded() {
    let house = House::new();
    let plans = plans_of(&house);
    let invalid = (0..300).map(|n| with(&car(n), json!({"category_fields": {"model_year": 1066}})));
    let refused = of_dealer(&plans, MissingAds::Keep, invalid).await;
    assert_eq!((refused.errors.len(), refused.errors[1].count), (2, 300));
    assert_eq!((refused.dealers[0].counts.invalid, changes(&plans, &refused).await.len()), (300, 300));
    let many: serde_json::Map<_, _> = (0..500).map(|n| (format!("field_{n}"), json!(n))).collect();
    let planned = of_dealer(&plans, MissingAds::Keep, [car(1), with(&car(2), Value::Object(many))]).await;
    assert_eq!(changes(&plans, &planned).await[1].details.errors.len(), 20);
}

#[tokio::test]
async fn ads_that_the_stock_does_not_name_are_hidden_or_deleted_by_type() {
    let house = House::new();
    for payload in [car(1), car(2), with(&car(3), json!({"visible": false}))] {
        house.create("car", payload).await.unwrap();
    }
    house.create("boat", boat(1)).await.unwrap();
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let hide = |types: Option<&str>| PlanOptions {
        vehicle_types: types.map(|types| vec![types.to_owned()]),
        most_removals: Some(9),
        ..options(MissingAds::Hide)
    };
    let planned = plan(&plans, &access(), hide(Some("boat")), [car(1)]).await.unwrap();
    assert_eq!(outcomes(&plans, &planned).await, [("boat-1".to_owned(), ChangeKind::Hide, None, None)]);
    plans.cancel(&access(), planned.id).await.unwrap();
    let planned = plan(&plans, &access(), hide(None), [car(1)]).await.unwrap();
    let applied = applied(&house, &plans, &planned, None).await;
    assert_eq!(applied.dealers[0].counts, ChangeCounts { unchanged: 1, hide: 2, ..ChangeCounts::default() });
    let visible: Vec<_> = house.ads().await.into_iter().filter(|(ad, _)| ad.content.visible()).collect();
    assert_eq!(visible.len(), 1);
    let error = plan(&plans, &access(), hide(Some("boot")), [car(1)]).await.unwrap_err();
    assert!(matches!(error, StockPlanError::Service(ServiceError::InvalidQuery(_))), "{error}");
}

#[tokio::test]
async fn a_group_plans_for_the_dealers_that_its_payloads_name() {
    let house = House::new();
    let south = Dealer { group: Some("nord".to_owned()), ..Dealer::named("south-cars") };
    house.kit.directory.put(south);
    let plans = plans_of(&house);
    let group = Access::Group("nord".to_owned());
    let of = |dealer: &str, number| with(&car(number), json!({"dealer_code": dealer}));
    let stock = [of(DEALER, 1), of("south-cars", 1), of("east-cars", 2), car(3)];
    let planned = plan(&plans, &group, options(MissingAds::Keep), stock).await.unwrap();
    let codes: Vec<_> = planned.dealers.iter().map(|dealer| dealer.dealer_code.as_str()).collect();
    assert_eq!(codes, [DEALER, "south-cars"]);
    assert!(planned.dealers.iter().all(|dealer| dealer.counts.create == 1));
    assert_eq!(planned.errors.iter().map(|error| error.count).sum::<u64>(), 2);
    let error = plans.plan(&access(), planned.id).await.unwrap_err();
    assert!(matches!(error, StockPlanError::NotFound), "it is about another dealer too");
    plans.apply(&group, planned.id, None, &RequestOrigin::default()).await.unwrap();
    run(&house, &plans).await;
    let applied = plans.plan(&group, planned.id).await.unwrap();
    assert!(applied.dealers.iter().all(|dealer| dealer.outcomes == done(1)), "{applied:?}");
    // A dealer's token plans for its own dealer.
    let foreign = of_dealer(&plans, MissingAds::Keep, [of("south-cars", 2)]).await;
    assert_eq!((foreign.state, foreign.errors[0].code), (PlanState::Refused, Code::NoValidAd));
    let option = PlanOptions { dealer_code: Some("south-cars".to_owned()), ..PlanOptions::default() };
    let error = plan(&plans, &access(), option, [car(1)]).await.unwrap_err();
    assert!(matches!(error, StockPlanError::Service(ServiceError::InvalidQuery(_))), "{error}");
}

#[tokio::test]
async fn plans_that_nobody_ends_end_by_themselves() {
    let house = House::new();
    let plans = plans_of(&house);
    let mut abandoned = plans.begin(&access(), options(MissingAds::Keep)).await.unwrap();
    let ready = of_dealer(&plans, MissingAds::Keep, [car(1)]).await;
    let state = async |plan: &StockPlan| plans.plan(&access(), plan.id).await.map(|plan| plan.state).ok();
    assert!(!plans.work().await.unwrap());
    house.clock.advance(Duration::from_mins(3));
    assert!(plans.work().await.unwrap());
    let refused = plans.plan(&access(), abandoned.plan().id).await.unwrap();
    assert_eq!((refused.state, refused.errors[0].code), (PlanState::Refused, Code::PlanInterrupted));
    let late = abandoned.add(1, 100, object(car(2))).await;
    assert!(late.is_ok(), "nothing is stored yet");
    let error = abandoned.check().await.unwrap_err();
    assert!(matches!(&error, StockPlanError::Ended(plan) if plan.state == PlanState::Refused), "{error}");
    house.clock.advance(Duration::from_hours(24));
    let error = apply(&plans, &ready, None).await.unwrap_err();
    assert!(matches!(error, StockPlanError::NotReady(PlanState::Expired)), "{error}");
    while plans.work().await.unwrap() {}
    assert_eq!((state(&refused).await, state(&ready).await), (None, Some(PlanState::Expired)));
    house.clock.advance(Duration::from_hours(24));
    while plans.work().await.unwrap() {}
    assert_eq!(state(&ready).await, None);
    // Applied and cancelled plans are removed as well.
    let planned = of_dealer(&plans, MissingAds::Keep, [car(1)]).await;
    let cancelled = of_dealer(&plans, MissingAds::Keep, [car(2)]).await;
    assert_eq!(plans.cancel(&access(), cancelled.id).await.unwrap().state, PlanState::Cancelled);
    assert_eq!(applied(&house, &plans, &planned, None).await.state, PlanState::Applied);
    house.clock.advance(Duration::from_hours(24));
    while plans.work().await.unwrap() {}
    assert_eq!(plans.plans(&access(), Page::default()).await.unwrap().count, 0);
}

#[tokio::test]
async fn changes_wait_while_many_requests_of_the_dealer_are_due() {
    let house = House::new();
    for number in 0..63 {
        house.create("car", car(number)).await.unwrap();
    }
    let plans = plans_of(&house);
    let planned = of_dealer(&plans, MissingAds::Keep, (100..200).map(car)).await;
    apply(&plans, &planned, None).await.unwrap();
    let made = async || plans.plan(&access(), planned.id).await.unwrap().dealers[0].outcomes.accepted;
    assert!(plans.work().await.unwrap());
    assert_eq!(made().await, 1, "sixty-four are due now");
    assert!(!plans.work().await.unwrap());
    house.clock.advance(Duration::from_secs(1));
    assert!(plans.work().await.unwrap());
    assert_eq!(made().await, 1);
    run(&house, &plans).await;
    let applied = plans.plan(&access(), planned.id).await.unwrap();
    assert_eq!((applied.state, applied.dealers[0].outcomes), (PlanState::Applied, done(100)));
}

#[tokio::test]
async fn a_cancelled_plan_is_made_no_further() {
    let house = House::new();
    let plans = plans_of(&house);
    let planned = of_dealer(&plans, MissingAds::Keep, (0..100).map(car)).await;
    apply(&plans, &planned, None).await.unwrap();
    assert!(plans.work().await.unwrap());
    let cancelled = plans.cancel(&access(), planned.id).await.unwrap();
    assert_eq!((cancelled.state, cancelled.dealers[0].outcomes.accepted), (PlanState::Cancelled, 64));
    run(&house, &plans).await;
    assert_eq!(plans.plan(&access(), planned.id).await.unwrap().dealers[0].outcomes, done(64));
    assert_eq!(house.ads().await.len(), 64);
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A random stock: some cars and boats, each with one of a few texts, visible or not.
fn random_stock(random: &mut Random) -> BTreeMap<String, Value> {
    let mut stock = BTreeMap::new();
    for number in 0..20 {
        for payload in [car(number), boat(number)] {
            if random.below(3) == 0 {
                continue;
            }
            let over = json!({"body": format!("Text {}", random.below(3)), "visible": random.below(4) > 0});
            stock.insert(payload["source_id"].as_str().unwrap().to_owned(), with(&payload, over));
        }
    }
    stock
}

/// Checks that every ad is as the stock says; cars that were deleted cannot come back.
async fn check(house: &House, stock: &BTreeMap<String, Value>, gone: &[String], context: &str) {
    let ads: BTreeMap<_, _> = house.ads().await.into_iter().map(|(ad, _)| (ad.source_id.clone(), ad)).collect();
    for (source_id, payload) in stock {
        if gone.contains(source_id) {
            continue;
        }
        let ad = &ads[source_id];
        assert_eq!(ad.state, AdState::Created, "{context}: {source_id}");
        assert_eq!(ad.content.text("body"), payload["body"].as_str(), "{context}: {source_id}");
        assert_eq!(json!(ad.content.visible()), payload["visible"], "{context}: {source_id}");
    }
    for (source_id, ad) in &ads {
        assert_eq!(
            ad.state == AdState::Created,
            stock.contains_key(source_id) && !gone.contains(source_id),
            "{context}: {source_id}"
        );
    }
}

#[tokio::test]
async fn after_any_plans_every_ad_is_as_the_last_one_says() {
    for seed in 0..8 {
        let house = House::new();
        let (plans, mut random) = (plans_of(&house), Random(seed));
        let mut gone = Vec::new();
        for round in 0..4 {
            let stock = random_stock(&mut random);
            let before: Vec<_> = house.ads().await.into_iter().map(|(ad, _)| ad).collect();
            let missing = before.iter().filter(|ad| ad.category_id == 1020 && !stock.contains_key(&ad.source_id));
            gone.extend(missing.map(|ad| ad.source_id.clone()));
            let planned = of_dealer(&plans, MissingAds::Delete, stock.values().cloned()).await;
            assert_eq!(planned.state, PlanState::Ready);
            let applied = applied(&house, &plans, &planned, Some(planned.guard.removals)).await;
            assert_eq!(applied.state, PlanState::Applied);
            let OutcomeCounts { accepted, failed, conflict, .. } = applied.dealers[0].outcomes;
            assert_eq!((accepted, failed, conflict), (0, 0, 0));
            check(&house, &stock, &gone, &format!("seed {seed}, round {round}")).await;
        }
    }
}

/// A clock at which a worker dies when it has looked at it so many times: before or after any commit.
struct MortalClock {
    clock: Arc<dyn Clock>,
    looks_to_live: AtomicUsize,
}

impl Clock for MortalClock {
    fn now(&self) -> Timestamp {
        if self.looks_to_live.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Not a panic, which would be reported.
            resume_unwind(Box::new("the worker dies"));
        }
        self.clock.now()
    }
}

#[tokio::test]
async fn a_worker_that_is_killed_at_any_moment_makes_no_change_twice() {
    let mut deaths = 0;
    for looks in 1.. {
        let house = House::new();
        for payload in [car(1), car(2), car(3)] {
            house.create("car", payload).await.unwrap();
        }
        house.create("boat", boat(1)).await.unwrap();
        house.run_to_the_end().await;
        house.delete("boat-1").await.unwrap();
        house.run_to_the_end().await;
        let plans = plans_of(&house);
        let hidden = with(&car(1), json!({"body": "Ny"}));
        let options = PlanOptions { most_removals: Some(9), ..options(MissingAds::Delete) };
        let stock = [hidden, car(2), car(4), with(&boat(1), json!({"body": "Ny"}))];
        let planned = plan(&plans, &access(), options, stock).await.unwrap();
        apply(&plans, &planned, None).await.unwrap();

        let kit = &house.kit;
        let clock = MortalClock { clock: house.clock.clone(), looks_to_live: AtomicUsize::new(looks) };
        let rulebook = Arc::new(Rulebook::default());
        let mortal = Service::new(kit.store.clone(), kit.directory.clone(), rulebook, Arc::new(clock), kit.ids.clone());
        let mortal = StockPlans::new(mortal, kit.store.clone(), PlanLimits::default());
        let worked = async { while mortal.work().await.unwrap() {} };
        let died = AssertUnwindSafe(worked).catch_unwind().await.is_err();
        deaths += usize::from(died);
        // Whatever was accepted may be executed before the next worker comes.
        if looks % 2 == 0 {
            house.run_to_the_end().await;
        }
        house.clock.advance(Duration::from_mins(2));
        run(&house, &plans).await;
        let applied = plans.plan(&access(), planned.id).await.unwrap();
        assert_eq!((applied.state, applied.dealers[0].outcomes), (PlanState::Applied, done(4)), "died at {looks}");
        for change in changes(&plans, &planned).await {
            let request = PlannedChange::request_of(planned.id, change.n);
            assert_eq!(change.request_id, Some(request));
        }
        let ads = house.ads().await;
        assert_eq!(ads.len(), 5);
        for (ad, log) in ads {
            let mut requests: Vec<Uuid> = log.iter().map(|entry| entry.request_id).collect();
            requests.dedup();
            let expected = match ad.source_id.as_str() {
                "car-1" | "car-3" => 2,
                "boat-1" => 3,
                _ => 1,
            };
            assert_eq!(requests.len(), expected, "died at {looks}: {} {log:?}", ad.source_id);
        }
        if !died {
            break;
        }
    }

    assert!(deaths > 8, "{deaths}");
}
