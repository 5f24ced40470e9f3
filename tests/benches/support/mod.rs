//! What the benchmarks share: the service in this process, a load of requests, and medians.

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use ad_core::service::Access;
use ad_server::{
    app::{self, Running},
    auth::{self, IssueRequest},
    config::Settings,
};
use reqwest::{Client, Method, Request, StatusCode};

/// Requests under way at the same time.
pub(crate) const CLIENTS: usize = 32;

pub(crate) const CAR: &str = include_str!("../../data/payloads/car-v4.json");

/// How many cores there are.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A client that goes nowhere but where it is told to.
pub(crate) fn client() -> Client {
    Client::builder().no_proxy().build().expect("a plain client can be built")
}

/// The one in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Requests a second, each of which must succeed.
pub(crate) async fn rate(client: &Client, requests: Vec<Request>) -> f64 {
    let count = f64::from(u32::try_from(requests.len()).unwrap_or(u32::MAX));
    let requests = Arc::new(std::sync::Mutex::new(requests));
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (client, requests) = (client.clone(), Arc::clone(&requests));
            tokio::spawn(async move {
                loop {
                    let next = requests.lock().expect("no client panics").pop();
                    let Some(request) = next else { break };
                    succeed(&client, request).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("no client panics");
    }
    count / start.elapsed().as_secs_f64()
}

/// Sends a request, which must succeed; returns what came back.
pub(crate) async fn succeed(client: &Client, request: Request) -> Vec<u8> {
    let response = client.execute(request).await.expect("the server answers");
    let status = response.status();
    assert!(status.is_success() || status == StatusCode::NOT_MODIFIED, "{status}");
    response.bytes().await.expect("the answer comes whole").into()
}

/// The service in this process.
pub(crate) struct Service {
    /// What runs.
    pub(crate) running: Running,
    base: String,
}

impl Service {
    /// Starts it on a database, with its other files in a folder.
    pub(crate) async fn start(folder: &Path, database_url: &str, workers: usize) -> Self {
        let settings = Settings {
            listen: "127.0.0.1:0".parse().expect("an address"),
            database_url: database_url.to_owned(),
            media: folder.join("media").into(),
            token_key: folder.join("keys.json"),
            workers,
            // A load at a rate opens a connection whenever all others are in use, and all come from one address.
            connections_per_address: NonZeroUsize::new(100_000),
            max_connections: NonZeroUsize::new(100_000).expect("it is not zero"),
            ..Settings::default()
        };
        let running = app::start(&settings).await.expect("it starts");
        let base = format!("http://{}", running.address);
        Self { running, base }
    }

    /// A token of a dealer.
    pub(crate) fn token(&self, dealer_code: &str) -> String {
        let request = IssueRequest {
            scope: Access::Dealer(dealer_code.to_owned()),
            permissions: None,
            expires_in: None,
            label: None,
            now: self.running.clock.now(),
            jti: self.running.ids.next(),
        };
        auth::issue(&self.running.keys, &request).expect("keys that were just made sign").0
    }

    /// A request with a token.
    pub(crate) fn request(&self, token: &str, method: Method, path: &str) -> Request {
        let mut request = Request::new(method, format!("{}{path}", self.base).parse().expect("a URL"));
        request.headers_mut().insert("X-Auth-Token", token.parse().expect("tokens are ASCII"));
        request
    }

    /// Waits until the index for searching has caught up, so that its work is not taken for that of what comes next.
    pub(crate) async fn indexed(&self) {
        while self.running.database.unindexed().await.expect("the store can be read") > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The database of a folder.
pub(crate) fn database_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("ads.db").display())
}

/// Gives a request a body.
pub(crate) fn with_body(mut request: Request, body: String) -> Request {
    *request.body_mut() = Some(body.into());
    request
}
