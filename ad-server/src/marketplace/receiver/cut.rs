//! Connections that can be cut from within a call, so that its caller never reads an answer.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;
use poem::{
    http::uri::Scheme,
    listener::Acceptor,
    web::{LocalAddr, RemoteAddr},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The open connections, by the address at their other end.
#[derive(Debug, Clone, Default)]
pub(super) struct Connections(Arc<Mutex<HashMap<SocketAddr, Arc<Cut>>>>);

#[derive(Debug, Default)]
struct Cut {
    is_cut: AtomicBool,
    /// Who reads and writes.
    waker: AtomicWaker,
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, HashMap<SocketAddr, Arc<Cut>>> {
        // Nothing that holds it can leave half an entry behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts a connection: nothing more is read from it or written to it.
    pub(super) fn cut(&self, peer: &RemoteAddr) {
        let cut = peer.as_socket_addr().and_then(|peer| self.open().get(peer).cloned());
        if let Some(cut) = cut {
            cut.is_cut.store(true, Ordering::Release);
            cut.waker.wake();
        }
    }
}

/// Accepts connections that can be cut.
pub(super) struct Cutting<A> {
    pub(super) inner: A,
    pub(super) connections: Connections,
}

impl<A: Acceptor> Acceptor for Cutting<A> {
    type Io = Connection<A::Io>;

    fn local_addr(&self) -> Vec<LocalAddr> {
        self.inner.local_addr()
    }

    async fn accept(&mut self) -> io::Result<(Self::Io, LocalAddr, RemoteAddr, Scheme)> {
        let (io, local, remote, scheme) = self.inner.accept().await?;
        let (cut, peer) = (Arc::new(Cut::default()), remote.as_socket_addr().copied());
        if let Some(peer) = peer {
            self.connections.open().insert(peer, Arc::clone(&cut));
        }
        Ok((Connection { io, cut, peer, connections: self.connections.clone() }, local, remote, scheme))
    }
}

/// A connection that can be cut.
pub(super) struct Connection<Io> {
    io: Io,
    cut: Arc<Cut>,
    peer: Option<SocketAddr>,
    connections: Connections,
}

impl<Io> Drop for Connection<Io> {
    fn drop(&mut self) {
        if let Some(peer) = self.peer {
            let mut open = self.connections.open();
            // The address may be in use again.
            if open.get(&peer).is_some_and(|cut| Arc::ptr_eq(cut, &self.cut)) {
                open.remove(&peer);
            }
        }
    }
}

impl<Io: Unpin> Connection<Io> {
    /// The connection itself, unless it is cut.
    fn live(&mut self, context: &Context<'_>) -> io::Result<Pin<&mut Io>> {
        self.cut.waker.register(context.waker());
        if self.cut.is_cut.load(Ordering::Acquire) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(Pin::new(&mut self.io))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Connection<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.live(context) {
            Ok(io) => io.poll_read(context, buffer),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Connection<Io> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.live(context) {
            Ok(io) => io.poll_write(context, bytes),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.live(context) {
            Ok(io) => io.poll_flush(context),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
