//! The commands around the server: what they print where, their exit codes, and what they leave behind.

use std::{fs::File, path::Path, process::Stdio, sync::Arc};

use ad_core::{model::Timestamp, ports::Clock, service::Access};
use ad_server::{
    auth::{Caller, KeySet, Permission, Verifier},
    store::{Database, SchemaState},
    system::SystemClock,
};
use ad_tests::{Postgres, Server, command, installed, run};
use serde_json::{Value, json};

/// Runs what must succeed in a folder, and returns its stdout.
async fn done(dir: &Path, line: &str) -> String {
    let output = run(dir, &line.split_whitespace().collect::<Vec<_>>()).await;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The same with JSON on its stdout.
async fn json_of(dir: &Path, line: &str) -> Value {
    serde_json::from_str(&done(dir, line).await).unwrap()
}

#[tokio::test]
async fn issue_prints_the_token_alone_and_keeps_no_secret() {
    let server = Server::start().await;
    let output = run(server.dir(), &["token", "issue", "--dealer-group", "nobody", "--expires", "90d"]).await;
    let token = String::from_utf8(output.stdout).unwrap();
    assert_eq!(token.trim().split('.').count(), 3);
    assert_eq!(token.lines().count(), 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nobody"), "an unknown group is pointed out");
    let listed = server.command(&["token", "list"]).await;
    assert!(listed.contains("nobody") && !listed.contains(token.trim()));
    let database = std::fs::read(server.dir().join("data/ads.db")).unwrap();
    let signature = token.trim().rsplit('.').next().unwrap();
    assert!(!database.windows(signature.len()).any(|window| window == signature.as_bytes()));
}

#[tokio::test]
async fn a_token_says_what_was_asked_for_and_is_listed_until_it_is_revoked_and_after() {
    let folder = installed().await;
    let dir = folder.path();
    let token = done(dir, "token issue --dealer-group north --expires 90d --permissions read,write").await;
    let keys = KeySet::load_or_create(&dir.join("data/token-keys.json")).unwrap();
    let verifier = Verifier::new(&keys, Arc::new(SystemClock));
    let Caller { scope, permissions, jti, .. } = verifier.verify(token.trim_end()).unwrap();
    assert_eq!(scope, Access::Group("north".to_owned()));
    assert!(permissions.contains(Permission::Write) && !permissions.contains(Permission::Promote));

    let listed = json_of(dir, "token list --json").await;
    let [record] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(record["jti"], json!(jti));
    assert_eq!(record["permissions"], json!(["read", "write"]));
    let time = |name: &str| record[name].as_str().unwrap().parse::<Timestamp>().unwrap();
    assert_eq!((time("expires") - time("issued")).as_secs(), 90 * 24 * 60 * 60);
    assert!(time("issued") <= SystemClock.now());
    assert!(done(dir, "token list").await.contains(" valid"), "the state");

    done(dir, &format!("token revoke {jti}")).await;
    assert!(json_of(dir, "token list --json").await[0]["revoked"].is_string());
}

#[tokio::test]
async fn a_token_expires_after_a_year_unless_it_is_never_to_expire() {
    let folder = installed().await;
    done(folder.path(), "token issue --dealer-code a").await;
    done(folder.path(), "token issue --dealer-code a --expires never").await;
    let listed = json_of(folder.path(), "token list --json").await;
    let time = |name: &str| listed[0][name].as_str().unwrap().parse::<Timestamp>().unwrap();
    assert_eq!((time("expires") - time("issued")).as_secs(), 365 * 24 * 60 * 60);
    assert_eq!(listed[1]["expires"], Value::Null);
}

#[tokio::test]
async fn a_token_that_was_not_issued_here_is_revoked_with_a_note() {
    let folder = installed().await;
    let dir = folder.path();
    done(dir, "token issue --dealer-code a").await;
    let own = json_of(dir, "token list --json").await[0]["jti"].as_str().unwrap().to_owned();
    for (jti, is_own) in [("vendor #1", false), (&own, true)] {
        let output = run(dir, &["token", "revoke", jti]).await;
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(jti), "{said}");
        assert_eq!(said.contains("data/ads.db did not issue this token"), !is_own, "{said}");
    }
    let listed = json_of(dir, "token list --json").await;
    let [first, foreign] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(first["jti"], own);
    assert!(foreign["revoked"].is_string());
    let nothing = Value::Null;
    let expected = json!({
        "jti": "vendor #1", "scope_type": nothing, "scope": nothing, "permissions": nothing, "issued": nothing,
        "expires": nothing, "revoked": foreign["revoked"], "label": nothing, "issued_by": nothing, "kid": nothing, "last_used": nothing,
    });
    assert_eq!(*foreign, expected);
    let table = done(dir, "token list").await;
    let row: Vec<_> = table.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(row[..8], ["vendor", "#1", "-", "-", "-", "-", "-", "revoked"]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_token_keys_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start().await;
    let mode = std::fs::metadata(server.dir().join("data/token-keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn keys_in_the_environment_need_no_file() {
    let folder = installed().await;
    std::fs::remove_file(folder.path().join("data/token-keys.json")).unwrap();
    let key = json!({"kty": "oct", "kid": "a", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"});
    let keys = json!({"keys": [key]}).to_string();
    let mut issue = command(folder.path(), &["token", "issue", "--dealer-code", "a"]);
    let output = issue.env("AD_SERVER_TOKEN_KEYS", &keys).output().await.unwrap();
    let verifier = Verifier::new(&KeySet::from_json(&keys).unwrap(), Arc::new(SystemClock));
    assert!(verifier.verify(String::from_utf8_lossy(&output.stdout).trim_end()).is_ok(), "{output:?}");
    assert!(!folder.path().join("data/token-keys.json").exists());
}

#[tokio::test]
async fn a_flag_counts_more_than_the_environment_and_that_more_than_the_file() {
    let folder = installed().await;
    for (flag, environment, file, used) in [
        (true, true, true, "flag.json"),
        (false, true, true, "environment.json"),
        (false, false, true, "file.json"),
        (false, false, false, "data/token-keys.json"),
    ] {
        for place in ["flag.json", "environment.json", "file.json"] {
            KeySet::load_or_create(&folder.path().join(place)).unwrap();
        }
        std::fs::write(folder.path().join("settings.toml"), "token_key = \"file.json\"\n").unwrap();
        let mut issue = command(folder.path(), &["token", "issue", "--dealer-code", "a"]);
        issue.args(if flag { &["--token-key", "flag.json"][..] } else { &[] });
        issue.envs(environment.then_some(("AD_SERVER_TOKEN_KEY", "environment.json")));
        issue.args(if file { &["--config", "settings.toml"][..] } else { &[] });
        let output = issue.output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let keys = KeySet::load_or_create(&folder.path().join(used)).unwrap();
        let verified = Verifier::new(&keys, Arc::new(SystemClock)).verify(text(&output.stdout).trim_end());
        assert!(verified.is_ok(), "{used} counts");
        assert!(text(&output.stderr).contains(&format!("{}/{used}\n", folder.path().display())), "{output:?}");
    }
}

/// The output of a process.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// One command of each kind.
const COMMANDS: [&str; 9] = [
    "queue",
    "queue drop 01890a5d-ac96-774b-bcce-b302099a8057 --yes",
    "request 01890a5d-ac96-774b-bcce-b302099a8057",
    "token issue --dealer-code a",
    "token list",
    "dealers list",
    "ads retry --all",
    "images renditions",
    "listings list",
];

#[tokio::test]
async fn no_command_creates_or_migrates_a_database() {
    let empty = tempfile::tempdir().unwrap();
    let place = empty.path().display();
    for line in COMMANDS {
        let output = run(empty.path(), &line.split(' ').collect::<Vec<_>>()).await;
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(
            said.contains(&format!("cannot open the database {place}/data/ads.db: there is no such file")),
            "{said}"
        );
        assert!(said.contains("`ad-server migrate` creates a database"), "{line}: {said}");
        assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "{line} created something");
    }
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    for line in COMMANDS {
        let output =
            run(empty.path(), &[&line.split(' ').collect::<Vec<_>>()[..], &["--database-url", &url]].concat()).await;
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("it has no tables; run `ad-server migrate`"), "{line}: {said}");
    }
    assert_eq!(Database::schema(&url).await.unwrap(), SchemaState::Empty);
}

#[tokio::test]
async fn commands_say_which_database_they_use_and_issue_no_token_without_the_keys_of_the_server() {
    let folder = installed().await;
    let said = run(folder.path(), &["queue"]).await.stderr;
    assert_eq!(text(&said), format!("database sqlite://{}/data/ads.db\n", folder.path().display()));
    std::fs::remove_file(folder.path().join("data/token-keys.json")).unwrap();
    let output = run(folder.path(), &["token", "issue", "--dealer-code", "a"]).await;
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    assert!(text(&output.stderr).contains("no server would accept the token"), "{output:?}");
    assert!(!folder.path().join("data/token-keys.json").exists());
    assert_eq!(json_of(folder.path(), "token list --json").await, json!([]), "nothing was recorded");
}

/// A database on which nothing has run yet is migrated by the command, and by a server on PostgreSQL only when it is told to.
async fn migrated_when_told(url: &str, server_migrates: bool) {
    let folder = tempfile::tempdir().unwrap();
    let migrate = async |args: &[&str]| run(folder.path(), &[&["migrate", "--database-url", url], args].concat()).await;
    let checked = migrate(&["--check"]).await;
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stderr).contains("run `ad-server migrate`"), "{checked:?}");
    if !server_migrates {
        let mut serve = command(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--database-url", url]);
        let refused = serve.env_remove("AD_SERVER_MIGRATE").output().await.unwrap();
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains("it has no tables; run `ad-server migrate`"), "{refused:?}");
    }
    let migrated = migrate(&[]).await;
    assert!(migrated.status.success() && text(&migrated.stdout).ends_with(", up to date\n"), "{migrated:?}");
    assert_eq!(migrate(&["--check"]).await.stdout, migrated.stdout);
    assert!(matches!(Database::schema(url).await.unwrap(), SchemaState::Usable { .. }));
}

#[tokio::test]
async fn migrate_prepares_a_database() {
    let folder = tempfile::tempdir().unwrap();
    migrated_when_told(&format!("sqlite://{}/new/ads.db", folder.path().display()), true).await;
    if let Some(postgres) = Postgres::shared().await {
        migrated_when_told(&postgres.database().await, false).await;
    }
}

#[tokio::test]
async fn dealers_are_imported_changed_and_listed() {
    let folder = installed().await;
    let dir = folder.path();
    let north = "[[dealer]]\ncode = \"north\"\nname = \"Nordbil Umeå\"\ngroup = \"north\"\nbump = [\"primary\"]\n";
    let south = "[[dealer]]\ncode = \"south\"\nname = \"Sydbåt\"\ncurrency = \"EUR\"\n";
    std::fs::write(dir.join("dealers.toml"), format!("{north}{south}")).unwrap();
    done(dir, "dealers import dealers.toml").await;
    let changed = "[[dealer]]\ncode = \"south\"\nname = \"Sydbåt AB\"\ngroup = \"syd\"\n";
    std::fs::write(dir.join("more.toml"), changed).unwrap();
    done(dir, "dealers import more.toml").await;
    let expected = json!([
        {"code": "north", "name": "Nordbil Umeå", "group": "north", "currency": "SEK", "bump": ["primary"]},
        {"code": "south", "name": "Sydbåt AB", "group": "syd", "currency": "SEK"},
    ]);
    assert_eq!(json_of(dir, "dealers list --json").await, expected);
    let table = done(dir, "dealers list").await;
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(!table.contains('│'), "plain without a terminal: {table}");
}

#[tokio::test]
async fn listings_are_imported_from_stdin() {
    let folder = installed().await;
    let line =
        json!({"marketplace": "primary", "dealer_code": "north", "registration_number": "abc 123", "title": "Volvo"});
    let file = folder.path().join("listings.ndjson");
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let mut import = command(folder.path(), &["listings", "import", "-"]);
    let output = import.stdin(File::open(file).unwrap()).output().await.unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let listed = json_of(folder.path(), "listings list --json").await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["dealer_code"], "north");
    assert_eq!(listed[0]["registration_number"], "ABC123");
}

#[tokio::test]
async fn nobody_reading_on_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let folder = tempfile::tempdir().unwrap();
    let process = command(folder.path(), &["config"]).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = process.wait_with_output().await.unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[tokio::test]
async fn the_demo_shows_every_ad_published_and_the_wrong_ones_explained() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["demo", "--once", "--listen", "127.0.0.1:0"]).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    for expected in [
        "Did you mean \"volvo\"?",
        "linked",
        "SCORE",
        "    image 2-truncated.jpg: failed ",
        "    primary: failed ",
        "      dealer: ",
        " events verified, 0 refused",
        "/console/link?code=",
        "/docs/swagger-ui/",
        "curl",
    ] {
        assert!(said.contains(expected), "{expected} is missing in:\n{said}");
    }
}
