//! Use cases of promotions by the clock (extensions E9.4): make a schedule, read, change and remove it, see what it did and what it is
//! going to do. A worker runs them.

mod rules;
mod run;

use std::{sync::Arc, time::Duration};

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use uuid::Uuid;

use self::rules::{MEMBERS, Members};
use super::{Access, AnswerWriter, Service, ServiceError, Target};
use crate::{
    fields::FieldErrors,
    filters,
    model::{
        AdFilter, AdOrder, AdPromotions, AdState, AskedBy, Bound, LastDay, MAX_LIMIT, MOST_AT_ONCE, MOST_PER_RUN,
        MOST_PROMOTIONS, Page, Promotion, PromotionKind, PromotionPreview, PromotionRules, PromotionRun, RequestOrigin,
        StatusReport, TimeOfDay,
    },
    ports::{PageOf, PromotionStore, Scope, StoreError, StoredAd},
    status,
    violation::{Code, Violation},
};

/// Reads `select` of a schedule: the conditions by the names of the parameters of a list, or their errors.
pub type SelectAds = fn(&Map<String, Value>) -> Result<Vec<AdFilter>, FieldErrors>;

/// Schedules that ran once and are kept of a dealer when there is another one.
const KEPT_ONCE: usize = 20;

/// Maximum number of attempts of a change whose schedule is changed concurrently.
const ATTEMPTS: usize = 20;

/// The use cases of promotions by the clock.
#[derive(Clone, derive_more::Debug)]
#[debug("Promotions {{ .. }}")]
pub struct Promotions {
    service: Service,
    store: Arc<dyn PromotionStore>,
    select: SelectAds,
    answers: &'static dyn AnswerWriter,
}

/// Why a use case of promotions by the clock refused a request or failed.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// There is no such schedule in the token's scope.
    #[error("Not found.")]
    NotFound,
    /// The dealer has the maximum number of schedules.
    #[error("{dealer_code} has {MOST_PROMOTIONS} promotion schedules, which is the maximum. Delete one of them.")]
    TooMany {
        /// The dealer.
        dealer_code: String,
    },
    /// As other use cases.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl PromotionError {
    /// Its code; `None` for errors of other use cases, which have their own.
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::NotFound => Some(Code::NotFound),
            Self::TooMany { .. } => Some(Code::TooManyPromotions),
            Self::Service(_) => None,
        }
    }
}

impl From<StoreError> for PromotionError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

impl Promotions {
    /// The use cases over a service and the schedules in its store. Every promotion of a run is accepted under a key, so that it is
    /// accepted once; `answers` writes what is kept under it, which nobody reads.
    pub fn new(
        service: Service,
        store: Arc<dyn PromotionStore>,
        select: SelectAds,
        answers: &'static dyn AnswerWriter,
    ) -> Self {
        Self { service, store, select, answers }
    }

    /// Makes a schedule of what a client sends.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors; [`PromotionError::TooMany`].
    pub async fn create(
        &self,
        access: &Access,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<Promotion, PromotionError> {
        let promotion = self.planned(access, sent, origin, MOST_PER_RUN)?;
        self.add(access, promotion).await
    }

    /// Makes a schedule of what a client sends, that runs once, at once, with at most [`MOST_AT_ONCE`] ads. It says no `at` and no `until`. Of those
    /// that ran before, the newest 20 of the dealer are kept.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub async fn create_once(
        &self,
        access: &Access,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<Promotion, PromotionError> {
        let promotion = self.planned_once(access, sent, origin)?;
        let all = Page { limit: MAX_LIMIT, offset: 0 };
        let known = self.store.promotions(Scope::Dealer(&promotion.dealer_code), all).await?.rows;
        // Newest first. What they have cost stays in the account.
        let over = known.iter().filter(|known| known.is_once() && known.next_run.is_none());
        for old in over.skip(KEPT_ONCE) {
            self.store.remove_promotion(old.id).await?;
        }
        self.add(access, promotion).await
    }

    async fn add(&self, access: &Access, promotion: Promotion) -> Result<Promotion, PromotionError> {
        if self.store.add_promotion(&promotion).await? {
            self.promotion(access, promotion.id).await
        } else {
            Err(PromotionError::TooMany { dealer_code: promotion.dealer_code })
        }
    }

    /// The schedule that a client sends, which is not stored.
    fn planned(
        &self,
        access: &Access,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
        most_per_run: u32,
    ) -> Result<Promotion, ServiceError> {
        let known: Vec<_> = MEMBERS.into_iter().chain(["dealer_code"]).collect();
        let mut members = Members::new(sent, &known);
        members.most_per_run = most_per_run;
        // What is no text is told here, and which dealer is wrong, below.
        members.text("dealer_code", "north-cars");
        let dealer = self.service.dealer_of(access, sent.get("dealer_code"));
        if let Err(Some(refusal)) = &dealer {
            members.errors.push("dealer_code", refusal.clone());
        }
        let paused = members.flag("paused");
        let service = &self.service;
        let now = service.clock.now();
        // One that is wrong is refused together with the other members.
        let dealer = dealer.unwrap_or_else(|_| service.dealer(""));
        let rules = members.rules(self.select, &dealer.zone, now, None).map_err(ServiceError::Invalid)?;
        let mut promotion = Promotion {
            id: service.ids.next(),
            dealer_code: dealer.code.clone(),
            rules,
            paused,
            next_run: None,
            last_run: None,
            created: now,
            asked_by: AskedBy { token: origin.asked_by.clone(), label: None },
            revision: 0,
            origin: RequestOrigin { plan_id: None, trace: None, ..origin.clone() },
        };
        promotion.next_run = promotion.run_after(now);
        Ok(promotion)
    }

    /// The same for one run, now.
    fn planned_once(
        &self,
        access: &Access,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<Promotion, ServiceError> {
        let dealer = self.service.dealer_of(access, sent.get("dealer_code"));
        let zone = dealer.map_or(TimeZone::UTC, |dealer| dealer.time_zone());
        let now = self.service.clock.now();
        let mut sent = sent.clone();
        sent.insert("at".to_owned(), TimeOfDay::of(now, &zone).to_string().into());
        sent.insert("until".to_owned(), LastDay::of(now, &zone).to_string().into());
        let planned = self.planned(access, &sent, origin, MOST_AT_ONCE)?;
        Ok(Promotion { next_run: Some(planned.created), ..planned })
    }

    /// A schedule.
    ///
    /// # Errors
    /// [`PromotionError::NotFound`].
    pub async fn promotion(&self, access: &Access, id: Uuid) -> Result<Promotion, PromotionError> {
        let scoped = self.service.scoped(access);
        self.store.promotion(scoped.scope(), id).await?.ok_or(PromotionError::NotFound)
    }

    /// A page of the schedules of a token's scope, newest first.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn promotions(&self, access: &Access, page: Page) -> Result<PageOf<Promotion>, PromotionError> {
        let scoped = self.service.scoped(access);
        Ok(self.store.promotions(scoped.scope(), page).await?)
    }

    /// The status of an ad as [`Service::status`], and when schedules promote the ad next. A run takes as many ads as its schedule
    /// says, so that it may leave out this one.
    ///
    /// # Errors
    /// As [`Service::read`].
    pub async fn status(&self, access: &Access, target: Target<'_>) -> Result<StatusReport, ServiceError> {
        let facts = self.service.facts(access, target).await?;
        let StoredAd { ad, publication, .. } = &facts.stored;
        let mut due = Vec::new();
        // What is hidden or deleted is not promoted.
        if ad.state == AdState::Created && ad.content.visible() {
            let all = Page { limit: MAX_LIMIT, offset: 0 };
            due = self.store.promotions(Scope::Dealer(&ad.dealer_code), all).await?.rows;
            due.retain(|promotion| promotion.next_run.is_some());
        }
        if !due.is_empty() {
            let score = self.service.quality(ad, &publication.failed_images)?.score;
            let passes = |filter: &AdFilter| filters::passes(&facts.stored, score, filter);
            due.retain(|promotion| {
                let filters = self.filters(&promotion.rules);
                !filters.is_empty() && filters.iter().all(passes)
            });
        }
        let mut report = status::report(facts, self.service.clock.now());
        let AdPromotions { bump, pole_position } = &mut report.promotions;
        for (kind, times) in [(PromotionKind::Bump, bump), (PromotionKind::PolePosition, pole_position)] {
            let first = due.iter().filter(|it| it.rules.kind == kind).min_by_key(|it| it.next_run);
            times.next = first.and_then(|it| it.next_run);
            let of_many = first.filter(|it| !it.rules.select.contains_key("source_id"));
            times.most = of_many.map(|it| it.rules.most_per_run);
        }
        Ok(report)
    }

    /// Changes the members of a schedule that are sent; `null` clears one. A run that is under way, or was missed, is done first.
    ///
    /// # Errors
    /// [`PromotionError::NotFound`]; [`ServiceError::Invalid`] with all errors.
    pub async fn change(
        &self,
        access: &Access,
        id: Uuid,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<Promotion, PromotionError> {
        for _ in 0..ATTEMPTS {
            let changed = self.after_change(&self.promotion(access, id).await?, sent, origin)?;
            if self.store.change_promotion(&changed).await? {
                return self.promotion(access, id).await;
            }
        }
        Err(StoreError::Unavailable("the schedule is being changed by many at once".into()).into())
    }

    /// A schedule as it is after a change.
    fn after_change(
        &self,
        current: &Promotion,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<Promotion, ServiceError> {
        let now = self.service.clock.now();
        let (rules, paused) = self.changed(current, sent)?;
        let mut changed = Promotion { rules, paused, ..current.clone() };
        changed.asked_by = AskedBy { token: origin.asked_by.clone(), label: None };
        changed.origin = RequestOrigin { plan_id: None, trace: None, ..origin.clone() };
        changed.next_run = match current.next_run {
            Some(due) if due <= now && !paused => Some(due),
            _ => changed.run_after(now),
        };
        Ok(changed)
    }

    /// What a schedule says after a change, and whether it is paused.
    fn changed(&self, current: &Promotion, sent: &Map<String, Value>) -> Result<(PromotionRules, bool), ServiceError> {
        let unreadable = |error: serde_json::Error| ServiceError::Store(StoreError::Faulty(error.into()));
        let Value::Object(mut merged) = serde_json::to_value(&current.rules).map_err(unreadable)? else {
            return Err(ServiceError::NotFound);
        };
        merged.insert("paused".to_owned(), current.paused.into());
        for (name, value) in sent {
            merged.insert(name.clone(), value.clone());
        }
        if merged.get("dealer_code").and_then(Value::as_str) == Some(&current.dealer_code) {
            merged.remove("dealer_code");
        }
        let mut members = Members::new(&merged, &MEMBERS);
        members.most_per_run = current.rules.most_per_run.max(MOST_PER_RUN);
        if merged.contains_key("dealer_code") {
            let text = "The dealer cannot be changed. Make another schedule.";
            members.errors.replace("dealer_code", Violation::stated(Code::Immutable, text));
        }
        let paused = members.flag("paused");
        let zone = &self.service.dealer(&current.dealer_code).zone;
        let rules = members.rules(self.select, zone, self.service.clock.now(), Some(sent));
        Ok((rules.map_err(ServiceError::Invalid)?, paused))
    }

    /// Removes a schedule with its runs, and returns it. What it has ordered stays ordered.
    ///
    /// # Errors
    /// [`PromotionError::NotFound`].
    pub async fn remove(&self, access: &Access, id: Uuid) -> Result<Promotion, PromotionError> {
        let promotion = self.promotion(access, id).await?;
        if self.store.remove_promotion(id).await? { Ok(promotion) } else { Err(PromotionError::NotFound) }
    }

    /// A page of the runs of a schedule, latest first.
    ///
    /// # Errors
    /// [`PromotionError::NotFound`].
    pub async fn runs(&self, access: &Access, id: Uuid, page: Page) -> Result<PageOf<PromotionRun>, PromotionError> {
        self.promotion(access, id).await?;
        Ok(self.store.promotion_runs(id, page).await?)
    }

    /// What the next run of a schedule would do now. Nothing is ordered.
    ///
    /// # Errors
    /// [`PromotionError::NotFound`].
    pub async fn preview(&self, access: &Access, id: Uuid) -> Result<PromotionPreview, PromotionError> {
        let promotion = self.promotion(access, id).await?;
        Ok(self.previewed(&promotion).await?)
    }

    /// What the next run would do of a schedule that is not stored: a new one, or that of an id with a change. The schedule, and the
    /// preview.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`change`](Self::change), but for the number of schedules.
    pub async fn preview_of(
        &self,
        access: &Access,
        id: Option<Uuid>,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<(Promotion, PromotionPreview), PromotionError> {
        let promotion = match id {
            Some(id) => self.after_change(&self.promotion(access, id).await?, sent, origin)?,
            None => self.planned(access, sent, origin, MOST_PER_RUN)?,
        };
        let preview = self.previewed(&promotion).await?;
        Ok((promotion, preview))
    }

    /// What [`create_once`](Self::create_once) would do.
    ///
    /// # Errors
    /// As that, but for the number of schedules.
    pub async fn preview_once(
        &self,
        access: &Access,
        sent: &Map<String, Value>,
        origin: &RequestOrigin,
    ) -> Result<(Promotion, PromotionPreview), PromotionError> {
        let promotion = self.planned_once(access, sent, origin)?;
        let preview = self.previewed(&promotion).await?;
        Ok((promotion, preview))
    }

    /// The conditions on the ads of a schedule; none if it selects nothing.
    fn filters(&self, rules: &PromotionRules) -> Vec<AdFilter> {
        // They were checked when the schedule was made. What this version of the service no longer takes selects nothing.
        let mut filters = (self.select)(&rules.select).unwrap_or_default();
        if let Some(days) = rules.min_age_days.filter(|_| !filters.is_empty()) {
            let created = self.service.clock.now() - Duration::from_hours(24) * days;
            filters.push(AdFilter::Time(AdOrder::Created, Bound::Lte, created));
        }
        filters
    }
}
