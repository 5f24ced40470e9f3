//! Promotions by the clock: each run happens once, says what it did, and keeps to its budget (extensions E9.4).

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ad_core::{
    memory::{Kit, ManualClock},
    model::{
        Action, Amount, Dealer, Exclusions, MOST_PROMOTIONS, Page, Promotion, PromotionRun, RequestOrigin, Tariff,
        Timestamp, Via,
    },
    ports::{Clock, PromotionStore},
    rulebook::Rulebook,
    service::{Accepted, Access, AnswerWriter, PromotionError, Promotions, Service, ServiceError},
    violation::Code,
};
use futures_util::{FutureExt, future::join_all};
use serde_json::{Value, json};

use crate::{
    plans::{boat, car},
    support::{DEALER, House, access, dealer, object, target, with},
};

/// A house whose dealer pays 29.50 for a bump and 199 for pole position, and may bump on the primary marketplace.
fn house() -> House {
    let tariff = Tariff {
        bump: Some(Amount::from_hundredths(2950)),
        pole_position: Some(Amount::from_hundredths(19900)),
        ..Tariff::default()
    };
    house_of(Dealer { tariff: Some(tariff), bump: vec![ad_core::model::Market::Primary], ..dealer() })
}

fn house_of(dealer: Dealer) -> House {
    let clock = Arc::new(ManualClock::default());
    clock.set(at("2026-06-01T05:00:00Z"));
    House { kit: Kit::new(clock.clone(), [dealer]), clock }
}

async fn publish(house: &House, ads: impl IntoIterator<Item = Value>) {
    for ad in ads {
        let vehicle_type = if ad["category_id"] == 1020 { "car" } else { "boat" };
        house.create(vehicle_type, ad).await.unwrap();
        house.run_to_the_end().await;
        house.clock.advance(Duration::from_secs(1));
    }
}

struct NoAnswer;

impl AnswerWriter for NoAnswer {
    fn write(&self, _: &Accepted) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        Ok("{}".to_owned())
    }
}

fn promotions_of(house: &House) -> Promotions {
    Promotions::new(house.kit.service.clone(), house.kit.store.clone(), ad_parameters::selected, &NoAnswer)
}

fn origin() -> RequestOrigin {
    RequestOrigin { asked_by: Some("jti-1".to_owned()), via: Some(Via::Api), ..RequestOrigin::default() }
}

/// At 08:00 in Stockholm, which is 06:00 UTC in summer.
#[expect(clippy::needless_pass_by_value, reason = "reads better with json!")]
fn daily(select: Value) -> Value {
    json!({"kind": "bump", "select": select, "at": "08:00"})
}

async fn create(promotions: &Promotions, sent: Value) -> Result<Promotion, Value> {
    promotions.create(&access(), &object(sent), &origin()).await.map_err(errors)
}

fn errors(error: PromotionError) -> Value {
    match error {
        PromotionError::Service(ServiceError::Invalid(errors)) => json!(errors),
        error => json!(error.to_string()),
    }
}

async fn change(promotions: &Promotions, promotion: &Promotion, sent: Value) -> Result<Promotion, Value> {
    promotions.change(&access(), promotion.id, &object(sent), &origin()).await.map_err(errors)
}

async fn runs(promotions: &Promotions, promotion: &Promotion) -> Vec<PromotionRun> {
    promotions.runs(&access(), promotion.id, Page::default()).await.unwrap().rows
}

fn promoted(run: &PromotionRun) -> Vec<&str> {
    run.promoted.iter().map(|ad| ad.source_id.as_str()).collect()
}

fn skipped(run: &PromotionRun) -> Vec<(&str, Code)> {
    run.skipped.iter().map(|ad| (ad.source_id.as_str(), ad.code)).collect()
}

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

/// Sets the clock, and lets the workers do all that is due.
async fn work_at(house: &House, promotions: &Promotions, time: &str) {
    house.clock.set(at(time));
    while promotions.work().await.unwrap() {}
    house.run_to_the_end().await;
}

/// How often each ad was bumped, in the order of their creation.
async fn bumps(house: &House) -> Vec<usize> {
    let of = |log: &[ad_core::model::LogEntry]| {
        let mut requests: Vec<_> =
            log.iter().filter(|entry| entry.action == Action::Bump).map(|entry| entry.request_id).collect();
        requests.sort_unstable();
        requests.dedup();
        requests.len()
    };
    let mut ads: Vec<_> = house.ads().await.iter().map(|(ad, log)| (ad.created, of(log))).collect();
    ads.sort_unstable();
    ads.into_iter().map(|(_, count)| count).collect()
}

#[tokio::test]
async fn a_schedule_promotes_its_ads_when_it_is_due_and_says_what_it_did() {
    let house = house();
    publish(&house, [car(1), car(2), car(3), boat(1)]).await;
    house.update("car-2", json!({"visible": false})).await.unwrap();
    house.run_to_the_end().await;
    let promotions = promotions_of(&house);
    let mut sent = daily(json!({"category_id__in": [1020], "search": null}));
    sent["most_per_run"] = json!(2);
    sent["order"] = json!("created");
    let made = create(&promotions, sent).await.unwrap();
    assert_eq!(made.next_run, Some(at("2026-06-01T06:00:00Z")));
    assert_eq!(
        json!(made.rules),
        json!({"kind": "bump", "select": {"category_id__in": [1020]}, "order": "created", "most_per_run": 2, "min_age_days": null,
            "weekdays": null, "at": "08:00", "zone": "Europe/Stockholm", "until": null, "budget": null,
            "exclude_primary": false, "exclude_secondary": false})
    );
    work_at(&house, &promotions, "2026-06-01T05:59:59Z").await;
    assert_eq!(bumps(&house).await, [0, 0, 0, 0]);

    let preview = promotions.preview(&access(), made.id).await.unwrap();
    let previewed: Vec<_> = preview.promoted.iter().map(|ad| ad.source_id.as_str()).collect();
    assert_eq!((previewed, preview.due), (vec!["car-1", "car-3"], made.next_run));
    assert_eq!(preview.cost, Some(Amount::from_hundredths(5900)));
    assert_eq!(json!(preview.skipped), json!([{"source_id": "car-2", "code": "ad_hidden"}]));

    work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
    assert_eq!(bumps(&house).await, [1, 0, 1, 0]);
    let done = runs(&promotions, &made).await;
    let [run] = &done[..] else { panic!("{done:?}") };
    assert_eq!((promoted(run), skipped(run)), (vec!["car-1", "car-3"], vec![("car-2", Code::AdHidden)]));
    assert_eq!((run.due, run.cost), (at("2026-06-01T06:00:00Z"), Some(Amount::from_hundredths(5900))));
    let request = Promotion::request_of(made.id, run.due, "car-1");
    assert_eq!(run.promoted[0].request_id, request);
    let status = house.kit.service.request(&access(), request).await.unwrap();
    assert_eq!(status.source_id, "car-1");
    let now = promotions.promotion(&access(), made.id).await.unwrap();
    assert_eq!((now.last_run, now.next_run), (Some(run.due), Some(at("2026-06-02T06:00:00Z"))));
}

#[tokio::test]
async fn a_run_that_was_missed_happens_once_and_none_happens_again_when_the_clock_is_set_back() {
    let house = house();
    publish(&house, [car(1)]).await;
    let promotions = promotions_of(&house);
    let made = create(&promotions, daily(json!({"source_id": "car-1"}))).await.unwrap();
    work_at(&house, &promotions, "2026-06-05T12:00:00Z").await;
    assert_eq!(bumps(&house).await, [1]);
    let next = promotions.promotion(&access(), made.id).await.unwrap().next_run;
    assert_eq!(next, Some(at("2026-06-06T06:00:00Z")));
    work_at(&house, &promotions, "2026-06-06T06:00:00Z").await;
    for time in ["2026-06-06T05:00:00Z", "2026-06-06T06:00:00Z", "2026-06-06T23:00:00Z"] {
        work_at(&house, &promotions, time).await;
    }
    // A change does not bring a run back either.
    house.clock.set(at("2026-06-06T05:00:00Z"));
    let changed = change(&promotions, &made, json!({"most_per_run": 7, "at": "08:00"})).await.unwrap();
    assert_eq!(changed.next_run, Some(at("2026-06-07T06:00:00Z")));
    assert_eq!(bumps(&house).await, [2]);
    assert_eq!(runs(&promotions, &made).await.len(), 2);
}

#[tokio::test]
async fn the_status_says_when_promotions_ended_and_when_schedules_promote_the_ad_next() {
    let house = house();
    publish(&house, [car(1), car(2)]).await;
    let promotions = promotions_of(&house);
    let of = async |source_id: &str| json!(promotions.status(&access(), target(source_id)).await.unwrap().promotions);
    let none = json!({"ended": null, "next": null});
    assert_eq!(of("car-1").await, json!({"bump": none, "pole_position": none}));

    create(&promotions, daily(json!({"source_id": "car-1"}))).await.unwrap();
    create(&promotions, json!({"kind": "bump", "select": {"status": "live", "quality_score__gte": 0}, "at": "12:00"}))
        .await
        .unwrap();
    let later = json!({"kind": "pole_position", "select": {"category_id": 1020}, "at": "09:00", "weekdays": ["fri"]});
    let later = create(&promotions, later).await.unwrap();
    let paused = create(&promotions, daily(json!({"status": "live"}))).await.unwrap();
    change(&promotions, &paused, json!({"paused": true})).await.unwrap();
    create(&promotions, daily(json!({"category_id": 1060}))).await.unwrap();
    let next = |time: &str| json!({"ended": null, "next": time});
    let friday = "2026-06-05T07:00:00.000Z";
    assert_eq!(of("car-1").await, json!({"bump": next("2026-06-01T06:00:00.000Z"), "pole_position": next(friday)}));
    assert_eq!(of("car-2").await, json!({"bump": next("2026-06-01T10:00:00.000Z"), "pole_position": next(friday)}));
    // Only a schedule for one ad is certain to take it.
    let most = async |source_id: &str| {
        let promotions = promotions.status(&access(), target(source_id)).await.unwrap().promotions;
        (promotions.bump.most.is_some(), promotions.pole_position.most.is_some())
    };
    assert_eq!((most("car-1").await, most("car-2").await), ((false, true), (true, true)));

    promotions.remove(&access(), later.id).await.unwrap();
    house.pole_position("car-1").await.unwrap();
    work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
    let bumped = json!({"ended": "2026-06-01T06:00:00.000Z", "next": "2026-06-01T10:00:00.000Z"});
    assert_eq!(of("car-1").await, json!({"bump": bumped, "pole_position": none}));
    let report = promotions.status(&access(), target("car-1")).await.unwrap();
    let until = report.pole_position_until.unwrap();
    house.clock.set(until);
    let after = of("car-1").await;
    assert_eq!(after["pole_position"], json!({"ended": until, "next": null}));
    // A hidden ad is not promoted.
    house.update("car-2", json!({"visible": false})).await.unwrap();
    assert_eq!(of("car-2").await["bump"], none);
}

#[tokio::test]
async fn a_schedule_is_changed_paused_and_removed() {
    let house = house();
    publish(&house, [car(1)]).await;
    let promotions = promotions_of(&house);
    let made = create(&promotions, daily(json!({"source_id": "car-1"}))).await.unwrap();
    let paused = change(&promotions, &made, json!({"paused": true})).await.unwrap();
    assert_eq!((paused.paused, paused.next_run), (true, None));
    work_at(&house, &promotions, "2026-06-02T07:00:00Z").await;
    let monday = json!({"paused": null, "weekdays": ["tue", "mon"], "until": "2026-06-09", "zone": "America/New_York"});
    let changed = change(&promotions, &made, monday).await.unwrap();
    assert_eq!(json!(changed.rules.weekdays), json!(["mon", "tue"]));
    assert_eq!(changed.next_run, Some(at("2026-06-02T12:00:00Z")));
    for day in 2..14 {
        work_at(&house, &promotions, &format!("2026-06-{day:02}T13:00:00Z")).await;
    }
    let days: Vec<_> = runs(&promotions, &made).await.iter().map(|run| run.due.to_string()[..10].to_owned()).collect();
    assert_eq!(days, ["2026-06-09", "2026-06-08", "2026-06-02"]);
    assert_eq!(promotions.promotion(&access(), made.id).await.unwrap().next_run, None);
    // It has ended: other members can still be changed.
    assert!(change(&promotions, &made, json!({"budget": 100})).await.is_ok());
    let errors = change(&promotions, &made, json!({"until": "2026-06-10", "dealer_code": "other"})).await.unwrap_err();
    assert!(errors["until"].is_array() && errors["dealer_code"].is_array(), "{errors}");

    promotions.remove(&access(), made.id).await.unwrap();
    let gone = promotions.promotion(&access(), made.id).await.unwrap_err();
    assert!(matches!(gone, PromotionError::NotFound));
    assert!(promotions.promotions(&access(), Page::default()).await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn a_wrong_schedule_is_refused_with_all_errors() {
    let house = house();
    let promotions = promotions_of(&house);
    let wrong = json!({"kind": "boost", "select": {}, "order": "price", "most_per_run": 501, "weekdays": ["mon", "monday", "mon"],
        "at": "8:00", "zone": "Europe/Stokholm", "until": "2026-02-30", "budget": 0.125, "exclude_primary": true,
        "exclude_secondary": true, "enabled": true, "dealer_code": "south-cars"});
    let errors = create(&promotions, wrong).await.unwrap_err();
    let fields: Vec<_> = errors.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "at",
        "budget",
        "dealer_code",
        "enabled",
        "exclude_secondary",
        "kind",
        "most_per_run",
        "order",
        "select",
        "until",
        "weekdays",
        "zone",
    ];
    assert_eq!(fields, expected, "{errors}");
    assert_eq!(errors["weekdays"].as_object().unwrap().len(), 2);
    assert!(errors["zone"].to_string().contains("Europe/Stockholm"), "{errors}");
    for (sent, field) in [
        (json!({}), "kind"),
        (json!({}), "at"),
        (json!({}), "select"),
        (json!({"select": {"source_id": null}}), "select"),
        (json!({"select": {"status": "livee"}}), "select"),
        (json!({"select": [1]}), "select"),
        (json!({"weekdays": []}), "weekdays"),
        (json!({"weekdays": "mon"}), "weekdays"),
        (json!({"at": "24:00"}), "at"),
        (json!({"at": 8}), "at"),
        (json!({"most_per_run": 0}), "most_per_run"),
        (json!({"most_per_run": "2"}), "most_per_run"),
        (json!({"until": "2026-05-31"}), "until"),
        (json!({"budget": -1}), "budget"),
        (json!({"budget": "5"}), "budget"),
        (json!({"paused": 1}), "paused"),
        (json!({"kind": "pole_position", "exclude_secondary": true}), "exclude_secondary"),
        (json!({"zone": "+02:00"}), "zone"),
        (json!({"zone": ""}), "zone"),
    ] {
        let errors = create(&promotions, sent.clone()).await.unwrap_err();
        assert!(errors.get(field).is_some(), "{sent}: {errors}");
    }
    let group = Access::Group("nord".to_owned());
    let refused = promotions.create(&group, &object(daily(json!({"source_id": "c"}))), &origin()).await.unwrap_err();
    assert!(errors_of(refused).contains("dealer_code"));
    let mut sent = daily(json!({"source_id": "c"}));
    sent["dealer_code"] = json!(DEALER);
    sent["until"] = json!("2026-06-01");
    assert!(promotions.create(&group, &object(sent), &origin()).await.is_ok());
    for _ in 1..MOST_PROMOTIONS {
        create(&promotions, daily(json!({"source_id": "c"}))).await.unwrap();
    }
    let refused = promotions.create(&access(), &object(daily(json!({"source_id": "c"}))), &origin()).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::TooManyPromotions));
}

fn errors_of(error: PromotionError) -> String {
    errors(error).to_string()
}

#[tokio::test]
async fn what_cannot_be_promoted_is_skipped_with_its_reason() {
    let house = house();
    publish(&house, [car(1), car(2), boat(1)]).await;
    house.delete("car-2").await.unwrap();
    house.run_to_the_end().await;
    house.pole_position("car-1").await.unwrap();
    house.run_to_the_end().await;
    let promotions = promotions_of(&house);
    let mut sent = daily(json!({"source_id__in": ["car-1", "car-2", "boat-1", "car-9"]}));
    sent["kind"] = json!("pole_position");
    sent["order"] = json!("source_id");
    let made = create(&promotions, sent).await.unwrap();
    // Deleted ads are not of a selection by anything else, and an empty selection is a run that does nothing.
    let deleted = create(&promotions, daily(json!({"registration_number": "ABC002"}))).await.unwrap();
    let missing = create(&promotions, daily(json!({"source_id": "car-9"}))).await.unwrap();
    let preview = promotions.preview(&access(), made.id).await.unwrap();
    work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
    let expected = vec![
        ("boat-1", Code::NotAllowed),
        ("car-1", Code::PolePositionActive),
        ("car-2", Code::AdDeleted),
        ("car-9", Code::NotFound),
    ];
    let run = runs(&promotions, &made).await.remove(0);
    assert_eq!((skipped(&run), run.cost), (expected, None));
    assert_eq!(preview.skipped, run.skipped);
    let run = runs(&promotions, &deleted).await.remove(0);
    assert!(run.promoted.is_empty() && run.skipped.is_empty() && run.ended.is_some());
    let run = runs(&promotions, &missing).await.remove(0);
    assert_eq!(skipped(&run), [("car-9", Code::NotFound)]);
}

#[tokio::test]
async fn two_schedules_for_the_same_ad_promote_it_once() {
    for is_finished in [false, true] {
        let house = house();
        publish(&house, [car(1)]).await;
        let promotions = promotions_of(&house);
        let one = create(&promotions, daily(json!({"source_id": "car-1"}))).await.unwrap();
        house.clock.set(at("2026-06-01T06:00:00Z"));
        let other = if is_finished {
            // One that was missed is due at the same time, and the request of the first is finished when it runs.
            let mut other = create(&promotions, daily(json!({"category_id": 1020}))).await.unwrap();
            promotions.remove(&access(), other.id).await.unwrap();
            work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
            other.next_run = one.next_run;
            assert!(house.kit.store.add_promotion(&other).await.unwrap());
            other
        } else {
            house.clock.set(at("2026-06-01T05:30:00Z"));
            create(&promotions, daily(json!({"category_id": 1020}))).await.unwrap()
        };
        work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
        let runs = [runs(&promotions, &one).await.remove(0), runs(&promotions, &other).await.remove(0)];
        assert_eq!(runs.iter().flat_map(promoted).collect::<Vec<_>>(), ["car-1"]);
        assert_eq!(runs.iter().flat_map(skipped).collect::<Vec<_>>(), [("car-1", Code::AlreadyPromoted)]);
        assert_eq!(bumps(&house).await, [1]);
    }
}

#[tokio::test]
async fn the_budget_of_a_month_is_kept_to_and_begins_again() {
    let house = house();
    publish(&house, [car(1), car(2), car(3)]).await;
    let promotions = promotions_of(&house);
    let mut sent = daily(json!({"category_id": 1020}));
    sent["budget"] = json!(118);
    sent["order"] = json!("created");
    let made = create(&promotions, sent).await.unwrap();
    work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
    let preview = promotions.preview(&access(), made.id).await.unwrap();
    assert_eq!((preview.promoted.len(), preview.skipped.len()), (1, 2));
    work_at(&house, &promotions, "2026-06-02T06:00:00Z").await;
    work_at(&house, &promotions, "2026-06-03T06:00:00Z").await;
    let counts: Vec<_> = runs(&promotions, &made).await.iter().map(|run| run.promoted.len()).collect();
    assert_eq!(counts, [0, 1, 3]);
    assert_eq!(skipped(&runs(&promotions, &made).await[0])[0], ("car-1", Code::BudgetExceeded));
    // In Stockholm, it is July already.
    change(&promotions, &made, json!({"at": "00:30"})).await.unwrap();
    work_at(&house, &promotions, "2026-06-30T22:30:00Z").await;
    assert_eq!(runs(&promotions, &made).await[0].promoted.len(), 3);
}

#[tokio::test]
async fn without_a_tariff_nothing_has_a_price_and_a_budget_bounds_nothing() {
    let house = house_of(dealer());
    publish(&house, [car(1)]).await;
    let promotions = promotions_of(&house);
    let mut sent = daily(json!({"category_id": 1020}));
    sent["budget"] = json!(0);
    let made = create(&promotions, sent).await.unwrap();
    work_at(&house, &promotions, "2026-06-01T06:00:00Z").await;
    let run = runs(&promotions, &made).await.remove(0);
    assert_eq!((promoted(&run), run.cost), (vec!["car-1"], None));
    // Both marketplaces of a registered vehicle.
    let exclude = Exclusions { primary: false, secondary: true };
    house.bump("car-1", exclude).await.unwrap();
}

/// A clock at which a worker looks only so often before it is killed.
struct MortalClock {
    clock: Arc<ManualClock>,
    looks_to_live: AtomicUsize,
}

impl Clock for MortalClock {
    fn now(&self) -> Timestamp {
        if self.looks_to_live.fetch_sub(1, Ordering::Relaxed) == 0 {
            resume_unwind(Box::new("killed"));
        }
        self.clock.now()
    }
}

#[tokio::test]
async fn a_worker_that_is_killed_at_any_moment_promotes_nothing_twice() {
    for kind in ["bump", "pole_position"] {
        let mut deaths = 0;
        for looks in 1.. {
            let house = house();
            publish(&house, [car(1), car(2), car(3)]).await;
            let promotions = promotions_of(&house);
            let mut sent = with(&daily(json!({"category_id": 1020})), json!({"most_per_run": 2}));
            sent["kind"] = json!(kind);
            let made = create(&promotions, sent).await.unwrap();
            house.clock.set(at("2026-06-01T06:00:00Z"));
            let kit = &house.kit;
            let clock = MortalClock { clock: house.clock.clone(), looks_to_live: AtomicUsize::new(looks) };
            let rulebook = Arc::new(Rulebook::default());
            let mortal =
                Service::new(kit.store.clone(), kit.directory.clone(), rulebook, Arc::new(clock), kit.ids.clone());
            let mortal = Promotions::new(mortal, kit.store.clone(), ad_parameters::selected, &NoAnswer);
            let worked = async { while mortal.work().await.unwrap() {} };
            let died = AssertUnwindSafe(worked).catch_unwind().await.is_err();
            deaths += usize::from(died);
            // Whatever was accepted may be executed before the next worker comes.
            if looks % 2 == 0 {
                house.run_to_the_end().await;
            }
            house.clock.advance(Duration::from_mins(2));
            let now = house.clock.now().to_string();
            work_at(&house, &promotions, &now).await;
            let run = runs(&promotions, &made).await.remove(0);
            assert_eq!(promoted(&run), ["car-1", "car-2"], "died at {looks}");
            assert!(run.ended.is_some() && run.skipped.is_empty(), "died at {looks}");
            let ordered: Vec<_> = house
                .ads()
                .await
                .into_iter()
                .map(|(_, log)| log.iter().filter(|entry| matches!(entry.action, Action::Bump | Action::Boost)).count())
                .collect();
            assert_eq!(ordered.iter().filter(|count| **count > 0).count(), 2, "died at {looks}: {ordered:?}");
            if kind == "bump" {
                assert_eq!(bumps(&house).await.iter().sum::<usize>(), 2, "died at {looks}");
            }
            if !died {
                break;
            }
        }
        assert!(deaths > 5, "{deaths}");
    }
}

#[tokio::test]
async fn a_hundred_workers_run_each_schedule_once() {
    let house = house();
    publish(&house, (1..=20).map(car)).await;
    let promotions = promotions_of(&house);
    let mut made = Vec::new();
    for number in 1..=20 {
        made.push(create(&promotions, daily(json!({"source_id": format!("car-{number}")}))).await.unwrap());
    }
    house.clock.set(at("2026-06-01T06:00:00Z"));
    join_all((0..100).map(|_| async { while promotions.work().await.unwrap() {} })).await;
    house.run_to_the_end().await;
    assert_eq!(bumps(&house).await, [1; 20]);
    for promotion in &made {
        assert_eq!(runs(&promotions, promotion).await.len(), 1);
    }
}

#[tokio::test]
async fn a_schedule_that_runs_once_runs_now_and_never_again() {
    let house = house();
    publish(&house, [car(1), car(2), boat(1)]).await;
    let promotions = promotions_of(&house);
    let all = json!({"kind": "bump", "select": {"state": "created"}, "most_per_run": 3000});
    let (planned, preview) = promotions.preview_once(&access(), &object(all.clone()), &origin()).await.unwrap();
    assert_eq!((preview.promoted.len(), preview.cost), (3, Some(Amount::from_hundredths(8850))));
    assert!(planned.is_once() && planned.next_run == Some(house.clock.now()));
    assert_eq!(
        create(&promotions, with(&all, json!({"at": "08:00"}))).await.unwrap_err()["most_per_run"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    // The budget is what was shown: of one ad less, for instance.
    let shown = with(&all, json!({"budget": 59}));
    let once = promotions.create_once(&access(), &object(shown), &origin()).await.unwrap();
    while promotions.work().await.unwrap() {}
    house.run_to_the_end().await;
    let ran = runs(&promotions, &once).await;
    assert_eq!((promoted(&ran[0]), skipped(&ran[0])), (vec!["car-1", "car-2"], vec![("boat-1", Code::BudgetExceeded)]));
    for time in ["2026-06-01T23:59:00Z", "2026-06-02T05:00:03Z", "2026-07-01T05:00:03Z"] {
        work_at(&house, &promotions, time).await;
    }
    assert_eq!(runs(&promotions, &once).await.len(), 1);
    let over = promotions.promotion(&access(), once.id).await.unwrap();
    assert!(over.next_run.is_none() && over.is_once());

    // Of many, the newest stay.
    for _ in 0..25 {
        house.clock.advance(Duration::from_mins(1));
        promotions.create_once(&access(), &object(all.clone()), &origin()).await.unwrap();
        while promotions.work().await.unwrap() {}
    }
    let all = Page { limit: 100, offset: 0 };
    assert_eq!(promotions.promotions(&access(), all).await.unwrap().count, 21);
}
