//! Paths with their operations, from the table of [`operations`](crate::api::operations).

use ad_core::rulebook::Rulebook;
use serde_json::{Map, Value, json};

use super::{
    bodies::{self, BodyKind, Group},
    code_samples::Sample,
    descriptions, examples, parameters, reference, referring, responses, service,
};
use crate::api::operations::{Act, BasePath, Operation, bases};

/// All paths. `examples` has bodies of webhooks.
pub(super) fn paths(rulebook: &Rulebook, examples: &Map<String, Value>) -> Map<String, Value> {
    let mut paths = service::paths(rulebook, examples);
    for base in bases() {
        for operation in base.operations().filter(|operation| responses::succeeds(base, operation)) {
            let item = paths.entry(path(base, operation)).or_insert_with(|| json!({}));
            item[operation.method.as_str().to_lowercase()] = describe(base, operation, rulebook);
        }
    }
    paths
}

/// The tags of ads, in the order in which the pages show them.
pub(super) fn tags() -> Vec<Value> {
    let of_base = |base: BasePath| {
        let description = match base {
            BasePath::Typed(_, category) => format!("{} ({})", category.name, category.id),
            BasePath::Generic | BasePath::Service => "Ads of every category and both versions".to_owned(),
            BasePath::V3 => "API V3".to_owned(),
        };
        let rejected = base.operations().filter(|operation| !responses::succeeds(base, operation));
        let rejected: Vec<_> = rejected.map(|it| format!("`{} {}`", it.method, path(base, it))).collect();
        let rejects = if rejected.is_empty() { String::new() } else { format!(". Rejects {}", rejected.join(", ")) };
        json!({"name": tag(base), "description": description + &rejects})
    };
    bases().map(of_base).collect()
}

fn path(base: BasePath, operation: &Operation) -> String {
    operation.route(base).replace(":source_id", "{source_id}").replace(":revision", "{revision}")
}

pub(super) fn tag(base: BasePath) -> &'static str {
    match base {
        BasePath::Typed(vehicle_type, _) => vehicle_type,
        BasePath::Generic => "ad",
        BasePath::Service => "",
        BasePath::V3 => "v3",
    }
}

fn describe(base: BasePath, operation: &'static Operation, rulebook: &Rulebook) -> Value {
    let tag = tag(base);
    let shape = operation.takes_body().then(|| body_kind(base, operation.act));
    let mut described = json!({
        "tags": [tag],
        "operationId": operation_id(operation, tag),
        "summary": operation.summary,
        "description": format!("{}{}\n\n{}", operation.doc, descriptions::more(base, operation.act), descriptions::needs(operation.permission).unwrap_or_default()),
        "parameters": parameters::of(operation),
        "responses": responses::of(base, operation),
        "x-codeSamples": Sample::of(rulebook, base, operation, &path(base, operation), shape).in_all_languages(),
    });
    if let Some(shape) = shape {
        described["requestBody"] = request_body(base, shape);
    }
    described
}

/// A tag in operation ids.
pub(super) fn noun(tag: &str) -> String {
    tag.replace('-', "_")
}

pub(super) fn operation_id(operation: &Operation, tag: &str) -> String {
    let noun = noun(tag);
    if operation.id.contains("{}") { operation.id.replace("{}", &noun) } else { format!("{}_{noun}", operation.id) }
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
    let shown_as = if shape == BodyKind::Validate { BodyKind::Create } else { shape };
    let mut shown = Map::new();
    for group in &groups {
        for category in &group.categories {
            let of = examples::of(group.version, category);
            shown.insert(of.clone(), referring("examples", &format!("{of}{shown_as:?}")));
        }
    }
    json!({"required": true, "content": {"application/json": {"schema": reference(&schema), "examples": shown}}})
}
