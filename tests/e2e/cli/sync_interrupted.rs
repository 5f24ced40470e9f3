//! `ad-cli sync`, interrupted, watching, and with a service that is not there.

use std::process::Stdio;

use ad_tests::{Cli, Server, eventually};
use serde_json::json;
use tokio::process::{Child, Command};

use super::{
    relay::Relay,
    sync::{car, ndjson, of, planned, requests},
    terminal::{self, at_terminal},
};

/// Starts a command line whose words are separated by spaces.
fn start(cli: &Cli, line: &str) -> Child {
    let mut command = cli.command(line.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be started")
}

async fn interrupt(child: &Child) {
    let pid = child.id().expect("it runs").to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().await.expect("kill is there").success());
}

async fn count(server: &Server) -> u64 {
    server.client.get("/v4/ad?limit=1").await.expect(200)["count"].as_u64().unwrap()
}

#[tokio::test]
async fn killed_in_the_middle_and_run_again_it_does_nothing_twice() {
    let server = Server::start().await;
    let slow = Cli::of(&server).with("AD_RATE", "50");
    let ads: Vec<_> = (0..60).map(car).collect();
    slow.file("stock.ndjson", ndjson(&ads));
    for most in [10, 30] {
        let mut child = start(&slow, "sync apply stock.ndjson --yes");
        eventually("some ads are there", async || (count(&server).await >= most).then_some(())).await;
        child.kill().await.unwrap();
    }
    assert!(count(&server).await < 60, "it was killed before its end");
    slow.run("sync apply stock.ndjson --yes --rate unlimited").await.done();
    assert_eq!(count(&server).await, 60);
    for number in [0, 15, 29, 31, 59] {
        assert_eq!(requests(&server, &format!("car-{number}")).await, 1);
    }
    assert_eq!(of(&planned(&slow, "stock.ndjson").await, "unchanged").len(), 60);
}

#[tokio::test]
async fn creates_whose_answers_are_lost_are_there_once() {
    const ADS: usize = 60;
    let server = Server::start().await;
    let relay = Relay::before(&server).await;
    let cli = Cli::of(&server).with("AD_URL", &relay.base);
    cli.file("stock.ndjson", ndjson(&(0..ADS).map(car).collect::<Vec<_>>()));
    relay.lose(9);
    for _ in 0..5 {
        let ended = cli.run("sync apply stock.ndjson --yes").await;
        if ended.code == 0 {
            break;
        }
        // All tries of one were lost: it stops, and goes on from what is there.
        assert_eq!(ended.code, 5, "{ended:?}");
    }
    assert_eq!(of(&planned(&cli, "stock.ndjson").await, "unchanged").len(), ADS);
    assert!(relay.creates() > ADS, "some were lost");
    for (source_id, answers) in relay.answers() {
        assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{source_id}: {answers:?}");
    }
}

#[tokio::test]
async fn whoever_is_at_a_terminal_is_asked() {
    if !terminal::is_possible() {
        return;
    }
    let server = Server::start().await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    cli.file("stock.ndjson", ndjson(&[car(1)]));
    for (typed, code, ads) in [("n\n", 1, 0), ("\n", 1, 0), ("y\n", 0, 1)] {
        let ended = at_terminal(&cli, "sync apply stock.ndjson", typed).await;
        assert_eq!((ended.code, count(&server).await), (code, ads), "{ended:?}");
        let screen = &ended.stdout;
        assert!(screen.contains("To create\n  + car-1 (car, Volvo 2019), line 1\n"), "{screen}");
        assert!(screen.contains("Make these changes (1 ad)? [y/N]"), "{screen}");
        assert_eq!(screen.contains("nothing was changed"), ads == 0, "{screen}");
        assert_eq!(screen.contains("1 created"), ads == 1, "{screen}");
    }
    let done = at_terminal(&cli, "sync apply stock.ndjson", "").await;
    assert_eq!(done.stdout, "stock.ndjson: 1 unchanged; nothing to do\n", "there is nothing to ask about");
}

#[tokio::test]
async fn ctrl_c_ends_in_order_and_says_how_to_go_on() {
    let server = Server::start().await;
    let cli = Cli::of(&server).with("AD_RATE", "30");
    let ads: Vec<_> = (0..60).map(car).collect();
    cli.file("stock.ndjson", ndjson(&ads));
    let child = start(&cli, "sync apply stock.ndjson --yes --output ndjson");
    eventually("some ads are there", async || (count(&server).await >= 5).then_some(())).await;
    interrupt(&child).await;
    let output = child.wait_with_output().await.unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("error: interrupted") && stderr.contains("run the command again"), "{stderr}");
    let not_sent = stdout.lines().filter(|line| line.contains("\"not_sent\"")).count() as u64;
    assert_eq!((stdout.lines().count(), 60 - not_sent), (60, count(&server).await), "each is told for what it is");
    cli.run("sync apply stock.ndjson --yes --rate unlimited").await.done();
    assert_eq!(count(&server).await, 60);
}

#[tokio::test]
async fn a_service_that_is_not_there_changes_nothing_and_is_told_once() {
    let mut server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.ndjson", ndjson(&[car(1)]));
    server.kill().await;
    let ended = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!((ended.code, ended.stdout.as_str()), (5, ""), "{ended:?}");
    assert_eq!(ended.stderr.matches("error:").count(), 1, "{ended:?}");
    let expired = Cli::new().with("AD_URL", &server.client.base).with("AD_TOKEN", "nonsense");
    expired.file("stock.ndjson", ndjson(&[car(1)]));
    assert_eq!(expired.run("sync plan stock.ndjson").await.code, 4);
}

#[tokio::test]
async fn a_watched_file_is_followed_when_it_is_complete() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads: Vec<_> = (0..12).map(car).collect();
    cli.file("stock.ndjson", ndjson(&ads));
    assert_eq!(cli.run("sync apply stock.ndjson --watch").await.code, 2, "it asks nobody");
    assert_eq!(cli.run("sync apply - --yes --watch").await.code, 2);
    let child = start(&cli, "sync apply stock.ndjson --yes --watch");
    eventually("the stock is there", async || (count(&server).await == 12).then_some(())).await;
    server.client.published("car-11").await;

    // Half of it is not the stock, and neither is none of it.
    let array = json!(ads).to_string();
    cli.file("stock.ndjson", &array[..array.len() / 2]);
    std::fs::remove_file(cli.home().join("stock.ndjson")).unwrap();
    cli.file("stock.ndjson", &array[..array.len() / 2]);
    ads[5]["body"] = json!("New text");
    ads.remove(0);
    cli.file("next.ndjson", ndjson(&ads));
    std::fs::rename(cli.home().join("next.ndjson"), cli.home().join("stock.ndjson")).unwrap();
    eventually("the change is there", async || {
        let ad = server.client.ad("car-5").await;
        (ad["body"] == "New text").then_some(())
    })
    .await;
    eventually("the deletion is there", async || (server.client.ad("car-0").await["state"] == "deleted").then_some(()))
        .await;
    interrupt(&child).await;
    let output = child.wait_with_output().await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("12 created") && stderr.contains("waiting for stock.ndjson to change"), "{stderr}");
    assert_eq!(requests(&server, "car-7").await, 1);
    assert_eq!(server.client.get("/v4/ad?state=created").await.expect(200)["count"], 11);
}
