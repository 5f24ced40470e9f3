//! Events: pages, long poll and streams (extensions E4).

use std::time::{Duration, Instant};

use ad_core::{ports::Clock, service::Access};
use ad_server::{
    auth::{self, IssueRequest, KeySet},
    system::SystemClock,
};
use ad_tests::{Client, Options, Postgres, Server, eventually};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::payloads::plain_car;

/// Runs a case on SQLite, and on PostgreSQL where it is installed.
async fn on_both<F: Future<Output = ()>>(case: impl Fn(Server) -> F) {
    case(Server::start().await).await;
    if let Some(postgres) = Postgres::shared().await {
        let args = vec!["--database-url".to_owned(), postgres.database().await];
        case(Server::with(Options { args, ..Options::default() }).await).await;
    }
}

/// All events of a path, in pages of three, until the last one has this source id and type.
async fn until(client: &Client, path: &str, source_id: &str, event_type: &str) -> Vec<Value> {
    let (mut events, mut cursor) = (Vec::new(), String::new());
    let begun = Instant::now();
    loop {
        let after = if cursor.is_empty() { String::new() } else { format!("&after={cursor}") };
        let page = client.get(&format!("{path}limit=3&wait=5{after}")).await.expect(200);
        page["cursor"].as_str().unwrap().clone_into(&mut cursor);
        events.extend(page["events"].as_array().unwrap().iter().cloned());
        if events.iter().any(|event| event["source_id"] == source_id && event["type"] == event_type) {
            return events;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain: {events:?}");
    }
}

#[tokio::test]
async fn a_reader_follows_the_log_by_its_cursors() {
    on_both(async |server| {
        let client = &server.client;
        client.post("/v4/car", &plain_car("c", "EVT001")).await.expect(201);
        let events = until(client, "/v4/events?", "c", "ad.publish.done").await;
        let log = client.log("c").await;
        assert_eq!(events.len(), log.len());
        let ad = client.ad("c").await;
        for ((event, entry), sequence) in events.iter().zip(&log).zip(1..) {
            let (action, state) = (entry["action"].as_str().unwrap(), entry["state"].as_str().unwrap());
            let id = format!("evt_{}_{sequence}", ad["id"].as_str().unwrap().replace('-', ""));
            assert_eq!(
                *event,
                json!({"id": id, "cursor": event["cursor"], "type": format!("ad.{action}.{state}"), "timestamp": entry["created"],
                    "dealer_code": "north-cars", "source_id": "c", "ad_id": ad["id"], "category_id": 1020,
                    "request_id": entry["request_id"], "sequence": sequence, "action": action, "state": state, "code": entry["code"],
                    "message": entry["external_message"], "marketplace_ad_id": event["marketplace_ad_id"], "offer_id": event["offer_id"],
                    "plan_id": null})
            );
        }
        assert_eq!(events.last().unwrap()["marketplace_ad_id"], ad["marketplace_ad_id"]);

        // Filters.
        let of = async |query: &str| client.get(&format!("/v4/events?{query}")).await.expect(200);
        let types = of("types=ad.publish.*,ad.create.done").await;
        let types: Vec<_> = types["events"].as_array().unwrap().iter().map(|event| event["type"].clone()).collect();
        assert_eq!(types, ["ad.create.done", "ad.publish.processing", "ad.publish.done"]);
        assert_eq!(of("source_id=other").await["events"], json!([]));
        assert_eq!(of("dealer_code=south-cars").await["events"], json!([]));
        let now = of("after=now").await;
        assert_eq!((&now["events"], &now["has_more"]), (&json!([]), &json!(false)));

        // The next event ends a long poll, which nobody else's does.
        let south = server.client_of(&["--dealer-code", "south-cars"]).await;
        let path = format!("/v4/events?wait=30&after={}", now["cursor"].as_str().unwrap());
        let begun = Instant::now();
        let (page, ()) = tokio::join!(client.get(&path), async {
            south.post("/v4/car", &plain_car("s", "EVT002")).await.expect(201);
            client.post("/v4/car", &plain_car("d", "EVT003")).await.expect(201);
        });
        assert_eq!(page.expect(200)["events"][0]["source_id"], "d");
        assert!(begun.elapsed() < Duration::from_secs(30));
        let group = server.client_of(&["--dealer-group", "north"]).await;
        let of_group = until(&group, "/v4/events?", "d", "ad.publish.done").await;
        assert!(of_group.iter().all(|event| event["dealer_code"] == "north-cars"), "south is in no group");
    })
    .await;
}

#[tokio::test]
async fn wrong_cursors_and_parameters_are_refused() {
    on_both(async |server| {
        let client = &server.client;
        client.post("/v4/car", &plain_car("c", "EVT004")).await.expect(201);
        let events = until(client, "/v4/events?", "c", "ad.publish.done").await;
        let cursor = events.last().unwrap()["cursor"].as_str().unwrap();
        let group = server.client_of(&["--dealer-group", "north"]).await;
        let errors = async |client: &Client, query: &str| client.get(&format!("/v4/events?{query}")).await.expect(400);
        let not_one = "Not a cursor of this token's events.";
        for (client, after) in [(&group, cursor), (client, "x"), (client, &cursor[1..]), (client, "")] {
            let error = errors(client, &format!("after={after}")).await;
            assert!(error["after"][0].as_str().unwrap().starts_with(not_one), "{after}: {error}");
        }
        for (query, name, text) in [
            ("types=ad.publish.finished", "types", "is not a valid choice"),
            ("types=ad.publish.don", "types", "ad.publish.done"),
            ("types=", "types", "is not a valid choice"),
            ("wait=31", "wait", "Must be 0 to 30."),
            ("wait=-1", "wait", "Must be 0 to 30."),
            ("limit=0", "limit", "Must be 1 to 1000."),
            ("limit=1001", "limit", "Must be 1 to 1000."),
            ("limit=1&limit=2", "limit", "Given more than once."),
            ("cursor=x", "cursor", "Unknown"),
        ] {
            let error = errors(client, query).await;
            assert!(error[name].to_string().contains(text), "{query}: {error}");
        }
        let headers = client.send(Method::HEAD, "/v4/events", None).await;
        assert_eq!((headers.status.as_u16(), headers.bytes.len()), (200, 0));
        assert_eq!(client.send(Method::OPTIONS, "/v4/events", None).await.header("allow"), Some("GET, HEAD, OPTIONS"));
        client.send(Method::POST, "/v4/events", None).await.expect(405);
        client.with_token(None).get("/v4/events").await.expect(401);
        let writer = server.client_of(&["--dealer-code", "north-cars", "--permissions", "write"]).await;
        writer.get("/v4/events").await.expect(403);
    })
    .await;
}

/// An open stream of server-sent events.
pub(crate) struct Stream {
    response: reqwest::Response,
    /// What has come of the next block.
    bytes: Vec<u8>,
    /// The last id, as a client sends it when it connects again.
    pub(crate) last_id: Option<String>,
}

impl Stream {
    async fn open(client: &Client, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::try_open(client, path, headers).await.unwrap()
    }

    /// The stream, if there is an answer and it is 200.
    pub(crate) async fn try_open(client: &Client, path: &str, headers: &[(&str, &str)]) -> reqwest::Result<Self> {
        let mut request = reqwest::Client::new().get(format!("{}{path}", client.base));
        request = request.header("X-Auth-Token", client.token.clone().unwrap()).header("Accept", "text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await?.error_for_status()?;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert!(!response.headers().contains_key("content-encoding"));
        Ok(Self { response, bytes: Vec::new(), last_id: None })
    }

    /// The next block: its fields by name. `None` at the end.
    async fn next(&mut self) -> Option<Vec<(String, String)>> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|two| two == b"\n\n") {
                let block = String::from_utf8(self.bytes.drain(..end + 2).collect()).unwrap();
                let fields = block.trim_end().lines().map(|line| line.split_once(": ").unwrap_or((line, "")));
                let fields: Vec<_> = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                if let Some((_, id)) = fields.iter().find(|(name, _)| name == "id") {
                    self.last_id = Some(id.clone());
                }
                return Some(fields);
            }
            let chunk =
                tokio::time::timeout(Duration::from_mins(1), self.response.chunk()).await.expect("a sign of life");
            self.bytes.extend_from_slice(&chunk.ok()??);
        }
    }

    /// The next event, with its id. `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<(String, Value)> {
        loop {
            let fields = self.next().await?;
            let value = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
            if let (Some(id), Some(data)) = (value("id"), value("data")) {
                let event: Value = serde_json::from_str(&data).unwrap();
                assert_eq!(
                    (Some(id.as_str()), value("event").as_deref()),
                    (event["cursor"].as_str(), event["type"].as_str())
                );
                return Some((id, event));
            }
        }
    }
}

#[tokio::test]
async fn a_stream_goes_on_where_its_client_stopped() {
    on_both(async |server| {
        let client = &server.client;
        let mut stream = Stream::open(client, "/v4/events?after=now", &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(stream.next().await.unwrap(), [("retry".to_owned(), "3000".to_owned())]);
        client.post("/v4/car", &plain_car("c", "EVT005")).await.expect(201);
        let (id, first) = stream.event().await.unwrap();
        assert_eq!((&first["type"], &first["sequence"]), (&json!("ad.create.processing"), &json!(1)));
        drop(stream);
        // The header wins.
        let mut stream = Stream::open(client, "/v4/events?after=now", &[("Last-Event-ID", &id)]).await;
        let mut sequences = Vec::new();
        loop {
            let (_, event) = stream.event().await.unwrap();
            sequences.push(event["sequence"].as_i64().unwrap());
            if event["type"] == "ad.publish.done" {
                break;
            }
        }
        let last = i64::try_from(client.log("c").await.len()).unwrap();
        assert_eq!(sequences, (2..=last).collect::<Vec<_>>());
    })
    .await;
}

/// A stream or long poll ends within a second after its token has become invalid. The other half is for a machine that runs other tests
/// at the same time.
const ENDED_WITHIN: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked_and_when_the_service_stops() {
    let mut server = Server::start().await;
    let token = server.token(&["--dealer-code", "north-cars"]).await;
    let client = server.client.with_token(Some(token));
    let jti = client.get("/v4/me").await.expect(200)["token"]["jti"].as_str().unwrap().to_owned();
    let (mut revoked, mut other) =
        (Stream::open(&client, "/v4/events", &[]).await, Stream::open(&server.client, "/v4/events", &[]).await);
    server.command(&["token", "revoke", &jti]).await;
    let begun = Instant::now();
    while revoked.next().await.is_some() {}
    assert!(begun.elapsed() < ENDED_WITHIN, "{:?}", begun.elapsed());
    server.signal("TERM").await;
    while other.next().await.is_some() {}
    server.ended().await;
}

#[tokio::test]
async fn a_long_poll_ends_when_its_token_is_revoked() {
    let server = Server::start().await;
    let token = server.token(&["--dealer-code", "north-cars"]).await;
    let client = server.client.with_token(Some(token));
    let jti = client.get("/v4/me").await.expect(200)["token"]["jti"].as_str().unwrap().to_owned();
    let cursor = client.get("/v4/events?after=now").await.expect(200)["cursor"].as_str().unwrap().to_owned();
    let path = format!("/v4/events?wait=30&after={cursor}");
    let polled = async { (client.get(&path).await, Instant::now()) };
    let revoked = async {
        let waits = || async {
            let metrics = server.client.get("/metrics").await;
            String::from_utf8_lossy(&metrics.bytes).contains("\nad_event_streams 1\n").then_some(())
        };
        eventually("the poll waits", waits).await;
        server.command(&["token", "revoke", &jti]).await;
        Instant::now()
    };
    let ((answer, ended), revoked) = tokio::join!(polled, revoked);
    assert!(answer.expect(401)["detail"].as_str().unwrap().contains("revoked"));
    assert!(ended - revoked < ENDED_WITHIN, "{:?}", ended - revoked);
}

#[tokio::test]
async fn a_cursor_moves_on_past_what_a_filter_left_out() {
    on_both(async |server| {
        let client = &server.client;
        client.post("/v4/car", &plain_car("seen", "EVT005")).await.expect(201);
        until(client, "/v4/events?", "seen", "ad.publish.done").await;
        for filter in ["source_id=other", "types=ad.bump.error", "source_id=seen&types=ad.bump.done"] {
            let page = client.get(&format!("/v4/events?{filter}")).await.expect(200);
            assert_eq!((&page["events"], &page["has_more"]), (&json!([]), &json!(false)), "{filter}");
            let cursor = page["cursor"].as_str().unwrap();
            let rest = client.get(&format!("/v4/events?after={cursor}")).await.expect(200);
            assert_eq!(rest["events"], json!([]), "{filter}: nothing has happened since");
        }
    })
    .await;
}

/// A token of north-cars that the server accepts for at most so many seconds from now: clocks may differ by a minute.
fn short_token(server: &Server, seconds: u64) -> String {
    let keys = KeySet::load_or_create(&server.dir().join("data/token-keys.json")).unwrap();
    let request = IssueRequest {
        scope: Access::Dealer("north-cars".to_owned()),
        permissions: None,
        expires_in: Some(Duration::from_secs(seconds)),
        label: None,
        now: SystemClock.now() - Duration::from_mins(1),
        jti: Uuid::from_u128(seconds.into()),
    };
    auth::issue(&keys, &request).unwrap().0
}

#[tokio::test]
async fn a_stream_ends_when_its_token_expires() {
    let server = Server::start().await;
    // On a slow machine a token may expire before it is used: then another has more time.
    let mut seconds = 2;
    let (client, mut stream, invalid_at) = loop {
        let client = server.client.with_token(Some(short_token(&server, seconds)));
        let invalid_at = Instant::now() + Duration::from_secs(seconds);
        match Stream::try_open(&client, "/v4/events", &[]).await {
            Ok(stream) => break (client, stream, invalid_at),
            Err(error) => assert_eq!(error.status(), Some(StatusCode::UNAUTHORIZED), "{error}"),
        }
        seconds *= 2;
    };
    while stream.next().await.is_some() {}
    assert!(invalid_at.elapsed() < ENDED_WITHIN, "{:?}", invalid_at.elapsed());
    client.get("/v4/events").await.expect(401);
}

#[tokio::test]
async fn a_silent_stream_says_every_15_seconds_where_it_is() {
    let server = Server::start().await;
    let client = &server.client;
    let mut stream = Stream::open(client, "/v4/events?types=ad.bump.*", &[]).await;
    client.post("/v4/car", &plain_car("c", "EVT007")).await.expect(201);
    client.published("c").await;
    assert_eq!(stream.next().await.unwrap(), [("retry".to_owned(), "3000".to_owned())]);
    // It goes on there, behind events that it did not ask for.
    let last = client.get("/v4/events").await.expect(200)["cursor"].as_str().map(str::to_owned);
    while stream.last_id != last {
        let comment = stream.next().await.unwrap();
        let names: Vec<_> = comment.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["", "id"], "{comment:?}");
    }
}

#[tokio::test]
async fn streams_and_long_polls_do_not_count_in_the_rate_limit() {
    let args = ["--rate-limit", "1/h burst 3"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("c", "EVT008")).await.expect(201);
    let mut streams = Vec::new();
    for _ in 0..5 {
        client.get("/v4/events?wait=30").await.expect(200);
        streams.push(Stream::open(client, "/v4/events", &[]).await);
    }
    for left in ["\"scope\";r=1", "\"scope\";r=0"] {
        let page = client.get("/v4/events").await;
        page.expect(200);
        assert!(page.header("ratelimit").unwrap().starts_with(left), "{:?}", page.headers);
    }
    let refused = client.get("/v4/events").await;
    assert!(refused.header("retry-after").is_some());
    refused.expect(429);
    // Of a token that has no requests left, too.
    client.get("/v4/events?wait=30").await.expect(200);
    streams.push(Stream::open(client, "/v4/events", &[]).await);
}

/// A stream that is refused because others are open; returns the text of the answer.
async fn refused_stream(client: &Client) -> String {
    let accept = [("accept", "text/event-stream".to_owned())];
    let refused = client.send_with(Method::GET, "/v4/events", &accept, None).await;
    assert!(refused.header("retry-after").is_some());
    refused.expect(429)["detail"].to_string()
}

#[tokio::test]
async fn streams_of_one_token_are_limited_and_counted() {
    let args = ["--token-event-streams", "2"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    // HEAD opens none.
    for _ in 0..3 {
        let accept = [("accept", "text/event-stream".to_owned())];
        let head = client.send_with(Method::HEAD, "/v4/events", &accept, None).await;
        assert_eq!((head.status.as_u16(), head.header("content-type")), (200, Some("text/event-stream")));
        assert!(head.bytes.is_empty());
    }
    let streams = [Stream::open(client, "/v4/events", &[]).await, Stream::open(client, "/v4/events", &[]).await];
    let refused = client.get("/v4/events?wait=1").await;
    assert!(refused.header("retry-after").is_some());
    let text = "At most 2 event streams and long polls of one token";
    for detail in [refused.expect(429)["detail"].to_string(), refused_stream(client).await] {
        assert!(detail.contains(text), "{detail}");
    }
    client.get("/v4/events").await.expect(200);
    // Another token of the dealer has its own.
    let other = server.client_of(&["--dealer-code", "north-cars"]).await;
    drop(Stream::open(&other, "/v4/events", &[]).await);
    drop(streams);
    let free = || async { (client.get("/v4/events?after=now&wait=1").await.status == 200).then_some(()) };
    eventually("places are free again", free).await;
}

#[tokio::test]
async fn streams_of_a_process_are_limited() {
    let args = ["--event-streams", "2"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    let _streams =
        [Stream::open(&server.client, "/v4/events", &[]).await, Stream::open(&south, "/v4/events", &[]).await];
    for client in [&server.client, &south] {
        let detail = refused_stream(client).await;
        assert!(detail.contains("At most 2 event streams and long polls of all clients"), "{detail}");
        client.get("/v4/events").await.expect(200);
    }
}

#[tokio::test]
async fn a_group_without_dealers_or_ads_has_no_events() {
    on_both(async |server| {
        server.client.post("/v4/car", &plain_car("c", "EVT009")).await.expect(201);
        server.client.published("c").await;
        // The second is a group whose only dealer has no ads.
        for group in ["nobody", "south"] {
            let client = server.client_of(&["--dealer-group", group]).await;
            let mut cursor = String::new();
            for query in ["", "after=now", "types=ad.create.*", "source_id=c", "dealer_code=north-cars", "wait=1"] {
                let page = client.get(&format!("/v4/events?{query}")).await.expect(200);
                assert_eq!((&page["events"], &page["has_more"]), (&json!([]), &json!(false)), "{group} {query}");
                page["cursor"].as_str().unwrap().clone_into(&mut cursor);
                let rest = client.get(&format!("/v4/events?after={cursor}")).await.expect(200);
                assert_eq!((&rest["events"], &rest["cursor"]), (&json!([]), &json!(cursor)), "{group} {query}");
            }
            let mut stream = Stream::open(&client, "/v4/events", &[("Last-Event-ID", &cursor)]).await;
            assert_eq!(stream.next().await.unwrap(), [("retry".to_owned(), "3000".to_owned())]);
        }
    })
    .await;
}

#[tokio::test]
async fn a_cursor_of_before_a_restored_backup_says_how_to_go_on() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("c", "EVT006")).await.expect(201);
    let events = until(&server.client, "/v4/events?", "c", "ad.publish.done").await;
    let cursor = events.last().unwrap()["cursor"].as_str().unwrap();
    // A backup of before the first ad is as good as a new database.
    let fresh = Server::start().await;
    let error = fresh.client.get(&format!("/v4/events?after={cursor}")).await.expect(400);
    assert!(error["after"][0].as_str().unwrap().contains("restored from a backup"), "{error}");
    let now = fresh.client.get("/v4/events?after=now").await.expect(200);
    assert_eq!(now["events"], json!([]));
}
