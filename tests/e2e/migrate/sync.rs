//! `ad-migrate run --sync`: the ads become what the file of tonight says.

use std::{fmt::Write as _, process::Stdio};

use ad_tests::{Cli, Ended, ImageHost, Server, eventually};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::payloads::boat;

const MAPPING: &str = "[vehicle]\ntype = \"car\"\n\
    [rows]\nskip = { column = \"Status\", is = \"sold\" }\n\
    [fields]\nsource_id = \"Nr\"\ncategory_fields.registration_number = \"Plate\"\n\
    category_fields.model_year = \"Year\"\nprice.list = { from = \"Price\", currency = \"SEK\" }\n";

const RUN: &str = "run stock.csv --mapping stock.toml --sync";

/// A row: its number, price and status.
type Row<'a> = (u32, &'a str, &'a str);

fn stock(rows: &[Row<'_>]) -> String {
    let mut text = "Nr;Plate;Year;Price;Status\n".to_owned();
    for (number, price, status) in rows {
        writeln!(text, "L{number};ABC{number};2019;{price};{status}").unwrap();
    }
    text
}

/// Thirty cars, so that three may be taken away.
fn thirty() -> Vec<Row<'static>> {
    (101..131).map(|number| (number, "105000", "")).collect()
}

async fn first_night() -> (Server, Cli) {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    cli.file("stock.toml", MAPPING);
    cli.file("stock.csv", stock(&thirty()));
    let night = cli.run(RUN).await;
    assert_eq!((night.code, last_line(&night)), (0, "stock.csv: 30 created"), "{night:?}");
    (server, cli)
}

fn last_line(ended: &Ended) -> &str {
    ended.stderr.lines().last().unwrap_or_default()
}

fn report(cli: &Cli) -> Value {
    serde_json::from_slice(&std::fs::read(cli.home().join("report.json")).unwrap()).unwrap()
}

async fn ad(server: &Server, id: &str) -> Value {
    server.client.get(&format!("/v4/ad/{id}")).await.expect(200)
}

#[tokio::test]
async fn a_night_creates_updates_and_hides() {
    let (server, cli) = first_night().await;
    // The journal is not asked: the file has another name tonight.
    let mut rows = thirty();
    rows[0].1 = "95000";
    rows[1].2 = "sold";
    rows.remove(2);
    rows.push((131, "210000", ""));
    cli.file("tonight.csv", stock(&rows));
    let run = "run tonight.csv --mapping stock.toml --sync --report report.json";
    let rehearsed = cli.run(&format!("{run} --rehearse")).await;
    assert_eq!(rehearsed.code, 0, "{rehearsed:?}");
    assert!(rehearsed.stdout.contains("list 105,000 → 95,000 SEK"), "{rehearsed:?}");
    let would = "tonight.csv: 1 would be created, 1 would be updated, 2 would be hidden, 27 unchanged, 1 skipped";
    assert_eq!(last_line(&rehearsed), would);
    assert_eq!(ad(&server, "L101").await["price"][0]["amount"], 105_000, "nothing was sent");

    let night = cli.run(run).await;
    let done = "tonight.csv: 1 created, 1 updated, 2 hidden, 27 unchanged, 1 skipped";
    assert_eq!((night.code, last_line(&night)), (0, done), "{night:?}");
    assert_eq!(ad(&server, "L101").await["price"][0]["amount"], 95_000);
    assert_eq!(ad(&server, "L131").await["price"][0]["amount"], 210_000);
    for id in ["L102", "L103"] {
        assert_eq!(ad(&server, id).await["visible"], false, "{id}");
    }
    let listed = "2 ads that are not in the file, to be hidden:";
    for run in [&rehearsed, &night] {
        assert!(run.stderr.contains(listed) && run.stdout.contains("ABC102") && run.stdout.contains("L103"), "{run:?}");
    }
    let report = report(&cli);
    let rows = report["rows"].as_array().unwrap().iter();
    let mut outcomes: Vec<_> = rows.map(|row| json!([row["source_id"], row["outcome"], row["row"]])).collect();
    outcomes.sort_by_key(ToString::to_string);
    let expected =
        json!([["L101", "updated", 1], ["L102", "hidden", null], ["L103", "hidden", null], ["L131", "created", 30]]);
    assert_eq!(json!(outcomes), expected, "{report}");
    let summary = json!({"created": 1, "updated": 1, "unchanged": 27, "hidden": 2, "deleted": 0, "not_sent": 0, "failed": 0,
        "invalid": 0, "skipped": 1});
    assert_eq!(report["summary"], summary);

    // A vehicle that is back on sale is shown again.
    cli.file("tonight.csv", stock(&thirty()));
    let back = cli.run(run).await;
    assert_eq!((back.code, last_line(&back)), (0, "tonight.csv: 3 updated, 1 hidden, 27 unchanged"), "{back:?}");
    assert_eq!(ad(&server, "L103").await["visible"], true);
    let again = cli.run(run).await;
    assert_eq!((again.code, last_line(&again)), (0, "tonight.csv: 30 unchanged"), "{again:?}");
}

#[tokio::test]
async fn an_ad_whose_row_has_an_error_or_is_of_another_type_is_left() {
    let (server, cli) = first_night().await;
    let images = ImageHost::start().await;
    server.client.post("/v4/boat", &boat("B-1", &images)).await.expect(201);
    let mut rows = thirty();
    rows[4].1 = "cheap";
    cli.file("stock.csv", stock(&rows));
    let night = cli.run(&format!("{RUN} --report report.json")).await;
    assert_eq!((night.code, last_line(&night)), (1, "stock.csv: 29 unchanged, 1 invalid"), "{night:?}");
    let report = report(&cli);
    let (row, summary) = (&report["rows"][0], &report["summary"]);
    assert_eq!((&row["row"], &row["line"], &row["outcome"]), (&json!(5), &json!(6), &json!("invalid")), "{report}");
    assert_eq!(row["findings"][0]["value"], "cheap", "{report}");
    assert_eq!((&summary["unchanged"], &summary["invalid"]), (&json!(29), &json!(1)), "{report}");
    assert_eq!(ad(&server, "L105").await["visible"], true);
    assert_eq!(ad(&server, "B-1").await["visible"], true);

    // A row that names no ad may be about the one that is missing.
    cli.file("stock.csv", stock(&thirty()[1..]).replace("L130;", ";"));
    let unknown = cli.run(RUN).await;
    assert_eq!((unknown.code, last_line(&unknown)), (1, "stock.csv: 28 unchanged, 1 invalid"), "{unknown:?}");
    assert!(unknown.stderr.contains("2 ads are not in the file and stay as they are: row 29"), "{unknown:?}");
    assert_eq!(ad(&server, "L101").await["visible"], true);
}

#[tokio::test]
async fn more_removals_than_usual_need_to_be_allowed() {
    let (server, cli) = first_night().await;
    cli.file("stock.csv", stock(&thirty()[4..]));
    let rehearsed = cli.run(&format!("{RUN} --rehearse")).await;
    assert_eq!(rehearsed.code, 3, "{rehearsed:?}");
    assert!(
        rehearsed.stderr.contains("4 would be hidden, 26 unchanged") && rehearsed.stderr.contains("--allow-removals 4"),
        "{rehearsed:?}"
    );
    let refused = cli.run(&format!("{RUN} --gone delete")).await;
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(
        refused.stderr.contains("4 of 30 ads would be deleted") && refused.stderr.contains("--allow-removals 4"),
        "{refused:?}"
    );
    assert!(refused.stdout.contains("ABC101") && refused.stderr.contains("to be deleted:"), "{refused:?}");
    assert_eq!(ad(&server, "L101").await["state"], "created");
    // Programs have no rows of a refusal, and are told beside them.
    let refused = cli.run(&format!("{RUN} --output ndjson")).await;
    assert!(refused.code == 3 && refused.stdout.is_empty() && refused.stderr.contains("  L104 ABC104"), "{refused:?}");
    let deleted = cli.run(&format!("{RUN} --gone delete --allow-removals 4")).await;
    assert_eq!((deleted.code, last_line(&deleted)), (0, "stock.csv: 4 deleted, 26 unchanged"), "{deleted:?}");
    eventually("the deletion", || async { (ad(&server, "L101").await["state"] == "deleted").then_some(()) }).await;
    // The plate's listing is gone for good, and its source id is used up.
    cli.file("stock.csv", stock(&thirty()[3..]));
    let back = cli.run(RUN).await;
    assert_eq!((back.code, last_line(&back)), (1, "stock.csv: 1 failed, 26 unchanged"), "{back:?}");
    assert!(back.stdout.contains("the ad is deleted"), "{back:?}");

    // A file without a valid row takes nothing away.
    cli.file("stock.csv", "Nr;Plate;Year;Price;Status\n");
    let empty = cli.run(RUN).await;
    assert!(empty.code == 3 || empty.code == 2, "{empty:?}");
    assert_eq!(ad(&server, "L105").await["state"], "created");
}

/// A file whose column was renamed, or is in another unit, must not change all ads in one night.
#[tokio::test]
async fn a_column_that_is_gone_changes_nothing_unless_it_is_allowed() {
    let (server, cli) = first_night().await;
    let mut rows = thirty();
    rows[0].1 = "95000";
    cli.file("stock.csv", stock(&rows).replace("Price", "Price kr"));
    let update = RUN.replace("--sync", "--update");
    for line in [RUN, &update, &format!("{RUN} --rehearse"), &format!("{update} --rehearse")] {
        let refused = cli.run(line).await;
        assert_eq!(refused.code, 3, "{refused:?}");
        for says in [
            "stock.csv lacks 1 column of the mapping",
            "no column \"Price\", from which \"price.list\" is made. Did you mean \"Price kr\"?",
            "--allow-missing-columns",
        ] {
            assert!(refused.stderr.contains(says), "{says}: {refused:?}");
        }
        assert_eq!(refused.stdout.contains("list 105,000"), line.contains("--rehearse"), "{refused:?}");
    }
    assert_eq!(ad(&server, "L102").await["price"][0]["amount"], 105_000, "nothing was sent");
    // A run that creates ads changes none.
    let plain = cli.run("run stock.csv --mapping stock.toml").await;
    assert!(plain.code == 0 && plain.stderr.contains("warning: There is no column \"Price\""), "{plain:?}");
    assert_eq!(ad(&server, "L102").await["price"][0]["amount"], 105_000);
    // The prices would be lost, which is allowed by itself.
    let lost = cli.run(&format!("{RUN} --allow-missing-columns")).await;
    assert!(lost.code == 3 && lost.stderr.contains("30 of 30 ads would get less than half"), "{lost:?}");
    let allowed = cli.run(&format!("{RUN} --allow-missing-columns --allow-far-prices 30")).await;
    assert_eq!((allowed.code, last_line(&allowed)), (0, "stock.csv: 30 updated"), "{allowed:?}");
    assert_eq!(ad(&server, "L102").await["price"], json!([]));
}

#[tokio::test]
async fn more_prices_that_are_far_from_those_of_now_need_to_be_allowed() {
    let (server, cli) = first_night().await;
    let mut rows = thirty();
    for row in &mut rows {
        row.1 = "10500000";
    }
    cli.file("stock.csv", stock(&rows));
    let update = RUN.replace("--sync", "--update");
    for line in [RUN, &update, &format!("{RUN} --rehearse"), &format!("{update} --rehearse")] {
        let refused = cli.run(line).await;
        assert_eq!(refused.code, 3, "{refused:?}");
        for says in ["30 of 30 ads", "L101: list 105,000 → 10,500,000 SEK", "--allow-far-prices 30"] {
            assert!(refused.stderr.contains(says), "{says}: {refused:?}");
        }
    }
    assert_eq!(ad(&server, "L101").await["price"][0]["amount"], 105_000, "nothing was sent");
    let lower = cli.run(&format!("{RUN} --allow-far-prices 29")).await;
    assert!(lower.code == 3 && lower.stderr.contains("more than --allow-far-prices 29"), "{lower:?}");
    // Some may be far.
    let mut rows = thirty();
    rows[..3].iter_mut().for_each(|row| row.1 = "10500000");
    cli.file("stock.csv", stock(&rows));
    let some = cli.run(&update).await;
    assert_eq!((some.code, last_line(&some)), (0, "3 updated, 27 unchanged"), "{some:?}");
    for row in &mut rows {
        row.1 = "10500000";
    }
    cli.file("stock.csv", stock(&rows));
    let allowed = cli.run(&format!("{RUN} --allow-far-prices 27")).await;
    assert_eq!((allowed.code, last_line(&allowed)), (0, "stock.csv: 27 updated, 3 unchanged"), "{allowed:?}");
}

#[tokio::test]
async fn a_night_that_is_interrupted_says_what_was_done_and_goes_on_later() {
    let (server, cli) = first_night().await;
    let mut rows = thirty();
    for row in &mut rows {
        row.1 = "95000";
    }
    rows.pop();
    cli.file("stock.csv", stock(&rows));
    let run = format!("{RUN} --report report.json");
    let slow = cli.with("AD_RATE", "10");
    let mut night = slow.command(format!("{run} --parallel 2").split_whitespace());
    let night = night.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("an update", || async { (ad(&server, "L101").await["price"][0]["amount"] == 95_000).then_some(()) })
        .await;
    let id = night.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().await.unwrap().success());
    let output = night.wait_with_output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{told}");
    for says in [
        "stopping after the running requests",
        "stock.csv: ",
        " updated, ",
        " not sent",
        "to resume: run the same command again",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    let report = report(&slow);
    let count = |name: &str| report["summary"][name].as_u64().unwrap();
    assert!(count("updated") > 0 && count("updated") < 29, "{report}");
    assert_eq!((count("updated") + count("not_sent"), count("hidden")), (30, 0), "{report}");
    assert_eq!(ad(&server, "L130").await["visible"], true);

    let again = slow.with("AD_RATE", "unlimited").run(&run).await;
    let rest = 29 - count("updated");
    let done = format!("stock.csv: {rest} updated, 1 hidden, {} unchanged", count("updated"));
    assert_eq!((again.code, last_line(&again)), (0, done.as_str()), "{again:?}");
}
