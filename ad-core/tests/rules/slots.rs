//! Slots (extensions E9.3): no more ads of a dealer are live at once than its operator allows, and the others wait in order.

use std::time::Duration;

use ad_core::{
    model::{AdStatus, ChannelStatus, Dealer, Tariff, WhoActs},
    ports::{MarketplaceError, Scope, SlotStore, Store},
    status,
    violation::Code,
};
use serde_json::json;

use crate::support::{DEALER, House, access, boat, dealer, entry_texts, target, with};

fn with_slots(slots: Option<u32>) -> Dealer {
    Dealer { tariff: Some(Tariff { slots, ..Tariff::default() }), ..dealer() }
}

/// A house whose dealer has so many slots.
fn house(slots: u32) -> House {
    let house = House::new();
    house.kit.directory.put(with_slots(Some(slots)));
    house
}

impl House {
    async fn boats(&self, ids: &[&str]) {
        for id in ids {
            self.clock.advance(Duration::from_secs(1));
            self.create("boat", with(&boat(), json!({"source_id": id}))).await.unwrap();
        }
        self.run().await;
    }

    /// Does what a process does every second, and runs the requests of it.
    async fn publish_waiting(&self) {
        assert!(!self.kit.slot_keeper.publish_waiting().await.unwrap());
        self.run().await;
        // What lists show is what is computed from the facts.
        for (ad, _) in self.ads().await {
            for facts in self.kit.store.facts(Scope::Dealer(DEALER), &ad.source_id).await.unwrap() {
                assert!(facts.unfinished.is_empty());
                assert_eq!(facts.stored.words, status::words(&facts.stored.ad, &facts.stored.publication, None));
            }
        }
    }

    async fn status_of(&self, id: &str) -> AdStatus {
        self.kit.service.status(&access(), target(id)).await.unwrap().status
    }

    /// The ads with a status, in the order of creation.
    async fn with_status(&self, status: AdStatus) -> String {
        let mut found = Vec::new();
        for (ad, _) in self.ads().await {
            if self.status_of(&ad.source_id).await == status {
                found.push(ad.source_id);
            }
        }
        found.join(" ")
    }

    async fn live(&self) -> String {
        self.with_status(AdStatus::Live).await
    }

    async fn waiting(&self) -> String {
        self.with_status(AdStatus::Waiting).await
    }

    async fn used(&self) -> u64 {
        self.kit.store.slots_used(DEALER).await.unwrap()
    }

    async fn log_of(&self, id: &str) -> Vec<String> {
        let (_, log) = self.ads().await.into_iter().find(|(ad, _)| ad.source_id == id).unwrap();
        entry_texts(&log, usize::MAX)
    }
}

#[tokio::test]
async fn beyond_the_slots_ads_wait_and_are_published_oldest_first() {
    let house = house(2);
    house.boats(&["a", "b", "c", "d", "e"]).await;
    assert_eq!((house.live().await, house.waiting().await), ("a b".into(), "c d e".into()));
    // While none is free, nothing is tried.
    house.publish_waiting().await;
    house.publish_waiting().await;
    let text =
        "The dealer has 2 slots for live ads, and none is free for this ad; the service publishes it when one is";
    assert_eq!(
        house.log_of("c").await[4..],
        ["publish processing: Publishing".to_owned(), format!("publish error: {text}")]
    );

    house.delete("a").await.unwrap();
    house.run().await;
    house.publish_waiting().await;
    assert_eq!((house.live().await, house.waiting().await), ("b c".into(), "d e".into()));
    assert_eq!(house.log_of("c").await[6..], ["publish processing: Publishing", "publish done: Ad published"]);

    house.kit.directory.put(with_slots(Some(4)));
    house.publish_waiting().await;
    assert_eq!((house.live().await, house.used().await), ("b c d e".into(), 4));
    assert!(house.kit.store.dealers_waiting_for_slots().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_status_of_an_ad_that_waits_says_why_and_what_to_do() {
    let house = house(1);
    house.boats(&["a", "b"]).await;
    let report = house.kit.service.status(&access(), target("b")).await.unwrap();
    assert_eq!((report.status, report.text.as_str()), (AdStatus::Waiting, "The ad waits for a free slot."));
    let channel = &report.channels[0];
    assert_eq!(
        (channel.status, channel.code, channel.who_acts, channel.next_attempt),
        (ChannelStatus::Waiting, Some(Code::SlotsExceeded), WhoActs::Dealer, None)
    );
    let text = "The ad waits for a free slot. Reason: The dealer has 1 slot for live ads, and none is free for this ad; the \
                service publishes it when one is";
    assert_eq!(channel.text, text);
    assert_eq!(channel.what_to_do.as_deref(), Some(Code::SlotsExceeded.about().cure));
    let summary = house.kit.service.summary(&access(), None).await.unwrap();
    assert_eq!((summary.by_status[&AdStatus::Waiting], summary.failures[&Code::SlotsExceeded]), (1, 1));

    // An update of it is under way like any other, and does not lose its place.
    house.update("b", json!({"title": "Other"})).await.unwrap();
    assert_eq!(house.status_of("b").await, AdStatus::Processing);
    let facts = house.kit.store.facts(Scope::Dealer(DEALER), "b").await.unwrap().remove(0);
    assert_eq!(facts.stored.words, status::accepted(&facts.stored.ad));
    house.run().await;
    assert_eq!(house.waiting().await, "b");
}

#[tokio::test]
async fn without_slots_nothing_is_counted() {
    let house = House::new();
    house.kit.directory.put(with_slots(None));
    house.boats(&["a", "b"]).await;
    house.publish_waiting().await;
    assert_eq!(house.live().await, "a b");
    assert!(house.kit.store.dealers_waiting_for_slots().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_ad_keeps_its_slot_through_updates_and_frees_it_when_it_is_hidden() {
    let house = house(2);
    house.boats(&["a", "b", "c"]).await;
    house.update("a", json!({"title": "Other"})).await.unwrap();
    house.run().await;
    house.retry("b").await.unwrap();
    house.run().await;
    house.publish_waiting().await;
    assert_eq!(house.live().await, "a b");

    house.update("a", json!({"visible": false})).await.unwrap();
    house.run().await;
    house.publish_waiting().await;
    assert_eq!(house.live().await, "b c");
    // Shown again, it is the last.
    house.boats(&["d"]).await;
    house.clock.advance(Duration::from_secs(1));
    house.update("a", json!({"visible": true})).await.unwrap();
    house.run().await;
    house.delete("b").await.unwrap();
    house.run().await;
    house.publish_waiting().await;
    assert_eq!((house.live().await, house.waiting().await), ("c d".into(), "a".into()));
}

#[tokio::test]
async fn a_failed_publication_frees_its_slot() {
    let house = house(1);
    let refused = MarketplaceError::refused("price too low");
    house.create("boat", with(&boat(), json!({"source_id": "a"}))).await.unwrap();
    house.create("boat", with(&boat(), json!({"source_id": "b"}))).await.unwrap();
    house.kit.primary.fail_next(refused);
    house.run().await;
    house.publish_waiting().await;
    assert_eq!((house.status_of("a").await, house.live().await), (AdStatus::Failed, "b".into()));
    // The retry of the failed one has no slot any more.
    house.retry("a").await.unwrap();
    house.run().await;
    assert_eq!(house.waiting().await, "a");
}

#[tokio::test]
async fn an_ad_that_is_tried_again_keeps_its_slot_meanwhile() {
    let house = house(1);
    house.create("boat", with(&boat(), json!({"source_id": "a"}))).await.unwrap();
    house.kit.primary.fail_next(MarketplaceError::unreachable("HTTP 503", None));
    house.run().await;
    house.boats(&["b"]).await;
    assert_eq!((house.used().await, house.waiting().await), (1, "a b".into()));
    house.kit.slot_keeper.publish_waiting().await.unwrap();
    house.run_to_the_end().await;
    assert_eq!((house.live().await, house.waiting().await), ("a".into(), "b".into()));
}

#[tokio::test]
async fn ads_that_were_live_before_count_and_none_is_unpublished() {
    let house = House::new();
    house.boats(&["a", "b", "c"]).await;
    house.kit.directory.put(with_slots(Some(2)));
    house.boats(&["d"]).await;
    assert_eq!((house.live().await, house.waiting().await, house.used().await), ("a b c".into(), "d".into(), 3));
    house.delete("a").await.unwrap();
    house.run().await;
    house.publish_waiting().await;
    assert_eq!((house.live().await, house.waiting().await), ("b c".into(), "d".into()));
    // Without the setting, those that wait are published.
    house.kit.directory.put(dealer());
    house.publish_waiting().await;
    assert_eq!(house.live().await, "b c d");
}

#[tokio::test]
async fn a_waiting_ad_that_is_hidden_or_deleted_waits_no_more() {
    let house = house(1);
    house.boats(&["a", "b", "c", "d"]).await;
    house.update("b", json!({"visible": false})).await.unwrap();
    house.delete("c").await.unwrap();
    house.run().await;
    assert_eq!((house.waiting().await, house.status_of("b").await), ("d".into(), AdStatus::Hidden));
    house.delete("a").await.unwrap();
    house.run().await;
    house.publish_waiting().await;
    assert_eq!(house.live().await, "d");
}

#[tokio::test]
async fn a_new_ad_does_not_overtake_one_that_waits() {
    let house = house(1);
    house.boats(&["a", "b"]).await;
    house.delete("a").await.unwrap();
    house.run().await;
    house.boats(&["c"]).await;
    assert_eq!((house.live().await, house.waiting().await), (String::new(), "b c".into()));
    house.publish_waiting().await;
    assert_eq!((house.live().await, house.waiting().await), ("b".into(), "c".into()));
}
