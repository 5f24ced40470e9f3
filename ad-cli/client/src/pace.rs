//! The rate of requests: evenly spread, with the pauses that the service asks for.

use std::{num::NonZeroU32, sync::Mutex, time::Duration};

use ad_core::lock::locked;
use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use tokio::time::{Instant, sleep, sleep_until};

pub(super) struct Pace {
    limiter: Option<DefaultDirectRateLimiter>,
    clock: DefaultClock,
    /// End of the pause that the service asked for.
    held: Mutex<Option<Instant>>,
}

impl Pace {
    /// At most this number of requests per second, or no limit.
    pub(super) fn new(rate: Option<NonZeroU32>) -> Self {
        let one_by_one = |rate| Quota::per_second(rate).allow_burst(NonZeroU32::MIN);
        Self {
            limiter: rate.map(|rate| RateLimiter::direct(one_by_one(rate))),
            clock: DefaultClock::default(),
            held: Mutex::new(None),
        }
    }

    /// Waits until a request may be sent.
    pub(super) async fn turn(&self) {
        loop {
            // Checked again after each wait: the service may have asked another request to pause in the meantime.
            let held = *locked(&self.held);
            if let Some(until) = held.filter(|until| *until > Instant::now()) {
                sleep_until(until).await;
                continue;
            }
            let Some(limiter) = &self.limiter else { return };
            match limiter.check() {
                Ok(()) => return,
                Err(early) => sleep(early.wait_time_from(self.clock.now())).await,
            }
        }
    }

    /// Pauses all requests, as the service has asked.
    pub(super) fn hold(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut held = locked(&self.held);
        *held = Some(held.map_or(until, |held| held.max(until)));
    }
}
