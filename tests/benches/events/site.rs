//! The service as processes, with tokens and requests for it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ad_core::{
    ports::{Clock, Ids},
    service::Access,
};
use ad_server::{
    auth::{self, IssueRequest, KeySet},
    store::Database,
    system::{RandomIds, SystemClock},
};
use ad_tests::Process;
use reqwest::{Client, Method, Request, header, redirect::Policy};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    LOAD,
    support::{CAR, database_url, rate, succeed, with_body},
};

/// What every process is started with: more connections than a client may have by default.
const ARGS: &[&str] = &[
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--max-connections",
    "20000",
    "--connections-per-address",
    "20000",
    "--allow-private-webhooks",
];

/// A folder, a database, and the processes of the service on them.
pub(crate) struct Site {
    folder: TempDir,
    url: String,
    pub(crate) processes: Vec<Process>,
    keys: Option<KeySet>,
    sequence: AtomicUsize,
    car: Value,
}

impl Site {
    /// One process on this database, or else on SQLite.
    pub(crate) async fn start(url: Option<String>) -> Self {
        let mut site = Self::empty(url);
        site.add_process().await;
        let keys = KeySet::load_or_create(&site.folder.path().join("data/token-keys.json"));
        site.keys = Some(keys.expect("the service has made keys"));
        site
    }

    fn empty(url: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let url = url.unwrap_or_else(|| database_url(folder.path()));
        let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
        car["image_urls"] = json!([]);
        Self { folder, url, processes: Vec::new(), keys: None, sequence: AtomicUsize::new(0), car }
    }

    pub(crate) async fn add_process(&mut self) {
        let args = [ARGS, &["--database-url", &self.url]].concat();
        self.processes.push(Process::start(self.folder.path(), &args, &[]).await);
    }

    /// A process of another binary, such as one of an earlier version, which knows none of the newer options.
    pub(crate) async fn of_binary(binary: &Path, url: Option<String>) -> Self {
        let mut site = Self::empty(url);
        let args = [&ARGS[..7], &["--database-url", &site.url]].concat();
        let program = binary.to_str().expect("a path of the command line");
        site.processes.push(Process::start_by(program, &args, site.folder.path()).await);
        let keys = KeySet::load_or_create(&site.folder.path().join("data/token-keys.json"));
        site.keys = Some(keys.expect("the service has made keys"));
        site
    }

    pub(crate) async fn database(&self) -> Database {
        Database::open(&self.url).await.expect("the service has opened it")
    }

    /// A new token of a dealer.
    pub(crate) fn token(&self, dealer: usize) -> String {
        let request = IssueRequest {
            scope: Access::Dealer(dealer_code(dealer)),
            permissions: None,
            expires_in: None,
            label: None,
            now: SystemClock.now(),
            jti: RandomIds::new(Arc::new(SystemClock)).next(),
        };
        auth::issue(self.keys.as_ref().expect("it has keys"), &request).expect("keys that were just made sign").0
    }

    /// A request to a process.
    pub(crate) fn request(&self, process: usize, token: &str, method: Method, path: &str) -> Request {
        let url = format!("{}{path}", self.processes[process].base);
        let mut request = Request::new(method, url.parse().expect("a URL"));
        request.headers_mut().insert("X-Auth-Token", token.parse().expect("tokens are ASCII"));
        request
    }

    /// The stream of events of an open page of the console, which somebody has signed in to with this token.
    pub(crate) async fn console_stream(&self, token: &str) -> Request {
        let client = ad_tests::http_client().redirect(Policy::none()).build().expect("a plain client can be built");
        let base = &self.processes[0].base;
        let form = client.post(format!("{base}/console/sign-in")).header("origin", base);
        let form = form.header("content-type", "application/x-www-form-urlencoded").body(format!("token={token}"));
        let answer = form.send().await.expect("the server answers");
        let cookie = answer.headers()[header::SET_COOKIE].to_str().expect("cookies are ASCII");
        let (session, _) = cookie.split_once(';').expect("it has attributes");
        let mut request = Request::new(Method::GET, format!("{base}/console/events?after=now").parse().expect("a URL"));
        request.headers_mut().insert(header::COOKIE, session.parse().expect("cookies are ASCII"));
        request
    }

    /// A new ad, to the first process.
    pub(crate) fn post(&self, token: &str) -> Request {
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        let mut car = self.car.clone();
        car["source_id"] = json!(format!("car-{number}"));
        car["category_fields"]["registration_number"] = json!(format!("{number:06}"));
        with_body(self.request(0, token, Method::POST, "/v4/car"), car.to_string())
    }

    /// Ads a second that are accepted, and then those that are accepted and published, of a load spread over these tokens.
    pub(crate) async fn publish(&self, database: &Database, tokens: &[String]) -> [f64; 2] {
        let requests = (0..LOAD).map(|number| self.post(&tokens[number % tokens.len()])).collect();
        let start = Instant::now();
        let accepted = rate(requests).await;
        while database.queue_depth().await.expect("the queue can be read") > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let published = f64::from(u32::try_from(LOAD).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64();
        // What is left for later is not to slow what comes next.
        while database.unindexed().await.expect("the store can be read") > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        [accepted, published]
    }

    /// A request with a JSON body, which must succeed; returns the answer.
    pub(crate) async fn call(&self, client: &Client, token: &str, method: Method, path: &str, body: &Value) -> Value {
        let answer = succeed(client, with_body(self.request(0, token, method, path), body.to_string())).await;
        serde_json::from_slice(&answer).expect("answers are JSON")
    }
}

fn dealer_code(dealer: usize) -> String {
    format!("dealer-{dealer}")
}
