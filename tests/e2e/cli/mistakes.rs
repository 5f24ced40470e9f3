//! Mistakes of earlier versions: each is tried as it was found.

use std::process::Stdio;

use ad_tests::{Cli, Server};
use serde_json::{Value, json};

use super::sync::ndjson;
use crate::payloads::plain_car;

#[tokio::test]
async fn a_stock_file_that_was_cut_changes_nothing() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = [plain_car("car-1", "ABC101"), plain_car("car-2", "ABC102")];
    cli.file("stock.ndjson", ndjson(&ads));
    cli.run("sync apply stock.ndjson --yes").await.done();
    ads[0]["body"] = json!("New text");
    let text = ndjson(&ads);
    cli.file("stock.ndjson", &text[..text.len() - 20]);
    let cut = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!(cut.code, 3, "{cut:?}");
    assert!(cut.stderr.contains("stock.ndjson:2:1: Truncated JSON"), "{cut:?}");
    assert!(cut.stderr.contains("nothing was changed"), "{cut:?}");
    assert_eq!(server.client.ad("car-1").await["body"], Value::Null);
}

#[tokio::test]
async fn stdin_is_imported_more_than_once_in_a_folder() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let first = ndjson(&[plain_car("car-1", "ABC101")]);
    cli.piped("import -", &first).await.done();
    cli.piped("import -", ndjson(&[plain_car("car-2", "ABC102")])).await.done();
    let again = cli.piped("import -", &first).await;
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.stderr.contains("to resume: add --resume"), "{again:?}");
    let resumed = cli.piped("import - --resume --output json", &first).await;
    assert_eq!(resumed.json()[0]["outcome"], "published");
}

#[tokio::test]
async fn csv_into_head_is_no_error() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    for line in ["list --output csv", "export --output csv", "fields car --output csv", "values car brand --output csv"]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = cli.command(line.split(' '));
        let process = command.arg("--quiet").stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = process.wait_with_output().await.unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[tokio::test]
async fn every_column_of_fields_has_a_name_and_one_value() {
    let fields = Cli::new().run("fields car --output csv").await;
    let header = fields.done().lines().next().unwrap();
    assert_eq!(header, "field,type,required,nullable,since,default,about,values");
    assert!(!fields.stdout.contains('{'), "{}", fields.stdout);
    assert!(
        fields.stdout.contains("\ncategory_fields.model_year,\"integer, 1900 to 2100\",true,"),
        "{}",
        fields.stdout
    );
}

#[tokio::test]
async fn help_names_options_that_exist_and_quotes_as_every_shell_reads_it() {
    let page = ad_cli::cli::markdown();
    assert!(!page.contains("--waitn"));
    let examples = page.lines().filter(|line| line.starts_with("  ad-cli ") || line.contains("| ad-cli "));
    let quoted: Vec<_> = examples.filter(|line| line.contains('\'')).collect();
    assert!(quoted.is_empty(), "cmd.exe knows no single quotes: {quoted:#?}");
}

#[tokio::test]
async fn a_hint_leads_to_what_it_promises() {
    let cli = Cli::new();
    let mut car = plain_car("car-1", "ABC101");
    car["price"] = json!([{"type": "list", "amount": "much"}]);
    cli.file("car.json", car.to_string());
    let wrong = cli.run("validate car.json --output json").await;
    let findings: Value = serde_json::from_str(&wrong.stdout).unwrap();
    let command = findings[0]["command"].as_str().unwrap().strip_prefix("ad-cli ").unwrap();
    assert_eq!(command, "fields car price.amount");
    let shown = cli.run(&format!("{command} --output ndjson")).await.ndjson();
    assert_eq!(shown[0]["field"], "price[].amount");
}

#[tokio::test]
async fn an_ambiguous_ad_is_answered_alike_by_all_commands() {
    let server = Server::start().await;
    let group = server.token(&["--dealer-group", "north"]).await;
    let cli = Cli::of(&server).with("AD_TOKEN", &group);
    for (dealer, plate) in [("north-cars", "AAA111"), ("coast-boats", "BBB222")] {
        let mut car = plain_car("same", plate);
        car["dealer_code"] = json!(dealer);
        cli.piped("create - --wait", car.to_string()).await.done();
    }
    for line in ["get same", "status same", "log same", "delete same --yes", "bump same --yes", "retry same"] {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.stderr.contains("\"coast-boats\""), "{line}: {ended:?}");
        assert!(ended.stderr.contains("choose the dealer of the ad: --dealer-code CODE"), "{line}: {ended:?}");
        assert!(!ended.stderr.contains("?dealer_code"), "{line}: {ended:?}");
    }
    let one = cli.run("get same --dealer-code coast-boats --output json").await.json();
    assert_eq!(one["dealer_code"], "coast-boats");
}

#[tokio::test]
async fn an_update_without_changes_names_the_options_for_them() {
    let ended = Cli::new().run("update car-1").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("--set PATH=VALUE") && ended.stderr.contains("--unset PATH"), "{ended:?}");
}
