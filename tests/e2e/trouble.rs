//! What an operator can get wrong, and what the machine can: one clear line and a code, or a 503, and nothing lost.

use std::path::Path;

use ad_tests::{Server, WriteLock, eventually, run};
use serde_json::json;

use crate::payloads::plain_car;

/// Runs a subcommand that must fail, and returns what it said.
async fn fails(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args).await;
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &[][..]), "{args:?}");
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "one clear line, not: {said}");
    said
}

#[tokio::test]
async fn what_cannot_start_says_why_and_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("file"), "text").unwrap();
    std::fs::write(at("dealers.toml"), "[[dealer]]\ncode = 5\n").unwrap();
    std::fs::create_dir(at("catalogue")).unwrap();
    std::fs::write(at("catalogue/car.json"), "{\"brand\": []}").unwrap();
    std::fs::write(at("config.toml"), "lisen = \"127.0.0.1:0\"\n").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().to_string();
    for (args, says) in [
        (vec!["serve", "--database-url", "sqlite://file/ads.db"], "file"),
        (vec!["serve", "--database-url", "sqlite://file"], "file"),
        (vec!["serve", "--database-url", "mysql://x"], "mysql"),
        (vec!["serve", "--listen", &port], "--listen"),
        (vec!["serve", "--dealers", "dealers.toml"], "dealers.toml"),
        (vec!["serve", "--dealers", "missing.toml"], "missing.toml"),
        (vec!["serve", "--catalogue", "catalogue"], "car.json"),
        (vec!["serve", "--catalogue", "missing"], "missing"),
        (vec!["serve", "--config", "config.toml"], "lisen"),
        (vec!["dealers", "import", "dealers.toml"], "dealers.toml"),
        (vec!["dealers", "import", "missing.toml"], "missing.toml"),
        (vec!["dealers", "list", "--config", "config.toml"], "config.toml:1: lisen"),
        (vec!["dealers", "list", "--database-url", "nosuch://x"], "nosuch://x"),
        (vec!["listings", "import", "missing.ndjson"], "missing.ndjson"),
        (vec!["token", "issue", "--dealer-code", "a", "--database-url", "nosuch://x"], "nosuch://x"),
    ] {
        // The default address may be in use; what is named later counts.
        let any_port: &[&str] = if args[0] == "serve" { &["--listen", "127.0.0.1:0"] } else { &[] };
        let args = [&args[..1], any_port, &args[1..]].concat();
        let said = fails(dir.path(), &args).await;
        assert!(said.contains(says), "{args:?}: {said}");
        assert!(!at("data").exists(), "{args:?} left something behind");
    }
    assert_eq!(run(dir.path(), &["token", "issue"]).await.status.code(), Some(2), "usage");
}

#[tokio::test]
async fn a_locked_database_answers_503_and_loses_nothing() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("before", "LCK001")).await.expect(201);
    server.client.published("before").await;
    let database = server.dir().join("data/ads.db");
    let lock = WriteLock::take(&database).await;
    let refused = server.client.post("/v4/car", &plain_car("during", "LCK002")).await;
    assert!(refused.expect(503)["detail"].is_string());
    assert!(refused.header("retry-after").is_some());
    let id = refused.header("x-request-id").unwrap();
    eventually("the log says why, with the request's id", || async {
        server.said().into_iter().find(|line| line.contains("the database is not available") && line.contains(id))
    })
    .await;
    assert_eq!(server.client.ad("before").await["state"], "created", "readers do not wait for the writer");
    assert_eq!(server.client.get("/readyz").await.status, 503);
    lock.release().await;
    eventually("the database is free again", || async {
        (server.client.post("/v4/car", &plain_car("after", "LCK003")).await.status == 201).then_some(())
    })
    .await;
    server.client.published("after").await;
    assert_eq!(server.client.get("/v4/ad/during").await.status, 404, "refused is refused");
}

#[tokio::test]
async fn health_and_readiness_need_no_token() {
    let server = Server::start().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.client.with_token(None).get(path).await.expect(200), json!({"status": "ok"}));
    }
}
