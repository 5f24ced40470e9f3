//! Refusals that arrive: before the body has been read, and of requests that the HTTP library cannot read.

mod programs;

use std::{sync::Arc, time::Duration};

use ad_tests::{Options, Server};
use bytes::Bytes;
use poem::http::{Request, StatusCode};
use reqwest::Method;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    slow_clients::{connect, impatient, rest},
    tls::{FIRST, with_tls},
};

/// A request that is refused before its body is read, and the status.
const REFUSED: [(&str, &str, bool, &str); 4] = [
    ("POST", "/v4/car", false, "401"),
    ("POST", "/v4/cars", true, "404"),
    ("PUT", "/v4/car", true, "405"),
    ("POST", "/v4/car?colour=red", true, "400"),
];

/// How much of a body is sent at a time, how often, and the pause in between.
const PACES: [(usize, u32, Duration); 3] = [
    (1024, 20, Duration::from_millis(2)),
    (8 * 1024, 12, Duration::from_millis(5)),
    (64 * 1024, 14, Duration::from_millis(10)),
];

async fn over_tls(server: &Server) -> TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(FIRST.0.as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, connect(server).await).await.unwrap()
}

/// Sends all of a body in pieces, as programs do that do not look for an answer before the end, and reads the answer then.
async fn answer_to<Io: AsyncRead + AsyncWrite + Unpin>(
    mut socket: Io,
    head: String,
    (piece, count, pause): (usize, u32, Duration),
) -> std::io::Result<String> {
    socket.write_all(head.as_bytes()).await?;
    for _ in 0..count {
        socket.write_all(format!("{piece:x}\r\n{}\r\n", " ".repeat(piece)).as_bytes()).await?;
        socket.flush().await?;
        sleep(pause).await;
    }
    socket.write_all(b"0\r\n\r\n").await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn head(server: &Server, method: &str, path: &str, has_token: bool) -> String {
    let token = if has_token { server.client.token.as_deref().unwrap() } else { "none" };
    format!("{method} {path} HTTP/1.1\r\nHost: test\r\nX-Auth-Token: {token}\r\nTransfer-Encoding: chunked\r\n\r\n")
}

async fn all_refusals_are_seen<Io: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    server: &Server,
    open: impl AsyncFn() -> Io,
) {
    let mut answers = JoinSet::new();
    for (sent, (method, path, has_token, status)) in REFUSED.into_iter().cycle().take(100).enumerate() {
        let (socket, head) = (open().await, head(server, method, path, has_token));
        answers.spawn(async move { (method, path, status, answer_to(socket, head, PACES[sent % PACES.len()]).await) });
    }
    while let Some(answered) = answers.join_next().await {
        let (method, path, status, answer) = answered.unwrap();
        let answer = answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {answer}");
        assert!(answer.contains("\r\nconnection: close\r\n") && answer.ends_with('}'), "{method} {path}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_still_sending_sees_its_refusal() {
    let server = Server::start().await;
    all_refusals_are_seen(&server, async || connect(&server).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_still_sending_over_tls_sees_its_refusal() {
    let server = with_tls(&[]).await;
    all_refusals_are_seen(&server, async || over_tls(&server).await).await;
}

#[tokio::test]
async fn a_client_of_http_2_sees_its_refusal() {
    let server = Server::start().await;
    let token = server.client.token.clone().unwrap();
    let (client, connection) = h2::client::handshake(connect(&server).await).await.unwrap();
    let _connection = tokio::spawn(connection);
    for (method, path, has_token, status) in REFUSED {
        let mut client = client.clone().ready().await.unwrap();
        let token = if has_token { token.as_str() } else { "none" };
        let request = Request::builder().method(method).uri(format!("http://test{path}")).header("x-auth-token", token);
        let (response, mut body) = client.send_request(request.body(()).unwrap(), false).unwrap();
        // Pieces are sent until the server asks to stop, which is no error (RFC 9113, 8.1).
        for _ in 0..20 {
            if body.send_data(Bytes::from_static(&[b' '; 1024]), false).is_err() {
                break;
            }
            sleep(Duration::from_millis(2)).await;
        }
        let mut response = response.await.unwrap();
        assert_eq!(response.status().as_str(), status, "{method} {path}");
        let mut detail = Vec::new();
        while let Some(data) = response.body_mut().data().await {
            detail.extend_from_slice(&data.unwrap());
        }
        assert!(serde_json::from_slice::<Value>(&detail).is_ok(), "{method} {path}");
    }
}

#[tokio::test]
async fn a_client_that_never_stops_sending_is_cut_off() {
    let server = impatient(&["--longest-wait", "100ms"]).await;
    let mut socket = connect(&server).await;
    socket.write_all(head(&server, "POST", "/v4/car", false).as_bytes()).await.unwrap();
    let (mut read, mut write) = socket.split();
    let endless = async {
        while write.write_all(b"1\r\n \r\n").await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    let mut answer = Vec::new();
    let ((), read) = tokio::join!(endless, read.read_to_end(&mut answer));
    read.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 401 "));
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_told_why() {
    let server = Server::start().await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", "a".repeat(70_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X-A: 1\r\n".repeat(101));
    for (request, status, cause) in [
        (&b"GET /v4/car/a b HTTP/1.1\r\nHost: test\r\n\r\n"[..], 400, "a space must be sent as %20"),
        (b"POST /v4/car/validate?x=a b HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}", 400, "%20"),
        (b"GET /v4/car/\xe5 HTTP/1.1\r\nHost: test\r\n\r\n", 400, "%C3%A5"),
        (b"GET /v4/car\r\nHost: test\r\n\r\n", 400, "METHOD /path HTTP/1.1"),
        (b"GET /healthz HTTP/1.1\r\nX-Auth-Token : secret\r\n\r\n", 400, "\"X-Auth-Token\", has a space"),
        (b"GET /healthz HTTP/1.1\r\nContent-Length: 1, 2\r\n\r\n", 400, "Content-Length"),
        (b"GET /healthz HTTP/1.1\r\nnothing\r\n\r\n", 400, "no colon"),
        (long.as_bytes(), 414, "at most 65534 bytes"),
        (many.as_bytes(), 431, "at most 100 headers"),
    ] {
        let mut socket = connect(&server).await;
        socket.write_all(request).await.unwrap();
        let answer = rest(&mut socket).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{cause}: {answer}"));
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{cause}: {head}");
        for header in ["x-request-id: ", "content-type: application/json", "connection: close", "date: "] {
            assert!(head.contains(&format!("\r\n{header}")), "{cause}: {head}");
        }
        let body: Value = serde_json::from_str(body).unwrap();
        let detail = body["detail"].as_str().unwrap();
        assert!(detail.contains(cause) && !detail.contains("secret"), "{detail}");
    }
    assert_eq!(server.client.get("/healthz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn too_many_headers_of_http_2_are_told_what_is_allowed() {
    let server = Server::start().await;
    let (client, connection) = h2::client::handshake(connect(&server).await).await.unwrap();
    let _connection = tokio::spawn(connection);
    for value in ["x".repeat(1000), "x".to_owned()] {
        let mut request = Request::get("http://test/healthz");
        for number in 0..(if value.len() > 1 { 80 } else { 101 }) {
            request = request.header(format!("x-{number}"), &value);
        }
        let (response, _) = client.clone().send_request(request.body(()).unwrap(), true).unwrap();
        let mut response = response.await.unwrap();
        assert_eq!(response.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        assert!(response.headers().contains_key("x-request-id"));
        let detail = response.body_mut().data().await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&detail).contains("at most 100 headers, and 64 KiB together"));
    }
}

#[tokio::test]
async fn a_request_behind_a_good_one_that_cannot_be_read_is_told_why_too() {
    let server = Server::with(Options::default()).await;
    let mut socket = connect(&server).await;
    socket
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\nGET /v4/car/a b HTTP/1.1\r\nHost: test\r\n\r\n")
        .await
        .unwrap();
    let answers = rest(&mut socket).await;
    assert!(answers.starts_with("HTTP/1.1 200 OK\r\n"), "{answers}");
    let (_, second) = answers.split_once("HTTP/1.1 400 ").unwrap_or_else(|| panic!("{answers}"));
    assert!(second.contains("\r\nx-request-id: ") && second.contains("{\"detail\":\""), "{answers}");
}

#[tokio::test]
async fn a_method_that_a_header_overrides_is_named_as_it_can_be_sent() {
    let server = Server::start().await;
    for (header, wanted, cure) in [
        (
            "X-HTTP-Method-Override",
            "PATCH",
            "The header x-http-method-override is not read: send PUT, which does the same as PATCH.",
        ),
        ("X-HTTP-Method", "delete", "The header x-http-method is not read: send DELETE itself."),
    ] {
        let headers = [(header, wanted.to_owned())];
        let refused = server.client.send_with(Method::POST, "/v4/car/1", &headers, None).await.expect(405);
        assert!(refused["detail"].as_str().unwrap().ends_with(cure), "{refused}");
    }
}
