//! Readers of events: streams, and receivers of webhooks.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ad_core::{model::Timestamp, ports::Clock};
use ad_server::system::SystemClock;
use poem::{
    Route, Server, handler,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
    post,
    web::Data,
};
use reqwest::{Client, Method, Request, header};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::site::Site;

/// Open streams. They end with the value.
pub(crate) struct Streams {
    readers: JoinSet<()>,
    /// Events that came.
    pub(crate) events: Arc<AtomicUsize>,
    /// Milliseconds from when each event was written until it came, if that was asked for.
    pub(crate) latencies: Arc<Mutex<Vec<f64>>>,
}

impl Streams {
    /// One stream from a process for each of these tokens, all of which are open.
    pub(crate) async fn open(
        client: &Client,
        site: &Site,
        process: usize,
        tokens: &[String],
        is_measured: bool,
    ) -> Self {
        let stream = |token: &String| {
            let mut request = site.request(process, token, Method::GET, "/v4/events?after=now");
            request.headers_mut().insert(header::ACCEPT, header::HeaderValue::from_static("text/event-stream"));
            request
        };
        Self::of(client, tokens.iter().map(stream).collect(), is_measured).await
    }

    /// The streams that these requests open.
    pub(crate) async fn of(client: &Client, requests: Vec<Request>, is_measured: bool) -> Self {
        let mut streams = Self { readers: JoinSet::new(), events: Arc::default(), latencies: Arc::default() };
        for request in requests {
            let mut response = client.execute(request).await.expect("the server answers");
            assert_eq!(response.status(), StatusCode::OK);
            response.chunk().await.expect("a stream begins").expect("a stream begins");
            let (events, latencies) = (Arc::clone(&streams.events), Arc::clone(&streams.latencies));
            streams.readers.spawn(async move {
                while let Ok(Some(chunk)) = response.chunk().await {
                    let now = SystemClock.now();
                    let is_data = |line: &&[u8]| line.starts_with(b"data: ");
                    for line in chunk.split(|byte| *byte == b'\n').filter(is_data) {
                        events.fetch_add(1, Ordering::Relaxed);
                        if is_measured {
                            latencies.lock().expect("nobody panics with it").extend(age(line, now));
                        }
                    }
                }
            });
        }
        streams
    }
}

/// Milliseconds since the event of a line of data was written; `None` for a line that is cut.
fn age(line: &[u8], now: Timestamp) -> Option<f64> {
    let event: Value = serde_json::from_slice(&line["data: ".len()..]).ok()?;
    let written: Timestamp = event["timestamp"].as_str()?.parse().ok()?;
    Some(f64::from(u32::try_from(now.as_millis() - written.as_millis()).unwrap_or_default()))
}

/// A server that takes webhooks, and counts them.
pub(crate) struct Receiver {
    pub(crate) url: String,
    pub(crate) received: Arc<AtomicUsize>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port is free");
        let url = acceptor.local_addr()[0].to_string();
        let received = Arc::new(AtomicUsize::new(0));
        let app = poem::EndpointExt::data(Route::new().at("/", post(receive)), Arc::clone(&received));
        tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
        Self { url, received }
    }

    /// Waits until no more webhooks come.
    pub(crate) async fn settled(&self) {
        loop {
            let before = self.received.load(Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(1)).await;
            if self.received.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }
}

#[handler]
fn receive(Data(received): Data<&Arc<AtomicUsize>>, _body: Vec<u8>) -> StatusCode {
    received.fetch_add(1, Ordering::Relaxed);
    StatusCode::NO_CONTENT
}
