//! When to try again what failed for a passing reason.

use std::time::Duration;

use super::{Ended, Run, policy::RetryPolicy};
use crate::{model::Timestamp, ports::ImageStoreError};

/// No attempt takes this long: everything outside is given up sooner.
const LONGEST_TRY: Duration = Duration::from_mins(30);

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
