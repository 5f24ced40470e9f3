use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::model::{
    Ad, AdQuery, AdState, ApiVersion, Content, ImageRef, ImageSources, Leftover, LogEntry, LogQuery, MOST_UNFINISHED,
    Market, Progress, Request, Timestamp,
};

/// Whose ads may be seen: one dealer's, or those of all dealers of a group.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// One dealer.
    Dealer(&'a str),
    /// These dealers.
    Dealers(&'a [String]),
}

impl Scope<'_> {
    /// Whether a dealer's ads may be seen.
    pub fn covers(&self, dealer_code: &str) -> bool {
        match self {
            Self::Dealer(code) => *code == dealer_code,
            Self::Dealers(codes) => codes.iter().any(|code| code == dealer_code),
        }
    }
}

/// An ad with what the service keeps about it and never shows.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAd {
    /// The ad.
    pub ad: Ad,
    /// Counts the accepted writes; a change names the one that it builds on.
    pub revision: i64,
    /// The state that the ad will be in when every accepted request has run.
    pub intent: AdState,
    /// Until when pole position is active or asked for.
    pub pole_position_until: Option<Timestamp>,
    /// What its requests left undone.
    pub leftover: Leftover,
}

/// An ad to be created, with the request that does the work and the first entry of its log.
#[derive(Debug)]
pub struct NewAd<'a> {
    /// The ad.
    pub ad: &'a Ad,
    /// The request.
    pub request: &'a Request,
    /// The first entry.
    pub entry: &'a LogEntry,
}

/// An accepted write on an existing ad, with the request that does the work. What is `None` stays.
#[derive(Debug)]
pub struct Revision<'a> {
    /// The ad.
    pub ad: Uuid,
    /// The ad's dealer. Dealers share the time of a store.
    pub dealer_code: &'a str,
    /// The revision that it builds on.
    pub revision: i64,
    /// New content.
    pub content: Option<&'a Content>,
    /// New API version and category (conversion and migration).
    pub version: Option<(ApiVersion, u16)>,
    /// New intent.
    pub intent: Option<AdState>,
    /// Until when pole position is asked for.
    pub pole_position_until: Option<Timestamp>,
    /// When it was accepted.
    pub updated: Timestamp,
    /// The request.
    pub request: &'a Request,
}

impl Revision<'_> {
    /// Most unfinished requests that the ad may have with this one. A deletion is accepted beyond what others are, so that no
    /// queue keeps an ad listed; there is never more than one of it.
    pub fn most_unfinished(&self) -> u32 {
        if self.intent == Some(AdState::Deleted) { MOST_UNFINISHED + 1 } else { MOST_UNFINISHED }
    }
}

/// What a dealer has in the store, and a quota can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Usage {
    /// Accepted requests that are not finished.
    Requests,
    /// Ads that are not deleted.
    Ads,
    /// Bytes of different images that were [added](Store::add_dealer_image).
    ImageBytes,
}

/// A request handed to one worker, with its ad as it stands now.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// Fences the lease: what another worker has taken over can no longer be recorded.
    pub lease: i64,
    /// The request.
    pub request: Request,
    /// Its ad.
    pub stored: StoredAd,
    /// Where the ad's images came from.
    pub image_sources: ImageSources,
}

/// How much a worker takes at once, and of whom.
#[derive(Debug, Clone, Copy)]
pub struct Capacity<'a> {
    /// Most requests.
    pub limit: usize,
    /// Most requests of one dealer.
    pub per_dealer: usize,
    /// Dealers of whom it takes nothing now.
    pub full: &'a [String],
}

impl From<usize> for Capacity<'_> {
    /// So many, whoever's they are.
    fn from(limit: usize) -> Self {
        Self { limit, per_dealer: limit, full: &[] }
    }
}

/// What there was to claim.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    /// Requests that are now this worker's.
    pub claimed: Vec<Claimed>,
    /// When the next one that waits for its time, or for the end of a worker's lease, is due.
    pub next_due: Option<Timestamp>,
}

/// What a worker changes about an ad. What is `None` stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdChange {
    /// New state.
    pub state: Option<AdState>,
    /// New intent, when a deletion failed.
    pub intent: Option<AdState>,
    /// New images.
    pub image_refs: Option<Vec<ImageRef>>,
    /// Where they came from, and their sizes.
    pub image_sources: Option<ImageSources>,
    /// Listing ids obtained.
    pub listings: Vec<(Market, String)>,
    /// New end of pole position; `Some(None)` when it was not given.
    pub pole_position_until: Option<Option<Timestamp>>,
    /// What its requests have left undone so far.
    pub leftover: Option<Leftover>,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The worker goes on with it.
    Goes {
        /// How far it has come.
        progress: Progress,
    },
    /// It waits for its time; any worker may then claim it.
    Waits {
        /// How far it has come.
        progress: Progress,
        /// When it is due.
        until: Timestamp,
    },
    /// It is finished.
    Finished,
}

/// What a worker did: log entries, what they announce, and what becomes of the request, in one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The ad.
    pub ad: Uuid,
    /// The request.
    pub request: Uuid,
    /// The lease under which it was done.
    pub lease: i64,
    /// Entries to append, in this order.
    pub entries: Vec<LogEntry>,
    /// What changes about the ad.
    pub change: AdChange,
    /// What becomes of the request.
    pub outcome: Outcome,
    /// When.
    pub at: Timestamp,
}

/// A part of a list with the number of rows in the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct PageOf<T> {
    /// Rows in the whole list.
    pub count: u64,
    /// Rows of this part. Fewer than the limit when they would have more than [`PAGE_BYTES`]; the next part then begins
    /// behind the last of them.
    pub rows: Vec<T>,
}

/// Most bytes of content, images and log messages in one part of a list. One row may have more: a part has at least one.
/// Bounds the memory of an answer; a page of 500 ordinary ads has about 1 MB.
pub const PAGE_BYTES: u64 = 8 * 1024 * 1024;

/// Why the store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The dealer has used this source id.
    #[error("the source id is used")]
    Duplicate,
    /// Somebody else changed the ad first; read it again.
    #[error("the ad was changed in the meantime")]
    Conflict,
    /// The ad has as many unfinished requests as it may have.
    #[error("the ad has {0} unfinished requests")]
    QueueFull(u32),
    /// Another worker has the request now.
    #[error("the lease was lost")]
    LeaseLost,
    /// A read that a client asked for was stopped because it took longer than a read may take.
    #[error("a read was stopped after {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It cannot be written or read now: locked, full, out of reach.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// It holds what it should not, or answers what makes no sense.
    #[error("the store is faulty: {0}")]
    Faulty(String),
}

/// Keeps ads, their logs and the queue of accepted requests. Each method is one commit or one consistent read.
#[async_trait]
pub trait Store: Send + Sync {
    /// Stores a new ad, its first log entry and its request.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when the dealer has ever used the source id.
    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError>;

    /// Stores an accepted write and its request.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the ad has moved past the revision; [`StoreError::QueueFull`] when it has
    /// [`most_unfinished`](Revision::most_unfinished) requests without this one.
    async fn revise(&self, revision: Revision<'_>) -> Result<(), StoreError>;

    /// The ads of a source id within a scope (a group may have one at each dealer), with their latest log entries,
    /// oldest first, when they are wanted.
    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        with_log: bool,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError>;

    /// Whether a dealer has ever used a source id.
    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError>;

    /// Ads within a scope, with their latest log entries when the query includes them. Content and images that the query
    /// does not ask for may be missing from the ads.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`].
    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<(Ad, Vec<LogEntry>)>, StoreError>;

    /// Log entries of an ad.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`].
    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError>;

    /// Takes requests that are due: of each ad the oldest unfinished one only, so that one ad's requests run in order,
    /// one at a time. A request whose lease ended is taken again. Dealers take turns: as long as one has more than its
    /// part, what is left over goes to others first.
    async fn claim(&self, now: Timestamp, lease_until: Timestamp, capacity: Capacity<'_>)
    -> Result<Claims, StoreError>;

    /// Makes due now what is due after this time, and takes the leases of it back. For when the clock was set back: what
    /// was written by the time before would otherwise wait until that comes again.
    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError>;

    /// Makes a lease last longer.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has it.
    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError>;

    /// Records what a worker did.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has the request; nothing is then stored.
    async fn record(&self, record: Record) -> Result<(), StoreError>;

    /// Ties a listing of a marketplace to an ad, unless it is tied to another live one (decision 25). Returns whether
    /// it is tied to this ad now. A deleted ad's ties are free.
    async fn tie(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError>;

    /// Whether it can be read and written now.
    async fn check(&self) -> Result<(), StoreError>;

    /// Whether an ad exists and is not deleted.
    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError>;

    /// Whether an ad has a request that is not finished.
    async fn has_unfinished(&self, ad: Uuid) -> Result<bool, StoreError>;

    /// How much a dealer has. Counting may end at `at_most`: then the answer is no less than that. Called at most a few times
    /// a second for each dealer, and not at all where there are no quotas.
    async fn usage(&self, dealer_code: &str, of: Usage, at_most: u64) -> Result<u64, StoreError>;

    /// Remembers that an image of a dealer is stored, under its checksum; whether it is new. Called where there is a quota of
    /// [`Usage::ImageBytes`].
    async fn add_dealer_image(&self, dealer_code: &str, checksum: &str, bytes: u64) -> Result<bool, StoreError>;

    /// Whether an image was added for a dealer.
    async fn has_dealer_image(&self, dealer_code: &str, checksum: &str) -> Result<bool, StoreError>;
}
