//! The rules of single types in `category-fields.md` that are not about one field alone.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, MORE, laid_over},
    request::{Who, ad, category, fields, patch, post, unregistered, validate, validate_v3},
    rule::{Rule, category_fields},
    says,
    trial::Trial,
};

const OWNERS: &str = "A used vehicle has at least 1 owner; 0 or null only for new vehicles.";
const LOCKED: &str = "Cannot change once set (it is …";

pub(super) fn rules() -> Vec<Rule> {
    let mut rules = vec![
        category_fields("Car", "mileage is locked", "Mileage cannot switch between zero and non-zero once set.")
            .by(|trial| Box::pin(mileage_is_locked(trial, "car"))),
        category_fields("Car", "is_new_vehicle is locked", "is_new_vehicle cannot change once set.")
            .by(|trial| Box::pin(new_is_locked(trial, "car"))),
        category_fields("Transport", "mileage is locked", "As Car, the mileage lock included.")
            .by(|trial| Box::pin(mileage_is_locked(trial, "transport")))
            .by(|trial| Box::pin(new_is_locked(trial, "transport"))),
        online_purchase("Car", "car"),
        online_purchase("Transport", "transport"),
        remaining_mileage(),
        wheels("Car", "car"),
        wheels("Transport", "transport"),
        ratings("Car", "car"),
        ratings("Transport", "transport"),
        category_fields("Trailer", "creation is refused", "Creation is refused; the fields are accepted on update.")
            .accepts(patch("/v4/trailer/{trailer v4}", &fields("color", json!("red"))), fields("color", json!("red")))
            .refuses(post("/v4/trailer", &ad("trailer", &json!({}))), json!({"error": "trailer_create_disabled"})),
        category_fields("Boat", "all fields optional", "All fields are optional.")
            .accepts(validate("boat", &json!({"category_fields": {}})), json!({"category_fields": {}}))
            .refuses(
                validate("boat", &json!({"category_fields": ABSENT})),
                json!({"category_fields": [says::REQUIRED]}),
            ),
    ];
    for vehicle_type in ["moped", "snowmobile", "atv"] {
        rules.push(
            category_fields(section(vehicle_type), "body_type default", "body_type has a default.")
                .accepts(validate(vehicle_type, &json!({})), fields("body_type", json!(vehicle_type)))
                .accepts(validate_v3(category(vehicle_type), &json!({})), fields("body_type", json!(vehicle_type)))
                .one_sided("a default refuses nothing"),
        );
    }
    for vehicle_type in ["car", "transport", "motorcycle", "moped", "snowmobile", "atv", "camper"] {
        rules.push(derived(vehicle_type));
    }
    for vehicle_type in ["motorcycle", "moped", "snowmobile", "atv", "camper", "caravan"] {
        rules.push(
            category_fields(section(vehicle_type), "new/used change allowed", "New may become used, and used new.")
                .by(move |trial| Box::pin(new_may_change(trial, vehicle_type)))
                .one_sided("what is allowed refuses nothing"),
        );
    }
    for vehicle_type in ["car", "transport", "motorcycle", "moped", "snowmobile", "atv", "camper", "caravan", "trailer"]
    {
        rules.push(owners(vehicle_type));
    }
    rules.extend(unregistered().map(title_and_contact));
    rules
}

/// The heading of a type in the document.
fn section(vehicle_type: &str) -> &'static str {
    super::sections().iter().find(|(_, it, _)| *it == vehicle_type).map(|(section, ..)| *section).unwrap_or_default()
}

fn mileage(value: u32) -> Value {
    fields("condition.mileage", json!({"unit": "km", "value": value}))
}

async fn mileage_is_locked(trial: &Trial, vehicle_type: &str) {
    for (first, same, other, was) in [(0, 0, 1, "zero"), (5, 70_000, 0, "not zero")] {
        let (id, _) = trial.created(vehicle_type, &laid_over(mileage(first), &json!({"visible": false}))).await;
        let path = format!("/v4/{vehicle_type}/{id}");
        trial.accepts(patch(&path, &mileage(same)), 200, mileage(same)).await;
        let switched =
            format!("Cannot switch between zero and non-zero (it was {was}): new or used is locked at creation.");
        trial.refuses(patch(&path, &mileage(other)), 400, fields("condition.mileage", json!([switched, MORE]))).await;
    }
    // Clearing it leaves the vehicle used.
    let (id, _) = trial.created(vehicle_type, &laid_over(mileage(9000), &json!({"visible": false}))).await;
    let path = format!("/v4/{vehicle_type}/{id}");
    let cleared = fields("condition", json!({"mileage": null, "is_new_vehicle": null}));
    trial.refuses(patch(&path, &cleared), 400, fields("condition.is_new_vehicle", json!([LOCKED, MORE]))).await;
    let clear = patch(&path, &fields("condition.mileage", Value::Null));
    trial.accepts(clear, 200, fields("condition", json!({"mileage": ABSENT, "is_new_vehicle": false}))).await;
    // Where it was not set, it is not locked yet.
    let (id, _) = trial.created(vehicle_type, &json!({"visible": false})).await;
    trial.accepts(patch(format!("/v4/{vehicle_type}/{id}"), &mileage(7)), 200, mileage(7)).await;
}

async fn new_is_locked(trial: &Trial, vehicle_type: &str) {
    let is_new = |is_new: Value| fields("condition.is_new_vehicle", is_new);
    for set in [is_new(json!(true)), mileage(0), is_new(json!(false)), mileage(9000)] {
        let new = set.pointer("/category_fields/condition/is_new_vehicle") == Some(&json!(true)) || set == mileage(0);
        let (id, _) = trial.created(vehicle_type, &laid_over(set, &json!({"visible": false}))).await;
        let path = format!("/v4/{vehicle_type}/{id}");
        trial.accepts(patch(&path, &is_new(json!(new))), 200, is_new(json!(new))).await;
        trial.refuses(patch(&path, &is_new(json!(!new))), 400, is_new(json!([LOCKED, MORE]))).await;
        // Nor is it unlocked by clearing it, and what it was derived from.
        let cleared = fields("condition", json!({"is_new_vehicle": null, "mileage": null}));
        trial.refuses(patch(&path, &cleared), 400, is_new(json!([LOCKED, MORE]))).await;
    }
}

async fn new_may_change(trial: &Trial, vehicle_type: &str) {
    let is_new = |is_new: bool| fields("condition.is_new_vehicle", json!(is_new));
    let (id, _) = trial.created(vehicle_type, &laid_over(is_new(true), &json!({"visible": false}))).await;
    let path = format!("/v4/{vehicle_type}/{id}");
    trial.accepts(patch(&path, &is_new(false)), 200, is_new(false)).await;
    trial.accepts(patch(&path, &is_new(true)), 200, is_new(true)).await;
    if vehicle_type == "caravan" {
        return;
    }
    let (id, _) = trial.created(vehicle_type, &laid_over(mileage(0), &json!({"visible": false}))).await;
    let path = format!("/v4/{vehicle_type}/{id}");
    // What was derived from the mileage follows it.
    trial.accepts(patch(&path, &mileage(12)), 200, laid_over(mileage(12), &is_new(false))).await;
    trial.accepts(patch(&path, &mileage(0)), 200, laid_over(mileage(0), &is_new(true))).await;
}

fn derived(vehicle_type: &'static str) -> Rule {
    let is_new = |is_new: Value| fields("condition.is_new_vehicle", is_new);
    category_fields(section(vehicle_type), "is_new_vehicle is derived", "Derived from mileage if absent.")
        .decided(&[18])
        .accepts(validate(vehicle_type, &mileage(0)), is_new(json!(true)))
        .accepts(validate(vehicle_type, &mileage(1)), is_new(json!(false)))
        .accepts(validate(vehicle_type, &laid_over(mileage(12), &is_new(json!(true)))), is_new(json!(true)))
        .accepts(validate(vehicle_type, &json!({})), fields("condition", json!(ABSENT)))
        .one_sided("a derived value refuses nothing")
}

fn owners(vehicle_type: &'static str) -> Rule {
    let says = "number_of_owners: 0 or null only for new vehicles; used vehicles need at least 1.";
    let rule = category_fields(section(vehicle_type), "owner rule", says).decided(&[18]);
    let of = |is_new: Value, owners: Value| {
        fields("condition", json!({"is_new_vehicle": is_new, "number_of_owners": owners}))
    };
    let sent = |over: &Value| {
        if vehicle_type == "trailer" { patch("/v4/trailer/{trailer v4}", over) } else { validate(vehicle_type, over) }
    };
    let stored = |owners: Value| fields("condition.number_of_owners", owners);
    let errors = || fields("condition.number_of_owners", json!([OWNERS, MORE]));
    let mut rule = rule
        .accepts(sent(&of(json!(true), json!(0))), stored(json!(0)))
        .accepts(sent(&of(json!(true), Value::Null)), stored(json!(ABSENT)))
        .accepts(sent(&of(json!(false), json!(1))), stored(json!(1)))
        // Nobody knows whether it is new.
        .accepts(sent(&fields("condition.number_of_owners", json!(0))), stored(json!(0)))
        // The rule applies when the field is present.
        .accepts(sent(&fields("condition.is_new_vehicle", json!(false))), stored(json!(ABSENT)))
        .refuses(sent(&of(json!(false), json!(0))), errors())
        .refuses(sent(&of(json!(false), Value::Null)), errors());
    if !["caravan", "trailer"].contains(&vehicle_type) {
        let used = laid_over(mileage(5), &fields("condition.number_of_owners", json!(0)));
        rule = rule.refuses(sent(&used), errors());
        let new = laid_over(mileage(0), &fields("condition.number_of_owners", json!(0)));
        rule = rule.accepts(sent(&new), stored(json!(0)));
    }
    rule
}

fn online_purchase(section: &str, vehicle_type: &'static str) -> Rule {
    let says = "Requires the online-purchase product of the dealer; incompatible with leasing prices.";
    let online = fields("online_purchasable", json!(true));
    let leasing = json!({"price": [{"type": "leasing", "amount": 3000}]});
    category_fields(section, "online_purchasable and its product", says)
        .decided(&[17])
        .accepts(validate(vehicle_type, &online), online.clone())
        .accepts(
            validate(vehicle_type, &fields("online_purchasable", json!(false))).by(Who::South),
            fields("online_purchasable", json!(false)),
        )
        .refuses(
            validate(vehicle_type, &online).by(Who::South),
            fields("online_purchasable", json!(["The online-purchase product is not activated for this dealer."])),
        )
        .refuses(
            validate(vehicle_type, &laid_over(online, &leasing)),
            fields("online_purchasable", json!(["Cannot be combined with a price of type \"leasing\"."])),
        )
}

fn remaining_mileage() -> Rule {
    let details = |name: &str| fields(&format!("leasing_details.{name}"), json!(12));
    category_fields("Car", "leasing details", "leasing_details.mileage_remaining requires a leasing price on the ad.")
        .decided(&[17])
        .accepts(
            validate(
                "car",
                &laid_over(details("mileage_remaining"), &json!({"price": [{"type": "leasing", "amount": 3000}]})),
            ),
            details("mileage_remaining"),
        )
        .accepts(validate("car", &details("remaining_months")), details("remaining_months"))
        .accepts(validate("car", &details("initial_payment")), details("initial_payment"))
        .refuses(
            validate(
                "car",
                &laid_over(details("mileage_remaining"), &json!({"price": [{"type": "list", "amount": 3000}]})),
            ),
            fields("leasing_details.mileage_remaining", json!(["Requires a price of type \"leasing\" on the ad."])),
        )
}

pub(in crate::conformance) fn wheel_set(name: &str) -> Value {
    let tire = json!({"thread_depth": 6.5});
    json!({"name": name, "rim_size": 18, "tires":
        {"front_left": tire, "front_right": tire, "rear_left": tire, "rear_right": tire}})
}

/// These wheels, and one rating.
pub(in crate::conformance) fn on_wheels(wheels: &Value) -> Value {
    fields("condition", json!({"wheels": wheels, "vehicle_ratings": [{"name": "engine", "value": "good"}]}))
}

fn wheels(section: &str, vehicle_type: &'static str) -> Rule {
    let says =
        "Max 2 sets, each with name, tires in four positions with thread depth, and rim_size; required with ratings.";
    let at = |errors: Value| fields("condition.wheels", errors);
    let with = |over: Value| on_wheels(&json!([laid_over(wheel_set("summer"), &over)]));
    ["summer", "winter", "winter_studded"]
        .into_iter()
        .fold(category_fields(section, "condition.wheels", says).decided(&[19]), |rule, name| {
            let wheels = json!([wheel_set(name)]);
            rule.accepts(validate(vehicle_type, &on_wheels(&wheels)), at(wheels))
        })
        .accepts(
            validate(vehicle_type, &on_wheels(&json!([wheel_set("summer"), wheel_set("winter")]))),
            at(json!([wheel_set("summer"), wheel_set("winter")])),
        )
        .accepts(
            validate_v3(category(vehicle_type), &on_wheels(&json!([wheel_set("summer")]))),
            at(json!([wheel_set("summer")])),
        )
        .refuses(
            validate(vehicle_type, &on_wheels(&json!(["summer", "winter", "winter_studded"].map(wheel_set)))),
            at(json!([says::no_more_elements(2)])),
        )
        .refuses(
            validate(vehicle_type, &with(json!({"name": "studless"}))),
            at(json!({"0": {"name": [says::no_choice("studless"), MORE]}})),
        )
        .refuses(
            validate(vehicle_type, &with(json!({"tires": {"rear_left": ABSENT}}))),
            at(json!({"0": {"tires": {"rear_left": [says::REQUIRED]}}})),
        )
        .refuses(
            validate(vehicle_type, &with(json!({"tires": {"spare": {"thread_depth": 8}}}))),
            at(json!({"0": {"tires": {"spare": [says::UNKNOWN, MORE]}}})),
        )
        .refuses(
            validate(vehicle_type, &with(json!({"tires": {"front_left": {"thread_depth": ABSENT}}}))),
            at(json!({"0": {"tires": {"front_left": {"thread_depth": [says::REQUIRED]}}}})),
        )
        .refuses(
            validate(vehicle_type, &fields("condition.vehicle_ratings", json!([{"name": "engine", "value": "good"}]))),
            at(json!(["This field is required when vehicle_ratings is given."])),
        )
}

fn ratings(section: &str, vehicle_type: &'static str) -> Rule {
    let says = "Max 5; exterior and interior from very_good to poor, the others by deviation; required with wheels.";
    let rated =
        |ratings: Value| fields("condition", json!({"wheels": [wheel_set("summer")], "vehicle_ratings": ratings}));
    let at = |errors: Value| fields("condition.vehicle_ratings", errors);
    let groups = [
        (&["exterior", "interior"][..], &["very_good", "good", "approved", "poor"][..]),
        (&["engine", "brakes", "equipment"], &["good", "minor_deviation", "greater_deviation"]),
    ];
    let all = json!(
        ["exterior", "interior", "engine", "brakes", "equipment"].map(|name| json!({"name": name, "value": "good"}))
    );
    let mut six = all.clone();
    six.as_array_mut().expect("an array").push(json!({"name": "roof", "value": "good"}));
    let mut rule = category_fields(section, "condition.vehicle_ratings", says)
        .decided(&[19])
        .accepts(validate(vehicle_type, &rated(all.clone())), at(all))
        .refuses(validate(vehicle_type, &rated(six)), at(json!([says::no_more_elements(5)])))
        .refuses(
            validate(vehicle_type, &rated(json!([{"name": "roof", "value": "good"}]))),
            at(json!({"0": {"name": [says::no_choice("roof"), MORE]}})),
        )
        .refuses(
            validate(vehicle_type, &fields("condition.wheels", json!([wheel_set("summer")]))),
            at(json!(["This field is required when wheels is given."])),
        );
    for (index, (names, values)) in groups.iter().enumerate() {
        let foreign = groups[1 - index].1.iter().find(|value| !values.contains(*value)).copied().unwrap_or_default();
        for name in *names {
            for value in *values {
                let rating = json!([{"name": name, "value": value}]);
                rule = rule.accepts(validate(vehicle_type, &rated(rating.clone())), at(rating));
            }
            rule = rule.refuses(
                validate(vehicle_type, &rated(json!([{"name": name, "value": foreign}]))),
                at(json!({"0": {"value": [says::no_choice(foreign), says::choices(values)]}})),
            );
        }
    }
    rule
}

fn title_and_contact(vehicle_type: &'static str) -> Rule {
    category_fields(section(vehicle_type), "title and contact", "Requires title and contact at ad level.")
        .accepts(
            validate(vehicle_type, &json!({"title": "Fine"})),
            json!({"title": "Fine", "contact": {"email": "bo@boats.example"}}),
        )
        .refuses(validate(vehicle_type, &json!({"title": ABSENT})), json!({"title": [says::REQUIRED]}))
        .refuses(validate(vehicle_type, &json!({"contact": ABSENT})), json!({"contact": [says::REQUIRED]}))
        .refuses(
            validate(vehicle_type, &json!({"title": ABSENT, "contact": ABSENT})),
            json!({"title": [says::REQUIRED], "contact": [says::REQUIRED]}),
        )
}
