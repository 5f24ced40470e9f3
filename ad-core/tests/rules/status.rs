//! The status of an ad (extensions E6): for each situation the word, the reason, who acts, and that lists and counts say the same.

use std::{fs, path::Path, time::Duration};

use ad_core::{
    memory::Kit,
    model::{
        AdFilter, AdQuery, AdStatus, ChannelReport, ChannelStatus, Exclusions, ImageStatus, Market, StatusReport,
        WhoActs,
    },
    ports::{Clock, ImageError, MarketplaceError, Scope, Store},
    status,
    violation::Code,
};
use proptest::{prelude::*, sample::select, test_runner::Config};
use serde_json::json;

use crate::support::{DEALER, House, access, boat, car, target, with};

const BROKEN: &str = "https://broken.example/2.jpg";

fn down() -> MarketplaceError {
    MarketplaceError::unreachable("HTTP 503", None)
}

fn refuses() -> MarketplaceError {
    MarketplaceError::refused("price too low")
}

fn breaker_is_open() -> MarketplaceError {
    let (code, reason) = (Code::MarketplaceUnreachable, "the circuit breaker is open: HTTP 503".to_owned());
    MarketplaceError::NotAsked { code, reason, retry_after: Duration::from_secs(10) }
}

/// The status of the only ad, which lists and counts show as well.
async fn report(house: &House) -> StatusReport {
    let source_id = house.ad().await.source_id;
    let report = house.kit.service.status(&access(), target(&source_id)).await.unwrap();
    check_words(&house.kit).await;
    report
}

/// Checks that what lists and counts show of each ad is what is computed from its facts.
async fn check_words(kit: &Kit) {
    let page = kit.service.list(&access(), None, AdQuery::default()).await.unwrap();
    let mut computed = Vec::new();
    for listed in &page.rows {
        for facts in kit.store.facts(Scope::Dealer(DEALER), &listed.ad.source_id).await.unwrap() {
            let oldest =
                facts.unfinished.first().map(|(plan, request)| (plan.as_ref(), request.queued.as_ref().unwrap()));
            let under_way = oldest.map(|(plan, queued)| status::OldestRequest::new(plan, &queued.progress));
            let words = status::words(&facts.stored.ad, &facts.stored.publication, under_way);
            assert_eq!(facts.stored.words, words, "{facts:#?}");
            assert_eq!(listed.words, words);
            let report = status::report(facts, listed.ad.updated);
            assert_eq!(report.status, words.status);
            for channel in &report.channels {
                assert_eq!(words.channel(channel.marketplace), Some(channel.status), "{report:#?}");
            }
            computed.push(words);
        }
        let query = AdQuery { filters: vec![AdFilter::Status(vec![listed.words.status])], ..AdQuery::default() };
        let found = kit.service.list(&access(), None, query).await.unwrap();
        assert!(found.rows.iter().any(|row| row.ad.id == listed.ad.id));
    }
    let summary = kit.service.summary(&access(), None).await.unwrap();
    assert_eq!(summary.ads, page.count);
    assert_eq!(summary.by_status.values().sum::<u64>(), page.count);
    assert_eq!(summary.by_vehicle_type.values().flat_map(|of| of.values()).sum::<u64>(), page.count);
    assert_eq!(summary.by_channel.get(&Market::Primary).map_or(0, |of| of.values().sum()), page.count);
    let failures = computed.iter().filter(|words| words.failure.is_some()).count() as u64;
    assert_eq!(summary.failures.values().sum::<u64>(), failures);
}

fn channel(report: &StatusReport, market: Market) -> &ChannelReport {
    report.channels.iter().find(|channel| channel.marketplace == market).unwrap()
}

/// Status, code, who acts and attempts of the channels.
fn channels(report: &StatusReport) -> Vec<(ChannelStatus, Option<Code>, WhoActs, u32)> {
    report.channels.iter().map(|it| (it.status, it.code, it.who_acts, it.attempts)).collect()
}

const LIVE: (ChannelStatus, Option<Code>, WhoActs, u32) = (ChannelStatus::Live, None, WhoActs::Nobody, 0);

#[tokio::test]
async fn an_ad_is_processing_and_then_live_until_it_is_hidden_and_deleted() {
    let house = House::new();
    house.create("car", car()).await.unwrap();
    let accepted = report(&house).await;
    assert_eq!((accepted.status, accepted.since), (AdStatus::Processing, house.clock.now()));
    assert!(accepted.channels.iter().all(|channel| channel.status == ChannelStatus::Processing));
    assert_eq!((accepted.unfinished.len(), accepted.images[0].status), (1, ImageStatus::Waiting));

    house.clock.advance(Duration::from_secs(1));
    house.run().await;
    let live = report(&house).await;
    assert_eq!((live.status, live.since), (AdStatus::Live, house.clock.now()));
    assert_eq!(channels(&live), [LIVE, LIVE]);
    assert_eq!(channel(&live, Market::Primary).listing_id, house.ad().await.marketplace_ad_id);
    assert!(live.images.iter().all(|image| image.status == ImageStatus::Stored), "{live:#?}");

    house.clock.advance(Duration::from_mins(1));
    house.update("car-1", json!({"visible": false})).await.unwrap();
    house.run().await;
    let hidden = report(&house).await;
    assert_eq!((hidden.status, hidden.since), (AdStatus::Hidden, house.clock.now()));
    assert!(hidden.channels.iter().all(|it| (it.status, it.who_acts) == (ChannelStatus::NotListed, WhoActs::Nobody)));

    house.delete("car-1").await.unwrap();
    house.run().await;
    assert_eq!(report(&house).await.status, AdStatus::Deleted);
}

#[tokio::test]
async fn what_a_marketplace_refuses_is_for_the_dealer_to_correct() {
    let house = House::new();
    house.kit.secondary.fail_next(refuses());
    house.create("car", car()).await.unwrap();
    house.run().await;
    let partly = report(&house).await;
    assert_eq!(partly.status, AdStatus::PartlyLive);
    let refused = (ChannelStatus::Failed, Some(Code::MarketplaceRefused), WhoActs::Dealer, 1);
    assert_eq!(channels(&partly), [LIVE, refused]);
    let secondary = channel(&partly, Market::Secondary);
    assert!(secondary.text.ends_with("Reason: price too low"), "{}", secondary.text);
    assert_eq!(secondary.what_to_do.as_deref(), Some(Code::MarketplaceRefused.about().cure));

    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(channels(&report(&house).await), [LIVE, LIVE]);

    let house = House::new();
    house.kit.primary.fail_next(refuses());
    house.create("boat", boat()).await.unwrap();
    house.run().await;
    let failed = report(&house).await;
    assert_eq!((failed.status, channels(&failed)), (AdStatus::Failed, vec![refused]));
    let summary = house.kit.service.summary(&access(), None).await.unwrap();
    assert_eq!(
        json!(summary),
        json!({"ads": 1, "by_status": {"failed": 1}, "by_vehicle_type": {"boat": {"failed": 1}},
            "by_channel": {"primary": {"failed": 1}}, "failures": {"marketplace_refused": 1}})
    );
}

#[tokio::test]
async fn an_ad_waits_for_a_marketplace_that_is_down_and_says_until_when() {
    let house = House::new();
    (0..2).for_each(|_| house.kit.secondary.fail_next(down()));
    house.create("car", car()).await.unwrap();
    house.run().await;
    let waiting = report(&house).await;
    assert_eq!(waiting.status, AdStatus::Waiting);
    let unreachable =
        |attempts| (ChannelStatus::Waiting, Some(Code::MarketplaceUnreachable), WhoActs::Marketplace, attempts);
    assert_eq!(channels(&waiting), [LIVE, unreachable(1)]);
    let due = channel(&waiting, Market::Secondary).next_attempt;
    assert!(due.is_some() && due == waiting.unfinished[0].next_attempt);
    assert!(channel(&waiting, Market::Primary).listing_id.is_some());

    // Another request behind it changes nothing about that.
    house.update("car-1", json!({"title": null, "body": "Fin"})).await.unwrap();
    assert_eq!((report(&house).await.status, waiting.since), (AdStatus::Waiting, report(&house).await.since));

    house.clock.set(due.unwrap());
    house.run().await;
    assert_eq!(channels(&report(&house).await), [LIVE, unreachable(2)]);
    house.run_to_the_end().await;
    assert_eq!((report(&house).await.status, channels(&report(&house).await)), (AdStatus::Live, vec![LIVE, LIVE]));
}

#[tokio::test]
async fn an_attempt_under_way_after_a_failed_one_still_counts_as_waiting() {
    let house = House::new();
    house.kit.primary.fail_next(down());
    house.create("boat", boat()).await.unwrap();
    house.run().await;
    let due = report(&house).await.channels[0].next_attempt.unwrap();
    house.clock.set(due);
    let claims = house.kit.store.claim(due, due + Duration::from_secs(10), 1.into()).await.unwrap();
    assert_eq!(claims.claimed.len(), 1);
    let waiting = report(&house).await;
    assert_eq!((waiting.status, waiting.channels[0].status), (AdStatus::Waiting, ChannelStatus::Waiting));
    assert_eq!(waiting.channels[0].next_attempt, None, "it is under way");
}

#[tokio::test]
async fn a_channel_is_paused_while_no_call_is_sent() {
    let house = House::new();
    house.kit.primary.fail_next(breaker_is_open());
    house.create("boat", boat()).await.unwrap();
    house.run().await;
    let paused = report(&house).await;
    assert_eq!(paused.status, AdStatus::Waiting);
    let unreachable = (ChannelStatus::Paused, Some(Code::MarketplaceUnreachable), WhoActs::Marketplace, 0);
    assert_eq!(channels(&paused), [unreachable]);
    house.run_to_the_end().await;
    assert_eq!(report(&house).await.status, AdStatus::Live);
}

#[tokio::test]
async fn a_listing_whose_update_failed_is_outdated() {
    let (house, _) = House::with("car", car()).await;
    house.kit.primary.fail_next(refuses());
    house.update("car-1", json!({"body": "Ny text"})).await.unwrap();
    house.run().await;
    let outdated = report(&house).await;
    assert_eq!(outdated.status, AdStatus::PartlyLive);
    assert_eq!(
        channels(&outdated),
        [(ChannelStatus::Outdated, Some(Code::MarketplaceRefused), WhoActs::Dealer, 1), LIVE]
    );

    // Hidden, then shown again without success: it is not listed any more.
    house.update("car-1", json!({"visible": false})).await.unwrap();
    house.run().await;
    assert_eq!(report(&house).await.status, AdStatus::Hidden);
    house.kit.primary.fail_next(refuses());
    house.update("car-1", json!({"visible": true})).await.unwrap();
    house.run().await;
    assert_eq!(channel(&report(&house).await, Market::Primary).status, ChannelStatus::Failed);
}

#[tokio::test]
async fn an_ad_that_could_not_be_deleted_everywhere_is_partly_live() {
    let (house, _) = House::with("car", car()).await;
    house.kit.secondary.fail_next(refuses());
    house.delete("car-1").await.unwrap();
    house.run().await;
    let report = report(&house).await;
    assert_eq!(report.status, AdStatus::PartlyLive);
    let statuses: Vec<_> = report.channels.iter().map(|channel| channel.status).collect();
    assert_eq!(statuses, [ChannelStatus::NotListed, ChannelStatus::Outdated]);
}

#[tokio::test]
async fn an_ad_waits_for_an_image_host_and_then_says_which_image_failed() {
    let house = House::new();
    let busy = ImageError::Transient { reason: "HTTP 503".to_owned(), retry_after: None };
    house.kit.images.fail(BROKEN, busy);
    let images =
        json!({"image_urls": ["https://cdn.example.com/1.jpg", BROKEN], "dont_publish_on_failed_images": true});
    house.create("car", with(&car(), images)).await.unwrap();
    house.run().await;
    let waiting = report(&house).await;
    assert_eq!(waiting.status, AdStatus::Waiting);
    let for_image = (ChannelStatus::Waiting, Some(Code::ImageFailed), WhoActs::ImageHost, 1);
    assert_eq!(channels(&waiting), [for_image, for_image]);
    assert_eq!(
        waiting.images.iter().map(|image| image.status).collect::<Vec<_>>(),
        [ImageStatus::Stored, ImageStatus::Waiting]
    );
    assert_eq!((waiting.images[1].code, waiting.images[1].attempts), (Some(Code::ImageFailed), 1));

    house.run_to_the_end().await;
    let held = report(&house).await;
    assert_eq!(held.status, AdStatus::Failed);
    assert!(channels(&held).iter().all(|it| (it.1, it.2) == (Some(Code::HeldByImages), WhoActs::Dealer)), "{held:#?}");
    assert_eq!((held.images[1].status, held.images[1].attempts), (ImageStatus::Failed, 5));

    // Without that wish the ad is live, and counts under the code of its missing image.
    house.update("car-1", json!({"dont_publish_on_failed_images": false})).await.unwrap();
    house.run_to_the_end().await;
    assert_eq!(
        (report(&house).await.status, report(&house).await.images[1].status),
        (AdStatus::Live, ImageStatus::Failed)
    );
    let summary = house.kit.service.summary(&access(), None).await.unwrap();
    assert_eq!(json!(summary.failures), json!({"image_failed": 1}));
}

#[tokio::test]
async fn what_an_operator_stopped_says_so() {
    let house = House::new();
    house.create("car", car()).await.unwrap();
    let now = house.clock.now();
    let claimed = house.kit.store.claim(now, now + Duration::from_secs(10), 1.into()).await.unwrap().claimed.remove(0);
    house.kit.pipeline.give_up(claimed, "Dropped").await.unwrap();
    let given_up = report(&house).await;
    assert_eq!(given_up.status, AdStatus::Failed);
    assert!(
        channels(&given_up).iter().all(|it| (it.1, it.2) == (Some(Code::GivenUp), WhoActs::Operator)),
        "{given_up:#?}"
    );
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Create(u8),
    Update(u8, bool),
    Body(u8),
    Delete(u8),
    Retry(u8),
    Bump(u8),
    Fail(Market, u8),
    FailImage,
    RunOne,
    Run,
    Wait,
    GiveUp,
}

fn step() -> impl Strategy<Value = Step> {
    let ad = || 0..2_u8;
    prop_oneof![
        2 => ad().prop_map(Step::Create),
        2 => (ad(), any::<bool>()).prop_map(|(ad, visible)| Step::Update(ad, visible)),
        2 => ad().prop_map(Step::Body),
        1 => ad().prop_map(Step::Delete),
        1 => ad().prop_map(Step::Retry),
        1 => ad().prop_map(Step::Bump),
        3 => (select(vec![Market::Primary, Market::Secondary]), 0..3_u8).prop_map(|(market, how)| Step::Fail(market, how)),
        1 => Just(Step::FailImage),
        3 => Just(Step::RunOne),
        3 => Just(Step::Run),
        3 => Just(Step::Wait),
        1 => Just(Step::GiveUp),
    ]
}

/// An ad of each kind: with two marketplaces and with one.
async fn take(house: &House, step: Step) {
    let name = |ad: u8| ["car-1", "boat-8"][usize::from(ad)];
    let claim = async || {
        let now = house.clock.now();
        house.kit.store.claim(now, now + Duration::from_secs(10), 1.into()).await.unwrap().claimed.pop()
    };
    // What is refused, as an update of an ad that is not there, changes nothing.
    match step {
        Step::Create(0) => drop(house.create("car", car()).await),
        Step::Create(_) => drop(house.create("boat", boat()).await),
        Step::Update(ad, visible) => drop(house.update(name(ad), json!({"visible": visible})).await),
        Step::Body(ad) => drop(house.update(name(ad), json!({"body": "Ny text", "image_urls": [BROKEN]})).await),
        Step::Delete(ad) => drop(house.delete(name(ad)).await),
        Step::Retry(ad) => drop(house.retry(name(ad)).await),
        Step::Bump(ad) => drop(house.bump(name(ad), Exclusions::default()).await),
        Step::Fail(market, how) => {
            let error = [down(), refuses(), breaker_is_open()][usize::from(how)].clone();
            let market = if market == Market::Primary { &house.kit.primary } else { &house.kit.secondary };
            market.fail_next(error);
        }
        Step::FailImage => {
            let busy = ImageError::Transient { reason: "HTTP 503".to_owned(), retry_after: None };
            house.kit.images.answer(BROKEN, Err(busy));
        }
        Step::RunOne => {
            if let Some(claimed) = claim().await {
                house.kit.pipeline.run(claimed).await.unwrap();
            }
        }
        Step::Run => drop(house.run().await),
        Step::Wait => house.clock.advance(Duration::from_secs(400)),
        Step::GiveUp => {
            if let Some(claimed) = claim().await {
                house.kit.pipeline.give_up(claimed, "Dropped").await.unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 128, ..Config::default() })]

    #[test]
    fn after_any_steps_lists_and_counts_say_what_is_computed_from_the_facts(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let house = House::new();
            for step in steps {
                take(&house, step).await;
                check_words(&house.kit).await;
            }
            house.run_to_the_end().await;
            check_words(&house.kit).await;
            for listed in house.kit.service.list(&access(), None, AdQuery::default()).await.unwrap().rows {
                assert!(!listed.words.status.is_under_way(), "everything has run");
            }
        });
    }
}

/// `docs/status.md` is made of the tables.
#[test]
fn status_page_is_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/status.md");
    let now = status::markdown();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let is_current = fs::read_to_string(&path).unwrap_or_default() == now;
    assert!(is_current, "docs/status.md is stale; write it anew: UPDATE_SNAPSHOTS=1 cargo test -p ad-core status_page");
}
