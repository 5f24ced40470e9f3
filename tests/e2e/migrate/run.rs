//! `ad-migrate run`: every row that can go becomes an ad once, and one learns whether it was linked to a listing that was there.

use std::{collections::BTreeSet, path::Path, process::Stdio};

use ad_tests::{Cli, Server, eventually};
use serde_json::{Value, json};
use tokio::process::Child;

use super::{Good, sample, stock};
use crate::cli::relay::Relay;

/// How many of the rows the dealer has listed already.
const LISTED: usize = 100;

/// Lists cars of the dealer on the primary marketplace, as they were before the API, plates written as people do.
async fn list_before(server: &Server, plates: impl IntoIterator<Item = &str>) {
    let line = |plate: &str| {
        let (letters, digits) = plate.split_at(plate.len().min(3));
        json!({"marketplace": "primary", "dealer_code": "north-cars", "title": "Old",
            "registration_number": format!("{} {digits}", letters.to_lowercase())})
        .to_string()
    };
    let lines: Vec<_> = plates.into_iter().map(line).collect();
    std::fs::write(server.dir().join("listings.ndjson"), lines.join("\n")).unwrap();
    server.command(&["listings", "import", "listings.ndjson"]).await;
}

fn start(cli: &Cli, line: &str) -> Child {
    let mut command = cli.command(line.split_whitespace());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The source ids of a report's rows with this outcome.
fn of(report: &Path, outcome: &str) -> BTreeSet<String> {
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["outcome"] == outcome);
    rows.map(|row| row["source_id"].as_str().unwrap().to_owned()).collect()
}

fn ids<'a>(rows: impl IntoIterator<Item = &'a Good>) -> BTreeSet<String> {
    rows.into_iter().map(|row| row.source_id.clone()).collect()
}

async fn count(server: &Server, filter: &str) -> u64 {
    server.client.get(&format!("/v4/ad?limit=1{filter}")).await.expect(200)["count"].as_u64().unwrap()
}

/// interface.md, 'What the service does' 9; decision 25.
#[tokio::test]
async fn killed_ten_times_it_links_what_was_listed_and_posts_nothing_twice() {
    let server = Server::start().await;
    let relay = Relay::before(&server).await;
    let cli = Cli::of(&server).migrating().with("AD_URL", &relay.base);
    let good = stock(&cli);
    assert!(good.len() > LISTED + 50 && good[..LISTED].iter().any(|row| row.plate.starts_with('Q')));
    list_before(&server, good[..LISTED].iter().map(|row| row.plate.as_str())).await;
    let before: BTreeSet<_> = server.listings().await.iter().map(|listing| listing["id"].to_string()).collect();

    for kill in 1..=10 {
        let mut run = start(&cli, "run stock.csv --mapping stock.toml --parallel 4");
        let wanted = kill * good.len() / 13;
        eventually("some creates", || async { (relay.creates() >= wanted).then_some(()) }).await;
        run.kill().await.unwrap();
    }
    assert!(count(&server, "").await < good.len() as u64, "it was killed before it was done");
    let ended = cli.run("run stock.csv --mapping stock.toml --report report.json").await;
    // Some rows cannot go, which is no success.
    assert_eq!(ended.code, 1, "{ended:?}");

    let report = cli.home().join("report.json");
    assert_eq!(of(&report, "linked"), ids(&good[..LISTED]));
    let told: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    let wrong: Vec<_> = told["rows"].as_array().unwrap().iter().filter(|row| row["outcome"] == "invalid").collect();
    assert_eq!(
        (json!(wrong.len()), told["summary"]["invalid"].as_u64()),
        (json!(200 - good.len()), Some(wrong.len() as u64))
    );
    assert!(wrong.iter().all(|row| row["findings"][0]["message"].is_string() && row["line"].is_u64()), "{wrong:?}");
    assert_eq!(of(&report, "new"), ids(&good[LISTED..]));
    let (sent, invalid) = (good.len(), 200 - good.len());
    // What runs before it have brought to an outcome is counted apart.
    let counts = ended.stderr.lines().last().unwrap();
    assert!(counts.contains(" sent (") && counts.ends_with(&format!(", {invalid} invalid")), "{counts}");
    for (source_id, answers) in relay.answers() {
        let accepted = answers.iter().filter(|status| **status == 201).count();
        assert_eq!((accepted, answers.last()), (1, Some(&201)), "{source_id}: {answers:?}");
    }
    assert_eq!(relay.answers().keys().cloned().collect::<BTreeSet<_>>(), ids(&good), "none is missing");
    assert_eq!(count(&server, "").await, good.len() as u64);
    let listings: Vec<_> =
        server.listings().await.into_iter().filter(|listing| listing["marketplace"] == "primary").collect();
    assert_eq!(listings.len(), good.len(), "one listing for each ad, those from before among them");
    let linked = listings.iter().filter(|listing| before.contains(&listing["id"].to_string()));
    let linked: BTreeSet<_> = linked.map(|listing| listing["source_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(linked, ids(&good[..LISTED]), "exactly those that were listed before");

    let mut left: Vec<_> =
        std::fs::read_dir(cli.home().join("stock.csv.migration")).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["journal.ndjson", "lock", "payloads.ndjson"], "nothing half done is left behind");

    // All is done: going on does nothing.
    let creates = relay.creates();
    let again = cli.run("run stock.csv --mapping stock.toml").await;
    assert!(again.stderr.ends_with(&format!("stock.csv: {sent} sent before, {invalid} invalid\n")), "{again:?}");
    assert_eq!(relay.creates(), creates);
}

#[tokio::test]
async fn two_runs_do_not_share_a_folder() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    stock(&cli);
    server.signal("STOP").await;
    let mut first = start(&cli, "run stock.csv --mapping stock.toml");
    let journal = cli.home().join("stock.csv.migration/journal.ndjson");
    eventually("the journal", || async { std::fs::read_to_string(&journal).ok().filter(|it| it.contains("begun")) })
        .await;
    for line in ["run stock.csv --mapping stock.toml", "publish stock.csv"] {
        let second = cli.run(line).await;
        assert!(second.code == 2 && second.stderr.contains("another ad-migrate is using"), "{second:?}");
    }
    server.signal("CONT").await;
    assert_eq!(first.wait().await.unwrap().code(), Some(1), "some rows are invalid");
}

#[tokio::test]
async fn a_rehearsal_stores_nothing_and_uses_up_no_source_id() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    let good = stock(&cli);
    let rehearsed = cli.run("run stock.csv --mapping stock.toml --rehearse").await;
    assert_eq!(rehearsed.code, 1, "{rehearsed:?}");
    let told = format!("rehearsed {0} ads: the service would accept {0}; nothing was stored", good.len());
    assert!(rehearsed.stderr.contains(&told), "{rehearsed:?}");
    assert_eq!(count(&server, "").await, 0);
    // What only the service knows: whom the dealer employs.
    let mapping = std::fs::read_to_string(cli.home().join("stock.toml")).unwrap();
    let unknown = "[fields]\ncategory_fields.salesperson = { constant = \"nobody@north.example\" }";
    cli.file("stock.toml", mapping.replace("[fields]", unknown));
    let rehearsed = cli.run("run stock.csv --mapping stock.toml --rehearse --limit 3").await;
    assert_eq!(rehearsed.code, 3, "{rehearsed:?}");
    assert!(rehearsed.stdout.contains("category_fields.salesperson"), "{rehearsed:?}");
    assert!(
        rehearsed.stderr.contains("rehearsed 3 ads: the service would accept 0, 3 would be rejected"),
        "{rehearsed:?}"
    );
    assert_eq!(count(&server, "").await, 0);
    assert!(!cli.home().join("stock.csv.migration").exists(), "nothing is left behind");
}

#[tokio::test]
async fn hidden_ads_are_linked_when_they_are_published() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    let good = stock(&cli);
    list_before(&server, [good[0].plate.as_str(), "gone 01"]).await;
    let hidden = cli.run("run stock.csv --mapping stock.toml --hidden --limit 5 --report report.json").await;
    assert!(hidden.stderr.contains("5 sent (5 hidden)"), "{hidden:?}");
    assert_eq!(of(&cli.home().join("report.json"), "hidden"), ids(&good[..5]));
    let ad = server.client.ad(&good[0].source_id).await;
    assert_eq!((&ad["visible"], &ad["marketplace_ad_id"]), (&json!(false), &Value::Null));

    let some = cli.run("publish stock.csv --limit 2").await;
    assert_eq!(some.code, 0, "{some:?}");
    assert!(some.stderr.contains("1 linked to existing listings, 1 newly listed"), "{some:?}");
    let rest = cli.run("publish stock.csv --report report.json").await;
    assert_eq!(rest.code, 0, "{rest:?}");
    assert_eq!(of(&cli.home().join("report.json"), "linked"), ids(&good[..1]));
    assert_eq!(of(&cli.home().join("report.json"), "new"), ids(&good[1..5]));
    assert_eq!(server.client.ad(&good[4].source_id).await["visible"], true);
    let nothing = cli.run("publish other.csv").await;
    assert_eq!(nothing.code, 2, "{nothing:?}");
    assert!(nothing.stderr.contains("ad-migrate run other.csv"), "{nothing:?}");
}

#[tokio::test]
async fn what_failed_is_done_again_when_it_has_been_mended() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    let good = stock(&cli);
    let mapping = std::fs::read_to_string(cli.home().join("stock.toml")).unwrap();
    let unknown = "[fields]\ncategory_fields.salesperson = { constant = \"nobody@north.example\" }";
    cli.file("stock.toml", mapping.replace("[fields]", unknown));
    let refused = cli.run("run stock.csv --mapping stock.toml --limit 4").await;
    assert!(refused.code == 1 && refused.stderr.contains("4 failed (4 rejected by the service)"), "{refused:?}");
    assert!(refused.stdout.contains("is not a salesperson of dealer"), "{refused:?}");
    cli.file("stock.toml", mapping);
    let mended = cli.run("run stock.csv --mapping stock.toml --only-failed --report report.json").await;
    assert!(mended.stderr.contains("4 newly listed"), "{mended:?}");
    assert_eq!(of(&cli.home().join("report.json"), "new"), ids(&good[..4]));
    assert_eq!(count(&server, "").await, 4, "those that were never sent are left for another time");
}

#[tokio::test]
async fn what_is_listed_and_not_in_the_file_is_told_and_stays() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    let good = stock(&cli);
    let mut other = crate::payloads::plain_car("sold-long-ago", "OLD001");
    other["category_fields"]["brand"] = json!("volvo");
    server.client.post("/v4/car", &other).await.expect(201);
    server.client.published("sold-long-ago").await;
    list_before(&server, [good[0].plate.as_str(), "gon e01"]).await;
    cli.file("listed.ndjson", server.command(&["listings", "list", "--json"]).await);
    let line = "run stock.csv --mapping stock.toml --limit 3 --listings listed.ndjson";
    let ended = cli.run(line).await;
    assert!(ended.stdout.contains("sold-long-ago") && ended.stdout.contains("GONE01"), "{ended:?}");
    assert!(!ended.stdout.contains(&good[0].plate), "{ended:?}");
    // Programs have their rows on stdout, and are told beside them.
    let ended = cli.run(&format!("{line} --output ndjson")).await;
    assert!(ended.stderr.contains("ad sold-long-ago") && ended.stderr.contains("listing GONE01"), "{ended:?}");
    assert!(ended.stdout.lines().all(|row| row.starts_with('{') && !row.contains("sold-long-ago")), "{ended:?}");
    assert_eq!(server.client.ad("sold-long-ago").await["state"], "created");
}

/// What another program gets through a pipe: the payloads alone, as `ad-cli import` takes them, and none of a file that cannot be read.
#[tokio::test]
async fn converted_payloads_can_be_imported() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    let good = stock(&cli);
    let converted = cli.run("convert stock.csv --mapping stock.toml --limit-shown 2").await;
    assert_eq!(converted.code, 3, "some rows are invalid: {converted:?}");
    let payloads: Vec<Value> = converted.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let converted_ids: BTreeSet<_> = payloads.iter().map(|it| it["source_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((converted_ids, payloads.len()), (ids(&good), good.len()));
    let wrong = "stock.csv:2: row 1, column Märke, value \"Wolvo\": \"Wolvo\" is not a known brand.";
    assert!(converted.stderr.contains(wrong), "{converted:?}");
    let counts = format!("{} of 200 rows are valid", good.len());
    assert!(converted.stderr.contains(&counts) && converted.stderr.contains("more invalid rows"), "{converted:?}");

    let seller = Cli::of(&server);
    let first: Vec<_> = converted.stdout.lines().take(3).collect();
    let imported = seller.piped("import - --output ndjson", first.join("\n")).await;
    assert_eq!(imported.code, 0, "{imported:?}");
    assert_eq!(count(&server, "").await, 3);

    let whole = sample("stock.json");
    cli.file("stock.json", &whole[..whole.len() / 2]);
    let broken = cli.run("convert stock.json --mapping json-nested").await;
    assert_eq!((broken.code, broken.stdout.as_str()), (2, ""), "{broken:?}");
    assert!(broken.stderr.contains("nothing was printed"), "{broken:?}");
}
