//! Limited resources that dealers share fairly: slots, bytes of memory, concurrent requests.
//!
//! One dealer alone may use almost all of a resource. When several want more than there is, the one that holds least is served
//! next, so that two dealers get one half each. A small reserve is for dealers that hold nothing, so that a new one does not wait.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use ad_core::lock::locked;
use tokio::sync::oneshot;

/// The reserve is one part in so many of the whole.
const RESERVE: usize = 8;

/// A resource of a fixed number of units. Clones share it.
#[derive(Debug, Clone)]
pub struct FairSemaphore(Arc<Mutex<FairSemaphoreState>>);

#[derive(Debug)]
struct FairSemaphoreState {
    total: usize,
    free: usize,
    /// Only for those who hold nothing yet.
    reserve: usize,
    holders: HashMap<Arc<str>, Holder>,
    waiters: usize,
    /// Numbers waiters in the order of their arrival.
    arrivals: u64,
}

/// The units that one holder has and waits for. Removed when both are zero.
#[derive(Debug, Default)]
struct Holder {
    held: usize,
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    arrival: u64,
    units: usize,
    granted: oneshot::Sender<FairPermit>,
}

/// Units that are held; dropping it returns them.
#[derive(Debug)]
pub struct FairPermit {
    semaphore: FairSemaphore,
    holder: Arc<str>,
    units: usize,
}

impl FairSemaphore {
    /// A resource of this many units, at least one.
    pub fn new(total: usize) -> Self {
        Self::with_reserve(total, total / RESERVE)
    }

    /// With another reserve, which must be less than the whole.
    pub fn with_reserve(total: usize, reserve: usize) -> Self {
        let total = total.max(1);
        let holders = HashMap::new();
        let state = FairSemaphoreState { total, free: total, reserve, holders, waiters: 0, arrivals: 0 };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Waits for units on behalf of a holder, such as a dealer. More than the maximum of one holder counts as that maximum.
    pub async fn take(&self, holder: &str, units: usize) -> FairPermit {
        let granted = {
            let mut state = locked(&self.0);
            let units = units.min(state.total - state.reserve);
            match self.try_grant(&mut state, holder, units) {
                Ok(share) => return share,
                Err(holder) => state.wait(holder, units),
            }
        };
        // The state owns the sender until it is used.
        granted.await.expect("a waiter is granted before it is forgotten")
    }

    /// Units that are free now; `None` when taking them would have to wait.
    pub fn try_take(&self, holder: &str, units: usize) -> Option<FairPermit> {
        let mut state = locked(&self.0);
        let units = units.min(state.total - state.reserve);
        self.try_grant(&mut state, holder, units).ok()
    }

    /// Units that are free now, also those for which others wait.
    pub fn free(&self) -> usize {
        locked(&self.0).free
    }

    fn try_grant(&self, state: &mut FairSemaphoreState, holder: &str, units: usize) -> Result<FairPermit, Arc<str>> {
        let (key, held, waits) = match state.holders.get_key_value(holder) {
            Some((key, holder)) => (Arc::clone(key), holder.held, !holder.waiting.is_empty()),
            None => (Arc::from(holder), 0, false),
        };
        if waits || !state.has(held, units) {
            return Err(key);
        }
        Ok(self.grant(state, key, units))
    }

    fn grant(&self, state: &mut FairSemaphoreState, holder: Arc<str>, units: usize) -> FairPermit {
        state.free -= units;
        state.holders.entry(Arc::clone(&holder)).or_default().held += units;
        FairPermit { semaphore: self.clone(), holder, units }
    }

    /// Serves waiting callers while enough units are free, first the one whose dealer holds the fewest.
    fn serve(&self) {
        let mut refused = Vec::new();
        let mut state = locked(&self.0);
        while let Some((holder, waiter)) = state.next() {
            if waiter.granted.is_closed() {
                state.forget(&holder);
                continue;
            }
            let share = self.grant(&mut state, holder, waiter.units);
            // If the waiter has been dropped, its units are returned after the lock is released.
            refused.extend(waiter.granted.send(share).err());
        }
        drop(state);
    }
}

impl FairSemaphoreState {
    /// Whether this number of units is available for a holder with this number.
    fn has(&self, held: usize, units: usize) -> bool {
        let reserve = if held == 0 { 0 } else { self.reserve };
        units + reserve <= self.free
    }

    /// Removes a holder that has nothing and waits for nothing.
    fn forget(&mut self, holder: &str) {
        if self.holders.get(holder).is_some_and(|holder| holder.held == 0 && holder.waiting.is_empty()) {
            self.holders.remove(holder);
        }
    }

    fn wait(&mut self, holder: Arc<str>, units: usize) -> oneshot::Receiver<FairPermit> {
        let (granted, share) = oneshot::channel();
        self.arrivals += 1;
        self.waiters += 1;
        let waiter = Waiter { arrival: self.arrivals, units, granted };
        self.holders.entry(holder).or_default().waiting.push_back(waiter);
        share
    }

    /// Takes out the waiter who is next, if there is enough for it.
    fn next(&mut self) -> Option<(Arc<str>, Waiter)> {
        if self.waiters == 0 {
            return None;
        }
        let first = |holder: &Holder| holder.waiting.front().map(|waiter| (holder.held, waiter.arrival));
        let waiting = self.holders.iter().filter_map(|(key, holder)| Some((first(holder)?, key)));
        let key = Arc::clone(waiting.min_by_key(|(rank, _)| *rank)?.1);
        let holder = &self.holders[&key];
        let waiter = holder.waiting.front()?;
        // A dropped waiter is skipped.
        if !self.has(holder.held, waiter.units) && !waiter.granted.is_closed() {
            return None;
        }
        let waiter = self.holders.get_mut(&key)?.waiting.pop_front()?;
        self.waiters -= 1;
        Some((key, waiter))
    }
}

impl FairPermit {
    pub fn units(&self) -> usize {
        self.units
    }

    /// Returns what it has beyond so many units.
    pub fn shrink(&mut self, units: usize) {
        let more = self.units.saturating_sub(units);
        self.units -= more;
        let mut state = locked(&self.semaphore.0);
        state.free += more;
        if let Some(holder) = state.holders.get_mut(&self.holder) {
            holder.held -= more;
        }
        state.forget(&self.holder);
        drop(state);
        self.semaphore.serve();
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};

    use futures_util::{FutureExt, future::BoxFuture};

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = FairPermit> + Send>>;

    /// Requests units and expects to wait.
    fn waiting(shares: &FairSemaphore, holder: &'static str, units: usize) -> Waiting {
        let shares = shares.clone();
        let mut waiting: BoxFuture<'static, FairPermit> = Box::pin(async move { shares.take(holder, units).await });
        assert!(waiting.as_mut().now_or_never().is_none(), "{holder} should wait");
        waiting
    }

    fn take(shares: &FairSemaphore, holder: &str, units: usize) -> FairPermit {
        pin!(shares.take(holder, units)).now_or_never().expect("it is free")
    }

    #[test]
    fn one_holder_alone_has_all_but_the_reserve_and_a_newcomer_does_not_wait() {
        let shares = FairSemaphore::new(16);
        let _all = take(&shares, "a", 14);
        assert!(shares.try_take("a", 1).is_none());
        let newcomer = take(&shares, "b", 1);
        assert!(shares.try_take("b", 1).is_none(), "the reserve is for those who hold nothing");
        drop(newcomer);
        assert_eq!(shares.free(), 2);
    }

    #[test]
    fn whoever_holds_least_is_served_next_until_both_have_a_half() {
        let shares = FairSemaphore::new(4);
        let mut of_a: Vec<_> = (0..4).map(|_| take(&shares, "a", 1)).collect();
        let mut more: Vec<_> = (0..4).map(|_| waiting(&shares, "a", 1)).collect();
        let mut of_b: Vec<_> = (0..4).map(|_| waiting(&shares, "b", 1)).collect();
        drop(of_a.drain(..2));
        assert!(of_b.remove(0).now_or_never().is_some() && more[0].as_mut().now_or_never().is_none());
        // The share of b is dropped at once, and goes to b again.
        let second = of_b.remove(0).now_or_never().expect("b holds less than a");
        let third = of_b.remove(0).now_or_never().expect("b holds less than a");
        drop(of_a);
        assert!(more.remove(0).now_or_never().is_some(), "both wait, and a holds less now");
        drop((second, third));
    }

    #[test]
    fn one_who_went_away_keeps_nobody_waiting() {
        let shares = FairSemaphore::new(8);
        let held = take(&shares, "a", 5);
        let large = waiting(&shares, "b", 7);
        let small = waiting(&shares, "c", 4);
        drop(large);
        drop(held);
        let small = small.now_or_never().expect("nobody is before it");
        assert_eq!(shares.free(), 4);
        drop(small);
        assert_eq!(shares.free(), 8);
        assert!(locked(&shares.0).holders.is_empty());
    }

    #[test]
    fn what_is_not_needed_is_returned_early() {
        let shares = FairSemaphore::new(16);
        let mut held = take(&shares, "a", 10);
        let more = waiting(&shares, "b", 9);
        held.shrink(7);
        held.shrink(8);
        assert_eq!(more.now_or_never().map(|share| share.units), Some(9));
        drop(held);
        assert_eq!(shares.free(), 16);
        assert!(locked(&shares.0).holders.is_empty());
    }

    #[test]
    fn asking_for_too_much_is_asking_for_all_that_one_may_have() {
        let shares = FairSemaphore::new(16);
        drop(take(&shares, "a", 1000));
        assert_eq!(shares.free(), 16);
    }
}
