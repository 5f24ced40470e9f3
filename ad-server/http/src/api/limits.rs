//! Resources of the API that dealers share: concurrent requests, memory for bodies, and an optional request rate
//! (decision 30, extensions E3.5). No dealer is refused because of another.

use std::time::Duration;

use ad_core::{ports::StoreError, service::Access};
use tokio::time::{Instant, timeout, timeout_at};

use super::{ApiError, EventStreams, LimitsMet, Lists, Waits, json_size::parsed_size};
use ad_server_base::limits::{
    ConcurrencyLimit, FairPermit, FairSemaphore, KeyedLock, KeyedLocks, RateLimiter,
    table::{DISCARDED_BODIES, DISCARDED_BODIES_OF_DEALER, FILE_WITHIN, REQUESTS, REQUESTS_RESERVED, TURN},
};
use ad_server_base::processor::Processor;

/// The part of the memory for bodies that holds them as they come in; the rest holds them as JSON values.
const RECEIVED_PART: usize = 4;

#[derive(Debug, Clone)]
pub struct Limits {
    /// Time limit for receiving a body.
    pub body_within: Duration,
    /// Time limit for receiving files, which people send over slow networks.
    pub file_within: Duration,
    /// Memory for received and parsed bodies.
    pub body_memory: BodyMemory,
    /// Requests at the same time.
    pub turns: RequestSlots,
    /// How many requests a dealer may make; `None`: any number.
    pub rate: Option<RateLimiter>,
    /// What lists may take of this process.
    pub lists: Lists,
    pub processor: Processor,
    /// Refused bodies that are still read, by dealer, group or address.
    pub discarded: ConcurrencyLimit<String>,
    /// Writes on one ad, one at a time.
    pub writes: Writes,
    /// Requests that wait until they are finished.
    pub waits: Waits,
    /// Event streams and long polls.
    pub event_streams: EventStreams,
    pub met: LimitsMet,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_within: Duration::from_secs(30),
            file_within: FILE_WITHIN,
            body_memory: BodyMemory::new(64 << 20),
            turns: RequestSlots::default(),
            rate: None,
            lists: Lists::default(),
            processor: Processor::default(),
            discarded: ConcurrencyLimit::new(DISCARDED_BODIES, DISCARDED_BODIES_OF_DEALER),
            writes: Writes::default(),
            waits: Waits::default(),
            event_streams: EventStreams::default(),
            met: LimitsMet::default(),
        }
    }
}

/// Concurrent requests, shared by dealers. A request is processed while it holds a turn.
#[derive(Debug, Clone)]
pub struct RequestSlots(FairSemaphore);

impl Default for RequestSlots {
    fn default() -> Self {
        Self(FairSemaphore::with_reserve(REQUESTS, REQUESTS_RESERVED))
    }
}

impl RequestSlots {
    /// Waits for a turn of a dealer or group.
    pub async fn take(&self, access: &Access) -> Result<FairPermit, ApiError> {
        let dealer = access.name();
        match self.0.try_take(dealer, 1) {
            Some(turn) => Ok(turn),
            None => timeout(TURN, self.0.take(dealer, 1)).await.map_err(|_| ApiError::Crowded(REQUESTS)),
        }
    }
}

/// Serialises writes on the same ad. If they ran concurrently, all but one would find the ad changed and have to start again.
#[derive(Debug, Clone, Default)]
pub struct Writes(KeyedLocks);

impl Writes {
    /// Waits for the other writes on an ad.
    pub async fn only(&self, access: &Access, source_id: &str) -> Result<KeyedLock, ApiError> {
        let busy = |_| StoreError::Unavailable("the ad is being changed by many at once".into());
        Ok(timeout(TURN, self.0.lock(format!("{} {source_id}", access.name()))).await.map_err(busy)?)
    }
}

/// Memory for the bodies of requests, shared by dealers. It has a part for receiving bodies and one for parsing them. A request
/// that holds the second never waits for the first, so there is no deadlock.
#[derive(Debug, Clone)]
pub struct BodyMemory {
    total: usize,
    received: FairSemaphore,
    parsed: FairSemaphore,
}

impl BodyMemory {
    /// Limits bodies to this number of bytes.
    pub fn new(bytes: usize) -> Self {
        let received = bytes / RECEIVED_PART;
        Self { total: bytes, received: FairSemaphore::new(received), parsed: FairSemaphore::new(bytes - received) }
    }

    /// Memory for a body of this size, before it is read.
    pub(super) async fn receive(&self, access: &Access, bytes: usize, until: Instant) -> Result<FairPermit, ApiError> {
        self.wait(&self.received, access, bytes, until).await
    }

    /// Memory for the parsed body, before it is parsed.
    pub(super) async fn parse(&self, access: &Access, body: &[u8], until: Instant) -> Result<FairPermit, ApiError> {
        self.wait(&self.parsed, access, parsed_size(body), until).await
    }

    async fn wait(
        &self,
        shares: &FairSemaphore,
        access: &Access,
        bytes: usize,
        until: Instant,
    ) -> Result<FairPermit, ApiError> {
        let dealer = access.name();
        match shares.try_take(dealer, bytes) {
            Some(share) => Ok(share),
            None => timeout_at(until, shares.take(dealer, bytes)).await.map_err(|_| ApiError::NoMemory(self.total)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    fn dealer(code: &str) -> Access {
        Access::Dealer(code.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_for_its_turn_and_another_dealers_does_not() {
        let turns = RequestSlots::default();
        let (greedy, other) = (dealer("greedy"), dealer("other"));
        let mut held = Vec::new();
        while let Some(turn) = turns.take(&greedy).now_or_never() {
            held.push(turn.unwrap());
        }
        assert_eq!(held.len(), REQUESTS - REQUESTS_RESERVED);
        let mut next = pin!(turns.take(&greedy));
        assert!(next.as_mut().now_or_never().is_none());
        assert!(turns.take(&other).now_or_never().is_some());
        held.pop();
        let _next = next.await.unwrap();
        let begun = Instant::now();
        assert!(matches!(turns.take(&greedy).await, Err(ApiError::Crowded(REQUESTS))));
        assert_eq!(begun.elapsed(), TURN);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_waits_for_memory_until_its_time_is_over() {
        let memory = BodyMemory::new(4 << 20);
        let (greedy, other) = (dealer("greedy"), dealer("other"));
        let until = Instant::now() + Duration::from_secs(30);
        let _all = memory.receive(&greedy, usize::MAX, until).await.unwrap();
        assert!(memory.receive(&other, 1000, until).await.is_ok());
        assert!(memory.parse(&greedy, b"{}", until).await.is_ok(), "what is received does not stop what is parsed");
        let refused = memory.receive(&greedy, 1000, until).await;
        assert!(matches!(refused, Err(ApiError::NoMemory(total)) if total == 4 << 20));
        assert_eq!(Instant::now(), until);
    }
}
