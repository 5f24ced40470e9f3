//! The body of a stock plan: a dealer's stock, streamed from where it is, and read again for another try where that is possible.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
    task::Poll,
    time::{Duration, Instant},
};

use ad_core::lock::locked;
use bytes::{Bytes, BytesMut};
use futures_util::{
    StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use tokio::{fs::File, io::AsyncReadExt};

/// Bytes that are read from a file at a time.
const PART: usize = 64 * 1024;

/// Parts of a body, as they are sent.
pub type BodyStream = BoxStream<'static, io::Result<Bytes>>;

/// How the payloads of a stock are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockFormat {
    /// One payload a line.
    Ndjson,
    /// A JSON array of payloads.
    Array,
}

/// A stock as the body of a [plan](super::StockPlans::plan): of any size, because no more than a part of it is in memory.
#[derive(derive_more::Debug)]
pub struct StockBody {
    format: StockFormat,
    #[debug(skip)]
    source: Arc<Source>,
    /// How far the latest try is.
    progress: Arc<Mutex<Progress>>,
}

#[derive(Debug)]
struct Progress {
    /// When the latest part was taken.
    latest: Instant,
    /// Whether all parts were taken.
    has_ended: bool,
    /// Why the body ended early.
    error: Option<io::Error>,
}

impl Default for Progress {
    fn default() -> Self {
        Self { latest: Instant::now(), has_ended: false, error: None }
    }
}

enum Source {
    Again(Box<dyn Fn() -> BodyStream + Send + Sync>),
    /// Taken when its first part is asked for.
    Once(Mutex<Option<BodyStream>>),
}

impl StockBody {
    /// A body that is made again for each try.
    pub fn new(format: StockFormat, make: impl Fn() -> BodyStream + Send + Sync + 'static) -> Self {
        Self::of(format, Source::Again(Box::new(make)))
    }

    /// A body that can be read once, such as stdin: after its first bytes, the request is not tried again.
    pub fn once(format: StockFormat, body: BodyStream) -> Self {
        Self::of(format, Source::Once(Mutex::new(Some(body))))
    }

    fn of(format: StockFormat, source: Source) -> Self {
        Self { format, source: Arc::new(source), progress: Arc::default() }
    }

    /// The contents of a file.
    pub fn file(format: StockFormat, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self::new(format, move || {
            let opened = stream::once(File::open(path.clone()));
            let parts = |file: File| {
                stream::try_unfold(file, |mut file| async move {
                    let mut part = BytesMut::with_capacity(PART);
                    let length = file.read_buf(&mut part).await?;
                    Ok((length > 0).then(|| (part.freeze(), file)))
                })
            };
            opened.map_ok(parts).try_flatten().boxed()
        })
    }

    /// Bytes in memory.
    pub fn bytes(format: StockFormat, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::new(format, move || stream::iter([Ok(bytes.clone())]).boxed())
    }

    pub(super) const fn content_type(&self) -> &'static str {
        match self.format {
            StockFormat::Ndjson => "application/x-ndjson",
            StockFormat::Array => "application/json",
        }
    }

    /// Whether it cannot be sent again.
    pub(super) fn is_spent(&self) -> bool {
        matches!(&*self.source, Source::Once(body) if locked(body).is_none())
    }

    /// The body from its beginning.
    pub(super) fn stream(&self) -> BodyStream {
        let parts = match &*self.source {
            Source::Again(make) => make(),
            Source::Once(_) => {
                let source = Arc::clone(&self.source);
                let taken = move || match &*source {
                    Source::Once(body) => locked(body).take(),
                    Source::Again(_) => None,
                };
                stream::once(async move { stream::iter(taken()).flatten() }).flatten().boxed()
            }
        };
        *locked(&self.progress) = Progress::default();
        let (seen, ended) = (Arc::clone(&self.progress), Arc::clone(&self.progress));
        let parts = parts.map(move |part| {
            let mut seen = locked(&seen);
            seen.latest = Instant::now();
            part.map_err(|error| {
                let passed_on = io::Error::new(error.kind(), error.to_string());
                seen.error = Some(error);
                passed_on
            })
        });
        let end = stream::poll_fn(move |_| {
            let mut ended = locked(&ended);
            (ended.latest, ended.has_ended) = (Instant::now(), true);
            Poll::Ready(None)
        });
        parts.chain(end).boxed()
    }

    /// Ends when no part has been taken for this time.
    pub(super) async fn stalled_for(&self, limit: Duration) {
        loop {
            let left = limit.saturating_sub(locked(&self.progress).latest.elapsed());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    /// Whether all of it was sent, so that a plan may have been made of it.
    pub(super) fn was_sent(&self) -> bool {
        locked(&self.progress).has_ended
    }

    /// Why it could not be read, if so.
    pub(super) fn take_error(&self) -> Option<io::Error> {
        locked(&self.progress).error.take()
    }
}
