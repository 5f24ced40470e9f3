//! The service in the process of a benchmark.

use std::{num::NonZeroUsize, path::Path, time::Duration};

use ad_core::service::Access;
use ad_server::{
    app::{self, Running},
    auth::{self, IssueRequest},
    config::Settings,
};
use reqwest::{Method, Request};

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
