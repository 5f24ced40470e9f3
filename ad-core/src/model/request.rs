//! An accepted request: what a worker has to do for it, how far it has come, and what it left undone.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    ad::{Ad, ImageRef, ImageSource},
    log::{Action, PlateMatch},
    market::Market,
    time::Timestamp,
};
use crate::violation::Code;

/// Most unfinished requests of an ad. They run one after the other, so that more of them only wait; a client that sends a
/// whole day's updates of one ad at once stays far below.
pub const MOST_UNFINISHED: u32 = 100;

/// How long pole position lasts ('Limits').
pub const POLE_POSITION: Duration = Duration::from_hours(3 * 24);

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The actions. `delete` takes the ad off the marketplaces itself and logs that as `unpublish`.
    pub actions: Vec<Action>,
    /// The marketplaces that they concern.
    pub markets: Vec<Market>,
}

/// A request on its way from being accepted to being finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The id that the client was given (`X-Request-Id`).
    pub id: Uuid,
    /// What to do; `None` for a retry, which does what the ad's requests left undone ([`Leftover`]).
    pub plan: Option<Plan>,
    /// How far it has come.
    pub progress: Progress,
    /// When it was accepted.
    pub accepted: Timestamp,
}

impl Request {
    /// A request that has just been accepted.
    pub fn new(id: Uuid, plan: Option<Plan>, accepted: Timestamp) -> Self {
        Self { id, plan, progress: Progress::default(), accepted }
    }
}

/// What an ad's requests have left undone, for a retry (decision 24). Each action that ends changes it:
///
/// | Ends | `markets` | `delete` | `promotion` |
/// |---|---|---|---|
/// | `create` | | | |
/// | `update` | | withdrawn: the ad is wanted again | |
/// | `handle_media` | | | |
/// | `publish`, `unpublish` | those that it reached leave, the others of its plan join | | |
/// | `delete` | as `unpublish` | set by `error`, cleared by `done` | cleared by `done` |
/// | `bump`, `boost` | | | what is left of it |
///
/// Any request but a retry first clears `promotion`, which is of the last request only. Missing images are not noted here: they are
/// the addresses in the ad's content that have no stored image, whichever request brought them. An image that was kept because
/// fetching it failed is stored, and so is not missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeptLeftover")]
pub struct Leftover {
    /// Marketplaces that do not show what they should: whether to publish or to unpublish is for the ad to say.
    #[serde(skip_serializing_if = "is_default")]
    pub markets: Vec<Market>,
    /// Whether the ad was to be deleted.
    #[serde(skip_serializing_if = "is_default")]
    pub delete: bool,
    /// A bump or pole position that failed, with the marketplaces that it did not reach.
    #[serde(skip_serializing_if = "is_default")]
    pub promotion: Option<Plan>,
}

/// A leftover as it may be stored. Formerly it was the plan of the last request from its first failed action on.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KeptLeftover {
    actions: Vec<Action>,
    markets: Vec<Market>,
    delete: bool,
    promotion: Option<Plan>,
}

impl From<KeptLeftover> for Leftover {
    fn from(KeptLeftover { actions, markets, delete, promotion }: KeptLeftover) -> Self {
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
    /// Everything that publishing needs on these marketplaces.
    pub fn publishing(markets: Vec<Market>) -> Self {
        Self { markets, ..Self::default() }
    }

    /// Whether nothing was left undone; images are not counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// An action on these marketplaces has ended, and reached some of them.
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

    /// What a retry does (decision 24): first what publishing lacks, whichever request left it, and then a failed bump or pole
    /// position. When nothing is left undone it publishes again on all marketplaces of the ad. The marketplaces of the plan are
    /// those of publishing; a promotion has its own.
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
        *self = Self { ended: self.ended + 1, plan: self.plan.take(), ..Self::default() };
    }

    /// Exchanges the attempts that failed because of the service's own image store with the others.
    pub(crate) fn swap_tries(&mut self) {
        std::mem::swap(&mut self.tries, &mut self.store_tries);
        std::mem::swap(&mut self.first_try, &mut self.store_first_try);
    }

    /// Attempts at the next action that failed, whatever they failed by.
    pub fn attempts(&self) -> u32 {
        self.tries + self.store_tries
    }

    /// The request is taken up again. Time after the next attempt was due does not count: nobody was there to make it, or
    /// the clock was set forward.
    pub(crate) fn taken_up(&mut self, now: Timestamp) {
        if let Some(due) = self.due.take() {
            for first in [&mut self.first_try, &mut self.store_first_try].into_iter().flatten() {
                *first = *first + (now - due);
            }
        }
    }
}

/// An image that was stored for an ad, as a request that is under way keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredImage {
    /// What is shown of it.
    #[serde(flatten)]
    pub shown: ImageRef,
    /// What is not. Requests that were under way before this was kept have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ImageSource>,
}

/// An image that failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedImage {
    /// Its address.
    pub url: String,
    /// Why.
    pub error: String,
    /// The kind of the reason.
    #[serde(default = "image_failed")]
    pub code: Code,
}

/// The code of requests that were under way before images had one.
fn image_failed() -> Code {
    Code::ImageFailed
}

/// How far a request has come: enough to go on after a crash at any moment without doing anything twice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// What a retry does, as decided when it was begun.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: Option<Plan>,
    /// How many actions of the plan have ended.
    #[serde(skip_serializing_if = "is_default")]
    pub ended: usize,
    /// Whether the next action was logged as begun.
    #[serde(skip_serializing_if = "is_default")]
    pub begun: bool,
    /// Attempts at the next action that failed for a passing reason.
    #[serde(skip_serializing_if = "is_default")]
    pub tries: u32,
    /// Why the last of them failed, for operators.
    #[serde(skip_serializing_if = "is_default")]
    pub reason: Option<String>,
    /// When the first of these attempts was made; later by all the time in which nobody was there to make the next.
    #[serde(skip_serializing_if = "is_default")]
    pub first_try: Option<Timestamp>,
    /// When the next one is due.
    #[serde(skip_serializing_if = "is_default")]
    pub due: Option<Timestamp>,
    /// As `tries`, but those that failed because of the service's own image store.
    #[serde(skip_serializing_if = "is_default")]
    pub store_tries: u32,
    /// As `first_try`, of those.
    #[serde(skip_serializing_if = "is_default")]
    pub store_first_try: Option<Timestamp>,
    /// Marketplaces that the next action has reached already.
    #[serde(skip_serializing_if = "is_default")]
    pub reached: Vec<Market>,
    /// Listings of the ad's plate that they had.
    #[serde(skip_serializing_if = "is_default")]
    pub plate_matches: Vec<PlateMatch>,
    /// Images that the next action has stored already, in no particular order.
    #[serde(skip_serializing_if = "is_default")]
    pub stored: Vec<StoredImage>,
    /// Images that failed for good, and are not fetched again by this request.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_images: Vec<FailedImage>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
