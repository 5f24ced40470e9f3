use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use uuid::Uuid;

use super::{AccountStore, EventWatch, Reservation, SlotStore};
use crate::model::{
    Ad, AdQuery, AdState, AdTag, Amount, ApiVersion, Content, ContentChange, ContentScore, Creation, EarlierPrices,
    EventPage, EventPosition, EventQuery, FailedImage, ImageRef, ImageSources, Leftover, LogEntry, LogQuery,
    MOST_UNFINISHED, Market, MarketplaceCall, Page, PhotoFacts, Plan, Price, Progress, Publication, RecordedChange,
    Replaced, Request, SameVehicle, StatusCount, StatusWords, StoredRequest, Timestamp,
};

/// The dealers whose ads a request may access.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// The dealer with this code.
    Dealer(&'a str),
    /// All dealers with these codes.
    Dealers(&'a [String]),
}

impl Scope<'_> {
    /// Whether it includes a dealer.
    pub fn covers(&self, dealer_code: &str) -> bool {
        match self {
            Self::Dealer(code) => *code == dealer_code,
            Self::Dealers(codes) => codes.iter().any(|code| code == dealer_code),
        }
    }
}

/// Whether ads come with their latest log entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogEntries {
    /// With the latest entries, oldest first.
    Latest,
    /// No log entries are read.
    Omitted,
}

/// An ad with what the service stores about it and does not show.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAd {
    /// The ad as clients know it.
    pub ad: Ad,
    /// Number of accepted writes of any kind, also of those that leave the content as it is. A [`Revision`] names the one that it
    /// is based on.
    pub revision: i64,
    /// What clients know its state by.
    pub tag: AdTag,
    /// The state of the ad once all accepted requests have run.
    pub intent: AdState,
    /// End of the pole position that is active or requested.
    pub pole_position_until: Option<Timestamp>,
    /// What failed requests left undone.
    pub leftover: Leftover,
    /// What ended requests left on the marketplaces.
    pub publication: Publication,
    /// The status of the ad and of its channels.
    pub words: StatusWords,
    /// Since when the ad has had its status.
    pub status_since: Timestamp,
}

/// An ad with its unfinished requests: what its status is computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusFacts {
    /// The ad, with its leftover and publication.
    pub stored: StoredAd,
    /// Its unfinished requests with their plans, in the order in which they are executed.
    pub unfinished: Vec<(Option<Plan>, StoredRequest)>,
}

/// An ad in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedAd {
    /// The ad as clients know it.
    pub ad: Ad,
    /// Its latest log entries, oldest first, if the query includes them.
    pub log: Vec<LogEntry>,
    /// Its status and those of its channels.
    pub words: StatusWords,
    /// The images that the latest `handle_media` could not store, if the query includes the quality.
    pub failed_images: Vec<FailedImage>,
}

/// The tag of an ad, and what a request finds the ad by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagOfAd {
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// Number of the ad's category.
    pub category_id: u16,
    /// The tag of the ad's present state.
    pub tag: AdTag,
}

/// A new ad with its first request and its first log entry.
#[derive(Debug)]
pub struct NewAd<'a> {
    /// The ad to store, with its normalised payload.
    pub ad: &'a Ad,
    /// The request that publishes it.
    pub request: &'a Request,
    /// The `create` entry of its log.
    pub entry: &'a LogEntry,
    /// The answer to keep, of a request with an idempotency key.
    pub answer: Option<&'a KeptAnswer>,
}

/// The client that sent an idempotency key, and what the key is for (extensions E3.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerKey {
    /// The dealer or group of the token ([`Access::key`](crate::service::Access::key)).
    pub holder: String,
    /// The first characters of the key, which keep keys that are sent in order together, and a hash of method, path and key.
    pub digest: String,
}

/// The answer to a request with an idempotency key, for when the client repeats the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// What it is kept under.
    pub key: AnswerKey,
    /// A hash of query and body: another request must not use the same key.
    pub fingerprint: String,
    /// Id of the first request with the key.
    pub request_id: Uuid,
    /// When that request was accepted.
    pub accepted: Timestamp,
    /// The answer, in the notation of its [`AnswerWriter`](crate::service::AnswerWriter).
    pub answer: String,
}

/// An accepted write on an existing ad, with its request. Fields that are `None` stay unchanged.
#[derive(Debug)]
pub struct Revision<'a> {
    /// Internal id of the ad.
    pub ad: Uuid,
    /// The ad's dealer. Stores share their time between dealers.
    pub dealer_code: &'a str,
    /// The revision that it is based on.
    pub revision: i64,
    /// New content, which moves the tag's revision; without, its `n` moves.
    pub content: Option<&'a Content>,
    /// The quality score of the ad with it.
    pub quality_score: Option<u8>,
    /// The prices that it replaces, if it has others.
    pub price_before: Option<Vec<Price>>,
    /// What it replaces for the record, if it changes the content or revives the ad.
    pub replaced: Option<Replaced>,
    /// New API version and category (conversion and migration).
    pub version: Option<(ApiVersion, u16)>,
    /// New state of the ad once all accepted requests have run.
    pub intent: Option<AdState>,
    /// End of the requested pole position.
    pub pole_position_until: Option<Timestamp>,
    /// The status from now on, unless a request is unfinished and the ad has its status already.
    pub words: StatusWords,
    /// When it was accepted: the ad's new time of change.
    pub updated: Timestamp,
    /// The request to append to the queue.
    pub request: &'a Request,
    /// Whether it is refused while a request of the same plan is unfinished.
    pub coalesces: bool,
    /// What the request costs.
    pub reservation: Option<&'a Reservation>,
    /// The answer to keep, of a request with an idempotency key.
    pub answer: Option<&'a KeptAnswer>,
}

impl Revision<'_> {
    /// Maximum number of unfinished requests of the ad, including this one. One deletion is accepted beyond the usual maximum, so
    /// that a full queue does not keep an ad published.
    pub fn most_unfinished(&self) -> u32 {
        if self.intent == Some(AdState::Deleted) { MOST_UNFINISHED + 1 } else { MOST_UNFINISHED }
    }
}

/// What other ads of the same vehicle are found by.
#[derive(Debug, Clone, Copy)]
pub struct VehicleQuery<'a> {
    /// Code of the dealer whose ads are searched.
    pub dealer_code: &'a str,
    /// The registration number; only ads of categories that are [found by it](crate::categories::Category::is_found_by_plate) match.
    pub plate: Option<&'a str>,
    /// The [VIN](Content::vin), in upper case.
    pub vin: Option<&'a str>,
    /// The source id of the ad itself, which does not match.
    pub source_id: Option<&'a str>,
}

/// What ads with a photo of an ad are found by.
#[derive(Debug, Clone, Copy)]
pub struct PhotoQuery<'a> {
    /// Code of the dealer whose ads are searched.
    pub dealer_code: &'a str,
    /// The source id of the ad itself, which does not match.
    pub source_id: &'a str,
    /// What the ad's photos show.
    pub photos: &'a [PhotoFacts],
}

/// What a quota can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Usage {
    /// Requests that are accepted and not finished.
    Requests,
    /// Ads that are not deleted.
    Ads,
    /// Bytes of the different images that were [added](Store::add_dealer_image).
    ImageBytes,
    /// Kept answers of one holder of keys, whose name takes the place of the dealer code.
    Answers,
}

/// A request that a worker has claimed, with its ad.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// Fencing token of the lease: once another worker has claimed the request, this one can no longer record.
    pub lease: i64,
    /// The request with its plan and progress.
    pub request: Request,
    /// The ad as it was when the request was claimed.
    pub stored: StoredAd,
    /// Sources of the ad's images.
    pub image_sources: ImageSources,
    /// Whether its next action was logged as begun by the claim itself, and nothing more has been done.
    pub is_fresh: bool,
}

/// What is recorded about a request in the commit that claims it, if there is something. It is called again for a claim that is repeated.
pub type Begin = Arc<dyn Fn(Claimed) -> (Claimed, Option<Record>) + Send + Sync>;

/// How many requests a worker claims at once, and of which dealers.
#[derive(Debug, Clone, Copy)]
pub struct Capacity<'a> {
    /// Maximum number of requests, over all dealers.
    pub limit: usize,
    /// Maximum number of requests of one dealer.
    pub per_dealer: usize,
    /// Dealers whose requests are not claimed now.
    pub full: &'a [String],
    /// Whether a request was accepted since the last claim, so that a store need not look first whether any is due.
    pub woken: bool,
}

impl From<usize> for Capacity<'_> {
    /// This many, of any dealers.
    fn from(limit: usize) -> Self {
        Self { limit, per_dealer: limit, full: &[], woken: false }
    }
}

/// The result of a claim.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    /// Requests that belong to this worker now.
    pub claimed: Vec<Claimed>,
    /// When the next waiting request is due, or the next lease ends; now if it did not look.
    pub next_due: Option<Timestamp>,
}

/// What a worker changes about an ad. Fields that are `None` stay unchanged. Any change moves the ad's tag, and so does each log
/// entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdChange {
    /// New state, at the end of a deletion.
    pub state: Option<AdState>,
    /// New intent, when a deletion failed.
    pub intent: Option<AdState>,
    /// New list of stored images, in display order.
    pub image_refs: Option<Vec<ImageRef>>,
    /// Sizes and validators of the new images.
    pub image_sources: Option<ImageSources>,
    /// Ids of listings that publishing created or found.
    pub listings: Vec<(Market, String)>,
    /// New end of pole position; `Some(None)` removes it.
    pub pole_position_until: Option<Option<Timestamp>>,
    /// What now remains for a retry.
    pub leftover: Option<Leftover>,
}

/// What happens to a request after a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The worker continues with it.
    Continues {
        /// The progress to store, from which another worker would continue after a crash.
        progress: Progress,
    },
    /// It waits; from `until` on, any worker may claim it.
    Waits {
        /// The progress to store, from which the next worker continues.
        progress: Progress,
        /// When any worker may claim it.
        until: Timestamp,
    },
    /// The request is removed from the queue.
    Finished,
}

/// What a worker did, for one commit: log entries, the changes that they report, and what happens to the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Internal id of the ad.
    pub ad: Uuid,
    /// Id of the request that the worker executes.
    pub request: Uuid,
    /// The lease under which it was done.
    pub lease: i64,
    /// Entries to append, in this order.
    pub entries: Vec<LogEntry>,
    /// What the request has changed about the content, if it was not recorded before. It is stored with the first of the entries.
    pub changes: Option<ContentChange>,
    /// What changes about the ad.
    pub change: AdChange,
    /// What ended requests have left on the marketplaces; `None` if that stays unchanged.
    pub publication: Option<Publication>,
    /// The calls of marketplaces that were made meanwhile, in the order of their ends.
    pub calls: Vec<MarketplaceCall>,
    /// At the end of a request that may have reserved something: the marketplaces that have confirmed the promotion. Their charges are
    /// [charged](crate::model::ChargeState::Charged), the other ones are released.
    pub confirmed: Option<Vec<Market>>,
    /// The quality score of the ad after it; without effect if the ad has other content by now, whose score was stored with it.
    pub quality_score: Option<ContentScore>,
    /// The status of the ad after it. If another request of the ad is unfinished when this one is finished, the ad is
    /// [under way again](StatusWords::under_way) instead. A status that differs from the one before moves the ad's tag, unless entries
    /// or a change do.
    pub words: StatusWords,
    /// What happens to the request.
    pub outcome: Outcome,
    /// When the work was done.
    pub at: Timestamp,
}

/// A page of a list, with the number of rows in the whole list.
#[derive(Debug, Clone, PartialEq)]
pub struct PageOf<T> {
    /// Rows in the whole list.
    pub count: u64,
    /// Rows of this page. There are fewer than the limit if more would exceed [`PAGE_BYTES`]; the next page then starts after the
    /// last of them.
    pub rows: Vec<T>,
}

/// Maximum size of content, images and log messages in one page, in bytes. It limits the memory of an answer; a page of 500
/// ordinary ads has about 1 MB. A page has at least one row, however large that is.
pub const PAGE_BYTES: u64 = 8 * 1024 * 1024;

/// Why an operation of a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The dealer has already used this source id.
    #[error("the source id is used")]
    Duplicate,
    /// The ad has changed since the revision; read it again.
    #[error("the ad was changed in the meantime")]
    Conflict,
    /// The ad has the maximum number of unfinished requests.
    #[error("the ad has {0} unfinished requests")]
    QueueFull(u32),
    /// The request costs more than is left of the dealer's budget, which is this amount.
    #[error("{0} is left of the budget")]
    BudgetExceeded(Amount),
    /// A request of the same plan is unfinished: this one.
    #[error("request {0} of the ad is to do the same")]
    Underway(Uuid),
    /// An answer is kept under the idempotency key already.
    #[error("the idempotency key is used")]
    KeyUsed(Box<KeptAnswer>),
    /// Another worker has the request now.
    #[error("the lease was lost")]
    LeaseLost,
    /// A client's read was cancelled because it exceeded its time limit.
    #[error("a read was stopped after {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It cannot be read or written now: locked, full, unreachable.
    #[error("the store is not available: {0}")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// It contains invalid data, or its answers make no sense.
    #[error("the store is faulty: {0}")]
    Faulty(#[source] Box<dyn Error + Send + Sync>),
}

/// Stores ads, their logs and the queue of accepted requests. Each method is one commit or one consistent read.
#[async_trait]
pub trait Store: AccountStore + SlotStore + Send + Sync {
    /// Stores a new ad with its [quality score](crate::quality::score), its first log entry, its request, and the answer to keep.
    ///
    /// # Errors
    /// [`StoreError::KeyUsed`]; [`StoreError::Duplicate`] when the dealer has ever used the source id.
    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError>;

    /// Stores an accepted write, its request, and the answer to keep.
    ///
    /// # Errors
    /// [`StoreError::KeyUsed`]; [`StoreError::Underway`]; [`StoreError::Conflict`] when the ad has moved past the revision;
    /// [`StoreError::BudgetExceeded`];
    /// [`StoreError::QueueFull`] when it has [`most_unfinished`](Revision::most_unfinished) requests without this one.
    async fn revise(&self, revision: Revision<'_>) -> Result<(), StoreError>;

    /// The ads with a source id within a scope (each dealer of a group may have one), with their latest log entries, oldest
    /// first, unless they are omitted.
    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        log: LogEntries,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError>;

    /// The tags of the ads with a source id within a scope: as [`find`](Self::find), without reading the ads.
    async fn tags(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<TagOfAd>, StoreError>;

    /// The accepted request of an id, if its ad is within a scope. Of finished requests, those are found that have recorded log
    /// entries with their end.
    async fn request(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<StoredRequest>, StoreError>;

    /// Whether a dealer has ever used a source id.
    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError>;

    /// A page of the ads within a scope, with their latest log entries if the query includes them. The ads may lack content and
    /// images that the query does not ask for.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`].
    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<ListedAd>, StoreError>;

    /// The ads with a source id within a scope, each with its unfinished requests.
    async fn facts(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<StatusFacts>, StoreError>;

    /// The ads with a source id within a scope, each with its earlier prices, oldest first: at most the latest
    /// [`MOST_EARLIER_PRICES`](crate::model::MOST_EARLIER_PRICES).
    async fn earlier_prices(
        &self,
        scope: Scope<'_>,
        source_id: &str,
    ) -> Result<Vec<(Ad, Vec<EarlierPrices>)>, StoreError>;

    /// Other ads of a dealer with the same registration number or VIN.
    async fn same_vehicle(&self, query: VehicleQuery<'_>) -> Result<SameVehicle, StoreError>;

    /// Other ads of a dealer that are not deleted and show a photo that [looks like](PhotoFacts::looks_like_of_other_ad) one of these: a
    /// source id for each place in the list that has one. It knows the photos that were [examined](super::PhotoStore).
    async fn same_photos(&self, query: PhotoQuery<'_>) -> Result<BTreeMap<usize, String>, StoreError>;

    /// The number of ads within a scope by status and category, in no particular order; several counts may be alike.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`].
    async fn count_by_status(&self, scope: Scope<'_>) -> Result<Vec<StatusCount>, StoreError>;

    /// A page of the log entries of an ad.
    ///
    /// # Errors
    /// [`StoreError::TimedOut`].
    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError>;

    /// What requests have changed about the content of an ad: those with one of its latest [`LATEST_ENTRIES`](crate::model::LATEST_ENTRIES).
    async fn changes(&self, ad: Uuid) -> Result<HashMap<Uuid, ContentChange>, StoreError>;

    /// The changes of the content of an ad that led to a revision and to those before it, newest first: the newest
    /// [`MOST_REVISIONS`](crate::model::MOST_REVISIONS) at most, fewer if more would exceed [`PAGE_BYTES`]. The next ones are those up to the revision that the
    /// last of them [replaced](RecordedChange::replaced).
    async fn recorded(&self, ad: Uuid, up_to: i64) -> Result<Vec<RecordedChange>, StoreError>;

    /// How an ad was created or imported.
    async fn creation(&self, ad: Uuid) -> Result<Option<Creation>, StoreError>;

    /// A page of the recorded calls of marketplaces about an ad, newest first.
    async fn calls(&self, ad: Uuid, page: Page) -> Result<PageOf<MarketplaceCall>, StoreError>;

    /// A page of the events within a scope, in their order. Events that can be read later come after the position of the page, so a
    /// reader that continues there gets every event once. A committed event can be read a moment later, once all earlier commits have
    /// ended.
    ///
    /// A page costs the same however many events there are. It has fewer events than the limit if more would exceed [`PAGE_BYTES`], or
    /// if the filter left few of those that were read ([`EventQuery::scan_limit`]).
    ///
    /// # Errors
    /// [`StoreError::TimedOut`].
    async fn events(&self, scope: Scope<'_>, query: &EventQuery) -> Result<EventPage, StoreError>;

    /// The position of the newest event of all dealers that can be read now. All later ones come after it.
    async fn newest_event(&self) -> Result<EventPosition, StoreError>;

    /// The present epoch: a history without a loss. A restore or the promotion of a standby that lacks commits begins another one,
    /// with a higher number. The first one is 0.
    fn epoch(&self) -> i64 {
        0
    }

    /// Whether a position is of a part of an earlier epoch that was lost, so that a reader that continues there would miss events.
    fn has_lost(&self, position: EventPosition) -> bool {
        let _ = position;
        false
    }

    /// Waits for new events within a scope, of this process at once and of others soon. There may be thousands of watches.
    fn watch_events(&self, scope: Scope<'_>) -> EventWatch;

    /// Claims requests that are due: of each ad only the oldest unfinished one, so that the requests of an ad run in order, one
    /// at a time. A request whose lease has ended is claimed again. Dealers take turns: while one has more than its share, other
    /// dealers come first.
    async fn claim(&self, now: Timestamp, lease_until: Timestamp, capacity: Capacity<'_>)
    -> Result<Claims, StoreError>;

    /// The same, and records what `begin` says: in the same commit, unless a store has only this default.
    async fn claim_and_begin(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
        begin: Begin,
    ) -> Result<Claims, StoreError> {
        let Claims { claimed, next_due } = self.claim(now, lease_until, capacity).await?;
        let mut begun = Vec::with_capacity(claimed.len());
        for claimed in claimed {
            let (claimed, record) = begin(claimed);
            if let Some(record) = record {
                self.record(record).await?;
            }
            begun.push(claimed);
        }
        Ok(Claims { claimed: begun, next_due })
    }

    /// Makes requests that are due after a time due now, and revokes their leases. It is called when the clock was set back:
    /// otherwise these requests would wait until the earlier time is reached again.
    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError>;

    /// Takes back the leases of processes that have ended, so that their requests need not wait until these run out. Workers
    /// call it several times a second.
    async fn release_left(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Extends a lease.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has claimed the request.
    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError>;

    /// Keeps an image of this checksum from being removed until the request has ended, or until a time: it is about to be stored for the
    /// ad of the request. `false`: it is being removed right now; try again.
    async fn hold_image(
        &self,
        checksum: &str,
        request: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Records what a worker did.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another worker has claimed the request; then nothing is stored.
    async fn record(&self, record: Record) -> Result<(), StoreError>;

    /// Links a listing of a marketplace to an ad, unless it is linked to another ad that is not deleted (decision 25). Returns
    /// whether it is linked to this ad now.
    async fn link_listing(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError>;

    /// Checks that it can be read and written.
    async fn check(&self) -> Result<(), StoreError>;

    /// Whether an ad exists and is not deleted.
    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError>;

    /// Whether an ad has a request that is not finished.
    async fn has_unfinished(&self, ad: Uuid) -> Result<bool, StoreError>;

    /// The unfinished request of an ad that has this plan, if there is one; the oldest of several.
    async fn find_unfinished(&self, ad: Uuid, plan: Option<&Plan>) -> Result<Option<Uuid>, StoreError>;

    /// Returns when a request is finished, at once if there is no such unfinished request. It may be called for thousands of
    /// requests at the same time, and the wait ends when the future is dropped.
    async fn wait_until_finished(&self, request: Uuid) -> Result<(), StoreError>;

    /// Keeps the answer of a request that does nothing to its ad.
    ///
    /// # Errors
    /// [`StoreError::KeyUsed`].
    async fn keep_answer(&self, ad: Uuid, answer: &KeptAnswer) -> Result<(), StoreError>;

    /// The answer that is kept under a key.
    async fn kept_answer(&self, key: &AnswerKey) -> Result<Option<KeptAnswer>, StoreError>;

    /// Removes answers of requests that were accepted before a time, at most so many, and returns how many.
    async fn remove_answers(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError>;

    /// Removes the oldest answers of a holder of keys, so that the others have at most so many bytes, as they are stored. Returns how
    /// many.
    async fn trim_answers(&self, holder: &str, bytes: u64) -> Result<u64, StoreError>;

    /// How much a dealer has. Counting may stop at `at_most`; the result is then at least `at_most`. It is called at most a few
    /// times a second for each dealer, and only if there are quotas.
    async fn usage(&self, dealer_code: &str, of: Usage, at_most: u64) -> Result<u64, StoreError>;

    /// Number of ads that are not deleted, of each dealer of a scope that has some.
    async fn ads_by_dealer(&self, scope: Scope<'_>) -> Result<HashMap<String, u64>, StoreError>;

    /// Records that an image of a dealer is stored, and returns whether it is new. It is called only if there is a quota of
    /// [`Usage::ImageBytes`].
    async fn add_dealer_image(&self, dealer_code: &str, checksum: &str, bytes: u64) -> Result<bool, StoreError>;

    /// Whether an image was added for a dealer.
    async fn has_dealer_image(&self, dealer_code: &str, checksum: &str) -> Result<bool, StoreError>;
}
