//! The rulebook by itself; what the rules demand one by one is in `tests/rules`.

use serde_json::json;

use super::*;
use crate::categories::by_vehicle_type;

fn dealer() -> Dealer {
    Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") }
}

fn create(vehicle_type: &str, payload: Value) -> Result<CheckedPayload, Value> {
    let dealer = dealer();
    let category = by_vehicle_type(vehicle_type).unwrap();
    let write = WriteContext { category, version: ApiVersion::V4, dealer: Some(&dealer) };
    let Value::Object(payload) = payload else { panic!("payloads are objects") };
    Rulebook::default().create(write, payload, SourceId::Required).map_err(|errors| json!(errors))
}

fn car(fields: &Value) -> Value {
    let mut car = json!({"source_id": "c", "category_id": 1020, "category_fields": {
        "registration_number": "ABC 12d", "model_year": 2019}});
    let over = fields.as_object().unwrap().clone();
    car = Value::Object(merge(car.as_object().unwrap(), over));
    car
}

#[test]
fn everything_wrong_is_reported_at_once_and_at_its_path() {
    let errors = create(
        "car",
        json!({
        "source_id": "m1", "category_id": 1020, "title": "2019 Volvo V60",
        "contact": {"name": "A", "phone": "070-1", "email": "a@b.se"},
        "price": [{"amount": 149_000, "currency": "SEK", "type": "negotiable"}],
        "category_fields": {"registration_number": "ABC123", "year": 2019, "mileage": 1200, "fuel": "diesel",
                            "gearbox": "manual"}}),
    )
    .unwrap_err();
    assert_eq!(
        errors,
        json!({
        "title": ["Must not be sent for vehicle type \"car\": the title is generated from brand, model, model_type and model_year."],
        "contact": ["Must not be sent for vehicle type \"car\": the dealer's own contact is shown."],
        "price": {"0": {"type": ["\"negotiable\" is not a valid choice.", "Valid choices: \"list\", \"leasing\", \"monthly\", \"call\"."]}},
        "category_fields": {
            "fuel": ["Unknown field.", "Did you mean \"powertrain.fuels\"?"],
            "gearbox": ["Unknown field.", "Did you mean \"powertrain.transmission\"?"],
            "mileage": ["Unknown field.", "Did you mean \"condition.mileage\"?"],
            "model_year": ["This field is required."],
            "year": ["Unknown field.", "Did you mean \"model_year\"?"]}})
    );
}

#[test]
fn what_is_valid_is_normalised_derived_and_titled() {
    let checked = create(
        "car",
        car(&json!({
        "body": "Fin <b>bil</b>", "price": [{"type": "list", "amount": 1000.5}],
        "location": {"latitude": "59.3", "longitude": 18},
        "category_fields": {"brand": "volvo", "model": "xc60", "model_type": "T6", "color": null, "salesperson": "",
            "powertrain": {"fuels": ["Diesel"], "power": {"unit": "HP", "value": "200"}},
            "condition": {"mileage": {"unit": "mil", "value": 100}}}})),
    )
    .unwrap();
    assert_eq!(
        json!(checked.content),
        json!({
        "title": "Volvo XC60 T6 2019", "body": "Fin -b-bil-/b-",
        "price": [{"type": "list", "amount": 1000.5, "currency": "SEK"}],
        "location": {"latitude": 59.3, "longitude": 18},
        "category_fields": {"registration_number": "ABC12D", "model_year": 2019, "brand": "volvo", "model": "xc60",
            "model_type": "T6", "powertrain": {"fuels": ["diesel"], "power": {"unit": "hp", "value": 200}},
            "condition": {"mileage": {"unit": "mil", "value": 100}, "is_new_vehicle": false}}})
    );
}

#[test]
fn a_used_vehicle_has_an_owner_and_null_counts_as_none() {
    for owners in [json!(0), json!(null)] {
        let used = car(&json!({"category_fields": {"condition": {"number_of_owners": owners,
            "mileage": {"unit": "km", "value": 5}}}}));
        let errors = create("car", used).unwrap_err();
        assert!(errors["category_fields"]["condition"]["number_of_owners"].is_array(), "{errors}");
        let new = car(&json!({"category_fields": {"condition": {"number_of_owners": owners,
            "mileage": {"unit": "km", "value": 0}}}}));
        assert!(create("car", new).is_ok());
    }
}
