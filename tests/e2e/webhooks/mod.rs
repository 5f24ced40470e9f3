//! Webhooks (extensions E5), with real processes, a real receiver, and on either database.

#![expect(clippy::similar_names, reason = "what a receiver has received")]

mod delivery;
mod endpoints;
mod failures;
mod scale;
mod signatures;

use ad_tests::{Answer, Client, Options, Postgres, Received, Server, WebhookReceiver, eventually};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// A server that sends to receivers of this machine, and tries again soon.
async fn server(database: Option<&str>) -> Server {
    server_with(database, &["--webhook-retries", "1s,1s,1s,1s,1s,1s,1s,1s,1s"]).await
}

async fn server_with(database: Option<&str>, args: &[&str]) -> Server {
    Server::with(options(database, args)).await
}

fn options(database: Option<&str>, args: &[&str]) -> Options {
    let database = database.map_or_else(Vec::new, |url| vec!["--database-url", url]);
    let args = [&["--allow-private-webhooks"], args, &database].concat();
    Options { args: args.into_iter().map(str::to_owned).collect(), ..Options::default() }
}

/// A database of its own, if there is a PostgreSQL.
async fn postgres() -> Option<String> {
    Some(Postgres::shared().await?.database().await)
}

/// Creates a webhook for events of publishing, and returns it with its secret.
async fn create(client: &Client, url: &str) -> Value {
    let body = json!({"url": url, "types": ["ad.publish.done", "ad.publish.error"]});
    client.post("/v4/webhooks", &body).await.expect(201)
}

fn path(webhook: &Value) -> String {
    format!("/v4/webhooks/{}", webhook["id"].as_str().unwrap())
}

async fn post_to(client: &Client, webhook: &Value, action: &str, body: Value) -> Answer {
    client.post(&format!("{}/{action}", path(webhook)), &body).await
}

/// The deliveries of a webhook, newest first.
async fn deliveries(client: &Client, webhook: &Value) -> Vec<Value> {
    let list = client.get(&format!("{}/deliveries", path(webhook))).await.expect(200);
    list["results"].as_array().unwrap().clone()
}

/// Creates cars, whose source ids are `{name}-0` and so on.
async fn cars(client: &Client, name: &str, number: usize) {
    for index in 0..number {
        let car = plain_car(&format!("{name}-{index}"), &format!("{name}{index:02}"));
        client.post("/v4/car", &car).await.expect(201);
    }
}

/// Waits until so many events of cars of this name have come, and returns all that came for them.
async fn arrived(receiver: &WebhookReceiver, at: &str, name: &str, number: usize) -> Vec<Received> {
    eventually(&format!("{number} events of {name} at {at}"), || async {
        let received: Vec<_> = receiver.received(at).into_iter().filter(|it| is_of(it, name)).collect();
        let mut ids: Vec<_> = received.iter().map(|it| it.id().to_owned()).collect();
        ids.sort_unstable();
        ids.dedup();
        (ids.len() >= number).then_some(received)
    })
    .await
}

fn is_of(received: &Received, name: &str) -> bool {
    let source_id = received.json()["data"]["source_id"].clone();
    source_id.as_str().is_some_and(|id| id.rsplit_once('-').is_some_and(|(own, _)| own == name))
}
