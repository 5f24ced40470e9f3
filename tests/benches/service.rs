//! How fast the service is, as ratios measured in one run: against a bare poem handler that stores or reads one row with
//! the same durability, and against the clock for the worker. `cargo bench -p ad-tests` prints the table,
//! `cargo bench -p ad-tests -- worker` its last line.
//!
//! Both sides run in this process on the same machine as the load, in turns, so that what the machine does meanwhile
//! hits both.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ad_core::service::Access;
use ad_server::{
    app::{self, Running},
    auth::{self, IssueRequest, KeySource},
    config::Settings,
};
use poem::{
    EndpointExt, Route, Server, get, handler,
    listener::{Acceptor, Listener, TcpListener},
    post,
    web::{Data, Json, Path as UrlPath},
};
use serde_json::{Value, json};
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

/// Requests under way at the same time.
const CLIENTS: usize = 32;
/// Turns of each side.
const ROUNDS: usize = 5;
/// Requests of one side in one turn.
const PER_ROUND: usize = 4000;
/// Ads that the worker publishes.
const PUBLISHED: usize = 20_000;

const CAR: &str = include_str!("../data/payloads/car-v4.json");

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
    let service = Service::start(folder.path(), 0).await;
    let bare = Bare::start(folder.path()).await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a plain client can be built");

    println!("{:<34}{:>12}{:>12}{:>9}{:>9}", "", "ours", "bare", "ratio", "bound");
    let posts = compare(&client, |number| service.post(number), |_| bare.post()).await;
    row("POST /v4/car, requests/s", &posts, 1.0);
    let gets = compare(&client, |number| service.get(number), |number| bare.get(number)).await;
    row("GET one ad with its log, requests/s", &gets, 0.5);
    service.running.stop().await.expect("it stops");

    published(folder.path()).await;
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn row(name: &str, rounds: &[(f64, f64)], bound: f64) {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let ours = median(rounds.iter().map(|round| round.0).collect());
    let bare = median(rounds.iter().map(|round| round.1).collect());
    let ratio = median(rounds.iter().map(|round| round.0 / round.1).collect());
    println!("{name:<34}{ours:>12.0}{bare:>12.0}{ratio:>9.2}{bound:>9.1}");
}

/// Rates of both sides, in turns.
async fn compare(
    client: &reqwest::Client,
    ours: impl Fn(usize) -> reqwest::Request,
    bare: impl Fn(usize) -> reqwest::Request,
) -> Vec<(f64, f64)> {
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let from = round * PER_ROUND;
        let pair = (rate(client, from, &ours).await, rate(client, from, &bare).await);
        // The first one warms up.
        if round > 0 {
            rounds.push(pair);
        }
    }
    rounds
}

/// Requests a second, each of which must succeed.
async fn rate(client: &reqwest::Client, from: usize, request: &impl Fn(usize) -> reqwest::Request) -> f64 {
    let requests: Vec<_> = (from..from + PER_ROUND).map(request).collect();
    let requests = Arc::new(std::sync::Mutex::new(requests));
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (client, requests) = (client.clone(), Arc::clone(&requests));
            tokio::spawn(async move {
                loop {
                    let next = requests.lock().expect("no client panics").pop();
                    let Some(request) = next else { break };
                    let response = client.execute(request).await.expect("the server answers");
                    assert!(response.status().is_success(), "{}", response.status());
                    response.bytes().await.expect("the answer comes whole");
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("no client panics");
    }
    f64::from(u32::try_from(PER_ROUND).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64()
}

/// The service in this process.
struct Service {
    running: Running,
    base: String,
    token: String,
    car: Value,
    sequence: AtomicUsize,
}

impl Service {
    async fn start(folder: &Path, workers: usize) -> Self {
        let settings = Settings {
            listen: "127.0.0.1:0".parse().expect("an address"),
            database_url: format!("sqlite://{}", folder.join("ads.db").display()),
            media: folder.join("media"),
            token_keys: KeySource::File(folder.join("keys.json")),
            workers,
            ..Settings::default()
        };
        let running = app::start(&settings).await.expect("it starts");
        let request = IssueRequest {
            scope: Access::Dealer("north-cars".to_owned()),
            permissions: None,
            expires_in: None,
            now: running.clock.now(),
            jti: running.ids.next(),
        };
        let (token, _) = auth::issue(&running.keys, &request).expect("keys that were just made sign");
        let base = format!("http://{}", running.address);
        let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
        car["image_urls"] = json!([]);
        Self { running, base, token, car, sequence: AtomicUsize::new(0) }
    }

    fn post(&self, _: usize) -> reqwest::Request {
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        let mut car = self.car.clone();
        car["source_id"] = json!(format!("car-{number}"));
        car["category_fields"]["registration_number"] = json!(format!("{number:06}"));
        self.request(reqwest::Method::POST, "/v4/car").body_of(car.to_string())
    }

    fn get(&self, number: usize) -> reqwest::Request {
        self.request(reqwest::Method::GET, &format!("/v4/ad/car-{}", number % (ROUNDS * PER_ROUND)))
    }

    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::Request {
        let mut request = reqwest::Request::new(method, format!("{}{path}", self.base).parse().expect("a URL"));
        request.headers_mut().insert("X-Auth-Token", self.token.parse().expect("tokens are ASCII"));
        request
    }
}

trait BodyOf {
    fn body_of(self, body: String) -> Self;
}

impl BodyOf for reqwest::Request {
    fn body_of(mut self, body: String) -> Self {
        *self.body_mut() = Some(body.into());
        self
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

    fn post(&self) -> reqwest::Request {
        reqwest::Request::new(reqwest::Method::POST, self.base.parse().expect("a URL")).body_of(self.body.clone())
    }

    fn get(&self, number: usize) -> reqwest::Request {
        let id = 1 + number % (ROUNDS * PER_ROUND);
        reqwest::Request::new(reqwest::Method::GET, format!("{}/{id}", self.base).parse().expect("a URL"))
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
    let client = reqwest::Client::builder().no_proxy().build().expect("a plain client can be built");
    let service = Service::start(&folder, 0).await;
    for from in (0..PUBLISHED).step_by(PER_ROUND) {
        rate(&client, from, &|number| service.post(number)).await;
    }
    service.running.stop().await.expect("it stops");

    let service = Service::start(&folder, Settings::default().workers).await;
    let start = Instant::now();
    while service.running.database.queue_depth().await.expect("the queue can be read") > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let rate = f64::from(u32::try_from(PUBLISHED).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64();
    println!("{:<34}{rate:>12.0}{:>12}{:>9}{:>9}", "Worker, ads published/s", "", "", "2000");
    service.running.stop().await.expect("it stops");
}
