//! The OpenAPI document and its pages (interface, 'Conventions').

use ad_tests::Server;
use serde_json::Value;

use crate::payloads::sample;

#[tokio::test]
async fn each_type_has_its_own_schema_with_enums_bounds_and_descriptions() {
    let server = Server::start().await;
    let document = server.client.with_token(None).get("/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with('3'));
    let schemas = &document["components"]["schemas"];
    for (name, body) in [
        ("CarCreate", include_str!("../data/payloads/car-v4.json")),
        ("BoatCreate", include_str!("../data/payloads/boat-v4.json")),
    ] {
        conforms(&sample(body), &schemas[name], name);
    }
    let car = &schemas["CarCreate"]["properties"]["category_fields"]["properties"];
    assert!(car["brand"]["enum"].as_array().unwrap().contains(&"volvo".into()));
    assert_eq!((&car["model_year"]["minimum"], &car["model_year"]["maximum"]), (&1900.into(), &2100.into()));
    assert!(car["powertrain"]["properties"]["displacement"]["description"].as_str().unwrap().ends_with("(V4)"));
    assert_eq!(schemas["CarCreate"]["properties"].get("title"), None, "must not be sent");
    assert!(schemas["BoatCreate"]["required"].as_array().unwrap().contains(&"contact".into()));
    for path in [
        "/v4/car",
        "/v4/car/{source_id}/bump",
        "/v4/boat/validate",
        "/v4/ad/{source_id}/log",
        "/v4/vehicles/car/models",
    ] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    every_reference_resolves(&document, &document);
}

/// Whether every field of a payload stands in a schema, with an allowed value where there is a list.
fn conforms(value: &Value, schema: &Value, path: &str) {
    assert!(schema.is_object(), "{path} is not described");
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                conforms(member, &schema["properties"][name], &format!("{path}.{name}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| conforms(item, &schema["items"], path)),
        value => {
            if let Some(allowed) = schema["enum"].as_array() {
                assert!(allowed.contains(value), "{path}: {value} is not in {allowed:?}");
            }
        }
    }
}

fn every_reference_resolves(place: &Value, document: &Value) {
    match place {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
            }
            members.values().for_each(|member| every_reference_resolves(member, document));
        }
        Value::Array(items) => items.iter().for_each(|item| every_reference_resolves(item, document)),
        _ => {}
    }
}

#[tokio::test]
async fn the_pages_hold_everything_they_need() {
    let server = Server::start().await;
    for page in ["/docs/swagger-ui/", "/docs/redoc/", "/docs/swagger-ui", "/docs/redoc"] {
        let answer = server.client.with_token(None).get(page).await;
        assert_eq!(answer.status, 200, "{page}");
        let html = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(html.contains("CarCreate") && html.contains("BoatUpdate"), "{page} has the whole document");
        for loaded in ["src=\"http", "href=\"http", "<link"] {
            assert!(!html.split("<body").next().unwrap().contains(loaded), "{page} loads from the internet");
        }
    }
}
