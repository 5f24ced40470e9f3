//! How fast the service is, as ratios measured in one run: against a bare poem handler that stores or reads one row with
//! the same durability, and against the clock for the worker. `cargo bench -p ad-tests` prints the table,
//! `cargo bench -p ad-tests -- worker` its last line.
//!
//! Both sides run in this process on the same machine as the load, in turns, so that what the machine does meanwhile
//! hits both.

mod support;

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use ad_server::config::Settings;
use poem::{
    EndpointExt, Route, Server, get, handler,
    listener::{Acceptor, Listener, TcpListener},
    post,
    web::{Data, Json, Path as UrlPath},
};
use reqwest::{Client, Method, Request};
use serde_json::{Value, json};
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use support::{CAR, CLIENTS, Service, client, cores, median, rate, with_body};

/// Turns of each side.
const ROUNDS: usize = 5;
/// Requests of one side in one turn.
const PER_ROUND: usize = 4000;
/// Ads that the worker publishes.
const PUBLISHED: usize = 20_000;

#[tokio::main]
async fn main() {
    // `cargo test` builds and runs benchmarks too; it passes no --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("{} cores, {CLIENTS} clients, SQLite with WAL and synchronous=FULL\n", cores());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    if std::env::args().any(|argument| argument == "worker") {
        return published(folder.path()).await;
    }
    let service = Cars::start(folder.path(), 0).await;
    let bare = Bare::start(folder.path()).await;
    let client = client();

    println!("{:<34}{:>12}{:>12}{:>9}{:>9}", "", "ours", "bare", "ratio", "bound");
    let posts = compare(&client, &service, |number| service.post(number), |_| bare.post()).await;
    row("POST /v4/car, requests/s", &posts, 1.0);
    let gets = compare(&client, &service, |number| service.get(number), |number| bare.get(number)).await;
    row("GET one ad with its log, requests/s", &gets, 0.5);
    service.service.running.stop().await.expect("it stops");

    published(folder.path()).await;
}

fn row(name: &str, rounds: &[(f64, f64)], bound: f64) {
    let ours = median(rounds.iter().map(|round| round.0));
    let bare = median(rounds.iter().map(|round| round.1));
    let ratio = median(rounds.iter().map(|round| round.0 / round.1));
    println!("{name:<34}{ours:>12.0}{bare:>12.0}{ratio:>9.2}{bound:>9.1}");
}

/// Rates of both sides, in turns.
async fn compare(
    client: &Client,
    service: &Cars,
    ours: impl Fn(usize) -> Request,
    bare: impl Fn(usize) -> Request,
) -> Vec<(f64, f64)> {
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let numbers = round * PER_ROUND..(round + 1) * PER_ROUND;
        let ours = rate(client, numbers.clone().map(&ours).collect()).await;
        // What we leave for later is not to slow the other side.
        service.service.indexed().await;
        let bare = rate(client, numbers.map(&bare).collect()).await;
        // The first one warms up.
        if round > 0 {
            rounds.push((ours, bare));
        }
    }
    rounds
}

/// The service, and cars for it.
struct Cars {
    service: Service,
    token: String,
    car: Value,
    sequence: AtomicUsize,
}

impl Cars {
    async fn start(folder: &Path, workers: usize) -> Self {
        let service = Service::start(folder, workers).await;
        let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
        car["image_urls"] = json!([]);
        Self { token: service.token("north-cars"), service, car, sequence: AtomicUsize::new(0) }
    }

    fn post(&self, _: usize) -> Request {
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        let mut car = self.car.clone();
        car["source_id"] = json!(format!("car-{number}"));
        car["category_fields"]["registration_number"] = json!(format!("{number:06}"));
        with_body(self.service.request(&self.token, Method::POST, "/v4/car"), car.to_string())
    }

    fn get(&self, number: usize) -> Request {
        let path = format!("/v4/ad/car-{}", number % (ROUNDS * PER_ROUND));
        self.service.request(&self.token, Method::GET, &path)
    }
}

/// A bare handler: a body in, one row, one commit; a row out.
struct Bare {
    base: String,
    body: String,
}

impl Bare {
    async fn start(folder: &Path) -> Self {
        let options = SqliteConnectOptions::new()
            .filename(folder.join("bare.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30));
        // One connection that writes: several would only wait for each other's locks.
        let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await.expect("it opens");
        sqlx::query("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
            .execute(&writer)
            .await
            .expect("a table");
        let readers =
            SqlitePoolOptions::new().max_connections(4).connect_with(options.read_only(true)).await.expect("it opens");
        let app = Route::new().at("/", post(store.data(writer))).at("/:id", get(read.data(readers)));
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("it listens on TCP");
        tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
        Self { base: format!("http://{address}"), body: CAR.to_owned() }
    }

    fn post(&self) -> Request {
        with_body(Request::new(Method::POST, self.base.parse().expect("a URL")), self.body.clone())
    }

    fn get(&self, number: usize) -> Request {
        let id = 1 + number % (ROUNDS * PER_ROUND);
        Request::new(Method::GET, format!("{}/{id}", self.base).parse().expect("a URL"))
    }
}

#[handler]
async fn store(Data(pool): Data<&SqlitePool>, body: String) -> Json<Value> {
    let stored =
        sqlx::query("INSERT INTO bodies (body) VALUES ($1)").bind(body).execute(pool).await.expect("it is stored");
    Json(json!({"id": stored.last_insert_rowid()}))
}

#[handler]
async fn read(Data(pool): Data<&SqlitePool>, UrlPath(id): UrlPath<i64>) -> String {
    sqlx::query_scalar("SELECT body FROM bodies WHERE id = $1").bind(id).fetch_one(pool).await.expect("it is there")
}

/// How many ads without images the worker publishes a second while the API is idle.
async fn published(folder: &Path) {
    let folder = folder.join("published");
    std::fs::create_dir(&folder).expect("a folder can be made");
    let client = client();
    let cars = Cars::start(&folder, 0).await;
    for from in (0..PUBLISHED).step_by(PER_ROUND) {
        rate(&client, (from..from + PER_ROUND).map(|number| cars.post(number)).collect()).await;
    }
    cars.service.indexed().await;
    cars.service.running.stop().await.expect("it stops");

    let service = Service::start(&folder, Settings::default().workers).await;
    let start = Instant::now();
    while service.running.database.queue_depth().await.expect("the queue can be read") > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let rate = f64::from(u32::try_from(PUBLISHED).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64();
    println!("{:<34}{rate:>12.0}{:>12}{:>9}{:>9}", "Worker, ads published/s", "", "", "2000");
    service.running.stop().await.expect("it stops");
}
