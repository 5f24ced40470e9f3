//! The service in the process of a benchmark.

use std::{
    num::NonZeroUsize,
    path::Path,
    time::{Duration, Instant},
};

use ad_core::service::Access;
use ad_server::{
    app::{self, RunningService},
    auth::{self, IssueRequest},
    config::Settings,
    store::Database,
};
use reqwest::{Method, Request};

/// The service in this process.
pub(crate) struct Service {
    pub(crate) running: RunningService,
    base: String,
}

impl Service {
    /// Starts it on a database, with its other files in a folder.
    pub(crate) async fn start(folder: &Path, database_url: &str, workers: usize) -> Self {
        let settings = Settings {
            listen: "127.0.0.1:0".parse().expect("an address"),
            database_url: database_url.to_owned(),
            migrate: true,
            media: folder.join("media").into(),
            token_key: folder.join("keys.json"),
            webhook_key: folder.join("webhook-key"),
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

/// Publishes what was accepted, and returns how many ads a second.
pub(crate) async fn drain(folder: &Path, url: &str) -> f64 {
    let service = Service::start(folder, url, Settings::default().workers).await;
    let database = &service.running.database;
    let queued = database.queue_depth().await.expect("the queue can be read");
    let rate = drained(database, queued).await;
    service.running.stop().await.expect("it stops");
    rate
}

/// Waits until nothing is left of so many requests, and returns how many a second were done. It seldom looks: counting
/// costs the database something too.
pub(crate) async fn drained(database: &Database, queued: u64) -> f64 {
    let count = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let start = Instant::now();
    loop {
        let left = database.queue_depth().await.expect("the queue can be read");
        let taken = start.elapsed().as_secs_f64();
        if left == 0 {
            return count(queued) / taken;
        }
        // When half of what is left will be done, as it has gone so far.
        let pause = taken * count(left) / count(queued - left).max(1.0) / 2.0;
        tokio::time::sleep(Duration::from_secs_f64(pause.clamp(0.01, 1.0))).await;
    }
}
