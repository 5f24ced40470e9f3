//! Reads of streams. All streams of a dealer wait for the same events, so they share one read and one text of them.

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, Mutex},
};

use ad_core::{
    lock::locked,
    model::{EventPage, EventPosition, EventQuery},
    service::Access,
};
use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};

use super::read;
use crate::api::Context;
use ad_server_outside::events::{CursorScope, EventView};

/// Events as a piece of a stream.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Server-sent events; empty if there are none.
    pub(super) text: Bytes,
    /// The position after the last of them.
    pub(super) position: EventPosition,
    /// Whether there are more events now.
    pub(super) has_more: bool,
}

impl Piece {
    fn new(page: &EventPage, scope: &Access) -> Self {
        let cursors = CursorScope::of(scope);
        let mut text = String::new();
        for event in &page.events {
            let view = EventView::new(event, &cursors);
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
        Self { text: text.into(), position: page.position, has_more: page.has_more }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.has_more
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SharedQuery {
    pub(super) scope: Access,
    pub(super) dealers: Arc<[String]>,
    pub(super) query: EventQuery,
}

/// The read of a piece; `None` if it failed.
type PieceRead = BoxFuture<'static, Option<Piece>>;

#[derive(Default)]
pub(super) struct SharedReads(Mutex<HashMap<SharedQuery, WeakShared<PieceRead>>>);

impl SharedReads {
    /// The next piece of a stream; `None` if it cannot be read.
    pub(super) async fn next(&self, context: &Arc<Context>, wanted: &SharedQuery) -> Option<Piece> {
        let (read, is_own) = self.begin(context, wanted);
        let piece = read.await;
        if is_own || piece.as_ref().is_some_and(|piece| !piece.is_empty()) {
            return piece;
        }
        // A read that another stream began may not have these events yet; the one after it has them.
        self.begin(context, wanted).0.await
    }

    /// The running read of the same events, or else a new one.
    fn begin(&self, context: &Arc<Context>, wanted: &SharedQuery) -> (Shared<PieceRead>, bool) {
        let mut reads = locked(&self.0);
        let under_way = |read: &WeakShared<PieceRead>| read.upgrade().filter(|read| read.peek().is_none());
        if let Some(read) = reads.get(wanted).and_then(under_way) {
            return (read, false);
        }
        reads.retain(|_, read| under_way(read).is_some());
        let read = piece(Arc::clone(context), wanted.clone()).boxed().shared();
        reads.extend(read.downgrade().map(|read| (wanted.clone(), read)));
        (read, true)
    }
}

async fn piece(context: Arc<Context>, wanted: SharedQuery) -> Option<Piece> {
    match read(&context, &wanted.scope, &wanted.dealers, &wanted.query).await {
        Ok(page) => Some(Piece::new(&page, &wanted.scope)),
        Err(error) => {
            tracing::debug!(%error, "cannot read events for a stream; will be retried");
            None
        }
    }
}
