//! Events as server-sent events (WHATWG HTML, 9.2).

use std::{fmt::Write, io, sync::Arc, time::Duration};

use ad_core::{model::EventPage, ports::EventWatch};
use bytes::Bytes;
use futures_util::stream;
use poem::{Body, Response};
use tokio::time::{Instant, sleep, sleep_until};

use super::{Reader, rest};
use crate::{api::event_streams::OpenStream, events::EventView};

/// What a stream begins with: the time after which a client connects again, in milliseconds.
const BEGIN: &str = "retry: 3000\n\n";

/// Time between two signs of life.
const COMMENT: Duration = Duration::from_secs(15);

/// How often token and dealers are checked.
const CHECK: Duration = Duration::from_millis(500);

/// Pause after a read that failed.
const AGAIN: Duration = Duration::from_secs(1);

/// The answer with the stream of a reader.
pub(super) fn answer(reader: Reader, open: OpenStream) -> Response {
    let watch = reader.watch();
    let stream = EventStream { reader, watch, is_begun: false, comment_at: Instant::now() + COMMENT, _open: open };
    let chunks = stream::unfold(stream, async |mut stream| {
        let chunk = stream.next().await?;
        Some((Ok::<_, io::Error>(Bytes::from(chunk)), stream))
    });
    Response::builder()
        .content_type("text/event-stream")
        // Proxies such as nginx collect answers otherwise.
        .header("x-accel-buffering", "no")
        .body(Body::from_bytes_stream(chunks))
}

struct EventStream {
    reader: Reader,
    watch: EventWatch,
    is_begun: bool,
    comment_at: Instant,
    _open: OpenStream,
}

impl EventStream {
    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        if !std::mem::replace(&mut self.is_begun, true) {
            return Some(BEGIN.to_owned());
        }
        loop {
            if !self.is_permitted() {
                return None;
            }
            let begun = Instant::now();
            let (text, pause) = match self.reader.next().await {
                Ok(page) if page.events.is_empty() && page.has_more => continue,
                Ok(page) => (self.text(&page), rest(begun)),
                Err(error) => {
                    tracing::debug!(%error, "cannot read events for a stream; will be retried");
                    (String::new(), AGAIN)
                }
            };
            if !text.is_empty() {
                self.comment_at = Instant::now() + COMMENT;
                return Some(text);
            }
            if !self.wait(pause).await {
                return None;
            }
            if Instant::now() >= self.comment_at {
                self.comment_at = Instant::now() + COMMENT;
                // An id without data: the client goes on from there, also after events that it did not ask for.
                return Some(format!(
                    ": waiting for events\nid: {}\n\n",
                    self.reader.cursors.encode(self.reader.query.after)
                ));
            }
        }
    }

    /// Waits for new events, or until it is time for a comment; `false` when the stream is at its end.
    async fn wait(&mut self, pause: Duration) -> bool {
        let streams = self.reader.context.limits.event_streams.clone();
        tokio::select! {
            () = streams.stopped() => return false,
            () = sleep(pause) => {}
        }
        loop {
            tokio::select! {
                () = streams.stopped() => return false,
                () = self.watch.changed() => return true,
                () = sleep_until(self.comment_at) => return true,
                () = sleep(CHECK) => {}
            }
            if !self.is_permitted() {
                return false;
            }
            let dealers = self
                .reader
                .context
                .service
                .dealers_of_events(&self.reader.caller.scope, self.reader.dealer_code.as_deref());
            if !Arc::ptr_eq(&dealers, &self.reader.dealers) && dealers != self.reader.dealers {
                self.reader.dealers = dealers;
                self.watch = self.reader.watch();
                return true;
            }
        }
    }

    /// Whether the token is still valid.
    fn is_permitted(&self) -> bool {
        self.reader.context.authenticator.check(&self.reader.caller).is_ok()
    }

    /// The events of a page.
    fn text(&self, page: &EventPage) -> String {
        let mut text = String::new();
        for event in &page.events {
            let view = EventView::new(event, &self.reader.cursors);
            match serde_json::to_string(&view) {
                // JSON has no line breaks of its own.
                Ok(json) => {
                    let (cursor, event_type) = (&view.cursor, &view.event_type);
                    write!(text, "id: {cursor}\nevent: {event_type}\ndata: {json}\n\n")
                        .expect("a text takes everything");
                }
                Err(error) => tracing::error!(%error, "cannot serialize an event"),
            }
        }
        text
    }
}
