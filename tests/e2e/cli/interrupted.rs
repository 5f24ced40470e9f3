//! What takes a while: its progress at a terminal, and its end at Ctrl-C.

use std::{fs::File, io::Write, process::Stdio, thread};

use ad_tests::{Cli, Server};
use serde_json::json;
use tokio::{net::TcpListener, process::Command};

use super::{
    sync::ndjson,
    terminal::{answering, is_possible},
};
use crate::payloads::plain_car;

/// A service that accepts connections and never answers, and somebody who has a token for it.
async fn silent() -> (TcpListener, Server, Cli) {
    let server = Server::start().await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let cli = Cli::of(&server).with("AD_URL", &format!("http://{}", silent.local_addr().unwrap()));
    cli.file("cars.ndjson", ndjson(&[plain_car("car-1", "ABC101")]));
    (silent, server, cli)
}

#[tokio::test]
async fn what_takes_a_while_is_counted_on_a_terminal_until_ctrl_c() {
    if !is_possible() {
        return;
    }
    let (_silent, _server, cli) = silent().await;
    for (line, counted) in [
        ("list", "0 ads"),
        ("list --all", "0 ads"),
        ("export > ads.ndjson", "0 ads"),
        ("export --payloads > ads.ndjson", "0 payloads"),
        ("status", "0 ads"),
        ("status car-1 car-2", "0 ads"),
        ("sync plan cars.ndjson", "0 ads"),
        ("photos check car-1", "0 photos"),
        ("migrate-v4 --all --dry-run", "0 ads"),
        ("events", "0 events"),
        ("log car-1 --all", "0 entries"),
    ] {
        let screen = answering(80, &cli, line, &[(counted, "\u{3}")]).await;
        assert!(screen.contains(&format!("interrupted after {counted}")), "{line}: {screen:?}");
    }
}

#[tokio::test]
async fn validating_an_endless_file_is_counted_on_a_terminal() {
    if !is_possible() {
        return;
    }
    let cli = Cli::new();
    let feed = cli.home().join("cars.ndjson");
    assert!(Command::new("mkfifo").arg(&feed).status().await.unwrap().success());
    // Findings would be printed between the counts.
    let mut car = plain_car("car-1", "ABC101");
    car["image_urls"] = json!(["https://img.example/1.jpg"]);
    car["price"] = json!([{"type": "list", "amount": 100_000}]);
    let payloads = ndjson(&vec![car; 400]);
    // It ends when nobody reads any more.
    let writer = thread::spawn(move || {
        let mut feed = File::create(feed).unwrap();
        while feed.write_all(payloads.as_bytes()).is_ok() {}
    });
    let screen = answering(80, &cli, "validate cars.ndjson", &[(" payloads", "\u{3}")]).await;
    writer.join().unwrap();
    // The spinner does not stay.
    assert!(screen.contains(" payloads") && screen.trim_end().ends_with("\u{1b}[2K"), "{screen:?}");
}

#[tokio::test]
async fn ctrl_c_ends_every_command_with_130() {
    let (silent, _server, cli) = silent().await;
    for (line, told) in [
        ("list --all", "error: interrupted after 0 ads\n"),
        ("status", "error: interrupted after 0 ads\n"),
        // It first asks the service whether it is a sandbox.
        ("sync plan cars.ndjson", ""),
        (
            "wait car-1",
            "error: interrupted\n  help: the service goes on with the request; to wait for its outcome: ad-cli wait car-1\n",
        ),
        // It handles no signal itself.
        ("whoami --online", ""),
    ] {
        let mut command = cli.command(line.split(' '));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // From its connection on, the command waits for an answer.
        let connection = silent.accept().await.unwrap();
        let id = child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().await.unwrap().success());
        let output = child.wait_with_output().await.unwrap();
        drop(connection);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(130), told), "{line}: {}", json!(stderr));
    }
}
