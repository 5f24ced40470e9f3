//! One ad from the command line: create, get, update, bump, pole position, retry, delete, log, wait.

use ad_tests::{Cli, ImageHost, Options, Server};
use serde_json::json;

use super::redacted;
use crate::payloads::{car, plain_boat, plain_car};

#[tokio::test]
async fn an_ad_is_created_published_changed_and_deleted() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("car.json", plain_car("car-1", "ABC123").to_string());

    let created = cli.run("create car.json --wait").await;
    let expected = "\
 SOURCE ID  OUTCOME    TITLE  MESSAGE
 car-1      published  2019
";
    assert_eq!(redacted(created.done(), &cli, Some(&server)).replace(' ', ""), expected.replace(' ', ""));
    assert!(created.stderr.contains("warning: image_urls: "), "{created:?}");

    let updated =
        cli.args(["update", "car-1", "--set", "price.0.type=list", "--set", "price.0.amount=99000", "--wait"]).await;
    updated.done();
    let set =
        cli.run("update car-1 --set price.0.amount=89000 --set category_fields.brand=volvo --output json --wait").await;
    let row = &set.json()[0];
    assert_eq!(row["outcome"], "published");
    assert_eq!(row["ad"]["price"], json!([{"type": "list", "amount": 89000, "currency": "SEK"}]));
    assert_eq!(row["ad"]["title"], "Volvo 2019");
    let dry = cli.run("update car-1 --unset category_fields.brand --set visible=false --dry-run").await;
    assert_eq!(dry.json(), json!({"category_fields": {"brand": null}, "visible": false}));
    let piped = cli.piped("update car-1 - --output ndjson", r#"{"body": "Text"}"#).await;
    assert_eq!(piped.ndjson()[0]["ad"]["body"], "Text");
    assert!(piped.stderr.contains("ad-cli wait"), "{piped:?}");

    let bumped = cli.run("bump car-1 --exclude secondary --wait --yes --output json").await;
    assert_eq!(bumped.json()[0]["outcome"], "bumped");
    assert_eq!(cli.run("pole-position car-1 --wait --yes --output json").await.json()[0]["outcome"], "boosted");
    let again = cli.run("pole-position car-1 --yes").await;
    assert_eq!(again.code, 3);
    assert!(again.stderr.starts_with("error: Ad already has pole position until "), "{again:?}");
    assert_eq!(cli.run("retry car-1 --wait --output json").await.json()[0]["outcome"], "published");

    let waited = cli.run("wait car-1 --until published --output json").await;
    assert!(waited.json()[0]["marketplace_ad_id"].is_string());
    assert_eq!(cli.run("wait car-1 --until deleted").await.code, 1, "it is published");
    assert_eq!(cli.run("delete car-1 --wait --yes --output json").await.json()[0]["outcome"], "deleted");
    cli.run("wait car-1 --until deleted").await.done();
    assert_eq!(cli.run("wait car-1 --until published").await.code, 1, "it is deleted");
    let deleted = cli.run("get car-1 --output json").await.json();
    assert_eq!((&deleted["state"], deleted["log"].is_array()), (&json!("deleted"), true));
    let gone = cli.run("update car-1 --set body=x").await;
    assert_eq!(
        (gone.code, gone.stderr.as_str()),
        (
            3,
            "car-1: body: Text → x\nerror: Ad has been deleted, cannot update\n  help: a deleted ad does not come back; to create one with another source id: ad-cli create FILE\n"
        )
    );
    let reused = cli.run("create car.json").await;
    assert_eq!(reused.code, 3);
    assert!(reused.stderr.contains("cannot be used again") && reused.stderr.contains("ad-cli get car-1"), "{reused:?}");
}

#[tokio::test]
async fn an_ad_and_its_log_are_shown_as_people_read_them() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("car.json", plain_car("car-1", "ABC123").to_string());
    cli.run("create car.json --wait").await.done();
    let shown = cli.run("get car-1").await;
    let expected = "\
2019
  status     live
  source id  car-1
  plate      ABC123
  photos     none
  type       car
  dealer     north-cars
  listing    <id>
  offer      <id>
  updated    <time>

category_fields
  model_year           2019
  registration_number  ABC123
";
    let ids = cli.run("get car-1 --output json").await.json();
    let mut text = redacted(shown.done(), &cli, Some(&server));
    for name in ["marketplace_ad_id", "offer_id"] {
        let id = ids[name].as_str().unwrap();
        text = text.replace(&redacted(id, &cli, None), "<id>").replace(id, "<id>");
    }
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&text), trimmed(expected));
    assert!(shown.stderr.contains("latest log entry: publish done at"), "{shown:?}");
    assert_eq!(cli.run("get abc123").await.done(), shown.stdout, "by its plate");
    assert!(cli.run("status ABC123").await.done().starts_with("car-1: live since "));
    assert!(cli.run("log ABC123").await.done().contains("publish"));

    let log = cli.run("log car-1 --verbose").await;
    let squeezed =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    let expected = [
        "CREATED ACTION STATE REQUEST MESSAGE",
        "<time> create processing <uuid> Processing",
        "<time> create done <uuid> Ad created",
        "<time> publish processing <uuid> Publishing",
        "<time> publish done <uuid> Ad published",
    ];
    assert_eq!(squeezed(&redacted(log.done(), &cli, Some(&server))), expected);
    assert_eq!(cli.run("log car-1 --action publish --state done --output ndjson").await.ndjson().len(), 1);
    let part = cli.run("log car-1 --limit 2 --ordering -created").await;
    assert!(part.done().lines().nth(1).unwrap().contains("publish"), "{part:?}");
    assert_eq!(part.stderr, "2 of 4 entries\n");
}

#[tokio::test]
async fn a_log_is_followed_as_it_grows() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    server.client.published("car-1").await;
    let mut command = cli.command(["log", "car-1", "--follow", "--output", "ndjson"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..4 {
        assert!(lines.next_line().await.unwrap().unwrap().contains("\"action\""));
    }
    server.client.delete("/v4/ad/car-1").await.expect(200);
    let next = lines.next_line().await.unwrap().unwrap();
    assert!(next.contains("\"delete\"") && next.contains("processing"), "{next}");
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_failure_ends_a_wait_with_its_reason() {
    let server =
        Server::with(Options { args: vec!["--image-tries".to_owned(), "1".to_owned()], ..Options::default() }).await;
    let images = ImageHost::start().await;
    let cli = Cli::of(&server);
    let mut held = car("held", "ABC123", &images);
    held["dont_publish_on_failed_images"] = json!(true);
    held["image_urls"] = json!([images.url("missing.jpg")]);
    cli.file("held.json", held.to_string());
    let created = cli.run("create held.json --no-check --wait --output json").await;
    assert_eq!(created.code, 1);
    let row: serde_json::Value = serde_json::from_str(&created.stdout).unwrap();
    assert_eq!(row[0]["outcome"], "failed");
    assert!(row[0]["message"].as_str().unwrap().starts_with("publish: Not published: images failed"), "{row}");
    assert_eq!(cli.run("wait held").await.code, 1);

    let mut hidden = plain_car("hidden", "ABC124");
    hidden["visible"] = json!(false);
    cli.file("hidden.json", hidden.to_string());
    assert_eq!(cli.run("create hidden.json --wait --output json").await.json()[0]["outcome"], "hidden");
    let bump = cli.run("bump hidden --yes").await;
    assert_eq!(
        (bump.code, bump.stderr.as_str()),
        (3, "error: Ad is not visible, cannot bump\n  help: to publish it first: ad-cli show SOURCE_ID\n")
    );
}

#[tokio::test]
async fn mistakes_are_found_before_anything_is_sent_and_told_by_line() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut wrong = plain_car("car-1", "ABC123");
    wrong["category_fields"]["brand"] = json!("wolvo");
    cli.file("car.json", serde_json::to_string_pretty(&wrong).unwrap());
    let refused = cli.run("create car.json").await;
    assert_eq!(refused.code, 3);
    for told in
        ["car.json:3:", "category_fields.brand", "\"wolvo\"", "Did you mean \"volvo\"?", "ad-cli values car brand"]
    {
        assert!(refused.stdout.contains(told), "{told}: {refused:?}");
    }
    assert!(refused.stderr.contains("nothing was sent"), "{refused:?}");
    assert_eq!(cli.run("list --output json").await.json(), json!([]));
    let by_service = cli.run("create car.json --no-check").await;
    assert_eq!(by_service.code, 3);
    assert_eq!(by_service.stdout, refused.stdout, "the service says the same");
    assert!(by_service.stderr.contains("error: the service rejected car.json (request "), "{by_service:?}");

    cli.file("half.json", "{\n  \"source_id\": \"car-1\",\n");
    let half = cli.run("create half.json").await;
    assert_eq!(half.code, 3);
    assert!(half.stderr.contains("half.json:"), "{half:?}");
    cli.file("two.ndjson", "{}\n{}\n");
    let two = cli.run("create two.ndjson").await;
    assert_eq!(two.code, 2);
    assert!(two.stderr.contains("ad-cli import two.ndjson"), "{two:?}");
    let mut patch = cli.piped("update car-1 -", "{}").await;
    assert_eq!(
        (patch.code, patch.stderr.as_str()),
        (1, "error: you have no ad with the source id or plate car-1\n  help: to search your ads: ad-cli list car-1\n")
    );
    server.client.post("/v4/car", &plain_car("car-1", "ABC123")).await.expect(201);
    patch = cli.piped("update car-1 -", "{\"category_fields\":\n {\"model_year\": \"x\"}}").await;
    assert_eq!(patch.code, 3);
    assert!(patch.stdout.contains("stdin:2:3") && patch.stdout.contains("A valid integer is required."), "{patch:?}");
    let set = cli.run("update car-1 --set category_fields.model_year=x").await;
    assert_eq!(set.code, 3);
    let told = "car-1: category_fields.model_year: 2019 → x\nerror: the service rejected the request:\n  category_fields.model_year: A valid integer is required.\n  help: to list the fields: ad-cli fields car\n";
    assert_eq!(set.stderr, told);
}

#[tokio::test]
async fn one_of_several_ads_that_fails_does_not_stop_the_others() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    for (id, plate) in [("a", "AAA111"), ("b", "BBB222")] {
        server.client.post("/v4/car", &plain_car(id, plate)).await.expect(201);
    }
    let deleted = cli.run("delete a missing b --wait --yes --output ndjson").await;
    assert_eq!(deleted.code, 1);
    let rows: Vec<serde_json::Value> = deleted.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = rows.iter().map(|row| format!("{} {}", row["source_id"], row["outcome"])).collect();
    assert_eq!(told, ["\"a\" \"deleted\"", "\"missing\" \"rejected\"", "\"b\" \"deleted\""]);
    cli.run("delete a --wait --yes").await.done();
}

#[tokio::test]
async fn a_boat_and_an_ad_of_v3_go_their_ways() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut boat = plain_boat();
    boat["source_id"] = json!("boat-1");
    cli.file("boat.json", boat.to_string());
    cli.run("create boat.json --wait").await.done();
    let exclude = cli.run("bump boat-1 --exclude primary --yes").await;
    assert_eq!(exclude.code, 3, "{exclude:?}");
    let rib = json!({
        "source_id": "rib-1", "category_id": 1063, "title": "RIB", "contact": {"email": "a@north.example"},
        "category_fields": {"length": "5,5 m"},
    });
    cli.file("rib.json", rib.to_string());
    assert_eq!(cli.run("create rib.json").await.code, 3, "V4 has no such category");
    cli.run("create rib.json --v3 --wait").await.done();
    let updated = cli.run("update rib-1 --set title=Better --output json").await;
    assert_eq!(updated.json()[0]["ad"]["api_version"], "v3");
    assert!(updated.stderr.contains("ad-cli migrate-v4"), "{updated:?}");
    cli.file("old.json", plain_car("old", "ABC123").to_string());
    cli.run("create old.json --v3 --wait").await.done();
    let kept = cli.run("update old --set body=x --v3 --output json").await;
    assert_eq!(kept.json()[0]["ad"]["api_version"], "v3");
    let converted = cli.run("update old --set body=y --output json").await;
    assert_eq!(converted.json()[0]["ad"]["api_version"], "v4");
    assert!(converted.stderr.contains("old was a V3 ad and is now a V4 ad"), "{converted:?}");
}
