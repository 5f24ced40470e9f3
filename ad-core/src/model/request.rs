//! An accepted request: what a worker has to do for it, its progress, and what failed requests left undone.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    ad::{Ad, ImageRef, ImageSource},
    change::ContentChange,
    log::{Action, PlateMatch},
    market::Market,
    names::names,
    revision::Via,
    time::Timestamp,
};
use crate::violation::Code;

/// Maximum number of unfinished requests of an ad. They run one after the other, so more would only wait. A client that sends
/// all updates of one ad of a whole day at once stays far below.
pub const MOST_UNFINISHED: u32 = 100;

/// How long pole position lasts ('Limits').
pub const POLE_POSITION: Duration = Duration::from_hours(3 * 24);

/// What a worker has to do, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The actions. `delete` includes unpublishing, which it logs as `unpublish`.
    pub actions: Vec<Action>,
    /// The marketplaces of these actions.
    pub markets: Vec<Market>,
}

/// An accepted request that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The id that the client was given (`X-Request-Id`).
    pub id: Uuid,
    /// What to do; `None` for a retry, which does what earlier requests left undone ([`Leftover`]).
    pub plan: Option<Plan>,
    /// What is done, what failed, and when it is tried again.
    pub progress: Progress,
    /// When the service accepted it.
    pub accepted: Timestamp,
}

impl Request {
    /// A request of which nothing is done yet.
    pub fn new(id: Uuid, plan: Option<Plan>, accepted: Timestamp) -> Self {
        Self { id, plan, progress: Progress::default(), accepted }
    }
}

/// What the failed requests of an ad left undone, for a retry (decision 24). Each action changes it when it ends:
///
/// | Ends | `markets` | `delete` | `promotion` |
/// |---|---|---|---|
/// | `create` | | | |
/// | `update` | | cleared: the ad is to exist | |
/// | `handle_media` | | | |
/// | `publish`, `unpublish` | those that it reached are removed, the other ones of its plan are added | | |
/// | `delete` | as `unpublish` | set by `error`, cleared by `done` | cleared by `done` |
/// | `bump`, `boost` | | | the marketplaces that it did not reach |
///
/// Each request that is not a retry first clears `promotion`, which belongs to the last request only. Missing images are not
/// recorded here: they are the addresses in the ad's content without a stored image. When fetching an image again fails, the
/// stored image is kept, and so the image is not missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredLeftover")]
pub struct Leftover {
    /// Marketplaces that do not show the ad as they should. Whether to publish or unpublish depends on the ad.
    #[serde(skip_serializing_if = "is_default")]
    pub markets: Vec<Market>,
    /// Whether the ad was to be deleted.
    #[serde(skip_serializing_if = "is_default")]
    pub delete: bool,
    /// A failed bump or pole position, with the marketplaces that it did not reach.
    #[serde(skip_serializing_if = "is_default")]
    pub promotion: Option<Plan>,
}

/// A leftover as stores have it. Early versions stored the plan of the last request from its first failed action on.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredLeftover {
    actions: Vec<Action>,
    markets: Vec<Market>,
    delete: bool,
    promotion: Option<Plan>,
}

impl From<StoredLeftover> for Leftover {
    fn from(StoredLeftover { actions, markets, delete, promotion }: StoredLeftover) -> Self {
        let mut left = Self { markets, delete, promotion };
        if !actions.is_empty() {
            let markets = std::mem::take(&mut left.markets);
            for action in actions {
                left.end(action, &markets, &[], true);
            }
        }
        left
    }
}

impl Leftover {
    /// Publishing on these marketplaces is left undone.
    pub fn publishing(markets: Vec<Market>) -> Self {
        Self { markets, ..Self::default() }
    }

    /// Whether nothing is left undone, apart from images.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part of the failed promotion that was paid for.
    pub(crate) fn paid_promotion(&self, paid: &Plan) -> Option<Plan> {
        let mut promotion = self.promotion.clone().filter(|promotion| promotion.actions == paid.actions)?;
        promotion.markets.retain(|market| paid.markets.contains(market));
        Some(promotion).filter(|promotion| !promotion.markets.is_empty())
    }

    /// Records the end of an action: the marketplaces that it was for, those that it reached, and whether it failed.
    pub(crate) fn end(&mut self, action: Action, markets: &[Market], reached: &[Market], failed: bool) {
        let missed = || markets.iter().copied().filter(|market| !reached.contains(market));
        match action {
            Action::Create | Action::HandleMedia => {}
            Action::Update => self.delete = false,
            Action::Delete if !failed => *self = Self::default(),
            Action::Publish | Action::Unpublish | Action::Delete => {
                self.markets.retain(|market| !reached.contains(market));
                self.markets.extend(missed());
                self.markets.sort_unstable();
                self.markets.dedup();
                self.delete |= action == Action::Delete;
            }
            Action::Bump | Action::Boost => {
                self.promotion = failed.then(|| Plan { actions: vec![action], markets: missed().collect() });
            }
        }
    }

    /// The plan of a retry (decision 24): first what is missing for publishing, then a failed bump or pole position. When nothing
    /// is left undone, it publishes again on all marketplaces of the ad. The plan's marketplaces are those of publishing; a
    /// promotion has its own.
    pub(crate) fn plan(&self, ad: &Ad, all: Vec<Market>) -> Plan {
        if self.delete {
            return Plan { actions: vec![Action::Delete], markets: self.markets.clone() };
        }
        let visible = ad.content.visible();
        let images = !ad.content.image_urls().eq(ad.image_refs.iter().map(|image| image.url.as_str()));
        let mut actions = Vec::new();
        actions.extend(images.then_some(Action::HandleMedia));
        if visible && (images || !self.markets.is_empty()) {
            actions.push(Action::Publish);
        } else if !self.markets.is_empty() {
            actions.push(Action::Unpublish);
        }
        actions.extend(self.promotion.iter().flat_map(|promotion| &promotion.actions));
        let again = actions.is_empty();
        if again {
            actions.push(Action::Publish);
        }
        // New images concern every marketplace.
        let markets = if again || (images && visible) { all } else { self.markets.clone() };
        Plan { actions, markets }
    }
}

impl Progress {
    /// The state after the next action has ended.
    pub(crate) fn end(&mut self) {
        let (plan, origin, paid) = (self.plan.take(), std::mem::take(&mut self.origin), self.paid.take());
        *self = Self { ended: self.ended + 1, plan, origin, paid, ..Self::default() };
    }

    /// Swaps the count of attempts that failed because of the image store with the count of the others.
    pub(crate) fn swap_tries(&mut self) {
        std::mem::swap(&mut self.tries, &mut self.store_tries);
        std::mem::swap(&mut self.first_try, &mut self.store_first_try);
    }

    /// Failed attempts at the next action, for whatever reason.
    pub fn attempts(&self) -> u32 {
        self.tries + self.store_tries
    }

    /// Continues a request that waited. The time since the next attempt was due is not counted, because no worker ran or the
    /// clock was set forward.
    pub(crate) fn resume(&mut self, now: Timestamp) {
        if let Some(due) = self.due.take() {
            for first in [&mut self.first_try, &mut self.store_first_try].into_iter().flatten() {
                *first = *first + (now - due);
            }
        }
    }
}

/// An image that a request has stored for an ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredImage {
    /// What the API shows of it.
    #[serde(flatten)]
    pub shown: ImageRef,
    /// What the API does not show. Requests that early versions started have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ImageSource>,
}

names! {
    /// What is wrong with an image that cannot be fetched or used.
    pub enum ImageFlaw {
        /// The file is neither JPEG nor PNG.
        NotAPhoto = "not_a_photo",
        /// The file is a part of an image.
        Damaged = "damaged",
        /// The file is larger than is fetched.
        TooLarge = "too_large",
        /// Nothing is at the address.
        Missing = "missing",
        /// The address is not one that is fetched.
        Address = "address",
        /// The host redirects to an address that is not fetched.
        Redirect = "redirect",
        /// The host has no valid certificate.
        Certificate = "certificate",
        /// The host refuses, in its own words.
        Refused = "refused",
        /// The host does not answer, or not as it should.
        NoAnswer = "no_answer",
    }
}

/// An image that failed permanently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedImage {
    /// Address as the client sent it.
    pub url: String,
    /// The reason, in a sentence for the client.
    pub error: String,
    /// The kind of the reason.
    #[serde(default = "image_failed")]
    pub code: Code,
    /// What is wrong with it, where the reason is one of its host or its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<ImageFlaw>,
    /// Number of attempts, all of which failed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempts: u32,
}

/// The code of requests that were under way before images had one.
fn image_failed() -> Code {
    Code::ImageFailed
}

/// Where a request came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestOrigin {
    /// Id of the token with which it was sent.
    #[serde(skip_serializing_if = "is_default")]
    pub asked_by: Option<String>,
    /// Through what it was sent; `None` if unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub via: Option<Via>,
    /// The stock plan that it is of.
    #[serde(skip_serializing_if = "is_default")]
    pub plan_id: Option<Uuid>,
    /// The span in which it was accepted (W3C `traceparent`), if it is traced.
    #[serde(skip_serializing_if = "is_default")]
    pub trace: Option<String>,
}

names! {
    /// What a request waits for.
    pub enum WaitingFor {
        /// An earlier request of the same ad.
        Request = "request",
        /// The host of an image.
        Images = "images",
        /// The service's own image store.
        ImageStore = "image_store",
        /// The marketplace on which all ads are published.
        Primary = "primary",
        /// The marketplace for registered vehicles alone.
        Secondary = "secondary",
    }
}

impl From<Market> for WaitingFor {
    fn from(market: Market) -> Self {
        match market {
            Market::Primary => Self::Primary,
            Market::Secondary => Self::Secondary,
        }
    }
}

/// Why an action, or an attempt at it, failed on a marketplace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelFailure {
    /// The kind of the reason.
    pub code: Code,
    /// The reason, as the marketplace or the service says it.
    pub reason: String,
    /// Number of failed attempts at the action.
    #[serde(default)]
    pub attempts: u32,
    /// Whether no call was sent, because the circuit breaker was open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

/// The progress of a request: enough to continue after a crash at any moment without doing anything twice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The plan of a retry, which is decided when the retry starts.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: Option<Plan>,
    /// Where the request came from.
    #[serde(skip_serializing_if = "is_default")]
    pub origin: RequestOrigin,
    /// The only promotion that a retry may repeat: the one that its acceptance reserved the price of. `None`: promotions are free.
    #[serde(skip_serializing_if = "is_default")]
    pub paid: Option<Plan>,
    /// Number of actions of the plan that have ended.
    #[serde(skip_serializing_if = "is_default")]
    pub ended: usize,
    /// Whether the log has the `processing` entry of the next action.
    #[serde(skip_serializing_if = "is_default")]
    pub begun: bool,
    /// Attempts at the next action that failed with a transient error.
    #[serde(skip_serializing_if = "is_default")]
    pub tries: u32,
    /// Why the last of them failed, for operators.
    #[serde(skip_serializing_if = "is_default")]
    pub reason: Option<String>,
    /// The kind of that reason.
    #[serde(skip_serializing_if = "is_default")]
    pub code: Option<Code>,
    /// The marketplaces that the latest attempt did not reach, and why.
    #[serde(skip_serializing_if = "is_default")]
    pub failures: BTreeMap<Market, ChannelFailure>,
    /// What it failed because of, and so waits for.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting_for: Option<WaitingFor>,
    /// When the first of these attempts was made, plus the time in which no worker ran.
    #[serde(skip_serializing_if = "is_default")]
    pub first_try: Option<Timestamp>,
    /// When the next one is due.
    #[serde(skip_serializing_if = "is_default")]
    pub due: Option<Timestamp>,
    /// As `tries`, for attempts that failed because of the service's own image store.
    #[serde(skip_serializing_if = "is_default")]
    pub store_tries: u32,
    /// As `first_try`, for attempts that failed because of the service's own image store.
    #[serde(skip_serializing_if = "is_default")]
    pub store_first_try: Option<Timestamp>,
    /// Marketplaces that the next action has already reached.
    #[serde(skip_serializing_if = "is_default")]
    pub reached: Vec<Market>,
    /// Listings with the ad's plate that they had.
    #[serde(skip_serializing_if = "is_default")]
    pub plate_matches: Vec<PlateMatch>,
    /// Images that the next action has already stored, in no particular order.
    #[serde(skip_serializing_if = "is_default")]
    pub stored: Vec<StoredImage>,
    /// Images that failed at the latest attempt and are fetched again.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting_images: Vec<FailedImage>,
    /// Images that failed permanently. This request does not fetch them again.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_images: Vec<FailedImage>,
    /// What the request has changed about the content of the ad, until it is [recorded](crate::ports::Record::changes).
    #[serde(skip_serializing_if = "is_default")]
    pub changes: Option<ContentChange>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
