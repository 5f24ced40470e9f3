//! The use cases. Each decides about a client's request and stores the decision in one commit of the [`Store`]. The
//! [`pipeline`](crate::pipeline) calls marketplaces and image hosts afterwards.

mod accounts;
mod convert;
mod create;
pub mod import;
mod incoming;
mod plans;
mod promote;
mod promotions;
mod quality;
mod read;
mod record;
mod revisions;
mod write;

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::{
    categories::Category,
    fields::FieldErrors,
    model::{Ad, AdStatus, AdTag, Dealer, FailedImage, LogEntry, MOST_UNFINISHED, Plan, Request},
    ports::{
        Clock, Compute, DealerDirectory, Ids, KeptAnswer, LogEntries, Scope, Store, StoreError, StoredAd, Usage,
        VehicleRegistry,
    },
    quotas::{NotAdmitted, QuotaExceeded, Quotas},
    rulebook::{
        Rulebook,
        versions::{AdRef, VersionError},
    },
    violation::{Code, Violation},
};
pub use accounts::parse_own_budget;
pub use create::{CreatePath, Validated};
pub use incoming::{Acceptance, Accepted, AnswerWriter, Incoming, Keep};
pub use plans::{BulkChange, PlanLimits, PlanWriter, PriceStep, StockPlanError, StockPlans};
pub use promotions::{PromotionError, Promotions, SelectAds};
pub use record::AdRecord;
pub use revisions::NotRecorded;

/// Size of an ad, in bytes, whose check takes about a millisecond.
const LARGE: usize = 64 * 1024;

/// Unknown members that are listed.
const MOST_UNKNOWN: usize = 20;

/// Maximum number of attempts of a write whose ad is changed concurrently.
const ATTEMPTS: usize = 20;

/// The use cases, over their ports.
#[derive(Clone, derive_more::Debug)]
#[debug("Service {{ .. }}")]
pub struct Service {
    store: Arc<dyn Store>,
    directory: Arc<dyn DealerDirectory>,
    rulebook: Arc<Rulebook>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    quotas: Option<Arc<Quotas>>,
    compute: Option<Arc<dyn Compute>>,
    registry: Option<Arc<dyn VehicleRegistry>>,
}

/// The dealers that a token gives access to ('Authentication' 2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Access {
    /// The dealer with this code.
    Dealer(String),
    /// All dealers of a group.
    Group(String),
    /// No dealer: an operator of the service.
    Operator,
}

impl Access {
    /// Name of the token's claim, and of the scope's type.
    pub const fn claim(&self) -> &'static str {
        match self {
            Self::Dealer(_) => "dealer_code",
            Self::Group(_) => "dealer_group",
            Self::Operator => "operator",
        }
    }

    /// The code or the group; `*` for operators.
    pub fn name(&self) -> &str {
        match self {
            Self::Dealer(name) | Self::Group(name) => name,
            Self::Operator => "*",
        }
    }

    /// Type and name: a dealer and a group may have the same name.
    pub fn key(&self) -> String {
        format!("{} {}", self.claim(), self.name())
    }
}

/// Which ad a request is about. Its source id is enough, unless the token is a group's and several of its dealers use that id.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The client's reference of the ad.
    pub source_id: &'a str,
    /// The dealer, where a group's token must say which of several.
    pub dealer_code: Option<&'a str>,
    /// The category of a typed path, under which alone the ad is looked for; `None` on generic paths.
    pub category: Option<&'static Category>,
    /// Revisions ([`AdTag::revision`]) one of which the ad must have for a write to be accepted; `None`: any.
    pub revisions: Option<&'a [i64]>,
}

impl<'a> From<&'a str> for Target<'a> {
    fn from(source_id: &'a str) -> Self {
        Self { source_id, dealer_code: None, category: None, revisions: None }
    }
}

impl<'a> From<&'a String> for Target<'a> {
    fn from(source_id: &'a String) -> Self {
        source_id.as_str().into()
    }
}

impl<'a> Target<'a> {
    /// The ad of this dealer.
    #[must_use]
    pub fn of_dealer(self, dealer_code: Option<&'a str>) -> Self {
        Self { dealer_code, ..self }
    }

    /// Checks that the ad has one of the revisions.
    fn check_revision(&self, tag: AdTag) -> Result<(), ServiceError> {
        match self.revisions {
            Some([]) => Err(ServiceError::NoRevisionNamed(tag)),
            Some(revisions) if !revisions.contains(&tag.revision) => Err(ServiceError::PreconditionFailed(tag)),
            _ => Ok(()),
        }
    }
}

/// An ad in an answer, and the tag of what the answer shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TaggedAd {
    /// The ad as the store has it.
    pub ad: Ad,
    /// The tag of what the answer shows.
    pub tag: AdTag,
    /// The status, which the answer shows if the client asks for it.
    pub status: AdStatus,
    /// The images that the latest `handle_media` could not store.
    pub failed_images: Vec<FailedImage>,
}

impl TaggedAd {
    /// The ad as the answer to an accepted write shows it.
    pub fn accepted(self, request: Acceptance) -> Accepted {
        let Self { ad, tag, failed_images, .. } = self;
        Accepted { ad, tag, failed_images, warnings: Vec::new(), request }
    }
}

impl From<StoredAd> for TaggedAd {
    fn from(StoredAd { ad, tag, words, publication, .. }: StoredAd) -> Self {
        Self { ad, tag, status: words.status, failed_images: publication.failed_images }
    }
}

/// Why a use case refused a request or failed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The payload or a parameter is wrong.
    #[error("the request is not valid")]
    Invalid(FieldErrors),
    /// A query parameter is wrong or missing.
    #[error("the query is not valid")]
    InvalidQuery(FieldErrors),
    /// Business rules forbid the request ('Errors', body shape 2).
    #[error("{}", .0.iter().map(|denial| denial.text.as_str()).collect::<Vec<_>>().join(" "))]
    Refused(Vec<Denial>),
    /// The ad's API version or its category forbids it.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// There is no such ad in the token's scope.
    #[error("Not found.")]
    NotFound,
    /// The source id is not of an ad of the path's vehicle type, but of another ad.
    #[error("Not found.")]
    Elsewhere {
        /// The ad that has the source id.
        found: AdRef,
        /// The category of the path.
        asked: &'static Category,
    },
    /// The ad has none of the [revisions](Target::revisions) that the request names.
    #[error(
        "The ad has revision {}, which the request does not name: it was changed meanwhile. Nothing was done. Read the ad, apply \
         your change to what it shows now, and name its current tag.",
        .0.revision
    )]
    PreconditionFailed(AdTag),
    /// The request wants a revision of the ad, and names none that can be one.
    #[error("The request names no revision that the ad can have. Nothing was done.")]
    NoRevisionNamed(AdTag),
    /// The ad cannot be shown as it was.
    #[error(transparent)]
    NotRecorded(#[from] NotRecorded),
    /// The dealer has used this source id.
    #[error("the source id is used")]
    Duplicate {
        /// The source id that is taken.
        source_id: String,
        /// Code of the dealer of both ads.
        dealer_code: String,
        /// What is worth knowing of the ad that has it.
        used_by: UsedBy,
    },
    /// The answer to an earlier request is kept under the idempotency key.
    #[error(
        "This Idempotency-Key was used for another request ({}), whose query or body was different. Nothing was done. Send a new \
         key with each new request, and the same one only with the same request.",
        .0.request_id
    )]
    KeyUsed(Box<KeptAnswer>),
    /// Too many accepted requests are not finished.
    #[error(transparent)]
    TooManyRequests(#[from] TooManyRequests),
    /// The store could not read or commit.
    #[error(transparent)]
    Store(StoreError),
}

/// The ad that has the source id of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsedBy {
    /// An ad that was deleted. Of an unregistered category, an update publishes it again.
    Deleted {
        /// Whether its category is a registered one.
        registered: bool,
    },
    /// An ad of another vehicle, with this plate.
    OtherVehicle(String),
    /// An ad of the same vehicle, or of one without a plate.
    Ad,
}

/// A business rule that forbids a request ('Errors', body shape 2). It serialises as its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The code of the rule.
    pub code: Code,
    /// The rule and the values that break it, in a sentence for the client.
    pub text: String,
}

impl Denial {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }
}

impl Serialize for Denial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl From<Denial> for ServiceError {
    fn from(denial: Denial) -> Self {
        Self::Refused(vec![denial])
    }
}

/// Why a request is refused until other requests are finished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TooManyRequests {
    /// The ad has too many unfinished requests.
    #[error(
        "This ad has {unfinished} unfinished requests, and at most {MOST_UNFINISHED} are accepted. Wait until some of them are \
         finished (their entries in the ad's log end in \"done\" or \"error\"), then send this one again. A deletion is still accepted."
    )]
    OfAd {
        /// Number of unfinished requests of the ad.
        unfinished: u32,
    },
    /// The dealer has too many unfinished requests.
    #[error(transparent)]
    OfDealer(QuotaExceeded),
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::KeyUsed(kept) => Self::KeyUsed(kept),
            StoreError::QueueFull(unfinished) => TooManyRequests::OfAd { unfinished }.into(),
            error => Self::Store(error),
        }
    }
}

impl From<FieldErrors> for ServiceError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}

impl Service {
    /// The use cases over these ports.
    pub fn new(
        store: Arc<dyn Store>,
        directory: Arc<dyn DealerDirectory>,
        rulebook: Arc<Rulebook>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self { store, directory, rulebook, clock, ids, quotas: None, compute: None, registry: None }
    }

    /// The same, with quotas for dealers.
    #[must_use]
    pub fn with_quotas(self, quotas: Arc<Quotas>) -> Self {
        Self { quotas: Some(quotas), ..self }
    }

    /// The same, with a port that runs long computations.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute: Some(compute), ..self }
    }

    /// The same, with a register of vehicles that `validate` compares ads with.
    #[must_use]
    pub fn with_registry(self, registry: Option<Arc<dyn VehicleRegistry>>) -> Self {
        Self { registry, ..self }
    }

    /// Runs work on an ad of the given size, by the port for long computations if the ad is large.
    fn computed<T: Send>(&self, dealer_code: &str, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
        let Some(compute) = self.compute.as_ref().filter(|_| bytes >= LARGE) else { return work() };
        let (mut work, mut result) = (Some(work), None);
        let mut run = || result = result.take().or_else(|| work.take().map(|work| work()));
        compute.run(dealer_code, &mut run);
        // A port that has not run it leaves it to its caller.
        run();
        result.expect("it is run once")
    }

    /// Checks that a dealer, or a holder of keys, may have one more.
    async fn admit_one(&self, holder: &str, of: Usage) -> Result<(), ServiceError> {
        let Some(quotas) = &self.quotas else { return Ok(()) };
        quotas.admit(holder, of, 1).await.map_err(|error| match error {
            NotAdmitted::Exceeded(exceeded) if of == Usage::Ads => {
                Denial::new(Code::QuotaExceeded, exceeded.to_string()).into()
            }
            NotAdmitted::Exceeded(exceeded) => TooManyRequests::OfDealer(exceeded).into(),
            NotAdmitted::Store(error) => error.into(),
        })
    }

    /// Checks that a dealer is not suspended and may have one more unfinished request.
    async fn admit_request(&self, dealer_code: &str) -> Result<(), ServiceError> {
        if let Some(reason) = self.directory.suspended(dealer_code) {
            let text = format!(
                "The operator of the service has suspended dealer {dealer_code:?}: {reason}. Its ads can be read and deleted, but not \
                 created or changed. Ask the operator."
            );
            return Err(Denial::new(Code::DealerSuspended, text).into());
        }
        self.admit_one(dealer_code, Usage::Requests).await
    }

    /// Records that a dealer has one more.
    fn added(&self, dealer_code: &str, of: Usage) {
        if let Some(quotas) = &self.quotas {
            quotas.added(dealer_code, of, 1);
        }
    }

    /// The rules by which it checks payloads.
    pub fn rulebook(&self) -> &Rulebook {
        &self.rulebook
    }

    /// The dealer of a code; one that the directory does not know has no permissions and no products.
    fn dealer(&self, code: &str) -> Arc<Dealer> {
        self.directory.dealer(code).unwrap_or_else(|| Arc::new(Dealer::named(code)))
    }

    /// The one ad that a target identifies.
    async fn locate(
        &self,
        access: &Access,
        target: Target<'_>,
        log: LogEntries,
    ) -> Result<(StoredAd, Vec<LogEntry>), ServiceError> {
        let scoped = self.scoped(access);
        let found = self.store.find(scoped.scope(), target.source_id, log).await?;
        only(target, found, |(stored, _)| &stored.ad)
    }

    fn scoped<'a>(&self, access: &'a Access) -> DealerScope<'a> {
        match access {
            Access::Dealer(code) => DealerScope::Dealer(code),
            Access::Group(_) | Access::Operator => DealerScope::Group(self.dealer_codes(access)),
        }
    }

    /// The codes of the dealers that a token gives access to now.
    fn dealer_codes(&self, access: &Access) -> Arc<[String]> {
        match access {
            Access::Dealer(code) => [code.clone()].into(),
            Access::Group(group) => self.directory.group(group),
            Access::Operator => [].into(),
        }
    }

    fn accept(&self, incoming: Incoming<'_>, plan: Option<Plan>) -> Request {
        let mut request = Request::new(incoming.id, plan, self.clock.now());
        request.progress.origin = incoming.origin.cloned().unwrap_or_default();
        request
    }
}

/// The one that a target identifies, of all that were found by its source id.
fn only<T>(target: Target<'_>, mut found: Vec<T>, ad: impl Fn(&T) -> &Ad) -> Result<T, ServiceError> {
    found.retain(|it| target.dealer_code.is_none_or(|code| ad(it).dealer_code == code));
    if let Some(category) = target.category {
        let elsewhere = found.first().map(|it| ad_ref(ad(it))).transpose()?;
        found.retain(|it| category.found_under().any(|id| id == ad(it).category_id));
        if let (true, Some(elsewhere)) = (found.is_empty(), elsewhere) {
            return Err(ServiceError::Elsewhere { found: elsewhere, asked: category });
        }
    }
    if found.len() > 1 {
        let mut errors = FieldErrors::default();
        let dealers = found.iter().map(|it| ad(it).dealer_code.as_str());
        let dealers = crate::violation::nearest::quoted(dealers);
        let text = format!("Several dealers have this source_id; set dealer_code to one of: {dealers}.");
        errors.push("dealer_code", Violation::stated(Code::Required, text));
        return Err(ServiceError::InvalidQuery(errors));
    }
    found.pop().ok_or(ServiceError::NotFound)
}

/// The dealers that a token gives access to now.
enum DealerScope<'a> {
    Dealer(&'a str),
    Group(Arc<[String]>),
}

impl DealerScope<'_> {
    fn scope(&self) -> Scope<'_> {
        match self {
            Self::Dealer(code) => Scope::Dealer(code),
            Self::Group(codes) => Scope::Dealers(codes),
        }
    }

    /// The dealer of a code, if the token gives access to it. A dealer outside the scope has nothing in it.
    fn narrowed<'s>(&'s self, dealer_code: Option<&'s str>) -> Scope<'s> {
        match dealer_code {
            Some(code) if self.scope().covers(code) => Scope::Dealer(code),
            Some(_) => Scope::Dealers(&[]),
            None => self.scope(),
        }
    }
}

fn category_of(ad: &Ad) -> Result<&'static Category, ServiceError> {
    ad.category().ok_or_else(|| {
        StoreError::Faulty(format!("ad {} has unknown category {}", ad.id, ad.category_id).into()).into()
    })
}

/// A stored ad, for an error about it.
fn ad_ref(ad: &Ad) -> Result<AdRef, ServiceError> {
    Ok(AdRef { source_id: ad.source_id.clone(), category: category_of(ad)? })
}
