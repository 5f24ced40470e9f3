//! Resources for lists and logs: database connections, memory for responses, and concurrent requests. Dealers share them, so
//! that heavy lists of one dealer leave room for another's.
//!
//! A list takes, in this order: a slot, memory for the largest page, and a connection. It releases the connection when the rows
//! have been read, unneeded memory when the length of the response is known, and the rest after the last byte has been sent. So
//! no connection waits for a client to read, and every response in memory is counted.

use std::sync::Arc;

use ad_core::ports::PAGE_BYTES;
use bytes::Bytes;
use futures_util::stream;
use poem::{
    Body, Response,
    http::{StatusCode, header},
};
use tokio::time::timeout;

use super::{ApiError, compression::CodedBytes};
use ad_server_base::limits::{
    ConcurrencyLimit, FairPermit, FairSemaphore, Slot,
    table::{ANSWER_MEMORY, LISTS_OF_DEALER, TURN},
};

/// Maximum memory of a list: its rows, and their text.
#[expect(clippy::cast_possible_truncation, reason = "a few MiB")]
const LARGEST: usize = 2 * PAGE_BYTES as usize;

/// How much of an answer is handed to the connection at once. A connection may copy what it is handed and then drop it, and
/// copies do not count.
const CHUNK: usize = 64 * 1024;

/// Size from which the memory of an answer is counted.
const LARGE: usize = 64 * 1024;

/// The resources for lists. Clones share them.
#[derive(Debug, Clone)]
pub struct Lists {
    in_flight: ConcurrencyLimit<Arc<str>>,
    connections: FairSemaphore,
    memory: FairSemaphore,
}

impl Default for Lists {
    /// For a database with its default options.
    fn default() -> Self {
        Self::new(ad_server_store::Options::default().lists as usize)
    }
}

impl Lists {
    /// For a database with this many connections for lists
    /// ([`Database::list_connections`](ad_server_store::Database::list_connections)). Each uses a processor: more than half of
    /// them are kept for dealers who read no list yet, and the lists of one dealer leave processors to what is quick.
    pub fn new(connections: usize) -> Self {
        Self {
            in_flight: ConcurrencyLimit::new(usize::MAX, LISTS_OF_DEALER),
            connections: FairSemaphore::with_reserve(
                connections,
                if connections > 1 { connections / 2 + 1 } else { 0 },
            ),
            memory: FairSemaphore::with_reserve(ANSWER_MEMORY, LARGEST),
        }
    }

    /// Waits for the turn of a list of a dealer or group.
    pub async fn turn(&self, holder: &str) -> Result<Turn, ApiError> {
        let slot = self.in_flight.try_take(Some(holder.into())).map_err(|_| ApiError::TooManyLists(LISTS_OF_DEALER))?;
        let turn = async {
            let memory = self.memory.take(holder, LARGEST).await;
            let connection = self.connections.take(holder, 1).await;
            Turn { memory, connection: Some(connection), slot }
        };
        timeout(TURN, turn).await.map_err(|_| ApiError::Busy(TURN))
    }

    /// Memory for an answer that is not a list; `None` if it is too small to count.
    pub(super) fn memory_for(&self, holder: &str, bytes: usize) -> AnswerMemory {
        if bytes <= LARGE {
            return AnswerMemory::NotNeeded;
        }
        self.memory.try_take(holder, bytes).map_or(AnswerMemory::Taken, AnswerMemory::Granted)
    }

    /// Waits for memory for an answer of this length.
    pub(super) async fn wait_for(&self, holder: &str, bytes: usize) -> Result<FairPermit, ApiError> {
        timeout(TURN, self.memory.take(holder, bytes)).await.map_err(|_| ApiError::Busy(TURN))
    }
}

pub(super) enum AnswerMemory {
    /// It is too small to count.
    NotNeeded,
    Granted(FairPermit),
    /// Other answers hold the memory.
    Taken,
}

pub struct Turn {
    memory: FairPermit,
    connection: Option<FairPermit>,
    slot: Slot<Arc<str>>,
}

ad_server_base::debug_by_name!(Turn);

impl Turn {
    /// Releases the connection, after the rows have been read.
    pub fn has_read(&mut self) {
        self.connection = None;
    }

    /// The response, which holds its memory and its slot until it has been sent.
    pub(super) fn answer(mut self, body: CodedBytes) -> Response {
        self.memory.shrink(body.bytes.len());
        response_holding(StatusCode::OK, body, (self.memory, self.slot))
    }
}

/// A JSON response that owns a value until its last byte has been given to the connection.
pub(super) fn response_holding<T: Send + 'static>(status: StatusCode, body: CodedBytes, kept: T) -> Response {
    /// The value is dropped with the bytes.
    struct LimitedBytes<T>(Vec<u8>, T);

    impl<T> AsRef<[u8]> for LimitedBytes<T> {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    let CodedBytes { bytes, coding } = body;
    let length = bytes.len();
    let bytes = Bytes::from_owner(LimitedBytes(bytes, kept));
    let response = Response::builder().status(status).content_type("application/json");
    let response = match coding {
        Some(coding) => response.header(header::CONTENT_ENCODING, coding.name()),
        None => response,
    };
    if length <= CHUNK {
        return response.body(bytes);
    }
    let chunks = stream::unfold(bytes, |mut bytes| async move {
        let chunk = bytes.split_to(bytes.len().min(CHUNK));
        (!chunk.is_empty()).then_some((Ok::<_, std::io::Error>(chunk), bytes))
    });
    response.header(header::CONTENT_LENGTH, length).body(Body::from_bytes_stream(chunks))
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, TryStreamExt};

    use super::*;

    #[tokio::test]
    async fn unread_answers_of_one_dealer_leave_memory_and_a_connection_for_another() {
        let lists = Lists::new(5);
        let mut unread = Vec::new();
        // A dealer has two of the five connections, and so many unread answers.
        while let Some(turn) = lists.turn("a").now_or_never() {
            let mut turn = turn.unwrap();
            turn.has_read();
            unread.push(turn.answer(CodedBytes { bytes: vec![0; LARGEST / 2], coding: None }));
        }
        assert_eq!(unread.len(), 9);
        let other = lists.turn("b").now_or_never().expect("another dealer does not wait").unwrap();
        drop(other);
        let length: usize = unread[0].headers()[header::CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
        let mut chunks = unread.remove(0).into_body().into_bytes_stream();
        let (mut read, mut last) = (0, None);
        while let Some(chunk) = chunks.try_next().await.unwrap() {
            assert!(lists.turn("a").now_or_never().is_none(), "what has not been read whole counts");
            read += chunk.len();
            last = Some(chunk);
        }
        drop(chunks);
        assert!(read == length && lists.turn("a").now_or_never().is_none(), "what has not been sent counts");
        drop(last);
        assert!(lists.turn("a").now_or_never().is_some(), "what has been read counts no more");
    }
}
