//! The traits that the outside implements. Everything in this crate that needs a database, a marketplace, the network or
//! the time asks one of these for it; [`memory`](crate::memory) has implementations for tests and for embedding.

mod directory;
mod marketplace;
mod media;
mod store;

use uuid::Uuid;

use crate::time::Timestamp;
pub use directory::{Address, DEFAULT_CURRENCY, Dealer, DealerDirectory};
pub use marketplace::{Found, InvalidKey, Key, Listing, Marketplace, MarketplaceError};
pub use media::{Checksum, Format, Image, ImageError, ImageFetcher, MediaStore};
pub use store::{
    AdChange, Capacity, Claimed, Claims, NewAd, Outcome, Page, PageOf, Record, Revision, Scope, Store, StoreError,
    StoredAd,
};

/// The time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Fresh ids.
pub trait Ids: Send + Sync {
    /// An id that was never given before; ids given later sort later, as far as possible.
    fn next(&self) -> Uuid;
}
