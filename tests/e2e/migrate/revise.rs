//! `ad-migrate run --update` and `undo`: ads that were created before are corrected, or taken away.

use ad_tests::{Cli, Server, eventually};
use serde_json::{Value, json};

const MAPPING: &str = "[vehicle]\ntype = \"car\"\n\
    [rows]\nskip = { column = \"Status\", is = \"sold\" }\n\
    [fields]\nsource_id = \"Nr\"\ncategory_fields.registration_number = \"Plate\"\n\
    category_fields.model_year = \"Year\"\ncategory_fields.color = \"Colour\"\n";

const STOCK: &str = "Nr;Plate;Year;Colour;Status\nL1;ABC123;2019;Red;\nL2;ABC124;2020;Blue;\nL3;ABC125;2021;Green;\nL4;ABC126;2022;White;sold\n";

async fn migrated() -> (Server, Cli) {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    cli.file("stock.toml", MAPPING);
    cli.file("stock.csv", STOCK);
    let created = cli.run("run stock.csv --mapping stock.toml").await;
    assert_eq!(created.code, 0, "{created:?}");
    assert!(
        created.stderr.contains("1 of 4 rows are skipped") && created.stderr.contains("3 newly listed"),
        "{created:?}"
    );
    (server, cli)
}

async fn ad(server: &Server, id: &str) -> Value {
    server.client.get(&format!("/v4/ad/{id}")).await.expect(200)
}

fn report(cli: &Cli) -> Value {
    serde_json::from_slice(&std::fs::read(cli.home().join("report.json")).unwrap()).unwrap()
}

#[tokio::test]
async fn only_what_differs_is_sent_and_the_old_value_is_shown() {
    let (server, cli) = migrated().await;
    let before = ad(&server, "L2").await;
    cli.file("stock.csv", STOCK.replace("Red", "Dark red").replace("L3;ABC125;2021;Green", "L9;ABC129;2021;Green"));
    let rehearsed = cli.run("run stock.csv --mapping stock.toml --update --rehearse --report report.json").await;
    assert_eq!(rehearsed.code, 0, "{rehearsed:?}");
    assert!(rehearsed.stderr.contains("1 would be updated, 1 unchanged, 1 skipped"), "{rehearsed:?}");
    assert_eq!(ad(&server, "L1").await["category_fields"]["color"], "Red", "nothing was sent");

    let updated = cli.run("run stock.csv --mapping stock.toml --update --report report.json").await;
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(updated.stderr.contains("1 updated, 1 unchanged, 1 skipped"), "{updated:?}");
    let row = report(&cli)["rows"][0].clone();
    let change = json!([{"field": "category_fields.color", "old": "Red", "new": "Dark red"}]);
    assert_eq!((&row["source_id"], &row["outcome"], &row["changes"]), (&json!("L1"), &json!("updated"), &change));
    assert_eq!(ad(&server, "L1").await["category_fields"]["color"], "Dark red");
    assert_eq!(ad(&server, "L2").await["updated"], before["updated"], "an equal ad is not written");
    server.client.get("/v4/ad/L9").await.expect(404);

    let again = cli.run("run stock.csv --mapping stock.toml --update").await;
    assert!(again.stderr.contains("2 unchanged, 1 skipped"), "{again:?}");
}

#[tokio::test]
async fn undo_hides_or_deletes_what_was_created_within_its_limit() {
    let (server, cli) = migrated().await;
    let refused = cli.run("undo stock.csv --yes").await;
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(
        refused.stderr.contains("3 of 3 ads would be hidden") && refused.stderr.contains("--allow-removals 3"),
        "{refused:?}"
    );
    assert_eq!(ad(&server, "L1").await["visible"], true);
    let lower = cli.run("undo stock.csv --yes --delete --allow-removals 2").await;
    assert!(lower.code == 3 && lower.stderr.contains("more than --allow-removals 2"), "{lower:?}");
    let dry = cli.run("undo stock.csv --dry-run --allow-removals 3").await;
    assert!(dry.done().contains("L1") && dry.stderr.contains("3 ads would be hidden; nothing was changed"), "{dry:?}");
    assert_eq!(ad(&server, "L1").await["visible"], true);

    let hidden = cli.run("undo stock.csv --yes --allow-removals 3 --report report.json").await;
    assert_eq!(hidden.code, 0, "{hidden:?}");
    assert!(hidden.stderr.contains("3 hidden"), "{hidden:?}");
    assert_eq!(report(&cli)["rows"].as_array().map(Vec::len), Some(3));
    for id in ["L1", "L2", "L3"] {
        assert_eq!(ad(&server, id).await["visible"], false, "{id}");
    }
    assert!(hidden.stderr.contains("to show them again: ad-migrate publish stock.csv"), "{hidden:?}");
    let again = cli.run("undo stock.csv --yes").await;
    assert!(again.code == 0 && again.stderr.contains("3 hidden or deleted before"), "{again:?}");

    // A correction does not show what is hidden.
    cli.file("stock.csv", STOCK.replace("Red", "Dark red"));
    let updated = cli.run("run stock.csv --mapping stock.toml --update").await;
    assert!(updated.code == 0 && updated.stderr.contains("1 updated, 2 unchanged"), "{updated:?}");
    assert_eq!(ad(&server, "L1").await["visible"], false);

    let deleted = cli.run("undo stock.csv --yes --delete --allow-removals 3").await;
    assert!(deleted.code == 0 && deleted.stderr.contains("3 deleted"), "{deleted:?}");
    eventually("the deletion", || async { (ad(&server, "L1").await["state"] == "deleted").then_some(()) }).await;
}

#[tokio::test]
async fn what_was_not_migrated_is_neither_updated_nor_undone() {
    let server = Server::start().await;
    let cli = Cli::of(&server).migrating();
    cli.file("stock.toml", MAPPING);
    cli.file("stock.csv", STOCK);
    for line in ["run stock.csv --mapping stock.toml --update", "undo stock.csv --yes"] {
        let ended = cli.run(line).await;
        assert!(ended.code == 2 && ended.stderr.contains("no ads were created from"), "{ended:?}");
    }
}

#[tokio::test]
async fn what_undo_has_hidden_is_not_called_done_and_publish_shows_it_again() {
    let (server, cli) = migrated().await;
    let hidden = cli.run("undo stock.csv --yes --allow-removals 3").await;
    assert_eq!(hidden.code, 0, "{hidden:?}");
    let told = "3 ads are hidden, by `undo` or --hidden; to show them: ad-migrate publish stock.csv";
    let run = "run stock.csv --mapping stock.toml --report report.json";
    let before = cli.run(run).await;
    assert!(before.code == 0 && before.stderr.contains(told), "{before:?}");
    assert_eq!(report(&cli)["rows"][0]["outcome"], "hidden", "{before:?}");

    let some = cli.run("publish stock.csv --limit 1").await;
    assert_eq!(some.code, 0, "{some:?}");
    let rest = cli.run(run).await;
    assert!(rest.stderr.contains("2 ads are hidden, by"), "{rest:?}");
    let all = cli.run("publish stock.csv").await;
    assert_eq!(all.code, 0, "{all:?}");
    for id in ["L1", "L2", "L3"] {
        assert_eq!(ad(&server, id).await["visible"], true, "{id}");
    }
    let done = cli.run(run).await;
    assert!(done.code == 0 && !done.stderr.contains("hidden"), "{done:?}");
    assert!(done.stderr.contains("3 sent before, 1 skipped"), "{done:?}");

    // Who shows them otherwise is not told that they are hidden.
    let hidden = cli.run("undo stock.csv --yes --allow-removals 3").await;
    assert!(hidden.code == 0 && hidden.stderr.contains("3 hidden"), "{hidden:?}");
    let night = cli.run("run stock.csv --mapping stock.toml --sync").await;
    assert!(night.code == 0 && night.stderr.contains("3 updated"), "{night:?}");
    let done = cli.run(run).await;
    assert!(done.code == 0 && !done.stderr.contains("are hidden"), "{done:?}");
}
