//! Clients that wait for their requests (`Prefer: wait`), each with a connection of its own, and what others notice of them.

use std::time::{Duration, Instant};

use ad_tests::{Options, Server};
use reqwest::{Client, Method, Request, header::HeaderValue};
use serde_json::{Value, json};

use crate::{
    processes::Worker,
    steady::{at_rate, percentile},
    support::{CAR, client, succeed, with_body},
};

/// Clients that wait at the same time.
const WAITING: usize = 10_000;
/// Of them, how many are sent at once.
const STEP: usize = 100;
/// Requests a second of others.
const OTHERS: f64 = 200.0;
/// How long the others are measured.
const MEASURED: Duration = Duration::from_secs(5);

/// Lets clients wait while no worker runs, and then runs one.
pub(super) async fn watch() {
    let most = (WAITING + WAITING / 4).to_string();
    let limits = ["--max-connections", "--connections-per-address", "--waiting-requests"];
    let limits = limits.into_iter().flat_map(|name| [name.to_owned(), most.clone()]);
    let args = ["--workers", "0", "--longest-wait", "10m"].map(str::to_owned).into_iter().chain(limits).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let (client, cars) = (client(), ServerCars::new(&server));
    succeed(&client, cars.post(WAITING)).await;
    // Connections, caches and memory of the others are there before.
    others(&client, &cars, 1).await;

    println!("{:<36}{:>12}{:>12}{:>14}", "", "p50, ms", "p99, ms", "resident, MB");
    let quiet = others(&client, &cars, 2).await;
    print("Others, nobody waits", quiet, &server);
    let waits: Vec<_> = (0..WAITING).collect::<Vec<_>>().chunks(STEP).map(<[usize]>::to_vec).collect();
    let mut waiting = Vec::with_capacity(WAITING);
    let created = cars.count(&client).await;
    for step in waits {
        for number in step {
            let mut request = cars.post(number);
            request.headers_mut().insert("prefer", HeaderValue::from_static("wait=600"));
            let client = client.clone();
            waiting.push(tokio::spawn(async move { succeed(&client, request).await }));
        }
        while cars.count(&client).await < created + waiting.len() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    assert!(waiting.iter().all(|wait| !wait.is_finished()), "all of them wait");
    let busy = others(&client, &cars, 3).await;
    print(&format!("Others, {WAITING} wait"), busy, &server);
    assert!(waiting.iter().all(|wait| !wait.is_finished()), "all of them still wait");

    let start = Instant::now();
    let _worker = Worker::start(server.dir(), &format!("sqlite://{}", server.dir().join("data/ads.db").display()));
    for wait in waiting {
        let ad: Value = serde_json::from_slice(&wait.await.expect("no client panics")).expect("an ad is JSON");
        assert!(ad["marketplace_ad_id"].is_string(), "{ad}");
    }
    println!("All answered, each ad published, {:.1} s after a worker was started", start.elapsed().as_secs_f64());
}

/// Latencies of the requests of clients that do not wait: one creates an ad, three read one.
async fn others(client: &Client, cars: &ServerCars, turn: usize) -> Vec<f64> {
    at_rate(client, OTHERS, MEASURED, |number| match number % 4 {
        0 => cars.post(turn * 100_000 + number),
        _ => cars.request(Method::GET, &format!("/v4/ad/car-{WAITING}")),
    })
    .await
}

fn print(name: &str, mut latencies: Vec<f64>, server: &Server) {
    let (p50, p99) = (percentile(&mut latencies, 0.5), percentile(&mut latencies, 0.99));
    println!("{name:<36}{p50:>12.2}{p99:>12.2}{:>14}", server.memory() >> 20);
}

pub(super) struct ServerCars {
    base: String,
    token: HeaderValue,
    car: Value,
}

impl ServerCars {
    pub(super) fn new(server: &Server) -> Self {
        let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
        car["image_urls"] = json!([]);
        let token = server.client.token.as_ref().expect("a test server issues one");
        Self { base: server.client.base.clone(), token: token.parse().expect("tokens are ASCII"), car }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> Request {
        let mut request = Request::new(method, format!("{}{path}", self.base).parse().expect("a URL"));
        request.headers_mut().insert("X-Auth-Token", self.token.clone());
        request
    }

    pub(super) fn post(&self, number: usize) -> Request {
        let mut car = self.car.clone();
        car["source_id"] = json!(format!("car-{number}"));
        car["category_fields"]["registration_number"] = json!(format!("{number:06}"));
        with_body(self.request(Method::POST, "/v4/car"), car.to_string())
    }

    /// How many ads there are.
    async fn count(&self, client: &Client) -> usize {
        let list = succeed(client, self.request(Method::GET, "/v4/car?limit=1&fields=id")).await;
        let list: Value = serde_json::from_slice(&list).expect("a list is JSON");
        list["count"].as_u64().and_then(|count| usize::try_from(count).ok()).expect("a list has a count")
    }
}
