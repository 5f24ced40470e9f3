//! Parameters of paths and queries, from the tables that parse them.

use ad_core::categories;
use ad_parameters::{EVENT_PARAMETERS, MAX_ITEMS, MAX_TEXT, Parameter, Takes};
use serde_json::{Map, Value, json};

use super::{fields::DATE, referring};
use crate::api::operations::{Act, BasePath, Operation, bases};

/// All parameters that operations share, by the names of their components.
pub(super) fn shared() -> Map<String, Value> {
    let mut shared = headers();
    for operation in bases().flat_map(BasePath::operations) {
        for parameter in operation.parameters {
            shared.insert(name(operation, parameter), query(parameter));
        }
    }
    shared.extend(EVENT_PARAMETERS.iter().map(|parameter| (format!("events.{}", parameter.name), query(parameter))));
    shared
}

pub(super) fn of_events() -> impl Iterator<Item = Value> {
    let query = EVENT_PARAMETERS.iter().map(|it| referring("parameters", &format!("events.{}", it.name)));
    query.chain([json!({
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The last cursor that a client of the stream has received; wins over `after`",
        "schema": {"type": "string", "maxLength": 255},
    })])
}

/// The headers of requests, and the path parameter of ads.
#[rustfmt::skip]
fn headers() -> Map<String, Value> {
    let header = |component: &str, name: &str, description: &str, schema: Value, examples: Value| {
        (component.to_owned(), json!({"name": name, "in": "header", "description": description, "schema": schema, "examples": examples}))
    };
    let text = || json!({"type": "string"});
    let mut parameters = Map::from_iter([
        header("IfMatch", "If-Match",
            "Tags (`ETag`) of the ad, separated by commas, or `*`. The request is accepted only if the ad's content is as in one of them: the part before the point is compared. A weak tag never matches",
            text(), json!({"read": {"value": "\"3.12\""}, "revision": {"value": "\"3\""}})),
        header(IF_NONE_MATCH, "If-None-Match",
            "Tags (`ETag`) of earlier answers, separated by commas, or `*`: if one of them is current, the answer is 304 without a body",
            text(), json!({"read": {"value": "\"3.12\""}, "several": {"value": "\"3.12\", \"3.14\""}})),
        header("IdempotencyKey", "Idempotency-Key",
            "A key of 1 to 255 visible ASCII characters, quoted or not, that the client has not used for another request. The same request with the same key gets the first answer again, with `Idempotency-Replayed: true`, and does nothing. A key is known for some days, and for the latest tens of thousands of writes of the dealer or group",
            json!({"type": "string", "minLength": 1, "maxLength": 512}), json!({"uuid": {"value": "\"8e03978e-40d5-43dd-bc93-6894a57f9324\""}})),
        header("Prefer", "Prefer",
            "`wait=N`: send the answer when the request has finished, or after N seconds, with the ad as it then is",
            text(), json!({"wait": {"value": "wait=5"}})),
    ]);
    parameters.insert(CONTENT_ENCODING.to_owned(), json!({"name": "Content-Encoding", "in": "header",
        "description": "Coding of the body, if it is compressed", "schema": {"type": "string", "enum": ["gzip", "identity"]}}));
    parameters.insert("ad.source_id".to_owned(), json!({"name": "source_id", "in": "path", "required": true,
        "description": "The client's identifier of the ad, percent-encoded", "schema": {"type": "string", "minLength": 1, "maxLength": 255}}));
    parameters.insert("ad.revision".to_owned(), json!({"name": "revision", "in": "path", "required": true,
        "description": "The number of a revision", "schema": {"type": "integer", "format": "int64", "minimum": 0}}));
    parameters
}

/// The parameters in a path, for all paths but those of ads.
#[rustfmt::skip]
pub(super) fn of_path(path: &str) -> Vec<Value> {
    let uuid = || json!({"type": "string", "format": "uuid"});
    let text = || json!({"type": "string", "minLength": 1});
    let types: Vec<_> = categories::typed().map(|(vehicle_type, _)| vehicle_type).collect();
    let all = [
        ("vehicle_type", "Vehicle type", json!({"type": "string", "enum": types}), None),
        ("attribute", "An attribute's id, as `attributes` lists it: `brand`, `powertrain.fuels`", text(), Some("brand")),
        ("request_id", "`X-Request-Id` of the answer to the request", uuid(), None),
        ("webhook_id", "`id` of the webhook", uuid(), None),
        ("event_id", "`id` of the event", text(), None),
        ("plan_id", "`id` of the plan", uuid(), None),
        ("promotion_id", "`id` of the schedule", uuid(), None),
    ];
    let in_path = all.into_iter().filter(|(name, ..)| path.contains(&format!("{{{name}}}")));
    let parameter = |(name, description, schema, example): (_, _, _, Option<&str>)| {
        let mut parameter = json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema});
        if let Some(example) = example {
            parameter["example"] = json!(example);
        }
        parameter
    };
    in_path.map(parameter).collect()
}

/// Those of an operation on ads.
pub(super) fn of(operation: &Operation) -> Vec<Value> {
    let path = operation.is_about_one().then(|| "ad.source_id".to_owned());
    let revision = operation.path.contains(":revision").then(|| "ad.revision".to_owned());
    let query = operation.parameters.iter().map(|parameter| name(operation, parameter));
    let header = match operation.act {
        Act::Read => Some(IF_NONE_MATCH),
        _ => operation.changes_one().then_some("IfMatch"),
    };
    let coding = operation.takes_body().then_some(CONTENT_ENCODING);
    let of_writes = operation.is_write().then_some(["IdempotencyKey", "Prefer"]);
    let headers = header.into_iter().chain(coding).chain(of_writes.into_iter().flatten());
    let names = path.into_iter().chain(revision).chain(query).chain(headers.map(str::to_owned));
    names.map(|name| referring("parameters", &name)).collect()
}

/// The name of the header's component.
pub(super) const IF_NONE_MATCH: &str = "IfNoneMatch";

/// The name of the component of the header with the body's coding.
pub(super) const CONTENT_ENCODING: &str = "ContentEncoding";

/// Parameters of one name differ between lists, logs and the rest.
fn name(operation: &Operation, parameter: &Parameter) -> String {
    let of = match operation.act {
        Act::List => "list",
        Act::Log => "log",
        Act::Read => "read",
        _ => "ad",
    };
    // The description of this one differs in lists only.
    let of = if parameter.name == "dealer_code" && operation.act != Act::List { "ad" } else { of };
    format!("{of}.{}", parameter.name)
}

pub(super) fn query(known: &Parameter) -> Value {
    let list = |items: Value| json!({"type": "array", "items": items, "minItems": 1, "maxItems": MAX_ITEMS});
    let schema = match known.takes {
        Takes::Text(most) => json!({"type": "string", "maxLength": most}),
        Takes::Texts => list(json!({"type": "string", "pattern": r"^[^,]*[^,\s][^,]*$", "maxLength": MAX_TEXT})),
        Takes::Uuid => json!({"type": "string", "format": "uuid"}),
        Takes::Number(min, max) => json!({"type": "integer", "format": "int64", "minimum": min, "maximum": max}),
        Takes::Numbers(min, max) => list(json!({"type": "integer", "minimum": min, "maximum": max})),
        Takes::Time => json!({"type": "string",
            "pattern": format!("^{DATE}[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]")}),
        Takes::OneOf(values) => json!({"type": "string", "enum": values}),
        Takes::SomeOf(values) => list(json!({"type": "string", "enum": values})),
        Takes::Boolean => json!({"type": "boolean"}),
    };
    let mut parameter = json!({"name": known.name, "in": "query", "description": known.doc, "schema": schema});
    if schema["type"] == "array" {
        // One parameter whose items are separated by commas.
        parameter["style"] = json!("form");
        parameter["explode"] = json!(false);
        parameter["description"] = json!(format!("{}; may be repeated", known.doc));
    }
    if known.takes == Takes::Time {
        // Not as an example, because Swagger UI would fill it in.
        let formats = "in UTC: `2026-01-15 10:00:00`, or ISO 8601: `2026-01-15T10:00:00Z`";
        parameter["description"] = json!(format!("{}, {formats}", known.doc));
    }
    parameter
}
