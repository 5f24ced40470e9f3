//! Use cases of stock plans (extensions E8): make one, read it, apply it, cancel it. A worker does the rest.

mod apply;
mod bulk;
mod comparing;
mod reasons;
mod write;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use uuid::Uuid;

use super::{Access, DealerScope, Service, ServiceError};
use crate::{
    categories,
    fields::FieldErrors,
    model::{
        ChangeQuery, MOST_UNFINISHED_PLANS, MissingAds, Page, PlanOptions, PlanState, PlannedChange, RequestOrigin,
        StockPlan,
    },
    ports::{ApplyStart, PageOf, PlanScope, PlanStore, StoreError},
    violation::{Code, Violation, nearest},
};
pub use bulk::{BulkChange, PriceStep};
pub use write::PlanWriter;

/// Limits of stock plans.
#[derive(Debug, Clone, Copy)]
pub struct PlanLimits {
    /// Maximum number of ads.
    pub most_ads: u64,
    /// How long a plan can be applied after it has become ready.
    pub ready: Duration,
    /// How long a plan is kept after its end.
    pub kept: Duration,
}

impl Default for PlanLimits {
    fn default() -> Self {
        let day = Duration::from_hours(24);
        Self { most_ads: 100_000, ready: day, kept: day }
    }
}

/// The use cases of stock plans.
#[derive(Clone, derive_more::Debug)]
#[debug("StockPlans {{ .. }}")]
pub struct StockPlans {
    service: Service,
    store: Arc<dyn PlanStore>,
    limits: PlanLimits,
}

/// Why a use case of stock plans refused a request or failed.
#[derive(Debug, thiserror::Error)]
pub enum StockPlanError {
    /// There is no such plan in the token's scope.
    #[error("Not found.")]
    NotFound,
    /// The dealer has the maximum number of unfinished plans.
    #[error(
        "{dealer_code} has {MOST_UNFINISHED_PLANS} stock plans that are computing, ready or applying, which is the maximum. Apply or \
         cancel one of them."
    )]
    TooMany {
        /// The dealer, or the group whose plans name no dealer.
        dealer_code: String,
    },
    /// The plan was refused or cancelled while its body was read.
    #[error("The stock plan is {}.", .0.state)]
    Ended(Box<StockPlan>),
    /// The plan is in a state in which it cannot be applied.
    #[error("The stock plan is {0}, so it cannot be applied.")]
    NotReady(PlanState),
    /// Another plan of one of its dealers is being applied.
    #[error("Stock plan {0} of the same dealer is being applied. Wait until it has ended, or cancel it.")]
    Behind(Uuid),
    /// It removes more ads than is allowed.
    #[error(
        "The stock plan removes {removals} ads, and at most {most_removals} are allowed. If that is right, send \
         allow_removals={removals}."
    )]
    GuardExceeded {
        /// Number of ads that it hides or deletes.
        removals: u64,
        /// Maximum number of removals.
        most_removals: u64,
    },
    /// As other use cases.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl StockPlanError {
    /// Its code; `None` for errors of other use cases, which have their own.
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::NotFound => Some(Code::NotFound),
            Self::TooMany { .. } => Some(Code::TooManyPlans),
            Self::Ended(_) | Self::NotReady(_) => Some(Code::PlanNotReady),
            Self::Behind(_) => Some(Code::OtherPlanApplying),
            Self::GuardExceeded { .. } => Some(Code::TooManyRemovals),
            Self::Service(_) => None,
        }
    }
}

impl From<StoreError> for StockPlanError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

impl StockPlans {
    /// The use cases over a service and the plans in its store.
    pub fn new(service: Service, store: Arc<dyn PlanStore>, limits: PlanLimits) -> Self {
        Self { service, store, limits }
    }

    /// Begins a plan, whose payloads are added to the writer.
    ///
    /// # Errors
    /// [`ServiceError::InvalidQuery`] about a dealer outside of the token's scope or an unknown vehicle type;
    /// [`StockPlanError::TooMany`].
    pub async fn begin(&self, access: &Access, mut options: PlanOptions) -> Result<PlanWriter, StockPlanError> {
        self.check_options(access, &mut options, FieldErrors::default())?;
        self.begin_checked(access, options).await
    }

    /// Begins a plan of [selected ads](PlanWriter::add_selected).
    ///
    /// # Errors
    /// As [`begin`](Self::begin), and about options for ads that a stock does not name.
    pub async fn begin_selected(
        &self,
        access: &Access,
        mut options: PlanOptions,
    ) -> Result<PlanWriter, StockPlanError> {
        let mut errors = FieldErrors::default();
        if options.missing != MissingAds::Keep {
            let text =
                "A selection is not the whole stock, so no ad counts as missing. Leave missing out, or send \"keep\".";
            errors.push("missing", Violation::stated(Code::NotAllowed, text));
        }
        if options.vehicle_types.is_some() {
            let text = "Says which ads of a stock count as missing, and selects none. Select vehicle types with the filters in select.";
            errors.push("vehicle_types", Violation::stated(Code::NotAllowed, text));
        }
        self.check_options(access, &mut options, errors)?;
        self.begin_checked(access, options).await
    }

    async fn begin_checked(&self, access: &Access, options: PlanOptions) -> Result<PlanWriter, StockPlanError> {
        let service = &self.service;
        let plan = StockPlan::new(service.ids.next(), access.key(), options, service.clock.now());
        let holder = plan.options.dealer_code.clone().unwrap_or_else(|| access.name().to_owned());
        let writer = PlanWriter::new(self.clone(), access, plan);
        if self.store.begin_plan(writer.plan(), writer.due()).await? {
            Ok(writer)
        } else {
            Err(StockPlanError::TooMany { dealer_code: holder })
        }
    }

    /// Checks options, and completes the dealer of a dealer's token.
    fn check_options(
        &self,
        access: &Access,
        options: &mut PlanOptions,
        mut errors: FieldErrors,
    ) -> Result<(), ServiceError> {
        let named = options.dealer_code.as_deref();
        // A plan of a group's token is about the dealers that its payloads name.
        if named.is_some() || !matches!(access, Access::Group(_)) {
            match self.service.dealer_of(access, named.map(Value::from).as_ref()) {
                Ok(dealer) => options.dealer_code = Some(dealer.code.clone()),
                Err(refusal) => refusal.into_iter().for_each(|refusal| errors.push("dealer_code", refusal)),
            }
        }
        for vehicle_type in options.vehicle_types.iter().flatten() {
            if categories::by_vehicle_type(vehicle_type).is_none() {
                let known = categories::all().filter_map(|category| category.vehicle_type);
                let hint = nearest::did_you_mean(vehicle_type, known).unwrap_or_default();
                let text = format!("\"{vehicle_type}\" is not a vehicle type. {hint}");
                errors.push("vehicle_types", Violation::stated(Code::InvalidChoice, text.trim_end().to_owned()));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(ServiceError::InvalidQuery(errors)) }
    }

    /// A plan.
    ///
    /// # Errors
    /// [`StockPlanError::NotFound`].
    pub async fn plan(&self, access: &Access, id: Uuid) -> Result<StockPlan, StockPlanError> {
        let (holder, dealers) = self.scoped(access);
        let scope = PlanScope { holder: &holder, dealers: dealers.scope() };
        self.store.plan(scope, id).await?.ok_or(StockPlanError::NotFound)
    }

    /// A page of the plans of a token's scope, newest first.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn plans(&self, access: &Access, page: Page) -> Result<PageOf<StockPlan>, StockPlanError> {
        let (holder, dealers) = self.scoped(access);
        let scope = PlanScope { holder: &holder, dealers: dealers.scope() };
        Ok(self.store.plans(scope, page).await?)
    }

    /// A page of the changes of a plan.
    ///
    /// # Errors
    /// [`StockPlanError::NotFound`].
    pub async fn changes(
        &self,
        access: &Access,
        id: Uuid,
        query: &ChangeQuery,
    ) -> Result<PageOf<PlannedChange>, StockPlanError> {
        self.plan(access, id).await?;
        Ok(self.store.plan_changes(id, query).await?)
    }

    /// Has a worker apply a plan, and returns the plan. One that is or was applied is returned as it is.
    ///
    /// # Errors
    /// [`StockPlanError::NotFound`]; [`StockPlanError::NotReady`]; [`StockPlanError::Behind`];
    /// [`StockPlanError::GuardExceeded`] unless the number of removals is allowed.
    pub async fn apply(
        &self,
        access: &Access,
        id: Uuid,
        allow_removals: Option<u64>,
        origin: &RequestOrigin,
    ) -> Result<StockPlan, StockPlanError> {
        let plan = self.plan(access, id).await?;
        let guard = plan.guard;
        if plan.state == PlanState::Ready && guard.exceeded && allow_removals != Some(guard.removals) {
            let (removals, most_removals) = (guard.removals, guard.most_removals);
            return Err(StockPlanError::GuardExceeded { removals, most_removals });
        }
        match self.store.start_applying(id, origin, self.service.clock.now()).await? {
            ApplyStart::Started | ApplyStart::InState(PlanState::Applying | PlanState::Applied) => {
                self.plan(access, id).await
            }
            ApplyStart::InState(state) => Err(StockPlanError::NotReady(state)),
            ApplyStart::Behind(other) => Err(StockPlanError::Behind(other)),
        }
    }

    /// Cancels a plan, and returns it. Changes that were made stay. One that has ended is returned as it is.
    ///
    /// # Errors
    /// [`StockPlanError::NotFound`].
    pub async fn cancel(&self, access: &Access, id: Uuid) -> Result<StockPlan, StockPlanError> {
        self.plan(access, id).await?;
        self.store.cancel_plan(id, self.service.clock.now() + self.limits.kept).await?;
        self.plan(access, id).await
    }

    fn scoped<'a>(&self, access: &'a Access) -> (String, DealerScope<'a>) {
        (access.key(), self.service.scoped(access))
    }
}
