//! The desired stock compared with stored ads (extensions E8.4, E8.6).

use ad_core::{
    categories::{self, Category, TRAILER},
    model::{Ad, ApiVersion, Content, Dealer},
    rulebook::{Rulebook, WriteContext},
    stock::{ChangeKind, ExistingAd, ListOrder, Obstacle, StockChange, StockComparison, differences},
};
use serde_json::{Value, json};

use crate::support::{Desk, boat, car, car_of, dealer, object, with, without};

/// Compares as the service does, which knows the dealer.
fn compared(ad: &Ad, payload: &Value) -> StockChange {
    by(Some(&dealer()), ad, false, payload)
}

fn by(dealer: Option<&Dealer>, ad: &Ad, is_deleted: bool, payload: &Value) -> StockChange {
    let existing = ExistingAd { ad, is_deleted, failed_images: &[] };
    StockComparison { rulebook: &Rulebook::default(), dealer }.change(object(payload.clone()), Some(existing))
}

fn new(payload: &Value) -> StockChange {
    StockComparison { rulebook: &Rulebook::default(), dealer: Some(&dealer()) }.change(object(payload.clone()), None)
}

/// The changed fields and the patch of an update.
fn update(change: &StockChange) -> Value {
    assert_eq!(change.kind, ChangeKind::Update, "{change:?}");
    let fields: Vec<_> = change.fields.iter().map(|field| field.path.as_str()).collect();
    json!({"fields": fields, "patch": change.body})
}

/// The errors of an invalid change.
fn errors(change: &StockChange) -> Value {
    assert_eq!((change.kind, &change.body, change.fields.len()), (ChangeKind::Invalid, &None, 0), "{change:?}");
    json!(change.obstacle.as_ref().unwrap().errors())
}

fn stored(vehicle_type: &str, payload: &Value) -> Ad {
    Desk(dealer()).stored(vehicle_type, payload.clone())
}

/// The ad after the update.
fn after(ad: &Ad, change: &StockChange) -> Ad {
    Desk(dealer()).update(ad, json!(change.body)).unwrap()
}

fn example(category: &Category) -> Value {
    json!(category.example(ApiVersion::V4, &Rulebook::default()))
}

fn creatable() -> impl Iterator<Item = (&'static str, &'static Category)> {
    categories::typed().filter(|(_, category)| category.id != TRAILER)
}

#[test]
fn an_ad_is_equal_to_the_payload_that_created_it_whatever_its_type() {
    for (vehicle_type, category) in creatable() {
        let payload = example(category);
        let ad = stored(vehicle_type, &payload);
        let unchanged = compared(&ad, &payload);
        assert_eq!((unchanged.kind, unchanged.body), (ChangeKind::Unchanged, None), "{vehicle_type}");
        // And to what an answer shows of it, with the addresses that its images came from.
        let mut shown = json!(ad.view(Some(&[])));
        shown["image_urls"] = payload["image_urls"].clone();
        shown["contact"] = payload.get("contact").cloned().unwrap_or_default();
        shown["state"] = json!("deleted");
        assert_eq!(compared(&ad, &shown).kind, ChangeKind::Unchanged, "{vehicle_type}");
    }
}

#[test]
fn what_is_the_same_after_normalisation_is_unchanged() {
    let ad = stored("car", &car());
    let spelt = with(
        &car(),
        json!({
            "body": null,
            "price": [{"type": "list", "amount": 349_900.0}],
            "category_fields": {
                "registration_number": " abc 123",
                "equipments": ["Backkamera", "Dragkrok", "Adaptiv farthållare", "Motorvärmare"],
                "condition": {"mileage": {"unit": "MIL", "value": 2800.0}},
                "powertrain": {"fuels": ["Electric", "GASOLINE"], "power": {"unit": "HP", "value": 341.0}},
            },
        }),
    );
    let spelt = with(&spelt, json!({"body": car()["body"], "visible": true, "location": null}));
    assert_eq!(compared(&ad, &spelt), compared(&ad, &car()));
    assert_eq!(compared(&ad, &spelt).kind, ChangeKind::Unchanged);
    let other = with(&spelt, json!({"image_urls": ["https://cdn.example.com/2.jpg", "https://cdn.example.com/1.jpg"]}));
    let expected = json!({"fields": ["image_urls"], "patch": {"image_urls": other["image_urls"]}});
    assert_eq!(update(&compared(&ad, &other)), expected, "images have an order");
}

#[test]
fn only_what_differs_is_sent_and_what_is_derived_follows() {
    let ad = stored("car", &car());
    let payload = with(
        &car(),
        json!({"visible": false, "category_fields": {"model_year": 2021, "condition": {"mileage": {"value": 2900}}}}),
    );
    let change = compared(&ad, &payload);
    assert_eq!(
        json!(change.fields),
        json!([
            {"pointer": "/title", "from": "Volvo XC60 T6 AWD 2022", "to": "Volvo XC60 T6 AWD 2021"},
            {"pointer": "/visible", "from": true, "to": false},
            {"pointer": "/category_fields/condition/mileage",
                "from": {"unit": "mil", "value": 2800}, "to": {"unit": "mil", "value": 2900}},
            {"pointer": "/category_fields/model_year", "from": 2022, "to": 2021},
        ])
    );
    let patch = json!({"visible": false,
        "category_fields": {"model_year": 2021, "condition": {"mileage": {"unit": "mil", "value": 2900}}}});
    assert_eq!(json!(change.body), patch);
    assert_eq!(
        (change.quality.from, change.quality.to),
        (change.quality.to, change.quality.from),
        "nothing about goals"
    );
    assert_eq!(change.title.as_deref(), Some("Volvo XC60 T6 AWD 2021"));
    assert_eq!(compared(&after(&ad, &change), &payload).kind, ChangeKind::Unchanged);
}

#[test]
fn what_a_payload_leaves_out_is_cleared_whatever_its_type() {
    for (vehicle_type, category) in creatable() {
        let full = example(category);
        let mut least = full.clone();
        let names = ["source_id", "category_id", "category_fields", "title", "contact"];
        least.as_object_mut().unwrap().retain(|name, _| names.contains(&name.as_str()));
        // What no update clears: see the next test. And what identifies a vehicle.
        let kept = ["registration_number", "brand", "condition"];
        least["category_fields"].as_object_mut().unwrap().retain(|name, _| {
            let is_needed = category.field(name).is_none_or(|field| field.required) && name != "leasing_details";
            kept.contains(&name.as_str()) || is_needed
        });
        let ad = stored(vehicle_type, &full);
        let change = compared(&ad, &least);
        let patch = update(&change)["patch"].clone();
        assert_eq!((&patch["body"], &patch["price"], &patch["image_urls"]), (&Value::Null, &json!([]), &json!([])));
        let after = after(&ad, &change);
        assert_eq!(compared(&after, &least).kind, ChangeKind::Unchanged, "{vehicle_type}");
        let wanted = stored(vehicle_type, &least);
        let left = differences(category, after.content.fields(), wanted.content.fields(), ListOrder::Counts);
        assert_eq!(left, [], "{vehicle_type}");
        assert!(change.quality.to < change.quality.from, "{vehicle_type}: {:?}", change.quality);
    }
}

#[test]
fn what_cannot_be_cleared_makes_the_change_invalid() {
    let fields = json!({"vin": "YV1UZ8256N1234567", "condition": {"is_new_vehicle": true, "number_of_owners": 1}});
    let payload = car_of(fields);
    let ad = stored("car", &payload);
    assert_eq!(
        errors(&compared(&ad, &without(payload.clone(), "category_fields.registration_number"))),
        json!({"category_fields": {"registration_number": [
            "Left out, but cannot be cleared: Cannot change after creation (it is \"ABC123\"). For another vehicle, create another ad.",
            "To keep it, send \"ABC123\"."
        ]}})
    );
    assert_eq!(
        errors(&compared(&ad, &without(payload, "category_fields.condition.is_new_vehicle"))),
        json!({"category_fields": {"condition": {"is_new_vehicle": [
            "Left out, but cannot be cleared: Cannot change once set (it is true): new or used is locked at creation.",
            "To keep it, send true."
        ]}}})
    );
    let used = stored("car", &car());
    let change = compared(&used, &without(car(), "category_fields.condition.number_of_owners"));
    assert_eq!(
        errors(&change),
        json!({"category_fields": {"condition": {"number_of_owners": [
            "Left out, but cannot be cleared: A used vehicle has at least 1 owner; 0 or null only for new vehicles.",
            "To keep it, send 1."
        ]}}})
    );
    let Some(Obstacle::Fields(wrong)) = change.obstacle else { panic!("fields are wrong") };
    let rules: Vec<_> = wrong.violations().iter().map(|(_, it)| (it.rule(), it.code().unwrap().name())).collect();
    assert_eq!(rules, [(Some("owners"), "conflict")]);
}

#[test]
fn a_derived_value_is_neither_missing_nor_in_the_way() {
    let fields = json!({"condition": {"mileage": {"value": 2800, "unit": "mil"}}});
    let ad = stored("car", &car_of(fields.clone()));
    let is_new = "category_fields.condition.is_new_vehicle";
    assert_eq!(ad.content.get(is_new), Some(&json!(false)), "derived");
    // The mileage is cleared; new or used stays locked, and every later night has nothing to do.
    for dealer in [Some(&dealer()), None] {
        let change = by(dealer, &ad, false, &car_of(json!({})));
        let patch = json!({"category_fields": {"condition": {"mileage": null}}});
        assert_eq!(update(&change), json!({"fields": ["category_fields.condition.mileage"], "patch": patch}));
        let cleared = after(&ad, &change);
        assert_eq!(by(dealer, &cleared, false, &car_of(json!({}))).kind, ChangeKind::Unchanged);
        assert_eq!(
            update(&by(dealer, &cleared, false, &car_of(fields.clone())))["fields"],
            json!(["category_fields.condition.mileage"])
        );
    }
    // Where it is not locked, it follows the mileage.
    let camper = |mileage: u32| {
        let fields = json!({"registration_number": "ABC123", "model_year": 2019, "condition": {"mileage": {"value": mileage, "unit": "mil"}}});
        json!({"source_id": "c", "category_id": categories::by_vehicle_type("camper").unwrap().id, "category_fields": fields})
    };
    let change = compared(&stored("camper", &camper(0)), &camper(7));
    let patch = json!({"category_fields": {"condition": {"mileage": {"unit": "mil", "value": 7}}}});
    assert_eq!(update(&change), json!({"fields": [is_new, "category_fields.condition.mileage"], "patch": patch}));
}

#[test]
fn a_title_may_be_sent_back_and_one_that_is_left_out_is_generated() {
    let ad = stored("car", &car());
    assert_eq!(compared(&ad, &with(&car(), json!({"title": ad.content.title()}))).kind, ChangeKind::Unchanged);
    assert!(errors(&compared(&ad, &with(&car(), json!({"title": "A bargain"}))))["title"].is_array());
    let boats = stored("boat", &boat());
    assert!(errors(&compared(&boats, &without(boat(), "title")))["title"].is_array(), "required");
}

#[test]
fn an_existing_ad_may_have_what_an_update_may_have_and_a_new_one_what_a_create_may_have() {
    let reduced = with(
        &car(),
        json!({"price": [{"type": "list", "amount": 349_900}, {"type": "reduced", "amount": 299_900}], "state": "deleted"}),
    );
    let change = compared(&stored("car", &car()), &reduced);
    let prices = json!([{"type": "list", "amount": 349_900, "currency": "SEK"}, {"type": "reduced", "amount": 299_900, "currency": "SEK"}]);
    assert_eq!(update(&change), json!({"fields": ["price"], "patch": {"price": prices}}));
    let refused = errors(&new(&reduced));
    assert!(refused["price"]["1"]["type"][0].as_str().unwrap().contains("not allowed for a new ad"), "{refused}");

    let created = new(&car());
    assert_eq!((created.kind, json!(created.body)), (ChangeKind::Create, car()), "the payload as it came");
    assert_eq!((created.quality.from, created.quality.to.is_some()), (None, true));
    assert_eq!((created.fields.len(), created.title.as_deref()), (0, Some("Volvo XC60 T6 AWD 2022")));
    let codes = |change: &StockChange| change.warnings.iter().map(|warning| warning.code.name()).collect::<Vec<_>>();
    assert_eq!(codes(&new(&car_of(json!({})))), ["no_images", "no_price"]);
    assert_eq!(codes(&compared(&stored("car", &leased()), &car())), ["price_dropped"]);
    // Rules about the dealer hold where it is known.
    let stranger = with(&car(), json!({"category_fields": {"salesperson": "eve@north.example"}}));
    assert!(errors(&new(&stranger))["category_fields"]["salesperson"].is_array());
    let unknown = StockComparison { rulebook: &Rulebook::default(), dealer: None };
    assert_eq!(unknown.change(object(stranger), None).kind, ChangeKind::Create);
}

/// The car with a leasing price.
fn leased() -> Value {
    with(&car(), json!({"price": [{"type": "list", "amount": 349_900}, {"type": "leasing", "amount": 2_995}]}))
}

#[test]
fn wrong_payloads_are_invalid_with_all_their_errors() {
    let ad = stored("car", &car());
    let wrong = with(&car(), json!({"visible": "ja", "category_fields": {"brand": "wolvo", "colour": "red"}}));
    let told = errors(&compared(&ad, &wrong));
    assert!(told["visible"].is_array() && told["category_fields"]["brand"].is_array(), "{told}");
    assert!(told["category_fields"]["colour"].is_array(), "{told}");
    for category in [json!(null), json!(4711), json!("car")] {
        let told = errors(&compared(&ad, &with(&car(), json!({"category_id": category}))));
        assert!(told["category_id"].is_array(), "{category}: {told}");
    }
    let plate = errors(&compared(&ad, &with(&car(), json!({"category_fields": {"registration_number": "XYZ987"}}))));
    let told = plate["category_fields"]["registration_number"][0].as_str().unwrap();
    assert!(told.starts_with("Cannot change after creation"), "{plate}");
    let switched = with(&car(), json!({"category_fields": {"condition": {"mileage": {"value": 0}}}}));
    assert!(errors(&compared(&ad, &switched))["category_fields"]["condition"]["mileage"].is_array());
}

#[test]
fn what_no_update_can_do_is_said_with_a_cure() {
    let obstacle = |change: StockChange| {
        let errors = errors(&change);
        (change.obstacle.unwrap(), errors)
    };
    let ad = stored("car", &car());
    let (deleted, told) = obstacle(by(None, &ad, true, &car()));
    assert_eq!(deleted, Obstacle::Deleted { is_registered: true });
    assert_eq!(
        told,
        json!({"source_id": ["The ad is deleted; a registered vehicle cannot be revived, and its source_id cannot be reused.", "Send another source_id."]})
    );
    let (other, told) = obstacle(compared(&ad, &with(&boat(), json!({"source_id": "car-1"}))));
    assert_eq!(other, Obstacle::OtherCategory { id: 1020 });
    assert_eq!(
        told,
        json!({"category_id": ["Cannot be changed (it is 1020).", "For another vehicle, send another source_id."]})
    );
    let moped = example(categories::by_vehicle_type("moped").unwrap());
    let of_v3 = |category_id: u16| Ad { category_id, api_version: ApiVersion::V3, ..stored("moped", &moped) };
    let (migrate, told) = obstacle(compared(&of_v3(1121), &moped));
    assert_eq!(migrate, Obstacle::MustMigrate { into_category: true });
    assert!(told["source_id"][1].as_str().unwrap().starts_with("Migrate the ad first, or send another"), "{told}");
    let (migrate, _) = obstacle(compared(&of_v3(1122), &moped));
    assert_eq!(migrate, Obstacle::MustMigrate { into_category: false });
    let (deleted, _) = obstacle(by(None, &of_v3(1122), true, &moped));
    assert_eq!(deleted, Obstacle::Deleted { is_registered: false });
    let trailer = example(categories::by_vehicle_type("trailer").unwrap());
    let (create, told) = obstacle(new(&trailer));
    assert_eq!(create, Obstacle::TrailerCreateDisabled);
    assert_eq!(told["category_id"][0], "Trailers (category 1045) cannot be created, only updated and deleted.");
    // An ad of V3 that an update converts is one like any other.
    let converts = Ad { api_version: ApiVersion::V3, ..ad };
    assert_eq!(compared(&converts, &car()).kind, ChangeKind::Unchanged);
}

#[test]
fn a_deleted_boat_is_revived() {
    let ad = stored("boat", &boat());
    let revived = by(None, &ad, true, &boat());
    assert_eq!((revived.kind, json!(revived.body), revived.fields.len()), (ChangeKind::Revive, json!({}), 0));
    let other = by(None, &ad, true, &with(&boat(), json!({"body": "New engine"})));
    assert_eq!((other.kind, json!(other.body)), (ChangeKind::Revive, json!({"body": "New engine"})));
    let wrong = by(None, &ad, true, &with(&boat(), json!({"title": ""})));
    assert_eq!(wrong.kind, ChangeKind::Invalid);
}

#[test]
fn a_price_without_a_currency_is_in_the_dealers_or_in_the_known_one() {
    let price = |currency: &str| json!([{"type": "list", "amount": 100, "currency": currency}]);
    let euros = stored("car", &with(&car_of(json!({})), json!({"price": price("EUR")})));
    let bare = with(&car_of(json!({})), json!({"price": [{"type": "list", "amount": 100}]}));
    let change = compared(&euros, &bare);
    assert_eq!(json!(change.fields), json!([{"pointer": "/price", "from": price("EUR"), "to": price("SEK")}]));
    // Who does not know the dealer takes the known currency.
    assert_eq!(by(None, &euros, false, &bare).kind, ChangeKind::Unchanged);
    let two = with(&bare, json!({"price": [{"type": "list", "amount": 100}, {"type": "leasing", "amount": 9}]}));
    let sent = json!(by(None, &euros, false, &two).body)["price"][1].clone();
    assert_eq!(sent, json!({"type": "leasing", "amount": 9, "currency": "EUR"}));
    // If there is none, the service fills it in.
    let change = by(None, &stored("car", &car_of(json!({}))), false, &bare);
    assert_eq!(json!(change.body), json!({"price": [{"type": "list", "amount": 100}]}));
    assert_eq!(
        json!(change.fields),
        json!([{"pointer": "/price", "from": [], "to": [{"type": "list", "amount": 100}]}])
    );
}

#[test]
fn content_that_todays_rules_refuse_is_replaced_by_what_they_accept() {
    let ad = stored("car", &car());
    let mut fields = ad.content.fields().clone();
    fields["category_fields"]["body_type"] = json!("spaceship");
    let ad = Ad { content: Content::from(fields), ..ad };
    let write = WriteContext { category: ad.category().unwrap(), version: ApiVersion::V4, dealer: None };
    assert!(Rulebook::default().update(write, &ad, object(json!({}))).is_err(), "it is refused today");
    let change = compared(&ad, &car());
    assert_eq!(update(&change)["patch"], json!({"category_fields": {"body_type": "suv"}}));
}
