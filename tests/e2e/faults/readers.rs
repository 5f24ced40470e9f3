//! Readers that follow the events while processes that write are killed: each sees every event of its scope exactly once, and the
//! events of an ad in the order of its log (extensions E4.4).

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use ad_tests::{Client, Postgres};
use reqwest::Method;
use serde_json::Value;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{fleet::Fleet, judge, lasting, load::Load};
use crate::{events::Stream, payloads::plain_car};

/// Two dealers of one group, of `tests/data/dealers.toml`.
const DEALERS: [&str; 2] = ["north-cars", "coast-boats"];

/// An ad of each dealer that is created when everything else is finished: whoever sees its first event has seen all others.
const LAST: &str = "last";

/// How long readers may take to see what was written before.
const PATIENCE: Duration = Duration::from_mins(3);

/// Page, long poll or stream.
#[derive(Debug, Clone, Copy)]
enum Reading {
    Pages,
    LongPoll,
    Stream,
}

/// Follows the events of a scope through any process.
struct Reader {
    clients: Vec<Client>,
    reading: Reading,
    dice: fastrand::Rng,
    /// Where it goes on; empty: at the oldest event.
    cursor: String,
    events: Vec<Value>,
    /// Dealers whose last ad it has not seen.
    awaited: Vec<&'static str>,
}

impl Reader {
    /// Reads until it has seen the last ad of each dealer of its scope; returns all events but those of these ads.
    async fn read(mut self) -> Vec<Value> {
        while !self.awaited.is_empty() {
            let client = self.clients[self.dice.usize(..self.clients.len())].clone();
            let _interrupted = match self.reading {
                Reading::Pages => self.page(&client, 0).await,
                Reading::LongPoll => self.page(&client, 5).await,
                Reading::Stream => self.stream(&client).await,
            };
            // After an error too: the process is being killed or started again.
            sleep(Duration::from_millis(20)).await;
        }
        self.events
    }

    async fn page(&mut self, client: &Client, wait: u32) -> reqwest::Result<()> {
        let after = if self.cursor.is_empty() { String::new() } else { format!("&after={}", self.cursor) };
        let path = format!("/v4/events?wait={wait}&limit={}{after}", self.dice.u32(1..=100));
        let answer = client.try_send(Method::GET, &path, None).await?;
        if answer.status == 503 {
            return Ok(());
        }
        let page = answer.expect(200);
        for event in page["events"].as_array().unwrap() {
            self.take(event.clone());
        }
        page["cursor"].as_str().unwrap().clone_into(&mut self.cursor);
        Ok(())
    }

    /// Reads from a stream until it ends, or for some events: then this client leaves.
    async fn stream(&mut self, client: &Client) -> reqwest::Result<()> {
        let mut stream = match Stream::try_open(client, "/v4/events", &[("Last-Event-ID", &self.cursor)]).await {
            Err(error) if error.status().is_some_and(|status| status != 503) => panic!("{error}"),
            opened => opened?,
        };
        for _ in 0..self.dice.usize(1..200) {
            if self.awaited.is_empty() {
                break;
            }
            let Some((_, event)) = stream.event().await else { break };
            self.take(event);
        }
        if let Some(id) = stream.last_id {
            self.cursor = id;
        }
        Ok(())
    }

    fn take(&mut self, event: Value) {
        if event["source_id"] == LAST {
            self.awaited.retain(|dealer| event["dealer_code"] != *dealer);
        } else {
            self.events.push(event);
        }
    }
}

/// Readers of one scope, one of each kind.
struct Readers {
    dealers: Vec<&'static str>,
    tasks: Vec<(Reading, JoinHandle<Vec<Value>>)>,
}

impl Readers {
    fn start(clients: &[Client], dealers: &[&'static str], dice: &mut fastrand::Rng) -> Self {
        let start = |reading| {
            let reader = Reader {
                clients: clients.to_vec(),
                reading,
                dice: dice.fork(),
                cursor: String::new(),
                events: Vec::new(),
                awaited: dealers.to_vec(),
            };
            (reading, tokio::spawn(reader.read()))
        };
        let tasks = [Reading::Pages, Reading::LongPoll, Reading::Stream].map(start).into();
        Self { dealers: dealers.to_vec(), tasks }
    }

    /// Waits for all of them, compares what each has seen with the logs, and returns the ids of the events in their order.
    async fn expect_all(self, logs: &Logs) -> Vec<String> {
        let mut orders: Vec<Vec<String>> = Vec::new();
        for (reading, task) in self.tasks {
            let reader = format!("{reading:?} of {:?}", self.dealers);
            let events =
                timeout(PATIENCE, task).await.unwrap_or_else(|_| panic!("{reader}: waited in vain for events"));
            orders.push(expect_each_once(&reader, &events.unwrap(), &self.dealers, logs));
        }
        let first = orders.swap_remove(0);
        assert!(orders.iter().all(|order| *order == first), "the order is the same at every reading");
        first
    }
}

/// The log of each ad, by dealer and source id.
type Logs = BTreeMap<(String, String), Vec<Value>>;

/// The logs of all ads, whether or not a client knows that they were accepted.
async fn all_logs(clients: &[(&str, Client)]) -> Logs {
    const PAGE: usize = 500;
    let mut logs = Logs::new();
    for (dealer, client) in clients {
        for offset in (0..).step_by(PAGE) {
            let path = format!("/v4/ad?fields=source_id&ordering=source_id&limit={PAGE}&offset={offset}");
            let page = client.get(&path).await.expect(200);
            let rows = page["results"].as_array().unwrap();
            for row in rows {
                let source_id = row["source_id"].as_str().unwrap();
                let log = judge::log(client, source_id).await;
                logs.insert(((*dealer).to_owned(), source_id.to_owned()), log);
            }
            if rows.len() < PAGE {
                break;
            }
        }
    }
    logs
}

/// Each entry of the logs of these dealers was seen once, those of an ad in their order. Returns the ids of the events.
fn expect_each_once(reader: &str, events: &[Value], dealers: &[&str], logs: &Logs) -> Vec<String> {
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    let mut ids = HashSet::new();
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    for event in events {
        let ad = (text(event, "dealer_code"), text(event, "source_id"));
        let log = logs.get(&ad).unwrap_or_else(|| panic!("{reader}: no log has {event}"));
        let number = seen.entry(ad).or_default();
        *number += 1;
        assert_eq!(event["sequence"], *number, "{reader}: out of order, or twice: {event}");
        let entry = log.get(*number - 1).unwrap_or_else(|| panic!("{reader}: no log has {event}"));
        let same = ["request_id", "action", "state", "code"].iter().all(|name| event[*name] == entry[*name]);
        assert!(same, "{reader}: {event} is not {entry}");
        assert!(ids.insert(event["id"].as_str()), "{reader}: an id that another event has: {event}");
    }
    for (ad, log) in logs.iter().filter(|((dealer, _), _)| dealers.contains(&dealer.as_str())) {
        let seen = seen.get(ad).copied().unwrap_or_default();
        assert_eq!(seen, log.len(), "{reader}: events of {ad:?}");
    }
    events.iter().map(|event| text(event, "id")).collect()
}

async fn readers_see_every_event_once(database: &str) {
    // `FAULTS_SEED` repeats the moments and the choices of a run; how the processes interleave is not repeated.
    let seed = std::env::var("FAULTS_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("FAULTS_SEED={seed}");
    let mut dice = fastrand::Rng::with_seed(seed);
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/data/dealers.toml");
    let args = ["--dealers", directory].map(str::to_owned).to_vec();
    let mut fleet = Fleet::start(&[&["serve"][..]; 3], database, args, Vec::new()).await;
    let tokens = [fleet.token(&["--dealer-code", DEALERS[0]]).await, fleet.token(&["--dealer-code", DEALERS[1]]).await];
    let group = fleet.token(&["--dealer-group", "north"]).await;
    let of_group = Readers::start(&fleet.clients(&group), &DEALERS, &mut dice);
    let of_dealer = Readers::start(&fleet.clients(&tokens[0]), &DEALERS[..1], &mut dice);

    let loads = tokens.each_ref().map(|token| Load::start(&fleet.clients(token), 5));
    let (start, mut kills) = (std::time::Instant::now(), 0);
    while start.elapsed() < lasting(10, 60) {
        // Not a wait for anything: the moment is to be any.
        sleep(Duration::from_millis(dice.u64(100..1000))).await;
        fleet.kill_one(&mut dice).await;
        kills += 1;
    }
    for load in loads {
        load.stop().await;
    }
    fleet.settle().await;
    let clients = tokens.each_ref().map(|token| fleet.clients(token).swap_remove(0));
    let clients: Vec<_> = DEALERS.into_iter().zip(clients).collect();
    let logs = all_logs(&clients).await;
    for (_, client) in &clients {
        client.post("/v4/car", &plain_car(LAST, "LAST01")).await.expect(201);
    }
    let (all, own) = (of_group.expect_all(&logs).await, of_dealer.expect_all(&logs).await);
    let entries: usize = logs.values().map(Vec::len).sum();
    println!("{kills} processes killed: {} ads, {} events, each seen once", logs.len(), all.len());
    assert!(entries > 100 && kills > 0, "the load did something");
    // A group has the events of each dealer in their order.
    let own_ids: HashSet<_> = own.iter().collect();
    let of_group: Vec<_> = all.iter().filter(|id| own_ids.contains(id)).collect();
    assert!(of_group.into_iter().eq(&own), "the events of a dealer have one order");
}

#[tokio::test]
async fn readers_see_every_event_once_while_processes_are_killed() {
    readers_see_every_event_once("sqlite://data/ads.db").await;
}

#[tokio::test]
async fn readers_see_every_event_once_while_processes_are_killed_in_postgresql() {
    // A server of its own: transactions of other tests would hold back events.
    let Some(postgres) = Postgres::start(&[]).await else { return };
    readers_see_every_event_once(&postgres.database().await).await;
}
