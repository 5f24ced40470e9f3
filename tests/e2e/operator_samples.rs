//! Outputs of `ad-server` that the pages for operators show are those of the program: a version or a count in them cannot grow old.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ad_tests::{Options, Postgres, Server, run};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Markdown files below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { pages(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect()
}

/// What stands in code blocks, commands and outputs.
fn code(page: &str) -> impl Iterator<Item = &str> {
    page.split("```").skip(1).step_by(2)
}

/// The numbers that follow these words.
fn numbers(text: &str, words: &str) -> Vec<u32> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    text.split(words).skip(1).filter_map(|rest| digits(rest).parse().ok()).collect()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn outputs_in_the_pages_have_the_present_version_of_the_schema() {
    let Some(postgres) = Postgres::shared().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let printed = run(folder.path(), &["migrate", "--database-url", &postgres.database().await]).await;
    let [present] = numbers(text(&printed.stdout), "schema version ")[..] else { panic!("{printed:?}") };
    let mut seen = 0;
    for path in pages(&docs()) {
        let page = fs::read_to_string(&path).unwrap();
        let shown = |words| code(&page).flat_map(|block| numbers(block, words)).collect::<Vec<_>>();
        for version in shown("schema version ").into_iter().chain(shown("this ad-server needs ")) {
            assert_eq!(version, present, "{}", path.display());
            seen += 1;
        }
        for version in shown("its schema has version ") {
            assert_eq!(version, present - 1, "{}: the version before", path.display());
        }
    }
    assert!(seen > 0, "no page shows the version");
}

/// Compares, or with `UPDATE_SNAPSHOTS` replaces, the output in a page that begins with these words.
fn expect_shown(page: &str, beginning: &str, output: &str) {
    let path = docs().join(page);
    let stored = fs::read_to_string(&path).unwrap();
    let shown = code(&stored).find(|block| block.trim_start().starts_with(beginning)).unwrap_or_default();
    let output = format!("\n{output}");
    if shown != output && std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, stored.replace(shown, &output)).unwrap();
        return;
    }
    assert_eq!(shown, output, "docs/{page}: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e operator_samples");
}

#[tokio::test]
async fn the_page_shows_what_check_prints() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    let server =
        Server::with(Options { args: vec!["--database-url".to_owned(), url.clone()], ..Options::default() }).await;
    fs::write(server.dir().join("token"), "secret").unwrap();
    let nobody = ["--primary-marketplace", "http://127.0.0.1:9", "--primary-marketplace-token-file", "token"];
    let printed = run(server.dir(), &[&["check", "--database-url", &url][..], &nobody].concat()).await;
    let database = url.rsplit('/').next().unwrap();
    let output = format!("{}{}", text(&printed.stdout), text(&printed.stderr))
        .replace(&format!("{}/", server.dir().display()), "/var/lib/ad-server/")
        .replace(&format!("127.0.0.1:{}/{database}", postgres.port()), "127.0.0.1:5432/ads");
    expect_shown("operations.md", "CHECK ", &output);
}
