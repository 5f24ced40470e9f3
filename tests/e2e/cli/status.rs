//! `status`, `summary`, `list --status`, and what a wait says.

use ad_cli::{AdFilter, AdQuery, AdStatus, Client, Included};
use ad_tests::{Cli, Options, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// A server on which marketplaces fail by source id.
async fn sandbox(more: &[&str]) -> Server {
    let args = ["--sandbox"].iter().chain(more).map(|arg| (*arg).to_owned()).collect();
    Server::with(Options { args, ..Options::default() }).await
}

async fn stock(server: &Server) {
    for (id, plate) in [("car-1", "ABC101"), ("fault-refused-1", "ABC102"), ("fault-refused-secondary-1", "ABC103")] {
        server.client.post("/v4/car", &plain_car(id, plate)).await.expect(201);
        server.client.ended(id, "publish", None).await;
    }
}

#[tokio::test]
async fn a_status_says_what_is_live_why_not_and_what_to_do() {
    let server = sandbox(&[]).await;
    let cli = Cli::of(&server);
    stock(&server).await;
    let live = cli.run("status car-1").await;
    assert!(live.done().starts_with("car-1: live since "), "{live:?}");
    let failed = cli.run("status fault-refused-1").await;
    let report = server.client.get("/v4/ad/fault-refused-1/status").await.expect(200);
    let channel = &report["channels"][0];
    let what_to_do = format!("what to do: {}", channel["what_to_do"].as_str().unwrap());
    for told in ["fault-refused-1: failed since ", "  primary   failed", channel["text"].as_str().unwrap(), &what_to_do]
    {
        assert!(failed.done().replace("\n      ", " ").contains(told), "{told}: {failed:?}");
    }
    assert!(failed.stdout.lines().all(|line| line.chars().count() <= 80), "{failed:?}");
    let several = cli.run("status car-1 fault-refused-secondary-1 --output json").await.json();
    assert_eq!(several[1], server.client.get("/v4/ad/fault-refused-secondary-1/status").await.expect(200));
    assert_eq!((&several[0]["status"], &several[1]["status"]), (&json!("live"), &json!("partly_live")));
    let missing = cli.run("status car-1 missing").await;
    assert_eq!(missing.code, 1);
    assert!(missing.stdout.contains("car-1: live") && missing.stderr.contains("source id"), "{missing:?}");
    assert_eq!(cli.run("status missing").await.code, 1);
}

#[tokio::test]
async fn lists_are_filtered_by_status_and_the_summary_counts_them() {
    let server = sandbox(&[]).await;
    let cli = Cli::of(&server);
    stock(&server).await;
    let listed = cli.run("list --status failed,partly_live --ordering source_id").await;
    let rows: Vec<_> = listed.done().lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(rows[0][..2], ["fault-refused-1", "failed"]);
    assert_eq!(rows[1][..3], ["fault-refused-secondary-1", "partly", "live"]);
    assert_eq!(rows.len(), 2);
    let all = cli.run("list --include status --ordering source_id --output json").await.json();
    let words: Vec<_> = all.as_array().unwrap().iter().map(|ad| &ad["status"]).collect();
    assert_eq!(words, ["live", "failed", "partly_live"]);
    assert_eq!(cli.run("list --status dead").await.code, 2);

    let summary = cli.run("summary --output json").await.json();
    assert_eq!(summary, server.client.get("/v4/summary").await.expect(200));
    assert_eq!((&summary["ads"], &summary["by_status"]["failed"]), (&json!(3), &json!(1)));
    let shown = cli.run("summary").await;
    let told = |words: &[&str]| shown.stdout.lines().any(|line| line.split_whitespace().eq(words.iter().copied()));
    assert!(told(&["car", "3", "1", "1", "1"]) && told(&["all", "3", "1", "1", "1"]), "{shown:?}");
    assert!(told(&["marketplace_refused", "2"]), "{shown:?}");
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{shown:?}");

    let token = server.client.token.as_deref().unwrap();
    let client = Client::builder(&server.client.base).token(token).rate(None).build().unwrap();
    let status = client.v4().status("fault-refused-1").await.unwrap();
    assert_eq!(serde_json::to_value(&status.body).unwrap(), report(&server, "fault-refused-1").await);
    assert_eq!(client.typed("car").status("car-1").await.unwrap().body.status, AdStatus::Live);
    assert_eq!(client.summary().await.unwrap().by_status[&AdStatus::Live], 1);
    let query = AdQuery {
        included: Included { status: true, ..Included::default() },
        ..AdQuery::oldest_first([AdFilter::Status(vec![AdStatus::Failed])])
    };
    let failed = client.v4().list(&query).await.unwrap().body.results;
    assert_eq!((failed.len(), &failed[0].more["status"]), (1, &json!("failed")));
}

async fn report(server: &Server, source_id: &str) -> Value {
    server.client.get(&format!("/v4/ad/{source_id}/status")).await.expect(200)
}

#[tokio::test]
async fn a_wait_says_why_it_waits_and_until_when() {
    let server = sandbox(&["--marketplace-tries", "50", "--marketplace-within", "10m"]).await;
    let cli = Cli::of(&server);
    cli.file("car.json", plain_car("fault-500-primary-1", "ABC101").to_string());
    let created = cli.run("create car.json --no-check --wait --within 5s --output json").await;
    assert_eq!(created.code, 1, "{created:?}");
    assert!(created.stderr.contains("waiting: fault-500-primary-1: "), "{created:?}");
    assert!(created.stderr.contains(" Next attempt at 20"), "{created:?}");
    let waited = cli.run("wait fault-500-primary-1 --within 2s").await;
    assert!(waited.stderr.contains("waiting: fault-500-primary-1: "), "{waited:?}");
}

#[tokio::test]
async fn a_wait_does_not_take_the_outcome_of_an_earlier_request() {
    let mut server = Server::start().await;
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    server.client.published("car-1").await;
    let cli = Cli::of(&server);
    assert_eq!(cli.run("wait ABC101 --output json").await.json()[0]["outcome"], "published", "found by its plate");
    // Without workers, an accepted request has no log entries.
    let args = ["--workers", "0"].map(str::to_owned).to_vec();
    server.restart_with(Options { args, ..Options::default() }).await;
    let cli = Cli::of(&server);
    cli.run("price car-1 179900").await.done();
    let waited = cli.run("wait car-1 --within 1s --output ndjson").await;
    assert_eq!(waited.code, 1, "{waited:?}");
    assert!(waited.stdout.contains("\"outcome\":\"under_way\""), "{waited:?}");
}
