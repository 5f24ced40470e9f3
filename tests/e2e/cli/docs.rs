//! What the command line says about itself: docs/cli.md, help, manual, completions, and the way of a newcomer.

use std::path::Path;

use ad_tests::{Cli, Server};
use serde_json::json;

#[test]
fn the_page_is_as_the_commands_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let page = ad_cli::cli::markdown();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "docs/cli.md is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e cli::docs");
}

#[tokio::test]
async fn a_newcomer_gets_to_a_published_ad_with_what_the_page_says() {
    let server = Server::start().await;
    let token = server.client.token.clone().unwrap();
    let cli = Cli::new();
    let page = ad_cli::cli::markdown();
    let steps = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut ran = 0;
    for line in steps.lines().filter(|line| line.starts_with("ad-cli ")) {
        let line = line.split('#').next().unwrap().trim().trim_start_matches("ad-cli ");
        let line = line.replace("https://ads.example.com", &server.client.base);
        if let Some((line, file)) = line.split_once(" > ") {
            let made = cli.run(line).await;
            cli.file(file, made.done());
        } else {
            cli.piped(&line, &token).await.done();
        }
        ran += 1;
    }
    assert_eq!(ran, 5, "{steps}");
    let listed = cli.run("list --output json").await.json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert!(listed[0]["marketplace_ad_id"].is_string(), "{listed}");
}

#[tokio::test]
async fn there_are_completions_a_manual_and_the_documentation_of_the_api() {
    let cli = Cli::new().with("AD_URL", "http://127.0.0.1:8080/ads/");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = cli.run(&format!("completions {shell}")).await;
        assert!(script.done().contains("COMPLETE"), "{shell}");
    }
    assert!(cli.run("man").await.done().contains(".TH ad-cli 1"));
    let written = cli.run("man --folder man/man1").await;
    assert_eq!((written.done(), written.stderr.contains("man/man1")), ("", true));
    for page in ["ad-cli.1", "ad-cli-create.1", "ad-cli-migrate-v4.1"] {
        assert!(cli.home().join("man/man1").join(page).exists(), "{page}");
    }
    cli.run("man --folder man/man1").await.done();
    // The last page that would be written is somebody else's: none is.
    cli.file("man/man1/ad-cli.1", "mine");
    std::fs::remove_file(cli.home().join("man/man1/ad-cli-create.1")).unwrap();
    let refused = cli.run("man --folder man/man1").await;
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("ad-cli.1 exists, and this command did not write it"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(cli.home().join("man/man1/ad-cli.1")).unwrap(), "mine");
    assert!(!cli.home().join("man/man1/ad-cli-create.1").exists());
    cli.run("man --folder man/man1 --force").await.done();
    assert!(cli.home().join("man/man1/ad-cli-create.1").exists());
    for (page, path) in [("", "/docs/swagger-ui/"), ("redoc", "/docs/redoc/"), ("openapi", "/openapi.json")] {
        let opened = cli.run(&format!("open {page}")).await;
        assert_eq!(opened.done(), format!("http://127.0.0.1:8080/ads{path}\n"));
    }
    let server = Server::start().await;
    let openapi = Cli::of(&server).run("open openapi").await.done().trim().to_owned();
    let path = openapi.strip_prefix(&server.client.base).unwrap();
    assert_eq!(server.client.get(path).await.expect(200)["openapi"].is_string(), json!(true));
}
