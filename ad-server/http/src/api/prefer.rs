//! `Prefer: wait` (RFC 7240; extensions E3.4).

use std::{future::pending, time::Duration};

use ad_core::service::Access;
use poem::Request;
use tokio::sync::watch;

use super::ApiError;
use ad_server_base::limits::{FairPermit, FairSemaphore, table::WAITING_MEMORY};

/// Requests that wait until they are finished, shared by dealers. They do not count as concurrent requests
/// ([`RequestSlots`](super::RequestSlots)), so they do not block others.
#[derive(Debug, Clone)]
pub struct Waits {
    longest: Duration,
    total: usize,
    places: FairSemaphore,
    memory: FairSemaphore,
    stopped: Option<watch::Receiver<bool>>,
}

#[derive(Debug)]
pub(super) struct Wait {
    /// Longest time that the answer is held back.
    pub(super) longest: Duration,
    memory: FairSemaphore,
    stopped: Option<watch::Receiver<bool>>,
    _place: FairPermit,
}

impl Default for Waits {
    fn default() -> Self {
        Self::new(450, Duration::from_secs(30))
    }
}

impl Waits {
    /// Permits this number of requests, each for at most this time.
    pub fn new(total: usize, longest: Duration) -> Self {
        Self {
            longest,
            total,
            places: FairSemaphore::new(total),
            memory: FairSemaphore::new(WAITING_MEMORY),
            stopped: None,
        }
    }

    /// Waits end early when the service is stopped.
    #[must_use]
    pub fn until(self, stopped: watch::Receiver<bool>) -> Self {
        Self { stopped: Some(stopped), ..self }
    }

    /// For how long a request waits at most.
    pub(super) fn longest(&self) -> Duration {
        self.longest
    }

    /// The wait that a request prefers, if it prefers one.
    pub(super) fn preferred(&self, request: &Request, access: &Access) -> Result<Option<Wait>, ApiError> {
        let lines = request.headers().get_all("prefer").iter().filter_map(|line| line.to_str().ok());
        let Some(preferred) = preferred(lines) else { return Ok(None) };
        let place = self.places.try_take(access.name(), 1).ok_or(ApiError::TooManyWaiting(self.total))?;
        let (memory, stopped) = (self.memory.clone(), self.stopped.clone());
        Ok(Some(Wait { longest: preferred.min(self.longest), memory, stopped, _place: place }))
    }
}

impl Wait {
    /// Returns when the service is stopped.
    pub(super) async fn stopped(&self) {
        until_stopped(self.stopped.clone()).await;
    }

    /// Memory for an ad while its request waits; `None` if there is none for the dealer now.
    pub(super) fn memory(&self, access: &Access, bytes: usize) -> Option<FairPermit> {
        self.memory.try_take(access.name(), bytes)
    }
}

/// Returns when the service is stopped; never if that is not known.
pub(super) async fn until_stopped(stopped: Option<watch::Receiver<bool>>) {
    match stopped {
        // An error means that the sender is gone.
        Some(mut stopped) => drop(stopped.wait_for(|stopped| *stopped).await),
        None => pending().await,
    }
}

/// The time of the preference `wait`. Only the first one counts, and a malformed one is ignored.
fn preferred<'h>(lines: impl Iterator<Item = &'h str>) -> Option<Duration> {
    let preferences = lines.flat_map(|line| outside_quotes(line, ','));
    let mut named = preferences.map(|preference| {
        let preference = outside_quotes(preference, ';').next().unwrap_or_default();
        preference.split_once('=').unwrap_or((preference, ""))
    });
    let (_, value) = named.find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"))?;
    let value = value.trim();
    let digits = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number that does not fit is longer than any limit.
    is_number.then(|| digits.parse().map_or(Duration::MAX, Duration::from_secs))
}

/// The parts of a text between separators that are not within quotes.
fn outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |character| {
        let was_escaped = is_escaped;
        is_escaped = is_quoted && !was_escaped && character == '\\';
        is_quoted ^= character == '"' && !was_escaped;
        !is_quoted && character == separator
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_counts_and_malformed_ones_are_ignored() {
        let seconds = |lines: &[&str]| preferred(lines.iter().copied()).map(|wait| wait.as_secs());
        for (lines, expected) in [
            (&["wait=10"][..], 10),
            (&["respond-async, WAIT = 5 ; strict, handling=lenient"], 5),
            (&["wait=\"7\""], 7),
            (&["return=minimal", "wait=3, wait=9"], 3),
            (&["note=\"a, wait=1; \\\", wait=2\", wait=4"], 4),
            (&["wait=0"], 0),
        ] {
            assert_eq!(seconds(lines), Some(expected), "{lines:?}");
        }
        assert_eq!(preferred(["wait=99999999999999999999"].into_iter()), Some(Duration::MAX));
        for line in
            ["", "wait", "wait=", "wait=-1", "wait=1.5", "wait=soon", "wait=soon, wait=5", "waiting=5", "a=\"wait=5\""]
        {
            assert_eq!(seconds(&[line]), None, "{line}");
        }
    }
}
