//! Traces reach a collector: a real HTTP server that keeps what is sent to it.

use std::sync::{Arc, Mutex};

use ad_tests::{ImageHost, Options, Server, eventually, ports};
use poem::{
    Endpoint, IntoResponse, Request, Response,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use serde_json::json;

use crate::payloads::plain_car;

/// The bodies that were sent as they should be.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Vec<u8>>>>);

impl Endpoint for Collector {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if request.uri().path() != "/v1/traces" || request.header("content-type") != Some("application/x-protobuf") {
            return Ok(StatusCode::NOT_FOUND.into_response());
        }
        let body = request.take_body().into_vec().await?;
        self.0.lock().unwrap().push(body);
        Ok(().into_response())
    }
}

impl Collector {
    async fn start() -> (Self, String) {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let collector = Self::default();
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(collector.clone()));
        (collector, base)
    }

    /// Whether a link (field 13 of a span) that begins with these bytes was sent.
    fn holds_link(&self, bytes: &[u8]) -> bool {
        let is_link = |window: &[u8]| window[0] == 0x6a && window[2..].starts_with(bytes);
        self.0.lock().unwrap().iter().any(|body| body.windows(bytes.len() + 2).any(is_link))
    }

    /// Whether bytes were sent in a body.
    fn holds(&self, bytes: &[u8]) -> bool {
        self.0.lock().unwrap().iter().any(|body| body.windows(bytes.len()).any(|window| window == bytes))
    }
}

#[tokio::test]
async fn spans_of_requests_and_of_the_work_for_them_reach_the_collector() {
    let (collector, base) = Collector::start().await;
    let host = ImageHost::start().await;
    let args = vec!["--otlp-endpoint".to_owned(), base];
    let mut server = Server::with(Options { args, ..Options::default() }).await;
    let mut car = plain_car("traced", "TRC001");
    car["image_urls"] = json!([host.url("1.jpg")]);
    let trace = [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36];
    let answer = reqwest::Client::new()
        .post(format!("{}/v4/car", server.client.base))
        .header("x-auth-token", server.client.token.as_deref().unwrap())
        .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        .body(car.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
    let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    server.client.published("traced").await;
    // What was not sent yet is sent at the end.
    assert_eq!(server.stop().await.code(), Some(0));
    for text in ["POST /v4/car", "ad-server", "work", "publish primary", "publish secondary", "fetch image", &id] {
        assert!(collector.holds(text.as_bytes()), "{text} did not arrive");
    }
    assert!(collector.holds(&trace), "the caller's trace goes on");
    for text in ["service.instance.id", "service.version"] {
        assert!(collector.holds(text.as_bytes()), "{text} did not arrive");
    }
    // Protocol buffers: the attribute is a number (field 3 of its value), and not a text.
    assert!(collector.holds(b"http.response.status_code\x12\x03\x18\xc9\x01"), "201 as a number");
    // A trace and a span: the fields of the span of the request, and of the link to it.
    assert!(
        collector.holds_link(&[&[0x0a, 0x10][..], &trace, &[0x12, 0x08]].concat()),
        "the work has a link to the request"
    );
}

#[tokio::test]
async fn a_collector_that_is_gone_is_told_in_the_log_and_holds_nothing_up() {
    let gone = format!("http://127.0.0.1:{}", ports::lasting());
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", gone), ("OTEL_BSP_SCHEDULE_DELAY", "100".to_owned())];
    let env = env.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let mut server = Server::with(Options { env, ..Options::default() }).await;
    server.client.post("/v4/car", &plain_car("untraced", "TRC002")).await.expect(201);
    server.client.published("untraced").await;
    eventually("the log says that traces could not be sent", || async {
        server.said().into_iter().find(|line| line.contains("BatchSpanProcessor") && !line.contains(" INFO "))
    })
    .await;
    assert_eq!(server.stop().await.code(), Some(0));
}
