//! `ad-cli stock`: a stock becomes a plan of the service, and the plan becomes the stock.

use ad_tests::{Cli, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// A car of which there is one of each number.
fn car(number: usize) -> Value {
    let mut car = plain_car(&format!("car-{number}"), &format!("C{number:05}"));
    car["price"] = json!([{"type": "list", "amount": 100_000 + number}]);
    car
}

fn ndjson<'a>(ads: impl IntoIterator<Item = &'a Value>) -> String {
    ads.into_iter().map(|ad| ad.to_string() + "\n").collect()
}

/// A plan of a file, whatever the exit code.
async fn planned(cli: &Cli, line: &str) -> Value {
    let ended = cli.run(&format!("stock plan {line} --output json")).await;
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn id(plan: &Value) -> &str {
    plan["id"].as_str().unwrap()
}

/// The counts of its only dealer that are not 0.
fn counts(plan: &Value) -> Value {
    let counts = plan["dealers"][0]["counts"].as_object().unwrap();
    counts.iter().filter(|(_, count)| **count != json!(0)).map(|(kind, count)| (kind.clone(), count.clone())).collect()
}

/// A stock at the service.
async fn stock(cli: &Cli, count: usize) -> Vec<Value> {
    let ads: Vec<_> = (0..count).map(car).collect();
    cli.file("stock.ndjson", ndjson(&ads));
    let plan = planned(cli, "stock.ndjson").await;
    assert_eq!((&plan["state"], counts(&plan)), (&json!("ready"), json!({"create": count})));
    let applied = cli.run(&format!("stock apply {} --yes --output json", id(&plan))).await.json();
    assert_eq!((&applied["state"], &applied["dealers"][0]["outcomes"]["done"]), (&json!("applied"), &json!(count)));
    ads
}

#[tokio::test]
async fn what_differs_is_planned_shown_and_applied() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = stock(&cli, 20).await;
    let unchanged = cli.run("stock plan stock.ndjson").await;
    assert!(unchanged.done().ends_with("  20 unchanged\n") && unchanged.stderr == "nothing to do\n", "{unchanged:?}");

    ads[3]["price"][0]["amount"] = json!(90_000);
    ads[4]["category_fields"]["brand"] = json!("wolvo");
    ads.push(car(20));
    ads.remove(0);
    cli.file("stock.json", serde_json::to_string_pretty(&ads).unwrap());
    let ended = cli.run("stock plan stock.json --missing delete").await;
    assert_eq!(ended.code, 3, "an ad is invalid: {ended:?}");
    for told in [
        "  ~ car-3 (update, line ",
        "      price: list 100,003 → 90,000",
        "  + car-20 (create, line ",
        "  - car-0 (delete)\n",
        "category_fields.brand: ",
        "  1 to update, 1 to create, 1 to delete, 17 unchanged, 1 invalid\n",
    ] {
        assert!(ended.stdout.contains(told), "{told}: {ended:?}");
    }
    let id = ended.stdout.split_once("Plan ").unwrap().1.split(':').next().unwrap().to_owned();
    assert!(ended.stderr.ends_with(&format!("to apply it:\n  ad-cli stock apply {id}\n")), "{ended:?}");
    // The line is that of the file.
    let wrong = cli.run(&format!("stock show {id} --kind invalid --output json")).await.json();
    let text = std::fs::read_to_string(cli.home().join("stock.json")).unwrap();
    let line = text.lines().position(|line| line.contains("\"wolvo\"")).unwrap() + 1;
    let opened = text.lines().take(line).collect::<Vec<_>>().iter().rposition(|line| *line == "  {").unwrap() + 1;
    assert_eq!((&wrong[0]["line"], &wrong[0]["source_id"]), (&json!(opened), &json!("car-4")));

    let asked = cli.run(&format!("stock apply {id}")).await;
    assert_eq!((asked.code, asked.stderr.contains("--yes")), (2, true), "{asked:?}");
    let applied = cli.run(&format!("stock apply {id} --yes")).await;
    assert_eq!(applied.code, 3, "an ad is invalid: {applied:?}");
    assert!(applied.stdout.ends_with("  1 updated, 1 created, 1 deleted, 17 unchanged, 1 invalid\n"), "{applied:?}");
    assert_eq!(server.client.ad("car-3").await["price"][0]["amount"], json!(90_000));
    assert_eq!(server.client.ad("car-0").await["state"], "deleted");
    assert_eq!(server.client.ad("car-20").await["state"], "created");
    // Again, it is answered as it is.
    assert_eq!(cli.run(&format!("stock apply {id} --yes --output json")).await.code, 3);
    let plans = cli.run("stock show --output json").await.json();
    assert_eq!(plans.as_array().unwrap().len(), 3);
    let rows = cli.run(&format!("stock show {id} --changes --all --output ndjson")).await.ndjson();
    let mut outcomes: Vec<_> = rows.iter().map(|row| (row["kind"].clone(), row["outcome"].clone())).collect();
    outcomes.sort_by_key(|(kind, _)| kind.to_string());
    let done = |kind: &str| (json!(kind), json!("done"));
    assert_eq!(outcomes, [done("create"), done("delete"), (json!("invalid"), Value::Null), done("update")]);
}

#[tokio::test]
async fn what_is_no_stock_is_refused_with_its_line() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let ads = stock(&cli, 5).await;
    let text = ndjson(&ads);
    for (content, told) in [
        (text[..text.len() - 20].to_owned(), "  line 5: The body ends within this payload"),
        (format!("{text}{}", ads[2]), "  line 6: "),
        ("[]".to_owned(), "Errors\n"),
    ] {
        cli.file("stock.json", content);
        let ended = cli.run("stock plan stock.json --missing delete").await;
        assert!(
            ended.code == 3 && ended.stdout.contains(told) && ended.stdout.contains(": refused"),
            "{told}: {ended:?}"
        );
        let id = ended.stdout.split_once("Plan ").unwrap().1.split(':').next().unwrap();
        let applied = cli.run(&format!("stock apply {id} --yes")).await;
        assert!(applied.code == 3 && applied.stderr.contains("is refused, so it cannot be applied"), "{applied:?}");
    }
    // An array that ends early is noticed here, and its request is broken off.
    let array = json!(ads).to_string();
    cli.file("stock.json", &array[..array.len() - 1]);
    let ended = cli.run("stock plan stock.json --missing delete").await;
    assert!(ended.code == 3 && ended.stderr.contains("the file ends before the array is closed"), "{ended:?}");
    let missing = cli.run("stock plan nothing.json").await;
    assert_eq!((missing.code, missing.stderr.contains("there is no such file")), (2, true), "{missing:?}");
}

#[tokio::test]
async fn removals_beyond_the_guard_need_their_number_and_changed_ads_stay() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = stock(&cli, 12).await;
    ads[5]["body"] = json!("Well kept");
    let ended = cli.piped("stock plan - --missing hide --output json", ndjson(&ads[3..])).await;
    assert!(ended.code == 3 && ended.stderr.contains("--allow-removals 3"), "{ended:?}");
    let plan: Value = serde_json::from_str(&ended.stdout).unwrap();
    let apply = format!("stock apply {} --yes", id(&plan));
    let refused = cli.run(&apply).await;
    assert!(refused.code == 3 && refused.stderr.contains("nothing was changed"), "{refused:?}");
    let url = "/v4/car/car-5";
    server.client.patch(url, &json!({"body": "Sold soon"})).await.expect(200);
    let applied = cli.run(&format!("{apply} --allow-removals 3")).await;
    assert_eq!(applied.code, 1, "{applied:?}");
    assert!(applied.stdout.contains("  ~ car-5 (update, line 3): conflict\n"), "{applied:?}");
    assert!(applied.stdout.ends_with("  3 done, 1 in conflict\n"), "{applied:?}");
    assert_eq!(server.client.ad("car-5").await["body"], "Sold soon");
    assert_eq!(server.client.ad("car-0").await["visible"], json!(false));

    let plan = planned(&cli, "stock.ndjson").await;
    let cancelled = cli.run(&format!("stock cancel {} --output json", id(&plan))).await.json();
    assert_eq!(cancelled["state"], "cancelled");
    let late = cli.run(&format!("stock apply {} --yes", id(&plan))).await;
    assert!(late.code == 3 && late.stderr.contains("is cancelled, so it cannot be applied"), "{late:?}");
}

#[tokio::test]
async fn one_change_of_selected_ads_is_planned_and_applied() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    stock(&cli, 5).await;
    let line = "--select source_id_in=car-1,car-2 --select category_id=1020 --price-percent -5 --round 100";
    let ended = cli.run(&format!("stock plan {line}")).await;
    for told in ["  ~ car-1 (update)\n", "      price: list 100,001 → 95,000", "  2 to update\n"] {
        assert!(ended.done().contains(told), "{told}: {ended:?}");
    }
    let id = ended.stdout.split_once("Plan ").unwrap().1.split(':').next().unwrap();
    cli.run(&format!("stock apply {id} --yes")).await.done();
    for (number, amount) in [(0, 100_000), (1, 95_000), (2, 95_000), (3, 100_003)] {
        assert_eq!(server.client.ad(&format!("car-{number}")).await["price"][0]["amount"], json!(amount), "{number}");
    }
    let args =
        ["stock", "plan", "--select", "state=created", "--set", r#"{"body": "Spring sale"}"#, "--output", "json"];
    assert_eq!(counts(&cli.args(args).await.json()), json!({"update": 5}));
    for (line, code, told) in [
        ("--select stats=live --price-percent -5", 2, "Did you mean"),
        ("--select status=live", 2, "give --price-percent or --price-amount or --set"),
        ("--select limit=3 --price-percent -5", 2, "--select: limit: "),
        ("--select status=live --price-percent -100", 3, "price_percent: "),
    ] {
        let ended = cli.run(&format!("stock plan {line}")).await;
        assert!(ended.code == code && ended.stderr.contains(told), "{line}: {ended:?}");
    }
}
