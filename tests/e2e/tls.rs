//! HTTPS by the server itself.

use std::{fs, path::Path};

use ad_tests::{Options, Server, eventually, run};
use reqwest::{Certificate, Client, Method, Version};
use serde_json::Value;

use crate::payloads::plain_car;

pub(crate) const FIRST: (&str, &str) =
    (include_str!("../data/tls/first.pem"), include_str!("../data/tls/first-key.pem"));
const SECOND: (&str, &str) = (include_str!("../data/tls/second.pem"), include_str!("../data/tls/second-key.pem"));

fn put(dir: &Path, (cert, key): (&str, &str)) {
    fs::write(dir.join("cert.pem"), cert).unwrap();
    fs::write(dir.join("key.pem"), key).unwrap();
}

/// A client that trusts this certificate and no other.
fn trusting(cert: &str) -> Client {
    let cert = Certificate::from_pem(cert.as_bytes()).unwrap();
    ad_tests::http_client().tls_certs_only([cert]).build().unwrap()
}

pub(crate) async fn with_tls(more: &[&str]) -> Server {
    let files = tempfile::tempdir().unwrap().keep();
    put(&files, FIRST);
    let path = |name: &str| files.join(name).display().to_string();
    let args = ["--tls-cert".to_owned(), path("cert.pem"), "--tls-key".to_owned(), path("key.pem")];
    let args = args.into_iter().chain(more.iter().map(|it| (*it).to_owned())).collect();
    Server::with(Options { args, ..Options::default() }).await
}

#[tokio::test]
async fn the_api_is_served_over_https() {
    let server = with_tls(&[]).await;
    let base = &server.client.base;
    assert!(base.starts_with("https://127.0.0.1:"), "{base}");
    let client = trusting(FIRST.0);
    let token = server.client.token.clone().unwrap();
    for id in ["a", "b"] {
        let body = plain_car(id, &format!("TLS00{id}")).to_string();
        let sent = client.request(Method::POST, format!("{base}/v4/car")).header("x-auth-token", &token).body(body);
        assert_eq!(sent.send().await.unwrap().status(), 201);
    }
    let sent = client.get(format!("{base}/v4/ad?limit=1")).header("x-auth-token", &token).send().await.unwrap();
    let version = sent.version();
    let page: Value = serde_json::from_slice(&sent.bytes().await.unwrap()).unwrap();
    let next = page["next"].as_str().unwrap();
    assert!(next.starts_with(&format!("{base}/v4/ad?")), "{version:?}: {next}");
    assert!(matches!(version, Version::HTTP_11 | Version::HTTP_2));
}

#[tokio::test]
async fn browsers_are_told_to_use_https_alone_unless_that_is_off() {
    let policy = async |server: &Server, path: &str| {
        let sent = trusting(FIRST.0).get(format!("{}{path}", server.client.base)).send().await.unwrap();
        sent.headers().get("strict-transport-security").map(|value| value.to_str().unwrap().to_owned())
    };
    let mut server = with_tls(&[]).await;
    for path in ["/", "/healthz", "/console/sign-in", "/v4/ad", "/no/such/path"] {
        assert_eq!(policy(&server, path).await.as_deref(), Some("max-age=31536000"), "{path}");
    }
    server.stop().await;
    let server = with_tls(&["--strict-transport-security=false"]).await;
    assert_eq!(policy(&server, "/console/sign-in").await, None);
    // Without TLS of its own, a proxy may serve other things by plain HTTP.
    let server =
        Server::with(Options { args: vec!["--trusted-proxies=127.0.0.1".to_owned()], ..Options::default() }).await;
    let proxied = [("x-forwarded-proto", "https".to_owned())];
    let answer = server.client.send_with(Method::GET, "/console/sign-in", &proxied, None).await;
    assert_eq!((answer.status.as_u16(), answer.header("strict-transport-security")), (200, None));
}

#[tokio::test]
async fn a_new_certificate_is_used_without_a_restart_and_a_bad_one_is_not() {
    let mut server = with_tls(&[]).await;
    let folder = server.dir().to_owned();
    put(&folder, FIRST);
    let args = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"].map(str::to_owned).to_vec();
    server.stop().await;
    server.restart_with(Options { args, ..Options::default() }).await;
    let health = format!("{}/healthz", server.client.base);
    // Each look is a new connection: one that is open keeps the certificate that it began with.
    let accepted = async |cert: &str| trusting(cert).get(&health).send().await.is_ok();
    // A connection that comes in the very moment in which the certificate is first put to use may be turned away.
    eventually("it serves", || async { accepted(FIRST.0).await.then_some(()) }).await;
    assert!(!accepted(SECOND.0).await);

    put(&folder, (SECOND.0, FIRST.1));
    server.signal("HUP").await;
    let complaint = eventually("it says that they do not match", || async {
        server.said().into_iter().find(|line| line.contains("keeping the previous one"))
    })
    .await;
    assert!(complaint.contains("key.pem: the key does not match the certificate in cert.pem"), "{complaint}");
    assert!(accepted(FIRST.0).await);

    put(&folder, SECOND);
    server.signal("HUP").await;
    eventually("the new one is used", || async { accepted(SECOND.0).await.then_some(()) }).await;
    assert!(!accepted(FIRST.0).await);
}

#[tokio::test]
async fn files_that_cannot_be_used_are_told_at_start() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), FIRST);
    fs::write(dir.path().join("other.pem"), SECOND.1).unwrap();
    fs::write(dir.path().join("empty.pem"), "").unwrap();
    fs::write(dir.path().join("broken.pem"), FIRST.0.replace("MII", "?!?")).unwrap();
    for (cert, key, says) in [
        ("missing.pem", "key.pem", "cannot read missing.pem: "),
        ("cert.pem", "missing.pem", "set the PEM file with --tls-key"),
        ("key.pem", "key.pem", "key.pem: contains no certificate"),
        ("cert.pem", "empty.pem", "empty.pem: contains no private key"),
        ("broken.pem", "key.pem", "broken.pem: not a PEM file"),
        ("cert.pem", "other.pem", "other.pem: the key does not match the certificate in cert.pem"),
    ] {
        let output = run(dir.path(), &["serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key]).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
        assert!(said.starts_with("error: ") && said.contains(says), "{said}");
    }
    let output = run(dir.path(), &["serve", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem"]).await;
    assert_eq!(
        String::from_utf8_lossy(&output.stderr).trim(),
        "error: TLS needs a certificate and a key: set both tls_cert and tls_key, or neither"
    );
    assert!(!dir.path().join("data").exists());
}
