//! 29 to 32: access, limits, lookups and the samples.

use serde_json::{Value, json};

use crate::{
    conformance::{
        pattern::{ANY, MORE},
        request::{Who, get, post},
        rule::{Rule, decision},
        says,
        trial::Trial,
    },
    payloads::sample,
};

const CAR: &str = include_str!("../../../data/payloads/car-v4.json");
const BOAT: &str = include_str!("../../../data/payloads/boat-v4.json");
const MOPED: &str = include_str!("../../../data/payloads/moped-v4.json");
const CAR_V3: &str = include_str!("../../../data/payloads/car-v3.json");
const MISTAKES: &str = include_str!("../../../data/payloads/mistakes.json");
const LOG: &str = include_str!("../../../data/payloads/log-of-a-create.json");

pub(super) fn rules() -> Vec<Rule> {
    vec![
        decision(
            29,
            "claims",
            "dealer_code or dealer_group (exactly one), iss, iat, jti, optional exp/nbf (60 s leeway).",
        )
        .see("ad-server/access/src/auth/token/tests.rs::wrong_claims_are_refused")
        .see("ad-server/access/src/auth/token/tests.rs::right_claims_tell_who_calls"),
        decision(29, "algorithms", "HS256 and EdDSA, key chosen by kid; alg none and a foreign algorithm are refused.")
            .see("ad-server/access/src/auth/token/tests.rs::the_algorithm_is_the_keys")
            .see("e2e::access::another_issuers_token_works_until_it_is_revoked"),
        decision(29, "a missing permission", "403 {detail}.")
            .accepts(get("/v4/ad?limit=1").by(Who::Reader), json!({}))
            .refuses_with(
                403,
                get("/v4/ad?limit=1").by(Who::Promoter),
                json!({"detail": "This token does not have the permission \"read\"."}),
            ),
        decision(29, "without a token", "Documentation, health and stored images need no token.")
            .accepts(get("/openapi.json").by(Who::Nobody), json!({"openapi": ANY}))
            .accepts(get("/healthz").by(Who::Nobody), json!({"status": "ok"}))
            .see("e2e::pages::pages_load_nothing_from_elsewhere_and_have_a_policy")
            .see("e2e::media::stored_images_are_served_for_ever_and_the_same_bytes_once"),
        decision(29, "revocation", "Tokens can be revoked by jti.")
            .see("e2e::access::a_revoked_token_stops_working_while_the_server_runs"),
        decision(31, "attributes", "Lists the fields that have allowed values; model is not among them.")
            .by(|trial| Box::pin(attributes(trial)))
            .refuses_with(
                404,
                get("/v4/vehicles/car/model"),
                json!({"detail": "Vehicle type \"car\" has no attribute …"}),
            )
            .refuses_with(
                404,
                get("/v4/vehicles/car/model_year"),
                json!({"detail": "Vehicle type \"car\" has no attribute …"}),
            ),
        decision(31, "models", "A missing or unknown brand is a 400.")
            .accepts(get("/v4/vehicles/car/models?brand=saab"), json!([{"id": ANY, "name": ANY}, MORE]))
            .refuses(get("/v4/vehicles/car/models?brand="), json!({"brand": [says::no_choice("")]}))
            .refuses(
                get("/v4/vehicles/car/models?make=saab"),
                json!({"brand": [says::REQUIRED], "make": ["Unknown parameter.", "Did you mean \"brand\"?"]}),
            ),
        decision(31, "unknown vehicle type or attribute", "404.")
            .accepts(get("/v4/vehicles/boat/powertrain.type"), json!([{"id": ANY, "name": ANY}, MORE]))
            .refuses_with(404, get("/v4/vehicles/boat/powertrain.colour"), json!({"detail": MORE}))
            .refuses_with(404, get("/v4/vehicles/submarine/brand"), json!({"detail": MORE}))
            .refuses_with(404, get("/v4/vehicles/trailer/models?brand=x"), json!({"detail": MORE})),
        decision(32, "samples are accepted", "The payloads in samples/payloads, their addresses aside, as they stand.")
            .accepts(post("/v4/car/validate", &sample(CAR)), json!({"title": "Volvo XC60 T6 AWD 2022"}))
            .accepts(post("/v4/boat/validate", &sample(BOAT)), json!({"title": "Nimbus 305 Coupé, välvårdad"}))
            .accepts(post("/v4/moped/validate", &sample(MOPED)), json!({"title": "Yamaha aerox 2020"}))
            .accepts(post("/v3/ad/validate", &sample(CAR_V3)), json!({"title": "Volvo V60 2019"}))
            .by(|trial| Box::pin(log_of_the_sample(trial)))
            .one_sided("the next rule is the refusal"),
        decision(32, "mistakes are refused", "mistakes.json is refused at the paths that it names.")
            .by(|trial| Box::pin(mistakes(trial)))
            .one_sided("the rule before is the acceptance"),
    ]
}

/// The fields of a type's table that have allowed values.
async fn attributes(trial: &Trial) {
    for (vehicle_type, expected) in [
        ("boat", &["body_type", "brand", "physics.material", "powertrain.fuel", "powertrain.type"][..]),
        ("caravan", &["body_type", "brand"]),
        ("trailer", &["body_type", "brand"]),
        ("moped", &["body_type", "brand", "powertrain.fuels", "powertrain.transmission"]),
        (
            "motorcycle",
            &["body_type", "brand", "powertrain.engine_type", "powertrain.fuels", "powertrain.transmission"],
        ),
        (
            "camper",
            &["bed_type", "body_type", "brand", "powertrain.drive_type", "powertrain.fuels", "powertrain.transmission"],
        ),
        ("agriculture-thresher", &["brand", "powertrain.fuel"]),
        ("agriculture-tractor", &["brand", "powertrain.fuel"]),
        ("agriculture-tools", &["tools_category"]),
        (
            "truck",
            &[
                "body_type",
                "brand",
                "physics.box_type",
                "physics.cabin_type",
                "physics.suspension_front",
                "physics.suspension_rear",
                "powertrain.axle_type",
            ],
        ),
        ("construction", &["body_type", "brand", "physics.cab_type", "physics.chassis_type"]),
    ] {
        let answer =
            trial.accepts(get(format!("/v4/vehicles/{vehicle_type}/attributes")), 200, json!([{}, MORE])).await;
        let ids: Vec<_> = answer.body.as_array().into_iter().flatten().map(|entry| entry["id"].clone()).collect();
        trial.sees(vehicle_type, &json!(expected), &json!(ids));
    }
}

async fn log_of_the_sample(trial: &Trial) {
    let mut car = sample(CAR);
    let id = trial.id();
    car["source_id"] = json!(id);
    car["category_fields"]["registration_number"] = json!(trial.plate());
    car["image_urls"] = json!([trial.world.images.url("1.jpg"), trial.world.images.url("2.jpg")]);
    let created = trial.accepts(post("/v4/car", &car), 201, json!({"state": "created"})).await;
    trial.ended(&id, "publish", &created).await;
    let of_sample = sample(LOG);
    let expected = crate::payloads::steps(of_sample.as_array().map(Vec::as_slice).unwrap_or_default());
    trial.sees("steps", &json!(expected), &trial.steps(&id, &created).await);
}

async fn mistakes(trial: &Trial) {
    for case in sample(MISTAKES).as_array().into_iter().flatten() {
        let path = case["path"].as_str().unwrap_or_default();
        let errors = trial.send(&post(path, &case["payload"])).await.json();
        let mut named: Vec<&str> =
            case["errors_at"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        named.sort_unstable();
        let mut found = Vec::new();
        for (name, below) in errors.as_object().into_iter().flatten() {
            match below.as_object() {
                Some(below) if name == "category_fields" => {
                    found.extend(below.keys().map(|field| format!("{name}.{field}")));
                }
                _ => found.push(name.clone()),
            }
        }
        found.sort_unstable();
        trial.sees("the paths", &json!(named), &json!(found));
        trial.refuses(post(path, &case["payload"]), 400, errors).await;
    }
}
