//! The traits that the outside implements. Everything in this crate that needs a database, a marketplace, the network or
//! the time asks one of these for it; [`memory`](crate::memory) has implementations for tests and for embedding.

mod marketplace;
mod media;
mod store;

use std::sync::Arc;

use uuid::Uuid;

use crate::model::{Dealer, Timestamp};
pub use marketplace::{Found, InvalidKey, Key, Listing, Marketplace, MarketplaceError};
pub use media::{
    Checksum, Fetched, Format, Image, ImageError, ImageFetcher, ImageRequest, ImageStoreError, MediaStore,
};
pub use store::{
    AdChange, Capacity, Claimed, Claims, NewAd, Outcome, PAGE_BYTES, PageOf, Record, Revision, Scope, Store,
    StoreError, StoredAd, Usage,
};

/// The time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Where long computations run: checking and merging a large ad takes many milliseconds, in which nothing else would happen on
/// the thread. An embedder without it computes where it calls.
pub trait Compute: Send + Sync {
    /// Runs the work of a dealer to its end.
    fn run(&self, dealer_code: &str, work: &mut (dyn FnMut() + Send));
}

/// Fresh ids.
pub trait Ids: Send + Sync {
    /// An id that was never given before; ids given later sort later, as far as possible.
    fn next(&self) -> Uuid;
}

/// Who the dealers are. Asked on every write, so an implementation answers from memory and keeps that fresh.
pub trait DealerDirectory: Send + Sync {
    /// The dealer of a code.
    fn dealer(&self, code: &str) -> Option<Arc<Dealer>>;

    /// Codes of all dealers of a group; empty for an unknown one.
    fn group(&self, group: &str) -> Arc<[String]>;
}
