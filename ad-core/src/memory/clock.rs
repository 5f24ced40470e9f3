//! A clock that tests move, and ids that are counted.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

use uuid::{Builder, Uuid};

use crate::{
    model::Timestamp,
    ports::{Clock, Ids},
};

/// 2026-01-15T10:00:00Z, the morning of the contract's sample log.
const START: i64 = 1_768_471_200_000;

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows this time.
    pub const fn at(time: Timestamp) -> Self {
        Self(AtomicI64::new(time.as_millis()))
    }

    /// Moves it to this time.
    pub fn set(&self, time: Timestamp) {
        self.0.store(time.as_millis(), Ordering::SeqCst);
    }

    /// Moves the time ahead by a duration.
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }
}

impl Default for ManualClock {
    /// A clock that shows 2026-01-15T10:00:00Z.
    fn default() -> Self {
        Self::at(Timestamp::from_millis(START))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Ids that count up from 1. They are unique only within one run of a program: one that stores ads permanently needs other ids.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn next(&self) -> Uuid {
        let number = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        Builder::from_u128(u128::from(number)).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_still_until_it_is_moved() {
        let clock = ManualClock::default();
        assert_eq!(clock.now().to_string(), "2026-01-15T10:00:00.000Z");
        clock.advance(Duration::from_millis(1500));
        assert_eq!(clock.now().to_string(), "2026-01-15T10:00:01.500Z");
    }

    #[test]
    fn ids_given_later_sort_later() {
        let ids = CountingIds::default();
        let given: Vec<Uuid> = (0..300).map(|_| ids.next()).collect();
        assert!(given.is_sorted_by(|earlier, later| earlier < later));
    }
}
