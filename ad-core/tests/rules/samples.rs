//! The sample payloads are accepted as they stand, and the mistakes are refused at the paths that they name (decision 32).

use serde_json::{Value, json};

use crate::support::{accepted, boat, car, refused, sample, with, without};

/// What is stored is what was sent, without what identifies the ad, and with what is derived.
fn stored(sent: Value, derived: Value) -> Value {
    let content = ["source_id", "category_id"].into_iter().fold(sent, without);
    with(&content, derived)
}

#[test]
fn the_sample_car_is_stored_with_its_title_and_as_used() {
    let derived = json!({"title": "Volvo XC60 T6 AWD 2022",
        "category_fields": {"condition": {"is_new_vehicle": false}}});
    assert_eq!(accepted("car", car()), stored(car(), derived));
}

#[test]
fn the_sample_boat_is_stored_as_it_was_sent() {
    assert_eq!(accepted("boat", boat()), stored(boat(), json!({})));
}

#[test]
fn the_mistakes_are_refused_at_the_paths_that_they_name() {
    for mistake in sample!("mistakes").as_array().unwrap() {
        let vehicle_type = mistake["path"].as_str().unwrap().trim_start_matches("/v4/");
        let errors = refused(vehicle_type, mistake["payload"].clone());
        for path in mistake["errors_at"].as_array().unwrap() {
            let pointer = format!("/{}", path.as_str().unwrap().replace('.', "/"));
            assert!(errors.pointer(&pointer).is_some(), "{path} is not in {errors}");
        }
    }
}
