//! Events as server-sent events (WHATWG HTML, 9.2).

use std::{io, sync::Arc, time::Duration};

use ad_core::ports::{EventWatch, Scope};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use poem::{Body, Response};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    EventReader, PollInterval,
    shared::{SharedQuery, SharedReads},
    validity::{self, Changes},
};
use crate::api::event_streams::OpenStream;

/// What a stream begins with: the time after which a client connects again, in milliseconds.
const BEGIN: &str = "retry: 3000\n\n";

/// Time between two keep-alive comments.
const COMMENT: Duration = Duration::from_secs(15);

/// Pause after a read that failed.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) fn answer(reader: EventReader, reads: Arc<SharedReads>, rhythm: PollInterval, open: OpenStream) -> Response {
    let (context, caller) = (Arc::clone(&reader.context), reader.caller.clone());
    let ended = async move {
        tokio::select! {
            () = context.limits.event_streams.stopped() => {}
            _ = validity::ended(&*context.authenticator, &caller) => {}
        }
    };
    let (watch, changes) = (reader.watch(), Changes::of(&*reader.context.authenticator));
    let stream = EventStream {
        reader,
        reads,
        rhythm,
        watch,
        changes,
        step: Step::Begin,
        comment_at: Instant::now() + COMMENT,
        _open: open,
    };
    let chunks = stream::unfold(stream, async |mut stream| {
        let chunk = stream.next().await?;
        Some((Ok::<_, io::Error>(chunk), stream))
    });
    Response::builder()
        .content_type("text/event-stream")
        // Otherwise proxies such as nginx buffer the answer.
        .header("x-accel-buffering", "no")
        .body(Body::from_bytes_stream(chunks.take_until(ended)))
}

struct EventStream {
    reader: EventReader,
    reads: Arc<SharedReads>,
    rhythm: PollInterval,
    watch: EventWatch,
    changes: Changes,
    step: Step,
    comment_at: Instant,
    _open: OpenStream,
}

/// What a stream does next.
enum Step {
    Begin,
    Read,
    /// Reads after this pause, because a read failed.
    Retry(Duration),
    /// Reads after this pause when there are new events.
    Wait(Duration),
}

/// Why a stream has stopped waiting.
#[derive(PartialEq, Eq)]
enum WakeReason {
    ByEvents,
    ByTime,
}

impl EventStream {
    /// The next piece of the stream; `None` if the events after the last one were lost, which a client learns when it connects again.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.step {
                Step::Begin => {
                    self.step = Step::Read;
                    return Some(BEGIN.into());
                }
                Step::Read => {}
                Step::Retry(pause) => sleep(pause).await,
                Step::Wait(pause) => {
                    sleep(pause).await;
                    if self.wait().await == WakeReason::ByTime {
                        self.step = Step::Wait(Duration::ZERO);
                        return Some(self.comment());
                    }
                }
            }
            let begun = Instant::now();
            let piece = self.reads.next(&self.reader.context, &self.wanted()).await;
            self.step = match &piece {
                None if self.reader.context.store.has_lost(self.reader.query.after) => return None,
                None => Step::Retry(AGAIN),
                Some(piece) if piece.has_more => Step::Read,
                Some(_) => Step::Wait(self.rhythm.pause_after(begun)),
            };
            if let Some(piece) = piece {
                self.reader.query.after = piece.position;
                if !piece.text.is_empty() {
                    self.comment_at = Instant::now() + COMMENT;
                    return Some(piece.text);
                }
            }
            if Instant::now() >= self.comment_at {
                return Some(self.comment());
            }
        }
    }

    /// A keep-alive comment, with an id but without data: a client that reconnects continues from there, also after events that
    /// it did not ask for.
    fn comment(&mut self) -> Bytes {
        self.comment_at = Instant::now() + COMMENT;
        let cursor = self.reader.cursors.encode(self.reader.query.after);
        format!(": waiting for events\nid: {cursor}\n\n").into()
    }

    fn wanted(&self) -> SharedQuery {
        let EventReader { caller, dealers, query, .. } = &self.reader;
        SharedQuery { scope: caller.scope.clone(), dealers: Arc::clone(dealers), query: query.clone() }
    }

    /// Waits for new events, also of dealers that are new, or until it is time for a comment.
    async fn wait(&mut self) -> WakeReason {
        loop {
            tokio::select! {
                () = self.watch.changed() => return WakeReason::ByEvents,
                () = sleep_until(self.comment_at) => return WakeReason::ByTime,
                () = self.changes.next() => {}
            }
            let EventReader { context, caller, dealer_code, dealers, .. } = &mut self.reader;
            let now = context.service.dealers_of_events(&caller.scope, dealer_code.as_deref());
            if !Arc::ptr_eq(&now, dealers) && now != *dealers {
                self.watch = context.store.watch_events(Scope::Dealers(&now));
                *dealers = now;
                return WakeReason::ByEvents;
            }
        }
    }
}
