use ad_core::{categories, model::ApiVersion, rulebook::Rulebook};
use serde_json::json;

use super::*;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("an object is expected") };
    object
}

fn car() -> &'static Category {
    categories::by_vehicle_type("car").unwrap()
}

fn sent(pairs: &[(&str, &str)], is_new: bool) -> FormValues {
    FormValues::sent(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())), car(), is_new)
}

/// What a browser sends of what a form shows.
fn sent_back(shown: &FormValues, category: &Category, is_new: bool) -> FormValues {
    let pairs = shown.0.iter().flat_map(|(name, values)| values.iter().map(move |value| (name.clone(), value.clone())));
    let pairs = pairs.map(|(name, value)| (name, value.replace('\n', "\r\n")));
    FormValues::sent(pairs, category, is_new)
}

#[test]
fn the_form_of_every_category_carries_its_whole_example() {
    let rulebook = Rulebook::default();
    for (vehicle_type, category) in categories::typed() {
        let mut example = category.example(ApiVersion::V4, &rulebook);
        example.insert("body".to_owned(), json!("Two\nlines"));
        // Buttons of their own publish and hide an ad.
        example.remove("visible");
        let shown = FormValues::of_ad(&example, category, true);
        assert_eq!(sent_back(&shown, category, true).payload(category), example, "{vehicle_type}");
        let shown = FormValues::of_ad(&example, category, false);
        let patch = sent_back(&shown, category, false).patch(&example, category);
        assert_eq!(patch, Map::new(), "{vehicle_type}");
    }
}

#[test]
fn texts_become_the_types_of_their_fields() {
    let values = sent(
        &[
            ("source_id", "c 1"),
            ("image_urls", " https://a.example/1.jpg\r\n\r\nhttps://a.example/2.jpg"),
            ("price.0.type", ""),
            ("price.0.amount", " "),
            ("price.2.type", "list"),
            ("price.2.amount", "199\u{a0}900,50"),
            ("category_fields.model_year", "2021"),
            ("category_fields.condition.mileage.value", "8 500"),
            ("category_fields.condition.mileage.unit", "mil"),
            ("category_fields.powertrain.power.value", ""),
            ("category_fields.powertrain.power.unit", "hp"),
            ("category_fields.powertrain.fuels", ""),
            ("category_fields.powertrain.fuels", "diesel"),
            ("category_fields.powertrain.fuels", "electric"),
            ("category_fields.has_damages", "false"),
            ("category_fields.physics.number_of_seats", "five"),
        ],
        true,
    );
    let payload = json!({
        "category_id": 1020,
        "source_id": "c 1",
        "image_urls": ["https://a.example/1.jpg", "https://a.example/2.jpg"],
        "price": [{"type": "list", "amount": 199_900.5}],
        "category_fields": {
            "model_year": 2021,
            "condition": {"mileage": {"value": 8500, "unit": "mil"}},
            "powertrain": {"fuels": ["diesel", "electric"]},
            "has_damages": false,
            "physics": {"number_of_seats": "five"},
        },
    });
    assert_eq!(json!(values.payload(car())), payload);
}

#[test]
fn an_edit_sends_what_differs_and_leaves_what_the_form_does_not_have() {
    let ad = object(json!({
        "body": "Old",
        "url": "https://a.example/",
        "price": [{"type": "list", "amount": 1.0, "currency": "SEK"}],
        "unknown": 1,
        "location": {"zipcode": "90326"},
        "category_fields": {"model_year": 2019, "color": "red", "condition": {"mileage": {"value": 1, "unit": "km"}}},
    }));
    let edited = sent(
        &[
            ("revision", "3"),
            ("body", "New"),
            ("url", ""),
            ("video_url", ""),
            ("price.0.type", "list"),
            ("price.0.amount", "1"),
            ("price.0.currency", "SEK"),
            ("location.zipcode", ""),
            ("category_fields.model_year", "2019"),
            ("category_fields.condition.mileage.value", ""),
            ("category_fields.condition.mileage.unit", "km"),
            ("category_fields.condition.wheels.0.name", ""),
        ],
        false,
    );
    let patch = json!({
        "body": "New",
        "url": null,
        "location": null,
        "price": [{"type": "list", "amount": 1, "currency": "SEK"}],
        "category_fields": {"condition": {"mileage": null}},
    });
    assert_eq!(json!(edited.patch(&ad, car())), patch);
    let emptied = sent(&[("price.0.type", ""), ("price.0.amount", ""), ("price.0.currency", "")], false);
    assert_eq!(json!(emptied.patch(&ad, car())), json!({"price": null}));
    assert_eq!(sent(&[], false).patch(&ad, car()), Map::new());
}

#[test]
fn what_belongs_to_no_field_is_sent_for_the_rules_to_report() {
    let deep = format!("category_fields.{}", "a.".repeat(10_000));
    let values = sent(&[("colour", "red"), ("category_fields.colour", "red"), (&deep, "x")], true);
    let payload = json!(values.payload(car()));
    assert_eq!((&payload["colour"], &payload["category_fields"]["colour"]), (&json!("red"), &json!("red")));
    let patch = json!(sent(&[("category_fields.colour", "red")], false).patch(&Map::new(), car()));
    assert_eq!(patch, json!({"category_fields": {"colour": "red"}}));
}
