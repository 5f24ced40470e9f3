//! The demo's receiver of webhooks. It stands for a dealer's server, and knows only the secret of its webhook.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock},
};

use ad_core::{lock::locked, ports::Clock};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, StatusCode},
};
use ring::hmac;
use serde_json::Value;

use crate::sandbox::Loopback;
use ad_server_base::http_server::ServerError;

/// Maximum age of a message in seconds.
const TOLERANCE: u64 = 300;

/// A receiver on a free port; it ends with the value.
pub(super) struct Receiver {
    server: Loopback,
    seen: Arc<ReceivedMessages>,
}

/// The messages that the webhook of the demo has received.
struct ReceivedMessages {
    clock: Arc<dyn Clock>,
    /// Unknown until the webhook has been created.
    key: OnceLock<hmac::Key>,
    events: Mutex<Received>,
}

/// The messages received so far.
#[derive(Default)]
struct Received {
    /// Ids of verified messages: the service may send one twice.
    ids: BTreeSet<String>,
    /// Source ids of the ads of which publishing ended.
    published: BTreeSet<String>,
    refused: usize,
}

impl Receiver {
    pub(super) async fn start(clock: Arc<dyn Clock>) -> Result<Self, ServerError> {
        let seen = Arc::new(ReceivedMessages { clock, key: OnceLock::new(), events: Mutex::default() });
        let server = Loopback::start(Receive(Arc::clone(&seen))).await?;
        Ok(Self { server, seen })
    }

    /// The address of the webhook.
    pub(super) fn url(&self) -> String {
        format!("{}/webhook", self.server.address())
    }

    /// Verifies with this secret (`whsec_…`) from now on.
    pub(super) fn set_secret(&self, secret: &str) {
        let key = BASE64.decode(secret.trim_start_matches("whsec_")).unwrap_or_default();
        self.seen.key.get_or_init(|| hmac::Key::new(hmac::HMAC_SHA256, &key));
    }

    /// Whether an event has reported the end of publishing this ad.
    pub(super) fn has_published(&self, source_id: &str) -> bool {
        self.seen.received(|received| received.published.contains(source_id))
    }

    /// Numbers of messages with a right signature and without.
    pub(super) fn counts(&self) -> (usize, usize) {
        self.seen.received(|received| (received.ids.len(), received.refused))
    }
}

struct Receive(Arc<ReceivedMessages>);

impl Endpoint for Receive {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let body = request.take_body().into_string().await?;
        Ok(self.0.receive(request.headers(), &body).into())
    }
}

impl ReceivedMessages {
    fn received<T>(&self, read: impl FnOnce(&mut Received) -> T) -> T {
        read(&mut locked(&self.events))
    }

    fn receive(&self, headers: &HeaderMap, body: &str) -> StatusCode {
        let Some(key) = self.key.get() else { return StatusCode::SERVICE_UNAVAILABLE };
        let now = self.clock.now().as_millis().div_euclid(1000);
        let Some((id, message)) = verified(key, now, headers, body) else {
            self.received(|received| received.refused += 1);
            return StatusCode::UNAUTHORIZED;
        };
        let event = &message["data"];
        self.received(|received| {
            received.ids.insert(id.to_owned());
            if event["action"] == "publish" {
                received.published.extend(event["source_id"].as_str().map(str::to_owned));
            }
        });
        StatusCode::NO_CONTENT
    }
}

/// Id and body of a message that was signed with this key not long before `now`, in seconds.
fn verified<'a>(key: &hmac::Key, now: i64, headers: &'a HeaderMap, body: &str) -> Option<(&'a str, Value)> {
    let header = |name| headers.get(name)?.to_str().ok();
    let (id, sent) = (header("webhook-id")?, header("webhook-timestamp")?);
    let signed = format!("{id}.{sent}.{body}");
    let mut signatures = header("webhook-signature")?.split(' ').filter_map(|text| text.strip_prefix("v1,"));
    let is_right = |text| BASE64.decode(text).is_ok_and(|tag| hmac::verify(key, signed.as_bytes(), &tag).is_ok());
    let is_recent = now.abs_diff(sent.parse().ok()?) <= TOLERANCE;
    if !(is_recent && signatures.any(is_right)) {
        return None;
    }
    Some((id, serde_json::from_str(body).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks and of its libraries.
    #[test]
    fn only_recent_messages_with_a_right_signature_are_taken() {
        let key = BASE64.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let body = r#"{"test": 2432232314}"#;
        let at = |signature: &str, now: i64, body: &str| {
            let headers = [
                ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
                ("webhook-timestamp", "1614265330"),
                ("webhook-signature", signature),
            ];
            let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            verified(&key, now, &headers.into_iter().collect(), body).is_some()
        };
        let now = 1_614_265_330;
        assert!(at(right, now, body) && at(&format!("v1,AAAA v2,x {right}"), now + 300, body));
        assert!(
            !at("v1,AAAA", now, body) && !at(right, now + 301, body) && !at(right, now, "{}") && !at("", now, body)
        );
    }
}
