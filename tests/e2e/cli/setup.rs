//! What the command line knows of itself: help, profiles, settings, the connection, the console.

use ad_tests::{Cli, Server};
use serde_json::json;
use tokio::net::TcpListener;

use super::sync::ndjson;
use crate::payloads::plain_car;

#[tokio::test]
async fn profiles_are_listed_and_removed_without_showing_tokens() {
    let server = Server::start().await;
    let token = server.client.token.clone().unwrap();
    let cli = Cli::new();
    for name in ["default", "north"] {
        cli.piped(&format!("login --url {} --profile {name}", server.client.base), &token).await.done();
    }
    let listed = cli.run("profiles --profile north").await;
    let rows: Vec<_> = listed.done().lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(rows[1][..2], ["default", &server.client.base]);
    assert_eq!(rows[2][..3], ["north", "yes", &server.client.base]);
    assert!(!listed.stdout.contains(&token));
    let removed = cli.run("logout --profile north").await;
    assert!(removed.done().is_empty() && removed.stderr.contains("removed profile \"north\""), "{removed:?}");
    assert_eq!(cli.run("logout --profile north").await.code, 2);
    assert_eq!(cli.run("profiles --output json").await.json().as_array().unwrap().len(), 1);
    cli.run("logout").await.done();
    assert!(cli.run("profiles").await.stderr.contains("ad-cli login"));
}

#[tokio::test]
async fn config_says_what_counts_and_where_it_comes_from() {
    let server = Server::start().await;
    let cli = Cli::of(&server).with("AD_RATE", "20");
    let rows = cli.run("config --timeout 5 --output json").await.json();
    let of = |name: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["setting"] == name).unwrap().clone();
        (row["value"].as_str().unwrap_or_default().to_owned(), row["from"].as_str().unwrap().to_owned())
    };
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    assert_eq!(of("url"), pair(&server.client.base, "AD_URL"));
    assert_eq!(of("token"), pair("(hidden)", "AD_TOKEN"));
    assert_eq!(of("rate"), pair("20", "AD_RATE"));
    assert_eq!(of("timeout"), pair("5", "--timeout"));
    assert_eq!(of("profile"), pair("default", "default"));
    assert!(!rows.to_string().contains(server.client.token.as_deref().unwrap()));
    let nothing = Cli::new().run("config --output json").await.json();
    assert!(nothing.as_array().unwrap().iter().any(|row| row["setting"] == "url" && row["from"] == "not set"));
}

#[tokio::test]
async fn doctor_finds_the_first_thing_that_is_wrong() {
    let mut server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    let checks = cli.run("doctor --output json").await.json();
    let checks = checks.as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert_eq!(names, ["settings", "connection", "clock", "token", "permissions", "dealer"]);
    assert!(checks.iter().all(|check| check["result"] == "ok"), "{checks:?}");
    let told = |check: usize| checks[check]["details"].as_str().unwrap();
    assert!(told(1).contains(concat!("version ", env!("CARGO_PKG_VERSION"))), "{checks:?}");
    assert!(told(5).starts_with("north-cars (") && told(5).contains("1 ad"), "{checks:?}");

    let stranger = cli.with("AD_TOKEN", "e30.e30.e30").run("doctor").await;
    assert_eq!(stranger.code, 4, "{stranger:?}");
    assert!(stranger.stdout.contains("token") && stranger.stdout.contains("failed"), "{stranger:?}");
    let cli = Cli::of(&server);
    server.kill().await;
    let away = cli.run("doctor").await;
    assert_eq!(away.code, 5, "{away:?}");
    assert!(
        away.stdout.contains("cannot reach the service: http://")
            && away.stderr.starts_with("help: check the server URL"),
        "{away:?}"
    );
    assert_eq!(Cli::new().run("doctor").await.code, 2, "there is no address");
}

#[tokio::test]
async fn an_https_address_of_an_http_port_is_told_apart() {
    let server = Server::start().await;
    let cli = Cli::of(&server).with("AD_URL", &server.client.base.replace("http://", "https://"));
    let ended = cli.run("list").await;
    assert_eq!(ended.code, 5, "{ended:?}");
    assert!(ended.stderr.contains("the port does not use TLS; the address probably begins with http://"), "{ended:?}");
    assert!(ended.stderr.contains(&cli_address(&server)), "{ended:?}");
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let proxied = Cli::new().with("AD_URL", &format!("http://{nobody}")).with("AD_TOKEN", "e30.e30.e30");
    let proxied = proxied.with("ALL_PROXY", "http://127.0.0.1:9").run("list").await;
    assert!(proxied.stderr.contains("ALL_PROXY is set"), "{proxied:?}");
}

fn cli_address(server: &Server) -> String {
    server.client.base.replace("http://", "https://")
}

#[tokio::test]
async fn help_groups_the_commands_and_explains_each() {
    let cli = Cli::new();
    let help = cli.run("help").await;
    for told in ["Look at ads ", "Promote ads ", "pole-position", "ad-cli help commands"] {
        assert!(help.done().contains(told), "{told}: {}", help.stdout);
    }
    assert_eq!(cli.run("--help").await.stdout, help.stdout);
    let commands = cli.run("help commands").await;
    for told in ["Look at ads, such as: ad-cli status", "Promote ads", "  pole-position ", "  list "] {
        assert!(commands.done().contains(told), "{told}: {}", commands.stdout);
    }
    assert!(cli.run("help options").await.done().contains("--profile <NAME>"));
    let nested = cli.run("help sync apply").await;
    assert!(nested.done().contains("--allow-removals"), "{nested:?}");
    let wrong = cli.run("help bmp").await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("Did you mean \"bump\"?"), "{wrong:?}");
}

#[tokio::test]
async fn open_leads_to_the_console() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car 1", "ABC101")).await.expect(201);
    let opened = cli.run("open ABC101").await;
    let expected = format!("{}/console/ad?source_id=car+1&dealer_code=north-cars\n", server.client.base);
    assert_eq!(opened.done(), expected);
    assert_eq!(cli.run("open nothing").await.code, 1);
}

#[tokio::test]
async fn rejected_payloads_are_collected_mended_and_sent() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads: Vec<_> = (0..5).map(|number| plain_car(&format!("car-{number}"), &format!("ABC10{number}"))).collect();
    ads[1]["category_fields"]["brand"] = json!("wolvo");
    ads[3]["category_fields"]["brand"] = json!("wolvo");
    cli.file("stock.ndjson", ndjson(&ads) + "{half\n");
    let imported = cli.run("import stock.ndjson").await;
    assert_eq!(imported.code, 1, "{imported:?}");
    assert!(imported.stderr.contains("mistakes by cause:"), "{imported:?}");
    assert!(
        imported.stderr.contains("     2  category_fields.brand: \"wolvo\" is not a valid choice."),
        "{imported:?}"
    );
    assert!(imported.stderr.contains("ad-cli import --resume stock.ndjson --rejects rejects.ndjson"), "{imported:?}");
    let again = cli.run("import --resume stock.ndjson --rejects rejects.ndjson").await;
    assert!(again.stderr.contains("2 rejected payloads written to rejects.ndjson"), "{again:?}");
    assert!(again.stderr.contains("the first is on line 6"), "{again:?}");
    let rejects = std::fs::read_to_string(cli.home().join("rejects.ndjson")).unwrap();
    assert_eq!(rejects.lines().count(), 2);
    cli.file("rejects.ndjson", rejects.replace("wolvo", "volvo"));
    cli.run("import rejects.ndjson").await.done();
    assert_eq!(cli.run("list --output json").await.json().as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn several_files_are_validated_at_once() {
    let cli = Cli::new();
    cli.file("one.json", plain_car("car-1", "ABC101").to_string());
    let mut wrong = plain_car("car-2", "ABC102");
    wrong["category_fields"]["brand"] = json!("wolvo");
    cli.file("two.json", wrong.to_string());
    let ended = cli.run("validate one.json two.json --output json").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let findings: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let of_two: Vec<_> = findings.as_array().unwrap().iter().filter(|row| row["severity"] == "error").collect();
    assert_eq!((of_two.len(), &of_two[0]["file"]), (1, &json!("two.json")));
    assert!(cli.run("validate one.json").await.stderr.contains("to send: ad-cli create one.json"));
}
