//! The typed client: every operation against a real server, and every kind of trouble.

#[path = "../../../ad-cli/examples/publish.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program of its own, whose main is for those who run it alone")]
mod publish;

use std::{
    collections::BTreeSet,
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use ad_cli::{AdOrder, AdQuery, Client, Error, ErrorKind, Exclude, LogQuery, Target};
use ad_core::model::{Action, ActionState, AdState, ApiVersion, Page};
use ad_tests::Server;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::payloads::{plain_boat, plain_car};

fn client_of(server: &Server) -> Client {
    let token = server.client.token.as_deref().unwrap();
    Client::builder(&server.client.base).token(token).rate(None).build().unwrap()
}

#[tokio::test]
async fn the_example_of_the_crate_runs() {
    let server = Server::start().await;
    let token = server.client.token.clone().unwrap();
    publish::run(&server.client.base, &token, "example-1").await.unwrap();
    assert_eq!(server.client.ad("example-1").await["category_fields"]["brand"], "volvo");
}

#[tokio::test]
async fn an_ad_lives_through_the_typed_paths() {
    let server = Server::start().await;
    let client = client_of(&server);
    let cars = client.typed("car");
    let car = plain_car("å/1 x", "ABC123");

    let validation = cars.validate(&car).await.unwrap();
    assert!(validation.valid && validation.warnings.iter().any(|warning| warning.field == "image_urls"));

    let created = cars.create(&car).await.unwrap();
    assert_eq!((created.status, created.source_id.as_str(), created.state), (201, "å/1 x", AdState::Created));
    let request = created.request_uuid().unwrap();
    server.client.ended("%C3%A5%2F1%20x", "publish", None).await;

    let read = cars.read("å/1 x").await.unwrap();
    let log = read.log.as_deref().unwrap();
    assert!(!log.is_empty() && log.iter().all(|entry| entry.request_id == request));
    assert!(read.marketplace_ad_id.is_some());
    assert_eq!(serde_json::to_value(&read.body).unwrap(), server.client.ad("%C3%A5%2F1%20x").await, "as it came");

    let updated = cars.update("å/1 x", &json!({"body": "New text"})).await.unwrap();
    assert_eq!(updated.body.body.as_deref(), Some("New text"));
    let bumped = cars.bump("å/1 x", Exclude::Secondary).await.unwrap();
    let pole = cars.pole_position("å/1 x").await.unwrap();
    let retried = cars.retry("å/1 x").await.unwrap();
    let deleted = cars.delete("å/1 x").await.unwrap();
    assert_eq!(deleted.state, AdState::Created, "the answer comes before the work is done");
    server.client.ended("%C3%A5%2F1%20x", "delete", deleted.request_id.as_deref()).await;
    assert_eq!(cars.read("å/1 x").await.unwrap().state, AdState::Deleted);

    let whole = LogQuery { page: Page { limit: 3, offset: 0 }, ..LogQuery::default() };
    let log: Vec<_> = cars.log_all("å/1 x", &whole).try_collect().await.unwrap();
    let page = cars.log("å/1 x", &whole).await.unwrap();
    assert_eq!((page.count, page.results.as_slice()), (log.len() as u64, &log[..3]));
    for (answer, action) in [(&bumped, "bump"), (&pole, "boost"), (&retried, "publish"), (&updated, "update")] {
        let mut of_request = log.iter().filter(|entry| Some(entry.request_id) == answer.request_uuid());
        assert!(of_request.any(|entry| entry.action.name() == action), "{action}");
    }
    let (action, state) = (Some(Action::Bump), Some(ActionState::Done));
    let bumps = LogQuery { action, state, descending: true, ..LogQuery::default() };
    assert_eq!(cars.log("å/1 x", &bumps).await.unwrap().count, 1);
}

#[tokio::test]
async fn ads_of_v3_are_created_converted_and_migrated() {
    let server = Server::start().await;
    let client = client_of(&server);
    let car = client.v3().create(&plain_car("old-car", "AAA111")).await.unwrap();
    assert_eq!(car.api_version, ApiVersion::V3);
    let rib = json!({
        "source_id": "rib-1", "category_id": 1063, "title": "RIB 5,5 m", "contact": {"email": "a@north.example"},
        "category_fields": {"length": "5,5 m"},
    });
    assert!(client.v3().validate(&rib).await.unwrap().valid);
    client.v3().create(&rib).await.unwrap();
    client.v3().update("rib-1", &json!({"body": "x"})).await.unwrap();
    assert_eq!(client.v3().list(&AdQuery::default()).await.unwrap().count, 2);

    let converted = client.typed("car").update("old-car", &json!({"body": "y"})).await.unwrap();
    assert_eq!(converted.api_version, ApiVersion::V4);
    let error = client.typed("boat").update("rib-1", &json!({"body": "z"})).await.unwrap_err();
    let ErrorKind::Identified(refusal) = error.kind() else { panic!("{error:?}") };
    assert_eq!(refusal.error.name(), "incompatible_api_version");
    assert_eq!(refusal.migration_options[0].method, "migrate");
    let mut boat = plain_boat();
    boat.as_object_mut().unwrap().retain(|name, _| name != "category_id" && name != "source_id");
    let migrated = client.typed("boat").migrate("rib-1", &boat).await.unwrap();
    assert_eq!((migrated.api_version, migrated.category_id), (ApiVersion::V4, 1060));
    let again = client.typed("boat").migrate("rib-1", &boat).await.unwrap_err();
    assert!(matches!(again.kind(), ErrorKind::Identified(refusal) if refusal.suggestion.is_some()), "{again:?}");
    boat["category_id"] = json!(1060);
    assert!(client.v4().migrate("rib-1", &boat).await.is_err(), "the generic path too");
}

#[tokio::test]
async fn lists_are_streams_over_as_many_pages_as_there_are() {
    let server = Server::start().await;
    let client = client_of(&server);
    for number in 0..7 {
        let car = plain_car(&format!("car-{number}"), &format!("ABC10{number}"));
        client.typed("car").create(&car).await.unwrap();
    }
    let (order, page) = (AdOrder::SourceId, Page { limit: 3, offset: 0 });
    let query = AdQuery { order, descending: false, page, ..AdQuery::default() };
    let all: Vec<_> = client.v4().all(&query).map_ok(|ad| ad.source_id).try_collect().await.unwrap();
    assert_eq!(all, (0..7).map(|number| format!("car-{number}")).collect::<Vec<_>>());
    let from_fifth = AdQuery { page: Page { offset: 5, ..page }, ..query.clone() };
    assert_eq!(client.typed("car").all(&from_fifth).try_collect::<Vec<_>>().await.unwrap().len(), 2);
    let ids = AdQuery { fields: Some(vec!["source_id"]), ..query };
    let rows: Vec<Value> = client.v4().all_as(&ids).try_collect().await.unwrap();
    assert_eq!(rows[6], json!({"source_id": "car-6"}));
    assert!(client.typed("boat").all(&AdQuery::default()).try_next().await.unwrap().is_none());

    let too_many = AdQuery { page: Page { limit: 501, offset: 0 }, ..AdQuery::default() };
    let wrong = client.v4().all(&too_many).try_collect::<Vec<_>>().await.unwrap_err();
    let ErrorKind::Invalid(errors) = wrong.kind() else { panic!("{wrong:?}") };
    assert!(errors.contains("limit") && wrong.status() == Some(400), "{wrong:?}");
}

#[tokio::test]
async fn lookups_have_attributes_values_and_models() {
    let server = Server::start().await;
    let client = client_of(&server);
    let lookups = client.lookups();
    assert!(lookups.attributes("car").await.unwrap().iter().any(|entry| entry.id == "body_type"));
    assert!(lookups.values("car", "body_type").await.unwrap().iter().any(|entry| entry.id == "suv"));
    assert!(lookups.models("volvo").await.unwrap().iter().any(|entry| entry.id == "xc60"));
    assert!(matches!(lookups.models("vlvo").await.unwrap_err().kind(), ErrorKind::Invalid(_)));
    assert!(matches!(lookups.attributes("cra").await.unwrap_err().kind(), ErrorKind::NotFound(_)));
}

#[tokio::test]
async fn a_refusal_has_its_kind_its_status_and_its_request_id() {
    let server = Server::start().await;
    let client = client_of(&server);
    let cars = client.typed("car");
    let mut wrong = plain_car("a", "AAA111");
    wrong["price"] = json!([{"type": "lst", "amount": 1}]);
    let base = &server.client.base;
    let with = |token: &str| Client::builder(base).token(token).rate(None).build().unwrap();
    let reader = server.token(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    client.typed("car").create(&plain_car("there", "BBB222")).await.unwrap();

    let error = cars.create(&wrong).await.unwrap_err();
    let ErrorKind::Invalid(errors) = error.kind() else { panic!("{error:?}") };
    assert_eq!(
        errors.flatten()[0],
        ("price.0.type".to_owned(), "\"lst\" is not a valid choice. Did you mean \"list\"?".into())
    );
    let seen = |error: Error, status: u16, kind: &str| {
        assert_eq!(error.status(), Some(status), "{error:?}");
        assert!(format!("{:?}", error.kind()).starts_with(kind), "{error:?}");
        assert!(error.request_id().is_some_and(|id| id.len() == 36) && !error.is_unclear(), "{error:?}");
    };
    seen(error, 400, "Invalid");
    seen(cars.create(&json!(["no object"])).await.unwrap_err(), 400, "Malformed");
    seen(cars.create(&plain_car("there", "CCC333")).await.unwrap_err(), 409, "Conflict");
    seen(cars.read("missing").await.unwrap_err(), 404, "NotFound");
    seen(client.v4().create(&wrong).await.unwrap_err(), 405, "Other");
    seen(cars.create(&json!({"body": "x".repeat(2 << 20)})).await.unwrap_err(), 413, "TooLarge");
    seen(with("no.token.atall").v4().read("a").await.unwrap_err(), 401, "Unauthorised");
    seen(with(&reader).v4().delete("there").await.unwrap_err(), 403, "Forbidden");
    seen(client.typed("trailer").create(&json!({"category_id": 1045})).await.unwrap_err(), 400, "Identified");
    seen(client.typed("boat").bump("there", Exclude::None).await.unwrap_err(), 404, "NotFound");
    for nowhere in ["", ".", ".."] {
        let error = client.v4().delete(nowhere).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)) && error.status().is_none(), "{error:?}");
    }
}

#[tokio::test]
async fn a_group_says_which_dealer() {
    let server = Server::start().await;
    let token = server.token(&["--dealer-group", "north"]).await;
    let client = Client::builder(&server.client.base).token(&token).rate(None).build().unwrap();
    for (dealer, plate) in [("north-cars", "AAA111"), ("coast-boats", "BBB222")] {
        let mut car = plain_car("same", plate);
        car["dealer_code"] = json!(dealer);
        client.typed("car").create(&car).await.unwrap();
    }
    let ambiguous = client.v4().read("same").await.unwrap_err();
    assert!(matches!(ambiguous.kind(), ErrorKind::Invalid(errors) if errors.contains("dealer_code")), "{ambiguous:?}");
    let target = Target::from("same").of_dealer(Some("coast-boats"));
    assert_eq!(client.v4().read(target).await.unwrap().dealer_code, "coast-boats");
}

#[tokio::test]
async fn requests_are_spread_evenly_over_all_clones() {
    let server = Server::start().await;
    let token = server.client.token.as_deref().unwrap();
    let client = Client::builder(&server.client.base).token(token).rate(NonZeroU32::new(20)).build().unwrap();
    let began = Instant::now();
    let reads = (0..11).map(|_| {
        let client = client.clone();
        async move { client.v4().list(&AdQuery::default()).await }
    });
    futures_util::future::try_join_all(reads).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_limit_of_the_service_is_waited_for() {
    let args = ["--rate-limit", "2/s burst 1"].map(str::to_owned).to_vec();
    let server = Server::with(ad_tests::Options { args, ..Default::default() }).await;
    let refused = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&refused);
    let token = server.client.token.as_deref().unwrap();
    let client = Client::builder(&server.client.base)
        .token(token)
        .rate(None)
        .observe(move |exchange| {
            counted.fetch_add(u32::from(exchange.status == Some(429)), Ordering::SeqCst);
        })
        .build()
        .unwrap();
    for number in 0..3 {
        let car = plain_car(&number.to_string(), &format!("ABC10{number}"));
        client.typed("car").create(&car).await.unwrap();
    }
    assert!(refused.load(Ordering::SeqCst) >= 1, "it was told to wait");
}

/// A host that reads a request on each connection and answers what `answer` says to it, or nothing at all and closes.
async fn host(answer: impl Fn(u32, &str) -> Option<String> + Send + 'static) -> (String, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let length = connection.read(&mut request).await.unwrap_or(0);
            if length == 0 {
                continue;
            }
            let request = String::from_utf8_lossy(&request[..length]);
            if let Some(answer) = answer(count.fetch_add(1, Ordering::SeqCst) + 1, &request) {
                let _ = connection.write_all(answer.as_bytes()).await;
            }
        }
    });
    (address, asked)
}

fn impatient(url: &str) -> Client {
    let tries = NonZeroU32::new(3).unwrap();
    Client::builder(url).token("t").rate(None).tries(tries, Duration::from_millis(1)).build().unwrap()
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn what_is_not_answered_is_asked_again_and_each_write_with_one_key() {
    let keys = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&keys);
    let (url, asked) = host(move |_, request| {
        let key = request.lines().find_map(|line| line.strip_prefix("idempotency-key: ")).map(str::to_owned);
        seen.lock().unwrap().push(key);
        None
    })
    .await;
    let client = impatient(&url);
    let mut used = BTreeSet::new();
    let mut lost = |error: Error, is_write: bool| {
        assert!(matches!(error.kind(), ErrorKind::Lost(_)), "{error:?}");
        assert_eq!((error.is_unclear(), error.tries()), (is_write, 3), "{error:?}");
        assert_eq!(asked.swap(0, Ordering::SeqCst), 3);
        let keys = std::mem::take(&mut *keys.lock().unwrap());
        assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        assert_eq!(keys[0].is_some(), is_write, "{keys:?}");
        assert!(keys[0].is_none() || used.insert(keys[0].clone()), "{keys:?}");
    };
    lost(client.v4().read("a").await.unwrap_err(), false);
    lost(client.typed("car").validate(&json!({})).await.unwrap_err(), false);
    lost(client.typed("car").update("a", &json!({})).await.unwrap_err(), true);
    lost(client.v4().delete("a").await.unwrap_err(), true);
    lost(client.typed("car").create(&json!({})).await.unwrap_err(), true);
    lost(client.typed("car").migrate("a", &json!({})).await.unwrap_err(), true);
    lost(client.v4().bump("a", Exclude::None).await.unwrap_err(), true);
    lost(client.v4().pole_position("a").await.unwrap_err(), true);
    lost(client.v4().retry("a").await.unwrap_err(), true);
    let chosen = client.typed("car").key("mine").create(&json!({})).await.unwrap_err();
    assert!(chosen.is_unclear() && keys.lock().unwrap().iter().all(|key| key.as_deref() == Some("mine")));
}

#[tokio::test]
async fn what_was_surely_not_accepted_is_sent_again() {
    let busy = |number, _: &str| {
        Some(if number < 3 {
            http("429 Too Many Requests", "retry-after: 0\r\n", r#"{"detail": "Too many requests."}"#)
        } else {
            http("404 Not Found", "x-request-id: abc\r\n", r#"{"detail": "Not found."}"#)
        })
    };
    let (url, asked) = host(busy).await;
    let error = impatient(&url).v4().bump("a", Exclude::None).await.unwrap_err();
    assert_eq!((error.status(), error.request_id(), error.tries()), (Some(404), Some("abc"), 3));
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_service_that_is_not_there_hangs_or_is_none_is_told_as_it_is() {
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let error = impatient(&nobody).typed("car").create(&json!({})).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Unreachable(_)) && error.tries() == 3 && !error.is_unclear(),
        "{error:?}"
    );

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let client = Client::builder(&url).timeout(Duration::from_millis(200)).build().unwrap();
    let error = client.typed("car").create(&json!({})).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TimedOut(_)) && error.is_unclear(), "{error:?}");

    let page = |_, _: &str| Some(http("200 OK", "content-type: text/html\r\n", "<!DOCTYPE html><h1>Welcome</h1>"));
    let error = impatient(&host(page).await.0).v4().read("a").await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unexpected(_)) && error.to_string().contains("a web page"), "{error:?}");

    let elsewhere = |_, _: &str| Some(http("301 Moved Permanently", "location: https://ads.example/\r\n", ""));
    let (url, asked) = host(elsewhere).await;
    let error = impatient(&url).v4().read("a").await.unwrap_err();
    assert!(error.to_string().contains("redirects to https://ads.example/"), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "a token is not carried elsewhere");

    let bad_gateway = |_, _: &str| Some(http("502 Bad Gateway", "content-type: text/html\r\n", "<html>nginx</html>"));
    let (url, asked) = host(bad_gateway).await;
    let error = impatient(&url).typed("car").create(&json!({})).await.unwrap_err();
    assert!(error.is_unclear() && asked.load(Ordering::SeqCst) == 3, "{error:?}");
}

/// A way to a server on which the answers to the first `lost` requests are lost.
pub(super) async fn losing(server: &Server, lost: u32) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let target = server.client.base.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        for number in 1.. {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = tokio::net::TcpStream::connect(&target).await.unwrap();
            if number > lost {
                tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut server).await });
                continue;
            }
            let (mut from_client, _to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let answer = async {
                let mut answer = [0; 1024];
                from_server.read(&mut answer).await
            };
            // The server has answered, and so it has accepted; nobody hears of it.
            tokio::select! {
                _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                _ = answer => {}
            }
        }
    });
    address
}

#[tokio::test]
async fn a_create_whose_answer_was_lost_is_answered_again_and_not_made_twice() {
    let server = Server::start().await;
    let token = server.client.token.as_deref().unwrap();
    let car = plain_car("once", "ABC123");
    let with = |url: String| {
        let tries = NonZeroU32::new(3).unwrap();
        Client::builder(&url).token(token).rate(None).tries(tries, Duration::from_millis(1)).build().unwrap()
    };
    let created = with(losing(&server, 1).await).typed("car").create(&car).await.unwrap();
    let again = with(losing(&server, 0).await).typed("car").create(&car).await.unwrap_err();
    assert!(matches!(again.kind(), ErrorKind::Conflict(_)), "it is there: {again:?}");
    let never = plain_car("never answered", "ABC124");
    let error = with(losing(&server, 9).await).typed("car").key("a-key").create(&never).await.unwrap_err();
    assert!(error.is_unclear(), "{error:?}");
    let later = with(server.client.base.clone()).typed("car").key("a-key").create(&never).await.unwrap();
    assert_eq!(later.source_id, "never answered");
    server.client.published("once").await;
    let log = server.client.log("once").await;
    let entries: Vec<_> = log.iter().filter(|entry| entry["action"] == "create").collect();
    assert_eq!(entries.len(), 2, "one create, processing and done");
    assert!(entries.iter().all(|entry| entry["request_id"].as_str() == created.request_id.as_deref()), "{entries:?}");
}
