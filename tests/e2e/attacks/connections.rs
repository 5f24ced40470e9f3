//! Connections that are silent, too many, or whose client does not read.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use ad_tests::{Bystander, Client, Server, eventually};
use poem::http::Request;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use super::{address, assert_undisturbed, options, other_dealer};
use crate::{payloads::plain_car, slow_clients::rest};

/// Connections of one address that say nothing.
async fn silent(server: &Server, from: [u8; 4], count: usize) -> Vec<TcpStream> {
    let mut sockets = Vec::new();
    for _ in 0..count {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::from(from), 0).into()).unwrap();
        sockets.push(socket.connect(address(server)).await.unwrap());
    }
    sockets
}

#[tokio::test]
async fn silent_connections_of_one_address_keep_nobody_out() {
    let server = Server::with(options(&["--max-connections", "60"])).await;
    let other = other_dealer(&server).await;
    let _sockets = silent(&server, [127, 0, 0, 1], 60).await;
    let bystander = Bystander::start(&other, "silent");
    // The same address gets to know how the service is, and nothing else.
    let attacker = server.client.anew();
    let begun = Instant::now();
    attacker.get("/healthz").await.expect(200);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let refused = attacker.anew().get("/v4/ad").await;
    assert!(refused.header("retry-after").is_some() && refused.header("connection") == Some("close"));
    let detail = "Your address has as many connections as connections_per_address allows (15). Use the ones that are open, \
                  or close some and try again.";
    assert_eq!(refused.expect(429), json!({"detail": detail}));
    sleep(Duration::from_secs(1)).await;
    assert_undisturbed("60 silent connections of one address", &bystander.stop().await, Duration::from_secs(2));
    eventually("the operator is told", || async {
        server.said().iter().any(|line| line.contains("connections_per_address=15")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn when_every_connection_is_used_health_is_still_answered() {
    let server = Server::with(options(&["--max-connections", "4", "--connections-per-address", "4"])).await;
    let other = other_dealer(&server).await;
    let sockets = silent(&server, [127, 0, 0, 1], 4).await;
    for path in ["/healthz", "/readyz", "/healthz/"] {
        other.anew().get(path).await.expect(200);
    }
    assert_eq!(other.anew().get("/metrics").await.status, 200);
    let refused = other.anew().get("/v4/ad").await;
    let detail = "The server has as many connections as max_connections allows (4). Try again in a moment, and close \
                  connections that you do not use.";
    assert_eq!(refused.expect(503), json!({"detail": detail}));
    // What is beyond the limit is silent for a few seconds at most, and keeps nobody from asking.
    let _more = silent(&server, [127, 0, 0, 3], 100).await;
    other.anew().get("/healthz").await.expect(200);
    drop(sockets);
    eventually("connections are free again", || async {
        (other.anew().get("/v4/ad").await.status == 200).then_some(())
    })
    .await;
}

/// Ads whose list is much more than the operating system buffers.
async fn large_list(client: &Client) {
    for number in 0..38 {
        let mut car = plain_car(&format!("large-{number}"), &format!("LRG{number:03}"));
        car["body"] = json!("a".repeat(199_000));
        client.post("/v4/car", &car).await.expect(201);
    }
}

#[tokio::test]
async fn a_client_that_reads_a_few_bytes_a_second_is_cut_off() {
    let server = Server::with(options(&["--idle-timeout", "1s"])).await;
    large_list(&server.client).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8192).unwrap();
    let mut socket = socket.connect(address(&server)).await.unwrap();
    let token = server.client.token.as_deref().unwrap();
    let request = format!("GET /v4/ad HTTP/1.1\r\nHost: test\r\nX-Auth-Token: {token}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 15];
    socket.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200 OK");
    let begun = Instant::now();
    // Each read makes room for a little, which used to be reason enough to wait for another second.
    let mut buffer = vec![0; 1024];
    while begun.elapsed() < Duration::from_secs(4) {
        drop(timeout(Duration::from_secs(1), socket.read(&mut buffer)).await);
        sleep(Duration::from_millis(200)).await;
    }
    let length = rest(&mut socket).await.len();
    assert!(length < 7_000_000, "it was sent whole: {length} bytes more");
}

#[tokio::test]
async fn a_stream_that_is_left_unread_ends_a_connection_that_is_otherwise_alive() {
    let server = Server::with(options(&["--idle-timeout", "1s"])).await;
    let socket = TcpStream::connect(address(&server)).await.unwrap();
    let (mut client, mut connection) =
        h2::client::Builder::new().initial_window_size(1024).handshake::<_, bytes::Bytes>(socket).await.unwrap();
    let mut pings = connection.ping_pong().unwrap();
    let ended = tokio::spawn(connection);
    let request = Request::get("http://test/docs/assets/redoc.js").body(()).unwrap();
    let response = client.send_request(request, true).unwrap().0.await.unwrap();
    assert_eq!(response.status(), 200);
    // It answers and is answered, but takes nothing.
    let pinging = tokio::spawn(async move { while pings.ping(h2::Ping::opaque()).await.is_ok() {} });
    let ended = timeout(Duration::from_secs(8), ended).await.expect("a stream that nobody reads is held for ever");
    println!("the connection ended: {ended:?}");
    pinging.await.unwrap();
    drop(response);
}
