//! The operations that manage webhooks.

use serde_json::{Map, Value, json};

use super::{
    code_samples::Sample,
    descriptions::needs,
    parameters::{self, query},
    reference, referring, responses,
};
use crate::api::webhooks::{Act, OPERATIONS, Operation};
use ad_server_access::auth::Permission;

const TAG: &str = "webhooks";

/// An id that looks like one.
const WEBHOOK: &str = "01905b1c-6a52-7000-8000-000000000004";

const EVENT: &str = "evt_019a05b16a527000800000000000001a_4";

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
