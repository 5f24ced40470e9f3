//! What a worker does with schedules that are due.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use uuid::Uuid;

use super::Promotions;
use crate::{
    model::{
        Ad, AdFilter, AdQuery, AdState, Amount, MAX_LIMIT, MOST_CANDIDATES, Month, Page, PreviewedAd, Promotion,
        PromotionKind, PromotionPreview, PromotionRules, RunAd, RunOutcome, SkippedAd, Timestamp, sum,
    },
    ports::{AfterRun, AnswerKey, ClaimedPromotion, LogEntries, PromotionLease, RecordedRun, Scope, StoreError},
    service::{Acceptance, Accepted, Access, Incoming, Keep, ServiceError, Target, TooManyRequests},
    violation::Code,
};

/// How long a worker has a schedule before it records something. After a `kill -9`, another goes on when it is over.
const LEASE: Duration = Duration::from_secs(15);
/// Schedules that are claimed together and run at the same time.
const AT_ONCE: u32 = 32;
/// Ads of a preview that are checked at the same time.
const CHECKED_AT_ONCE: usize = 16;
/// After how many ads, and after which time, a run is recorded.
const PART: (usize, Duration) = (32, Duration::from_secs(3));
/// How long a run waits when the quota of the dealer's requests is used up, and after which time it skips the ads that are left.
const QUOTA_PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_hours(1));

/// A run that is under way.
struct Run<'a> {
    promotion: &'a Promotion,
    lease: PromotionLease,
    due: Timestamp,
    started: Timestamp,
    month: Month,
    currency: String,
    /// What it has cost by now.
    cost: Option<Amount>,
    /// Number of the last ad that has an outcome.
    last: Option<u32>,
    /// What is left of the schedule's budget before this run; `None`: there is no budget.
    left: Option<Amount>,
}

impl Run<'_> {
    fn recorded<'r>(&'r self, ads: &'r [RunAd], then: AfterRun) -> RecordedRun<'r> {
        let Self { due, started, month, cost, last, ref currency, .. } = *self;
        RecordedRun { due, started, month, cost, currency, ads, last, then }
    }

    /// Counts an ad that has an outcome. Returns the number of promotions: 1 or 0.
    fn count(&mut self, ad: &RunAd) -> u32 {
        self.last = self.last.max(Some(ad.n));
        let Some(RunOutcome::Promoted { cost, .. }) = ad.outcome else { return 0 };
        self.cost = sum(self.cost, cost);
        1
    }

    /// Whether something that costs this much is within the budget.
    fn affords(&self, cost: Option<Amount>) -> bool {
        match (self.left, sum(self.cost, cost)) {
            (Some(left), Some(total)) => total <= left || cost.is_none(),
            _ => true,
        }
    }
}

/// The key of a promotion: the same for every schedule that promotes the ad at the same time.
fn key_of(promotion: &Promotion, due: Timestamp, source_id: &str) -> AnswerKey {
    let what = format!("{} {source_id}", promotion.rules.kind);
    let digest = Promotion::request_of(Uuid::nil(), due, &what).to_string();
    AnswerKey { holder: format!("promotions {}", promotion.dealer_code), digest }
}

impl Promotions {
    /// Runs the schedules that have been due for longest. Returns whether some were due.
    ///
    /// # Errors
    /// Those of the store. The schedules are due again when the claim has ended.
    pub async fn work(&self) -> Result<bool, StoreError> {
        let now = self.service.clock.now();
        let claimed = self.store.claim_promotions(now, now + LEASE, AT_ONCE).await?;
        let are_due = !claimed.is_empty();
        let mut runs = stream::iter(claimed).map(|claimed| self.run(claimed)).buffer_unordered(AT_ONCE as usize);
        let mut failed = None;
        while let Some(ran) = runs.next().await {
            match ran {
                // Another has it, or it was removed.
                Ok(()) | Err(StoreError::LeaseLost) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(are_due), Err)
    }

    async fn run(&self, claimed: ClaimedPromotion) -> Result<(), StoreError> {
        let ClaimedPromotion { lease, promotion, due, run } = claimed;
        let dealer = self.service.dealer(&promotion.dealer_code);
        let is_new = run.is_none();
        let (started, month, mut ads) = if let Some(run) = run {
            (run.started, run.month, run.ads)
        } else {
            let now = self.service.clock.now();
            (now, Month::of(now, &dealer.time_zone()), self.candidates(&promotion).await?)
        };
        let currency = dealer.currency.clone();
        let left = self.left(&promotion, month, due).await?;
        let mut run = Run { promotion: &promotion, lease, due, started, month, currency, cost: None, last: None, left };
        // The selection is recorded before the first promotion, which may change the order of the ads.
        if is_new && ads.len() > 1 {
            self.record(&run, &ads, AfterRun::GoOn(self.service.clock.now() + LEASE)).await?;
        }
        let mut promoted = 0;
        for ad in ads.iter().filter(|ad| ad.outcome.is_some()) {
            promoted += run.count(ad);
        }
        let (mut recorded, mut first) = (self.service.clock.now(), 0);
        for place in 0..ads.len() {
            if ads[place].outcome.is_some() {
                continue;
            }
            if promoted >= promotion.rules.most_per_run {
                break;
            }
            let Some(outcome) = self.promote(&run, &ads[place].source_id).await? else {
                let later = self.service.clock.now() + QUOTA_PAUSE.0;
                return self.record(&run, &ads[first..place], AfterRun::Later(later)).await.map(drop);
            };
            ads[place].outcome = Some(outcome);
            promoted += run.count(&ads[place]);
            let now = self.service.clock.now();
            if place + 1 - first >= PART.0 || now - recorded >= PART.1 {
                self.record(&run, &ads[first..=place], AfterRun::GoOn(now + LEASE)).await?;
                (first, recorded) = (place + 1, now);
            }
        }
        ads.retain(|ad| ad.outcome.is_some());
        self.end(&run, ads.get(first..).unwrap_or_default()).await
    }

    async fn record(&self, run: &Run<'_>, ads: &[RunAd], then: AfterRun) -> Result<bool, StoreError> {
        self.store.record_run(run.lease, &run.recorded(ads, then)).await
    }

    /// Ends a run, by what the schedule says then.
    async fn end(&self, run: &Run<'_>, ads: &[RunAd]) -> Result<(), StoreError> {
        let mut promotion = run.promotion.clone();
        loop {
            promotion.last_run = Some(run.due);
            let ended = self.service.clock.now();
            let next = promotion.run_after(ended);
            let then = AfterRun::Ended { revision: promotion.revision, ended, next };
            if self.record(run, ads, then).await? {
                return Ok(());
            }
            let found = self.store.promotion(Scope::Dealer(&promotion.dealer_code), promotion.id).await?;
            promotion = found.ok_or(StoreError::LeaseLost)?;
        }
    }

    /// What is left of the budget of a schedule; `None` if it has none.
    async fn left(&self, promotion: &Promotion, month: Month, except: Timestamp) -> Result<Option<Amount>, StoreError> {
        let Some(budget) = promotion.rules.budget else { return Ok(None) };
        Ok(Some(budget - self.store.spent_by_promotion(promotion.id, month, except).await?))
    }

    /// The ads of a run, in their order. Deleted ads are left out, unless the selection names them.
    async fn candidates(&self, promotion: &Promotion) -> Result<Vec<RunAd>, StoreError> {
        let rules = &promotion.rules;
        let mut filters = self.filters(rules);
        let mut ids = Vec::new();
        if !filters.is_empty() {
            let named = match &filters[..] {
                [AdFilter::SourceId(named)] => named.clone(),
                _ => Vec::new(),
            };
            let says_state = |filter: &AdFilter| matches!(filter, AdFilter::State(_) | AdFilter::Status(_));
            if named.is_empty() && !filters.iter().any(says_state) {
                filters.push(AdFilter::State(AdState::Created));
            }
            ids = if named.len() == 1 { named } else { self.listed(promotion, filters, &named).await? };
        }
        let ad = |(n, source_id)| RunAd { n, source_id, outcome: None };
        Ok((0..most_candidates(rules)).zip(ids).map(ad).collect())
    }

    /// The source ids of ads that pass filters, in order, and behind them those that are named and do not exist.
    async fn listed(
        &self,
        promotion: &Promotion,
        filters: Vec<AdFilter>,
        named: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let order = promotion.rules.order;
        let mut query = AdQuery {
            filters,
            order: order.by,
            descending: order.descending,
            page: Page { limit: MAX_LIMIT, offset: 0 },
            fields: Some(vec!["source_id"]),
            ..AdQuery::default()
        };
        let mut ids = Vec::new();
        while ids.len() < most_candidates(&promotion.rules) as usize {
            let page = self.service.store.list(Scope::Dealer(&promotion.dealer_code), &query).await?;
            query.page.offset += page.rows.len() as u64;
            let is_last = page.rows.is_empty() || query.page.offset >= page.count;
            ids.extend(page.rows.into_iter().map(|listed| listed.ad.source_id));
            if is_last {
                break;
            }
        }
        let missing: Vec<_> = named.iter().filter(|id| !ids.contains(*id)).cloned().collect();
        ids.extend(missing);
        Ok(ids)
    }

    /// Promotes an ad by an ordinary request, whose id is always the same, under a key that is the same for all schedules. `None`: the
    /// dealer has too many unfinished requests, and it is tried again later.
    async fn promote(&self, run: &Run<'_>, source_id: &str) -> Result<Option<RunOutcome>, StoreError> {
        let Run { promotion, due, .. } = *run;
        let service = &self.service;
        let rules = &promotion.rules;
        let id = Promotion::request_of(promotion.id, due, source_id);
        let access = Access::Dealer(promotion.dealer_code.clone());
        let target = Target::from(source_id);
        let cost = |ad: &Ad| service.cost_of(ad, rules.kind, rules.exclusions());
        let promoted = |ad: &Ad| RunOutcome::Promoted { request_id: id, cost: cost(ad) };
        let locate = async || match service.locate(&access, target, LogEntries::Omitted).await {
            Ok((stored, _)) => Ok(Some(stored.ad)),
            Err(ServiceError::Store(error)) => Err(error),
            Err(_) => Ok(None),
        };
        let is_known = async || {
            Ok::<_, StoreError>(service.store.request(Scope::Dealer(&promotion.dealer_code), id).await?.is_some())
        };
        // A request of this id that was accepted before a crash.
        let earlier_or = async |code| {
            Ok::<_, StoreError>(match locate().await? {
                Some(ad) if is_known().await? => promoted(&ad),
                _ => RunOutcome::Skipped(code),
            })
        };
        if run.left.is_some()
            && let Some(ad) = locate().await?
            && !run.affords(cost(&ad))
        {
            return earlier_or(Code::BudgetExceeded).await.map(Some);
        }
        let key = key_of(promotion, due, source_id);
        let keep = Keep { key, fingerprint: id.to_string(), writer: self.answers };
        let incoming = Incoming { id, keep: Some(&keep), origin: Some(&promotion.origin) };
        let made = match rules.kind {
            PromotionKind::Bump => service.bump(&access, incoming, target, rules.exclusions()).await,
            PromotionKind::PolePosition => service.pole_position(&access, incoming, target).await,
        };
        let code = match made {
            Ok(Accepted { request: Acceptance::Queued, ad, .. }) => return Ok(Some(promoted(&ad))),
            Ok(Accepted { request: Acceptance::CoalescedWith(other), ad, .. }) if other == id => {
                return Ok(Some(promoted(&ad)));
            }
            Ok(_) | Err(ServiceError::KeyUsed(_)) => Code::AlreadyPromoted,
            Err(ServiceError::Store(error)) => return Err(error),
            Err(ServiceError::TooManyRequests(TooManyRequests::OfDealer(_))) => {
                if !is_known().await? && service.clock.now() - run.started < QUOTA_PAUSE.1 {
                    return Ok(None);
                }
                Code::QuotaExceeded
            }
            Err(refusal) => code_of(&refusal),
        };
        earlier_or(code).await.map(Some)
    }

    pub(super) async fn previewed(&self, promotion: &Promotion) -> Result<PromotionPreview, StoreError> {
        let (rules, dealer) = (&promotion.rules, self.service.dealer(&promotion.dealer_code));
        let due = promotion.next_run;
        let now = self.service.clock.now();
        let month = Month::of(due.map_or(now, |due| due.max(now)), &dealer.time_zone());
        let lease = PromotionLease { promotion: Uuid::nil(), lease: 0 };
        let charges = self.service.store.monthly_charges(&dealer.code, month, &dealer.currency).await?;
        let of_dealer = charges.left(dealer.tariff.as_ref().and_then(|tariff| tariff.budget));
        let of_schedule = self.left(promotion, month, due.unwrap_or(now)).await?;
        let mut run = Run {
            promotion,
            lease,
            due: due.unwrap_or(now),
            started: now,
            month,
            currency: dealer.currency.clone(),
            cost: None,
            last: None,
            left: of_dealer.into_iter().chain(of_schedule).min(),
        };
        let access = Access::Dealer(promotion.dealer_code.clone());
        let (mut promoted, mut skipped) = (Vec::new(), Vec::new());
        let check = |candidate: RunAd| {
            let access = &access;
            async move {
                let target = Target::from(&candidate.source_id);
                let checked = self.service.check_promotion(access, target, rules.kind, rules.exclusions()).await;
                (candidate.source_id, checked)
            }
        };
        let mut checks = stream::iter(self.candidates(promotion).await?).map(check).buffered(CHECKED_AT_ONCE);
        while let Some((source_id, checked)) = checks.next().await {
            if promoted.len() >= rules.most_per_run as usize {
                break;
            }
            let code = match checked {
                Ok(ad) => {
                    let cost = self.service.cost_of(&ad, rules.kind, rules.exclusions());
                    if run.affords(cost) {
                        run.cost = sum(run.cost, cost);
                        promoted.push(PreviewedAd { source_id, cost });
                        continue;
                    }
                    Code::BudgetExceeded
                }
                Err(ServiceError::Store(error)) => return Err(error),
                Err(refusal) => code_of(&refusal),
            };
            skipped.push(SkippedAd { source_id, code });
        }
        Ok(PromotionPreview { due, promoted, skipped, cost: run.cost, currency: run.currency })
    }
}

/// Maximum number of ads that a run looks at: as many as it may promote, or more.
fn most_candidates(rules: &PromotionRules) -> u32 {
    rules.most_per_run.max(MOST_CANDIDATES)
}

/// The code with which a run skips an ad whose promotion was refused.
fn code_of(refusal: &ServiceError) -> Code {
    match refusal {
        ServiceError::NotFound | ServiceError::Elsewhere { .. } => Code::NotFound,
        ServiceError::Refused(denials) => denials.first().map_or(Code::NotAllowed, |it| it.code),
        ServiceError::TooManyRequests(TooManyRequests::OfAd { .. }) => Code::TooManyRequestsOfAd,
        ServiceError::Version(error) => error.code(),
        _ => Code::NotAllowed,
    }
}
