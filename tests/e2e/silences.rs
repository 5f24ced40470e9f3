//! Where the contract is silent: what `docs/contract-notes.md` says and no other test checks.

use ad_tests::Server;
use reqwest::{Method, header::CONTENT_TYPE};
use serde_json::{Value, json};

use crate::payloads::plain_car;

#[tokio::test]
async fn bodies_are_json_whatever_they_are_called_and_the_last_of_two_keys_counts() {
    let server = Server::start().await;
    let body = r#"{"body": "one", "body": "two", "category_id": 1020,
        "category_fields": {"registration_number": "DUP001", "model_year": 2019}}"#;
    let valid = server.client.send(Method::POST, "/v4/car/validate", Some(body.into())).await.expect(200);
    assert_eq!(valid["ad"]["body"], "two");
    let request = reqwest::Client::new().post(format!("{}/v4/car/validate", server.client.base));
    let request = request.header("X-Auth-Token", server.client.token.as_deref().unwrap());
    let answer = request.header(CONTENT_TYPE, "text/xml").body(body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn an_unknown_query_parameter_is_refused_on_every_operation() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("q", "QRY001")).await.expect(201);
    for (method, path) in [
        (Method::POST, "/v4/car"),
        (Method::POST, "/v4/car/validate"),
        (Method::GET, "/v4/car"),
        (Method::GET, "/v4/ad/q"),
        (Method::GET, "/v4/ad/q/log"),
        (Method::PUT, "/v4/car/q"),
        (Method::PATCH, "/v4/car/q"),
        (Method::DELETE, "/v4/ad/q"),
        (Method::GET, "/v4/ad/q/bump"),
        (Method::GET, "/v4/ad/q/pole_position"),
        (Method::GET, "/v4/ad/q/retry"),
        (Method::GET, "/v4/vehicles/car/attributes"),
    ] {
        let errors = server.client.send(method.clone(), &format!("{path}?x=1"), None).await.expect(400);
        assert_eq!(errors, json!({"x": ["Unknown parameter."]}), "{method} {path}");
    }
}

#[tokio::test]
async fn paths_are_looked_at_before_tokens() {
    let server = Server::start().await;
    let stranger = server.client.with_token(None);
    stranger.get("/v4/spaceship").await.expect(404);
    stranger.put("/v4/ad/1", &json!({})).await.expect(405);
    stranger.get("/v4/ad/1").await.expect(401);
}

#[tokio::test]
async fn the_generic_path_reads_a_body_before_it_refuses_it() {
    let server = Server::start().await;
    let car = json!({"category_id": 1020});
    let refused = server.client.post("/v4/ad", &car).await;
    assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert!(refused.json()["detail"].as_str().unwrap().contains("/v4/{vehicle_type}"));
    for trailer in [json!(1045), json!("1045")] {
        let refused = server.client.post("/v4/ad", &json!({"category_id": trailer})).await.expect(400);
        assert_eq!(refused, json!({"error": "trailer_create_disabled"}));
    }
    server.client.with_token(None).post("/v4/ad", &car).await.expect(401);
}

#[tokio::test]
async fn what_has_no_value_is_null_in_an_ad_and_left_out_by_validate() {
    let server = Server::start().await;
    let mut car = plain_car("n", "NUL001");
    let created = server.client.post("/v4/car", &car).await.expect(201);
    for name in ["body", "url", "video_url", "location", "contact", "product_declaration", "offer_id"] {
        assert_eq!(created.get(name), Some(&Value::Null), "{name}");
    }
    assert_eq!((&created["price"], &created["image_refs"]), (&json!([]), &json!([])));
    assert_eq!((&created["visible"], &created["dont_publish_on_failed_images"]), (&json!(true), &json!(false)));
    assert_eq!((created.get("log"), created.get("image_urls")), (None, None));

    car["source_id"] = json!("other");
    car["image_urls"] = json!(["https://images.example/1.jpg"]);
    let ad = server.client.post("/v4/car/validate", &car).await.expect(200)["ad"].clone();
    assert_eq!((&ad["image_urls"], ad.get("body")), (&car["image_urls"], None));
}

#[tokio::test]
async fn texts_and_numbers_have_generous_bounds() {
    let server = Server::start().await;
    let boat = json!({"category_id": 1060, "title": "Boat", "contact": {"email": "bo@boats.example"}});
    for (member, most, beyond) in [
        ("body", json!("å".repeat(200_000)), json!("å".repeat(200_001))),
        ("title", json!("å".repeat(10_000)), json!("å".repeat(10_001))),
        ("category_fields.model", json!("x".repeat(10_000)), json!("x".repeat(10_001))),
        ("category_fields.model_year", json!(9999), json!(10_000)),
        ("category_fields.registration_number", json!("X".repeat(255)), json!("X".repeat(256))),
        ("category_fields.equipments", json!(vec!["x"; 1000]), json!(vec!["x"; 1001])),
    ] {
        let pointer = format!("/{}", member.replace('.', "/"));
        let sent = |value: &Value| {
            let mut sent = boat.clone();
            sent["category_fields"] = json!({});
            match member.split_once('.') {
                Some((outer, inner)) => sent[outer][inner] = value.clone(),
                None => sent[member] = value.clone(),
            }
            sent
        };
        server.client.post("/v4/boat/validate", &sent(&most)).await.expect(200);
        let errors = server.client.post("/v4/boat/validate", &sent(&beyond)).await.expect(400);
        assert!(errors.pointer(&pointer).is_some(), "{member}: {errors}");
    }
}

#[tokio::test]
async fn amounts_keep_fifteen_digits() {
    let server = Server::start().await;
    let mut car = plain_car("a", "AMT001");
    car["price"] = json!([{"type": "list", "amount": 999_999_999_999.99}, {"type": "monthly", "amount": 0.1}]);
    let ad = server.client.post("/v4/car", &car).await.expect(201);
    assert_eq!((&ad["price"][0]["amount"], &ad["price"][1]["amount"]), (&json!(999_999_999_999.99), &json!(0.1)));
}

#[tokio::test]
async fn plate_and_vin_are_not_both_cleared_and_a_vin_may_change() {
    let server = Server::start().await;
    let mut car = plain_car("v", "VIN001");
    car["category_fields"] = json!({"vin": "YV1UZ8256N1234567", "model_year": 2019});
    server.client.post("/v4/car", &car).await.expect(201);
    let of_vin = |vin: Value| json!({"category_fields": {"vin": vin}});
    let errors = server.client.patch("/v4/car/v", &of_vin(Value::Null)).await.expect(400);
    for field in ["registration_number", "vin"] {
        assert!(errors["category_fields"][field].is_array(), "{field} in {errors}");
    }
    let changed = server.client.patch("/v4/car/v", &of_vin(json!("YV1UZ8256N7654321"))).await.expect(200);
    assert_eq!(changed["category_fields"]["vin"], "YV1UZ8256N7654321");
}

#[tokio::test]
async fn a_dealer_that_is_not_known_has_defaults() {
    let server = Server::start().await;
    let stranger = server.client_of(&["--dealer-code", "nobody"]).await;
    let mut car = plain_car("s", "STR001");
    car["price"] = json!([{"type": "list", "amount": 1}]);
    let ad = stranger.post("/v4/car", &car).await.expect(201);
    assert_eq!((&ad["dealer_code"], &ad["price"][0]["currency"]), (&json!("nobody"), &json!("SEK")));
    let refused = stranger.get("/v4/ad/s/bump").await.expect(400);
    assert!(refused[0].as_str().unwrap().contains("permission"), "{refused}");
    car["category_fields"]["online_purchasable"] = json!(true);
    assert!(stranger.post("/v4/car/validate", &car).await.expect(400)["category_fields"].is_object());
}

#[tokio::test]
async fn a_typed_path_picks_among_the_same_source_ids_of_a_group() {
    let server = Server::start().await;
    let boats = server.client_of(&["--dealer-code", "coast-boats"]).await;
    let boat = json!({"source_id": "same", "category_id": 1060, "title": "Boat", "category_fields": {},
        "contact": {"email": "bo@boats.example"}});
    boats.post("/v4/boat", &boat).await.expect(201);
    server.client.post("/v4/car", &plain_car("same", "SAM001")).await.expect(201);
    let group = server.client_of(&["--dealer-group", "north"]).await;
    group.get("/v4/ad/same").await.expect(400);
    assert_eq!(group.get("/v4/boat/same").await.expect(200)["dealer_code"], "coast-boats");
    group.get("/v4/ad/same?dealer_code=south-cars").await.expect(404);
}

#[tokio::test]
async fn a_retry_of_an_invisible_ad_with_nothing_left_to_do_does_nothing() {
    let server = Server::start().await;
    let mut hidden = plain_car("h", "HID002");
    hidden["visible"] = json!(false);
    server.client.post("/v4/car", &hidden).await.expect(201);
    server.client.ended("h", "create", None).await;
    let retry = server.client.get("/v4/ad/h/retry").await;
    server.client.ended("h", "unpublish", retry.header("x-request-id")).await;
    let log = server.client.log("h").await;
    let entries: Vec<_> =
        log.iter().map(|entry| (&entry["action"], &entry["state"])).map(|(a, s)| json!([a, s])).collect();
    let unpublished = [json!(["unpublish", "processing"]), json!(["unpublish", "done"])];
    assert_eq!(entries[2..], unpublished);
    assert_eq!(log[3]["external_message"], "Nothing to do: the ad is hidden");
    assert!(server.listings().await.is_empty());
}

#[tokio::test]
async fn a_boat_links_by_its_registration_number() {
    let server = Server::start().await;
    let listing =
        json!({"marketplace": "primary", "dealer_code": "north-cars", "registration_number": "seb 1", "title": "Old"});
    std::fs::write(server.dir().join("old.ndjson"), listing.to_string()).unwrap();
    server.command(&["listings", "import", "old.ndjson"]).await;
    let boat = json!({"source_id": "b", "category_id": 1060, "title": "Boat", "contact": {"email": "bo@boats.example"},
        "category_fields": {"registration_number": "SEB1"}});
    server.client.post("/v4/boat", &boat).await.expect(201);
    let ad = server.client.published("b").await;
    assert_eq!(ad["marketplace_ad_id"], server.listings().await[0]["id"]);
}
