//! Traits for everything outside of the domain: database, marketplaces, network, time. [`memory`](crate::memory) implements
//! them for tests and for embedding.

mod accounts;
mod event_watch;
pub mod jpeg;
mod marketplace;
mod media;
mod photos;
mod plans;
mod promotions;
mod registry;
mod slots;
mod store;

use std::sync::Arc;

use uuid::Uuid;

use crate::model::{Dealer, Timestamp};
pub use accounts::{AccountStore, Reservation};
pub use event_watch::{EventWatch, EventWatches};
pub use marketplace::{
    Answered, IdempotencyKey, InvalidIdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing,
    PublishedByPlate,
};
pub use media::{
    Checksum, Fetched, Format, Image, ImageError, ImageFetcher, ImageRequest, ImageStoreError, MediaStore,
};
pub use photos::{ClaimedPhotos, ExaminedPhotos, PhotoStore};
pub use plans::{
    AdOfStock, ApplyStart, ChangeRequest, ClaimedPlan, NewChange, PlanLease, PlanResult, PlanScope, PlanStore,
    RecordedOutcome,
};
pub use promotions::{AfterRun, ClaimedPromotion, PromotionLease, PromotionStore, RecordedRun, StartedRun};
pub use registry::{VehicleId, VehicleRegistry};
pub use slots::{SlotRequest, SlotStore};
pub use store::{
    AdChange, AnswerKey, Begin, Capacity, Claimed, Claims, KeptAnswer, ListedAd, LogEntries, NewAd, Outcome,
    PAGE_BYTES, PageOf, PhotoQuery, Record, Revision, Scope, StatusFacts, Store, StoreError, StoredAd, TagOfAd, Usage,
    VehicleQuery,
};

/// The time of the system, replaced in tests.
pub trait Clock: Send + Sync {
    /// The present time, in UTC.
    fn now(&self) -> Timestamp;
}

/// Runs long computations: checking and merging a large ad takes many milliseconds, in which it would block its thread. Without
/// this port they run on the calling thread.
pub trait Compute: Send + Sync {
    /// Runs work for a dealer, and returns when it is complete.
    fn run(&self, dealer_code: &str, work: &mut (dyn FnMut() + Send));
}

/// A source of new ids, replaced in tests.
pub trait Ids: Send + Sync {
    /// A new id, which sorts after all earlier ones as far as possible.
    fn next(&self) -> Uuid;
}

/// The dealers. Every write reads it, so an implementation answers from memory and keeps its data up to date.
pub trait DealerDirectory: Send + Sync {
    /// The dealer of a code.
    fn dealer(&self, code: &str) -> Option<Arc<Dealer>>;

    /// Codes of all dealers of a group; empty for an unknown group.
    fn group(&self, group: &str) -> Arc<[String]>;

    /// Why an operator has suspended a dealer; `None` if no one has. A suspended dealer can only read and delete its ads.
    fn suspended(&self, code: &str) -> Option<String> {
        let _ = code;
        None
    }
}
