//! Another dealer, who goes on working while the service is under attack: creates ads and reads them back, and measures how
//! long each answer takes.

use std::{
    fmt,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::json;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{Client, PATIENCE};

const PAUSE: Duration = Duration::from_millis(5);

/// A dealer at work; see [`Seen`] for the result.
#[derive(Debug)]
pub struct Bystander {
    stop: watch::Sender<bool>,
    work: JoinHandle<Seen>,
}

/// Latencies and failures of a client beside an attack.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// How long each accepted POST took.
    pub posts: Latencies,
    /// How long each successful GET took.
    pub gets: Latencies,
    /// Whatever else was answered, or happened instead of an answer.
    pub failures: Vec<String>,
}

/// Times of many requests of one kind.
#[derive(Debug, Clone, Default)]
pub struct Latencies(Vec<Duration>);

impl Bystander {
    /// Starts working with the token and from the address of a client, which should be those of a dealer who does not attack. `name` begins
    /// the source ids of the ads and differs between the bystanders of one server.
    pub fn start(client: &Client, name: &str) -> Self {
        let client = client.anew();
        let (stop, stopped) = watch::channel(false);
        Self { stop, work: tokio::spawn(work(client, name.to_owned(), stopped)) }
    }

    pub async fn work_for(client: &Client, name: &str, time: Duration) -> Seen {
        let bystander = Self::start(client, name);
        sleep(time).await;
        bystander.stop().await
    }

    /// Ends after the request under way, and returns what was seen.
    ///
    /// # Panics
    /// When the task panicked.
    pub async fn stop(self) -> Seen {
        self.stop.send_replace(true);
        self.work.await.expect("the bystander does not panic")
    }
}

async fn work(client: Client, name: String, stopped: watch::Receiver<bool>) -> Seen {
    let mut seen = Seen::default();
    for number in 0.. {
        if *stopped.borrow() {
            break;
        }
        let source_id = format!("{name}-{number}");
        let car = json!({
            "source_id": source_id,
            "category_id": 1020,
            "body": "One owner, serviced at the dealer's, two sets of wheels.",
            "category_fields": {"vin": format!("BYSTANDER{number:08}"), "model_year": 2020},
        });
        let body = car.to_string().into_bytes();
        let path = format!("/v4/car/{source_id}");
        for (method, path, body, expected) in
            [(Method::POST, "/v4/car", Some(body), 201), (Method::GET, path.as_str(), None, 200)]
        {
            let begun = Instant::now();
            let answer = timeout(PATIENCE, client.try_send(method.clone(), path, body)).await;
            let took = begun.elapsed();
            match answer {
                Ok(Ok(answer)) if answer.status.as_u16() == expected => {
                    if method == Method::POST { &mut seen.posts } else { &mut seen.gets }.0.push(took);
                }
                Ok(Ok(answer)) => {
                    let text = String::from_utf8_lossy(&answer.bytes);
                    seen.failures.push(format!("{method} after {took:?}: {} {text}", answer.status));
                }
                Ok(Err(error)) => seen.failures.push(format!("{method} after {took:?}: {error:?}")),
                Err(_) => seen.failures.push(format!("{method}: no answer within {PATIENCE:?}")),
            }
            sleep(PAUSE).await;
        }
    }
    seen
}

impl Latencies {
    /// The time within which this part of them (0 to 1) was answered; zero when there are none.
    pub fn quantile(&self, part: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let place = (sorted.len() as f64 * part) as usize;
        sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// 99 of 100 were answered within this time.
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// What they would have been for a client that sends at this pace whether answers have come or not. Such a client has
    /// sent further requests while it waits for a slow answer, and each of them is late too; a client that waits has not, so that
    /// one long stall would count as one slow request (coordinated omission).
    #[must_use]
    pub fn at_pace(&self, pace: Duration) -> Self {
        let late = |took: Duration| {
            std::iter::successors(Some(took), move |took| took.checked_sub(pace).filter(|took| *took > pace))
        };
        Self(self.0.iter().copied().flat_map(late).collect())
    }

    pub fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, times) in [("POST", &self.posts), ("GET", &self.gets)] {
            let [half, most, worst] = [0.5, 0.99, 1.0].map(|part| times.quantile(part));
            write!(formatter, "{name} {} × p50 {half:.1?} p99 {most:.1?} max {worst:.1?}; ", times.count())?;
        }
        write!(formatter, "{} failures", self.failures.len())?;
        self.failures.first().map_or(Ok(()), |first| write!(formatter, ", the first: {first}"))
    }
}
