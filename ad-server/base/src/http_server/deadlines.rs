//! Closes connections whose client is too slow.
//!
//! hyper waits without limit for a request that arrives byte by byte, so time is measured here, where bytes pass: from the first
//! byte of a request to the first byte of its response, between requests, and while a response is not read.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

use super::{connection::DiscardBody, pace::of_client};
use crate::limits::{
    MinimumRate,
    table::{ANSWER_BEHIND, DISCARDED_BYTES},
};

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// From the first byte of a request until the first of its answer.
    pub(super) answer: Duration,
    /// Longest silence between requests, and before the first one unless `answer` is shorter.
    pub(super) idle: Duration,
}

impl Times {
    /// How far a client may fall behind the minimum rate.
    pub(super) fn grace(&self) -> Duration {
        self.idle.min(ANSWER_BEHIND)
    }
}

/// Extension of a request whose body may be sent for longer than an answer may take: as long as there is a [`LongBody`], the time for
/// the answer begins anew with every byte. Who reads the body sees to its pace.
#[derive(Debug, Clone, Default)]
pub struct LongBodies(Arc<AtomicUsize>);

/// A long body that is being read.
#[derive(Debug)]
pub struct LongBody(Arc<AtomicUsize>);

impl LongBodies {
    /// A long body of the connection, until it is dropped.
    pub fn begin(&self) -> LongBody {
        self.0.fetch_add(1, Ordering::Relaxed);
        LongBody(Arc::clone(&self.0))
    }

    fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for LongBody {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that is closed when its client takes too long.
pub(super) struct Timed<Io> {
    inner: Io,
    times: Times,
    long_bodies: LongBodies,
    /// Whether bytes have come since the last ones that were sent.
    receiving: bool,
    deadline: Instant,
    pace: MinimumRate,
    /// Wakes no later than the next deadline. Deadlines move with every request, so it is set anew only when one moves
    /// forward, or when it wakes too early.
    alarm: Pin<Box<Sleep>>,
    /// Set when the rest of a body is to be discarded before the connection is closed.
    discard: Arc<OnceLock<DiscardBody>>,
    /// How many more bytes are discarded, once that has begun.
    discarded: Option<u64>,
}

impl<Io> Timed<Io> {
    /// `opened`: when the connection began, with or without TLS.
    pub(super) fn new(
        inner: Io,
        times: Times,
        opened: Instant,
        discard: Arc<OnceLock<DiscardBody>>,
        long_bodies: LongBodies,
    ) -> Self {
        // A new connection has sent nothing yet, but a request is expected.
        let deadline = opened + times.answer.min(times.idle);
        let alarm = Box::pin(tokio::time::sleep_until(deadline));
        let pace = of_client(times.grace());
        Self { inner, times, long_bodies, receiving: false, deadline, pace, alarm, discard, discarded: None }
    }

    /// Fails if the deadline is over; otherwise wakes the task at the deadline.
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
        if !self.receiving || self.long_bodies.is_any() {
            self.receiving = true;
            self.deadline = Instant::now() + self.times.answer;
        }
    }

    fn sent(&mut self, bytes: usize) {
        self.receiving = false;
        self.pace.passed(bytes);
        self.deadline = Instant::now() + self.times.idle;
        // hyper, which waits for the next request already, does not ask again.
        if self.deadline < self.alarm.deadline() {
            self.alarm.as_mut().reset(self.deadline);
        }
    }

    fn after_write(&mut self, written: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(result) => {
                self.sent(result.as_ref().map_or(0, |bytes| *bytes));
                Poll::Ready(result)
            }
            Poll::Pending => self.unread(context).map(Err),
        }
    }

    /// Nothing can be written until the client has read something.
    fn unread(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let deadline = self.pace.wait();
        self.check(deadline, context)
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

impl<Io: AsyncRead + Unpin> Timed<Io> {
    /// Reads what the client is still sending, so that it gets to reading the answer (RFC 9112, 9.6).
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut buffer = [0; 8 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut buffer);
            match Pin::new(&mut self.inner).poll_read(context, &mut buffer) {
                Poll::Ready(read) => {
                    let bytes = buffer.filled().len() as u64;
                    let left = self.discarded.unwrap_or_default().saturating_sub(bytes);
                    self.discarded = Some(left);
                    if read.is_err() || bytes == 0 || left == 0 {
                        return Poll::Ready(());
                    }
                }
                Poll::Pending => return self.check(self.deadline, context).map(drop),
            }
        }
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Timed<Io> {
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
        match Pin::new(&mut self.inner).poll_flush(context) {
            Poll::Ready(result) => {
                self.pace.passed(0);
                Poll::Ready(result)
            }
            // TLS takes what is written and sends it when it is flushed.
            Poll::Pending => self.unread(context).map(Err),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.discarded.is_none() {
            ready!(Pin::new(&mut this.inner).poll_shutdown(context))?;
            if this.discard.get().is_none() {
                return Poll::Ready(Ok(()));
            }
            this.discarded = Some(DISCARDED_BYTES);
            this.deadline = Instant::now() + this.times.answer;
        }
        this.poll_discard(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const TIMES: Times = Times { answer: Duration::from_secs(30), idle: Duration::from_secs(75) };

    fn connection(buffer: usize) -> (Timed<DuplexStream>, DuplexStream) {
        let (ours, theirs) = duplex(buffer);
        (Timed::new(ours, TIMES, Instant::now(), Arc::default(), LongBodies::default()), theirs)
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
    async fn a_long_body_may_be_sent_for_as_long_as_it_is_read() {
        let (mut ours, mut theirs) = connection(64);
        let reading = ours.long_bodies.begin();
        let drips = tokio::spawn(async move {
            for _ in 0..100 {
                theirs.write_all(b"x").await.unwrap();
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            theirs
        });
        ours.read_exact(&mut [0; 100]).await.unwrap();
        drop(reading);
        let _theirs = drips.await.unwrap();
        assert_eq!(cut_off(&mut ours).await.as_secs(), 29);
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
    async fn a_connection_that_waits_for_a_request_already_is_closed_in_time() {
        let times = Times { answer: Duration::from_secs(90), idle: Duration::from_secs(3) };
        let (ours, mut theirs) = duplex(64);
        let mut ours = Timed::new(ours, times, Instant::now(), Arc::default(), LongBodies::default());
        theirs.write_all(b"request").await.unwrap();
        ours.read_exact(&mut [0; 7]).await.unwrap();
        let begun = Instant::now();
        let (mut is_answered, mut buffer) = (false, [0; 64]);
        let ended = poll_fn(|context| {
            let read = Pin::new(&mut ours).poll_read(context, &mut ReadBuf::new(&mut buffer));
            if !std::mem::replace(&mut is_answered, true) {
                assert!(Pin::new(&mut ours).poll_write(context, b"answer").is_ready());
            }
            read
        });
        assert_eq!(ended.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_is_given_up() {
        let (mut ours, theirs) = connection(8);
        let begun = Instant::now();
        let error = ours.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed().as_secs()), (io::ErrorKind::TimedOut, 20));
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_may_be_read_at_the_minimum_rate_and_not_byte_by_byte() {
        const KIB: usize = 1024;
        for (piece, pause, all) in [(32 * KIB, 2, true), (16 * KIB, 2, false), (1, 1, false), (512 * KIB, 15, true)] {
            let (mut ours, mut theirs) = connection(piece);
            let reads = tokio::spawn(async move {
                let mut buffer = vec![0; piece];
                while theirs.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                    tokio::time::sleep(Duration::from_secs(pause)).await;
                }
            });
            let begun = Instant::now();
            let written = ours.write_all(&vec![0; 4 * KIB * KIB]).await;
            assert_eq!(written.is_ok(), all, "{piece} bytes every {pause} s, after {:?}", begun.elapsed());
            assert!(all || begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
            drop(ours);
            reads.await.unwrap();
        }
    }
}
