//! Webhooks: the operations that manage them, and in OpenAPI 3.1 the request that is sent to them.

use ad_core::model::{DeliveryState, DisabledReason};
use serde_json::{Map, Value, json};

use super::{
    code_samples::Sample,
    nullable,
    operations::needs,
    parameters::{self, query},
    reference, referring, require, responses,
};
use crate::{
    api::webhooks::{Act, OPERATIONS, Operation},
    auth::Permission,
};

/// The tag of the operations.
pub(super) const TAG: &str = "webhooks";

/// An id that looks like one.
const WEBHOOK: &str = "01905b1c-6a52-7000-8000-000000000004";

/// The event of the examples.
const EVENT: &str = "evt_019a05b16a527000800000000000001a_4";

/// The time of the examples.
const NOW: &str = "2026-01-15T10:00:00.000Z";

/// A secret that is none.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// All paths.
pub(super) fn paths() -> Map<String, Value> {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = operation.path.replace(":webhook_id", "{webhook_id}").replace(":event_id", "{event_id}");
        let item = paths.entry(path.clone()).or_insert_with(|| json!({}));
        item[operation.method.as_str().to_lowercase()] = describe(operation, &path);
    }
    paths
}

fn describe(operation: &Operation, path: &str) -> Value {
    let text = |name: &str, description: &str, schema: Value| json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema});
    let mut own = Vec::new();
    if path.contains("{webhook_id}") {
        own.push(text("webhook_id", "`id` of the webhook", json!({"type": "string", "format": "uuid"})));
    }
    if path.contains("{event_id}") {
        own.push(text("event_id", "`id` of the event", json!({"type": "string", "minLength": 1})));
    }
    own.extend(operation.parameters.iter().map(query));
    let body = body(operation.act);
    if body.is_some() {
        own.push(referring("parameters", parameters::CONTENT_ENCODING));
    }
    let address = path.replace("{webhook_id}", WEBHOOK).replace("{event_id}", EVENT);
    let sent = body.map(|(_, example)| example_of(example));
    let mut described = json!({
        "tags": [TAG],
        "operationId": operation.id,
        "summary": operation.summary,
        "description": format!("{}\n\n{}", operation.doc, needs(Permission::Webhooks)),
        "parameters": own,
        "responses": answers(operation, body.is_some()),
        "x-codeSamples": Sample::new(operation.method.clone(), address, sent.as_ref()).in_all_languages(),
    });
    if let Some((schema, example)) = body {
        described["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": reference(schema),
            "examples": {example: referring("examples", example)}}}});
    }
    described
}

/// Schema and example of an operation's body.
fn body(act: Act) -> Option<(&'static str, &'static str)> {
    match act {
        Act::Create => Some(("WebhookInput", "WebhookInput")),
        Act::Change => Some(("WebhookPatch", "WebhookPatch")),
        Act::Replay => Some(("WebhookReplay", "WebhookReplay")),
        _ => None,
    }
}

fn answers(operation: &Operation, takes_body: bool) -> Value {
    let mut answers = responses::shared_by_all();
    let (status, success) = match operation.act {
        Act::Create => {
            ("201", responses::described("The webhook, with its secret", &reference("NewWebhook"), &["NewWebhook"]))
        }
        Act::RotateSecret => {
            ("200", responses::described("The webhook, with its new secret", &reference("NewWebhook"), &["NewWebhook"]))
        }
        Act::List => ("200", responses::described("A page of webhooks", &reference("WebhookPage"), &["WebhookPage"])),
        Act::Deliveries => {
            ("200", responses::described("A page of deliveries", &reference("DeliveryPage"), &["DeliveryPage"]))
        }
        Act::Test | Act::Resend => {
            ("200", responses::described("The delivery, which is pending", &reference("Delivery"), &["Delivery"]))
        }
        Act::Read | Act::Change | Act::Delete | Act::Replay => {
            ("200", responses::described("The webhook", &reference("Webhook"), &["Webhook"]))
        }
    };
    answers.insert(status.to_owned(), success);
    if operation.act == Act::Create {
        answers[status]["headers"]["Location"] = json!({"required": true, "description": "Address of the webhook", "schema": {"type": "string", "format": "uri"}});
    }
    let wrong = match operation.act {
        Act::Create => vec!["PayloadErrors", "ParameterErrors", "NotJson", "TooManyWebhooks"],
        Act::Change | Act::Replay => vec!["PayloadErrors", "ParameterErrors", "NotJson"],
        Act::Test | Act::Resend => vec!["ParameterErrors", "WebhookDisabled"],
        _ => vec!["ParameterErrors"],
    };
    let schemas = match operation.act {
        Act::Create => json!({"oneOf": [reference("FieldErrors"), reference("Detail"), reference("BusinessErrors")]}),
        Act::Change | Act::Replay => json!({"oneOf": [reference("FieldErrors"), reference("Detail")]}),
        Act::Test | Act::Resend => json!({"oneOf": [reference("FieldErrors"), reference("BusinessErrors")]}),
        _ => reference("FieldErrors"),
    };
    answers.insert(
        "400".to_owned(),
        responses::error("Invalid fields or parameters, or a violated rule", &schemas, &wrong),
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

/// The schemas of bodies and answers.
pub(super) fn schemas() -> Map<String, Value> {
    let time = || json!({"type": "string", "format": "date-time"});
    let maybe = |mut schema: Value| {
        nullable(&mut schema);
        schema
    };
    let url = json!({"type": "string", "format": "uri", "maxLength": 2000,
        "description": "Public https address, without user name, password and fragment"});
    let types = json!({"type": "array", "minItems": 1, "maxItems": 50, "uniqueItems": true,
        "items": {"type": "string", "pattern": r"^ad\.(\*|[a-z_]+)\.(\*|[a-z_]+)$"},
        "description": "Event types `ad.{action}.{state}`; action and state may be `*`"});
    let description = maybe(json!({"type": "string", "maxLength": 500, "description": "A note"}));
    let dealer_code = maybe(json!({"type": "string", "description": "Only events of this dealer"}));
    let reasons: Vec<_> = DisabledReason::NAMES.iter().copied().map(Some).chain([None]).collect();
    let webhook = json!({"type": "object", "properties": {
        "id": {"type": "string", "format": "uuid"},
        "url": url,
        "types": types,
        "dealer_code": dealer_code,
        "description": description,
        "enabled": {"type": "boolean"},
        "disabled_reason": {"type": "string", "nullable": true, "enum": reasons, "example": "gone",
            "description": "`requested` by a client; `gone`: the receiver answered 410; `failing`: no success for days"},
        "created": time(),
        "updated": time(),
        "pending": {"type": "integer", "minimum": 0, "description": "Pending deliveries"},
        "last_success": maybe(time()),
        "last_failure": maybe(time()),
    }});
    let complete = |mut schema: Value| {
        let names: Vec<String> =
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        require(&mut schema, names.iter().map(String::as_str));
        schema
    };
    let mut new = webhook.clone();
    new["properties"]["secret"] =
        json!({"type": "string", "pattern": "^whsec_", "description": "Signs the requests; shown this once"});
    let attempt = json!({"type": "object", "properties": {
        "at": time(),
        "status": maybe(json!({"type": "integer", "minimum": 100, "maximum": 599, "description": "Status of the answer"})),
        "latency_ms": {"type": "integer", "minimum": 0},
        "error": maybe(json!({"type": "string", "description": "Why the attempt failed"})),
        "response": maybe(json!({"type": "string", "maxLength": 500, "description": "Beginning of the answer's body"})),
    }});
    let delivery = json!({"type": "object", "properties": {
        "event_id": {"type": "string", "description": "Id of the event, and `webhook-id` of each attempt"},
        "type": {"type": "string", "description": "Type of the event; `webhook.test` for a test"},
        "state": {"type": "string", "enum": DeliveryState::NAMES},
        "created": time(),
        "next_attempt": maybe(time()),
        "attempts": {"type": "array", "items": reference("DeliveryAttempt"), "description": "The latest attempts, oldest first"},
    }});
    let mut types_or_null = types.clone();
    nullable(&mut types_or_null);
    let create = json!({"type": "object", "required": ["url"], "additionalProperties": false, "properties": {
        "url": url, "types": types_or_null, "dealer_code": dealer_code, "description": description}});
    let change = json!({"type": "object", "additionalProperties": false, "properties": {
        "url": url, "types": types_or_null, "dealer_code": dealer_code, "description": description,
        "enabled": {"type": "boolean"},
        "resume": {"type": "string", "enum": ["now"], "description": "Skips what has happened until now"}}});
    let replay = json!({"type": "object", "required": ["after"], "additionalProperties": false, "properties": {
        "after": {"type": "string", "minLength": 1, "description": "A cursor of an event, or a time"}}});
    [
        ("Webhook", complete(webhook)),
        ("NewWebhook", complete(new)),
        ("WebhookPage", super::answers::page("Webhook", "Webhooks, oldest first")),
        ("Delivery", complete(delivery)),
        ("DeliveryAttempt", complete(attempt)),
        ("DeliveryPage", super::answers::page("Delivery", "Deliveries, newest first")),
        ("WebhookInput", create),
        ("WebhookPatch", change),
        ("WebhookReplay", replay),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}

/// The examples, by their names.
pub(super) fn examples() -> Map<String, Value> {
    let names = [
        "Webhook",
        "NewWebhook",
        "WebhookPage",
        "Delivery",
        "DeliveryPage",
        "WebhookInput",
        "WebhookPatch",
        "WebhookReplay",
        "NoSuchWebhook",
        "WebhookDisabled",
        "TooManyWebhooks",
    ];
    names.into_iter().map(|name| (name.to_owned(), json!({"value": example_of(name)}))).collect()
}

fn example_of(name: &str) -> Value {
    let now = NOW;
    let webhook = json!({"id": WEBHOOK, "url": "https://stock.example/hook", "types": ["ad.publish.*", "ad.*.error"],
        "dealer_code": null, "description": "Stock system", "enabled": true, "disabled_reason": null, "created": now, "updated": now,
        "pending": 0, "last_success": now, "last_failure": now});
    let delivery = json!({"event_id": EVENT, "type": "ad.publish.done", "state": "delivered", "created": now, "next_attempt": null,
    "attempts": [
        {"at": now, "status": 500, "latency_ms": 12, "error": "answered 500", "response": "out of memory"},
        {"at": now, "status": 204, "latency_ms": 38, "error": null, "response": ""},
    ]});
    let page = |row: &Value| json!({"count": 1, "next": null, "previous": null, "results": [row]});
    match name {
        "Webhook" => webhook,
        "NewWebhook" => {
            let mut new = webhook;
            new["secret"] = SECRET.into();
            new
        }
        "WebhookPage" => page(&webhook),
        "Delivery" => delivery,
        "DeliveryPage" => page(&delivery),
        "WebhookInput" => {
            json!({"url": "https://stock.example/hook", "types": ["ad.publish.*", "ad.*.error"], "description": "Stock system"})
        }
        "WebhookPatch" => json!({"types": ["ad.*.error"], "resume": "now"}),
        "WebhookReplay" => json!({"after": "2026-01-15T09:00:00Z"}),
        "NoSuchWebhook" => {
            json!({"detail": format!("No webhook in the token's scope has the id \"{WEBHOOK}\". GET /v4/webhooks lists them.")})
        }
        "WebhookDisabled" => json!([
            "This webhook is disabled, so nothing is sent to it. Enable it first: PATCH with \"enabled\": true."
        ]),
        _ => json!(["The token's scope has 10 webhooks already, which is the maximum. Delete one first."]),
    }
}

/// The request that is sent to webhooks, for OpenAPI 3.1.
pub(super) fn requests() -> Value {
    let header = |name: &str, description: &str| json!({"name": name, "in": "header", "required": true, "description": description, "schema": {"type": "string"}});
    let event = json!({"id": EVENT, "type": "ad.publish.done", "timestamp": NOW, "dealer_code": "north-cars", "source_id": "car-1001",
        "sequence": 4, "action": "publish", "state": "done", "code": null, "message": "Ad published"});
    let schema = json!({"type": "object", "required": ["type", "timestamp", "data"], "properties": {
        "type": {"type": "string", "description": "Type of the event"},
        "timestamp": {"type": "string", "format": "date-time", "description": "Time of the event"},
        "data": {"type": "object", "additionalProperties": true, "description": "The event, as `GET /v4/events` has it"}}});
    json!({"event": {"post": {
        "tags": [TAG],
        "operationId": "receive_event",
        "summary": "An event",
        "description": "Sent to the `url` of each webhook, signed as Standard Webhooks 1.0.0 says. Any 2xx within 15 seconds is a success; 410 disables the webhook.",
        "security": [],
        "parameters": [
            header("webhook-id", "The event's id, the same in all attempts"),
            header("webhook-timestamp", "Time of the attempt, in seconds since 1970"),
            header("webhook-signature", "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces"),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": schema,
            "example": {"type": "ad.publish.done", "timestamp": NOW, "data": event}}}},
        "responses": {
            "2XX": {"description": "The event is delivered"},
            "410": {"description": "The webhook is disabled"},
            "default": {"description": "The event is sent again"},
        },
    }}})
}
