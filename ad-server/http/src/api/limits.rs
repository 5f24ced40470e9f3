//! Resources of the API that dealers share: concurrent requests, memory for bodies, and an optional request rate
//! (decision 30, extensions E3.5). No dealer is refused because of another.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use ad_core::{lock::locked, ports::StoreError, service::Access};
use governor::{
    NotUntil, Quota, RateLimiter,
    clock::{Clock, MonotonicClock},
    middleware::{StateInformationMiddleware, StateSnapshot},
    state::keyed::HashMapStateStore,
};
use poem::http::{HeaderMap, HeaderName, HeaderValue};
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard},
    time::{Instant, timeout, timeout_at},
};

use super::{ApiError, EventStreams, LimitsMet, Lists, Waits, json_size::parsed_size};
use ad_server_base::{
    processor::Processor,
    shares::{Share, Shares},
    values::Rate,
};

/// Requests that are processed at the same time.
pub(super) const REQUESTS: usize = 64;

/// How many of them are reserved for dealers that have none in progress. The others are enough for the database to commit many of them
/// together, and few enough that nobody waits long behind those of one dealer.
const FOR_OTHERS: usize = 40;

/// Maximum time for which a request waits for its turn.
const TURN: Duration = Duration::from_secs(10);

/// The part of the memory for bodies that holds them as they come in; the rest holds them as JSON values.
const RECEIVED_PART: usize = 4;

/// Number of requests after which the counts of inactive dealers are removed.
const SWEEP: u32 = 4096;

/// The limits of what clients use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time limit for receiving a body.
    pub body_within: Duration,
    /// Memory for received and parsed bodies.
    pub body_memory: BodyMemory,
    /// Requests at the same time.
    pub turns: Turns,
    /// How many requests a dealer may make; `None`: any number.
    pub rate: Option<DealerRate>,
    /// What lists may take of this process.
    pub lists: Lists,
    pub processor: Processor,
    /// Writes on one ad, one at a time.
    pub writes: Writes,
    /// Requests that wait until they are finished.
    pub waits: Waits,
    /// Event streams and long polls.
    pub event_streams: EventStreams,
    /// The limits that clients have met.
    pub met: LimitsMet,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_within: Duration::from_secs(30),
            body_memory: BodyMemory::new(64 << 20),
            turns: Turns::default(),
            rate: None,
            lists: Lists::default(),
            processor: Processor::default(),
            writes: Writes::default(),
            waits: Waits::default(),
            event_streams: EventStreams::default(),
            met: LimitsMet::default(),
        }
    }
}

/// Concurrent requests, shared by dealers. A request is processed while it holds a turn.
#[derive(Debug, Clone)]
pub struct Turns(Shares);

impl Default for Turns {
    fn default() -> Self {
        Self(Shares::with_reserve(REQUESTS, FOR_OTHERS))
    }
}

impl Turns {
    /// Waits for a turn of a dealer or group.
    pub async fn take(&self, access: &Access) -> Result<Share, ApiError> {
        let dealer = access.name();
        match self.0.try_take(dealer, 1) {
            Some(turn) => Ok(turn),
            None => timeout(TURN, self.0.take(dealer, 1)).await.map_err(|_| ApiError::Crowded(REQUESTS)),
        }
    }
}

/// Serialises writes on the same ad. If they ran concurrently, all but one would find the ad changed and have to start again.
#[derive(Debug, Clone, Default)]
pub struct Writes(Arc<Mutex<HashMap<String, Arc<AsyncMutex<()>>>>>);

/// The right to write to an ad.
pub struct OnlyWrite {
    writes: Writes,
    ad: String,
    lock: Option<OwnedMutexGuard<()>>,
}

ad_server_base::debug_by_name!(OnlyWrite);

impl Writes {
    /// Waits for the other writes on an ad.
    pub async fn only(&self, access: &Access, source_id: &str) -> Result<OnlyWrite, ApiError> {
        let ad = format!("{} {source_id}", access.name());
        let lock = Arc::clone(locked(&self.0).entry(ad.clone()).or_default());
        let mut only = OnlyWrite { writes: self.clone(), ad, lock: None };
        let busy = |_| StoreError::Unavailable("the ad is being changed by many at once".into());
        only.lock = Some(timeout(TURN, lock.lock_owned()).await.map_err(busy)?);
        Ok(only)
    }
}

impl Drop for OnlyWrite {
    fn drop(&mut self) {
        self.lock = None;
        let mut all = locked(&self.writes.0);
        if all.get(&self.ad).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            all.remove(&self.ad);
        }
    }
}

/// Memory for the bodies of requests, shared by dealers. It has a part for receiving bodies and one for parsing them. A request
/// that holds the second never waits for the first, so there is no deadlock.
#[derive(Debug, Clone)]
pub struct BodyMemory {
    total: usize,
    received: Shares,
    parsed: Shares,
}

impl BodyMemory {
    /// Limits bodies to this number of bytes.
    pub fn new(bytes: usize) -> Self {
        let received = bytes / RECEIVED_PART;
        Self { total: bytes, received: Shares::new(received), parsed: Shares::new(bytes - received) }
    }

    /// Memory for a body of this size, before it is read.
    pub(super) async fn receive(&self, access: &Access, bytes: usize, until: Instant) -> Result<Share, ApiError> {
        self.wait(&self.received, access, bytes, until).await
    }

    /// Memory for the parsed body, before it is parsed.
    pub(super) async fn parse(&self, access: &Access, body: &[u8], until: Instant) -> Result<Share, ApiError> {
        self.wait(&self.parsed, access, parsed_size(body), until).await
    }

    async fn wait(&self, shares: &Shares, access: &Access, bytes: usize, until: Instant) -> Result<Share, ApiError> {
        let dealer = access.name();
        match shares.try_take(dealer, bytes) {
            Some(share) => Ok(share),
            None => timeout_at(until, shares.take(dealer, bytes)).await.map_err(|_| ApiError::NoMemory(self.total)),
        }
    }
}

type Limiter<C> = RateLimiter<String, HashMapStateStore<String>, C, StateInformationMiddleware>;

/// How many more requests a dealer may make at once, for the headers of the answer. Empty until its token is known to be valid.
pub(super) type RateCell = Arc<OnceLock<u32>>;

/// Counts the requests of each dealer or group, with all its tokens, in this process.
#[derive(Debug, Clone)]
pub struct DealerRate<C: Clock = MonotonicClock> {
    rate: Rate,
    /// Value of the header `RateLimit-Policy`.
    policy: HeaderValue,
    limiter: Arc<Limiter<C>>,
    clock: C,
    since_sweep: Arc<AtomicU32>,
}

impl DealerRate {
    /// Permits this rate to every dealer.
    pub fn new(rate: Rate) -> Self {
        Self::with_clock(rate, MonotonicClock)
    }
}

impl<C: Clock + Clone> DealerRate<C> {
    fn with_clock(rate: Rate, clock: C) -> Self {
        let quota = Quota::with_period(every(rate)).unwrap_or(Quota::per_second(NonZeroU32::MAX));
        let limiter = RateLimiter::hashmap_with_clock(quota.allow_burst(rate.burst), clock.clone());
        let policy = format!("\"scope\";q={};w={}", rate.burst, seconds(every(rate) * rate.burst.get()).max(1));
        let policy = HeaderValue::try_from(policy).expect("digits and signs");
        Self { rate, policy, limiter: Arc::new(limiter.with_middleware()), clock, since_sweep: Arc::default() }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Counts a request; when it is one too many, the error says when the next one may be made.
    pub(super) fn take(&self, access: &Access, cell: Option<&RateCell>) -> Result<(), ApiError> {
        if self.since_sweep.fetch_add(1, Ordering::Relaxed) >= SWEEP {
            self.since_sweep.store(0, Ordering::Relaxed);
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        // A dealer and a group may have the same name.
        let key = format!("{} {}", access.claim(), access.name());
        let taken = self.limiter.check_key(&key);
        if let Some(cell) = cell {
            let left = taken.as_ref().map_or(0, StateSnapshot::remaining_burst_capacity);
            cell.get_or_init(|| left);
        }
        taken.map(drop).map_err(|refused| ApiError::TooMany { rate: self.rate, seconds: self.wait(&refused) })
    }

    fn wait(&self, refused: &NotUntil<C::Instant>) -> u64 {
        seconds(refused.wait_time_from(self.clock.now())).max(1)
    }

    /// Adds the headers of an answer to a valid token (draft-ietf-httpapi-ratelimit-headers).
    pub(super) fn tell(&self, cell: &RateCell, headers: &mut HeaderMap) {
        let Some(left) = cell.get() else { return };
        let until_all = seconds(every(self.rate) * self.rate.burst.get().saturating_sub(*left));
        headers.insert(POLICY, self.policy.clone());
        let limit = format!("\"scope\";r={left};t={until_all}");
        headers.insert(LIMIT, HeaderValue::try_from(limit).expect("digits and signs"));
    }
}

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The time after which there may be one more request.
fn every(rate: Rate) -> Duration {
    (rate.per / rate.requests.get()).max(Duration::from_nanos(1))
}

/// The time in whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn dealer(code: &str) -> Access {
        Access::Dealer(code.to_owned())
    }

    fn rate(text: &str) -> (DealerRate<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (DealerRate::with_clock(text.parse().unwrap(), clock.clone()), clock)
    }

    fn take(rate: &DealerRate<FakeRelativeClock>, code: &str) -> Result<(), u64> {
        rate.take(&dealer(code), None).map_err(|error| match error {
            ApiError::TooMany { seconds, .. } => seconds,
            error => panic!("{error}"),
        })
    }

    #[test]
    fn a_dealer_that_asks_too_often_waits_and_others_do_not() {
        let (rate, clock) = rate("30/m burst 2");
        assert_eq!([take(&rate, "a"), take(&rate, "a"), take(&rate, "a")], [Ok(()), Ok(()), Err(2)]);
        assert_eq!(take(&rate, "b"), Ok(()));
        assert!(rate.take(&Access::Group("a".to_owned()), None).is_ok());
        clock.advance(Duration::from_millis(1100));
        assert_eq!(take(&rate, "a"), Err(1));
        clock.advance(Duration::from_millis(900));
        assert_eq!([take(&rate, "a"), take(&rate, "a")], [Ok(()), Err(2)]);
    }

    #[test]
    fn an_answer_tells_how_many_requests_are_left() {
        for (text, policy, limits) in [
            ("30/m burst 2", "\"scope\";q=2;w=4", ["\"scope\";r=1;t=2", "\"scope\";r=0;t=4", "\"scope\";r=0;t=4"]),
            ("600/m", "\"scope\";q=600;w=60", ["\"scope\";r=599;t=1", "\"scope\";r=598;t=1", "\"scope\";r=597;t=1"]),
        ] {
            let (rate, _) = rate(text);
            for limit in limits {
                let (cell, mut headers) = (RateCell::default(), HeaderMap::new());
                rate.tell(&cell, &mut headers);
                assert!(headers.is_empty(), "nobody is known yet");
                let _taken = rate.take(&dealer("a"), Some(&cell));
                rate.tell(&cell, &mut headers);
                assert_eq!(
                    (&headers[POLICY], &headers[LIMIT]),
                    (&HeaderValue::from_static(policy), &HeaderValue::from_static(limit))
                );
            }
        }
    }

    #[test]
    fn dealers_that_have_not_asked_for_a_while_are_forgotten() {
        let (rate, clock) = rate("10/s");
        for number in 0..SWEEP {
            assert_eq!(take(&rate, &number.to_string()), Ok(()));
        }
        assert_eq!(rate.limiter.len(), SWEEP as usize);
        clock.advance(Duration::from_secs(2));
        assert_eq!(take(&rate, "new"), Ok(()));
        assert_eq!(rate.limiter.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_for_its_turn_and_another_dealers_does_not() {
        let turns = Turns::default();
        let (greedy, other) = (dealer("greedy"), dealer("other"));
        let mut held = Vec::new();
        while let Some(turn) = turns.take(&greedy).now_or_never() {
            held.push(turn.unwrap());
        }
        assert_eq!(held.len(), REQUESTS - FOR_OTHERS);
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
