//! Errors with codes: problem details and the pages about them (extensions E1).

use ad_core::violation::Code;
use ad_tests::{Answer, Server};
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::plain_car;

const PREFERRED: &str = "application/problem+json, application/json;q=0.9";

/// The answer to a client that prefers problem details.
async fn problem(server: &Server, method: Method, path: &str, body: Option<Value>) -> (Answer, Value) {
    problem_of(server, server.client.token.as_deref(), method, path, body).await
}

/// The same for a client with this token.
async fn problem_of(
    server: &Server,
    token: Option<&str>,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (Answer, Value) {
    let url = format!("{}{path}", server.client.base);
    let mut request = reqwest::Client::new().request(method, url).header("accept", PREFERRED);
    if let Some(token) = token {
        request = request.header("x-auth-token", token);
    }
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body.to_string());
    }
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let answer = Answer { status, headers, bytes: response.bytes().await.unwrap() };
    let problem = answer.json();
    (answer, problem)
}

#[tokio::test]
async fn whoever_prefers_problem_details_gets_them_with_a_code_for_each_field() {
    let server = Server::start().await;
    let mut car = plain_car("p", "PRB001");
    car["colour"] = json!("red");
    car["category_fields"]["brand"] = json!("wolvo");
    car["category_fields"]["model_year"] = json!(1800);
    let (answer, problem) = problem(&server, Method::POST, "/v4/car", Some(car.clone())).await;
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert!(answer.headers.get_all("vary").iter().any(|name| name == "Accept"));
    let base = &server.client.base;
    let id = answer.header("x-request-id").unwrap();
    assert_eq!(problem["type"], format!("{base}/docs/errors/validation_failed"));
    assert_eq!(problem["title"], "Validation failed");
    assert_eq!(problem["status"], 400);
    assert_eq!(problem["instance"], format!("urn:uuid:{id}"));
    assert_eq!(problem["code"], "validation_failed");
    assert_eq!(problem["detail"], "The request has 3 errors; see `errors`.");
    let errors = problem["errors"].as_array().unwrap();
    let of = |pointer: &str| {
        let found = errors.iter().find(|error| error["pointer"] == pointer);
        found.unwrap_or_else(|| panic!("{pointer} is not in {errors:?}"))
    };
    assert_eq!(of("#/colour")["code"], "unknown_field");
    let year = of("#/category_fields/model_year");
    let detail = "Ensure this value is greater than or equal to 1900.";
    assert_eq!(*year, json!({"pointer": "#/category_fields/model_year", "code": "out_of_range", "detail": detail}));
    assert_eq!(of("#/category_fields/brand")["suggestion"], "volvo");

    // The default body stays as it was.
    let default = server.client.post("/v4/car", &car).await;
    assert_eq!(default.header("content-type"), Some("application/json"));
    assert_eq!(default.expect(400)["category_fields"]["model_year"], json!([detail]));
    assert!(default.headers.get_all("vary").iter().any(|name| name == "Accept"));
}

#[tokio::test]
async fn every_status_has_its_code() {
    let server = Server::start().await;
    let car = plain_car("c", "PRB002");
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.delete("/v4/car/c").await.expect(200);
    let large = json!({"source_id": "l", "body": "x".repeat(1024 * 1024)});
    for (method, path, body, status, code) in [
        (Method::GET, "/v4/ad/none", None, 404, "not_found"),
        (Method::GET, "/nowhere", None, 404, "not_found"),
        (Method::POST, "/healthz", None, 405, "method_not_allowed"),
        (Method::DELETE, "/v4/car", None, 405, "method_not_allowed"),
        (Method::POST, "/v4/car", Some(json!([])), 400, "not_json"),
        (Method::POST, "/v4/car", Some(large), 413, "too_large"),
        (Method::POST, "/v4/car", Some(car.clone()), 409, "duplicate_source_id"),
        (Method::PATCH, "/v4/car/c", Some(json!({"body": "x"})), 400, "ad_deleted"),
        (Method::GET, "/v4/car/c/bump", None, 400, "ad_deleted"),
        (Method::POST, "/v4/trailer", Some(json!({})), 400, "trailer_create_disabled"),
    ] {
        let (answer, problem) = problem(&server, method.clone(), path, body).await;
        assert_eq!((answer.status.as_u16(), problem["code"].as_str()), (status, Some(code)), "{method} {path}");
        assert_eq!(problem["status"], status);
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{problem}");
        assert!(problem["type"].as_str().unwrap().ends_with(&format!("/docs/errors/{code}")), "{problem}");
    }
    let (_, of_query) = problem(&server, Method::GET, "/v4/ad?limt=3", None).await;
    let wrong = json!([{"parameter": "limt", "code": "unknown_field",
        "detail": "Unknown parameter. Did you mean \"limit\"?", "suggestion": "limit"}]);
    assert_eq!((&of_query["code"], &of_query["errors"]), (&json!("validation_failed"), &wrong));
    for (token, code) in [(Some("none"), "token_invalid"), (None, "token_missing")] {
        let (_, problem) = problem_of(&server, token, Method::GET, "/v4/ad", None).await;
        assert_eq!(problem["code"], code);
    }
}

#[tokio::test]
async fn every_code_has_a_page() {
    let server = Server::start().await;
    let index = server.client.get("/docs/errors/").await;
    assert_eq!((index.status.as_u16(), index.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let index = String::from_utf8_lossy(&index.bytes).into_owned();
    for code in Code::ALL {
        assert!(index.contains(&format!("<a href=\"{}\">", code.name())), "{}", code.name());
        let page = server.client.get(&format!("/docs/errors/{}", code.name())).await;
        assert_eq!(page.status, 200);
        assert!(page.header("content-security-policy").is_some());
        assert!(String::from_utf8_lossy(&page.bytes).contains(code.name()));
    }
    server.client.get("/docs/errors/no_such_code").await.expect(404);
}
