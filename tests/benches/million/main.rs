//! Whether the service is as fast with a million ads as with ten thousand, in one run: every list, the rates of POST and GET, an
//! import of 50,000 ads beside others, and publishing, also of few dealers and of all; on PostgreSQL also how long the vacuum takes.
//! `cargo bench -p ad-tests --bench million` prints a table for each database and fails when a bound is missed; `-- postgres` and
//! `-- sqlite` take one of them, `-- 100000` so many ads in place of a million.
//!
//! Both services run in this process and are asked in turns. The dealer whose lists are compared is the same in both:
//! 1,000 ads, among 9 other dealers or among 999, one of whom has 50,000 ads. That one has a column for itself, with
//! a bound for its summary alone: it has no counterpart among ten thousand.

mod fill;
#[path = "../support/in_process.rs"]
mod in_process;
mod lists;
#[path = "../support/steady.rs"]
mod steady;
mod stock;
#[path = "../support/mod.rs"]
mod support;
mod words;

use std::{
    ops::Range,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use ad_tests::Postgres;
use in_process::{Service, drain};
use reqwest::{Client, Method, Request};
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};
use steady::{at_rate, percentile};
use stock::{COMPARED, Dealer, Samples, Stock};
use support::{CAR, CLIENTS, client, cores, database_url, median, rate, succeed, with_body};

const SMALL: usize = 10_000;
const LARGE: usize = 1_000_000;
/// Log entries of an ad.
const ENTRIES: usize = 8;
/// Most times that a list may take among many ads, of its time among few.
const SLOWEST: f64 = 3.0;
/// Least part of the rate among few ads that is left among many.
const LEAST: f64 = 0.8;
/// Most times that a page of events may take.
const SLOWEST_EVENTS: f64 = 1.5;
/// Most milliseconds that a summary of the largest dealer may take.
const LONGEST_SUMMARY: f64 = 5.0;
/// How often each list is asked for.
const ROUNDS: usize = 31;
/// The same for the largest dealer.
const FEWER_ROUNDS: usize = 9;
/// How often the largest dealer asks before that, at most.
const WARM_UPS: usize = 10;
/// Turns of each side, and requests of one side in one turn.
const TURNS: usize = 5;
const PER_TURN: usize = 4000;
/// Ads that one dealer imports, and what others do during its first seconds.
const IMPORTED: usize = 50_000;
const BESIDE: Duration = Duration::from_secs(5);
const PER_SECOND: f64 = 100.0;
/// Ads in a queue that is published, how often, and of how many dealers at the least.
const QUEUED: usize = 20_000;
const QUEUES: usize = 3;
const FEW: usize = 3;

#[tokio::main]
async fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too; it passes no --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let wanted = |name: &str| std::env::args().any(|argument| argument == name);
    let ads = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(LARGE);
    println!("{} cores, {CLIENTS} clients", cores());
    let mut missed = 0;
    // What one of them has filled is gone before the other begins: there may not be room for both.
    if !wanted("postgres") {
        println!("\nSQLite with WAL and synchronous=FULL");
        missed += compare(ads, None).await;
    }
    if !wanted("sqlite")
        && let Some(server) = Postgres::start(&["fsync=on", "shared_buffers=512MB", "max_wal_size=2GB"]).await
    {
        println!("\nPostgreSQL on the same machine, fsync=on, synchronous_commit=on, shared_buffers=512MB");
        missed += compare(ads, Some(&server)).await;
    }
    if missed > 0 {
        println!("\n{missed} bounds missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Compares so many ads with few, in files or on a server; returns how many bounds were missed.
async fn compare(ads: usize, server: Option<&Postgres>) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let few = Side::start(Stock::even(SMALL), &folder.path().join("few"), server).await;
    let many = Side::start(Stock::with_a_giant(ads), &folder.path().join("many"), server).await;
    let client = client();
    let mut missed = compare_lists(&client, &few, &many).await;
    missed += compare_rates(&few, &many).await;
    missed += compare_imports(&client, &few, &many).await;
    let (folder, url, dealers) = (many.folder.clone(), many.url.clone(), many.stock.dealers.clone());
    missed += compare_maintenance(few, many).await;
    missed + compare_queues(&folder, &url, &dealers).await
}

/// A service with its stock.
struct Side {
    service: Service,
    stock: Stock,
    ads: usize,
    folder: PathBuf,
    url: String,
}

impl Side {
    async fn start(stock: Stock, folder: &Path, server: Option<&Postgres>) -> Self {
        std::fs::create_dir(folder).expect("a folder can be made");
        let url = match server {
            Some(server) => server.database().await,
            None => database_url(folder),
        };
        let start = Instant::now();
        let bytes = fill::fill(&url, &stock).await;
        let ads = stock.dealers.iter().map(|dealer| dealer.ads()).sum();
        println!(
            "{ads} ads of {} dealers with {} log entries: {} MB, made in {:.0} s",
            stock.dealers.len(),
            ads * ENTRIES,
            bytes / 1_000_000,
            start.elapsed().as_secs_f64()
        );
        Self { service: Service::start(folder, &url, 0).await, stock, ads, folder: folder.to_owned(), url }
    }

    /// Publishes what was accepted. Returns how many ads a second, and how many seconds PostgreSQL then vacuums, if it is the database.
    async fn finish(self) -> (f64, Option<f64>) {
        self.service.running.stop().await.expect("it stops");
        let rate = drain(&self.folder, &self.url).await;
        if !self.url.starts_with("postgres") {
            return (rate, None);
        }
        let mut connection = PgConnection::connect(&self.url).await.expect("it answers");
        let start = Instant::now();
        connection
            .execute("VACUUM ANALYZE ads, texts, log, requests, listings, listing_calls")
            .await
            .expect("it vacuums");
        (rate, Some(start.elapsed().as_secs_f64()))
    }

    fn list(&self, dealer: Dealer, path: &str) -> impl Fn() -> Request {
        let token = self.service.token(&dealer.code());
        move || self.service.request(&token, Method::GET, path)
    }

    /// Reads of ads of ten dealers, all over their stock.
    fn reads(&self, numbers: Range<usize>) -> Vec<Request> {
        let samples = Samples::new();
        let dealers: Vec<_> = self.stock.dealers.iter().rev().step_by(self.stock.dealers.len() / 10).collect();
        let tokens: Vec<_> = dealers.iter().map(|dealer| self.service.token(&dealer.code())).collect();
        let read = |number: usize| {
            let dealer = dealers[number % dealers.len()];
            let ad = samples.ad(*dealer, number * 7919 % dealer.ads());
            self.service.request(&tokens[number % dealers.len()], Method::GET, &format!("/v4/ad/{}", ad.source_id))
        };
        numbers.map(read).collect()
    }

    /// New cars of a dealer.
    fn writes(&self, dealer: Dealer, numbers: Range<usize>) -> Vec<Request> {
        let token = self.service.token(&dealer.code());
        numbers.map(|number| new_car(&self.service, &token, number)).collect()
    }

    /// Imports ads of one dealer while another dealer writes and reads ads. Returns how many ads a second were imported, and the
    /// milliseconds of the requests of the other dealer, half of which take less and 99 of 100.
    async fn import(&self, client: &Client, numbers: Range<usize>) -> [f64; 3] {
        let (importing, other) = (self.stock.dealers[2], self.stock.dealers[3]);
        let (writes, reads) = (self.writes(other, numbers.clone()), self.reads(numbers.clone()));
        let beside = |number: usize| {
            let requests = if number.is_multiple_of(2) { &writes } else { &reads };
            requests[number].try_clone().expect("its body is in memory")
        };
        let (rate, mut took) =
            tokio::join!(rate(self.writes(importing, numbers)), at_rate(client, PER_SECOND, BESIDE, beside));
        [rate, percentile(&mut took, 0.5), percentile(&mut took, 0.99)]
    }
}

fn new_car(service: &Service, token: &str, number: usize) -> Request {
    let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
    car["image_urls"] = json!([]);
    car["source_id"] = json!(format!("new-{number}"));
    car["category_fields"]["registration_number"] = json!(format!("{number:06}"));
    with_body(service.request(token, Method::POST, "/v4/car"), car.to_string())
}

/// Times of every list in turns; returns how many bounds were missed.
async fn compare_lists(client: &Client, few: &Side, many: &Side) -> usize {
    let (compared, largest) = (many.stock.dealers[0], many.stock.dealers[1]);
    println!(
        "\nLists of 50, ms\n{:<36}{:>12}{:>12}{:>8}{:>7}{:>14}",
        "", few.ads, many.ads, "ratio", "bound", "the largest"
    );
    println!("{:<36}{:>12}{:>12}{:>8}{:>7}{:>14}", "dealer's ads", COMPARED, COMPARED, "", "", largest.ads());
    let mut missed = 0;
    for ((name, path), (_, of_largest)) in lists::of(compared).iter().zip(lists::of(largest)) {
        let paths = [path.clone(), path.clone(), of_largest];
        missed += usize::from(compare_list(client, few, many, (name, SLOWEST), paths).await[0] > SLOWEST);
    }
    let paths = [
        events(client, few, compared).await,
        events(client, many, compared).await,
        events(client, many, largest).await,
    ];
    let [ratio, _] = compare_list(client, few, many, ("100 events after a cursor", SLOWEST_EVENTS), paths).await;
    missed += usize::from(ratio > SLOWEST_EVENTS);
    let paths = ["/v4/summary"; 3].map(str::to_owned);
    let [ratio, of_largest] = compare_list(client, few, many, ("summary", SLOWEST), paths).await;
    missed + usize::from(ratio > SLOWEST) + usize::from(of_largest > LONGEST_SUMMARY)
}

/// Prints the times of a list in turns: the ratio, and the milliseconds of the largest dealer. The paths are those of few ads, of many
/// and of the largest dealer.
async fn compare_list(
    client: &Client,
    few: &Side,
    many: &Side,
    (name, bound): (&str, f64),
    paths: [String; 3],
) -> [f64; 2] {
    let (compared, largest) = (many.stock.dealers[0], many.stock.dealers[1]);
    let (ask_few, ask_many) = (few.list(compared, &paths[0]), many.list(compared, &paths[1]));
    let ask_largest = many.list(largest, &paths[2]);
    let (mut on_few, mut on_many, mut on_largest) = (Vec::new(), Vec::new(), Vec::new());
    let same = (listed(client, ask_few()).await, listed(client, ask_many()).await);
    assert_eq!(same.0, same.1, "{name}: both have the same ads of this dealer");
    warm_up(client, &ask_largest).await;
    for round in 0..ROUNDS {
        on_few.push(milliseconds(client, ask_few()).await);
        on_many.push(milliseconds(client, ask_many()).await);
        if round < FEWER_ROUNDS {
            on_largest.push(milliseconds(client, ask_largest()).await);
        }
    }
    let (on_few, on_many, on_largest) = (median(on_few), median(on_many), median(on_largest));
    let ratio = on_many / on_few;
    println!("{name:<36}{on_few:>12.2}{on_many:>12.2}{ratio:>8.2}{bound:>7.1}{on_largest:>14.2}");
    [ratio, on_largest]
}

/// Asks until there is an answer: what has to come from the disk can take longer than a read may.
async fn warm_up(client: &Client, ask: impl Fn() -> Request) {
    for _ in 0..WARM_UPS {
        if client.execute(ask()).await.expect("the server answers").status().is_success() {
            return;
        }
    }
}

/// The path of the events in the middle of a dealer's log.
async fn events(client: &Client, side: &Side, dealer: Dealer) -> String {
    let (mut path, mut cursor) = ("/v4/events?limit=1000".to_owned(), String::new());
    for _ in 0..COMPARED * ENTRIES / 2 / 1000 {
        let page = succeed(client, side.list(dealer, &path)()).await;
        let page: Value = serde_json::from_slice(&page).expect("answers are JSON");
        page["cursor"].as_str().expect("a page has a cursor").clone_into(&mut cursor);
        path = format!("/v4/events?limit=1000&after={cursor}");
    }
    format!("/v4/events?after={cursor}")
}

/// What a list has: how many ads, and which of them on the page; which events; or all counts by status.
async fn listed(client: &Client, request: Request) -> (Value, Vec<Value>) {
    let page: Value = serde_json::from_slice(&succeed(client, request).await).expect("answers are JSON");
    if let Some(ads) = page["results"].as_array() {
        return (page["count"].clone(), ads.iter().map(|ad| ad["id"].clone()).collect());
    }
    match page["events"].as_array() {
        Some(events) => (Value::Null, events.iter().map(|event| event["id"].clone()).collect()),
        None => (page, Vec::new()),
    }
}

async fn milliseconds(client: &Client, request: Request) -> f64 {
    let start = Instant::now();
    succeed(client, request).await;
    start.elapsed().as_secs_f64() * 1000.0
}

/// Rates of writing and reading in turns; returns how many bounds were missed.
async fn compare_rates(few: &Side, many: &Side) -> usize {
    println!("\nRequests/s\n{:<36}{:>12}{:>12}{:>8}{:>7}", "", few.ads, many.ads, "ratio", "bound");
    let mut missed = 0;
    for name in ["POST /v4/car", "GET one ad with its log"] {
        let mut turns = Vec::new();
        for turn in 0..=TURNS {
            let mut rates = [0.0; 2];
            for (place, side) in [few, many].into_iter().enumerate() {
                let numbers = turn * PER_TURN..(turn + 1) * PER_TURN;
                let requests = if name.starts_with("POST") {
                    side.writes(side.stock.dealers[0], numbers)
                } else {
                    side.reads(numbers)
                };
                rates[place] = rate(requests).await;
                // What is left for later is not to slow the other side.
                side.service.indexed().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            // The first one warms up.
            if turn > 0 {
                turns.push(rates);
            }
        }
        let ratio = median(turns.iter().map(|[few, many]| many / few));
        missed += usize::from(ratio < LEAST);
        let (on_few, on_many) = (median(turns.iter().map(|it| it[0])), median(turns.iter().map(|it| it[1])));
        println!("{name:<36}{on_few:>12.0}{on_many:>12.0}{ratio:>8.2}{LEAST:>7.1}");
    }
    missed
}

/// Imports ads of one dealer beside others, after ads that were not published either; returns how many bounds were missed.
async fn compare_imports(client: &Client, few: &Side, many: &Side) -> usize {
    let numbers = 100_000..100_000 + IMPORTED;
    let [few, many] = [few.import(client, numbers.clone()).await, many.import(client, numbers).await];
    let ratio = many[0] / few[0];
    println!(
        "{:<36}{:>12.0}{:>12.0}{ratio:>8.2}{LEAST:>7.1}",
        format!("import of {IMPORTED} ads, ads/s"),
        few[0],
        many[0]
    );
    for (place, name) in [(1, "p50"), (2, "p99")] {
        let name = format!("requests of others meanwhile, {name}, ms");
        println!("{name:<36}{:>12.1}{:>12.1}{:>8.2}", few[place], many[place], many[place] / few[place]);
    }
    usize::from(ratio < LEAST)
}

/// Publishes the ads of [`compare_rates`] and [`compare_imports`], and vacuums; returns how many bounds were missed.
async fn compare_maintenance(few: Side, many: Side) -> usize {
    let name = format!("published ads/s, of {}", (TURNS + 1) * PER_TURN + IMPORTED);
    let ((on_few, vacuumed_few), (on_many, vacuumed_many)) = (few.finish().await, many.finish().await);
    let ratio = on_many / on_few;
    println!("{name:<36}{on_few:>12.0}{on_many:>12.0}{ratio:>8.2}{LEAST:>7.1}");
    if let (Some(few), Some(many)) = (vacuumed_few, vacuumed_many) {
        println!("{:<36}{few:>12.1}{many:>12.1}{:>8.2}", "vacuum after that, s", many / few);
    }
    usize::from(ratio < LEAST)
}

/// Publishes queues of the same length in turns: new cars of few dealers, and of all; returns how many bounds were missed.
async fn compare_queues(folder: &Path, url: &str, dealers: &[Dealer]) -> usize {
    let mut turns = Vec::new();
    for turn in 0..QUEUES {
        let mut rates = [0.0; 2];
        for (place, dealers) in [&dealers[..FEW], dealers].into_iter().enumerate() {
            let service = Service::start(folder, url, 0).await;
            let tokens: Vec<_> = dealers.iter().map(|dealer| service.token(&dealer.code())).collect();
            let first = 200_000 + (turn * rates.len() + place) * QUEUED;
            rate((0..QUEUED).map(|nth| new_car(&service, &tokens[nth % tokens.len()], first + nth)).collect()).await;
            service.running.stop().await.expect("it stops");
            rates[place] = drain(folder, url).await;
        }
        turns.push(rates);
    }
    let ratio = median(turns.iter().map(|[few, all]| few / all));
    let [few, all] = [0, 1].map(|place| median(turns.iter().map(|rates| rates[place])));
    println!(
        "\nPublished ads/s, of {QUEUED} in the queue\n{:<36}{FEW:>12}{:>12}{:>8}{:>7}",
        "dealers",
        dealers.len(),
        "ratio",
        "bound"
    );
    println!("{:<36}{few:>12.0}{all:>12.0}{ratio:>8.2}{LEAST:>7.1}", "");
    usize::from(ratio < LEAST)
}
