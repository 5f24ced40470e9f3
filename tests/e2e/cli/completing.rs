//! Completion in a shell: the program is called as the script of `ad-cli completions` calls it.

use std::time::{Duration, Instant};

use ad_tests::{
    Cli, Server,
    tools::{self, Tool},
};
use serde_json::json;
use tokio::net::TcpListener;

use super::sync::ndjson;
use crate::payloads::plain_car;

/// What is completed for the last word of a command line, as bash asks for it.
async fn completed(cli: &Cli, line: &[&str]) -> Vec<String> {
    let index = line.len().to_string();
    let mut command = cli.command(["--", "ad-cli"].iter().chain(line));
    command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
    let output = command.output().await.unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{line:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[tokio::test]
async fn ids_profiles_fields_and_values_are_completed() {
    let server = Server::start().await;
    for (source_id, plate) in [("car-1", "ABC101"), ("car-2", "ABC102"), ("oldcar-1", "ABC103"), ("van-1", "ABC104")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
    }
    server.client.delete("/v4/car/car-2").await.expect(200);
    server.client.ended("car-2", "delete", None).await;
    let cli = Cli::of(&server);
    for line in [&["get", "ca"][..], &["bump", "ca"], &["log", "--follow", "ca"], &["price", "ca"], &["edit", "ca"]] {
        assert_eq!(completed(&cli, line).await, ["car-1"], "{line:?}");
    }
    assert_eq!(completed(&cli, &["sold", "car-1", ""]).await[..3], ["car-1", "oldcar-1", "van-1"]);
    cli.file("cars.ndjson", "");
    assert_eq!(completed(&cli, &["photos", "check", "ca"]).await, ["cars.ndjson", "car-1"]);
    assert_eq!(completed(&cli, &["models", "volv"]).await, ["volvo"]);
    assert_eq!(completed(&cli, &["values", "car", "body"]).await, ["body_type"]);
    assert_eq!(completed(&cli, &["values", "car", "brand", "volv"]).await, ["volvo"]);
    assert_eq!(completed(&cli, &["pole"]).await, ["pole-position"]);
    assert_eq!(completed(&cli, &["list", "--status", "l"]).await, ["live"]);
    assert_eq!(completed(&cli, &["list", "--status", "live,fa"]).await, ["live,failed"]);
    let by_plate = || async {
        let found = completed(&cli, &["get", "abc104"]).await;
        (found == ["van-1"]).then_some(())
    };
    ad_tests::eventually("an ad is completed by its plate", by_plate).await;
    assert_eq!(completed(&cli, &["update", "car-1", "--set", "colo"]).await, ["color=", "color_group="]);
    assert_eq!(completed(&cli, &["update", "car-1", "--set", "brand=volv"]).await, ["brand=volvo"]);
    assert_eq!(completed(&cli, &["update", "missing", "--set", "vi"]).await, ["visible=", "video_url="]);
    assert_eq!(completed(&cli, &["list", "--dealer-code", ""]).await, ["north-cars"]);
    let webhook = cli.run("webhooks create https://receiver.example/ads --output json").await.json();
    let id = webhook["id"].as_str().unwrap();
    assert_eq!(completed(&cli, &["webhooks", "deliveries", &id[..2]]).await, [id]);

    // With a profile instead of the environment.
    let cli = Cli::new();
    let token = server.client.token.clone().unwrap();
    for name in ["north", "south"] {
        cli.piped(&format!("login --url {} --profile {name}", server.client.base), &token).await.done();
    }
    assert_eq!(completed(&cli, &["list", "--profile", "no"]).await, ["north"]);
    assert_eq!(completed(&cli, &["--profile", "south", "get", "van"]).await, ["van-1"]);
    assert_eq!(completed(&cli, &["get", "van"]).await, [""; 0], "there is no default profile");
}

#[tokio::test]
async fn a_service_that_does_not_answer_delays_no_shell() {
    // Connections are accepted by the system, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let cli = Cli::new().with("AD_URL", &format!("http://{}", silent.local_addr().unwrap()));
    let cli = cli.with("AD_TOKEN", "e30.e30.e30");
    let began = Instant::now();
    assert_eq!(completed(&cli, &["get", "ca"]).await, [""; 0]);
    assert_eq!(completed(&cli, &["update", "car-1", "--set", "visi"]).await, ["visible="], "a field of every ad");
    assert_eq!(completed(&cli, &["webhooks", "delete", "wh"]).await, [""; 0]);
    assert_eq!(completed(&cli, &["list", "--dealer-code", ""]).await, [""; 0]);
    assert_eq!(completed(&cli, &["values", "car", "brand", "volv"]).await, ["volvo"], "the built-in values");
    // Five waits of a second each; the default time limit of a request is 30 seconds.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let nothing = Cli::new();
    assert_eq!(completed(&nothing, &["get", "ca"]).await, [""; 0]);
    let broken = nothing.command(["--", "ad-cli", "get", ""]).env("COMPLETE", "tcsh").output().await.unwrap();
    assert!(broken.status.success() && broken.stdout.is_empty() && broken.stderr.is_empty(), "{broken:?}");
}

#[tokio::test]
async fn bash_completes_with_the_script() {
    let Some(bash) = tools::find(Tool::Program("bash")) else { return };
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("car-1", "ABC101")).await.expect(201);
    let cli = Cli::of(&server);
    let script = cli.run("completions bash").await;
    let asked = "COMP_WORDS=(ad-cli get ca); COMP_CWORD=2; COMP_TYPE=9; _clap_complete_ad_cli ad-cli ca get; echo \"${COMPREPLY[@]}\"";
    let mut command = tokio::process::Command::new(bash);
    let environment = cli.command([""; 0]);
    command.envs(environment.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.arg("-c").arg(format!("{}\n{asked}", script.done())).output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "car-1", "{output:?}");
}

#[tokio::test]
async fn every_command_selects_fields_the_same_way() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut car = plain_car("car-1", "ABC101");
    car["price"] = json!([{"type": "list", "amount": 100_000}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("car-1").await;
    for (line, expected) in [
        (
            "list --fields source_id,price.0.amount,status -o ndjson",
            "{\"price.0.amount\":100000,\"source_id\":\"car-1\",\"status\":\"live\"}\n",
        ),
        ("list --fields status,source_id -o csv", "status,source_id\nlive,car-1\n"),
        (
            "list --fields source_id,price,category_fields.registration_number",
            "SOURCE ID  PRICE        CATEGORY FIELDS.REGISTRATION NUMBER\ncar-1      100,000 SEK  ABC101\n",
        ),
        ("get car-1 --fields price.0.amount,source_id", "price.0.amount  100000\nsource_id       car-1\n"),
        ("get car-1 --fields source_id,url -o csv", "source_id,url\ncar-1,\n"),
        ("export --fields source_id", "{\"source_id\":\"car-1\"}\n"),
        ("summary --fields ads -o ndjson", "{\"ads\":1}\n"),
        ("values car body_type --fields id -o csv", "id\n"),
        ("hide car-1 --fields source_id,outcome -o ndjson", "{\"outcome\":\"accepted\",\"source_id\":\"car-1\"}\n"),
    ] {
        let ended = cli.run(line).await;
        let done = ended.done();
        assert!(
            if line.starts_with("values") { done.starts_with(expected) } else { done == expected },
            "{line}: {ended:?}"
        );
    }
    cli.file("cars.ndjson", ndjson(&[plain_car("car-2", "ABC102")]));
    for (line, told) in [
        ("list --fields prise", "unknown field \"prise\"\n  help: Did you mean \"price\"?"),
        ("list --fields plate,price", "Did you mean \"category_fields.registration_number\"?"),
        ("get car-1 --fields titel -o json", "Did you mean \"title\"?"),
        ("show car-1 --fields outcom", "Did you mean \"outcome\"?"),
        ("import cars.ndjson --fields outcom", "Did you mean \"outcome\"?"),
        ("sync apply cars.ndjson --yes --fields outcom", "Did you mean \"outcome\"?"),
        ("sync plan cars.ndjson --fields titel", "Did you mean \"title\"?"),
        ("migrate-v4 --all --fields requestid", "Did you mean \"request_id\"?"),
        ("webhooks create https://receiver.example/ --fields secrets", "Did you mean \"secret\"?"),
    ] {
        let ended = cli.run(line).await;
        assert!(ended.code == 2 && ended.stderr.contains(told), "{line}: {ended:?}");
    }
    assert_eq!(
        server.client.ad("car-1").await["visible"],
        json!(false),
        "an unknown field is found before anything is done"
    );
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 1);
    assert_eq!(server.client.get("/v4/webhooks").await.expect(200)["count"], 0);
}
