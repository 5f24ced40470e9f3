//! Webhooks and deliveries as clients see them.

use ad_core::model::{DeliveryState, DisabledReason, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    store::webhooks::{Attempt, Delivery, Webhook},
    webhooks::SigningSecret,
};

/// A webhook, with its secret when that is new.
#[derive(Serialize)]
pub(super) struct WebhookView<'a> {
    id: Uuid,
    url: &'a str,
    types: Vec<String>,
    dealer_code: Option<&'a str>,
    description: Option<&'a str>,
    enabled: bool,
    disabled_reason: Option<&'static str>,
    created: Timestamp,
    updated: Timestamp,
    pending: u64,
    last_success: Option<Timestamp>,
    last_failure: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl<'a> WebhookView<'a> {
    pub(super) fn new(webhook: &'a Webhook, pending: u64) -> Self {
        Self {
            id: webhook.id,
            url: &webhook.url,
            types: webhook.types.iter().map(ToString::to_string).collect(),
            dealer_code: webhook.dealer_code.as_deref(),
            description: webhook.description.as_deref(),
            enabled: webhook.disabled.is_none(),
            disabled_reason: webhook.disabled.map(DisabledReason::name),
            created: webhook.created,
            updated: webhook.updated,
            pending,
            last_success: webhook.last_success,
            last_failure: webhook.last_failure,
            secret: None,
        }
    }

    pub(super) fn with(self, secret: &SigningSecret) -> Self {
        Self { secret: Some(secret.reveal()), ..self }
    }
}

#[derive(Serialize)]
pub(super) struct DeliveryView<'a> {
    event_id: &'a str,
    #[serde(rename = "type")]
    event_type: &'a str,
    state: DeliveryState,
    created: Timestamp,
    next_attempt: Option<Timestamp>,
    attempts: &'a [Attempt],
}

impl<'a> From<&'a Delivery> for DeliveryView<'a> {
    fn from(delivery: &'a Delivery) -> Self {
        Self {
            event_id: &delivery.event_id,
            event_type: &delivery.event_type,
            state: delivery.state,
            created: delivery.created,
            next_attempt: delivery.next_attempt,
            attempts: &delivery.attempts,
        }
    }
}
