//! Paths with their operations, from the table of [`operations`](crate::api::operations).

use ad_core::rulebook::Rulebook;
use serde_json::{Map, Value, json};

use super::{
    LOOKUPS,
    bodies::{self, BodyKind, Group},
    code_samples::Sample,
    descriptions, examples, parameters, reference, referring, responses, webhooks,
};
use crate::{
    api::{
        events, me,
        operations::{Act, BasePath, Operation, bases},
        summary,
    },
    auth::Permission,
};

/// All paths.
pub(super) fn paths(rulebook: &Rulebook) -> Map<String, Value> {
    let mut paths = Map::new();
    for base in bases() {
        for operation in base.operations().filter(|operation| responses::succeeds(base, operation)) {
            let item = paths.entry(path(base, operation)).or_insert_with(|| json!({}));
            item[operation.method.as_str().to_lowercase()] = describe(base, operation, rulebook);
        }
    }
    paths.extend(lookups(&examples::brand(rulebook)));
    paths.insert("/v4/requests/{request_id}".to_owned(), request());
    paths.insert(events::PATH.to_owned(), of_events());
    paths.insert(me::PATH.to_owned(), of_token());
    paths.insert(summary::PATH.to_owned(), of_summary());
    paths.extend(webhooks::paths());
    paths
}

/// The tags, in the order in which the pages show them.
pub(super) fn tags() -> Vec<Value> {
    let of_base = |base: BasePath| {
        let description = match base {
            BasePath::Typed(_, category) => format!("{} ({})", category.name, category.id),
            BasePath::Generic => "Ads of every category and both versions".to_owned(),
            BasePath::V3 => "API V3".to_owned(),
        };
        let rejected = base.operations().filter(|operation| !responses::succeeds(base, operation));
        let rejected: Vec<_> = rejected.map(|it| format!("`{} {}`", it.method, path(base, it))).collect();
        let rejects = if rejected.is_empty() { String::new() } else { format!(". Rejects {}", rejected.join(", ")) };
        json!({"name": tag(base), "description": description + &rejects})
    };
    let others = [
        (LOOKUPS, "Allowed values"),
        ("requests", "Accepted requests"),
        ("events", "What happens to ads"),
        ("token", "The token itself"),
        ("summary", "Numbers of ads"),
        (webhooks::TAG, "Events sent to your own address"),
    ];
    let others = others.map(|(name, description)| json!({"name": name, "description": description}));
    bases().map(of_base).chain(others).collect()
}

fn path(base: BasePath, operation: &Operation) -> String {
    operation.route(base).replace(":source_id", "{source_id}")
}

/// The tag of the operations on a base path.
pub(super) fn tag(base: BasePath) -> &'static str {
    match base {
        BasePath::Typed(vehicle_type, _) => vehicle_type,
        BasePath::Generic => "ad",
        BasePath::V3 => "v3",
    }
}

fn describe(base: BasePath, operation: &'static Operation, rulebook: &Rulebook) -> Value {
    let tag = tag(base);
    let shape = operation.takes_body().then(|| body_kind(base, operation.act));
    let mut described = json!({
        "tags": [tag],
        "operationId": format!("{}_{}", operation.id, tag.replace('-', "_")),
        "summary": operation.summary,
        "description": format!("{}{}\n\n{}", operation.doc, descriptions::more(base, operation.act), needs(operation.permission)),
        "parameters": parameters::of(operation),
        "responses": responses::of(base, operation),
        "x-codeSamples": Sample::of(rulebook, base, operation, &path(base, operation), shape).in_all_languages(),
    });
    if let Some(shape) = shape {
        described["requestBody"] = request_body(base, shape);
    }
    described
}

pub(super) fn needs(permission: Permission) -> String {
    format!("Needs the permission `{permission}`.")
}

fn body_kind(base: BasePath, act: Act) -> BodyKind {
    match (base, act) {
        (_, Act::Validate) => BodyKind::Validate,
        (_, Act::Update) => BodyKind::Update,
        (BasePath::Generic, Act::Migrate) => BodyKind::MigrateTo,
        (_, Act::Migrate) => BodyKind::Migrate,
        _ => BodyKind::Create,
    }
}

fn request_body(base: BasePath, shape: BodyKind) -> Value {
    let groups = Group::of(base, shape);
    let schema = match groups.as_slice() {
        [only] => only.name(shape),
        _ => bodies::name_of_several(base, shape),
    };
    // A validation takes the payload of a create.
    let suffix = if shape == BodyKind::Validate { BodyKind::Create } else { shape }.suffix();
    let mut shown = Map::new();
    for group in &groups {
        for category in &group.categories {
            let of = examples::of(group.version, category);
            shown.insert(of.clone(), referring("examples", &format!("{of}{suffix}")));
        }
    }
    json!({"required": true, "content": {"application/json": {"schema": reference(&schema), "examples": shown}}})
}

/// The events of a scope.
fn of_events() -> Value {
    json!({"get": {
        "tags": ["events"],
        "operationId": "events",
        "summary": "Read events",
        "description": format!("{}\n\n{}", descriptions::EVENTS, needs(Permission::Read)),
        "parameters": parameters::of_events(),
        "responses": responses::of_events(),
        "x-codeSamples": Sample::get(format!("{}?types=ad.publish.*&wait=30", events::PATH)).in_all_languages(),
    }})
}

/// What a token says of itself.
fn of_token() -> Value {
    json!({"get": {
        "tags": ["token"],
        "operationId": "me",
        "summary": "Read what the token gives access to",
        "description": "Scope, dealers, permissions and limits of the token. Needs no permission.",
        "parameters": [],
        "responses": responses::of_me(),
        "x-codeSamples": Sample::get(me::PATH.to_owned()).in_all_languages(),
    }})
}

/// The counts by status.
fn of_summary() -> Value {
    json!({"get": {
        "tags": ["summary"],
        "operationId": "summary",
        "summary": "Count ads by status",
        "description": format!(
            "The ads of the token's dealer or group, deleted ones included, by status, vehicle type, marketplace and code of failure. \
             Answered from an index, so it may be asked every few seconds.\n\n{}",
            needs(Permission::Read)
        ),
        "parameters": [referring("parameters", "list.dealer_code")],
        "responses": responses::of_summary(),
        "x-codeSamples": Sample::get(summary::PATH.to_owned()).in_all_languages(),
    }})
}

/// The lookups, which do not depend on a category.
fn lookups(brand: &str) -> Map<String, Value> {
    let lookup = |id: &str, summary: &str, mut parameters: Vec<Value>, examples: &[&str], can_miss: bool| {
        parameters.push(referring("parameters", parameters::IF_NONE_MATCH));
        let sample = match id {
            "attributes" => "/v4/vehicles/car/attributes".to_owned(),
            "values" => "/v4/vehicles/car/brand".to_owned(),
            _ => format!("/v4/vehicles/car/models?brand={brand}"),
        };
        json!({"get": {
            "tags": [LOOKUPS],
            "operationId": id,
            "summary": summary,
            "description": format!("{}\n\n{}", descriptions::LOOKUP, needs(Permission::Read)),
            "parameters": parameters,
            "responses": responses::of_lookup(examples, can_miss),
            "x-codeSamples": Sample::get(sample).in_all_languages(),
        }})
    };
    let (vehicle_type, attribute) = (parameters::vehicle_type(), parameters::attribute());
    let attributes = vec![vehicle_type.clone()];
    let values = vec![vehicle_type, attribute];
    let models = vec![parameters::brand(brand)];
    [
        (
            "/v4/vehicles/{vehicle_type}/attributes",
            lookup("attributes", "List the attributes that have allowed values", attributes, &["Attributes"], true),
        ),
        (
            "/v4/vehicles/{vehicle_type}/{attribute}",
            lookup("values", "List the values of an attribute", values, &["Values", "RatingValues"], true),
        ),
        ("/v4/vehicles/car/models", lookup("car_models", "List the models of a car brand", models, &["Models"], false)),
    ]
    .into_iter()
    .map(|(path, item)| (path.to_owned(), item))
    .collect()
}

/// An accepted request by its id.
fn request() -> Value {
    json!({"get": {
        "tags": ["requests"],
        "operationId": "request",
        "summary": "Read the status of a request",
        "description": format!("What has become of an accepted request, also long after it was finished.\n\n{}", needs(Permission::Read)),
        "parameters": [parameters::request_id()],
        "responses": responses::of_request(),
        "x-codeSamples": Sample::get(format!("/v4/requests/{}", examples::REQUEST)).in_all_languages(),
    }})
}
