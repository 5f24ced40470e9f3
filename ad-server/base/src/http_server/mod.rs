//! The HTTP server around any endpoint: address, TLS, timeouts, connection limits and shutdown.

mod admission;
mod connection;
mod deadlines;
mod expiry;
mod malformed;
mod pace;
mod tls;

use std::{future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::BoxStream};
use poem::{Endpoint, Response};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use self::{
    admission::Admission,
    connection::Connection,
    deadlines::Times,
    tls::{Certificates, Expiry},
};
pub use self::{
    admission::{ConnectionLimit, ConnectionLimits, Proxies},
    connection::{CloseConnection, DiscardBody},
    deadlines::{LongBodies, LongBody},
    malformed::MalformedRequest,
    tls::{TlsError, TlsFiles},
};

/// How long responses in progress may take during shutdown.
const DRAIN: Duration = Duration::from_secs(10);

/// Pause after a connection could not be accepted: a lack of file handles, for example, lasts for a moment.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Certificate and key; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Time from the first byte of a request to the first byte of its response.
    pub answer_within: Duration,
    /// How long a connection may be silent between requests.
    pub idle: Duration,
    /// How many connections there may be at the same time.
    pub connections: ConnectionLimits,
}

/// Why the server cannot start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(
        "cannot listen on {address}: {source}; stop the process that uses it, or choose another address with --{setting}"
    )]
    Listen { address: SocketAddr, source: io::Error, setting: &'static str },
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A server that has its address and is not running yet.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    times: Times,
    watch: ServerWatch,
}

crate::debug_by_name!(HttpServer);

/// What makes TLS of connections: now, and with each new certificate.
struct Tls {
    acceptor: TlsAcceptor,
    newer: BoxStream<'static, TlsAcceptor>,
}

/// State of a running server, for metrics.
#[derive(Clone)]
pub struct ServerWatch {
    admission: Admission,
    expiry: Option<Expiry>,
}

crate::debug_by_name!(ServerWatch);

impl ServerWatch {
    pub fn connections(&self) -> usize {
        self.admission.connections()
    }

    pub fn limit(&self) -> usize {
        self.admission.limit()
    }

    /// When the first certificate of the chain expires, in seconds since 1970; `None` without TLS.
    pub fn certificate_expires(&self) -> Option<i64> {
        self.expiry.as_ref().map(Expiry::get)
    }
}

impl HttpServer {
    /// Binds the address. `setting` is the name of its setting, for the error.
    ///
    /// # Errors
    /// When the address is taken, or certificate and key cannot be used.
    pub async fn bind(options: &ServerOptions, setting: &'static str) -> Result<Self, ServerError> {
        let certificates = options.tls.clone().map(Certificates::load).transpose()?;
        let listen = |source| ServerError::Listen { address: options.listen, source, setting };
        let listener = TcpListener::bind(options.listen).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let expiry = certificates.as_ref().map(Certificates::expiry);
        let tls =
            certificates.map(|certificates| Tls { acceptor: certificates.acceptor(), newer: certificates.newer() });
        let times = Times { answer: options.answer_within, idle: options.idle };
        let watch = ServerWatch { admission: Admission::new(options.connections.clone()), expiry };
        Ok(Self { listener, address, tls, times, watch })
    }

    /// Counts of connections, for metrics.
    pub fn watch(&self) -> ServerWatch {
        self.watch.clone()
    }

    /// The address on which it listens, with the port that the system chose for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its own address as clients on this machine would write it.
    pub fn base_url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `until` ends, then accepts no more requests and finishes those in progress.
    ///
    /// A request that the HTTP library cannot read is passed on as a [`MalformedRequest`]; the library answers it by a status alone unless
    /// the endpoint answers with that status.
    ///
    /// Requests on a connection beyond the limits carry the [`ConnectionLimit`] as data. The endpoint is to refuse them, except
    /// what must be answered when the server is full: health checks and metrics.
    pub async fn run<E>(mut self, endpoint: E, until: impl Future<Output = ()>)
    where
        E: Endpoint<Output = Response> + 'static,
    {
        let endpoint = Arc::new(endpoint);
        let (stop, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut until = pin!(until);
        loop {
            tokio::select! {
                () = &mut until => break,
                Some(acceptor) = newer(&mut self.tls) => {
                    if let Some(tls) = &mut self.tls {
                        tls.acceptor = acceptor;
                    }
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((io, remote)) => {
                        let place = self.watch.admission.admit(Some(remote.ip()));
                        let tls = self.tls.as_ref().map(|tls| tls.acceptor.clone());
                        let connection = Connection { io, tls, local: self.address, remote, place };
                        connections.spawn(connection.serve(Arc::clone(&endpoint), self.times, stopped.clone()));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept connection");
                        sleep(PAUSE).await;
                    }
                },
                // Removes the ended task; the connection has freed its slot itself.
                Some(_ended) = connections.join_next() => {}
            }
        }
        drop(self.listener);
        stop.send_replace(true);
        // What is not answered by then is cut off.
        let _late = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
    }
}

/// The next acceptor, when there is a new certificate; `None` without TLS.
async fn newer(tls: &mut Option<Tls>) -> Option<TlsAcceptor> {
    tls.as_mut()?.newer.next().await
}
