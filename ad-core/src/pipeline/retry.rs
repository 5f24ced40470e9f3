//! Retries of actions that failed with transient errors.

use std::time::Duration;

use super::{ActionEnd, RequestRun, policy::RetryPolicy};
use crate::{
    model::{Timestamp, WaitingFor},
    ports::ImageStoreError,
    violation::Code,
};

/// An attempt never takes this long, because all calls have shorter timeouts.
const LONGEST_TRY: Duration = Duration::from_mins(30);

pub(super) struct TransientFailure {
    pub(super) pause: Option<Duration>,
    /// Whether a call was made, and so counts as an attempt.
    pub(super) asked: bool,
    /// What failed, and is waited for.
    pub(super) of: WaitingFor,
    pub(super) code: Code,
    /// What happened, in a sentence for operators.
    pub(super) reason: String,
    /// Whether an operator has paused what was to be called: then nothing is given up.
    pub(super) paused: bool,
}

impl RequestRun<'_> {
    /// Waits for a retry after transient failures, for the longest requested pause; or returns the number of attempts when there
    /// is no further one.
    pub(super) fn wait_for_retry(
        &mut self,
        policy: RetryPolicy,
        failures: impl Iterator<Item = TransientFailure>,
    ) -> Result<ActionEnd, u32> {
        let both = |one: TransientFailure, other: TransientFailure| TransientFailure {
            pause: one.pause.max(other.pause),
            asked: one.asked || other.asked,
            of: one.of,
            code: one.code,
            reason: one.reason,
            paused: one.paused || other.paused,
        };
        let passing = failures.reduce(both);
        self.progress.waiting_for = passing.as_ref().map(|passing| passing.of);
        self.progress.code = passing.as_ref().map(|passing| passing.code);
        self.progress.reason = passing.as_ref().map(|passing| passing.reason.clone());
        if let Some(TransientFailure { pause, asked, paused: true, .. }) = &passing {
            let pause = pause.unwrap_or_default();
            let ended = if *asked { self.schedule_retry(policy, Some(pause)) } else { self.wait(policy, pause) };
            // The time of the pause does not count.
            self.progress.first_try = None;
            let until = self.pipeline.ports.clock.now() + pause;
            return ended.or(Ok(ActionEnd::Waits(until)));
        }
        match passing {
            Some(TransientFailure { pause, asked: true, .. }) => self.schedule_retry(policy, pause),
            Some(TransientFailure { pause, asked: false, .. }) => self.wait(policy, pause.unwrap_or_default()),
            None => Err(self.progress.tries + 1),
        }
    }

    /// As [`wait_for_retry`](Self::wait_for_retry), for an attempt that failed because of the service's own image store. It is
    /// retried as long as a marketplace, and does not count as an attempt at image hosts.
    pub(super) fn wait_for_image_store(&mut self, error: ImageStoreError) -> Result<ActionEnd, u32> {
        let reason = format!("image store: {error}");
        self.progress.swap_tries();
        let code = Code::ImageStoreUnavailable;
        let failure =
            TransientFailure { pause: None, asked: true, of: WaitingFor::ImageStore, code, reason, paused: false };
        let ended = self.wait_for_retry(self.pipeline.settings.marketplaces, std::iter::once(failure));
        self.progress.swap_tries();
        ended
    }

    /// Counts a failed attempt. Waits for the next one, or returns the number of attempts when there is no further one.
    fn schedule_retry(&mut self, policy: RetryPolicy, retry_after: Option<Duration>) -> Result<ActionEnd, u32> {
        self.progress.tries += 1;
        let (first, now) = self.times();
        let tries = self.progress.tries;
        policy.next(tries, first, now, retry_after, self.jitter()).map(ActionEnd::Waits).ok_or(tries)
    }

    /// Waits without counting an attempt; or returns the number of attempts when the time is over.
    fn wait(&mut self, policy: RetryPolicy, pause: Duration) -> Result<ActionEnd, u32> {
        let (first, now) = self.times();
        policy.after(pause, first, now, self.jitter()).map(ActionEnd::Waits).ok_or(self.progress.tries)
    }

    /// The time of the first attempt at the current action, and now. A clock that was set forward meanwhile is compensated.
    fn times(&mut self) -> (Timestamp, Timestamp) {
        let now = self.pipeline.ports.clock.now();
        let first = self.progress.first_try.get_or_insert(now);
        let took = now - self.since;
        if took > LONGEST_TRY {
            *first = (*first + took).min(now);
            self.since = now;
        }
        (*first, now)
    }

    fn jitter(&self) -> u8 {
        self.claimed.request.id.as_bytes()[15]
    }
}

/// The reason, followed by the number of attempts.
pub(super) fn after_tries(reason: &str, tries: u32) -> String {
    match tries {
        0 | 1 => reason.to_owned(),
        _ => format!("{reason} ({tries} tries)"),
    }
}
