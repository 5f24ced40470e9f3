//! What watches the service: the alerts and the dashboard of `docs/operations` fit what a server measures, and fire when they should.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use ad_tests::{
    Client, Marketplace, Options, Server, eventually,
    tools::{self, Tool},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::payloads::plain_car;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn text_of(name: &str) -> String {
    fs::read_to_string(docs().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn promtool() -> Option<PathBuf> {
    tools::find(Tool::Program("promtool"))
}

/// Runs it; it must succeed.
async fn checked(promtool: &Path, dir: &Path, args: &[&str]) {
    let ran = Command::new(promtool).args(args).current_dir(dir).stdin(Stdio::null()).output().await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "promtool {args:?}: {said}");
}

async fn scrape(base: &str) -> String {
    let answer = Client::new(base, None).get("/metrics").await;
    assert_eq!(answer.status, 200);
    String::from_utf8(answer.bytes.to_vec()).unwrap()
}

/// The samples of a scrape: the series and its value.
fn samples(scraped: &str) -> impl Iterator<Item = (&str, &str)> {
    // Labels contain paths, but no spaces.
    scraped.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

fn name(series: &str) -> &str {
    series.split_once('{').map_or(series, |(name, _)| name)
}

fn sum(scraped: &str, metric: &str, label: &str) -> f64 {
    let of = samples(scraped).filter(|(series, _)| name(series) == metric && series.contains(label));
    of.map(|(_, value)| value.parse::<f64>().unwrap()).sum()
}

#[tokio::test]
async fn each_alert_fires_for_the_series_that_it_is_for() {
    let Some(promtool) = promtool() else { return };
    let dir = docs().join("operations");
    checked(&promtool, &dir, &["check", "rules", "alerts.yml"]).await;
    checked(&promtool, &dir, &["test", "rules", "alerts-test.yml"]).await;
    let tested = text_of("operations/alerts-test.yml");
    for alert in text_of("operations/alerts.yml").lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(tested.contains(&format!("        alertname: {alert}\n")), "{alert} has no test");
    }
}

/// Scrapes as Prometheus would have them, one a minute.
#[derive(Default)]
struct Scrapes(Vec<String>);

impl Scrapes {
    fn input_series(&self) -> Vec<Value> {
        let mut series: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (minute, scrape) in self.0.iter().enumerate() {
            for (of, value) in samples(scrape) {
                let values = series.entry(of).or_default();
                values.resize(minute, "_");
                values.push(value);
            }
        }
        let own = "instance=\"ads:9464\",job=\"ad-server\"";
        let labelled = |series: &str| match series.split_once('{') {
            Some((name, labels)) => format!("{name}{{{own},{labels}"),
            None => format!("{series}{{{own}}}"),
        };
        series.iter().map(|(of, values)| json!({"series": labelled(of), "values": values.join(" ")})).collect()
    }
}

#[tokio::test]
async fn the_alarm_fires_while_marketplaces_are_down_and_ends_when_they_are_back() {
    let Some(promtool) = promtool() else { return };
    let mut marketplace = Marketplace::start(&[]).await;
    let server = Server::with(marketplace.options(&["--marketplace-failures", "2", "--marketplace-pause", "2s"])).await;
    let client = &server.client;
    let base = &client.base;
    let mut scrapes = Scrapes::default();
    client.post("/v4/car", &plain_car("before", "ALM001")).await.expect(201);
    client.published("before").await;
    for _ in 0..6 {
        scrapes.0.push(scrape(base).await);
    }
    let down = scrapes.0.len();
    marketplace.process.kill().await;
    // Calls fail until the circuits open; then few are made.
    let failed = |text: &str| {
        let of = |outcome: &str| sum(text, "ad_marketplace_calls_total", &format!("outcome=\"{outcome}\""));
        of("transient") + of("not_asked")
    };
    for number in 0..6 {
        let before = failed(&scrapes.0[scrapes.0.len() - 1]);
        client.post("/v4/car", &plain_car(&format!("down-{number}"), &format!("ALM10{number}"))).await.expect(201);
        let text = eventually("the circuits are open, and calls fail", async || {
            let text = scrape(base).await;
            let is_open = |market| sum(&text, "ad_marketplace_breaker_open", market) > 0.0;
            let are_open = is_open("marketplace=\"primary\"") && is_open("marketplace=\"secondary\"");
            (are_open && failed(&text) > before).then_some(text)
        })
        .await;
        scrapes.0.push(text);
    }
    let at_worst = scrapes.0.len() - 1;
    marketplace.restart().await;
    for number in 0..6 {
        client.published(&format!("down-{number}")).await;
    }
    let back = scrape(base).await;
    assert!(sum(&back, "ad_marketplace_breaker_open", "") < 0.5, "{back}");
    scrapes.0.extend(std::iter::repeat_n(back, 8));

    let fires = |minute: usize, alert: &str, fires: bool| {
        let alerts = ["primary", "secondary"].map(|market| {
            json!({
                "exp_labels": {"severity": "page", "marketplace": market},
                "exp_annotations": {"summary": format!("The {market} marketplace does not answer; ads wait")},
            })
        });
        json!({"eval_time": format!("{minute}m"), "alertname": alert, "exp_alerts": if fires { alerts.to_vec() } else { Vec::new() }})
    };
    let mut expected = vec![
        fires(down - 1, "AdServerMarketplaceDown", false),
        fires(at_worst, "AdServerMarketplaceDown", true),
        fires(scrapes.0.len() - 1, "AdServerMarketplaceDown", false),
    ];
    // Nothing else is wrong.
    for alert in ["AdServerErrors", "AdServerDatabaseDown", "AdServerMarketplaceCredentials", "AdServerImageStoreDown"]
    {
        expected.push(fires(at_worst, alert, false));
    }
    let test = json!({
        "rule_files": [docs().join("operations/alerts.yml").canonicalize().unwrap()],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": scrapes.input_series(), "alert_rule_test": expected}],
    });
    // JSON is YAML.
    fs::write(server.dir().join("outage.yml"), test.to_string()).unwrap();
    checked(&promtool, server.dir(), &["test", "rules", "outage.yml"]).await;
}

/// Whether a word is the name of one of our metrics.
fn is_metric(word: &str) -> bool {
    const OURS: [&str; 14] = [
        "ad_retention_",
        "ad_http_",
        "ad_queue_",
        "ad_store_up",
        "ad_marketplace_calls_",
        "ad_marketplace_call_",
        "ad_image_",
        "ad_webhook_",
        "ad_event_streams",
        "ad_build_",
        "ad_workers",
        "ad_database_",
        "ad_publish_",
        "process_",
    ];
    const ALSO: [&str; 5] =
        ["ad_marketplace_breaker_open", "ad_marketplace_paused", "ad_tls_", "ad_token_key_", "ad_last_backup_"];
    OURS.iter().chain(&ALSO).any(|prefix| word.starts_with(prefix))
}

/// The metrics that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| is_metric(word)).collect()
}

#[tokio::test]
async fn every_metric_that_is_named_exists_and_every_one_that_exists_is_described() {
    let marketplace = Marketplace::start(&[]).await;
    let mut options = marketplace.options(&["--metrics-listen", "127.0.0.1:0"]);
    let files = tempfile::tempdir().unwrap();
    for (name, content) in
        [("cert.pem", include_str!("../data/tls/first.pem")), ("key.pem", include_str!("../data/tls/first-key.pem"))]
    {
        fs::write(files.path().join(name), content).unwrap();
        options.args.push(format!("--tls-{}", name.trim_end_matches(".pem")));
        options.args.push(files.path().join(name).display().to_string());
    }
    let server = Server::with(options).await;
    let base = eventually("it says where metrics are", async || {
        let lines = server.said();
        let line = lines.iter().find_map(|line| line.split_once("metrics at "))?.1;
        line.strip_suffix("/metrics").map(str::to_owned)
    })
    .await;
    // Requests are counted in detail once there are some.
    let trusting = reqwest::Certificate::from_pem(include_bytes!("../data/tls/first.pem")).unwrap();
    let https = ad_tests::http_client().tls_certs_only([trusting]).build().unwrap();
    assert_eq!(https.get(format!("{}/v4/ad", server.client.base)).send().await.unwrap().status(), 401);
    server.command(&["audit", "backup", "s3://backups/today"]).await;
    let keys = server.dir().join("data/token-keys.json");
    let mut set: Value = serde_json::from_slice(&fs::read(&keys).unwrap()).unwrap();
    set["keys"][0]["exp"] = json!(4_102_444_800_u64);
    fs::write(server.dir().join("new-keys"), set.to_string()).unwrap();
    fs::rename(server.dir().join("new-keys"), keys).unwrap();
    let scraped = eventually("the end of the key is known", async || {
        let scraped = scrape(&base).await;
        (sum(&scraped, "ad_token_key_expiry_timestamp_seconds", "kid=") > 4e9).then_some(scraped)
    })
    .await;
    let expiry = sum(&scraped, "ad_tls_certificate_expiry_timestamp_seconds", "");
    assert!(expiry > 1_700_000_000.0, "{expiry}");
    let backup = sum(&scraped, "ad_last_backup_timestamp_seconds", "");
    assert!(backup > 1_700_000_000.0, "{backup}");
    // Counters are there before anything is counted.
    for series in [
        "ad_http_answers_total{class=\"5xx\"} 0",
        "ad_marketplace_calls_total{marketplace=\"secondary\",action=\"bump\",outcome=\"credentials\"} 0",
        "ad_image_store_writes_total{outcome=\"full\"} 0",
        "ad_webhook_attempts_total{outcome=\"failed\"} 0",
        "ad_marketplace_breaker_open{marketplace=\"primary\"} 0.0",
        "ad_marketplace_paused{marketplace=\"secondary\"} 0.0",
        "ad_workers_busy 0",
        "ad_retention_erased_total{kind=\"log_messages\"} 0",
        "ad_database_standby_lists_total{server=\"primary\"} 0.0",
    ] {
        assert!(scraped.lines().any(|line| line == series), "{series} is not in\n{scraped}");
    }

    let existing: BTreeSet<&str> = samples(&scraped).map(|(series, _)| name(series)).collect();
    let pages = ["operations.md", "runbook.md", "postgresql.md", "performance.md", "security.md", "backup.md"];
    for file in
        pages.into_iter().chain(["operations/alerts.yml", "operations/alerts-test.yml", "operations/dashboard.json"])
    {
        let text = text_of(file);
        // A histogram may be named without the ends of its series.
        let unknown: Vec<_> = named(&text)
            .into_iter()
            .filter(|metric| !existing.contains(metric) && !existing.contains(format!("{metric}_bucket").as_str()))
            .collect();
        assert!(unknown.is_empty(), "docs/{file} names metrics that do not exist: {unknown:?}");
    }
    let page = text_of("operations.md");
    for metric in existing {
        let family =
            ["_bucket", "_sum", "_count"].into_iter().find_map(|end| metric.strip_suffix(end)).unwrap_or(metric);
        assert!(page.contains(&format!("| `{family}` |")), "docs/operations.md does not describe {family}");
    }
}

#[tokio::test]
async fn the_access_log_says_who_asked_and_how_much_was_sent() {
    let env = vec![("RUST_LOG".to_owned(), "info,ad_server::access=debug".to_owned())];
    let args = ["--log-format", "json", "--trusted-proxies", "127.0.0.0/8"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, env, ..Options::default() }).await;
    let line = async |what: &str, is_it: &dyn Fn(&Value) -> bool| {
        eventually(what, async || {
            let lines = server.said();
            let lines =
                lines.iter().filter_map(|line| serde_json::from_str::<Value>(line.get(line.find('{')?..)?).ok());
            lines.filter(|line| line["target"] == "ad_server::access").find(is_it)
        })
        .await
    };
    let forwarded = [("x-forwarded-for", "203.0.113.9, 198.51.100.7".to_owned())];
    let answer = server.client.send_with(reqwest::Method::GET, "/v4/ad", &forwarded, None).await;
    let id = answer.header("x-request-id").unwrap().to_owned();
    let logged = line("the request of a dealer", &|line| line["span"]["request_id"] == id.as_str()).await;
    assert_eq!((&logged["path"], &logged["status"]), (&json!("/v4/ad"), &json!(200)), "{logged}");
    assert_eq!((&logged["dealer_code"], &logged["client"]), (&json!("north-cars"), &json!("198.51.100.7")), "{logged}");
    assert_eq!(logged["bytes"], answer.bytes.len(), "{logged}");
    let tokens: Value = serde_json::from_str(&server.command(&["token", "list", "--json"]).await).unwrap();
    assert_eq!(logged["jti"], tokens[0]["jti"], "{logged}");

    server.client.with_token(None).get("/v4/ad").await.expect(401);
    let logged = line("a request of nobody", &|line| line["status"] == 401).await;
    assert_eq!((&logged["jti"], &logged["client"]), (&Value::Null, &json!("127.0.0.1")), "{logged}");
}

#[tokio::test]
async fn an_operator_sees_with_which_token_a_bump_was_sent() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("bumped", "BMP001")).await.expect(201);
    server.client.published("bumped").await;
    let client = server.client_of(&["--dealer-code", "north-cars", "--label", "Stock system"]).await;
    let tokens: Value = serde_json::from_str(&server.command(&["token", "list", "--json"]).await).unwrap();
    let token = tokens.as_array().unwrap().iter().find(|token| token["label"] == "Stock system").unwrap();
    let bump = client.get("/v4/ad/bumped/bump").await;
    bump.expect(200);
    let id = bump.header("x-request-id").unwrap();
    client.ended("bumped", "bump", Some(id)).await;
    let shown: Value = serde_json::from_str(&server.command(&["request", id, "--json"]).await).unwrap();
    assert_eq!(shown["asked_by"], json!({"token": token["jti"], "label": "Stock system"}), "{shown}");
    let table = server.command(&["request", id]).await;
    assert!(table.contains("Stock system"), "{table}");
    let shown = server.command(&["ads", "show", "bumped", "--dealer-code", "north-cars", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let promotions = shown["promotions"].as_array().unwrap();
    assert_eq!(promotions.len(), 1, "{shown}");
    assert_eq!((&promotions[0]["action"], &promotions[0]["request_id"]), (&json!("bump"), &json!(id)), "{shown}");
    assert_eq!(promotions[0]["asked_by"], json!({"token": token["jti"], "label": "Stock system"}), "{shown}");
    let table = server.command(&["ads", "show", "bumped", "--dealer-code", "north-cars"]).await;
    assert!(table.contains("PROMOTION") && table.contains("Stock system"), "{table}");
    // A client sees what it did before.
    assert_eq!(client.get(&format!("/v4/requests/{id}")).await.expect(200).get("asked_by"), None);
}
