//! `ad-cli mcp`, driven by the official client library for Python, and line by line.

mod hints;
mod page;
mod wire;

use std::{ffi::OsStr, path::Path, process::Stdio};

use ad_tests::{
    Cli, Options, Server, eventually,
    tools::{self, Tool},
};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::payloads::plain_car;

/// A session of the client library.
struct Session {
    answer: Value,
    /// The log of the server.
    log: String,
}

/// A call and its arguments.
type Call<'a> = (&'a str, Value);

/// Runs a session with `ad-cli mcp` and these options; `None` if the client library is not installed.
async fn session(cli: &Cli, options: &str, mode: &str, calls: &[Call<'_>]) -> Option<Session> {
    let python = tools::find(Tool::Python("from mcp import Client, MCPError, StdioServerParameters"))?;
    let command = cli.command(["mcp"].into_iter().chain(options.split_whitespace()));
    let server = command.as_std();
    let text = |text: &OsStr| text.to_str().unwrap().to_owned();
    let env = server.get_envs().filter_map(|(name, value)| Some((text(name), json!(text(value?)))));
    let task = json!({
        "server": {
            "command": text(server.get_program()),
            "args": server.get_args().map(text).collect::<Vec<_>>(),
            "env": env.collect::<serde_json::Map<_, _>>(),
            "cwd": cli.home(),
        },
        "mode": mode,
        "calls": calls,
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/cli/mcp/client.py");
    let mut client = Command::new(python);
    client.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut client = client.spawn().unwrap();
    client.stdin.take().unwrap().write_all(task.to_string().as_bytes()).await.unwrap();
    let output = client.wait_with_output().await.unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    Some(Session { answer: serde_json::from_slice(&output.stdout).unwrap(), log })
}

impl Session {
    fn names(&self) -> Vec<&str> {
        self.answer["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }

    /// The result of a call that the server answered with this exit code.
    fn ended(&self, call: usize, exit_code: i32) -> &Value {
        let result = &self.answer["results"][call];
        assert_eq!(result["structuredContent"]["exit_code"], exit_code, "call {call}: {result}");
        assert_eq!(result["isError"], exit_code != 0, "call {call}: {result}");
        &result["structuredContent"]["result"]
    }

    fn notes(&self, call: usize) -> &str {
        self.answer["results"][call]["structuredContent"]["notes"].as_str().unwrap()
    }

    /// The reason for which a call was refused.
    fn refused(&self, call: usize) -> &str {
        let result = &self.answer["results"][call];
        assert_eq!(
            (&result["isError"], &result["structuredContent"]),
            (&json!(true), &Value::Null),
            "{call}: {result}"
        );
        result["content"][0]["text"].as_str().unwrap()
    }
}

/// A server on which marketplaces fail by source id, with an ad that is live and one that no marketplace shows.
async fn sandbox() -> Server {
    let args = vec!["--sandbox".to_owned()];
    let server = Server::with(Options { args, ..Options::default() }).await;
    let mut car = plain_car("car-1", "ABC101");
    car["price"] = json!([{"type": "list", "amount": 189_900}]);
    let mut refused = plain_car("fault-refused-1", "ABC102");
    refused["category_fields"]["brand"] = json!("volvo");
    refused["category_fields"]["model"] = json!("xc60");
    for car in [car, refused] {
        server.client.post("/v4/car", &car).await.expect(201);
        server.client.ended(car["source_id"].as_str().unwrap(), "publish", None).await;
    }
    server
}

#[tokio::test]
async fn the_tools_are_those_that_are_allowed() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    for mode in ["auto", "legacy"] {
        let Some(reading) = session(&cli, "", mode, &[]).await else { return };
        let hints = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
        assert!(reading.answer["tools"].as_array().unwrap().iter().all(hints), "{}", reading.answer);
        assert!(reading.names().contains(&"status") && reading.names().contains(&"photos_check"));
        assert!(reading.answer["instructions"].as_str().unwrap().contains("tools only read, and order no promotions"));
        let Some(writing) = session(&cli, "--allow-write", mode, &[]).await else { return };
        assert!(writing.names().contains(&"sold") && !writing.names().contains(&"bump"));
        let Some(all) = session(&cli, "--allow-write --allow-promote 2", mode, &[]).await else { return };
        assert!(all.names().contains(&"bump") && all.names().contains(&"pole_position"));
        let price = all.answer["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "price").unwrap();
        assert_eq!(price["inputSchema"]["required"], json!(["source_id", "amount"]));
        assert_eq!(price["inputSchema"]["properties"]["amount"]["type"], "number");
        assert_eq!(price["annotations"]["destructiveHint"], true);
    }
}

#[tokio::test]
async fn an_assistant_finds_what_is_not_live_explains_it_changes_a_price_and_sells() {
    let server = sandbox().await;
    let cli = Cli::of(&server);
    let calls = [
        ("status", json!({})),
        ("status", json!({"source_ids": ["ABC102"]})),
        ("price", json!({"source_id": "ABC101", "amount": 179_900, "reduced": true, "dry_run": true})),
        ("price", json!({"source_id": "ABC101", "amount": 179_900, "reduced": true})),
        ("wait", json!({"source_id": "car-1", "until": "published"})),
        ("get", json!({"source_id": "car-1"})),
        ("sold", json!({"source_ids": ["car-1"]})),
        ("wait", json!({"source_id": "car-1", "until": "deleted"})),
        ("list", json!({"fields": ["source_id", "state"], "deleted": true, "ordering": "source_id"})),
        ("log", json!({"source_id": "car-1", "limit": 1})),
    ];
    let Some(day) = session(&cli, "--allow-write --verbose", "auto", &calls).await else { return };
    let overview = day.ended(0, 0);
    assert_eq!(overview["summary"]["by_status"]["live"], 1);
    assert_eq!(overview["not_live"][0]["source_id"], "fault-refused-1");
    let reason = &day.ended(1, 0)[0]["channels"][0];
    assert!(reason["what_to_do"].is_string() && reason["code"].is_string(), "{reason}");
    assert_eq!(day.ended(2, 0)["price"][1], json!({"type": "reduced", "amount": 179_900, "currency": "SEK"}));
    assert!(day.notes(2).contains("car-1: price: reduced (none) → 179,900 SEK"), "{}", day.notes(2));
    assert_eq!(day.ended(3, 0)[0]["outcome"], "accepted");
    assert_eq!(day.ended(4, 0)[0]["outcome"], "published");
    assert_eq!(day.ended(5, 0)["price"][1]["amount"], 179_900, "the dry run changed nothing, the second call did");
    assert_eq!(day.ended(6, 0)[0]["source_id"], "car-1");
    assert_eq!(day.ended(7, 0)[0]["outcome"], "deleted");
    let listed = json!([
        {"source_id": "car-1", "state": "deleted"}, {"source_id": "fault-refused-1", "state": "created"},
    ]);
    assert_eq!(day.ended(8, 0), &listed);
    assert_eq!(day.ended(9, 0)[0]["action"], "delete", "the newest entry is the first");
    for line in [
        "MCP server of http://",
        "tool status {}: exit code 0, ",
        "tool sold {\"source_ids\":[\"car-1\"]}: exit code 0, ",
    ] {
        assert!(day.log.contains(line), "{line}: {}", day.log);
    }
    assert!(day.log.contains("PATCH /v4/car/car-1"), "--verbose also logs requests: {}", day.log);
    assert!(!day.log.contains(server.client.token.as_deref().unwrap()));
}

#[tokio::test]
async fn payloads_are_validated_and_explained_before_they_are_sent() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let wrong = json!({"source_id": "car-9", "category_id": 1020, "category_fields": {"brand": "vovlo"}});
    let calls = [
        ("validate", json!({"payload": [plain_car("car-8", "ABC108"), wrong]})),
        ("create", json!({"payload": wrong})),
        ("create", json!({"payload": plain_car("car-1", "ABC101"), "dry_run": true})),
        ("create", json!({"payload": plain_car("car-1", "ABC101")})),
        ("create", json!({"payload": plain_car("car-1", "ABC101")})),
        ("wait", json!({"source_id": "car-1"})),
        ("update", json!({"source_id": "car-1", "payload": {"body": "As new."}, "set": ["color=red"]})),
        ("import", json!({"payload": [plain_car("car-2", "ABC102"), plain_car("car-3", "ABC103")]})),
        ("new", json!({"type": "boat", "source_id": "boat-1"})),
        ("values", json!({"type": "car", "attribute": "brand", "search": "volvo"})),
        ("doctor", json!({})),
        (
            "photos_check_payloads",
            json!({"payload": [{"source_id": "car-4", "image_urls": ["ftp://127.0.0.1/1.jpg"]}]}),
        ),
        ("photos_check", json!({"ad": ["/etc/passwd"]})),
        ("events", json!({"types": ["ad.create.done"], "limit": 1})),
    ];
    let Some(done) = session(&cli, "--allow-write", "legacy", &calls).await else { return };
    let findings = done.ended(0, 3).as_array().unwrap();
    assert!(findings.iter().any(|it| it["line"] == 2 && it["field"] == "category_fields.brand"), "{findings:?}");
    done.ended(1, 3);
    assert!(done.notes(1).contains("nothing was sent"), "{}", done.notes(1));
    assert!(done.notes(2).contains("nothing was changed"), "{}", done.notes(2));
    assert_eq!(done.ended(3, 0)[0]["source_id"], "car-1");
    done.ended(4, 3);
    assert!(done.notes(4).contains("tool `get` with source_id \"car-1\""), "{}", done.notes(4));
    assert_eq!(done.ended(5, 0)[0]["outcome"], "published");
    assert_eq!(done.ended(6, 0)[0]["ad"]["category_fields"]["color"], "red");
    assert_eq!(done.ended(7, 0).as_array().unwrap().len(), 2);
    assert_eq!(done.ended(8, 0)["source_id"], "boat-1");
    assert_eq!(done.ended(9, 0)[0]["id"], "volvo");
    assert_eq!(done.ended(10, 0)[0]["result"], "ok");
    assert!(done.ended(11, 1)[0]["problem"].as_str().unwrap().contains("https"));
    done.ended(12, 1);
    assert!(!done.answer["results"][12].to_string().contains("root:"), "no tool reads files");
    assert_eq!(done.ended(13, 0).as_array().unwrap().len(), 1);
    assert!(done.notes(13).contains("tool `events` with after "), "{}", done.notes(13));
    let created = server.client.get("/v4/ad?fields=source_id&ordering=source_id").await.expect(200);
    assert_eq!(created["count"], 3, "{created}");
}

#[tokio::test]
async fn what_is_not_allowed_or_malformed_is_refused_with_what_to_do() {
    let server = sandbox().await;
    let cli = Cli::of(&server);
    let calls = [
        ("sold", json!({"source_ids": ["car-1"]})),
        ("bump", json!({"source_ids": ["car-1"]})),
        ("get", json!({"source_id": 7})),
        ("get", json!({"id": "car-1"})),
        ("get", json!({"source_id": "--output=csv"})),
        ("list", json!({"status": ["dead"]})),
        ("stauts", json!({})),
    ];
    let Some(done) = session(&cli, "", "auto", &calls).await else { return };
    assert!(done.refused(0).ends_with("the user starts: ad-cli mcp --allow-write"), "{}", done.refused(0));
    assert!(done.refused(1).ends_with("the user starts: ad-cli mcp --allow-promote N"), "{}", done.refused(1));
    assert_eq!(done.refused(2), "source_id: expected a string");
    assert!(done.refused(3).starts_with("unknown argument \"id\""), "{}", done.refused(3));
    done.ended(4, 1);
    assert!(done.notes(4).contains("--output=csv") || done.notes(4).contains("source id"), "{}", done.notes(4));
    done.ended(5, 2);
    assert!(done.notes(5).contains("dead"), "{}", done.notes(5));
    let unknown = done.answer["results"][6]["protocolError"].as_str().unwrap();
    assert!(unknown.contains("Did you mean \"status\"?"), "{unknown}");
    assert_eq!(server.client.get("/v4/ad/car-1").await.expect(200)["state"], "created");
}

#[tokio::test]
async fn promotions_are_limited() {
    let server = sandbox().await;
    let cli = Cli::of(&server);
    let bump = |ids: Value| ("bump", json!({"source_ids": ids}));
    let calls = [
        ("bump", json!({"source_ids": ["car-1"], "dry_run": true})),
        bump(json!(["car-1"])),
        bump(json!(["car-1", "fault-refused-1"])),
        ("pole_position", json!({"source_ids": ["car-1"]})),
        bump(json!(["car-1"])),
        ("sold", json!({"source_ids": ["car-1"]})),
    ];
    let Some(done) = session(&cli, "--allow-promote 2", "auto", &calls).await else { return };
    done.ended(0, 0);
    assert_eq!(done.ended(1, 0)[0]["outcome"], "accepted");
    assert!(
        done.refused(2).starts_with("not ordered: the call needs 2 promotions, and 1 of 2 allowed is left."),
        "{}",
        done.refused(2)
    );
    assert_eq!(done.ended(3, 0)[0]["outcome"], "accepted");
    assert!(
        done.refused(4).starts_with("not ordered: the call needs 1 promotion, and 0 of 2 allowed is left."),
        "{}",
        done.refused(4)
    );
    assert!(done.refused(5).contains("--allow-write"), "{}", done.refused(5));
    server.client.ended("car-1", "bump", None).await;
    let log = server.client.get("/v4/ad/car-1/log?action=bump&limit=100").await.expect(200);
    let requests: std::collections::BTreeSet<_> =
        log["results"].as_array().unwrap().iter().map(|entry| entry["request_id"].as_str().unwrap()).collect();
    assert_eq!(requests.len(), 1, "{log}");
}

/// The prices of the account count against an amount before anything is ordered.
#[tokio::test]
async fn promotions_are_limited_by_amount() {
    let server = sandbox().await;
    let known = include_str!("../../../data/dealers.toml");
    let (north, others) = known.split_once("\n[[dealer]]").expect("several dealers");
    let tariff = "[dealer.tariff]\nbump = 29.5\npole_position = 199\n";
    std::fs::write(server.dir().join("dealers.toml"), format!("{north}\n{tariff}\n[[dealer]]{others}")).unwrap();
    server.command(&["dealers", "import", "dealers.toml"]).await;
    eventually("the server knows the tariff", async || {
        (server.client.get("/v4/account").await.expect(200)["prices"]["bump"] == 29.5).then_some(())
    })
    .await;
    let cli = Cli::of(&server);
    let schedule = json!({"kind": "bump", "select": ["status=live"], "at": "08:00", "most_per_run": 2, "budget": 30});
    let calls = [
        ("pole_position", json!({"source_ids": ["car-1"]})),
        ("bump", json!({"source_ids": ["car-1"]})),
        ("bump", json!({"source_ids": ["car-1"], "exclude": "primary"})),
        ("add_promotion", schedule),
        ("bump", json!({"source_ids": ["car-1"], "exclude": "primary"})),
    ];
    let Some(done) = session(&cli, "--allow-promote 10 --promote-budget 119", "auto", &calls).await else { return };
    let refused = done.refused(0);
    assert!(refused.starts_with("not ordered: the call may cost 199, and 119 of 119 allowed is left."), "{refused}");
    assert_eq!(done.ended(1, 0)[0]["outcome"], "accepted");
    done.ended(2, 0);
    assert_eq!(done.ended(3, 0)["budget"], 30);
    let refused = done.refused(4);
    assert!(refused.starts_with("not ordered: the call may cost 29.50, and 0.50 of 119 allowed is left."), "{refused}");
}
