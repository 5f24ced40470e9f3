//! How many images are fetched side by side, from each host and altogether, and which hosts are left alone for a while.
//!
//! A host that does not answer must cost the others nothing. It gets no more than its own places, and when it was silent
//! to everybody it is left alone: whatever is to come from it is put off at once and keeps no worker waiting. Then one
//! fetch goes ahead, and when that is answered the others follow. It is not the place to judge a single picture: as long
//! as a host answers anybody, it is asked.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use url::Url;

/// For how long a silent host is left alone.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(5);

/// Hosts that are remembered before those are forgotten of which there is nothing to remember.
const MANY: usize = 1024;

/// All hosts that images come from.
#[derive(Debug)]
pub(super) struct Hosts {
    all: Arc<Semaphore>,
    per_host: usize,
    /// How long one fetch may take.
    longest: Duration,
    known: Mutex<HashMap<String, Arc<Host>>>,
}

#[derive(Debug)]
struct Host {
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When it last answered anybody.
    answered: Option<Instant>,
    /// Why it is left alone, and until when.
    silent: Option<(String, Instant)>,
}

/// A host that is left alone now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftAlone {
    /// What it failed by.
    pub(super) reason: String,
    /// When it is worth asking again.
    pub(super) pause: Duration,
}

/// A place at a host; whoever has one says how it ended.
#[derive(Debug)]
pub(super) struct Visit {
    host: Arc<Host>,
    since: Instant,
    _places: [OwnedSemaphorePermit; 2],
}

impl Hosts {
    /// This many fetches side by side altogether, and from each host, none of which takes longer than `longest`.
    pub(super) fn new(all: usize, per_host: usize, longest: Duration) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), per_host, longest, known: Mutex::default() }
    }

    /// Waits for a place at the host of an address.
    ///
    /// # Errors
    /// When the host is left alone now.
    pub(super) async fn visit(&self, url: &Url) -> Result<Visit, LeftAlone> {
        let host = self.host(url.authority());
        host.is_left_alone()?;
        // Its own place first: who waits for a busy host takes none from the others.
        let place = Arc::clone(&host.places).acquire_owned().await;
        let of_all = Arc::clone(&self.all).acquire_owned().await;
        let places = [place, of_all].map(|place| place.expect("these semaphores are never closed"));
        host.go_ahead(self.longest)?;
        Ok(Visit { host, since: Instant::now(), _places: places })
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut known = locked(&self.known);
        if let Some(host) = known.get(name) {
            return Arc::clone(host);
        }
        if known.len() >= MANY {
            known.retain(|_, host| Arc::strong_count(host) > 1 || host.is_left_alone().is_err());
        }
        let places = Arc::new(Semaphore::new(self.per_host));
        let host = Arc::new(Host { places, state: Mutex::default() });
        known.insert(name.to_owned(), Arc::clone(&host));
        host
    }
}

impl Host {
    fn is_left_alone(&self) -> Result<(), LeftAlone> {
        let now = Instant::now();
        match &locked(&self.state).silent {
            Some((reason, until)) if now < *until => {
                Err(LeftAlone { reason: reason.clone(), pause: (*until - now).min(LEFT_ALONE) })
            }
            _ => Ok(()),
        }
    }

    /// As [`is_left_alone`](Self::is_left_alone). The first one to come after a silence goes ahead alone, for as long as
    /// that may take.
    fn go_ahead(&self, longest: Duration) -> Result<(), LeftAlone> {
        self.is_left_alone()?;
        if let Some((_, until)) = &mut locked(&self.state).silent {
            *until = Instant::now() + longest;
        }
        Ok(())
    }
}

impl Visit {
    /// The host answered, whatever it said.
    pub(super) fn answered(self) {
        *locked(&self.host.state) = State { answered: Some(Instant::now()), silent: None };
    }

    /// The host kept silent until there was no more time. It is left alone if it kept silent to everybody.
    pub(super) fn silent(self, reason: &str) {
        let mut state = locked(&self.host.state);
        if state.answered.is_none_or(|answered| answered < self.since) {
            state.silent = Some((reason.to_owned(), Instant::now() + LEFT_ALONE));
        }
    }
}

/// What is behind these locks is whole at any moment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    const LONGEST: Duration = Duration::from_secs(20);

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/1.jpg")).unwrap()
    }

    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        timeout(Duration::from_millis(1), future).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_has_its_own_places_and_takes_none_while_it_waits_for_them() {
        let hosts = Hosts::new(3, 2, LONGEST);
        let (one, two) = (url("one.example"), url("two.example"));
        let _taken = [hosts.visit(&one).await.unwrap(), hosts.visit(&one).await.unwrap()];
        assert!(waits(hosts.visit(&one)).await);
        let third = hosts.visit(&two).await.unwrap();
        assert!(waits(hosts.visit(&two)).await, "three altogether");
        third.answered();
        assert!(!waits(hosts.visit(&two)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_host_is_left_alone_and_then_asked_by_one() {
        let hosts = Hosts::new(9, 9, LONGEST);
        let (silent, other) = (url("silent.example"), url("other.example"));
        let (first, second) = (hosts.visit(&silent).await.unwrap(), hosts.visit(&silent).await.unwrap());
        advance(Duration::from_secs(10)).await;
        first.silent("nothing");
        let pause = |left: Result<Visit, LeftAlone>| left.unwrap_err().pause;
        assert_eq!(pause(hosts.visit(&silent).await), LEFT_ALONE);
        assert!(hosts.visit(&other).await.is_ok());

        advance(LEFT_ALONE).await;
        let ahead = hosts.visit(&silent).await.unwrap();
        assert_eq!(hosts.visit(&silent).await.unwrap_err().reason, "nothing");
        ahead.answered();
        assert!(hosts.visit(&silent).await.is_ok());

        // What was asked before that answer says nothing any more.
        second.silent("nothing");
        assert!(hosts.visit(&silent).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_goes_ahead_and_never_returns_is_not_waited_for() {
        let hosts = Hosts::new(9, 9, LONGEST);
        let silent = url("silent.example");
        hosts.visit(&silent).await.unwrap().silent("nothing");
        advance(LEFT_ALONE).await;
        drop(hosts.visit(&silent).await.unwrap());
        assert!(hosts.visit(&silent).await.is_err());
        advance(LONGEST).await;
        assert!(hosts.visit(&silent).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_with_nothing_to_remember_are_forgotten() {
        let hosts = Hosts::new(9, 9, LONGEST);
        hosts.visit(&url("silent.example")).await.unwrap().silent("nothing");
        let _used = hosts.visit(&url("used.example")).await.unwrap();
        for number in 0..2 * MANY {
            hosts.visit(&url(&format!("{number}.example"))).await.unwrap().answered();
        }
        assert!(locked(&hosts.known).len() <= MANY);
        assert!(hosts.visit(&url("silent.example")).await.is_err());
        assert!(locked(&hosts.known).contains_key("used.example"));
    }
}
