//! Parameters of paths and queries, from the tables that parse them.

use ad_core::parameters::{EVENT_PARAMETERS, MAX_ITEMS, MAX_TEXT, Parameter, Takes};
use serde_json::{Map, Value, json};

use super::{fields::DATE, referring};
use crate::api::operations::{Act, OPERATIONS, Operation};

/// The query parameters of the operations, by the names of their components.
pub(super) fn shared() -> Map<String, Value> {
    let mut shared = Map::new();
    for operation in OPERATIONS {
        for parameter in operation.parameters {
            shared.insert(name(operation, parameter), query(parameter));
        }
    }
    shared.extend(EVENT_PARAMETERS.iter().map(|parameter| (format!("events.{}", parameter.name), query(parameter))));
    shared
}

/// The query parameters of events.
pub(super) fn of_events() -> impl Iterator<Item = Value> {
    EVENT_PARAMETERS.iter().map(|parameter| referring("parameters", &format!("events.{}", parameter.name)))
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
