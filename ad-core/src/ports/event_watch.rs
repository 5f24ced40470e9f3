//! Waiting for new events of dealers.

use std::{
    collections::{HashMap, HashSet},
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use super::Scope;
use crate::lock::locked;

/// Those who wait for new events. A store has one, and wakes them. Clones share everything.
#[derive(Debug, Clone, Default)]
pub struct EventWatches(Arc<Mutex<Watches>>);

#[derive(Debug, Default)]
struct Watches {
    last_id: u64,
    by_id: HashMap<u64, Watch>,
    of_dealers: HashMap<String, HashSet<u64>>,
}

#[derive(Debug, Default)]
struct Watch {
    is_woken: bool,
    waker: Option<Waker>,
}

impl Watch {
    fn wake(&mut self) {
        self.is_woken = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl EventWatches {
    /// A new watch for the dealers of a scope.
    pub fn watch(&self, scope: Scope<'_>) -> EventWatch {
        let dealers = match scope {
            Scope::Dealer(code) => vec![code.to_owned()],
            Scope::Dealers(codes) => codes.to_vec(),
        };
        let mut watches = locked(&self.0);
        watches.last_id += 1;
        let id = watches.last_id;
        watches.by_id.insert(id, Watch::default());
        for dealer in &dealers {
            watches.of_dealers.entry(dealer.clone()).or_default().insert(id);
        }
        EventWatch { watches: self.clone(), id, dealers }
    }

    /// Wakes those who wait for events of a dealer.
    pub fn wake(&self, dealer_code: &str) {
        let Watches { by_id, of_dealers, .. } = &mut *locked(&self.0);
        for id in of_dealers.get(dealer_code).into_iter().flatten() {
            if let Some(watch) = by_id.get_mut(id) {
                watch.wake();
            }
        }
    }

    /// Wakes all watches, whatever their dealers.
    pub fn wake_all(&self) {
        locked(&self.0).by_id.values_mut().for_each(Watch::wake);
    }

    /// Whether no watch is registered.
    pub fn is_empty(&self) -> bool {
        locked(&self.0).by_id.is_empty()
    }
}

/// Waits for new events of some dealers, until it is dropped. Make it first, then read: what comes after the read wakes it.
#[derive(Debug)]
pub struct EventWatch {
    watches: EventWatches,
    id: u64,
    dealers: Vec<String>,
}

impl EventWatch {
    /// Returns when there may be events that were not there when it returned before, or when it was made.
    pub async fn changed(&mut self) {
        poll_fn(|context| self.poll_changed(context)).await;
    }

    fn poll_changed(&self, context: &Context<'_>) -> Poll<()> {
        let mut watches = locked(&self.watches.0);
        // It is there as long as this is not dropped.
        let Some(watch) = watches.by_id.get_mut(&self.id) else { return Poll::Ready(()) };
        if std::mem::take(&mut watch.is_woken) {
            return Poll::Ready(());
        }
        watch.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for EventWatch {
    fn drop(&mut self) {
        let mut watches = locked(&self.watches.0);
        watches.by_id.remove(&self.id);
        for dealer in &self.dealers {
            if let Some(ids) = watches.of_dealers.get_mut(dealer) {
                ids.remove(&self.id);
                if ids.is_empty() {
                    watches.of_dealers.remove(dealer);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_watch_is_woken_by_its_dealers_alone() {
        let watches = EventWatches::default();
        let group = ["a".to_owned(), "b".to_owned()];
        let (mut one, mut both) = (watches.watch(Scope::Dealer("a")), watches.watch(Scope::Dealers(&group)));
        watches.wake("b");
        watches.wake("c");
        assert_eq!((one.changed().now_or_never(), both.changed().now_or_never()), (None, Some(())));
        assert_eq!(both.changed().now_or_never(), None, "once");
        watches.wake_all();
        assert_eq!((one.changed().now_or_never(), both.changed().now_or_never()), (Some(()), Some(())));
        drop((one, both));
        assert!(watches.is_empty() && locked(&watches.0).of_dealers.is_empty());
    }
}
