//! What commands look like: the screen of a terminal of 60, 80 and 120 columns, as an emulator shows it.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e cli::screens` writes `screens/NAME.txt` anew.

use std::{fmt::Write, path::Path};

use ad_tests::{Cli, ImageHost, Options, Server};
use serde_json::json;

use super::{
    redacted,
    terminal::{at_terminal_of, is_possible},
};
use crate::payloads::{car, plain_boat, plain_car};

/// As narrow as a window beside another, as always, and as wide as most are.
const WIDTHS: [u16; 3] = [60, 80, 120];

/// Rows of the terminal: what a command prints does not scroll away.
const ROWS: u16 = 400;

/// What a terminal shows of an output, and which of its lines were too long for it.
pub(super) fn emulated(columns: u16, output: &str) -> (String, Vec<String>) {
    let mut terminal = vt100::Parser::new(ROWS, columns, 0);
    terminal.process(output.replace('\n', "\r\n").as_bytes());
    let screen = terminal.screen();
    let lines: Vec<_> = screen.rows(0, columns).map(|line| line.trim_end().to_owned()).collect();
    let wrapped = (0..ROWS).filter(|row| screen.row_wrapped(*row)).map(|row| lines[usize::from(row)].clone()).collect();
    (lines.join("\n").trim_end().to_owned(), wrapped)
}

/// The ports of addresses of this machine, which differ from run to run, and are five digits long.
fn hide_ports(text: &str) -> String {
    const HOST: &str = "http://127.0.0.1:";
    let mut parts = text.split(HOST);
    let before = parts.next().unwrap_or_default().to_owned();
    parts.fold(before, |text, part| {
        let rest = part.trim_start_matches(|character: char| character.is_ascii_digit());
        text + HOST + &"0".repeat(part.len() - rest.len()) + rest
    })
}

/// The ids that marketplaces have given to ads, each with a text of the same length.
pub(super) async fn hidden_ids(server: &Server) -> Vec<(String, String)> {
    let ads = server.client.get("/v4/ad?limit=100&fields=marketplace_ad_id,offer_id").await.expect(200);
    let ids = ads["results"].as_array().unwrap().iter().flat_map(|ad| [&ad["marketplace_ad_id"], &ad["offer_id"]]);
    ids.filter_map(|id| id.as_str()).map(|id| (id.to_owned(), "#".repeat(id.len()))).collect()
}

/// Compares the screens of commands at each width with the snapshot of this name.
async fn matches_snapshot(name: &str, cli: &Cli, server: &Server, lines: &[&str]) {
    let hidden = hidden_ids(server).await;
    let (mut shown, mut too_long) = (String::new(), Vec::new());
    for line in lines {
        for columns in WIDTHS {
            // A file that is written has another name at each width.
            let line = &line.replace("COLUMNS", &columns.to_string());
            let (screen, wrapped) = emulated(columns, &at_terminal_of(columns, cli, line, "").await.stdout);
            too_long.extend(wrapped.into_iter().map(|wrapped| format!("{line}, {columns} columns: {wrapped}")));
            let screen = hidden.iter().fold(screen, |text, (known, shown)| text.replace(known, shown));
            let screen = redacted(&screen, cli, Some(server));
            let screen = hide_ports(&screen);
            let screen: Vec<_> = screen.lines().map(str::trim_end).collect();
            writeln!(shown, "$ ad-cli {line}   # {columns} columns\n{}\n", screen.join("\n")).unwrap();
        }
    }
    assert!(too_long.is_empty(), "lines longer than the terminal: {too_long:#?}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("e2e/cli/screens/{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, shown).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == shown, "{name} differs from {}:\n{shown}", path.display());
}

/// Ads with the UUIDs that the contract recommends: live, refused by one marketplace, refused by both, hidden, deleted.
async fn stock(server: &Server, images: &ImageHost) {
    let mut first = car("0b7c2a9e-5e0f-4c53-8d9f-2b1f6f1f2a31", "ABC101", images);
    first["image_urls"] = json!([images.url("1.jpg"), images.url("missing.jpg")]);
    let mut hidden = plain_car("3e1d2c4b-5e0f-4c53-8d9f-2b1f6f1f2a34", "ABC104");
    hidden["visible"] = json!(false);
    hidden["price"] = json!([{"type": "list", "amount": 1_249_900}]);
    let mut boat = plain_boat();
    boat["source_id"] = json!("9f8e7d6c-5e0f-4c53-8d9f-2b1f6f1f2a36");
    let ads = [
        ("car", first, "publish"),
        ("car", plain_car("fault-refused-secondary-1", "ABC102"), "publish"),
        ("car", plain_car("fault-refused-1", "ABC103"), "publish"),
        ("car", hidden, "create"),
        ("car", plain_car("5c6d7e8f-5e0f-4c53-8d9f-2b1f6f1f2a35", "ABC105"), "publish"),
        ("boat", boat, "publish"),
    ];
    for (vehicle_type, ad, action) in &ads {
        server.client.post(&format!("/v4/{vehicle_type}"), ad).await.expect(201);
        server.client.ended(ad["source_id"].as_str().unwrap(), action, None).await;
    }
    server.client.delete("/v4/car/5c6d7e8f-5e0f-4c53-8d9f-2b1f6f1f2a35").await.expect(200);
    server.client.ended("5c6d7e8f-5e0f-4c53-8d9f-2b1f6f1f2a35", "delete", None).await;
}

/// Commands that show ads and what happens to them.
const LOOKING: &[&str] = &[
    "quality ABC101",
    "prices ABC101",
    "request 00000000-0000-4000-8000-000000000000",
    "wait ABC101",
    "migrate-v4 --all --dry-run",
    "webhooks list",
];

/// Commands that change ads.
const CHANGING: &[&str] = &[
    "update ABC101 --set body=New --dry-run",
    "price ABC101 329900 --dry-run",
    "hide ABC101 --dry-run",
    "show 3e1d2c4b-5e0f-4c53-8d9f-2b1f6f1f2a34 --dry-run",
    "sold ABC101 --dry-run",
    "delete ABC101 --dry-run",
    "bump ABC101 fault-refused-1 --dry-run",
    "pole-position ABC101 --dry-run",
    "retry fault-refused-1 --dry-run",
];

/// Commands that read and write files.
const FILES: &[&str] = &[
    "create wrong.json",
    "import wrong.json --dry-run",
    "import boat.json --dry-run",
    "sync plan boat.json",
    "sync apply boat.json --dry-run",
    "template car --csv --out cars-COLUMNS.csv",
    "models volvo",
    "photos check photos.json",
];

/// Commands about the program itself.
const SETUP: &[&str] = &["profiles", "logout --profile nobody", "config", "whoami --online", "help"];

/// Commands that print long lines for programs, ask, open other programs or take ids that differ from run to run.
const HELPS: &[&str] = &[
    "account --help",
    "account charges --help",
    "budget --help",
    "calls --help",
    "completions --help",
    "doctor --help",
    "edit --help",
    "events --help",
    "export --help",
    "history --help",
    "login --help",
    "man --help",
    "new --help",
    "open --help",
    "promotions add --help",
    "promotions list --help",
    "promotions pause --help",
    "promotions preview --help",
    "promotions remove --help",
    "promotions resume --help",
    "promotions runs --help",
    "promotions show --help",
    "promotions update --help",
    "record --help",
    "record keys --help",
    "record verify --help",
    "restore --help",
    "stock apply --help",
    "stock cancel --help",
    "stock plan --help",
    "stock show --help",
    "webhooks create --help",
    "webhooks delete --help",
    "webhooks deliveries --help",
    "webhooks listen --help",
    "webhooks replay --help",
    "webhooks resend --help",
    "webhooks rotate --help",
    "webhooks test --help",
    "webhooks update --help",
];

/// Commands that talk only to programs.
const WITHOUT_SCREEN: &[&str] = &["mcp"];

#[test]
fn every_command_has_a_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/cli/screens");
    let files = std::fs::read_dir(folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let shown = files.collect::<String>();
    let has_snapshot = |name: &String| shown.contains(&format!("$ ad-cli {name} "));
    let names = ad_cli::cli::command_names();
    let missing: Vec<_> =
        names.into_iter().filter(|name| !WITHOUT_SCREEN.contains(&name.as_str()) && !has_snapshot(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[tokio::test]
async fn nothing_is_broken_at_twenty_columns() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    server.client.published("car-1").await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    for line in ["list", "status", "get car-1", "log car-1", "summary", "values car body_type", "get nothing"] {
        let ended = at_terminal_of(20, &cli, line, "").await;
        let (shown, wrapped) = emulated(20, &ended.stdout);
        assert!(ended.code < 2 && !shown.is_empty() && !shown.contains("panicked"), "{line}: {shown}");
        // Only single words, such as an id, may be longer than a line.
        assert!(wrapped.iter().all(|line| !line.trim().contains(' ')), "{line}: {wrapped:#?}");
    }
}

#[tokio::test]
async fn what_one_looks_at_every_day_is_readable_at_every_width() {
    if !is_possible() {
        return;
    }
    let images = ImageHost::start().await;
    let args = ["--sandbox", "--image-tries", "1"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    stock(&server, &images).await;
    let list = ["list --ordering source_id", "list --ordering source_id --deleted", "list --type boat --output wide"];
    matches_snapshot("list", &cli, &server, &list[..2]).await;
    assert!(cli.run(list[2]).await.done().contains("9f8e7d6c-5e0f-4c53-8d9f-2b1f6f1f2a36"));
    matches_snapshot("get", &cli, &server, &["get ABC101", "get fault-refused-1"]).await;
    matches_snapshot("status", &cli, &server, &["status", "status ABC101 fault-refused-1"]).await;
    matches_snapshot("log", &cli, &server, &["log fault-refused-1"]).await;
    matches_snapshot("summary", &cli, &server, &["summary"]).await;
    matches_snapshot("looking", &cli, &server, LOOKING).await;
    matches_snapshot("changing", &cli, &server, CHANGING).await;
}

#[tokio::test]
async fn what_needs_no_service_is_readable_at_every_width() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    cli.file("boat.json", plain_boat().to_string());
    let photos = ["ftp://img.example/1.jpg", "https://anna:secret@img.example/3.jpg"];
    cli.file("photos.json", json!({"source_id": "car-1", "category_id": 1020, "image_urls": photos}).to_string());
    cli.file("wrong.json", json!({"source_id": "car-1", "category_id": 1020, "brand": "volvo"}).to_string());
    matches_snapshot("reference", &cli, &server, &["values car body_type", "fields car mileage", "fields"]).await;
    matches_snapshot("validate", &cli, &server, &["validate wrong.json"]).await;
    matches_snapshot("files", &cli, &server, FILES).await;
    matches_snapshot("setup", &cli, &server, SETUP).await;
    matches_snapshot("help", &cli, &server, &["list --help", "delete --help"]).await;
    matches_snapshot("helps", &cli, &server, HELPS).await;
}
