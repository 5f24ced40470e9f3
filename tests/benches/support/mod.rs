//! What the benchmarks share: a load of requests, and medians.

use std::{path::Path, sync::Arc, time::Instant};

use httparse::Status;
use reqwest::{Client, Request, StatusCode};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Requests under way at the same time.
pub(crate) const CLIENTS: usize = 32;

pub(crate) const CAR: &str = include_str!("../../data/payloads/car-v4.json");

/// How many cores there are.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A client that goes nowhere but where it is told to.
pub(crate) fn client() -> Client {
    ad_tests::http_client().build().expect("a plain client can be built")
}

/// The one in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Requests a second, each of which must succeed. The clients do no more than HTTP needs, each on a connection of its own: they share the
/// cores with what is measured.
pub(crate) async fn rate(requests: Vec<Request>) -> f64 {
    let count = f64::from(u32::try_from(requests.len()).unwrap_or(u32::MAX));
    let url = requests.first().expect("there are requests").url();
    let host = format!("{}:{}", url.host_str().expect("a host"), url.port().expect("a port"));
    // They are taken from the end.
    let requests: Vec<_> = requests.iter().rev().map(|request| written(request, &host)).collect();
    let requests: Requests = Arc::new(std::sync::Mutex::new(requests));
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        connections.push(Connection::open(&host).await);
    }
    let start = Instant::now();
    let clients = connections.into_iter().map(|connection| tokio::spawn(connection.send(Arc::clone(&requests))));
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("no client panics");
    }
    count / start.elapsed().as_secs_f64()
}

type Requests = Arc<std::sync::Mutex<Vec<Vec<u8>>>>;

/// The bytes of a request on a connection to this host.
fn written(request: &Request, host: &str) -> Vec<u8> {
    let (url, body) = (request.url(), request.body().map(|body| body.as_bytes().expect("it is in memory")));
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut bytes = format!("{} {}{query} HTTP/1.1\r\nhost: {host}\r\n", request.method(), url.path()).into_bytes();
    for (name, value) in request.headers() {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    if let Some(body) = body {
        bytes.extend(format!("content-length: {}\r\n", body.len()).into_bytes());
    }
    bytes.extend([b"\r\n", body.unwrap_or_default()].concat());
    bytes
}

/// A connection of HTTP/1.1 with the answer that is being read.
struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    async fn open(host: &str) -> Self {
        let stream = TcpStream::connect(host).await.expect("the server accepts connections");
        stream.set_nodelay(true).expect("it is a socket of TCP");
        Self { stream, answer: Vec::with_capacity(16 << 10) }
    }

    /// Sends requests, one after another, until there are no more.
    async fn send(mut self, requests: Requests) {
        loop {
            let next = requests.lock().expect("no client panics").pop();
            let Some(request) = next else { break };
            self.stream.write_all(&request).await.expect("the connection stays open");
            self.read_answer().await;
        }
    }

    async fn read_answer(&mut self) {
        self.answer.clear();
        let (mut end, length) = loop {
            self.read().await;
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let Status::Complete(end) = head.parse(&self.answer).expect("the server speaks HTTP") else { continue };
            assert_succeeded(head.code.and_then(|code| StatusCode::from_u16(code).ok()).expect("it has a status"));
            let header = |name: &str| head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            let length = header("content-length").map(|length| {
                let length = std::str::from_utf8(length.value).ok().and_then(|length| length.parse().ok());
                length.expect("a length is a number")
            });
            // What has neither has no body.
            break (end, length.or_else(|| header("transfer-encoding").is_none().then_some(0)));
        };
        if let Some(length) = length {
            return self.read_to(end + length).await;
        }
        loop {
            match httparse::parse_chunk_size(&self.answer[end..]).expect("the server speaks HTTP") {
                Status::Partial => self.read().await,
                Status::Complete((start, size)) => {
                    end += start + usize::try_from(size).expect("it fits into memory") + "\r\n".len();
                    self.read_to(end).await;
                    if size == 0 {
                        return;
                    }
                }
            }
        }
    }

    async fn read_to(&mut self, end: usize) {
        while self.answer.len() < end {
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let read = self.stream.read_buf(&mut self.answer).await.expect("the connection stays open");
        assert!(read > 0, "the answer comes whole");
    }
}

fn assert_succeeded(status: StatusCode) {
    assert!(status.is_success() || status == StatusCode::NOT_MODIFIED, "{status}");
}

/// Sends a request, which must succeed; returns what came back.
pub(crate) async fn succeed(client: &Client, request: Request) -> Vec<u8> {
    let response = client.execute(request).await.expect("the server answers");
    assert_succeeded(response.status());
    response.bytes().await.expect("the answer comes whole").into()
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
