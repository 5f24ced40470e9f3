//! The HTTP server around any endpoint: where it listens, TLS, how long it waits for clients, how many it has at once, and how
//! it ends. What is answered is not its business.

mod patience;
mod tls;

use std::{future::Future, io, net::SocketAddr, time::Duration};

use poem::{
    Endpoint, Response, Server,
    listener::{Acceptor, AcceptorExt, BoxAcceptor, Listener, TcpListener},
};

pub use self::tls::{TlsError, TlsFiles};
use self::{patience::Patient, tls::Certificates};

/// How long answers under way may take after a stop was asked for.
const DRAIN: Duration = Duration::from_secs(10);

/// Requests at the same time on one connection of HTTP/2.
const STREAMS: u32 = 100;

/// How a server is run.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where.
    pub listen: SocketAddr,
    /// Certificate and key; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Time in which the answer to a request must have begun, from its first byte on.
    pub answer_within: Duration,
    /// How long a connection may be silent between requests, and a client may leave an answer unread.
    pub idle: Duration,
    /// Most connections at the same time; more wait to be accepted.
    pub connections: usize,
}

/// Why it cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address.
    #[error("cannot listen on {address}: {source}; stop what is using it, or choose another with --{setting}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
        /// The setting to change.
        setting: &'static str,
    },
    /// Certificate or key.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A server that has its address and is not running yet.
pub struct HttpServer {
    acceptor: BoxAcceptor,
    address: SocketAddr,
    scheme: &'static str,
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HttpServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Takes the address. `setting` is the one that names it, for the error.
    ///
    /// # Errors
    /// When the address is taken, or certificate and key cannot be used.
    pub async fn bind(options: &ServerOptions, setting: &'static str) -> Result<Self, ServerError> {
        let certificates = options.tls.clone().map(Certificates::load).transpose()?;
        let acceptor = TcpListener::bind(options.listen).into_acceptor().await;
        let listen = |source| ServerError::Listen { address: options.listen, source, setting };
        let acceptor = acceptor.map_err(listen)?;
        let address = acceptor.local_addr().first().and_then(|local| local.as_socket_addr().copied());
        let address = address.unwrap_or(options.listen);
        // Below TLS, so that it also holds for clients that never come to an end with their handshake.
        let acceptor = Patient::new(acceptor, options);
        let (acceptor, scheme) = match certificates {
            Some(certificates) => (acceptor.rustls(certificates.kept_fresh()).boxed(), "https"),
            None => (acceptor.boxed(), "http"),
        };
        Ok(Self { acceptor, address, scheme })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its own address as clients on this machine would write it.
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Serves until it is told to stop (`until` comes to its end), then takes no more requests and lets answers under way come to their end.
    ///
    /// # Errors
    /// When it ends by itself.
    pub async fn run<E>(self, endpoint: E, until: impl Future<Output = ()>) -> io::Result<()>
    where
        E: Endpoint<Output = Response> + 'static,
    {
        let server = Server::new_with_acceptor(self.acceptor).http2_max_concurrent_streams(STREAMS);
        server.run_with_graceful_shutdown(endpoint, until, Some(DRAIN)).await
    }
}
