//! The system clock and random ids behind the ports of [`ad_core::ports`]: the only place that uses them. Also the library that does the
//! cryptography of TLS.

use std::{
    sync::{Arc, Mutex},
    time::SystemTime,
};

use ad_core::{
    model::Timestamp,
    ports::{Clock, Ids},
};
use rustls::crypto::{CryptoProvider, ring};
use uuid::{ContextV7, Uuid};

/// Makes rustls use ring, unless this process has given it something else before. Needed before an HTTP client is built.
pub fn use_ring() {
    if CryptoProvider::get_default().is_none() {
        let _other_thread_was_faster = ring::default_provider().install_default();
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::default() + since_1970
    }
}

/// Ids of UUID version 7: the time, a counter within the millisecond, and random bits. What one of these gives sorts in
/// the order in which it was given, even when the clock is set back.
pub struct RandomIds {
    clock: Arc<dyn Clock>,
    counter: Mutex<ContextV7>,
}

impl RandomIds {
    /// Ids with the time of this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, counter: Mutex::new(ContextV7::new()) }
    }
}

crate::debug_by_name!(RandomIds);

impl Ids for RandomIds {
    fn next(&self) -> Uuid {
        let now = self.clock.now() - Timestamp::default();
        let now = uuid::Timestamp::from_unix(&self.counter, now.as_secs(), now.subsec_nanos());
        Uuid::new_v7(now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    struct Hand(AtomicI64);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn the_clock_runs_in_this_century() {
        let now = SystemClock.now().to_string();
        assert!(now.starts_with("20"), "{now}");
    }

    #[test]
    fn ids_sort_as_they_were_given_even_when_the_clock_goes_back() {
        let clock = Arc::new(Hand(AtomicI64::new(1_768_471_200_000)));
        let ids = RandomIds::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let mut given: Vec<Uuid> = (0..10_000).map(|_| ids.next()).collect();
        clock.0.fetch_add(5, Ordering::Relaxed);
        given.extend((0..10_000).map(|_| ids.next()));
        clock.0.fetch_sub(60_000, Ordering::Relaxed);
        given.extend((0..10_000).map(|_| ids.next()));
        assert!(given.is_sorted());
        given.dedup();
        assert_eq!(given.len(), 30_000);
        assert!(given.iter().all(|id| id.get_version_num() == 7));
    }
}
