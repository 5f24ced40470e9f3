//! Computes a plan of a stock: payloads are compared with the stored ads in batches while they come in. Every plan is written here.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{StockPlanError, StockPlans};
use crate::{
    categories::{self, Category},
    fields::FieldErrors,
    model::{
        AdState, ChangeCounts, ChangeDetails, ChangeError, ChangeKind, Dealer, MissingAds, PlanError, PlanState,
        PlannedChange, PlannedDealer, StockPlan, Timestamp, ValueChange, json_bytes, plate,
    },
    ports::{NewChange, PlanLease, PlanResult, Scope, StoreError, StoredAd},
    service::{Access, LARGE},
    stock::{
        AbsentAd, ExistingAd, Guard, MissingPolicy, NamedAds, StockChange, StockComparison, StockRefusal, is_nameable,
    },
    violation::{Code, Violation},
};

/// How long a plan may be computed without a change being stored. Then it is taken for abandoned.
const LEASE: Duration = Duration::from_mins(2);
/// Payloads that are compared together, unless they are large.
pub(super) const BATCH: usize = 100;
/// Bytes of payloads, or of changes, that are in memory at most, but for the last one of them.
const BATCH_BYTES: usize = 1024 * 1024;
/// Ads that are read together in the search for missing ones.
const STOCK_PAGE: u32 = 1000;
/// Maximum number of kinds of errors that a plan lists.
const MOST_ERRORS: usize = 50;
/// Bytes of the values of a changed field that a plan shows.
const MOST_VALUE_BYTES: usize = 16 * 1024;

/// Makes a plan of payloads that are added one by one, or of [selected ads](Self::add_selected). Bounded in memory: of the whole stock it
/// keeps source ids and counts.
///
/// Dropped before [`finish`](Self::finish), it leaves a plan that a worker refuses.
#[derive(Debug)]
pub struct PlanWriter {
    pub(super) plans: StockPlans,
    plan: StockPlan,
    lease: PlanLease,
    due: Timestamp,
    /// Whose ads they may be.
    pub(super) access: Access,
    pub(super) named: NamedAds,
    /// Number of payloads, or of selected ads.
    pub(super) ads: u64,
    /// Whether the ads are selected, and not sent.
    pub(super) selects: bool,
    valid: u64,
    batch: Vec<Pending>,
    batch_bytes: usize,
    changes: Vec<NewChange>,
    change_bytes: usize,
    next: u32,
    dealers: BTreeMap<String, ChangeCounts>,
    errors: Reasons,
}

/// A payload that is to be compared.
#[derive(Debug)]
struct Pending {
    line: u64,
    dealer: Arc<Dealer>,
    source_id: String,
    payload: Map<String, Value>,
}

/// The reasons for which ads are invalid, counted.
#[derive(Debug, Default)]
struct Reasons {
    by_kind: HashMap<(Code, String), usize>,
    listed: Vec<PlanError>,
}

impl Reasons {
    /// Counts the errors of an ad. Items of lists count as one field.
    fn add(&mut self, line: Option<u64>, errors: &[ChangeError]) {
        let mut seen = HashSet::new();
        for error in errors {
            let names = error.pointer.split('/').map(|name| if name.parse::<u64>().is_ok() { "*" } else { name });
            let key = (error.code, names.collect::<Vec<_>>().join("/"));
            if !seen.insert(key.clone()) {
                continue;
            }
            match self.by_kind.get(&key) {
                Some(place) => self.listed[*place].count += 1,
                None if self.listed.len() < MOST_ERRORS => {
                    let ChangeError { pointer, code, detail, .. } = error.clone();
                    self.by_kind.insert(key, self.listed.len());
                    self.listed.push(PlanError { code, pointer: Some(pointer), line, detail, count: 1 });
                }
                None => {}
            }
        }
    }

    fn into_list(self) -> Vec<PlanError> {
        let mut listed = self.listed;
        listed.sort_by_key(|error| std::cmp::Reverse(error.count));
        listed
    }
}

/// A JSON Pointer to a field.
fn pointer(path: &[String]) -> String {
    path.iter().fold(String::new(), |pointer, name| pointer + "/" + &name.replace('~', "~0").replace('/', "~1"))
}

fn change_errors(errors: &FieldErrors) -> Vec<ChangeError> {
    let error = |(path, violation): (Vec<String>, &Violation)| ChangeError {
        pointer: pointer(&path),
        code: violation.code().unwrap_or(Code::Unknown),
        detail: violation.texts().join(" "),
        suggestion: violation.suggestions().first().map(|text| (*text).to_owned()),
        rule: violation.rule().map(str::to_owned),
    };
    errors.located().into_iter().take(ChangeError::MOST).map(error).collect()
}

/// A value as a plan shows it: a very long one by its beginning.
fn shown(value: Value) -> Value {
    if json_bytes(&value) <= MOST_VALUE_BYTES {
        return value;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{}…", &text[..text.floor_char_boundary(MOST_VALUE_BYTES)]).into()
}

impl PlanWriter {
    pub(super) fn new(plans: StockPlans, access: &Access, plan: StockPlan) -> Self {
        let dealer = plan.options.dealer_code.clone();
        Self {
            lease: PlanLease::of_new(plan.id),
            due: plans.service.clock.now() + LEASE,
            access: dealer.clone().map_or_else(|| access.clone(), Access::Dealer),
            named: NamedAds::default(),
            ads: 0,
            selects: false,
            valid: 0,
            batch: Vec::new(),
            batch_bytes: 0,
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

    /// When it is taken for abandoned, unless something is stored before.
    pub(super) fn due(&self) -> Timestamp {
        self.due
    }

    /// Adds a payload, the length of its text, and the line on which it begins.
    ///
    /// # Errors
    /// [`StockPlanError::Ended`] when the plan is refused because of it, or was cancelled.
    pub async fn add(&mut self, line: u64, bytes: usize, payload: Map<String, Value>) -> Result<(), StockPlanError> {
        let most = self.plans.limits.most_ads;
        if self.ads >= most {
            let text = format!("The stock has more than {most} ads, which is the maximum.");
            return Err(self.refuse(PlanError::of_body(Code::TooMany, Some(line), &text)).await);
        }
        self.ads += 1;
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
            self.compare_batch().await?;
        }
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
        self.compare_batch().await?;
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

    /// Lists an ad as invalid.
    async fn invalid(
        &mut self,
        line: Option<u64>,
        dealer_code: Option<String>,
        source_id: Option<String>,
        change: StockChange,
    ) -> Result<(), StockPlanError> {
        let errors = change.obstacle.map(|obstacle| change_errors(&obstacle.errors())).unwrap_or_default();
        self.invalid_for(line, dealer_code, source_id, errors).await
    }

    async fn invalid_for(
        &mut self,
        line: Option<u64>,
        dealer_code: Option<String>,
        source_id: Option<String>,
        errors: Vec<ChangeError>,
    ) -> Result<(), StockPlanError> {
        // Of a plan for one dealer, its payloads count as that dealer's.
        let dealer_code = dealer_code.or_else(|| self.plan.options.dealer_code.clone());
        if let Some(dealer_code) = &dealer_code {
            self.with_dealer(dealer_code, line).await?;
        }
        self.errors.add(line, &errors);
        let details = ChangeDetails { errors, ..ChangeDetails::default() };
        let change = NewPlanned { line, dealer_code, source_id, kind: ChangeKind::Invalid, revision: None };
        self.push(change, details, None).await
    }

    /// Compares the payloads of the batch with the stored ads.
    async fn compare_batch(&mut self) -> Result<(), StockPlanError> {
        self.batch_bytes = 0;
        let mut by_dealer = BTreeMap::<String, Vec<Pending>>::new();
        for pending in std::mem::take(&mut self.batch) {
            by_dealer.entry(pending.dealer.code.clone()).or_default().push(pending);
        }
        self.keep_lease().await?;
        for (dealer_code, batch) in by_dealer {
            let ids: Vec<_> = batch.iter().map(|pending| pending.source_id.clone()).collect();
            let stored = self.plans.store.ads_of_stock(&dealer_code, &ids).await?;
            let stored: HashMap<_, _> =
                stored.into_iter().map(|stored| (stored.ad.source_id.clone(), stored)).collect();
            let changes = self.compared(&batch, &stored);
            let plates = self.plates(&dealer_code, &changes).await?;
            for (Pending { line, source_id, .. }, change) in batch.into_iter().zip(changes) {
                let stored = stored.get(&source_id);
                self.add_compared(Some(line), &dealer_code, source_id, stored, change, &plates).await?;
            }
        }
        Ok(())
    }

    /// Keeps the plan from being taken for abandoned while nothing changes.
    pub(super) async fn keep_lease(&mut self) -> Result<(), StockPlanError> {
        if self.plans.service.clock.now() + LEASE / 2 >= self.due {
            self.store_changes().await?;
        }
        Ok(())
    }

    /// The changes for these payloads of one dealer, in their order.
    fn compared(&self, batch: &[Pending], stored: &HashMap<String, StoredAd>) -> Vec<StockChange> {
        let rulebook = self.plans.service.rulebook();
        let compare = |Pending { dealer, source_id, payload, .. }: &Pending| {
            let existing = stored.get(source_id).map(|stored| ExistingAd {
                ad: &stored.ad,
                is_deleted: stored.intent == AdState::Deleted,
                failed_images: &stored.publication.failed_images,
            });
            StockComparison { rulebook, dealer: Some(dealer) }.change(payload.clone(), existing)
        };
        // Hundreds of ads take longer than a large one.
        let bytes = LARGE;
        let dealer_code = batch.first().map_or("", |pending| pending.dealer.code.as_str());
        self.plans.service.computed(dealer_code, bytes, || batch.iter().map(compare).collect())
    }

    /// The ads that have the registration numbers of new ones.
    async fn plates(
        &self,
        dealer_code: &str,
        changes: &[StockChange],
    ) -> Result<HashMap<String, String>, StockPlanError> {
        let plates: Vec<_> = changes.iter().filter_map(new_plate).collect();
        if plates.is_empty() {
            return Ok(HashMap::new());
        }
        Ok(self.plans.store.ads_with_plates(dealer_code, &plates).await?.into_iter().collect())
    }

    pub(super) async fn add_compared(
        &mut self,
        line: Option<u64>,
        dealer_code: &str,
        source_id: String,
        stored: Option<&StoredAd>,
        change: StockChange,
        plates: &HashMap<String, String>,
    ) -> Result<(), StockPlanError> {
        if change.kind == ChangeKind::Invalid {
            return self.invalid(line, Some(dealer_code.to_owned()), Some(source_id), change).await;
        }
        self.valid += 1;
        if change.kind == ChangeKind::Unchanged {
            self.count(dealer_code, ChangeKind::Unchanged);
            return Ok(());
        }
        let links_to = new_plate(&change).and_then(|plate| plates.get(&plate).cloned());
        let StockChange { kind, fields, warnings, quality, body, .. } = change;
        let fields = fields.into_iter().map(|field| ValueChange {
            pointer: format!("/{}", field.path.replace('.', "/")),
            from: shown(field.from),
            to: shown(field.to),
        });
        let details = ChangeDetails { fields: fields.collect(), links_to, errors: Vec::new(), warnings, quality };
        let (dealer_code, source_id) = (Some(dealer_code.to_owned()), Some(source_id));
        let revision = stored.map(|stored| stored.tag.revision);
        self.push(NewPlanned { line, dealer_code, source_id, kind, revision }, details, body).await
    }

    /// Adds the removals of a dealer's ads that no payload names.
    async fn remove_missing(&mut self, dealer_code: &str) -> Result<(), StockPlanError> {
        let mut behind = String::new();
        loop {
            let page = self.plans.store.stock_behind(dealer_code, &behind, STOCK_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            behind.clone_from(&last.source_id);
            let is_missing = |source_id: &str, category_id: u16, is_deleted: bool| {
                !is_deleted
                    && !self.named.may_name(dealer_code, source_id)
                    && is_nameable(categories::by_id(category_id))
            };
            let missing = page.iter().filter(|ad| is_missing(&ad.source_id, ad.category_id, ad.is_deleted));
            let missing: Vec<_> = missing.map(|ad| ad.source_id.clone()).collect();
            for ids in missing.chunks(BATCH) {
                let stored = self.plans.store.ads_of_stock(dealer_code, ids).await?;
                let stored: HashMap<_, _> =
                    stored.into_iter().map(|stored| (stored.ad.source_id.clone(), stored)).collect();
                for stored in ids.iter().filter_map(|id| stored.get(id)) {
                    self.remove(stored).await?;
                }
            }
        }
    }

    /// Adds the removal of an ad, if there is one.
    async fn remove(&mut self, stored: &StoredAd) -> Result<(), StockPlanError> {
        let types = self.plan.options.vehicle_types.as_ref();
        let types: Option<Vec<&'static str>> = types
            .map(|types| types.iter().filter_map(|name| categories::by_vehicle_type(name)?.vehicle_type).collect());
        let policy = MissingPolicy { missing: self.plan.options.missing, vehicle_types: types.as_deref() };
        let category: Option<&'static Category> = stored.ad.category();
        let is_deleted = stored.intent == AdState::Deleted;
        let absent = AbsentAd { category, is_deleted, is_visible: stored.ad.content.visible() };
        let Some(kind) = policy.removal(absent) else { return Ok(()) };
        let (mut details, mut body) = (ChangeDetails::default(), None);
        if kind == ChangeKind::Hide {
            let hidden = ValueChange { pointer: "/visible".to_owned(), from: true.into(), to: false.into() };
            details.fields.push(hidden);
            body = json!({"visible": false}).as_object().cloned();
        }
        let (dealer_code, source_id) = (Some(stored.ad.dealer_code.clone()), Some(stored.ad.source_id.clone()));
        let revision = Some(stored.tag.revision);
        self.push(NewPlanned { line: None, dealer_code, source_id, kind, revision }, details, body).await
    }

    fn count(&mut self, dealer_code: &str, kind: ChangeKind) {
        self.dealers.entry(dealer_code.to_owned()).or_default().add(kind);
    }

    /// Adds a change, and stores those that were added when they are many.
    async fn push(
        &mut self,
        new: NewPlanned,
        details: ChangeDetails,
        body: Option<Map<String, Value>>,
    ) -> Result<(), StockPlanError> {
        let NewPlanned { line, dealer_code, source_id, kind, revision } = new;
        if let Some(dealer_code) = &dealer_code {
            self.count(dealer_code, kind);
        }
        self.change_bytes += body.as_ref().map_or(0, |body| serde_json::to_string(body).map_or(0, |text| text.len()));
        self.change_bytes += serde_json::to_string(&details).map_or(0, |text| text.len());
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
struct NewPlanned {
    line: Option<u64>,
    dealer_code: Option<String>,
    source_id: Option<String>,
    kind: ChangeKind,
    revision: Option<i64>,
}

/// The registration number of a new ad, as it is stored.
fn new_plate(change: &StockChange) -> Option<String> {
    let payload = change.body.as_ref().filter(|_| change.kind == ChangeKind::Create)?;
    let sent = payload.get("category_fields")?.get("registration_number")?.as_str()?;
    Some(plate(sent))
}
