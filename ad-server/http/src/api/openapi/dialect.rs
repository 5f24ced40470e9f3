//! The document in OpenAPI 3.1, whose schemas are JSON Schema 2020-12.

use serde_json::{Value, json};

/// Turns an OpenAPI 3.0 document into one of OpenAPI 3.1.
pub(in crate::api) fn as_3_1(mut document: Value) -> Value {
    document["openapi"] = json!("3.1.1");
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.values_mut().for_each(convert);
    }
    for kind in ["parameters", "responses", "headers"] {
        convert_members(&mut document["components"][kind]);
    }
    convert_members(&mut document["paths"]);
    // OpenAPI 3.0 cannot describe requests that the service sends.
    if document["paths"].get("/v4/webhooks").is_some() {
        document["webhooks"] = super::webhooks::received();
    }
    document
}

/// Converts each schema below a parameter, response or operation.
fn convert_members(place: &mut Value) {
    match place {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "schema" { convert(member) } else { convert_members(member) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(convert_members),
        _ => {}
    }
}

/// A schema: `null` is a type, and examples are a list.
fn convert(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if members.remove("nullable") == Some(json!(true))
        && let Some(of) = members.get_mut("type")
    {
        *of = json!([of.take(), "null"]);
    }
    if let Some(example) = members.remove("example") {
        members.insert("examples".to_owned(), json!([example]));
    }
    for (name, member) in members {
        match (name.as_str(), member) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(convert),
            ("items" | "additionalProperties", schema) => convert(schema),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter_mut().for_each(convert),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_becomes_a_type_and_an_example_one_of_a_list() {
        let schema = json!({"type": "object", "properties": {
            "nullable": {"type": "boolean", "example": true},
            "color": {"allOf": [{"type": "string", "enum": ["red", null], "nullable": true}], "example": "red"},
        }});
        let response = |schema: &Value| json!({"content": {"application/json": {"schema": schema}}});
        let of = |version: &str, schema: &Value| {
            json!({"openapi": version, "paths": {"/": {"get": {"responses": {"200": response(schema)}}}},
                "components": {"schemas": {"A": schema}}})
        };
        let converted = json!({"type": "object", "properties": {
            "nullable": {"type": "boolean", "examples": [true]},
            "color": {"allOf": [{"type": ["string", "null"], "enum": ["red", null]}], "examples": ["red"]},
        }});
        let mut expected = of("3.1.1", &converted);
        for kind in ["headers", "parameters", "responses"] {
            expected["components"][kind] = Value::Null;
        }
        assert_eq!(as_3_1(of("3.0.3", &schema)), expected);
    }
}
