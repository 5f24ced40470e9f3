//! Errors in the terms of commands: whatever a service says, nobody at a terminal has to know its requests.

use ad_tests::{Cli, Options, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Words of those who send requests themselves.
const OF_THE_API: &[&str] = &[
    "/v4/",
    "/v3/",
    "GET ",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "query parameter",
    "request body",
    "Request body",
    "header",
    "X-Auth-Token",
    "X-Request-Id",
    "If-Match",
    "Idempotency-Key",
    "Prefer:",
];

fn of_the_api(text: &str) -> Vec<&'static str> {
    OF_THE_API.iter().copied().filter(|word| text.contains(word)).collect()
}

const ID: &str = "0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90";

/// Command lines that the service refuses, each with what it says at least.
const REFUSED: &[(&str, &str)] = &[
    ("get nothing", "you have no ad with the source id or plate nothing"),
    ("log nothing", "you have no ad with the source id or plate nothing"),
    ("update nothing --set body=New", "you have no ad with the source id or plate nothing"),
    ("delete nothing --yes", "nothing"),
    ("bump nothing --yes", "nothing"),
    ("request ID", "No accepted request"),
    ("promotions show ID", "No promotion schedule"),
    ("promotions update ID --at 07:30 --yes", "No promotion schedule"),
    ("stock show ID", "No stock plan"),
    ("stock apply ID --yes", "No stock plan"),
    ("webhooks update ID --disable", "No webhook"),
    ("webhooks delete ID --yes", "No webhook"),
    ("webhooks deliveries ID", "No webhook"),
    ("create reduced.json", "\"reduced\" is not allowed for a new ad"),
    ("create reduced.json --no-check", "\"reduced\" is not allowed for a new ad"),
    ("create model.json", "\"nosuchmodel\" is not a valid choice."),
    ("create model.json --no-check", "\"nosuchmodel\" is not a valid choice."),
    ("create category.json --no-check", "category_id"),
    ("create large.json --no-check", "The payload is larger than"),
    ("update live body.json", "The payload is larger than"),
    ("create live.json", "cannot be used again"),
    ("update live --set source_id=other", "Cannot be changed"),
    ("update live --set body=New --if-match nonsense", "revision"),
    ("update live --set body=New --v3", "Ad is V4, cannot update through V3."),
    ("update deleted --set body=New", "deleted"),
    ("bump hidden --yes", "to publish it first: ad-cli show SOURCE_ID"),
    ("pole-position deleted --yes", "deleted"),
    ("retry deleted", "deleted"),
    ("get live --revision 99", "The ad has no revision 99"),
    ("get live --at 2001-01-01T00:00:00Z", "did not exist"),
    ("restore live 99", "The ad has no revision 99"),
    ("events --after nonsense", "cursor"),
    ("log live --after nonsense", ""),
    ("values spaceship brand", ""),
    ("promotions add bump --select source_id=live --at 08:00 --zone Nowhere/Town --yes", "zone"),
    ("webhooks create ftp://a.example", "url"),
];

#[tokio::test]
async fn no_refusal_is_in_terms_of_the_api() {
    let server = Server::with(Options { strict_images: true, ..Options::default() }).await;
    let cli = Cli::of(&server);
    let ad = |source_id: &str, plate: &str| plain_car(source_id, plate);
    let mut hidden = ad("hidden", "ABC102");
    hidden["visible"] = json!(false);
    for (ad, action) in [(&ad("live", "ABC101"), "publish"), (&hidden, "create"), (&ad("deleted", "ABC103"), "publish")]
    {
        server.client.post("/v4/car", ad).await.expect(201);
        server.client.ended(ad["source_id"].as_str().unwrap(), action, None).await;
    }
    server.client.delete("/v4/car/deleted").await.expect(200);
    server.client.ended("deleted", "delete", None).await;

    let mut reduced = ad("reduced", "ABC104");
    reduced["price"] = json!([{"type": "reduced", "amount": 100_000}]);
    let mut model = ad("model", "ABC105");
    model["category_fields"]["brand"] = json!("volvo");
    model["category_fields"]["model"] = json!("nosuchmodel");
    let mut category = ad("category", "ABC106");
    category["category_id"] = json!(1222);
    let mut large = ad("large", "ABC107");
    large["body"] = Value::from("x".repeat(2 * 1024 * 1024));
    cli.file("body.json", json!({"body": large["body"]}).to_string());
    let files = [("reduced", reduced), ("model", model), ("category", category), ("large", large)];
    for (name, payload) in files.into_iter().chain([("live", ad("live", "ABC101"))]) {
        cli.file(&format!("{name}.json"), payload.to_string());
    }
    let mut wrong = Vec::new();
    for (line, said) in REFUSED {
        let ended = cli.run(&line.replace("ID", ID)).await;
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        let found = of_the_api(&shown);
        if !found.is_empty() || !shown.contains(said) || ended.code == 0 {
            wrong.push(format!("$ ad-cli {line}   # {}, {found:?}\n{shown}", ended.code));
        }
    }
    let webhook = cli.run("webhooks create https://receiver.example/ --output json").await.json();
    let id = webhook["id"].as_str().unwrap();
    cli.run(&format!("webhooks update {id} --disable")).await.done();
    let disabled = cli.run(&format!("webhooks test {id}")).await;
    assert!(disabled.stderr.contains("This webhook is disabled"), "{disabled:?}");
    let reader = cli.with("AD_TOKEN", &server.token(&["--dealer-code", "north-cars", "--permissions", "read"]).await);
    let stranger = Cli::of(&server).with("AD_TOKEN", "not.a.token");
    for (cli, line) in [
        (&reader, "delete live --yes"),
        (&reader, "webhooks list"),
        (&stranger, "list"),
        (&stranger, "whoami --online"),
    ] {
        let ended = cli.run(line).await;
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        if ended.code != 4 || !of_the_api(&shown).is_empty() {
            wrong.push(format!("$ ad-cli {line}   # {}\n{shown}", ended.code));
        }
    }
    assert_eq!(of_the_api(&disabled.stderr), [""; 0], "{disabled:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn fields_and_sample_payloads_are_explained_without_the_api() {
    for line in
        ["new car", "new boat", "fields car", "fields car model", "fields truck", "template car --csv --out cars.csv"]
    {
        let ended = Cli::new().run(line).await;
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(of_the_api(&shown), [""; 0], "{line}: {shown}");
    }
}
