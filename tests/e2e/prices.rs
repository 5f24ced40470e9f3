//! The prices of an ad over time on both databases (extensions E7), through the API, the client and the command line.

use ad_cli::{Client as ApiClient, Target};
use ad_tests::{Cli, Client, Options, Postgres, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

async fn prices(client: &Client, source_id: &str) -> Value {
    let path = |base: &str| format!("{base}/{source_id}/prices");
    let answer = client.get(&path("/v4/car")).await.expect(200);
    for base in ["/v4/ad", "/v3/ad"] {
        assert_eq!(client.get(&path(base)).await.expect(200), answer);
    }
    answer
}

fn price(kind: &str, amount: u64) -> Value {
    json!({"type": kind, "amount": amount, "currency": "SEK"})
}

/// The prices of each period.
fn history(prices: &Value) -> Vec<&Value> {
    prices["history"].as_array().unwrap().iter().map(|period| &period["price"]).collect()
}

async fn every_price_is_recorded(database: &[&str]) {
    let args = database.iter().map(|arg| (*arg).to_owned()).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let mut car = plain_car("car-1", "ABC123");
    car["price"] = json!([{"type": "list", "amount": 189_900}]);
    let created = client.post("/v4/car", &car).await.expect(201);
    let first = prices(client, "car-1").await;
    assert_eq!(history(&first), [&json!([price("list", 189_900)])]);
    assert_eq!((&first["source_id"], &first["dealer_code"]), (&json!("car-1"), &json!("north-cars")));
    assert_eq!((&first["recorded_since"], &first["history"][0]["until"]), (&created["created"], &Value::Null));
    assert_eq!((&first["lowest_30_days"]["amount"], &first["reduction"]), (&json!(189_900), &Value::Null));

    // Only a change of the price is recorded, and only if it was accepted.
    let patch = async |body: Value, status| client.patch("/v4/car/car-1", &body).await.expect(status);
    patch(json!({"body": "Fin bil"}), 200).await;
    patch(json!({"price": [{"type": "list", "amount": 189_900}]}), 200).await;
    patch(json!({"price": [{"type": "list", "amount": -1}]}), 400).await;
    assert_eq!(prices(client, "car-1").await, first);

    let reduced = json!({"price": [price("list", 189_900), price("reduced", 179_900)]});
    let updated = patch(reduced.clone(), 200).await;
    let second = prices(client, "car-1").await;
    assert_eq!(history(&second), [&json!([price("list", 189_900)]), &reduced["price"]]);
    assert_eq!(second["history"][0]["until"], second["history"][1]["since"]);
    let reduction = &second["reduction"];
    assert_eq!((&reduction["amount"], &reduction["since"]), (&json!(179_900), &updated["updated"]));
    assert_eq!((&reduction["reference"]["amount"], &reduction["below_reference"]), (&json!(189_900), &json!(true)));
    assert_eq!(second["lowest_30_days"]["amount"], 179_900);

    // A raised reduction is held against the lowest of the days before, in quality too.
    let found = async || {
        let read = client.get("/v4/ad/car-1?include=quality").await.expect(200);
        let findings = read["quality"]["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["code"] == "reduced_not_below_lowest")
    };
    assert_eq!(found().await, None);
    patch(json!({"price": [price("list", 189_900), price("reduced", 184_900)]}), 200).await;
    let raised = prices(client, "car-1").await;
    assert_eq!(raised["reduction"]["reference"]["amount"], 179_900);
    assert_eq!(raised["reduction"]["below_reference"], false);
    let finding = found().await.unwrap();
    assert_eq!((&finding["severity"], &finding["field"]), (&json!("info"), &json!("price")));
    assert!(finding["text"].as_str().unwrap().contains("https://eur-lex.europa.eu/"), "{finding}");

    // A deleted ad has its prices; an unknown one and one of another dealer have none.
    client.delete("/v4/car/car-1").await.expect(200);
    client.ended("car-1", "delete", None).await;
    assert_eq!(prices(client, "car-1").await["history"], raised["history"]);
    client.get("/v4/ad/unknown/prices").await.expect(404);
    client.get("/v4/boat/car-1/prices").await.expect(404);
    server.client_of(&["--dealer-code", "south-cars"]).await.get("/v4/ad/car-1/prices").await.expect(404);

    let token = client.token.as_deref().unwrap();
    let api = ApiClient::builder(&client.base).token(token).rate(None).build().unwrap();
    let typed = api.v4().prices(Target::from("car-1")).await.unwrap().body;
    assert_eq!(serde_json::to_value(&typed).unwrap(), prices(client, "car-1").await);
}

#[tokio::test]
async fn every_accepted_price_is_recorded_with_its_time() {
    every_price_is_recorded(&[]).await;
}

#[tokio::test]
async fn every_accepted_price_is_recorded_with_its_time_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    every_price_is_recorded(&["--database-url", &postgres.database().await]).await;
}

#[tokio::test]
async fn the_command_line_shows_prices_and_quality() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut car = plain_car("car-1", "ABC123");
    car["price"] = json!([{"type": "list", "amount": 189_900}]);
    server.client.post("/v4/car", &car).await.expect(201);
    let reduced = json!({"price": [price("list", 189_900), price("reduced", 189_900)]});
    server.client.patch("/v4/car/car-1", &reduced).await.expect(200);
    server.client.published("car-1").await;

    let shown = cli.run("prices car-1").await;
    for told in [
        "car-1\n  prices since ",
        "  lowest in 30 days: 189,900 SEK since ",
        "  reduced price: 189,900 SEK, in a series of reductions since ",
        "  reference price: 189,900 SEK since ",
        "  the reduced price is not below it\n",
        "list 189,900 SEK, reduced 189,900 SEK",
    ] {
        assert!(shown.done().contains(told), "{told}: {shown:?}");
    }
    let answer = server.client.get("/v4/ad/car-1/prices").await.expect(200);
    assert_eq!(cli.run("prices car-1 --output json").await.json(), answer);
    let csv = cli.run("prices car-1 --output csv").await;
    assert_eq!(csv.done().lines().next(), Some("since,until,price"));
    assert_eq!(cli.run("prices missing").await.code, 1);

    let quality = server.client.get("/v4/ad/car-1?include=quality").await.expect(200)["quality"].clone();
    let shown = cli.run("quality car-1").await;
    let lines: Vec<_> = shown.done().lines().collect();
    assert_eq!(lines[0], format!("car-1: {} of 100 (basic)", quality["score"]));
    assert_eq!(lines[1], "  +18 image_urls");
    assert!(shown.stdout.contains("hint: price"), "{shown:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{shown:?}");
    let rows = cli.run("quality car-1 missing --output json").await;
    assert_eq!(rows.code, 1);
    let rows: Value = serde_json::from_str(&rows.stdout).unwrap();
    assert_eq!(rows[0]["source_id"], "car-1");
    for member in ["score", "level", "goals", "findings"] {
        assert_eq!(rows[0][member], quality[member]);
    }
    let status = cli.run("status car-1").await;
    assert!(
        status
            .done()
            .contains(&format!("  quality: {} of 100 (basic)\n    see: ad-cli quality car-1", quality["score"])),
        "{status:?}"
    );

    cli.file("stock.ndjson", format!("{}\n{}\n", plain_car("car-2", "ABC124"), plain_car("car-3", "ABC125X")));
    let imported = cli.run("import stock.ndjson").await;
    assert!(imported.stderr.contains("quality: 3 findings about valid ads, which rejected none"), "{imported:?}");
    assert!(
        imported.stderr.contains("       2  title_incomplete: Generated title lacks brand or model\n"),
        "{imported:?}"
    );
}
