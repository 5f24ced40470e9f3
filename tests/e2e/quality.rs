//! The quality of ads on both databases (extensions E7): what answers show, and what lists find.

use ad_core::{categories, fields::Direction};
use ad_tests::{
    Client, ImageHost, Options, Postgres, Server, eventually_within,
    photos::{self, jpeg, sound},
};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::payloads::plain_car;

/// The quality in a single read, which is that of every path; lists show the same in short and find the ad by its score.
async fn quality(client: &Client, source_id: &str) -> Value {
    let read = async |base: &str| {
        let read = client.get(&format!("{base}/{source_id}?fields=source_id&include=quality")).await.expect(200);
        read["quality"].clone()
    };
    let mut quality = read("/v4/car").await;
    assert_eq!((&read("/v4/ad").await, &read("/v3/ad").await), (&quality, &quality));
    let none = json!({"ended": null, "next": null});
    let promotions = quality.as_object_mut().unwrap().remove("promotions");
    assert_eq!(promotions, Some(json!({"bump": none, "pole_position": none})), "only a single read has them");
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

/// A car that meets all goals and has no flaw, with photos of the host.
fn sound_car(images: &ImageHost) -> Value {
    let mut car: Value = serde_json::from_str(include_str!("../../docs/car.json")).unwrap();
    car["image_urls"] = (0..10).map(|number| images.add(&format!("{number}.jpg"), jpeg(&sound(number)))).collect();
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

/// A stock of cars with one known flaw each yields exactly its findings: what a payload shows at once, and what photos show when they
/// were examined.
async fn flaws_are_found(database: &[&str]) {
    let args = [&["--renditions=true"], database].concat().into_iter().map(str::to_owned).collect();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let (client, images) = (&server.client, ImageHost::start().await);
    let sound_car = sound_car(&images);
    let mut other = sound_car.clone();
    lay_over(&mut other, &json!({"source_id": "sound", "category_fields": {"registration_number": "SND001"}}));
    other["image_urls"] = json!([images.add("other.jpg", jpeg(&sound(99)))]);
    client.post("/v4/car", &other).await.expect(201);
    examined(client, "sound").await;
    for (number, line) in include_str!("../data/flawed.ndjson").lines().enumerate() {
        let flawed: Value = serde_json::from_str(line).unwrap();
        let (flaw, expected) = (&flawed["flaw"], json!(flawed["findings"]));
        let source_id = format!("flawed-{number}");
        let own = json!({"registration_number": format!("FLW{number:03}"), "vin": null});
        let mut car = sound_car.clone();
        lay_over(&mut car, &json!({"source_id": source_id, "category_fields": own}));
        if flawed["change"].is_object() {
            lay_over(&mut car, &flawed["change"]);
        }
        if let Some(count) = flawed["photos"].as_u64() {
            car["image_urls"].as_array_mut().unwrap().truncate(usize::try_from(count).unwrap());
        }
        if let Some(photos) = flawed["photos"].as_object() {
            for (place, flaw) in photos {
                let place: usize = place.parse().unwrap();
                let name = format!("{number}-{place}.jpg");
                car["image_urls"][place] = json!(match flaw.as_str().unwrap() {
                    "gone" => images.url(&name),
                    flaw => images.add(&name, photos::flawed(flaw)),
                });
            }
        }
        // What photos show and prices have been is not known yet.
        let validated = client.post("/v4/car/validate", &car).await.expect(200)["quality"].clone();
        let is_known = !flawed["photos"].is_object() && !flawed["update"].is_object();
        assert_eq!(
            json!(codes(&validated)),
            if is_known { expected.clone() } else { json!([]) },
            "{flaw}: {validated}"
        );
        client.post("/v4/car", &car).await.expect(201);
        if flawed["update"].is_object() {
            client.patch(&format!("/v4/car/{source_id}"), &flawed["update"]).await.expect(200);
        }
        if flawed["photos"].is_object() {
            examined(client, &source_id).await;
        }
        let read = client.get(&format!("/v4/car/{source_id}?include=quality")).await.expect(200)["quality"].clone();
        assert_eq!(json!(codes(&read)), expected, "{flaw}: {read}");
        if let Some(what) = flawed["says"].as_str() {
            assert!(read["findings"][0]["text"].as_str().unwrap().contains(what), "{flaw}: {read}");
        }
        // For what follows it is no other ad.
        client.delete(&format!("/v4/car/{source_id}")).await.expect(200);
        client.ended(&source_id, "delete", None).await;
    }
}

/// Waits until an ad is published and its stored photos were examined.
async fn examined(client: &Client, source_id: &str) {
    client.ended(source_id, "publish", None).await;
    eventually_within(photos::PATIENCE, "the photos are examined", || async {
        let ad = client.ad(source_id).await;
        ad["image_refs"].as_array().unwrap().iter().all(|photo| photo["renditions"].is_array()).then_some(())
    })
    .await;
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
    let server = Server::start().await;
    let whole = sound_car(&ImageHost::start().await);
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
    let client = &server.client;
    let whole = sound_car(&ImageHost::start().await);
    let mut car = plain_car("nulls", "KLA001");
    for name in whole.as_object().unwrap().keys() {
        car.as_object_mut().unwrap().entry(name.clone()).or_insert(Value::Null);
    }
    for name in whole["category_fields"].as_object().unwrap().keys() {
        let fields = car["category_fields"].as_object_mut().unwrap();
        fields.entry(name.clone()).or_insert(Value::Null);
    }
    let validated = client.post("/v4/car/validate", &car).await.expect(200);
    assert_eq!(validated["quality"]["level"], "basic");
    let created = client.post("/v4/car?include=quality", &car).await.expect(201);
    assert_eq!(created["quality"], validated["quality"]);
    assert_eq!(quality(client, "nulls").await, validated["quality"]);
    // Whatever the type, everything null is refused for what is required and for nothing else.
    for (vehicle_type, category) in categories::typed() {
        let sent = category.fields().filter(|field| field.direction != Direction::Response);
        let names = sent.map(|field| field.path.split('.').next().unwrap_or_default().to_owned());
        let nulls: Map<_, _> = names.map(|name| (name, Value::Null)).collect();
        let mut ad = json!({"category_id": category.id, "category_fields": nulls});
        for field in ["price", "body", "image_urls", "video_url", "location", "contact"] {
            ad[field] = Value::Null;
        }
        let answer = client.post(&format!("/v4/{vehicle_type}/validate"), &ad).await;
        assert!([200, 400].contains(&answer.status.as_u16()), "{vehicle_type}: {answer:?}");
    }
}
