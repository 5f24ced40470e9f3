//! The ad table, row by row.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{Request, Who, ad, get, patch, post, registered_and_created, unregistered, validate, validate_v3},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

fn row(name: &str, says: &str) -> Rule {
    interface("Ad", name, says)
}

/// A car with this member.
fn car(name: &str, value: &Value) -> Request {
    validate("car", &json!({ name: value }))
}

pub(super) fn rules() -> Vec<Rule> {
    [identity(), text(), addresses(), images(), switches(), response_only()].into_iter().flatten().collect()
}

fn identity() -> Vec<Rule> {
    vec![
        row("source_id", "Any string, required; given in the body on POST.")
            .decided(&[10])
            .accepts(car("source_id", &json!("a/b \"ö\" 💥")), json!({"source_id": "a/b \"ö\" 💥"}))
            .accepts(car("source_id", &json!("s".repeat(255))), json!({"source_id": "s".repeat(255)}))
            .refuses(post("/v4/car", &ad("car", &json!({}))), json!({"source_id": [says::REQUIRED]}))
            .refuses(car("source_id", &json!("")), json!({"source_id": [says::BLANK]}))
            .refuses(car("source_id", &json!(7)), json!({"source_id": [says::NO_TEXT, says::in_quotes("7")]}))
            .refuses(car("source_id", &json!("s".repeat(256))), json!({"source_id": [says::no_more_characters(255)]}))
            .see("e2e::bad_requests::any_source_id_works_in_a_path"),
        row("source_id is used once", "Unique per dealer; cannot be reused, even after deletion.")
            .decided(&[10])
            .by(|trial| Box::pin(used_once(trial))),
        row("dealer_code", "Required in POST with a dealer_group token; optional with a dealer_code token.")
            .decided(&[11])
            .accepts(car("dealer_code", &json!(ABSENT)), json!({"dealer_code": "north-cars"}))
            .accepts(car("dealer_code", &json!("north-cars")), json!({"dealer_code": "north-cars"}))
            .accepts(car("dealer_code", &json!("coast-boats")).by(Who::Group), json!({"dealer_code": "coast-boats"}))
            .refuses(car("dealer_code", &json!(ABSENT)).by(Who::Group), json!({"dealer_code": [says::REQUIRED, MORE]}))
            .refuses(
                car("dealer_code", &json!("south-cars")).by(Who::Group),
                json!({"dealer_code": ["\"south-cars\" is not a dealer of the token's group.", MORE]}),
            )
            .refuses(
                car("dealer_code", &json!("coast-boats")),
                json!({"dealer_code": ["\"coast-boats\" is outside …"]}),
            ),
        row("dealer_code of an update", "For update and delete it is read from the existing ad.")
            .decided(&[11])
            .by(|trial| Box::pin(dealer_of_an_update(trial))),
        row("category_id", "Required on POST.")
            .decided(&[5, 12])
            .accepts(car("category_id", &json!(1020)), json!({"category_id": 1020}))
            .accepts(car("category_id", &json!("1020")), json!({"category_id": 1020}))
            .refuses(car("category_id", &json!(ABSENT)), json!({"category_id": [says::REQUIRED, MORE]}))
            .refuses(car("category_id", &json!("cars")), json!({"category_id": [says::NO_INTEGER]}))
            .refuses(
                car("category_id", &json!(1021)),
                json!({"category_id": [says::no_choice("1021"), "The category of …"]}),
            ),
        row("category_fields", "Required object.")
            .accepts(validate("car", &json!({})), json!({"category_fields": {"model_year": 2019}}))
            .refuses(car("category_fields", &json!(ABSENT)), json!({"category_fields": [says::REQUIRED]}))
            .refuses(
                car("category_fields", &json!([])),
                json!({"category_fields": [says::NO_OBJECT, says::AN_OBJECT]}),
            ),
    ]
}

async fn used_once(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({"visible": false})).await;
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"id": created.body["id"]})).await;
    let again = ad("boat", &json!({"source_id": id}));
    let used = json!({"source_id": ["This source_id has been used …", MORE]});
    trial.refuses(post("/v4/boat", &again), 409, used.clone()).await;
    let deletion = trial.sent(crate::conformance::request::delete(format!("/v4/ad/{id}"))).await;
    trial.ended(&id, "delete", &deletion).await;
    trial.refuses(post("/v4/boat", &again), 409, used.clone()).await;
    trial.refuses(post("/v4/boat/validate", &again), 409, used).await;
    trial
        .accepts(post("/v4/boat", &again).by(Who::South), 201, json!({"source_id": id, "dealer_code": "south-cars"}))
        .await;
}

async fn dealer_of_an_update(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    let path = format!("/v4/car/{id}");
    let dealer = json!({"dealer_code": "north-cars"});
    trial.accepts(patch(&path, &json!({"body": "x"})).by(Who::Group), 200, dealer.clone()).await;
    trial.accepts(patch(&path, &dealer), 200, dealer).await;
    let other = patch(&path, &json!({"dealer_code": "coast-boats"})).by(Who::Group);
    trial.refuses(other, 400, json!({"dealer_code": ["Cannot be changed (it is \"north-cars\")."]})).await;
}

fn text() -> Vec<Rule> {
    let title = json!({"title": "Fin familjebil"});
    let contact = json!({"contact": {"email": "anna@north.example"}});
    let mut rules = vec![
        unregistered().fold(
            row("title demanded", "Required for boat, truck, bus, construction, agriculture categories."),
            |rule, vehicle_type| {
                rule.accepts(validate(vehicle_type, &title), title.clone())
                    .refuses(validate(vehicle_type, &json!({"title": ABSENT})), json!({"title": [says::REQUIRED]}))
                    .refuses(validate(vehicle_type, &json!({"title": ""})), json!({"title": [says::BLANK]}))
                    .refuses(
                        validate(vehicle_type, &json!({"title": 1})),
                        json!({"title": [says::NO_TEXT, says::in_quotes("1")]}),
                    )
            },
        ),
        registered_and_created().fold(
            row("title forbidden", "Must not be sent for registered vehicles: it is generated."),
            |rule, vehicle_type| {
                let year = if vehicle_type == "moped" { ANY } else { "2019" };
                rule.accepts(validate(vehicle_type, &json!({})), json!({"title": year}))
                    .refuses(validate(vehicle_type, &title), json!({"title": ["Must not be sent for …"]}))
            },
        ),
        unregistered().fold(
            row("contact demanded", "Required for boat, truck, bus, construction, agriculture."),
            |rule, vehicle_type| {
                rule.accepts(validate(vehicle_type, &contact), contact.clone())
                    .refuses(validate(vehicle_type, &json!({"contact": ABSENT})), json!({"contact": [says::REQUIRED]}))
            },
        ),
        registered_and_created().fold(
            row("contact forbidden", "Must not be sent for registered vehicles (400)."),
            |rule, vehicle_type| {
                rule.accepts(validate(vehicle_type, &json!({})), json!({"contact": ABSENT}))
                    .refuses(validate(vehicle_type, &contact), json!({"contact": ["Must not be sent for …"]}))
            },
        ),
    ];
    for name in ["title", "contact"] {
        let sent = json!({ name: if name == "title" { &title[name] } else { &contact[name] } });
        rules.push(
            row(&format!("{name} of a trailer"), "Must not be sent for a trailer, on update too.")
                .accepts(patch("/v4/trailer/{trailer v4}", &json!({"body": "x"})), json!({"body": "x"}))
                .refuses(patch("/v4/trailer/{trailer v4}", &sent), json!({ name: ["Must not be sent for …"] }))
                .refuses(patch("/v3/ad/{trailer v3}", &sent), json!({ name: ["Must not be sent for …"] })),
        );
    }
    rules.push(
        row("body", "Ad text.")
            .accepts(car("body", &json!("Rad 1\nRad 2 åäö")), json!({"body": "Rad 1\nRad 2 åäö"}))
            .accepts(car("body", &Value::Null), json!({"body": ABSENT}))
            .refuses(car("body", &json!(["x"])), json!({"body": [says::NO_TEXT]})),
    );
    rules
}

fn addresses() -> Vec<Rule> {
    let of = |name: &'static str, good: &[&str], bad: &[(&str, &str)], rule: Rule| {
        let rule = good.iter().fold(rule, |rule, url| rule.accepts(car(name, &json!(url)), json!({ name: url })));
        bad.iter().fold(rule, |rule, (url, message)| rule.refuses(car(name, &json!(url)), json!({ name: [message] })))
    };
    let schemes = "Enter a URL that starts with http:// or https://.";
    let web: (&[&str], &[(&str, &str)]) = (
        &["https://dealer.example/ad/1?x=å", "http://dealer.example:8080/"],
        &[
            ("dealer.example/1", says::NO_URL),
            ("ftp://dealer.example/1", schemes),
            ("javascript:alert(1)", says::NO_URL),
        ],
    );
    let platforms = "Send an address at one of: youtube.com, youtu.be, vimeo.com.";
    vec![
        of("url", web.0, web.1, row("url", "URL of a page at the seller's site about the ad.").decided(&[15])),
        of("product_declaration", web.0, web.1, row("product_declaration", "URL of a hosted PDF.").decided(&[15])),
        of(
            "video_url",
            &[
                "https://www.youtube.com/watch?v=a",
                "https://youtu.be/a",
                "https://vimeo.com/1",
                "https://player.vimeo.com/1",
            ],
            &[
                ("https://videos.example/1", platforms),
                ("https://notyoutube.com/1", platforms),
                ("https://youtube.com.evil.example/1", platforms),
                ("http://youtu.be/a", "Enter a URL that starts with https://."),
            ],
            row("video_url", "URL of a video on one of two supported platforms.").decided(&[15]),
        ),
    ]
}

fn images() -> Vec<Rule> {
    let urls = |count: usize| json!((0..count).map(|n| format!("https://img.example/{n}.jpg")).collect::<Vec<_>>());
    let kept = json!(["https://img.example/b.jpg", "https://img.example/a.png"]);
    vec![
        row("image_urls", "URLs of images in display order; at most 20, without repetition.")
            .decided(&[15])
            .accepts(car("image_urls", &kept), json!({"image_urls": kept}))
            .accepts(car("image_urls", &urls(20)), json!({"image_urls": urls(20)}))
            .accepts(car("image_urls", &json!([])), json!({}))
            .refuses(car("image_urls", &urls(21)), json!({"image_urls": [says::no_more_elements(20)]}))
            .refuses(
                car("image_urls", &json!("https://img.example/1.jpg")),
                json!({"image_urls": [says::NO_LIST, says::A_LIST]}),
            )
            .refuses(
                car("image_urls", &json!(["https://img.example/1.jpg", "ftp://img.example/2.jpg", 3, null])),
                json!({"image_urls": {"1": ["Enter a URL that starts …"], "2": [says::NO_TEXT], "3": [says::NULL]}}),
            )
            .refuses(
                car("image_urls", &json!(["https://img.example/1.jpg", "https://img.example/1.jpg"])),
                json!({"image_urls": {"1": [says::twice("https://img.example/1.jpg")]}}),
            )
            .see("e2e::media::private_addresses_and_http_are_refused_unless_permitted"),
        row("image_urls of an update", "Every update sends the full list, which replaces; known checksums are reused.")
            .see("e2e::media::an_update_with_the_same_images_keeps_their_ids_and_an_empty_list_removes_them"),
        row("image_refs members", "Each has url (original), cdn_url, id, checksum.")
            .decided(&[23])
            .by(|trial| Box::pin(image_refs(trial)))
            .one_sided("a field of answers"),
    ]
}

async fn image_refs(trial: &Trial) {
    let urls = [trial.world.images.url("41.png"), trial.world.images.url("42.jpg")];
    let id = trial.published("car", &json!({"image_urls": urls})).await;
    let refs = urls.map(|url| json!({"url": url, "cdn_url": ANY, "id": ANY, "checksum": ANY}));
    let read = trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"image_refs": refs, "image_urls": ABSENT})).await;
    let cdn = read.body["image_refs"][0]["cdn_url"].as_str().unwrap_or_default().to_owned();
    let path = cdn.strip_prefix(&trial.world.server.client.base).unwrap_or_default().to_owned();
    let served = trial.send(&get(path).by(Who::Nobody)).await;
    trial.sees(
        "the checksum",
        &json!(ad_core::ports::Checksum::of(&served.bytes).to_string()),
        &read.body["image_refs"][0]["checksum"],
    );
}

fn switches() -> Vec<Rule> {
    let switch = |name: &'static str, default: bool, says: &str| {
        row(name, says)
            .accepts(car(name, &json!(true)), json!({ name: true }))
            .accepts(car(name, &json!(false)), json!({ name: false }))
            .refuses(car(name, &json!("false")), json!({ name: [says::NO_BOOLEAN, says::unquoted("false")] }))
            .refuses(car(name, &json!(0)), json!({ name: [says::NO_BOOLEAN] }))
            .by(move |trial| Box::pin(default_of(trial, name, default)))
    };
    vec![
        switch("visible", true, "Default true; false prevents publication."),
        switch(
            "dont_publish_on_failed_images",
            false,
            "Default false; when true the ad is not published if any image fails.",
        )
        .decided(&[23])
        .see("e2e::life::retry_fetches_what_is_missing_and_publishes"),
    ]
}

async fn default_of(trial: &Trial, name: &'static str, default: bool) {
    let (id, _) = trial.created("boat", &json!({ name: null })).await;
    trial.accepts(get(format!("/v4/boat/{id}")), 200, json!({ name: default })).await;
}

fn response_only() -> Vec<Rule> {
    let example = |name: &str| match name {
        "image_refs" | "log" => json!([{"id": 1}]),
        _ => json!("mine"),
    };
    [
        ("id", json!(ANY), "Internal ad ID (UUID)."),
        ("state", json!("created"), "created or deleted, updated asynchronously."),
        ("image_refs", json!([]), "Response only."),
        ("marketplace_ad_id", json!(null), "null right after POST."),
        ("offer_id", json!(null), "Secondary marketplace ad ID; null right after POST."),
        ("api_version", json!("v4"), "v3 or v4: version used to create or last convert the ad."),
        ("created", json!(ANY), "Creation time, ISO 8601."),
        ("updated", json!(ANY), "Last update time, ISO 8601."),
        ("log", json!(ABSENT), "Not in the answer of a write."),
    ]
    .into_iter()
    .map(|(name, shown, says)| {
        row(name, says)
            .decided(&[3])
            .by(move |trial| {
                let (sent, shown) = (example(name), shown.clone());
                Box::pin(async move {
                    let over = json!({ name: sent, "visible": false });
                    let body = trial.created("car", &over).await.1.body;
                    trial.sees("what a client sends is ignored", &json!({ name: shown }), &body);
                    trial
                        .accepts(
                            get(format!("/v4/ad/{}", body["source_id"].as_str().unwrap_or_default())),
                            200,
                            json!({}),
                        )
                        .await;
                })
            })
            .accepts(validate_v3(1020, &json!({ name: example(name) })), json!({ name: ABSENT }))
            .one_sided("response-only fields in a write are ignored, so that what was read can be sent back")
    })
    .collect()
}
