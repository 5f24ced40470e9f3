//! Rules over the fields of the ad around its category fields.

use ad_core::model::Dealer;
use serde_json::{Value, json};

use crate::support::{Desk, accepted, alone, boat, car, dealer, refused, with, without};

const REQUIRED: &str = "This field is required.";

#[test]
fn title_and_contact_are_forbidden_for_registered_vehicles() {
    let sent = json!({"title": "Volvo", "contact": {"email": "not an address"}});
    assert_eq!(
        refused("car", with(&car(), sent)),
        json!({
            "title": ["Must not be sent for vehicle type \"car\": the title is generated from brand, model, model_type and model_year."],
            "contact": ["Must not be sent for vehicle type \"car\": the dealer's own contact is shown."]})
    );
}

#[test]
fn title_and_contact_are_required_for_the_others() {
    let neither = without(without(boat(), "title"), "contact");
    assert_eq!(refused("boat", neither), json!({"title": [REQUIRED], "contact": [REQUIRED]}));
    assert_eq!(
        refused("boat", with(&boat(), json!({"title": ""}))),
        json!({"title": ["This field may not be blank."]})
    );
    assert_eq!(refused("boat", without(boat(), "contact.email")), json!({"contact": {"email": [REQUIRED]}}));
    let empty = with(&without(boat(), "contact"), json!({"contact": {}}));
    assert_eq!(refused("boat", empty), json!({"contact": {"email": [REQUIRED]}}));
}

#[test]
fn a_contact_has_a_phone_of_digits_and_a_plain_address() {
    let phone = json!(["Digits only, with an optional leading +, 8 to 16 characters."]);
    for wrong in ["0701234", "+46701234567890123", "070-123 45 67", "07012345+7", "++4670123456"] {
        let errors = refused("boat", with(&boat(), json!({"contact": {"phone": wrong}})));
        assert_eq!(alone(errors), json!({"contact": {"phone": phone}}), "{wrong}");
    }
    for right in ["07012345", "+467012345678901"] {
        accepted("boat", with(&boat(), json!({"contact": {"phone": right}})));
    }
    for wrong in [
        "bo",
        "bo@",
        "@boats.example",
        "bo@boats",
        "Bo Ek <bo@boats.example>",
        "bo@[127.0.0.1]",
        "bo @boats.example",
        "",
    ] {
        let errors = refused("boat", with(&boat(), json!({"contact": {"email": wrong}})));
        assert_eq!(alone(errors), json!({"contact": {"email": ["Enter a valid email address."]}}), "{wrong}");
    }
}

fn priced(price: &Value) -> Value {
    with(&car(), json!({"price": price}))
}

#[test]
fn a_reduced_price_comes_with_an_update_only() {
    let reduced = json!([{"type": "list", "amount": 200, "currency": "SEK"}, {"type": "reduced", "amount": 100, "currency": "SEK"}]);
    assert_eq!(
        refused("car", priced(&reduced)),
        json!({"price": {"1": {"type": ["\"reduced\" is not allowed for a new ad; send \"list\", and \"reduced\" with a later update.", "Updates are PUT and PATCH."]}}})
    );
    let desk = Desk(dealer());
    let ad = desk.stored("car", car());
    assert_eq!(desk.update(&ad, json!({"price": reduced})).unwrap().content.get("price"), Some(&reduced));
    desk.update(&ad, json!({"price": [{"type": "reduced", "amount": 100}]})).unwrap();
}

#[test]
fn amounts_are_whole_currency_units_with_two_decimals() {
    let of = |kind: &str, amount: Value| priced(&json!([{"type": kind, "amount": amount}]));
    for (kind, amount, message) in [
        ("list", json!(0), "Must be more than 0."),
        ("monthly", json!(0.0), "Must be more than 0."),
        ("list", json!(-1), "Ensure this value is greater than or equal to 0."),
        ("list", json!(1_000_000_000_001_u64), "Ensure this value is less than or equal to 1000000000000."),
        ("list", json!(1.005), "Ensure that there are no more than 2 decimal places."),
        ("call", json!(1), "Must be 0 for a price of type \"call\"."),
        ("list", json!("a hundred"), "A valid number is required."),
    ] {
        assert_eq!(refused("car", of(kind, amount)), json!({"price": {"0": {"amount": [message]}}}), "{kind}");
    }
    for (kind, amount) in [
        ("call", json!(0)),
        ("list", json!(1_000_000_000_000_u64)),
        ("leasing", json!(0.01)),
        ("monthly", json!(99.95)),
    ] {
        let stored = accepted("car", of(kind, amount.clone()));
        assert_eq!(stored["price"], json!([{"type": kind, "amount": amount, "currency": "SEK"}]));
    }
}

#[test]
fn a_price_has_one_object_of_each_type_and_the_dealers_currency() {
    let twice = json!([{"type": "list", "amount": 1}, {"type": "call", "amount": 0}, {"type": "list", "amount": 2}]);
    assert_eq!(
        refused("car", priced(&twice)),
        json!({"price": {"2": {"type": ["\"list\" occurs twice in this list."]}}})
    );
    let of = |currency: Value| priced(&json!([{"type": "list", "amount": 1, "currency": currency}]));
    assert_eq!(
        refused("car", of(json!("sek"))),
        json!({"price": {"0": {"currency": ["\"sek\" is not a valid choice.", "Send an ISO 4217 code such as \"SEK\".",
            "Send \"SEK\", not \"sek\"."]}}})
    );
    let norwegian = Desk(Dealer { currency: "NOK".to_owned(), ..dealer() });
    for (currency, stored) in [(json!(null), "NOK"), (json!("EUR"), "EUR")] {
        let checked = norwegian.create("car", of(currency)).unwrap();
        assert_eq!(checked.content.get("price"), Some(&json!([{"type": "list", "amount": 1, "currency": stored}])));
    }
    assert_eq!(
        refused("car", priced(&json!([{}, {"type": "cash", "amount": 1}, null, 5]))),
        json!({"price": {
            "0": {"amount": [REQUIRED], "type": [REQUIRED]},
            "1": {"type": ["\"cash\" is not a valid choice.", "Valid choices: \"list\", \"leasing\", \"monthly\", \"call\"."]},
            "2": ["This field may not be null."],
            "3": ["Expected an object.",
                "Send an object such as {\"amount\":349900,\"currency\":\"SEK\",\"type\":\"list\"}."]}})
    );
}

#[test]
fn a_leasing_price_is_for_registered_vehicles() {
    assert_eq!(
        refused("boat", with(&boat(), json!({"price": [{"type": "leasing", "amount": 1}]}))),
        json!({"price": {"0": {"type": ["\"leasing\" is allowed for registered vehicles only."]}}})
    );
}

#[test]
fn a_location_is_exactly_one_of_three() {
    let alternatives = json!({"location": ["Send exactly one of: latitude and longitude; zipcode; lkf."]});
    let of = |location: Value| with(&without(boat(), "location"), json!({"location": location}));
    for wrong in [
        json!({}),
        json!({"zipcode": "11122", "lkf": "0180"}),
        json!({"latitude": 59.3, "longitude": 18, "zipcode": "11122"}),
    ] {
        assert_eq!(refused("boat", of(wrong)), alternatives);
    }
    for (location, errors) in [
        (json!({"latitude": 59.3}), json!({"longitude": [REQUIRED]})),
        (
            json!({"longitude": 181, "latitude": -90.5}),
            json!({
            "latitude": ["Ensure this value is greater than or equal to -90."],
            "longitude": ["Ensure this value is less than or equal to 180."]}),
        ),
        (
            json!({"zipcode": "111 22"}),
            json!({"zipcode": ["Must be 5 digits.", "Send \"11122\", not \"111 22\": digits only."]}),
        ),
        (json!({"zipcode": 11122}), json!({"zipcode": ["Not a valid string.", "Send \"11122\", in quotes."]})),
        (json!({"lkf": "01800"}), json!({"lkf": ["Must be 4 or 6 digits."]})),
        (json!({"lkf": "0280"}), json!({"lkf": ["\"02\" is not the code of a Swedish county."]})),
        (json!({"lkf": "åäö"}), json!({"lkf": ["Must be 4 or 6 digits."]})),
    ] {
        assert_eq!(refused("boat", of(location)), json!({"location": errors}));
    }
    for (sent, stored) in [
        (json!({"latitude": "59.33", "longitude": "-18"}), json!({"latitude": 59.33, "longitude": -18})),
        (json!({"zipcode": "11122", "lkf": null}), json!({"zipcode": "11122"})),
        (json!({"lkf": "038004"}), json!({"lkf": "038004"})),
        (json!({"lkf": "0180"}), json!({"lkf": "0180"})),
    ] {
        assert_eq!(accepted("boat", of(sent))["location"], stored);
    }
    assert_eq!(accepted("boat", of(json!(null))).get("location"), None);
    assert_eq!(
        refused("car", with(&car(), json!({"location": {"lkf": "0180"}}))),
        json!({"location": {"lkf": ["Not allowed for registered vehicles; send zipcode, or latitude and longitude."]}})
    );
}

#[test]
fn images_are_at_most_twenty_https_addresses_without_repetition() {
    let of = |urls: &[String]| with(&car(), json!({"image_urls": urls}));
    let numbered =
        |count: usize| (0..count).map(|number| format!("https://cdn.example/{number}.jpg")).collect::<Vec<_>>();
    accepted("car", of(&numbered(20)));
    assert_eq!(
        refused("car", of(&numbered(21))),
        json!({"image_urls": ["Ensure this field has no more than 20 elements."]})
    );
    let wrong = ["https://a.example/1.jpg", "http://a.example/1.jpg", "https://a.example/1.jpg", "1.jpg", ""]
        .map(str::to_owned);
    assert_eq!(
        refused("car", of(&wrong)),
        json!({"image_urls": {
            "1": ["Enter a URL that starts with https://."],
            "2": ["\"https://a.example/1.jpg\" occurs twice in this list."],
            "3": ["Enter a valid URL."],
            "4": ["Enter a valid URL.", "\"\" stands for no value: leave the item out."]}})
    );
    assert_eq!(
        refused("car", with(&car(), json!({"image_urls": "https://a.example/1.jpg"}))),
        json!({"image_urls": ["Expected a list of items.",
            "Send a list, also for one item: [\"https://a.example/1.jpg\"]."]})
    );
}

#[test]
fn a_video_is_on_one_of_the_platforms() {
    let of = |url: &str| with(&car(), json!({"video_url": url}));
    for right in ["https://www.youtube.com/watch?v=1", "https://youtu.be/1", "https://player.vimeo.com/video/1"] {
        accepted("car", of(right));
    }
    for wrong in ["https://notyoutube.com/1", "https://youtube.com.evil.example/1"] {
        assert_eq!(
            refused("car", of(wrong)),
            json!({"video_url": ["Send an address at one of: youtube.com, youtu.be, vimeo.com."]})
        );
    }
    assert_eq!(
        refused("car", of("http://youtube.com/1")),
        json!({"video_url": ["Enter a URL that starts with https://."]})
    );
}

#[test]
fn angle_brackets_in_the_body_become_dashes() {
    assert_eq!(accepted("boat", with(&boat(), json!({"body": "<b>5 > 4</b>"})))["body"], json!("-b-5 - 4-/b-"));
}
