//! Headers that need a server of their own, and answers that are compressed (extensions E1.2 and E3; docs/http.md).

use std::{io::Read, net::Ipv4Addr};

use ad_tests::{Answer, Options, Server};
use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::payloads::plain_car;

fn options(args: &[&str]) -> Options {
    Options { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() }
}

async fn ask(server: &Server, method: Method, path: &str, headers: &[(&'static str, &str)]) -> Answer {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    server.client.send_with(method, path, &headers, None).await
}

fn decompressed(answer: &Answer) -> Vec<u8> {
    let (mut bytes, compressed) = (Vec::new(), &*answer.bytes);
    match answer.header("content-encoding") {
        Some("gzip") => drop(GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap()),
        Some("br") => brotli::BrotliDecompress(&mut &*compressed, &mut bytes).unwrap(),
        Some("zstd") => bytes = zstd::decode_all(compressed).unwrap(),
        other => panic!("not compressed: {other:?}"),
    }
    bytes
}

#[tokio::test]
async fn what_is_compressed_is_the_same_when_it_is_decompressed() {
    // Without a worker, nothing changes between two reads.
    let server = Server::with(options(&["--workers", "0"])).await;
    for number in 0..60 {
        let mut car = plain_car(&format!("large-{number}"), &format!("LRG{number:03}"));
        car["body"] = json!("Välvårdad ".repeat(500));
        server.client.post("/v4/car", &car).await.expect(201);
    }
    // An ad, a list of half a megabyte, documents that are compressed once, and the counters, which change.
    for path in ["/v4/car/large-0?fields=body", "/v4/ad?limit=60", "/openapi.json", "/docs/swagger-ui/", "/metrics"] {
        let plain = ask(&server, Method::GET, path, &[]).await;
        assert_eq!((plain.status.as_u16(), plain.header("content-encoding")), (200, None), "{path}");
        for coding in ["gzip", "br", "zstd"] {
            let answer = ask(&server, Method::GET, path, &[("accept-encoding", coding)]).await;
            assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, Some(coding)), "{path}");
            assert_eq!(answer.header("content-length"), Some(&*answer.bytes.len().to_string()), "{path} {coding}");
            assert!(answer.bytes.len() * 2 < plain.bytes.len(), "{path} {coding}: {}", answer.bytes.len());
            if path != "/metrics" {
                assert!(decompressed(&answer) == plain.bytes, "{path} {coding}");
            }
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_told_with_every_answer_to_a_valid_token() {
    let server = Server::with(options(&["--rate-limit", "6/m burst 3"])).await;
    let told = |answer: &Answer| {
        let header = |name| answer.header(name).map(str::to_owned);
        (answer.status.as_u16(), header("ratelimit-policy"), header("ratelimit"))
    };
    let policy = Some("\"scope\";q=3;w=30".to_owned());
    let limit = |text: &str| Some(text.to_owned());
    let client = &server.client;
    assert_eq!(told(&client.with_token(None).get("/v4/ad").await), (401, None, None));
    assert_eq!(told(&client.get("/v4/ad").await), (200, policy.clone(), limit("\"scope\";r=2;t=10")));
    assert_eq!(told(&client.get("/v4/ad/none").await), (404, policy.clone(), limit("\"scope\";r=1;t=20")));
    let me = client.get("/v4/me").await;
    assert_eq!(told(&me), (200, policy.clone(), limit("\"scope\";r=0;t=30")));
    assert_eq!(me.json()["rate_limit"], json!({"requests": 6, "seconds": 60, "burst": 3}));
    let refused = client.get("/v4/vehicles/car/brand").await;
    assert_eq!(told(&refused), (429, policy, limit("\"scope\";r=0;t=10")));
    assert_eq!(refused.header("retry-after"), Some("10"));
}

#[tokio::test]
async fn pages_of_listed_origins_may_use_the_api_and_no_others() {
    const ORIGIN: &str = "https://shop.example.com";
    let server = Server::with(options(&["--cors-origins", "https://shop.example.com,http://localhost:5173"])).await;
    let asked = [("origin", ORIGIN), ("access-control-request-method", "POST")];
    let preflight = ask(&server, Method::OPTIONS, "/v4/car", &asked).await;
    assert_eq!(preflight.status, 204);
    let header = |name| preflight.header(name).unwrap_or_default();
    assert_eq!(header("access-control-allow-origin"), ORIGIN);
    assert_eq!(header("access-control-allow-methods"), "POST, GET, HEAD, OPTIONS");
    assert!(header("access-control-allow-headers").contains("X-Auth-Token"));
    assert_eq!((header("access-control-max-age"), header("vary")), ("7200", "Origin"));
    assert_eq!(preflight.header("access-control-allow-credentials"), None);

    for (path, origin, status, allowed) in [
        ("/v4/ad", ORIGIN, 200, true),
        ("/v4/ad/none", "http://localhost:5173", 404, true),
        ("/v4/ad", "https://shop.example.com:8443", 200, false),
        ("/v4/ad", "http://shop.example.com", 200, false),
        ("/v4/ad", "null", 200, false),
        ("/v4/ad", "\"><script>", 200, false),
    ] {
        let answer = ask(&server, Method::GET, path, &[("origin", origin)]).await;
        let permitted = answer.header("access-control-allow-origin");
        assert_eq!((answer.status.as_u16(), permitted), (status, allowed.then_some(origin)), "{path} {origin}");
        let exposed =
            answer.header("access-control-expose-headers").is_some_and(|names| names.contains("X-Request-Id"));
        assert_eq!(exposed, allowed);
        assert!(answer.headers.get_all("vary").iter().any(|name| name == "Origin"));
    }
    let unlisted = [("origin", "https://evil.example"), ("access-control-request-method", "POST")];
    let refused = ask(&server, Method::OPTIONS, "/v4/car", &unlisted).await;
    assert_eq!((refused.status.as_u16(), refused.header("access-control-allow-methods")), (204, None));
}

#[tokio::test]
async fn connections_beyond_a_limit_get_problem_details_too() {
    let server = Server::with(options(&["--max-connections", "4", "--connections-per-address", "4"])).await;
    let address = server.client.base.trim_start_matches("http://").parse().unwrap();
    let mut silent = Vec::new();
    for _ in 0..4 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into()).unwrap();
        silent.push(socket.connect(address).await.unwrap());
    }
    let preferred = [("accept", "application/problem+json".to_owned())];
    let refused = server.client.anew().send_with(Method::GET, "/v4/ad", &preferred, None).await;
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    let problem: Value = refused.expect(503);
    assert_eq!((&problem["code"], &problem["status"]), (&json!("unavailable"), &json!(503)));
    assert_eq!(problem["instance"], format!("urn:uuid:{}", refused.header("x-request-id").unwrap()));
    assert_eq!((refused.header("retry-after"), refused.header("connection")), (Some("5"), Some("close")));
}

#[tokio::test]
async fn a_token_tells_its_label_and_counts_the_ads_of_its_dealers() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("one", "MEE001")).await.expect(201);
    let args = ["--dealer-group", "north", "--label", "Stock system", "--permissions", "read", "--expires", "1d"];
    let group = server.client_of(&args).await;
    let me = group.get("/v4/me").await.expect(200);
    assert_eq!(me["token"]["label"], "Stock system");
    assert!(me["token"]["expires"].as_str() > me["token"]["issued"].as_str());
    let ads = |me: &Value| -> Vec<_> {
        let dealers = me["dealers"].as_array().unwrap().iter();
        dealers.map(|dealer| (dealer["code"].as_str().unwrap().to_owned(), dealer["ads"].as_u64().unwrap())).collect()
    };
    assert_eq!(ads(&me), [("coast-boats".to_owned(), 0), ("north-cars".to_owned(), 1)]);
    server.client.delete("/v4/car/one").await.expect(200);
    server.client.ended("one", "delete", None).await;
    assert_eq!(ads(&group.get("/v4/me").await.expect(200))[1].1, 0);
    let stranger = server.client_of(&["--dealer-code", "nobody"]).await;
    assert_eq!(ads(&stranger.get("/v4/me").await.expect(200)), [("nobody".to_owned(), 0)]);
}
