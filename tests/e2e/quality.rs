//! The quality of ads on both databases (extensions E7): what answers show, and what lists find.

use ad_tests::{Client, Options, Postgres, Server};
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// The quality in a single read, which is that of every path; lists show the same in short and find the ad by its score.
async fn quality(client: &Client, source_id: &str) -> Value {
    let read = async |base: &str| {
        let read = client.get(&format!("{base}/{source_id}?fields=source_id&include=quality")).await.expect(200);
        read["quality"].clone()
    };
    let quality = read("/v4/car").await;
    assert_eq!((&read("/v4/ad").await, &read("/v3/ad").await), (&quality, &quality));
    let score = quality["score"].as_u64().unwrap();
    let within = format!("quality_score__gte={score}&quality_score__lt={}", score + 1);
    let listed =
        client.get(&format!("/v4/ad?source_id={source_id}&{within}&fields=id&include=quality")).await.expect(200);
    let findings = quality["findings"].as_array().unwrap().iter();
    let own = findings.filter(|finding| finding["code"] != "plate_in_other_ad").count();
    let row = &listed["results"][0]["quality"];
    assert_eq!(row, &json!({"score": score, "level": quality["level"], "findings": own}), "{quality}");
    quality
}

fn codes(quality: &Value) -> Vec<&str> {
    quality["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

fn score(quality: &Value) -> u64 {
    quality["score"].as_u64().unwrap()
}

async fn quality_follows(database: &[&str]) {
    let args = [&["--sandbox"], database].concat().into_iter().map(str::to_owned).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let image = |name: &str| format!("{}/sandbox/images/{name}.jpg", client.base);
    let mut car = plain_car("car-1", "KLA001");
    car["image_urls"] = json!([image("missing")]);

    // Until it is known that the photo is missing, it counts.
    let created = client.post("/v4/car?include=quality", &car).await.expect(201)["quality"].clone();
    assert_eq!(codes(&created), ["title_incomplete", "title_incomplete", "few_photos"]);
    client.ended("car-1", "publish", None).await;
    let missing = quality(client, "car-1").await;
    assert_eq!(codes(&missing)[3..], ["photo_missing"]);
    let finding = &missing["findings"][3];
    assert_eq!((&finding["severity"], &finding["field"]), (&json!("warning"), &json!("image_urls.0")));
    assert!(score(&missing) < score(&created), "{created} {missing}");

    // An update knows of it too; another address counts again, and goes on counting when it is stored.
    let updated = client.patch("/v4/car/car-1?include=quality", &json!({"body": "Fin bil"})).await.expect(200);
    assert_eq!(codes(&updated["quality"]), codes(&missing));
    let stored = json!({"image_urls": [image("1")]});
    let updated = client.patch("/v4/car/car-1?include=quality", &stored).await;
    let request = updated.header("x-request-id").map(str::to_owned);
    let updated = updated.expect(200);
    assert_eq!(score(&updated["quality"]), score(&created));
    client.ended("car-1", "publish", request.as_deref()).await;
    assert_eq!(quality(client, "car-1").await, updated["quality"]);

    // The same write again is answered as before.
    let key = [("idempotency-key", "again".to_owned())];
    let retry =
        async || client.send_with(Method::POST, "/v4/car/car-1/retry?include=quality", &key, None).await.expect(200);
    let first = retry().await;
    assert_eq!((&first["quality"], &retry().await), (&updated["quality"], &first));

    // Only a single read and validate compare an ad with others.
    let twin = client.post("/v4/car?include=quality", &plain_car("car-2", "KLA001")).await.expect(201);
    assert!(!codes(&twin["quality"]).contains(&"plate_in_other_ad"));
    client.ended("car-2", "publish", None).await;
    for source_id in ["car-1", "car-2"] {
        assert!(codes(&quality(client, source_id).await).contains(&"plate_in_other_ad"), "{source_id}");
    }
    let validated = client.post("/v4/car/validate", &plain_car("car-3", "KLA001")).await.expect(200);
    assert!(codes(&validated["quality"]).contains(&"plate_in_other_ad"));
    for source_id in ["car-1", "car-2"] {
        client.delete(&format!("/v4/car/{source_id}")).await.expect(200);
        client.ended(source_id, "delete", None).await;
    }
    let validated = client.post("/v4/car/validate", &plain_car("car-3", "KLA001")).await.expect(200);
    assert!(!codes(&validated["quality"]).contains(&"plate_in_other_ad"));
    // A deleted ad has its score.
    quality(client, "car-1").await;
}

#[tokio::test]
async fn the_quality_of_an_ad_follows_what_becomes_of_its_photos() {
    quality_follows(&[]).await;
}

#[tokio::test]
async fn the_quality_of_an_ad_follows_what_becomes_of_its_photos_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    quality_follows(&["--database-url", &postgres.database().await]).await;
}

/// A car that meets all goals and has no flaw, with photos of the sandbox.
fn sound_car(base: &str) -> Value {
    let mut car: Value = serde_json::from_str(include_str!("../../docs/car.json")).unwrap();
    let photos = [
        "nc-1001/1",
        "nc-1001/2",
        "nc-1001/3",
        "nc-1001/4",
        "nc-1002/1",
        "nc-1002/2",
        "nc-1002/4",
        "nc-1003/1",
        "nc-1003/2",
        "nc-1005/1",
    ];
    car["image_urls"] = photos.iter().map(|photo| format!("{base}/sandbox/images/{photo}.jpg")).collect();
    car["body"] = json!("Driven by one owner, serviced every year by the dealer who sold it. ".repeat(4));
    car
}

/// Lays a change over a payload: objects member by member, everything else replaced.
fn lay_over(value: &mut Value, change: &Value) {
    match (value, change) {
        (Value::Object(members), Value::Object(changes)) => {
            for (name, change) in changes {
                lay_over(members.entry(name).or_insert(Value::Null), change);
            }
        }
        (value, change) => value.clone_from(change),
    }
}

/// The codes of findings but those about the photos themselves, which depend on what becomes of them.
fn codes_of_payload(quality: &Value) -> Vec<&str> {
    codes(quality).into_iter().filter(|code| !code.starts_with("photo")).collect()
}

/// A stock of cars with one known flaw each yields exactly its findings.
async fn flaws_are_found(database: &[&str]) {
    let args = [&["--sandbox"], database].concat().into_iter().map(str::to_owned).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let client = &server.client;
    let mut sound = sound_car(&client.base);
    sound["source_id"] = json!("sound");
    sound["category_fields"]["registration_number"] = json!("SND001");
    client.post("/v4/car", &sound).await.expect(201);
    for (number, line) in include_str!("../data/flawed.ndjson").lines().enumerate() {
        let flawed: Value = serde_json::from_str(line).unwrap();
        let (flaw, expected) = (&flawed["flaw"], json!(flawed["findings"]));
        let source_id = format!("flawed-{number}");
        let mut car = sound.clone();
        let plate = format!("FLW{number:03}");
        lay_over(
            &mut car,
            &json!({"source_id": source_id, "category_fields": {"registration_number": plate, "vin": null}}),
        );
        lay_over(&mut car, &flawed["change"]);
        for photo in car["image_urls"].as_array_mut().unwrap() {
            let name = photo.as_str().unwrap();
            *photo = json!(if name.contains("://") {
                name.to_owned()
            } else {
                format!("{}/sandbox/images/{name}", client.base)
            });
        }
        let validated = client.post("/v4/car/validate", &car).await.expect(200);
        client.post("/v4/car", &car).await.expect(201);
        if flawed["update"].is_object() {
            assert_eq!(codes(&validated["quality"]), Vec::<&str>::new(), "{flaw}");
            client.patch(&format!("/v4/car/{source_id}"), &flawed["update"]).await.expect(200);
        } else {
            assert_eq!(json!(codes(&validated["quality"])), expected, "{flaw}: {validated}");
        }
        let read = client.get(&format!("/v4/car/{source_id}?include=quality")).await.expect(200);
        assert_eq!(json!(codes_of_payload(&read["quality"])), expected, "{flaw}: {read}");
        // For what follows it is no other ad.
        if expected != json!([]) {
            client.delete(&format!("/v4/car/{source_id}")).await.expect(200);
        }
    }
}

#[tokio::test]
async fn a_stock_of_flawed_ads_yields_exactly_its_findings() {
    flaws_are_found(&[]).await;
}

#[tokio::test]
async fn a_stock_of_flawed_ads_yields_exactly_its_findings_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    flaws_are_found(&["--database-url", &postgres.database().await]).await;
}

/// Copies the value at a dotted path.
fn copy(from: &Value, to: &mut Value, path: &str) {
    let pointer = format!("/{}", path.replace('.', "/"));
    let value = from.pointer(&pointer).cloned().unwrap_or_default();
    let change = path.rsplit('.').fold(value, |value, name| json!({name: value}));
    lay_over(to, &change);
}

#[tokio::test]
async fn the_score_rises_with_each_goal_by_its_weight() {
    let server = Server::with(Options { args: vec!["--sandbox".to_owned()], ..Options::default() }).await;
    let whole = sound_car(&server.client.base);
    let quality = async |car: &Value| {
        let validated = server.client.post("/v4/car/validate", car).await.expect(200);
        validated["quality"].clone()
    };
    let all = quality(&whole).await;
    assert_eq!((score(&all), codes(&all)), (100, Vec::new()));
    let goals = all["goals"].as_array().unwrap();
    let weights: Vec<_> = goals.iter().map(|goal| goal["weight"].as_u64().unwrap()).collect();
    assert!(weights.is_sorted_by(|one, other| one >= other), "{weights:?}");
    let sum: u64 = weights.iter().sum();
    // What is required meets the goal of the model year from the beginning.
    let mut car =
        json!({"category_id": 1020, "category_fields": {"registration_number": "SND002", "model_year": 2021}});
    let mut met = 5;
    assert_eq!(score(&quality(&car).await), met * 100 / sum);
    for (goal, weight) in goals.iter().zip(weights).filter(|(goal, _)| goal["code"] != "model_year") {
        let (code, field) = (goal["code"].as_str().unwrap(), goal["field"].as_str().unwrap());
        copy(&whole, &mut car, field);
        if code == "photos" {
            car["image_urls"].as_array_mut().unwrap().truncate(1);
        }
        met += weight;
        assert_eq!(score(&quality(&car).await), met * 100 / sum, "{code}");
    }
    assert_eq!(met, sum);
}

#[tokio::test]
async fn an_ad_with_nothing_but_nulls_has_a_quality() {
    let server = Server::start().await;
    let mut car = plain_car("nulls", "KLA001");
    for (name, _) in sound_car("").as_object().unwrap() {
        car.as_object_mut().unwrap().entry(name.clone()).or_insert(Value::Null);
    }
    for (name, _) in sound_car("")["category_fields"].as_object().unwrap() {
        let fields = car["category_fields"].as_object_mut().unwrap();
        fields.entry(name.clone()).or_insert(Value::Null);
    }
    let validated = server.client.post("/v4/car/validate", &car).await.expect(200);
    assert_eq!(validated["quality"]["level"], "basic");
}
