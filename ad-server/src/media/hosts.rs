//! How many images are fetched side by side, from each host and altogether, and which hosts are not asked for a while.
//!
//! Dealers share the places ([`Shares`]). The places of a host are those of its [site](site): neither another port nor another
//! subdomain gives anybody more of them. Silence is of one host and port: when it was silent to everybody it is not asked for a
//! while, and whatever is to come from it is put off at once and keeps no worker waiting. Then one fetch goes ahead, and when that
//! is answered the others follow. A dead subdomain so keeps nobody from the others of its site. It is not the place to judge a
//! single picture: as long as a host answers anybody, it is asked.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use url::{Host, Url};

use crate::shares::{Share, Shares};

/// For how long a silent host is not asked.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(5);

/// Sites, and hosts of a site, that are remembered before those are forgotten of which there is nothing to remember.
const MANY: usize = 1024;

/// All hosts that images come from.
#[derive(Debug)]
pub(super) struct Hosts {
    all: Shares,
    per_site: usize,
    /// How long one fetch may take.
    longest: Duration,
    sites: Mutex<HashMap<String, Arc<Site>>>,
}

/// The hosts of one registrable domain or address.
#[derive(Debug)]
struct Site {
    places: Shares,
    /// By name and port.
    hosts: Mutex<HashMap<String, State>>,
}

/// What is known of a host.
#[derive(Debug, Default)]
struct State {
    /// When it last answered anybody.
    answered: Option<Instant>,
    /// Why it is not asked, and until when.
    silent: Option<(String, Instant)>,
}

/// A host that is not asked now.
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
    site: Arc<Site>,
    host: String,
    since: Instant,
    _places: [Share; 2],
}

/// What counts as one host: the registrable domain of a name, an IPv4 address, or the network (/64) of an IPv6 address, each of
/// which somebody gets as a whole.
fn site(url: &Url) -> String {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            psl::domain_str(name).unwrap_or(name).to_owned()
        }
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => match address.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        },
        None => String::new(),
    }
}

impl Hosts {
    /// This many fetches side by side altogether, and from each site, none of which takes longer than `longest`.
    pub(super) fn new(all: usize, per_site: usize, longest: Duration) -> Self {
        Self { all: Shares::new(all), per_site, longest, sites: Mutex::default() }
    }

    /// Waits for a place at the host of an address, on behalf of a dealer.
    ///
    /// # Errors
    /// When the host is not asked now.
    pub(super) async fn visit(&self, url: &Url, dealer: &str) -> Result<Visit, LeftAlone> {
        let (site, host) = (self.site(url), url.authority());
        site.is_left_alone(host)?;
        // A place at the site first: who waits for a busy site takes none from the others.
        let place = site.places.take(dealer, 1).await;
        let of_all = self.all.take(dealer, 1).await;
        site.go_ahead(host, self.longest)?;
        Ok(Visit { site, host: host.to_owned(), since: Instant::now(), _places: [place, of_all] })
    }

    fn site(&self, url: &Url) -> Arc<Site> {
        let name = site(url);
        let mut sites = locked(&self.sites);
        if let Some(site) = sites.get(&name) {
            return Arc::clone(site);
        }
        if sites.len() >= MANY {
            sites.retain(|_, site| Arc::strong_count(site) > 1 || site.has_silent());
        }
        let site = Arc::new(Site { places: Shares::new(self.per_site), hosts: Mutex::default() });
        sites.insert(name, Arc::clone(&site));
        site
    }
}

impl State {
    fn is_left_alone(&self) -> Result<(), LeftAlone> {
        let now = Instant::now();
        match &self.silent {
            Some((reason, until)) if now < *until => {
                Err(LeftAlone { reason: reason.clone(), pause: (*until - now).min(LEFT_ALONE) })
            }
            _ => Ok(()),
        }
    }
}

impl Site {
    fn is_left_alone(&self, host: &str) -> Result<(), LeftAlone> {
        locked(&self.hosts).get(host).map_or(Ok(()), State::is_left_alone)
    }

    /// As [`is_left_alone`](Self::is_left_alone). The first one to come after a silence goes ahead alone, for as long as
    /// that may take.
    fn go_ahead(&self, host: &str, longest: Duration) -> Result<(), LeftAlone> {
        let mut hosts = locked(&self.hosts);
        let Some(state) = hosts.get_mut(host) else { return Ok(()) };
        state.is_left_alone()?;
        if let Some((_, until)) = &mut state.silent {
            *until = Instant::now() + longest;
        }
        Ok(())
    }

    fn has_silent(&self) -> bool {
        locked(&self.hosts).values().any(|state| state.is_left_alone().is_err())
    }

    /// Notes something about a host.
    fn note(&self, host: String, note: impl FnOnce(&mut State)) {
        let mut hosts = locked(&self.hosts);
        if hosts.len() >= MANY && !hosts.contains_key(&host) {
            hosts.retain(|_, state| state.is_left_alone().is_err());
        }
        note(hosts.entry(host).or_default());
    }
}

impl Visit {
    /// The host answered, whatever it said.
    pub(super) fn answered(self) {
        self.site.note(self.host, |state| *state = State { answered: Some(Instant::now()), silent: None });
    }

    /// The host kept silent until there was no more time. It is not asked for a while if it kept silent to everybody.
    pub(super) fn silent(self, reason: &str) {
        let since = self.since;
        self.site.note(self.host, |state| {
            if state.answered.is_none_or(|answered| answered < since) {
                state.silent = Some((reason.to_owned(), Instant::now() + LEFT_ALONE));
            }
        });
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
        let (one, two) = (url("one.test"), url("two.test"));
        let _taken = [hosts.visit(&one, "a").await.unwrap(), hosts.visit(&one, "a").await.unwrap()];
        assert!(waits(hosts.visit(&one, "a")).await);
        let third = hosts.visit(&two, "a").await.unwrap();
        assert!(waits(hosts.visit(&two, "a")).await, "three altogether");
        third.answered();
        assert!(!waits(hosts.visit(&two, "a")).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_host_is_left_alone_and_then_asked_by_one() {
        let hosts = Hosts::new(9, 9, LONGEST);
        let (silent, other) = (url("silent.example"), url("other.example"));
        let (first, second) = (hosts.visit(&silent, "a").await.unwrap(), hosts.visit(&silent, "a").await.unwrap());
        advance(Duration::from_secs(10)).await;
        first.silent("nothing");
        let pause = |left: Result<Visit, LeftAlone>| left.unwrap_err().pause;
        assert_eq!(pause(hosts.visit(&silent, "a").await), LEFT_ALONE);
        assert!(hosts.visit(&other, "a").await.is_ok());

        advance(LEFT_ALONE).await;
        let ahead = hosts.visit(&silent, "a").await.unwrap();
        assert_eq!(hosts.visit(&silent, "a").await.unwrap_err().reason, "nothing");
        ahead.answered();
        assert!(hosts.visit(&silent, "a").await.is_ok());

        // What was asked before that answer says nothing any more.
        second.silent("nothing");
        assert!(hosts.visit(&silent, "a").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_goes_ahead_and_never_returns_is_not_waited_for() {
        let hosts = Hosts::new(9, 9, LONGEST);
        let silent = url("silent.example");
        hosts.visit(&silent, "a").await.unwrap().silent("nothing");
        advance(LEFT_ALONE).await;
        drop(hosts.visit(&silent, "a").await.unwrap());
        assert!(hosts.visit(&silent, "a").await.is_err());
        advance(LONGEST).await;
        assert!(hosts.visit(&silent, "a").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_with_nothing_to_remember_are_forgotten() {
        let hosts = Hosts::new(9, 9, LONGEST);
        hosts.visit(&url("silent.example"), "a").await.unwrap().silent("nothing");
        let _used = hosts.visit(&url("used.example"), "a").await.unwrap();
        for number in 0..2 * MANY {
            hosts.visit(&url(&format!("{number}.example")), "a").await.unwrap().answered();
        }
        assert!(locked(&hosts.sites).len() <= MANY);
        assert!(hosts.visit(&url("silent.example"), "a").await.is_err());
        assert!(locked(&hosts.sites).contains_key("used.example"));
    }
    #[test]
    fn ports_and_subdomains_are_one_site() {
        for (host, expected) in [
            ("images.dealer.se", "dealer.se"),
            ("a.b.dealer.se:8443", "dealer.se"),
            ("dealer.se.", "dealer.se"),
            ("IMAGES.Dealer.co.uk", "dealer.co.uk"),
            // What a platform gives to each of its customers.
            ("bucket.s3.amazonaws.com", "bucket.s3.amazonaws.com"),
            ("a.north.github.io", "north.github.io"),
            ("localhost:1", "localhost"),
            ("127.0.0.1:1", "127.0.0.1"),
            ("127.0.0.2:1", "127.0.0.2"),
            ("[2001:db8:1:2:3:4:5:6]:1", "2001:db8:1:2::/64"),
            ("[2001:db8:1:2::9]", "2001:db8:1:2::/64"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ] {
            assert_eq!(site(&url(host)), expected, "{host}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn ports_and_subdomains_give_a_dealer_no_more_places_and_another_dealer_has_some() {
        let hosts = Hosts::new(99, 8, LONGEST);
        let mut held = Vec::new();
        for number in 0..7 {
            held.push(hosts.visit(&url(&format!("{number}.dealer.se:{number}")), "a").await.unwrap());
        }
        assert!(waits(hosts.visit(&url("8.dealer.se:8"), "a")).await);
        assert!(!waits(hosts.visit(&url("8.dealer.se:8"), "b")).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_subdomain_keeps_nobody_from_another() {
        let hosts = Hosts::new(9, 9, LONGEST);
        hosts.visit(&url("dead.dealer.se"), "a").await.unwrap().silent("nothing");
        assert!(hosts.visit(&url("dead.dealer.se"), "a").await.is_err());
        assert!(hosts.visit(&url("images.dealer.se"), "a").await.is_ok());
    }
}
