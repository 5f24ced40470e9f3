//! The OpenAPI document and its two user interfaces.
//!
//! poem-openapi writes paths, parameters, security and the pages; its registry takes only what is known at compile time
//! and is not covered by semver, so this module is the only one that touches it. The schemas of bodies come from the field
//! tables and the catalogue of this very process ([`schema`]) and are laid into the document it has written.

use std::{collections::HashMap, sync::LazyLock};

use ad_core::{
    categories::{self, Category},
    list::{Parameter, Takes},
    rulebook::Rulebook,
};
use poem::{endpoint::BoxEndpoint, http::Method};
use poem_openapi::{
    OpenApi, OpenApiService,
    registry::{
        MetaApi, MetaMediaType, MetaOperation, MetaOperationParam, MetaParamIn, MetaPath, MetaRequest, MetaResponse,
        MetaResponses, MetaSchema, MetaSchemaRef, MetaSecurityScheme, MetaTag, Registry,
    },
};
use serde_json::Value;

use super::{
    operations::{Act, OPERATIONS, Operation, bases},
    schema::{self, Shape},
};

/// Name of the security scheme.
const TOKEN: &str = "X-Auth-Token";

/// The document and its pages, ready to be served.
pub(super) struct Documents {
    pub(super) json: String,
    pub(super) swagger_ui: String,
    pub(super) redoc: String,
}

/// The document of this process's tables and catalogue.
pub(super) fn documents(rulebook: &Rulebook, public_url: Option<&str>) -> Documents {
    let mut service = OpenApiService::new(Described, "Vehicle ad import service", env!("CARGO_PKG_VERSION"))
        .description("Manage vehicle and machinery ads on two marketplaces. Writes are answered at once and done afterwards; progress is read in each ad's log.");
    if let Some(url) = public_url {
        service = service.server(url);
    }
    let skeleton = service.spec();
    let document = complete(&skeleton, rulebook);
    // The pages inline the document as a script: nothing in it may end one.
    let inlined = document.replace("</", "<\\/");
    let page = |html: String| offline(&html.replacen(&skeleton, &inlined, 1));
    Documents { swagger_ui: page(service.swagger_ui_html()), redoc: page(service.redoc_html()), json: document }
}

/// Without the one link to the internet that Redoc's page has: fonts.
fn offline(html: &str) -> String {
    html.lines().filter(|line| !line.contains("fonts.googleapis.com")).collect::<Vec<_>>().join("\n")
}

/// Lays the schemas into the document.
fn complete(skeleton: &str, rulebook: &Rulebook) -> String {
    let Ok(mut document) = serde_json::from_str::<Value>(skeleton) else { return skeleton.to_owned() };
    let schemas = &mut document["components"]["schemas"];
    for (name, schema) in schema::common() {
        schemas[name] = schema;
    }
    schemas["Validated"] = schema::validated();
    schemas["LogPage"] = schema::page("LogEntry");
    schemas["AdPage"] = schema::page("Ad");
    let mut answers = Vec::new();
    for (_, category) in categories::typed() {
        for shape in [Shape::Create, Shape::Validate, Shape::Update, Shape::Answer] {
            schemas[schema::name(category, shape)] = schema::body(category, shape, &rulebook.catalogue);
        }
        answers.push(schema::reference(&schema::name(category, Shape::Answer)));
        schemas[page_of(category)] = schema::page(&schema::name(category, Shape::Answer));
    }
    schemas["Ad"] = serde_json::json!({"oneOf": answers});
    serde_json::to_string(&document).unwrap_or_else(|_| skeleton.to_owned())
}

fn page_of(category: &Category) -> String {
    schema::name(category, Shape::Answer) + "Page"
}

/// The API as poem-openapi wants to be told of it. Requests do not come this way: the router is
/// [`paths`](super::paths), from the same table.
struct Described;

impl OpenApi for Described {
    fn meta() -> Vec<MetaApi> {
        let mut paths: Vec<MetaPath> = Vec::new();
        for base in bases() {
            for operation in base.operations() {
                let path = operation.route(base).replace(":source_id", "{source_id}");
                let described = describe(operation, base.category());
                match paths.iter_mut().find(|known| known.path == path) {
                    Some(known) => known.operations.push(described),
                    None => paths.push(MetaPath { path, operations: vec![described] }),
                }
            }
        }
        paths.extend(lookups());
        vec![MetaApi { paths }]
    }

    fn register(registry: &mut Registry) {
        // Names only; what they mean is laid in afterwards.
        for name in &NAMES.schemas {
            registry.schemas.insert(name.clone(), MetaSchema::new("object"));
        }
        for (name, description) in &NAMES.tags {
            registry.create_tag(MetaTag { name, description: Some(description), external_docs: None });
        }
        let token = MetaSecurityScheme {
            ty: "apiKey",
            description: Some("A JSON Web Token, issued with `ad-server token issue`"),
            name: Some(TOKEN),
            key_in: Some("header"),
            scheme: None,
            bearer_format: None,
            flows: None,
            openid_connect_url: None,
        };
        registry.create_security_scheme(TOKEN, token);
    }

    fn add_routes(self, _: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {}
}

/// Names that the registry wants to live for ever; there are as many as the tables have rows.
struct Names {
    schemas: Vec<String>,
    tags: Vec<(&'static str, &'static str)>,
    operation_ids: HashMap<(String, &'static str), &'static str>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut schemas: Vec<String> = schema::common().into_iter().map(|(name, _)| name).collect();
    schemas.extend(["Validated", "LogPage", "AdPage", "Ad"].map(str::to_owned));
    let mut tags = vec![("ad", "Ads of every category"), ("lookups", "Allowed values")];
    let mut operation_ids = HashMap::new();
    for (tag, category) in categories::typed().map(|(name, it)| (name, Some(it))).chain([("ad", None)]) {
        if let Some(category) = category {
            schemas.extend(
                [Shape::Create, Shape::Validate, Shape::Update, Shape::Answer]
                    .map(|shape| schema::name(category, shape)),
            );
            schemas.push(page_of(category));
            tags.push((tag, category.name));
        }
        for operation in OPERATIONS {
            let id = format!("{}_{}", operation.id, tag.replace('-', "_"));
            operation_ids.insert((tag.to_owned(), operation.id), &*id.leak());
        }
    }
    Names { schemas, tags, operation_ids }
});

fn describe(operation: &'static Operation, category: Option<&'static Category>) -> MetaOperation {
    let tag = category.and_then(|category| category.vehicle_type).unwrap_or("ad");
    let source_id =
        operation.is_about_one().then(|| path_parameter("source_id", "The client's reference, percent-encoded"));
    let query = operation.parameters.iter().map(query_parameter);
    MetaOperation {
        tags: vec![tag],
        method: operation.method.clone(),
        summary: Some(operation.summary),
        description: Some(operation.doc),
        external_docs: None,
        params: source_id.into_iter().chain(query).collect(),
        request: category.filter(|_| operation.takes_body()).map(|category| MetaRequest {
            description: None,
            content: json_content(&schema::name(category, request_shape(operation.act))),
            required: true,
        }),
        responses: MetaResponses { responses: responses(operation, category) },
        deprecated: false,
        security: vec![HashMap::from([(TOKEN, Vec::new())])],
        operation_id: NAMES.operation_ids.get(&(tag.to_owned(), operation.id)).copied(),
        code_samples: Vec::new(),
    }
}

fn request_shape(act: Act) -> Shape {
    match act {
        Act::Validate => Shape::Validate,
        Act::Update => Shape::Update,
        _ => Shape::Create,
    }
}

fn responses(operation: &Operation, category: Option<&Category>) -> Vec<MetaResponse> {
    let ad = || category.map_or_else(|| "Ad".to_owned(), |category| schema::name(category, Shape::Answer));
    let (status, description, schema) = match operation.act {
        Act::Create => (201, "Accepted and queued: the ad", ad()),
        Act::Validate => (200, "The payload is valid", "Validated".to_owned()),
        Act::List => (200, "A page of ads", category.map_or_else(|| "AdPage".to_owned(), page_of)),
        Act::Log => (200, "A page of log entries", "LogPage".to_owned()),
        Act::Read => (200, "The ad with its latest log entries", ad()),
        _ => (200, "Accepted and queued: the ad", ad()),
    };
    let mut responses = vec![response(status, description, &schema)];
    responses.push(response(400, "A field, a parameter or a business rule", "BadRequest"));
    responses.push(response(401, "No token, or an invalid one", "Detail"));
    responses.push(response(403, "The token lacks the permission", "Detail"));
    if operation.is_about_one() {
        responses.push(response(404, "No such ad within the token's scope", "Detail"));
    }
    if matches!(operation.act, Act::Create | Act::Validate) {
        responses.push(response(409, "The dealer has used this source_id", "FieldErrors"));
    }
    if operation.takes_body() {
        responses.push(response(413, "The body is larger than 1 MiB", "Detail"));
    }
    responses.push(response(
        503,
        "The service cannot store or read right now; Retry-After says when to try again",
        "Detail",
    ));
    responses
}

fn response(status: u16, description: &'static str, schema: &str) -> MetaResponse {
    MetaResponse {
        description,
        status: Some(status),
        status_range: None,
        content: json_content(schema),
        headers: Vec::new(),
    }
}

fn json_content(schema: &str) -> Vec<MetaMediaType> {
    vec![MetaMediaType { content_type: "application/json", schema: MetaSchemaRef::Reference(schema.to_owned()) }]
}

fn path_parameter(name: &str, doc: &str) -> MetaOperationParam {
    parameter(name, MetaParamIn::Path, doc, MetaSchema::new("string"), true)
}

fn query_parameter(known: &Parameter) -> MetaOperationParam {
    let schema = match known.takes {
        Takes::Text | Takes::Texts | Takes::Numbers | Takes::SomeOf(_) => MetaSchema::new("string"),
        Takes::Uuid => MetaSchema::new_with_format("string", "uuid"),
        Takes::Number => MetaSchema::new("integer"),
        Takes::Time => MetaSchema { example: Some("2026-01-15 10:00:00".into()), ..MetaSchema::new("string") },
        Takes::OneOf(values) => MetaSchema {
            enum_items: values.iter().map(|value| Value::from(*value)).collect(),
            ..MetaSchema::new("string")
        },
        Takes::Boolean => MetaSchema::new("boolean"),
    };
    parameter(known.name, MetaParamIn::Query, known.doc, schema, false)
}

fn parameter(name: &str, place: MetaParamIn, doc: &str, schema: MetaSchema, required: bool) -> MetaOperationParam {
    MetaOperationParam {
        name: name.to_owned(),
        schema: MetaSchemaRef::Inline(Box::new(schema)),
        in_type: place,
        description: Some(doc.to_owned()),
        required,
        deprecated: false,
        explode: true,
        style: None,
    }
}

/// The lookups, which do not depend on a category.
fn lookups() -> Vec<MetaPath> {
    let vehicle_type = || {
        let types = categories::typed().map(|(vehicle_type, _)| Value::from(vehicle_type)).collect();
        let schema = MetaSchema { enum_items: types, ..MetaSchema::new("string") };
        parameter("vehicle_type", MetaParamIn::Path, "Vehicle type", schema, true)
    };
    let attribute = path_parameter("attribute", "An attribute's id, such as `powertrain.fuels`");
    let brand = parameter("brand", MetaParamIn::Query, "A car brand, such as `volvo`", MetaSchema::new("string"), true);
    let lookup = |path: &str, id, summary, params| MetaPath {
        path: path.to_owned(),
        operations: vec![MetaOperation {
            tags: vec!["lookups"],
            method: Method::GET,
            summary: Some(summary),
            description: None,
            external_docs: None,
            params,
            request: None,
            responses: MetaResponses {
                responses: vec![
                    MetaResponse { content: entries(), ..response(200, "Values with their names", "LookupEntry") },
                    response(400, "A parameter", "BadRequest"),
                    response(401, "No token, or an invalid one", "Detail"),
                    response(403, "The token lacks the permission", "Detail"),
                    response(404, "No such vehicle type or attribute", "Detail"),
                ],
            },
            deprecated: false,
            security: vec![HashMap::from([(TOKEN, Vec::new())])],
            operation_id: Some(id),
            code_samples: Vec::new(),
        }],
    };
    vec![
        lookup("/v4/vehicles/{vehicle_type}/attributes", "attributes", "List attributes", vec![vehicle_type()]),
        lookup(
            "/v4/vehicles/{vehicle_type}/{attribute}",
            "values",
            "List the values of an attribute",
            vec![vehicle_type(), attribute],
        ),
        lookup("/v4/vehicles/car/models", "car_models", "List the models of a car brand", vec![brand]),
    ]
}

fn entries() -> Vec<MetaMediaType> {
    let entry = MetaSchemaRef::Reference("LookupEntry".to_owned());
    let schema = MetaSchema { items: Some(Box::new(entry)), ..MetaSchema::new("array") };
    vec![MetaMediaType { content_type: "application/json", schema: MetaSchemaRef::Inline(Box::new(schema)) }]
}
