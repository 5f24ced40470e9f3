//! Price, location and contact.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, MORE},
    request::{Request, Who, patch, registered_and_created, unregistered, validate, validate_v3},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    [price(), price_details(), location(), contact()].into_iter().flatten().collect()
}

/// A vehicle with one price.
fn priced(vehicle_type: &str, price: &Value) -> Request {
    validate(vehicle_type, &json!({"price": [price]}))
}

/// What is said about the first price.
fn first(errors: &Value) -> Value {
    json!({"price": {"0": errors}})
}

fn price() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Price object", name, says);
    let of = |kind: &str, amount: u32| json!({"type": kind, "amount": amount});
    let mut every = row("type list", "list is the regular price, in every category.");
    for vehicle_type in registered_and_created().chain(unregistered()) {
        every = every.accepts(priced(vehicle_type, &of("list", 5)), json!({"price": [{"type": "list", "amount": 5}]}));
    }
    let leasing = registered_and_created().fold(
        row("type leasing", "leasing: registered vehicle categories only."),
        |rule, vehicle_type| {
            rule.accepts(priced(vehicle_type, &of("leasing", 5)), json!({"price": [{"type": "leasing"}]}))
        },
    );
    let leasing = unregistered().fold(leasing, |rule, vehicle_type| {
        let errors = first(&json!({"type": ["\"leasing\" is allowed for registered vehicles only."]}));
        rule.refuses(priced(vehicle_type, &of("leasing", 5)), errors)
    });
    let wrong = json!({"type": [says::no_choice("negotiable"),
        says::choices(&["list", "leasing", "monthly", "call"])]});
    vec![
        every
            .refuses(priced("car", &of("negotiable", 5)), first(&wrong))
            .refuses(priced("car", &json!({"amount": 5})), first(&json!({"type": [says::REQUIRED]}))),
        row("type reduced", "reduced: not allowed on POST, only on PUT/PATCH.").by(|trial| Box::pin(reduced(trial))),
        leasing
            .accepts(patch("/v4/trailer/{trailer v4}", &json!({"price": [of("leasing", 9)]})), json!({}))
            .accepts(validate_v3(1020, &json!({"price": [of("leasing", 9)]})), json!({}))
            .refuses(
                validate_v3(1061, &json!({"price": [of("leasing", 9)]})),
                first(&json!({"type": ["\"leasing\" is allowed for registered vehicles only."]})),
            ),
        row("type monthly", "monthly is accepted as well.")
            .decided(&[13])
            .accepts(priced("car", &of("monthly", 5)), json!({"price": [{"type": "monthly"}]}))
            .accepts(priced("boat", &of("monthly", 5)), json!({"price": [{"type": "monthly"}]}))
            .refuses(priced("boat", &of("monthly", 0)), first(&json!({"amount": ["Must be more than 0."]}))),
        row("type call", "call: amount 0.")
            .decided(&[13])
            .accepts(priced("car", &of("call", 0)), json!({"price": [{"type": "call", "amount": 0}]}))
            .refuses(
                priced("car", &of("call", 5)),
                first(&json!({"amount": ["Must be 0 for a price of type \"call\"."]})),
            )
            .refuses(priced("boat", &json!({"type": "call"})), first(&json!({"amount": [says::REQUIRED]}))),
    ]
}

fn price_details() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Price object", name, says).decided(&[13]);
    let amount = |amount: Value| priced("car", &json!({"type": "list", "amount": amount}));
    let currency = |currency: Value| priced("car", &json!({"type": "list", "amount": 5, "currency": currency}));
    let stored = |stored: Value| json!({"price": [{"amount": stored}]});
    let wrong = |message: &str| first(&json!({"amount": [message]}));
    vec![
        row(
            "amount",
            "Whole currency units, not negative, at most two decimals, up to 10^12, stored without rounding.",
        )
        .accepts(amount(json!(149_000)), stored(json!(149_000)))
        .accepts(amount(json!(0.01)), stored(json!(0.01)))
        .accepts(amount(json!(999_999_999_999.99)), stored(json!(999_999_999_999.99)))
        .accepts(amount(json!(1_000_000_000_000_u64)), stored(json!(1_000_000_000_000_u64)))
        .refuses(amount(json!(ABSENT)), wrong(says::REQUIRED))
        .refuses(amount(json!("149 000")), wrong(says::NO_NUMBER))
        .refuses(amount(json!(-1)), wrong(&says::at_least(0)))
        .refuses(amount(json!(0)), wrong("Must be more than 0."))
        .refuses(amount(json!(1.005)), wrong("Ensure that there are no more than 2 decimal places."))
        .refuses(amount(json!(1_000_000_000_001_u64)), wrong(&says::at_most(1_000_000_000_000))),
        row("currency", "Currency code, ISO 4217; defaults to the dealer's.")
            .accepts(currency(json!("NOK")), json!({"price": [{"currency": "NOK"}]}))
            .accepts(amount(json!(5)), json!({"price": [{"currency": "SEK"}]}))
            .accepts(amount(json!(5)).by(Who::South), json!({"price": [{"currency": "EUR"}]}))
            .refuses(currency(json!("KRO")), first(&json!({"currency": [says::no_choice("KRO"), MORE]})))
            .refuses(currency(json!(752)), first(&json!({"currency": [says::NO_TEXT]}))),
        row("one of each type", "At most one object per type.")
            .accepts(
                validate("car", &json!({"price": [{"type": "list", "amount": 5}, {"type": "leasing", "amount": 1}]})),
                json!({"price": [{"type": "list"}, {"type": "leasing"}]}),
            )
            .refuses(
                validate("car", &json!({"price": [{"type": "list", "amount": 5}, {"type": "list", "amount": 6}]})),
                json!({"price": {"1": {"type": [says::twice("list")]}}}),
            ),
        row("no other fields", "A price has type, amount and currency.")
            .refuses(
                priced("car", &json!({"type": "list", "amount": 5, "vat": 25})),
                first(&json!({"vat": [says::UNKNOWN, MORE]})),
            )
            .refuses(
                validate("car", &json!({"price": {"type": "list", "amount": 5}})),
                json!({"price": [says::NO_LIST, says::A_LIST]}),
            )
            .one_sided("its fields are accepted by the rules of their rows"),
    ]
}

async fn reduced(trial: &Trial) {
    let not_on_post = "\"reduced\" is not allowed for a new ad; …";
    let reduced = json!({"price": [{"type": "reduced", "amount": 4000}]});
    let both = json!({"price": [{"type": "list", "amount": 5000}, {"type": "reduced", "amount": 4000}]});
    for vehicle_type in registered_and_created().chain(unregistered()) {
        trial.refuses(validate(vehicle_type, &reduced), 400, first(&json!({"type": [not_on_post]}))).await;
        let errors = json!({"price": {"1": {"type": [not_on_post]}}});
        trial.refuses(validate(vehicle_type, &both), 400, errors).await;
    }
    for vehicle_type in ["car", "boat", "truck"] {
        let (id, _) = trial.created(vehicle_type, &json!({"visible": false})).await;
        let path = format!("/v4/{vehicle_type}/{id}");
        for prices in [&reduced, &both] {
            trial.accepts(patch(&path, prices), 200, prices_of(prices)).await;
            trial.accepts(crate::conformance::request::put(&path, prices), 200, prices_of(prices)).await;
        }
    }
    trial.refuses(validate_v3(1020, &reduced), 400, first(&json!({"type": [not_on_post]}))).await;
    let id = trial.created_v3(1061, &json!({"visible": false})).await;
    trial.accepts(patch(format!("/v3/ad/{id}"), &reduced), 200, prices_of(&reduced)).await;
}

/// The prices as an answer has them.
fn prices_of(sent: &Value) -> Value {
    let prices = sent["price"].as_array().into_iter().flatten();
    let shown: Vec<_> = prices.map(|price| json!({"type": price["type"], "amount": price["amount"]})).collect();
    json!({"price": shown})
}

/// A vehicle at this place.
fn at(vehicle_type: &str, location: &Value) -> Request {
    validate(vehicle_type, &json!({"location": location}))
}

fn location() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Location object", name, says);
    let wrong = |errors: Value| json!({"location": errors});
    let shown = |location: &Value| json!({"location": location});
    let types = || registered_and_created().chain(unregistered());
    let coordinates = json!({"latitude": 59.3293, "longitude": 18.0686});
    let lkf = json!({"lkf": "0180"});
    let refused_lkf = json!({"lkf": ["Not allowed for registered vehicles; …"]});
    let one = "Send exactly one of: latitude and longitude; zipcode.";
    let with_lkf = "Send exactly one of: latitude and longitude; zipcode; lkf.";
    vec![
        row("latitude and longitude", "Both together, all categories; string or number.")
            .decided(&[5, 14])
            .accepts(at("car", &json!({"latitude": "59.3293", "longitude": "18.0686"})), shown(&coordinates))
            .accepts(
                at("boat", &json!({"latitude": -90, "longitude": 180})),
                shown(&json!({"latitude": -90, "longitude": 180})),
            )
            .refuses(at("car", &json!({"latitude": 59.3})), wrong(json!({"longitude": [says::REQUIRED]})))
            .refuses(
                at("car", &json!({"latitude": 1, "longitude": null})),
                wrong(json!({"longitude": [says::REQUIRED]})),
            )
            .refuses(at("car", &json!({"longitude": 18})), wrong(json!({"latitude": [says::REQUIRED]})))
            .refuses(
                at("car", &json!({"latitude": 90.1, "longitude": -180.1})),
                wrong(json!({"latitude": [says::at_most(90)], "longitude": [says::at_least(-180)]})),
            )
            .refuses(
                at("boat", &json!({"latitude": "north", "longitude": true})),
                wrong(json!({"latitude": [says::NO_NUMBER], "longitude": [says::NO_NUMBER]})),
            ),
        types().fold(row("coordinates everywhere", "Coordinates: all categories."), |rule, vehicle_type| {
            rule.accepts(at(vehicle_type, &coordinates), shown(&coordinates))
                .refuses(at(vehicle_type, &json!({"latitude": 1})), wrong(json!({"longitude": [says::REQUIRED]})))
        }),
        types().fold(
            row("zipcode", "Postal code without spaces, 5 digits; all categories.").decided(&[14]),
            |rule, it| {
                let digits = wrong(json!({"zipcode": ["Must be 5 digits."]}));
                rule.accepts(at(it, &json!({"zipcode": "90326"})), shown(&json!({"zipcode": "90326"})))
                    .refuses(at(it, &json!({"zipcode": "903 26"})), digits.clone())
                    .refuses(at(it, &json!({"zipcode": "9032"})), digits)
                    .refuses(
                        at(it, &json!({"zipcode": 90326})),
                        wrong(json!({"zipcode": [says::NO_TEXT, says::in_quotes("90326")]})),
                    )
            },
        ),
        unregistered().fold(
            row("lkf", "4 digits (LK) or 6 digits (LKF), an existing county.").decided(&[14]),
            |rule, it| {
                let digits = wrong(json!({"lkf": ["Must be 4 or 6 digits."]}));
                rule.accepts(at(it, &lkf), shown(&lkf))
                    .accepts(at(it, &json!({"lkf": "248001"})), shown(&json!({"lkf": "248001"})))
                    .refuses(at(it, &json!({"lkf": "01801"})), digits.clone())
                    .refuses(at(it, &json!({"lkf": "AB80"})), digits)
                    .refuses(at(it, &json!({"lkf": "0280"})), wrong(json!({"lkf": ["\"02\" is not the code of …"]})))
            },
        ),
        registered_and_created()
            .fold(row("lkf of registered vehicles", "lkf: not for registered vehicles."), |rule, vehicle_type| {
                rule.refuses(at(vehicle_type, &lkf), wrong(refused_lkf.clone()))
            })
            .accepts(validate_v3(1222, &json!({"location": lkf})), shown(&lkf))
            .accepts(patch("/v4/trailer/{trailer v4}", &json!({"location": {"zipcode": "90326"}})), json!({}))
            .refuses(patch("/v4/trailer/{trailer v4}", &json!({"location": lkf})), wrong(refused_lkf.clone()))
            .refuses(validate_v3(1020, &json!({"location": lkf})), wrong(refused_lkf)),
        row("one of three alternatives", "Exactly one alternative.")
            .decided(&[14])
            .accepts(at("boat", &lkf), shown(&lkf))
            .refuses(at("boat", &json!({"lkf": "0180", "zipcode": "90326"})), wrong(json!([with_lkf])))
            .refuses(at("car", &json!({"latitude": 1, "longitude": 1, "zipcode": "90326"})), wrong(json!([one])))
            .refuses(at("car", &json!({})), wrong(json!([one])))
            .refuses(at("car", &json!({"city": "Umeå"})), wrong(json!([one, MORE]))),
        row("omitted or null", "The ad uses the dealer's address; the response shows location: null.")
            .by(|trial| Box::pin(no_location(trial)))
            .one_sided("leaving it out is always accepted"),
    ]
}

async fn no_location(trial: &Trial) {
    for (vehicle_type, over) in [("car", json!({})), ("boat", json!({"location": null}))] {
        let (id, created) = trial.created(vehicle_type, &over).await;
        trial.sees("the answer", &json!({"location": null}), &created.body);
        let path = format!("/v4/{vehicle_type}/{id}");
        let zipcode = json!({"location": {"zipcode": "11122"}});
        trial.accepts(patch(&path, &zipcode), 200, zipcode.clone()).await;
        // Replaced whole (decision 6), and cleared by null.
        let other = json!({"location": {"latitude": 1, "longitude": 2}});
        trial.accepts(patch(&path, &other), 200, json!({"location": {"zipcode": ABSENT, "latitude": 1}})).await;
        trial.accepts(patch(&path, &json!({"location": null})), 200, json!({"location": null})).await;
    }
}

fn contact() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Contact object", name, says);
    let of = |over: Value| {
        unregistered().map(move |vehicle_type| validate(vehicle_type, &json!({"contact": over}))).collect::<Vec<_>>()
    };
    let accepts = |rule: Rule, over: Value| {
        of(over.clone()).into_iter().fold(rule, |rule, request| rule.accepts(request, json!({"contact": over})))
    };
    let refuses = |rule: Rule, over: Value, errors: Value| {
        of(over).into_iter().fold(rule, |rule, request| rule.refuses(request, json!({"contact": errors})))
    };
    let phone = "Digits only, with an optional leading +, 8 to 16 characters.";
    let mut phones = row("phone", "Digits only, optional leading +, 8 to 16 characters.");
    for good in ["12345678", "+1234567", "1234567890123456", "+123456789012345"] {
        phones = accepts(phones, json!({"phone": good}));
    }
    for bad in ["1234567", "+123456", "12345678901234567", "070-123456", "070 1234567", "1234567+", "++1234567"] {
        phones = refuses(phones, json!({"phone": bad}), json!({"phone": [phone]}));
    }
    vec![
        refuses(
            accepts(row("name", "Seller name."), json!({"name": "Åsa"})),
            json!({"name": 7}),
            json!({"name": [says::NO_TEXT, says::in_quotes("7")]}),
        ),
        phones,
        refuses(
            refuses(
                accepts(row("email", "E-mail address, required."), json!({"email": "a.b+c@north.example"})),
                json!({"email": ABSENT, "name": "Bo"}),
                json!({"email": [says::REQUIRED]}),
            ),
            json!({"email": "bo@"}),
            json!({"email": [says::NO_EMAIL]}),
        ),
        refuses(
            row("no other fields", "A contact has name, phone and email."),
            json!({"mobile": "1"}),
            json!({"mobile": [says::UNKNOWN, MORE]}),
        )
        .one_sided("its fields are accepted by the rules of their rows"),
        interface("Contact object", "never for registered vehicles", "Must not be sent, whatever is in it.")
            .accepts(validate("car", &json!({"contact": null})), json!({"contact": ABSENT}))
            .refuses(
                validate("car", &json!({"contact": {"phone": "1"}})),
                json!({"contact": ["Must not be sent for …"]}),
            )
            .refuses(validate("car", &json!({"contact": "x"})), json!({"contact": ["Must not be sent for …"]})),
    ]
}
