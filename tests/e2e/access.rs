//! Tokens and scopes (interface, 'Authentication'; decisions 11 and 29).

use ad_tests::{Client, Server, eventually};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use crate::payloads::plain_car;

#[tokio::test]
async fn no_token_a_wrong_one_and_one_without_the_permission() {
    let server = Server::start().await;
    for path in ["/v4/ad", "/v4/car/1", "/v4/vehicles/car/brand"] {
        let missing = server.client.with_token(None).get(path).await.expect(401);
        assert_eq!(
            missing,
            json!({"detail": "Authentication credentials were not provided. Send the token in the header X-Auth-Token."})
        );
        for token in ["x", "a.b.c", "eyJhbGciOiJub25lIn0.eyJkZWFsZXJfY29kZSI6Im5vcnRoLWNhcnMifQ."] {
            let wrong = server.client.with_token(Some(token.to_owned())).get(path).await.expect(401);
            assert!(wrong["detail"].as_str().unwrap().starts_with("Invalid token: "), "{wrong}");
        }
    }
    server.client.post("/v4/car", &plain_car("c", "PRM001")).await.expect(201);
    let reader = server.client_of(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    reader.get("/v4/ad/c").await.expect(200);
    reader.post("/v4/car/validate", &plain_car("d", "PRM002")).await.expect(200);
    assert!(reader.post("/v4/car", &plain_car("d", "PRM002")).await.expect(403)["detail"].is_string());
    assert!(reader.delete("/v4/ad/c").await.expect(403)["detail"].is_string());
    let writer = server.client_of(&["--dealer-code", "north-cars", "--permissions", "read,write"]).await;
    writer.get("/v4/ad/c/retry").await.expect(200);
    assert!(writer.get("/v4/ad/c/bump").await.expect(403)["detail"].is_string());
}

#[tokio::test]
async fn another_dealers_ad_is_not_found() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("c", "FOR001")).await.expect(201);
    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    for path in ["/v4/ad/c", "/v4/car/c", "/v4/ad/c/log", "/v4/car/c/bump"] {
        assert!(south.get(path).await.expect(404)["detail"].is_string(), "{path}");
    }
    assert_eq!(south.get("/v4/ad").await.expect(200)["count"], 0);
    assert!(server.client.get("/v4/boat/c").await.expect(404)["detail"].is_string(), "another vehicle type's path");
    let outside = json!({"dealer_code": "south-cars"});
    let mut payload = plain_car("d", "FOR002");
    payload["dealer_code"] = outside["dealer_code"].clone();
    assert!(server.client.post("/v4/car", &payload).await.expect(400)["dealer_code"].is_array());
}

#[tokio::test]
async fn a_groups_token_says_which_dealer() {
    let server = Server::start().await;
    let group = server.client_of(&["--dealer-group", "north"]).await;
    let mut payload = plain_car("same", "GRP001");
    let errors = group.post("/v4/car", &payload).await.expect(400);
    assert_eq!(errors["dealer_code"][0], "This field is required.");
    for (dealer, plate) in [("north-cars", "GRP001"), ("coast-boats", "GRP002")] {
        payload["dealer_code"] = json!(dealer);
        payload["category_fields"]["registration_number"] = json!(plate);
        group.post("/v4/car", &payload).await.expect(201);
    }
    payload["dealer_code"] = json!("south-cars");
    assert!(group.post("/v4/car", &payload).await.expect(400)["dealer_code"].is_array());

    let ambiguous = group.get("/v4/ad/same").await.expect(400);
    assert!(ambiguous["dealer_code"][0].as_str().unwrap().contains("coast-boats"), "{ambiguous}");
    for dealer in ["north-cars", "coast-boats"] {
        let one = group.get(&format!("/v4/car/same?dealer_code={dealer}")).await.expect(200);
        assert_eq!(one["dealer_code"], dealer);
    }
    group.patch("/v4/car/same?dealer_code=coast-boats", &json!({"body": "x"})).await.expect(200);
    assert_eq!(group.get("/v4/ad").await.expect(200)["count"], 2);
    assert_eq!(group.get("/v4/ad?dealer_code=south-cars").await.expect(200)["count"], 0);
}

#[tokio::test]
async fn a_revoked_token_stops_working_while_the_server_runs() {
    let server = Server::start().await;
    server.client.get("/v4/ad").await.expect(200);
    let listed = server.command(&["token", "list", "--json"]).await;
    let tokens: Value = serde_json::from_str(&listed).unwrap();
    let jti = tokens[0]["jti"].as_str().unwrap();
    server.command(&["token", "revoke", jti]).await;
    assert_is_refused_soon(&server.client).await;
}

async fn assert_is_refused_soon(client: &Client) {
    let answer = eventually("the revocation is seen", || async {
        let answer = client.get("/v4/ad").await;
        (answer.status == 401).then(|| answer.json())
    })
    .await;
    assert_eq!(answer, json!({"detail": "Invalid token: Token has been revoked."}));
}

/// Another issuer: its private key, and its public one as it stands in a key file.
fn issuer(kid: &str) -> (Ed25519KeyPair, Value) {
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let x = BASE64.encode(key.public_key());
    (key, json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": kid, "x": x}))
}

/// A token of this issuer.
fn signed(key: &Ed25519KeyPair, header: &Value, claims: &Value) -> String {
    let message = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
    let signature = BASE64.encode(key.sign(message.as_bytes()));
    format!("{message}.{signature}")
}

#[tokio::test]
async fn another_issuers_token_works_until_it_is_revoked() {
    let mut server = Server::start().await;
    let (key, public) = issuer("vendor");
    let file = server.dir().join("data/token-keys.json");
    let mut keys: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    keys["keys"].as_array_mut().unwrap().push(public);
    std::fs::write(&file, keys.to_string()).unwrap();
    server.stop().await;
    server.restart().await;

    let client = |jti: &str| {
        let header = json!({"alg": "EdDSA", "kid": "vendor", "typ": "JWT"});
        let claims = json!({"iss": "vendor", "iat": 1_768_471_200, "jti": jti, "dealer_code": "north-cars"});
        server.client.with_token(Some(signed(&key, &header, &claims)))
    };
    let (revoked, other) = (client("vendor/2026 #1"), client("vendor/2026 #2"));
    for client in [&revoked, &other, &server.client] {
        client.get("/v4/ad").await.expect(200);
    }
    server.command(&["token", "revoke", "vendor/2026 #1"]).await;
    assert_is_refused_soon(&revoked).await;
    for client in [&other, &server.client] {
        client.get("/v4/ad").await.expect(200);
    }
}

#[tokio::test]
async fn a_changed_dealer_is_seen_while_the_server_runs() {
    let server = Server::start().await;
    let mut payload = plain_car("s", "SAL001");
    payload["category_fields"]["salesperson"] = json!("berta@north.example");
    let errors = server.client.post("/v4/car/validate", &payload).await.expect(400);
    assert!(errors["category_fields"]["salesperson"].is_array());
    let file = std::fs::read_to_string(server.dir().join("dealers.toml")).unwrap();
    std::fs::write(server.dir().join("new.toml"), file.replace("anna@", "berta@")).unwrap();
    server.command(&["dealers", "import", "new.toml"]).await;
    eventually("the new salesperson is known", || async {
        (server.client.post("/v4/car/validate", &payload).await.status == 200).then_some(())
    })
    .await;
}
