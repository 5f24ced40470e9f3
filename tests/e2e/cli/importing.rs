//! `ad-cli import`: every ad gets there once, whatever happens on the way, and one learns what became of it.

use std::{path::Path, process::Stdio};

use ad_tests::{Cli, Server, eventually};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::relay::Relay;

const CAR: &str = include_str!("../../data/payloads/car-v4.json");

/// A car of which there is one of each number.
fn car(number: usize) -> Value {
    let mut car: Value = serde_json::from_str(CAR).unwrap();
    car["source_id"] = json!(format!("car-{number}"));
    car["category_fields"]["registration_number"] = json!(format!("C{number:05}"));
    car.as_object_mut().unwrap().remove("image_urls");
    car
}

fn ndjson(ads: impl IntoIterator<Item = Value>) -> String {
    ads.into_iter().flat_map(|ad| [ad.to_string(), "\n".to_owned()]).collect()
}

/// How many ads the server has.
async fn count(server: &Server) -> u64 {
    server.client.get("/v4/ad?limit=1").await.expect(200)["count"].as_u64().unwrap()
}

/// What the report says of each ad.
fn outcomes(report: &Path) -> Vec<(String, String)> {
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let text = |ad: &Value, name: &str| ad[name].as_str().unwrap_or_default().to_owned();
    report["ads"].as_array().unwrap().iter().map(|ad| (text(ad, "source_id"), text(ad, "outcome"))).collect()
}

/// Starts an import that nobody sees.
fn start(cli: &Cli, line: &str) -> Child {
    let mut command: Command = cli.command(line.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Every ad is there, published, and was created by one request, the first that the server took.
async fn all_there_once(server: &Server, relay: &Relay, ads: usize) {
    assert_eq!(count(server).await, ads as u64);
    for (source_id, answers) in relay.answers() {
        let accepted = answers.iter().filter(|status| **status == 201).count();
        assert_eq!(accepted, 1, "{source_id}: {answers:?}");
        assert_eq!(answers.last(), Some(&201), "{source_id} was sent again after it had been accepted: {answers:?}");
    }
    assert_eq!(relay.answers().len(), ads);
}

#[tokio::test]
async fn every_ad_is_told_and_a_bad_one_stops_no_other() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &car(2)).await.expect(201);
    let mut ads: Vec<_> = (0..20).map(car).collect();
    ads[5]["category_fields"]["brand"] = json!("wolvo");
    ads[7]["category_fields"]["salesperson"] = json!("nobody@north.example");
    ads[9]["source_id"] = json!("car-8");
    ads[11]["visible"] = json!(false);
    let text = ndjson(ads).replacen("{\"body\"", "{half\n{\"body\"", 1);
    let file = cli.file("stock.ndjson", text);
    let ended = cli.run("import stock.ndjson --report report.json").await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stdout.contains('\u{1b}'), "{ended:?}");
    let outcomes = outcomes(&cli.home().join("report.json"));
    let of =
        |outcome: &str| outcomes.iter().filter(|(_, it)| it == outcome).map(|(id, _)| id.as_str()).collect::<Vec<_>>();
    assert_eq!(of("rejected"), ["", "car-2", "car-5", "car-7", ""]);
    assert_eq!(of("hidden"), ["car-11"]);
    assert_eq!(of("published").len(), 15);
    // People see why, where, and what to do.
    for told in [
        "stock.ndjson:1:2: error: Not JSON: key must be a string.",
        "error: category_fields.brand is \"wolvo\" (car-5)",
        "see: ad-cli values car brand",
        "Duplicate source_id (first on line 10)",
        "This source_id has been used",
        "is not a salesperson of dealer",
    ] {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
    assert!(ended.stderr.contains("21 ads: 15 published, 1 stored, hidden, 5 rejected"), "{}", ended.stderr);
    // Programs see every ad.
    std::fs::remove_file(format!("{}.journal", file.display())).unwrap();
    let ended = cli.run("import stock.ndjson --output ndjson").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 21);
    let first: Value = serde_json::from_str(ended.stdout.lines().nth(6).unwrap()).unwrap();
    assert_eq!((&first["line"], &first["outcome"]), (&json!(7), &json!("rejected")));
    assert_eq!(first["findings"][0]["suggestions"], json!(["volvo"]));
}

#[tokio::test]
async fn killed_at_any_moment_it_goes_on_and_sends_nothing_twice() {
    const ADS: usize = 400;
    let server = Server::start().await;
    let relay = Relay::before(&server).await;
    let cli = Cli::of(&server).with("AD_URL", &relay.base);
    cli.file("stock.ndjson", ndjson((0..ADS).map(car)));
    for kill in 1..=5 {
        let mut import = start(&cli, "import stock.ndjson --resume");
        let wanted = kill * ADS / 8;
        eventually("some creates", || async { (relay.creates() >= wanted).then_some(()) }).await;
        import.kill().await.unwrap();
        // What the killed one had on the way may still arrive.
        assert!(cli.home().join("stock.ndjson.journal").exists());
    }
    assert!(count(&server).await < ADS as u64, "it was killed before it was done");
    let ended = cli.run("import stock.ndjson --resume --report report.json").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let outcomes = outcomes(&cli.home().join("report.json"));
    assert_eq!(outcomes.len(), ADS);
    assert!(outcomes.iter().all(|(_, outcome)| outcome == "published"), "{outcomes:?}");
    all_there_once(&server, &relay, ADS).await;
    // All is done: going on does nothing.
    let creates = relay.creates();
    assert_eq!(cli.run("import stock.ndjson --resume").await.code, 0);
    assert_eq!(relay.creates(), creates);
}

#[tokio::test]
async fn answers_that_were_not_recorded_are_found_again() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.ndjson", ndjson((0..5).map(car)));
    assert_eq!(cli.run("import stock.ndjson").await.code, 0);
    let journal = cli.home().join("stock.ndjson.journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    let begun = text.lines().next().unwrap();
    // By its keys, the service answers as before. Without them, as when they have expired, the ads are compared.
    for begun in [begun.to_owned(), begun.replace("\"keys\"", "\"expired\"")] {
        std::fs::write(&journal, format!("{begun}\n{{\"accepted\":{{")).unwrap();
        let ended = cli.run("import stock.ndjson --resume").await;
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stderr.contains("5 ads: 5 published"), "{ended:?}");
        assert_eq!(count(&server).await, 5);
    }
}

#[tokio::test]
async fn an_answer_that_got_lost_is_looked_for() {
    const ADS: usize = 60;
    let server = Server::start().await;
    let relay = Relay::before(&server).await;
    relay.lose(6);
    let cli = Cli::of(&server).with("AD_URL", &relay.base);
    cli.file("stock.json", Value::from((0..ADS).map(car).collect::<Vec<_>>()).to_string());
    let ended = cli.run("import stock.json").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("60 ads: 60 published"), "{ended:?}");
    all_there_once(&server, &relay, ADS).await;
}

#[tokio::test]
async fn another_ad_of_the_same_source_id_is_not_taken_for_ours() {
    let server = Server::start().await;
    let relay = Relay::before(&server).await;
    let cli = Cli::of(&server).with("AD_URL", &relay.base);
    let mut other = car(0);
    other["category_fields"]["registration_number"] = json!("OTHER1");
    server.client.post("/v4/car", &other).await.expect(201);
    // The answer that it is used gets lost.
    relay.lose(1);
    cli.file("car.json", car(0).to_string());
    let import = start(&cli, "import car.json");
    eventually("a create", || async { (relay.creates() > 0).then_some(()) }).await;
    relay.lose(0);
    let output = import.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn ctrl_c_leaves_a_state_from_which_it_goes_on() {
    const ADS: usize = 200;
    let server = Server::start().await;
    let relay = Relay::before(&server).await;
    let cli = Cli::of(&server).with("AD_URL", &relay.base).with("AD_RATE", "100");
    cli.file("stock.ndjson", ndjson((0..ADS).map(car)));
    let import = start(&cli, "import stock.ndjson");
    eventually("some creates", || async { (relay.creates() > 20).then_some(()) }).await;
    let interrupted = Command::new("kill").args(["-s", "INT", &import.id().unwrap().to_string()]).status().await;
    assert!(interrupted.unwrap().success());
    let output = import.wait_with_output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("ad-cli import --resume stock.ndjson"), "{told}");
    // Whoever was asked to stop knows what it has done.
    assert!(!told.contains("unclear"), "{told}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "what was not come to is no news");
    let before = relay.answers();
    assert!(before.len() < ADS);
    // Without being told to go on, it does not begin anew.
    let again = cli.run("import stock.ndjson").await;
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.stderr.contains("--resume"), "{again:?}");
    let ended = cli.run("import stock.ndjson --resume --rate unlimited").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    all_there_once(&server, &relay, ADS).await;
}

#[tokio::test]
async fn two_imports_do_not_share_a_journal() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.ndjson", ndjson((0..5).map(car)));
    // The service hangs, so the first one does too.
    server.signal("STOP").await;
    let mut import = start(&cli, "import stock.ndjson");
    let journal = cli.home().join("stock.ndjson.journal");
    eventually("the journal", || async { std::fs::read_to_string(&journal).ok().filter(|it| it.contains("begun")) })
        .await;
    let second = cli.run("import stock.ndjson --resume").await;
    assert_eq!(second.code, 2, "{second:?}");
    assert!(second.stderr.contains("another process is using the journal"), "{second:?}");
    server.signal("CONT").await;
    assert!(import.wait().await.unwrap().success());
    assert_eq!(count(&server).await, 5);
}

#[tokio::test]
async fn a_file_that_has_changed_is_noticed() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads: Vec<_> = (0..4).map(car).collect();
    ads[1]["category_fields"]["brand"] = json!("wolvo");
    cli.file("stock.ndjson", ndjson(ads));
    assert_eq!(cli.run("import stock.ndjson").await.code, 1);
    assert_eq!(count(&server).await, 3);
    cli.file("stock.ndjson", ndjson((0..6).map(car)));
    let ended = cli.run("import stock.ndjson --resume").await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("has changed since"), "{ended:?}");
    assert_eq!(count(&server).await, 3);
    let ended = cli.run("import stock.ndjson --resume --accept-changes").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(count(&server).await, 6);
}

#[tokio::test]
async fn what_is_wrong_with_the_way_there_is_one_message_and_loses_nothing() {
    let mut server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.ndjson", ndjson((0..30).map(car)));
    let unauthorised = Cli::of(&server).with("AD_TOKEN", "e30.e30.e30");
    unauthorised.file("stock.ndjson", ndjson((0..30).map(car)));
    let ended = unauthorised.run("import stock.ndjson").await;
    assert_eq!(ended.code, 4, "{ended:?}");
    assert_eq!(ended.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{ended:?}");
    assert!(ended.stderr.contains("30 not sent"), "{ended:?}");
    server.kill().await;
    let ended = cli.run("import stock.ndjson").await;
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.stderr.contains("cannot reach the service") && ended.stderr.contains("--resume"), "{ended:?}");
    server.restart().await;
    // Back at another address, which is another service for all that is known.
    let cli = cli.with("AD_URL", &server.client.base);
    assert_eq!(cli.run("import stock.ndjson --resume").await.code, 2);
    let ended = cli.run("import stock.ndjson --journal other.journal").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(count(&server).await, 30);
}

#[tokio::test]
async fn stdin_is_imported_too_and_need_not_be_waited_for() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let ended = cli.piped("import - --no-wait --output json", ndjson((0..3).map(car))).await;
    let rows = ended.json();
    assert_eq!(rows.as_array().unwrap().len(), 3);
    assert!(rows.as_array().unwrap().iter().all(|row| row["outcome"] == "accepted" && row["request_id"].is_string()));
    assert_eq!(count(&server).await, 3);
    assert_eq!(cli.piped("import -", "[]").await.code, 2);
}

#[tokio::test]
async fn files_that_no_earlier_run_has_written_stay() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let invalid = json!({"source_id": "bad", "category_id": 1});
    cli.file("stock.ndjson", format!("{}{invalid}\n", ndjson([car(0)])));
    let stock = std::fs::read(cli.home().join("stock.ndjson")).unwrap();
    for line in [
        "import stock.ndjson --report stock.ndjson",
        "import stock.ndjson --rejects stock.ndjson",
        "sync plan stock.ndjson --save stock.ndjson",
    ] {
        let refused = cli.run(line).await;
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{line}: {refused:?}");
        let expected = "error: stock.ndjson exists, and this command did not write it\n  help: choose another name, or overwrite it with --force\n";
        assert_eq!(refused.stderr, expected);
        assert_eq!(std::fs::read(cli.home().join("stock.ndjson")).unwrap(), stock);
    }
    assert_eq!(count(&server).await, 0, "nothing was sent");
    let forget_import = || drop(std::fs::remove_file(cli.home().join("stock.ndjson.journal")));
    // A nightly run replaces what it wrote the night before.
    for line in [
        "import stock.ndjson --report report.json --rejects rejects.ndjson",
        "sync plan stock.ndjson --save plan.ndjson",
    ] {
        let first = cli.run(line).await;
        forget_import();
        let second = cli.run(line).await;
        forget_import();
        assert_ne!(second.code, 2, "{line}: {first:?}, {second:?}");
    }
    let rejects = std::fs::read_to_string(cli.home().join("rejects.ndjson")).unwrap();
    assert!(rejects.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{rejects}");
    cli.file("report.json", "mine");
    cli.run("import stock.ndjson --report report.json --force").await;
    assert!(!outcomes(&cli.home().join("report.json")).is_empty());
}
