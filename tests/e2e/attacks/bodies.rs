//! Bodies that are large, many, hostile to a parser, or never come whole; and requests in great numbers.

use std::time::{Duration, Instant};

use ad_tests::{Bystander, Server};
use bytes::Bytes;
use h2::client::SendRequest;
use poem::http::{Request, StatusCode};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{address, assert_undisturbed, options, other_dealer};
use crate::{
    payloads::plain_car,
    slow_clients::{connect, head_of_post, rest},
};

const MIB: usize = 1024 * 1024;

/// A body of 1 MiB, of which as much as is accepted needs much more once it is parsed.
fn hostile(item: &str) -> Bytes {
    let (start, end) = ("{\"source_id\":\"h\",\"category_id\":1020,\"category_fields\":{\"equipments\":[", "0]}}");
    let items = item.repeat(24_000);
    let text = "x".repeat(MIB - start.len() - items.len() - end.len() - 3);
    Bytes::from(format!("{start}{items}\"{text}\",{end}"))
}

/// Sends a body on a stream of its own, its last byte a while later; returns what was answered.
async fn upload(client: SendRequest<Bytes>, token: String, mut body: Bytes) -> Result<StatusCode, h2::Error> {
    let mut client = client.ready().await?;
    let request = Request::post("http://test/v4/car").header("x-auth-token", token).body(()).unwrap();
    let (response, mut stream) = client.send_request(request, false)?;
    let last = body.split_off(body.len() - 1);
    let sending = async {
        while !body.is_empty() {
            stream.reserve_capacity(body.len().min(16 * 1024));
            let Some(capacity) = std::future::poll_fn(|context| stream.poll_capacity(context)).await else { break };
            stream.send_data(body.split_to(capacity?.min(body.len())), false)?;
        }
        sleep(Duration::from_millis(500)).await;
        stream.send_data(last, true)
    };
    // It may be answered before it is sent whole.
    let (_, response) = tokio::join!(sending, response);
    Ok(response?.status())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_in_flight_have_a_budget() {
    let server = Server::with(options(&["--request-timeout", "4s"])).await;
    let other = other_dealer(&server).await;
    let token = server.client.token.clone().unwrap();
    Bystander::work_for(&other, "before", Duration::from_millis(300)).await;
    let before = server.memory();
    let bystander = Bystander::start(&other, "bodies");
    let (mut uploads, mut connections) = (JoinSet::new(), JoinSet::new());
    for item in ["[],", "[0],", "{\"\":0},", "\"\",", "0,"] {
        let socket = TcpStream::connect(address(&server)).await.unwrap();
        let (client, connection) =
            h2::client::Builder::new().initial_max_send_streams(16).handshake(socket).await.unwrap();
        connections.spawn(connection);
        let body = hostile(item);
        for _ in 0..100 {
            uploads.spawn(upload(client.clone(), token.clone(), body.clone()));
        }
    }
    let (begun, mut most, mut answers) = (Instant::now(), before, std::collections::BTreeMap::<_, u32>::new());
    while begun.elapsed() < Duration::from_secs(8) {
        most = most.max(server.memory());
        while let Some(answer) = uploads.try_join_next() {
            let answer = answer.unwrap().map_or_else(|error| error.to_string(), |status| status.as_u16().to_string());
            *answers.entry(answer).or_default() += 1;
        }
        sleep(Duration::from_millis(20)).await;
    }
    let grown = most.saturating_sub(before) / MIB as u64;
    let seen = bystander.stop().await;
    println!("5 × 100 bodies of 1 MiB: {grown} MiB more; {answers:?}");
    assert!(grown < 250, "{grown} MiB");
    assert!(answers.contains_key("400"), "what there is memory for is processed: {answers:?}");
    assert_undisturbed("5 × 100 bodies of 1 MiB", &seen, Duration::from_secs(3));
}

#[tokio::test]
async fn a_body_for_which_there_is_no_memory_is_refused_and_another_dealers_is_not() {
    let server = Server::with(options(&["--body-memory", "1MiB", "--request-timeout", "1s"])).await;
    let other = other_dealer(&server).await;
    let body = plain_car("waiting", "WAI001").to_string();
    let large = " ".repeat(220 * 1024);
    let mut holding = connect(&server).await;
    holding.write_all(head_of_post(&server, &large).as_bytes()).await.unwrap();
    holding.write_all(&large.as_bytes()[..100]).await.unwrap();
    // Whichever comes first holds what the other waits for.
    let mut waiting = connect(&server).await;
    waiting.write_all(head_of_post(&server, &large).as_bytes()).await.unwrap();
    let bystander = Bystander::start(&other, "memory");
    let answers = [rest(&mut holding).await, rest(&mut waiting).await];
    let refused = answers.iter().find(|answer| answer.starts_with("HTTP/1.1 503 ")).unwrap();
    assert!(refused.contains("\r\nretry-after: ") && refused.contains("body_memory (1024 KiB)"), "{refused}");
    assert!(answers.iter().any(|answer| answer.starts_with("HTTP/1.1 408 ")), "{answers:?}");
    assert_undisturbed("memory for bodies is used up", &bystander.stop().await, Duration::from_millis(900));
    server.client.send(reqwest::Method::POST, "/v4/car", Some(body.into_bytes())).await.expect(201);
}

#[tokio::test]
async fn a_body_that_trickles_is_refused_long_before_its_time_is_over() {
    let server = Server::with(options(&["--request-timeout", "60s"])).await;
    let mut socket = connect(&server).await;
    let body = plain_car("trickle", "TRI001").to_string();
    socket.write_all(head_of_post(&server, &body).as_bytes()).await.unwrap();
    let (begun, mut answer) = (Instant::now(), String::new());
    for byte in body.bytes().cycle() {
        if socket.write_all(&[byte]).await.is_err() || begun.elapsed() > Duration::from_secs(15) {
            break;
        }
        if let Ok(end) = timeout(Duration::from_millis(500), rest(&mut socket)).await {
            answer = end;
            break;
        }
    }
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("at least 16384 a second are expected after the first 5 s"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_requests_of_one_dealer_keep_nobody_waiting() {
    let server = Server::with(options(&["--connections-per-address", "400"])).await;
    let other = other_dealer(&server).await;
    let quiet = Bystander::work_for(&other, "quiet", Duration::from_secs(1)).await;
    println!("quiet: {quiet}");
    let mut flood = JoinSet::new();
    for number in 0..200 {
        let client = server.client.clone();
        flood.spawn(async move {
            for round in 0.. {
                let id = format!("flood-{number}-{round}");
                let mut car = plain_car(&id, "FLO001");
                car["category_fields"] = json!({"vin": format!("FLOOD{number:04}{round:08}"), "model_year": 2020});
                let answer = client.post("/v4/car", &car).await;
                assert_eq!(answer.status, 201, "nobody is refused: {}", answer.json());
            }
        });
    }
    let seen = Bystander::work_for(&other, "flooded", Duration::from_secs(4)).await;
    let died = flood.try_join_next();
    assert!(died.is_none(), "{died:?}");
    assert_undisturbed("200 requests of one dealer in flight", &seen, Duration::from_secs(3));
}
