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
pub(super) struct Wire {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Wire {
    /// Starts `ad-cli mcp`.
    fn open(cli: &Cli, options: &str) -> Self {
        let mut command = cli.command(["mcp"].into_iter().chain(options.split_whitespace()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdin = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, stdin, lines }
    }

    /// Starts `ad-cli mcp` and initializes the session.
    pub(super) async fn start(cli: &Cli, options: &str) -> Self {
        let mut wire = Self::open(cli, options);
        wire.initialize().await;
        wire
    }

    async fn initialize(&mut self) {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.request(0, "initialize", params).await;
        let answer = self.answer().await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "ad-cli");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
    }

    async fn send(&mut self, line: &str) {
        self.write(&format!("{line}\n")).await;
    }

    async fn write(&mut self, text: &str) {
        self.bytes(text.as_bytes()).await;
    }

    async fn bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).await.unwrap();
        stdin.flush().await.unwrap();
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
    }

    pub(super) async fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    }

    /// The next line of the server, which has to be JSON.
    pub(super) async fn answer(&mut self) -> Value {
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
    // One message in two parts, two messages in one.
    let line = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let (first, second) = line.split_at(20);
    wire.write("\r\n  \n").await;
    wire.write(first).await;
    wire.write(second).await;
    wire.write("\n").await;
    assert_eq!(wire.answer().await, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    let ping = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
    wire.send(&format!("{}\n\u{feff}{}\r", ping(3), ping(4))).await;
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

/// A call whose arguments are these bytes.
fn call_with(arguments: &[u8]) -> Vec<u8> {
    let head = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get","arguments":"#;
    [head, arguments, b"}}"].concat()
}

#[tokio::test]
async fn every_line_that_expects_an_answer_gets_one() {
    const NOT_JSON: &str = "not JSON, or nested more than 127 levels";
    let deep = |levels| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let wire_error = |id: Value, code: i32, message: &str| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    let parse_error =
        |id: Value, problem: &str| wire_error(id, -32700, &format!("{NOT_JSON}: {problem}; a message is one line"));
    let invalid = |id: Value, problem: &str| wire_error(id, -32600, problem);
    let malformed = |problem: &str| wire_error(json!(9), -32602, problem);
    let request = |members: &str| format!(r#"{{"jsonrpc":"2.0",{members}}}"#).into_bytes();
    let call = |params: &str| request(&format!(r#""id":9,"method":"tools/call","params":{params}"#));
    let cases: Vec<(Vec<u8>, Value)> = vec![
        // Not JSON.
        (b"this is not JSON".to_vec(), parse_error(json!(null), "expected ident at line 1 column 2")),
        (b"\0\x1b[31m".to_vec(), parse_error(json!(null), "expected value at line 1 column 1")),
        (
            br#"{"jsonrpc": "2.0", "id": 9, "meth"#.to_vec(),
            parse_error(json!(9), "EOF while parsing a string at line 1 column 33"),
        ),
        (
            call_with(br#"{"source_id": "\ud800"}"#),
            parse_error(json!(9), "unexpected end of hex escape at line 1 column 103"),
        ),
        // Not UTF-8.
        (b"\xff\xfe{\0}\0".to_vec(), wire_error(json!(null), -32700, "not UTF-8: byte 0xff at offset 0")),
        (call_with(b"{\"source_id\": \"m\xf6rk\"}"), wire_error(json!(9), -32700, "not UTF-8: byte 0xf6 at offset 97")),
        // Nested.
        (deep(200).into_bytes(), parse_error(json!(null), "recursion limit exceeded at line 1 column 128")),
        (
            call_with(format!(r#"{{"source_id": {}}}"#, deep(200)).as_bytes()),
            parse_error(json!(9), "recursion limit exceeded at line 1 column 220"),
        ),
        (call_with(deep(100_000).as_bytes()), parse_error(json!(9), "recursion limit exceeded at line 1 column 207")),
        // No request.
        (b"7".to_vec(), invalid(json!(null), "expected a message as a JSON object")),
        (b"{}".to_vec(), invalid(json!(null), "`jsonrpc` must be \"2.0\"")),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]".to_vec(),
            invalid(json!(null), "batches are not supported; send each message as an object on a line of its own"),
        ),
        (br#"{"id":9,"method":"ping"}"#.to_vec(), invalid(json!(9), "`jsonrpc` must be \"2.0\"")),
        (request(r#""id":"a""#), invalid(json!("a"), "`method` must be a string")),
        (request(r#""id":9,"method":7"#), invalid(json!(9), "`method` must be a string")),
        (request(r#""id":null,"method":"ping""#), invalid(json!(null), "`id` must be a string or an integer")),
        (request(r#""id":1.5,"method":"ping""#), invalid(json!(1.5), "`id` must be a string or an integer")),
        (request(r#""id":{"a":1},"method":"ping""#), invalid(json!(null), "`id` must be a string or an integer")),
        (
            request(r#""id":9,"method":"ping","result":{}"#),
            invalid(json!(9), "a request has no `result` and no `error`"),
        ),
        // Unknown methods, malformed parameters.
        (request(r#""id":9,"method":"tools/cal""#), wire_error(json!(9), -32601, "unknown method \"tools/cal\"")),
        (
            request(r#""id":9,"method":"tools/call""#),
            malformed("`params`: expected an object with `name` and `arguments`"),
        ),
        (call("[]"), malformed("`params` and its `_meta` must be objects")),
        (call("{}"), malformed("missing `name`: the name of a tool")),
        (call(r#"{"name":null}"#), malformed("`name`: expected a string")),
        (call(r#"{"name":["get"]}"#), malformed("`name`: expected a string")),
        (call(r#"{"name":"get","arguments":["car-1"]}"#), malformed("`arguments`: expected an object")),
        (call(r#"{"name":"get","arguments":"{}"}"#), malformed("`arguments`: expected an object")),
        (call(r#"{"name":"get","_meta":7}"#), malformed("`params` and its `_meta` must be objects")),
        (call(r#"{"name":"get","requestState":7}"#), malformed("malformed `params` of tools/call")),
        (call(r#"{"name":"gett"}"#), malformed("unknown tool \"gett\". Did you mean \"get\"?")),
    ];
    let mut wire = Wire::start(&Cli::new(), "").await;
    for (line, expected) in &cases {
        wire.bytes(&[line, &b"\n"[..]].concat()).await;
        assert_eq!(&wire.answer().await, expected, "{}", String::from_utf8_lossy(line));
    }
    // Notifications and answers get none.
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{}}}"#, deep(200)),
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"result":7}"#.to_owned(),
    ] {
        wire.send(&line).await;
    }
    // A last line without its end counts.
    wire.write(r#"{"jsonrpc":"2.0","id":10,"method":"ping"}"#).await;
    drop(wire.stdin.take());
    assert_eq!(wire.answer().await, json!({"jsonrpc": "2.0", "id": 10, "result": {}}));
    let (code, log) = wire.close().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("invalid message: not UTF-8: byte 0xff at offset 0"), "{log}");
}

#[tokio::test]
async fn lines_before_the_session_begins_are_answered_too() {
    let mut wire = Wire::open(&Cli::new(), "");
    wire.send("GET / HTTP/1.1").await;
    assert_eq!(wire.answer().await["error"]["code"], -32700);
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    wire.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#).await;
    let refused = wire.answer().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32602)), "{refused}");
    wire.call(2, "fields", json!({})).await;
    assert_eq!(wire.answer().await["error"]["code"], -32602);
    wire.initialize().await;
    wire.call(3, "fields", json!({})).await;
    assert_eq!(wire.answer().await["result"]["structuredContent"]["exit_code"], 0);
    assert_eq!(wire.close().await.0, Some(0));
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
    wire.call(1, "validate", json!({"payload": payloads})).await;
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
