//! The OpenAPI document as a judge: which operations there are, and whether a value is what a schema in it describes.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

use ad_tests::Server;
use jsonschema::{Draft, Registry, Validator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};

/// Where the document would be, for references into it.
const ADDRESS: &str = "https://ads.example/openapi.json";

/// What a fragment need not encode.
const FRAGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'~').remove(b'-').remove(b'.').remove(b'_');

pub(crate) struct Contract {
    pub(crate) document: Value,
    registry: Registry<'static>,
    validators: RefCell<HashMap<String, Rc<Validator>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) path: String,
    pub(crate) method: Method,
    pub(crate) id: String,
    /// Where it stands in the document.
    pub(crate) pointer: String,
}

impl Contract {
    /// What a server says about itself.
    pub(crate) async fn of(server: &Server) -> Self {
        Self::new(server.client.with_token(None).get("/openapi.json").await.expect(200))
    }

    /// What it says about itself, with what only the documents of the tags have: examples of bodies and samples.
    pub(crate) async fn with_examples(server: &Server) -> Self {
        let client = server.client.with_token(None);
        let mut whole = client.get("/openapi.json").await.expect(200);
        for tag in whole["tags"].as_array().unwrap().clone() {
            let answer = client.get(&format!("/openapi.json?tag={}", tag["name"].as_str().unwrap())).await;
            // Some tags are in all documents.
            if answer.status != StatusCode::OK {
                continue;
            }
            let part = answer.expect(200);
            for place in ["/paths", "/components/examples", "/components/responses"] {
                fill(whole.pointer_mut(place).unwrap(), part.pointer(place).unwrap_or(&Value::Null));
            }
        }
        Self::new(whole)
    }

    pub(crate) fn new(document: Value) -> Self {
        let mut dialect = document.clone();
        merge_parts(&mut dialect);
        as_json_schema(&mut dialect);
        let registry = Registry::new().draft(Draft::Draft4).add(ADDRESS, dialect).unwrap().prepare().unwrap();
        Self { document, registry, validators: RefCell::default() }
    }

    /// The same for answers with the parameter `fields`, which have no other members than those.
    pub(crate) fn of_some_fields(&self) -> Self {
        let mut document = self.document.clone();
        let base = json!({"$ref": "#/components/schemas/AdBase"});
        for (name, schema) in document["components"]["schemas"].as_object_mut().unwrap() {
            if name == "AdBase" {
                schema.as_object_mut().unwrap().remove("required");
            }
            if schema["allOf"][0] == base {
                schema["allOf"][1].as_object_mut().unwrap().remove("required");
            }
        }
        Self::new(document)
    }

    pub(crate) fn operations(&self) -> Vec<Described> {
        let paths = self.document["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| {
            let of = |(method, operation): (&String, &Value)| Described {
                path: path.clone(),
                method: method.to_uppercase().parse().unwrap(),
                id: operation["operationId"].as_str().unwrap().to_owned(),
                pointer: format!("/paths/{}/{method}", escaped(path)),
            };
            item.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters").map(of).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of_path).collect()
    }

    /// The value of an example.
    pub(crate) fn example(&self, name: &str) -> &Value {
        &self.document["components"]["examples"][name]["value"]
    }

    /// The examples of this suffix, by what is before it.
    pub(crate) fn examples(&self, suffix: &str) -> Vec<(&str, &Value)> {
        let all = self.document["components"]["examples"].as_object().unwrap();
        all.iter().filter_map(|(name, example)| Some((name.strip_suffix(suffix)?, &example["value"]))).collect()
    }

    /// The parameters of an operation, and those of its path.
    pub(crate) fn parameters(&self, operation: &Described) -> Vec<&Value> {
        let of_path = operation.pointer.rsplit_once('/').unwrap().0;
        let of = |place: &str| {
            let parameters = format!("{place}/parameters");
            let count = self.document.pointer(&parameters).and_then(Value::as_array).map_or(0, Vec::len);
            (0..count).filter_map(move |index| Some(self.at(&format!("{parameters}/{index}"))?.1))
        };
        of(of_path).chain(of(&operation.pointer)).collect()
    }

    /// The description of an answer of this status, and where it is.
    pub(crate) fn response(&self, operation: &Described, status: u16) -> Option<(String, &Value)> {
        let at = |status: &str| self.at(&format!("{}/responses/{status}", operation.pointer));
        at(&status.to_string()).or_else(|| {
            let (pointer, others) = at("default")?;
            others["description"].as_str()?.contains(&format!("- {status}: ")).then_some((pointer, others))
        })
    }

    /// What stands at a pointer, and where that is once references are followed.
    pub(crate) fn at(&self, pointer: &str) -> Option<(String, &Value)> {
        let value = self.document.pointer(pointer)?;
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.at(reference.trim_start_matches('#')),
            None => Some((pointer.to_owned(), value)),
        }
    }

    /// How a value is not what the schema at a pointer describes; nothing if it is.
    pub(crate) fn mismatch(&self, pointer: &str, value: &Value) -> Option<String> {
        let (pointer, _) = self.at(pointer).unwrap_or_else(|| panic!("nothing stands at {pointer}"));
        let mut validators = self.validators.borrow_mut();
        let validator = validators.entry(pointer.clone()).or_insert_with(|| Rc::new(self.validator(&pointer)));
        let mut errors =
            validator.iter_errors(value).map(|error| format!("at {:?}: {error}", error.instance_path().as_str()));
        let first = errors.next()?;
        Some(first.chars().take(600).collect())
    }

    fn validator(&self, pointer: &str) -> Validator {
        jsonschema::options()
            .with_draft(Draft::Draft4)
            .should_validate_formats(true)
            .with_registry(&self.registry)
            .build(&json!({"$ref": format!("{ADDRESS}#{}", utf8_percent_encode(pointer, FRAGMENT))}))
            .unwrap_or_else(|error| panic!("{pointer} is no schema: {error}"))
    }

    /// The references of the document that lead nowhere.
    pub(crate) fn dangling(&self) -> BTreeSet<String> {
        let mut dangling = BTreeSet::new();
        walk(&self.document, &mut |place| {
            if let Some(reference) = place.get("$ref").and_then(Value::as_str)
                && self.document.pointer(reference.trim_start_matches('#')).is_none()
            {
                dangling.insert(reference.to_owned());
            }
        });
        dangling
    }
}

/// A name as a JSON pointer has it.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Shows every value of a document.
pub(crate) fn walk(place: &Value, visit: &mut impl FnMut(&Value)) {
    visit(place);
    match place {
        Value::Object(members) => members.values().for_each(|member| walk(member, visit)),
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

/// Adds the members that only the other value has.
fn fill(value: &mut Value, other: &Value) {
    if let (Value::Object(members), Value::Object(others)) = (value, other) {
        for (name, other) in others {
            fill(members.entry(name.clone()).or_insert_with(|| other.clone()), other);
        }
    }
}

/// Makes one object of the parts of each schema that has several.
fn merge_parts(document: &mut Value) {
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, schema) in &schemas {
        let parts = schema.get("allOf").and_then(Value::as_array).filter(|parts| parts.len() > 1);
        let Some(parts) = parts else { continue };
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for part in parts {
            let referred =
                part["$ref"].as_str().and_then(|reference| document.pointer(reference.trim_start_matches('#')));
            let part = referred.unwrap_or(part);
            properties.extend(part["properties"].as_object().unwrap().clone());
            required.extend(part["required"].as_array().into_iter().flatten().cloned());
        }
        document["components"]["schemas"][name] =
            json!({"type": "object", "properties": properties, "required": required});
    }
}

/// From the dialect of OpenAPI 3.0, where `nullable` adds null to a type, to plain JSON Schema. Answers may get members that
/// are not in the document, but this service has none.
fn as_json_schema(place: &mut Value) {
    match place {
        Value::Object(members) => {
            if members.get("type").is_some_and(|of| of == "object") && members.contains_key("properties") {
                members.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            if members.remove("nullable") == Some(Value::Bool(true))
                && let Some(of) = members.get_mut("type")
            {
                *of = json!([of.take(), "null"]);
            }
            members.remove("example");
            members.values_mut().for_each(as_json_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(as_json_schema),
        _ => {}
    }
}
