//! The operations that manage webhooks.

use serde_json::{Map, Value, json};

use super::{
    code_samples::Sample,
    descriptions::needs,
    parameters::{self, query},
    reference, referring, responses,
};
use crate::api::{
    answers as types,
    webhooks::{Act, OPERATIONS, Operation},
};
use ad_server_access::auth::Permission;

pub(super) const TAG: &str = "webhooks";

/// An id that looks like one.
const WEBHOOK: &str = "01905b1c-6a52-7000-8000-000000000004";

pub(super) const EVENT: &str = "evt_019a05b16a527000800000000000001a_4";

/// All paths. The samples have the bodies of `examples`.
pub(super) fn paths(examples: &Map<String, Value>) -> Map<String, Value> {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = operation.path.replace(":webhook_id", "{webhook_id}").replace(":event_id", "{event_id}");
        let item = paths.entry(path.clone()).or_insert_with(|| json!({}));
        item[operation.method.as_str().to_lowercase()] = describe(operation, &path, examples);
    }
    paths
}

fn describe(operation: &Operation, path: &str, examples: &Map<String, Value>) -> Value {
    let mut own = parameters::of_path(path);
    own.extend(operation.parameters.iter().map(query));
    let body = body(operation.act);
    if body.is_some() {
        own.push(referring("parameters", parameters::CONTENT_ENCODING));
    }
    let address = path.replace("{webhook_id}", WEBHOOK).replace("{event_id}", EVENT);
    let sent = body.map(|name| &examples[name]["value"]);
    let mut described = json!({
        "tags": [TAG],
        "operationId": operation.id,
        "summary": operation.summary,
        "description": format!("{}\n\n{}", operation.doc, needs(Permission::Webhooks)),
        "parameters": own,
        "responses": answers(operation, body.is_some()),
        "x-codeSamples": Sample::new(operation.method.clone(), address, sent).in_all_languages(),
    });
    if let Some(name) = body {
        described["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": reference(name),
            "examples": {name: referring("examples", name)}}}});
    }
    described
}

/// The name of the schema, and of the example, of an operation's body.
fn body(act: Act) -> Option<&'static str> {
    match act {
        Act::Create => Some("WebhookInput"),
        Act::Change => Some("WebhookPatch"),
        Act::Replay => Some("WebhookReplay"),
        _ => None,
    }
}

fn answers(operation: &Operation, takes_body: bool) -> Value {
    let mut answers = responses::shared_by_all();
    let status = if operation.act == Act::Create { "201" } else { "200" };
    let (description, schema) = match operation.act {
        Act::Create => ("The webhook, with its secret", "NewWebhook"),
        Act::RotateSecret => ("The webhook, with its new secret", "NewWebhook"),
        Act::List => ("A page of webhooks", "WebhookPage"),
        Act::Deliveries => ("A page of deliveries", "DeliveryPage"),
        Act::Test | Act::Resend => ("The delivery, which is pending", "Delivery"),
        Act::Read | Act::Change | Act::Delete | Act::Replay => ("The webhook", "Webhook"),
    };
    answers.insert(status.to_owned(), responses::described(description, &reference(schema), &[schema]));
    if operation.act == Act::Create {
        answers[status]["headers"]["Location"] = json!({"required": true, "description": "Address of the webhook", "schema": {"type": "string", "format": "uri"}});
    }
    let (schemas, wrong): (&[&str], &[&str]) = match operation.act {
        Act::Create => (
            &["FieldErrors", "Detail", "BusinessErrors"],
            &["PayloadErrors", "ParameterErrors", "NotJson", "TooManyWebhooks"],
        ),
        Act::Change | Act::Replay => (&["FieldErrors", "Detail"], &["PayloadErrors", "ParameterErrors", "NotJson"]),
        Act::Test | Act::Resend => (&["FieldErrors", "BusinessErrors"], &["ParameterErrors", "WebhookDisabled"]),
        _ => (&["FieldErrors"], &["ParameterErrors"]),
    };
    let schemas = match schemas {
        [only] => reference(only),
        several => json!({"oneOf": several.iter().map(|name| reference(name)).collect::<Vec<_>>()}),
    };
    answers.insert(
        "400".to_owned(),
        responses::error("Invalid fields or parameters, or a violated rule", &schemas, wrong),
    );
    if operation.path.contains(":webhook_id") {
        let missing = responses::error(
            "No such webhook in the token's scope, or no such delivery",
            &reference("Detail"),
            &["NoSuchWebhook"],
        );
        answers.insert("404".to_owned(), missing);
    }
    for (status, name) in [("408", "Slow"), ("413", "TooLarge"), ("415", "UnsupportedCoding")] {
        if takes_body {
            answers.insert(status.to_owned(), referring("responses", name));
        }
    }
    answers.insert("503".to_owned(), referring("responses", "Unavailable"));
    answers.into()
}

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
