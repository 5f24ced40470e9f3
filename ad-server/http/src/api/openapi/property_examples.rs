//! Examples of properties, taken from the examples of whole bodies.

use std::{cmp::Reverse, collections::BTreeMap};

use ad_core::{categories::ad_fields::IDENTITY, rulebook::example_text};
use serde_json::{Map, Value, json};

use super::bodies::name_of_identity;

/// Adds an example to each property of the document's schemas that is no object of described properties.
pub(super) fn add(document: &mut Value) {
    let Value::Object(mut schemas) = document["components"]["schemas"].take() else { return };
    for (schema, value) in bodies(document) {
        show(&mut schemas, &mut schema.clone(), value);
    }
    let mut of_name = BTreeMap::new();
    for_each_property(&mut schemas, &mut |name, property| {
        if let Some(example) = property.get("example") {
            of_name.entry(name.to_owned()).or_insert_with(|| example.clone());
        }
    });
    for (schema, name, text) in OF_SCHEMAS {
        schemas[*schema]["properties"][*name]["example"] = json!(text);
    }
    for_each_property(&mut schemas, &mut |name, property| complete(name, property, &of_name));
    for (field, new) in IDENTITY.iter().flat_map(|field| [(field, true), (field, false)]) {
        if let Some(schema) = schemas.get_mut(&name_of_identity(field.path, new)) {
            complete(field.path, schema, &of_name);
        }
    }
    complete_answers(&mut schemas);
    document["components"]["schemas"] = schemas.into();
}

/// The schemas of bodies, each with the value of an example.
fn bodies(document: &Value) -> Vec<(&Value, &Value)> {
    let components = &document["components"];
    let operations = document["paths"].as_object().into_iter().flatten().filter_map(|(_, item)| item.as_object());
    let own = operations.flatten().flat_map(|(_, operation)| {
        let responses = operation["responses"].as_object().into_iter().flat_map(Map::values);
        responses.chain([&operation["requestBody"]])
    });
    let shared = components["responses"].as_object().into_iter().flat_map(Map::values);
    let mut bodies = Vec::new();
    for media in own.chain(shared).filter_map(|body| body["content"].as_object()).flat_map(Map::values) {
        let examples = media["examples"].as_object().into_iter().flat_map(Map::values);
        for name in examples.filter_map(|example| example["$ref"].as_str()?.rsplit('/').next()) {
            let value = |name: &str| &components["examples"][name]["value"];
            bodies.push((&media["schema"], value(name)));
            // An update may have every field of the create, and its example has a few.
            if let Some(of) = name.strip_suffix("Update") {
                bodies.push((&media["schema"], value(&format!("{of}Create"))));
            }
        }
    }
    bodies
}

/// Adds the examples that a value has for a schema. Existing examples stay.
fn show(schemas: &mut Map<String, Value>, schema: &mut Value, value: &Value) {
    if value.is_null() {
        return;
    }
    if let Some(name) = referred(schema).map(str::to_owned) {
        // Removed meanwhile, so that recursive schemas end.
        if let Some(mut target) = schemas.get_mut(&name).map(Value::take) {
            show(schemas, &mut target, value);
            schemas.insert(name, target);
        }
        return;
    }
    let Some(members) = schema.as_object_mut() else { return };
    for part in members.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        show(schemas, part, value);
    }
    for kind in ["anyOf", "oneOf"] {
        let alternatives = members.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten();
        // The alternative with most required members in the value.
        let fitting = alternatives.filter_map(|schema| Some((fit(schemas, schema, value)?, schema)));
        if let Some((_, fitting)) = fitting.min_by_key(|(demanded, _)| Reverse(*demanded)) {
            show(schemas, fitting, value);
        }
    }
    if let (Some(Value::Object(properties)), Value::Object(values)) = (members.get_mut("properties"), value) {
        for (name, property) in properties {
            show(schemas, property, values.get(name).unwrap_or(&Value::Null));
        }
        return;
    }
    if let (Some(items), Value::Array(values)) = (members.get_mut("items"), value)
        && values.iter().all(Value::is_object)
    {
        for value in values {
            show(schemas, items, value);
        }
        return;
    }
    // One of several objects has its examples in their schemas, and so has one of several parts.
    let has_schemas = |kind: &str| members.get(kind).and_then(Value::as_array).map_or(0, Vec::len);
    let is_of_others = has_schemas("anyOf") + has_schemas("oneOf") > 0 || has_schemas("allOf") > 1;
    if !is_of_others || !value.is_object() {
        members.entry("example").or_insert_with(|| value.clone());
    }
}

/// How many required members a schema finds in a value; `None` if the value is not meant for it: of another type or category, or
/// without one of them.
fn fit(schemas: &Map<String, Value>, schema: &Value, value: &Value) -> Option<usize> {
    let schema = referred(schema).map_or(schema, |name| &schemas[name]);
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        return parts.iter().map(|part| fit(schemas, part, value)).sum();
    }
    let of = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        _ => return Some(0),
    };
    let required = || schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let ids = schema.pointer("/properties/category_id/enum").and_then(Value::as_array);
    let is_category = ids.is_none_or(|ids| ids.contains(&value["category_id"]));
    let is_meant = schema.get("type").is_none_or(|expected| *expected == of)
        && is_category
        && required().all(|name| value.get(name).is_some());
    is_meant.then(|| required().count())
}

fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")
}

/// Calls `visit` with the name of each property and its schema, unless that is a reference.
fn for_each_property(schemas: &mut Map<String, Value>, visit: &mut impl FnMut(&str, &mut Value)) {
    for schema in schemas.values_mut() {
        visit_properties(schema, visit);
    }
}

fn visit_properties(schema: &mut Value, visit: &mut impl FnMut(&str, &mut Value)) {
    for (name, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if referred(property).is_none() {
            visit(name, property);
        }
        visit_properties(property, visit);
    }
    for part in schema.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        visit_properties(part, visit);
    }
    if let Some(items) = schema.get_mut("items") {
        visit_properties(items, visit);
    }
}

/// If no answer has an example of a field, uses the one from requests.
fn complete_answers(schemas: &mut Map<String, Value>) {
    let examples: Vec<_> = schemas
        .keys()
        .filter_map(|name| Some((name, schemas.get(name.strip_suffix("Answer")?)?.get("example")?)))
        .map(|(name, example)| (name.clone(), example.clone()))
        .collect();
    for (name, example) in examples {
        schemas[&name].as_object_mut().map(|schema| schema.entry("example").or_insert(example));
    }
}

/// Examples of properties that no example of a body has, where that of another property of the name would be wrong: schema, property, text.
const OF_SCHEMAS: &[(&str, &str, &str)] = &[
    ("ChangeError", "suggestion", "volvo"),
    ("Problem", "suggestion", "car-1001"),
    ("QualityFinding", "suggestion", "YV1UZH5V1M1000001"),
];

/// Examples of properties that no example of a body has.
const TEXTS: &[(&str, &str)] = &[("request", "GET /v4/webhooks lists them.")];

/// Gives a property that no body shows the example of its enumeration, of another property of its name, or of the texts from which
/// payloads are made.
fn complete(name: &str, property: &mut Value, of_name: &BTreeMap<String, Value>) {
    let has_members = |property: &Value| property.get("properties").is_some();
    if property.get("example").is_some() || has_members(property) || property.get("items").is_some_and(has_members) {
        return;
    }
    let is_of = |name: &str| property.get("type").is_some_and(|of| of == name);
    let (is_text, is_list) = (is_of("string"), is_of("array"));
    let text = || {
        let (_, text) =
            TEXTS.iter().find(|(known, _)| *known == name).copied().or_else(|| Some((name, example_text(name)?)))?;
        if is_text { Some(text.into()) } else { serde_json::from_str(text).ok() }
    };
    let same_type = |example: &&Value| example.is_string() == is_text && example.is_array() == is_list;
    let first = property.pointer("/enum/0").cloned();
    let is_time = property.get("format").is_some_and(|format| format == "date-time");
    let time = || of_name.get("created").filter(|_| is_time).cloned();
    let example = first.or_else(|| of_name.get(name).filter(same_type).cloned()).or_else(time).or_else(text);
    if let (Some(example), Some(members)) = (example, property.as_object_mut()) {
        members.insert("example".to_owned(), example);
    }
}
