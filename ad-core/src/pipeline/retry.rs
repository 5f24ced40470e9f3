//! When to try again what failed for a passing reason.

use std::time::Duration;

use super::{Ended, Run};
use crate::{ports::ImageStoreError, time::Timestamp};

/// No attempt takes this long: everything outside is given up sooner.
const LONGEST_TRY: Duration = Duration::from_mins(30);

/// How often and for how long something is tried again (decision 27).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RetryPolicy {
    /// Most attempts.
    pub tries: u32,
    /// All of them within this time.
    pub within: Duration,
    /// Pause after the first attempt; each further one is twice as long.
    pub first_pause: Duration,
}

impl RetryPolicy {
    /// This many attempts, with pauses that take about half of the time that there is.
    #[must_use]
    pub fn over(tries: u32, within: Duration) -> Self {
        let first_pause = within / 1_u32.checked_shl(tries).unwrap_or(u32::MAX);
        Self { tries, within, first_pause }
    }

    /// When to try again after attempt number `tries`, the first of which was at `first`; `None` when it is enough.
    /// `spread` (0 to 255) shifts pauses apart, so that what failed together does not come back together.
    pub fn next(
        &self,
        tries: u32,
        first: Timestamp,
        now: Timestamp,
        retry_after: Option<Duration>,
        spread: u8,
    ) -> Option<Timestamp> {
        if tries >= self.tries {
            return None;
        }
        let pause = self.first_pause.saturating_mul(1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX));
        let pause = pause.mul_f64(0.75 + f64::from(spread) / 512.0).max(retry_after.unwrap_or_default());
        let next = now + pause;
        (next - first <= self.within).then_some(next)
    }

    /// When to come back after a pause that no attempt was spent on; `None` when the time is up. What waits for the same
    /// moment comes back within a quarter of the pause after it.
    pub fn after(&self, pause: Duration, first: Timestamp, now: Timestamp, spread: u8) -> Option<Timestamp> {
        let next = now + pause.saturating_add((pause / 1024).saturating_mul(u32::from(spread)));
        (next - first <= self.within).then_some(next)
    }
}

/// A failure that is worth trying again.
pub(super) struct Passing {
    /// The pause that it asks for.
    pub(super) pause: Option<Duration>,
    /// Whether anybody was asked, which is what counts as a try.
    pub(super) asked: bool,
    /// What happened, for operators.
    pub(super) reason: String,
}

impl Run<'_> {
    /// Either the action under way waits for what failed for passing reasons, for as long as the most patient of them
    /// asks, or the number of attempts that were made says that it was enough.
    pub(super) fn again(&mut self, policy: RetryPolicy, failures: impl Iterator<Item = Passing>) -> Result<Ended, u32> {
        let both = |one: Passing, other: Passing| Passing {
            pause: one.pause.max(other.pause),
            asked: one.asked || other.asked,
            reason: one.reason,
        };
        let passing = failures.reduce(both);
        self.progress.reason = passing.as_ref().map(|passing| passing.reason.clone());
        match passing {
            Some(Passing { pause, asked: true, .. }) => self.try_again(policy, pause),
            Some(Passing { pause, asked: false, .. }) => self.wait(policy, pause.unwrap_or_default()),
            None => Err(self.progress.tries + 1),
        }
    }

    /// As [`again`](Self::again), for an attempt that failed because of the service's own image store. It waits as long as for a
    /// marketplace, and leaves the attempts that image hosts get untouched.
    pub(super) fn again_for_store(&mut self, error: ImageStoreError) -> Result<Ended, u32> {
        let reason = format!("image store: {error}");
        self.progress.swap_tries();
        let ended = self
            .again(self.pipeline.patience.marketplaces, std::iter::once(Passing { pause: None, asked: true, reason }));
        self.progress.swap_tries();
        ended
    }

    /// Counts a failed attempt at the action under way. Either the action waits for its next attempt, or the number of
    /// attempts that were made says that it was enough.
    fn try_again(&mut self, policy: RetryPolicy, retry_after: Option<Duration>) -> Result<Ended, u32> {
        self.progress.tries += 1;
        let (first, now) = self.times();
        let tries = self.progress.tries;
        policy.next(tries, first, now, retry_after, self.spread()).map(Ended::Waits).ok_or(tries)
    }

    /// Waits without counting an attempt, as long as there is time; else the number of attempts that were made.
    fn wait(&mut self, policy: RetryPolicy, pause: Duration) -> Result<Ended, u32> {
        let (first, now) = self.times();
        policy.after(pause, first, now, self.spread()).map(Ended::Waits).ok_or(self.progress.tries)
    }

    /// When the action under way was first tried, and now. A clock that was set forward meanwhile does not count.
    fn times(&mut self) -> (Timestamp, Timestamp) {
        let now = self.pipeline.clock.now();
        let first = self.progress.first_try.get_or_insert(now);
        let took = now - self.since;
        if took > LONGEST_TRY {
            *first = (*first + took).min(now);
            self.since = now;
        }
        (*first, now)
    }

    fn spread(&self) -> u8 {
        self.claimed.request.id.as_bytes()[15]
    }
}

/// The reason with the number of attempts behind it.
pub(super) fn after_tries(reason: &str, tries: u32) -> String {
    match tries {
        0 | 1 => reason.to_owned(),
        _ => format!("{reason} ({tries} tries)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy =
        RetryPolicy { tries: 4, within: Duration::from_mins(1), first_pause: Duration::from_secs(4) };
    const START: Timestamp = Timestamp::from_millis(1_000_000);

    #[test]
    fn pauses_grow_and_end() {
        let pause = |tries| POLICY.next(tries, START, START, None, 128).map(|next| (next - START).as_secs());
        assert_eq!([1, 2, 3, 4].map(pause), [Some(4), Some(8), Some(16), None]);
    }

    #[test]
    fn the_host_may_ask_for_a_longer_pause_but_not_beyond_the_window() {
        let after = |seconds| POLICY.next(1, START, START, Some(Duration::from_secs(seconds)), 0);
        assert_eq!(after(30), Some(START + Duration::from_secs(30)));
        assert_eq!(after(61), None);
    }
}
