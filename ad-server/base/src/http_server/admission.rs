//! Limits connections: a total, a share of it for each client address, and beyond both a small reserve for health checks.
//!
//! No connection waits to be accepted behind those of another client. A connection beyond a limit is served for a few seconds; its
//! requests carry the limit, so that what is served can refuse them. When the reserve is full, a new connection replaces the oldest
//! one.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::lock::locked;
use tokio::{sync::Notify, time::Instant};

use crate::limits::table::CONNECTIONS_BEYOND;
use crate::limits::{ConcurrencyLimit, Exceeded, Slot};

/// Pause between two warnings that a limit is met.
const WARN_EVERY: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Most connections from all addresses together.
    pub total: usize,
    /// The same from one client address. IPv6 addresses count by their first 64 bits, which is what one client has.
    pub per_address: usize,
    /// Proxies, which bring the connections of many clients: for them only the total counts.
    pub proxies: Proxies,
}

/// Addresses of proxies whose headers about the client's request are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Arc<[ipnet::IpNet]>);

impl Proxies {
    /// Those with addresses in these ranges.
    pub fn new(ranges: impl IntoIterator<Item = ipnet::IpNet>) -> Self {
        Self(ranges.into_iter().collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(&address))
    }
}

/// A limit that a connection is beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionLimit {
    /// The limit on all connections.
    Total(usize),
    /// The limit on connections from one address.
    Address(usize),
}

impl From<Exceeded> for ConnectionLimit {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::Total(limit) => Self::Total(limit),
            Exceeded::Key(limit) => Self::Address(limit),
        }
    }
}

impl ConnectionLimit {
    /// The message for its client.
    pub fn detail(self) -> String {
        match self {
            Self::Total(limit) => format!(
                "The server has as many connections as max_connections allows ({limit}). Try again in a moment, and close \
                 connections that you do not use."
            ),
            Self::Address(limit) => format!(
                "Your address has as many connections as connections_per_address allows ({limit}). Use the ones that are \
                 open, or close some and try again."
            ),
        }
    }
}

/// Counts connections and decides about each new one. Clones share the count.
#[derive(Debug, Clone)]
pub(super) struct Admission(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    served: ConcurrencyLimit<IpAddr>,
    proxies: Proxies,
    beyond: Mutex<BeyondLimits>,
}

#[derive(Debug, Default)]
struct BeyondLimits {
    /// Connections beyond the limits, oldest first.
    reserve: Vec<Reserved>,
    last_warning: Option<Instant>,
}

#[derive(Debug)]
struct Reserved {
    address: Option<IpAddr>,
    close: Arc<Notify>,
}

/// The place of a connection; dropping it frees the place.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    shared: Arc<Shared>,
    /// `None` beyond the limits.
    _slot: Option<Slot<IpAddr>>,
    pub(super) beyond: Option<ConnectionLimit>,
    /// Notified when the connection has to end.
    pub(super) close: Arc<Notify>,
}

impl Admission {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        let ConnectionLimits { total, per_address, proxies } = limits;
        Self(Arc::new(Shared { served: ConcurrencyLimit::new(total, per_address), proxies, beyond: Mutex::default() }))
    }

    /// Open connections, with those beyond the limits.
    pub(super) fn connections(&self) -> usize {
        self.0.served.count() + locked(&self.0.beyond).reserve.len()
    }

    pub(super) fn limit(&self) -> usize {
        self.0.served.total()
    }

    /// Gives a new connection its place.
    pub(super) fn admit(&self, remote: Option<IpAddr>) -> ConnectionSlot {
        let address = remote.filter(|address| !self.0.proxies.contains(*address)).map(client);
        let close = Arc::new(Notify::new());
        let (slot, beyond) = match self.0.served.try_take(address) {
            Ok(slot) => (Some(slot), None),
            Err(exceeded) => {
                let limit = ConnectionLimit::from(exceeded);
                let mut beyond = locked(&self.0.beyond);
                beyond.reserve(Reserved { address, close: Arc::clone(&close) });
                beyond.warn(limit, remote);
                (None, Some(limit))
            }
        };
        ConnectionSlot { shared: Arc::clone(&self.0), _slot: slot, beyond, close }
    }
}

/// The part of an address by which clients are counted.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl BeyondLimits {
    /// Takes in a connection beyond the limits. If all places are taken, the address with most of them loses its oldest
    /// connection.
    fn reserve(&mut self, reserved: Reserved) {
        if self.reserve.len() >= CONNECTIONS_BEYOND {
            let of = |address| self.reserve.iter().filter(|other| other.address == address).count();
            let most = self.reserve.iter().map(|other| of(other.address)).max();
            let oldest = self.reserve.iter().position(|other| Some(of(other.address)) == most);
            if let Some(oldest) = oldest {
                self.reserve.remove(oldest).close.notify_one();
            }
        }
        self.reserve.push(reserved);
    }

    fn warn(&mut self, limit: ConnectionLimit, remote: Option<IpAddr>) {
        if self.last_warning.is_some_and(|last| last.elapsed() < WARN_EVERY) {
            return;
        }
        self.last_warning = Some(Instant::now());
        let address = remote.map(tracing::field::display);
        match limit {
            ConnectionLimit::Total(max_connections) => {
                tracing::warn!(max_connections, address, "connection limit reached; refusing new connections");
            }
            ConnectionLimit::Address(connections_per_address) => tracing::warn!(
                connections_per_address,
                address,
                "connection limit of an address reached; refusing its new connections. If it is a proxy, add it to trusted_proxies"
            ),
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if self.beyond.is_some() {
            locked(&self.shared.beyond).reserve.retain(|reserved| !Arc::ptr_eq(&reserved.close, &self.close));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn admission(total: usize, per_address: usize) -> Admission {
        let proxies = Proxies::new(["10.0.0.0/24".parse().unwrap(), "::1/128".parse().unwrap()]);
        Admission::new(ConnectionLimits { total, per_address, proxies })
    }

    fn admit(admission: &Admission, address: &str) -> ConnectionSlot {
        admission.admit(Some(address.parse().unwrap()))
    }

    fn has_to_end(place: &ConnectionSlot) -> bool {
        place.close.notified().now_or_never().is_some()
    }

    #[test]
    fn an_address_has_its_share_and_a_proxy_has_none() {
        let admission = admission(10, 2);
        let first = admit(&admission, "192.0.2.1");
        let second = admit(&admission, "::ffff:192.0.2.1");
        assert_eq!((first.beyond, second.beyond), (None, None));
        assert_eq!(admit(&admission, "192.0.2.1").beyond, Some(ConnectionLimit::Address(2)));
        assert_eq!(admit(&admission, "192.0.2.2").beyond, None);
        drop(first);
        assert_eq!(admit(&admission, "192.0.2.1").beyond, None);
        let proxied: Vec<_> = (0..9).map(|_| admit(&admission, "10.0.0.7")).collect();
        assert!(proxied.iter().all(|place| place.beyond.is_none()));
        assert_eq!(admit(&admission, "10.0.0.7").beyond, Some(ConnectionLimit::Total(10)));
        drop((second, proxied));
        assert_eq!(admission.connections(), 0);
    }

    #[test]
    fn addresses_of_ipv6_count_by_their_network() {
        let admission = admission(10, 2);
        let _two = [admit(&admission, "2001:db8:0:1::1"), admit(&admission, "2001:db8:0:1:ffff::2")];
        assert_eq!(admit(&admission, "2001:db8:0:1::3").beyond, Some(ConnectionLimit::Address(2)));
        assert_eq!(admit(&admission, "2001:db8:0:2::1").beyond, None);
    }

    #[test]
    fn a_newcomer_beyond_the_limit_takes_the_place_of_the_greediest_addresss_oldest_connection() {
        let admission = admission(1, 1);
        let _served = admit(&admission, "192.0.2.1");
        let other = admit(&admission, "192.0.2.2");
        let greedy: Vec<_> = (0..CONNECTIONS_BEYOND - 1).map(|_| admit(&admission, "192.0.2.1")).collect();
        assert!(!greedy.iter().any(has_to_end) && !has_to_end(&other));
        let newcomer = admit(&admission, "192.0.2.3");
        assert_eq!((other.beyond, newcomer.beyond), (Some(ConnectionLimit::Total(1)), Some(ConnectionLimit::Total(1))));
        assert!(has_to_end(&greedy[0]) && !has_to_end(&greedy[1]) && !has_to_end(&other) && !has_to_end(&newcomer));
        drop((other, newcomer, greedy));
        assert_eq!(admission.connections(), 1);
    }
}
