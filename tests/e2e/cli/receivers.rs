//! Webhooks from the command line, and the receivers of docs/events.md: each verifies what `webhooks listen` sends, and refuses a forgery.

use std::{fs, path::Path, process::Stdio};

use ad_tests::{
    Cli, Options, Server, WebhookReceiver, eventually, ports,
    tools::{self, Tool},
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};
use tokio::process::Command;

use super::events::Following;
use crate::{
    generated_clients::{TYPESCRIPT, Workshop},
    payloads::plain_car,
};

/// The Rust receiver, as the documentation shows it.
#[path = "../../../docs/receivers/receiver.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::pedantic,
    reason = "it is a program of its own, for readers of the documentation"
)]
mod receiver;

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/receivers").join(name)
}

#[test]
fn the_page_shows_the_receivers_that_are_tested() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/events.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut shown = page.clone();
    for name in ["receiver.py", "receiver.ts", "receiver.rs", "receiver.php"] {
        let source = fs::read_to_string(file(name)).unwrap();
        assert!(source.lines().count() <= 45, "{name} is short enough to read");
        let (before, rest) = shown.split_once(&format!(" receivers/{name}\n")).expect("the page has the receiver");
        let (_, after) = rest.split_once("```\n").unwrap();
        shown = format!("{before} receivers/{name}\n{source}```\n{after}");
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, shown).unwrap();
        return;
    }
    assert!(
        page == shown,
        "docs/events.md is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e cli::receivers"
    );
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Sends the events of an ad to a receiver, and a forgery.
async fn verifies(port: u16) {
    let url = format!("http://127.0.0.1:{port}/");
    let http = ad_tests::http_client().build().unwrap();
    let forged = || http.post(&url).header("webhook-id", "evt_1").header("webhook-timestamp", "1").body("{}");
    eventually("the receiver listens", || async { forged().send().await.ok() }).await;

    let server = Server::start().await;
    let cli = Cli::of(&server).with("AD_WEBHOOK_SECRET", SECRET);
    let mut sent =
        Following::start(&cli, &format!("webhooks listen --after oldest --forward-to {url} --output ndjson"));
    server.client.post("/v4/car", &plain_car("bil-å", "ABC101")).await.expect(201);
    let rows = sent.until(|row| row["event"]["type"] == "ad.publish.done").await;
    assert!(rows.iter().all(|row| row["status"] == 204 && row["error"].is_null()), "{rows:?}");
    let types: Vec<_> = rows.iter().map(|row| row["event"]["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["ad.create.done", "ad.publish.done"], "those of a webhook");

    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    for (at, signature) in [(now, "v1,AAAA"), (now, "nonsense"), (1, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")]
    {
        let request = http.post(&url).header("webhook-id", "evt_1").header("webhook-timestamp", at.to_string());
        let answer = request.header("webhook-signature", signature).body("{}").send().await.unwrap();
        assert_eq!(answer.status(), 401, "{at} {signature}");
    }
}

/// Runs a receiver in a folder, and sends events to it.
async fn runs(program: &Path, args: &[&str], folder: &Path, port: u16) {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("WEBHOOK_SECRET", SECRET).env("PORT", port.to_string());
    let _receiver = command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    verifies(port).await;
}

#[tokio::test]
async fn python_receiver_verifies() {
    let Some(python) = tools::find(Tool::Python("import standardwebhooks")) else { return };
    runs(&python, &[file("receiver.py").to_str().unwrap()], Path::new("/"), ports::lasting()).await;
}

#[tokio::test]
async fn typescript_receiver_compiles_and_verifies() {
    let Some(node) = tools::find(Tool::Node("import 'standardwebhooks'")) else { return };
    let Some(workshop) = Workshop::with(&[TYPESCRIPT]).await else { return };
    let options = r#"{ "compilerOptions": { "strict": true, "target": "es2022", "module": "nodenext", "types": ["node"], "outDir": "out" } }"#;
    fs::write(workshop.dir.path().join("tsconfig.json"), options).unwrap();
    fs::copy(file("receiver.ts"), workshop.dir.path().join("receiver.ts")).unwrap();
    workshop.run("tsc").await;
    // The program that was found may start another one, which would outlive the test.
    let found = Command::new(node).args(["-p", "process.execPath"]).output().await.unwrap();
    let node = String::from_utf8(found.stdout).unwrap();
    runs(Path::new(node.trim()), &["out/receiver.js"], workshop.dir.path(), ports::lasting()).await;
}

#[tokio::test]
async fn php_receiver_verifies() {
    let Some(php) = tools::find(Tool::Program("php")) else { return };
    let port = ports::lasting();
    runs(&php, &["-S", &format!("127.0.0.1:{port}"), file("receiver.php").to_str().unwrap()], Path::new("/"), port)
        .await;
}

#[tokio::test]
async fn rust_receiver_verifies() {
    let port = ports::lasting();
    let serving = tokio::spawn(async move { receiver::serve(SECRET, &format!("127.0.0.1:{port}")).await });
    verifies(port).await;
    serving.abort();
}

#[tokio::test]
async fn events_are_printed_and_a_receiver_that_is_away_is_told() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut printed = Following::start(&cli, "webhooks listen --after oldest --output ndjson");
    let nobody = ports::lasting();
    let line = format!("webhooks listen --after oldest --forward-to http://127.0.0.1:{nobody}/ --output ndjson");
    let mut forwarded = Following::start(&cli, &line);
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    let rows = printed.until(|row| row["type"] == "ad.publish.done").await;
    assert!(rows.iter().all(|row| row["state"] != "processing"), "{rows:?}");
    let row = forwarded.until(|_| true).await.remove(0);
    assert_eq!((&row["status"], &row["error"]), (&Value::Null, &json!("cannot connect")));

    assert_eq!(cli.run("webhooks listen --forward-to nowhere").await.code, 2);
    let wrong =
        cli.with("AD_WEBHOOK_SECRET", "whsec_short").run("webhooks listen --forward-to http://127.0.0.1:1/").await;
    assert_eq!(wrong.code, 2);
    assert!(!wrong.stderr.contains("whsec_short"), "{wrong:?}");
}

#[tokio::test]
async fn webhooks_are_managed_from_the_command_line() {
    let receiver = WebhookReceiver::start().await;
    let args = vec!["--allow-private-webhooks".to_owned()];
    let server = Server::with(Options { args, ..Options::default() }).await;
    let cli = Cli::of(&server);
    let created = cli
        .args(["webhooks", "create", &receiver.url("/a"), "--types", "ad.publish.*", "--output", "json"])
        .await
        .json();
    let (id, secret) = (created["id"].as_str().unwrap(), created["secret"].as_str().unwrap());
    assert_eq!((&created["types"], &created["enabled"]), (&json!(["ad.publish.*"]), &json!(true)));

    let test = cli.run(&format!("webhooks test {id} --output json")).await.json();
    eventually("the test event comes", || async { (!receiver.received("/a").is_empty()).then_some(()) }).await;
    assert_eq!(receiver.received("/a")[0].id(), test["event_id"]);
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    let delivered = async || {
        let rows = cli.run(&format!("webhooks deliveries {id} --state delivered --output json")).await.json();
        (rows.as_array().unwrap().len() == 3).then_some(rows)
    };
    let rows = eventually("all is delivered", delivered).await;
    assert_eq!((&rows[0]["type"], &rows[0]["attempts"][0]["status"]), (&json!("ad.publish.done"), &json!(200)));
    let signed = &receiver.received("/a")[0];
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
    let content = format!("{}.{}.{}", signed.id(), signed.header("webhook-timestamp"), signed.body);
    let tag = BASE64.decode(signed.header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    ring::hmac::verify(&key, content.as_bytes(), &tag).unwrap();

    let shown = cli.run(&format!("webhooks deliveries {id} --limit 1")).await;
    assert!(shown.stdout.contains("delivered") && shown.stderr.contains("1 of 3 deliveries"), "{shown:?}");
    let event = rows[0]["event_id"].as_str().unwrap();
    cli.run(&format!("webhooks resend {id} {event}")).await.done();
    eventually("it is sent again", || async { (receiver.received("/a").len() == 4).then_some(()) }).await;
    cli.run(&format!("webhooks replay {id} --after 2020-01-01T00:00:00Z")).await.done();
    eventually("all is sent again", || async { (receiver.received("/a").len() >= 6).then_some(()) }).await;

    let rotated = cli.run(&format!("webhooks rotate {id} --output json")).await.json();
    assert_ne!(rotated["secret"], secret);
    let changed =
        cli.args(["webhooks", "update", id, "--disable", "--description", "mine", "--output", "json"]).await.json();
    assert_eq!((&changed["enabled"], &changed["description"]), (&json!(false), &json!("mine")));
    let enabled = cli.run(&format!("webhooks update {id} --enable --resume-now --output json")).await.json();
    assert_eq!((&enabled["enabled"], &enabled["url"]), (&json!(true), &json!(receiver.url("/a"))));
    assert_eq!(cli.run(&format!("webhooks update {id}")).await.code, 2);
    let listed = cli.run("webhooks list --output json").await.json();
    assert_eq!((&listed[0]["id"], listed[0].get("secret")), (&json!(id), None));
    let unasked = cli.run(&format!("webhooks delete {id}")).await;
    assert_eq!(unasked.code, 2, "{unasked:?}");
    assert!(unasked.stderr.contains("to go on without a question, add --yes"), "{unasked:?}");
    let dry = cli.run(&format!("webhooks delete {id} --dry-run")).await;
    assert!(dry.code == 0 && dry.stderr.contains(&receiver.url("/a")), "{dry:?}");
    cli.run(&format!("webhooks delete {id} --yes")).await.done();
    assert_eq!(cli.run("webhooks list").await.stderr, "no webhooks\n");
    assert_eq!(cli.run(&format!("webhooks test {id}")).await.code, 1);
    let refused = cli.run("webhooks create not-an-address").await;
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("url: "), "{refused:?}");
    let reader = server.token(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    assert_eq!(cli.with("AD_TOKEN", &reader).run("webhooks list").await.code, 4);
}
