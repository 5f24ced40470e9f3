//! What a worker does with plans: applies them, follows the requests of their changes, and ends those that nobody ends.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use uuid::Uuid;

use super::StockPlans;
use crate::{
    categories,
    model::{
        AdState, ApiVersion, ChangeKind, ChangeOutcome, OpenChange, PlanError, PlanState, PlannedChange, RequestOrigin,
        StockPlan,
    },
    ports::{ClaimedPlan, PlanLease, PlanResult, RecordedOutcome, Scope, StoreError},
    service::{Acceptance, Access, Denial, Incoming, Service, ServiceError, Target, TooManyRequests},
    violation::Code,
};

/// How long a worker has a plan. What it does meanwhile is bounded, and shorter. After a `kill -9`, another goes on when it is over.
const LEASE: Duration = Duration::from_secs(15);
/// How fast changes are made.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Changes that are made at the same time.
    at_once: usize,
    /// Requests of a dealer that may be due before changes wait, so that its own requests are executed soon; also the number of changes
    /// that are made before others have their turn.
    most_due: u32,
    /// How long changes wait when that many are due.
    pause: Duration,
}

/// The first changes of a plan are made as fast as a client would send them, and so is all of a plan of few changes.
const FIRST: (u64, Pace) = (512, Pace { at_once: 16, most_due: 64, pause: Duration::from_millis(25) });
/// The others leave the database and the processors to the requests of clients.
const STEADY: Pace = Pace { at_once: 4, most_due: 16, pause: Duration::from_millis(5) };
/// How long changes wait when the quota of the dealer's requests is used up.
const QUOTA_PAUSE: Duration = Duration::from_secs(2);
/// Changes whose requests are looked at together.
const FOLLOWED: u32 = 500;
/// Changes of an ended plan that are removed together.
const REMOVED: u32 = 5000;
/// The shortest and the longest time between two looks at the requests of an applied plan.
const FOLLOW: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(10));

/// What has become of an attempt to make a change.
enum Made {
    /// It has an outcome.
    Recorded(RecordedOutcome),
    /// It stays open until the dealer has fewer unfinished requests.
    Later,
}

/// What has become of the requests of some changes.
struct EndedRequests {
    outcomes: Vec<RecordedOutcome>,
    /// The last of these changes.
    last: u32,
    /// Whether some of them are left without a final outcome.
    has_left: bool,
}

impl StockPlans {
    /// Does what is to be done next with the plan that has been due for longest: makes some changes of one that is applied, looks after
    /// the requests of one that was applied, refuses one whose reader was killed, and ends or removes one whose time is over. Returns
    /// whether a plan was due.
    ///
    /// # Errors
    /// Those of the store. The plan is due again when the claim has ended.
    pub async fn work(&self) -> Result<bool, StoreError> {
        let now = self.service.clock.now();
        let Some(claimed) = self.store.claim_plan(now, now + LEASE).await? else { return Ok(false) };
        let (lease, state) = (claimed.lease, claimed.plan.state);
        let is_over = claimed.plan.expires.is_some_and(|expires| expires <= now);
        let worked = match state {
            PlanState::Computing => {
                let code = Code::PlanInterrupted;
                let interrupted = PlanError::of_body(code, None, code.about().explanation);
                self.finish(&claimed, PlanState::Refused, vec![interrupted]).await
            }
            PlanState::Ready if is_over => self.finish(&claimed, PlanState::Expired, claimed.plan.errors.clone()).await,
            PlanState::Ready => self.store.release_plan(lease, claimed.plan.expires.unwrap_or(now)).await,
            PlanState::Applying => self.apply_some(&claimed).await,
            _ if is_over => match self.store.remove_plan(lease, REMOVED).await {
                Ok(false) => self.store.release_plan(lease, now).await,
                gone => gone.map(drop),
            },
            PlanState::Refused | PlanState::Applied | PlanState::Cancelled | PlanState::Expired => {
                self.follow(lease, &claimed.plan, state == PlanState::Cancelled).await
            }
        };
        match worked {
            // Another has it, or a client has cancelled it.
            Ok(()) | Err(StoreError::LeaseLost) => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn finish(&self, claimed: &ClaimedPlan, state: PlanState, errors: Vec<PlanError>) -> Result<(), StoreError> {
        let expires = self.service.clock.now() + self.limits.kept;
        let result = PlanResult { state, dealers: Vec::new(), guard: claimed.plan.guard, errors, expires };
        self.store.finish_plan(claimed.lease, &result).await
    }

    /// Makes the next changes of a plan.
    async fn apply_some(&self, claimed: &ClaimedPlan) -> Result<(), StoreError> {
        let (lease, plan) = (claimed.lease, claimed.lease.plan);
        let origin = RequestOrigin { plan_id: Some(plan), ..claimed.origin.clone() };
        let pace = if claimed.plan.made() < FIRST.0 { FIRST.1 } else { STEADY };
        let mut open = self.store.open_changes(plan, pace.most_due).await?;
        let is_busy = self.keep_to_pace(pace, &mut open).await?;
        let mut outcomes = Vec::new();
        let mut pause = if is_busy { pace.pause } else { Duration::ZERO };
        let make = |change| {
            let origin = &origin;
            async move { self.service.make(plan, origin, change).await }
        };
        let mut changes = stream::iter(open).map(make).buffer_unordered(pace.at_once);
        let mut failed = None;
        while let Some(made) = changes.next().await {
            match made {
                Ok(Made::Recorded(outcome)) => outcomes.push(outcome),
                Ok(Made::Later) => pause = QUOTA_PAUSE,
                Err(error) => failed = Some(error),
            }
        }
        drop(changes);
        match self.ended(plan, None, false).await {
            Ok(ended) => outcomes.extend(ended.into_iter().flat_map(|ended| ended.outcomes)),
            Err(error) => failed = Some(error),
        }
        // What was made is recorded, also if something else failed.
        let expires = self.service.clock.now() + self.limits.kept;
        let state = self.store.record_outcomes(lease, &outcomes, expires).await?;
        if let Some(error) = failed {
            return Err(error);
        }
        let pause = if state == PlanState::Applying { pause } else { Duration::ZERO };
        self.store.release_plan(lease, self.service.clock.now() + pause).await
    }

    /// Takes out the changes of dealers of whom many requests are due. Returns whether there are such dealers.
    async fn keep_to_pace(&self, pace: Pace, open: &mut Vec<OpenChange>) -> Result<bool, StoreError> {
        let mut dealers: Vec<_> = open.iter().map(|change| change.dealer_code.clone()).collect();
        dealers.sort_unstable();
        dealers.dedup();
        let all = open.len();
        for dealer_code in dealers {
            let due = self.store.due_requests(&dealer_code, self.service.clock.now(), pace.most_due).await?;
            let mut room = pace.most_due - due.min(pace.most_due);
            open.retain(|change| {
                if change.dealer_code != dealer_code {
                    return true;
                }
                let has_room = room > 0;
                room = room.saturating_sub(1);
                has_room
            });
        }
        Ok(open.len() < all)
    }

    /// Looks at the requests of all changes of an ended plan that have no final outcome. Of a cancelled one, the open changes may have
    /// requests too: those that were made and not recorded.
    async fn follow(&self, lease: PlanLease, plan: &StockPlan, is_cancelled: bool) -> Result<(), StoreError> {
        let now = self.service.clock.now();
        let expires = plan.expires.unwrap_or(now);
        let (mut after, mut left) = (None, false);
        if is_cancelled || plan.unfinished() > 0 {
            while let Some(ended) = self.ended(lease.plan, after, is_cancelled).await? {
                after = Some(ended.last);
                left |= ended.has_left;
                if !ended.outcomes.is_empty() {
                    let expires = self.service.clock.now() + self.limits.kept;
                    self.store.record_outcomes(lease, &ended.outcomes, expires).await?;
                }
            }
        }
        // The older the end of the plan, the longer what is left takes.
        let age = now - (expires - self.limits.kept);
        let due = if left { (now + (age / 8).clamp(FOLLOW.0, FOLLOW.1)).min(expires) } else { expires };
        self.store.release_plan(lease, due).await
    }

    /// What has become of the requests of the next changes after a number; `None` at the end.
    async fn ended(&self, plan: Uuid, after: Option<u32>, open: bool) -> Result<Option<EndedRequests>, StoreError> {
        let requests = self.store.requests_of_changes(plan, open, after, FOLLOWED).await?;
        let Some(last) = requests.last().map(|request| request.n) else { return Ok(None) };
        let is_left = |outcome| outcome == Some(ChangeOutcome::Accepted);
        let has_left = requests.iter().any(|request| is_left(request.outcome));
        let outcomes = requests
            .iter()
            .filter(|request| open || !is_left(request.outcome))
            .filter_map(|request| {
                let outcome = request.outcome?;
                Some(RecordedOutcome { n: request.n, outcome, code: request.code, has_request: true })
            })
            .collect();
        Ok(Some(EndedRequests { outcomes, last, has_left }))
    }
}

impl Service {
    /// Makes a change of a plan by an ordinary request, whose id is always the same. So one that was accepted before is found again, and
    /// no change is made twice.
    async fn make(&self, plan: Uuid, origin: &RequestOrigin, change: OpenChange) -> Result<Made, StoreError> {
        let OpenChange { n, dealer_code, source_id, kind, revision, body } = change;
        let id = PlannedChange::request_of(plan, n);
        let recorded = |outcome, code, has_request| Made::Recorded(RecordedOutcome { n, outcome, code, has_request });
        let accepted = || recorded(ChangeOutcome::Accepted, None, true);
        let is_known =
            async || Ok::<_, StoreError>(self.store.request(Scope::Dealer(&dealer_code), id).await?.is_some());
        // A DELETE leaves the revision as it is. If its request has failed, the ad is not deleted, and it would be made again.
        if kind == ChangeKind::Delete && is_known().await? {
            return Ok(accepted());
        }
        let access = Access::Dealer(dealer_code.clone());
        let incoming = Incoming { id, keep: None, origin: Some(origin) };
        let revisions = [revision.unwrap_or_default()];
        let target = Target { revisions: Some(&revisions), ..Target::from(&source_id) };
        let made = match (kind, body) {
            (ChangeKind::Delete, _) => self.delete(&access, incoming, target).await,
            (ChangeKind::Create, Some(body)) => {
                let category = body.get("category_id").and_then(serde_json::Value::as_u64);
                let category = category.and_then(|id| categories::by_id(id.try_into().ok()?));
                match category {
                    Some(category) => self.create(&access, incoming, category, body).await,
                    None => Err(ServiceError::NotFound),
                }
            }
            (_, Some(body)) => {
                let update = async |version| {
                    self.revise(&access, incoming, target, |stored| {
                        // A DELETE leaves the revision as it is, and an update would revive the ad.
                        if kind != ChangeKind::Revive && stored.intent == AdState::Deleted {
                            return Err(
                                Denial::new(Code::AdDeleted, "The ad was deleted after the plan was made.").into()
                            );
                        }
                        Ok(Some(self.check_update(version, stored, &body)?.decision(version, stored, &body)))
                    })
                    .await
                };
                match update(ApiVersion::V4).await {
                    // An ad that must migrate is hidden as what it is.
                    Err(ServiceError::Version(_)) if kind == ChangeKind::Hide => update(ApiVersion::V3).await,
                    updated => updated,
                }
            }
            // The ad was erased.
            (_, None) => Err(ServiceError::NotFound),
        };
        let refusal = match made {
            Ok(made) if made.request == Acceptance::Queued => return Ok(accepted()),
            Ok(_) => return Ok(recorded(ChangeOutcome::Done, None, false)),
            Err(ServiceError::Store(error)) => return Err(error),
            Err(refusal) => refusal,
        };
        if is_known().await? {
            return Ok(accepted());
        }
        let conflict = |code| recorded(ChangeOutcome::Conflict, Some(code), false);
        let failed = |code| recorded(ChangeOutcome::Failed, Some(code), false);
        Ok(match refusal {
            ServiceError::TooManyRequests(TooManyRequests::OfDealer(_)) => Made::Later,
            ServiceError::TooManyRequests(TooManyRequests::OfAd { .. }) => failed(Code::TooManyRequestsOfAd),
            ServiceError::PreconditionFailed(_) | ServiceError::NoRevisionNamed(_) => {
                conflict(Code::PreconditionFailed)
            }
            ServiceError::Duplicate { .. } => conflict(Code::DuplicateSourceId),
            ServiceError::NotFound | ServiceError::Elsewhere { .. } => conflict(Code::NotFound),
            ServiceError::Refused(denials) => match denials.first().map_or(Code::ValidationFailed, |it| it.code) {
                Code::AdDeleted => conflict(Code::AdDeleted),
                code => failed(code),
            },
            ServiceError::Version(error) => failed(error.code()),
            _ => failed(Code::ValidationFailed),
        })
    }
}
