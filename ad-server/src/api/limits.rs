//! What a client may take of the service: time for a body, and requests per token (decision 30).

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use governor::{
    NotUntil, Quota, RateLimiter,
    clock::{Clock, MonotonicClock},
    middleware::NoOpMiddleware,
    state::keyed::HashMapStateStore,
};

use crate::config::Rate;

/// After so many requests, tokens that have had their rest are forgotten.
const SWEEP: u32 = 4096;

/// What clients may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time in which the body of a request must have come.
    pub body_within: Duration,
    /// How many requests a token may make; `None`: any number.
    pub rate: Option<TokenRate>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_within: Duration::from_secs(30), rate: None }
    }
}

type Limiter<C> = RateLimiter<String, HashMapStateStore<String>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// Counts the requests of each token, in this process.
#[derive(Debug)]
pub struct TokenRate<C: Clock = MonotonicClock> {
    limiter: Arc<Limiter<C>>,
    clock: C,
    since_sweep: Arc<AtomicU32>,
}

impl<C: Clock + Clone> Clone for TokenRate<C> {
    fn clone(&self) -> Self {
        let (limiter, since_sweep) = (Arc::clone(&self.limiter), Arc::clone(&self.since_sweep));
        Self { limiter, clock: self.clock.clone(), since_sweep }
    }
}

impl TokenRate {
    /// Every token may make this many.
    pub fn new(rate: Rate) -> Self {
        Self::with_clock(rate, MonotonicClock)
    }
}

impl<C: Clock + Clone> TokenRate<C> {
    fn with_clock(rate: Rate, clock: C) -> Self {
        let every = (rate.per / rate.requests.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(every).unwrap_or(Quota::per_second(NonZeroU32::MAX)).allow_burst(rate.burst);
        let limiter = Arc::new(RateLimiter::hashmap_with_clock(quota, clock.clone()));
        Self { limiter, clock, since_sweep: Arc::default() }
    }

    /// Counts a request of a token; when it is one too many, says in how many whole seconds it may be made.
    pub(super) fn take(&self, jti: &String) -> Result<(), u64> {
        if self.since_sweep.fetch_add(1, Ordering::Relaxed) >= SWEEP {
            self.since_sweep.store(0, Ordering::Relaxed);
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        self.limiter.check_key(jti).map_err(|refused| self.seconds(&refused))
    }

    fn seconds(&self, refused: &NotUntil<C::Instant>) -> u64 {
        let wait = refused.wait_time_from(self.clock.now());
        (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn rate(text: &str) -> (TokenRate<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (TokenRate::with_clock(text.parse().unwrap(), clock.clone()), clock)
    }

    fn take(rate: &TokenRate<FakeRelativeClock>, token: &str) -> Result<(), u64> {
        rate.take(&token.to_owned())
    }

    #[test]
    fn a_token_that_asks_too_often_waits_and_others_do_not() {
        let (rate, clock) = rate("30/m burst 2");
        assert_eq!([take(&rate, "a"), take(&rate, "a"), take(&rate, "a")], [Ok(()), Ok(()), Err(2)]);
        assert_eq!(take(&rate, "b"), Ok(()));
        clock.advance(Duration::from_millis(1100));
        assert_eq!(take(&rate, "a"), Err(1));
        clock.advance(Duration::from_millis(900));
        assert_eq!([take(&rate, "a"), take(&rate, "a")], [Ok(()), Err(2)]);
    }

    #[test]
    fn tokens_that_have_had_their_rest_are_forgotten() {
        let (rate, clock) = rate("10/s");
        for token in 0..SWEEP {
            assert_eq!(rate.take(&token.to_string()), Ok(()));
        }
        assert_eq!(rate.limiter.len(), SWEEP as usize);
        clock.advance(Duration::from_secs(2));
        assert_eq!(take(&rate, "new"), Ok(()));
        assert_eq!(rate.limiter.len(), 1);
    }
}
