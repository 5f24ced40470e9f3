//! Plans of selected ads and one change of them: shown as what an update will do, and then done once (extensions E8).

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ad_core::{
    model::{
        Ad, AdFilter, AdState, ApiVersion, ChangeCounts, ChangeKind, ChangeOutcome, Dealer, Guard, MissingAds, Page,
        PlanOptions, PlanState, RequestOrigin, ScoreChange, StockPlan, Timestamp,
    },
    ports::{Clock, Ids, PlanStore},
    quality,
    rulebook::Rulebook,
    service::{Access, BulkChange, CreatePath, PlanLimits, Service, ServiceError, StockPlanError, StockPlans},
    violation::Code,
};
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::{
    plans::{applied, apply, boat, car, changes, done, options, outcomes, plans_of, run},
    support::{DEALER, House, access, category, object, target, with},
};

pub(crate) fn parse(change: Value) -> Result<BulkChange, Value> {
    BulkChange::parse(&object(change)).map_err(|errors| json!(errors))
}

async fn select(
    plans: &StockPlans,
    access: &Access,
    options: PlanOptions,
    filters: &[AdFilter],
    change: Value,
) -> Result<StockPlan, StockPlanError> {
    let mut writer = plans.begin_selected(access, options).await?;
    let change = parse(change).unwrap();
    let computed = async {
        writer.add_selected(filters, &change).await?;
        writer.check().await?;
        writer.finish().await
    };
    match computed.await {
        Err(StockPlanError::Ended(plan)) => Ok(*plan),
        ended => ended,
    }
}

pub(crate) async fn of_all(plans: &StockPlans, change: Value) -> StockPlan {
    select(plans, &access(), PlanOptions::default(), &[], change).await.unwrap()
}

fn sold_for(number: u32, price: &Value) -> Value {
    with(&car(number), json!({"price": price}))
}

pub(crate) fn list(amount: f64) -> Value {
    json!([{"type": "list", "amount": amount, "currency": "SEK"}])
}

async fn ad(house: &House, source_id: &str) -> Ad {
    house.ads().await.into_iter().map(|(ad, _)| ad).find(|ad| ad.source_id == source_id).unwrap()
}

#[tokio::test]
async fn a_plan_shows_what_the_update_will_do_and_applying_does_it_once() {
    let house = House::new();
    for payload in [sold_for(1, &list(199_900.0)), sold_for(2, &list(89_950.0)), car(3)] {
        house.create("car", payload).await.unwrap();
    }
    house.update("car-2", json!({"body": "Ny text"})).await.unwrap();
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let planned = of_all(&plans, json!({"price_percent": -5, "round": 100})).await;
    assert_eq!(planned.dealers[0].counts, ChangeCounts { update: 2, unchanged: 1, ..ChangeCounts::default() });
    assert_eq!((planned.guard, &planned.errors[..]), (Guard::default(), &[][..]));
    assert_eq!(planned, plans.plan(&access(), planned.id).await.unwrap());
    let listed = changes(&plans, &planned).await;
    let before = quality::score(&ad(&house, "car-2").await, &[]);
    let mut shown = json!(listed[1]);
    let warnings = shown.as_object_mut().unwrap().remove("warnings").unwrap();
    assert_eq!(warnings.as_array().map(Vec::len), Some(1), "{warnings}");
    assert_eq!(
        shown,
        json!({"line": null, "dealer_code": DEALER, "source_id": "car-2", "kind": "update", "revision": 1,
            "fields": [{"pointer": "/price", "from": list(89_950.0), "to": json!([{"type": "list", "amount": 85_500, "currency": "SEK"}])}],
            "links_to": null, "errors": [], "quality": {"from": before, "to": before}, "outcome": null, "code": null, "request_id": null})
    );
    assert_eq!(ad(&house, "car-1").await.content.get("price"), Some(&list(199_900.0)), "nothing has changed");
    let ended = applied(&house, &plans, &planned, None).await;
    assert_eq!((ended.state, ended.dealers[0].outcomes), (PlanState::Applied, done(2)));
    // Applied again, nothing happens.
    assert_eq!(apply(&plans, &planned, None).await.unwrap(), ended);
    run(&house, &plans).await;
    for (source_id, amount) in [("car-1", 189_900), ("car-2", 85_500)] {
        let ad = ad(&house, source_id).await;
        assert_eq!(ad.content.get("price").unwrap()[0]["amount"], amount);
        let newest = house.kit.service.revisions(&access(), target(source_id), Page::default()).await.unwrap();
        assert_eq!(newest.rows[0].plan_id, Some(planned.id));
    }
    // A later plan is of what is then.
    let again = of_all(&plans, json!({"price_percent": -5, "round": 100})).await;
    assert_eq!(changes(&plans, &again).await[1].details.fields[0].to[0]["amount"], 81_200);
}

#[tokio::test]
async fn fields_are_set_where_the_rules_allow_it_and_where_they_change_something() {
    let house = House::new();
    house.create("car", car(1)).await.unwrap();
    house.create("boat", boat(1)).await.unwrap();
    house.create("boat", boat(2)).await.unwrap();
    let change = json!({"title": "Vårkampanj", "visible": false, "location": {"zipcode": "11122"}, "body": null});
    house.update("boat-2", change.clone()).await.unwrap();
    house.run_to_the_end().await;
    let refused = house.update("car-1", change.clone()).await.unwrap_err();
    let ServiceError::Invalid(errors) = refused else { panic!("{refused}") };
    let plans = plans_of(&house);
    let planned = of_all(&plans, json!({"set": change})).await;
    // Hiding counts as a removal.
    let counts = ChangeCounts { hide: 1, unchanged: 1, invalid: 1, ..ChangeCounts::default() };
    assert_eq!((planned.dealers[0].counts, planned.guard.exceeded), (counts, true));
    let listed = changes(&plans, &planned).await;
    let shown: Vec<_> = listed.iter().map(|it| (it.source_id.as_deref().unwrap(), it.kind)).collect();
    assert_eq!(shown, [("car-1", ChangeKind::Invalid), ("boat-1", ChangeKind::Hide)]);
    // As an update of the ad itself is refused.
    let told: Vec<_> = listed[0].details.errors.iter().map(|it| (it.pointer.clone(), it.detail.clone())).collect();
    let violations = errors.violations().into_iter();
    let expected: Vec<_> = violations.map(|(path, it)| (format!("/{path}"), it.texts().join(" "))).collect();
    assert_eq!(told, expected);
    assert_eq!((planned.errors[0].pointer.as_deref(), planned.errors[0].line), (Some("/title"), None));
    let fields: Vec<_> = listed[1].details.fields.iter().map(|field| field.pointer.as_str()).collect();
    assert_eq!(fields, ["/title", "/body", "/visible", "/location"]);
    let ScoreChange { from, to } = listed[1].details.quality;
    assert_eq!(from, Some(quality::score(&ad(&house, "boat-1").await, &[])));
    let ended = applied(&house, &plans, &planned, Some(1)).await;
    assert_eq!((ended.state, ended.dealers[0].outcomes), (PlanState::Applied, done(1)));
    let (one, other) = (ad(&house, "boat-1").await, ad(&house, "boat-2").await);
    assert_eq!(one.content, other.content, "as an update of the ad itself has made it");
    assert_eq!(to, Some(quality::score(&one, &[])));
    // None of the ads is valid: a plan that changes nothing, with the reason.
    let planned = of_all(&plans, json!({"set": {"boddy": "Vårkampanj"}})).await;
    let [reason] = &planned.errors[..] else { panic!("{planned:?}") };
    assert_eq!((planned.state, planned.dealers[0].counts.invalid), (PlanState::Ready, 3));
    assert_eq!((reason.count, reason.detail.as_str()), (3, "Unknown field. Did you mean \"body\"?"));
}

#[tokio::test]
async fn deleted_ads_are_not_selected() {
    let house = House::new();
    for payload in [boat(1), boat(2), boat(3), boat(4)] {
        house.create("boat", payload).await.unwrap();
    }
    house.run_to_the_end().await;
    house.delete("boat-1").await.unwrap();
    house.delete("boat-2").await.unwrap();
    house.run_to_the_end().await;
    // One is to be deleted, and one exists again although its request has not run.
    house.delete("boat-3").await.unwrap();
    house.update("boat-2", json!({"body": "Åter till salu"})).await.unwrap();
    assert_eq!(ad(&house, "boat-2").await.state, AdState::Deleted);
    let plans = plans_of(&house);
    let change = json!({"set": {"body": "Rea"}});
    let planned = of_all(&plans, change.clone()).await;
    let update = |source_id: &str| (source_id.to_owned(), ChangeKind::Update, None, None);
    assert_eq!(outcomes(&plans, &planned).await, [update("boat-2"), update("boat-4")]);
    house.run_to_the_end().await;
    let gone = [AdFilter::SourceId(vec!["boat-1".to_owned(), "boat-3".to_owned()])];
    let refused = select(&plans, &access(), PlanOptions::default(), &gone, change.clone()).await.unwrap();
    let [error] = &refused.errors[..] else { panic!("{refused:?}") };
    assert_eq!((refused.state, error.code), (PlanState::Refused, Code::EmptySelection));
    let text = "The filters in `select` of a stock plan match no ads, apart from deleted ones, so there is nothing to change. \
        Correct the filters. `GET /v4/ad` with the same filters lists the ads.";
    assert_eq!(error.detail, text);
    assert_eq!(plans.plan(&access(), refused.id).await.unwrap(), refused);
    // As many as allowed, and one more.
    for (most_ads, state) in [(2, PlanState::Ready), (1, PlanState::Refused)] {
        let limits = PlanLimits { most_ads, ..PlanLimits::default() };
        let few = StockPlans::new(house.kit.service.clone(), house.kit.store.clone(), limits);
        let planned = of_all(&few, change.clone()).await;
        assert_eq!(planned.state, state);
        if state == PlanState::Refused {
            assert_eq!(planned.errors[0].code, Code::TooMany);
            let text = "More than 1 ads are selected, which is the maximum. Add filters that select fewer.";
            assert_eq!(planned.errors[0].detail, text);
        }
        plans.cancel(&access(), planned.id).await.unwrap();
    }
}

#[tokio::test]
async fn ads_of_v3_become_v4_where_an_update_converts_them() {
    let house = House::new();
    let registered = |source_id: &str, category_id: u16| {
        json!({"source_id": source_id, "category_id": category_id, "price": list(1000.0),
            "category_fields": {"registration_number": "ABC123", "model_year": 2015}})
    };
    let open = json!({"source_id": "open", "category_id": 1122, "title": "Fin", "contact": {"email": "a@b.se"}, "price": list(1000.0),
        "category_fields": {"brand": "valtra"}});
    for payload in [registered("car", 1020), open] {
        let id = house.kit.ids.next();
        house.kit.service.create(&access(), id, CreatePath::V3, object(payload)).await.unwrap();
    }
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let planned = of_all(&plans, json!({"price_percent": 10})).await;
    let counts = ChangeCounts { update: 1, invalid: 1, ..ChangeCounts::default() };
    assert_eq!(planned.dealers[0].counts, counts);
    let refused = changes(&plans, &planned).await.into_iter().find(|it| it.kind == ChangeKind::Invalid).unwrap();
    let [error] = &refused.details.errors[..] else { panic!("{refused:?}") };
    assert_eq!((error.pointer.as_str(), error.code), ("/source_id", Code::IncompatibleApiVersion));
    assert!(error.detail.starts_with("The ad is a V3 ad, which an update cannot convert to V4. "), "{}", error.detail);
    let ended = applied(&house, &plans, &planned, None).await;
    assert_eq!(ended.dealers[0].outcomes, done(1));
    let (car, open) = (ad(&house, "car").await, ad(&house, "open").await);
    assert_eq!((car.api_version, &car.content.get("price").unwrap()[0]["amount"]), (ApiVersion::V4, &json!(1100)));
    assert_eq!((open.api_version, open.content.get("price")), (ApiVersion::V3, Some(&list(1000.0))));
}

#[tokio::test]
async fn an_ad_that_changed_since_the_plan_is_left() {
    let house = House::new();
    for number in 1..4 {
        house.create("car", sold_for(number, &list(1000.0))).await.unwrap();
    }
    house.create("boat", boat(1)).await.unwrap();
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let planned = of_all(&plans, json!({"price_percent": -10})).await;
    house.update("car-1", json!({"price": list(800.0)})).await.unwrap();
    house.delete("car-2").await.unwrap();
    house.delete("boat-1").await.unwrap();
    house.run_to_the_end().await;
    let ended = applied(&house, &plans, &planned, None).await;
    let outcome = |outcome: ChangeOutcome, code| (ChangeKind::Update, Some(outcome), code);
    let found: Vec<_> =
        outcomes(&plans, &ended).await.into_iter().map(|(_, kind, outcome, code)| (kind, outcome, code)).collect();
    let expected = [
        outcome(ChangeOutcome::Conflict, Some(Code::PreconditionFailed)),
        outcome(ChangeOutcome::Conflict, Some(Code::AdDeleted)),
        outcome(ChangeOutcome::Done, None),
        outcome(ChangeOutcome::Conflict, Some(Code::AdDeleted)),
    ];
    assert_eq!(found, expected);
    assert_eq!(ad(&house, "car-1").await.content.get("price"), Some(&list(800.0)));
    for gone in ["car-2", "boat-1"] {
        assert_eq!(ad(&house, gone).await.state, AdState::Deleted, "{gone}");
    }
}

#[tokio::test]
async fn a_group_selects_among_the_ads_of_its_dealers() {
    let house = House::new();
    for (code, group) in [("south-cars", Some("nord")), ("east-cars", None)] {
        house.kit.directory.put(Dealer { group: group.map(str::to_owned), ..Dealer::named(code) });
    }
    for dealer in [DEALER, "south-cars", "east-cars"] {
        let (access, id) = (Access::Dealer(dealer.to_owned()), house.kit.ids.next());
        house.kit.service.create(&access, id, category("car"), object(sold_for(1, &list(1000.0)))).await.unwrap();
    }
    house.run_to_the_end().await;
    let plans = plans_of(&house);
    let group = Access::Group("nord".to_owned());
    let change = json!({"price_percent": 50});
    let dealers = async |options: PlanOptions, filters: &[AdFilter]| {
        let planned = select(&plans, &group, options, filters, change.clone()).await.unwrap();
        plans.cancel(&group, planned.id).await.unwrap();
        planned.dealers.into_iter().map(|dealer| (dealer.dealer_code, dealer.counts.update)).collect::<Vec<_>>()
    };
    let (north, south) = ((DEALER.to_owned(), 1), ("south-cars".to_owned(), 1));
    let of_south = PlanOptions { dealer_code: Some("south-cars".to_owned()), ..PlanOptions::default() };
    assert_eq!(dealers(PlanOptions::default(), &[]).await, [north, south.clone()]);
    assert_eq!(dealers(of_south, &[]).await, std::slice::from_ref(&south));
    assert_eq!(dealers(PlanOptions::default(), &[AdFilter::DealerCode("south-cars".to_owned())]).await, [south]);
    let foreign = [AdFilter::DealerCode("east-cars".to_owned())];
    let refused = select(&plans, &group, PlanOptions::default(), &foreign, change.clone()).await.unwrap();
    assert_eq!(refused.errors[0].code, Code::EmptySelection);

    let planned = select(&plans, &group, PlanOptions::default(), &[], change.clone()).await.unwrap();
    plans.apply(&group, planned.id, None, &RequestOrigin::default()).await.unwrap();
    run(&house, &plans).await;
    let ended = plans.plan(&group, planned.id).await.unwrap();
    assert!(ended.dealers.iter().all(|dealer| dealer.outcomes == done(1)), "{ended:?}");
    // A dealer with the maximum number of plans.
    for _ in 0..3 {
        of_all(&plans, change.clone()).await;
    }
    let refused = select(&plans, &group, PlanOptions::default(), &[], change).await.unwrap();
    assert_eq!((refused.state, refused.errors[0].code), (PlanState::Refused, Code::TooManyPlans));
}

#[tokio::test]
async fn every_ad_is_met_once_on_whatever_page_it_is() {
    let house = House::new();
    // Many of one moment, and some of others.
    for number in 0..1250 {
        if number >= 1100 && number % 2 == 0 {
            house.clock.advance(Duration::from_millis(1));
        }
        let plate = json!({"category_fields": {"registration_number": format!("AB{number}")}});
        house.create("car", with(&car(number), plate)).await.unwrap();
    }
    let plans = plans_of(&house);
    let mut writer = plans.begin_selected(&access(), PlanOptions::default()).await.unwrap();
    let change = parse(json!({"set": {"body": "Rea"}})).unwrap();
    writer.add_selected(&[AdFilter::SourceIdContains("7".to_owned())], &change).await.unwrap();
    writer.add_selected(&[], &change).await.unwrap();
    writer.check().await.unwrap();
    let planned = writer.finish().await.unwrap();
    assert_eq!(planned.dealers[0].counts, ChangeCounts { update: 1250, ..ChangeCounts::default() });
    let open = house.kit.store.open_changes(planned.id, 2000).await.unwrap();
    let ids: BTreeSet<_> = open.into_iter().map(|change| change.source_id).collect();
    assert_eq!(ids.len(), 1250);
}

/// A clock at whose third look ads are updated: after the first page of a selection was read.
struct MeddlingClock {
    house: Arc<House>,
    looks: AtomicUsize,
}

impl Clock for MeddlingClock {
    fn now(&self) -> Timestamp {
        if self.looks.fetch_add(1, Ordering::SeqCst) == 2 {
            for number in 0..10 {
                let update = self.house.update(&format!("car-{number}"), json!({"body": "Såld"})).now_or_never();
                update.expect("the store in memory never waits").unwrap();
            }
        }
        self.house.clock.now()
    }
}

#[tokio::test]
async fn no_ad_is_missed_when_others_leave_the_selection_while_it_is_read() {
    let house = Arc::new(House::new());
    for number in 0..600 {
        house.create("car", car(number)).await.unwrap();
        house.clock.advance(Duration::from_millis(1));
    }
    let (kit, rulebook) = (&house.kit, Arc::new(Rulebook::default()));
    let clock = Arc::new(MeddlingClock { house: house.clone(), looks: AtomicUsize::new(0) });
    let service = Service::new(kit.store.clone(), kit.directory.clone(), rulebook, clock, kit.ids.clone());
    let plans = StockPlans::new(service, kit.store.clone(), PlanLimits::default());
    let filters = [AdFilter::Search("Fin bil".to_owned())];
    let change = json!({"set": {"body": "Rea"}});
    let planned = select(&plans, &access(), PlanOptions::default(), &filters, change).await.unwrap();
    assert_eq!(ad(&house, "car-9").await.content.text("body"), Some("Såld"));
    assert_eq!(planned.dealers[0].counts, ChangeCounts { update: 600, ..ChangeCounts::default() });
}

#[tokio::test]
async fn options_for_ads_that_a_stock_does_not_name_are_refused() {
    let house = House::new();
    let plans = plans_of(&house);
    for missing in [MissingAds::Hide, MissingAds::Delete] {
        let options = PlanOptions {
            vehicle_types: Some(vec!["car".to_owned()]),
            dealer_code: Some("south-cars".to_owned()),
            ..options(missing)
        };
        let error = plans.begin_selected(&access(), options).await.unwrap_err();
        let StockPlanError::Service(ServiceError::InvalidQuery(errors)) = error else { panic!("{error}") };
        let expected = json!({
            "missing": ["A selection is not the whole stock, so no ad counts as missing. Leave missing out, or send \"keep\"."],
            "vehicle_types": ["Says which ads of a stock count as missing, and selects none. Select vehicle types with the filters in select."],
            "dealer_code": [format!("\"south-cars\" is outside the token's scope; leave dealer_code out, or send \"{DEALER}\".")],
        });
        assert_eq!(json!(errors), expected);
    }
    assert_eq!(plans.plans(&access(), Page::default()).await.unwrap().count, 0);
}
