//! Dealers at work: each of many ads is created, changed, hidden, shown, deleted and revived, one write after the other,
//! through any of the API processes. What is unclear because a process died is sent again until it is clear.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use ad_tests::Client;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::country::Country;
use crate::payloads::plain_boat;

/// Most writes of one ad.
const MOST: usize = 16;

/// An ad as its client knows it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) source_id: String,
    pub(super) is_car: bool,
    /// The last accepted version of its text.
    pub(super) version: usize,
    pub(super) visible: bool,
    pub(super) deleted: bool,
    /// Ids of the requests whose acceptance the client has seen, in order.
    pub(super) requests: Vec<String>,
}

/// A load that goes on until it is stopped.
pub(super) struct Load {
    ads: JoinSet<Vec<Known>>,
    stop: Arc<AtomicBool>,
    accepted: Arc<AtomicUsize>,
}

impl Load {
    /// So many writers, each with ads of its own and these clients of the API processes.
    pub(super) fn start(clients: &[Client], writers: usize) -> Self {
        let (stop, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let mut ads = JoinSet::new();
        for number in 0..writers {
            let dealer = Dealer {
                clients: clients.to_vec(),
                dice: fastrand::Rng::with_seed(number as u64),
                accepted: Arc::clone(&accepted),
            };
            ads.spawn(dealer.work(number, Arc::clone(&stop)));
        }
        Self { ads, stop, accepted }
    }

    /// Waits until so many more writes were accepted.
    pub(super) async fn more(&self, writes: usize) {
        let wanted = self.accepted.load(Ordering::Relaxed) + writes;
        ad_tests::eventually("writes are accepted", || async {
            (self.accepted.load(Ordering::Relaxed) >= wanted).then_some(())
        })
        .await;
    }

    /// Stops it; returns all ads.
    pub(super) async fn stop(self) -> Vec<Known> {
        self.stop.store(true, Ordering::Relaxed);
        self.ads.join_all().await.concat()
    }
}

struct Dealer {
    clients: Vec<Client>,
    dice: fastrand::Rng,
    accepted: Arc<AtomicUsize>,
}

impl Dealer {
    async fn work(mut self, number: usize, stop: Arc<AtomicBool>) -> Vec<Known> {
        let mut ads: Vec<Known> = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            // Some at a time, each until its log is as long as is shown with an ad.
            let open: Vec<usize> = (0..ads.len()).filter(|ad| ads[*ad].requests.len() < MOST).collect();
            if open.len() < 3 || self.dice.u8(..10) == 0 {
                let ad = self.create(number, ads.len()).await;
                ads.push(ad);
            } else {
                let ad = open[self.dice.usize(..open.len())];
                self.change(&mut ads[ad]).await;
            }
        }
        ads
    }

    async fn create(&mut self, number: usize, nth: usize) -> Known {
        let is_car = nth.is_multiple_of(2);
        let source_id = format!("ad-{number}-{nth}");
        let mut ad = Known { source_id, is_car, version: 0, visible: true, deleted: false, requests: Vec::new() };
        let (path, mut body) = if is_car {
            let fields = json!({"registration_number": format!("Q{number:02}{nth:03}"), "model_year": 2019});
            ("/v4/car", json!({"category_id": 1020, "category_fields": fields}))
        } else {
            ("/v4/boat", plain_boat())
        };
        merge(&mut body, &text(&ad, 0));
        body["source_id"] = json!(ad.source_id);
        // 409: the answer to an earlier attempt was lost with its process, the ad was not.
        if let Some(request) = self.send(Method::POST, path, Some(body), &[201, 409]).await {
            ad.requests.push(request);
        }
        ad
    }

    async fn change(&mut self, ad: &mut Known) {
        let typed = format!("/v4/{}/{}", if ad.is_car { "car" } else { "boat" }, ad.source_id);
        // A deleted ad of an unregistered type comes back by an update; a car does not.
        if ad.deleted && ad.is_car {
            return;
        }
        let version = ad.version + 1;
        let mut visible = ad.visible;
        let request = match self.dice.u8(..12) {
            0 if !ad.deleted => {
                ad.deleted = true;
                self.send(Method::DELETE, &format!("/v4/ad/{}", ad.source_id), None, &[200]).await
            }
            chance => {
                if chance < 3 {
                    visible = !visible;
                }
                let mut body = text(ad, version);
                body["visible"] = json!(visible);
                let request = self.send(Method::PATCH, &typed, Some(body), &[200]).await;
                (ad.version, ad.visible, ad.deleted) = (version, visible, false);
                request
            }
        };
        ad.requests.extend(request);
    }

    /// Sends a write until it is clear that it was accepted, each time to any process; returns the id of the request, if
    /// this very answer says that it was accepted. Of a deletion that was sent before, it does not: what is deleted
    /// already is deleted by the request whose answer was lost.
    async fn send(&mut self, method: Method, path: &str, body: Option<Value>, clear: &[u16]) -> Option<String> {
        let body = body.map(|body| body.to_string().into_bytes());
        let mut is_first = true;
        loop {
            let client = &self.clients[self.dice.usize(..self.clients.len())];
            match client.try_send(method.clone(), path, body.clone()).await {
                Ok(answer) if clear.contains(&answer.status.as_u16()) => {
                    self.accepted.fetch_add(1, Ordering::Relaxed);
                    let id = answer.header("x-request-id").map(str::to_owned);
                    let says_so = answer.status.is_success() && (is_first || method != Method::DELETE);
                    return id.filter(|_| says_so);
                }
                Ok(answer) if answer.status.as_u16() == 503 => {}
                Ok(answer) => panic!("{method} {path}: {} {}", answer.status, answer.json()),
                // The process is being killed or started again.
                Err(_) => {}
            }
            is_first = false;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// What tells the versions of an ad apart, also on the marketplaces: the title of a boat, the variant of a car.
fn text(ad: &Known, version: usize) -> Value {
    if ad.is_car {
        json!({"category_fields": {"model_type": title(ad, version)}})
    } else {
        json!({"title": title(ad, version)})
    }
}

pub(super) fn title(ad: &Known, version: usize) -> String {
    format!("{} version {version}", ad.source_id)
}

fn merge(into: &mut Value, from: &Value) {
    for (name, value) in from.as_object().into_iter().flatten() {
        match into.get_mut(name) {
            Some(object) if object.is_object() => merge(object, value),
            _ => into[name] = value.clone(),
        }
    }
}

/// What two clients wrote to one ad: the id of each accepted request with what it set.
pub(super) type Race = Vec<(String, String)>;

/// Two clients change the same boat through two processes, each as fast as it can.
pub(super) async fn race(country: &Country, source_id: &str) -> Race {
    let clients = country.clients();
    let mut boat = plain_boat();
    (boat["source_id"], boat["title"]) = (json!(source_id), json!("first"));
    let created = clients[0].post("/v4/boat", &boat).await;
    created.expect(201);
    let mut race = vec![(created.header("x-request-id").unwrap().to_owned(), "first".to_owned())];
    let mut racers = JoinSet::new();
    for (name, client) in clients.into_iter().enumerate() {
        let path = format!("/v4/boat/{source_id}");
        racers.spawn(async move {
            let mut accepted = Vec::new();
            for number in 0..MOST / 2 {
                let title = format!("client {name} number {number}");
                let answer = client.patch(&path, &json!({"title": title})).await;
                answer.expect(200);
                accepted.push((answer.header("x-request-id").unwrap().to_owned(), title));
            }
            accepted
        });
    }
    for accepted in racers.join_all().await {
        race.extend(accepted);
    }
    race
}
