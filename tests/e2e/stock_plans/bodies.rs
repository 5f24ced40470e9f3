//! Bodies that are no stock change nothing, and say where they are broken.

use std::{io::Write as _, time::Duration};

use ad_tests::{Client, Options, Server, eventually};
use flate2::{Compression, write::GzEncoder};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{PLANS, boat, counts, lines, planned};

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn in_gzip(client: &Client, body: Vec<u8>) -> ad_tests::Answer {
    let headers = [("content-encoding", "gzip".to_owned()), ("prefer", "wait=30".to_owned())];
    client.send_with(Method::POST, PLANS, &headers, Some(body)).await
}

/// A connection on which the head of a stock was sent.
pub(super) async fn upload(client: &Client, query: &str, length: &str) -> TcpStream {
    let address = client.base.trim_start_matches("http://");
    let mut connection = TcpStream::connect(address).await.unwrap();
    let token = client.token.as_deref().unwrap();
    let head = format!("POST {PLANS}{query} HTTP/1.1\r\nHost: {address}\r\nX-Auth-Token: {token}\r\n{length}\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    connection
}

/// The newest plan, once it is not computed any more, and is another one than before.
pub(super) async fn newest(client: &Client, before: &Value) -> Value {
    eventually("end of the newest plan", async || {
        let plan = latest(client).await;
        (plan["id"] != before["id"] && plan["state"] != "computing").then_some(plan)
    })
    .await
}

/// The newest plan; null if there is none.
pub(super) async fn latest(client: &Client) -> Value {
    client.get(&format!("{PLANS}?limit=1")).await.expect(200)["results"][0].clone()
}

#[tokio::test]
async fn a_body_that_is_no_stock_refuses_the_plan_and_says_where() {
    let server = Server::start().await;
    let client = &server.client;
    let (one, two) = (boat("b1", "Text"), boat("b2", "Text"));
    let both = lines(&[one.clone(), two.clone()]);
    let line = |text: &str| [&both[..], text.as_bytes()].concat();
    let large = format!("{{\"source_id\": \"b3\", \"body\": \"{}\"}}\n", "x".repeat(2_000_000));
    let invalid = json!({"source_id": "b3", "category_id": 1060});
    for (body, status, code, place) in [
        (Vec::new(), 400, "empty_stock", None),
        (b"\n\n[]"[..2].to_vec(), 400, "empty_stock", None),
        (b"[]".to_vec(), 400, "empty_stock", None),
        (lines(&[invalid]), 400, "no_valid_ad", None),
        (line("{\"source_id\": \"b3\""), 400, "incomplete_body", Some(3)),
        (line("{\"source_id\": }\n{}\n"), 400, "not_json", Some(3)),
        (line(&one.to_string()), 400, "duplicate_item", Some(3)),
        (line(&large), 413, "too_large", Some(3)),
        (both[..both.len() - 20].to_vec(), 400, "incomplete_body", Some(2)),
    ] {
        let plan = planned(client, "?missing=delete", body).await.expect(status);
        let error = &plan["errors"][0];
        assert_eq!(
            (&plan["state"], &error["code"], &error["line"]),
            (&json!("refused"), &json!(code), &json!(place)),
            "{plan}"
        );
        assert!(error["detail"].as_str().unwrap().ends_with('.'), "{error}");
        let path = super::path_of(&plan);
        assert_eq!(client.get(&path).await.expect(200), plan);
        client.post(&format!("{path}/apply"), &Value::Null).await.expect(409);
    }
    // None of them counts as unfinished, and no ad was made.
    assert_eq!(planned(client, "", both).await.expect(200)["state"], "ready");
    assert_eq!(client.get("/v4/ad").await.expect(200)["count"], 0);
}

#[tokio::test]
async fn gzip_is_unpacked_and_one_that_ends_early_is_refused() {
    let server = Server::start().await;
    let client = &server.client;
    let stock: Vec<_> = (0..300).map(|n| boat(&format!("b{n}"), "Text")).collect();
    let packed = gzip(&lines(&stock));
    let plan = in_gzip(client, packed.clone()).await.expect(200);
    assert_eq!(counts(&plan), json!({"create": 300}));
    let refused = in_gzip(client, packed[..packed.len() / 2].to_vec()).await.expect(400);
    assert_eq!((&refused["state"], &refused["errors"][0]["code"]), (&json!("refused"), &json!("incomplete_body")));
    let headers = [("content-encoding", "br".to_owned())];
    client.send_with(Method::POST, PLANS, &headers, Some(packed)).await.expect(415);
}

#[tokio::test]
async fn a_connection_that_ends_early_refuses_the_plan_at_once() {
    let server = Server::start().await;
    let client = &server.client;
    let stock: Vec<_> = (0..500).map(|n| boat(&format!("b{n}"), "Text")).collect();
    let stock = lines(&stock);
    for length in [format!("Content-Length: {}", stock.len()), "Transfer-Encoding: chunked".to_owned()] {
        let before = latest(client).await;
        let mut connection = upload(client, "?missing=delete", &length).await;
        if length.starts_with("Transfer") {
            connection.write_all(format!("{:x}\r\n", stock.len()).as_bytes()).await.unwrap();
        }
        // Cut between two lines, where what has come looks whole.
        let half = stock[..stock.len() / 2].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        connection.write_all(&stock[..half]).await.unwrap();
        connection.shutdown().await.unwrap();
        let mut answer = Vec::new();
        drop(connection.read_to_end(&mut answer).await);
        let plan = newest(client, &before).await;
        assert_eq!(
            (&plan["state"], &plan["errors"][0]["code"]),
            (&json!("refused"), &json!("incomplete_body")),
            "{length}: {plan}"
        );
    }
}

#[tokio::test]
async fn a_stock_beyond_the_settings_is_refused_and_a_hundred_thousand_errors_are_counted() {
    let args = ["--stock-ads", "2000", "--stock-bytes", "1MiB"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let wrong = |n: usize| json!({"source_id": format!("b{n}"), "category_id": 1060, "title": 7});
    let stock: Vec<_> = (0..2000).map(wrong).collect();
    let plan = planned(client, "", lines(stock.iter().chain([&boat("one", "Text")]))).await.expect(400);
    assert_eq!((&plan["errors"][0]["code"], &plan["errors"][0]["line"]), (&json!("too_many"), &json!(2001)));
    let bytes =
        planned(client, "", lines(&[boat("one", &"x".repeat(800_000)), boat("two", &"x".repeat(800_000))])).await;
    assert_eq!(bytes.expect(413)["errors"][0]["code"], "too_large");

    let answer = planned(client, "", lines(stock[1..].iter().chain([&boat("one", "Text")]))).await;
    assert!(answer.bytes.len() < 10_000, "{} bytes", answer.bytes.len());
    let plan = answer.expect(200);
    assert_eq!(counts(&plan), json!({"create": 1, "invalid": 1999}));
    let of_title = plan["errors"].as_array().unwrap().iter().find(|error| error["pointer"] == "/title").unwrap();
    assert_eq!((&of_title["count"], &of_title["line"]), (&json!(1999), &json!(1)));
}

#[tokio::test]
async fn a_body_that_takes_longer_than_other_requests_may_is_read() {
    let args = ["--request-timeout", "1s", "--longest-wait", "1s"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let stock = lines(&(0..20).map(|n| boat(&format!("b{n}"), "Text")).collect::<Vec<_>>());
    let length = format!("Content-Length: {}\r\nConnection: close", stock.len());
    let mut connection = upload(client, "", &length).await;
    // Other requests must be answered within three seconds of their first byte.
    for piece in stock.chunks(stock.len() / 5 + 1) {
        tokio::time::sleep(Duration::from_millis(800)).await;
        connection.write_all(piece).await.unwrap();
    }
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    assert_eq!(counts(&newest(client, &Value::Null).await), json!({"create": 20}));
}
