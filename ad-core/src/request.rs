//! An accepted request: what a worker has to do for it, how far it has come, and what it left undone.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    ad::ImageRef,
    log::{Action, names},
    time::Timestamp,
};

/// One of the two marketplaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Market {
    /// General classifieds; its listing id is the ad's `marketplace_ad_id`.
    Primary,
    /// Vehicle-focused, registered vehicles only; its listing id is the ad's `offer_id`.
    Secondary,
}
names!(Market { "primary" => Primary, "secondary" => Secondary });

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
    /// What to do; `None` for a retry, which does what the ad's last request left undone.
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

impl Progress {
    /// The state after the next action has ended; `failed` when it ended in an error.
    pub(crate) fn end(&mut self, action: Action, failed: bool) {
        self.ended += 1;
        if failed {
            self.failed.push(action);
        }
        *self = Self {
            ended: self.ended,
            failed: std::mem::take(&mut self.failed),
            failed_markets: std::mem::take(&mut self.failed_markets),
            ..Self::default()
        };
    }

    /// The request is taken up again. Time after the next attempt was due does not count: nobody was there to make it, or
    /// the clock was set forward.
    pub(crate) fn taken_up(&mut self, now: Timestamp) {
        if let (Some(first), Some(due)) = (self.first_try.as_mut(), self.due.take()) {
            *first = *first + (now - due);
        }
    }
}

/// How far a request has come: enough to go on after a crash at any moment without doing anything twice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
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
    /// Actions that ended in an error.
    #[serde(skip_serializing_if = "is_default")]
    pub failed: Vec<Action>,
    /// Marketplaces on which a failed action is still to be done.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_markets: Vec<Market>,
    /// Marketplaces that the next action has reached already.
    #[serde(skip_serializing_if = "is_default")]
    pub reached: Vec<Market>,
    /// What there is to say about them.
    #[serde(skip_serializing_if = "is_default")]
    pub notes: Vec<String>,
    /// Images that the next action has stored already, in no particular order.
    #[serde(skip_serializing_if = "is_default")]
    pub stored: Vec<ImageRef>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
