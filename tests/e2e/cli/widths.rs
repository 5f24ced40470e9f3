//! Every command at terminals of 60, 80 and 120 columns: no line is longer than the screen, and what continues a line is indented.

use std::collections::BTreeSet;

use ad_tests::Cli;
use serde_json::json;

use super::{
    screens::emulated,
    sync::ndjson,
    terminal::{at_terminal_of, is_possible, with_a_refused_ad},
};
use crate::payloads::plain_car;

const WIDTHS: [u16; 3] = [60, 80, 120];

/// Wide enough for every line: how lines begin.
const WIDE: u16 = 2000;

/// What people run, beside the help of every command.
const RUN: &[&str] = &[
    "",
    "help",
    "help commands",
    "help options",
    "help exit-codes",
    "lst",
    "list",
    "list nothing",
    "get car-1",
    "get nothing",
    "status",
    "status car-1 fault-refused-1",
    "summary",
    "log car-1",
    "events",
    "events --limit 2",
    "history car-1",
    "prices car-1",
    "quality car-1",
    "calls car-1",
    "new car",
    "new boat --full",
    "fields car mileage",
    "values car body_type",
    "models volvo",
    "validate wrong.ndjson",
    "import wrong.ndjson --dry-run",
    "create wrong.json",
    "photos check wrong.json",
    "sync plan wrong.ndjson",
    "stock plan wrong.ndjson",
    "price car-1 329900 --dry-run",
    "price car-1 much",
    "bump car-1 --dry-run",
    "sold car-1 --dry-run",
    "hide car-1 --dry-run",
    "hide car-1 nothing --dry-run",
    "update car-1 --set body=New --dry-run",
    "update car-1 --set bodi=New",
    "update car-1",
    "promotions list",
    "promotions add bump --select status=live --at 08:00 --min-age-days 30 --dry-run",
    "promotions add bump --select nothing=live --at 08:00 --dry-run",
    "account",
    "account charges",
    "webhooks list",
    "profiles",
    "whoami",
    "config",
    "doctor",
];

/// The first word of each line that begins at the left.
fn first_words(screen: &str) -> BTreeSet<&str> {
    let lines = screen.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

/// What is wrong with what a command shows at a width; `known` are the words that lines begin with, unless it is prose.
fn mistakes(columns: u16, shown: &str, known: &BTreeSet<String>, is_prose: bool) -> Vec<String> {
    let (screen, wrapped) = emulated(columns, shown);
    // A word that is longer than the screen, such as an address, has to be broken; so has JSON, which people redirect.
    let is_one = |line: &&String| !line.trim().contains(' ') || line.trim_start().starts_with(['"', '{']);
    let broken = wrapped.iter().filter(|line| !is_one(line)).map(|line| format!("longer than the screen: {line}"));
    let continued = first_words(&screen)
        .into_iter()
        .filter(|word| !known.contains(*word) && !word.contains('…') && *word != "REVISION");
    let continued: Vec<_> = if wrapped.is_empty() && !is_prose {
        continued.map(|word| format!("falls to the left: {word}")).collect()
    } else {
        Vec::new()
    };
    broken.chain(continued).collect()
}

#[tokio::test]
async fn nothing_is_longer_than_the_screen_or_falls_to_its_left() {
    if !is_possible() {
        return;
    }
    let (_server, cli) = with_a_refused_ad().await;
    let mut wrong = [plain_car("wrong-1", "ABC103"), plain_car("wrong-2", "ABC104")];
    for ad in &mut wrong {
        ad["category_fields"]["brand"] = json!("wolvo");
        ad["category_fields"]["colour"] = json!("red");
    }
    cli.file("wrong.ndjson", ndjson(&wrong));
    cli.file("wrong.json", wrong[0].to_string());
    let helps = ad_cli::cli::command_names().into_iter().map(|name| format!("{name} --help"));
    let mut all = Vec::new();
    for line in RUN.iter().map(|line| (*line).to_owned()).chain(helps) {
        let wide = at_terminal_of(WIDE, &cli, &line, "").await.stdout;
        let known: BTreeSet<String> = first_words(&wide).into_iter().map(str::to_owned).collect();
        for columns in WIDTHS {
            let shown = at_terminal_of(columns, &cli, &line, "").await.stdout;
            // The explanations of helps are paragraphs.
            let is_prose = line.contains("help");
            let found = mistakes(columns, &shown, &known, is_prose);
            all.extend(found.into_iter().map(|mistake| format!("ad-cli {line}, {columns} columns: {mistake}")));
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}

#[tokio::test]
async fn the_help_of_all_commands_fits_a_screen() {
    if !is_possible() {
        return;
    }
    let cli = Cli::new().with("NO_COLOR", "1");
    // With a server in the environment, too, which clap takes for an argument.
    let with_server = Cli::new().with("NO_COLOR", "1").with("AD_URL", "http://127.0.0.1:9");
    let help = at_terminal_of(80, &cli, "--help", "").await;
    assert!(help.done().lines().count() <= 24, "{}", help.stdout);
    for alone in [at_terminal_of(80, &cli, "", "").await, at_terminal_of(80, &with_server, "", "").await] {
        assert_eq!((alone.code, alone.stdout), (2, help.stdout.clone()));
    }
}

#[tokio::test]
async fn a_cause_of_many_ads_is_shown_once_with_its_count() {
    let cli = Cli::new();
    let mut ads: Vec<_> =
        (0..20).map(|number| plain_car(&format!("car-{number}"), &format!("ABC1{number:02}"))).collect();
    for ad in &mut ads {
        ad["category_fields"]["brand"] = json!("wolvo");
    }
    ads[7]["category_fields"]["model_year"] = json!(1492);
    cli.file("cars.ndjson", ndjson(&ads));
    let checked = cli.run("import cars.ndjson --dry-run").await;
    assert_eq!(checked.code, 3, "{checked:?}");
    let expected =
        "is \"wolvo\" (car-0, car-1, car-2 …, 20 times)\n  \"wolvo\" is not a valid choice. Did you mean \"volvo\"?";
    assert!(checked.stdout.contains(expected), "{}", checked.stdout);
    assert_eq!(checked.stdout.matches("\"wolvo\"").count(), 2, "{}", checked.stdout);
    assert!(checked.stdout.contains("category_fields.model_year is 1492 (car-7)\n"), "{}", checked.stdout);
    let rows = cli.run("validate cars.ndjson --output csv").await;
    assert_eq!(rows.stdout.lines().filter(|line| line.contains("brand")).count(), 20, "programs get all: {rows:?}");
}
