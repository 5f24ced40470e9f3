//! Which processes hold leases of requests, so that the leases of one that has ended do not have to run out.
//!
//! A process has a number, which stands in the requests that it has claimed. In PostgreSQL, it holds an advisory lock of that number by the
//! connection that listens, which the server releases as soon as the process is gone. SQLite is for one process: what another has held is
//! left over.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::lock::locked;
use tokio::{sync::watch, time::Instant};

/// How long a process may be absent: one whose connection breaks off comes back within this time.
const ABSENT: Duration = Duration::from_millis(1200);

/// The number of this process, and the other processes as they were last seen. Clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Holders {
    own: i32,
    presence: watch::Sender<Presence>,
    seen: Arc<Mutex<Seen>>,
}

/// Whether the other processes can see this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Absent,
    /// In a moment.
    Coming,
    Present,
}

#[derive(Debug)]
struct Seen {
    last: BTreeMap<i64, Instant>,
    /// When processes that have ended before this one began are to be released; `None` once they are.
    first_release: Option<Instant>,
}

impl Holders {
    /// For a process that starts now. `others` may be there.
    pub(super) fn new(others: bool) -> Self {
        let absent = if others { ABSENT } else { Duration::ZERO };
        let seen = Seen { last: BTreeMap::new(), first_release: Some(Instant::now() + absent) };
        #[expect(clippy::cast_possible_truncation, reason = "any number does")]
        let own = (RandomState::new().hash_one(0) as i32).saturating_abs();
        let presence = if others { Presence::Absent } else { Presence::Present };
        Self { own, presence: watch::Sender::new(presence), seen: Arc::new(Mutex::new(seen)) }
    }

    pub(super) fn own(&self) -> i32 {
        self.own
    }

    pub(super) fn set(&self, presence: Presence) {
        self.presence.send_replace(presence);
    }

    /// The number for the leases of this process, if the others can see when it ends. A process that starts waits until they do.
    pub(super) async fn of_lease(&self) -> Option<i64> {
        let mut presence = self.presence.subscribe();
        let known = presence.wait_for(|presence| *presence != Presence::Coming).await.ok()?;
        (*known == Presence::Present).then_some(self.own.into())
    }

    /// Takes the processes that are there now. Returns those whose leases stay, if leases of others are to be released.
    pub(super) fn see(&self, present: &[i64]) -> Option<Vec<i64>> {
        let now = Instant::now();
        let seen = &mut *locked(&self.seen);
        seen.last.extend(present.iter().map(|holder| (*holder, now)));
        let known = seen.last.len();
        seen.last.retain(|_, last| now - *last < ABSENT);
        let is_first = seen.first_release.take_if(|due| *due <= now).is_some();
        (is_first || seen.last.len() < known).then(|| seen.last.keys().copied().collect())
    }

    /// Releases again what could not be released.
    pub(super) fn not_released(&self) {
        locked(&self.seen).first_release = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_a_process_has_held_is_released_once_when_it_is_gone() {
        let holders = Holders::new(true);
        assert_eq!(holders.of_lease().await, None, "nobody sees it");
        holders.set(Presence::Coming);
        let (own, ()) = tokio::join!(holders.of_lease(), async { holders.set(Presence::Present) });
        let own = own.unwrap();
        assert_eq!(holders.see(&[own, 7]), None, "others may just be coming back");
        tokio::time::advance(ABSENT).await;
        assert_eq!(holders.see(&[own, 7]), Some(vec![own.min(7), own.max(7)]), "those that ended before");
        assert_eq!(holders.see(&[own]), None);
        tokio::time::advance(ABSENT).await;
        assert_eq!(holders.see(&[own]), Some(vec![own]));
        assert_eq!(holders.see(&[own]), None);
        holders.not_released();
        assert_eq!(holders.see(&[own]), Some(vec![own]));
    }

    #[tokio::test]
    async fn in_sqlite_all_others_have_ended() {
        let holders = Holders::new(false);
        let own = holders.of_lease().await.unwrap();
        assert_eq!((holders.see(&[own]), holders.see(&[own])), (Some(vec![own]), None));
    }
}
