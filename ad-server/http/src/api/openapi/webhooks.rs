//! The requests that webhooks are sent.

use serde_json::{Value, json};

use crate::api::answers as types;

pub(super) const TAG: &str = "webhooks";

/// An id of an event that looks like one.
pub(super) const EVENT: &str = "evt_019a05b16a527000800000000000001a_4";

/// The request that a webhook is sent, which OpenAPI 3.0 cannot describe.
pub(super) fn received() -> Value {
    let header = |name: &str, description: &str| json!({"name": name, "in": "header", "description": description, "required": true, "schema": {"type": "string"}});
    let (time, event_type) = ("2026-01-15T10:00:00.000Z", "ad.publish.done");
    let event = json!({"type": event_type, "action": "publish", "code": null, "dealer_code": "north-cars", "id": EVENT,
        "message": "Ad published", "sequence": 4, "source_id": "car-1001", "state": "done", "timestamp": time});
    json!({"event": {"post": {
        "tags": [TAG],
        "operationId": "receive_event",
        "summary": "An event",
        "description": "Sent to the `url` of each webhook, signed as Standard Webhooks 1.0.0 says. Any 2xx within 15 seconds is a \
            success; 410 disables the webhook.",
        "security": [],
        "parameters": [
            header("webhook-id", "The event's id, the same in all attempts"),
            header("webhook-timestamp", "Time of the attempt, in seconds since 1970"),
            header("webhook-signature", "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces"),
        ],
        "requestBody": {"required": true, "content": {"application/json": {
            "example": {"type": event_type, "data": event, "timestamp": time},
            "schema": types::webhook_request(),
        }}},
        "responses": {
            "2XX": {"description": "The event is delivered"},
            "410": {"description": "The webhook is disabled"},
            "default": {"description": "The event is sent again"},
        },
    }}})
}
