//! One process in operation: its end, how much a dealer may ask, and what its operator is told.

use ad_tests::{Client, ImageHost, Options, Server, eventually};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::{
    payloads::plain_car,
    slow_clients::{connect, head_of_post, rest},
};

fn options(args: &[&str]) -> Options {
    Options { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() }
}

/// Waits until a request beside the one that asks for this is being answered.
async fn under_way(server: &Server) {
    eventually("the request has come", || async {
        let text = scrape(&server.client.base).await;
        text.lines().any(|line| line == "ad_http_requests_under_way 2").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_upload_under_way_gets_its_answer_when_the_server_is_told_to_stop() {
    let mut server = Server::start().await;
    let body = plain_car("late", "LAT001").to_string();
    let mut socket = connect(&server).await;
    socket.write_all(head_of_post(&server, &body).as_bytes()).await.unwrap();
    socket.write_all(&body.as_bytes()[..10]).await.unwrap();
    under_way(&server).await;
    server.signal("TERM").await;
    eventually("nobody else gets in", || async {
        server.client.try_send(reqwest::Method::GET, "/healthz", None).await.is_err().then_some(())
    })
    .await;
    socket.write_all(&body.as_bytes()[10..]).await.unwrap();
    let answer = rest(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert_eq!(server.ended().await.code(), Some(0));
    server.restart().await;
    server.client.published("late").await;
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let mut server = Server::start().await;
    let mut socket = connect(&server).await;
    socket.write_all(head_of_post(&server, "a body that never comes").as_bytes()).await.unwrap();
    under_way(&server).await;
    server.signal("TERM").await;
    eventually("it is stopping", || async { server.said().iter().find(|line| line.contains("stopping")).cloned() })
        .await;
    server.signal("TERM").await;
    assert_eq!(server.ended().await.code(), Some(1));
    eventually("it says why", || async {
        server.said().iter().find(|line| line.contains("second stop signal")).cloned()
    })
    .await;
}

#[tokio::test]
async fn a_dealer_that_asks_too_often_is_told_when_to_come_back_whatever_its_token() {
    let server = Server::with(options(&["--rate-limit", "6/m burst 3"])).await;
    let same = server.client_of(&["--dealer-code", "north-cars"]).await;
    for client in [&server.client, &same, &server.client] {
        client.get("/v4/ad").await.expect(200);
    }
    let refused = server.client.get("/v4/ad").await;
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    let detail = format!(
        "Too many requests: rate_limit allows 6/m burst 3 with all tokens of a dealer together. Try again in {seconds} s."
    );
    assert_eq!(refused.expect(429), json!({"detail": detail}));
    // Nothing of it was done, and others go on.
    same.post("/v4/car", &plain_car("c", "RAT001")).await.expect(429);
    let other = server.client_of(&["--dealer-group", "north"]).await;
    assert_eq!(other.get("/v4/ad").await.expect(200)["count"], 0);
    server.client.with_token(None).get("/healthz").await.expect(200);
}

/// Whether the server has said this.
fn says(server: &Server, text: &str) -> bool {
    server.said().iter().any(|line| line.contains(text))
}

#[tokio::test]
async fn risky_settings_are_pointed_out_at_start() {
    let risks = ["public_url is not set", "served without TLS beyond this machine", "allow_private_images is on"];
    let server = Server::start().await;
    eventually("it warns", || async { says(&server, risks[2]).then_some(()) }).await;
    assert!(!says(&server, risks[0]) && !says(&server, risks[1]), "only this machine reaches it");

    let public = Server::with(options(&["--listen", "0.0.0.0:0"])).await;
    for risk in risks {
        eventually(risk, || async { says(&public, risk).then_some(()) }).await;
    }
    // Metrics are for this machine alone unless more is asked for.
    eventually("it says where metrics are", || async { says(&public, "metrics are not served").then_some(()) }).await;
    public.client.get("/metrics").await.expect(404);

    let args = ["--listen", "0.0.0.0:0", "--public-url", "https://ads.example.com", "--trusted-proxies", "10.0.0.0/8"];
    let careful = Server::with(Options { strict_images: true, ..options(&args) }).await;
    eventually("it says where metrics are", || async { says(&careful, "metrics are not served").then_some(()) }).await;
    careful.client.get("/healthz").await.expect(200);
    for risk in risks {
        assert!(!says(&careful, risk), "{risk}");
    }
}

#[tokio::test]
async fn links_begin_as_a_trusted_proxy_says_and_as_nobody_else_does() {
    let server = Server::with(options(&["--trusted-proxies", "127.0.0.3,10.0.0.0/8"])).await;
    for id in ["a", "b"] {
        server.client.post("/v4/car", &plain_car(id, &format!("PRX00{id}"))).await.expect(201);
    }
    let next = async |from: [u8; 4], headers: &[(&str, &str)]| {
        let client = ad_tests::http_client().local_address(std::net::IpAddr::from(from)).build().unwrap();
        let mut request = client.get(format!("{}/v4/ad?limit=1", server.client.base));
        request = request.header("x-auth-token", server.client.token.as_deref().unwrap());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer: Value = serde_json::from_slice(&request.send().await.unwrap().bytes().await.unwrap()).unwrap();
        answer["next"].as_str().unwrap().to_owned()
    };
    let own = format!("{}/v4/ad?", server.client.base);
    let both = [("x-forwarded-proto", "https"), ("x-forwarded-host", "ads.example.com")];
    assert!(next([127, 0, 0, 3], &both).await.starts_with("https://ads.example.com/v4/ad?"));
    assert!(next([127, 0, 0, 2], &both).await.starts_with(&own), "nobody else");
    // What the client itself had sent stands before what the proxy has added.
    let added = [("x-forwarded-proto", "http, https"), ("x-forwarded-host", "evil.example, ads.example.com")];
    assert!(next([127, 0, 0, 3], &added).await.starts_with("https://ads.example.com/v4/ad?"));
    let wrong = [("x-forwarded-proto", "javascript"), ("x-forwarded-host", "evil.example/?")];
    assert!(next([127, 0, 0, 3], &wrong).await.starts_with(&own));
}

/// The samples of a metric with their values.
fn samples(text: &str, name: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect()
}

async fn scrape(base: &str) -> String {
    let answer = Client::new(base, None).get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    String::from_utf8(answer.bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn what_a_process_did_is_counted_by_path_template() {
    let host = ImageHost::start().await;
    let server = Server::start().await;
    let mut car = plain_car("m 1", "MET001");
    car["image_urls"] = json!([host.url("1.jpg"), host.url("page.jpg")]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("m%201").await;
    server.client.delete("/v4/car/none").await.expect(404);
    server.client.get("/no/such/path").await.expect(404);
    let text = scrape(&server.client.base).await;
    for sample in [
        "ad_http_requests_total{method=\"POST\",path=\"/v4/car\",status=\"201\"} 1",
        "ad_http_requests_total{method=\"DELETE\",path=\"/v4/car/{source_id}\",status=\"404\"} 1",
        "ad_http_requests_total{method=\"GET\",path=\"unknown\",status=\"404\"} 1",
        "ad_http_request_duration_seconds_count{method=\"POST\",path=\"/v4/car\"} 1",
        "ad_marketplace_calls_total{marketplace=\"primary\",action=\"publish\",outcome=\"done\"} 1",
        "ad_marketplace_calls_total{marketplace=\"secondary\",action=\"publish\",outcome=\"done\"} 1",
        "ad_marketplace_call_duration_seconds_count{marketplace=\"primary\",action=\"publish\"} 1",
        "ad_image_fetches_total{outcome=\"done\"} 1",
        "ad_image_fetches_total{outcome=\"unusable\"} 1",
        "ad_store_up 1.0",
        "ad_queue_depth 0.0",
    ] {
        assert!(text.lines().any(|line| line == sample), "{sample} is not in\n{text}");
    }
    assert!(!text.contains("none") && !text.contains("m%201"), "no path as it was sent");
    assert_eq!(
        samples(&text, "ad_build_info"),
        [format!("ad_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"))]
    );
}

#[tokio::test]
async fn metrics_on_an_address_of_their_own_are_not_on_the_apis() {
    let server = Server::with(options(&["--metrics-listen", "127.0.0.1:0"])).await;
    server.client.get("/metrics").await.expect(404);
    let base = eventually("it says where", || async {
        let lines = server.said();
        let line = lines.iter().find_map(|line| line.split_once("metrics at "))?.1;
        line.strip_suffix("/metrics").map(str::to_owned)
    })
    .await;
    let text = scrape(&base).await;
    assert!(text.contains("path=\"unknown\",status=\"404\"} 1"), "{text}");
    let own = Client::new(base, None);
    assert_eq!(own.get("/healthz").await.expect(200), json!({"status": "ok"}));
    assert!(own.get("/v4/ad").await.expect(404)["detail"].is_string());
}

#[tokio::test]
async fn json_logs_carry_the_id_of_the_request_from_the_api_to_the_worker() {
    let args = ["--log-format", "json"];
    let env = vec![("RUST_LOG".to_owned(), "info,ad_server=debug".to_owned())];
    let server = Server::with(Options { env, ..options(&args) }).await;
    let answer = server.client.post("/v4/car", &plain_car("log", "LOG001")).await;
    answer.expect(201);
    let id = answer.header("x-request-id").unwrap();
    server.client.published("log").await;
    let logged = eventually("access line and worker's line", || async {
        let lines = server.said();
        let lines = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
        let of_request: Vec<_> = lines.filter(|line| line["span"]["request_id"] == id).collect();
        let of = |target: &str| of_request.iter().find(|line| line["target"] == target).cloned();
        of("ad_server::access").zip(of("ad_server_work::worker"))
    })
    .await;
    let access = logged.0;
    assert_eq!(
        (&access["method"], &access["path"], &access["status"], &access["level"]),
        (&json!("POST"), &json!("/v4/car"), &json!(201), &json!("DEBUG"))
    );
}
