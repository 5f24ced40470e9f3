//! Tags of ads and requests by their ids (extensions E2 and E3.1), with several processes on either database.

use ad_tests::{Client, MARKETPLACE_TOKEN, Options, Postgres, Process, Server, eventually};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Two processes on one database.
pub(super) struct Pair {
    pub(super) one: Server,
    pub(super) other: Process,
}

impl Pair {
    /// On a database, or on the first one's SQLite file.
    pub(super) async fn start(database: Option<&str>) -> Self {
        let args = database.map_or_else(Vec::new, |url| vec!["--database-url", url]);
        let own = args.iter().map(|arg| (*arg).to_owned()).collect();
        let one = Server::with(Options { args: own, ..Options::default() }).await;
        let serve = ["serve", "--listen", "127.0.0.1:0", "--workers", "0"];
        let other = Process::start(one.dir(), &[&serve[..], &args].concat(), &[]).await;
        Self { one, other }
    }

    /// A client of its own connections, of either process.
    pub(super) fn client(&self, number: usize) -> Client {
        let client = &self.one.client;
        if number.is_multiple_of(2) {
            client.anew()
        } else {
            Client::new(self.other.base.clone(), client.token.clone())
        }
    }
}

/// Adds a mark to an ad's text, to what the client has just read; returns how often somebody else was quicker.
async fn add_mark(client: &Client, mark: usize) -> usize {
    let mut late = 0;
    loop {
        let read = client.get("/v4/car/race").await;
        let (etag, body) = (read.header("etag").unwrap().to_owned(), read.expect(200)["body"].clone());
        let body = format!("{} {mark}", body.as_str().unwrap());
        let change = json!({"body": body}).to_string().into_bytes();
        let answer = client.send_with(Method::PATCH, "/v4/car/race", &[("if-match", etag)], Some(change)).await;
        match answer.status.as_u16() {
            200 => return late,
            412 => late += 1,
            _ => panic!("{} {}", answer.status, answer.json()),
        }
    }
}

async fn race(pair: &Pair) {
    const CLIENTS: usize = 64;
    let mut car = plain_car("race", "RAC001");
    car["body"] = json!("marks:");
    pair.one.client.post("/v4/car", &car).await.expect(201);
    let clients: Vec<_> = (0..CLIENTS).map(|number| pair.client(number)).collect();
    let late = join_all(clients.iter().enumerate().map(|(number, client)| add_mark(client, number))).await;
    let read = pair.one.client.get("/v4/car/race").await;
    let body = read.expect(200)["body"].as_str().unwrap().to_owned();
    let mut marks: Vec<usize> = body.split(' ').skip(1).map(|mark| mark.parse().unwrap()).collect();
    let written = marks.len();
    marks.sort_unstable();
    marks.dedup();
    let (late, lost, doubled) = (late.iter().sum::<usize>(), CLIENTS - marks.len(), written - marks.len());
    println!("{CLIENTS} accepted, {late} refused with 412, lost {lost}, doubled {doubled}");
    assert_eq!((lost, doubled), (0, 0), "{body}");
    assert!(read.header("etag").unwrap().starts_with(&format!("\"{CLIENTS}.")), "{:?}", read.header("etag"));
}

#[tokio::test]
async fn of_64_clients_with_if_match_none_loses_a_change() {
    race(&Pair::start(None).await).await;
}

#[tokio::test]
async fn of_64_clients_with_if_match_none_loses_a_change_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    race(&Pair::start(Some(&postgres.database().await)).await).await;
}

/// A server whose primary marketplace does not answer.
async fn without_a_marketplace(database: &[&str]) -> Server {
    let args = [&["--primary-marketplace", "http://127.0.0.1:9"][..], database].concat();
    let env = vec![("AD_SERVER_PRIMARY_MARKETPLACE_TOKEN".to_owned(), MARKETPLACE_TOKEN.to_owned())];
    let args = args.into_iter().map(str::to_owned).collect();
    Server::with(Options { args, env, ..Options::default() }).await
}

async fn request_waits(server: &Server, database: &[&str]) {
    let client = &server.client;
    let post = client.post("/v4/car", &plain_car("waits", "WTS001")).await;
    let patch = client.patch("/v4/car/waits", &json!({"body": "later"})).await;
    let ids = [&post, &patch].map(|answer| answer.header("x-request-id").unwrap().to_owned());
    let status = async |id: &str| client.get(&format!("/v4/requests/{id}")).await.expect(200);
    let waiting = eventually("publishing waits", || async {
        Some(status(&ids[0]).await).filter(|status| status["waiting_for"] == "primary")
    })
    .await;
    assert_eq!(
        (&waiting["state"], &waiting["finished"], &waiting["source_id"]),
        (&json!("waiting"), &Value::Null, &json!("waits"))
    );
    assert!(waiting["attempts"].as_u64().unwrap() >= 1 && waiting["next_attempt"].is_string(), "{waiting}");
    let actions = json!([["create", "done"], ["publish", "processing"]]);
    let begun: Vec<_> =
        waiting["actions"].as_array().unwrap().iter().map(|it| json!([it["action"], it["state"]])).collect();
    assert_eq!(json!(begun), actions);
    let behind = status(&ids[1]).await;
    assert_eq!(
        (&behind["state"], &behind["waiting_for"], &behind["attempts"], &behind["next_attempt"], &behind["actions"]),
        (&json!("waiting"), &json!("request"), &json!(0), &Value::Null, &json!([]))
    );
    let command = |args: &[&str]| {
        let args: Vec<String> = ["request"].iter().chain(args).chain(database).map(|arg| (*arg).to_owned()).collect();
        async move { server.command(&args.iter().map(String::as_str).collect::<Vec<_>>()).await }
    };
    let mut shown: Value = serde_json::from_str(&command(&[&ids[1], "--json"]).await).unwrap();
    // Only operators see who asked.
    let asked_by = shown.as_object_mut().unwrap().remove("asked_by").unwrap();
    assert!(asked_by["token"].is_string(), "{asked_by}");
    assert_eq!(shown, behind);
    let table = command(&[&ids[0]]).await;
    assert!(
        ["waiting", "primary", "north-cars", "publish", "processing"].iter().all(|text| table.contains(text)),
        "{table}"
    );

    server.command(&[&["queue", "drop", &ids[0], &ids[1], "--yes"], database].concat()).await;
    let dropped = status(&ids[0]).await;
    assert_eq!((&dropped["state"], &dropped["accepted"]), (&json!("error"), &waiting["accepted"]));
    assert_eq!(dropped["actions"][1]["code"], "given_up");
    let unknown =
        ad_tests::run(server.dir(), &[&["request", "00000000-0000-0000-0000-000000000000"], database].concat()).await;
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(!unknown.status.success() && said.contains("no accepted request has the id 00000000"), "{said}");
}

#[tokio::test]
async fn a_request_says_what_it_waits_for() {
    request_waits(&without_a_marketplace(&[]).await, &[]).await;
}

#[tokio::test]
async fn a_request_says_what_it_waits_for_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    let database = ["--database-url", &url];
    request_waits(&without_a_marketplace(&database).await, &database).await;
}

#[tokio::test]
async fn a_failed_precondition_has_a_code() {
    let server = Server::start().await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("code", "COD001")).await.expect(201);
    let headers = [("if-match", "\"7\"".to_owned()), ("accept", "application/problem+json".to_owned())];
    let answer = client.send_with(Method::DELETE, "/v4/ad/code", &headers, None).await;
    let problem = answer.expect(412);
    assert_eq!(
        (&problem["code"], &problem["title"]),
        (&json!("precondition_failed"), &json!("Ad was changed meanwhile"))
    );
    assert!(answer.header("etag").unwrap().starts_with("\"0."));
}
