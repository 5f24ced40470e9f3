//! How often, and when, failed actions are retried.

use std::time::Duration;

use crate::model::Timestamp;

/// How often and for how long a failed action is retried (decision 27).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RetryPolicy {
    /// Maximum number of attempts, the first one included.
    pub tries: u32,
    /// Time from the first attempt in which all attempts are made.
    pub within: Duration,
    /// Pause after the first attempt; each further pause is twice as long.
    pub first_pause: Duration,
}

impl RetryPolicy {
    /// A policy whose pauses take about half of `within`.
    #[must_use]
    pub fn for_window(tries: u32, within: Duration) -> Self {
        let first_pause = within / 1_u32.checked_shl(tries).unwrap_or(u32::MAX);
        Self { tries, within, first_pause }
    }

    /// When to retry after attempt number `tries`, the first of which was at `first`; `None` when there is no further attempt.
    /// `jitter` (0 to 255) varies pauses, so that actions that failed together are not retried together.
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

    /// When to continue after a pause without an attempt; `None` when the time is over. `jitter` (0 to 255) adds up to a quarter
    /// of the pause.
    pub fn after(&self, pause: Duration, first: Timestamp, now: Timestamp, spread: u8) -> Option<Timestamp> {
        let next = now + pause.saturating_add((pause / 1024).saturating_mul(u32::from(spread)));
        (next - first <= self.within).then_some(next)
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
