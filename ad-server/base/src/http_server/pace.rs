//! The minimum rate at which a client has to read a response.
//!
//! It keeps a response in memory for as long as it reads.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};

use ad_core::lock::locked;
use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use tokio::{
    sync::Notify,
    task::AbortHandle,
    time::{Instant, sleep_until},
};

use crate::limits::{MinimumRate, table::ANSWER_RATE};

/// Largest piece of an answer that is handed to the connection at once, so that what the client has not taken is still
/// here to be counted.
const PIECE: usize = 64 * 1024;

/// Answers up to this size, in bytes, are not watched: a connection buffers at most one of them for each of its streams.
const SMALL: u64 = 16 * 1024;

/// The rate at which a client has to take what it is sent.
pub(super) fn of_client(grace: Duration) -> MinimumRate {
    MinimumRate::new(ANSWER_RATE, grace, grace)
}

/// The body of an answer that a client has to take at [`ANSWER_RATE`].
///
/// What the operating system does not take is seen where bytes are written. This is for HTTP/2, where a client can leave
/// one stream unread and keep the connection busy with others.
pub(super) struct Paced<B> {
    inner: B,
    /// What the inner body gave and the connection did not take yet.
    rest: Bytes,
    watched: Option<Watched>,
}

/// Ends the watch of the client when the body is dropped.
struct Watched {
    pace: Arc<Mutex<MinimumRate>>,
    watch: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

impl<B: Body<Data = Bytes>> Paced<B> {
    /// A body. A small one that is whole already is handed over at once and needs no watching; for any other, `too_slow` is
    /// notified when the client falls behind by more than `grace`.
    pub(super) fn new(inner: B, grace: Duration, too_slow: &Arc<Notify>) -> Self {
        let is_small = inner.size_hint().upper().is_some_and(|most| most <= SMALL);
        let watched = (!is_small).then(|| {
            let mut pace = of_client(grace);
            pace.wait();
            let pace = Arc::new(Mutex::new(pace));
            let watch = tokio::spawn(watch(Arc::clone(&pace), grace, Arc::clone(too_slow))).abort_handle();
            Watched { pace, watch }
        });
        Self { inner, rest: Bytes::new(), watched }
    }

    fn hand_over(&mut self) -> Bytes {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        if let Some(watched) = &self.watched {
            let mut pace = locked(&watched.pace);
            pace.passed(piece.len());
            pace.wait();
        }
        piece
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Paced<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        if !this.rest.has_remaining() {
            if let Some(watched) = &this.watched {
                // The client has read everything: now the producer of the response is waited for.
                locked(&watched.pace).passed(0);
            }
            let frame = match ready!(Pin::new(&mut this.inner).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) => this.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        Poll::Ready(Some(Ok(Frame::data(this.hand_over()))))
    }

    fn is_end_stream(&self) -> bool {
        !self.rest.has_remaining() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.inner.size_hint();
        let rest = self.rest.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

/// Notifies when the client is too slow.
async fn watch(pace: Arc<Mutex<MinimumRate>>, grace: Duration, too_slow: Arc<Notify>) {
    loop {
        let now = Instant::now();
        let deadline = locked(&pace).deadline();
        if deadline.is_some_and(|deadline| deadline <= now) {
            too_slow.notify_one();
            return;
        }
        sleep_until(deadline.unwrap_or(now + grace)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, io};

    use poem::Response;
    use tokio::time::sleep;

    use super::*;

    const GRACE: Duration = Duration::from_secs(20);

    fn paced(bytes: usize) -> (Paced<impl Body<Data = Bytes, Error = io::Error> + Unpin>, Arc<Notify>) {
        let too_slow = Arc::new(Notify::new());
        let response = hyper::Response::from(Response::builder().body(vec![1; bytes]));
        (Paced::new(response.into_body(), GRACE, &too_slow), too_slow)
    }

    async fn next(body: &mut Paced<impl Body<Data = Bytes, Error = io::Error> + Unpin>) -> Option<usize> {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        Some(frame.unwrap().into_data().unwrap().len())
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_its_client_leaves_ends_the_connection() {
        let (mut body, too_slow) = paced(1024 * 1024);
        assert_eq!(body.size_hint().exact(), Some(1024 * 1024));
        let begun = Instant::now();
        assert_eq!(next(&mut body).await, Some(PIECE));
        assert_eq!(body.size_hint().exact(), Some((1024 * 1024 - PIECE) as u64));
        too_slow.notified().await;
        assert_eq!(begun.elapsed().as_secs(), 20);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_may_be_taken_at_the_minimum_rate_and_not_at_half_of_it() {
        for (pause, whole) in [(4, true), (8, false)] {
            let (mut body, too_slow) = paced(4 * 1024 * 1024);
            let read = async {
                let mut read = 0;
                while let Some(piece) = next(&mut body).await {
                    read += piece;
                    sleep(Duration::from_secs(pause)).await;
                }
                read
            };
            tokio::select! {
                read = read => assert!(whole && read == 4 * 1024 * 1024, "{pause} s for {PIECE} bytes"),
                () = too_slow.notified() => assert!(!whole, "{pause} s for {PIECE} bytes"),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_watches_a_small_answer_or_one_that_is_over() {
        let (mut body, too_slow) = paced(100);
        assert!(body.watched.is_none());
        assert_eq!((next(&mut body).await, body.is_end_stream()), (Some(100), true));
        let (body, also) = paced(1024 * 1024);
        drop(body);
        sleep(Duration::from_mins(5)).await;
        tokio::select! {
            biased;
            () = too_slow.notified() => panic!("a small answer"),
            () = also.notified() => panic!("an answer that is over"),
            () = sleep(Duration::from_mins(5)) => {}
        }
    }
}
