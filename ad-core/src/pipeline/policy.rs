//! How often, and when, something is tried again.

use std::time::Duration;

use crate::model::Timestamp;

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
