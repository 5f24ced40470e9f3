//! What holds for every request, however odd: the server answers, in the contract's shapes and never with a 5xx, and what it
//! has stored it takes back. `ad-core/tests/properties` has the same of the rules alone, with many more payloads.

#[path = "../../ad-core/tests/properties/full.rs"]
mod full;
#[path = "../../ad-core/tests/properties/odd.rs"]
mod odd;

use std::cell::Cell;

use ad_core::{
    catalogue::Catalogue,
    categories::{self, Category, TRAILER, by_vehicle_type},
    model::ApiVersion,
};
use ad_tests::{Answer, Server};
use odd::{changed, changes, odd_name, odd_text};
use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// A server and what asks it, for tests whose cases come one after the other.
struct House {
    runtime: Runtime,
    server: Server,
}

impl House {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start());
        Self { runtime, server }
    }

    fn send(&self, method: &Method, path: &str, body: Option<Vec<u8>>) -> Answer {
        self.runtime.block_on(self.server.client.send(method.clone(), path, body))
    }

    fn create(&self, vehicle_type: &str, source_id: &str) {
        let ad = payload(by_vehicle_type(vehicle_type).unwrap(), ApiVersion::V4, source_id);
        self.send_json(&Method::POST, &format!("/v4/{vehicle_type}"), &json!(ad)).expect(201);
    }

    fn send_json(&self, method: &Method, path: &str, body: &Value) -> Answer {
        self.send(method, path, Some(body.to_string().into_bytes()))
    }

    fn get(&self, path: &str) -> Value {
        self.send(&Method::GET, path, None).expect(200)
    }

    /// Sends a few hundred cases, which are made simpler when one of them fails.
    fn try_all<S: Strategy>(&self, cases: u32, strategy: S, case: impl Fn(&Self, S::Value)) {
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
        let done = TestRunner::new(config).run(&strategy, |value| {
            case(self, value);
            Ok(())
        });
        done.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// An answer that a client of the contract understands.
fn understood(what: &str, answer: &Answer) {
    let status = answer.status;
    assert!(!status.is_server_error(), "{what}: {status} {:?}", answer.bytes);
    assert!(answer.header("x-request-id").is_some(), "{what}: no X-Request-Id");
    // Pages, and answers to OPTIONS.
    if answer.header("content-type").is_some_and(|content_type| content_type.starts_with("text/html"))
        || status == StatusCode::NO_CONTENT
    {
        return;
    }
    let body: Value = serde_json::from_slice(&answer.bytes)
        .unwrap_or_else(|error| panic!("{what}: {status} {error} {:?}", answer.bytes));
    let is_right = match status {
        StatusCode::OK | StatusCode::CREATED => body.is_object() || body.is_array(),
        StatusCode::BAD_REQUEST => is_refusal(&body),
        StatusCode::CONFLICT => is_messages(&body["source_id"]),
        _ => body["detail"].is_string(),
    };
    assert!(is_right, "{what}: {status} {body}");
}

/// 'Errors', body shapes 1, 2 and 5, and the `detail` of decision 9.
fn is_refusal(body: &Value) -> bool {
    is_messages(body) || body["detail"].is_string() || body["error"].is_string() || is_errors_by_field(body)
}

fn is_messages(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string))
}

fn is_errors_by_field(value: &Value) -> bool {
    let below = |value: &Value| is_messages(value) || is_errors_by_field(value);
    value.as_object().is_some_and(|members| !members.is_empty() && members.values().all(below))
}

fn method() -> impl Strategy<Value = Method> {
    use Method as M;
    prop_oneof![
        4 => Just(M::GET),
        6 => select(vec![M::POST, M::PUT, M::PATCH, M::DELETE, M::OPTIONS, M::TRACE, M::from_bytes(b"BREW").unwrap()]),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let known = [
        "v3",
        "v4",
        "ad",
        "car",
        "boat",
        "agriculture-tools",
        "trailer",
        "vehicles",
        "attributes",
        "models",
        "brand",
        "powertrain.fuels",
        "log",
        "bump",
        "pole_position",
        "retry",
        "migrate",
        "validate",
        "healthz",
        "readyz",
        "car-1",
        "",
        ".",
        "..",
        "%00",
        "%2F",
        "%FF",
        "%",
        "%zz",
        "%C3%A5",
        "%2e%2e",
    ];
    let segment = prop_oneof![8 => select(known.to_vec()).prop_map(str::to_owned), 2 => any::<String>()];
    vec(segment, 0..6).prop_map(|segments| format!("/{}", segments.join("/").replace(['?', '#'], "")))
}

fn query() -> impl Strategy<Value = String> {
    let known = [
        "id",
        "state",
        "source_id",
        "source_id__in",
        "source_id__icontains",
        "dealer_code",
        "category_id",
        "category_id__in",
        "search",
        "q",
        "marketplace_ad_id",
        "marketplace_ad_id__in",
        "registration_number",
        "created__gt",
        "created__lte",
        "updated__gte",
        "updated__lt",
        "limit",
        "offset",
        "ordering",
        "fields",
        "include",
        "action",
        "request_id",
        "brand",
        "exclude_primary",
        "exclude_secondary",
    ];
    let values = [
        "",
        "1",
        "0",
        "-1",
        "500",
        "501",
        "9223372036854775808",
        "true",
        "created",
        "-created",
        "-source_id",
        "deleted",
        "north-cars",
        "1020",
        "1020,1060",
        ",",
        "a,",
        "log",
        "id,title",
        "2026-01-01 00:00:00",
        "2026-01-01T00:00:00Z",
        "2026-02-30 00:00:00",
        "+262143-01-01 00:00:00",
        "00000000-0000-0000-0000-000000000000",
        "\"",
        "'",
        "%",
        "_",
        "*",
        "a*",
        "NEAR(",
        "\" OR \"",
        "title:x",
        "vol",
        "bump",
    ];
    let name = prop_oneof![9 => select(known.to_vec()).prop_map(str::to_owned), 1 => odd_name()];
    // An address beyond 64 KiB does not get as far as the API.
    let odd = odd_text().prop_map(|text| text.chars().take(600).collect::<String>());
    let value = prop_oneof![6 => select(values.to_vec()).prop_map(str::to_owned), 2 => odd];
    prop_oneof![
        9 => vec((name, value), 0..4).prop_map(|pairs| {
            reqwest::Url::parse_with_params("http://x/", pairs).unwrap().query().unwrap_or_default().to_owned()
        }),
        1 => any::<String>(),
    ]
}

#[test]
fn every_path_and_query_gets_an_answer_that_a_client_understands() {
    let house = House::new();
    let cases = (method(), path(), query(), prop::option::of(odd_text()));
    house.try_all(300, cases, |house, (method, path, query, body)| {
        let path = format!("{path}?{query}");
        let answer = house.send(&method, &path, body.map(String::into_bytes));
        understood(&format!("{method} {path}"), &answer);
    });
}

#[test]
fn an_answer_to_a_body_that_was_not_read_ends_the_connection() {
    let house = House::new();
    for (method, path, body, ends) in [
        (Method::POST, "/nowhere", Some("{}"), true),
        (Method::GET, "/v4/ad", Some("{}"), true),
        (Method::POST, "/v4/car?x=1", Some("{}"), true),
        (Method::POST, "/v4/car", Some("{}"), false),
        (Method::POST, "/v4/car", None, false),
        (Method::GET, "/v4/ad", None, false),
    ] {
        let answer = house.send(&method, path, body.map(|body| body.as_bytes().to_vec()));
        assert_eq!(answer.header("connection") == Some("close"), ends, "{method} {path} {body:?}");
    }
}

#[test]
fn every_query_of_a_list_gets_an_answer_that_a_client_understands() {
    let house = House::new();
    house.create("car", "car-1");
    house.create("boat", "boat-1");
    let lists = [
        "/v4/ad",
        "/v4/car",
        "/v3/ad",
        "/v4/ad/car-1/log",
        "/v4/ad/car-1",
        "/v4/vehicles/car/models",
        "/v4/ad/car-1/bump",
    ];
    house.try_all(300, (select(lists.to_vec()), query()), |house, (list, query)| {
        let path = format!("{list}?{query}");
        understood(&path, &house.send(&Method::GET, &path, None));
    });
}

#[test]
fn every_body_gets_an_answer_that_a_client_understands() {
    let house = House::new();
    house.create("car", "car-1");
    let operations = [
        (Method::POST, "/v4/car"),
        (Method::POST, "/v4/boat/validate"),
        (Method::POST, "/v3/ad"),
        (Method::POST, "/v3/ad/validate"),
        (Method::POST, "/v4/ad"),
        (Method::PUT, "/v4/car/car-1"),
        (Method::PATCH, "/v4/car/car-1"),
        (Method::POST, "/v4/ad/car-1/migrate"),
    ];
    let body = prop_oneof![
        3 => odd::any_json().prop_map(|value| value.to_string().into_bytes()),
        1 => odd::any_object().prop_map(|object| json!(object).to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..200),
        1 => (odd::any_json(), any::<prop::sample::Index>()).prop_map(|(value, end)| {
            let text = value.to_string().into_bytes();
            text[..end.index(text.len())].to_vec()
        }),
    ];
    house.try_all(200, (select(operations.to_vec()), body), |house, ((method, path), body)| {
        let what = format!("{method} {path} {}", String::from_utf8_lossy(&body));
        understood(&what, &house.send(&method, path, Some(body)));
    });
    takes_back(&house);
}

#[test]
fn whatever_was_stored_can_be_read_listed_and_sent_back() {
    let house = House::new();
    let kinds: Vec<_> = [ApiVersion::V3, ApiVersion::V4]
        .into_iter()
        .flat_map(|version| categories::all().filter(move |it| it.is_in(version)).map(move |it| (it, version)))
        .filter(|(category, _)| category.id != TRAILER)
        .map(|(category, version)| (path_of(category.id, version), payload(category, version, "")))
        .collect();
    let number = Cell::new(0);
    let perhaps = prop_oneof![Just(Vec::new()), changes()];
    house.try_all(150, (select(kinds), perhaps, changes()), |house, ((path, full), first, second)| {
        number.set(number.get() + 1);
        let mut ad = changed(&full, &first);
        ad.insert("source_id".to_owned(), json!(format!("å/{} ?", number.get())));
        let answer = house.send_json(&Method::POST, &path, &json!(ad));
        understood(&format!("POST {path} {}", json!(ad)), &answer);
        if answer.status == StatusCode::CREATED {
            let mut update = changed(&full, &second);
            update.retain(|name, _| name != "source_id" && name != "category_id");
            let path = format!("{path}/{}", encoded(answer.json()["source_id"].as_str().unwrap()));
            understood(
                &format!("PATCH {path} {}", json!(update)),
                &house.send_json(&Method::PATCH, &path, &json!(update)),
            );
        }
    });
    assert!(takes_back(&house) > 50, "the cases are too odd to be accepted");
}

/// Every ad of the list can be read, and is taken back as it was read. Returns how many there are.
fn takes_back(house: &House) -> usize {
    let list = house.get("/v4/ad?limit=500&ordering=source_id");
    let ads = list["results"].as_array().unwrap();
    assert_eq!(list["count"], ads.len());
    for listed in ads {
        let version = if listed["api_version"] == "v3" { ApiVersion::V3 } else { ApiVersion::V4 };
        let category = u16::try_from(listed["category_id"].as_u64().unwrap()).unwrap();
        let path = format!("{}/{}", path_of(category, version), encoded(listed["source_id"].as_str().unwrap()));
        let read = house.get(&path);
        assert_eq!(written(listed), written(&read), "{path}");
        assert_eq!(written(&house.send_json(&Method::PUT, &path, &read).expect(200)), written(&read), "{path}");
    }
    ads.len()
}

/// An ad without what the worker and a write itself change meanwhile.
fn written(ad: &Value) -> Value {
    let mut ad = ad.clone();
    for name in ["log", "updated", "marketplace_ad_id", "offer_id", "image_refs"] {
        ad.as_object_mut().unwrap().remove(name);
    }
    ad
}

/// A full payload without images, which nobody serves.
fn payload(category: &Category, version: ApiVersion, source_id: &str) -> Map<String, Value> {
    let mut payload = full::payload(category, version, &Catalogue::embedded());
    payload.remove("image_urls");
    payload.insert("source_id".to_owned(), json!(source_id));
    payload
}

/// Where ads of a category are written.
fn path_of(category: u16, version: ApiVersion) -> String {
    match (version, categories::by_id(category).and_then(|category| category.vehicle_type)) {
        (ApiVersion::V4, Some(vehicle_type)) => format!("/v4/{vehicle_type}"),
        _ => "/v3/ad".to_owned(),
    }
}

fn encoded(segment: &str) -> String {
    let mut url = reqwest::Url::parse("http://x/").unwrap();
    url.path_segments_mut().unwrap().push(segment);
    url.path().trim_start_matches('/').to_owned()
}
