//! Codes of errors and warnings (extensions E1).

use std::{collections::BTreeSet, fs, path::Path};

use ad_core::{
    categories::by_vehicle_type,
    model::ApiVersion,
    rulebook::{Rulebook, SourceId, WriteContext},
    violation::{self, Code},
};
use serde_json::{Value, json};

/// `docs/errors.md` is generated from the list of codes.
#[test]
fn error_codes_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let now = violation::reference();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "docs/errors.md is stale; write it anew: UPDATE_SNAPSHOTS=1 cargo test -p ad-core error_codes"
    );
}

#[test]
fn names_of_error_codes_are_unique_and_stable_in_form() {
    let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        let name = code.name();
        assert!(name.starts_with(|letter: char| letter.is_ascii_lowercase()), "{name}");
        assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'));
        assert_eq!(json!(code), name);
        assert_eq!(serde_json::from_value::<Code>(json!(name)).unwrap(), *code);
    }
    assert_eq!(serde_json::from_value::<Code>(json!("of_a_newer_service")).unwrap(), Code::Unknown);
}

/// Path, code and rule of each error of a new car.
fn errors(changes: &Value) -> Vec<(String, &'static str, Option<&'static str>)> {
    let mut car = json!({
        "source_id": "c", "category_id": 1020,
        "category_fields": {"registration_number": "ABC123", "model_year": 2020},
    });
    for (name, value) in changes.as_object().unwrap() {
        match (name.as_str(), value) {
            ("category_fields", Value::Object(fields)) => {
                let of_car = car["category_fields"].as_object_mut().unwrap();
                fields.iter().for_each(|(name, value)| drop(of_car.insert(name.clone(), value.clone())));
            }
            _ => car[name] = value.clone(),
        }
    }
    let Value::Object(car) = car else { unreachable!() };
    let write = WriteContext { category: by_vehicle_type("car").unwrap(), version: ApiVersion::V4, dealer: None };
    let errors = Rulebook::default().create(write, car, SourceId::Required).unwrap_err();
    let violations = errors.violations().into_iter();
    violations.map(|(path, it)| (path, it.code().unwrap().name(), it.rule())).collect()
}

#[test]
fn every_kind_of_field_error_has_its_code() {
    for (changes, path, code, rule) in [
        (json!({"source_id": null}), "source_id", "required", None),
        (json!({"source_id": ""}), "source_id", "blank", None),
        (json!({"colour": 1}), "colour", "unknown_field", None),
        (json!({"brand": "volvo"}), "brand", "misplaced_field", None),
        (json!({"category_fields": {"price": 1}}), "category_fields.price", "misplaced_field", None),
        (json!({"category_fields": {"mileage": 1}}), "category_fields.mileage", "misplaced_field", None),
        (json!({"body": 1}), "body", "invalid_type", None),
        (json!({"category_fields": {"brand": "wolvo"}}), "category_fields.brand", "invalid_choice", None),
        (
            json!({"category_fields": {"in_traffic_date": "1/2/2020"}}),
            "category_fields.in_traffic_date",
            "invalid_format",
            None,
        ),
        (json!({"category_fields": {"model_year": 1800}}), "category_fields.model_year", "out_of_range", None),
        (json!({"category_fields": {"vin": "1".repeat(20)}}), "category_fields.vin", "too_long", None),
        (json!({"category_fields": {"vin": "1"}}), "category_fields.vin", "too_short", None),
        (json!({"image_urls": vec!["https://a.example/1.jpg"; 21]}), "image_urls", "too_many", None),
        (
            json!({"image_urls": ["https://a.example/1.jpg", "https://a.example/1.jpg"]}),
            "image_urls.1",
            "duplicate_item",
            None,
        ),
        (json!({"image_urls": [null]}), "image_urls.0", "null", None),
        (json!({"title": "Volvo"}), "title", "not_allowed", None),
        (
            json!({"category_fields": {"registration_number": null}}),
            "category_fields.registration_number",
            "conflict",
            Some("plate or VIN"),
        ),
        (json!({"category_fields": {"model": "v60"}}), "category_fields.brand", "conflict", Some("model of the brand")),
    ] {
        let found = errors(&changes);
        assert!(found.contains(&(path.to_owned(), code, rule)), "{changes}: {found:?}");
    }
}
