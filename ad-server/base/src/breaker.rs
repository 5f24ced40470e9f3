//! A circuit breaker: stops calls to a marketplace or an image host that keeps failing.
//!
//! After a number of consecutive failures the circuit is open: for a pause no call is let through. Then it is half open: one
//! call, the probe, is let through. When it is answered the circuit closes, otherwise the next pause begins.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::lock::locked;
use tokio::time::Instant;

/// Longest pause that a response can ask for.
const LONGEST: Duration = Duration::from_mins(1);

/// Shortest time after which a refused caller may ask again.
const SHORTEST: Duration = Duration::from_millis(100);

/// When a circuit opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerOptions {
    /// Consecutive failures that open it.
    pub failures: u32,
    /// How long no call is let through then.
    pub pause: Duration,
}

/// A circuit breaker; `R` is the reason of a failure. Clones share its state.
#[derive(Debug, Clone)]
pub struct Breaker<R> {
    options: BreakerOptions,
    /// When callers may ask again during a probe.
    recheck: Duration,
    circuit: Arc<Mutex<Circuit<R>>>,
}

#[derive(Debug)]
enum Circuit<R> {
    /// Closed: calls are let through. The number of consecutive failures.
    Closed(u32),
    /// Open: no call is let through until this time, for this reason.
    Open { until: Instant, reason: R },
    /// A probe is in progress. The reason is that of the failure before it.
    HalfOpen(R),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open<R> {
    /// Why the last call failed.
    pub reason: R,
    /// When the caller may ask again.
    pub retry_after: Duration,
}

/// A change of the circuit, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    Opened,
    Closed,
}

impl<R: Clone> Breaker<R> {
    /// A closed circuit. During a probe, callers may ask again after `recheck`.
    pub fn new(options: BreakerOptions, recheck: Duration) -> Self {
        Self { options, recheck: recheck.max(SHORTEST), circuit: Arc::new(Mutex::new(Circuit::Closed(0))) }
    }

    /// Whether a call would be let through.
    pub fn check(&self, now: Instant) -> Result<(), Open<R>> {
        self.check_circuit(&locked(&self.circuit), now)
    }

    pub fn is_closed(&self) -> bool {
        matches!(*locked(&self.circuit), Circuit::Closed(_))
    }

    fn check_circuit(&self, circuit: &Circuit<R>, now: Instant) -> Result<(), Open<R>> {
        let (reason, retry_after) = match circuit {
            Circuit::Closed(_) => return Ok(()),
            Circuit::Open { until, reason } => (reason, until.saturating_duration_since(now)),
            Circuit::HalfOpen(reason) => (reason, self.recheck),
        };
        if retry_after.is_zero() { Ok(()) } else { Err(Open { reason: reason.clone(), retry_after }) }
    }

    /// Permits a call. The permit takes the outcome of the call; dropping it instead means that there is none.
    pub fn enter(&self, now: Instant) -> Result<Permit<R>, Open<R>> {
        let mut circuit = locked(&self.circuit);
        self.check_circuit(&circuit, now)?;
        let probed = if let Circuit::Open { reason, .. } = &*circuit { Some(reason.clone()) } else { None };
        let probe = probed.is_some();
        if let Some(reason) = probed {
            *circuit = Circuit::HalfOpen(reason);
        }
        drop(circuit);
        Ok(Permit { breaker: self.clone(), began: now, probe })
    }
}

/// Permission for one call, whose result it reports to the breaker.
#[derive(Debug)]
pub struct Permit<R: Clone> {
    breaker: Breaker<R>,
    began: Instant,
    /// Whether it is the probe, and has no outcome yet.
    probe: bool,
}

impl<R: Clone> Permit<R> {
    pub fn began(&self) -> Instant {
        self.began
    }

    /// The call was answered, be it with a rejection.
    pub fn answered(mut self) -> Option<Transition> {
        self.probe = false;
        let was = std::mem::replace(&mut *locked(&self.breaker.circuit), Circuit::Closed(0));
        (!matches!(was, Circuit::Closed(_))).then_some(Transition::Closed)
    }

    /// The call failed for a transient reason; a response may have asked for a pause.
    pub fn failed(mut self, now: Instant, reason: R, retry_after: Option<Duration>) -> Option<Transition> {
        let probe = std::mem::take(&mut self.probe);
        let BreakerOptions { failures, pause } = self.breaker.options;
        let mut circuit = locked(&self.breaker.circuit);
        let opens = match &mut *circuit {
            Circuit::Closed(before) => {
                *before = before.saturating_add(1);
                *before >= failures
            }
            Circuit::HalfOpen(_) => probe,
            // The call began before the circuit opened.
            Circuit::Open { .. } => false,
        };
        if !opens {
            return None;
        }
        let pause = pause.max(retry_after.unwrap_or_default().min(LONGEST));
        *circuit = Circuit::Open { until: now + pause, reason };
        (!probe).then_some(Transition::Opened)
    }
}

impl<R: Clone> Drop for Permit<R> {
    /// After a probe without outcome the next call is the probe.
    fn drop(&mut self) {
        if !self.probe {
            return;
        }
        let mut circuit = locked(&self.breaker.circuit);
        if let Circuit::HalfOpen(reason) = &*circuit {
            *circuit = Circuit::Open { until: self.began, reason: reason.clone() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);

    fn breaker() -> Breaker<&'static str> {
        Breaker::new(BreakerOptions { failures: 3, pause: PAUSE }, PAUSE / 4)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn opened(start: Instant) -> Breaker<&'static str> {
        let breaker = breaker();
        let turns: Vec<_> = (0..3).map(|_| breaker.enter(start).unwrap().failed(start, "500", None)).collect();
        assert_eq!(turns, [None, None, Some(Transition::Opened)]);
        breaker
    }

    fn rest(breaker: &Breaker<&'static str>, now: Instant) -> Duration {
        breaker.enter(now).unwrap_err().retry_after
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_between_them_does_not() {
        let (breaker, now) = (breaker(), Instant::now());
        for _ in 0..5 {
            for _ in 0..2 {
                assert_eq!(breaker.enter(now).unwrap().failed(now, "500", None), None);
            }
            assert_eq!(breaker.enter(now).unwrap().answered(), None);
        }
        let open = opened(now);
        assert_eq!(open.enter(now).unwrap_err(), Open { reason: "500", retry_after: PAUSE });
        assert_eq!(rest(&open, now + seconds(4)), seconds(6));
    }

    #[test]
    fn after_the_pause_one_call_probes_and_its_success_lets_everybody_in() {
        let start = Instant::now();
        let (breaker, now) = (opened(start), start + PAUSE);
        let probe = breaker.enter(now).unwrap();
        assert_eq!(rest(&breaker, now + seconds(30)), PAUSE / 4, "the probe takes its time");
        assert_eq!(probe.answered(), Some(Transition::Closed));
        let both = (breaker.enter(now).unwrap(), breaker.enter(now).unwrap());
        assert_eq!((both.0.answered(), both.1.answered()), (None, None));
    }

    #[test]
    fn a_probe_that_fails_begins_the_next_pause() {
        let start = Instant::now();
        let (breaker, now) = (opened(start), start + PAUSE);
        let probe = breaker.enter(now).unwrap();
        assert_eq!(probe.failed(now + seconds(2), "timeout", None), None, "it stays open, which is no news");
        let open = breaker.enter(now + seconds(2)).unwrap_err();
        assert_eq!(open, Open { reason: "timeout", retry_after: PAUSE });
        assert!(breaker.enter(now + seconds(12)).is_ok());
    }

    #[test]
    fn a_probe_that_is_given_up_leaves_its_place_to_the_next() {
        let start = Instant::now();
        let (breaker, now) = (opened(start), start + PAUSE);
        drop(breaker.enter(now).unwrap());
        let next = breaker.enter(now).unwrap();
        assert!(next.probe);
        assert_eq!(rest(&breaker, now), PAUSE / 4);
    }

    #[test]
    fn calls_from_before_it_opened_do_not_prolong_the_pause_but_their_success_ends_it() {
        let start = Instant::now();
        let breaker = breaker();
        let early: Vec<_> = (0..2).map(|_| breaker.enter(start).unwrap()).collect();
        let mut early = early.into_iter();
        for _ in 0..3 {
            breaker.enter(start).unwrap().failed(start, "500", None);
        }
        assert_eq!(early.next().unwrap().failed(start + seconds(5), "500", None), None);
        assert_eq!(rest(&breaker, start + seconds(5)), seconds(5));
        assert_eq!(early.next().unwrap().answered(), Some(Transition::Closed));
        assert!(breaker.enter(start).is_ok());
    }

    #[test]
    fn a_marketplace_may_ask_for_a_longer_pause_within_reason() {
        let now = Instant::now();
        for (asked, given) in [(5, 10), (30, 30), (3600, 60)] {
            let breaker = Breaker::new(BreakerOptions { failures: 1, pause: PAUSE }, PAUSE / 4);
            breaker.enter(now).unwrap().failed(now, "429", Some(seconds(asked)));
            assert_eq!(rest(&breaker, now), seconds(given), "{asked}");
        }
    }
}
