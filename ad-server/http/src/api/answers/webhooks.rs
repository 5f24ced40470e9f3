//! Webhooks, their deliveries, and the bodies of requests about them, which `webhooks::fields` checks.

use ad_core::model::{DeliveryState, DisabledReason, Timestamp, WebhookProblem};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::Any,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

use super::{
    Of, answers,
    member::{Address, described},
};
use crate::api::webhooks::WebhookState;
use ad_server_outside::webhooks::SigningSecret;
use ad_server_store::webhooks;

impl WebhookView {
    pub(crate) fn new(WebhookState { webhook, pending, problem }: &WebhookState) -> Self {
        Self {
            id: webhook.id,
            url: Of(Address(webhook.url.clone())),
            types: Of(TypePatterns(webhook.types.iter().map(ToString::to_string).collect())),
            dealer_code: webhook.dealer_code.clone(),
            description: webhook.description.clone(),
            enabled: webhook.disabled.is_none(),
            disabled_reason: webhook.disabled.map(Of),
            problem: problem.map(Of),
            created: Of(webhook.created),
            updated: Of(webhook.updated),
            pending: *pending,
            last_success: webhook.last_success.map(Of),
            last_failure: webhook.last_failure.map(Of),
        }
    }

    pub(crate) fn with(self, secret: &SigningSecret) -> NewWebhookView {
        NewWebhookView { webhook: self, secret: secret.reveal() }
    }
}

answers! {
    Delivery = webhooks::Delivery {
        event_id: String => "Id of the event, and `webhook-id` of each attempt",
        #[oai(rename = "type")] event_type: String => "Type of the event; `webhook.test` for a test",
        state: Of<DeliveryState>,
        created: Of<Timestamp>,
        next_attempt: Option<Of<Timestamp>>,
        attempts: Vec<DeliveryAttempt> => "The latest attempts, oldest first",
    }

    DeliveryAttempt = webhooks::Attempt {
        at: Of<Timestamp>,
        #[oai(validator(minimum(value = "100"), maximum(value = "599")))] status: Option<u16> => "Status of the answer",
        latency_ms: u64,
        error: Option<String> => "Why the attempt failed",
        #[oai(validator(max_length = 500))] response: Option<String> => "Beginning of the answer's body",
    }

    #[derive(Serialize)]
    #[oai(rename = "Webhook")]
    WebhookView {
        id: Uuid,
        #[oai(validator(max_length = 2000))] url: Of<Address> => "Public https address, without user name, password and fragment",
        types: Of<TypePatterns> => "Event types `ad.{action}.{state}`; action and state may be `*`",
        dealer_code: Option<String> => "Only events of this dealer",
        #[oai(validator(max_length = 500))] description: Option<String> => "A note",
        enabled: bool,
        disabled_reason: Option<Of<DisabledReason>> => "`requested` by a client; `gone`: the receiver answered 410; `failing`: no success for days",
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<Of<WebhookProblem>> => "Only there when nothing is sent to an enabled webhook; `secret_unreadable`: no process of the service has the key that encrypted its secret",
        created: Of<Timestamp>,
        updated: Of<Timestamp>,
        pending: u64 => "Pending deliveries",
        last_success: Option<Of<Timestamp>>,
        last_failure: Option<Of<Timestamp>>,
    }

    // A webhook whose secret is new.
    #[derive(Serialize)]
    #[oai(rename = "NewWebhook")]
    NewWebhookView {
        #[serde(flatten)] #[oai(flatten)] webhook: WebhookView,
        #[oai(validator(pattern = "^whsec_"))] secret: String => "Signs the requests; shown this once",
    }

    WebhookInput {
        #[oai(validator(max_length = 2000))] url: Of<Address> => "Public https address, without user name, password and fragment",
        #[oai(nullable)] dealer_code: Option<String> => "Only events of this dealer",
        #[oai(nullable, validator(max_length = 500))] description: Option<String> => "A note",
        #[oai(nullable)] types: Option<Of<TypePatterns>> => "Event types `ad.{action}.{state}`; action and state may be `*`",
    }

    WebhookPatch {
        #[oai(nullable)] dealer_code: Option<String> => "Only events of this dealer",
        #[oai(nullable, validator(max_length = 500))] description: Option<String> => "A note",
        enabled: Option<bool>,
        resume: Option<Of<Resume>> => "Skips what has happened until now",
        #[oai(nullable)] types: Option<Of<TypePatterns>> => "Event types `ad.{action}.{state}`; action and state may be `*`",
        #[oai(validator(max_length = 2000))] url: Option<Of<Address>> => "Public https address, without user name, password and fragment",
    }

    WebhookReplay {
        #[oai(validator(min_length = 1))] after: String => "A cursor of an event, or a time",
    }

    // The body of what a webhook is sent.
    WebhookRequest {
        #[oai(rename = "type")] event_type: String => "Type of the event",
        timestamp: Of<Timestamp> => "Time of the event",
        data: BTreeMap<String, Any<Value>> => "The event, as `GET /v4/events` has it",
    }
}

#[derive(Serialize)]
struct TypePatterns(Vec<String>);

#[derive(Serialize)]
struct Resume;

described! {
    TypePatterns => {
        let pattern = Some(r"^ad\.(\*|[a-z_]+)\.(\*|[a-z_]+)$".to_owned());
        MetaSchema {
            items: Some(Box::new(MetaSchemaRef::Inline(Box::new(MetaSchema { pattern, ..MetaSchema::new("string") })))),
            min_items: Some(1),
            max_items: Some(50),
            unique_items: Some(true),
            ..MetaSchema::new("array")
        }
    },
    Resume => MetaSchema { enum_items: vec![json!("now")], ..MetaSchema::new("string") },
}
