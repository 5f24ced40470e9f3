//! What a retry does, whichever requests went before it (decision 24).

use ad_core::{
    memory::{MemoryMarketplace, Operation, one_pixel},
    model::{AdState, Exclusions, ImageFlaw, Leftover, Market, Plan},
    ports::{ImageError, MarketplaceError},
};
use serde_json::{Value, json};

use crate::support::{House, boat, car, reasons, with, without};

const IMAGE: &str = "https://late.example/1.jpg";

fn no() -> MarketplaceError {
    MarketplaceError::refused("no")
}

/// A request, with the marketplaces that refuse it.
#[derive(Debug, Clone, Copy)]
enum Did {
    Update,
    UpdateImages,
    Hide,
    Show,
    Delete,
    Bump,
    Boost,
    Retry,
}

/// Does one request after the other, each of which these marketplaces refuse, and returns what a retry then does: its actions
/// and the marketplaces that it calls.
async fn retried(requests: &[(Did, &[Market])]) -> (Vec<String>, Vec<String>) {
    let house = House::new();
    house.create("car", without(car(), "image_urls")).await.unwrap();
    house.run().await;
    for (did, refusing) in requests {
        for market in *refusing {
            if *market == Market::Primary { &house.kit.primary } else { &house.kit.secondary }.fail_next(no());
        }
        if matches!(did, Did::UpdateImages) {
            house.kit.images.fail(IMAGE, ImageError::Unusable(ImageFlaw::NotAPhoto, "a page".to_owned()));
        }
        match did {
            Did::Update => house.update("car-1", json!({"body": "New"})).await,
            Did::UpdateImages => house.update("car-1", json!({"image_urls": [IMAGE]})).await,
            Did::Hide => house.update("car-1", json!({"visible": false})).await,
            Did::Show => house.update("car-1", json!({"visible": true})).await,
            Did::Delete => house.delete("car-1").await,
            Did::Bump => house.bump("car-1", Exclusions::default()).await,
            Did::Boost => house.pole_position("car-1").await,
            Did::Retry => house.retry("car-1").await,
        }
        .unwrap();
        house.run().await;
    }
    let count = |market: &MemoryMarketplace| market.calls().len();
    let before = [count(&house.kit.primary), count(&house.kit.secondary)];
    let logged = house.log(usize::MAX).await.len();
    house.retry("car-1").await.unwrap();
    house.run().await;
    let log = house.log(usize::MAX).await;
    let begun =
        log[logged..].iter().filter_map(|entry| entry.split_once(" processing").map(|(action, _)| action.to_owned()));
    let called = [("primary", &house.kit.primary, before[0]), ("secondary", &house.kit.secondary, before[1])];
    let name = |operation: &Operation| format!("{operation:?}").to_lowercase();
    let calls = called.into_iter().flat_map(|(market, made, before)| {
        let new = made.calls().into_iter().skip(before);
        new.map(move |call| format!("{market} {}", name(&call.operation))).collect::<Vec<_>>()
    });
    (begun.collect(), calls.collect())
}

/// Requests, with the marketplaces that refuse each; what a retry does then; the calls that it makes.
type Row<'a> = (&'a [(Did, &'a [Market])], &'a [&'a str], &'a [&'a str]);

#[tokio::test]
async fn a_retry_does_what_publishing_lacks_and_then_a_failed_promotion_of_the_last_request() {
    use Did::{Boost, Bump, Delete, Hide, Retry, Show, Update, UpdateImages};
    use Market::{Primary, Secondary};
    let (none, primary, secondary, both): (&[Market], &[Market], &[Market], &[Market]) =
        (&[], &[Primary], &[Secondary], &[Primary, Secondary]);
    let all = &["primary update", "secondary update"][..];
    let off = &["primary unpublish", "secondary unpublish"][..];
    let rows: &[Row<'_>] = &[
        // Nothing is left undone: published again.
        (&[(Update, none)], &["publish"], all),
        (&[(Bump, none)], &["publish"], all),
        // A failed publish stays until its marketplace is reached, whatever comes after it.
        (&[(Update, secondary)], &["publish"], &["secondary update"]),
        (&[(Update, secondary), (Bump, none)], &["publish"], &["secondary update"]),
        (&[(Update, secondary), (Update, none)], &["publish"], all),
        (&[(Update, secondary), (Update, primary)], &["publish"], &["primary update"]),
        (&[(Update, secondary), (Retry, secondary)], &["publish"], &["secondary update"]),
        (&[(Update, secondary), (Retry, none)], &["publish"], all),
        // A failed promotion comes after that, and is forgotten with the next request.
        (&[(Bump, secondary)], &["bump"], &["secondary bump"]),
        (&[(Boost, primary)], &["boost"], &["primary boost"]),
        (&[(Bump, secondary), (Boost, none)], &["publish"], all),
        (&[(Bump, secondary), (Update, none)], &["publish"], all),
        (&[(Bump, secondary), (Retry, secondary)], &["bump"], &["secondary bump"]),
        (&[(Bump, secondary), (Retry, none)], &["publish"], all),
        (
            &[(Update, primary), (Bump, both)],
            &["publish", "bump"],
            &["primary update", "primary bump", "secondary bump"],
        ),
        // Hiding and showing.
        (&[(Hide, secondary)], &["unpublish"], &["secondary unpublish"]),
        // There is nothing to do, which its entry says.
        (&[(Update, primary), (Hide, none)], &["unpublish"], &[]),
        (&[(Hide, secondary), (Show, none)], &["publish"], all),
        (&[(Hide, secondary), (Show, primary)], &["publish"], &["primary update"]),
        // A failed deletion is done again, unless an update has withdrawn it.
        (&[(Delete, secondary)], &["delete", "unpublish"], &["secondary unpublish"]),
        (&[(Delete, both)], &["delete", "unpublish"], off),
        (&[(Delete, secondary), (Bump, both)], &["delete", "unpublish"], &["secondary unpublish"]),
        (&[(Delete, secondary), (Update, none)], &["publish"], all),
        (&[(Delete, secondary), (Update, primary)], &["publish"], &["primary update"]),
        (&[(Delete, secondary), (Hide, secondary)], &["unpublish"], &["secondary unpublish"]),
        // A missing image stays missing, and concerns every marketplace.
        (&[(UpdateImages, none)], &["handle_media", "publish"], all),
        (&[(UpdateImages, none), (Update, none)], &["handle_media", "publish"], all),
        (&[(UpdateImages, none), (Bump, none)], &["handle_media", "publish"], all),
        (&[(UpdateImages, none), (Retry, none)], &["handle_media", "publish"], all),
        (&[(UpdateImages, none), (Hide, none)], &["handle_media"], &[]),
        (&[(UpdateImages, none), (Hide, primary)], &["handle_media", "unpublish"], &["primary unpublish"]),
        (&[(UpdateImages, secondary), (Delete, primary)], &["delete", "unpublish"], &["primary unpublish"]),
    ];
    for (requests, actions, calls) in rows {
        let (did, called) = retried(requests).await;
        assert_eq!((did, called), (actions.map_owned(), calls.map_owned()), "{requests:?}");
    }
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for [&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

#[tokio::test]
async fn a_missing_image_is_fetched_by_a_retry_whatever_was_updated_in_between() {
    let house = House::new();
    for _ in 0..5 {
        house.kit.images.fail(IMAGE, ImageError::Transient { reason: "500".to_owned(), retry_after: None });
    }
    house.kit.images.put(IMAGE, one_pixel(9));
    house.create("car", with(&car(), json!({"image_urls": [IMAGE]}))).await.unwrap();
    house.run_to_the_end().await;
    assert!(house.ad().await.image_refs.is_empty());
    for patch in [json!({"body": "New"}), json!({"visible": false}), json!({"visible": true})] {
        house.update("car-1", patch).await.unwrap();
        house.run().await;
    }
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.ad().await.image_refs.len(), 1);
    assert_eq!(house.log(1).await.last().unwrap(), "publish done: Ad published");
}

#[tokio::test]
async fn a_retry_that_was_given_up_leaves_all_that_it_did_not_do() {
    use ad_core::ports::{Clock, Store};
    let (house, _) = House::with("car", without(car(), "image_urls")).await;
    house.kit.images.fail(IMAGE, ImageError::Unusable(ImageFlaw::NotAPhoto, "a page".to_owned()));
    house.update("car-1", json!({"image_urls": [IMAGE]})).await.unwrap();
    let now = house.clock.now();
    let claimed = house.kit.store.claim(now, now, 1.into()).await.unwrap().claimed.remove(0);
    house.kit.pipeline.give_up(claimed, "stopped by the operator").await.unwrap();
    assert_eq!(house.log(1).await, ["update processing: Processing", "update error: stopped by the operator"]);
    let (_, log) = house.ads().await.remove(0);
    assert_eq!(log.last().unwrap().code, Some(ad_core::violation::Code::GivenUp));
    house.kit.secondary.fail_next(no());
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await[0], "handle_media processing: Processing");
    assert!(house.log(1).await[3].starts_with("publish error: "), "{:?}", house.log(1).await);
}

#[test]
fn a_leftover_of_an_earlier_version_is_read() {
    use Market::{Primary, Secondary};
    use ad_core::model::Action::Bump;
    let read = |stored: Value| serde_json::from_value::<Leftover>(stored).unwrap();
    let markets = json!(["primary", "secondary"]);
    for (actions, expected) in [
        (json!(["publish"]), Leftover::publishing(vec![Primary, Secondary])),
        (json!(["handle_media", "publish"]), Leftover::publishing(vec![Primary, Secondary])),
        (json!(["update", "unpublish"]), Leftover::publishing(vec![Primary, Secondary])),
        (json!(["handle_media"]), Leftover::default()),
        (json!(["delete"]), Leftover { delete: true, ..Leftover::publishing(vec![Primary, Secondary]) }),
        (
            json!(["bump"]),
            Leftover {
                promotion: Some(Plan { actions: vec![Bump], markets: vec![Primary, Secondary] }),
                ..Leftover::default()
            },
        ),
    ] {
        let stored = read(json!({"actions": actions, "markets": markets}));
        assert_eq!(stored, expected, "{actions}");
        assert_eq!(read(json!(stored)), expected, "and as it is stored now");
    }
}

#[tokio::test]
async fn what_is_known_to_be_listed_nowhere_is_neither_bumped_nor_boosted() {
    let house = House::new();
    for market in [&house.kit.primary, &house.kit.secondary] {
        market.fail_next(no());
    }
    house.create("car", without(car(), "image_urls")).await.unwrap();
    // It may be published when its turn comes.
    house.bump("car-1", Exclusions::default()).await.unwrap();
    house.run().await;
    assert_eq!(
        reasons(house.bump("car-1", Exclusions::default()).await),
        [
            "Ad is not published on the primary or secondary marketplace, cannot bump; its log says why, and retry publishes it"
        ]
    );
    assert_eq!(
        reasons(house.pole_position("car-1").await),
        [
            "Ad is not published on the primary marketplace, cannot give pole position; its log says why, and retry publishes it"
        ]
    );
    house.retry("car-1").await.unwrap();
    house.bump("car-1", Exclusions::default()).await.unwrap();
    house.run().await;
    assert_eq!(house.log(1).await.last().unwrap(), "bump done: Ad bumped");
    assert_eq!(house.ad().await.state, AdState::Created);

    let (house, _) = House::with("boat", boat()).await;
    house.bump("boat-8", Exclusions::default()).await.unwrap();
}
