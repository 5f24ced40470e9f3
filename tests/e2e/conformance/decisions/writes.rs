//! 6 to 9: null and merging, the answers to writes, bodies.

use reqwest::Method;
use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE, laid_over},
    request::{Request, Who, ad, delete, fields, get, patch, post, raw, validate, validate_field, validate_v3},
    rule::{Rule, decision},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    [updates(), answers(), bodies()].into_iter().flatten().collect()
}

fn updates() -> Vec<Rule> {
    vec![
        decision(6, "null on create", "null on create means absent.")
            .accepts(
                validate(
                    "car",
                    &json!({"body": null, "price": null, "location": null, "title": null, "contact": null,
                    "category_fields": {"vin": null, "color": null, "condition": null, "body_type": null}}),
                ),
                json!({"body": ABSENT, "category_fields": {"vin": ABSENT, "color": ABSENT, "condition": ABSENT}}),
            )
            .accepts(validate_field("moped", "body_type", json!(null)), fields("body_type", json!("moped")))
            .refuses(
                validate("boat", &json!({"title": null, "contact": null})),
                json!({"title": [says::REQUIRED], "contact": [says::REQUIRED]}),
            ),
        decision(
            6,
            "arrays and location are replaced whole",
            "Other objects, measures included, merge member by member.",
        )
        .by(|trial| Box::pin(replaced_and_merged(trial))),
        decision(6, "the merged ad is validated", "Not only the patch.")
            .by(|trial| Box::pin(merged_is_validated(trial))),
        decision(
            6,
            "merging happens when a write is accepted",
            "The answer shows the result; the worker changes state, refs, ids and log only.",
        )
        .by(|trial| {
            Box::pin(async move {
                let (id, _) =
                    trial.created("car", &json!({"image_urls": [trial.world.images.url("flaky/1/d6.jpg")]})).await;
                // The worker still has the first request.
                let path = format!("/v4/car/{id}");
                trial.accepts(patch(&path, &fields("color", json!("red"))), 200, fields("color", json!("red"))).await;
                trial.accepts(get(&path), 200, fields("color", json!("red"))).await;
            })
        })
        .one_sided("an order of events refuses nothing"),
    ]
}

async fn replaced_and_merged(trial: &Trial) {
    use crate::conformance::categories::{on_wheels, wheel_set};
    let over = laid_over(
        on_wheels(&json!([wheel_set("summer"), wheel_set("winter")])),
        &json!({"visible": false, "price": [{"type": "list", "amount": 9}, {"type": "monthly", "amount": 1}],
            "location": {"latitude": 1, "longitude": 2}, "category_fields": {"equipments": ["a", "b"],
            "powertrain": {"fuels": ["diesel", "electric"], "power": {"unit": "hp", "value": 9}}}}),
    );
    let (id, _) = trial.created("car", &over).await;
    let path = format!("/v4/car/{id}");
    let rating = json!([{"name": "brakes", "value": "good"}]);
    for (sent, shown) in [
        (json!({"price": [{"type": "monthly", "amount": 2}]}), json!({"price": [{"type": "monthly", "amount": 2}]})),
        (json!({"location": {"zipcode": "90326"}}), json!({"location": {"zipcode": "90326", "latitude": ABSENT}})),
        (fields("equipments", json!(["c"])), fields("equipments", json!(["c"]))),
        (
            fields("powertrain.fuels", json!(["ethanol"])),
            fields("powertrain", json!({"fuels": ["ethanol"], "power": {"unit": "hp", "value": 9}})),
        ),
        (
            fields("powertrain.power", json!({"unit": "kw"})),
            fields("powertrain.power", json!({"unit": "kw", "value": 9})),
        ),
        (
            fields("condition.wheels", json!([wheel_set("winter")])),
            fields("condition.wheels", json!([wheel_set("winter")])),
        ),
        (fields("condition.vehicle_ratings", rating.clone()), fields("condition.vehicle_ratings", rating)),
    ] {
        trial.accepts(patch(&path, &sent), 200, shown).await;
    }
    let (boat, _) = trial.created("boat", &json!({"visible": false, "contact": {"phone": "0701234567"}})).await;
    let contact = |contact: Value| patch(format!("/v4/boat/{boat}"), &json!({ "contact": contact }));
    let kept = json!({"contact": {"name": "Bo", "phone": "0701234567", "email": "bo@boats.example"}});
    trial.accepts(contact(json!({"name": "Bo"})), 200, kept).await;
    let cleared = json!({"contact": {"name": "Bo", "phone": ABSENT, "email": "bo@boats.example"}});
    trial.accepts(contact(json!({"phone": null})), 200, cleared).await;
    trial.refuses(contact(json!({"email": null})), 400, json!({"contact": {"email": [says::NULL]}})).await;
    let half = patch(&path, &json!({"location": {"latitude": 3}}));
    trial.refuses(half, 400, json!({"location": {"longitude": [says::REQUIRED]}})).await;
    let cleared = patch(&path, &fields("powertrain.power", json!({"value": null})));
    trial.refuses(cleared, 400, fields("powertrain.power", json!({"value": [says::NULL]}))).await;
}

async fn merged_is_validated(trial: &Trial) {
    let leasing = json!({"visible": false, "price": [{"type": "leasing", "amount": 9}],
        "category_fields": {"leasing_details": {"mileage_remaining": 900}}});
    let (id, _) = trial.created("car", &leasing).await;
    let path = format!("/v4/car/{id}");
    let requires =
        fields("leasing_details.mileage_remaining", json!(["Requires a price of type \"leasing\" on the ad."]));
    trial.refuses(patch(&path, &json!({"price": [{"type": "list", "amount": 9}]})), 400, requires).await;
    let both = json!({"price": [{"type": "list", "amount": 9}], "category_fields": {"leasing_details": null}});
    trial
        .accepts(
            patch(&path, &both),
            200,
            json!({"price": [{"type": "list"}], "category_fields": {"leasing_details": ABSENT}}),
        )
        .await;
}

fn answers() -> Vec<Rule> {
    vec![
        decision(7, "bump, pole_position, retry and migrate", "Answer 200 with the ad, as DELETE does.")
            .by(|trial| Box::pin(acts_answer_with_the_ad(trial)))
            .refuses_with(404, get("/v4/ad/none/retry"), json!({"detail": "Not found.…"})),
        decision(7, "validate", "200 {valid, ad, warnings}, and a 400 exactly like the create would.")
            .see("e2e::life::validate_says_what_a_create_would_say_and_stores_nothing")
            .by(|trial| Box::pin(validate_answers(trial))),
        decision(7, "validate and source_id", "validate accepts an unsaved source_id or none.")
            .accepts(validate("car", &json!({"source_id": "not-saved-yet"})), json!({"source_id": "not-saved-yet"}))
            .accepts(validate("car", &json!({})), json!({"source_id": null}))
            .accepts(validate_v3(1020, &json!({})), json!({"source_id": null}))
            .refuses(validate("car", &json!({"source_id": ""})), json!({"source_id": [says::BLANK]}))
            // With another error it is not demanded either.
            .refuses(validate_v3(1, &json!({})), json!({"category_id": [says::no_choice("1"), MORE]})),
        decision(7, "warnings", "Leasing details without a leasing price, no images, no price, a response-only field.")
            .by(|trial| Box::pin(warnings(trial)))
            .one_sided("a warning refuses nothing"),
        decision(
            8,
            "times",
            "created and updated: UTC, RFC 3339, milliseconds, Z; updated moves on every write and worker's change.",
        )
        .by(|trial| Box::pin(updated_moves(trial)))
        .one_sided("the shape of an answer"),
    ]
}

async fn acts_answer_with_the_ad(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({})).await;
    let ad = json!({"id": ANY, "source_id": id, "category_id": 1020, "state": "created",
        "category_fields": {}, "log": ABSENT});
    for act in ["bump", "pole_position", "retry"] {
        trial.accepts(get(format!("/v4/car/{id}/{act}")), 200, ad.clone()).await;
    }
    trial.accepts(delete(format!("/v4/car/{id}")), 200, ad).await;
}

async fn validate_answers(trial: &Trial) {
    let answer = trial.send(&validate("car", &json!({"source_id": "x"}))).await.json();
    let ad = json!({"source_id": "x", "dealer_code": "north-cars", "category_id": 1020, "title": "2019"});
    trial.sees("the answer", &json!({"valid": true, "ad": ad, "warnings": [{}, {}]}), &answer);
    let wrong = json!({"source_id": "x", "category_id": 1020, "category_fields": {"model_year": 1}});
    let created = trial.send(&post("/v4/car", &wrong)).await.json();
    trial.refuses(post("/v4/car/validate", &wrong), 400, created).await;
}

async fn warnings(trial: &Trial) {
    let both = json!({"price": [{"type": "list", "amount": 1}], "image_urls": ["https://i.example/1.jpg"]});
    for (over, named) in [
        (both.clone(), json!([])),
        (json!({}), json!(["image_urls", "price"])),
        (
            laid_over(both.clone(), &fields("leasing_details.remaining_months", json!(3))),
            json!(["category_fields.leasing_details"]),
        ),
        (laid_over(both, &json!({"log": []})), json!(["log"])),
    ] {
        let answer = trial.send(&validate("car", &over)).await.json();
        let fields: Vec<_> =
            answer["warnings"].as_array().into_iter().flatten().map(|it| it["field"].clone()).collect();
        trial.sees("warned about", &named, &json!(fields));
        trial.accepts(validate("car", &over), 200, json!({})).await;
    }
}

async fn updated_moves(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({})).await;
    trial.ended(&id, "publish", &created).await;
    let published = trial.read(&id).await;
    trial.sees(
        "the worker's change",
        &json!(true),
        &json!(published["updated"].as_str() > created.body["updated"].as_str()),
    );
    let path = format!("/v4/car/{id}");
    let update =
        trial.accepts(patch(&path, &json!({})), 200, json!({"created": published["created"], "updated": ANY})).await;
    trial.sees("a write", &json!(true), &json!(update.body["updated"].as_str() > published["updated"].as_str()));
}

fn bodies() -> Vec<Rule> {
    let (required, numbered) = (json!([says::REQUIRED]), json!([says::REQUIRED, MORE]));
    let send = |body: &str| raw(Method::POST, "/v4/car/validate", body);
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let no_json = json!({"detail": "JSON parse error: …"});
    let large = |bytes: usize| Request { who: Who::North, ..send(&format!("{{\"body\":\"{}\"}}", "x".repeat(bytes))) };
    vec![
        decision(9, "not JSON", "400 with detail.")
            .accepts(send(&format!(" {} ", ad("car", &json!({})))), json!({}))
            .refuses(send("{"), no_json.clone())
            .refuses(send(""), no_json.clone())
            .refuses(send("category_id=1020"), no_json),
        decision(9, "not an object", "400 with detail.")
            .refuses(send("[]"), json!({"detail": "The body must be a JSON object.…"}))
            .refuses(send("null"), json!({"detail": "The body must be a JSON object.…"}))
            .one_sided("objects are what every other rule sends"),
        decision(9, "too deep", "Over 32 levels: 400 with detail.")
            .refuses(send(&nested(33)), json!({"detail": "The body is nested too deeply: at most 32 levels."}))
            .refuses(
                send(&nested(32)),
                json!({"a": [says::UNKNOWN], "category_id": numbered, "category_fields": required}),
            )
            .one_sided("a body of 32 levels is read, and refused for what it says"),
        decision(9, "too large", "Over 1 MiB: 413 with detail.")
            .refuses_with(413, large(1024 * 1024), json!({"detail": "Request body is too large: …"}))
            .refuses(
                large(1024 * 1024 - 20),
                json!({"body": [says::no_more_characters(200_000)], "category_id": numbered,
                    "category_fields": required}),
            )
            .one_sided("a body below the limit is read, and refused for what it says"),
        decision(9, "X-Request-Id", "Every answer carries it; the request_id of a write's log entries is that id.")
            .by(|trial| Box::pin(request_ids(trial)))
            .one_sided("a header of every answer"),
        decision(9, "405 and 404", "A method that the path does not have, with Allow; an unknown path.")
            .see("e2e::bad_requests::an_unknown_path_is_a_404_and_another_method_a_405_that_says_which")
            .by(|trial| Box::pin(not_allowed(trial))),
    ]
}

async fn request_ids(trial: &Trial) {
    for request in
        [get("/v4/ad?limit=1"), get("/v4/ad?x=1"), get("/nowhere"), get("/v4/ad").by(Who::Nobody), send_nothing()]
    {
        let answer = trial.send(&request).await;
        let id = answer.header("x-request-id").unwrap_or_default();
        trial.sees("a UUID", &json!(36), &json!(id.len()));
    }
    let (id, created) = trial.created("car", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let entry = json!({"request_id": created.request_id});
    trial.accepts(get(format!("/v4/car/{id}")), 200, json!({"log": [entry, entry]})).await;
}

fn send_nothing() -> Request {
    raw(Method::POST, "/v4/car", "")
}

async fn not_allowed(trial: &Trial) {
    for (method, path, allow) in [
        (Method::PUT, "/v4/car", "POST, GET, HEAD, OPTIONS"),
        (Method::PUT, "/v4/truck/x/bump", "GET, POST, OPTIONS"),
        (Method::PUT, "/v3/ad/x/migrate", ""),
        (Method::DELETE, "/v3/ad", "POST, GET, HEAD, OPTIONS"),
    ] {
        let request = raw(method, path, "{}");
        let answer = trial.send(&request).await;
        let status = if allow.is_empty() { 404 } else { 405 };
        trial.sees("the Allow header", &json!(allow), &json!(answer.header("allow").unwrap_or_default()));
        trial.refuses(request, status, json!({"detail": MORE})).await;
    }
    trial.accepts(get("/v4/car?limit=1"), 200, json!({})).await;
}
