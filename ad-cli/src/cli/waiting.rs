//! Waiting for what becomes of an ad.

use std::time::{Duration, Instant};

use ad_core::model::{LATEST_ENTRIES, LogEntry};
use serde_json::Value;
use uuid::Uuid;

use super::Failure;
use crate::{Ad, Client, LogQuery, Outcome, Target};

/// Pauses between two looks: short at first, since most is done within a second.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How a wait ended.
#[derive(Debug)]
pub enum Waited {
    /// It came to this.
    Came(Outcome),
    /// It was still under way when the time was up; the last entry of the log.
    NotYet(Option<Box<LogEntry>>),
}

/// For how long to wait: `90`, `90s`, `10m`, `1h`.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => 0,
    };
    match digits.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds)) {
        Some(total) if seconds > 0 && total > 0 => Ok(Duration::from_secs(total)),
        _ => Err("expected a duration such as 90s, 10m or 1h"),
    }
}

/// Waits until a request is finished, or the time is up.
pub async fn for_request(
    client: &Client,
    target: (&str, Option<&str>),
    request: Uuid,
    within: Duration,
) -> Result<Waited, Failure> {
    let (source_id, dealer_code) = target;
    let mut query = LogQuery::new().with("request_id", request).with("limit", LATEST_ENTRIES);
    if let Some(code) = dealer_code {
        query = query.with("dealer_code", code);
    }
    until(within, async || {
        let entries = client.v4().log(source_id, &query).await?.body.results;
        Ok((Outcome::of(&entries), entries.into_iter().next_back()))
    })
    .await
}

/// Waits until the latest request of an ad is finished, or the time is up; returns the ad as it is then.
pub async fn for_ad(client: &Client, target: Target<'_>, within: Duration) -> Result<(Waited, Ad), Failure> {
    let mut last = None;
    let waited = until(within, async || {
        let ad = client.v4().read(target).await?.body;
        let log = ad.log.as_deref().unwrap_or_default();
        let latest = log.last();
        let came = latest.and_then(|last| Outcome::of(log.iter().filter(|entry| entry.request_id == last.request_id)));
        let latest = latest.cloned();
        last = Some(ad);
        Ok((came, latest))
    })
    .await?;
    // It was looked at least once.
    let ad = last.ok_or_else(|| Failure::failed("the ad was not read"))?;
    Ok((waited, ad))
}

async fn until(
    within: Duration,
    mut look: impl AsyncFnMut() -> Result<(Option<Outcome>, Option<LogEntry>), Failure>,
) -> Result<Waited, Failure> {
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let (came, latest) = look().await?;
        if let Some(outcome) = came {
            return Ok(Waited::Came(outcome));
        }
        let left = within.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Waited::NotYet(latest.map(Box::new)));
        }
        tokio::time::sleep(pause.min(left)).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

impl Waited {
    /// Its name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Came(outcome) => outcome.name(),
            Self::NotYet(_) => "under_way",
        }
    }

    /// What there is to say about it.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Came(Outcome::Failed { action, message }) => Some(format!("{action}: {message}")),
            Self::Came(Outcome::Published { warning, .. }) => warning.clone(),
            Self::Came(Outcome::Hidden) => Some("hidden: visible is false".to_owned()),
            Self::Came(_) | Self::NotYet(None) => None,
            Self::NotYet(Some(entry)) => {
                Some(format!("{} has been {} since {}", entry.action, entry.state, entry.created))
            }
        }
    }

    /// Whether it came to an end that is no failure.
    pub fn is_good(&self) -> bool {
        !matches!(self, Self::NotYet(_) | Self::Came(Outcome::Failed { .. }))
    }

    /// As members of a row.
    pub fn put_into(&self, row: &mut serde_json::Map<String, Value>) {
        row.insert("outcome".to_owned(), self.name().into());
        row.insert("message".to_owned(), self.message().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("10m", 600), ("1h", 3600), ("2d", 172_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "m", "0", "1w", "-1s", "99999999999999999999h", "å"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
