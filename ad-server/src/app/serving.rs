//! What serves requests: the limits, the console, the servers of the API and of metrics, and the tokens, from the settings.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::ports::{Clock, Store};
use tokio::{sync::watch, task::JoinHandle};

use super::AppError;
use crate::config::Settings;
use ad_server_access::{
    auth::{Caller, KeyFile, KeySet, KeySource, TokenError, UsedTokens, Verifier},
    directory::Directory,
};
use ad_server_base::{
    http_server::{ConnectionLimits, HttpServer, Proxies, ServerOptions},
    limits::RateLimiter,
    processor::Processor,
    telemetry::Metrics,
};
use ad_server_http::{
    api::{self, Authenticator, BodyMemory, EventStreams, Limits, Lists, Stopping, Waits},
    console::{Console, SignInLinks},
};
use ad_server_outside::{marketplace::Circuits, media::Media, webhooks::Webhooks};
use ad_server_store::Database;

/// Connections that ask for metrics: a few programs at most.
const METRICS_CONNECTIONS: usize = 32;

/// Limits of what clients may use, from the settings.
pub(super) fn limits(
    settings: &Settings,
    database: &Database,
    processor: Processor,
    stopped: &watch::Receiver<bool>,
    metrics: &Metrics,
) -> Limits {
    let streams = EventStreams::new(settings.event_streams.get(), settings.token_event_streams.get());
    Limits {
        body_within: settings.request_timeout.duration(),
        body_memory: BodyMemory::new(settings.body_memory.bytes()),
        rate: settings.rate_limit.map(RateLimiter::new),
        lists: Lists::new(database.list_connections()),
        processor,
        waits: Waits::new(settings.waiting_requests(), settings.longest_wait.duration()).until(stopped.clone()),
        event_streams: streams.until(stopped.clone()).counted_by(metrics),
        ..Limits::default()
    }
}

pub(super) fn console_parts(
    settings: &Settings,
    webhooks: &Webhooks,
    media: &Media,
    links: &SignInLinks,
    circuits: Arc<OnceLock<Circuits>>,
) -> Console {
    let media_url = settings.media_url.as_ref().and_then(|url| url::Url::parse(url.as_str()).ok());
    Console {
        vault: Arc::clone(&webhooks.vault),
        database: webhooks.database.clone(),
        clock: Arc::clone(&webhooks.clock),
        media_origin: media_url.map(|url| url.origin().ascii_serialization()),
        links: links.clone(),
        circuits,
        quotas: settings.dealer_quotas(),
        sold_kept: settings.sold_kept.duration(),
        photos_kept: settings.retention_times().photos(),
        media: media.clone(),
    }
}

/// How the API is served.
pub(super) fn options(settings: &Settings) -> ServerOptions {
    ServerOptions {
        listen: settings.listen,
        tls: settings.tls(),
        // Headers and the response take time too; a late body is refused before.
        answer_within: settings.request_timeout.duration() * 2 + settings.longest_wait.duration(),
        idle: settings.idle_timeout.duration(),
        connections: ConnectionLimits {
            total: settings.max_connections.get(),
            per_address: settings.connections_per_address(),
            proxies: settings.proxies(),
        },
    }
}

/// Whether the API serves metrics too: to this machine only, unless the settings ask for more. A proxy would pass them on to
/// everyone.
pub(super) fn serves_metrics(settings: &Settings, address: SocketAddr) -> bool {
    match settings.metrics_listen {
        Some(metrics) => metrics == address,
        None => address.ip().is_loopback() && settings.proxies().is_empty(),
    }
}

/// The server of metrics, if they have an address of their own.
pub(super) async fn metrics_server(settings: &Settings) -> Result<Option<HttpServer>, AppError> {
    let Some(listen) = settings.metrics_listen else { return Ok(None) };
    let connections =
        ConnectionLimits { total: METRICS_CONNECTIONS, per_address: METRICS_CONNECTIONS, proxies: Proxies::default() };
    let options = ServerOptions { listen, tls: None, connections, ..options(settings) };
    Ok(Some(HttpServer::bind(&options, "metrics-listen").await?))
}

pub(super) fn serve_metrics(
    server: HttpServer,
    metrics: Metrics,
    (store, stopping): (Arc<dyn Store>, Stopping),
) -> JoinHandle<()> {
    tokio::spawn(server.run(api::metrics_router(metrics, store, stopping), std::future::pending()))
}

/// Tokens that are verified by their keys and not revoked.
pub(super) struct Tokens {
    pub(super) verifier: Arc<Verifier>,
    directory: Arc<Directory>,
    revocation_max_age: Duration,
    pub(super) used: Arc<UsedTokens>,
}

impl Tokens {
    pub(super) fn new(settings: &Settings, keys: &KeySet, directory: &Arc<Directory>, clock: &Arc<dyn Clock>) -> Self {
        Self {
            verifier: Arc::new(Verifier::new(keys, Arc::clone(clock))),
            directory: Arc::clone(directory),
            revocation_max_age: settings.revocation_max_age.duration(),
            used: Arc::default(),
        }
    }

    /// The file whose changes change the keys, if they are in a file.
    pub(super) fn key_file(&self, settings: &Settings) -> Option<KeyFile> {
        match settings.key_source() {
            KeySource::File(path) => Some(KeyFile::new(path, Arc::clone(&self.verifier))),
            KeySource::Text(_) => None,
        }
    }
}

impl Authenticator for Tokens {
    fn authenticate(&self, token: &str) -> Result<Caller, TokenError> {
        let caller = self.verifier.verify(token)?;
        self.check(&caller)?;
        self.used.add(&caller.jti);
        Ok(caller)
    }

    fn check(&self, caller: &Caller) -> Result<(), TokenError> {
        if self.verifier.has_expired(caller) {
            return Err(TokenError::Expired);
        }
        if self.directory.is_revoked(&caller.jti) {
            return Err(TokenError::Revoked);
        }
        if self.directory.age() > self.revocation_max_age {
            return Err(TokenError::RevocationUnknown);
        }
        Ok(())
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.directory.changes())
    }
}
