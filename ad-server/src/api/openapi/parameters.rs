//! Parameters of paths and queries, from the tables that parse them.

use ad_core::{
    categories,
    parameters::{EVENT_PARAMETERS, MAX_ITEMS, MAX_TEXT, Parameter, Takes},
};
use serde_json::{Map, Value, json};

use super::{fields::DATE, pascal_case, reference, referring};
use crate::api::operations::{Act, OPERATIONS, Operation};

/// The parameters of the operations, by the names of their components.
pub(super) fn shared() -> Map<String, Value> {
    let mut shared = Map::from_iter([
        ("ad.source_id".to_owned(), source_id()),
        ("IfMatch".to_owned(), if_match()),
        (IF_NONE_MATCH.to_owned(), if_none_match()),
        ("IdempotencyKey".to_owned(), idempotency_key()),
        ("Prefer".to_owned(), prefer()),
        (CONTENT_ENCODING.to_owned(), content_encoding()),
    ]);
    for operation in OPERATIONS {
        for parameter in operation.parameters {
            shared.insert(name(operation, parameter), query(parameter));
        }
    }
    shared.extend(EVENT_PARAMETERS.iter().map(|parameter| (format!("events.{}", parameter.name), query(parameter))));
    shared
}

/// Those of events.
pub(super) fn of_events() -> Vec<Value> {
    let query = EVENT_PARAMETERS.iter().map(|parameter| referring("parameters", &format!("events.{}", parameter.name)));
    query.chain([last_event_id()]).collect()
}

fn last_event_id() -> Value {
    json!({"name": "Last-Event-ID", "in": "header",
        "description": "The last cursor that a client of the stream has received; wins over `after`",
        "schema": {"type": "string", "maxLength": MAX_TEXT}})
}

/// Those of an operation on ads.
pub(super) fn of(operation: &Operation) -> Vec<Value> {
    let path = operation.is_about_one().then(|| "ad.source_id".to_owned());
    let query = operation.parameters.iter().map(|parameter| name(operation, parameter));
    let header = match operation.act {
        Act::Read => Some(IF_NONE_MATCH),
        _ => operation.changes_one().then_some("IfMatch"),
    };
    let coding = operation.takes_body().then_some(CONTENT_ENCODING);
    let of_writes = operation.is_write().then_some(["IdempotencyKey", "Prefer"]);
    let headers = header.into_iter().chain(coding).chain(of_writes.into_iter().flatten());
    let names = path.into_iter().chain(query).chain(headers.map(str::to_owned));
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
    format!("{of}.{}", parameter.name)
}

fn source_id() -> Value {
    json!({"name": "source_id", "in": "path", "required": true, "description": "The client's identifier of the ad, percent-encoded",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255}})
}

fn if_match() -> Value {
    json!({"name": "If-Match", "in": "header",
        "description": "Tags (`ETag`) of the ad, separated by commas, or `*`. The request is accepted only if the ad's content is as in one of them: the part \
            before the point is compared. A weak tag never matches",
        "schema": {"type": "string"}, "examples": {"read": {"value": "\"3.12\""}, "revision": {"value": "\"3\""}}})
}

fn if_none_match() -> Value {
    json!({"name": "If-None-Match", "in": "header",
        "description": "Tags (`ETag`) of earlier answers, separated by commas, or `*`: if one of them is current, the answer is 304 without a body",
        "schema": {"type": "string"}, "examples": {"read": {"value": "\"3.12\""}, "several": {"value": "\"3.12\", \"3.14\""}}})
}

fn idempotency_key() -> Value {
    json!({"name": "Idempotency-Key", "in": "header",
        "description": "A key of 1 to 255 visible ASCII characters, quoted or not, that the client has not used for another request. The same request with the same \
            key gets the first answer again, with `Idempotency-Replayed: true`, and does nothing",
        "schema": {"type": "string", "minLength": 1, "maxLength": 512}, "examples": {"uuid": {"value": "\"8e03978e-40d5-43dd-bc93-6894a57f9324\""}}})
}

fn prefer() -> Value {
    json!({"name": "Prefer", "in": "header",
        "description": "`wait=N`: send the answer when the request has finished, or after N seconds, with the ad as it then is",
        "schema": {"type": "string"}, "examples": {"wait": {"value": "wait=5"}}})
}

/// The id of a request.
pub(super) fn request_id() -> Value {
    json!({"name": "request_id", "in": "path", "required": true, "description": "`X-Request-Id` of the answer to the request",
        "schema": {"type": "string", "format": "uuid"}})
}

fn content_encoding() -> Value {
    json!({"name": "Content-Encoding", "in": "header", "description": "Coding of the body, if it is compressed",
        "schema": {"type": "string", "enum": ["gzip"]}})
}

/// A query parameter.
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
        parameter["description"] =
            json!(format!("{}. The parameter may be repeated instead of using commas", known.doc));
    }
    if known.takes == Takes::Time {
        // Not as an example, because Swagger UI would fill it in.
        let formats = "in UTC: `2026-01-15 10:00:00`, or ISO 8601: `2026-01-15T10:00:00Z`";
        parameter["description"] = json!(format!("{}, {formats}", known.doc));
    }
    parameter
}

/// The vehicle type of a lookup.
pub(super) fn vehicle_type() -> Value {
    let types: Vec<_> = categories::typed().map(|(vehicle_type, _)| vehicle_type).collect();
    json!({"name": "vehicle_type", "in": "path", "required": true, "description": "Vehicle type",
        "schema": {"type": "string", "enum": types}})
}

/// The attribute of a lookup.
pub(super) fn attribute() -> Value {
    json!({"name": "attribute", "in": "path", "required": true, "example": "brand",
        "description": "An attribute's id, as `attributes` lists it: `brand`, `powertrain.fuels`",
        "schema": {"type": "string", "minLength": 1}})
}

/// The brand of a lookup of models; `example` is one.
pub(super) fn brand(example: &str) -> Value {
    json!({"name": "brand", "in": "query", "required": true, "example": example,
        "description": "A car brand, as `GET /v4/vehicles/car/brand` lists it",
        "schema": reference(&pascal_case("car.brand"))})
}
