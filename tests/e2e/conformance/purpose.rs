//! `interface.md`, 'What the service does' and 'Conventions'.

use serde_json::{Value, json};

use super::{
    pattern::{ABSENT, ANY, MORE},
    request::{Who, ad, delete, fields, get, patch, post, put, validate},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

const SECTION: &str = "What the service does";

pub(super) fn rules() -> Vec<Rule> {
    vec![
        interface("Conventions", "schema documentation", "Served at /docs/swagger-ui/ and /docs/redoc/.")
            .see("e2e::pages::pages_load_nothing_from_elsewhere_and_have_a_policy"),
        interface(
            "Conventions",
            "secondary marketplace",
            "Only registered vehicles are sent to the secondary marketplace.",
        )
        .by(|trial| Box::pin(marketplaces_of_a_car_and_a_boat(trial)))
        .one_sided("what is not sent there is left out and not refused"),
        interface(
            SECTION,
            "1 manage ads",
            "Create, update, renew, give pole position, delete, and read state and log.",
        )
        .by(|trial| Box::pin(whole_life(trial))),
        interface(SECTION, "2 writes are asynchronous", "The response comes promptly and the work is done afterwards.")
            .by(|trial| Box::pin(answers_before_it_works(trial)))
            .one_sided("an order of events refuses nothing"),
        interface(SECTION, "4 one-way sync", "Data submitted through the API overwrites the listing's.")
            .see("e2e::linking::an_ad_links_to_the_listing_of_its_plate"),
        interface(SECTION, "5 characters < and >", "Characters < and > in body are replaced by -.")
            .accepts(validate("car", &json!({"body": "<b>A > B</b>"})), json!({"body": "-b-A - B-/b-"}))
            .accepts(validate("boat", &json!({"body": "a<b", "title": "a<b"})), json!({"body": "a-b", "title": "a<b"}))
            .by(|trial| Box::pin(marks_in_an_update(trial)))
            .one_sided("they are replaced, not refused"),
        interface(
            SECTION,
            "8 visible=false",
            "Ads created with visible=false are not published, and reachable in the API.",
        )
        .by(|trial| Box::pin(hidden_ad(trial)))
        .one_sided("what is not done cannot be refused"),
        interface(SECTION, "8 validate saves nothing", "validate checks a payload without saving anything.")
            .by(|trial| Box::pin(validate_saves_nothing(trial))),
        interface(SECTION, "9 matching by licence plate", "A re-submitted ad is tied to the ad that exists, by plate.")
            .decided(&[25])
            .see("e2e::linking::an_ad_links_to_the_listing_of_its_plate"),
        interface(
            SECTION,
            "9 images from public URLs",
            "Images are fetched from public URLs; raw upload does not exist.",
        )
        .see("e2e::media::private_addresses_and_http_are_refused_unless_permitted")
        .refuses(
            validate("car", &json!({"image_urls": ["data:image/png;base64,iVBORw0KGgo="]})),
            json!({"image_urls": {"0": [MORE]}}),
        ),
        interface(
            SECTION,
            "typical create flow",
            "POST, then GET until publish is done; marketplace_ad_id is then filled.",
        )
        .by(|trial| Box::pin(create_flow(trial)))
        .one_sided("a flow of accepted requests"),
    ]
}

async fn marketplaces_of_a_car_and_a_boat(trial: &Trial) {
    for (vehicle_type, markets, offer) in
        [("car", json!(["primary", "secondary"]), ANY), ("boat", json!(["primary"]), "")]
    {
        let id = trial.published(vehicle_type, &json!({})).await;
        let offer_id = if offer.is_empty() { Value::Null } else { json!(offer) };
        trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"marketplace_ad_id": ANY, "offer_id": offer_id})).await;
        let mut on: Vec<_> = trial.listings(&id).await.iter().map(|listing| listing["marketplace"].clone()).collect();
        on.sort_by_key(ToString::to_string);
        trial.sees("marketplaces", &markets, &json!(on));
    }
}

async fn whole_life(trial: &Trial) {
    let (id, path) = {
        let id = trial.id();
        (id.clone(), format!("/v4/car/{id}"))
    };
    let over = json!({"source_id": id, "category_fields": {"registration_number": trial.plate()}});
    let created =
        trial.accepts(post("/v4/car", &ad("car", &over)), 201, json!({"source_id": id, "state": "created"})).await;
    trial.ended(&id, "publish", &created).await;
    for (request, action) in [
        (patch(&path, &json!({"body": "Now"})), "publish"),
        (get(format!("{path}/bump")), "bump"),
        (get(format!("{path}/pole_position")), "boost"),
        (get(format!("{path}/retry")), "publish"),
        (delete(&path), "delete"),
    ] {
        let accepted = trial.accepts(request, 200, json!({"source_id": id})).await;
        let entry = trial.ended(&id, action, &accepted).await;
        trial.sees(action, &json!({"state": "done"}), &entry);
    }
    trial.accepts(get(&path), 200, json!({"state": "deleted", "log": [{}, MORE]})).await;
    trial.refuses(get("/v4/car/no-such-ad"), 404, json!({"detail": MORE})).await;
}

async fn answers_before_it_works(trial: &Trial) {
    let over = json!({"image_urls": [trial.world.images.url("flaky/1/slow.jpg")]});
    let (id, created) = trial.created("car", &over).await;
    // The image is tried again after a pause: the answer did not wait for it.
    trial.sees("the answer", &json!({"image_refs": [], "marketplace_ad_id": null}), &created.body);
    trial.accepts(get(format!("/v4/car/{id}")), 200, json!({"state": "created"})).await;
    let entry = trial.ended(&id, "publish", &created).await;
    trial.sees("the entry", &json!({"state": "done"}), &entry);
}

async fn marks_in_an_update(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    for request in [patch, put].map(|method| method(format!("/v4/car/{id}"), &json!({"body": "1 < 2 > 1"}))) {
        trial.accepts(request, 200, json!({"body": "1 - 2 - 1"})).await;
    }
}

async fn hidden_ad(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let read = get(format!("/v4/ad/{id}"));
    trial.accepts(read, 200, json!({"visible": false, "state": "created", "marketplace_ad_id": null})).await;
    trial.sees("steps", &json!(["create processing", "create done"]), &trial.steps(&id, &created).await);
    trial.sees("listings", &json!([]), &json!(trial.listings(&id).await));
}

async fn validate_saves_nothing(trial: &Trial) {
    let id = trial.id();
    let over = json!({"source_id": id});
    trial.accepts(validate("car", &over), 200, json!({"source_id": id})).await;
    trial.refuses(get(format!("/v4/ad/{id}")), 404, json!({"detail": "Not found.…"})).await;
    let year = fields("model_year", json!(1899));
    trial.refuses(validate("car", &year), 400, fields("model_year", json!([says::at_least(1900)]))).await;
    trial.refuses(validate("car", &over).by(Who::Nobody), 401, json!({"detail": MORE})).await;
}

async fn create_flow(trial: &Trial) {
    let id = trial.id();
    let over = json!({"source_id": id, "category_fields": {"registration_number": trial.plate()}, "log": ABSENT});
    let created = trial.accepts(post("/v4/car", &ad("car", &over)), 201, json!({"marketplace_ad_id": null})).await;
    let entry = trial.ended(&id, "publish", &created).await;
    trial.sees("publish", &json!({"state": "done"}), &entry);
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"marketplace_ad_id": ANY})).await;
}
