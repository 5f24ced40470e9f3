//! Reading as an attack: searches that take long, clients that leave, answers that nobody reads.

use std::{collections::BTreeSet, time::Duration};

use ad_core::{
    model::{AdFilter, AdQuery},
    ports::{Scope, Store, StoreError},
};
use ad_server::store::{Database, DatabaseStore};
use ad_tests::{Bystander, Client, Options, PATIENCE, Postgres, Server, eventually};
use futures_util::future::{join_all, pending, select_all};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use crate::{payloads::plain_car, slow_clients::connect};

/// Most characters of a body.
const LONGEST_BODY: usize = 200_000;

/// A busy machine ends no read.
const PATIENT: [&str; 2] = ["--read-timeout", "30s"];

/// A server on a database of its own, with the database's address.
struct Attacked {
    server: Server,
    url: String,
}

impl Attacked {
    async fn on_sqlite(args: &[&str]) -> Self {
        Self::start("sqlite://data/ads.db".to_owned(), args).await
    }

    /// None when PostgreSQL is not installed.
    async fn on_postgres(args: &[&str]) -> Option<Self> {
        Some(Self::start(Postgres::shared().await?.database().await, args).await)
    }

    async fn start(url: String, args: &[&str]) -> Self {
        let args = ["--database-url", &url].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
        let server = Server::with(Options { args, ..Options::default() }).await;
        Self { server, url }
    }

    /// A client of the dealer who does not attack.
    async fn other_dealer(&self) -> Client {
        self.server.client_of(&["--dealer-code", "south-cars"]).await
    }

    /// Creates ads whose bodies are as long as allowed and consist of one letter.
    async fn stock(&self, ads: usize) {
        let body = "a".repeat(LONGEST_BODY);
        for number in 0..ads {
            let mut car = plain_car(&format!("car-{number}"), &format!("ATT{number:03}"));
            (car["body"], car["visible"]) = (json!(body), json!(false));
            self.server.client.post("/v4/car", &car).await.expect(201);
        }
    }

    /// Most memory of its process so far, in bytes.
    fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Sends a GET and does not read the answer.
    async fn send_get(&self, path: &str) -> TcpStream {
        let mut socket = connect(&self.server).await;
        let token = self.server.client.token.as_deref().unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nX-Auth-Token: {token}\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        socket
    }
}

/// A term that is nearly found at each place of a text of one letter, and nowhere in the end.
fn worst_term(length: usize) -> String {
    format!("{}c{}", "a".repeat(length / 2), "a".repeat(length - length / 2 - 1))
}

async fn searches_leave_room(attacked: Attacked) {
    attacked.stock(40).await;
    let other = attacked.other_dealer().await;
    let revoked = attacked.server.token(&["--dealer-code", "south-cars"]).await;
    let of_revoked = other.with_token(Some(revoked));
    of_revoked.get("/v4/ad").await.expect(200);

    let bystander = Bystander::start(&other, "bystander");
    let end = Instant::now() + Duration::from_secs(3);
    let path = format!("/v4/ad?search={}", worst_term(200));
    let searching = (0..12).map(|_| async {
        while Instant::now() < end {
            let answer = attacked.server.client.get(&path).await;
            assert!([200, 429, 503].contains(&answer.status.as_u16()), "{}", String::from_utf8_lossy(&answer.bytes));
        }
    });
    let leaving = (0..12).map(|_| async {
        while Instant::now() < end {
            drop(attacked.send_get(&path).await);
            sleep(Duration::from_millis(20)).await;
        }
    });
    let revoking = async {
        // Tokens are listed in the order in which they were issued.
        let tokens: Value = serde_json::from_str(&attacked.server.command(&["token", "list", "--json"]).await).unwrap();
        let jti = tokens.as_array().unwrap().last().unwrap()["jti"].as_str().unwrap();
        attacked.server.command(&["token", "revoke", jti, "--database-url", &attacked.url]).await;
        let begun = Instant::now();
        eventually("the revoked token is refused", || async {
            (of_revoked.get("/v4/ad/bystander-0").await.status == 401).then_some(())
        })
        .await;
        println!("revoked token refused after {:.1?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(2), "a revoked token worked for {:?}", begun.elapsed());
    };
    tokio::join!(join_all(searching), join_all(leaving), revoking);
    let seen = bystander.stop().await;
    println!("another dealer during searches: {seen}");
    assert!(seen.failures.is_empty() && seen.posts.count() > 0, "{seen}");

    let answer = attacked.server.client.get(&format!("/v4/ad?search={}", worst_term(20_000))).await.expect(400);
    let refused = "Has 20000 characters, at most 200 are allowed; search for a shorter text.";
    assert_eq!(answer, json!({"search": [refused]}));
}

#[tokio::test]
async fn searches_of_one_dealer_leave_room_for_another_and_for_the_directory() {
    searches_leave_room(Attacked::on_sqlite(&[]).await).await;
}

#[tokio::test]
async fn searches_on_postgres_leave_room_for_another_dealer_and_for_the_directory() {
    if let Some(attacked) = Attacked::on_postgres(&[]).await {
        searches_leave_room(attacked).await;
    }
}

#[tokio::test]
async fn a_list_that_takes_longer_than_read_timeout_is_a_503_that_says_what_to_do() {
    let text = "The read was stopped after 0.001 s, the limit of read_timeout. Narrow a list by filters (a search too: by \
                category_id, status or updated__gte), fewer fields or a smaller limit, or try again.";
    let args = ["--read-timeout", "1ms"];
    for attacked in [Some(Attacked::on_sqlite(&args).await), Attacked::on_postgres(&args).await].into_iter().flatten() {
        attacked.stock(30).await;
        let path = format!("/v4/ad?search={}", worst_term(200));
        let answer = attacked.server.client.get(&path).await;
        assert_eq!(answer.header("retry-after"), Some("2"));
        assert_eq!(answer.expect(503), json!({"detail": text}));
    }
}

/// Stores so many texts of a dealer that a search in them takes seconds.
async fn stock_for_seconds(connection: &mut PgConnection, dealer_code: &str) {
    let stock = format!(
        "INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, \
             updated, image_refs, content) \
         SELECT gen_random_uuid(), 'x' || n, '{dealer_code}', 1020, 'created', 'v4', 0, 'created', n, n, '[]', '{{}}' \
         FROM generate_series(1, 2000) AS n; \
         INSERT INTO texts (ad, dealer_code, search, source_id) \
         SELECT seq, dealer_code, repeat('a', 200000), source_id FROM ads"
    );
    connection.execute(AssertSqlSafe(stock)).await.unwrap();
}

/// How many lists the database is reading.
async fn lists_being_read(connection: &mut PgConnection) -> i64 {
    let running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
                   AND query LIKE '%matching%' AND pid <> pg_backend_pid()";
    sqlx::query_scalar(running).fetch_one(connection).await.unwrap()
}

/// Waits until the database has stopped reading, which is much sooner than it would have been done.
async fn assert_stopped(connection: &mut PgConnection) {
    let begun = Instant::now();
    while lists_being_read(connection).await > 0 {
        sleep(Duration::from_millis(20)).await;
    }
    println!("the server stopped the search after {:.1?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_millis(1500), "the search went on for {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_search_that_nobody_waits_for_is_stopped_on_postgres() {
    let Some(server) = Postgres::shared().await else { return };
    let url = server.database().await;
    let options = ad_server::store::Options { read_timeout: Duration::from_millis(700), ..Default::default() };
    let database = Database::open_with(&url, &options).await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    stock_for_seconds(&mut connection, "d1").await;
    let store = DatabaseStore::new(database);
    let query = AdQuery { filters: vec![AdFilter::Search(worst_term(200))], ..AdQuery::default() };
    for _ in 0..2 {
        let left = timeout(Duration::from_millis(300), store.list(Scope::Dealer("d1"), &query)).await;
        assert!(left.is_err(), "the search should take longer");
        assert_stopped(&mut connection).await;
    }
    // One that somebody waits for is stopped in time.
    let stopped = store.list(Scope::Dealer("d1"), &query).await;
    assert!(matches!(stopped, Err(StoreError::TimedOut(_))), "{stopped:?}");
}

#[tokio::test]
async fn a_search_that_nobody_waits_for_keeps_its_connection_to_postgres() {
    let Some(server) = Postgres::shared().await else { return };
    let url = server.database().await;
    let database = Database::open(&url).await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    stock_for_seconds(&mut connection, "d1").await;
    let store = DatabaseStore::new(database.clone());
    let query = AdQuery { filters: vec![AdFilter::Search(worst_term(200))], ..AdQuery::default() };
    let unused = async || {
        let is_unused = || database.pools().iter().any(|pool| pool.name == "lists" && (pool.busy, pool.idle) == (0, 1));
        eventually("the one connection is back in its pool", async || is_unused().then_some(())).await;
    };
    let mut backends = Vec::new();
    for _ in 0..3 {
        tokio::select! {
            done = store.list(Scope::Dealer("d1"), &query) => panic!("the search should take longer: {done:?}"),
            backend = eventually("the search runs", || backend_of_search(&url)) => backends.push(backend),
        }
        assert_stopped(&mut connection).await;
        unused().await;
        // What is cancelled is the search, and nothing that comes after it on the connection.
        let small = AdQuery { filters: vec![AdFilter::SourceIdContains("x1999".to_owned())], ..AdQuery::default() };
        assert_eq!(store.list(Scope::Dealer("d1"), &small).await.unwrap().count, 1);
        unused().await;
    }
    assert!(backends.iter().all(|backend| *backend == backends[0]), "each search had another connection: {backends:?}");
}

/// The process of the server that runs a search.
async fn backend_of_search(url: &str) -> Option<i32> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let running = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
                   AND query LIKE '%matching%' AND pid <> pg_backend_pid()";
    sqlx::query_scalar(running).fetch_optional(&mut connection).await.unwrap()
}

#[tokio::test]
async fn a_search_whose_client_disconnects_is_stopped() {
    let Some(attacked) = Attacked::on_postgres(&PATIENT).await else { return };
    let mut connection = PgConnection::connect(&attacked.url).await.unwrap();
    stock_for_seconds(&mut connection, "north-cars").await;
    let search = attacked.send_get(&format!("/v4/ad?search={}", worst_term(200))).await;
    while lists_being_read(&mut connection).await == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    drop(search);
    assert_stopped(&mut connection).await;
}

/// The answer to a request if that is refused as one too many; of any other answer, only the beginning is read.
async fn refusal(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        let read = socket.read_buf(&mut answer).await.unwrap();
        if read == 0 || !answer.starts_with(b"HTTP/1.1 429 ") {
            return pending().await;
        }
    }
    String::from_utf8(answer).unwrap()
}

async fn unread_lists_are_bounded(attacked: Attacked) {
    // Two pages of the largest kind.
    attacked.stock(60).await;
    let other = attacked.other_dealer().await;
    let bystander = Bystander::start(&other, "bystander");
    // One more than the dealer may have, at the same time: any of them may be the one that is refused.
    let mut unread = join_all((0..=64).map(|_| attacked.send_get("/v4/ad?limit=500"))).await;
    let refusals = unread.iter_mut().map(|socket| Box::pin(refusal(socket)));
    let (refused, ..) = timeout(PATIENCE, select_all(refusals)).await.expect("one of them is refused");
    assert!(refused.to_lowercase().contains("\r\nretry-after: 2\r\n"), "{refused}");
    let text = "At most 64 lists and logs of one dealer or group can be read at the same time. Wait for the answers of the \
                others, and read them to their end.";
    assert!(refused.ends_with(&json!({"detail": text}).to_string()), "{refused}");
    // Single ads of the same dealer wait for memory or are small; lists of another dealer are answered.
    for _ in 0..20 {
        other.get("/v4/ad?limit=500").await.expect(200);
    }
    sleep(Duration::from_secs(1)).await;
    let (seen, memory) = (bystander.stop().await, attacked.most_memory());
    println!("another dealer during unread lists: {seen}; most memory {} MiB", memory >> 20);
    assert!(seen.failures.is_empty() && seen.posts.count() > 0, "{seen}");
    assert!(memory < 400_000_000, "{memory} bytes");
    drop(unread);
    eventually("the dealer can read lists again", || async {
        (attacked.server.client.get("/v4/ad?limit=1").await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn unread_lists_of_one_dealer_use_up_no_memory_and_leave_room_for_another() {
    unread_lists_are_bounded(Attacked::on_sqlite(&PATIENT).await).await;
}

#[tokio::test]
async fn unread_lists_on_postgres_use_up_no_memory_and_leave_room_for_another_dealer() {
    if let Some(attacked) = Attacked::on_postgres(&PATIENT).await {
        unread_lists_are_bounded(attacked).await;
    }
}

/// Large single ads count as lists do.
#[tokio::test]
async fn unread_ads_of_one_dealer_use_up_no_memory() {
    let attacked = Attacked::on_sqlite(&[]).await;
    attacked.stock(1).await;
    let other = attacked.other_dealer().await;
    let bystander = Bystander::start(&other, "bystander");
    let mut unread = Vec::new();
    for _ in 0..4 {
        unread.extend(join_all((0..100).map(|_| attacked.send_get("/v4/ad/car-0"))).await);
    }
    sleep(Duration::from_secs(1)).await;
    let (seen, memory) = (bystander.stop().await, attacked.most_memory());
    println!("another dealer during unread ads: {seen}; most memory {} MiB", memory >> 20);
    assert!(seen.failures.is_empty() && seen.posts.count() > 0, "{seen}");
    assert!(memory < 400_000_000, "{memory} bytes");
    // What finds no memory at first is answered as soon as there is some.
    drop(unread.drain(1..));
    let mut answer = vec![0; LONGEST_BODY];
    timeout(Duration::from_secs(10), unread[0].read_exact(&mut answer)).await.unwrap().unwrap();
}

#[tokio::test]
async fn pages_that_end_at_their_bytes_lead_to_every_ad_once() {
    for attacked in [Some(Attacked::on_sqlite(&[]).await), Attacked::on_postgres(&[]).await].into_iter().flatten() {
        attacked.stock(60).await;
        for first in
            ["/v4/ad?limit=500", "/v4/car?limit=500&ordering=source_id&include=log", "/v4/ad?limit=500&fields=id,body"]
        {
            let (mut seen, mut pages, mut next) = (BTreeSet::new(), 0, Some(first.to_owned()));
            while let Some(path) = next {
                let answer = attacked.server.client.get(&path).await;
                assert!(answer.bytes.len() < 9 * 1024 * 1024, "{} bytes", answer.bytes.len());
                let page = answer.expect(200);
                assert_eq!(page["count"], 60);
                for ad in page["results"].as_array().unwrap() {
                    assert!(seen.insert(ad["id"].to_string()), "{} stands on two pages", ad["id"]);
                }
                pages += 1;
                let base = &attacked.server.client.base;
                next = page["next"].as_str().map(|next| next.strip_prefix(base.as_str()).unwrap().to_owned());
            }
            assert_eq!((seen.len(), pages), (60, 2), "{first}");
        }
        // Without long fields the page has them all.
        let page = attacked.server.client.get("/v4/ad?limit=500&fields=id,state").await.expect(200);
        assert_eq!((page["results"].as_array().unwrap().len(), &page["next"]), (60, &Value::Null));
    }
}

#[tokio::test]
async fn wrong_parameters_get_an_answer_that_is_no_larger_than_the_request() {
    let server = Server::start().await;
    for (name, item) in [("fields", "xx,"), ("include", "x,"), ("category_id__in", "x,"), ("source_id__in", ",")] {
        let path = format!("/v4/ad?{name}={}", item.repeat(400));
        let answer = server.client.get(&path).await;
        assert!(answer.expect(400)[name].as_array().unwrap().len() <= 11, "{name}");
        assert!(answer.bytes.len() < path.len().max(1000), "{name}: {} bytes", answer.bytes.len());
        let items = server.client.get(&format!("/v4/ad?{name}={}", item.repeat(500))).await.expect(400);
        let too_many = "Has 501 items, at most 500 are allowed; split them over several requests.";
        assert_eq!(items, json!({name: [too_many]}));
    }
    let unknown = (0..3000).map(|number| format!("x{number}=")).collect::<Vec<_>>().join("&");
    let answer = server.client.get(&format!("/v4/ad?{unknown}")).await;
    assert!(answer.expect(400).as_object().unwrap().len() == 5 && answer.bytes.len() < 1000);
    let answer = server.client.get(&format!("/v4/ad?fields={}", "xx,".repeat(20_000))).await.expect(400);
    let text = "The query string has 60007 bytes, at most 32768 are allowed; split long lists over several requests.";
    assert_eq!(answer, json!({"query": [text]}));
}
