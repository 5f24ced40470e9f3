//! Rules 1, 2, 3, 6 and 8.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, MORE},
    request::{Request, Who, ad, ad_of, delete, fields, get, patch, post, put, validate},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| interface("Endpoints", name, says);
    let trailer = json!({"error": "trailer_create_disabled"});
    let with_fields =
        |path: &str| post(path, &ad("trailer", &json!({"source_id": "t", "category_fields": {"model_year": "x"}})));
    vec![
        rule(
            "rule 1, POST body",
            "dealer_code per token scope, category_id in body, reduced refused, title and contact per category.",
        )
        .accepts(
            validate("boat", &json!({"dealer_code": "north-cars"})).by(Who::Group),
            json!({"dealer_code": "north-cars"}),
        )
        .refuses(
            validate("car", &json!({"category_id": ABSENT, "title": "x", "price": [{"type": "reduced", "amount": 1}]}))
                .by(Who::Group),
            json!({"category_id": [says::REQUIRED, MORE], "dealer_code": [says::REQUIRED, MORE], "title": [MORE],
                    "price": {"0": {"type": [MORE]}}}),
        ),
        rule("rule 2, source_id in the path", "PUT and PATCH: source_id is in the path.")
            .decided(&[11])
            .by(|trial| Box::pin(id_in_the_path(trial))),
        rule(
            "rule 2, deep merge",
            "Missing fields are kept, nested objects are merged recursively; PUT and PATCH are equivalent.",
        )
        .decided(&[6])
        .by(|trial| Box::pin(deep_merge(trial, put)))
        .by(|trial| Box::pin(deep_merge(trial, patch))),
        rule("rule 2, null clears", "To clear a nullable field send it as null.")
            .decided(&[6])
            .by(|trial| Box::pin(null_clears(trial))),
        rule("rule 2, an update is no renewal", "An update does not make the ad appear as new.")
            .by(|trial| Box::pin(no_renewal(trial)))
            .one_sided("a position refuses nothing"),
        rule("rule 3, DELETE", "Returns the ad still created; confirm by a log entry delete, done.")
            .see("e2e::life::deletion_is_the_workers_act_and_the_ad_stays_readable"),
        rule(
            "rule 6, trailers are not created",
            "400 and trailer_create_disabled on POST /v4/trailer, /v4/ad and /v3/ad.",
        )
        .decided(&[12])
        .accepts(get("/v4/trailer/trailer-v3-499"), json!({"api_version": "v3"}))
        .refuses(with_fields("/v4/trailer"), trailer.clone())
        .refuses(with_fields("/v4/ad"), trailer.clone())
        .refuses(with_fields("/v3/ad"), trailer.clone())
        .refuses(post("/v4/trailer/validate", &ad("trailer", &json!({}))), trailer.clone())
        .refuses(post("/v3/ad/validate", &ad("trailer", &json!({}))), trailer.clone())
        .refuses(post("/v3/ad", &json!({"category_id": "1045"})), trailer.clone())
        .refuses(post("/v4/ad", &json!({"category_id": "1045"})), trailer),
        rule("rule 6, trailers that exist", "Existing trailer ads can be read, updated and deleted on both versions.")
            .by(|trial| Box::pin(trailers_that_exist(trial))),
        rule("rule 8, V3 compatibility", "GET and DELETE work on V3 ads of every category.")
            .decided(&[28])
            .by(|trial| Box::pin(v3_of_every_category(trial))),
    ]
}

async fn id_in_the_path(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    let path = format!("/v4/car/{id}");
    trial
        .accepts(
            put(&path, &json!({"source_id": id, "category_id": 1020, "dealer_code": "north-cars"})),
            200,
            json!({"source_id": id}),
        )
        .await;
    trial.accepts(patch(&path, &json!({})), 200, json!({"source_id": id})).await;
    for (name, other, is) in [
        ("source_id", json!("other"), format!("\"{id}\"")),
        ("category_id", json!(1021), "1020".to_owned()),
        ("dealer_code", json!("south-cars"), "\"north-cars\"".to_owned()),
    ] {
        trial
            .refuses(
                put(&path, &json!({ name: other })),
                400,
                json!({ name: [format!("Cannot be changed (it is {is}).")] }),
            )
            .await;
    }
    trial.refuses(put("/v4/car/none", &json!({})), 404, json!({"detail": "Not found.…"})).await;
}

async fn deep_merge(trial: &Trial, method: fn(String, &Value) -> Request) {
    let over = json!({"visible": false, "body": "Text", "price": [{"type": "list", "amount": 9}], "category_fields": {
        "brand": "volvo", "model": "v60", "equipments": ["ABS", "AC"],
        "powertrain": {"transmission": "manual", "power": {"unit": "hp", "value": 190}}}});
    let (id, _) = trial.created("car", &over).await;
    let sent =
        json!({"category_fields": {"color": "red", "equipments": ["GPS"], "powertrain": {"power": {"value": 200}}}});
    let merged = json!({"body": "Text", "price": [{"amount": 9}], "category_fields": {
        "brand": "volvo", "model": "v60", "color": "red", "equipments": ["GPS"], "model_year": 2019,
        "powertrain": {"transmission": "manual", "power": {"unit": "hp", "value": 200}}}});
    let path = format!("/v4/car/{id}");
    trial.accepts(method(path.clone(), &sent), 200, merged.clone()).await;
    trial.accepts(get(&path), 200, merged).await;
    // The merged ad is validated, not only the patch.
    let brand = method(path, &fields("brand", json!("audi")));
    trial.refuses(brand, 400, fields("model", json!([says::no_choice("v60"), MORE]))).await;
}

async fn null_clears(trial: &Trial) {
    let over = json!({"visible": false, "body": "x", "url": "https://north.example", "video_url": "https://youtu.be/a",
        "price": [{"type": "list", "amount": 9}], "location": {"zipcode": "90326"}, "category_fields": {
            "color": "red", "condition": {"mileage": {"unit": "km", "value": 5}}}});
    let (id, _) = trial.created("motorcycle", &over).await;
    let path = format!("/v4/motorcycle/{id}");
    for name in ["body", "url", "video_url", "location"] {
        trial.accepts(patch(&path, &json!({ name: null })), 200, json!({ name: null })).await;
    }
    trial
        .accepts(patch(&path, &json!({"price": null, "visible": null})), 200, json!({"price": [], "visible": true}))
        .await;
    for field in ["color", "condition.mileage"] {
        trial.accepts(patch(&path, &fields(field, Value::Null)), 200, fields(field, json!(ABSENT))).await;
    }
    let no_null = json!([says::NULL]);
    trial.refuses(patch(&path, &json!({"category_fields": null})), 400, json!({"category_fields": no_null})).await;
    trial.refuses(patch(&path, &fields("model_year", Value::Null)), 400, fields("model_year", no_null)).await;
    let (id, _) = trial.created("boat", &json!({"visible": false})).await;
    for (name, errors) in [("title", json!([says::REQUIRED])), ("contact", json!([says::REQUIRED]))] {
        trial.refuses(patch(format!("/v4/boat/{id}"), &json!({ name: null })), 400, json!({ name: errors })).await;
    }
}

async fn no_renewal(trial: &Trial) {
    let older = trial.published("agriculture-tools", &json!({})).await;
    let newer = trial.published("agriculture-tools", &json!({})).await;
    let update = patch(format!("/v4/agriculture-tools/{older}"), &json!({"body": "x"}));
    let update = trial.accepts(update, 200, json!({})).await;
    trial.ended(&older, "publish", &update).await;
    trial.sees("still behind", &json!(true), &json!(trial.comes_first("primary", &newer, &older).await));
}

async fn trailers_that_exist(trial: &Trial) {
    for version in ["v3", "v4"] {
        for path in ["/v4/trailer", "/v4/ad", "/v3/ad"] {
            let id = trial.world.trailer(version);
            let path = format!("{path}/{id}");
            trial.accepts(get(&path), 200, json!({"source_id": id, "api_version": version})).await;
            let gone = trial.accepts(delete(&path), 200, json!({"state": "created"})).await;
            trial.ended(&id, "delete", &gone).await;
        }
    }
    let update = json!({"body": "x"});
    let v4 = trial.world.trailer("v4");
    trial.accepts(patch(format!("/v4/trailer/{v4}"), &update), 200, update.clone()).await;
    trial.accepts(put(format!("/v3/ad/{}", trial.world.trailer("v3")), &update), 200, update.clone()).await;
    trial.refuses(patch(format!("/v3/ad/{v4}"), &update), 400, json!(["Ad is V4, cannot update through V3. …"])).await;
}

async fn v3_of_every_category(trial: &Trial) {
    for (category, under) in [
        (1020, Some("car")),
        (1021, Some("transport")),
        (1061, Some("boat")),
        (1062, Some("boat")),
        (1063, Some("boat")),
        (1064, Some("boat")),
        (1065, Some("boat")),
        (1066, Some("boat")),
        (1067, Some("boat")),
        (1101, Some("caravan")),
        (1102, Some("camper")),
        (1121, Some("moped")),
        (1122, None),
        (1140, Some("motorcycle")),
        (1143, Some("atv")),
        (1180, Some("snowmobile")),
        (1221, Some("truck")),
        (1222, Some("agriculture-tractor")),
        (1223, Some("construction")),
        (1224, None),
        (1225, Some("agriculture-tools")),
        (1226, Some("agriculture-tools")),
    ] {
        let id = trial.id();
        let mut over = json!({"source_id": id, "visible": false});
        if ad_of(category, &json!({}))["category_fields"].get("model_year").is_some() {
            over["category_fields"] = json!({"registration_number": trial.plate()});
        }
        let shown = json!({"api_version": "v3", "category_id": category});
        trial.accepts(post("/v3/ad", &ad_of(category, &over)), 201, shown.clone()).await;
        trial.accepts(get(format!("/v4/ad/{id}")), 200, shown.clone()).await;
        if let Some(vehicle_type) = under {
            trial.accepts(get(format!("/v4/{vehicle_type}/{id}")), 200, shown).await;
        } else {
            trial.refuses(get(format!("/v4/truck/{id}")), 404, json!({"detail": "Not found as …"})).await;
            trial.accepts(get(format!("/v3/ad/{id}")), 200, shown).await;
        }
        let gone = trial.accepts(delete(format!("/v4/ad/{id}")), 200, json!({"state": "created"})).await;
        trial.ended(&id, "delete", &gone).await;
        trial.accepts(get(format!("/v3/ad/{id}")), 200, json!({"state": "deleted"})).await;
    }
}
