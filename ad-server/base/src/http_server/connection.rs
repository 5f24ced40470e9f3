//! One connection, HTTP/1.1 or HTTP/2, with limits on its memory.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use futures_util::FutureExt;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use poem::{
    Body, Endpoint, Request, RequestParts, Response,
    http::{Version, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{Instant, timeout_at},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::either::Either;

use super::{
    admission::ConnectionSlot,
    deadlines::{LongBodies, Timed, Times},
    malformed::{Explained, MalformedRequest, Refusal},
    pace::Paced,
};
use crate::limits::Slot;
use crate::limits::table::{
    HEADER_BYTES, HTTP_HEADERS, HTTP1_BUFFER, HTTP2_CONNECTION_WINDOW, HTTP2_STREAM_WINDOW, HTTP2_STREAMS, TIME_BEYOND,
};

/// What is buffered of one answer until it is sent.
const SEND_BUFFER: usize = 64 * 1024;

/// Streams that a client has reset before they were served (CVE-2023-44487).
const RESET_STREAMS: usize = 20;

const BEYOND: Times = Times { answer: TIME_BEYOND, idle: TIME_BEYOND };

/// Extension of a response: before its connection is closed, the rest of the request's body is read and discarded. The slot counts it
/// against the limit until then.
///
/// A client that is still sending when its connection is closed does not see the answer (RFC 9112, 9.6).
#[derive(Debug, Clone)]
pub struct DiscardBody(pub Arc<Slot<String>>);

/// Extension of a response that is not sent: the connection is closed instead.
#[derive(Debug, Clone, Copy)]
pub struct CloseConnection;

pub(super) struct Connection {
    pub(super) io: TcpStream,
    /// `None`: plain HTTP.
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) place: ConnectionSlot,
}

impl Connection {
    /// Serves the connection until it ends. When the server stops, running requests are still answered.
    pub(super) async fn serve<E>(self, endpoint: Arc<E>, times: Times, mut stopped: watch::Receiver<bool>)
    where
        E: Endpoint<Output = Response> + 'static,
    {
        let Self { io, tls, local, remote, place } = self;
        let (opened, times) = (Instant::now(), if place.beyond.is_some() { BEYOND } else { times });
        let (io, scheme) = match tls {
            None => (Either::Left(io), Scheme::HTTP),
            Some(tls) => {
                let shaken = tokio::select! {
                    shaken = timeout_at(opened + times.answer, tls.accept(io)) => shaken,
                    () = place.close.notified() => return,
                    _ = stopped.wait_for(|stopped| *stopped) => return,
                };
                let Ok(Ok(stream)) = shaken else { return };
                (Either::Right(Box::new(stream)), Scheme::HTTPS)
            }
        };
        let (local, remote) = (LocalAddr(local.into()), RemoteAddr(remote.into()));
        let (beyond, close) = (place.beyond, Arc::clone(&place.close));
        let discard = Arc::<OnceLock<DiscardBody>>::default();
        let refuse = {
            let (endpoint, local, remote, scheme) =
                (Arc::clone(&endpoint), local.clone(), remote.clone(), scheme.clone());
            let discard = Arc::clone(&discard);
            move |malformed: MalformedRequest| {
                let (parts, ()) = hyper::Request::new(()).into_parts();
                let parts = RequestParts::from((parts, local.clone(), remote.clone(), scheme.clone()));
                let mut request = Request::from_parts(parts, Body::empty());
                let (endpoint, discard) = (Arc::clone(&endpoint), Arc::clone(&discard));
                async move {
                    request.set_data(malformed.clone());
                    let mut response = endpoint.get_response(request).await;
                    keep(&mut response, &discard);
                    Refusal::of(&malformed, response).await
                }
                .boxed()
            }
        };
        let io = Explained::new(io, Box::new(refuse));
        let long_bodies = LongBodies::default();
        let io = Timed::new(io, times, opened, Arc::clone(&discard), long_bodies.clone());
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (endpoint, close, discard) = (Arc::clone(&endpoint), Arc::clone(&close), Arc::clone(&discard));
            let (local, remote, scheme) = (local.clone(), remote.clone(), scheme.clone());
            let long_bodies = long_bodies.clone();
            async move {
                let version = request.version();
                let malformed = MalformedRequest::with_headers(version, request.headers());
                let mut request = Request::from((request, local, remote, scheme));
                request.set_data(long_bodies);
                if let Some(malformed) = malformed {
                    request.set_data(malformed);
                }
                if let Some(limit) = beyond {
                    request.set_data(limit);
                }
                let mut response = endpoint.get_response(request).await;
                // HTTP/2 ends a stream alone, and its connection goes on.
                if version != Version::HTTP_2 {
                    keep(&mut response, &discard);
                }
                if response.extensions().get::<CloseConnection>().is_some() {
                    close.notify_one();
                    std::future::pending::<()>().await;
                }
                let response = hyper::Response::from(response);
                Ok::<_, Infallible>(response.map(|body| Paced::new(body, times.grace(), &close)))
            }
        });
        let builder = protocol();
        let connection = builder.serve_connection(TokioIo::new(io), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            // How a connection ends is the client's business: it went away, or was too slow.
            _ = connection.as_mut() => return,
            () = place.close.notified() => return,
            _ = stopped.wait_for(|stopped| *stopped) => connection.as_mut().graceful_shutdown(),
        }
        tokio::select! {
            _ = connection => {}
            () = place.close.notified() => {}
        }
    }
}

/// Keeps the slot for the rest of a body until the connection has ended.
fn keep(response: &mut Response, discard: &OnceLock<DiscardBody>) {
    if let Some(slot) = response.extensions_mut().remove::<DiscardBody>() {
        let _first = discard.set(slot);
    }
}

fn protocol() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().max_buf_size(HTTP1_BUFFER).max_headers(HTTP_HEADERS);
    builder
        .http2()
        .max_concurrent_streams(HTTP2_STREAMS)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW)
        // Twice as much is read, so that the answer to too many of them says so.
        .max_header_list_size(2 * HEADER_BYTES)
        .max_send_buf_size(SEND_BUFFER)
        .max_pending_accept_reset_streams(RESET_STREAMS);
    builder
}
