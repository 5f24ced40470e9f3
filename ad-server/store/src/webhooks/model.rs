//! Endpoints and deliveries as they are stored.

use ad_core::{
    model::{DeliveryState, DisabledReason, Event, EventPosition, EventTypes, Timestamp},
    service::Access,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An address that events are sent to.
#[derive(Debug, Clone, PartialEq)]
pub struct Webhook {
    pub id: Uuid,
    /// The scope of the token that created it: events of its dealers are sent, and its tokens may manage it.
    pub access: Access,
    /// Address that receives the events.
    pub url: String,
    pub types: Vec<EventTypes>,
    /// Only events of this dealer are sent.
    pub dealer_code: Option<String>,
    /// The client's note for people.
    pub description: Option<String>,
    /// Secrets that sign deliveries, the newest first.
    pub secrets: Vec<StoredSecret>,
    pub created: Timestamp,
    /// When a client changed it.
    pub updated: Timestamp,
    /// Why it is disabled; `None` if it is enabled.
    pub disabled: Option<DisabledReason>,
    /// The last attempt that succeeded.
    pub last_success: Option<Timestamp>,
    /// The last attempt that failed.
    pub last_failure: Option<Timestamp>,
    /// The first failure after the last success.
    pub failing_since: Option<Timestamp>,
    /// Events up to here have become deliveries.
    pub position: EventPosition,
    /// How often a client has moved the position.
    pub moves: i64,
}

/// An endpoint as a scope lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeWebhook {
    pub webhook: Webhook,
    /// Number of its pending deliveries.
    pub pending: u64,
    /// Whether a process that runs sends to it, or would if it were enabled.
    pub is_owned: bool,
}

/// The secrets of an endpoint.
#[derive(Debug, Clone)]
pub struct EndpointSecrets {
    pub id: Uuid,
    pub secrets: Vec<StoredSecret>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSecret {
    /// The secret, encrypted, in base64.
    pub sealed: String,
    /// It signs until then; `None`: until it is replaced.
    pub until: Option<Timestamp>,
}

/// One attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When the attempt began, in UTC.
    pub at: Timestamp,
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub latency_ms: u64,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// The beginning of the answer's body.
    pub response: Option<String>,
}

impl Attempt {
    /// One that failed before anything was sent.
    pub fn unsent(at: Timestamp, error: &str) -> Self {
        Self { at, status: None, latency_ms: 0, error: Some(error.to_owned()), response: None }
    }
}

/// An event that is or was sent to an endpoint, as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delivery {
    pub event_id: String,
    #[serde(rename = "type")]
    pub event_type: String,
    pub state: DeliveryState,
    /// When the event was queued for the endpoint.
    pub created: Timestamp,
    /// When it is attempted next, if it is pending.
    pub next_attempt: Option<Timestamp>,
    /// The latest attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

#[derive(Debug, Clone)]
pub struct NewWebhook {
    pub id: Uuid,
    pub access: Access,
    pub url: String,
    pub types: Vec<EventTypes>,
    pub dealer_code: Option<String>,
    pub description: Option<String>,
    pub secret: StoredSecret,
    pub created: Timestamp,
    pub position: EventPosition,
}

/// A change of an endpoint by a client.
#[derive(Debug, Clone, Default)]
pub struct WebhookChange {
    pub url: Option<String>,
    pub types: Option<Vec<EventTypes>>,
    /// Removed if it is empty.
    pub description: Option<String>,
    pub enabled: Option<bool>,
    /// Goes on behind this position, without what is pending.
    pub resume_at: Option<EventPosition>,
}

/// A delivery to be queued.
#[derive(Debug, Serialize)]
pub(super) struct NewDelivery(String, String, i64, i64);

impl NewDelivery {
    pub(super) fn of(event: &Event) -> Self {
        Self(event.id().to_string(), event.event_type(), event.position.ad, event.position.sequence)
    }
}

#[derive(Debug)]
pub struct DueDelivery {
    pub seq: i64,
    pub event_id: String,
    pub created: Timestamp,
    /// Attempts since it became pending.
    pub tries: usize,
    pub attempts: Vec<Attempt>,
    /// The event; `None`: a test.
    pub event: Option<Event>,
}

impl DueDelivery {
    /// The ad of the event, by its number.
    pub fn ad(&self) -> Option<i64> {
        self.event.as_ref().map(|event| event.position.ad)
    }
}

/// What an attempt changes about its delivery.
#[derive(Debug)]
pub struct DeliveryUpdate {
    pub seq: i64,
    pub state: DeliveryState,
    pub next_attempt: Timestamp,
    pub attempts: Vec<Attempt>,
}

/// What attempts change about their endpoint.
#[derive(Debug, Default)]
pub struct EndpointHealth {
    pub last_success: Option<Timestamp>,
    pub last_failure: Option<Timestamp>,
    pub failing_since: Option<Timestamp>,
    pub disabled: Option<DisabledReason>,
}

/// For how long a process owns endpoints.
#[derive(Debug, Clone, Copy)]
pub struct Ownership {
    pub owner: Uuid,
    pub now: Timestamp,
    /// A later end of ownership is of a clock that was ahead.
    pub latest: Timestamp,
}
