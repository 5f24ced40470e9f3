//! Lists that are read on a standby: never older than what was written before, and on the primary while the standby is behind or away.

use ad_tests::{Client, Options, Postgres, Process, Server, eventually, run};
use serde_json::Value;
use sqlx::{Connection, PgConnection};

use crate::payloads::plain_car;

/// Lists that are read on a server, by the last statement of each connection of the service: all but those of the service itself.
const LISTS: &str = "SELECT coalesce(sum(extract(epoch FROM query_start)), 0)::float8 FROM pg_stat_activity
    WHERE application_name = 'ad-server' AND query LIKE 'WITH matching AS%'";

/// What changes when a list is read on this server.
async fn lists_on(url: &str) -> f64 {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query_scalar(LISTS).fetch_one(&mut connection).await.unwrap()
}

/// Lists that a process has read on the standby, and on the primary because it could not.
async fn lists_read(base: &str) -> (f64, f64) {
    let answer = Client::new(base, None).get("/metrics").await;
    let text = String::from_utf8(answer.bytes.to_vec()).unwrap();
    let of = |server: &str| {
        let series = format!("ad_database_standby_lists_total{{server=\"{server}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)).unwrap().parse().unwrap()
    };
    (of("standby"), of("primary"))
}

/// What `ad-server check --json` says about the standby.
fn standby_check(printed: &str) -> Value {
    let checks: Vec<Value> = serde_json::from_str(printed).unwrap();
    checks.into_iter().find(|it| it["check"] == "standby").unwrap()
}

async fn execute(url: &str, sql: &'static str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
}

async fn paused(url: &str) -> bool {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let state: String =
        sqlx::query_scalar("SELECT pg_get_wal_replay_pause_state()").fetch_one(&mut connection).await.unwrap();
    state == "paused"
}

/// A dealer who creates ads through one process and lists them through another.
struct Dealer {
    writes: Client,
    lists: Client,
    ads: u64,
}

impl Dealer {
    /// Creates an ad; lists, counts and its log have it at once.
    async fn creates(&mut self) {
        self.ads += 1;
        let source_id = format!("ad-{}", self.ads);
        self.writes.post("/v4/car", &plain_car(&source_id, &format!("REP{:03}", self.ads))).await.expect(201);
        let list = self.lists.get("/v4/ad?limit=1&ordering=-created").await.expect(200);
        assert_eq!(list["count"], self.ads, "{list}");
        assert_eq!(list["results"][0]["source_id"], source_id, "{list}");
        let log = self.lists.get(&format!("/v4/ad/{source_id}/log")).await.expect(200);
        assert!(log["count"].as_u64() > Some(0), "{log}");
        let counted = self.lists.get("/v4/summary").await.expect(200);
        assert_eq!(counted["ads"], self.ads, "{counted}");
    }

    /// Lists are read on this server soon.
    async fn lists_on(&self, url: &str) {
        eventually("lists are read there", || async {
            let before = lists_on(url).await;
            self.lists.get("/v4/ad").await.expect(200);
            (lists_on(url).await > before).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn lists_of_a_standby_are_never_older_than_what_was_written() {
    let Some(postgres) = Postgres::start(&[]).await else { return };
    let primary = postgres.database().await;
    let mut standby = postgres.standby().await;
    let replica = standby.same_database(&primary);
    let args = ["--database-url", &primary, "--read-database-url", &replica].map(str::to_owned).to_vec();
    let server = Server::with(Options { args: args.clone(), ..Options::default() }).await;
    let mut serve = vec!["serve", "--listen", "127.0.0.1:0", "--workers", "0"];
    serve.extend(args.iter().map(String::as_str));
    let other = Process::start(server.dir(), &serve, &[]).await;
    let lists = Client::new(other.base.clone(), server.client.token.clone());
    let mut dealer = Dealer { writes: server.client.clone(), lists, ads: 0 };

    dealer.lists_on(&replica).await;
    for _ in 0..20 {
        dealer.creates().await;
    }
    dealer.lists_on(&replica).await;
    let (standby_lists, primary_lists) = lists_read(&other.base).await;
    assert!(standby_lists > 0.0);
    let checked = server.command(&["check", "--read-database-url", &replica, "--json"]).await;
    assert_eq!(standby_check(&checked)["ok"], true, "{checked}");

    execute(&replica, "SELECT pg_wal_replay_pause()").await;
    eventually("the standby stands still", || async { paused(&replica).await.then_some(()) }).await;
    for _ in 0..5 {
        dealer.creates().await;
    }
    dealer.lists_on(&primary).await;
    assert!(lists_read(&other.base).await.1 > primary_lists);
    let checked = server.command(&["check", "--read-database-url", &replica, "--json"]).await;
    let detail = standby_check(&checked)["detail"].to_string();
    assert!(detail.contains("bytes of the write-ahead log behind"), "{checked}");
    execute(&replica, "SELECT pg_wal_replay_resume()").await;
    dealer.lists_on(&replica).await;

    standby.stop("immediate");
    for _ in 0..5 {
        dealer.creates().await;
    }
    standby.start_again().await;
    dealer.lists_on(&replica).await;
    dealer.creates().await;
}

#[tokio::test]
async fn a_server_that_is_no_standby_of_the_database_is_not_read() {
    let (Some(postgres), Some(stranger)) = (Postgres::shared().await, Postgres::start(&[]).await) else { return };
    let primary = postgres.database().await;
    for (replica, reason) in [
        (stranger.url("postgres"), "it is not a standby of the server of database_url"),
        (primary.clone(), "does not show within"),
    ] {
        let args = ["--database-url", &primary, "--read-database-url", &replica].map(str::to_owned).to_vec();
        let server = Server::with(Options { args, ..Options::default() }).await;
        let check = ["check", "--database-url", &primary, "--read-database-url", &replica, "--json"];
        let checked = run(server.dir(), &check).await;
        assert_eq!(checked.status.code(), Some(1));
        let found = standby_check(&String::from_utf8_lossy(&checked.stdout));
        assert_eq!(found["ok"], false);
        assert!(found["detail"].as_str().unwrap().contains("for lists: it"), "{found}");
        eventually("it says so", || async {
            server.client.get("/v4/ad").await.expect(200);
            let said = server.said();
            said.iter()
                .any(|line| line.contains("lists are read on the primary") && line.contains(reason))
                .then_some(())
        })
        .await;
    }
}
