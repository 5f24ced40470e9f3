//! Clients that are too slow, on plain sockets: byte by byte, half a body, nothing at all.

use std::time::{Duration, Instant};

use ad_tests::{Options, Server};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::payloads::plain_car;

/// A server that has little patience.
pub(crate) async fn impatient(args: &[&str]) -> Server {
    let args = [&["--request-timeout", "300ms", "--idle-timeout", "2s"], args].concat();
    Server::with(Options { args: args.into_iter().map(str::to_owned).collect(), ..Options::default() }).await
}

pub(crate) async fn connect(server: &Server) -> TcpStream {
    let address = server.client.base.split_once("://").unwrap().1;
    TcpStream::connect(address).await.unwrap()
}

/// The head of a request that announces a body.
pub(crate) fn head_of_post(server: &Server, body: &str) -> String {
    let token = server.client.token.as_deref().unwrap();
    format!("POST /v4/car HTTP/1.1\r\nHost: test\r\nX-Auth-Token: {token}\r\nContent-Length: {}\r\n\r\n", body.len())
}

/// What comes until the server closes.
pub(crate) async fn rest(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset is an end too.
    drop(socket.read_to_end(&mut bytes).await);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn headers_byte_by_byte_are_cut_off() {
    let server = impatient(&[]).await;
    let mut socket = connect(&server).await;
    let begun = Instant::now();
    socket.write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ").await.unwrap();
    let (mut read, mut write) = socket.split();
    let mut buffer = [0; 1];
    let ended = loop {
        tokio::select! {
            ended = read.read(&mut buffer) => break ended,
            () = tokio::time::sleep(Duration::from_millis(20)) => drop(write.write_all(b"x").await),
        }
    };
    assert!(!matches!(ended, Ok(1..)), "nothing is answered to what is no request");
    assert!(begun.elapsed() >= Duration::from_millis(600), "not before its time: {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_body_that_does_not_come_is_a_408() {
    let server = impatient(&[]).await;
    let body = plain_car("slow", "SLW001").to_string();
    let mut socket = connect(&server).await;
    socket.write_all(head_of_post(&server, &body).as_bytes()).await.unwrap();
    socket.write_all(&body.as_bytes()[..20]).await.unwrap();
    let answer = rest(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
    assert!(answer.contains("\r\nx-request-id: ") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    assert!(answer.ends_with("{\"detail\":\"The body of the request did not come within 0.3 s.\"}"), "{answer}");
    assert_eq!(server.client.get("/v4/ad/slow").await.status, 404);
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let server = impatient(&[]).await;
    let mut fresh = connect(&server).await;
    assert_eq!(rest(&mut fresh).await, "");

    let mut used = connect(&server).await;
    used.write_all(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
    let begun = Instant::now();
    assert!(rest(&mut used).await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(begun.elapsed() >= Duration::from_secs(2), "between requests it has more time: {:?}", begun.elapsed());
}

#[tokio::test]
async fn headers_without_end_are_refused() {
    let server = Server::start().await;
    let mut socket = connect(&server).await;
    socket.write_all(b"GET /healthz HTTP/1.1\r\nHost: test\r\n").await.unwrap();
    for number in 0..200 {
        // It may be refused before the last one.
        drop(socket.write_all(format!("X-{number}: x\r\n").as_bytes()).await);
    }
    drop(socket.write_all(b"\r\n").await);
    let answer = rest(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}
