//! The table of endpoints, row by row.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{
        Request, TYPES, Who, ad, ad_of, delete, fields, get, patch, post, put, registered_and_created, unregistered,
        validate, validate_v3,
    },
    rule::{Rule, interface},
    says,
    trial::Trial,
};

const SECTION: &str = "Endpoints";
const NO_YEAR: &str = "A valid integer is required.";

pub(super) fn rules() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface(SECTION, name, says);
    vec![
        row("POST /v4/{vehicle_type}", "Create ad; response 201: ad object.")
            .by(|trial| Box::pin(creates_each_type(trial))),
        registered_and_created().chain(unregistered()).fold(
            row("POST /v4/{vehicle_type}/validate", "Validate a payload."),
            |rule, vehicle_type| {
                let wrong = fields("model_year", json!("old"));
                rule.accepts(validate(vehicle_type, &json!({})), json!({"category_fields": {}}))
                    .refuses(validate(vehicle_type, &wrong), fields("model_year", json!([NO_YEAR])))
            },
        ),
        row("GET /v4/ad", "List ads of both versions and all categories.")
            .by(|trial| Box::pin(lists_both_versions(trial))),
        TYPES.iter().fold(row("GET /v4/{vehicle_type}", "List ads of that category."), |rule, (vehicle_type, _)| {
            rule.by(move |trial| Box::pin(lists_its_type(trial, vehicle_type)))
        }),
        row("GET …/{source_id}", "Read one ad, with its latest log entries, on the generic and the typed path.")
            .by(|trial| Box::pin(on_both_paths(trial, "", get, json!({"log": [{}, MORE]})))),
        row("GET …/{source_id}/log", "Paginated full log of an ad.")
            .by(|trial| Box::pin(on_both_paths(trial, "/log", get, json!({"count": ANY, "results": [{}, MORE]})))),
        row("PUT /v4/{vehicle_type}/{source_id}", "Update ad.").by(|trial| Box::pin(updates_each_type(trial, put))),
        row("PATCH /v4/{vehicle_type}/{source_id}", "Partial update.")
            .by(|trial| Box::pin(updates_each_type(trial, patch))),
        row("DELETE …/{source_id}", "Delete ad, on the generic and the typed path.")
            .by(|trial| Box::pin(on_both_paths(trial, "", delete, json!({"state": "created"})))),
        row("GET …/{source_id}/bump", "Renew ad.")
            .by(|trial| Box::pin(on_both_paths(trial, "/bump", get, json!({"source_id": ANY})))),
        row("GET …/{source_id}/pole_position", "Activate pole position.")
            .by(|trial| Box::pin(on_both_paths(trial, "/pole_position", get, json!({"source_id": ANY})))),
        row("GET …/{source_id}/retry", "Re-queue the ad for processing.")
            .by(|trial| Box::pin(on_both_paths(trial, "/retry", get, json!({"source_id": ANY})))),
        row("POST /v4/{vehicle_type}/{source_id}/migrate", "Convert a V3 ad to V4 in place.")
            .by(|trial| Box::pin(migrates(trial))),
        TYPES
            .iter()
            .fold(
                row("GET /v4/vehicles/{vehicle_type}/attributes", "List of attributes: array of {id, name}.")
                    .decided(&[31]),
                |rule, (vehicle_type, _)| {
                    rule.accepts(
                        get(format!("/v4/vehicles/{vehicle_type}/attributes")),
                        json!([{"id": ANY, "name": ANY}, MORE]),
                    )
                },
            )
            .refuses_with(
                404,
                get("/v4/vehicles/ad/attributes"),
                json!({"detail": "There is no vehicle type \"ad\"; …"}),
            )
            .refuses(get("/v4/vehicles/car/attributes?brand=volvo"), json!({"brand": ["Unknown parameter.", MORE]})),
        row(
            "GET /v4/vehicles/{vehicle_type}/{attribute}",
            "Allowed values of an attribute, each attribute of each type.",
        )
        .decided(&[31])
        .by(|trial| Box::pin(every_attribute_has_values(trial)))
        .refuses_with(404, get("/v4/vehicles/car/colour"), json!({"detail": MORE}))
        .refuses_with(404, get("/v4/vehicles/plane/brand"), json!({"detail": MORE})),
        row("GET /v4/vehicles/car/models?brand=", "Models of a car brand.")
            .decided(&[31])
            .accepts(get("/v4/vehicles/car/models?brand=volvo"), json!([{"id": ANY, "name": ANY}, MORE]))
            .by(|trial| Box::pin(every_model_is_accepted(trial)))
            .refuses(get("/v4/vehicles/car/models"), json!({"brand": [says::REQUIRED]}))
            .refuses(
                get("/v4/vehicles/car/models?brand=wolvo"),
                json!({"brand": [says::no_choice("wolvo"), says::did_you_mean("volvo")]}),
            )
            .refuses_with(404, get("/v4/vehicles/boat/models?brand=nimbus"), json!({"detail": MORE})),
        row("writes on typed paths only", "POST, PUT and PATCH exist only on typed paths.")
            .decided(&[12])
            .by(|trial| Box::pin(typed_paths_only(trial))),
        row("V3 has /v3/ad", "V3 has base path /v3/ with the ad path /v3/ad.")
            .decided(&[28])
            .accepts(validate_v3(1020, &json!({})), json!({"category_id": 1020}))
            .accepts(get("/v3/ad?limit=1"), json!({"results": [{}]}))
            .refuses_with(404, get("/v3/car"), json!({"detail": MORE}))
            .refuses_with(404, get("/v2/ad"), json!({"detail": MORE})),
    ]
}

async fn creates_each_type(trial: &Trial) {
    for vehicle_type in registered_and_created().chain(unregistered()) {
        let id = trial.id();
        let mut over = json!({"source_id": id, "visible": false});
        if registered_and_created().any(|it| it == vehicle_type) {
            over["category_fields"] = json!({"registration_number": trial.plate()});
        }
        let category = crate::conformance::request::category(vehicle_type);
        let shown =
            json!({"source_id": id, "category_id": category, "state": "created", "api_version": "v4", "log": ABSENT});
        let path = format!("/v4/{vehicle_type}");
        trial.accepts(post(&path, &ad(vehicle_type, &over)), 201, shown).await;
        trial.refuses(post(&path, &json!([])), 400, json!({"detail": "The body must be a JSON object.…"})).await;
    }
}

async fn lists_both_versions(trial: &Trial) {
    let (v4, _) = trial.created("truck", &json!({"visible": false})).await;
    let v3 = trial.created_v3(1224, &json!({"visible": false})).await;
    let found = get(format!("/v4/ad?source_id__in={v4},{v3}&ordering=created"));
    let rows = json!([{"source_id": v4, "api_version": "v4", "category_id": 1322},
        {"source_id": v3, "api_version": "v3", "category_id": 1224}]);
    trial.accepts(found, 200, json!({"count": 2, "results": rows})).await;
    trial.refuses(get("/v4/ad?version=v3"), 400, json!({"version": ["Unknown parameter.", MORE]})).await;
}

async fn lists_its_type(trial: &Trial, vehicle_type: &'static str) {
    let id = if vehicle_type == "trailer" {
        trial.world.trailer("v4")
    } else {
        trial.created(vehicle_type, &json!({"visible": false})).await.0
    };
    trial
        .accepts(get(format!("/v4/{vehicle_type}?source_id={id}")), 200, json!({"results": [{"source_id": id}]}))
        .await;
    let other = if vehicle_type == "boat" { "car" } else { "boat" };
    trial.sees(
        "the list of another type",
        &json!({"count": 0}),
        &trial.send(&get(format!("/v4/{other}?source_id={id}"))).await.json(),
    );
    trial
        .refuses(get(format!("/v4/{vehicle_type}?color=red")), 400, json!({"color": ["Unknown parameter.", MORE]}))
        .await;
}

/// An operation that is there on both paths, and finds nobody else's ad.
async fn on_both_paths(trial: &Trial, below: &str, request: fn(String) -> Request, shown: Value) {
    for base in ["car", "ad"] {
        let id = trial.published("car", &json!({})).await;
        let found = request(format!("/v4/{base}/{id}{below}"));
        trial.accepts(found.clone(), 200, shown.clone()).await;
        let missing = request(format!("/v4/{base}/no-such-ad{below}"));
        trial.refuses(missing, 404, json!({"detail": "Not found.…"})).await;
        trial.refuses(found.by(Who::South), 404, json!({"detail": "Not found.…"})).await;
    }
}

async fn updates_each_type(trial: &Trial, method: fn(String, &Value) -> Request) {
    for vehicle_type in registered_and_created().chain(unregistered()).chain(["trailer"]) {
        let id = if vehicle_type == "trailer" {
            trial.world.trailer("v4")
        } else {
            trial.created(vehicle_type, &json!({"visible": false})).await.0
        };
        let path = format!("/v4/{vehicle_type}/{id}");
        let update = method(path.clone(), &json!({"body": "Changed"}));
        trial.accepts(update, 200, json!({"body": "Changed", "source_id": id, "log": ABSENT})).await;
        let wrong = method(path, &fields("model_year", json!(2019.5)));
        trial.refuses(wrong, 400, fields("model_year", json!([says::NO_INTEGER]))).await;
    }
}

async fn migrates(trial: &Trial) {
    let id = trial.created_v3(1066, &json!({"visible": false})).await;
    let whole = json!({"title": "Jet", "contact": {"email": "bo@boats.example"}, "category_fields": {}});
    let path = format!("/v4/boat/{id}/migrate");
    trial
        .refuses(
            post(&path, &json!({"title": "Jet"})),
            400,
            json!({"contact": [says::REQUIRED], "category_fields": [says::REQUIRED]}),
        )
        .await;
    trial.accepts(post(&path, &whole), 200, json!({"category_id": 1060, "api_version": "v4", "title": "Jet"})).await;
}

async fn every_attribute_has_values(trial: &Trial) {
    for (vehicle_type, _) in TYPES {
        let list = trial.send(&get(format!("/v4/vehicles/{vehicle_type}/attributes"))).await.json();
        for attribute in list.as_array().into_iter().flatten() {
            let path = format!("/v4/vehicles/{vehicle_type}/{}", attribute["id"].as_str().unwrap_or_default());
            trial.accepts(get(path), 200, json!([{"id": ANY, "name": ANY}, MORE])).await;
        }
    }
}

async fn every_model_is_accepted(trial: &Trial) {
    for brand in ["volvo", "saab", "tesla"] {
        let models = trial.send(&get(format!("/v4/vehicles/car/models?brand={brand}"))).await.json();
        for model in models.as_array().into_iter().flatten() {
            let car = json!({"category_fields": {"brand": brand, "model": model["id"]}});
            trial.also_accepts(validate("car", &car), 200, fields("model", model["id"].clone())).await;
        }
    }
}

async fn typed_paths_only(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({})).await;
    let create = json!({"detail": "Method POST is not allowed. Use the typed path, POST /v4/{vehicle_type}."});
    trial.refuses(post("/v4/ad", &ad_of(1020, &json!({}))), 405, create).await;
    for (method, name) in [(put as fn(String, &Value) -> Request, "PUT"), (patch, "PATCH")] {
        let update = method(format!("/v4/ad/{id}"), &json!({"body": "x"}));
        let detail =
            format!("Method {name} is not allowed. Use the typed path, {name} /v4/{{vehicle_type}}/{{source_id}}.");
        trial.refuses(update, 405, json!({"detail": detail})).await;
    }
}
