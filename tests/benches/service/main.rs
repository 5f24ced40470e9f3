//! How fast the service is, as ratios measured in one run: against a bare poem handler that stores or reads one row with
//! the same durability, and publishing against accepting. `cargo bench -p ad-tests --bench service` prints the table for
//! both databases and fails when a bound is missed; `-- sqlite`, `-- postgres` one of them; `-- http` only the rows of requests
//! one after another; `-- photos` only the renditions of a photo; `-- memory` sends a million requests to a process and prints how large it is.
//!
//! Both sides run in this process on the same machine as the load, in turns, so that what the machine does meanwhile
//! hits both. Only where several processes are compared, each is one.

mod bare;
#[path = "../support/in_process.rs"]
mod in_process;
mod memory;
mod photos;
mod processes;
mod processor;
#[path = "../support/steady.rs"]
mod steady;
#[path = "../support/mod.rs"]
mod support;
mod waiting;

use std::{
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use ad_core::model::Timestamp;
use ad_server::config::Settings;
use ad_tests::Postgres;
use bare::Bare;
use in_process::{Service, drain, drained};
use reqwest::{
    Client, Method, Request, StatusCode,
    header::{ETAG, HeaderValue, IF_NONE_MATCH},
};
use serde_json::{Value, json};
use steady::{at_rate, percentile};
use support::{CAR, CLIENTS, client, cores, database_url, median, rate, succeed, with_body};
use uuid::Uuid;

/// The allocator of the programs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of turns of each side.
const ROUNDS: usize = 5;
/// The same for the cost of a key, which is smaller than the difference between two turns.
const KEYED_ROUNDS: usize = 20;
/// Requests of one side in one turn.
const PER_ROUND: usize = 4000;
/// Lists of one side in one turn.
const LISTS: usize = 200;
/// How many times as fast as a read the answer is to be that nothing has changed.
const CONDITIONAL: f64 = 1.5;
/// How fast a list is to be, against sending the same bytes from memory.
const LIST: f64 = 0.3;
/// How much longer a compressed list may take than a plain one.
const COMPRESSION: f64 = 1.3;
/// Ads that are accepted and then published.
const PUBLISHED: usize = 20_000;
/// Ads a second that are accepted while a worker publishes them.
const STEADY_ADS: f64 = 1000.0;
/// Of many ads, every 20th is looked at.
const EVERY: usize = 20;
/// Most milliseconds from the acceptance of an ad to its publication.
const PUBLISHED_P50: f64 = 30.0;
const PUBLISHED_P99: f64 = 250.0;
/// How long a steady load lasts.
const STEADY: Duration = Duration::from_secs(8);

/// What is to hold on a database.
struct Bounds {
    /// Accepting against a bare handler that stores a row.
    post: f64,
    /// Reading against a bare handler that reads one.
    get: f64,
    /// Ratio of publishing to accepting.
    publish: f64,
    /// Accepting with an idempotency key against accepting without.
    keyed: f64,
    /// The slowest hundredth of POSTs against that of the bare handler, at half of the greatest rate.
    p99: f64,
}

const SQLITE: Bounds = Bounds { post: 1.0, get: 0.5, publish: 0.5, keyed: 0.8, p99: 4.0 };
const POSTGRES: Bounds = Bounds { post: 0.6, ..SQLITE };

#[tokio::main]
async fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too; it passes no --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let wanted = |name: &str| std::env::args().any(|argument| argument == name);
    println!("{} cores, {CLIENTS} clients", cores());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    if wanted("memory") {
        memory::watch().await;
        return ExitCode::SUCCESS;
    }
    if wanted("waiting") {
        waiting::watch().await;
        return ExitCode::SUCCESS;
    }
    let mut missed = if wanted("http") { 0 } else { photos::measure(folder.path()).await };
    if wanted("photos") {
        return if missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    if !wanted("postgres") {
        println!("\nSQLite with WAL and synchronous=FULL");
        let url = database_url(folder.path());
        let bare = Bare::on_sqlite(folder.path()).await;
        let mut table = Table { bounds: &SQLITE, missed: 0 };
        table.fill(folder.path(), &url, bare, wanted("http")).await;
        missed += processor::compare(None).await;
        if !wanted("http") {
            let folder = folder.path().join("published");
            std::fs::create_dir(&folder).expect("a folder can be made");
            table.published(&folder, &database_url(&folder)).await;
        }
        missed += table.missed;
    }
    if !wanted("sqlite")
        && let Some(server) = Postgres::start(&["fsync=on", "shared_buffers=512MB"]).await
    {
        println!("\nPostgreSQL on the same machine, fsync=on, synchronous_commit=on");
        let folder = folder.path().join("postgres");
        std::fs::create_dir(&folder).expect("a folder can be made");
        let bare = Bare::on_postgres(&server.database().await).await;
        let mut table = Table { bounds: &POSTGRES, missed: 0 };
        table.fill(&folder, &server.database().await, bare, wanted("http")).await;
        missed += processor::compare(Some(&server)).await;
        if !wanted("http") {
            table.published(&folder, &server.database().await).await;
            missed += processes::compare(&folder, &server).await;
        }
        missed += table.missed;
    }
    if missed > 0 {
        println!("\n{missed} bounds missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The rows that are printed, and how many of them miss their bound.
struct Table {
    bounds: &'static Bounds,
    missed: usize,
}

impl Table {
    async fn fill(&mut self, folder: &Path, url: &str, bare: Bare, only_http: bool) {
        let service = Cars::start(folder, url, 0).await;
        let client = client();
        println!("{:<36}{:>12}{:>12}{:>9}{:>9}", "", "ours", "bare", "ratio", "bound");
        let posts = compare(&service, ROUNDS, |number| service.post(number), |_| bare.post()).await;
        self.at_least("POST /v4/car, requests/s", &posts, self.bounds.post);
        // What clients read again and again is what has become of their ads.
        let service = service.published(folder, url).await;
        let gets = compare(&service, ROUNDS, |number| service.get(number), |number| bare.get(number)).await;
        self.at_least("GET one ad with its log, requests/s", &gets, self.bounds.get);
        println!("{:<36}{:>12}{:>12}", "", "with tag", "without");
        let tag = service.tag(&client).await;
        let conditional =
            compare(&service, ROUNDS, |number| service.get_unless(number, &tag), |number| service.get(number)).await;
        self.at_least("GET with If-None-Match, requests/s", &conditional, CONDITIONAL);
        self.lists(&client, &service).await;
        self.compressed(&service).await;
        // Last, because what lists take grows with the ads of the dealer.
        println!("{:<36}{:>12}{:>12}", "", "with key", "without");
        let keyed =
            compare(&service, KEYED_ROUNDS, |number| service.post_keyed(number), |number| service.post(number)).await;
        self.at_least("POST with Idempotency-Key, requests/s", &keyed, self.bounds.keyed);
        if !only_http {
            self.steady(&client, &service, &bare, median(posts.iter().map(|round| round.0)) / 2.0).await;
        }
        service.service.running.stop().await.expect("it stops");
    }

    fn at_least(&mut self, name: &str, rounds: &[(f64, f64)], bound: f64) {
        let ours = median(rounds.iter().map(|round| round.0));
        let other = median(rounds.iter().map(|round| round.1));
        let ratio = median(rounds.iter().map(|round| round.0 / round.1));
        println!("{name:<36}{ours:>12.0}{other:>12.0}{ratio:>9.2}{bound:>9.2}");
        self.missed += usize::from(ratio < bound);
    }

    /// Lists against a handler that sends the same bytes from memory.
    async fn lists(&mut self, client: &Client, service: &Cars) {
        println!("{:<36}{:>12}{:>12}", "", "ours", "from memory");
        let list = client.execute(service.list(None)).await.expect("the server answers");
        let memory = Bare::from_memory(list.bytes().await.expect("a list has a body")).await;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let ours = rate((0..LISTS).map(|_| service.list(None)).collect()).await;
            rounds.push((ours, rate((0..LISTS).map(|_| memory.get_bytes()).collect()).await));
        }
        self.at_least("List of 500 ads, lists/s", &rounds, LIST);
    }

    /// Lists in each coding against the same list without one.
    async fn compressed(&mut self, service: &Cars) {
        println!("{:<36}{:>12}{:>12}", "", "compressed", "plain");
        for coding in ["gzip", "br", "zstd"] {
            let mut rounds = Vec::new();
            for _ in 0..ROUNDS {
                let compressed = rate((0..LISTS).map(|_| service.list(Some(coding))).collect()).await;
                rounds.push((compressed, rate((0..LISTS).map(|_| service.list(None)).collect()).await));
            }
            self.at_least(&format!("List of 500 ads, {coding}, lists/s"), &rounds, 1.0 / COMPRESSION);
        }
    }

    /// Latencies under a load that does not wait for answers.
    async fn steady(&mut self, client: &Client, service: &Cars, bare: &Bare, rate: f64) {
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        // In turns as well.
        for _ in 0..2 {
            ours.extend(at_rate(client, rate, STEADY / 2, |number| service.post(number)).await);
            service.service.indexed().await;
            others.extend(at_rate(client, rate, STEADY / 2, |_| bare.post()).await);
        }
        for (name, share, bound) in [("p50", 0.5, None), ("p99", 0.99, Some(self.bounds.p99))] {
            let (ours, other) = (percentile(&mut ours, share), percentile(&mut others, share));
            let ratio = ours / other;
            let name = format!("POST at {rate:.0}/s, {name}, ms");
            let told = bound.map(|bound| format!("<{bound:.1}")).unwrap_or_default();
            println!("{name:<36}{ours:>12.2}{other:>12.2}{ratio:>9.2}{told:>9}");
            self.missed += usize::from(bound.is_some_and(|bound| ratio > bound));
        }
    }

    /// Publishes ads of a new database: in another, ads of earlier measurements would have to be published and cleaned up as well.
    async fn published(&mut self, folder: &Path, url: &str) {
        self.published_later(folder, url).await;
        self.published_within(folder, url).await;
    }

    /// Accepts ads while there is no worker, then publishes them while nothing comes in.
    async fn published_later(&mut self, folder: &Path, url: &str) {
        let cars = Cars::start(folder, url, 0).await;
        let mut accepting = Vec::new();
        for from in (0..PUBLISHED).step_by(PER_ROUND) {
            accepting.push(rate((from..from + PER_ROUND).map(|number| cars.post(number)).collect()).await);
        }
        cars.service.indexed().await;
        cars.service.running.stop().await.expect("it stops");
        let publishing = drain(folder, url).await;
        let accepting = median(accepting);
        let (ratio, bound) = (publishing / accepting, self.bounds.publish);
        println!("{:<36}{:>12}{:>12}", "", "publishing", "accepting");
        println!(
            "{:<36}{publishing:>12.0}{accepting:>12.0}{ratio:>9.2}{bound:>9.1}",
            "Ads/s, API and worker in one process"
        );
        self.missed += usize::from(ratio < bound);
    }

    /// Accepts ads at a steady rate while they are published, and takes the times from their logs.
    async fn published_within(&mut self, folder: &Path, url: &str) {
        let client = client();
        let cars = Cars::start(folder, url, Settings::default().workers).await;
        let count = at_rate(&client, STEADY_ADS, STEADY, |number| cars.post(number)).await.len();
        while cars.service.running.database.queue_depth().await.expect("the queue can be read") > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut times = Vec::new();
        for number in (0..count).step_by(EVERY) {
            let ad = serde_json::from_slice(&succeed(&client, cars.get_named(number)).await).expect("an ad is JSON");
            times.push(published_after(&ad).expect("the ad was published"));
        }
        cars.service.running.stop().await.expect("it stops");
        println!("{:<36}{:>12}{:>30}", format!("Published, at {STEADY_ADS:.0} ads/s"), "ms", "bound");
        for (name, share, bound) in [("p50", 0.5, PUBLISHED_P50), ("p99", 0.99, PUBLISHED_P99)] {
            let time = percentile(&mut times, share);
            println!("  {name:<34}{time:>12.0}{bound:>30.0}");
            self.missed += usize::from(time > bound);
        }
    }
}

/// The milliseconds from the first log entry of a new ad until its publication.
fn published_after(ad: &Value) -> Option<f64> {
    let log = ad["log"].as_array()?;
    let time = |entry: &Value| entry["created"].as_str()?.parse::<Timestamp>().ok();
    let begun = log.iter().filter_map(time).min()?;
    let published = log.iter().find(|entry| entry["action"] == "publish" && entry["state"] == "done")?;
    Some((time(published)? - begun).as_secs_f64() * 1000.0)
}

/// Rates of both sides, in so many turns.
async fn compare(
    service: &Cars,
    turns: usize,
    ours: impl Fn(usize) -> Request,
    other: impl Fn(usize) -> Request,
) -> Vec<(f64, f64)> {
    let mut rounds = Vec::new();
    for round in 0..=turns {
        let numbers = round * PER_ROUND..(round + 1) * PER_ROUND;
        let mut rates = [0.0; 2];
        // Each side is first in turn, because the database grows.
        for side in [round % 2, 1 - round % 2] {
            let requests = numbers.clone().map(|number| if side == 0 { ours(number) } else { other(number) });
            rates[side] = rate(requests.collect()).await;
            // What the service leaves for later is not to slow what comes next.
            service.service.indexed().await;
        }
        // The first one warms up.
        if round > 0 {
            rounds.push(rates.into());
        }
    }
    rounds
}

/// The service, and cars for it.
struct Cars {
    service: Service,
    token: String,
    car: Value,
    /// No two of these have the same.
    series: usize,
    sequence: AtomicUsize,
}

static SERIES: AtomicUsize = AtomicUsize::new(0);

impl Cars {
    async fn start(folder: &Path, url: &str, workers: usize) -> Self {
        let service = Service::start(folder, url, workers).await;
        let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
        car["image_urls"] = json!([]);
        let series = SERIES.fetch_add(1, Ordering::Relaxed);
        Self { token: service.token("north-cars"), service, car, series, sequence: AtomicUsize::new(0) }
    }

    /// The same, after a worker has published what was accepted.
    async fn published(self, folder: &Path, url: &str) -> Self {
        self.service.running.stop().await.expect("it stops");
        drain(folder, url).await;
        Self { service: Service::start(folder, url, 0).await, ..self }
    }

    fn name(&self, number: usize) -> String {
        format!("car-{}-{number}", self.series)
    }

    fn post(&self, _: usize) -> Request {
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        let mut car = self.car.clone();
        car["source_id"] = json!(self.name(number));
        car["category_fields"]["registration_number"] = json!(format!("{:06}", self.series * 100_000 + number));
        with_body(self.service.request(&self.token, Method::POST, "/v4/car"), car.to_string())
    }

    fn post_keyed(&self, number: usize) -> Request {
        let mut request = self.post(number);
        // As the client library does.
        let key = Uuid::now_v7().to_string();
        request.headers_mut().insert("idempotency-key", key.parse().expect("it is a header"));
        request
    }

    /// A page of 500 ads in this coding.
    fn list(&self, coding: Option<&'static str>) -> Request {
        let mut request = self.service.request(&self.token, Method::GET, "/v4/ad?limit=500");
        if let Some(coding) = coding {
            request.headers_mut().insert("accept-encoding", HeaderValue::from_static(coding));
        }
        request
    }

    fn get(&self, number: usize) -> Request {
        self.get_named(number % (ROUNDS * PER_ROUND))
    }

    fn get_named(&self, number: usize) -> Request {
        self.service.request(&self.token, Method::GET, &format!("/v4/ad/{}", self.name(number)))
    }

    fn get_unless(&self, number: usize, tag: &HeaderValue) -> Request {
        let mut request = self.get(number);
        request.headers_mut().insert(IF_NONE_MATCH, tag.clone());
        request
    }

    /// The tag that all published ads have.
    async fn tag(&self, client: &Client) -> HeaderValue {
        let ad = client.execute(self.get(0)).await.expect("the server answers");
        let tag = ad.headers()[ETAG].clone();
        for number in (0..ROUNDS * PER_ROUND).step_by(EVERY) {
            let unchanged = client.execute(self.get_unless(number, &tag)).await.expect("the server answers");
            assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
        }
        tag
    }
}
