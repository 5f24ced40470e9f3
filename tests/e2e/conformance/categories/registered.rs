//! The rules of 'Common fields of all registered vehicle categories' that are not about one field alone.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, MORE},
    request::{fields, patch, registered, registered_and_created, validate, validate_field, validate_v3},
    rule::{Rule, category_fields},
    says,
    trial::Trial,
};

const SECTION: &str = super::tables::COMMON_SECTION;
const NEITHER: &str = "At least one of registration_number and vin is required.";
const VIN: &str = "YV1UZ8256N1234567";

pub(super) fn rules() -> Vec<Rule> {
    vec![
        registered_and_created().fold(
            category_fields(SECTION, "model_year is required", "Only model_year is required."),
            |rule, vehicle_type| {
                rule.accepts(validate(vehicle_type, &json!({})), json!({"category_fields": {"model_year": 2019}}))
                    .refuses(
                        validate_field(vehicle_type, "model_year", json!(ABSENT)),
                        fields("model_year", json!([says::REQUIRED])),
                    )
            },
        ),
        registered_and_created().fold(
            category_fields(SECTION, "registration_number or vin", "On POST, at least one of them is required.")
                .decided(&[18]),
            |rule, vehicle_type| {
                let vin_only = json!({"category_fields": {"registration_number": ABSENT, "vin": VIN}});
                let neither = fields("registration_number", json!(ABSENT));
                rule.accepts(validate(vehicle_type, &json!({})), fields("vin", json!(ABSENT)))
                    .accepts(validate(vehicle_type, &vin_only), fields("vin", json!(VIN)))
                    .refuses(
                        validate(vehicle_type, &neither),
                        json!({"category_fields": {"registration_number": [NEITHER], "vin": [NEITHER]}}),
                    )
            },
        ),
        category_fields(SECTION, "registration_number cannot change", "The plate cannot change after creation.")
            .by(|trial| Box::pin(plate_stays(trial))),
        category_fields(SECTION, "a trailer's registration_number", "The plate of a stored trailer stays, too.")
            .decided(&[18])
            .by(|trial| Box::pin(trailers_plate_stays(trial))),
        category_fields(SECTION, "model of cars", "A car's model is validated against its brand's models.")
            .accepts(
                validate("car", &json!({"category_fields": {"brand": "volvo", "model": "xc60"}})),
                fields("model", json!("xc60")),
            )
            .accepts(
                validate_v3(1020, &json!({"category_fields": {"brand": "volvo", "model": "v60"}})),
                fields("model", json!("v60")),
            )
            .refuses(
                validate("car", &json!({"category_fields": {"brand": "audi", "model": "xc60"}})),
                fields("model", json!([says::no_choice("xc60"), MORE])),
            )
            .refuses(
                validate("car", &json!({"category_fields": {"brand": "volvo", "model": "xc-sixty-one"}})),
                fields("model", json!([says::no_choice("xc-sixty-one"), MORE])),
            ),
        category_fields(
            SECTION,
            "salesperson",
            "Must match a salesperson registered for the dealer; null or empty unsets.",
        )
        .decided(&[17])
        .by(|trial| Box::pin(salesperson(trial))),
    ]
}

async fn plate_stays(trial: &Trial) {
    for vehicle_type in registered_and_created() {
        let (id, created) = trial.created(vehicle_type, &json!({"visible": false})).await;
        let path = format!("/v4/{vehicle_type}/{id}");
        let plate = created.body["category_fields"]["registration_number"].as_str().unwrap_or_default().to_owned();
        // The same plate, written otherwise.
        let spaced = format!("{} {}", plate[..3].to_lowercase(), &plate[3..]);
        let same = fields("registration_number", json!(plate));
        trial.accepts(patch(&path, &fields("registration_number", json!(spaced))), 200, same).await;
        let fixed =
            format!("Cannot change after creation (it is \"{plate}\"). For another vehicle, create another ad.");
        for other in [json!("NEW123"), Value::Null] {
            let mut errors = fields("registration_number", json!([fixed]));
            if other.is_null() {
                errors["category_fields"]["registration_number"] = json!([MORE]);
                errors["category_fields"]["vin"] = json!([NEITHER]);
            }
            trial.refuses(patch(&path, &fields("registration_number", other)), 400, errors).await;
        }
    }
}

async fn trailers_plate_stays(trial: &Trial) {
    let id = trial.world.trailer("v4");
    let plate = trial.read(&id).await["category_fields"]["registration_number"].clone();
    let path = format!("/v4/trailer/{id}");
    trial
        .accepts(patch(&path, &fields("registration_number", plate.clone())), 200, fields("registration_number", plate))
        .await;
    let errors = fields("registration_number", json!(["Cannot change after creation (it is …"]));
    trial.refuses(patch(&path, &fields("registration_number", json!("NEW123"))), 400, errors).await;
}

async fn salesperson(trial: &Trial) {
    for vehicle_type in registered() {
        let path = if vehicle_type == "trailer" {
            format!("/v4/trailer/{}", trial.world.trailer("v4"))
        } else {
            let (id, _) = trial.created(vehicle_type, &json!({"visible": false})).await;
            format!("/v4/{vehicle_type}/{id}")
        };
        let of = |who: Value| patch(&path, &fields("salesperson", who));
        for unset in [json!(""), Value::Null] {
            let anna = json!("anna@north.example");
            trial.accepts(of(anna.clone()), 200, fields("salesperson", anna)).await;
            trial.accepts(of(unset), 200, fields("salesperson", json!(ABSENT))).await;
        }
        let stranger = "\"bo@north.example\" is not a salesperson of dealer \"north-cars\".";
        for (sent, errors) in
            [(json!("bo@north.example"), json!([stranger, MORE])), (json!("anna"), json!([says::NO_EMAIL, MORE]))]
        {
            trial.refuses(of(sent), 400, fields("salesperson", errors)).await;
        }
    }
}
