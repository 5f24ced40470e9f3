//! Whether everything that was accepted was done, once and in order.

use std::collections::HashMap;

use ad_tests::Client;
use serde_json::Value;

use super::{
    country::Country,
    load::{Known, Race, title},
};

#[derive(Debug, Default)]
struct Counts {
    accepted: usize,
    finished: usize,
    lost: usize,
    doubled: usize,
    /// What is wrong, in words.
    faults: Vec<String>,
}

/// Every accepted write is finished, in order per ad; each marketplace holds exactly one listing of each visible ad with
/// the last accepted content, written once per request.
pub(super) async fn expect_sound(country: &Country, ads: &[Known], after: &str) {
    let client = &country.clients()[0];
    let mut shown = HashMap::<String, Vec<Value>>::new();
    for listing in country.marketplace.listings().await {
        let source_id = listing["source_id"].as_str().unwrap_or_default().to_owned();
        shown.entry(source_id).or_default().push(listing);
    }
    let mut counts = Counts::default();
    for ad in ads {
        counts.ad(ad, &log(client, &ad.source_id).await);
        counts.listings(ad, shown.get(&ad.source_id).map_or(&[], Vec::as_slice));
    }
    println!(
        "{after}: {} ads, accepted {}, finished {}, lost {}, doubled {}",
        ads.len(),
        counts.accepted,
        counts.finished,
        counts.lost,
        counts.doubled
    );
    assert!(counts.accepted > ads.len(), "the load did something: {counts:?}");
    assert!(counts.faults.is_empty(), "{:#?}", counts.faults);
    assert_eq!((counts.lost, counts.doubled, counts.finished), (0, 0, counts.accepted));
}

/// The log of an ad in the order of writing, whatever the clocks said; the load sees to it that it is the whole.
pub(super) async fn log(client: &Client, source_id: &str) -> Vec<Value> {
    let log = client.log(source_id).await;
    assert!(log.len() < 100, "{source_id} has more entries than are shown with it");
    log
}

/// The requests of a log in the order in which they begin, each with the state of its last entry and of all of them.
fn requests(log: &[Value]) -> Vec<(&str, Vec<(&str, &str)>)> {
    let mut requests: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for entry in log {
        let id = entry["request_id"].as_str().unwrap();
        let step = (entry["action"].as_str().unwrap(), entry["state"].as_str().unwrap());
        match requests.iter_mut().find(|(known, _)| *known == id) {
            Some((_, steps)) => steps.push(step),
            None => requests.push((id, vec![step])),
        }
    }
    requests
}

impl Counts {
    fn fault(&mut self, ad: &Known, what: impl std::fmt::Display) {
        self.faults.push(format!("{}: {what}", ad.source_id));
    }

    fn ad(&mut self, ad: &Known, log: &[Value]) {
        let requests = requests(log);
        self.accepted += requests.len();
        for (id, steps) in &requests {
            if steps.last().is_some_and(|(_, state)| *state == "done") {
                self.finished += 1;
            } else {
                self.fault(ad, format_args!("{id} is not done: {steps:?}"));
            }
            let mut once = steps.clone();
            once.sort_unstable();
            once.dedup();
            if once.len() != steps.len() {
                self.fault(ad, format_args!("{id} says something twice: {steps:?}"));
            }
        }
        // What the client knows to be accepted is there, in the order in which it was accepted.
        let mut order = requests.iter().map(|(id, _)| *id);
        for known in &ad.requests {
            if !order.any(|id| id == known) {
                self.lost += 1;
                self.fault(ad, format_args!("{known} is missing or not in its place"));
            }
        }
        // One request after the other: none begins before the one before it has ended.
        let mut ended: Vec<&str> = Vec::new();
        for pair in log.windows(2) {
            let [before, after] = [&pair[0], &pair[1]].map(|entry| entry["request_id"].as_str().unwrap());
            if before != after {
                ended.push(before);
            }
            if ended.contains(&after) {
                self.fault(ad, format_args!("{after} goes on after another has begun"));
                break;
            }
        }
    }

    fn listings(&mut self, ad: &Known, listings: &[Value]) {
        for market in ["primary", "secondary"] {
            let wanted = ad.visible && !ad.deleted && (market == "primary" || ad.is_car);
            let of_market: Vec<_> = listings.iter().filter(|it| it["marketplace"] == market).collect();
            let active: Vec<_> = of_market.iter().filter(|it| it["state"] == "active").collect();
            self.doubled += of_market.len().saturating_sub(1);
            match (wanted, active.as_slice()) {
                (true, [listing]) => {
                    let shows = listing["title"].as_str().unwrap_or_default();
                    let last = title(ad, ad.version);
                    if !format!("{shows} ").contains(&format!("{last} ")) {
                        self.fault(ad, format_args!("{market} shows {shows:?}, not {last:?}"));
                    }
                }
                (false, []) => {}
                _ => self.fault(ad, format_args!("{} listings on {market}, visible: {wanted}", active.len())),
            }
        }
    }
}

/// Of two clients who wrote at the same time every write was done, in one order, and the last of it is what is shown.
pub(super) async fn expect_one_winner(country: &Country, source_id: &str, race: &Race) {
    let client = &country.clients()[0];
    let log = log(client, source_id).await;
    let order = requests(&log);
    assert_eq!(order.len(), race.len(), "every accepted write is in the log");
    assert!(order.iter().all(|(_, steps)| steps.last().is_some_and(|(_, state)| *state == "done")), "{order:?}");
    let sent: HashMap<&str, &str> = race.iter().map(|(id, title)| (id.as_str(), title.as_str())).collect();
    let last = sent[order.last().unwrap().0];
    assert_eq!(client.ad(source_id).await["title"], last);
    let listings = country.marketplace.listings().await;
    let listings: Vec<_> = listings.iter().filter(|it| it["source_id"] == source_id).collect();
    assert_eq!(listings.len(), 1);
    assert_eq!((listings[0]["title"].as_str(), listings[0]["changes"].as_u64()), (Some(last), Some(race.len() as u64)));
    // Each client's own writes stand in the order in which it sent them.
    for name in ["client 0", "client 1"] {
        let own: Vec<_> = order.iter().map(|(id, _)| sent[id]).filter(|title| title.starts_with(name)).collect();
        let expected: Vec<_> = race.iter().map(|(_, title)| title.as_str()).filter(|it| it.starts_with(name)).collect();
        assert_eq!(own, expected);
    }
    println!("two clients on one ad: accepted {}, finished {}, lost 0, doubled 0", race.len(), order.len());
}
