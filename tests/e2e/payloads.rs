//! Payloads that the tests send.

use ad_tests::ImageHost;
use serde_json::{Value, json};

/// The car of the samples, its images on this host, under another source id and plate.
pub(crate) fn car(source_id: &str, plate: &str, images: &ImageHost) -> Value {
    let mut car = sample(include_str!("../data/payloads/car-v4.json"));
    car["source_id"] = json!(source_id);
    car["category_fields"]["registration_number"] = json!(plate);
    car["image_urls"] = json!([images.url("1.jpg"), images.url("2.png")]);
    car
}

/// The boat of the samples, its image on this host.
pub(crate) fn boat(source_id: &str, images: &ImageHost) -> Value {
    let mut boat = sample(include_str!("../data/payloads/boat-v4.json"));
    boat["source_id"] = json!(source_id);
    boat["image_urls"] = json!([images.url("3.jpg")]);
    boat
}

/// The boat of the samples without images and source id.
pub(crate) fn plain_boat() -> Value {
    let mut boat = sample(include_str!("../data/payloads/boat-v4.json"));
    boat["image_urls"] = json!([]);
    boat
}

/// A car of which nothing but what is required is known.
pub(crate) fn plain_car(source_id: &str, plate: &str) -> Value {
    json!({
        "source_id": source_id,
        "category_id": 1020,
        "category_fields": {"registration_number": plate, "model_year": 2019},
    })
}

pub(crate) fn sample(text: &str) -> Value {
    serde_json::from_str(text).expect("the samples are JSON")
}

/// Action and state of each entry.
pub(crate) fn steps(log: &[Value]) -> Vec<String> {
    log.iter().map(|entry| format!("{} {}", entry["action"], entry["state"]).replace('"', "")).collect()
}
