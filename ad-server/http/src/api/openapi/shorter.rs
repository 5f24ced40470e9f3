//! What the documents leave out, so that linters, editors and generators read them quickly.
//!
//! That of all vehicle types, which programs read, has for people what is about the first type only: code samples, examples of bodies and
//! descriptions of operations of the others are in the documents of one type. Those have examples of bodies, and therefore none of
//! properties; examples of errors are in the others. Fields of updates and answers are described as those of new ads.

use std::collections::BTreeSet;

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
};
use serde_json::{Map, Value, json};

use super::{
    examples,
    fields::Form,
    first,
    operations::{noun, operation_id, tag},
    responses,
};
use crate::api::operations::{BasePath, bases};

/// The last words of the names of examples that categories have.
const EXAMPLES: &[&str] = &["Create", "Update", "Migrate", "MigrateTo", "Ad", "Page", "Validated"];

/// Shortens the document of one vehicle type.
pub(super) fn one_type(document: &mut Value, category: &Category) {
    let own: Vec<_> = EXAMPLES.iter().map(|kind| examples::of(ApiVersion::V4, category) + kind).collect();
    keep_examples(document, |name| own.iter().any(|own| own == name));
    describe_once(document);
    for schema in document["components"]["schemas"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        drop_members(schema, &["example"]);
    }
}

/// Shortens the document of all vehicle types.
pub(super) fn all_types(document: &mut Value) {
    let Some(of_first) = bases().find(|base| base.category().is_some_and(|category| category.id == first().id)) else {
        return;
    };
    let succeeding = of_first.operations().filter(|operation| responses::succeeds(of_first, operation));
    let ids: BTreeSet<_> = succeeding.map(|operation| operation_id(operation, tag(of_first))).collect();
    for base in bases().filter(|base| tag(*base) != tag(of_first)) {
        let items = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
        let operations = items.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
        for operation in operations.filter(|operation| operation["tags"][0] == tag(base)) {
            operation.as_object_mut().map(|operation| operation.remove("x-codeSamples"));
            if let BasePath::Typed(..) = base {
                let id = operation["operationId"].as_str().unwrap_or_default();
                let same = id.replace(&noun(tag(base)), &noun(tag(of_first)));
                operation["description"] = if ids.contains(&same) {
                    format!("Like `{same}`.").into()
                } else {
                    operation["description"].as_str().unwrap_or_default().split("\n\n").next().into()
                };
            }
        }
    }
    // One example of each kind and version.
    let mut others = BTreeSet::new();
    for version in [ApiVersion::V4, ApiVersion::V3] {
        for kind in EXAMPLES {
            let categories = categories::all().filter(|category| category.is_in(version));
            let names = categories.map(|category| examples::of(version, category) + kind);
            let shown = names.filter(|name| document["components"]["examples"].get(name).is_some());
            others.extend(shown.skip(1));
        }
    }
    keep_examples(document, |name| !others.contains(name));
    describe_once(document);
}

/// Describes the category fields of updates and answers by those of new ads.
fn describe_once(document: &mut Value) {
    for (name, schema) in document["components"]["schemas"].as_object_mut().into_iter().flatten() {
        for (form, difference) in [(Form::Update, "; `null` clears a field"), (Form::Answer, "; normalised")] {
            if let Some(of) = name.strip_suffix(form.suffix()).filter(|of| of.ends_with("Fields")) {
                drop_members(schema, &["description", "example"]);
                schema["description"] = json!(format!("As `{of}`{difference}"));
            }
        }
    }
}

/// Keeps some examples of bodies, and references to them.
fn keep_examples(document: &mut Value, is_kept: impl Fn(&str) -> bool) {
    if let Some(examples) = document["components"]["examples"].as_object_mut() {
        examples.retain(|name, _| is_kept(name));
    }
    let kept = document["components"]["examples"].clone();
    drop_references(document, &kept);
}

/// Drops references to examples that are not there.
fn drop_references(place: &mut Value, kept: &Value) {
    match place {
        Value::Object(members) => {
            if let Some(Value::Object(examples)) = members.get_mut("examples") {
                let name = |reference: &Value| Some(reference["$ref"].as_str()?.rsplit('/').next()?.to_owned());
                examples.retain(|_, example| name(example).is_none_or(|name| kept.get(name).is_some()));
                if examples.is_empty() {
                    members.remove("examples");
                }
            }
            members.values_mut().for_each(|member| drop_references(member, kept));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_references(item, kept)),
        _ => {}
    }
}

/// Drops members of a schema and of those within it.
fn drop_members(schema: &mut Value, names: &[&str]) {
    let Some(members) = schema.as_object_mut() else { return };
    members.retain(|name, _| !names.contains(&name.as_str()));
    // Was made for a description.
    if members.len() == 1
        && let Some([only]) = members.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
    {
        *schema = only.clone();
        return;
    }
    for part in members.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        drop_members(part, names);
    }
    if let Some(items) = members.get_mut("items") {
        drop_members(items, names);
    }
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(|property| drop_members(property, names));
}
