//! Operations that exist once, from their rows: allowed values, accepted requests, events, the token, numbers of ads, webhooks.

use ad_core::rulebook::Rulebook;
use serde_json::{Map, Value, json};

use super::{
    code_samples::Sample,
    descriptions::needs,
    examples,
    parameters::{self, IF_NONE_MATCH, query},
    promotions, reference, referring, responses, stock,
    webhooks::EVENT,
};
use crate::api::operations::{Act, BasePath, Operation, TakenBody};
use ad_server_access::auth::Permission;

/// The first parts of the paths below `/v4/`, with the name and description of their tags, in the order in which the pages show them.
const TAGS: &[(&str, &str, &str)] = &[
    ("vehicles", "lookups", "Allowed values"),
    ("requests", "requests", "Accepted requests"),
    ("events", "events", "What happens to ads"),
    ("me", "token", "The token itself"),
    ("summary", "summary", "Numbers of ads"),
    ("account", "account", "What promotions cost"),
    ("stock", "stock", "The whole stock at once"),
    ("promotions", "promotions", "Promotions by the clock"),
    ("webhooks", super::webhooks::TAG, "Events sent to your own address"),
];

pub(super) fn tags() -> impl Iterator<Item = Value> {
    TAGS.iter().map(|(_, name, description)| json!({"name": name, "description": description}))
}

fn tag(path: &str) -> &'static str {
    let below = path.strip_prefix("/v4/").and_then(|path| path.split('/').next());
    TAGS.iter().find(|(part, ..)| below == Some(*part)).map_or("", |(_, tag, _)| tag)
}

/// Ids that look like some.
const WEBHOOK: &str = "01905b1c-6a52-7000-8000-000000000004";
const REQUEST: &str = "01905b1c-6a52-7000-8000-000000000002";

/// The lookups that clients need most, which one row has: path, operation id, summary, examples and sample.
#[rustfmt::skip]
const LOOKUPS: &[(&str, &str, &str, &[&str], &str)] = &[
    ("/v4/vehicles/{vehicle_type}/attributes", "list_attributes", "List the attributes that have allowed values", &["Attributes"], "/v4/vehicles/car/attributes"),
    ("/v4/vehicles/{vehicle_type}/{attribute}", "list_values", "List the values of an attribute", &["RatingValues", "Values"], "/v4/vehicles/car/brand"),
    (MODELS, "list_car_models", "List the models of a car brand", &["Models"], "/v4/vehicles/car/models?brand={brand}"),
];

const MODELS: &str = "/v4/vehicles/car/models";

/// All paths. The samples have the bodies of `examples`.
pub(super) fn paths(rulebook: &Rulebook, examples: &Map<String, Value>) -> Map<String, Value> {
    let mut paths = Map::new();
    for operation in BasePath::Service.operations() {
        if operation.act == Act::Values {
            let brand = examples::brand(rulebook);
            paths.extend(LOOKUPS.iter().map(|(path, id, summary, examples, sample)| {
                let sample = Sample::get(sample.replace("{brand}", &brand));
                let mut described = common(operation, path, (id, summary), &sample);
                if *path == MODELS {
                    described["parameters"] = json!([{
                        "name": "brand", "in": "query", "required": true, "schema": reference("CarBrand"), "example": brand,
                        "description": "A car brand, as `GET /v4/vehicles/car/brand` lists it",
                    }]);
                }
                if let Some(parameters) = described["parameters"].as_array_mut() {
                    parameters.push(referring("parameters", IF_NONE_MATCH));
                }
                described["responses"] = of_lookup(operation, examples, *path != MODELS);
                ((*path).to_owned(), json!({"get": described}))
            }));
            continue;
        }
        let path = operation.route(BasePath::Service);
        let path =
            path.split('/').map(|part| part.strip_prefix(':').map_or(part.to_owned(), |name| format!("{{{name}}}")));
        let path = path.collect::<Vec<_>>().join("/");
        let item = paths.entry(path.clone()).or_insert_with(|| json!({}));
        item[operation.method.as_str().to_lowercase()] = describe(operation, &path, examples);
    }
    paths
}

fn common(operation: &Operation, path: &str, (id, summary): (&str, &str), sample: &Sample) -> Value {
    let description = match needs(operation.permission) {
        Some(needs) => format!("{}\n\n{needs}", operation.doc),
        None => operation.doc.to_owned(),
    };
    json!({
        "tags": [tag(path)],
        "operationId": id,
        "summary": summary,
        "description": description,
        "parameters": parameters::of_path(path),
        "x-codeSamples": sample.in_all_languages(),
    })
}

fn describe(operation: &Operation, path: &str, examples: &Map<String, Value>) -> Value {
    let mut own = parameters::of_path(path);
    match operation.act {
        Act::Events => own.extend(parameters::of_events()),
        Act::Summary => own.push(referring("parameters", "list.dealer_code")),
        _ => own.extend(operation.parameters.iter().map(query)),
    }
    // Its example has the name of its schema.
    let body = if let TakenBody::ObjectOf(name) = operation.body { Some(name) } else { None };
    if body.is_some() {
        own.push(referring("parameters", parameters::CONTENT_ENCODING));
    }
    let address = path
        .replace("{plan_id}", &stock::PLAN.to_string())
        .replace("{promotion_id}", &promotions::PROMOTION.to_string())
        .replace("{webhook_id}", WEBHOOK)
        .replace("{event_id}", EVENT)
        .replace("{request_id}", REQUEST);
    let query = if operation.act == Act::Events { "?types=ad.publish.*&wait=30" } else { "" };
    let sent = body.map(|name| &examples[name]["value"]);
    let sent = if operation.body == TakenBody::Stock { Some(&examples["Stock"]["value"]) } else { sent };
    let sample = Sample::new(operation.method.clone(), address + query, sent);
    let mut described = common(operation, path, (operation.id, operation.summary), &sample);
    described["parameters"] = own.into();
    described["responses"] = answers(operation);
    if let Some(name) = body {
        described["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": reference(name),
            "examples": {name: referring("examples", name)}}}});
    }
    if operation.body == TakenBody::Stock {
        described["requestBody"] = stock::body();
    }
    described
}

fn of_lookup(operation: &Operation, examples: &[&str], may_be_missing: bool) -> Value {
    let mut answers = responses::others(operation);
    let (description, schema) = operation.answer;
    let success = responses::described(description, &reference(schema), examples);
    answers.insert("200".to_owned(), responses::tagged(success));
    let missing = may_be_missing.then_some(("404", "NoSuchLookup"));
    for (status, name) in [("304", "NotModified"), ("400", responses::BAD_LOOKUP)].into_iter().chain(missing) {
        answers.insert(status.to_owned(), referring("responses", name));
    }
    answers.into()
}

fn answers(operation: &Operation) -> Value {
    let mut answers = responses::others(operation);
    let is_applied = operation.act == Act::Plan && operation.path.ends_with("/apply");
    let status = match operation.act {
        Act::CreateWebhook | Act::CreatePromotion => "201",
        Act::PlanStock => "202",
        _ if is_applied => "202",
        _ => "200",
    };
    let (description, schema) = operation.answer;
    let mut success = responses::described(description, &reference(schema), &[schema]);
    if operation.act == Act::Events {
        let description = "Server-sent events: `id` is a cursor, `event` a type, `data` an `Event`";
        success["content"]["text/event-stream"] = json!({"schema": {"description": description, "type": "string"}});
    }
    if operation.act == Act::CreateWebhook {
        success["headers"]["Location"] = json!({"required": true, "description": "Address of the webhook", "schema": {"type": "string", "format": "uri"}});
    }
    if operation.act == Act::CreatePromotion {
        success["headers"]["Location"] = json!({"required": true, "description": "Address of the schedule", "schema": {"type": "string", "format": "uri"}});
        answers.insert(
            "409".to_owned(),
            responses::error("The dealer has a hundred schedules", &reference("Detail"), &["TooManyPromotions"]),
        );
    }
    if operation.act == Act::PlanStock {
        success["headers"]["Location"] = json!({"required": true, "description": "Address of the plan", "schema": {"type": "string", "format": "uri"}});
        let ready = "The plan, which became ready while the client waited (`Prefer: wait`)";
        let mut ready = responses::described(ready, &reference(schema), &[schema]);
        ready["headers"]["Location"] = success["headers"]["Location"].clone();
        answers.insert("200".to_owned(), ready);
    }
    answers.insert(status.to_owned(), success);
    let (schemas, wrong): (&[&str], &[&str]) = match operation.act {
        Act::CreateWebhook => (
            &["FieldErrors", "Detail", "BusinessErrors"],
            &["PayloadErrors", "ParameterErrors", "NotJson", "TooManyWebhooks"],
        ),
        Act::PlanStock => (&["StockPlan", "FieldErrors"], &["RefusedPlan", "ParameterErrors"]),
        _ if operation.takes_body() => (&["FieldErrors", "Detail"], &["PayloadErrors", "ParameterErrors", "NotJson"]),
        Act::Deliver => (&["FieldErrors", "BusinessErrors"], &["ParameterErrors", "WebhookDisabled"]),
        _ => (&["FieldErrors"], &["ParameterErrors"]),
    };
    let is_about_webhooks = operation.permission == Some(Permission::Webhooks);
    let schemas = match schemas {
        [only] => reference(only),
        several => json!({"oneOf": several.iter().map(|name| reference(name)).collect::<Vec<_>>()}),
    };
    let is_promotion = matches!(operation.act, Act::CreatePromotion | Act::Promotion) && operation.takes_body();
    let wrong = if is_promotion {
        responses::error("Invalid fields or parameters, or a body that is no JSON object", &schemas, wrong)
    } else if is_about_webhooks || operation.act == Act::SetBudget {
        responses::error("Invalid fields or parameters, or a violated rule", &schemas, wrong)
    } else if operation.act == Act::PlanStock {
        responses::error(
            "The plan, which is refused because its body is no stock; or invalid parameters",
            &schemas,
            wrong,
        )
    } else {
        referring("responses", "BadParameters")
    };
    answers.insert("400".to_owned(), wrong);
    if operation.path.contains(":request_id") {
        answers.insert("404".to_owned(), referring("responses", "NoSuchRequest"));
    }
    let detail = |description, example: &str| responses::error(description, &reference("Detail"), &[example]);
    if operation.path.contains(":plan_id") {
        answers.insert("404".to_owned(), detail("No such plan in the token's scope", "NoSuchPlan"));
    }
    if operation.path.contains(":promotion_id") {
        answers.insert("404".to_owned(), detail("No such schedule in the token's scope", "NoSuchPromotion"));
    }
    if operation.act == Act::PlanStock {
        let refused = |description| responses::error(description, &reference("StockPlan"), &["RefusedPlan"]);
        answers.insert("408".to_owned(), refused("The plan, which is refused because its body came too slowly"));
        answers.insert("409".to_owned(), detail("The dealer has three unfinished plans", "TooManyPlans"));
        answers.insert(
            "413".to_owned(),
            refused("The plan, which is refused because its body, or a payload, is too large"),
        );
    }
    if is_applied {
        let cannot = "The plan removes too many ads, cannot be applied, or another plan of the dealer is being applied";
        answers.insert("409".to_owned(), detail(cannot, "TooManyRemovals"));
    }
    if operation.path.contains(":webhook_id") {
        let missing = responses::error(
            "No such webhook in the token's scope, or no such delivery",
            &reference("Detail"),
            &["NoSuchWebhook"],
        );
        answers.insert("404".to_owned(), missing);
    }
    answers.into()
}
