//! What the benchmarks share: a load of requests, and medians.

use std::{path::Path, sync::Arc, time::Instant};

use http_body_util::BodyExt;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use reqwest::{Client, Request, StatusCode, header::HOST};
use tokio::net::TcpStream;

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

/// Requests a second, each of which must succeed. The clients do little more than HTTP needs, each on a connection of its own: they
/// share the cores with what is measured.
pub(crate) async fn rate(requests: Vec<Request>) -> f64 {
    let count = f64::from(u32::try_from(requests.len()).unwrap_or(u32::MAX));
    let url = requests.first().expect("there are requests").url();
    let host = format!("{}:{}", url.host_str().expect("a host"), url.port().expect("a port"));
    let requests = requests.into_iter().map(|request| plain(request, &host)).collect();
    let requests: Requests = Arc::new(std::sync::Mutex::new(requests));
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        connections.push(connect(&host).await);
    }
    let start = Instant::now();
    let clients = connections.into_iter().map(|connection| tokio::spawn(send(connection, Arc::clone(&requests))));
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("no client panics");
    }
    count / start.elapsed().as_secs_f64()
}

type Requests = Arc<std::sync::Mutex<Vec<http::Request<reqwest::Body>>>>;

/// The request as it is written on a connection to this host.
fn plain(request: Request, host: &str) -> http::Request<reqwest::Body> {
    let mut request = http::Request::try_from(request).expect("it is a request of HTTP");
    let path = request.uri().path_and_query().expect("a path").as_str();
    *request.uri_mut() = path.parse().expect("a path is a URI");
    request.headers_mut().insert(HOST, host.parse().expect("a host is a header"));
    request
}

async fn connect(host: &str) -> SendRequest<reqwest::Body> {
    let stream = TcpStream::connect(host).await.expect("the server accepts connections");
    stream.set_nodelay(true).expect("it is a socket of TCP");
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP needs no exchange before");
    tokio::spawn(connection);
    sender
}

async fn send(mut connection: SendRequest<reqwest::Body>, requests: Requests) {
    loop {
        let next = requests.lock().expect("no client panics").pop();
        let Some(request) = next else { break };
        connection.ready().await.expect("the connection stays open");
        let response = connection.send_request(request).await.expect("the server answers");
        assert_succeeded(response.status());
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            frame.expect("the answer comes whole");
        }
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
