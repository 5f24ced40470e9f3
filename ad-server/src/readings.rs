//! Gauges that are read when metrics are requested, from parts that do not know that they are observed.

use std::sync::{Arc, OnceLock};

use ad_core::{
    model::Market,
    model::Timestamp,
    ports::{Clock, StoreError},
};
use ad_server_access::{auth::Verifier, directory::Directory};
use ad_server_base::{
    http_server::ServerWatch,
    telemetry::{
        QueueLoad, QueueSource,
        readings::{MARKETS, Reading, ReadingLabels, number, seconds_of},
    },
};
use ad_server_outside::marketplace::Circuits;
use ad_server_store::Database;
use async_trait::async_trait;

#[derive(Clone)]
pub(crate) struct DatabaseQueue {
    pub database: Database,
    pub clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(DatabaseQueue);

#[async_trait]
impl QueueSource for DatabaseQueue {
    async fn queue_state(&self) -> Result<QueueLoad, StoreError> {
        let now = self.clock.now();
        let state = self.database.queue_state(now).await?;
        let pending_deliveries = self.database.pending_deliveries().await?;
        let last_backup = self.database.last_backup().await?;
        let waited = |since: Option<Timestamp>| since.map(|since| now - since);
        let (oldest, oldest_due) = (waited(state.oldest), waited(state.oldest_due));
        let unread_events = waited(self.database.unread_events().await?.map(|unread| unread.since));
        let waiting_commits = self.database.waiting_commits().await?;
        let depth = state.depth;
        Ok(QueueLoad { depth, oldest, oldest_due, pending_deliveries, unread_events, waiting_commits, last_backup })
    }
}

fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

fn of_market(market: Market) -> ReadingLabels {
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

/// Connections to the database by purpose.
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
    let expiry = watch.certificate_expires().map(|at| (ReadingLabels::new(), at as f64));
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

/// Times at which token keys expire.
pub(crate) fn token_keys(verifier: &Verifier) -> Vec<Reading> {
    let expiries = verifier.key_expiries().into_iter().map(|(kid, at)| (vec![("kid", kid)], seconds_of(at)));
    vec![Reading::gauges(
        "ad_token_key_expiry_timestamp_seconds",
        "When a token key expires that has an end (exp), in seconds since 1970",
        expiries,
    )]
}
