//! Endpoints and deliveries as they are stored.

use ad_core::{
    model::{DeliveryState, DisabledReason, Event, EventPosition, EventTypes, Timestamp},
    service::Access,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An address that events are sent to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Webhook {
    pub(crate) id: Uuid,
    /// The scope of the token that created it: events of its dealers are sent, and its tokens may manage it.
    pub(crate) access: Access,
    /// Where events are sent.
    pub(crate) url: String,
    /// Which events are sent.
    pub(crate) types: Vec<EventTypes>,
    /// Only events of this dealer are sent.
    pub(crate) dealer_code: Option<String>,
    /// The client's note.
    pub(crate) description: Option<String>,
    /// What signs, newest first.
    pub(crate) secrets: Vec<StoredSecret>,
    pub(crate) created: Timestamp,
    /// When a client changed it.
    pub(crate) updated: Timestamp,
    /// Why it is disabled; `None` if it is enabled.
    pub(crate) disabled: Option<DisabledReason>,
    /// The last attempt that succeeded.
    pub(crate) last_success: Option<Timestamp>,
    /// The last attempt that failed.
    pub(crate) last_failure: Option<Timestamp>,
    /// The first failure after the last success.
    pub(crate) failing_since: Option<Timestamp>,
    /// Events up to here have become deliveries.
    pub(crate) position: EventPosition,
    /// How often a client has moved the position.
    pub(crate) moves: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredSecret {
    /// The secret, encrypted, in base64.
    pub(crate) sealed: String,
    /// It signs until then; `None`: until it is replaced.
    pub(crate) until: Option<Timestamp>,
}

/// One attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// When it began.
    pub(crate) at: Timestamp,
    /// The status of the answer, if there was one.
    pub(crate) status: Option<u16>,
    /// How long it took, in milliseconds.
    pub(crate) latency_ms: u64,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
    /// The beginning of the answer's body.
    pub(crate) response: Option<String>,
}

impl Attempt {
    /// One that failed before anything was sent.
    pub(crate) fn unsent(at: Timestamp, error: &str) -> Self {
        Self { at, status: None, latency_ms: 0, error: Some(error.to_owned()), response: None }
    }
}

/// An event that is or was sent to an endpoint, as clients see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Delivery {
    pub(crate) event_id: String,
    #[serde(rename = "type")]
    pub(crate) event_type: String,
    /// What has become of it.
    pub(crate) state: DeliveryState,
    /// When it was queued.
    pub(crate) created: Timestamp,
    /// When it is attempted next, if it is pending.
    pub(crate) next_attempt: Option<Timestamp>,
    /// The latest attempts, oldest first.
    pub(crate) attempts: Vec<Attempt>,
}

#[derive(Debug, Clone)]
pub(crate) struct NewWebhook {
    pub(crate) id: Uuid,
    pub(crate) access: Access,
    pub(crate) url: String,
    pub(crate) types: Vec<EventTypes>,
    pub(crate) dealer_code: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) secret: StoredSecret,
    pub(crate) created: Timestamp,
    pub(crate) position: EventPosition,
}

/// A change of an endpoint by a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct WebhookChange {
    pub(crate) url: Option<String>,
    pub(crate) types: Option<Vec<EventTypes>>,
    /// Removed if it is empty.
    pub(crate) description: Option<String>,
    pub(crate) enabled: Option<bool>,
    /// Goes on behind this position, without what is pending.
    pub(crate) resume_at: Option<EventPosition>,
}

/// A delivery to be queued.
#[derive(Debug, Serialize)]
pub(super) struct NewDelivery(String, String, i64, i64);

impl NewDelivery {
    pub(crate) fn of(event: &Event) -> Self {
        Self(event.id().to_string(), event.event_type(), event.position.ad, event.position.sequence)
    }
}

#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) seq: i64,
    pub(crate) event_id: String,
    pub(crate) created: Timestamp,
    /// Attempts since it became pending.
    pub(crate) tries: usize,
    pub(crate) attempts: Vec<Attempt>,
    /// The event; `None`: a test.
    pub(crate) event: Option<Event>,
}

impl Due {
    /// The ad of the event, by its number.
    pub(crate) fn ad(&self) -> Option<i64> {
        self.event.as_ref().map(|event| event.position.ad)
    }
}

/// What an attempt changes about its delivery.
#[derive(Debug)]
pub(crate) struct Attempted {
    pub(crate) seq: i64,
    pub(crate) state: DeliveryState,
    pub(crate) next_attempt: Timestamp,
    pub(crate) attempts: Vec<Attempt>,
}

/// What attempts change about their endpoint.
#[derive(Debug, Default)]
pub(crate) struct Health {
    pub(crate) last_success: Option<Timestamp>,
    pub(crate) last_failure: Option<Timestamp>,
    pub(crate) failing_since: Option<Timestamp>,
    pub(crate) disabled: Option<DisabledReason>,
}

/// For how long a process owns endpoints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ownership {
    pub(crate) owner: Uuid,
    pub(crate) now: Timestamp,
    /// A later end of ownership is of a clock that was ahead.
    pub(crate) latest: Timestamp,
}
