//! How often something may be done.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota,
    clock::{Clock, MonotonicClock},
    middleware::{StateInformationMiddleware, StateSnapshot},
    state::keyed::HashMapStateStore,
};
use poem::http::{HeaderMap, HeaderName, HeaderValue, header::RETRY_AFTER};

use crate::values::Rate;

/// Number of requests after which the counts of inactive keys are removed.
const SWEEP: u32 = 4096;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// How many more requests may be made at once, for the headers of the answer. Empty until the token is known to be valid.
pub type Remaining = Arc<OnceLock<u32>>;

type LimiterState<C> = governor::RateLimiter<String, HashMapStateStore<String>, C, StateInformationMiddleware>;

/// Counts the requests of each key, such as a dealer with all its tokens, in this process.
#[derive(Debug, Clone)]
pub struct RateLimiter<C: Clock = MonotonicClock> {
    rate: Rate,
    /// Value of the header `RateLimit-Policy`, which never changes.
    policy: HeaderValue,
    counts: Arc<LimiterState<C>>,
    clock: C,
    since_sweep: Arc<AtomicU32>,
}

/// A request was one too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimited {
    pub rate: Rate,
    /// Whole seconds until the next request may be made.
    pub seconds: u64,
}

impl RateLimiter {
    /// Permits this rate to every key.
    pub fn new(rate: Rate) -> Self {
        Self::with_clock(rate, MonotonicClock)
    }
}

impl<C: Clock + Clone> RateLimiter<C> {
    fn with_clock(rate: Rate, clock: C) -> Self {
        let quota = Quota::with_period(every(rate)).unwrap_or(Quota::per_second(NonZeroU32::MAX));
        let counts = governor::RateLimiter::hashmap_with_clock(quota.allow_burst(rate.burst), clock.clone());
        let policy = format!("\"scope\";q={};w={}", rate.burst, seconds(every(rate) * rate.burst.get()).max(1));
        let policy = HeaderValue::try_from(policy).expect("digits and signs");
        Self { rate, policy, counts: Arc::new(counts.with_middleware()), clock, since_sweep: Arc::default() }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Counts a request of a key, and notes how many more may be made.
    ///
    /// # Errors
    /// When it is one too many.
    pub fn take(&self, key: &String, remaining: Option<&Remaining>) -> Result<(), RateLimited> {
        if self.since_sweep.fetch_add(1, Ordering::Relaxed) >= SWEEP {
            self.since_sweep.store(0, Ordering::Relaxed);
            self.counts.retain_recent();
            self.counts.shrink_to_fit();
        }
        let taken = self.counts.check_key(key);
        if let Some(remaining) = remaining {
            remaining.get_or_init(|| taken.as_ref().map_or(0, StateSnapshot::remaining_burst_capacity));
        }
        taken.map(drop).map_err(|refused| {
            let wait = refused.wait_time_from(self.clock.now());
            RateLimited { rate: self.rate, seconds: seconds(wait).max(1) }
        })
    }

    /// Adds the headers of an answer to a valid token (draft-ietf-httpapi-ratelimit-headers).
    pub fn add_headers(&self, remaining: &Remaining, headers: &mut HeaderMap) {
        let Some(left) = remaining.get() else { return };
        let until_all = seconds(every(self.rate) * self.rate.burst.get().saturating_sub(*left));
        // Retry-After must not name an earlier time than the limit does.
        let retry_after = headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        let reset = retry_after.map_or(until_all, |after| until_all.min(after));
        headers.insert(POLICY, self.policy.clone());
        let limit = format!("\"scope\";r={left};t={reset}");
        headers.insert(LIMIT, HeaderValue::try_from(limit).expect("digits and signs"));
    }
}

/// The time after which there may be one more request.
fn every(rate: Rate) -> Duration {
    (rate.per / rate.requests.get()).max(Duration::from_nanos(1))
}

/// Whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn rate(text: &str) -> (RateLimiter<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (RateLimiter::with_clock(text.parse().unwrap(), clock.clone()), clock)
    }

    fn take(rate: &RateLimiter<FakeRelativeClock>, key: &str) -> Result<(), u64> {
        rate.take(&key.to_owned(), None).map_err(|refused| refused.seconds)
    }

    #[test]
    fn a_dealer_that_asks_too_often_waits_and_others_do_not() {
        let (rate, clock) = rate("30/m burst 2");
        assert_eq!([take(&rate, "a"), take(&rate, "a"), take(&rate, "a")], [Ok(()), Ok(()), Err(2)]);
        assert_eq!(take(&rate, "b"), Ok(()));
        clock.advance(Duration::from_millis(1100));
        assert_eq!(take(&rate, "a"), Err(1));
        clock.advance(Duration::from_millis(900));
        assert_eq!([take(&rate, "a"), take(&rate, "a")], [Ok(()), Err(2)]);
    }

    #[test]
    fn an_answer_tells_how_many_requests_are_left() {
        for (text, policy, limits) in [
            ("30/m burst 2", "\"scope\";q=2;w=4", ["\"scope\";r=1;t=2", "\"scope\";r=0;t=4", "\"scope\";r=0;t=4"]),
            ("600/m", "\"scope\";q=600;w=60", ["\"scope\";r=599;t=1", "\"scope\";r=598;t=1", "\"scope\";r=597;t=1"]),
        ] {
            let (rate, _) = rate(text);
            for limit in limits {
                let (remaining, mut headers) = (Remaining::default(), HeaderMap::new());
                rate.add_headers(&remaining, &mut headers);
                assert!(headers.is_empty(), "nobody is known yet");
                let _taken = rate.take(&"a".to_owned(), Some(&remaining));
                rate.add_headers(&remaining, &mut headers);
                assert_eq!(
                    (&headers[POLICY], &headers[LIMIT]),
                    (&HeaderValue::from_static(policy), &HeaderValue::from_static(limit))
                );
            }
        }
    }

    #[test]
    fn retry_after_is_not_earlier_than_the_reset_of_the_limit() {
        let (rate, _) = rate("30/m burst 2");
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("2"));
        let remaining = Remaining::from(OnceLock::from(0));
        rate.add_headers(&remaining, &mut headers);
        assert_eq!(headers[LIMIT], HeaderValue::from_static("\"scope\";r=0;t=2"));
    }

    #[test]
    fn dealers_that_have_not_asked_for_a_while_are_forgotten() {
        let (rate, clock) = rate("10/s");
        for number in 0..SWEEP {
            assert_eq!(take(&rate, &number.to_string()), Ok(()));
        }
        assert_eq!(rate.counts.len(), SWEEP as usize);
        clock.advance(Duration::from_secs(2));
        assert_eq!(take(&rate, "new"), Ok(()));
        assert_eq!(rate.counts.len(), 1);
    }
}
