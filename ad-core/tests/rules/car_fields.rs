//! Rules over the category fields of a car.

use ad_core::{
    catalogue::Catalogue,
    model::{ApiVersion, Content, Dealer},
    rulebook::{Rulebook, WriteContext},
};
use serde_json::{Value, json};

use crate::support::{Desk, accepted, alone, car_of, category, dealer, refused, seller_online, with};

fn km(value: f64) -> Value {
    json!({"unit": "km", "value": value})
}

fn wheels() -> Value {
    let tires = json!({"front_left": {"thread_depth": 6}, "front_right": {"thread_depth": 6.5},
        "rear_left": {"thread_depth": 0}, "rear_right": {"thread_depth": 30}});
    json!([{"name": "summer", "tires": tires, "rim_size": 19}, {"name": "winter", "tires": tires, "rim_size": 17.5}])
}

fn ratings() -> Value {
    json!([{"name": "exterior", "value": "very_good"}, {"name": "engine", "value": "minor_deviation"}])
}

#[test]
fn a_car_has_a_plate_or_a_vin() {
    let missing = json!(["At least one of registration_number and vin is required."]);
    let neither = json!({"source_id": "c", "category_id": 1020, "category_fields": {"model_year": 2019}});
    assert_eq!(
        refused("car", neither.clone()),
        json!({"category_fields": {"registration_number": missing, "vin": missing}})
    );
    accepted("car", with(&neither, json!({"category_fields": {"vin": "YV1UZ8256N1234567"}})));
    assert_eq!(
        refused("car", with(&neither, json!({"category_fields": {"vin": "YV1UZ8256N"}}))),
        json!({"category_fields": {"vin": ["Ensure this field has at least 17 characters."]}})
    );
    assert_eq!(
        refused("car", car_of(json!({"registration_number": "ABC 1234"}))),
        json!({"category_fields": {"registration_number": ["Ensure this field has no more than 6 characters."]}})
    );
}

#[test]
fn new_or_used_is_locked_at_creation() {
    let desk = Desk(dealer());
    let of_mileage = |value| desk.stored("car", car_of(json!({"condition": {"mileage": km(value)}})));
    let switched = |was| {
        json!([format!("Cannot switch between zero and non-zero (it was {was}): new or used is locked at creation.")])
    };
    let changed = |was| json!([format!("Cannot change once set (it is {was}): new or used is locked at creation.")]);
    let patch = |value| json!({"category_fields": {"condition": {"mileage": {"value": value}}}});
    let declare = |is_new| json!({"category_fields": {"condition": {"is_new_vehicle": is_new}}});

    for (before, other, was, is_new) in [(0.0, 5.0, "zero", true), (5.0, 0.0, "not zero", false)] {
        let ad = of_mileage(before);
        assert_eq!(ad.content.get("category_fields.condition.is_new_vehicle"), Some(&json!(is_new)));
        assert_eq!(
            alone(desk.update(&ad, patch(other)).unwrap_err()),
            json!({"category_fields": {"condition": {"mileage": switched(was)}}})
        );
        assert_eq!(
            alone(desk.update(&ad, declare(!is_new)).unwrap_err()),
            json!({"category_fields": {"condition": {"is_new_vehicle": changed(is_new)}}})
        );
        desk.update(&ad, declare(is_new)).unwrap();
    }
    let switched = desk.update(&of_mileage(0.0), patch(5.0)).unwrap_err();
    assert_eq!(
        switched["category_fields"]["condition"]["mileage"][1],
        "If the new vehicle was registered and driven since, delete this ad and create a new one with another source_id."
    );
    desk.update(&of_mileage(5.0), patch(9.0)).unwrap();
    desk.update(&of_mileage(0.0), patch(0.0)).unwrap();
}

#[test]
fn new_or_used_is_not_unlocked_by_clearing_it_first() {
    let desk = Desk(dealer());
    let used = desk.stored("car", car_of(json!({"condition": {"mileage": km(5.0)}})));
    let cleared = desk.update(&used, json!({"category_fields": {"condition": {"mileage": null}}})).unwrap();
    assert_eq!(cleared.content.get("category_fields.condition"), Some(&json!({"is_new_vehicle": false})));
    let locked = json!(["Cannot change once set (it is false): new or used is locked at creation."]);
    for patch in [json!({"condition": null}), json!({"condition": {"mileage": null, "is_new_vehicle": null}})] {
        assert_eq!(
            desk.update(&used, json!({"category_fields": patch})).unwrap_err(),
            json!({"category_fields": {"condition": {"is_new_vehicle": locked}}})
        );
    }
}

#[test]
fn the_lock_of_mileage_outlives_clearing_it_and_is_never_shown() {
    let desk = Desk(dealer());
    for (was, other) in [(0.0, 5.0), (5.0, 0.0)] {
        let ad = desk.stored("car", car_of(json!({"condition": {"mileage": km(was)}})));
        let mut ad = desk.update(&ad, json!({"category_fields": {"condition": {"mileage": null}}})).unwrap();
        assert!(
            !json!(ad.view(None)).to_string().contains("mileage") && !json!(ad.content).to_string().contains("mileage")
        );
        for between in [json!({"body": "x"}), json!({"category_fields": {"condition": {"mileage": null}}})] {
            // As it comes from a database.
            ad.content = Content::stored(ad.content.stored_text().unwrap()).unwrap();
            ad = desk.update(&ad, between).unwrap();
        }
        let errors = desk.update(&ad, json!({"category_fields": {"condition": {"mileage": km(other)}}})).unwrap_err();
        let message = errors["category_fields"]["condition"]["mileage"][0].as_str().unwrap();
        assert!(message.starts_with("Cannot switch between zero and non-zero"), "{errors}");
        ad = desk.update(&ad, json!({"category_fields": {"condition": {"mileage": km(was * 2.0)}}})).unwrap();
        assert!(desk.update(&ad, json!({"category_fields": {"condition": {"mileage": km(other)}}})).is_err());
        assert_eq!(ad.content.cleared_mileage(), None, "it is there again");
    }
    // No client writes what is remembered.
    let ad = desk.stored("car", car_of(json!({})));
    assert!(desk.update(&ad, json!({"cleared_mileage": "zero"})).unwrap_err()["cleared_mileage"].is_array());
}

#[test]
fn what_was_never_said_to_be_new_or_used_may_be_said_later() {
    let desk = Desk(dealer());
    let ad = desk.stored("car", car_of(json!({})));
    let later = desk.update(&ad, json!({"category_fields": {"condition": {"mileage": km(0.0)}}})).unwrap();
    assert_eq!(later.content.get("category_fields.condition.is_new_vehicle"), Some(&json!(true)));
}

#[test]
fn a_plate_cannot_change_but_may_be_set_once() {
    let desk = Desk(dealer());
    let of_plate = |plate| json!({"category_fields": {"registration_number": plate}});
    let refusal = json!({"category_fields": {"registration_number":
        ["Cannot change after creation (it is \"ABC123\"). For another vehicle, create another ad."]}});

    let ad = desk.stored("car", car_of(json!({"vin": "YV1UZ8256N1234567"})));
    for other in [json!("ABC124"), json!(null)] {
        assert_eq!(desk.update(&ad, of_plate(other)).unwrap_err(), refusal);
    }
    assert_eq!(desk.update(&ad, of_plate(json!("abc 123"))).unwrap(), ad);

    let without_plate = desk.stored("car", car_of(json!({"registration_number": null, "vin": "YV1UZ8256N1234567"})));
    let set = desk.update(&without_plate, of_plate(json!("abc 123"))).unwrap();
    assert_eq!(set.content.registration_number().as_deref(), Some("ABC123"));
    assert_eq!(desk.update(&set, of_plate(json!("DEF456"))).unwrap_err(), refusal);
}

#[test]
fn a_used_car_has_an_owner_and_null_counts_as_none() {
    let refusal = json!({"category_fields": {"condition": {"number_of_owners":
        ["A used vehicle has at least 1 owner; 0 or null only for new vehicles.", "Leave the field out if the number is not known."]}}});
    let of = |owners: &Value, condition| {
        with(
            &car_of(json!({"condition": {"number_of_owners": owners}})),
            json!({"category_fields": {"condition": condition}}),
        )
    };
    for owners in [json!(0), json!(null)] {
        for used in [
            json!({"mileage": km(5.0)}),
            json!({"is_new_vehicle": false}),
            json!({"is_new_vehicle": false, "mileage": km(0.0)}),
        ] {
            assert_eq!(refused("car", of(&owners, used)), refusal);
        }
        for new in [json!({"mileage": km(0.0)}), json!({"is_new_vehicle": true, "mileage": km(5.0)}), json!({})] {
            accepted("car", of(&owners, new));
        }
    }
    accepted("car", of(&json!(1), json!({"mileage": km(5.0)})));

    let desk = Desk(dealer());
    let used = desk.stored("car", car_of(json!({"condition": {"mileage": km(5.0), "number_of_owners": 2}})));
    let clear = json!({"category_fields": {"condition": {"number_of_owners": null}}});
    assert_eq!(desk.update(&used, clear).unwrap_err(), refusal);
}

#[test]
fn wheels_and_ratings_go_together() {
    let missing = |what: &str, given| json!({"category_fields": {"condition": {what: [format!("This field is required when {given} is given.")]}}});
    let of = |condition| car_of(json!({"condition": condition}));
    assert_eq!(refused("car", of(json!({"wheels": wheels()}))), missing("vehicle_ratings", "wheels"));
    assert_eq!(refused("car", of(json!({"vehicle_ratings": ratings()}))), missing("wheels", "vehicle_ratings"));
    assert_eq!(
        refused("car", of(json!({"vehicle_ratings": ratings(), "wheels": []}))),
        missing("wheels", "vehicle_ratings")
    );
    let both = accepted("car", of(json!({"wheels": wheels(), "vehicle_ratings": ratings()})));
    assert_eq!(both["category_fields"]["condition"], json!({"wheels": wheels(), "vehicle_ratings": ratings()}));

    let desk = Desk(dealer());
    let ad = desk.stored("car", of(json!({"wheels": wheels(), "vehicle_ratings": ratings()})));
    let one_cleared = json!({"category_fields": {"condition": {"wheels": null}}});
    assert_eq!(desk.update(&ad, one_cleared).unwrap_err(), missing("wheels", "vehicle_ratings"));
}

#[test]
fn each_rating_has_a_value_of_its_own_group() {
    let of = |name, value| {
        let ratings = json!([{"name": name, "value": value}]);
        car_of(json!({"condition": {"wheels": wheels(), "vehicle_ratings": ratings}}))
    };
    let wrong =
        |messages: Value| json!({"category_fields": {"condition": {"vehicle_ratings": {"0": {"value": messages}}}}});
    assert_eq!(
        refused("car", of("interior", "minor_deviation")),
        wrong(json!([
            "\"minor_deviation\" is not a valid choice.",
            "Valid choices: \"very_good\", \"good\", \"approved\", \"poor\"."
        ]))
    );
    assert_eq!(
        refused("car", of("brakes", "very_good")),
        wrong(json!([
            "\"very_good\" is not a valid choice.",
            "Valid choices: \"good\", \"minor_deviation\", \"greater_deviation\"."
        ]))
    );
    assert_eq!(
        refused("car", of("brakes", "godd")),
        wrong(json!(["\"godd\" is not a valid choice.", "Did you mean \"good\"?"]))
    );
    for (name, value) in [("exterior", "poor"), ("equipment", "greater_deviation"), ("engine", "good")] {
        accepted("car", of(name, value));
    }
}

#[test]
fn sets_of_wheels_are_complete_named_once_and_at_most_two() {
    let mut sets = wheels();
    sets[1]["name"] = json!("summer");
    sets[0]["tires"].as_object_mut().unwrap().remove("rear_left");
    sets[0]["tires"]["front_left"] = json!({"thread_depth": 30.5});
    sets[0]["tires"]["front_right"] = json!(6);
    sets[1].as_object_mut().unwrap().remove("rim_size");
    let errors = refused("car", car_of(json!({"condition": {"wheels": sets, "vehicle_ratings": ratings()}})));
    assert_eq!(
        errors["category_fields"]["condition"]["wheels"],
        json!({
            "0": {"tires": {
                "front_left": {"thread_depth": ["Ensure this value is less than or equal to 30."]},
                "front_right": ["Expected an object.", "Send an object such as {\"thread_depth\":6.5}."],
                "rear_left": ["This field is required."]}},
            "1": {"name": ["\"summer\" occurs twice in this list."], "rim_size": ["This field is required."]}
        })
    );
    let three = json!([wheels()[0], wheels()[1], {"name": "winter_studded"}]);
    let errors = refused("car", car_of(json!({"condition": {"wheels": three, "vehicle_ratings": ratings()}})));
    assert_eq!(
        errors["category_fields"]["condition"]["wheels"][0],
        json!("Ensure this field has no more than 2 elements.")
    );
}

#[test]
fn remaining_mileage_needs_a_leasing_price() {
    let leasing = car_of(json!({"leasing_details": {"mileage_remaining": 1200}}));
    assert_eq!(
        refused("car", leasing.clone()),
        json!({"category_fields": {"leasing_details": {"mileage_remaining":
            ["Requires a price of type \"leasing\" on the ad."]}}})
    );
    accepted("car", with(&leasing, json!({"price": [{"type": "leasing", "amount": 3995}]})));
    accepted("car", car_of(json!({"leasing_details": {"remaining_months": 12, "initial_payment": 0}})));
}

#[test]
fn online_purchase_needs_the_product_and_no_leasing_price() {
    const PATH: &str = "/category_fields/online_purchasable";
    let online = car_of(json!({"online_purchasable": true}));
    let leased = with(&online, json!({"price": [{"type": "leasing", "amount": 3995}]}));
    let inactive = "The online-purchase product is not activated for this dealer.";
    let leasing = "Cannot be combined with a price of type \"leasing\".";

    assert_eq!(refused("car", online.clone()).pointer(PATH), Some(&json!([inactive])));
    assert_eq!(refused("car", leased.clone()).pointer(PATH), Some(&json!([inactive, leasing])));
    let desk = Desk(seller_online());
    assert_eq!(desk.create("car", leased).unwrap_err().pointer(PATH), Some(&json!([leasing])));
    desk.create("car", online).unwrap();
    accepted("car", car_of(json!({"online_purchasable": false})));
}

#[test]
fn a_salesperson_is_one_of_the_dealer() {
    let of = |email| car_of(json!({"salesperson": email}));
    accepted("car", of("anna@north.example"));
    accepted("car", of("Anna@North.example"));
    assert_eq!(
        refused("car", of("ana@north.example")),
        json!({"category_fields": {"salesperson": ["\"ana@north.example\" is not a salesperson of dealer \"north-cars\".",
            "Did you mean \"anna@north.example\"?"]}})
    );
    assert_eq!(
        Desk(Dealer::named("south")).create("car", of("anna@north.example")).unwrap_err(),
        json!({"category_fields": {"salesperson": ["\"anna@north.example\" is not a salesperson of dealer \"south\"."]}})
    );

    let desk = Desk(dealer());
    let ad = desk.stored("car", of("anna@north.example"));
    for unset in [json!(null), json!("")] {
        let without = desk.update(&ad, json!({"category_fields": {"salesperson": unset}})).unwrap();
        assert_eq!(without.content.get("category_fields.salesperson"), None);
    }
}

#[test]
fn what_the_directory_no_longer_covers_is_refused_only_where_it_is_sent() {
    let sold = car_of(json!({"salesperson": "anna@north.example", "online_purchasable": true}));
    let ad = Desk(seller_online()).stored("car", sold.clone());
    let desk = Desk(Dealer { salespersons: vec!["eva@north.example".to_owned()], ..dealer() });
    desk.update(&ad, json!({"body": "Lower price"})).unwrap();
    desk.update(&ad, json!({"category_fields": {"color": "red"}})).unwrap();
    for field in ["salesperson", "online_purchasable"] {
        let patch = json!({"category_fields": {field: ad.content.get(&format!("category_fields.{field}"))}});
        assert!(desk.update(&ad, patch).unwrap_err()["category_fields"][field].is_array(), "{field}");
        desk.update(&ad, json!({"category_fields": {field: null}})).unwrap();
    }
    assert!(desk.create("car", sold).is_err(), "a create sends all that it has");
    // What does not depend on the directory holds as before.
    let leasing = json!({"price": [{"type": "leasing", "amount": 1, "currency": "SEK"}]});
    assert!(desk.update(&ad, leasing).unwrap_err()["category_fields"]["online_purchasable"].is_array());

    let write = WriteContext { category: category("car"), version: ApiVersion::V4, dealer: Some(&desk.0) };
    let patch = json!({"body": "x"}).as_object().unwrap().clone();
    let warnings = Rulebook::default().update(write, &ad, patch).unwrap().warnings;
    let warned: Vec<_> = warnings.iter().map(|warning| warning.field.as_str()).collect();
    for field in ["category_fields.salesperson", "category_fields.online_purchasable"] {
        assert!(warned.contains(&field), "{warnings:?}");
    }
}

#[test]
fn values_of_ratings_say_what_they_are_for() {
    let values = category("car").values(&Catalogue::embedded(), "condition.vehicle_ratings.value").unwrap();
    let of = |id: &str| json!(values.iter().find(|entry| entry.id == id).unwrap());
    assert_eq!(of("poor"), json!({"id": "poor", "name": "Poor", "for": ["exterior", "interior"]}));
    assert_eq!(of("minor_deviation")["for"], json!(["engine", "brakes", "equipment"]));
    assert_eq!(of("good")["for"], json!(["exterior", "interior", "engine", "brakes", "equipment"]));
    let names = category("car").values(&Catalogue::embedded(), "condition.vehicle_ratings.name").unwrap();
    assert!(json!(names[0]).get("for").is_none());
}

#[test]
fn a_model_is_one_of_its_brand() {
    let hint = |brand| format!("The models of this brand: GET /v4/vehicles/car/models?brand={brand}");
    accepted("car", car_of(json!({"brand": "volvo", "model": "xc60"})));
    assert_eq!(
        refused("car", car_of(json!({"brand": "volvo", "model": "xc600"}))),
        json!({"category_fields": {"model": ["\"xc600\" is not a valid choice.", hint("volvo")]}})
    );
    assert_eq!(
        refused("car", car_of(json!({"model": "xc60"}))),
        json!({"category_fields": {"brand": ["This field is required when model is given."]}})
    );
    assert_eq!(
        refused("car", car_of(json!({"brand": "wolvo", "model": "xc60"}))),
        json!({"category_fields": {"brand": ["\"wolvo\" is not a valid choice.", "Did you mean \"volvo\"?"]}})
    );
    let desk = Desk(dealer());
    let ad = desk.stored("car", car_of(json!({"brand": "volvo", "model": "xc60"})));
    let errors = desk.update(&ad, json!({"category_fields": {"brand": "bmw"}})).unwrap_err();
    assert_eq!(errors["category_fields"]["model"][0], json!("\"xc60\" is not a valid choice."));
    desk.update(&ad, json!({"category_fields": {"brand": "bmw", "model": null}})).unwrap();
}

#[test]
fn the_title_is_generated_and_follows_every_update() {
    let desk = Desk(dealer());
    let ad = desk.stored("car", car_of(json!({"brand": "mercedes-benz", "model_type": "AMG Line"})));
    assert_eq!(ad.content.title(), Some("Mercedes-Benz AMG Line 2019"));
    let of = |fields| desk.update(&ad, json!({"category_fields": fields})).unwrap();
    assert_eq!(of(json!({"brand": "volvo", "model": "v60"})).content.title(), Some("Volvo V60 AMG Line 2019"));
    assert_eq!(of(json!({"model_type": null, "model_year": 2020})).content.title(), Some("Mercedes-Benz 2020"));
}
