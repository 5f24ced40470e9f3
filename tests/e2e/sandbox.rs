//! A sandbox (docs/sandbox.md): each failure of its table is provoked as an integrator would, and is as the table says; the first
//! ad of README.md is published by the commands as they are printed; without `--sandbox` nothing of it exists.

use std::{path::Path, process::Stdio};

use ad_core::{model::Action, violation::Code};
use ad_server::sandbox::{
    self,
    failures::{API, FailureOutcome, IMAGES, MARKETPLACES},
};
use ad_tests::{
    Cli, Client, Options, Postgres, Server, command, eventually,
    tools::{self, Tool},
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::{documentation::expect_kept, openapi::Contract, payloads::plain_car};

/// A sandbox, which fetches images as strictly as production does.
async fn sandbox() -> Server {
    sandbox_with(&[]).await
}

async fn sandbox_with(args: &[&str]) -> Server {
    let args = [&["--sandbox"], args].concat().into_iter().map(str::to_owned).collect();
    Server::with(Options { args, strict_images: true, ..Options::default() }).await
}

fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[test]
fn sandbox_page_is_as_the_table_is() {
    let (path, page) = (docs().join("sandbox.md"), sandbox::page());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/sandbox.md is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-tests --test e2e sandbox");
}

#[test]
fn car_json_is_the_example_of_a_car() {
    expect_kept("car.json", &sandbox::first_ad("http://127.0.0.1:8080/sandbox/images").into());
}

/// Status and code of the answer to a request, and whether it says when to repeat it.
async fn code(client: &Client, method: Method, path: &str, body: Option<&Value>) -> (u16, Value, bool) {
    let request = ad_tests::http_client().build().unwrap().request(method, format!("{}{path}", client.base));
    let request = request.header("X-Auth-Token", client.token.as_deref().unwrap());
    let request = request.header("Accept", "application/problem+json");
    let request = match body {
        Some(body) => request.body(body.to_string()),
        None => request,
    };
    let answer = request.send().await.unwrap();
    let (status, retry_after) = (answer.status().as_u16(), answer.headers().contains_key("retry-after"));
    let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    (status, body["code"].clone(), retry_after)
}

#[tokio::test]
async fn sandbox_answers_as_each_source_id_asks() {
    answers_as_asked(&sandbox().await.client).await;
}

async fn answers_as_asked(client: &Client) {
    for row in API {
        let FailureOutcome::Answer(status, failure) = row.outcome else { panic!("{row:?}") };
        let expected = (status, json!(failure), status != 401);
        let (ad, one) = (plain_car(row.trigger, "API001"), format!("/v4/car/{}", row.trigger));
        for (method, path, body) in [
            (Method::POST, "/v4/car", Some(&ad)),
            (Method::POST, "/v4/car/validate", Some(&ad)),
            (Method::GET, one.as_str(), None),
            (Method::PATCH, one.as_str(), Some(&json!({}))),
            (Method::DELETE, one.as_str(), None),
            (Method::GET, &format!("{one}/log"), None),
            (Method::POST, "/v3/ad", Some(&ad)),
        ] {
            assert_eq!(code(client, method.clone(), path, body).await, expected, "{method} {path}");
        }

        let fails_once = row.trigger.replace("-car1", "-1x-car1");
        let ad = plain_car(&fails_once, "API002");
        assert_eq!(code(client, Method::POST, "/v4/car", Some(&ad)).await, expected, "{fails_once}");
        client.post("/v4/car", &ad).await.expect(201);
    }
    let stored = client.get("/v4/car").await.expect(200);
    assert_eq!(stored["count"], API.len(), "a failed request stores nothing: {stored}");
}

/// The ad of a failure on one marketplace, or on both: its source id.
fn on(trigger: &str, marketplace: &str) -> String {
    let part = if marketplace.is_empty() { String::new() } else { format!("-{marketplace}") };
    trigger.replace("-car1", &format!("{part}-car1"))
}

/// Whether the marketplaces work again once a request has failed.
fn is_cured_by_retry(trigger: &str) -> bool {
    trigger.contains("-3x-")
}

/// Expects the log entry that a row of the table promises, and returns it.
async fn expect_ended(client: &Client, source_id: &str, outcome: FailureOutcome) -> Value {
    let (action, state, failure) = match outcome {
        FailureOutcome::Error(action, failure) => (action, "error", Some(failure)),
        FailureOutcome::Done(action) => (action, "done", None),
        FailureOutcome::Answer(..) => panic!("{source_id}: {outcome:?}"),
    };
    let entry = client.ended(source_id, action.name(), None).await;
    assert_eq!((entry["state"].as_str(), &entry["code"]), (Some(state), &json!(failure)), "{source_id}: {entry}");
    entry
}

#[tokio::test]
async fn sandbox_marketplaces_fail_as_each_source_id_asks() {
    marketplaces_fail_as_asked(&sandbox().await, &[]).await;
}

/// `database`: the arguments that name it to commands.
async fn marketplaces_fail_as_asked(server: &Server, database: &[&str]) {
    const BOTH: [&str; 2] = ["primary", "secondary"];
    let client = &server.client;
    let all = MARKETPLACES.iter().flat_map(|row| ["", "primary", "secondary"].map(|marketplace| (row, marketplace)));
    for (number, (row, marketplace)) in all.clone().enumerate() {
        let plate = format!("MKT0{number:02}");
        client.post("/v4/car", &plain_car(&on(row.trigger, marketplace), &plate)).await.expect(201);
    }
    for (row, marketplace) in all.clone() {
        let source_id = on(row.trigger, marketplace);
        if let FailureOutcome::Error(Action::Bump, _) = row.outcome {
            client.published(&source_id).await;
            client.get(&format!("/v4/car/{source_id}/bump")).await.expect(200);
        }
        let entry = expect_ended(client, &source_id, row.outcome).await;
        if let FailureOutcome::Error(..) = row.outcome {
            let each = entry["external_message"]["marketplaces"].as_array().unwrap();
            let failed: Vec<_> =
                each.iter().filter(|it| it["error"].is_string()).map(|it| &it["marketplace"]).collect();
            let expected: Vec<_> =
                BOTH.into_iter().filter(|name| marketplace.is_empty() || *name == marketplace).collect();
            assert_eq!(failed, expected, "{source_id}: {entry}");
        }
    }
    for (row, marketplace) in all.clone().filter(|(row, _)| is_cured_by_retry(row.trigger)) {
        let source_id = on(row.trigger, marketplace);
        let retried = client.get(&format!("/v4/car/{source_id}/retry")).await;
        let entry = client.ended(&source_id, "publish", retried.header("x-request-id")).await;
        assert_eq!(entry["state"], "done", "{source_id}: {entry}");
    }
    let listings = server.command(&[&["listings", "list", "--json"], database].concat()).await;
    let listings: Vec<Value> = serde_json::from_str(&listings).unwrap();
    for (row, marketplace) in all {
        let source_id = on(row.trigger, marketplace);
        let of = |name| listings.iter().filter(|it| it["marketplace"] == name && it["source_id"] == *source_id).count();
        let is_listed = |name| {
            let fails = marketplace.is_empty() || name == marketplace;
            let is_held_back = matches!(row.outcome, FailureOutcome::Error(Action::Publish, _));
            !(fails && is_held_back) || row.trigger.starts_with("fault-lost") || is_cured_by_retry(row.trigger)
        };
        assert_eq!(BOTH.map(of), BOTH.map(|name| usize::from(is_listed(name))), "{source_id}");
    }
}

#[tokio::test]
async fn sandbox_images_fail_as_their_names_say() {
    images_fail_as_named(&sandbox().await.client).await;
}

#[tokio::test]
async fn sandbox_fails_in_postgresql_as_it_does_in_sqlite() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    let database = ["--database-url", &url];
    let server = sandbox_with(&database).await;
    answers_as_asked(&server.client).await;
    marketplaces_fail_as_asked(&server, &database).await;
    images_fail_as_named(&server.client).await;
}

async fn images_fail_as_named(client: &Client) {
    let images = format!("{}/sandbox/images", client.base);
    let ads = IMAGES.iter().flat_map(|row| [false, true].map(|held| (row, held, format!("{}-{held}", row.trigger))));
    for (number, (row, held, source_id)) in ads.clone().enumerate() {
        let mut ad = plain_car(source_id.as_str(), &format!("IMG00{number}"));
        ad["image_urls"] = json!([format!("{images}/1.jpg"), format!("{images}/{}", row.trigger)]);
        ad["dont_publish_on_failed_images"] = json!(held);
        client.post("/v4/car", &ad).await.expect(201);
    }
    for (row, held, source_id) in ads {
        let entry = expect_ended(client, &source_id, row.outcome).await;
        let failed = entry["external_message"]["images"].as_array().unwrap();
        assert_eq!(failed.len(), 1, "{entry}");
        assert_eq!(failed[0]["url"], format!("{images}/{}", row.trigger));
        let publish = if held {
            FailureOutcome::Error(Action::Publish, Code::HeldByImages)
        } else {
            FailureOutcome::Done(Action::Publish)
        };
        expect_ended(client, &source_id, publish).await;
        assert_eq!(client.ad(&source_id).await["image_refs"].as_array().unwrap().len(), 1, "{source_id}");
    }
    let mut elsewhere = plain_car("elsewhere", "IMG101");
    elsewhere["image_urls"] = json!(["http://127.0.0.1:9/1.jpg"]);
    client.post("/v4/car", &elsewhere).await.expect(201);
    let entry = client.ended("elsewhere", "handle_media", None).await;
    let reason = &entry["external_message"]["images"][0]["error"];
    assert_eq!(
        reason, "only https addresses are fetched; it needs another address",
        "only its own images come by http and from this machine"
    );
}

#[tokio::test]
async fn sandbox_reached_by_https_refuses_http_images_as_production_does() {
    let args = ["--sandbox", "--public-url", "https://sandbox.example/ads"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, strict_images: true, ..Options::default() }).await;
    let client = &server.client;
    let mut car = plain_car("http", "PUB001");
    car["image_urls"] = json!([format!("{}/sandbox/images/1.jpg", client.base)]);
    let refused = client.post("/v4/car", &car).await.expect(400);
    assert!(refused["image_urls"]["0"].is_array(), "{refused}");

    let contract = Contract::of(&server).await;
    let example = contract.example("CarCreate");
    assert_eq!(example["image_urls"][0], "https://sandbox.example/ads/sandbox/images/1.jpg");
    client.post("/v4/car", example).await.expect(201);
    let ad = client.published("car-1001").await;
    assert_eq!(ad["image_refs"].as_array().unwrap().len(), 2, "{ad}");
}

#[tokio::test]
async fn without_a_sandbox_nothing_fails_on_demand() {
    let server = Server::with(Options { strict_images: true, ..Options::default() }).await;
    let client = &server.client;
    for (number, row) in API.iter().chain(MARKETPLACES).enumerate() {
        client.post("/v4/car", &plain_car(row.trigger, &format!("PRD0{number:02}"))).await.expect(201);
    }
    for row in API.iter().chain(MARKETPLACES) {
        client.published(row.trigger).await;
    }
    client.get("/v4/car/fault-refused-bump-car1/bump").await.expect(200);
    assert_eq!(client.ended("fault-refused-bump-car1", "bump", None).await["state"], "done");
    for name in IMAGES.iter().map(|row| row.trigger).chain(["1.jpg"]) {
        client.get(&format!("/sandbox/images/{name}")).await.expect(404);
    }
    let mut car = plain_car("http", "PRD101");
    car["image_urls"] = json!([format!("{}/sandbox/images/1.jpg", client.base)]);
    client.post("/v4/car", &car).await.expect(400);
}

#[tokio::test]
async fn sandbox_serves_the_images_of_its_examples_and_publishes_them() {
    let server = sandbox().await;
    let client = &server.client;
    let contract = Contract::with_examples(&server).await;
    for (of, vehicle_type) in [("Car", "car"), ("Boat", "boat")] {
        let example = contract.example(&format!("{of}Create"));
        assert_eq!(contract.mismatch(&format!("/components/schemas/{of}Create"), example), None);
        for url in example["image_urls"].as_array().unwrap() {
            let path = url.as_str().unwrap().strip_prefix(&client.base).unwrap();
            let image = client.with_token(None).get(path).await;
            assert_eq!((image.status.as_u16(), image.header("content-type")), (200, Some("image/jpeg")), "{path}");
        }
        client.post(&format!("/v4/{vehicle_type}"), example).await.expect(201);
        let ad = client.published(&format!("{vehicle_type}-1001")).await;
        assert_eq!(ad["image_refs"].as_array().unwrap().len(), 2, "{ad}");
    }
    eventually("it warns", || async { server.said().iter().any(|line| line.contains("sandbox is on")).then_some(()) })
        .await;
    let guide = contract.document["info"]["description"].as_str().unwrap();
    assert!(guide.contains(sandbox::GUIDE), "{guide}");
}

#[tokio::test]
async fn ad_cli_creates_what_a_sandbox_accepts() {
    let server = sandbox().await;
    let payload = Value::from(sandbox::first_ad(&format!("{}/sandbox/images", server.client.base)));
    let cli = Cli::of(&server);
    cli.file("car.json", payload.to_string());
    cli.run("create car.json --wait").await.done();
    let ad = server.client.ad("car-1001").await;
    assert_eq!(ad["image_refs"].as_array().unwrap().len(), 2, "{ad}");

    let production = Server::with(Options { strict_images: true, ..Options::default() }).await;
    let cli = Cli::of(&production);
    cli.file("car.json", payload.to_string());
    let refused = cli.run("create car.json").await;
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains("image_urls"), "{refused:?}");
}

#[tokio::test]
async fn http_photos_of_a_sandbox_mean_the_same_in_every_command() {
    let sandbox = sandbox().await;
    let production = Server::with(Options { strict_images: true, ..Options::default() }).await;
    let images = format!("{}/sandbox/images", sandbox.client.base);
    let first = Value::from(sandbox::first_ad(&images));
    let mut second = first.clone();
    second["source_id"] = json!("car-1002");
    second["category_fields"]["registration_number"] = json!("XYZ123");
    if second["category_fields"]["vin"].is_string() {
        second["category_fields"].as_object_mut().unwrap().remove("vin");
    }
    for (server, is_sandbox) in [(&sandbox, true), (&production, false)] {
        let cli = Cli::of(server);
        cli.file("first.json", first.to_string());
        cli.file("second.json", second.to_string());
        cli.file("both.ndjson", format!("{first}\n{second}\n"));
        for line in [
            "validate both.ndjson",
            "validate both.ndjson --online",
            "import both.ndjson --dry-run",
            "photos check both.ndjson",
            "sync plan both.ndjson",
            "create first.json --dry-run",
            "create first.json --wait",
            "import second.json",
        ] {
            let ended = cli.run(line).await;
            assert_eq!(ended.code == 0, is_sandbox, "{line}: {ended:?}");
            let shown = format!("{}{}", ended.stdout, ended.stderr);
            assert_eq!(shown.contains("https"), !is_sandbox, "{line}: {shown}");
        }
        if !is_sandbox {
            continue;
        }
        let exported = cli.run("export --payloads").await;
        assert!(exported.done().contains(&images), "{exported:?}");
        let plan = cli.piped("sync plan - --output json", exported.done()).await;
        assert_eq!(plan.code, 0, "{plan:?}");
        let acts: Vec<_> = plan.json().as_array().unwrap().iter().map(|ad| ad["act"].clone()).collect();
        assert_eq!(acts, ["unchanged", "unchanged"], "what was exported is what is there: {plan:?}");
    }
}

/// A running demo, with what it has printed. It ends with the value.
struct Demo {
    _process: tokio::process::Child,
    base: String,
    printed: String,
}

impl Demo {
    async fn start(dir: &Path) -> Self {
        let mut process = command(dir, &["demo", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut printed = String::new();
        while !printed.contains("Press Ctrl-C") {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("the demo ended:\n{printed}"));
            printed.extend([line.as_str(), "\n"]);
        }
        let (_, base) = printed.split_once("http://").unwrap();
        let base = format!("http://{}", base.split([' ', '/']).next().unwrap());
        Self { _process: process, base, printed }
    }

    /// The command that sets the first token.
    fn token(&self) -> &str {
        self.printed.lines().map(str::trim).find(|line| line.starts_with("export TOKEN=")).unwrap()
    }

    /// Runs commands in a folder and expects that they publish the first ad with its photos.
    async fn publishes_by(&self, dir: &Path, commands: &str) {
        let ran = Command::new("sh").args(["-euc", commands]).current_dir(dir).output().await.unwrap();
        let answers = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && answers.contains("\"log\""), "{commands}\n{answers}");
        let token = self.token().trim_start_matches("export TOKEN=").to_owned();
        let ad = Client::new(&self.base, Some(token)).published("car-1001").await;
        assert_eq!((&ad["dealer_code"], ad["image_refs"].as_array().unwrap().len()), (&json!("north-cars"), 2), "{ad}");
    }
}

#[tokio::test]
async fn demo_prints_commands_that_publish_an_ad() {
    let Some(_curl) = tools::find(Tool::Program("curl")) else { return };
    let dir = tempfile::tempdir().unwrap();
    let demo = Demo::start(dir.path()).await;
    let (_, commands) = demo.printed.split_once("Publish an ad of your own").unwrap();
    let commands: Vec<_> = commands.lines().filter(|line| line.starts_with("  ")).take(3).collect();
    assert!(commands[0].trim().starts_with("export TOKEN="), "{commands:?}");
    demo.publishes_by(dir.path(), &commands.join("\n")).await;
}

#[tokio::test]
async fn readme_leads_to_a_published_ad() {
    let Some(_curl) = tools::find(Tool::Program("curl")) else { return };
    let dir = tempfile::tempdir().unwrap();
    let demo = Demo::start(dir.path()).await;
    let here = |text: &str| text.replace("http://127.0.0.1:8080", &demo.base);
    std::fs::create_dir(dir.path().join("docs")).unwrap();
    let payload = std::fs::read_to_string(docs().join("car.json")).unwrap();
    std::fs::write(dir.path().join("docs/car.json"), here(&payload)).unwrap();

    let readme = include_str!("../../README.md");
    let (_, section) = readme.split_once("\n## Publish a first ad\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let commands: Vec<_> = blocks.flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty()).collect();
    let [start, token, send @ ..] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(*start, "cargo run -p ad-server -- demo");
    assert!(token.starts_with("export TOKEN="), "{token}");
    assert_eq!(send.len(), 2, "at most five steps: {send:?}");
    demo.publishes_by(dir.path(), &here(&[&[demo.token()], send].concat().join("\n"))).await;
}

#[tokio::test]
async fn webhooks_of_a_sandbox_are_as_strict_as_in_production() {
    let (strict, open) = (sandbox().await, sandbox_with(&["--allow-private-webhooks"]).await);
    for url in ["http://127.0.0.1:9/hook", "https://10.0.0.1/hook", "http://example.com/hook"] {
        let webhook = json!({"url": url});
        let refused = strict.client.post("/v4/webhooks", &webhook).await.expect(400);
        assert!(refused["url"].is_array(), "{url}: {refused}");
        open.client.post("/v4/webhooks", &webhook).await.expect(201);
    }
}
