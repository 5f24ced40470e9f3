//! Connections that end when their client is too slow, and no more of them at once than allowed.
//!
//! The library that speaks HTTP waits for ever for a request that comes byte by byte, so time is kept here, where bytes pass:
//! from the first byte of a request until the first of its answer, between requests, and while an answer is not read.

use std::{
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use poem::{
    http::uri::Scheme,
    listener::Acceptor,
    web::{LocalAddr, RemoteAddr},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep},
};

use super::ServerOptions;

/// Pause after a connection could not be accepted: what is used up, such as file handles, does not come back at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections and times them.
pub(super) struct Patient<A> {
    inner: A,
    times: Times,
    free: Arc<Semaphore>,
}

#[derive(Clone, Copy)]
struct Times {
    answer: Duration,
    idle: Duration,
}

impl<A> Patient<A> {
    pub(super) fn new(inner: A, options: &ServerOptions) -> Self {
        let times = Times { answer: options.answer_within, idle: options.idle };
        let connections = options.connections.min(Semaphore::MAX_PERMITS);
        Self { inner, times, free: Arc::new(Semaphore::new(connections)) }
    }
}

impl<A: Acceptor> Acceptor for Patient<A> {
    type Io = Timed<A::Io>;

    fn local_addr(&self) -> Vec<LocalAddr> {
        self.inner.local_addr()
    }

    async fn accept(&mut self) -> io::Result<(Self::Io, LocalAddr, RemoteAddr, Scheme)> {
        let place = Arc::clone(&self.free).acquire_owned().await.map_err(io::Error::other)?;
        match self.inner.accept().await {
            Ok((io, local, remote, scheme)) => Ok((Timed::new(io, self.times, place), local, remote, scheme)),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                Err(error)
            }
        }
    }
}

/// A connection.
pub(super) struct Timed<Io> {
    inner: Io,
    times: Times,
    /// Whether bytes have come since the last ones that were sent.
    receiving: bool,
    /// When the client will have been too slow.
    deadline: Instant,
    /// The same for what it does not read.
    unread: Option<Instant>,
    /// Wakes no later than the next deadline. Deadlines move with every request, so it is set anew only when one moves
    /// forward, or when it wakes too early.
    alarm: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl<Io> Timed<Io> {
    fn new(inner: Io, times: Times, place: OwnedSemaphorePermit) -> Self {
        // A new connection has brought nothing yet, but is there for a request.
        let deadline = Instant::now() + times.answer;
        let alarm = Box::pin(tokio::time::sleep_until(deadline));
        Self { inner, times, receiving: false, deadline, unread: None, alarm, _place: place }
    }

    /// Fails when the deadline is over, else has the task woken then.
    fn check(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<io::Error> {
        if deadline < self.alarm.deadline() {
            self.alarm.as_mut().reset(deadline);
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            if Instant::now() >= deadline {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.alarm.as_mut().reset(deadline);
        }
    }

    fn received(&mut self) {
        if !self.receiving {
            self.receiving = true;
            self.deadline = Instant::now() + self.times.answer;
        }
    }

    fn sent(&mut self) {
        self.receiving = false;
        self.unread = None;
        self.deadline = Instant::now() + self.times.idle;
    }

    fn after_write(&mut self, written: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(result) => {
                self.sent();
                Poll::Ready(result)
            }
            Poll::Pending => {
                let deadline = *self.unread.get_or_insert_with(|| Instant::now() + self.times.idle);
                self.check(deadline, context).map(Err)
            }
        }
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Timed<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut this.inner).poll_read(context, buffer) {
            Poll::Ready(result) => {
                if buffer.filled().len() > before {
                    this.received();
                }
                Poll::Ready(result)
            }
            Poll::Pending => this.check(this.deadline, context).map(Err),
        }
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Timed<Io> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.after_write(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.after_write(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const TIMES: Times = Times { answer: Duration::from_secs(30), idle: Duration::from_secs(75) };

    fn connection(buffer: usize) -> (Timed<DuplexStream>, DuplexStream) {
        let (ours, theirs) = duplex(buffer);
        let place = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        (Timed::new(ours, TIMES, place), theirs)
    }

    /// Reads until the connection is cut off, and returns when that was.
    async fn cut_off(connection: &mut Timed<DuplexStream>) -> Duration {
        let begun = Instant::now();
        let mut buffer = [0; 64];
        loop {
            match connection.read(&mut buffer).await {
                Ok(read) => assert_ne!(read, 0, "the client has closed"),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                    return begun.elapsed();
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_byte_by_byte_is_cut_off() {
        let (mut ours, mut theirs) = connection(64);
        let drips = tokio::spawn(async move {
            while theirs.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        assert_eq!(cut_off(&mut ours).await.as_secs(), 30);
        drop(ours);
        drips.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_has_less_time_for_its_first_request_than_between_two() {
        let (mut ours, _theirs) = connection(64);
        assert_eq!(cut_off(&mut ours).await.as_secs(), 30);

        let (mut ours, mut others) = connection(64);
        others.write_all(b"request").await.unwrap();
        ours.read_exact(&mut [0; 7]).await.unwrap();
        ours.write_all(b"answer").await.unwrap();
        assert_eq!(cut_off(&mut ours).await.as_secs(), 75);

        // The next one has its own time, though the alarm was set for later.
        ours.write_all(b"answer").await.unwrap();
        others.write_all(b"request").await.unwrap();
        assert_eq!(cut_off(&mut ours).await.as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_is_given_up() {
        let (mut ours, theirs) = connection(8);
        let begun = Instant::now();
        let error = ours.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed().as_secs()), (io::ErrorKind::TimedOut, 75));
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_read_slowly_is_not_given_up() {
        let (mut ours, mut theirs) = connection(8);
        let reads = tokio::spawn(async move {
            let mut read = 0;
            while read < 64 {
                tokio::time::sleep(Duration::from_mins(1)).await;
                read += theirs.read(&mut [0; 8]).await.unwrap();
            }
        });
        ours.write_all(&[0; 64]).await.unwrap();
        reads.await.unwrap();
    }
}
