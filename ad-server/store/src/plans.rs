//! `ad_core::ports::PlanStore` over the database.

use std::collections::BTreeMap;

use ad_core::{
    categories,
    model::{
        ChangeKind, ChangeOutcome, ChangeQuery, MOST_UNFINISHED_PLANS, OpenChange, OutcomeCounts, Page, PlanState,
        PlannedChange, RequestOrigin, StockPlan, Timestamp,
    },
    ports::{
        AdOfStock, ApplyStart, ChangeRequest, ClaimedPlan, NewChange, PAGE_BYTES, PageOf, PlanLease, PlanResult,
        PlanScope, PlanStore, RecordedOutcome, StoreError, StoredAd,
    },
    violation::Code,
};
use async_trait::async_trait;
use uuid::Uuid;

use super::{
    Columns, DatabaseStore, Link, Statement, Work, from_columns,
    lists::{ads_of_stock, codes, dealer_to_charge, numbers},
    rows::{json, json_of, unreadable},
    sql::plans as sql,
    work::Isolation,
};

from_columns! {
    StockPlan { id, state: plan_state, created, expires, dealers: json_or_default, guard: json_or_default, errors: json, holder, options: json }
    PlannedChange {
        n, line: maybe_number, dealer_code, source_id, kind: change_kind, revision, details: json_or_default, outcome: outcome,
        code: code, request_id
    }
    OpenChange { n, dealer_code, source_id, kind: change_kind, revision, body: maybe_json }
    ChangeRequest { n, outcome: outcome, code: code }
    AdOfStock { source_id, category_id, is_deleted }
}

impl Columns<'_> {
    fn plan_state(&mut self) -> Result<PlanState, StoreError> {
        self.named(PlanState::from_name)
    }

    fn change_kind(&mut self) -> Result<ChangeKind, StoreError> {
        self.named(ChangeKind::from_name)
    }

    fn outcome(&mut self) -> Result<Option<ChangeOutcome>, StoreError> {
        Ok(self.maybe_text()?.as_deref().and_then(ChangeOutcome::from_name))
    }

    fn maybe_number(&mut self) -> Result<Option<u64>, StoreError> {
        Ok(self.value::<Option<i64>>()?.and_then(|number| number.try_into().ok()))
    }
}

/// What plans are counted by: a dealer, or a holder.
fn key(kind: &str, name: &str) -> String {
    format!("{kind} {name}")
}

/// Adds a plan, or a dealer to one, while nobody else adds one with the same key. Returns whether it was added.
struct AddCounted {
    key: String,
    /// They are run until one changes nothing.
    steps: Vec<Statement>,
}

impl Work for AddCounted {
    type Answer = bool;

    /// The lock comes first, and then everything that was committed before is counted.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<bool> {
        link.run(&sql::LockPlansOf { keys: vec![self.key.clone()] }.into()).await?;
        for step in &self.steps {
            if link.run(step).await?.changed == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Starts to apply a plan while nobody else does so for its dealers.
struct StartApplying {
    plan: Uuid,
    origin: String,
    now: Timestamp,
}

impl Work for StartApplying {
    type Answer = ApplyStart;

    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<ApplyStart> {
        let Self { plan: id, origin, now } = self;
        let dealers: Vec<String> =
            Columns::all(&link.run(&sql::DealersOfPlan { id: *id }.into()).await?.rows).map_err(unreadable)?;
        let keys = dealers.iter().map(|dealer| key("dealer", dealer)).collect();
        link.run(&sql::LockPlansOf { keys }.into()).await?;
        let start = sql::StartApplying { id: *id, origin: origin.clone(), now: *now };
        if link.run(&start.into()).await?.changed > 0 {
            return Ok(ApplyStart::Started);
        }
        let rows = link.run(&sql::WhyNotApplied { id: *id, now: *now }.into()).await?.rows;
        let Some(mut columns) = rows.first().map(Columns::of) else {
            return Ok(ApplyStart::InState(PlanState::Expired));
        };
        let state = columns.plan_state().map_err(unreadable)?;
        let behind: Option<Uuid> = columns.read().map_err(unreadable)?;
        Ok(match behind {
            Some(other) if state == PlanState::Ready => ApplyStart::Behind(other),
            _ => ApplyStart::InState(state),
        })
    }
}

/// Records outcomes of changes, and ends a plan that has no open one.
struct RecordOutcomes {
    lease: PlanLease,
    outcomes: Vec<RecordedOutcome>,
    expires: Timestamp,
}

impl Work for RecordOutcomes {
    /// The state of the plan; `None` if the lease was lost.
    type Answer = Option<PlanState>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<PlanState>> {
        let PlanLease { plan: id, lease } = self.lease;
        let held = link.run(&sql::HoldPlan { id, lease }.into()).await?.rows;
        let Some(mut columns) = held.first().map(Columns::of) else { return Ok(None) };
        let plan: i64 = columns.read().map_err(unreadable)?;
        let state = columns.plan_state().map_err(unreadable)?;
        if !self.outcomes.is_empty() {
            self.record(link, plan).await?;
        }
        if state == PlanState::Applying {
            let ended = link.run(&sql::EndApplied { plan, expires: self.expires }.into()).await?.changed > 0;
            return Ok(Some(if ended { PlanState::Applied } else { state }));
        }
        Ok(Some(state))
    }
}

impl RecordOutcomes {
    async fn record(&self, link: &mut Link<'_>, plan: i64) -> sqlx::Result<()> {
        let by_number: BTreeMap<i64, &RecordedOutcome> =
            self.outcomes.iter().map(|recorded| (recorded.n.into(), recorded)).collect();
        let unsettled = sql::UnsettledChanges { plan, numbers: by_number.keys().copied().collect() };
        let (mut new, mut added) = (Vec::new(), BTreeMap::<String, [OutcomeCounts; 2]>::new());
        for row in &link.run(&unsettled.into()).await?.rows {
            let mut columns = Columns::of(row);
            let (n, dealer): (i64, Option<String>) = columns.read().map_err(unreadable)?;
            let before = columns.outcome().map_err(unreadable)?;
            let Some(RecordedOutcome { outcome, code, has_request, .. }) = by_number.get(&n) else { continue };
            new.push((n, outcome.name(), code.map(Code::name), has_request));
            let [more, fewer] = added.entry(dealer.unwrap_or_default()).or_default();
            *more.of(*outcome) += 1;
            if let Some(before) = before {
                *fewer.of(before) += 1;
            }
        }
        let added = added.into_iter().map(|(dealer, [more, fewer])| {
            let difference = |more: u64, fewer: u64| more.cast_signed() - fewer.cast_signed();
            (
                dealer,
                difference(more.accepted, fewer.accepted),
                difference(more.done, fewer.done),
                difference(more.failed, fewer.failed),
                difference(more.conflict, fewer.conflict),
            )
        });
        let dealers = json_of(&added.collect::<Vec<_>>());
        link.run(&sql::SetOutcomes { plan, outcomes: json_of(&new) }.into()).await?;
        link.run(&sql::CountOutcomes { plan, dealers }.into()).await.map(drop)
    }
}

/// Removes changes of a plan and, when none are left, the plan.
struct RemovePlan {
    lease: PlanLease,
    at_most: u32,
}

impl Work for RemovePlan {
    /// Whether the plan is gone; `None` if the lease was lost.
    type Answer = Option<bool>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<bool>> {
        let PlanLease { plan: id, lease } = self.lease;
        let held = link.run(&sql::HasLease { id, lease }.into()).await?.rows;
        if !Columns::read_bool(&held).map_err(unreadable)? {
            return Ok(None);
        }
        let removed = link.run(&sql::RemoveChanges { id, lease, at_most: self.at_most }.into()).await?.changed;
        if removed >= self.at_most.into() {
            return Ok(Some(false));
        }
        link.run(&sql::RemovePlanDealers { id, lease }.into()).await?;
        link.run(&sql::RemovePlan { id, lease }.into()).await?;
        Ok(Some(true))
    }
}

/// The columns of changes but for the source ids, as JSON.
fn change_values(plan: Uuid, changes: &[NewChange]) -> Result<String, StoreError> {
    let values = |NewChange { change, body }: &NewChange| {
        let PlannedChange { n, line, dealer_code, kind, revision, details, .. } = change;
        let request = kind.phase().map(|_| PlannedChange::request_of(plan, *n));
        let body = body.as_ref().map(json).transpose()?;
        Ok((*n, *line, dealer_code.clone(), kind.name(), kind.phase(), *revision, request, json(details)?, body))
    };
    json(&changes.iter().map(values).collect::<Result<Vec<_>, StoreError>>()?)
}

#[async_trait]
impl PlanStore for DatabaseStore {
    async fn begin_plan(&self, plan: &StockPlan, due: Timestamp) -> Result<bool, StoreError> {
        let dealer_code = plan.options.dealer_code.as_deref();
        let add = sql::AddPlan {
            id: plan.id,
            holder: &plan.holder,
            dealer_code,
            options: json(&plan.options)?,
            created: plan.created,
            due,
            at_most: MOST_UNFINISHED_PLANS,
        };
        let lease = PlanLease::of_new(plan.id).lease;
        let with_dealer = dealer_code.map(|dealer_code| {
            sql::AddPlanDealer { id: plan.id, lease, dealer_code, at_most: MOST_UNFINISHED_PLANS }.into()
        });
        let steps = [Some(add.into()), with_dealer].into_iter().flatten().collect();
        let key = dealer_code.map_or_else(|| key("holder", &plan.holder), |code| key("dealer", code));
        self.database().write(AddCounted { key, steps }).await
    }

    async fn add_plan_dealer(&self, lease: PlanLease, dealer_code: &str) -> Result<bool, StoreError> {
        let PlanLease { plan: id, lease } = lease;
        let add = sql::AddPlanDealer { id, lease, dealer_code, at_most: MOST_UNFINISHED_PLANS };
        let is_added =
            self.database().write(AddCounted { key: key("dealer", dealer_code), steps: vec![add.into()] }).await?;
        if !is_added && !Columns::read_bool(&self.database().read(sql::IsComputedBy { id, lease }).await?)? {
            return Err(StoreError::LeaseLost);
        }
        Ok(is_added)
    }

    async fn append_changes(&self, lease: PlanLease, changes: &[NewChange], due: Timestamp) -> Result<(), StoreError> {
        let PlanLease { plan: id, lease } = lease;
        let source_ids = changes.iter().map(|new| new.change.source_id.clone().unwrap_or_default()).collect();
        let changes = change_values(id, changes)?;
        held(self.database().run(sql::AppendChanges { id, lease, changes, source_ids, due }).await?.changed)
    }

    async fn finish_plan(&self, lease: PlanLease, result: &PlanResult) -> Result<(), StoreError> {
        let PlanLease { plan: id, lease } = lease;
        let dealers = result.dealers.iter().map(|dealer| Ok((&dealer.dealer_code, json(&dealer.counts)?)));
        let finish = sql::FinishPlan {
            id,
            lease,
            state: result.state.name(),
            dealers: json(&dealers.collect::<Result<Vec<_>, StoreError>>()?)?,
            guard: json(&result.guard)?,
            errors: json(&result.errors)?,
            expires: result.expires,
        };
        held(self.database().run(finish).await?.rows.len() as u64)
    }

    async fn plan(&self, scope: PlanScope<'_>, id: Uuid) -> Result<Option<StockPlan>, StoreError> {
        let statement = Statement::from(sql::FindPlan { id }).for_client_of(dealer_to_charge(scope.dealers));
        let plan: Option<StockPlan> = Columns::first(&self.database().look_up(statement).await?)?;
        Ok(plan.filter(|plan| scope.covers(plan)))
    }

    async fn plans(&self, scope: PlanScope<'_>, page: Page) -> Result<PageOf<StockPlan>, StoreError> {
        let PlanScope { holder, dealers } = scope;
        let Page { limit, offset } = page;
        self.database().page(sql::PlansOfScope { holder, dealer_codes: codes(dealers), limit, offset }.into()).await
    }

    async fn plan_changes(&self, plan: Uuid, query: &ChangeQuery) -> Result<PageOf<PlannedChange>, StoreError> {
        let changes = sql::ChangesOfPlan {
            id: plan,
            kind: query.kind.map(ChangeKind::name),
            outcome: query.outcome.map(ChangeOutcome::name),
            source_id: query.source_id.as_deref(),
            limit: query.page.limit,
            offset: query.page.offset,
            most_bytes: PAGE_BYTES,
        };
        self.database().page(changes.into()).await
    }

    async fn start_applying(
        &self,
        plan: Uuid,
        origin: &RequestOrigin,
        now: Timestamp,
    ) -> Result<ApplyStart, StoreError> {
        self.database().write(StartApplying { plan, origin: json(origin)?, now }).await
    }

    async fn cancel_plan(&self, plan: Uuid, expires: Timestamp) -> Result<bool, StoreError> {
        Ok(self.database().run(sql::CancelPlan { id: plan, expires }).await?.changed > 0)
    }

    async fn claim_plan(&self, now: Timestamp, until: Timestamp) -> Result<Option<ClaimedPlan>, StoreError> {
        let database = self.database();
        // A read first: usually nothing is due, and then no transaction is needed.
        if !Columns::read_bool(&database.read(sql::ArePlansDue { now }).await?)? {
            return Ok(None);
        }
        let claimed: Option<Uuid> = Columns::first(&database.run(sql::ClaimPlan { now, until }).await?.rows)?;
        let Some(id) = claimed else { return Ok(None) };
        let rows = database.read(sql::FindPlan { id }).await?;
        let Some(mut columns) = rows.first().map(Columns::of) else { return Ok(None) };
        let plan = columns.read()?;
        let origin = columns.maybe_json()?.unwrap_or_default();
        Ok(Some(ClaimedPlan { lease: PlanLease { plan: id, lease: columns.read()? }, plan, origin }))
    }

    async fn release_plan(&self, lease: PlanLease, due: Timestamp) -> Result<(), StoreError> {
        let PlanLease { plan: id, lease } = lease;
        held(self.database().run(sql::ReleasePlan { id, lease, due }).await?.changed)
    }

    async fn open_changes(&self, plan: Uuid, limit: u32) -> Result<Vec<OpenChange>, StoreError> {
        Columns::all(&self.database().read(sql::OpenChanges { id: plan, limit }).await?)
    }

    async fn record_outcomes(
        &self,
        lease: PlanLease,
        outcomes: &[RecordedOutcome],
        expires: Timestamp,
    ) -> Result<PlanState, StoreError> {
        let record = RecordOutcomes { lease, outcomes: outcomes.to_vec(), expires };
        self.database().write(record).await?.ok_or(StoreError::LeaseLost)
    }

    async fn requests_of_changes(
        &self,
        plan: Uuid,
        open: bool,
        after: Option<u32>,
        limit: u32,
    ) -> Result<Vec<ChangeRequest>, StoreError> {
        let after = after.map_or(-1, i64::from);
        Columns::all(&self.database().read(sql::RequestsOfChanges { id: plan, open, after, limit }).await?)
    }

    async fn remove_plan(&self, lease: PlanLease, at_most: u32) -> Result<bool, StoreError> {
        self.database().write(RemovePlan { lease, at_most }).await?.ok_or(StoreError::LeaseLost)
    }

    async fn ads_of_stock(&self, dealer_code: &str, source_ids: &[String]) -> Result<Vec<StoredAd>, StoreError> {
        let database = self.database();
        Columns::all(&database.read(ads_of_stock(database.dialect(), dealer_code, source_ids)).await?)
    }

    async fn stock_behind(&self, dealer_code: &str, behind: &str, limit: u32) -> Result<Vec<AdOfStock>, StoreError> {
        Columns::all(&self.database().read(sql::StockBehind { dealer_code, behind, limit }).await?)
    }

    async fn ads_with_plates(&self, dealer_code: &str, plates: &[String]) -> Result<Vec<(String, String)>, StoreError> {
        let with_plates = categories::all().filter(|category| category.is_found_by_plate());
        let plate_categories = numbers(with_plates.map(|category| category.id));
        let found = sql::AdsWithPlates { dealer_code, plates: plates.to_vec(), plate_categories };
        Columns::all(&self.database().read(found).await?)
    }

    async fn due_requests(&self, dealer_code: &str, now: Timestamp, at_most: u32) -> Result<u32, StoreError> {
        let due = self.database().read_number(sql::DueRequests { dealer_code, now, at_most }).await?;
        Ok(u32::try_from(due).unwrap_or(u32::MAX))
    }
}

/// An error if nothing was changed, because the lease was lost.
fn held(changed: u64) -> Result<(), StoreError> {
    if changed > 0 { Ok(()) } else { Err(StoreError::LeaseLost) }
}
