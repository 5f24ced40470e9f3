//! What all cases share: one running server, an image host, tokens of several dealers, and ads that only an operator
//! can bring in.

use std::sync::atomic::{AtomicUsize, Ordering};

use ad_tests::{Client, ImageHost, Server};
use serde_json::{Value, json};

use super::request::{Who, ad_of};

/// Trailers that the cases may use up, in each API version.
const TRAILERS: usize = 500;

/// The one server and what belongs to it.
pub(super) struct World {
    pub(super) server: Server,
    pub(super) images: ImageHost,
    clients: Vec<(Who, Client)>,
    next: AtomicUsize,
    trailers: [AtomicUsize; 2],
}

impl World {
    pub(super) async fn start() -> Self {
        let (server, images) = (Server::start().await, ImageHost::start().await);
        let lines: Vec<_> =
            (0..TRAILERS).flat_map(|number| ["v3", "v4"].map(|version| trailer(version, number))).collect();
        let lines = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        std::fs::write(server.dir().join("trailers.ndjson"), lines).unwrap();
        server.command(&["ads", "import", "trailers.ndjson"]).await;
        let mut clients = vec![(Who::North, server.client.clone()), (Who::Nobody, server.client.with_token(None))];
        for (who, args) in [
            (Who::Coast, &["--dealer-code", "coast-boats"][..]),
            (Who::South, &["--dealer-code", "south-cars"]),
            (Who::Quiet, &["--dealer-code", "quiet-cars"]),
            (Who::Group, &["--dealer-group", "north"]),
            (Who::Reader, &["--dealer-code", "north-cars", "--permissions", "read"]),
            (Who::Writer, &["--dealer-code", "north-cars", "--permissions", "write"]),
            (Who::Promoter, &["--dealer-code", "north-cars", "--permissions", "promote"]),
        ] {
            clients.push((who, server.client_of(args).await));
        }
        Self {
            server,
            images,
            clients,
            next: AtomicUsize::new(0),
            trailers: [AtomicUsize::new(0), AtomicUsize::new(0)],
        }
    }

    pub(super) fn client(&self, who: Who) -> Client {
        if let Who::Bearer(token) = who {
            return self.server.client.with_token(Some(token.to_owned()));
        }
        let known = self.clients.iter().find(|(known, _)| *known == who);
        known.map(|(_, client)| client.clone()).expect("every other one has a client")
    }

    /// Waits until a list has so many rows: a search may lag a write.
    pub(super) async fn listed(&self, who: Who, path: &str, count: u64) {
        let client = self.client(who);
        ad_tests::eventually(path, || async { (client.get(path).await.json()["count"] == count).then_some(()) }).await;
    }

    /// A number that nobody else gets.
    pub(super) fn number(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The source id of a trailer of `v3` or `v4` that nobody else gets.
    pub(super) fn trailer(&self, version: &str) -> String {
        let number = self.trailers[usize::from(version == "v4")].fetch_add(1, Ordering::Relaxed);
        assert!(number < TRAILERS, "all trailers are used up: import more");
        format!("trailer-{version}-{number}")
    }
}

/// A stored trailer, as the file of an operator has it.
fn trailer(version: &str, number: usize) -> Value {
    let over = json!({
        "source_id": format!("trailer-{version}-{number}"),
        "dealer_code": "north-cars",
        "api_version": version,
        "visible": false,
        "category_fields": {"registration_number": format!("{}{number:04}", &version[1..])},
    });
    ad_of(1045, &over)
}
