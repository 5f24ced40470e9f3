//! Which processes hold leases of requests, so that the leases of one that has ended do not have to run out.
//!
//! A process has a number, which stands in the requests that it has claimed. In PostgreSQL, it holds an advisory lock of that number by the
//! connection that listens, which the server releases as soon as the process is gone. SQLite is for one process: what another has held is
//! left over.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ad_core::lock::locked;
use tokio::time::Instant;

/// How long a process may be absent: one whose connection breaks off comes back within this time.
const ABSENT: Duration = Duration::from_millis(1200);

/// The number of this process, and the other processes as they were last seen. Clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Holders {
    own: i32,
    is_present: Arc<AtomicBool>,
    seen: Arc<Mutex<Seen>>,
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
        Self { own, is_present: Arc::new(AtomicBool::new(!others)), seen: Arc::new(Mutex::new(seen)) }
    }

    pub(super) fn own(&self) -> i32 {
        self.own
    }

    /// Says whether the other processes can see this one.
    pub(super) fn set_present(&self, is_present: bool) {
        self.is_present.store(is_present, Ordering::Relaxed);
    }

    /// The number for the leases of this process, if the others can see when it ends.
    pub(super) fn of_lease(&self) -> Option<i64> {
        self.is_present.load(Ordering::Relaxed).then_some(self.own.into())
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
        assert_eq!(holders.of_lease(), None, "nobody sees it yet");
        holders.set_present(true);
        let own = holders.of_lease().unwrap();
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
        let own = holders.of_lease().unwrap();
        assert_eq!((holders.see(&[own]), holders.see(&[own])), (Some(vec![own]), None));
    }
}
