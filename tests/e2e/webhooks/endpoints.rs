//! Create, change and delete endpoints of webhooks.

use super::*;

async fn endpoints_are_managed(database: Option<&str>) {
    let receiver = WebhookReceiver::start().await;
    let server = server(database).await;
    let client = &server.client;
    let url = receiver.url("/hook");
    let created = client.post("/v4/webhooks", &json!({"url": url, "description": "stock"})).await;
    let location = created.header("location").unwrap().to_owned();
    let mut webhook = created.expect(201);
    let id = webhook["id"].as_str().unwrap().to_owned();
    assert_eq!(location, format!("{}/v4/webhooks/{id}", client.base));
    let secret = webhook.as_object_mut().unwrap().remove("secret").unwrap();
    assert!(secret.as_str().unwrap().starts_with("whsec_"));
    let time = webhook["created"].clone();
    let expected = json!({"id": id, "url": url, "types": ["ad.*.done", "ad.*.error"], "dealer_code": null,
        "description": "stock", "enabled": true, "disabled_reason": null, "created": time, "updated": time, "pending": 0,
        "last_success": null, "last_failure": null});
    assert_eq!(webhook, expected);
    assert_eq!(client.get(&path(&webhook)).await.expect(200), expected, "the secret is not shown again");
    let list = client.get("/v4/webhooks").await.expect(200);
    assert_eq!(list, json!({"count": 1, "next": null, "previous": null, "results": [expected]}));

    let change = json!({"types": ["ad.publish.*"], "description": null, "enabled": false});
    let changed = client.patch(&path(&webhook), &change).await.expect(200);
    assert_eq!((&changed["types"], &changed["description"]), (&json!(["ad.publish.*"]), &Value::Null));
    assert_eq!((&changed["enabled"], &changed["disabled_reason"]), (&json!(false), &json!("requested")));
    assert!(changed["updated"].as_str() > changed["created"].as_str());
    let refused = post_to(client, &webhook, "test", json!({})).await.expect(400);
    assert!(refused[0].as_str().unwrap().contains("\"enabled\": true"), "{refused}");
    let enabled = client.patch(&path(&webhook), &json!({"enabled": true})).await.expect(200);
    assert_eq!((&enabled["enabled"], &enabled["disabled_reason"]), (&json!(true), &Value::Null));

    // Nobody else sees it, and nobody after its end.
    for token in [&["--dealer-code", "south-cars"], &["--dealer-group", "north"]] {
        let other = server.client_of(token).await;
        other.get(&path(&webhook)).await.expect(404);
        other.patch(&path(&webhook), &json!({"url": "https://example.com"})).await.expect(404);
        other.delete(&path(&webhook)).await.expect(404);
        assert_eq!(other.get("/v4/webhooks").await.expect(200)["count"], 0);
    }
    let reader = server.client_of(&["--dealer-code", "north-cars", "--permissions", "read,write,promote"]).await;
    let forbidden = reader.get("/v4/webhooks").await.expect(403);
    assert!(forbidden["detail"].as_str().unwrap().contains("webhooks"), "{forbidden}");
    assert_eq!(client.delete(&path(&webhook)).await.expect(200)["id"], id);
    client.get(&path(&webhook)).await.expect(404);
    client.patch(&path(&webhook), &json!({"enabled": true})).await.expect(404);
    client.delete(&path(&webhook)).await.expect(404);
    client.get("/v4/webhooks/nonsense").await.expect(404);
}

#[tokio::test]
async fn endpoints_are_created_changed_and_deleted() {
    endpoints_are_managed(None).await;
}

#[tokio::test]
async fn endpoints_are_created_changed_and_deleted_in_postgresql() {
    let Some(database) = postgres().await else { return };
    endpoints_are_managed(Some(&database)).await;
}

#[tokio::test]
async fn wrong_bodies_are_refused_by_field_and_nothing_is_stored() {
    let server = Server::start().await;
    let client = &server.client;
    for (body, field) in [
        (json!({}), "url"),
        (json!({"url": "https://127.0.0.1/hook"}), "url"),
        (json!({"url": "http://example.com/hook"}), "url"),
        (json!({"url": "https://a:b@example.com/hook"}), "url"),
        (json!({"url": "https://example.com/#hook"}), "url"),
        (json!({"url": format!("https://example.com/{}", "x".repeat(2000))}), "url"),
        (json!({"url": "https://example.com", "types": ["ad.sold.done"]}), "types"),
        (json!({"url": "https://example.com", "dealer_code": "south-cars"}), "dealer_code"),
        (json!({"url": "https://example.com", "secret": "mine"}), "secret"),
    ] {
        let refused = client.post("/v4/webhooks", &body).await.expect(400);
        let fields: Vec<_> = refused.as_object().unwrap().keys().collect();
        assert_eq!(fields, [field], "{refused}");
    }
    let accept = [("accept", "application/problem+json".to_owned())];
    let body = Some(json!({"url": "https://example.com", "types": ["ad.publish.don"]}).to_string().into_bytes());
    let problem = client.send_with(reqwest::Method::POST, "/v4/webhooks", &accept, body).await.expect(400);
    let error = &problem["errors"][0];
    assert_eq!((&error["pointer"], &error["code"]), (&json!("#/types/0"), &json!("invalid_choice")), "{problem}");
    assert_eq!(error["suggestion"], "ad.publish.done", "{problem}");
    let refused = client.send(reqwest::Method::PUT, "/v4/webhooks", None).await;
    assert_eq!(refused.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    refused.expect(405);
    client.get("/v4/webhooks?state=pending").await.expect(400);
    assert_eq!(client.get("/v4/webhooks").await.expect(200)["count"], 0);
}

#[tokio::test]
async fn a_scope_has_as_many_webhooks_as_the_setting_says() {
    let server = server_with(None, &["--webhooks-per-scope", "2"]).await;
    let group = server.client_of(&["--dealer-group", "north"]).await;
    let url = json!({"url": "https://example.com/hook"});
    for client in [&server.client, &group] {
        for _ in 0..2 {
            client.post("/v4/webhooks", &url).await.expect(201);
        }
        let refused = client.post("/v4/webhooks", &url).await.expect(400);
        assert!(refused[0].as_str().unwrap().contains("2 webhooks"), "{refused}");
    }
    let list = group.get("/v4/webhooks?limit=1&offset=1").await.expect(200);
    assert_eq!((&list["count"], list["results"].as_array().unwrap().len()), (&json!(2), 1));
    group.delete(&path(&list["results"][0])).await;
    group.post("/v4/webhooks", &json!({"url": "https://example.com", "dealer_code": "coast-boats"})).await.expect(201);
}

#[tokio::test]
async fn neither_database_nor_log_reveals_a_secret() {
    let mut server = server(None).await;
    let webhook = create(&server.client, "http://127.0.0.1:9/").await;
    let rotated = post_to(&server.client, &webhook, "rotate-secret", json!({})).await.expect(200);
    let said = server.said().join("\n");
    server.kill().await;
    let mut stored = Vec::new();
    for file in std::fs::read_dir(server.dir().join("data")).unwrap() {
        let file = file.unwrap().path();
        if file.file_name().unwrap().to_string_lossy().starts_with("ads.db") {
            stored.extend(std::fs::read(file).unwrap());
        }
    }
    assert!(stored.len() > 4096);
    for secret in [&webhook["secret"], &rotated["secret"]] {
        let secret = secret.as_str().unwrap().strip_prefix("whsec_").unwrap();
        assert!(!stored.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
        assert!(!said.contains(secret));
    }
}
