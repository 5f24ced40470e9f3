//! The binary as an operator uses it: what it prints where, its exit codes, and what it leaves behind.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    sync::Arc,
};

use ad_core::{ports::Clock, service::Access, time::Timestamp};
use ad_server::{
    auth::{Caller, KeySet, Permission, Verifier},
    system::SystemClock,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const DEALERS: &str = r#"
[[dealer]]
code = "nord-1"
name = "Nordbil Umeå"
group = "nord"
bump = ["primary"]

[[dealer]]
code = "syd-1"
name = "Sydbåt"
currency = "EUR"
"#;

/// An empty folder to run in.
struct Folder(TempDir);

/// What a run printed, with its exit code.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ad-server"));
        command.args(line.split_whitespace()).current_dir(self.path());
        // What is set where the tests run must not count.
        for (name, _) in std::env::vars_os() {
            if name == "RUST_LOG" || name.to_string_lossy().starts_with("AD_SERVER_") {
                command.env_remove(name);
            }
        }
        command
    }

    fn run(&self, line: &str) -> Run {
        Run::of(self.command(line).output().unwrap())
    }

    /// Runs what must succeed, and returns its stdout.
    fn done(&self, line: &str) -> String {
        let run = self.run(line);
        assert_eq!(run.code, Some(0), "{line}: {run:?}");
        run.out
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.done(line)).unwrap()
    }
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[test]
fn a_token_is_issued_listed_and_revoked() {
    let folder = Folder::new();
    folder.write("dealers.toml", DEALERS);
    folder.done("dealers import dealers.toml");
    let run = folder.run("token issue --dealer-group nord --expires 90d --permissions read,write");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.err.contains("warning"), "{}", run.err);

    let keys = KeySet::load_or_create(&folder.path().join("data/token-keys.json")).unwrap();
    let token = run.out.strip_suffix('\n').unwrap();
    let Caller { scope, permissions, jti } = Verifier::new(&keys, Arc::new(SystemClock)).verify(token).unwrap();
    assert_eq!(scope, Access::Group("nord".to_owned()));
    assert!(permissions.contains(Permission::Write) && !permissions.contains(Permission::Promote));

    let listed = folder.json("token list --json");
    let [record] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(record["jti"], json!(jti));
    assert_eq!(record["permissions"], json!(["read", "write"]));
    let time = |name: &str| record[name].as_str().unwrap().parse::<Timestamp>().unwrap();
    assert_eq!((time("expires") - time("issued")).as_secs(), 90 * 24 * 60 * 60);
    assert!(time("issued") <= SystemClock.now());
    assert!(folder.done("token list").contains(" valid"), "the state");

    folder.done(&format!("token revoke {jti}"));
    assert!(folder.json("token list --json")[0]["revoked"].is_string());
    let unknown = folder.run("token revoke 01890a5d-ac96-774b-bcce-b302099a8057");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.err.contains("01890a5d") && unknown.err.contains("data/ads.db"), "{}", unknown.err);
}

#[test]
fn a_token_for_an_unknown_dealer_comes_with_a_warning() {
    let folder = Folder::new();
    let run = folder.run("token issue --dealer-code nrod-1");
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 1), "{run:?}");
    assert!(run.err.contains("warning: no dealer has the code \"nrod-1\""), "{}", run.err);
}

#[test]
fn dealers_are_imported_changed_and_listed() {
    let folder = Folder::new();
    folder.write("dealers.toml", DEALERS);
    folder.done("dealers import dealers.toml");
    folder.write("more.toml", "[[dealer]]\ncode = \"syd-1\"\nname = \"Sydbåt AB\"\ngroup = \"syd\"\n");
    folder.done("dealers import more.toml");
    let expected = json!([
        {"code": "nord-1", "name": "Nordbil Umeå", "group": "nord", "currency": "SEK", "bump": ["primary"]},
        {"code": "syd-1", "name": "Sydbåt AB", "group": "syd", "currency": "SEK"},
    ]);
    assert_eq!(folder.json("dealers list --json"), expected);
    let table = folder.done("dealers list");
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(!table.contains('│'), "plain without a terminal: {table}");
}

#[test]
fn listings_are_imported_from_stdin_and_listed() {
    let folder = Folder::new();
    let line =
        json!({"marketplace": "primary", "dealer_code": "nord-1", "registration_number": "abc 123", "title": "Volvo"});
    let mut child = folder
        .command("listings import -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    let listed = folder.json("listings list --json");
    assert_eq!(listed[0]["marketplace"], "primary");
    assert_eq!(listed[0]["dealer_code"], "nord-1");
    assert_eq!(listed[0]["registration_number"], "ABC123");
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

#[test]
fn of_listings_with_wrong_lines_none_is_imported() {
    let folder = Folder::new();
    let good =
        r#"{"marketplace": "primary", "dealer_code": "nord-1", "registration_number": "ABC123", "title": "Volvo"}"#;
    folder.write("listings.ndjson", &format!("{good}\n{{\"marketplace\": \"primary\"}}\n"));
    let run = folder.run("listings import listings.ndjson");
    assert_eq!(run.code, Some(1));
    assert!(run.err.starts_with("error: listings.ndjson:2: missing field"), "{}", run.err);
    assert_eq!(folder.done("listings list --json"), "[]\n");
}

#[test]
fn a_flag_counts_more_than_the_environment_and_that_more_than_the_file() {
    let used = |flag: &str, environment: Option<&str>, file: bool| {
        let folder = Folder::new();
        folder.write("settings.toml", "token_key = \"file.json\"\n");
        let config = if file { "--config settings.toml" } else { "" };
        let mut command = folder.command(&format!("token issue --dealer-code a {config} {flag}"));
        command.envs(environment.map(|path| ("AD_SERVER_TOKEN_KEY", path)));
        let run = Run::of(command.output().unwrap());
        assert_eq!(run.code, Some(0), "{run:?}");
        let candidates = ["flag.json", "environment.json", "file.json", "data/token-keys.json"];
        candidates.into_iter().filter(|name| folder.path().join(name).exists()).collect::<Vec<_>>()
    };
    assert_eq!(used("--token-key flag.json", Some("environment.json"), true), ["flag.json"]);
    assert_eq!(used("", Some("environment.json"), true), ["environment.json"]);
    assert_eq!(used("", None, true), ["file.json"]);
    assert_eq!(used("", None, false), ["data/token-keys.json"]);
}

#[test]
fn keys_in_the_environment_need_no_file() {
    let folder = Folder::new();
    let text = json!({"keys": [{"kty": "oct", "kid": "a", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]});
    let mut command = folder.command("token issue --dealer-code a");
    let run = Run::of(command.env("AD_SERVER_TOKEN_KEYS", text.to_string()).output().unwrap());
    let verifier = Verifier::new(&KeySet::from_json(&text.to_string()).unwrap(), Arc::new(SystemClock));
    assert!(verifier.verify(run.out.trim_end()).is_ok(), "{run:?}");
    assert!(!folder.path().join("data/token-keys.json").exists());
}

#[test]
fn what_is_wrong_is_one_line_and_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("dealers.toml", "[[dealer]]\ncode = \"a\"\nname = \"A\"\ncurrency = \"KRONOR\"\n");
    folder.write("settings.toml", "\nlisen = \"127.0.0.1:0\"\n");
    let before = fs::read_dir(folder.path()).unwrap().count();
    for (line, told) in [
        ("dealers import dealers.toml", "dealers.toml:1: dealer \"a\": currency"),
        ("dealers import missing.toml", "missing.toml"),
        ("dealers list --config settings.toml", "settings.toml:2: lisen"),
        ("serve --config settings.toml", "settings.toml:2: lisen"),
        ("listings import missing.ndjson", "missing.ndjson"),
        ("dealers list --database-url nosuch://x", "nosuch://x"),
        ("token issue --dealer-code a --database-url nosuch://x", "nosuch://x"),
    ] {
        let run = folder.run(line);
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{line}: {run:?}");
        assert!(run.err.starts_with("error: ") && run.err.contains(told), "{line}: {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{line}: {}", run.err);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "{line}");
    }
    assert_eq!(folder.run("token issue").code, Some(2), "usage");
}

#[test]
fn nobody_reading_on_is_no_error() {
    let folder = Folder::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = Run::of(folder.command("config").stdout(writer).stderr(Stdio::piped()).output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}
