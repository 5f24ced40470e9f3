//! Rule 7: migrate, and the table of what can migrate to what.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, laid_over},
    request::{TYPES, ad, fields, get, post},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

/// V3 category, vehicle type of the path, V4 category.
const TABLE: &[(u16, &str, u16)] = &[
    (1121, "moped", 1121),
    (1102, "camper", 1102),
    (1101, "caravan", 1101),
    (1045, "trailer", 1045),
    (1061, "boat", 1060),
    (1062, "boat", 1060),
    (1063, "boat", 1060),
    (1064, "boat", 1060),
    (1065, "boat", 1060),
    (1066, "boat", 1060),
    (1067, "boat", 1060),
    (1225, "agriculture-tools", 1229),
    (1226, "agriculture-tools", 1229),
    (1222, "agriculture-thresher", 1227),
    (1222, "agriculture-tractor", 1228),
    (1221, "bus", 1321),
    (1221, "truck", 1322),
    (1223, "construction", 1323),
];

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| interface("Endpoints", name, says).decided(&[28]);
    let mut rules: Vec<_> = TABLE
        .iter()
        .map(|(v3, vehicle_type, v4)| {
            let says = format!("{v3} migrates on /v4/{vehicle_type} to {v4}, and on /v4/ad with category_id.");
            rule(&format!("rule 7, {v3} to {vehicle_type}"), &says)
                .by(|trial| Box::pin(migrates(trial, *v3, vehicle_type, *v4)))
        })
        .collect();
    rules.extend([
        rule("rule 7, complete payload", "The body is a complete V4 payload with all required category_fields.")
            .by(|trial| Box::pin(complete(trial))),
        rule("rule 7, category_id not in the body", "category_id must not be in the body: the path fixes it.")
            .by(|trial| Box::pin(category_is_the_paths(trial))),
        rule("rule 7, the generic path", "POST /v4/ad/{source_id}/migrate with category_id in the body.")
            .decided(&[12])
            .by(|trial| Box::pin(generic(trial))),
        rule("rule 7, wrongly categorised", "A V3 ad of another category cannot be fixed by migrating.")
            .by(|trial| Box::pin(wrongly_categorised(trial))),
        rule("rule 7, 1224 has no target", "Truck & material handling is in no row of the table.")
            .by(|trial| Box::pin(without_target(trial, 1224)))
            .one_sided("it can only be refused"),
        rule("rule 7, 1122 has no target", "A-tractors have no V4 path.")
            .decided(&[20])
            .by(|trial| Box::pin(without_target(trial, 1122)))
            .one_sided("it can only be refused"),
    ]);
    rules
}

/// An ad of V3, and a complete payload of V4 for it.
async fn stored(trial: &Trial, v3: u16, vehicle_type: &str) -> (String, Value) {
    let id = if v3 == 1045 {
        trial.world.trailer("v3")
    } else {
        trial.created_v3(v3, &json!({"visible": false, "body": "Old"})).await
    };
    let plate = trial.read(&id).await["category_fields"]["registration_number"].clone();
    let mut payload = ad(vehicle_type, &json!({"category_id": ABSENT, "visible": false}));
    if !plate.is_null() {
        payload["category_fields"]["registration_number"] = plate;
    }
    (id, payload)
}

async fn migrates(trial: &Trial, v3: u16, vehicle_type: &str, v4: u16) {
    let (id, payload) = stored(trial, v3, vehicle_type).await;
    let before = trial.read(&id).await;
    let migrated = json!({"id": before["id"], "source_id": id, "created": before["created"],
        "category_id": v4, "api_version": "v4", "body": null});
    let wrong = laid_over(payload.clone(), &fields("mileage", json!(1)));
    let path = format!("/v4/{vehicle_type}/{id}/migrate");
    trial
        .refuses(post(&path, &wrong), 400, fields("mileage", json!([says::UNKNOWN, crate::conformance::pattern::MORE])))
        .await;
    let accepted = trial.accepts(post(&path, &payload), 200, migrated.clone()).await;
    trial.ended(&id, "update", &accepted).await;
    trial.sees("steps", &json!(["update processing", "update done"]), &trial.steps(&id, &accepted).await);
    trial.accepts(get(format!("/v4/{vehicle_type}/{id}")), 200, migrated).await;

    let (id, payload) = stored(trial, v3, vehicle_type).await;
    let named = laid_over(payload, &json!({"category_id": v4}));
    trial
        .accepts(post(format!("/v4/ad/{id}/migrate"), &named), 200, json!({"category_id": v4, "api_version": "v4"}))
        .await;
}

async fn complete(trial: &Trial) {
    for (v3, vehicle_type, errors) in [
        (1102, "camper", json!({"category_fields": [says::REQUIRED]})),
        (
            1062,
            "boat",
            json!({"category_fields": [says::REQUIRED], "title": [says::REQUIRED], "contact": [says::REQUIRED]}),
        ),
        (
            1223,
            "construction",
            json!({"category_fields": [says::REQUIRED], "title": [says::REQUIRED], "contact": [says::REQUIRED]}),
        ),
    ] {
        let (id, payload) = stored(trial, v3, vehicle_type).await;
        let path = format!("/v4/{vehicle_type}/{id}/migrate");
        trial.refuses(post(&path, &json!({})), 400, errors).await;
        // `reduced` is no new price of a new ad.
        let reduced = laid_over(payload, &json!({"price": [{"type": "reduced", "amount": 5}]}));
        trial.accepts(post(&path, &reduced), 200, json!({"price": [{"type": "reduced"}], "body": null})).await;
    }
}

async fn category_is_the_paths(trial: &Trial) {
    let (id, payload) = stored(trial, 1221, "bus").await;
    let path = format!("/v4/bus/{id}/migrate");
    for category in [1321, 1322, 1221] {
        let sent = laid_over(payload.clone(), &json!({"category_id": category}));
        trial
            .refuses(post(&path, &sent), 400, json!({"category_id": ["Must not be sent: the path fixes it (1321)."]}))
            .await;
    }
    trial.accepts(post(&path, &payload), 200, json!({"category_id": 1321})).await;
}

async fn generic(trial: &Trial) {
    let (id, payload) = stored(trial, 1222, "agriculture-tractor").await;
    let path = format!("/v4/ad/{id}/migrate");
    trial.refuses(post(&path, &payload), 400, json!({"category_id": [says::REQUIRED]})).await;
    let to = |category: Value| laid_over(payload.clone(), &json!({"category_id": category}));
    let targets = json!({"category_id": [says::no_choice("1229"), crate::conformance::pattern::MORE]});
    trial.refuses(post(&path, &to(json!(1229))), 400, targets).await;
    trial.accepts(post(&path, &to(json!("1228"))), 200, json!({"category_id": 1228})).await;
}

async fn wrongly_categorised(trial: &Trial) {
    for (v3, right) in [(1063, "boat"), (1221, "truck"), (1121, "moped")] {
        let (id, payload) = stored(trial, v3, right).await;
        for (vehicle_type, _) in TYPES {
            if !TABLE.iter().any(|(from, to, _)| *from == v3 && *to == vehicle_type) {
                let path = format!("/v4/{vehicle_type}/{id}/migrate");
                trial.refuses(post(path, &payload), 404, json!({"detail": "Not found as …"})).await;
            }
        }
        trial.accepts(post(format!("/v4/{right}/{id}/migrate"), &payload), 200, json!({"api_version": "v4"})).await;
    }
}

async fn without_target(trial: &Trial, v3: u16) {
    let id = trial.created_v3(v3, &json!({"visible": false})).await;
    let no_target = json!(["V4 has no category that …"]);
    let body =
        json!({"category_id": 1322, "title": "x", "contact": {"email": "bo@boats.example"}, "category_fields": {}});
    trial.refuses(post(format!("/v4/ad/{id}/migrate"), &body), 400, no_target).await;
    for (vehicle_type, _) in TYPES {
        let path = format!("/v4/{vehicle_type}/{id}/migrate");
        trial.refuses(post(path, &json!({})), 404, json!({"detail": "Not found as …"})).await;
    }
    trial.sees("it stays", &json!({"api_version": "v3", "category_id": v3, "id": ANY}), &trial.read(&id).await);
}
