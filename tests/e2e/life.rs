//! The life of an ad: from POST to published, updated, promoted, deleted (interface, 'States and transitions';
//! decisions 6, 16, 21 to 26).

use ad_tests::{ImageHost, Server, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::{boat, car, plain_car, sample, steps};

#[tokio::test]
async fn a_car_is_answered_at_once_and_published_on_both_marketplaces() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let answer = server.client.post("/v4/car", &car("car-1", "ABC123", &images)).await;
    let created = answer.expect(201);
    assert_eq!(created["state"], "created");
    assert_eq!(created["title"], "Volvo XC60 T6 AWD 2022");
    assert_eq!(created["marketplace_ad_id"], Value::Null);
    assert_eq!(created["dealer_code"], "north-cars");
    assert_eq!(created["api_version"], "v4");
    assert_eq!(created["location"], Value::Null);
    assert_eq!(created.get("image_urls"), None, "images come back as image_refs");

    let ad = server.client.published("car-1").await;
    assert_eq!(ad["id"], created["id"]);
    assert!(ad["marketplace_ad_id"].is_string() && ad["offer_id"].is_string(), "{ad}");
    assert_eq!(ad["category_fields"]["condition"]["is_new_vehicle"], false, "derived from the mileage");

    let expected: Vec<Value> = serde_json::from_str(include_str!("../data/payloads/log-of-a-create.json")).unwrap();
    let log = ad["log"].as_array().unwrap();
    assert_eq!(steps(log), steps(&expected));
    for (entry, expected) in log.iter().zip(&expected) {
        assert_eq!(entry["external_message"], expected["external_message"]);
        assert_eq!(entry["request_id"], answer.header("x-request-id").unwrap(), "the id of the request");
        let created = entry["created"].as_str().unwrap();
        assert!(created.len() == 24 && created.ends_with('Z'), "RFC 3339, milliseconds: {created}");
    }

    let refs = ad["image_refs"].as_array().unwrap();
    assert_eq!(
        refs.iter().map(|image| image["url"].clone()).collect::<Vec<_>>(),
        [images.url("1.jpg"), images.url("2.png")]
    );
    let listings = server.listings().await;
    assert_eq!(listings.len(), 2);
    for listing in listings {
        assert_eq!((&listing["source_id"], &listing["state"]), (&json!("car-1"), &json!("active")));
    }
}

#[tokio::test]
async fn a_boat_goes_to_the_primary_marketplace_only() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let created = server.client.post("/v4/boat", &boat("boat-8", &images)).await.expect(201);
    assert_eq!(created["title"], "Nimbus 305 Coupé, välvårdad");
    let ad = server.client.published("boat-8").await;
    assert!(ad["marketplace_ad_id"].is_string());
    assert_eq!(ad["offer_id"], Value::Null);
}

#[tokio::test]
async fn an_invisible_ad_is_stored_and_not_published_until_it_is_shown() {
    let server = Server::start().await;
    let mut hidden = plain_car("hidden", "HID001");
    hidden["visible"] = json!(false);
    server.client.post("/v4/car", &hidden).await.expect(201);
    server.client.ended("hidden", "create", None).await;
    let shown = server.client.patch("/v4/car/hidden", &json!({"visible": true})).await;
    shown.expect(200);
    let ad = server.client.published("hidden").await;
    assert_eq!(
        steps(ad["log"].as_array().unwrap()),
        ["create processing", "create done", "update processing", "update done", "publish processing", "publish done"]
    );
    let request = server.client.patch("/v4/car/hidden", &json!({"visible": false})).await;
    server.client.ended("hidden", "unpublish", request.header("x-request-id")).await;
    assert!(server.listings().await.iter().all(|listing| listing["state"] == "removed"));
}

#[tokio::test]
async fn an_update_merges_deeply_and_is_published_with_the_same_ids() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/car", &car("c", "UPD001", &images)).await.expect(201);
    let before = server.client.published("c").await;

    let patch = json!({"price": [{"type": "reduced", "amount": 299_900}], "category_fields": {
        "model_type": "T8", "color": null, "powertrain": {"power": {"value": 390}}}});
    let answer = server.client.patch("/v4/car/c", &patch).await;
    let updated = answer.expect(200);
    assert_eq!(updated["title"], "Volvo XC60 T8 2022", "the title follows");
    assert_eq!(updated["category_fields"]["powertrain"]["power"], json!({"unit": "hp", "value": 390}));
    assert_eq!(updated["category_fields"].get("color"), None, "null clears");
    assert_eq!(updated["category_fields"]["warranty"], "12 mån", "what is left out is kept");
    assert_eq!(
        updated["price"],
        json!([{"type": "reduced", "amount": 299_900, "currency": "SEK"}]),
        "arrays are replaced"
    );

    server.client.ended("c", "publish", answer.header("x-request-id")).await;
    let after = server.client.ad("c").await;
    for kept in ["id", "marketplace_ad_id", "offer_id", "image_refs", "created"] {
        assert_eq!(after[kept], before[kept], "{kept}");
    }
    assert!(after["updated"].as_str() > before["updated"].as_str());
    let log = after["log"].as_array().unwrap();
    assert_eq!(
        steps(&log[6..]),
        ["update processing", "update done", "publish processing", "publish done"],
        "no images were sent, so none are handled"
    );
    assert_eq!(server.listings().await.len(), 2, "no new listing");
}

#[tokio::test]
async fn what_was_read_can_be_sent_back() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/car", &car("c", "BCK001", &images)).await.expect(201);
    server.client.post("/v4/boat", &boat("b", &images)).await.expect(201);
    for (path, id) in [("/v4/car/c", "c"), ("/v4/boat/b", "b")] {
        let read = server.client.published(id).await;
        let sent_back = server.client.put(path, &read).await.expect(200);
        assert_eq!(sent_back["category_fields"], read["category_fields"]);
        assert_eq!(sent_back["title"], read["title"]);
    }
}

#[tokio::test]
async fn deletion_is_the_workers_act_and_the_ad_stays_readable() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("gone", "DEL001")).await.expect(201);
    server.client.published("gone").await;
    let answer = server.client.delete("/v4/ad/gone").await;
    assert_eq!(answer.expect(200)["state"], "created", "the answer still shows created");
    server.client.ended("gone", "delete", None).await;
    let ad = server.client.ad("gone").await;
    assert_eq!(ad["state"], "deleted");
    let log = ad["log"].as_array().unwrap();
    assert_eq!(
        steps(&log[log.len() - 4..]),
        ["delete processing", "unpublish processing", "unpublish done", "delete done"]
    );
    assert!(server.listings().await.iter().all(|listing| listing["state"] == "removed"));

    let entries = log.len();
    assert_eq!(server.client.delete("/v4/car/gone").await.expect(200)["state"], "deleted", "deleting again is fine");
    assert_eq!(server.client.log("gone").await.len(), entries, "and changes nothing");
    let refused = server.client.put("/v4/car/gone", &json!({"body": "Back"})).await;
    assert_eq!(refused.expect(400), json!(["Ad has been deleted, cannot update"]));
    let again = server.client.post("/v4/car", &plain_car("gone", "DEL002")).await;
    assert!(again.expect(409)["source_id"].is_array(), "a used source id cannot be used again");
    for act in ["bump", "pole_position", "retry"] {
        assert!(server.client.get(&format!("/v4/ad/gone/{act}")).await.expect(400).is_array());
    }
}

#[tokio::test]
async fn an_update_revives_a_deleted_boat() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/boat", &boat("b", &images)).await.expect(201);
    server.client.published("b").await;
    server.client.delete("/v4/boat/b").await.expect(200);
    // Also while the deletion is still waiting: it counts as deleted from the moment it was accepted.
    let answer = server.client.patch("/v4/boat/b", &json!({"body": "Till salu igen"})).await;
    answer.expect(200);
    server.client.ended("b", "publish", answer.header("x-request-id")).await;
    let ad = server.client.ad("b").await;
    assert_eq!(ad["state"], "created");
    assert_eq!(server.listings().await.iter().filter(|listing| listing["state"] == "active").count(), 1);
}

#[tokio::test]
async fn bump_moves_a_listing_to_the_first_place() {
    let server = Server::start().await;
    for (id, plate) in [("first", "BMP001"), ("second", "BMP002")] {
        server.client.post("/v4/car", &plain_car(id, plate)).await.expect(201);
        server.client.published(id).await;
    }
    let position = |listings: &[Value], id: &str, market: &str| {
        let listing = listings.iter().find(|it| it["source_id"] == id && it["marketplace"] == market).unwrap();
        listing["position"].clone()
    };
    assert_eq!(position(&server.listings().await, "first", "primary"), 2);
    server.client.get("/v4/ad/first/bump?exclude_secondary=true").await.expect(200);
    server.client.ended("first", "bump", None).await;
    let listings = server.listings().await;
    assert_eq!(position(&listings, "first", "primary"), 1);
    assert_eq!(position(&listings, "first", "secondary"), 2, "excluded");

    let refused = server.client.get("/v4/car/first/bump?exclude_secondary=true&exclude_primary=true").await;
    assert!(refused.expect(400).is_array());
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    south.post("/v4/car", &plain_car("s", "BMP003")).await.expect(201);
    let refused = south.get("/v4/ad/s/bump").await.expect(400);
    assert!(refused[0].as_str().unwrap().contains("permission"), "{refused}");
}

#[tokio::test]
async fn pole_position_lasts_three_days_and_is_not_given_twice() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/car", &plain_car("p", "POL001")).await.expect(201);
    server.client.published("p").await;
    server.client.get("/v4/car/p/pole_position").await.expect(200);
    server.client.ended("p", "boost", None).await;
    let listings = server.listings().await;
    let listing = listings.iter().find(|it| it["marketplace"] == "primary").unwrap();
    assert!(listing["pole_position_until"].is_string(), "{listing}");
    assert!(server.client.get("/v4/car/p/pole_position").await.expect(400)[0].as_str().unwrap().contains("already"));
    server.client.post("/v4/boat", &boat("b", &images)).await.expect(201);
    let refused = server.client.get("/v4/boat/b/pole_position").await.expect(400);
    assert_eq!(refused, json!(["Pole position is for registered vehicles only"]));
}

#[tokio::test]
async fn retry_fetches_what_is_missing_and_publishes() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut ad = plain_car("r", "RTY001");
    ad["image_urls"] = json!([images.url("1.jpg"), images.url("missing.gif")]);
    ad["dont_publish_on_failed_images"] = json!(true);
    server.client.post("/v4/car", &ad).await.expect(201);
    let publish = server.client.ended("r", "publish", None).await;
    assert_eq!(publish["state"], "error", "held back");
    assert_eq!(server.listings().await.len(), 0);

    let retry = server.client.get("/v4/ad/r/retry").await;
    retry.expect(200);
    let again = server.client.ended("r", "publish", retry.header("x-request-id")).await;
    assert_eq!(again["state"], "error", "nothing has changed");
    assert_eq!(images.calls("1.jpg"), 1, "what is stored is not fetched again");

    let fixed = json!({"image_urls": [images.url("1.jpg")]});
    let answer = server.client.patch("/v4/car/r", &fixed).await;
    let publish = server.client.ended("r", "publish", answer.header("x-request-id")).await;
    assert_eq!(publish["state"], "done", "{publish}");
    let again = server.client.get("/v4/ad/r/retry").await;
    let publish = server.client.ended("r", "publish", again.header("x-request-id")).await;
    assert_eq!(publish["state"], "done", "when all is done it publishes again");
}

#[tokio::test]
async fn requests_of_one_ad_run_in_the_order_of_their_acceptance() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("o", "ORD001")).await.expect(201);
    let mut ids = Vec::new();
    for number in 0..20 {
        let answer = server.client.patch("/v4/car/o", &json!({"body": format!("Text {number}")})).await;
        answer.expect(200);
        ids.push(answer.header("x-request-id").unwrap().to_owned());
    }
    server.client.ended("o", "publish", ids.last().map(String::as_str)).await;
    let page = server.client.get("/v4/ad/o/log?limit=500").await.expect(200);
    let mut seen: Vec<String> = Vec::new();
    for entry in page["results"].as_array().unwrap() {
        let id = entry["request_id"].as_str().unwrap().to_owned();
        if seen.last() != Some(&id) {
            assert!(!seen.contains(&id), "entries of one request stand together");
            seen.push(id);
        }
    }
    assert_eq!(seen[1..], ids);
}

#[tokio::test]
async fn validate_says_what_a_create_would_say_and_stores_nothing() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut payload = car("v", "VAL001", &images);
    payload["id"] = json!("mine");
    let valid = server.client.post("/v4/car/validate", &payload).await.expect(200);
    assert_eq!(valid["valid"], true);
    assert_eq!(valid["ad"]["title"], "Volvo XC60 T6 AWD 2022");
    assert_eq!(
        valid["warnings"],
        json!([{"field": "id", "code": "ignored_field", "message": "Ignored: only the service sets this field."}])
    );
    payload.as_object_mut().unwrap().remove("source_id");
    server.client.post("/v4/car/validate", &payload).await.expect(200);
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 0);

    for case in sample(include_str!("../data/payloads/mistakes.json")).as_array().unwrap() {
        let create = server.client.post(case["path"].as_str().unwrap(), &case["payload"]).await.expect(400);
        let validate = format!("{}/validate", case["path"].as_str().unwrap());
        assert_eq!(server.client.post(&validate, &case["payload"]).await.expect(400), create);
        for path in case["errors_at"].as_array().unwrap() {
            let place = path.as_str().unwrap().split('.').fold(&create, |place, name| &place[name]);
            assert!(!place.is_null(), "{path} in {create}");
        }
    }
}

#[tokio::test]
async fn a_stopped_server_ends_its_work_first() {
    let mut server = Server::start().await;
    for number in 0..50 {
        server.client.post("/v4/car", &plain_car(&number.to_string(), &format!("STP{number:03}"))).await.expect(201);
    }
    assert!(server.stop().await.success());
    server.restart().await;
    eventually("all fifty published", || async {
        let listed = server.listings().await.len();
        (listed == 100).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_answer_to_a_write_has_the_log_if_it_is_asked_for() {
    let server = Server::start().await;
    let client = &server.client;
    let entries = |answer: &Value| {
        let log = answer["log"].as_array().unwrap_or_else(|| panic!("no log: {answer}"));
        log.iter().map(|entry| format!("{} {}", entry["action"], entry["state"]).replace('"', "")).collect::<Vec<_>>()
    };
    let created = client.post("/v4/car?include=log", &plain_car("logged", "LOG001")).await.expect(201);
    assert_eq!(entries(&created)[0], "create processing");
    let prefer = [("prefer", "wait=20".to_owned()), ("idempotency-key", "log".to_owned())];
    let body = Some(json!({"body": "Fin"}).to_string().into_bytes());
    let changed = client.send_with(Method::PATCH, "/v4/car/logged?include=log", &prefer, body).await;
    assert_eq!(changed.header("preference-applied"), Some("wait"));
    let changed = entries(&changed.expect(200));
    assert_eq!(changed.last().map(String::as_str), Some("publish done"), "{changed:?}");
    let deleted = client.send(Method::DELETE, "/v4/car/logged", None).await.expect(200);
    assert!(deleted.get("log").is_none(), "nobody asked for it: {deleted}");
}

#[tokio::test]
async fn an_answer_to_a_write_has_its_warnings_if_they_are_asked_for() {
    let server = Server::start().await;
    let client = &server.client;
    let codes = |answer: &Value| {
        let warnings = answer["warnings"].as_array().unwrap_or_else(|| panic!("no warnings: {answer}"));
        warnings
            .iter()
            .map(|warning| format!("{} {}", warning["field"], warning["code"]).replace('"', ""))
            .collect::<Vec<_>>()
    };
    let mut car = plain_car(" warned", "WRN001");
    car["image_urls"] = json!(["https://cdn.example/1.jpg,https://cdn.example/2.jpg"]);
    car["body"] = json!("VÃ¤lskÃ¶tt");
    car["price"] = json!([{"type": "list", "amount": 189_900}, {"type": "leasing", "amount": 2_990}]);
    let created = client.post("/v4/car?include=warnings", &car).await.expect(201);
    assert_eq!(codes(&created), ["source_id source_id_spaces", "body text_damaged", "image_urls.0 image_unreachable"]);
    assert_eq!(created.get("quality"), None, "nobody asked for it: {created}");
    let body =
        Some(json!({"price": [{"type": "list", "amount": 179_900}], "body": "Välskött"}).to_string().into_bytes());
    let prefer = [("prefer", "wait=20".to_owned())];
    let changed = client.send_with(Method::PATCH, "/v4/car/%20warned?include=warnings", &prefer, body).await;
    assert_eq!(codes(&changed.expect(200)), ["price price_dropped", "image_urls.0 image_unreachable"]);
}
