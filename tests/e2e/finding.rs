//! Finding ads by words (`q`, extensions E11): on both databases, while writes go on, after a kill, and after an erasure.

use std::time::{Duration, Instant};

use ad_core::{
    model::AdQuery,
    ports::{Scope, Store},
};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use ad_server::store::{Database, DatabaseStore};
use ad_tests::{Client, Options, Postgres, Server, eventually};
use futures_util::future::join;
use serde_json::{Value, json};

use crate::{
    payloads::{plain_boat, plain_car},
    store_contract::{ad, create},
};

/// Lists may be so much behind a write; the rest of the time is that of a busy machine.
const BEHIND: Duration = Duration::from_secs(3);

async fn found(client: &Client, q: &str) -> Vec<String> {
    let path = format!("/v4/ad?ordering=source_id&fields=source_id&q={}", q.replace(' ', "%20"));
    let page = client.get(&path).await.expect(200);
    page["results"].as_array().unwrap().iter().map(|ad| ad["source_id"].as_str().unwrap().to_owned()).collect()
}

async fn finds(client: &Client, q: &str, expected: &[&str]) {
    let begun = Instant::now();
    eventually(&format!("{expected:?} by {q:?}"), || async { (found(client, q).await == expected).then_some(()) })
        .await;
    assert!(begun.elapsed() < BEHIND, "{q}: {:?}", begun.elapsed());
}

fn boat(source_id: &str, title: &str) -> Value {
    let mut boat = plain_boat();
    (boat["source_id"], boat["title"]) = (json!(source_id), json!(title));
    boat
}

async fn on_both(test: impl AsyncFn(Options)) {
    test(Options::default()).await;
    let Some(postgres) = Postgres::shared().await else { return };
    let args = vec!["--database-url".to_owned(), postgres.database().await];
    test(Options { args, ..Options::default() }).await;
}

#[tokio::test]
async fn ads_are_found_within_a_second_while_others_are_written() {
    on_both(async |options| {
        let server = Server::with(options).await;
        let client = &server.client;
        let writes = async {
            for number in 0..150 {
                client
                    .post("/v4/car", &plain_car(&format!("other-{number}"), &format!("OTH{number:03}")))
                    .await
                    .expect(201);
            }
        };
        let reads = async {
            client.post("/v4/car", &plain_car("lager-7", "KVA 77X")).await.expect(201);
            for q in ["kva 77x", "KVA77", "kva77x 2019", "2019 kva", "lager 7", "LAGER-7"] {
                finds(client, q, &["lager-7"]).await;
            }
            let ad = client.published("lager-7").await;
            finds(client, ad["marketplace_ad_id"].as_str().unwrap(), &["lager-7"]).await;
            finds(client, ad["offer_id"].as_str().unwrap(), &["lager-7"]).await;
            client.post("/v4/boat", &boat("b-1", "Örnvik 520 – välskött")).await.expect(201);
            finds(client, "520 ornvik valskott", &["b-1"]).await;
            client.patch("/v4/boat/b-1", &json!({"title": "Örnvik 530"})).await.expect(200);
            finds(client, "ornvik 530", &["b-1"]).await;
            assert_eq!(found(client, "ornvik 520").await, [""; 0]);
        };
        join(writes, reads).await;
        client.delete("/v4/car/lager-7").await.expect(200);
        client.ended("lager-7", "delete", None).await;
        let deleted = client.get("/v4/ad?q=kva77x&state=deleted").await.expect(200);
        assert_eq!(deleted["count"], 1, "deleted ads are found as by other filters");
        let page = client.get("/v4/car?q=2019&limit=2&ordering=-source_id&state=created").await.expect(200);
        assert_eq!(page["results"].as_array().unwrap().len(), 2, "{page}");
        assert!(page["next"].as_str().unwrap().contains("q=2019"), "{page}");
    })
    .await;
}

#[tokio::test]
async fn after_a_kill_every_ad_is_found() {
    on_both(async |options| {
        let mut server = Server::with(options).await;
        for number in 0..8 {
            server.client.post("/v4/boat", &boat(&format!("b-{number}"), "Kvast")).await.expect(201);
            if number % 2 == 1 {
                server.kill().await;
                server.restart().await;
            }
        }
        let all: Vec<_> = (0..8).map(|number| format!("b-{number}")).collect();
        finds(&server.client, "kvast", &all.iter().map(String::as_str).collect::<Vec<_>>()).await;
    })
    .await;
}

#[tokio::test]
async fn a_token_finds_ads_of_its_dealers_only() {
    on_both(async |options| {
        let server = Server::with(options).await;
        let group = server.client_of(&["--dealer-group", "north"]).await;
        for dealer in ["north-cars", "coast-boats"] {
            let mut boat = boat(&format!("of-{dealer}"), "Kvast");
            boat["dealer_code"] = json!(dealer);
            group.post("/v4/boat", &boat).await.expect(201);
        }
        finds(&group, "kvast", &["of-coast-boats", "of-north-cars"]).await;
        finds(&server.client, "kvast", &["of-north-cars"]).await;
        let one = group.get("/v4/ad?q=kvast&dealer_code=coast-boats").await.expect(200);
        assert_eq!(one["count"], 1);
        let stranger = server.client_of(&["--dealer-code", "south-cars"]).await;
        assert_eq!(found(&stranger, "kvast").await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn words_of_erased_ads_are_gone_at_once() {
    on_both(async |options| {
        let server = Server::with(options).await;
        server.client.post("/v4/boat", &boat("b-1", "Kvast")).await.expect(201);
        server.client.published("b-1").await;
        finds(&server.client, "kvast", &["b-1"]).await;
        server.client.delete("/v4/boat/b-1").await.expect(200);
        server.client.ended("b-1", "delete", None).await;
        server.command(&["erase", "--dealer-code", "north-cars", "--yes"]).await;
        assert_eq!(found(&server.client, "kvast").await, [""; 0]);
        finds(&server.client, "b-1", &["b-1"]).await;
    })
    .await;
}

#[tokio::test]
async fn wrong_words_are_refused_at_their_parameter() {
    let server = Server::start().await;
    let refused = server.client.get(&format!("/v4/ad?q={}", "a%20".repeat(11))).await.expect(400);
    assert_eq!(refused, json!({"q": ["Has 11 words, at most 10 are allowed; leave some out."]}));
    let refused = server.client.get(&format!("/v4/ad?q={}", "a".repeat(201))).await.expect(400);
    assert_eq!(refused, json!({"q": ["Has 201 characters, at most 200 are allowed; search for a shorter text."]}));
    assert_eq!(server.client.get("/v4/ad?q=%00%27%22*%28%29%5C%23").await.expect(200)["count"], 0);
}

/// More ads than a list reads one by one have the word.
#[tokio::test]
async fn a_word_that_many_ads_have_is_counted_and_paged() {
    let folder = tempfile::tempdir().unwrap();
    common(&format!("sqlite://{}", folder.path().join("ads.db").display())).await;
    let Some(postgres) = Postgres::shared().await else { return };
    common(&postgres.database().await).await;
}

async fn common(url: &str) {
    let database = Database::open(url).await.unwrap();
    let store = DatabaseStore::new(database.clone());
    for number in 1..=1200 {
        let dealer = if number % 100 == 0 { "south" } else { "north" };
        create(&store, &ad(number, dealer, &format!("t-{number:04}"))).await.unwrap();
    }
    eventually("the words are indexed", || async { (database.words_due().await.unwrap() == 0).then_some(()) }).await;
    let both = ["north".to_owned(), "south".to_owned()];
    for (scope, count) in [(Scope::Dealer("north"), 1188), (Scope::Dealer("south"), 12), (Scope::Dealers(&both), 1200)]
    {
        for ordering in ["created", "-source_id"] {
            let pairs = [("q", "V60 volvo"), ("ordering", ordering), ("limit", "3"), ("offset", "5")];
            let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let query = AdQuery::parse(AD_PARAMETERS, &pairs).unwrap();
            let all = AdQuery { filters: Vec::new(), ..query.clone() };
            let (found, all) = (store.list(scope, &query).await.unwrap(), store.list(scope, &all).await.unwrap());
            assert_eq!((found.count, &found.rows), (count, &all.rows), "{scope:?} {pairs:?}");
            let Scope::Dealer(dealer) = scope else { continue };
            let walked = database.common_search(dealer, &query, 10).await.unwrap().expect("the words are common");
            assert_eq!((walked.count, walked.rows), (9, all.rows), "{scope:?} {pairs:?}");
            assert!(database.common_search(dealer, &query, 1188).await.unwrap().is_none());
        }
    }
}
