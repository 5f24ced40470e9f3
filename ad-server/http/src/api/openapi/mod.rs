//! The OpenAPI document.
//!
//! It is built from the table of operations ([`operations`](crate::api::operations)), the types of answers
//! ([`answers`](crate::api::answers)), the field tables, the catalogue and the parameters of lists. It is built as JSON, because the
//! registry of poem-openapi accepts only data known at compile time and has no examples of bodies.

mod account;
mod answers;
mod bodies;
mod code_samples;
mod descriptions;
mod dialect;
mod examples;
mod fields;
mod operations;
mod parameters;
mod promotions;
mod property_examples;
mod responses;
mod service;
mod share;
mod shorter;
mod stock;
mod webhooks;

use std::collections::BTreeSet;

use ad_core::{
    categories::{self, Category},
    rulebook::Rulebook,
};
use serde_json::{Map, Value, json};

use self::bodies::Group;
pub use self::code_samples::first_request;
pub(super) use self::dialect::as_3_1;
use super::{answers as types, operations::bases};

/// Name of the security scheme, and of the header.
const TOKEN: &str = "X-Auth-Token";

pub(super) const TITLE: &str = "Vehicle ad import service";

/// The name of the document that has only the operations of the common tags.
pub(super) const COMMON: &str = "common";

/// The tags of which there are documents: the vehicle types, `ad`, `v3`, and [`COMMON`].
pub(super) fn tags() -> Vec<&'static str> {
    bases().map(operations::tag).chain([COMMON]).collect()
}

/// The document of this catalogue, for a service at this address. With `tag` it has only the operations of that tag; without, it
/// leaves out what the documents of the vehicle types have for people.
pub(super) fn document(rulebook: &Rulebook, server: &str, tag: Option<&str>) -> Value {
    let service = server.trim_end_matches('/');
    let common_tags: Vec<_> = service::tags().map(|mut tag| tag["name"].take()).collect();
    let shown = examples::all(rulebook);
    let paths = operations::paths(rulebook, &shown);
    let mut document = json!({
        "openapi": "3.0.3",
        "info": {
            "title": TITLE,
            "version": env!("CARGO_PKG_VERSION"),
            "description": descriptions::guide(service, &code_samples::first_request(rulebook)),
            "contact": {"name": TITLE, "url": env!("CARGO_PKG_REPOSITORY")},
            "license": {"name": env!("CARGO_PKG_LICENSE"), "url": "https://opensource.org/license/mit"},
        },
        "servers": [{"url": server}],
        "security": [{TOKEN: []}],
        "tags": operations::tags().into_iter().chain(service::tags()).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": schemas(rulebook),
            "parameters": parameters::shared(),
            "responses": responses::shared(),
            "headers": responses::headers(),
            "examples": shown,
            "securitySchemes": {TOKEN: {"type": "apiKey", "in": "header", "name": TOKEN,
                "description": "A JSON Web Token, issued with `ad-server token issue`"}},
        },
    });
    property_examples::add(&mut document);
    match tag {
        Some(tag) => {
            keep_tag(&mut document, &common_tags, tag);
            if let Some(category) = categories::by_vehicle_type(tag) {
                shorter::one_type(&mut document, category);
            }
        }
        None => shorter::all_types(&mut document),
    }
    drop_unused(&mut document);
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        share::schemas(schemas);
    }
    if let Some(paths) = document["paths"].as_object_mut() {
        share::parameters(paths);
    }
    document
}

/// Drops the operations of other tags.
fn keep_tag(document: &mut Value, common: &[Value], tag: &str) {
    let is_kept = |name: &Value| if tag == COMMON { common.contains(name) } else { *name == tag };
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| is_kept(&tag["name"]));
    }
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.retain(|_, item| {
            item.as_object().into_iter().flatten().any(|(_, operation)| is_kept(&operation["tags"][0]))
        });
    }
}

/// Drops the components that nothing refers to: not every category has every operation.
fn drop_unused(document: &mut Value) {
    loop {
        let mut used = BTreeSet::new();
        references(document, &mut used);
        let mut dropped = false;
        for (kind, components) in document["components"].as_object_mut().into_iter().flatten() {
            let Value::Object(components) = components else { continue };
            let before = components.len();
            components.retain(|name, _| name == TOKEN || used.contains(&format!("#/components/{kind}/{name}")));
            dropped |= components.len() < before;
        }
        if !dropped {
            return;
        }
    }
}

fn references(place: &Value, used: &mut BTreeSet<String>) {
    match place {
        Value::Object(members) => {
            used.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, used));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, used)),
        _ => {}
    }
}

/// All schemas: those of types, and those that depend on tables.
fn schemas(rulebook: &Rulebook) -> Map<String, Value> {
    let mut schemas = types::schemas();
    schemas.extend(responses::schemas());
    schemas.extend(fields::shared(&rulebook.catalogue));
    schemas.extend(bodies::shared(&rulebook.settings));
    schemas.extend(bodies::of_several_categories());
    let typed = categories::typed().map(|(_, category)| Group::typed(category));
    schemas.extend(typed.chain(Group::of_v3()).flat_map(|group| group.schemas()));
    schemas.extend(stock::schemas());
    schemas.extend(answers::schemas());
    schemas
}

/// The name that the schemas of a category begin with, such as `AgricultureTools`.
fn name_of(category: &Category) -> String {
    pascal_case(category.vehicle_type.unwrap_or("v3-only"))
}

/// A name without signs, of which every generator makes the same: `CarBodyType` of `car.body_type`.
fn pascal_case(name: &str) -> String {
    let words = name.split(|mark: char| !mark.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// The category of general examples: cars.
fn first() -> &'static Category {
    categories::typed().map(|(_, category)| category).next().expect("there are categories")
}

/// A reference to a schema of the document.
fn reference(name: &str) -> Value {
    referring("schemas", name)
}

/// A schema that allows any of these schemas.
fn any_of<'a>(names: impl IntoIterator<Item = &'a String>) -> Value {
    json!({"anyOf": names.into_iter().map(|name| reference(name)).collect::<Vec<_>>()})
}

/// A reference to something of the document.
fn referring(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

/// Makes a schema with a type nullable.
fn nullable(schema: &mut Value) {
    schema["nullable"] = json!(true);
    // In OpenAPI 3.0 a nullable enum must contain null.
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
}

/// Adds names to the required members of a schema.
fn require<'a>(schema: &mut Value, names: impl IntoIterator<Item = &'a str>) {
    let names = names.into_iter().map(Value::from);
    match schema.get_mut("required") {
        Some(Value::Array(required)) => required.extend(names),
        _ => schema["required"] = names.collect(),
    }
}
