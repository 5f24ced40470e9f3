//! 3 to 5: unknown fields, messages and types.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, MORE},
    request::{fields, validate, validate_field, validate_v3},
    rule::{Rule, decision},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    fields_and_messages().into_iter().chain(types()).collect()
}

fn fields_and_messages() -> Vec<Rule> {
    let unknown = json!([says::UNKNOWN, MORE]);
    let ignored =
        ["id", "state", "created", "updated", "log", "image_refs", "marketplace_ad_id", "offer_id", "api_version"];
    let sent: Value =
        ignored.iter().map(|name| ((*name).to_owned(), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    vec![
        decision(
            3,
            "unknown body fields",
            "Unknown field. at their full path, at ad level and inside category_fields.",
        )
        .accepts(validate("car", &json!({})), json!({}))
        .refuses(
            validate(
                "car",
                &json!({"titel": "x", "category_fields": {
                    "colour": "red", "powertrain": {"fuel": "diesel"},
                    "condition": {"mileage": {"unit": "km", "value": 1, "note": "ca"}}}}),
            ),
            json!({"titel": unknown, "category_fields": {"colour": unknown, "powertrain": {"fuel": unknown},
                    "condition": {"mileage": {"note": [says::UNKNOWN]}}}}),
        )
        .refuses(
            validate_v3(1020, &json!({"titel": "x", "category_fields": {"colour": "red"}})),
            json!({"titel": unknown, "category_fields": {"colour": unknown}}),
        ),
        decision(3, "response-only fields", "Known and ignored in a write; validate warns about them.")
            .accepts(validate("car", &sent), json!({"state": ABSENT, "id": ABSENT}))
            .by(|trial| Box::pin(ignored_with_a_warning(trial)))
            .one_sided("they are ignored"),
        decision(4, "wording", "The messages that integrators of this contract parse.")
            .accepts(validate("car", &json!({})), json!({}))
            .refuses(
                validate(
                    "car",
                    &json!({"category_fields": {"model_year": "2019", "brand": "wolvo", "vin": null},
                    "image_urls": [null]}),
                ),
                json!({"category_fields": {"model_year": [says::NO_INTEGER, says::unquoted("2019")], 
                        "brand": [says::no_choice("wolvo"), says::did_you_mean("volvo")]},
                    "image_urls": {"0": [says::NULL]}}),
            )
            .refuses(validate_field("car", "model_year", json!(null)), fields("model_year", json!([says::REQUIRED]))),
        decision(4, "nearest values", "A wrong choice adds a second message with the nearest valid values.")
            .accepts(validate_field("car", "body_type", json!("suv")), fields("body_type", json!("suv")))
            .refuses(
                validate_field("car", "powertrain.transmission", json!("automatc")),
                fields(
                    "powertrain.transmission",
                    json!([says::no_choice("automatc"), says::did_you_mean("automatic")]),
                ),
            )
            .refuses(
                validate_field("car", "condition.mileage", json!({"unit": "mill", "value": 1})),
                fields("condition.mileage", json!({"unit": [says::no_choice("mill"), says::did_you_mean("mil")]})),
            ),
        decision(4, "all errors at once", "All errors of a payload come back in one answer.")
            .see("e2e::bad_requests::every_error_of_a_payload_comes_back_in_one_answer"),
        decision(4, "arrays nest by index", "An error of the array as a whole is its list of messages.")
            .accepts(validate("car", &json!({"price": [], "image_urls": []})), json!({}))
            .refuses(
                validate(
                    "car",
                    &json!({"price": [{"type": "list", "amount": 1}, {"type": "x", "amount": 1}, 7],
                    "image_urls": ["https://i.example/1.jpg", "x"]}),
                ),
                json!({"price": {"1": {"type": [says::no_choice("x"), MORE]}, "2": [says::NO_OBJECT, says::AN_OBJECT]},
                    "image_urls": {"1": [says::NO_URL]}}),
            )
            .refuses(
                validate("car", &json!({"price": 1, "image_urls": {}})),
                json!({"price": [says::NO_LIST, says::A_LIST], "image_urls": [says::NO_LIST, MORE]}),
            ),
    ]
}

async fn ignored_with_a_warning(trial: &Trial) {
    let sent = validate(
        "boat",
        &json!({"id": "mine", "state": "deleted", "price": [{"type": "list", "amount": 1}],
        "image_urls": ["https://i.example/1.jpg"]}),
    );
    let answer = trial.send(&sent).await.json();
    let ignored = "Ignored: only the service sets this field.";
    let warnings = json!([{"field": "id", "message": ignored}, {"field": "state", "message": ignored}]);
    trial.sees("the answer", &json!({"valid": true, "warnings": warnings}), &answer);
}

fn types() -> Vec<Rule> {
    let at = |path: &'static str, value: Value, message: &str, help: &str| (path, value, json!([message, help]));
    let strict = [
        at("model_year", json!("2019"), says::NO_INTEGER, &says::unquoted("2019")),
        at("is_vat_deductible", json!("true"), says::NO_BOOLEAN, &says::unquoted("true")),
        at("color", json!(7), says::NO_TEXT, &says::in_quotes("7")),
        at("physics.number_of_seats", json!("5"), says::NO_INTEGER, &says::unquoted("5")),
        at("equipments", json!("ABS"), says::NO_LIST, says::A_LIST),
        at("condition", json!("used"), says::NO_OBJECT, says::AN_OBJECT),
    ];
    let rule = strict
        .into_iter()
        .fold(decision(5, "types are strict", "A JSON string is not a number."), |rule, (path, value, errors)| {
            rule.refuses(validate_field("car", path, value), fields(path, errors))
        });
    let measure = |unit: &str, value: Value| json!({"unit": unit, "value": value});
    vec![
        rule.accepts(validate_field("car", "model_year", json!(2019)), fields("model_year", json!(2019))).refuses(
            validate("car", &json!({"visible": "yes", "body": 7, "price": [{"type": "list", "amount": "5"}]})),
            json!({"visible": [says::NO_BOOLEAN], "body": [says::NO_TEXT, says::in_quotes("7")],
                "price": {"0": {"amount": [says::NO_NUMBER, says::unquoted("5")]}}}),
        ),
        decision(5, "three exceptions", "category_id, coordinates and a measure's value; stored as numbers.")
            .accepts(
                validate(
                    "car",
                    &json!({"category_id": "1020", "location": {"latitude": "-5.5", "longitude": "17"},
                    "category_fields": {"condition": {"mileage": measure("km", json!("120.5"))}}}),
                ),
                json!({"category_id": 1020, "location": {"latitude": -5.5, "longitude": 17},
                    "category_fields": {"condition": {"mileage": {"unit": "km", "value": 120.5}}}}),
            )
            .refuses(
                validate(
                    "car",
                    &json!({"category_id": "10 20", "location": {"latitude": "1,5", "longitude": ""},
                    "category_fields": {"condition": {"mileage": measure("km", json!("1 000"))}}}),
                ),
                json!({"category_id": [says::NO_INTEGER], 
                    "location": {"latitude": [says::NO_NUMBER], "longitude": [says::NO_NUMBER]},
                    "category_fields": {"condition": {"mileage": {"value": [says::NO_NUMBER]}}}}),
            ),
        decision(5, "case", "Units and case-insensitive enums match in any case; other slugs do not.")
            .accepts(
                validate(
                    "car",
                    &json!({"category_fields": {"powertrain": {"fuels": ["Diesel", "ELECTRIC"],
                    "drive_type": "AWD",
                    "power": measure("KW", json!(1)),
                    "environmental": {"energy_consumption": measure("KWH/100KM", json!(9))}}}}),
                ),
                fields(
                    "powertrain",
                    json!({"fuels": ["diesel", "electric"], "drive_type": "awd",
                    "power": {"unit": "kw"},
                    "environmental": {"energy_consumption": {"unit": "kWh/100km"}}}),
                ),
            )
            .refuses(
                validate(
                    "car",
                    &json!({"category_fields": {"brand": "Volvo", "body_type": "SUV",
                    "powertrain": {"transmission": "Manual"}}}),
                ),
                json!({"category_fields": {"brand": [says::no_choice("Volvo"), says::did_you_mean("volvo")],
                    "body_type": [says::no_choice("SUV"), says::did_you_mean("suv")],
                    "powertrain": {"transmission": [says::no_choice("Manual"), says::did_you_mean("manual")]}}}),
            ),
    ]
}
