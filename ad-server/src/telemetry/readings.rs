//! Gauges that are read when metrics are requested, from parts that do not know that they are observed.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use ad_core::{
    lock::locked,
    model::{Market, Timestamp},
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder},
    metrics::{MetricType, exemplar::Exemplar},
};

use crate::{auth::Verifier, directory::Directory, http_server::ServerWatch, marketplace::Circuits, store::Database};

pub(super) const MARKETS: [Market; 2] = [Market::Primary, Market::Secondary];

type Labels = Vec<(&'static str, String)>;

/// A metric as it is now.
pub(crate) struct Reading {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    values: Vec<(Labels, f64)>,
}

impl Reading {
    /// A gauge without labels.
    pub(crate) fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Self::gauges(name, help, [(Labels::new(), value)])
    }

    /// A gauge for each of these labels.
    pub(crate) fn gauges(
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (Labels, f64)>,
    ) -> Self {
        Self { name, help, kind: MetricType::Gauge, values: values.into_iter().collect() }
    }

    /// A counter for each of these labels; its name gets the end `_total`.
    pub(crate) fn counters(
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (Labels, f64)>,
    ) -> Self {
        Self { kind: MetricType::Counter, ..Self::gauges(name, help, values) }
    }

    /// A counter without labels; its name gets the end `_total`.
    pub(crate) fn counter(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { kind: MetricType::Counter, ..Self::gauge(name, help, value) }
    }

    fn encode(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let Self { name, help, kind, values } = self;
        if values.is_empty() {
            return Ok(());
        }
        let mut encoder = encoder.encode_descriptor(name, help, None, *kind)?;
        let encode = |encoder: &mut MetricEncoder, value: &f64| match kind {
            MetricType::Counter => encoder.encode_counter(value, None::<&Exemplar<Labels, f64>>),
            _ => encoder.encode_gauge(value),
        };
        values.iter().try_for_each(|(labels, value)| {
            if labels.is_empty() {
                encode(&mut encoder, value)
            } else {
                encode(&mut encoder.encode_family(labels)?, value)
            }
        })
    }
}

type Read = Box<dyn Fn() -> Vec<Reading> + Send + Sync>;

/// What is read when metrics are requested. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Readings(Arc<Mutex<Vec<Read>>>);

debug_by_name!(Readings);

impl Readings {
    pub(super) fn add(&self, read: Read) {
        locked(&self.0).push(read);
    }
}

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let readings: Vec<_> = locked(&self.0).iter().flat_map(|read| read()).collect();
        readings.iter().try_for_each(|reading| reading.encode(&mut encoder))
    }
}

/// A time as metrics show it.
#[expect(clippy::cast_precision_loss, reason = "exact to the millisecond for 285,000 years")]
pub(super) fn seconds_of(at: Timestamp) -> f64 {
    at.as_millis() as f64 / 1000.0
}

fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

fn of_market(market: Market) -> Labels {
    vec![("marketplace", market.name().to_owned())]
}

/// Which marketplaces are paused, and which circuits are open; a process without workers has no circuits.
pub(crate) fn marketplaces(directory: &Directory, circuits: &OnceLock<Circuits>) -> Vec<Reading> {
    let paused = MARKETS.map(|market| (of_market(market), flag(directory.paused(market).is_some())));
    let open = circuits.get().into_iter().flat_map(Circuits::open);
    vec![
        Reading::gauges("ad_marketplace_paused", "1 while an operator has paused the marketplace", paused),
        Reading::gauges(
            "ad_marketplace_breaker_open",
            "1 while the circuit breaker of a marketplace over HTTP is not closed",
            open.map(|(market, is_open)| (of_market(market), flag(is_open))),
        ),
    ]
}

/// Connections to the database.
pub(crate) fn database(database: &Database) -> Vec<Reading> {
    let pools = database.pools();
    let labels = |pool: &str, state: &str| vec![("pool", pool.to_owned()), ("state", state.to_owned())];
    let used = pools.iter().flat_map(|pool| {
        [(labels(pool.name, "busy"), number(pool.busy)), (labels(pool.name, "idle"), number(pool.idle))]
    });
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    let (on_standby, on_primary) = {
        let (on_standby, on_primary) = database.lists_read();
        (on_standby as f64, on_primary as f64)
    };
    let limits = pools.iter().map(|pool| (vec![("pool", pool.name.to_owned())], number(pool.limit)));
    vec![
        Reading::gauges("ad_database_connections", "Connections to the database", used),
        Reading::gauges("ad_database_connections_limit", "Most connections to the database", limits),
        Reading::counters(
            "ad_database_standby_lists",
            "Lists read on the standby, and on the primary because the standby was behind or did not answer",
            [("standby", on_standby), ("primary", on_primary)]
                .map(|(server, lists)| (vec![("server", server.to_owned())], lists)),
        ),
    ]
}

/// Connections of clients, and until when the certificate is valid.
pub(crate) fn server(watch: &ServerWatch) -> Vec<Reading> {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    let expiry = watch.certificate_expires().map(|at| (Labels::new(), at as f64));
    vec![
        Reading::gauge("ad_http_connections", "Open connections of clients of the API", number(watch.connections())),
        Reading::gauge(
            "ad_http_connections_limit",
            "Most connections, as max_connections sets it",
            number(watch.limit()),
        ),
        Reading::gauges(
            "ad_tls_certificate_expiry_timestamp_seconds",
            "When the first certificate of tls_cert expires, in seconds since 1970",
            expiry,
        ),
    ]
}

/// When token keys expire.
pub(crate) fn token_keys(verifier: &Verifier) -> Vec<Reading> {
    let expiries = verifier.key_expiries().into_iter().map(|(kid, at)| (vec![("kid", kid)], seconds_of(at)));
    vec![Reading::gauges(
        "ad_token_key_expiry_timestamp_seconds",
        "When a token key expires that has an end (exp), in seconds since 1970",
        expiries,
    )]
}
