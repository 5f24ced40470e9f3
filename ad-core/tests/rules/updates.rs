//! What an update merges, clears and may not touch, and what `null` means (decisions 3, 6, 11 and 12).

use serde_json::{Value, json};

use crate::support::{Desk, accepted, boat, car, car_of, dealer, refused, with, without};

/// The content of an ad after a patch.
fn patched(vehicle_type: &str, payload: Value, patch: Value) -> Value {
    let desk = Desk(dealer());
    let ad = desk.stored(vehicle_type, payload);
    json!(desk.update(&ad, patch).unwrap().content)
}

fn patch_refused(vehicle_type: &str, payload: Value, patch: Value) -> Value {
    let desk = Desk(dealer());
    let ad = desk.stored(vehicle_type, payload);
    desk.update(&ad, patch).unwrap_err()
}

#[test]
fn what_was_read_can_be_sent_back_and_changes_nothing() {
    let desk = Desk(dealer());
    for (vehicle_type, payload) in [("car", car()), ("boat", boat()), ("car", car_of(json!({})))] {
        let ad = desk.stored(vehicle_type, payload);
        let read = json!(ad.view(Some(&[])));
        let updated = desk.update(&ad, read.clone()).unwrap();
        assert_eq!(json!(updated.view(Some(&[]))), read);
    }
}

#[test]
fn what_is_absent_stays_and_what_has_a_value_replaces() {
    let patch =
        json!({"body": "Ny text", "category_fields": {"color": "red", "powertrain": {"transmission": "manual"}}});
    let stored = accepted("car", car());
    assert_eq!(patched("car", car(), patch.clone()), with(&stored, patch));
    assert_eq!(patched("car", car(), json!({})), stored);
}

#[test]
fn arrays_and_the_location_are_replaced_whole() {
    let patch = json!({"image_urls": ["https://cdn.example/9.jpg"], "location": {"zipcode": "11122"},
        "price": [{"type": "monthly", "amount": 99, "currency": "SEK"}], "category_fields": {"equipments": []}});
    let stored = accepted("boat", boat());
    let mut expected = with(&stored, patch.clone());
    expected["location"] = json!({"zipcode": "11122"});
    assert_eq!(patched("boat", boat(), patch), expected);
}

#[test]
fn measures_and_contact_merge_member_by_member() {
    let stored = accepted("boat", boat());
    let patch = json!({"contact": {"name": "Eva"},
        "category_fields": {"max_speed": {"value": 24}, "physics": {"length": {"unit": "cm"}}}});
    let updated = patched("boat", boat(), patch);
    assert_eq!(updated["contact"], json!({"name": "Eva", "phone": "+46701234567", "email": "bo@boats.example"}));
    assert_eq!(updated["category_fields"]["max_speed"], json!({"unit": "knots", "value": 24}));
    assert_eq!(updated["category_fields"]["physics"]["length"], json!({"unit": "cm", "value": 9.5}));
    assert_eq!(updated["category_fields"]["physics"]["width"], stored["category_fields"]["physics"]["width"]);
    assert_eq!(
        patch_refused("boat", boat(), json!({"category_fields": {"max_speed": {"unit": null}}})),
        json!({"category_fields": {"max_speed": {"unit": ["This field may not be null."]}}})
    );
}

#[test]
fn the_merged_ad_is_checked_and_not_only_the_patch() {
    let leased = with(
        &car_of(json!({"leasing_details": {"mileage_remaining": 1200}})),
        json!({"price": [{"type": "leasing", "amount": 3995}]}),
    );
    assert_eq!(
        patch_refused("car", leased, json!({"price": [{"type": "list", "amount": 100}]})),
        json!({"category_fields": {"leasing_details": {"mileage_remaining":
            ["Requires a price of type \"leasing\" on the ad."]}}})
    );
}

#[test]
fn null_is_the_same_as_absent_on_create() {
    let nulls = json!({"price": null, "url": null, "location": null, "visible": null, "title": null, "contact": null,
        "category_fields": {"brand": null, "condition": null, "powertrain": {"power": null, "environmental": null}}});
    assert_eq!(accepted("car", with(&car_of(json!({})), nulls)), accepted("car", car_of(json!({}))));
    assert_eq!(
        refused("car", car_of(json!({"model_year": null}))),
        json!({"category_fields": {"model_year": ["This field is required."]}})
    );
}

#[test]
fn null_clears_a_nullable_field_on_update() {
    let patch = json!({"body": null, "price": null, "image_urls": null, "visible": null,
        "category_fields": {"color": null, "powertrain": {"power": null, "environmental": null}, "physics": null}});
    let mut expected = accepted("car", car());
    for path in [
        "body",
        "price",
        "image_urls",
        "visible",
        "category_fields.color",
        "category_fields.powertrain.power",
        "category_fields.powertrain.environmental",
        "category_fields.physics",
    ] {
        expected = without(expected, path);
    }
    assert_eq!(patched("car", car(), patch), expected);
}

#[test]
fn null_is_an_error_for_a_required_field_on_update() {
    let not_null = json!(["This field may not be null."]);
    assert_eq!(
        patch_refused("car", car(), json!({"category_fields": {"model_year": null}})),
        json!({"category_fields": {"model_year": not_null}})
    );
    assert_eq!(patch_refused("car", car(), json!({"category_fields": null})), json!({"category_fields": not_null}));
    assert_eq!(
        patch_refused("boat", boat(), json!({"title": null, "contact": {"email": null}})),
        json!({"title": ["This field is required."], "contact": {"email": not_null}})
    );
    assert_eq!(
        patch_refused("boat", boat(), json!({"contact": null})),
        json!({"contact": ["This field is required."]})
    );
}

#[test]
fn missing_category_fields_are_one_error() {
    let required = json!({"category_fields": ["This field is required."]});
    assert_eq!(refused("car", without(car(), "category_fields")), required);
    assert_eq!(
        refused("car", with(&car(), json!({"category_fields": []}))),
        json!({"category_fields": ["Expected an object.",
            "Send an object such as {\"body_type\":\"suv\",\"brand\":\"volvo\",\"color\":\"Dark grey metallic\",\"color_group\":\"grey\"}."]})
    );
}

#[test]
fn what_identifies_an_ad_may_be_sent_unchanged_only() {
    let same = json!({"source_id": "boat-8", "dealer_code": "north-cars", "category_id": "1060"});
    assert_eq!(patched("boat", boat(), same), accepted("boat", boat()));
    assert_eq!(
        patch_refused("boat", boat(), json!({"source_id": "b", "dealer_code": null, "category_id": 1020, "body": 5})),
        json!({
            "source_id": ["Cannot be changed (it is \"boat-8\")."],
            "dealer_code": ["Cannot be changed (it is \"north-cars\")."],
            "category_id": ["Cannot be changed (it is 1060)."],
            "body": ["Not a valid string.", "Send \"5\", in quotes."]})
    );
}

#[test]
fn a_car_is_created_under_its_own_category() {
    assert_eq!(
        refused("car", with(&car(), json!({"category_id": 1060}))),
        json!({"category_id": ["\"1060\" is not a valid choice.", "The category of vehicle type \"car\" is 1020.", "Send ads of category 1060 to /v4/boat."]})
    );
}

#[test]
fn a_title_of_another_vehicle_is_refused_and_the_one_that_was_read_is_not() {
    let desk = Desk(dealer());
    let ad = desk.stored("car", car());
    let patch = json!({"title": "Volvo XC60 T6 AWD 2022", "category_fields": {"model_year": 2021}});
    assert_eq!(desk.update(&ad, patch).unwrap().content.title(), Some("Volvo XC60 T6 AWD 2021"));
    let errors = desk.update(&ad, json!({"title": "Säljes billigt"})).unwrap_err();
    assert!(errors["title"][0].as_str().unwrap().starts_with("Must not be sent"), "{errors}");
}

#[test]
fn fields_of_the_answer_are_ignored_with_a_warning() {
    let sent = with(&boat(), json!({"id": 5, "state": "deleted", "image_refs": "x", "log": {}, "created": null}));
    let checked = Desk(dealer()).create("boat", sent).unwrap();
    assert_eq!(json!(checked.content), accepted("boat", boat()));
    let message = "Ignored: only the service sets this field.";
    let ignored = |field| json!({"field": field, "code": "ignored_field", "message": message});
    assert_eq!(json!(checked.warnings), json!(["created", "id", "image_refs", "log", "state"].map(ignored)));
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let checked = Desk(dealer()).create("car", car_of(json!({"leasing_details": {"remaining_months": 5}}))).unwrap();
    assert_eq!(
        json!(checked.warnings),
        json!([
            {"field": "image_urls", "code": "no_images", "message": "The ad has no images."},
            {"field": "price", "code": "no_price", "message": "The ad has no price."},
            {"field": "category_fields.leasing_details", "code": "leasing_details_without_price",
             "message": "The ad has leasing details without a price of type \"leasing\"."}])
    );
    assert_eq!(Desk(dealer()).create("car", car()).unwrap().warnings, []);
}

#[test]
fn a_state_other_than_the_current_one_is_refused() {
    let patched_to = |state: Value| patch_refused("boat", boat(), json!({"state": state}));
    let cannot = "Cannot be set (it is \"created\").";
    assert_eq!(patched_to(json!("deleted")), json!({"state": [cannot, "To delete the ad, send DELETE."]}));
    let set = "Only the service sets it.";
    assert_eq!(patched_to(json!("sold")), json!({"state": [cannot, set, "To delete the ad, send DELETE."]}));
    for same in [json!("created"), json!(null)] {
        assert_eq!(patched("boat", boat(), json!({"state": same})), accepted("boat", boat()));
    }
}

#[test]
fn a_reduced_price_is_compared_with_the_list_price() {
    let desk = Desk(dealer());
    let ad = desk.stored("boat", boat());
    let codes = |price: Value| -> Vec<_> {
        let checked = desk.checked(&ad, json!({"price": price})).unwrap();
        checked.warnings.iter().map(|warning| warning.code.name()).filter(|code| code.starts_with("reduced")).collect()
    };
    let of = |kind: &str, amount: u32| json!({"type": kind, "amount": amount});
    assert_eq!(codes(json!([of("reduced", 100)])), ["reduced_without_list"]);
    assert_eq!(codes(json!([of("reduced", 100), of("list", 100)])), ["reduced_not_below_list"]);
    assert!(codes(json!([of("reduced", 99), of("list", 100)])).is_empty());
    assert!(codes(json!([of("list", 100)])).is_empty());
}
