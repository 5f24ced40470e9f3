//! Writes a plan from its first payload to its end: its changes, counts and state. Payloads are compared while they come in.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};

use super::{
    StockPlanError, StockPlans,
    comparing::{Pending, ReadBatch},
    reasons::{Reasons, change_errors},
};
use crate::{
    fields::FieldErrors,
    model::{
        ChangeCounts, ChangeDetails, ChangeError, ChangeKind, MissingAds, PlanError, PlanState, PlannedChange,
        PlannedDealer, StockPlan, Timestamp, ValueChange, json_bytes,
    },
    ports::{NewChange, PlanLease, PlanResult, Scope, StoreError},
    service::Access,
    stock::{Guard, NamedAds, StockComparison, StockRefusal},
    violation::{Code, Violation},
};

/// How long a plan may be computed without a change being stored. Then it is taken for abandoned.
const LEASE: Duration = Duration::from_mins(2);
/// Payloads that are compared together, unless they are large.
pub(super) const BATCH: usize = 100;
/// Bytes of payloads, or of changes, that are in memory at most, but for the last one of them.
const BATCH_BYTES: usize = 1024 * 1024;

/// Makes a plan of payloads that are added one by one, or of [selected ads](Self::add_selected). Bounded in memory: of the whole stock it
/// keeps source ids and counts.
///
/// Dropped before [`finish`](Self::finish), it leaves a plan that a worker refuses.
#[derive(Debug)]
pub struct PlanWriter {
    pub(super) plans: StockPlans,
    pub(super) plan: StockPlan,
    lease: PlanLease,
    due: Timestamp,
    /// Whose ads they may be.
    pub(super) access: Access,
    pub(super) named: NamedAds,
    /// Whether an ad keeps what its payload leaves out.
    pub(super) keeps_absent: bool,
    /// Number of payloads, or of selected ads.
    pub(super) ads: u64,
    /// Whether the ads are selected, and not sent.
    pub(super) selects: bool,
    pub(super) valid: u64,
    batch: Vec<Pending>,
    batch_bytes: usize,
    /// The batch before, whose ads were read.
    pub(super) read: Option<ReadBatch>,
    changes: Vec<NewChange>,
    change_bytes: usize,
    next: u32,
    dealers: BTreeMap<String, ChangeCounts>,
    pub(super) errors: Reasons,
}

impl PlanWriter {
    pub(super) fn new(plans: StockPlans, access: &Access, plan: StockPlan) -> Self {
        let dealer = plan.options.dealer_code.clone();
        Self {
            lease: PlanLease::of_new(plan.id),
            due: plans.service.clock.now() + LEASE,
            access: dealer.clone().map_or_else(|| access.clone(), Access::Dealer),
            named: NamedAds::default(),
            keeps_absent: false,
            ads: 0,
            selects: false,
            valid: 0,
            batch: Vec::new(),
            batch_bytes: 0,
            read: None,
            changes: Vec::new(),
            change_bytes: 0,
            next: 0,
            dealers: dealer.into_iter().map(|code| (code, ChangeCounts::default())).collect(),
            errors: Reasons::default(),
            plans,
            plan,
        }
    }

    /// The plan as it was begun.
    pub fn plan(&self) -> &StockPlan {
        &self.plan
    }

    /// Has ads keep what their payloads leave out, as in a file that has some of their fields.
    #[must_use]
    pub fn keep_absent(self) -> Self {
        Self { keeps_absent: true, ..self }
    }

    /// When it is taken for abandoned, unless something is stored before.
    pub(super) fn due(&self) -> Timestamp {
        self.due
    }

    /// Adds a payload, the length of its text, and the line on which it begins.
    ///
    /// # Errors
    /// [`StockPlanError::Ended`] when the plan is refused because of it, or was cancelled.
    pub async fn add(&mut self, line: u64, bytes: usize, payload: Map<String, Value>) -> Result<(), StockPlanError> {
        self.count_ad(line).await?;
        let source_id = payload.get("source_id").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
        let Some(source_id) = source_id.map(str::to_owned) else {
            self.named.add_unidentified(line);
            let dealer = self.plans.service.dealer_of(&self.access, payload.get("dealer_code")).ok();
            let rulebook = self.plans.service.rulebook();
            let change = StockComparison { rulebook, dealer: dealer.as_deref() }.change(payload, None);
            return self.invalid(Some(line), dealer.map(|dealer| dealer.code.clone()), None, change).await;
        };
        let dealer = self.plans.service.dealer_of(&self.access, payload.get("dealer_code"));
        let dealer_code = dealer.as_ref().ok().map(|dealer| dealer.code.as_str());
        if let Err(repeated) = self.named.add(line, dealer_code, &source_id) {
            let wrong = format!("The source_id \"{source_id}\" stands on line {} too", repeated.first_line);
            let repeated = PlanError::of_body(Code::DuplicateItem, Some(line), &wrong);
            return Err(self.refuse(repeated).await);
        }
        let dealer = match dealer {
            Ok(dealer) => dealer,
            Err(wrong) => {
                let mut errors = FieldErrors::default();
                let wrong = wrong.unwrap_or_else(|| Violation::stated(Code::InvalidType, "Send a text."));
                errors.push("dealer_code", wrong);
                return self.invalid_for(Some(line), None, Some(source_id), change_errors(&errors)).await;
            }
        };
        self.with_dealer(&dealer.code, Some(line)).await?;
        self.batch.push(Pending { line, dealer, source_id, payload });
        self.batch_bytes += bytes;
        if self.batch.len() >= BATCH || self.batch_bytes >= BATCH_BYTES {
            self.read_batch().await?;
        }
        Ok(())
    }

    /// Adds an ad that its payload could not be made of, with the errors that say why, and the values that could not be read, by their
    /// pointers. An ad that it names does not count as missing.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_unreadable(
        &mut self,
        line: u64,
        source_id: Option<String>,
        errors: Vec<ChangeError>,
        values: Vec<(String, String)>,
    ) -> Result<(), StockPlanError> {
        self.count_ad(line).await?;
        let dealer = self.plans.service.dealer_of(&self.access, None).ok().map(|dealer| dealer.code.clone());
        match &source_id {
            // One that stands twice is named once.
            Some(source_id) => drop(self.named.add(line, dealer.as_deref(), source_id)),
            None => self.named.add_unidentified(line),
        }
        let sent = |(pointer, to): (String, String)| ValueChange { pointer, from: Value::Null, to: to.into() };
        let details = ChangeDetails {
            fields: values.into_iter().map(sent).collect(),
            errors: errors.into_iter().take(ChangeError::MOST).collect(),
            ..ChangeDetails::default()
        };
        self.list_invalid(Some(line), dealer, source_id, details).await
    }

    /// Counts an ad, and refuses the plan if there are too many.
    async fn count_ad(&mut self, line: u64) -> Result<(), StockPlanError> {
        let most = self.plans.limits.most_ads;
        if self.ads >= most {
            let text = format!("The stock has more than {most} ads, which is the maximum.");
            return Err(self.refuse(PlanError::of_body(Code::TooMany, Some(line), &text)).await);
        }
        self.ads += 1;
        Ok(())
    }

    /// Refuses the plan, because its body is broken, and returns the plan as an error.
    pub async fn refuse(&mut self, broken: PlanError) -> StockPlanError {
        let reasons = std::mem::take(&mut self.errors).into_list();
        let errors = std::iter::once(broken).chain(reasons).collect();
        let expires = self.plans.service.clock.now() + self.plans.limits.kept;
        let result = self.result(PlanState::Refused, Guard::default(), errors, expires);
        match self.end(result).await {
            Ok(plan) => StockPlanError::Ended(Box::new(plan)),
            Err(error) => error,
        }
    }

    /// Compares what is left, and checks what was added: all payloads of a body that was whole are a stock, or some ads were selected.
    ///
    /// # Errors
    /// [`StockPlanError::Ended`] when the plan is refused because they are none, or was cancelled; those of the store.
    pub async fn check(&mut self) -> Result<(), StockPlanError> {
        self.read_batch().await?;
        self.compare_read().await?;
        self.store_changes().await?;
        let (code, wrong) = if self.selects {
            if self.ads > 0 {
                return Ok(());
            }
            (Code::EmptySelection, Code::EmptySelection.about().explanation.to_owned())
        } else {
            match self.named.check(self.valid) {
                Ok(()) => return Ok(()),
                Err(StockRefusal::NoValidAd { ads }) => (Code::NoValidAd, format!("None of the {ads} ads is valid")),
                Err(_) => (Code::EmptyStock, "The stock contains no ads".to_owned()),
            }
        };
        Err(self.refuse(PlanError::of_body(code, None, &wrong)).await)
    }

    /// Ends the plan of what was [checked](Self::check): adds the removals. Returns the plan, which is ready.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn finish(mut self) -> Result<StockPlan, StockPlanError> {
        let names_stock = !self.selects && self.plan.options.missing != MissingAds::Keep;
        if names_stock && self.named.unidentified().is_empty() {
            let dealers: Vec<_> = self.dealers.keys().cloned().collect();
            for dealer_code in dealers {
                self.remove_missing(&dealer_code).await?;
            }
        }
        self.store_changes().await?;
        let codes: Vec<_> = self.dealers.keys().cloned().collect();
        let ads = self.plans.service.store.ads_by_dealer(Scope::Dealers(&codes)).await?;
        let removals = self
            .dealers
            .iter()
            .map(|(dealer_code, counts)| (ads.get(dealer_code).copied().unwrap_or_default(), counts.removals()));
        let guard = Guard::of(removals, self.plan.options.most_removals);
        let errors = std::mem::take(&mut self.errors).into_list();
        let expires = self.plans.service.clock.now() + self.plans.limits.ready;
        let result = self.result(PlanState::Ready, guard, errors, expires);
        self.end(result).await
    }

    fn result(&self, state: PlanState, guard: Guard, errors: Vec<PlanError>, expires: Timestamp) -> PlanResult {
        let dealer = |(dealer_code, counts): (&String, &ChangeCounts)| PlannedDealer {
            dealer_code: dealer_code.clone(),
            counts: *counts,
            ..PlannedDealer::default()
        };
        PlanResult { state, dealers: self.dealers.iter().map(dealer).collect(), guard, errors, expires }
    }

    /// Stores the end of the plan, and returns the plan.
    async fn end(&self, result: PlanResult) -> Result<StockPlan, StockPlanError> {
        match self.plans.store.finish_plan(self.lease, &result).await {
            Ok(()) => {
                let PlanResult { state, dealers, guard, errors, expires } = result;
                Ok(StockPlan { state, dealers, guard, errors, expires: Some(expires), ..self.plan.clone() })
            }
            Err(error) => Err(self.lost(error).await),
        }
    }

    /// The plan, if it has ended or another has it.
    async fn lost(&self, error: StoreError) -> StockPlanError {
        if !matches!(error, StoreError::LeaseLost) {
            return error.into();
        }
        match self.plans.plan(&self.access, self.plan.id).await {
            Ok(plan) => StockPlanError::Ended(Box::new(plan)),
            Err(error) => error,
        }
    }

    /// Adds a dealer of whom an ad occurs.
    pub(super) async fn with_dealer(&mut self, dealer_code: &str, line: Option<u64>) -> Result<(), StockPlanError> {
        if self.dealers.contains_key(dealer_code) {
            return Ok(());
        }
        match self.plans.store.add_plan_dealer(self.lease, dealer_code).await {
            Ok(true) => {
                self.dealers.insert(dealer_code.to_owned(), ChangeCounts::default());
                Ok(())
            }
            Ok(false) => {
                let detail = StockPlanError::TooMany { dealer_code: dealer_code.to_owned() }.to_string();
                let code = Code::TooManyPlans;
                Err(self.refuse(PlanError { code, pointer: None, line, detail, count: 1 }).await)
            }
            Err(error) => Err(self.lost(error).await),
        }
    }

    /// Keeps the plan from being taken for abandoned while nothing changes.
    pub(super) async fn keep_lease(&mut self) -> Result<(), StockPlanError> {
        if self.plans.service.clock.now() + LEASE / 2 >= self.due {
            self.store_changes().await?;
        }
        Ok(())
    }

    /// The payloads that were added since the last call.
    pub(super) fn take_batch(&mut self) -> Vec<Pending> {
        self.batch_bytes = 0;
        std::mem::take(&mut self.batch)
    }

    pub(super) fn count(&mut self, dealer_code: &str, kind: ChangeKind) {
        self.dealers.entry(dealer_code.to_owned()).or_default().add(kind);
    }

    /// Adds a change, and stores those that were added when they are many.
    pub(super) async fn push(
        &mut self,
        new: NewPlanned,
        details: ChangeDetails,
        body: Option<Map<String, Value>>,
    ) -> Result<(), StockPlanError> {
        let NewPlanned { line, dealer_code, source_id, kind, revision } = new;
        if let Some(dealer_code) = &dealer_code {
            self.count(dealer_code, kind);
        }
        self.change_bytes += body.as_ref().map_or(0, json_bytes) + json_bytes(&details);
        let n = self.next;
        self.next += 1;
        let (outcome, code, request_id) = (None, None, None);
        let change =
            PlannedChange { n, line, dealer_code, source_id, kind, revision, details, outcome, code, request_id };
        self.changes.push(NewChange { change, body });
        if self.changes.len() >= BATCH || self.change_bytes >= BATCH_BYTES {
            self.store_changes().await?;
        }
        Ok(())
    }

    /// Stores the changes that were added, and so keeps the plan from being taken for abandoned.
    async fn store_changes(&mut self) -> Result<(), StockPlanError> {
        self.change_bytes = 0;
        let changes = std::mem::take(&mut self.changes);
        self.due = self.plans.service.clock.now() + LEASE;
        match self.plans.store.append_changes(self.lease, &changes, self.due).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.lost(error).await),
        }
    }
}

/// What is known of a change before it has a number.
pub(super) struct NewPlanned {
    pub(super) line: Option<u64>,
    pub(super) dealer_code: Option<String>,
    pub(super) source_id: Option<String>,
    pub(super) kind: ChangeKind,
    pub(super) revision: Option<i64>,
}
