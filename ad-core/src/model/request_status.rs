//! What has become of an accepted request (extensions E2).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    log::{Action, ActionState, LogEntry},
    names::names,
    request::{Progress, WaitingFor},
    time::Timestamp,
};
use crate::violation::Code;

names! {
    /// The state of an accepted request.
    pub enum RequestState {
        /// A worker may claim it.
        Queued = "queued",
        /// A worker is executing it.
        Processing = "processing",
        /// It waits for what `waiting_for` names.
        Waiting = "waiting",
        /// Finished, and every action is done.
        Done = "done",
        /// Finished, and an action has failed.
        Error = "error",
    }
}

/// The latest log entry of an action of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionStatus {
    /// The action of the request's plan.
    pub action: Action,
    /// State in the latest entry of the action.
    pub state: ActionState,
    /// When the entry was written.
    pub created: Timestamp,
    /// Why the action failed, or why its latest attempt did while the next one is due.
    pub code: Option<Code>,
    /// Status or error details: a text, or an object with a `message` and details. While an action is retried, reason and number
    /// of the latest attempt and the time of the next one.
    pub external_message: Value,
}

/// What has become of an accepted request. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestStatus {
    /// The id that the client was given (`X-Request-Id`).
    pub request_id: Uuid,
    /// The client's reference of the ad.
    pub source_id: String,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// The stock plan that it is of; `None` if it is of none.
    #[serde(default)]
    pub plan_id: Option<Uuid>,
    /// When the service accepted it.
    pub accepted: Timestamp,
    /// When its last action ended; `None` before.
    pub finished: Option<Timestamp>,
    /// How far the request is, in one word.
    pub state: RequestState,
    /// Failed attempts at the action under way.
    pub attempts: u32,
    /// When a request that waits for something outside of the service is tried again.
    pub next_attempt: Option<Timestamp>,
    /// What a waiting request waits for.
    pub waiting_for: Option<WaitingFor>,
    /// The actions that have begun, in this order.
    pub actions: Vec<ActionStatus>,
}

/// Number of latest log entries of a request that a store returns. The pipeline writes at most eight.
pub const REQUEST_ENTRIES: usize = 20;

/// What a store has of an accepted request.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRequest {
    /// The id that the client was given (`X-Request-Id`).
    pub id: Uuid,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// The client's reference of the ad.
    pub source_id: String,
    /// When the service accepted it.
    pub accepted: Timestamp,
    /// Id of the token with which it was sent, for operators; `None` where that was not recorded.
    pub asked_by: Option<String>,
    /// The stock plan that it is of.
    pub plan_id: Option<Uuid>,
    /// Its place in the queue; `None` once it is finished.
    pub queued: Option<QueuedRequest>,
    /// Its [latest](REQUEST_ENTRIES) log entries, oldest first.
    pub entries: Vec<LogEntry>,
}

/// An unfinished request in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedRequest {
    /// What is done, what failed, and when it is tried again.
    pub progress: Progress,
    /// When it may be claimed: when it is due, or when its worker's lease ends; `None` behind an earlier request of its ad.
    pub claimable: Option<Timestamp>,
}

impl QueuedRequest {
    fn state(&self, now: Timestamp) -> RequestState {
        match self.claimable {
            None => RequestState::Waiting,
            Some(due) if self.progress.due == Some(due) => RequestState::Waiting,
            Some(lease_end) if lease_end > now => RequestState::Processing,
            Some(_) => RequestState::Queued,
        }
    }
}

impl StoredRequest {
    /// What has become of it by now.
    pub fn status(self, now: Timestamp) -> RequestStatus {
        let Self { id, dealer_code, source_id, accepted, asked_by: _, plan_id, queued, entries } = self;
        let finished = if queued.is_none() { entries.last().map(|entry| entry.created) } else { None };
        let mut actions: Vec<ActionStatus> = Vec::new();
        for LogEntry { created, action, state, external_message, code, .. } in entries {
            let latest = ActionStatus { action, state, created, code, external_message };
            match actions.iter_mut().find(|known| known.action == action) {
                Some(earlier) => *earlier = latest,
                None => actions.push(latest),
            }
        }
        let failed = actions.iter().any(|action| action.state == ActionState::Error);
        let state = match &queued {
            Some(queued) => queued.state(now),
            None if failed => RequestState::Error,
            None => RequestState::Done,
        };
        let waiting = queued.as_ref().filter(|_| state == RequestState::Waiting);
        let next_attempt = waiting.and_then(|queued| queued.claimable);
        let waiting_for = waiting.and_then(|queued| match queued.claimable {
            None => Some(WaitingFor::Request),
            Some(_) => queued.progress.waiting_for,
        });
        let attempts = queued.as_ref().map_or(0, |queued| queued.progress.attempts());
        // The log gets no entry for a failed attempt that is followed by another.
        if let (Some(Progress { code: Some(code), reason: Some(reason), .. }), Some(next), Some(action)) =
            (queued.map(|queued| queued.progress), next_attempt, actions.last_mut())
            && action.state == ActionState::Processing
        {
            action.code = Some(code);
            action.external_message = format!("Attempt {attempts} failed: {reason}. Next attempt at {next}.").into();
        }
        RequestStatus {
            request_id: id,
            source_id,
            dealer_code,
            plan_id,
            accepted,
            finished,
            state,
            attempts,
            next_attempt,
            waiting_for,
            actions,
        }
    }
}
