//! Webhooks as clients see them.

use ad_core::model::{DisabledReason, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use ad_server_outside::webhooks::SigningSecret;
use ad_server_store::webhooks::Webhook;

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
