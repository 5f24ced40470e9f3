//! Calls of marketplaces, and the record of an ad as one document (extensions E10).

use ad_core::{
    model::{CallAction, Exclusions, Market, MarketplaceCall, Page},
    ports::{Checksum, Listing, MarketplaceError, PAGE_BYTES},
    violation::Code,
};
use serde_json::json;

use crate::support::{House, access, boat, car, target};

const ALL: Page = Page { limit: 500, offset: 0 };

impl House {
    /// The calls about its ad, oldest first.
    async fn calls(&self, source_id: &str) -> Vec<MarketplaceCall> {
        let page = self.kit.service.calls(&access(), target(source_id), ALL).await.unwrap();
        assert_eq!(page.count, page.rows.len() as u64);
        page.rows.into_iter().rev().collect()
    }
}

/// What a call asked for, and what was answered: status, code and listing.
type Answered<'a> = (CallAction, Option<u16>, Option<Code>, Option<&'a str>);

fn of(calls: &[MarketplaceCall], market: Market) -> Vec<Answered<'_>> {
    let of = calls.iter().filter(|call| call.marketplace == market);
    of.map(|call| (call.action, call.status, call.code, call.listing_id.as_deref())).collect()
}

#[tokio::test]
async fn calls_are_recorded_with_what_was_answered() {
    let house = House::new();
    let busy = MarketplaceError::Transient {
        code: Code::MarketplaceBusy,
        reason: "busy".to_owned(),
        retry_after: None,
        status: Some(429),
    };
    house.kit.primary.fail_next(busy);
    house.kit.primary.fail_next(MarketplaceError::unreachable("timeout", None));
    house.kit.secondary.preset("north-cars", "ABC 123", "Volvo");
    house.create("car", car()).await.unwrap();
    house.run_to_the_end().await;
    let ad = house.ad().await;
    let calls = house.calls("car-1").await;
    let (busy, silent) = ((Some(429), Some(Code::MarketplaceBusy)), (None, Some(Code::MarketplaceUnreachable)));
    assert_eq!(
        of(&calls, Market::Primary),
        [
            (CallAction::Publish, busy.0, busy.1, None),
            (CallAction::Publish, silent.0, silent.1, None),
            (CallAction::Publish, Some(200), None, Some("primary-1")),
        ]
    );
    assert_eq!(of(&calls, Market::Secondary), [(CallAction::Publish, Some(200), None, Some("secondary-1"))]);
    let sent = Listing { ad: &ad, images: &ad.image_refs }.json().unwrap();
    let sum = Checksum::of(&sent).to_string();
    for call in &calls {
        assert_eq!(call.idempotency_key, Some(format!("{}:publish:{}", call.request_id, call.marketplace)));
        assert_eq!(call.content_sha256.as_ref(), Some(&sum));
        assert_eq!(call.revision, 0);
    }

    // Calls that are not sent are none.
    let paused = MarketplaceError::NotAsked {
        code: Code::MarketplacePaused,
        reason: "paused".to_owned(),
        retry_after: std::time::Duration::from_secs(30),
    };
    house.kit.primary.fail_next(paused);
    house.kit.primary.fail_next(MarketplaceError::refused("sold out"));
    house.bump("car-1", Exclusions { secondary: true, ..Exclusions::default() }).await.unwrap();
    house.run_to_the_end().await;
    let bumps = house.calls("car-1").await.split_off(calls.len());
    let refused = (CallAction::Bump, Some(422), Some(Code::MarketplaceRefused), Some("primary-1"));
    assert_eq!(of(&bumps, Market::Primary), [refused]);
    assert_eq!((bumps.len(), &bumps[0].content_sha256), (1, &None));
}

#[tokio::test]
async fn a_large_record_has_the_newest_rows() {
    let (house, new) = House::with("boat", boat()).await;
    house.run().await;
    let record = async || house.kit.service.record(&access(), target(&new.source_id)).await.unwrap();
    let small = record().await;
    assert_eq!((small.revisions.count, small.calls.count), (1, 1));
    assert_eq!(small.log.rows.last().map(|entry| entry.action.name()), Some("create"));
    assert_eq!(small.log.count, small.log.rows.len() as u64);

    for number in 1..=60 {
        let body = format!("{number} {}", "å".repeat(60_000));
        house.update(&new.source_id, json!({"body": body})).await.unwrap();
        house.run().await;
    }
    let large = record().await;
    assert_eq!((large.revisions.count, large.revision), (61, 60));
    assert_eq!(large.revisions.rows[0].revision, 60);
    assert!((20..40).contains(&large.revisions.rows.len()), "{}", large.revisions.rows.len());
    // What is small is whole.
    assert_eq!(large.log.count, large.log.rows.len() as u64);
    assert_eq!((large.calls.count, large.calls.rows.len()), (61, 61));
    let length = serde_json::to_string(&large).unwrap().len() as u64;
    assert!((PAGE_BYTES - 500_000..PAGE_BYTES + 200_000).contains(&length), "{length}");
}
