//! The protocol line by line: framing, garbage, cancelled calls, limits, and the end of the connection.

use std::process::Stdio;

use ad_tests::{Cli, Options, PATIENCE, Server, eventually};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::payloads::plain_car;

/// A server process, and its end of the connection.
struct Wire {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Wire {
    /// Starts `ad-cli mcp` and initializes the session.
    async fn start(cli: &Cli, options: &str) -> Self {
        let mut command = cli.command(["mcp"].into_iter().chain(options.split_whitespace()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdin = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut wire = Self { process, stdin, lines };
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        wire.request(0, "initialize", params).await;
        let answer = wire.answer().await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "ad-cli");
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        wire
    }

    async fn send(&mut self, line: &str) {
        self.write(&format!("{line}\n")).await;
    }

    async fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).await.unwrap();
        stdin.flush().await.unwrap();
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
    }

    async fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    }

    /// The next line of the server, which has to be JSON.
    async fn answer(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("the server answers").unwrap();
        serde_json::from_str(&line.expect("the connection is open")).unwrap()
    }

    /// Closes the connection; returns the exit code and the log.
    async fn close(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let status = timeout(PATIENCE, self.process.wait()).await.expect("the server ends").unwrap();
        let mut log = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
        (status.code(), log)
    }
}

/// Whether a server runs a command, on a thread of that name.
fn runs_a_command(server: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{server}/task")).into_iter().flatten().flatten();
    threads.map(|thread| thread.path().join("comm")).any(|name| {
        // The thread may have ended meanwhile.
        std::fs::read_to_string(name).is_ok_and(|name| name.trim() == "command")
    })
}

async fn has_a_command(server: u32) {
    eventually("a command runs", || async { runs_a_command(server).then_some(()) }).await;
}

async fn has_no_command(server: u32) {
    eventually("the command has ended", || async { (!runs_a_command(server)).then_some(()) }).await;
}

/// An ad whose request is not finished for minutes.
async fn unfinished() -> Server {
    let args = ["--sandbox", "--marketplace-tries", "50", "--marketplace-within", "10m"];
    let server = Server::with(Options { args: args.map(str::to_owned).to_vec(), ..Options::default() }).await;
    server.client.post("/v4/car", &plain_car("fault-500-primary-1", "ABC101")).await.expect(201);
    server
}

#[tokio::test]
async fn messages_are_lines_and_garbage_ends_nothing() {
    let cli = Cli::new();
    let mut wire = Wire::start(&cli, "").await;
    wire.send("this is not JSON").await;
    wire.send("").await;
    wire.send("{\"jsonrpc\": \"2.0\", \"id\": 1, \"meth").await;
    wire.write("\u{0}\u{1b}[31m\r\n").await;
    // One message in two parts, two messages in one.
    let line = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let (first, second) = line.split_at(20);
    wire.write(first).await;
    wire.write(second).await;
    wire.write("\n").await;
    assert_eq!(wire.answer().await, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    let ping = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
    wire.send(&format!("{}\n{}", ping(3), ping(4))).await;
    let mut ids = [wire.answer().await["id"].clone(), wire.answer().await["id"].clone()];
    ids.sort_by_key(Value::as_u64);
    assert_eq!(ids, [json!(3), json!(4)]);
    wire.request(5, "resources/read", json!({"uri": "file:///etc/passwd"})).await;
    assert_eq!(wire.answer().await["error"]["code"], -32601);
    wire.call(6, "fileds", json!({})).await;
    let unknown = wire.answer().await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    wire.call(7, "values", json!({"type": "car", "attribute": "body_type"})).await;
    let values = wire.answer().await;
    assert_eq!(values["result"]["structuredContent"]["exit_code"], 0, "this tool needs no service: {values}");
    wire.call(8, "get", json!({"source_id": "car-1"})).await;
    let get = wire.answer().await;
    assert!(get["result"]["content"][0]["text"].as_str().unwrap().contains("ad-cli login"), "{get}");
    let (code, log) = wire.close().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("no server URL") && log.contains("tool get {\"source_id\":\"car-1\"}: exit code 2"), "{log}");
}

#[tokio::test]
async fn a_cancelled_call_ends_its_command() {
    let server = unfinished().await;
    let cli = Cli::of(&server);
    let mut wire = Wire::start(&cli, "").await;
    let id = wire.process.id().unwrap();
    wire.call(1, "wait", json!({"source_id": "fault-500-primary-1"})).await;
    has_a_command(id).await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    wire.send(&cancelled.to_string()).await;
    has_no_command(id).await;
    wire.request(2, "ping", json!({})).await;
    assert_eq!(wire.answer().await["id"], 2, "a cancelled call has no answer");
    let (code, log) = wire.close().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(
        log.contains("tool wait {\"source_id\":\"fault-500-primary-1\"}: cancelled; a request that was already sent"),
        "{log}"
    );
}

#[tokio::test]
async fn a_late_call_ends_its_command() {
    let server = unfinished().await;
    let cli = Cli::of(&server);
    let mut wire = Wire::start(&cli, "--time-limit 1s").await;
    let id = wire.process.id().unwrap();
    wire.call(1, "wait", json!({"source_id": "fault-500-primary-1"})).await;
    let late = wire.answer().await;
    assert_eq!(late["result"]["isError"], true);
    assert!(late["result"]["content"][0]["text"].as_str().unwrap().starts_with("no result within 1 s"), "{late}");
    has_no_command(id).await;
    assert_eq!(wire.close().await.0, Some(0));
}

#[tokio::test]
async fn no_command_outlives_the_connection() {
    let server = unfinished().await;
    let cli = Cli::of(&server);
    let mut wire = Wire::start(&cli, "").await;
    let id = wire.process.id().unwrap();
    wire.call(1, "wait", json!({"source_id": "fault-500-primary-1"})).await;
    has_a_command(id).await;
    let (code, log) = wire.close().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("tool wait {\"source_id\":\"fault-500-primary-1\"}: cancelled"), "{log}");
}

#[tokio::test]
async fn a_signal_ends_the_calls_and_the_server() {
    let server = unfinished().await;
    let cli = Cli::of(&server);
    let mut wire = Wire::start(&cli, "").await;
    let id = wire.process.id().unwrap();
    wire.call(1, "wait", json!({"source_id": "fault-500-primary-1"})).await;
    has_a_command(id).await;
    let killed = tokio::process::Command::new("kill").args(["-TERM", &id.to_string()]).status().await.unwrap();
    assert!(killed.success());
    let status = timeout(PATIENCE, wire.process.wait()).await.expect("the server ends").unwrap();
    assert_eq!(status.code(), Some(130));
}

#[tokio::test]
async fn the_profile_of_the_server_is_that_of_its_commands() {
    let server = Server::start().await;
    let cli = Cli::new();
    let token = server.client.token.clone().unwrap();
    cli.piped(&format!("login --url {} --profile north", server.client.base), &token).await.done();
    let mut wire = Wire::start(&cli, "--profile north").await;
    wire.call(1, "whoami", json!({"online": true})).await;
    let answer = wire.answer().await;
    let result = &answer["result"]["structuredContent"]["result"];
    assert_eq!((&result["profile"], &result["url"]), (&json!("north"), &json!(server.client.base)), "{answer}");
    assert!(!answer.to_string().contains(&token));
}

#[tokio::test]
async fn a_result_that_is_too_large_is_refused() {
    let mut wire = Wire::start(&Cli::new(), "").await;
    let payloads: Vec<_> = (0..5000).map(|index| json!({"source_id": format!("car-{index}")})).collect();
    wire.call(1, "validate", json!({"payloads": payloads})).await;
    let large = wire.answer().await;
    assert_eq!(large["result"]["isError"], true);
    let text = large["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("the result is larger than 1024 KiB; ask for less"), "{text}");
    assert_eq!(wire.close().await.0, Some(0));
}

#[tokio::test]
async fn without_a_client_it_says_who_starts_it() {
    let ended = Cli::new().run("mcp").await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.is_empty() && ended.stderr.contains("an assistant starts this command"), "{ended:?}");
    assert_eq!(Cli::new().run("mcp --allow-promote 0").await.code, 2);
}
