//! Promotions by the clock, and who runs them.

use async_trait::async_trait;
use uuid::Uuid;

use super::{PageOf, Scope, StoreError};
use crate::model::{Amount, Month, Page, Promotion, PromotionRun, RunAd, Timestamp};

/// Who runs a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromotionLease {
    /// Id of the schedule.
    pub promotion: Uuid,
    /// Fencing token: once the schedule was claimed by another worker, or its run has ended, this one can no longer write.
    pub lease: i64,
}

/// A schedule that is due.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedPromotion {
    /// Who runs it.
    pub lease: PromotionLease,
    /// The schedule.
    pub promotion: Promotion,
    /// The time of the run, which stays the same until the run has ended.
    pub due: Timestamp,
    /// What an earlier worker has recorded of the run; `None`: nothing.
    pub run: Option<StartedRun>,
}

/// A run that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedRun {
    /// When it began.
    pub started: Timestamp,
    /// The month whose budget it counts against.
    pub month: Month,
    /// Its ads, in the order in which they have their turn.
    pub ads: Vec<RunAd>,
}

/// What is recorded of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun<'a> {
    /// The time of the run.
    pub due: Timestamp,
    /// When it began.
    pub started: Timestamp,
    /// The month whose budget it counts against.
    pub month: Month,
    /// What it has cost by now; `None`: nothing of it has a price.
    pub cost: Option<Amount>,
    /// ISO 4217 code of the dealer's currency.
    pub currency: &'a str,
    /// Ads that are new or have an outcome now.
    pub ads: &'a [RunAd],
    /// Number of the last ad of the run that has an outcome.
    pub last: Option<u32>,
    /// What is next.
    pub then: AfterRun,
}

/// What is next after a part of a run was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRun {
    /// The same worker goes on. If it does not record more until this time, another one does.
    GoOn(Timestamp),
    /// Any worker goes on at this time.
    Later(Timestamp),
    /// The run has ended. Ads without an outcome are removed from it.
    Ended {
        /// The revision of the schedule for which `next` is computed. Nothing is recorded if it has changed since.
        revision: i64,
        /// When it ended.
        ended: Timestamp,
        /// The next run.
        next: Option<Timestamp>,
    },
}

/// Stores schedules of promotions and their runs. A schedule is claimed as requests are; of its runs at most one is under way.
#[async_trait]
pub trait PromotionStore: Send + Sync {
    /// Adds a schedule. Returns whether it was added: a dealer has at most
    /// [`MOST_PROMOTIONS`](crate::model::MOST_PROMOTIONS).
    async fn add_promotion(&self, promotion: &Promotion) -> Result<bool, StoreError>;

    /// The schedule of an id, if its dealer is in a scope.
    async fn promotion(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<Promotion>, StoreError>;

    /// A page of the schedules of a scope, newest first.
    async fn promotions(&self, scope: Scope<'_>, page: Page) -> Result<PageOf<Promotion>, StoreError>;

    /// Replaces what a schedule says, whether it is paused, its origin, and its next run, and counts its revision up. While a run is
    /// under way, the time of the next run stays. Returns whether the schedule still had the revision.
    async fn change_promotion(&self, promotion: &Promotion) -> Result<bool, StoreError>;

    /// Removes a schedule with its runs. Returns whether there was one. A run that is under way ends, and what it has ordered stays
    /// ordered.
    async fn remove_promotion(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Claims the schedules that have been due for longest, at most so many, until a time at which others may claim them.
    async fn claim_promotions(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u32,
    ) -> Result<Vec<ClaimedPromotion>, StoreError>;

    /// Records a part of a run in one commit, and removes runs beyond [`MOST_RUNS`](crate::model::MOST_RUNS) when it has ended. Returns
    /// whether it was recorded: not if the schedule has [another revision](AfterRun::Ended::revision).
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`].
    async fn record_run(&self, lease: PromotionLease, run: &RecordedRun<'_>) -> Result<bool, StoreError>;

    /// What the runs of a schedule have cost in a month, except for that of one time.
    async fn spent_by_promotion(&self, id: Uuid, month: Month, except: Timestamp) -> Result<Amount, StoreError>;

    /// A page of the runs of a schedule, latest first.
    async fn promotion_runs(&self, id: Uuid, page: Page) -> Result<PageOf<PromotionRun>, StoreError>;
}
