// cargo add base64 poem ring serde_json; cargo add tokio --features full
use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::STANDARD};
use poem::{EndpointExt, Server, handler, http::HeaderMap, http::StatusCode, listener::TcpListener, web::Data};
use ring::hmac;
use serde_json::Value;

#[tokio::main]
async fn main() {
    let secret = std::env::var("WEBHOOK_SECRET").expect("WEBHOOK_SECRET is set");
    let port = std::env::var("PORT").unwrap_or("3000".to_owned());
    serve(&secret, &format!("127.0.0.1:{port}")).await;
}

pub async fn serve(secret: &str, address: &str) {
    let secret = STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("a secret");
    let app = receive.data(hmac::Key::new(hmac::HMAC_SHA256, &secret));
    Server::new(TcpListener::bind(address.to_owned())).run(app).await.expect("the port is free");
}

#[handler]
fn receive(Data(key): Data<&hmac::Key>, headers: &HeaderMap, body: String) -> StatusCode {
    let Some(message) = verified(key, headers, &body) else { return StatusCode::UNAUTHORIZED };
    // An event may come twice, with the same webhook-id.
    println!("{:?} {} {}", headers["webhook-id"], message["type"], message["data"]["source_id"]);
    StatusCode::NO_CONTENT
}

/// The message, if it is at most five minutes old and one of its signatures is right.
fn verified(key: &hmac::Key, headers: &HeaderMap, body: &str) -> Option<Value> {
    let header = |name| headers.get(name)?.to_str().ok();
    let (id, sent) = (header("webhook-id")?, header("webhook-timestamp")?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let is_recent = now.abs_diff(sent.parse().ok()?) <= 300;
    let signed = format!("{id}.{sent}.{body}");
    let mut tags =
        header("webhook-signature")?.split(' ').filter_map(|text| STANDARD.decode(text.strip_prefix("v1,")?).ok());
    let is_genuine = tags.any(|tag| hmac::verify(key, signed.as_bytes(), &tag).is_ok());
    if is_recent && is_genuine { serde_json::from_str(body).ok() } else { None }
}
