//! Bump and pole position: who may, and what they do ('Endpoints' rules 4 and 5).

use std::time::Duration;

use ad_core::{
    memory::Operation,
    model::{AdState, Dealer, Exclusions, Market},
    ports::{Clock, Ids, MarketplaceError, Store},
    service::Acceptance,
};
use serde_json::json;

use crate::support::{House, access, boat, car, dealer, reasons, target, with};

const NONE: Exclusions = Exclusions { primary: false, secondary: false };
const NO_PRIMARY: Exclusions = Exclusions { primary: true, secondary: false };
const NO_SECONDARY: Exclusions = Exclusions { primary: false, secondary: true };
const BOTH: Exclusions = Exclusions { primary: true, secondary: true };

fn bumps(house: &House) -> [usize; 2] {
    [&house.kit.primary, &house.kit.secondary]
        .map(|market| market.calls().iter().filter(|call| call.operation == Operation::Bump).count())
}

fn permitted(house: &House, bump: &[Market]) {
    house.kit.directory.put(Dealer { bump: bump.to_vec(), ..dealer() });
}

#[tokio::test]
async fn a_bump_moves_the_ad_to_the_first_place() {
    let (house, _) = House::with("car", car()).await;
    let other = with(&car(), json!({"source_id": "car-2", "category_fields": {"registration_number": "DEF456"}}));
    house.create("car", other).await.unwrap();
    house.run().await;
    let first = || house.kit.primary.shown(house.clock.now()).remove(0).id;
    assert_eq!(first(), "primary-2");
    house.bump("car-1", NONE).await.unwrap();
    house.run().await;
    assert_eq!(first(), "primary-1");
    let (_, log) = house.ads().await.remove(0);
    assert_eq!(crate::support::entry_texts(&log, 1), ["bump processing: Processing", "bump done: Ad bumped"]);
}

#[tokio::test]
async fn exclusions_and_permissions_choose_the_marketplaces() {
    use Market::{Primary, Secondary};
    for (permissions, exclude, reached) in [
        (&[Primary, Secondary][..], NONE, [1, 1]),
        (&[Primary, Secondary], NO_PRIMARY, [0, 1]),
        (&[Primary, Secondary], NO_SECONDARY, [1, 0]),
        (&[Primary], NONE, [1, 0]),
        (&[Secondary], NONE, [0, 1]),
        (&[Secondary], NO_PRIMARY, [0, 1]),
    ] {
        let (house, _) = House::with("car", car()).await;
        permitted(&house, permissions);
        house.bump("car-1", exclude).await.unwrap();
        house.run().await;
        assert_eq!(bumps(&house), reached, "{permissions:?} {exclude:?}");
    }
}

#[tokio::test]
async fn a_bump_is_refused_with_every_reason() {
    let none_left = "Dealer has no permission to bump ads on the marketplace that is left";
    let no_permission = "Dealer has no permission to bump ads on any marketplace of this ad";
    let (house, _) = House::with("car", car()).await;
    assert_eq!(reasons(house.bump("car-1", BOTH).await), ["At most one marketplace can be excluded"]);
    permitted(&house, &[Market::Primary]);
    assert_eq!(reasons(house.bump("car-1", NO_PRIMARY).await), [none_left]);
    permitted(&house, &[]);
    assert_eq!(reasons(house.bump("car-1", NONE).await), [no_permission]);
    house.update("car-1", json!({"visible": false})).await.unwrap();
    assert_eq!(reasons(house.bump("car-1", NONE).await), ["Ad is not visible, cannot bump", no_permission]);
    house.delete("car-1").await.unwrap();
    assert_eq!(
        reasons(house.bump("car-1", BOTH).await),
        [
            "Ad has been deleted, cannot bump",
            "Ad is not visible, cannot bump",
            "At most one marketplace can be excluded",
            no_permission
        ]
    );
}

#[tokio::test]
async fn a_boat_is_bumped_without_exclusions() {
    let (house, _) = House::with("boat", boat()).await;
    let refusal = "Marketplaces can be excluded for registered vehicles only";
    for exclude in [NO_PRIMARY, NO_SECONDARY] {
        assert_eq!(reasons(house.bump("boat-8", exclude).await), [refusal]);
    }
    house.bump("boat-8", NONE).await.unwrap();
    house.run().await;
    assert_eq!(bumps(&house), [1, 0]);
    permitted(&house, &[Market::Secondary]);
    assert_eq!(
        reasons(house.bump("boat-8", NONE).await),
        ["Dealer has no permission to bump ads on any marketplace of this ad"]
    );
}

#[tokio::test]
async fn what_is_not_published_cannot_be_bumped() {
    let house = House::new();
    house.kit.primary.fail_next(MarketplaceError::refused("no"));
    house.create("boat", boat()).await.unwrap();
    house.bump("boat-8", NONE).await.unwrap();
    house.run().await;
    let log = house.log(1).await;
    assert!(log[1].starts_with("bump error: ") && log[1].contains("the ad is not published there"), "{log:?}");
}

#[tokio::test]
async fn pole_position_lasts_three_days_on_the_primary_marketplace() {
    let (house, _) = House::with("car", car()).await;
    house.pole_position("car-1").await.unwrap();
    house.run().await;
    assert_eq!(
        house.log(1).await,
        ["boost processing: Processing", "boost done: Pole position until 2026-01-18T10:00:00.000Z"]
    );
    assert!(house.kit.primary.listing("primary-1").unwrap().pole_position_until.is_some());
    assert!(house.kit.secondary.listing("secondary-1").unwrap().pole_position_until.is_none());

    house.clock.advance(Duration::from_hours(72) - Duration::from_millis(1));
    assert_eq!(
        reasons(house.pole_position("car-1").await),
        ["Ad already has pole position until 2026-01-18T10:00:00.000Z"]
    );
    house.clock.advance(Duration::from_millis(1));
    house.pole_position("car-1").await.unwrap();
}

#[tokio::test]
async fn pole_position_asked_for_twice_is_given_once() {
    let (house, _) = House::with("car", car()).await;
    house.pole_position("car-1").await.unwrap();
    house.pole_position("car-1").await.unwrap();
    assert_eq!(house.run().await, 1, "the second one made no request");
    assert_eq!(reasons(house.pole_position("car-1").await).len(), 1);
}

#[tokio::test]
async fn promotions_of_one_kind_coalesce_while_one_is_unfinished() {
    let (house, before) = House::with("car", car()).await;
    house.clock.advance(Duration::from_secs(1));
    let (service, ids) = (&house.kit.service, &house.kit.ids);
    let bump = async |exclude| service.bump(&access(), ids.next(), target("car-1"), exclude).await.unwrap();
    let retry = async || service.retry(&access(), ids.next(), target("car-1")).await.unwrap();
    let [first, primary, again] = [bump(NONE).await, bump(NO_SECONDARY).await, retry().await];
    for queued in [&first, &primary, &again] {
        assert_eq!(queued.request, Acceptance::Queued);
    }
    assert_eq!(before.updated + Duration::from_secs(1), again.ad.updated);
    house.clock.advance(Duration::from_secs(1));
    for (coalesced, queued) in
        [(bump(NONE).await, "bump"), (bump(NO_SECONDARY).await, "bump"), (retry().await, "publish")]
    {
        let Acceptance::CoalescedWith(request) = coalesced.request else { panic!("{queued}: {coalesced:?}") };
        assert!(house.kit.store.find_unfinished(coalesced.ad.id, None).await.unwrap().is_some());
        assert_eq!((&coalesced.ad, coalesced.tag), (&again.ad, again.tag), "{request} changes nothing");
    }
    assert_eq!(house.run().await, 3);
    assert_eq!(bumps(&house), [2, 1]);
    assert_eq!(bump(NONE).await.request, Acceptance::Queued);
}

#[tokio::test]
async fn pole_position_that_was_not_given_may_be_asked_for_again() {
    let (house, _) = House::with("car", car()).await;
    house.kit.primary.fail_next(MarketplaceError::refused("sold out"));
    house.pole_position("car-1").await.unwrap();
    house.run().await;
    assert!(house.log(1).await[1].starts_with("boost error: "));
    house.pole_position("car-1").await.unwrap();
    house.run().await;
    assert!(house.log(1).await[1].starts_with("boost done: "));
}

#[tokio::test]
async fn pole_position_is_for_visible_registered_vehicles() {
    let (house, _) = House::with("boat", boat()).await;
    let unregistered = "Pole position is for registered vehicles only";
    assert_eq!(reasons(house.pole_position("boat-8").await), [unregistered]);
    house.delete("boat-8").await.unwrap();
    assert_eq!(
        reasons(house.pole_position("boat-8").await),
        ["Ad has been deleted, cannot give pole position", unregistered]
    );

    let (house, ad) = House::with("car", with(&car(), json!({"visible": false}))).await;
    assert_eq!(ad.state, AdState::Created);
    assert_eq!(reasons(house.pole_position("car-1").await), ["Ad is not visible, cannot give pole position"]);
}
