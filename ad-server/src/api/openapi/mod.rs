//! The OpenAPI document and its two user interfaces.
//!
//! The document is built once, at start, from the table of operations ([`operations`](crate::api::operations)), the field tables,
//! the catalogue and the parameters of lists. It is JSON, because the registry of poem-openapi takes only what is known at compile
//! time and has no examples of bodies. poem-openapi provides the two pages, which need no internet access.

mod answers;
mod bodies;
mod examples;
mod fields;
mod operations;
mod parameters;
mod responses;

use std::collections::BTreeSet;

use ad_core::{
    categories::{self, Category},
    rulebook::Rulebook,
};
use poem_openapi::OpenApiService;
use serde_json::{Map, Value, json};

use self::bodies::Group;
use crate::sandbox;

/// Name of the security scheme, and of the header.
const TOKEN: &str = "X-Auth-Token";

const TITLE: &str = "Vehicle ad import service";

const DESCRIPTION: &str = "Manage vehicle and machinery ads on two marketplaces. Writes are answered at once and processed \
    afterwards; each ad's log shows the progress.\n\nEvery answer carries `X-Request-Id`, and answers may get further members. \
    Answers are compressed if `Accept-Encoding` names zstd, br or gzip. HEAD is supported wherever GET only reads, and OPTIONS \
    returns the methods of a path. `docs/http.md` explains the headers. \
    Operations that are not listed here are rejected: paths with 404, methods with 405 and `Allow`, operations that a vehicle type \
    does not support with 400; the answer gives the reason. The descriptions mention accepted forms beyond the schemas (such \
    as `null` for an absent field of a new ad), and rules over several fields.";

/// The document and its pages, ready to be served.
pub(crate) struct Documents {
    pub(crate) json: String,
    pub(crate) swagger_ui: String,
    pub(crate) redoc: String,
}

/// The document of this process's tables and catalogue.
pub(super) fn documents(rulebook: &Rulebook, public_url: Option<&str>) -> Documents {
    pages(TITLE, document(rulebook, public_url.unwrap_or("/")).to_string())
}

/// A document of this title, with its pages.
pub(crate) fn pages(title: &str, document: String) -> Documents {
    // The pages are made for an empty document, which then gives way to this one, inlined as a script: nothing in it may
    // end that.
    let pages = OpenApiService::new((), title, env!("CARGO_PKG_VERSION"));
    let empty = pages.spec();
    let inlined = document.replace("</", "<\\/");
    let page = |html: String| offline(&html.replacen(&empty, &inlined, 1));
    Documents { swagger_ui: page(pages.swagger_ui_html()), redoc: page(pages.redoc_html()), json: document }
}

/// Without the one link to the internet that Redoc's page has: fonts.
fn offline(html: &str) -> String {
    html.lines().filter(|line| !line.contains("fonts.googleapis.com")).collect::<Vec<_>>().join("\n")
}

fn document(rulebook: &Rulebook, server: &str) -> Value {
    let mut document = json!({
        "openapi": "3.0.3",
        "info": {
            "title": TITLE,
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!("{DESCRIPTION}\n\nA [sandbox]({}) provokes failures on demand, to test clients.", sandbox::GUIDE),
            "contact": {"name": TITLE, "url": env!("CARGO_PKG_REPOSITORY")},
            "license": {"name": env!("CARGO_PKG_LICENSE"), "url": "https://opensource.org/license/mit"},
        },
        "servers": [{"url": server}],
        "security": [{TOKEN: []}],
        "tags": operations::tags(),
        "paths": operations::paths(&examples::brand(rulebook)),
        "components": {
            "schemas": schemas(rulebook),
            "parameters": parameters::shared(),
            "responses": responses::shared(),
            "headers": responses::headers(),
            "examples": examples::all(rulebook),
            "securitySchemes": {TOKEN: {"type": "apiKey", "in": "header", "name": TOKEN,
                "description": "A JSON Web Token, issued with `ad-server token issue`"}},
        },
    });
    drop_unused(&mut document);
    document
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

fn schemas(rulebook: &Rulebook) -> Map<String, Value> {
    let mut schemas = fields::shared(&rulebook.catalogue);
    schemas.extend(bodies::shared(&rulebook.settings));
    schemas.extend(bodies::of_several_categories());
    let typed = categories::typed().map(|(_, category)| Group::typed(category));
    schemas.extend(typed.chain(Group::of_v3()).flat_map(|group| group.schemas()));
    schemas.extend(answers::schemas());
    schemas.extend(responses::schemas());
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

/// The category that stands for all in examples: cars.
fn first() -> &'static Category {
    categories::typed().map(|(_, category)| category).next().expect("there are categories")
}

/// A reference to a schema of the document.
fn reference(name: &str) -> Value {
    referring("schemas", name)
}

/// Any of these schemas.
fn any_of<'a>(names: impl IntoIterator<Item = &'a String>) -> Value {
    json!({"anyOf": names.into_iter().map(|name| reference(name)).collect::<Vec<_>>()})
}

/// A reference to something of the document.
fn referring(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

/// Lets a schema with a type hold for `null` too.
fn nullable(schema: &mut Value) {
    schema["nullable"] = json!(true);
    // In OpenAPI 3.0 an enum holds for null as well.
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
}

/// Adds members that must be there.
fn require<'a>(schema: &mut Value, names: impl IntoIterator<Item = &'a str>) {
    let names = names.into_iter().map(Value::from);
    match schema.get_mut("required") {
        Some(Value::Array(required)) => required.extend(names),
        _ => schema["required"] = names.collect(),
    }
}
