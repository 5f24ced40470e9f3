//! Tokens: keys that are added and withdrawn, and revocation while the database cannot be read.

use std::path::{Path, PathBuf};

use ad_tests::{Bystander, Client, Options, Postgres, Server, eventually};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

/// What needs a token, but neither ads nor the database.
const LOOKUP: &str = "/v4/vehicles/car/brand";

/// The key file of a server.
struct KeyFile(PathBuf);

impl KeyFile {
    fn of(server: &Server) -> Self {
        Self(server.dir().join("data/token-keys.json"))
    }

    fn keys(&self) -> Vec<Value> {
        let set: Value = serde_json::from_slice(&std::fs::read(&self.0).unwrap()).unwrap();
        set["keys"].as_array().unwrap().clone()
    }

    fn write(&self, keys: &[&Value]) {
        std::fs::write(&self.0, json!({"keys": keys}).to_string()).unwrap();
    }
}

async fn is_refused_soon(client: &Client, says: &str) {
    eventually("the token is refused", || async {
        let answer = client.get(LOOKUP).await;
        (answer.status == 401).then(|| assert_eq!(answer.json()["detail"], says))
    })
    .await;
}

async fn is_accepted_soon(client: &Client) {
    eventually("the token is accepted", || async { (client.get(LOOKUP).await.status == 200).then_some(()) }).await;
}

#[tokio::test]
async fn a_key_is_added_and_withdrawn_while_the_server_runs() {
    let server = Server::start().await;
    let file = KeyFile::of(&server);
    let [old] = file.keys().try_into().unwrap();
    let new = json!({"kty": "oct", "kid": "new", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"});
    file.write(&[&new, &old]);
    let dealer = server.client_of(&["--dealer-code", "south-cars"]).await;
    is_accepted_soon(&dealer).await;
    assert_eq!(server.client.get(LOOKUP).await.status, 200, "both keys count");

    let bystander = Bystander::start(&dealer, "rotation");
    for broken in ["{\"keys\": [", "{\"keys\": []}", ""] {
        std::fs::write(&file.0, broken).unwrap();
        let what = format!("an error is logged for {broken:?}");
        eventually(&what, || async {
            server.said().last().filter(|line| line.contains("cannot reload token keys")).cloned()
        })
        .await;
        let another = json!({"kty": "oct", "kid": format!("after {broken}"), "alg": "HS256", "k": new["k"]});
        file.write(&[&new, &old, &another]);
        // A line of the task follows that says that it succeeds again.
        eventually("the file is read again", || async {
            server.said().iter().rev().take(2).find(|line| line.contains("token keys reloaded")).cloned()
        })
        .await;
    }
    std::fs::remove_file(&file.0).unwrap();
    eventually("that it is missing is logged", || async {
        server.said().last().filter(|line| line.contains("cannot reload token keys")).cloned()
    })
    .await;
    assert_eq!(server.client.get(LOOKUP).await.status, 200, "the last good keys stay in use");

    file.write(&[&new]);
    is_refused_soon(&server.client, "Invalid token: Unknown key id.").await;
    let seen = bystander.stop().await;
    println!("another dealer, while keys change: {seen}");
    assert!(seen.failures.is_empty() && seen.gets.count() > 0, "{seen}");
}

/// Makes revocations unreadable and readable again, on SQLite.
async fn run_sql(database: &Path, sql: &'static str) {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", database.display())).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

fn with_max_age(args: &[&str]) -> Options {
    let args = [&["--revocation-max-age", "2s"], args].concat();
    Options { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() }
}

async fn is_unavailable_soon(client: &Client) {
    let answer = eventually("nobody knows whether the token was revoked", || async {
        let answer = client.get(LOOKUP).await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    let detail = answer.expect(503)["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("whether this token has been revoked"), "{detail}");
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test]
async fn revocations_that_cannot_be_read_count_as_they_were_for_a_bounded_time() {
    let server = Server::with(with_max_age(&[])).await;
    let database = server.dir().join("data/ads.db");
    let dealer = server.client_of(&["--dealer-code", "south-cars"]).await;
    let revoked = server.client_of(&["--dealer-code", "north-cars"]).await;
    let listed: Value = serde_json::from_str(&server.command(&["token", "list", "--json"]).await).unwrap();
    server.command(&["token", "revoke", listed[2]["jti"].as_str().unwrap()]).await;
    is_refused_soon(&revoked, "Invalid token: Token has been revoked.").await;

    run_sql(&database, "ALTER TABLE directory_version RENAME TO hidden").await;
    let seen = Bystander::work_for(&dealer, "unread", std::time::Duration::from_millis(500)).await;
    println!("another dealer, while revocations cannot be read: {seen}");
    assert!(seen.failures.is_empty() && seen.gets.count() > 0, "{seen}");
    is_unavailable_soon(&dealer).await;
    let refused = revoked.get(LOOKUP).await;
    assert_eq!(refused.expect(401)["detail"], "Invalid token: Token has been revoked.", "that much is known");

    run_sql(&database, "ALTER TABLE hidden RENAME TO directory_version").await;
    is_accepted_soon(&dealer).await;
    assert_eq!(revoked.get(LOOKUP).await.status, 401);
}

#[tokio::test]
async fn tokens_are_accepted_for_a_bounded_time_while_postgresql_is_down() {
    let Some(mut postgres) = Postgres::start(&[]).await else { return };
    let url = postgres.database().await;
    let server = Server::with(with_max_age(&["--database-url", &url])).await;
    postgres.stop("immediate");
    assert_eq!(server.client.get(LOOKUP).await.status, 200, "by what was known last");
    is_unavailable_soon(&server.client).await;
    postgres.start_again().await;
    is_accepted_soon(&server.client).await;
}
