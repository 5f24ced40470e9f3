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
