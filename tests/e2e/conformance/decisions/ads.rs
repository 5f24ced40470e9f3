//! 10 to 20: what is in an ad.

use serde_json::{Value, json};

use crate::conformance::{
    categories::{on_wheels, wheel_set},
    pattern::{ABSENT, ANY, MORE, laid_over},
    request::{
        TYPES, Who, ad_of, fields, get, patch, post, registered_and_created, validate, validate_field, validate_v3,
    },
    rule::{Rule, decision},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    [whose(), titles(), vehicles(), wheels(), open_fields()].into_iter().flatten().collect()
}

fn whose() -> Vec<Rule> {
    vec![
        decision(10, "source_id in the path", "1 to 255 characters, any text, percent-encoded.")
            .see("e2e::bad_requests::any_source_id_works_in_a_path")
            .by(|trial| Box::pin(encoded(trial))),
        decision(
            11,
            "the same source_id at two dealers",
            "?dealer_code= picks one; without it an ambiguous path is a 400 naming dealer_code.",
        )
        .by(|trial| Box::pin(ambiguous(trial))),
        decision(12, "another vehicle type's path", "A source_id under another vehicle type's path is a 404.").by(
            |trial| {
                Box::pin(async move {
                    let (id, _) = trial.created("transport", &json!({"visible": false})).await;
                    for (vehicle_type, _) in TYPES {
                        for below in ["", "/log"] {
                            let read = get(format!("/v4/{vehicle_type}/{id}{below}"));
                            if vehicle_type == "transport" {
                                trial.accepts(read, 200, json!({})).await;
                            } else {
                                trial.refuses(read, 404, json!({"detail": format!("Not found as {MORE}")})).await;
                            }
                        }
                        if vehicle_type != "transport" {
                            let update = patch(format!("/v4/{vehicle_type}/{id}"), &json!({}));
                            trial.refuses(update, 404, json!({"detail": format!("Not found as {MORE}")})).await;
                        }
                    }
                })
            },
        ),
        decision(
            12,
            "a V3 ad under the types of V4",
            "Found under every type that it may migrate to, in typed lists too.",
        )
        .by(|trial| Box::pin(v3_under_types(trial))),
        decision(12, "the typed log", "/v4/{vehicle_type}/{source_id}/log exists like the other generic paths.")
            .accepts(get("/v4/trailer/trailer-v4-499/log"), json!({"count": ANY}))
            .refuses_with(404, get("/v4/boat/trailer-v4-499/log"), json!({"detail": "Not found as …"})),
        decision(17, "the dealer directory", "A running server sees changes, token revocation too, within a second.")
            .see("e2e::access::a_changed_dealer_is_seen_while_the_server_runs")
            .see("e2e::access::a_revoked_token_stops_working_while_the_server_runs"),
    ]
}

async fn encoded(trial: &Trial) {
    let id = format!("a/b c?d#e%å\"{}", trial.world.number());
    let path = format!("a%2Fb%20c%3Fd%23e%25%C3%A5%22{}", id.rsplit('"').next().unwrap_or_default());
    let over = json!({"source_id": id, "visible": false});
    trial.accepts(post("/v4/bus", &ad_of(1321, &over)), 201, json!({"source_id": id})).await;
    for base in ["/v4/ad", "/v4/bus", "/v3/ad"] {
        trial.accepts(get(format!("{base}/{path}")), 200, json!({"source_id": id})).await;
    }
    trial
        .refuses(get(format!("/v4/bus/{}", path.to_lowercase().replace("c3", "c4"))), 404, json!({"detail": MORE}))
        .await;
}

async fn ambiguous(trial: &Trial) {
    let id = trial.id();
    for who in [Who::North, Who::Coast] {
        let boat = ad_of(1060, &json!({"source_id": id, "visible": false}));
        trial.accepts(post("/v4/boat", &boat).by(who), 201, json!({"source_id": id})).await;
    }
    let path = format!("/v4/boat/{id}");
    let which = json!({"dealer_code": ["Several dealers have this source_id; …"]});
    for request in
        [get(&path), patch(&path, &json!({"body": "x"})), get(format!("{path}/log")), get(format!("{path}/retry"))]
    {
        trial.refuses(request.by(Who::Group), 400, which.clone()).await;
    }
    for dealer in ["north-cars", "coast-boats"] {
        let one = json!({"dealer_code": dealer});
        trial.accepts(get(format!("{path}?dealer_code={dealer}")).by(Who::Group), 200, one.clone()).await;
        let update = patch(format!("{path}?dealer_code={dealer}"), &json!({"body": dealer})).by(Who::Group);
        trial.accepts(update, 200, json!({"dealer_code": dealer, "body": dealer})).await;
    }
    trial
        .refuses(get(format!("{path}?dealer_code=south-cars")).by(Who::Group), 404, json!({"detail": "Not found.…"}))
        .await;
}

async fn v3_under_types(trial: &Trial) {
    for (category, under) in
        [(1222, &["agriculture-thresher", "agriculture-tractor"][..]), (1221, &["bus", "truck"]), (1067, &["boat"])]
    {
        let id = trial.created_v3(category, &json!({"visible": false})).await;
        for (vehicle_type, _) in TYPES {
            let found = under.contains(&vehicle_type);
            let listed = get(format!("/v4/{vehicle_type}?source_id={id}"));
            trial.accepts(listed, 200, json!({"count": usize::from(found)})).await;
            let read = get(format!("/v4/{vehicle_type}/{id}"));
            if found {
                trial.accepts(read, 200, json!({"category_id": category, "api_version": "v3"})).await;
            } else {
                trial.refuses(read, 404, json!({"detail": "Not found as …"})).await;
            }
        }
    }
}

fn titles() -> Vec<Rule> {
    let titled = |vehicle_type: &str, over: Value, title: &str| {
        (validate(vehicle_type, &json!({"category_fields": over})), json!({"title": title}))
    };
    let volvo = json!({"brand": "volvo", "model": "xc60", "model_type": "T6 AWD", "model_year": 2022});
    let cases = [
        titled("car", volvo, "Volvo XC60 T6 AWD 2022"),
        titled("car", json!({"brand": "bmw"}), "BMW 2019"),
        titled("car", json!({"model_type": "Kombi"}), "Kombi 2019"),
        titled("motorcycle", json!({"brand": "yamaha", "model": "MT-07"}), "Yamaha MT-07 2019"),
        titled("caravan", json!({"model": "Royal 560"}), "Royal 560 2019"),
    ];
    let rule = decision(
        16,
        "generated titles",
        "From the display names: brand, model, model_type, model_year; missing parts left out.",
    );
    vec![
        cases
            .into_iter()
            .fold(rule, |rule, (request, shown)| rule.accepts(request, shown))
            .refuses(validate("car", &json!({"title": "Volvo"})), json!({"title": ["Must not be sent for …"]})),
        decision(16, "titles follow", "They follow every update.").by(|trial| {
            Box::pin(async move {
                let over = json!({"visible": false, "category_fields": {"brand": "saab", "model": "9-5"}});
                let (id, created) = trial.created("car", &over).await;
                trial.sees("the title", &json!({"title": "Saab 9-5 2019"}), &created.body);
                let path = format!("/v4/car/{id}");
                for (sent, title) in [
                    (fields("model_year", json!(2010)), "Saab 9-5 2010"),
                    (fields("model_type", json!("Aero")), "Saab 9-5 Aero 2010"),
                    (fields("model", Value::Null), "Saab Aero 2010"),
                    (json!({"title": "Saab Aero 2010"}), "Saab Aero 2010"),
                ] {
                    trial.accepts(patch(&path, &sent), 200, json!({"title": title})).await;
                }
                trial.refuses(patch(&path, &json!({"title": "Mine"})), 400, json!({"title": [MORE]})).await;
            })
        }),
    ]
}

fn vehicles() -> Vec<Rule> {
    let used = |owners: Value| {
        validate(
            "car",
            &fields("condition", json!({"mileage": {"unit": "km", "value": 5}, "number_of_owners": owners})),
        )
    };
    let none = json!(["A used vehicle has at least 1 owner; 0 or null only for new vehicles.", MORE]);
    vec![
        decision(18, "owners when unknown", "When new or used is unknown any value from 0 up is accepted.")
            .accepts(
                validate_field("car", "condition.number_of_owners", json!(0)),
                fields("condition.number_of_owners", json!(0)),
            )
            .accepts(
                validate_field("car", "condition.number_of_owners", json!(9)),
                fields("condition.number_of_owners", json!(9)),
            )
            .refuses(
                validate_field("car", "condition.number_of_owners", json!(-1)),
                fields("condition.number_of_owners", json!([says::at_least(0)])),
            ),
        decision(18, "an explicit null counts as present", "Refused for a used vehicle, on create too.")
            .accepts(used(json!(ABSENT)), fields("condition.number_of_owners", json!(ABSENT)))
            .refuses(used(Value::Null), fields("condition.number_of_owners", none.clone()))
            .by(|trial| Box::pin(null_owners(trial))),
        decision(
            18,
            "what is derived is stored",
            "is_new_vehicle, a default body_type and a title are stored and returned.",
        )
        .by(|trial| {
            Box::pin(async move {
                let over = json!({"visible": false, "category_fields": {
                        "condition": {"mileage": {"unit": "mil", "value": 0}}}});
                let (id, _) = trial.created("atv", &over).await;
                let stored = json!({"title": ANY, "category_fields": {
                        "body_type": "atv", "condition": {"is_new_vehicle": true}}});
                trial.accepts(get(format!("/v4/atv/{id}")), 200, stored).await;
            })
        })
        .one_sided("what is added refuses nothing"),
        decision(
            18,
            "plates",
            "Compared and stored in upper case without spaces; one that was absent may be set once.",
        )
        .accepts(
            validate_field("car", "registration_number", json!("abc 12d")),
            fields("registration_number", json!("ABC12D")),
        )
        .refuses(
            validate_field("car", "registration_number", json!("abc 1234")),
            fields("registration_number", json!([says::no_more_characters(6)])),
        )
        .by(|trial| Box::pin(plate_set_once(trial))),
        decision(18, "plate and VIN missing", "The error stands at both.")
            .see("e2e::silences::plate_and_vin_are_not_both_cleared_and_a_vin_may_change"),
        decision(18, "a car's model needs its brand", "A model without a brand is refused at the brand.")
            .accepts(
                validate("car", &json!({"category_fields": {"brand": "saab", "model": "9-5"}})),
                fields("model", json!("9-5")),
            )
            .accepts(validate_field("transport", "model", json!("Any")), fields("model", json!("Any")))
            .refuses(
                validate_field("car", "model", json!("9-5")),
                fields("brand", json!(["This field is required when model is given."])),
            ),
    ]
}

async fn null_owners(trial: &Trial) {
    for vehicle_type in registered_and_created() {
        let over = fields("condition", json!({"is_new_vehicle": false, "number_of_owners": 2}));
        let (id, _) = trial.created(vehicle_type, &laid_over(over, &json!({"visible": false}))).await;
        let cleared = patch(format!("/v4/{vehicle_type}/{id}"), &fields("condition.number_of_owners", Value::Null));
        trial.refuses(cleared, 400, fields("condition.number_of_owners", json!(["A used vehicle has …", MORE]))).await;
    }
}

async fn plate_set_once(trial: &Trial) {
    let vin = json!({"visible": false, "category_fields": {"registration_number": ABSENT, "vin": "YV1UZ8256N1234567"}});
    for vehicle_type in registered_and_created() {
        let (id, _) = trial.created(vehicle_type, &vin).await;
        let path = format!("/v4/{vehicle_type}/{id}");
        let plate = trial.plate();
        let set = |plate: &str| patch(&path, &fields("registration_number", json!(plate)));
        trial.accepts(set(&plate.to_lowercase()), 200, fields("registration_number", json!(plate))).await;
        trial
            .refuses(set("OTHER1"), 400, fields("registration_number", json!(["Cannot change after creation …"])))
            .await;
    }
}

fn wheels() -> Vec<Rule> {
    let depth = |depth: Value| {
        on_wheels(&json!([laid_over(wheel_set("winter"), &json!({"tires": {"rear_right": {"thread_depth": depth}}}))]))
    };
    let rim = |size: Value| on_wheels(&json!([laid_over(wheel_set("winter"), &json!({"rim_size": size}))]));
    let tire =
        |errors: Value| fields("condition.wheels", json!({"0": {"tires": {"rear_right": {"thread_depth": errors}}}}));
    let size = |errors: Value| fields("condition.wheels", json!({"0": {"rim_size": errors}}));
    let rated =
        |ratings: Value| fields("condition", json!({"wheels": [wheel_set("summer")], "vehicle_ratings": ratings}));
    let good = |name: &str| json!({"name": name, "value": "good"});
    let sums =
        [0.0, 7.25, 30.0].into_iter().fold(decision(19, "thread_depth", "Required, in mm, 0 to 30."), |rule, it| {
            rule.accepts(validate("car", &depth(json!(it))), json!({}))
        });
    let rims =
        [10.0, 16.5, 30.0].into_iter().fold(decision(19, "rim_size", "Required, in inches, 10 to 30."), |rule, it| {
            rule.accepts(validate("car", &rim(json!(it))), json!({}))
        });
    vec![
        sums.refuses(validate("car", &depth(json!(-0.1))), tire(json!([says::at_least(0)])))
            .refuses(validate("car", &depth(json!(30.1))), tire(json!([says::at_most(30)])))
            .refuses(validate("car", &depth(json!("7"))), tire(json!([says::NO_NUMBER, says::unquoted("7")])))
            .refuses(validate("car", &depth(json!(ABSENT))), tire(json!([says::REQUIRED]))),
        rims.refuses(validate("car", &rim(json!(9.9))), size(json!([says::at_least(10)])))
            .refuses(validate("car", &rim(json!(30.5))), size(json!([says::at_most(30)])))
            .refuses(validate("car", &rim(json!(ABSENT))), size(json!([says::REQUIRED]))),
        decision(19, "set names are unique", "No two sets of wheels of one name.")
            .accepts(validate("car", &on_wheels(&json!([wheel_set("summer"), wheel_set("winter_studded")]))), json!({}))
            .refuses(
                validate("car", &on_wheels(&json!([wheel_set("summer"), wheel_set("summer")]))),
                fields("condition.wheels", json!({"1": {"name": [says::twice("summer")]}})),
            ),
        decision(19, "ratings", "{name, value}, names unique.")
            .accepts(validate("car", &rated(json!([good("exterior"), good("brakes")]))), json!({}))
            .refuses(
                validate("car", &rated(json!([good("brakes"), good("brakes")]))),
                fields("condition.vehicle_ratings", json!({"1": {"name": [says::twice("brakes")]}})),
            )
            .refuses(
                validate("car", &rated(json!([{"name": "brakes"}]))),
                fields("condition.vehicle_ratings", json!({"0": {"value": [says::REQUIRED]}})),
            ),
        decision(19, "measures are not negative", "Zero is the least.")
            .accepts(
                validate_field("truck", "physics.box_length", json!({"unit": "m", "value": 0})),
                fields("physics.box_length.value", json!(0)),
            )
            .refuses(
                validate_field("truck", "physics.box_length", json!({"unit": "m", "value": -0.01})),
                fields("physics.box_length.value", json!([says::at_least(0)])),
            ),
    ]
}

/// The categories that V3 alone has.
const V3_ONLY: [u16; 14] = [1061, 1062, 1063, 1064, 1065, 1066, 1067, 1122, 1221, 1222, 1223, 1224, 1225, 1226];

fn open_fields() -> Vec<Rule> {
    let any = json!({"brand": "Anything", "hours": 12.5, "new": true,
        "list": ["a", 1, {"b": false}], "deep": {"b": {"c": 1}}});
    let members = |count: usize| (0..count).map(|n| (format!("f{n}"), json!(n))).collect::<serde_json::Map<_, _>>();
    let levels = json!({"a": {"b": {"c": {"d": 1}}}});
    let deeper = json!({"a": {"b": {"c": {"d": {}}}}});
    let with = |category: u16, category_fields: &Value| {
        let mut ad = ad_of(category, &json!({}));
        ad["category_fields"] = category_fields.clone();
        post("/v3/ad/validate", &ad)
    };
    let mut kept = decision(
        20,
        "open category_fields",
        "Optional and open: strings, numbers, booleans, arrays and objects, kept as sent.",
    );
    let mut bounds = decision(20, "bounds of open fields", "At most 64 members a level, 4 levels.");
    let mut heading = decision(
        20,
        "title and contact in V3",
        "V3-only categories need title and contact; for 1122 both are optional.",
    );
    for category in V3_ONLY {
        kept = kept
            .accepts(with(category, &any), json!({"category_fields": any}))
            .accepts(validate_v3(category, &json!({"category_fields": ABSENT})), json!({"category_id": category}))
            .refuses(with(category, &json!(["a"])), json!({"category_fields": [says::NO_OBJECT, says::AN_OBJECT]}));
        bounds = bounds
            .accepts(with(category, &members(64).into()), json!({"category_fields": {"f63": 63}}))
            .accepts(with(category, &levels), json!({"category_fields": levels}))
            .refuses(with(category, &members(65).into()), json!({"category_fields": [says::no_more_elements(64)]}))
            .refuses(
                with(category, &deeper),
                json!({"category_fields": {"a": {"b": {"c": {"d": ["Nested too deeply: …"]}}}}}),
            );
        if category != 1122 {
            let bare = validate_v3(category, &json!({"title": ABSENT, "contact": ABSENT}));
            heading = heading.refuses(bare, json!({"title": [says::REQUIRED], "contact": [says::REQUIRED]}));
        }
    }
    vec![
        kept,
        bounds,
        heading
            .accepts(
                validate_v3(1122, &json!({"title": ABSENT, "contact": ABSENT})),
                json!({"title": "A-tractors", "contact": ABSENT}),
            )
            .accepts(
                validate_v3(1122, &json!({"title": "Epa", "contact": {"email": "bo@boats.example"}})),
                json!({"title": "Epa"}),
            ),
        decision(20, "title of an A-tractor", "A missing title is generated.")
            .accepts(
                validate_v3(
                    1122,
                    &json!({"title": ABSENT, "category_fields": {
                    "brand": "Volvo", "model": "240", "model_year": 1988}}),
                ),
                json!({"title": "Volvo 240 1988"}),
            )
            .one_sided("what is generated refuses nothing"),
        decision(20, "never on the secondary marketplace", "None of the V3-only categories goes there.")
            .by(|trial| Box::pin(primary_only(trial)))
            .one_sided("what is not sent there is left out and not refused"),
        decision(20, "V3 registered categories", "They take the untagged fields of their V4 tables.")
            .accepts(
                validate_v3(1102, &fields("physics.number_of_beds", json!(4))),
                fields("physics.number_of_beds", json!(4)),
            )
            .refuses(
                validate_v3(1102, &fields("physics.number_of_seats", json!(4))),
                fields("physics.number_of_seats", json!([says::NOT_IN_V3])),
            )
            .refuses(
                validate_v3(1102, &fields("physics.depth", json!(4))),
                fields("physics.depth", json!([says::UNKNOWN, MORE])),
            ),
        decision(20, "1122 in V4", "It has no V4 path: V4 can read and delete it.").by(|trial| {
            Box::pin(async move {
                let id = trial.created_v3(1122, &json!({"visible": false})).await;
                trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"category_id": 1122})).await;
                for (vehicle_type, _) in TYPES {
                    let update = patch(format!("/v4/{vehicle_type}/{id}"), &json!({"body": "x"}));
                    trial.refuses(update, 404, json!({"detail": "Not found as …"})).await;
                }
                trial.accepts(patch(format!("/v3/ad/{id}"), &json!({"body": "x"})), 200, json!({"body": "x"})).await;
                let gone = crate::conformance::request::delete(format!("/v4/ad/{id}"));
                trial.accepts(gone, 200, json!({"state": "created"})).await;
            })
        }),
    ]
}

async fn primary_only(trial: &Trial) {
    for category in V3_ONLY {
        let id = trial.created_v3(category, &json!({})).await;
        let published = trial.world.client(Who::North).published(&id).await;
        trial.sees("the ids", &json!({"marketplace_ad_id": ANY, "offer_id": null}), &published);
        trial.accepts(get(format!("/v3/ad/{id}")), 200, json!({"offer_id": null})).await;
    }
}
