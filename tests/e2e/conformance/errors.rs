//! `interface.md`, 'Events', 'Errors', 'Limits' and 'Versioning'.

use reqwest::Method;
use serde_json::json;

use super::{
    pattern::{ANY, MORE},
    request::{Who, ad, delete, fields, get, patch, post, put, raw, validate, validate_v3},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    [statuses(), shapes(), limits(), versioning()].into_iter().flatten().collect()
}

fn statuses() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Errors", name, says);
    vec![
        row("200", "GET, PUT, PATCH, DELETE accepted.")
            .by(|trial| {
                Box::pin(async move {
                    let (id, _) = trial.created("bus", &json!({"visible": false})).await;
                    let path = format!("/v4/bus/{id}");
                    for request in [get(&path), put(&path, &json!({})), patch(&path, &json!({})), delete(&path)] {
                        trial.accepts(request, 200, json!({"source_id": id})).await;
                    }
                })
            })
            .one_sided("the refusals have rows of their own"),
        row("201", "POST accepted and queued.")
            .by(|trial| {
                Box::pin(async move {
                    let id = trial.id();
                    let boat = ad("boat", &json!({"source_id": id, "visible": false}));
                    trial.accepts(post("/v4/boat", &boat), 201, json!({"source_id": id})).await;
                })
            })
            .one_sided("the refusals have rows of their own"),
        row("400", "Validation error or business-rule violation.")
            .accepts(validate("car", &json!({})), json!({}))
            .refuses(
                validate("car", &fields("model_year", json!(1))),
                fields("model_year", json!([says::at_least(1900)])),
            ),
        row("401", "Missing or invalid X-Auth-Token.")
            .accepts(get("/v4/car?limit=1"), json!({}))
            .refuses_with(401, get("/v4/car?limit=1").by(Who::Nobody), json!({"detail": MORE}))
            .refuses_with(
                401,
                get("/v4/car?limit=1").by(Who::Bearer("no.jwt.here")),
                json!({"detail": "Invalid token: …"}),
            ),
        row("403", "Token lacks the scope required.")
            .accepts(get("/v4/car?limit=1").by(Who::Reader), json!({}))
            .refuses_with(403, get("/v4/car?limit=1").by(Who::Writer), json!({"detail": MORE})),
        row("404", "source_id does not exist or belongs to another dealer.")
            .accepts(get("/v4/trailer/trailer-v4-499"), json!({"source_id": ANY}))
            .refuses_with(404, get("/v4/trailer/trailer-v4-499").by(Who::South), json!({"detail": "Not found.…"}))
            .refuses_with(404, get("/v4/trailer/trailer-v4-9999"), json!({"detail": "Not found.…"})),
        row("409", "Duplicate source_id on create: object with source_id holding an array of messages.")
            .decided(&[10])
            .by(|trial| {
                Box::pin(async move {
                    let (id, _) = trial.created("bus", &json!({"visible": false})).await;
                    let again = ad("bus", &json!({"source_id": id}));
                    trial.refuses(post("/v4/bus", &again), 409, json!({"source_id": [ANY, MORE]})).await;
                    trial.refuses(post("/v4/bus/validate", &again), 409, json!({"source_id": [ANY, MORE]})).await;
                    let other = ad("bus", &json!({"source_id": format!("{id}-b"), "visible": false}));
                    trial.accepts(post("/v4/bus", &other), 201, json!({})).await;
                })
            }),
    ]
}

fn shapes() -> Vec<Rule> {
    let shape = |name: &str, says: &str| interface("Errors", name, says);
    let wrong = json!({"title": "x", "contact": {"email": "a@b.example"}, "price": [{"type": "reduced", "amount": 1}],
        "category_fields": {"model_year": "x", "powertrain": {"transmission": "cvt",
            "power": {"unit": "hp", "value": "x"}}}});
    let errors = json!({"title": ["Must not be sent for …"], "contact": ["Must not be sent for …"],
        "price": {"0": {"type": ["\"reduced\" is not allowed for a new ad; …"]}},
        "category_fields": {"model_year": [says::NO_INTEGER], "powertrain": {
            "transmission": [says::no_choice("cvt"), MORE], "power": {"value": [says::NO_NUMBER]}}}});
    vec![
        shape("shape 1, field validation", "Field name to array of messages; nested fields nest with the full path.")
            .decided(&[4])
            .accepts(validate("car", &json!({})), json!({}))
            .refuses(validate("car", &wrong), errors),
        shape("shape 2, business rule", "Array of message strings.").decided(&[4]).by(|trial| {
            Box::pin(async move {
                let id = trial.deleted("moped").await;
                let update = patch(format!("/v4/moped/{id}"), &json!({"body": "x"}));
                trial.refuses(update, 400, json!(["Ad has been deleted, cannot update"])).await;
                trial.accepts(get(format!("/v4/moped/{id}")), 200, json!({"state": "deleted"})).await;
            })
        }),
        shape("shape 3, 401", "Object with detail (string).")
            .refuses_with(401, get("/v4/ad").by(Who::Nobody), json!({"detail": "Authentication …"}))
            .one_sided("the shape of a refusal"),
        shape("shape 4, 404", "Object with detail (string).")
            .refuses_with(404, get("/v4/ad/none"), json!({"detail": "Not found.…"}))
            .refuses_with(404, get("/v3/ad/none/log"), json!({"detail": "Not found.…"}))
            .one_sided("the shape of a refusal"),
        shape("shape 5, trailer_create_disabled", "POST of a trailer: error.")
            .refuses(post("/v4/trailer", &ad("trailer", &json!({}))), json!({"error": "trailer_create_disabled"}))
            .one_sided("the shape of a refusal"),
        shape("shape 5, incompatible_api_version", "error, message, migration_options: [{method, steps}].").by(
            |trial| {
                Box::pin(async move {
                    let id = trial.created_v3(1102, &json!({"visible": false})).await;
                    let migrate = json!({"method": "migrate", "steps": [
                    format!("POST /v4/camper/{id}/migrate with a complete V4 payload, …"),
                    format!("Then update the ad with PUT or PATCH /v4/camper/{id}.")]});
                    let anew = json!({"method": "delete_and_create", "steps": [format!("DELETE /v4/ad/{id}."), ANY]});
                    let refusal = json!({"error": "incompatible_api_version", "message": ANY,
                    "migration_options": [migrate, anew]});
                    trial.refuses(patch(format!("/v4/camper/{id}"), &json!({"body": "x"})), 400, refusal).await;
                    trial
                        .accepts(patch(format!("/v3/ad/{id}"), &json!({"body": "x"})), 200, json!({"body": "x"}))
                        .await;
                })
            },
        ),
        shape("shape 5, ad_already_v4", "error, message, suggestion (string).")
            .by(|trial| {
                Box::pin(async move {
                    let (id, _) = trial.created("camper", &json!({"visible": false})).await;
                    let suggestion = format!("Update the ad with PUT or PATCH /v4/camper/{id}.");
                    let refusal = json!({"error": "ad_already_v4", "message": ANY, "suggestion": suggestion});
                    trial.refuses(post(format!("/v4/camper/{id}/migrate"), &json!({})), 400, refusal).await;
                })
            })
            .one_sided("the shape of a refusal"),
        shape("shape 6, background failures", "Not HTTP errors; log entries with state error and external_message.")
            .by(|trial| {
                Box::pin(async move {
                    let over = json!({"image_urls": [trial.world.images.url("missing.gif")]});
                    let (id, created) = trial.created("car", &over).await;
                    let entry = trial.ended(&id, "handle_media", &created).await;
                    trial.sees("the entry", &json!({"state": "error", "external_message": {"message": ANY}}), &entry);
                    trial.accepts(get(format!("/v4/car/{id}")), 200, json!({"state": "created"})).await;
                })
            })
            .one_sided("a failure in the background refuses no request"),
        interface("Events", "the log is the only progress record", "Each ad has an action log.")
            .accepts(get("/v4/ad/trailer-v4-499/log"), json!({"results": [{"action": "create", "state": "done"}]}))
            .refuses_with(404, get("/v4/ad/none/log"), json!({"detail": "Not found.…"})),
    ]
}

fn limits() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Limits", name, says);
    let phone = |phone: &str| validate("boat", &json!({"contact": {"phone": phone}}));
    let digits = json!({"contact": {"phone": ["Digits only, with an optional leading +, 8 to 16 characters."]}});
    let urls = |count: usize| {
        let urls: Vec<_> = (0..count).map(|n| format!("https://i.example/{n}.png")).collect();
        json!({ "image_urls": urls })
    };
    vec![
        row("log entries", "The latest 100 with an ad or include=log; older ones through the log endpoint.")
            .by(|trial| Box::pin(latest_hundred(trial)))
            .one_sided("what is older is read elsewhere and not refused"),
        row("pole position", "3 days.").see("e2e::life::pole_position_lasts_three_days_and_is_not_given_twice"),
        row("contact phone", "8 to 16 characters, digits with optional leading +.")
            .accepts(phone("+4670123456"), json!({"contact": {"phone": "+4670123456"}}))
            .refuses(phone("0701234"), digits.clone())
            .refuses(phone("01234567890123456"), digits),
        row("images per ad", "At most 20, HTTPS URLs, JPEG or PNG.")
            .decided(&[15])
            .accepts(validate("truck", &urls(20)), urls(20))
            .refuses(validate("truck", &urls(21)), json!({"image_urls": [says::no_more_elements(20)]}))
            .see("e2e::media::good_images_are_used_and_each_bad_one_is_named")
            .see("e2e::media::private_addresses_and_http_are_refused_unless_permitted"),
        row("rate", "No hard limit enforced.")
            .decided(&[30])
            .by(|trial| {
                Box::pin(async move {
                    for _ in 0..40 {
                        trial.also_accepts(get("/v4/ad/trailer-v4-499").by(Who::Reader), 200, json!({})).await;
                    }
                    trial.accepts(get("/v4/ad/trailer-v4-499").by(Who::Reader), 200, json!({})).await;
                })
            })
            .one_sided("there is no limit unless an operator sets one"),
    ]
}

async fn latest_hundred(trial: &Trial) {
    let (id, _) = trial.created("truck", &json!({"visible": false})).await;
    let path = format!("/v4/truck/{id}");
    let mut last = None;
    for number in 0..51 {
        last = Some(trial.sent(patch(&path, &json!({"body": number.to_string()}))).await);
    }
    let last = last.expect("there were some");
    trial.ended(&id, "update", &last).await;
    let newest = json!({"action": "update", "state": "done", "request_id": last.request_id});
    for request in [get(&path), get(format!("/v4/truck?source_id={id}&include=log"))] {
        let answer = trial.accepts(request, 200, json!({})).await.body;
        let log = answer.get("log").or_else(|| answer.pointer("/results/0/log")).cloned().unwrap_or_default();
        let log = log.as_array().cloned().unwrap_or_default();
        trial.sees("entries", &json!(100), &json!(log.len()));
        trial.sees("the newest", &newest, &json!(log.last()));
    }
    let whole = json!({"count": 104, "results": [{"action": "create", "state": "processing"}, MORE]});
    trial.accepts(get(format!("{path}/log")), 200, whole).await;
}

fn versioning() -> Vec<Rule> {
    let rule = |name: &str, says: &str| interface("Versioning", name, says);
    let tagged = fields("condition.number_of_owners", json!(2));
    vec![
        rule("1 V4 and V3", "V4 is current; V3 (/v3/ad) is fully supported.")
            .accepts(validate("moped", &json!({})), json!({"category_fields": {"body_type": "moped"}}))
            .accepts(validate_v3(1121, &json!({})), json!({"category_fields": {"body_type": "moped"}}))
            .refuses_with(404, get("/v5/ad"), json!({"detail": MORE})),
        rule("2 api_version", "Ads carry api_version; GET /v4/ad returns ads of both versions.")
            .accepts(get("/v4/ad/trailer-v4-498"), json!({"api_version": "v4"}))
            .accepts(get("/v4/ad/trailer-v3-498"), json!({"api_version": "v3"}))
            .accepts(
                get("/v4/ad?source_id__in=trailer-v3-498,trailer-v4-498&ordering=source_id"),
                json!({"results": [{"api_version": "v3"}, {"api_version": "v4"}]}),
            )
            .one_sided("a field of answers"),
        rule("3 gradual migration", "Old V3 ads are left until convenient: V3 goes on updating them.").by(|trial| {
            Box::pin(async move {
                let id = trial.created_v3(1140, &json!({"visible": false})).await;
                let path = format!("/v3/ad/{id}");
                trial.accepts(patch(&path, &json!({"body": "x"})), 200, json!({"api_version": "v3"})).await;
                trial.accepts(put(&path, &fields("color", json!("red"))), 200, json!({"api_version": "v3"})).await;
                trial
                    .accepts(patch(format!("/v4/motorcycle/{id}"), &json!({})), 200, json!({"api_version": "v4"}))
                    .await;
                trial
                    .refuses(patch(&path, &json!({"body": "y"})), 400, json!(["Ad is V4, cannot update through V3. …"]))
                    .await;
            })
        }),
        rule("4 tagged fields", "Fields tagged V4, V4.3, V4.4 are rejected by V3.")
            .decided(&[3])
            .accepts(validate("caravan", &tagged), tagged.clone())
            .refuses(validate_v3(1101, &tagged), fields("condition.number_of_owners", json!([says::NOT_IN_V3])))
            .refuses(
                raw(
                    Method::POST,
                    "/v3/ad/validate",
                    r#"{"category_id": 1020, "category_fields": {"model_year": 2019,
                    "registration_number": "ABC123", "color_group": "nonsense", "has_damages": "perhaps"}}"#,
                ),
                json!({"category_fields": {"color_group": [says::NOT_IN_V3], "has_damages": [says::NOT_IN_V3]}}),
            ),
    ]
}
