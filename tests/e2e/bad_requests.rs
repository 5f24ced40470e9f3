//! Requests that are wrong (interface, 'Errors'; decisions 2 to 5, 9, 12).

use ad_tests::{ImageHost, Server};
use reqwest::Method;
use serde_json::json;

use crate::payloads::{car, plain_car};

#[tokio::test]
async fn a_body_that_is_no_json_object_gets_a_400_with_detail() {
    let server = Server::start().await;
    let deep = "{\"a\":".repeat(40) + "1" + &"}".repeat(40);
    let very_deep = "[".repeat(100_000);
    for (body, says) in [
        ("", "empty"),
        ("{\"source_id\": ", "JSON parse error"),
        ("[]", "must be a JSON object"),
        ("\"text\"", "must be a JSON object"),
        (deep.as_str(), "nested too deeply"),
        (very_deep.as_str(), "JSON parse error"),
        ("\u{0}\u{1}", "JSON parse error"),
    ] {
        for path in ["/v4/car", "/v4/boat/validate"] {
            let answer = server.client.send(Method::POST, path, Some(body.as_bytes().to_vec())).await;
            let detail = answer.expect(400)["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains(says), "{detail}");
            assert!(answer.header("x-request-id").is_some());
        }
    }
    let not_utf8 = server.client.send(Method::POST, "/v4/car", Some(vec![b'{', 0xff, b'}'])).await;
    assert!(not_utf8.expect(400)["detail"].is_string());
}

#[tokio::test]
async fn a_body_over_one_mebibyte_gets_a_413() {
    let server = Server::start().await;
    let mut large = plain_car("l", "LRG001");
    large["body"] = json!("x".repeat(1024 * 1024));
    assert!(server.client.post("/v4/car", &large).await.expect(413)["detail"].is_string());
    large["body"] = json!("x".repeat(4 * 1024 * 1024));
    assert!(server.client.post("/v4/car", &large).await.expect(413)["detail"].is_string());
}

#[tokio::test]
async fn an_unknown_path_is_a_404_and_another_method_a_405_that_says_which() {
    let server = Server::start().await;
    for path in ["/v4", "/v4/spaceship", "/v4/car/1/2/3", "/v5/car", "/media/../../etc/passwd", "/v4/ad/%FF/log"] {
        let answer = server.client.get(path).await;
        assert!(answer.expect(404)["detail"].is_string(), "{path}");
        assert!(answer.header("x-request-id").is_some());
    }
    for (method, path, allow) in [
        (Method::DELETE, "/v4/car", "POST, GET, HEAD, OPTIONS"),
        (Method::POST, "/v4/car/1", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"),
        (Method::PUT, "/v4/ad/1", "GET, DELETE, HEAD, OPTIONS"),
        (Method::PUT, "/v4/ad/1/bump", "GET, POST, OPTIONS"),
        (Method::POST, "/v4/vehicles/car/attributes", "GET, HEAD, OPTIONS"),
        (Method::POST, "/healthz", "GET, HEAD, OPTIONS"),
    ] {
        let answer = server.client.send(method.clone(), path, None).await;
        assert!(answer.expect(405)["detail"].is_string());
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
    let typed = server.client.post("/v4/ad", &plain_car("1", "GEN001")).await.expect(405);
    assert!(typed["detail"].as_str().unwrap().contains("/v4/{vehicle_type}"), "{typed}");
}

#[tokio::test]
async fn every_error_of_a_payload_comes_back_in_one_answer() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut wrong = car("w", "WRONG12", &images);
    wrong["titel"] = json!("x");
    wrong["category_id"] = json!(1060);
    wrong["image_urls"] = json!(["https://img.example/1.jpg", "ftp://img.example/2.jpg", "https://img.example/1.jpg"]);
    wrong["price"] = json!([{"type": "reduced", "amount": -1, "currency": "KRONOR"}]);
    wrong["location"] = json!({"zipcode": "123 45", "lkf": "0180"});
    wrong["category_fields"]["brand"] = json!("wolvo");
    wrong["category_fields"]["powertrain"]["fuels"] = json!(["coal"]);
    let errors = server.client.post("/v4/car", &wrong).await.expect(400);
    assert_eq!(errors["titel"][0], "Unknown field.");
    assert_eq!(errors["category_id"][0], "\"1060\" is not a valid choice.");
    assert!(errors["image_urls"]["1"].is_array() && errors["image_urls"]["2"].is_array(), "{errors}");
    for member in ["type", "amount", "currency"] {
        assert!(errors["price"]["0"][member].is_array(), "{member} in {errors}");
    }
    assert!(!errors["location"].is_null());
    assert_eq!(
        errors["category_fields"]["brand"],
        json!(["\"wolvo\" is not a valid choice.", "Did you mean \"volvo\"?"])
    );
    assert!(errors["category_fields"]["powertrain"]["fuels"]["0"].is_array(), "{errors}");
    assert!(errors["category_fields"]["registration_number"].is_array());
}

#[tokio::test]
async fn any_source_id_works_in_a_path() {
    let server = Server::start().await;
    let ids = [
        "a/b",
        "with space",
        "åäö",
        "\"quoted\"",
        "100%",
        "a?b#c",
        "validate",
        "validates",
        "log",
        "bump",
        "..x",
        "💥",
        "1&2=3",
    ];
    for (number, id) in ids.into_iter().enumerate() {
        server.client.post("/v4/car", &plain_car(id, &format!("SRC{number:03}"))).await.expect(201);
        let path: String = url_encoded(id);
        for base in ["/v4/car", "/v4/ad"] {
            let read = server.client.get(&format!("{base}/{path}")).await.expect(200);
            assert_eq!(read["source_id"], id);
        }
        server.client.patch(&format!("/v4/car/{path}"), &json!({"body": "x"})).await.expect(200);
        server.client.get(&format!("/v4/car/{path}/log")).await.expect(200);
    }
}

/// Percent-encodes everything but letters and digits.
fn url_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[tokio::test]
async fn what_is_fixed_may_be_sent_only_unchanged() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("f", "FIX001")).await.expect(201);
    let same = json!({"source_id": "f", "dealer_code": "north-cars", "category_id": "1020"});
    server.client.put("/v4/car/f", &same).await.expect(200);
    let other = json!({"source_id": "g", "dealer_code": "coast-boats", "category_id": 1060,
        "category_fields": {"registration_number": "FIX002"}});
    let errors = server.client.put("/v4/car/f", &other).await.expect(400);
    for field in ["source_id", "dealer_code", "category_id"] {
        assert!(errors[field].is_array(), "{field} in {errors}");
    }
    assert!(errors["category_fields"]["registration_number"].is_array());
}

#[tokio::test]
async fn wrong_query_parameters_are_named() {
    let server = Server::start().await;
    for (path, name) in [
        ("/v4/ad?limit=501", "limit"),
        ("/v4/ad?offset=-1", "offset"),
        ("/v4/car?limit=ten", "limit"),
        ("/v4/ad?ordering=price", "ordering"),
        ("/v4/ad?fields=id,nam", "fields"),
        ("/v4/ad?include=logs", "include"),
        ("/v4/ad?state=gone", "state"),
        ("/v4/ad?id=1", "id"),
        ("/v4/ad?created__gt=yesterday", "created__gt"),
        ("/v4/ad?category_id__in=1020,,1060", "category_id__in"),
        ("/v4/ad?colour=red", "colour"),
        ("/v4/vehicles/car/brand?x=1", "x"),
        ("/v4/vehicles/car/models", "brand"),
        ("/v4/vehicles/car/models?brand=wolvo", "brand"),
    ] {
        let errors = server.client.get(path).await.expect(400);
        assert!(errors[name].is_array(), "{path}: {errors}");
    }
}

#[tokio::test]
async fn one_slash_at_the_end_of_a_path_is_ignored() {
    let server = Server::start().await;
    let client = &server.client;
    client.post("/v4/car/", &plain_car("s", "SLA001")).await.expect(201);
    client.post("/v4/car/validate/", &plain_car("t", "SLA002")).await.expect(200);
    // A source id may end in a slash itself.
    client.post("/v4/car", &plain_car("s/", "SLA003")).await.expect(201);
    for (path, source_id) in [("/v4/car/s/", "s"), ("/v4/ad/s/?", "s"), ("/v4/ad/s%2F", "s/"), ("/v4/ad/s%2F/", "s/")] {
        assert_eq!(client.get(path).await.expect(200)["source_id"], source_id, "{path}");
    }
    client.patch("/v4/car/s/", &json!({"body": "x"})).await.expect(200);
    for path in ["/v4/car/s/log/", "/v4/vehicles/car/attributes/", "/v3/ad/", "/healthz/", "/openapi.json/"] {
        client.get(path).await.expect(200);
    }
    let next = client.get("/v4/car/?limit=1&state=created").await.expect(200)["next"].as_str().unwrap().to_owned();
    client.get(next.strip_prefix(&client.base).unwrap()).await.expect(200);
    client.delete("/v4/ad/s/").await.expect(200);
    for path in ["/v4/car//", "/v4/car/s//", "/v4/"] {
        client.get(path).await.expect(404);
    }
}

#[tokio::test]
async fn caches_are_told_what_they_may_do_with_an_answer() {
    let server = Server::start().await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("c", "CAC001")).await.expect(201);
    for (path, status, cache) in [
        ("/v4/ad", 200, "private, no-cache"),
        ("/v4/car/c", 200, "private, no-cache"),
        ("/v4/car/none", 404, "private, no-cache"),
        ("/v4/car/c/log", 200, "private, no-cache"),
        ("/v4/vehicles/car/brand", 200, "private, max-age=300"),
        ("/v4/vehicles/car/none", 404, "private, no-cache"),
        ("/v4/car/c/bump", 200, "no-store"),
        ("/v4/car/c/pole_position", 200, "no-store"),
        ("/v4/ad/c/retry", 200, "no-store"),
        ("/v4/ad/none/retry", 404, "no-store"),
    ] {
        let answer = client.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (status, Some(cache)), "{path}");
        assert_eq!(answer.header("vary"), Some("X-Auth-Token"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    let patched = client.patch("/v4/car/c", &json!({"body": "x"})).await;
    assert_eq!((patched.status.as_u16(), patched.header("cache-control")), (200, Some("private, no-cache")));
    assert_eq!(client.with_token(None).get("/v4/ad").await.header("vary"), Some("X-Auth-Token"));
}
