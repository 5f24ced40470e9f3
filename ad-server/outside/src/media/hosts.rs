//! Limits concurrent fetches per host and in total, and stops fetches from silent hosts.
//!
//! Dealers share the slots ([`FairSemaphore`]). The slots of a host are those of its [site](site), so another port or subdomain gives
//! nobody more of them. Each host and port has its own circuit breaker, so that a dead subdomain does not stop the others. Only
//! silence is a failure: a host that answers anybody is asked.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::lock::locked;
use tokio::time::Instant;
use url::{Host, Url};

use ad_server_base::{
    breaker::{Breaker, BreakerOptions, Open, Permit},
    limits::{FairPermit, FairSemaphore},
};

/// How long the circuit of a silent host stays open.
pub(super) const PAUSE: Duration = Duration::from_secs(5);

/// Number of sites, and of hosts of a site, above which those without state are removed.
const MANY: usize = 1024;

#[derive(Debug)]
pub(super) struct ImageHosts {
    all: FairSemaphore,
    per_site: usize,
    sites: Mutex<HashMap<String, Arc<Site>>>,
}

/// The hosts of one registrable domain or address.
#[derive(Debug)]
struct Site {
    places: FairSemaphore,
    /// Hosts that were called, by `name:port`.
    hosts: Mutex<HashMap<String, Arc<HostState>>>,
}

#[derive(Debug)]
struct HostState {
    breaker: Breaker<String>,
    /// When it last answered a fetch.
    answered: Mutex<Option<Instant>>,
}

/// A slot of a host, for one fetch. Its outcome has to be reported.
#[derive(Debug)]
pub(super) struct HostSlot {
    host: Arc<HostState>,
    permit: Permit<String>,
    /// Keeps the state of the site in memory.
    _site: Arc<Site>,
    _places: [FairPermit; 2],
}

/// The site of an address, whose hosts share slots: the registrable domain of a name, an IPv4 address, or the /64 network of an
/// IPv6 address. Each of these belongs to one owner.
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

impl ImageHosts {
    /// Limits concurrent fetches in total and from each site.
    pub(super) fn new(all: usize, per_site: usize) -> Self {
        Self { all: FairSemaphore::new(all), per_site, sites: Mutex::default() }
    }

    /// Waits for a slot of the host of an address, on behalf of a dealer.
    ///
    /// # Errors
    /// When the host's circuit is open.
    pub(super) async fn visit(&self, url: &Url, dealer: &str) -> Result<HostSlot, Open<String>> {
        let site = self.site(url);
        let host = site.host(url.authority());
        host.breaker.check(Instant::now())?;
        // First a slot of the site: a fetch that waits for a busy site must not hold one of the total.
        let place = site.places.take(dealer, 1).await;
        let of_all = self.all.take(dealer, 1).await;
        let permit = host.breaker.enter(Instant::now())?;
        Ok(HostSlot { host, permit, _site: site, _places: [place, of_all] })
    }

    fn site(&self, url: &Url) -> Arc<Site> {
        let new = || Site { places: FairSemaphore::new(self.per_site), hosts: Mutex::default() };
        entry(&self.sites, &site(url), new, Site::has_open)
    }
}

impl Site {
    fn host(&self, name: &str) -> Arc<HostState> {
        let options = BreakerOptions { failures: 1, pause: PAUSE };
        let new = || HostState { breaker: Breaker::new(options, PAUSE), answered: Mutex::default() };
        entry(&self.hosts, name, new, HostState::is_open)
    }

    fn has_open(&self) -> bool {
        locked(&self.hosts).values().any(|host| host.is_open())
    }
}

impl HostState {
    fn is_open(&self) -> bool {
        self.breaker.check(Instant::now()).is_err()
    }
}

/// The value of a name, created if it is missing. If there are many, unused ones without state are removed.
fn entry<T>(
    all: &Mutex<HashMap<String, Arc<T>>>,
    name: &str,
    new: impl FnOnce() -> T,
    remember: impl Fn(&T) -> bool,
) -> Arc<T> {
    let mut all = locked(all);
    if let Some(known) = all.get(name) {
        return Arc::clone(known);
    }
    if all.len() >= MANY {
        all.retain(|_, value| Arc::strong_count(value) > 1 || remember(value));
    }
    let value = Arc::new(new());
    all.insert(name.to_owned(), Arc::clone(&value));
    value
}

impl HostSlot {
    pub(super) fn answered(self) {
        *locked(&self.host.answered) = Some(Instant::now());
        self.permit.answered();
    }

    /// The host was silent until the timeout. This is a failure unless it answered another fetch meanwhile.
    pub(super) fn record_silence(self, reason: &str) {
        let answered = *locked(&self.host.answered);
        if answered.is_none_or(|answered| answered < self.permit.began()) {
            self.permit.failed(Instant::now(), reason.to_owned(), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    fn url(host: &str) -> Url {
        Url::parse(&format!("https://{host}/1.jpg")).unwrap()
    }

    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        timeout(Duration::from_millis(1), future).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_has_its_own_places_and_takes_none_while_it_waits_for_them() {
        let hosts = ImageHosts::new(3, 2);
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
        let hosts = ImageHosts::new(9, 9);
        let (silent, other) = (url("silent.example"), url("other.example"));
        let (first, second) = (hosts.visit(&silent, "a").await.unwrap(), hosts.visit(&silent, "a").await.unwrap());
        advance(Duration::from_secs(10)).await;
        first.record_silence("nothing");
        let pause = |visit: Result<HostSlot, Open<String>>| visit.unwrap_err().retry_after;
        assert_eq!(pause(hosts.visit(&silent, "a").await), PAUSE);
        assert!(hosts.visit(&other, "a").await.is_ok());

        advance(PAUSE).await;
        let ahead = hosts.visit(&silent, "a").await.unwrap();
        assert_eq!(hosts.visit(&silent, "a").await.unwrap_err().reason, "nothing");
        ahead.answered();
        assert!(hosts.visit(&silent, "a").await.is_ok());

        // A fetch that began before that answer does not count.
        second.record_silence("nothing");
        assert!(hosts.visit(&silent, "a").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_goes_ahead_and_never_returns_is_not_waited_for() {
        let hosts = ImageHosts::new(9, 9);
        let silent = url("silent.example");
        hosts.visit(&silent, "a").await.unwrap().record_silence("nothing");
        advance(PAUSE).await;
        drop(hosts.visit(&silent, "a").await.unwrap());
        let _ahead = hosts.visit(&silent, "a").await.expect("the next one goes ahead instead");
        assert!(hosts.visit(&silent, "a").await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_with_nothing_to_remember_are_forgotten() {
        let hosts = ImageHosts::new(9, 9);
        hosts.visit(&url("silent.example"), "a").await.unwrap().record_silence("nothing");
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
            // Each customer of a platform has its own subdomain.
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
        let hosts = ImageHosts::new(99, 8);
        let mut held = Vec::new();
        for number in 0..7 {
            held.push(hosts.visit(&url(&format!("{number}.dealer.se:{number}")), "a").await.unwrap());
        }
        assert!(waits(hosts.visit(&url("8.dealer.se:8"), "a")).await);
        assert!(!waits(hosts.visit(&url("8.dealer.se:8"), "b")).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_subdomain_keeps_nobody_from_another() {
        let hosts = ImageHosts::new(9, 9);
        hosts.visit(&url("dead.dealer.se"), "a").await.unwrap().record_silence("nothing");
        assert!(hosts.visit(&url("dead.dealer.se"), "a").await.is_err());
        assert!(hosts.visit(&url("images.dealer.se"), "a").await.is_ok());
    }
}
