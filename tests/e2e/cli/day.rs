//! docs/dealers-day.md: a session at a terminal of 80 columns, from the login to a sold car.

use std::path::Path;

use ad_tests::{Cli, Server};

use super::{
    redacted,
    screens::{emulated, hidden_ids},
    terminal::{answering, is_possible},
};

const INTRODUCTION: &str = "\
# A dealer's day

<!-- Written by a test: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e cli::day -->

A session of `ad-cli` at a terminal of 80 columns, from the login to a sold car. Ids and times are examples. [All commands](cli.md).
";

/// What is done, the command line, and a question with its answer.
type Step = (&'static str, &'static str, Option<(&'static str, &'static str)>);

const STEPS: &[Step] = &[
    (
        "Log in once, with the token from a file or at a prompt. It is saved in a file that only you can read.",
        "login --url URL < token.txt",
        None,
    ),
    (
        "A new car: a sample payload to edit. It describes a hidden ad, so nothing is published by accident.",
        "new car --source-id car-1 --quiet > car.json",
        None,
    ),
    ("Check it before it is sent. The score says what would make it better.", "validate car.json", None),
    ("Send it, and wait until the service has processed it.", "create car.json --wait", None),
    ("Publish it.", "show car-1 --wait", None),
    ("The morning: what is live, and what needs attention?", "status", None),
    ("All ads.", "list", None),
    ("One ad, by its source id or its plate.", "get car-1", None),
    ("A lower price. The change is shown before it is sent.", "price car-1 179900 --reduced --wait", None),
    ("What has happened to it?", "log car-1", None),
    ("The car is sold. What cannot be undone is asked about.", "sold car-1 --wait", Some(("[y/N]", "y\n"))),
    ("", "list", None),
];

#[tokio::test]
async fn a_dealers_day_is_as_the_page_shows_it() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let token = server.client.token.clone().unwrap();
    let cli = Cli::new().with("NO_COLOR", "1");
    cli.file("token.txt", &token);
    let mut page = INTRODUCTION.to_owned();
    for (why, line, answer) in STEPS {
        let run = line.replace("URL", &server.client.base);
        let (shown, _) = emulated(80, &answering(80, &cli, &run, answer.as_slice()).await);
        assert!(!shown.contains(&token), "{line}");
        let shown = hidden_ids(&server).await.iter().fold(shown, |text, (id, _)| text.replace(id, "20000001"));
        let shown =
            redacted(&shown, &cli, Some(&server)).replace("URL", "https://ads.example.com").replace("HOME", "~");
        let shown: Vec<_> = shown.lines().map(str::trim_end).collect();
        let line = line.replace("URL", "https://ads.example.com");
        page += &format!("\n{why}\n\n```text\n$ ad-cli {line}\n{}\n```\n", shown.join("\n")).replace("\n\n\n", "\n");
    }
    let page = page.replace("\n\n```\n", "\n```\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dealers-day.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "docs/dealers-day.md differs:\n{page}");
}
