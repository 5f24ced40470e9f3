//! Types, bounds and spellings of single fields (decision 5), and what a hostile payload may cost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{accepted, alone, boat, car_of, refused, with};

fn car_errors(fields: Value) -> Value {
    refused("car", car_of(fields))["category_fields"].clone()
}

fn car_fields(fields: Value) -> Value {
    accepted("car", car_of(fields))["category_fields"].clone()
}

#[test]
fn a_whole_number_may_be_written_with_a_point() {
    assert_eq!(car_fields(json!({"model_year": 2019.0}))["model_year"].to_string(), "2019");
    assert_eq!(car_errors(json!({"model_year": 2019.5})), json!({"model_year": ["A valid integer is required."]}));
}

#[test]
fn a_number_out_of_bounds_is_told_the_bound_however_large_it_is() {
    let most = json!({"model_year": ["Ensure this value is less than or equal to 2100."]});
    for large in [json!(2101), json!(u64::MAX), json!(i64::MAX), json!(1e18), json!(1e300)] {
        assert_eq!(car_errors(json!({"model_year": large})), most, "{large}");
    }
    let least = json!({"model_year": ["Ensure this value is greater than or equal to 1900."]});
    for small in [json!(1899), json!(0), json!(i64::MIN), json!(-1e300)] {
        assert_eq!(car_errors(json!({"model_year": small})), least, "{small}");
    }
}

#[test]
fn a_string_is_a_number_only_in_the_three_places_of_the_contract() {
    for wrong in [json!("2019 or so"), json!(true), json!([2019]), json!({})] {
        assert_eq!(
            alone(car_errors(json!({"model_year": wrong}))),
            json!({"model_year": ["A valid integer is required."]})
        );
    }
    assert_eq!(
        car_errors(json!({"model_year": "2019", "condition": {"number_of_owners": "1"}, "has_damages": "true"})),
        json!({"model_year": ["A valid integer is required.", "Send 2019, without quotes."],
            "condition": {"number_of_owners": ["A valid integer is required.", "Send 1, without quotes."]},
            "has_damages": ["Must be a valid boolean.", "Send true, without quotes."]})
    );
    let measured = car_fields(json!({"powertrain": {"power": {"unit": "kw", "value": "110.5"}}}));
    assert_eq!(measured["powertrain"]["power"], json!({"unit": "kw", "value": 110.5}));
    let text = with(&car_of(json!({})), json!({"category_id": "1020"}));
    accepted("car", text);
    for wrong in ["", "1 0", "0x10", "1e999", "NaN", "inf", "110,5", "١"] {
        assert_eq!(
            alone(car_errors(json!({"powertrain": {"power": {"unit": "kw", "value": wrong}}}))),
            json!({"powertrain": {"power": {"value": ["A valid number is required."]}}}),
            "{wrong}"
        );
    }
}

#[test]
fn units_and_the_enums_that_say_so_match_in_any_case() {
    let stored = car_fields(json!({
        "powertrain": {"fuels": ["GASOLINE", "Natural_Gas"], "drive_type": "AWD", "power": {"unit": "HP", "value": 200},
            "environmental": {"energy_consumption": {"unit": "KWH/100KM", "value": 18},
                "battery_capacity": {"unit": "kWh", "value": 77}}}}));
    assert_eq!(
        stored["powertrain"],
        json!({"fuels": ["gasoline", "natural_gas"], "drive_type": "awd", "power": {"unit": "hp", "value": 200},
            "environmental": {"energy_consumption": {"unit": "kWh/100km", "value": 18},
                "battery_capacity": {"unit": "kwh", "value": 77}}})
    );
    assert_eq!(
        car_errors(json!({"brand": "Volvo", "powertrain": {"transmission": "Manual"}})),
        json!({"brand": ["\"Volvo\" is not a valid choice.", "Did you mean \"volvo\"?"],
            "powertrain": {"transmission": ["\"Manual\" is not a valid choice.", "Did you mean \"manual\"?"]}})
    );
}

#[test]
fn a_measure_is_a_unit_and_a_value_that_is_not_negative() {
    let of = |power: Value| car_errors(json!({"powertrain": {"power": power}}))["powertrain"]["power"].clone();
    assert_eq!(
        of(json!(110)),
        json!([
            "Expected an object such as {\"unit\": \"hp\", \"value\": 1}.",
            "Send {\"unit\":\"hp\",\"value\":110}, or with another unit: \"kw\"."
        ])
    );
    assert_eq!(
        of(json!({"unit": "ps", "Value": 1})),
        json!({"unit": ["\"ps\" is not a valid choice.", "Did you mean \"hp\"?"], "Value": ["Unknown field.", "Did you mean \"value\"?"]})
    );
    assert_eq!(
        of(json!({"unit": null, "value": -0.5})),
        json!({"unit": ["This field may not be null."], "value": ["Ensure this value is greater than or equal to 0."]})
    );
    assert_eq!(of(json!({"unit": 5, "value": 1}))["unit"][0], json!("\"5\" is not a valid choice."));
}

#[test]
fn a_date_is_a_day_of_the_calendar() {
    let message = json!({"in_traffic_date": ["Date has wrong format. Use one of these formats instead: YYYY-MM-DD."]});
    for wrong in ["2022-3-14", "14/03/2022", "20220314", "2022-W10-1", "2022-03-14T00:00", "", "+002022-03"] {
        assert_eq!(alone(car_errors(json!({"in_traffic_date": wrong}))), message, "{wrong}");
    }
    for wrong in ["2022-02-30", "2026-13-01", "0000-00-00"] {
        let message = json!({"in_traffic_date": ["There is no such day in the calendar."]});
        assert_eq!(alone(car_errors(json!({"in_traffic_date": wrong}))), message, "{wrong}");
    }
    assert_eq!(car_fields(json!({"in_traffic_date": "2024-02-29"}))["in_traffic_date"], json!("2024-02-29"));
}

#[test]
fn an_address_is_absolute_and_has_a_host() {
    let of = |url: &str| with(&boat(), json!({"url": url}));
    for right in [
        "https://a.example",
        "http://a-b.example:8080/x?y#z",
        "https://åäö.example/å ä",
        "https://192.168.0.1/",
        "https://[::1]/x",
        "https://a.example?x",
        "https://user@a.example/",
        "https://x1.2y/",
    ] {
        accepted("boat", of(right));
    }
    for wrong in [
        "",
        "a.example",
        "/x.jpg",
        "https://",
        "https:///",
        "https://a b.example",
        "https://1.2.3.456/",
        "https://0x100.1.2.999/",
        "https://xn--/",
        "https://a.example:99999/",
        "https://[::1/",
    ] {
        assert_eq!(alone(refused("boat", of(wrong))), json!({"url": ["Enter a valid URL."]}), "{wrong}");
    }
    for wrong in ["ftp://a.example/1", "javascript://a.example/%0Aalert(1)", "HTTPX://a.example"] {
        assert_eq!(
            refused("boat", of(wrong)),
            json!({"url": ["Enter a URL that starts with http:// or https://."]}),
            "{wrong}"
        );
    }
}

#[test]
fn lengths_are_counted_in_characters() {
    assert_eq!(car_fields(json!({"warranty": "å".repeat(500)}))["warranty"].as_str().map(str::len), Some(1000));
    assert_eq!(
        car_errors(json!({"warranty": "å".repeat(501)})),
        json!({"warranty": ["Ensure this field has no more than 500 characters."]})
    );
    let id = |length| with(&car_of(json!({})), json!({"source_id": "å".repeat(length)}));
    accepted("car", id(255));
    assert_eq!(refused("car", id(256)), json!({"source_id": ["Ensure this field has no more than 255 characters."]}));
    assert_eq!(refused("car", id(0)), json!({"source_id": ["This field may not be blank."]}));
}

#[test]
fn equipment_is_one_item_per_element() {
    assert_eq!(
        car_errors(json!({"equipments": ["Dragkrok", "AC, GPS", null, 5, ""]})),
        json!({"equipments": {
            "1": ["May not contain \",\"; send one item per element."],
            "2": ["This field may not be null."],
            "3": ["Not a valid string.", "Send \"5\", in quotes."],
            "4": ["This field may not be blank."]}})
    );
}

#[test]
fn an_unknown_field_is_an_error_at_every_level_with_what_was_probably_meant() {
    let mut car = with(
        &car_of(json!({"colour": "red", "condition": {"milage": 1}, "powertrain": {"environmental": {"co2": 1}}})),
        json!({"bodi": "x", "location": {"zipcode": "11122", "zip": "1"}, "price": [{"type": "list", "amount": 1, "vat": 2}]}),
    );
    car["image"] = json!([]);
    let unknown = "Unknown field.";
    let meant = |path: &str| json!([unknown, format!("Did you mean \"{path}\"?")]);
    assert_eq!(
        refused("car", car),
        json!({
            "bodi": meant("body"),
            "image": meant("image_urls"),
            "location": {"zip": meant("zipcode")},
            "price": {"0": {"vat": [unknown]}},
            "category_fields": {
                "colour": meant("color"),
                "condition": {"milage": meant("condition.mileage")},
                "powertrain": {"environmental": {"co2": meant("powertrain.environmental.co2_emission")}}}})
    );
}

#[test]
fn names_with_dots_and_digits_are_only_names() {
    let errors = refused("boat", with(&boat(), json!({"contact.email": "a@b.se", "0": 1, "": 2})));
    let unknown = json!(["Unknown field."]);
    assert_eq!(
        errors,
        json!({"contact.email": ["Unknown field.", "Objects are nested, not joined by dots: send {\"contact\": {\"email\": …}}."],
            "0": unknown, "": unknown})
    );
}

#[test]
fn a_long_wrong_value_is_shown_in_part() {
    let errors = car_errors(json!({"brand": "x".repeat(100_000)}));
    assert_eq!(errors, json!({"brand": [format!("\"{}…\" is not a valid choice.", "x".repeat(80))]}));
}

/// A megabyte of anything, which is what a request may hold, is answered at once. The bound is generous for a debug
/// build on a busy machine; what it guards against takes minutes.
#[test]
fn of_very_many_unknown_fields_a_thousand_are_named_and_the_others_counted() {
    let unknown: serde_json::Map<String, Value> = (0..1005).map(|number| (format!("x{number:04}"), json!(0))).collect();
    let errors = refused("boat", with(&boat(), json!({"category_fields": unknown})));
    let errors = &errors["category_fields"];
    assert_eq!(errors.as_object().unwrap().len(), 1000);
    assert_eq!(errors["x0998"], json!(["Unknown field."]));
    let counted = "5 more fields beside this one are unknown and not listed.";
    assert_eq!(errors["x0999"], json!(["Unknown field.", counted]));
}

#[test]
fn a_hostile_payload_does_not_take_long() {
    let many = 100_000;
    let unknown: serde_json::Map<String, Value> = (0..many).map(|number| (format!("x{number}"), json!(0))).collect();
    let hostile = [
        with(&boat(), json!({"image_urls": vec![""; many]})),
        with(&boat(), json!({"image_urls": (0..many).map(|number| format!("https://a/{number}")).collect::<Vec<_>>()})),
        with(&boat(), json!({"price": vec![json!({"type": "x", "amount": "x"}); many]})),
        with(&boat(), json!({"category_fields": unknown.clone()})),
        with(&boat(), json!({"category_fields": {"physics": {"length": unknown}}})),
        with(&boat(), json!({"category_fields": {"x".repeat(1_000_000): 0}})),
        with(&boat(), json!({"category_fields": {"brand": "x".repeat(1_000_000)}})),
        car_of(json!({"powertrain": {"fuels": vec!["x"; many]}})),
        car_of(json!({"equipments": vec![","; many]})),
    ];
    for payload in hostile {
        let vehicle_type = if payload["category_id"] == 1060 { "boat" } else { "car" };
        let begun = Instant::now();
        refused(vehicle_type, payload);
        // Comparing each item with each other would take minutes; a busy machine does not.
        assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    }
}

#[test]
fn names_and_values_of_other_systems_are_known() {
    let meant = |path: &str| json!(["Unknown field.", format!("Did you mean \"{path}\"?")]);
    let choice = |sent: &str, help: &str| json!([format!("\"{sent}\" is not a valid choice."), help]);
    let mut ad = car_of(json!({"fuel_type": 1, "växellåda": 1, "regnr": "ABC123", "hp": 150, "images": [],
        "color_group": "svart", "brand": "bmw", "model": "320d", "powertrain": {"fuels": ["Bensin"], "gearbox": "Automat"}}));
    ad["brand"] = json!("bmw");
    ad["exteriorColor"] = json!("red");
    ad["location"] = json!({"city": "Umeå"});
    ad["titel"] = json!("BMW");
    let of_ad = "Did you mean \"image_urls\" at the level of the ad, outside category_fields?";
    let model = ["Send \"320d\" as model_type.", "The models of this brand: GET /v4/vehicles/car/models?brand=bmw"];
    assert_eq!(
        refused("car", ad),
        json!({
            "brand": meant("category_fields.brand"),
            "exteriorColor": meant("category_fields.color"),
            "titel": ["Unknown field."],
            "location": ["Send exactly one of: latitude and longitude; zipcode.",
                "city: Unknown field.", "city: Did you mean \"zipcode\"?"],
            "category_fields": {
                "fuel_type": meant("powertrain.fuels"),
                "växellåda": meant("powertrain.transmission"),
                "regnr": meant("registration_number"),
                "hp": meant("powertrain.power"),
                "images": ["Unknown field.", of_ad],
                "color_group": choice("svart", "Did you mean \"black\"?"),
                "model": ["\"320d\" is not a valid choice.", "Did you mean \"3-series\"?", model[0], model[1]],
                "powertrain": {"fuels": {"0": choice("Bensin", "Did you mean \"gasoline\"?")},
                    "gearbox": meant("powertrain.transmission")}}})
    );
    let model = |brand: &str, model: &str| car_errors(json!({"brand": brand, "model": model}))["model"][1].clone();
    for (brand, sent, id) in
        [("volkswagen", "Golf GTI", "golf"), ("mercedes-benz", "C220", "c-class"), ("volvo", "XC 60 T6", "xc60")]
    {
        assert_eq!(model(brand, sent), format!("Did you mean \"{id}\"?"), "{sent}");
    }
    let nowhere = "If none of the values applies, send \"other\" or leave the field out.";
    assert_eq!(car_errors(json!({"brand": "spaceship"}))["brand"].as_array().unwrap().last(), Some(&json!(nowhere)));
    let several = car_errors(json!({"powertrain": {"fuels": ["Bensin/El"]}}));
    assert_eq!(several["powertrain"]["fuels"]["0"][1], "Send several items: \"gasoline\", \"electric\".");
}

#[test]
fn a_plate_is_sent_without_a_hyphen() {
    assert_eq!(
        car_errors(json!({"registration_number": "abc-12y"})),
        json!({"registration_number": ["Ensure this field has no more than 6 characters.",
            "Send it without the hyphen: \"ABC12Y\"."]})
    );
}
