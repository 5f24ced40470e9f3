//! Reads the state of many ads at a time, and the outcomes of accepted requests.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use ad_client::{Ad, AdFilter, AdQuery, Client, Error, Included, LogQuery, Outcome, Target};
use ad_core::model::{AdState, AdStatus, LogEntry, MAX_LIMIT, Page, StatusReport, Timestamp};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Identity;

/// Maximum number of ads in one request, and of bytes of their source ids, which are part of its URL.
pub(super) const MOST_ADS: usize = 150;
const MOST_TEXT: usize = 6000;

/// The first pause of a wait for one request: most are done within a second.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The first pause of a wait for many requests.
pub const FIRST_PAUSE_OF_MANY: Duration = Duration::from_millis(250);

const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// Defines the outcomes, each with its name.
macro_rules! outcomes {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)+) => {
        /// The outcome of an ad in bulk work. Journals contain the names and programs read them, so they are stable.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum AdOutcome {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl AdOutcome {
            /// Every outcome, at the place of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name, as it serialises.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}
outcomes! {
    /// See [`Outcome::Published`].
    Published => "published",
    /// See [`Outcome::Hidden`].
    Hidden => "hidden",
    /// See [`Outcome::Deleted`].
    Deleted => "deleted",
    /// See [`Outcome::Bumped`].
    Bumped => "bumped",
    /// See [`Outcome::Boosted`].
    Boosted => "boosted",
    /// See [`Outcome::Failed`].
    Failed => "failed",
    /// The request was rejected, here or by the service.
    Rejected => "rejected",
    /// Accepted by the service; the outcome is not waited for.
    Accepted => "accepted",
    /// Accepted by the service, and not finished when the wait ended.
    UnderWay => "under_way",
    /// Sent, but the answer was lost.
    Unclear => "unclear",
    /// Not sent in this run.
    #[default]
    NotSent => "not_sent",
    /// Unchanged, because others changed the ad after the change had been decided.
    Conflict => "conflict",
}

impl AdOutcome {
    /// Whether the service has executed or at least accepted the request.
    pub const fn is_good(self) -> bool {
        !matches!(self, Self::Failed | Self::Rejected | Self::UnderWay | Self::Unclear | Self::NotSent | Self::Conflict)
    }
}

impl From<&Outcome> for AdOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Published { .. } => Self::Published,
            Outcome::Hidden => Self::Hidden,
            Outcome::Deleted => Self::Deleted,
            Outcome::Bumped => Self::Bumped,
            Outcome::Boosted => Self::Boosted,
            Outcome::Failed { .. } => Self::Failed,
            // One that only a later version of the client knows.
            _ => Self::Accepted,
        }
    }
}

/// How an ad is at the service.
#[derive(Debug, Deserialize)]
pub struct Status {
    source_id: String,
    dealer_code: String,
    /// `Created`, also of a hidden ad, or `Deleted`.
    pub state: AdState,
    /// Time of the last change, by the clock of the service.
    pub updated: Timestamp,
    /// Its id on the primary marketplace.
    pub marketplace_ad_id: Option<String>,
    /// Its id on the secondary marketplace.
    pub offer_id: Option<String>,
    /// Its latest entries, where they were asked for.
    #[serde(default)]
    pub log: Vec<LogEntry>,
}

impl Status {
    /// The outcome of a request; `None` while it is under way.
    pub fn outcome(&self, request_id: Uuid) -> Option<Outcome> {
        Outcome::of(self.log.iter().filter(|entry| entry.request_id == request_id))
    }
}

const FIELDS: [&str; 6] = ["source_id", "dealer_code", "state", "updated", "marketplace_ad_id", "offer_id"];

/// Whether a request asks for the log too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Include {
    /// The ad without its log.
    Ad,
    /// With its latest log entries.
    Log,
}

/// The states of some ads; those that do not exist are missing.
#[derive(Debug, Default)]
pub struct Statuses(HashMap<String, Vec<Status>>);

impl Statuses {
    /// Asks for these ads.
    ///
    /// # Errors
    /// When the service refuses the request or cannot be reached.
    pub async fn of(
        client: &Client,
        ads: impl IntoIterator<Item = &Identity>,
        include: Include,
    ) -> Result<Self, Error> {
        let mut found = Self::default();
        for ids in questions(ads.into_iter().map(|ad| ad.source_id.as_str())) {
            let query = AdQuery {
                fields: Some(FIELDS.to_vec()),
                included: Included { log: include == Include::Log, ..Included::default() },
                ..AdQuery::oldest_first([AdFilter::SourceId(ids)])
            };
            let mut statuses = client.v4().all_as::<Status>(&query);
            while let Some(status) = statuses.try_next().await? {
                found.0.entry(status.source_id.clone()).or_default().push(status);
            }
        }
        Ok(found)
    }

    /// The ad; where it names no dealer, that of the one dealer whose token asked.
    pub fn get(&self, ad: &Identity) -> Option<&Status> {
        let mut statuses = self.0.get(&ad.source_id)?.iter();
        statuses.find(|status| ad.dealer_code.as_ref().is_none_or(|code| *code == status.dealer_code))
    }
}

/// The source ids of each request. In a request ids are separated by commas, so an id that contains one has a request of its own.
fn questions<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<Vec<String>> {
    let (mut questions, mut list, mut length) = (Vec::new(), Vec::new(), 0);
    for id in ids {
        if id.contains(',') {
            questions.push(vec![id.to_owned()]);
            continue;
        }
        if list.len() == MOST_ADS || (!list.is_empty() && length + id.len() > MOST_TEXT) {
            questions.push(std::mem::take(&mut list));
            length = 0;
        }
        length += id.len() + 1;
        list.push(id.to_owned());
    }
    if !list.is_empty() {
        questions.push(list);
    }
    questions
}

/// Pauses between polls, which grow while nothing happens.
#[derive(Debug)]
pub struct Pauses {
    first: Duration,
    next: Duration,
}

impl Pauses {
    /// Pauses of which the first is this long.
    pub fn from(first: Duration) -> Self {
        Self { first, next: first }
    }

    /// Begins again, after something has happened.
    pub fn reset(&mut self) {
        self.next = self.first;
    }

    /// The next pause, half as long again as the one before, up to 3 s.
    #[expect(clippy::should_implement_trait, reason = "pauses do not end")]
    pub fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 3 / 2).min(LONGEST_PAUSE);
        pause
    }
}

/// How the wait for a request ended.
#[derive(Debug)]
pub enum Waited {
    /// The request is finished, successfully or not.
    Finished(Outcome),
    /// It was unfinished when the time was over; the last entry of the log.
    UnderWay(Option<Box<LogEntry>>),
}

impl Waited {
    /// The outcome in bulk work.
    pub fn outcome(&self) -> AdOutcome {
        match self {
            Self::Finished(outcome) => outcome.into(),
            Self::UnderWay(_) => AdOutcome::UnderWay,
        }
    }

    /// What there is to say about it.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Finished(Outcome::Hidden) => Some("hidden: visible is false".to_owned()),
            Self::Finished(outcome) => outcome.message(),
            Self::UnderWay(entry) => {
                entry.as_ref().map(|entry| format!("{} has been {} since {}", entry.action, entry.state, entry.created))
            }
        }
    }
}

/// Time after which a waiting user is told why a request is unfinished.
const FIRST_REASON: Duration = Duration::from_secs(1);

/// Waits until a request is finished, or for so long. While it waits for something outside of the service, `waits` gets the status of the
/// ad, which has the reason and the time of the next attempt.
///
/// # Errors
/// When the service refuses the request or cannot be reached.
pub async fn wait_for_request(
    client: &Client,
    target: Target<'_>,
    request: Uuid,
    within: Duration,
    waits: impl FnMut(&StatusReport),
) -> Result<Waited, Error> {
    let query =
        LogQuery { request_id: Some(request), page: Page { limit: MAX_LIMIT, offset: 0 }, ..LogQuery::default() };
    let waited = until(client, target, within, waits, async || {
        let entries = client.v4().log(target, &query).await?.body.results;
        Ok((Outcome::of(&entries), entries.into_iter().next_back(), ()))
    });
    Ok(waited.await?.0)
}

/// Waits until all requests of an ad are finished, or for so long; returns the ad as it is then. `waits` is as in
/// [`wait_for_request`].
///
/// # Errors
/// When the service refuses the request or cannot be reached.
pub async fn wait_for_ad(
    client: &Client,
    target: Target<'_>,
    within: Duration,
    waits: impl FnMut(&StatusReport),
) -> Result<(Waited, Ad), Error> {
    until(client, target, within, waits, async || {
        // An accepted request has no log entries until a worker begins it. Asked first, so that the log has those of all finished ones.
        let is_finished = client.v4().status(target).await?.body.unfinished.is_empty();
        let ad = client.v4().read(target).await?.body;
        let log = ad.log.as_deref().unwrap_or_default();
        let latest = log.last().cloned();
        let of_latest = |last: &LogEntry| Outcome::of(log.iter().filter(|entry| entry.request_id == last.request_id));
        let outcome = latest.as_ref().filter(|_| is_finished).and_then(of_latest);
        Ok((outcome, latest, ad))
    })
    .await
}

/// Polls until there is an outcome or the time is over; returns the last state.
async fn until<T>(
    client: &Client,
    target: Target<'_>,
    within: Duration,
    mut waits: impl FnMut(&StatusReport),
    mut look: impl AsyncFnMut() -> Result<(Option<Outcome>, Option<LogEntry>, T), Error>,
) -> Result<(Waited, T), Error> {
    let began = Instant::now();
    let mut pauses = Pauses::from(FIRST_PAUSE);
    loop {
        let (outcome, latest, seen) = look().await?;
        if let Some(outcome) = outcome {
            return Ok((Waited::Finished(outcome), seen));
        }
        let elapsed = began.elapsed();
        if elapsed >= FIRST_REASON.min(within) {
            let status = client.v4().status(target).await?.body;
            if status.status == AdStatus::Waiting {
                waits(&status);
            }
        }
        let left = within.saturating_sub(elapsed);
        if left.is_zero() {
            return Ok((Waited::UnderWay(latest.map(Box::new)), seen));
        }
        tokio::time::sleep(pauses.next().min(left)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_few_and_not_too_long() {
        assert_eq!(questions(["a", "b,c", "d"].into_iter()), [vec!["b,c"], vec!["a", "d"]]);
        let ids: Vec<_> = (0..350).map(|index| format!("ad-{index}")).collect();
        let sizes: Vec<_> = questions(ids.iter().map(String::as_str)).iter().map(Vec::len).collect();
        assert_eq!(sizes, [150, 150, 50]);
        let long = "x".repeat(4000);
        assert_eq!(questions([long.as_str(), &long].into_iter()).len(), 2);
        assert!(questions(std::iter::empty()).is_empty());
    }
}
