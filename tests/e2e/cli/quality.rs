//! The quality of ads: what `validate` says about a payload, and `list` by score.

use ad_cli::{AdFilter, AdQuality, AdQuery, Client, Included};
use ad_core::model::Bound;
use ad_tests::{Cli, Server};
use serde_json::{Value, json};

use super::terminal::{at_terminal_of, is_possible};
use crate::payloads::plain_car;

#[tokio::test]
async fn validate_says_how_to_improve_an_ad() {
    let cli = Cli::new();
    let mut car = plain_car("car-1", "ABC123");
    car["category_fields"]["vin"] = json!("YV1UZH5V1M100000I");
    cli.file("car.json", car.to_string());
    let checked = cli.run("validate car.json").await;
    let lines: Vec<_> = checked.done().lines().collect();
    let start = lines.iter().position(|line| line.starts_with("quality: ")).unwrap();
    assert_eq!(lines[start], "quality: 4 of 100 (basic)");
    assert_eq!(lines[start + 1..start + 3], ["  +18 image_urls", "      Add photos of the vehicle."]);
    for told in [
        "\n  +9  body\n      Describe equipment, condition, history and what is included, in whole\n      sentences.\n",
        "\n  warning: category_fields.vin\n      The VIN \"YV1UZH5V1M100000I\" contains I. ",
        " Send \"YV1UZH5V1M1000001\" instead?\n",
        "\n  hint: category_fields.brand\n      The generated title lacks the brand.\n",
    ] {
        assert!(
            checked.stdout.contains(told) || checked.stdout.replace("\n      ", " ").contains(told),
            "{told}\n{}",
            checked.stdout
        );
    }
    assert!(lines[start..].iter().all(|line| line.chars().count() <= 80), "{}", checked.stdout);
    // Programs get errors and warnings alone; of several ads, people get the number of each level.
    let rows = cli.run("validate car.json --output ndjson").await.ndjson();
    assert!(rows.iter().all(|row| row["severity"] == "warning"), "{rows:?}");
    let more = json!([car, plain_car("car-2", "ABC124"), {"category_id": 1020}]);
    cli.file("cars.json", more.to_string());
    let checked = cli.run("validate cars.json").await;
    assert!(checked.stderr.contains("quality: 2 basic; to see how"), "{checked:?}");
    assert!(!checked.stdout.contains("quality:"), "{checked:?}");
}

#[tokio::test]
async fn validate_online_compares_with_the_ads_of_the_dealer() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    cli.file("car.json", plain_car("car-2", "ABC123").to_string());
    assert!(!cli.run("validate car.json").await.done().contains("car-1"));
    let checked = cli.run("validate car.json --online").await;
    assert!(checked.done().contains("The ad with source id \"car-1\" has the registration number"), "{checked:?}");
}

#[tokio::test]
async fn ads_are_listed_by_their_score() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut better = plain_car("better", "ABC124");
    better["price"] = json!([{"type": "list", "amount": 90_000}]);
    for car in [plain_car("poor", "ABC123"), better] {
        server.client.post("/v4/car", &car).await.expect(201);
    }
    let score = |ad: &Value| ad["quality"]["score"].as_u64().unwrap();
    let listed = cli.run("list --include quality --ordering source_id --output json").await.json();
    let (better, poor) = (score(&listed[0]), score(&listed[1]));
    assert!(poor < better, "{listed}");
    let low = cli.run(&format!("list --quality-score-lt {better}")).await;
    assert!(low.done().lines().next().unwrap().ends_with("QUALITY"), "{low:?}");
    assert!(low.stdout.contains(&format!("{poor} basic, 3 findings")) && !low.stdout.contains("better"), "{low:?}");
    let high = cli.run(&format!("list --quality-score-gte {better} --fields source_id")).await;
    assert_eq!(high.done().lines().nth(1).map(str::trim), Some("better"));
    assert_eq!(cli.run("list --quality-score-lt 101").await.code, 2);

    let token = server.client.token.as_deref().unwrap();
    let client = Client::builder(&server.client.base).token(token).rate(None).build().unwrap();
    let ads = client.v4().include_quality();
    let Some(AdQuality::Whole(quality)) = ads.read("poor").await.unwrap().body.quality else { panic!("no quality") };
    assert_eq!((u64::from(quality.score), quality.findings.len()), (poor, 3));
    assert_eq!(client.v4().read("poor").await.unwrap().body.quality, None);
    let patched = client.typed("car").include_quality().update("poor", &json!({"body": "Fin"})).await.unwrap();
    assert_eq!(patched.body.quality.map(|quality| u64::from(quality.score())), Some(poor));
    let below = AdFilter::QualityScore(Bound::Lt, u8::try_from(better).unwrap());
    let query =
        AdQuery { included: Included { quality: true, ..Included::default() }, ..AdQuery::oldest_first([below]) };
    let found = client.v4().list(&query).await.unwrap().body.results;
    let [ad] = &found[..] else { panic!("{found:?}") };
    assert!(matches!(ad.quality, Some(AdQuality::Summary(summary)) if summary.findings == 3), "{ad:?}");
}

#[tokio::test]
async fn the_quality_of_an_ad_fits_the_terminal() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    let mut car = plain_car("car-1", "ABC123");
    car["category_fields"]["vin"] = json!("YV1UZH5V1M100000I");
    server.client.post("/v4/car", &car).await.expect(201);
    let mut lines = Vec::new();
    for columns in [60, 80, 120] {
        let shown = at_terminal_of(columns, &cli, "quality car-1", "").await;
        let widest = shown.done().lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns), "{columns}: {}", shown.stdout);
        lines.push(shown.stdout.lines().count());
    }
    assert!(lines[0] > lines[1] && lines[1] > lines[2], "a wider terminal has fewer lines: {lines:?}");
}
