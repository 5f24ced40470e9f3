//! One attempt to deliver an event: a signed POST to an address that is guarded as those of images are.

use std::{sync::Arc, time::Duration};

use ad_core::{model::Timestamp, ports::Clock};
use reqwest::{
    Client, Response,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use tokio::time::{Instant, timeout_at};

use super::secret::{SigningSecret, seconds, signatures};
use crate::{
    media::{Guard, Refused, refusal},
    outbound::{self, NoAnswer, shown},
};
use ad_server_base::limits::table::ATTEMPT_TIME;
use ad_server_store::webhooks::Attempt;

/// How much of an answer's body is kept, in characters.
const KEPT: usize = 500;

/// Idle connections per host, and how long they stay open: there may be thousands of hosts.
const IDLE_CONNECTIONS: usize = 16;
const IDLE: Duration = Duration::from_secs(10);

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Sends messages to endpoints, guarded and signed.
#[derive(Clone)]
pub struct Sender {
    client: Client,
    guard: Guard,
    clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(Sender);

/// The HTTP client cannot be set up, for instance because the machine has no certificates to trust.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the client that sends webhooks: {0}")]
pub struct SenderError(#[from] reqwest::Error);

/// A message to an endpoint: id, time and body.
#[derive(Debug)]
pub struct Message<'a> {
    pub url: &'a str,
    pub id: &'a str,
    pub body: String,
    pub secrets: &'a [SigningSecret],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver has the event.
    Delivered,
    /// The receiver wants no more events.
    Gone,
    /// The receiver may have asked for a pause.
    Failed(Option<Duration>),
}

impl Sender {
    /// A sender with its own connections.
    ///
    /// # Errors
    /// When the client cannot be set up.
    pub fn new(guard: Guard, clock: Arc<dyn Clock>) -> Result<Self, SenderError> {
        let client = outbound::client()
            .user_agent(outbound::USER_AGENT)
            .dns_resolver(Arc::new(guard))
            .redirect(Policy::none())
            // A proxy would resolve names itself, unguarded.
            .no_proxy()
            .referer(false)
            // HTTP/2 would buffer megabytes before they are read.
            .http1_only()
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE)
            .build()?;
        Ok(Self { client, guard, clock })
    }

    pub async fn send(&self, message: Message<'_>) -> (Attempt, AttemptOutcome) {
        let at = self.clock.now();
        let (begun, deadline) = (Instant::now(), Instant::now() + ATTEMPT_TIME);
        let answer = self.post(message, at, deadline).await;
        let (status, error, outcome) = match &answer {
            Err(error) => (None, Some(error.clone()), AttemptOutcome::Failed(None)),
            Ok(response) => {
                let status = response.status();
                let error = (!status.is_success()).then(|| match status.as_u16() {
                    status @ 300..400 => format!("answered {status}; redirects are not followed"),
                    status => format!("answered {status}"),
                });
                let outcome = match status.as_u16() {
                    200..300 => AttemptOutcome::Delivered,
                    410 => AttemptOutcome::Gone,
                    _ => AttemptOutcome::Failed(outbound::retry_after(response, at)),
                };
                (Some(status.as_u16()), error, outcome)
            }
        };
        let response = match answer {
            Ok(response) => Some(beginning(response, deadline).await),
            Err(_) => None,
        };
        let latency_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        (Attempt { at, status, latency_ms, error, response }, outcome)
    }

    /// The receiver's answer, without its body.
    async fn post(&self, message: Message<'_>, at: Timestamp, deadline: Instant) -> Result<Response, String> {
        let Message { url, id, body, secrets } = message;
        let url = self.guard.parse(url).map_err(refused)?;
        let signature = signatures(secrets, id, at, &body);
        let value = |text: &str| HeaderValue::from_str(text).map_err(|_| "the event has an invalid id".to_owned());
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ID, value(id)?),
            (TIMESTAMP, HeaderValue::from(seconds(at))),
            (SIGNATURE, value(&signature)?),
        ]);
        let sent = self.client.post(url).headers(headers).body(body).send();
        match timeout_at(deadline, sent).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(format!("no answer within {}", shown(ATTEMPT_TIME))),
        }
    }
}

/// Why an address is not sent to, for the client.
fn refused(refused: Refused) -> String {
    let text = match refused {
        Refused::NotHttps => "only https addresses are sent to",
        Refused::Private => "the address resolves to a private network",
        _ => "the address is not valid",
    };
    text.to_owned()
}

fn failed(error: &reqwest::Error) -> String {
    tracing::debug!(?error, "webhook request failed");
    if let Some(verdict) = refusal(error) {
        return refused(verdict);
    }
    let text = match NoAnswer::from(error) {
        NoAnswer::ConnectTimeout | NoAnswer::Timeout => return format!("no answer within {}", shown(ATTEMPT_TIME)),
        NoAnswer::Name => "the name of the host cannot be resolved",
        NoAnswer::Certificate => "no secure connection: the host has no valid certificate",
        NoAnswer::Refused => "the host refuses connections",
        NoAnswer::Connect => "no connection to the host",
        NoAnswer::Redirect | NoAnswer::Broken => "the connection broke off before the answer",
    };
    text.to_owned()
}

/// The beginning of the body of an answer. No more than that is read.
async fn beginning(mut response: Response, deadline: Instant) -> String {
    const MOST_BYTES: usize = KEPT * 4;
    let mut bytes = Vec::new();
    while bytes.len() < MOST_BYTES {
        let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await else { break };
        bytes.extend_from_slice(&chunk[..chunk.len().min(MOST_BYTES - bytes.len())]);
    }
    String::from_utf8_lossy(&bytes).chars().take(KEPT).collect()
}
