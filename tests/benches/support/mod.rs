//! What the benchmarks share: a load of requests, and medians.

use std::{path::Path, sync::Arc, time::Instant};

use reqwest::{Client, Request, StatusCode};

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

/// The database of a folder.
pub(crate) fn database_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("ads.db").display())
}

/// Gives a request a body.
pub(crate) fn with_body(mut request: Request, body: String) -> Request {
    *request.body_mut() = Some(body.into());
    request
}
