//! Webhooks: addresses to which the service sends events (extensions E5).

use ad_core::model::{DeliveryState, EventTypes, Timestamp};
use bytes::Bytes;
use reqwest::Method;
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Answer, Error, ErrorKind, Page,
    transport::{Call, Transport, query_string, segment},
};

/// The webhook endpoints of the token's scope. All operations need the permission `webhooks`.
///
/// What changes something is not sent again when it may have been executed: a second execution would add another endpoint, or replace
/// a new secret.
#[derive(Debug, Clone, Copy)]
pub struct Webhooks<'a> {
    transport: &'a Transport,
}

/// A new endpoint. It gets the events from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NewWebhook {
    /// Address that receives the events; https.
    pub url: String,
    /// Types of the events to send; empty: every `done` and `error`.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "texts")]
    pub types: Vec<EventTypes>,
    /// Only events of this dealer of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dealer_code: Option<String>,
    /// A note for people; the service does not use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Changes of an endpoint; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WebhookChanges {
    /// New address that receives the events; https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Types of the events to send.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_texts")]
    pub types: Option<Vec<EventTypes>>,
    /// New note for people, which the service only shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether events are sent. A disabled endpoint keeps its position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The position at which an endpoint resumes when it is enabled again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// The position at which an endpoint resumes, unless it is where it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// With the events from now on; those in between are not sent.
    Now,
}

/// An endpoint, as the service shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Webhook {
    /// Id by which the service names the endpoint.
    pub id: String,
    /// Address that receives the events.
    pub url: String,
    /// Types of the events that are sent.
    pub types: Vec<String>,
    /// The dealer whose events are sent, if not all of the scope.
    pub dealer_code: Option<String>,
    /// Note for people, which the service only shows.
    pub description: Option<String>,
    /// Whether the service sends events to it.
    pub enabled: bool,
    /// Why it is disabled; `None` while it is enabled.
    pub disabled_reason: Option<String>,
    /// Why nothing is sent to it although it is enabled: `secret_unreadable` if no process of the service has the key that encrypted its
    /// secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When the endpoint was created.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
    /// Number of deliveries that have neither succeeded nor failed for good.
    pub pending: u64,
    /// The latest attempt that succeeded.
    pub last_success: Option<Timestamp>,
    /// The latest attempt that failed.
    pub last_failure: Option<Timestamp>,
    /// The secret that signs (`whsec_…`); only in the answer to a create or a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// What a later version of the service has added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The delivery of an event to an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delivery {
    /// Id of the event, the same over all attempts.
    pub event_id: String,
    /// Type of the event, such as `ad.publish.done`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Whether it is pending, delivered or failed.
    pub state: DeliveryState,
    /// When the event was assigned to the endpoint.
    pub created: Timestamp,
    /// When it is tried again.
    pub next_attempt: Option<Timestamp>,
    /// The attempts so far, oldest first.
    pub attempts: Vec<DeliveryAttempt>,
    /// What a later version of the service has added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryAttempt {
    /// When the attempt began, by the clock of the service.
    pub at: Timestamp,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// Milliseconds until the answer or the failure.
    pub latency_ms: Option<u64>,
    /// Why the attempt failed; `None` after success.
    pub error: Option<String>,
    /// The first characters of the answer.
    pub response: Option<String>,
}

/// Which deliveries of an endpoint to read. The default is the first page of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// Only those in this state.
    pub state: Option<DeliveryState>,
    /// Limit and offset of the page.
    pub page: ad_core::model::Page,
}

/// From where an endpoint gets events again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayAfter {
    /// After this position: the cursor of an event.
    Cursor(String),
    /// Those that happened after this time.
    Time(Timestamp),
}

impl<'a> Webhooks<'a> {
    pub(super) fn new(transport: &'a Transport) -> Self {
        Self { transport }
    }

    /// The endpoints.
    ///
    /// # Errors
    /// [`Forbidden`](ErrorKind::Forbidden) for a token without the permission.
    pub async fn list(&self, page: ad_core::model::Page) -> Result<Answer<Page<Webhook>>, Error> {
        self.transport.get(format!("v4/webhooks{}", query_string(page_parameters(page)))).await
    }

    /// Adds an endpoint. The answer has its secret, which is not shown again.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) naming what is wrong, such as an address that is not public.
    pub async fn create(&self, webhook: &NewWebhook) -> Result<Answer<Webhook>, Error> {
        self.change(Method::POST, "v4/webhooks".to_owned(), Some(webhook)).await
    }

    /// One endpoint.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound).
    pub async fn read(&self, id: &str) -> Result<Answer<Webhook>, Error> {
        self.transport.get(path(id, "")).await
    }

    /// Changes an endpoint.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`read`](Self::read).
    pub async fn update(&self, id: &str, changes: &WebhookChanges) -> Result<Answer<Webhook>, Error> {
        self.change(Method::PATCH, path(id, ""), Some(changes)).await
    }

    /// Deletes an endpoint with its deliveries, and returns what it was.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn delete(&self, id: &str) -> Result<Answer<Webhook>, Error> {
        self.change(Method::DELETE, path(id, ""), None::<&()>).await
    }

    /// Sends a test event to an endpoint.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn test(&self, id: &str) -> Result<Answer<Delivery>, Error> {
        self.change(Method::POST, path(id, "/test"), None::<&()>).await
    }

    /// Gives an endpoint a new secret, which the answer has. For 24 hours the secret before signs as well.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn rotate_secret(&self, id: &str) -> Result<Answer<Webhook>, Error> {
        self.change(Method::POST, path(id, "/rotate-secret"), None::<&()>).await
    }

    /// A page of the deliveries of an endpoint.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Invalid`](ErrorKind::Invalid) naming the parameters that are wrong.
    pub async fn deliveries(&self, id: &str, query: &DeliveryQuery) -> Result<Answer<Page<Delivery>>, Error> {
        let state = query.state.map(|state| ("state", state.name().to_owned()));
        let parameters = page_parameters(query.page).into_iter().chain(state);
        self.transport.get(path(id, &format!("/deliveries{}", query_string(parameters)))).await
    }

    /// Resends an event.
    ///
    /// # Errors
    /// As [`read`](Self::read), also for an event that the endpoint never had.
    pub async fn resend(&self, id: &str, event_id: &str) -> Result<Answer<Delivery>, Error> {
        let below = format!("/deliveries/{}/resend", segment(event_id));
        self.change(Method::POST, path(id, &below), None::<&()>).await
    }

    /// Resends the events after a position, then continues with new ones.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Invalid`](ErrorKind::Invalid) naming `after`.
    pub async fn replay(&self, id: &str, after: &ReplayAfter) -> Result<Answer<Webhook>, Error> {
        let after = match after {
            ReplayAfter::Cursor(cursor) => cursor.clone(),
            ReplayAfter::Time(time) => time.to_string(),
        };
        self.change(Method::POST, path(id, "/replay"), Some(&serde_json::json!({"after": after}))).await
    }

    async fn change<T: DeserializeOwned>(
        &self,
        method: Method,
        path: String,
        body: Option<&impl Serialize>,
    ) -> Result<Answer<T>, Error> {
        let body = body.map(serde_json::to_vec).transpose().map_err(|error| {
            let kind = ErrorKind::Malformed(format!("cannot serialize the request: {error}"));
            Error::new(kind, &method, &format!("/{path}"))
        })?;
        let call = Call { is_repeatable: false, ..Call::new(method, path, body.map(Bytes::from)) };
        self.transport.ask(call).await
    }
}

fn path(id: &str, below: &str) -> String {
    format!("v4/webhooks/{}{below}", segment(id))
}

fn page_parameters(page: ad_core::model::Page) -> [(&'static str, String); 2] {
    [("limit", page.limit.to_string()), ("offset", page.offset.to_string())]
}

fn texts<S: Serializer>(types: &[EventTypes], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(types.iter().map(ToString::to_string))
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn optional_texts<S: Serializer>(types: &Option<Vec<EventTypes>>, serializer: S) -> Result<S::Ok, S::Error> {
    texts(types.as_deref().unwrap_or_default(), serializer)
}
