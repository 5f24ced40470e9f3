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
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use reqwest::{Client, Method, Request, StatusCode, header};
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinSet};

use crate::site::Site;

/// Open streams. They end with the value.
pub(crate) struct Streams {
    readers: JoinSet<()>,
    /// Number of events received.
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
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}/", listener.local_addr().expect("it listens on TCP"));
        let received = Arc::new(AtomicUsize::new(0));
        tokio::spawn(receive(listener, Arc::clone(&received)));
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

/// Answers webhooks. It does little more than HTTP needs: it shares the cores with what is measured.
async fn receive(listener: TcpListener, received: Arc<AtomicUsize>) {
    loop {
        let (stream, _) = listener.accept().await.expect("there are files left to open");
        stream.set_nodelay(true).expect("it is a socket of TCP");
        let received = Arc::clone(&received);
        let answer = service_fn(move |request: http::Request<Incoming>| {
            let received = Arc::clone(&received);
            async move {
                request.into_body().collect().await?;
                received.fetch_add(1, Ordering::Relaxed);
                Ok::<_, hyper::Error>(http::Response::new(String::new()))
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}
