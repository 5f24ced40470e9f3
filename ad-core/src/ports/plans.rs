//! Stock plans, who works on them, and what comparing a stock reads.

use async_trait::async_trait;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{PageOf, Scope, StoreError, StoredAd};
use crate::{
    model::{
        ChangeOutcome, ChangeQuery, Guard, OpenChange, Page, PlanError, PlanState, PlannedChange, PlannedDealer,
        RequestOrigin, StockPlan, Timestamp,
    },
    violation::Code,
};

/// Which plans a token can see: those whose dealers are all in its scope, and of those without dealers the ones that it made.
#[derive(Debug, Clone, Copy)]
pub struct PlanScope<'a> {
    /// The dealer or group of the token ([`Access::key`](crate::service::Access::key)).
    pub holder: &'a str,
    /// The dealers of the token.
    pub dealers: Scope<'a>,
}

impl PlanScope<'_> {
    /// Whether it includes a plan.
    pub fn covers(&self, plan: &StockPlan) -> bool {
        let is_own = !plan.dealers.is_empty() || plan.holder == self.holder;
        is_own && plan.dealers.iter().all(|dealer| self.dealers.covers(&dealer.dealer_code))
    }
}

/// Who works on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLease {
    /// Id of the plan.
    pub plan: Uuid,
    /// Fencing token: once the plan was claimed by another worker, or has moved on, this one can no longer write.
    pub lease: i64,
}

impl PlanLease {
    /// The lease of whoever computes a plan.
    pub const fn of_new(plan: Uuid) -> Self {
        Self { plan, lease: 1 }
    }
}

/// A change to be added to a plan that is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChange {
    /// The change.
    pub change: PlannedChange,
    /// The body of its request, if it needs one.
    pub body: Option<Map<String, Value>>,
}

/// What a plan becomes when it is not computed any more, or has expired.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanResult {
    /// Its new state.
    pub state: PlanState,
    /// The dealers with their counts; those that are left out stay as they are.
    pub dealers: Vec<PlannedDealer>,
    /// Whether it removes too many ads.
    pub guard: Guard,
    /// Why it was refused, and why ads are invalid.
    pub errors: Vec<PlanError>,
    /// When a ready plan expires, and one that has ended is removed.
    pub expires: Timestamp,
}

/// What has become of a request to apply a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyStart {
    /// A worker applies it from now on.
    Started,
    /// It is in this state, and not applied because of this request.
    InState(PlanState),
    /// Another plan of one of its dealers is being applied: this one.
    Behind(Uuid),
}

/// A plan that a worker has claimed, because something is to be done with it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedPlan {
    /// The claim.
    pub lease: PlanLease,
    /// The plan.
    pub plan: StockPlan,
    /// Who asked for it to be applied.
    pub origin: RequestOrigin,
}

/// What has become of a change, or of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedOutcome {
    /// Number of the change in its plan.
    pub n: u32,
    /// What has become of it.
    pub outcome: ChangeOutcome,
    /// Why it failed or was a conflict.
    pub code: Option<Code>,
    /// Whether its request was accepted.
    pub has_request: bool,
}

/// A change without a final outcome, and what is known of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeRequest {
    /// Number of the change in its plan.
    pub n: u32,
    /// The outcome of its request by now; `None`: there is no such request.
    pub outcome: Option<ChangeOutcome>,
    /// Why the request failed.
    pub code: Option<Code>,
}

/// An ad as the search for missing ads reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdOfStock {
    /// The client's reference.
    pub source_id: String,
    /// Number of the category.
    pub category_id: u16,
    /// Whether it is deleted once all accepted requests have run.
    pub is_deleted: bool,
}

/// Stores stock plans (extensions E8), and reads the stock that they are compared with. A plan has a time at which it is due: a worker
/// then claims it and acts by its state. Whoever writes to a plan extends that time, so that a plan is claimed once nobody works on it.
///
/// # Errors
/// Every method fails with [`StoreError::Unavailable`] when the store cannot be reached, with [`StoreError::Faulty`] when what it
/// holds cannot be read, and those with a [`PlanLease`] with [`StoreError::LeaseLost`] when another has the plan, or its state has
/// changed; then nothing is stored.
#[async_trait]
pub trait PlanStore: Send + Sync {
    /// Adds a plan that is to be computed, with the lease [of a new one](PlanLease::of_new), due at a time. Returns `false`, and adds
    /// nothing, if its dealer has [the most](crate::model::MOST_UNFINISHED_PLANS) that are not ended; of a plan without one, its holder.
    async fn begin_plan(&self, plan: &StockPlan, due: Timestamp) -> Result<bool, StoreError>;

    /// Adds a dealer to a plan that is computed, with the same limit.
    async fn add_plan_dealer(&self, lease: PlanLease, dealer_code: &str) -> Result<bool, StoreError>;

    /// Adds changes to a plan that is computed, and makes it due later. Their numbers follow those of the changes before.
    async fn append_changes(&self, lease: PlanLease, changes: &[NewChange], due: Timestamp) -> Result<(), StoreError>;

    /// Moves a plan that was computed, or was ready for too long, to its next state. It is due when that state expires.
    async fn finish_plan(&self, lease: PlanLease, result: &PlanResult) -> Result<(), StoreError>;

    /// The plan of an id, if it is within a scope.
    async fn plan(&self, scope: PlanScope<'_>, id: Uuid) -> Result<Option<StockPlan>, StoreError>;

    /// A page of the plans within a scope, newest first.
    async fn plans(&self, scope: PlanScope<'_>, page: Page) -> Result<PageOf<StockPlan>, StoreError>;

    /// A page of the changes of a plan.
    async fn plan_changes(&self, plan: Uuid, query: &ChangeQuery) -> Result<PageOf<PlannedChange>, StoreError>;

    /// Starts to apply a plan that is ready and has not expired. Of two plans with a common dealer, one is applied at a time.
    async fn start_applying(
        &self,
        plan: Uuid,
        origin: &RequestOrigin,
        now: Timestamp,
    ) -> Result<ApplyStart, StoreError>;

    /// Cancels a plan that has not ended, and returns whether it did. Changes that were made stay, and whoever applies the plan can
    /// still record them. It is removed when it expires.
    async fn cancel_plan(&self, plan: Uuid, expires: Timestamp) -> Result<bool, StoreError>;

    /// Claims the plan that has been due for longest, until a time.
    async fn claim_plan(&self, now: Timestamp, until: Timestamp) -> Result<Option<ClaimedPlan>, StoreError>;

    /// Ends a claim: the plan is due again at a time.
    async fn release_plan(&self, lease: PlanLease, due: Timestamp) -> Result<(), StoreError>;

    /// The next changes to be made of a plan, all of the same phase.
    async fn open_changes(&self, plan: Uuid, limit: u32) -> Result<Vec<OpenChange>, StoreError>;

    /// Records outcomes of changes that have no final one yet, and returns the state of the plan. A plan of which no change is open is
    /// applied from then on, until it expires.
    async fn record_outcomes(
        &self,
        lease: PlanLease,
        outcomes: &[RecordedOutcome],
        expires: Timestamp,
    ) -> Result<PlanState, StoreError>;

    /// The requests of changes without a final outcome whose numbers are after a given one: those that are accepted and, if `open`,
    /// those that are to be made, which may have a request that was not recorded.
    async fn requests_of_changes(
        &self,
        plan: Uuid,
        open: bool,
        after: Option<u32>,
        limit: u32,
    ) -> Result<Vec<ChangeRequest>, StoreError>;

    /// Removes a plan, with at most so many of its changes. Returns whether none are left, and so the plan is gone.
    async fn remove_plan(&self, lease: PlanLease, at_most: u32) -> Result<bool, StoreError>;

    /// The ads of a dealer with these source ids, in no particular order.
    async fn ads_of_stock(&self, dealer_code: &str, source_ids: &[String]) -> Result<Vec<StoredAd>, StoreError>;

    /// The next ads of a dealer behind a source id, in the order of their source ids.
    async fn stock_behind(&self, dealer_code: &str, behind: &str, limit: u32) -> Result<Vec<AdOfStock>, StoreError>;

    /// Ads of a dealer that are not deleted and have one of these registration numbers: the number and the source id.
    async fn ads_with_plates(&self, dealer_code: &str, plates: &[String]) -> Result<Vec<(String, String)>, StoreError>;

    /// How many requests of a dealer are due and not claimed, counted up to a limit.
    async fn due_requests(&self, dealer_code: &str, now: Timestamp, at_most: u32) -> Result<u32, StoreError>;
}
