//! How slow the other side of a connection may be.

use std::time::Duration;

use tokio::time::Instant;

/// Watches that bytes pass at a minimum rate. A deadline that each byte resets would let somebody take hours. Here waiting uses up a
/// credit of time, and the bytes that pass restore it.
#[derive(Debug)]
pub struct MinimumRate {
    bytes_per_second: u32,
    /// Time for which the other side may still be waited for.
    credit: Duration,
    most: Duration,
    waiting_since: Option<Instant>,
}

impl MinimumRate {
    /// The other side may fall behind by this much time. Bytes that came early count for `most` at most.
    pub fn new(bytes_per_second: usize, behind: Duration, most: Duration) -> Self {
        let bytes_per_second = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
        Self { bytes_per_second, credit: behind, most: most.max(behind), waiting_since: None }
    }

    /// The other side has to send or to take something before this side can go on. Returns when it is too slow.
    pub fn wait(&mut self) -> Instant {
        *self.waiting_since.get_or_insert_with(Instant::now) + self.credit
    }

    /// This many bytes have passed.
    pub fn passed(&mut self, bytes: usize) {
        // Without waiting, there is nothing to gain.
        if self.waiting_since.is_none() && self.credit == self.most {
            return;
        }
        let waited = self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let gained = Duration::from_secs(1) * bytes / self.bytes_per_second;
        self.credit = (self.credit.saturating_sub(waited) + gained).min(self.most);
    }

    /// When the other side is too slow; `None` while nothing waits for it.
    pub fn deadline(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + self.credit)
    }
}
