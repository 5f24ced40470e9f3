//! Events on the command line and in the client library: read, followed over a restart, and forwarded to receivers.

use ad_cli::{After, Client, ErrorKind, EventQuery};
use ad_tests::{Cli, Options, Postgres, Server, ports};
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout},
    time::timeout,
};

use crate::payloads::plain_car;

/// A command that prints lines without an end; it ends with the value.
pub(super) struct Following {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Following {
    pub(super) fn start(cli: &Cli, line: &str) -> Self {
        let mut command = cli.command(line.split_whitespace());
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { _child: child, lines }
    }

    pub(super) async fn line(&mut self) -> String {
        let line = timeout(ad_tests::PATIENCE, self.lines.next_line()).await.expect("a line comes");
        line.unwrap().expect("the command goes on")
    }

    /// Rows until one is wanted, with that one.
    pub(super) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut rows = Vec::new();
        loop {
            let row: Value = serde_json::from_str(&self.line().await).unwrap();
            let is_last = wanted(&row);
            rows.push(row);
            if is_last {
                return rows;
            }
        }
    }
}

fn is(row: &Value, source_id: &str, event_type: &str) -> bool {
    row["source_id"] == source_id && row["type"] == event_type
}

/// Options of a server that is started again on the port that it had.
fn on_one_port(args: &[&str]) -> Options {
    let listen = format!("127.0.0.1:{}", ports::lasting());
    let args = ["--listen", &listen].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    Options { args, ..Options::default() }
}

async fn followers_survive_a_restart(mut server: Server) {
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-0", "ABC100")).await.expect(201);
    server.client.published("car-0").await;
    let mut events = Following::start(&cli, "events --follow --after oldest --output ndjson");
    let mut log = Following::start(&cli, "log car-0 --follow --output ndjson");
    let is_published = |entry: &Value| entry["action"] == "publish" && entry["state"] == "done";
    let mut of_car = log.until(is_published).await;
    let mut rows = events.until(|row| is(row, "car-0", "ad.publish.done")).await;
    for number in 1..=3 {
        let (id, plate) = (format!("car-{number}"), format!("ABC10{number}"));
        server.client.post("/v4/car", &plain_car(&id, &plate)).await.expect(201);
        // Whatever is under way is cut off.
        server.kill().await;
        server.restart().await;
        server.client.published(&id).await;
        rows.extend(events.until(|row| is(row, &id, "ad.publish.done")).await);
    }
    let read = cli.run("events --output ndjson").await.ndjson();
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&rows), ids(&read), "without a gap or a repetition");
    server.client.patch("/v4/car/car-0", &json!({"body": "New tyres"})).await.expect(200);
    of_car.extend(log.until(is_published).await);
    assert_eq!(of_car, server.client.log("car-0").await);
}

#[tokio::test]
async fn followers_survive_a_restart_on_sqlite() {
    followers_survive_a_restart(Server::with(on_one_port(&[])).await).await;
}

#[tokio::test]
async fn followers_survive_a_restart_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    followers_survive_a_restart(Server::with(on_one_port(&["--database-url", &url])).await).await;
}

#[tokio::test]
async fn a_follower_says_that_the_service_is_away_and_that_it_is_back() {
    let mut server = Server::with(on_one_port(&[])).await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-0", "ABC100")).await.expect(201);
    let mut command = cli.command(["events", "--follow", "--after", "oldest", "--output", "ndjson"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap()).lines();
    timeout(ad_tests::PATIENCE, events.next_line()).await.expect("it is connected").unwrap();
    server.kill().await;
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut says = async || timeout(ad_tests::PATIENCE, said.next_line()).await.expect("it says so").unwrap().unwrap();
    assert_eq!(says().await, "warning: the service cannot be reached; trying again until it can");
    server.restart().await;
    assert_eq!(says().await, "the service can be reached again; nothing was left out");
}

#[tokio::test]
async fn events_are_filtered_and_go_on_after_a_cursor() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    for (id, plate) in [("car-1", "ABC101"), ("car-2", "ABC102")] {
        server.client.post("/v4/car", &plain_car(id, plate)).await.expect(201);
        server.client.published(id).await;
    }
    let all = cli.run("events --output ndjson").await;
    let rows = all.ndjson();
    let types: Vec<_> = rows.iter().filter(|row| row["source_id"] == "car-1").map(|row| row["type"].clone()).collect();
    assert_eq!(types.first(), Some(&json!("ad.create.processing")));
    assert_eq!(types.last(), Some(&json!("ad.publish.done")));
    let cursor = all.stderr.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(cli.run(&format!("events --after {cursor} --output ndjson")).await.done(), "");

    let done = cli.run("events --types ad.publish.done,ad.*.error --source-id car-2 --output ndjson").await.ndjson();
    assert_eq!(
        done.iter().map(|row| (&row["type"], &row["source_id"])).collect::<Vec<_>>(),
        [(&json!("ad.publish.done"), &json!("car-2"))]
    );
    let shown = cli.run("events --source-id car-1").await;
    let last = shown.done().lines().last().unwrap();
    assert!(last.contains("car-1") && last.contains("publish") && last.contains("done"), "{shown:?}");
    assert!(shown.done().lines().all(|line| line.chars().count() <= 80), "{shown:?}");

    for (line, told) in [
        ("events --types ad.sell.done", "unknown event type"),
        ("events --types publish.done", "unknown event type"),
        ("events --after forged", "after: "),
        ("events --after forged --follow", "after: "),
    ] {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
    }
}

#[tokio::test]
async fn the_client_has_events_as_pages_and_as_a_stream_until_its_token_is_revoked() {
    let server = Server::start().await;
    let token = server.token(&["--dealer-code", "north-cars"]).await;
    let client = Client::builder(&server.client.base).token(&token).rate(None).build().unwrap();
    let mut stream = client.event_stream(&EventQuery { after: After::Oldest, ..EventQuery::default() });
    client.typed("car").create(&plain_car("car-1", "ABC101")).await.unwrap();
    let mut streamed = Vec::new();
    while streamed.last().is_none_or(|last: &ad_cli::Event| last.event_type != "ad.publish.done") {
        streamed.push(stream.try_next().await.unwrap().unwrap());
    }
    let query = EventQuery { limit: Some(2), ..EventQuery::default() };
    // The marketplace ids are those at the time of reading.
    let ids = |events: &[ad_cli::Event]| events.iter().map(|event| event.id.clone()).collect::<Vec<_>>();
    let first = client.events(&query).await.unwrap().body;
    assert_eq!((ids(&first.events), first.has_more), (ids(&streamed[..2]), true));
    let rest = EventQuery { after: After::Cursor(first.cursor), ..EventQuery::default() };
    assert_eq!(ids(&client.events(&rest).await.unwrap().events), ids(&streamed[2..]));

    let jti = client.me().await.unwrap().body.token.jti.unwrap();
    server.command(&["token", "revoke", &jti]).await;
    let error = timeout(ad_tests::PATIENCE, stream.try_next()).await.unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unauthorised(_)), "{error:?}");
}
