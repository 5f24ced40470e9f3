//! Limits, and what keeps them: how many at the same time, how fast, how much, and who is next.
//!
//! A limit that dealers share divides fairly ([`FairSemaphore`]): no dealer is refused because of another. What happens beyond a
//! limit is up to those who use it.

mod concurrency;
mod fair_queue;
mod fair_semaphore;
mod keyed_lock;
mod minimum_rate;
mod rate_limiter;
pub mod table;

pub use self::{
    concurrency::{ConcurrencyLimit, Exceeded, Slot},
    fair_queue::{FairQueue, QueueItem},
    fair_semaphore::{FairPermit, FairSemaphore},
    keyed_lock::{KeyedLock, KeyedLocks},
    minimum_rate::MinimumRate,
    rate_limiter::{RateLimited, RateLimiter, Remaining},
};
