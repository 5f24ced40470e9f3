//! Keeps calls from a marketplace that is known to fail.
//!
//! After so many passing failures in a row it is open: for a pause nobody calls. Then one call is let through, the probe;
//! if it goes well everybody may call again, else the next pause begins. What a call means is not known here.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Longest pause that a marketplace can ask everybody to keep.
const LONGEST: Duration = Duration::from_mins(1);

/// When it opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerOptions {
    /// Passing failures in a row after which it opens.
    pub failures: u32,
    /// How long nobody calls then.
    pub pause: Duration,
}

/// The breaker of one marketplace.
#[derive(Debug)]
pub(super) struct Breaker<R> {
    options: BreakerOptions,
    state: Mutex<State<R>>,
}

#[derive(Debug, Clone)]
enum State<R> {
    /// Everybody may call; so many calls have failed in a row.
    Closed(u32),
    /// Nobody may call until then, for this reason.
    Open { until: Instant, reason: R },
    /// One call is under way that will tell. This is what the one before it failed for.
    Probing(R),
}

/// Nobody may call now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Open<R> {
    /// What the last call failed for.
    pub(super) reason: R,
    /// When it is worth asking again.
    pub(super) rest: Duration,
}

/// A change that an operator wants to know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It has opened.
    Opened,
    /// It has closed.
    Closed,
}

impl<R: Clone> Breaker<R> {
    pub(super) fn new(options: BreakerOptions) -> Self {
        Self { options, state: Mutex::new(State::Closed(0)) }
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        // Nothing that holds it can leave half a state behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks to call. The pass has to be told how the call went; a pass that is dropped instead says nothing.
    pub(super) fn enter(&self, now: Instant) -> Result<Pass<'_, R>, Open<R>> {
        let mut state = self.state();
        let (reason, rest) = match &*state {
            State::Closed(_) => return Ok(Pass { breaker: self, began: now, probe: false }),
            State::Open { until, reason } => (reason.clone(), until.saturating_duration_since(now)),
            // It will soon be known.
            State::Probing(reason) => (reason.clone(), (self.options.pause / 4).max(SHORTEST)),
        };
        if rest.is_zero() {
            *state = State::Probing(reason);
            return Ok(Pass { breaker: self, began: now, probe: true });
        }
        Err(Open { reason, rest })
    }
}

/// Shortest time after which somebody is told to come back: what comes sooner would only come in vain.
const SHORTEST: Duration = Duration::from_millis(100);

/// Permission for one call.
#[derive(Debug)]
pub(super) struct Pass<'b, R: Clone> {
    breaker: &'b Breaker<R>,
    began: Instant,
    /// Whether it is the one call that will tell, and has not told yet.
    probe: bool,
}

impl<R: Clone> Pass<'_, R> {
    /// The marketplace answered, be it with a refusal.
    pub(super) fn answered(mut self) -> Option<Turn> {
        self.probe = false;
        let mut state = self.breaker.state();
        let was_closed = matches!(*state, State::Closed(_));
        *state = State::Closed(0);
        (!was_closed).then_some(Turn::Closed)
    }

    /// It failed for a passing reason, and perhaps named a pause.
    pub(super) fn failed(mut self, now: Instant, reason: R, retry_after: Option<Duration>) -> Option<Turn> {
        let probe = std::mem::take(&mut self.probe);
        let BreakerOptions { failures, pause } = self.breaker.options;
        let mut state = self.breaker.state();
        let opens = match &mut *state {
            State::Closed(before) => {
                *before = before.saturating_add(1);
                *before >= failures
            }
            State::Probing(_) => probe,
            // A call from before it opened: nothing new.
            State::Open { .. } => false,
        };
        if !opens {
            return None;
        }
        let pause = pause.max(retry_after.unwrap_or_default().min(LONGEST));
        *state = State::Open { until: now + pause, reason };
        (!probe).then_some(Turn::Opened)
    }
}

impl<R: Clone> Drop for Pass<'_, R> {
    /// A probe that was given up has told nothing: the next call is the probe.
    fn drop(&mut self) {
        if !self.probe {
            return;
        }
        let mut state = self.breaker.state();
        if let State::Probing(reason) = &*state {
            let reason = reason.clone();
            *state = State::Open { until: self.began, reason };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);

    fn breaker() -> Breaker<&'static str> {
        Breaker::new(BreakerOptions { failures: 3, pause: PAUSE })
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Opens it at this moment.
    fn opened(start: Instant) -> Breaker<&'static str> {
        let breaker = breaker();
        let turns: Vec<_> = (0..3).map(|_| breaker.enter(start).unwrap().failed(start, "500", None)).collect();
        assert_eq!(turns, [None, None, Some(Turn::Opened)]);
        breaker
    }

    fn rest(breaker: &Breaker<&'static str>, now: Instant) -> Duration {
        breaker.enter(now).unwrap_err().rest
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
        assert_eq!(open.enter(now).unwrap_err(), Open { reason: "500", rest: PAUSE });
        assert_eq!(rest(&open, now + seconds(4)), seconds(6));
    }

    #[test]
    fn after_the_pause_one_call_probes_and_its_success_lets_everybody_in() {
        let start = Instant::now();
        let (breaker, now) = (opened(start), start + PAUSE);
        let probe = breaker.enter(now).unwrap();
        assert_eq!(rest(&breaker, now + seconds(30)), PAUSE / 4, "the probe takes its time");
        assert_eq!(probe.answered(), Some(Turn::Closed));
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
        assert_eq!(open, Open { reason: "timeout", rest: PAUSE });
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
        assert_eq!(early.next().unwrap().answered(), Some(Turn::Closed));
        assert!(breaker.enter(start).is_ok());
    }

    #[test]
    fn a_marketplace_may_ask_for_a_longer_pause_within_reason() {
        let now = Instant::now();
        for (asked, given) in [(5, 10), (30, 30), (3600, 60)] {
            let breaker = Breaker::new(BreakerOptions { failures: 1, pause: PAUSE });
            breaker.enter(now).unwrap().failed(now, "429", Some(seconds(asked)));
            assert_eq!(rest(&breaker, now), seconds(given), "{asked}");
        }
    }
}
