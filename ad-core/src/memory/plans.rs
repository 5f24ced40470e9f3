//! Stock plans in memory.

use async_trait::async_trait;
use uuid::Uuid;

use super::store::{MemoryStore, Tables, bytes_of, page_of};
use crate::{
    categories::Category,
    lock::locked,
    model::{
        Ad, AdState, ChangeOutcome, ChangeQuery, MOST_UNFINISHED_PLANS, OpenChange, Page, PlanState, PlannedChange,
        PlannedDealer, RequestOrigin, RequestState, StockPlan, Timestamp,
    },
    ports::{
        AdOfStock, ApplyStart, ChangeRequest, ClaimedPlan, NewChange, PageOf, PlanLease, PlanResult, PlanScope,
        PlanStore, RecordedOutcome, StoreError, StoredAd,
    },
};

#[derive(Debug)]
pub(super) struct PlanRow {
    plan: StockPlan,
    origin: RequestOrigin,
    due: Timestamp,
    lease: i64,
    changes: Vec<NewChange>,
}

impl PlanRow {
    fn has_dealer(&self, dealer_code: &str) -> bool {
        self.plan.dealers.iter().any(|dealer| dealer.dealer_code == dealer_code)
    }

    fn shares_dealer(&self, other: &Self) -> bool {
        self.plan.dealers.iter().any(|dealer| other.has_dealer(&dealer.dealer_code))
    }

    /// The changes that are to be made.
    fn open(&self) -> impl Iterator<Item = &NewChange> {
        self.changes.iter().filter(|new| new.change.kind.phase().is_some() && new.change.outcome.is_none())
    }
}

/// The plan of a lease, in one of these states.
fn leased<'t>(
    plans: &'t mut [PlanRow],
    PlanLease { plan, lease }: PlanLease,
    states: &[PlanState],
) -> Result<&'t mut PlanRow, StoreError> {
    let is_it = |row: &&mut PlanRow| row.plan.id == plan && row.lease == lease && states.contains(&row.plan.state);
    plans.iter_mut().find(is_it).ok_or(StoreError::LeaseLost)
}

/// Whether so many plans that pass a filter have not ended.
fn is_full(plans: &[PlanRow], filter: impl Fn(&PlanRow) -> bool) -> bool {
    let unfinished = plans.iter().filter(|row| !row.plan.state.is_ended() && filter(row)).count();
    unfinished >= MOST_UNFINISHED_PLANS as usize
}

impl Tables {
    /// What has become of the request of a change.
    fn change_request(&self, n: u32, request: Uuid) -> ChangeRequest {
        let Some(status) = self.stored_request(request).map(|request| request.status(Timestamp::default())) else {
            return ChangeRequest { n, outcome: None, code: None };
        };
        let code = status.actions.iter().find_map(|action| action.code);
        let (outcome, code) = match status.state {
            RequestState::Done => (ChangeOutcome::Done, None),
            RequestState::Error => (ChangeOutcome::Failed, code),
            RequestState::Queued | RequestState::Processing | RequestState::Waiting => (ChangeOutcome::Accepted, None),
        };
        ChangeRequest { n, outcome: Some(outcome), code }
    }
}

#[async_trait]
impl PlanStore for MemoryStore {
    async fn begin_plan(&self, plan: &StockPlan, due: Timestamp) -> Result<bool, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let is_full = match &plan.options.dealer_code {
            Some(dealer_code) => is_full(plans, |row| row.has_dealer(dealer_code)),
            None => is_full(plans, |row| row.plan.holder == plan.holder && row.plan.options.dealer_code.is_none()),
        };
        if !is_full {
            let (plan, origin) = (plan.clone(), RequestOrigin::default());
            plans.push(PlanRow { plan, origin, due, lease: 1, changes: Vec::new() });
        }
        Ok(!is_full)
    }

    async fn add_plan_dealer(&self, lease: PlanLease, dealer_code: &str) -> Result<bool, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let is_full = is_full(plans, |row| row.has_dealer(dealer_code));
        let row = leased(plans, lease, &[PlanState::Computing])?;
        if !is_full {
            row.plan.dealers.push(PlannedDealer { dealer_code: dealer_code.to_owned(), ..PlannedDealer::default() });
            row.plan.dealers.sort_by(|one, other| one.dealer_code.cmp(&other.dealer_code));
        }
        Ok(!is_full)
    }

    async fn append_changes(&self, lease: PlanLease, changes: &[NewChange], due: Timestamp) -> Result<(), StoreError> {
        let plans = &mut locked(&self.0).plans;
        let row = leased(plans, lease, &[PlanState::Computing])?;
        row.changes.extend_from_slice(changes);
        row.due = due;
        Ok(())
    }

    async fn finish_plan(&self, lease: PlanLease, result: &PlanResult) -> Result<(), StoreError> {
        let plans = &mut locked(&self.0).plans;
        let row = leased(plans, lease, &[PlanState::Computing, PlanState::Ready])?;
        let PlanResult { state, dealers, guard, errors, expires } = result.clone();
        for dealer in &mut row.plan.dealers {
            if let Some(counted) = dealers.iter().find(|counted| counted.dealer_code == dealer.dealer_code) {
                dealer.counts = counted.counts;
            }
        }
        row.plan = StockPlan { state, guard, errors, expires: Some(expires), ..row.plan.clone() };
        row.due = expires;
        row.lease += 1;
        Ok(())
    }

    async fn plan(&self, scope: PlanScope<'_>, id: Uuid) -> Result<Option<StockPlan>, StoreError> {
        let tables = locked(&self.0);
        let mut plans = tables.plans.iter().map(|row| &row.plan);
        Ok(plans.find(|plan| plan.id == id && scope.covers(plan)).cloned())
    }

    async fn plans(&self, scope: PlanScope<'_>, page: Page) -> Result<PageOf<StockPlan>, StoreError> {
        let tables = locked(&self.0);
        let plans = tables.plans.iter().map(|row| &row.plan).filter(|plan| scope.covers(plan)).cloned();
        Ok(page_of(plans.collect(), page, true, |_| 0))
    }

    async fn plan_changes(&self, plan: Uuid, query: &ChangeQuery) -> Result<PageOf<PlannedChange>, StoreError> {
        let tables = locked(&self.0);
        let row = tables.plans.iter().find(|row| row.plan.id == plan);
        let is_wanted = |change: &&PlannedChange| {
            query.kind.is_none_or(|kind| change.kind == kind)
                && query.outcome.is_none_or(|outcome| change.outcome == Some(outcome))
                && query.source_id.as_ref().is_none_or(|source_id| change.source_id.as_ref() == Some(source_id))
        };
        let changes = row.into_iter().flat_map(|row| &row.changes).map(|new| &new.change).filter(is_wanted);
        Ok(page_of(changes.cloned().collect(), query.page, false, |change| bytes_of(&change.details)))
    }

    async fn start_applying(
        &self,
        plan: Uuid,
        origin: &RequestOrigin,
        now: Timestamp,
    ) -> Result<ApplyStart, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let Some(place) = plans.iter().position(|row| row.plan.id == plan) else {
            return Ok(ApplyStart::InState(PlanState::Expired));
        };
        let row = &plans[place];
        if row.plan.state != PlanState::Ready {
            return Ok(ApplyStart::InState(row.plan.state));
        }
        if row.plan.expires.is_some_and(|expires| expires <= now) {
            return Ok(ApplyStart::InState(PlanState::Expired));
        }
        let is_ahead = |other: &&PlanRow| other.plan.state == PlanState::Applying && other.shares_dealer(row);
        if let Some(other) = plans.iter().find(is_ahead) {
            return Ok(ApplyStart::Behind(other.plan.id));
        }
        let row = &mut plans[place];
        (row.plan.state, row.plan.expires) = (PlanState::Applying, None);
        (row.due, row.origin) = (now, origin.clone());
        row.lease += 1;
        Ok(ApplyStart::Started)
    }

    async fn cancel_plan(&self, plan: Uuid, expires: Timestamp) -> Result<bool, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let is_it = |row: &&mut PlanRow| row.plan.id == plan && !row.plan.state.is_ended();
        let Some(row) = plans.iter_mut().find(is_it) else { return Ok(false) };
        if row.plan.state != PlanState::Applying {
            row.lease += 1;
            row.due = expires;
        }
        (row.plan.state, row.plan.expires) = (PlanState::Cancelled, Some(expires));
        Ok(true)
    }

    async fn claim_plan(&self, now: Timestamp, until: Timestamp) -> Result<Option<ClaimedPlan>, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let due = plans.iter_mut().filter(|row| row.due <= now).min_by_key(|row| row.due);
        Ok(due.map(|row| {
            row.lease += 1;
            row.due = until;
            let lease = PlanLease { plan: row.plan.id, lease: row.lease };
            ClaimedPlan { lease, plan: row.plan.clone(), origin: row.origin.clone() }
        }))
    }

    async fn release_plan(&self, lease: PlanLease, due: Timestamp) -> Result<(), StoreError> {
        let plans = &mut locked(&self.0).plans;
        let is_it = |row: &&mut PlanRow| row.plan.id == lease.plan && row.lease == lease.lease;
        let row = plans.iter_mut().find(is_it).ok_or(StoreError::LeaseLost)?;
        row.due = due;
        row.lease += 1;
        Ok(())
    }

    async fn open_changes(&self, plan: Uuid, limit: u32) -> Result<Vec<OpenChange>, StoreError> {
        let tables = locked(&self.0);
        let Some(row) = tables.plans.iter().find(|row| row.plan.id == plan) else { return Ok(Vec::new()) };
        let phase = row.open().map(|new| new.change.kind.phase()).min();
        let next = row.open().filter(|new| Some(new.change.kind.phase()) == phase).take(limit as usize);
        let open = |NewChange { change, body }: &NewChange| OpenChange {
            n: change.n,
            dealer_code: change.dealer_code.clone().unwrap_or_default(),
            source_id: change.source_id.clone().unwrap_or_default(),
            kind: change.kind,
            revision: change.revision,
            body: body.clone(),
        };
        Ok(next.map(open).collect())
    }

    async fn record_outcomes(
        &self,
        lease: PlanLease,
        outcomes: &[RecordedOutcome],
        expires: Timestamp,
    ) -> Result<PlanState, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let row = leased(plans, lease, &[PlanState::Applying, PlanState::Applied, PlanState::Cancelled])?;
        for RecordedOutcome { n, outcome, code, has_request } in outcomes {
            let Some(NewChange { change, .. }) = row.changes.get_mut(*n as usize) else { continue };
            let is_final = !matches!(change.outcome, None | Some(ChangeOutcome::Accepted));
            if change.kind.phase().is_none() || is_final {
                continue;
            }
            let dealer =
                row.plan.dealers.iter_mut().find(|dealer| Some(&dealer.dealer_code) == change.dealer_code.as_ref());
            if let Some(dealer) = dealer {
                if let Some(before) = change.outcome {
                    *dealer.outcomes.of(before) -= 1;
                }
                *dealer.outcomes.of(*outcome) += 1;
            }
            (change.outcome, change.code) = (Some(*outcome), *code);
            change.request_id = has_request.then(|| PlannedChange::request_of(lease.plan, *n));
        }
        if row.plan.state == PlanState::Applying && row.open().next().is_none() {
            (row.plan.state, row.plan.expires) = (PlanState::Applied, Some(expires));
        }
        Ok(row.plan.state)
    }

    async fn requests_of_changes(
        &self,
        plan: Uuid,
        open: bool,
        after: Option<u32>,
        limit: u32,
    ) -> Result<Vec<ChangeRequest>, StoreError> {
        let tables = locked(&self.0);
        let Some(row) = tables.plans.iter().find(|row| row.plan.id == plan) else { return Ok(Vec::new()) };
        let is_wanted = |change: &&PlannedChange| {
            let is_open = change.kind.phase().is_some() && change.outcome.is_none();
            (change.outcome == Some(ChangeOutcome::Accepted) || open && is_open)
                && after.is_none_or(|after| change.n > after)
        };
        let wanted = row.changes.iter().map(|new| &new.change).filter(is_wanted).take(limit as usize);
        Ok(wanted.map(|change| tables.change_request(change.n, PlannedChange::request_of(plan, change.n))).collect())
    }

    async fn remove_plan(&self, lease: PlanLease, at_most: u32) -> Result<bool, StoreError> {
        let plans = &mut locked(&self.0).plans;
        let is_it = |row: &PlanRow| row.plan.id == lease.plan && row.lease == lease.lease;
        let place = plans.iter().position(is_it).ok_or(StoreError::LeaseLost)?;
        let changes = &mut plans[place].changes;
        let is_gone = changes.len() < at_most as usize;
        if is_gone {
            plans.remove(place);
        } else {
            changes.truncate(changes.len() - at_most as usize);
        }
        Ok(is_gone)
    }

    async fn ads_of_stock(&self, dealer_code: &str, source_ids: &[String]) -> Result<Vec<StoredAd>, StoreError> {
        let tables = locked(&self.0);
        Ok(source_ids.iter().filter_map(|source_id| tables.stored(dealer_code, source_id).cloned()).collect())
    }

    async fn stock_behind(&self, dealer_code: &str, behind: &str, limit: u32) -> Result<Vec<AdOfStock>, StoreError> {
        let tables = locked(&self.0);
        let mut ads: Vec<_> = tables
            .stored_ads()
            .filter(|stored| stored.ad.dealer_code == dealer_code && stored.ad.source_id.as_str() > behind)
            .map(|stored| AdOfStock {
                source_id: stored.ad.source_id.clone(),
                category_id: stored.ad.category_id,
                is_deleted: stored.intent == AdState::Deleted,
            })
            .collect();
        ads.sort_by(|one, other| one.source_id.cmp(&other.source_id));
        ads.truncate(limit as usize);
        Ok(ads)
    }

    async fn ads_with_plates(&self, dealer_code: &str, plates: &[String]) -> Result<Vec<(String, String)>, StoreError> {
        let tables = locked(&self.0);
        let found = |ad: &Ad| {
            let plate = ad.content.registration_number()?;
            let is_one = ad.dealer_code == dealer_code
                && ad.state == AdState::Created
                && ad.category().is_some_and(Category::is_found_by_plate)
                && plates.iter().any(|wanted| *wanted == *plate);
            is_one.then(|| (plate.into(), ad.source_id.clone()))
        };
        Ok(tables.stored_ads().filter_map(|stored| found(&stored.ad)).collect())
    }

    async fn due_requests(&self, dealer_code: &str, now: Timestamp, at_most: u32) -> Result<u32, StoreError> {
        let due = locked(&self.0).due_requests(dealer_code, now);
        Ok(u32::try_from(due).unwrap_or(u32::MAX).min(at_most))
    }
}
