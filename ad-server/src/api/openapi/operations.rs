//! Paths with their operations, from the table of [`operations`](crate::api::operations).

use ad_core::categories::{self, TRAILER};
use serde_json::{Map, Value, json};

use super::{
    bodies::{BodyKind, Group},
    examples, parameters, reference, referring, responses,
};
use crate::{
    api::operations::{Act, BasePath, Operation, bases},
    auth::Permission,
};

/// All paths; `brand` is one that has models.
pub(super) fn paths(brand: &str) -> Map<String, Value> {
    let mut paths = Map::new();
    for base in bases() {
        for operation in base.operations() {
            let path = operation.route(base).replace(":source_id", "{source_id}");
            let item = paths.entry(path).or_insert_with(|| json!({}));
            item[operation.method.as_str().to_lowercase()] = describe(base, operation);
        }
    }
    paths.extend(lookups(brand));
    paths
}

/// The tags, in the order in which the pages show them.
pub(super) fn tags() -> Vec<Value> {
    let typed =
        categories::typed().map(|(name, it)| json!({"name": name, "description": format!("{} ({})", it.name, it.id)}));
    let others = [("ad", "Ads of every category and both versions"), ("v3", "API V3"), ("lookups", "Allowed values")];
    typed.chain(others.map(|(name, description)| json!({"name": name, "description": description}))).collect()
}

fn tag(base: BasePath) -> &'static str {
    match base {
        BasePath::Typed(vehicle_type, _) => vehicle_type,
        BasePath::Generic => "ad",
        BasePath::V3 => "v3",
    }
}

fn describe(base: BasePath, operation: &'static Operation) -> Value {
    let tag = tag(base);
    let mut doc = format!("{}{}", operation.doc, needs(operation.permission));
    if !responses::succeeds(base, operation) {
        doc.push_str(" **This path rejects every request.**");
    }
    let mut described = json!({
        "tags": [tag],
        "operationId": format!("{}_{}", operation.id, tag.replace('-', "_")),
        "summary": operation.summary,
        "description": doc,
        "parameters": parameters::of(operation),
        "responses": responses::of(base, operation),
    });
    if operation.takes_body() {
        described["requestBody"] = request_body(base, operation.act);
    }
    described
}

fn needs(permission: Permission) -> String {
    format!(" Needs the permission `{permission}`.")
}

fn request_body(base: BasePath, act: Act) -> Value {
    let shape = match (base, act) {
        (_, Act::Validate) => BodyKind::Validate,
        (_, Act::Update) => BodyKind::Update,
        (BasePath::Generic, Act::Migrate) => BodyKind::MigrateTo,
        (_, Act::Migrate) => BodyKind::Migrate,
        _ => BodyKind::Create,
    };
    let groups = match base {
        BasePath::Typed(_, category) => vec![Group::typed(category)],
        BasePath::Generic if act == Act::RefuseCreate => {
            categories::by_id(TRAILER).map(Group::typed).into_iter().collect()
        }
        BasePath::Generic => categories::typed().map(|(_, it)| Group::typed(it)).filter(Group::is_target).collect(),
        BasePath::V3 if act == Act::Update => Group::of_v3(),
        BasePath::V3 => Group::of_v3().into_iter().filter(Group::is_created).collect(),
    };
    // What validates is a create; what a type that never migrates is sent does not matter.
    let named = |group: &Group| match shape {
        BodyKind::Migrate if !group.is_target() => "AnyObject".to_owned(),
        _ => group.name(shape),
    };
    let schema = match groups.as_slice() {
        [only] => reference(&named(only)),
        several => json!({"anyOf": several.iter().map(|group| reference(&named(group))).collect::<Vec<_>>()}),
    };
    let mut shown = Map::new();
    for group in &groups {
        let suffix = if shape == BodyKind::Validate { BodyKind::Create } else { shape }.suffix();
        for category in group.categories.iter().filter(|_| shape != BodyKind::Migrate || group.is_target()) {
            let of = examples::of(group.version, category);
            shown.insert(of.clone(), referring("examples", &format!("{of}{suffix}")));
        }
    }
    let mut content = json!({"schema": schema});
    if !shown.is_empty() {
        content["examples"] = shown.into();
    }
    json!({"required": true, "content": {"application/json": content}})
}

/// The lookups, which do not depend on a category.
fn lookups(brand: &str) -> Map<String, Value> {
    let lookup = |id: &str, summary: &str, parameters: Value, example: &str, can_miss: bool| {
        json!({"get": {
        "tags": ["lookups"],
        "operationId": id,
        "summary": summary,
        "description": needs(Permission::Read).trim_start(),
        "parameters": parameters,
        "responses": responses::of_lookup(example, can_miss),
        }})
    };
    let (vehicle_type, attribute) = (parameters::vehicle_type(), parameters::attribute());
    let attributes = json!([vehicle_type]);
    let values = json!([vehicle_type, attribute]);
    let models = json!([parameters::brand(brand)]);
    [
        (
            "/v4/vehicles/{vehicle_type}/attributes",
            lookup("attributes", "List the attributes that have allowed values", attributes, "Attributes", true),
        ),
        (
            "/v4/vehicles/{vehicle_type}/{attribute}",
            lookup("values", "List the values of an attribute", values, "Values", true),
        ),
        ("/v4/vehicles/car/models", lookup("car_models", "List the models of a car brand", models, "Models", false)),
    ]
    .into_iter()
    .map(|(path, item)| (path.to_owned(), item))
    .collect()
}
