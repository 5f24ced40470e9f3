//! `/v4/webhooks`: the endpoints of a token's scope (extensions E5.1).

mod views;

use std::{collections::BTreeMap, sync::Arc};

use ad_core::{
    fields::FieldErrors,
    parameters::{AdParameters, DELIVERY_PARAMETERS, PAGE_PARAMETERS, Parameter, WebhookParameters},
    service::{Access, Denial, ServiceError},
    violation::{Code, Violation},
};
use poem::{
    Endpoint, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};
use serde_json::{Map, Value};
use uuid::Uuid;

use self::views::{DeliveryView, WebhookView};
use super::{ApiError, Context, body, errors::json_response, headers, links, observe::Routes, respond::PageBody};
use crate::{
    auth::Permission,
    events::{CursorScope, NotACursor},
    store::webhooks::{NewWebhook, StoredSecret, Webhook, WebhookChange},
    webhooks::{
        Dealers, MOST_PENDING, SigningSecret, TEST_TYPE, Webhooks, fields, fields::ReplayAfter, replay::position_before,
    },
};

/// For how long a replaced secret signs.
const ROTATION: std::time::Duration = std::time::Duration::from_hours(24);

/// Most secrets that sign at the same time.
const MOST_SECRETS: usize = 5;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Create,
    List,
    Read,
    Change,
    Delete,
    Test,
    RotateSecret,
    Deliveries,
    Resend,
    Replay,
}

/// One operation.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) act: Act,
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) doc: &'static str,
}

#[rustfmt::skip]
pub(super) static OPERATIONS: &[Operation] = &[
    Operation { act: Act::Create, method: Method::POST, path: "/v4/webhooks", parameters: &[], id: "create_webhook", summary: "Create a webhook",
        doc: "Events from now on are sent to `url`. The answer has the `secret` that signs them; it is shown this once." },
    Operation { act: Act::List, method: Method::GET, path: "/v4/webhooks", parameters: PAGE_PARAMETERS, id: "list_webhooks", summary: "List webhooks",
        doc: "The webhooks of the token's scope, oldest first." },
    Operation { act: Act::Read, method: Method::GET, path: "/v4/webhooks/:webhook_id", parameters: &[], id: "read_webhook", summary: "Read a webhook",
        doc: "With the number of pending deliveries, and why it is disabled if it is." },
    Operation { act: Act::Change, method: Method::PATCH, path: "/v4/webhooks/:webhook_id", parameters: &[], id: "patch_webhook", summary: "Update a webhook",
        doc: "Omitted fields are unchanged. A disabled webhook keeps its position: with `enabled: true` it continues where it stopped, with `resume: \"now\"` it skips what happened meanwhile." },
    Operation { act: Act::Delete, method: Method::DELETE, path: "/v4/webhooks/:webhook_id", parameters: &[], id: "delete_webhook", summary: "Delete a webhook",
        doc: "Deletes the webhook with its deliveries. Nothing more is sent." },
    Operation { act: Act::Test, method: Method::POST, path: "/v4/webhooks/:webhook_id/test", parameters: &[], id: "test_webhook", summary: "Send a test event",
        doc: "Queues an event of type `webhook.test`, signed and retried like any other. Returns the delivery; to see what became of it, list the deliveries." },
    Operation { act: Act::RotateSecret, method: Method::POST, path: "/v4/webhooks/:webhook_id/rotate-secret", parameters: &[], id: "rotate_webhook_secret", summary: "Replace the secret",
        doc: "Returns the webhook with a new `secret`. For 24 hours the old one signs too, so that receivers can be changed without losing an event." },
    Operation { act: Act::Deliveries, method: Method::GET, path: "/v4/webhooks/:webhook_id/deliveries", parameters: DELIVERY_PARAMETERS, id: "list_deliveries", summary: "List deliveries",
        doc: "Newest first, each with its attempts." },
    Operation { act: Act::Resend, method: Method::POST, path: "/v4/webhooks/:webhook_id/deliveries/:event_id/resend", parameters: &[], id: "resend_delivery", summary: "Send an event again",
        doc: "Queues the delivery again, with all its retries. The event keeps its id." },
    Operation { act: Act::Replay, method: Method::POST, path: "/v4/webhooks/:webhook_id/replay", parameters: &[], id: "replay_webhook", summary: "Send all events again from a cursor or time",
        doc: "Moves the position of the webhook back (or forward) and continues from there. Events that were delivered before are sent again with the same ids." },
];

/// Mounts the endpoints, if there are webhooks.
pub(super) fn mount(mut route: Routes, context: &Arc<Context>) -> Routes {
    let Some(webhooks) = &context.webhooks else { return route };
    let mut paths: BTreeMap<&'static str, Vec<&'static Operation>> = BTreeMap::new();
    for operation in OPERATIONS {
        paths.entry(operation.path).or_default().push(operation);
    }
    for (path, operations) in paths {
        route = route.at(path, Path { context: Arc::clone(context), webhooks: webhooks.clone(), operations });
    }
    route
}

/// One path with its operations.
struct Path {
    context: Arc<Context>,
    webhooks: Webhooks,
    operations: Vec<&'static Operation>,
}

impl Endpoint for Path {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let response = self.answer(request).await.unwrap_or_else(ApiError::response);
        Ok(headers::to_token(response, headers::PRIVATE))
    }
}

/// A request about one webhook, or about all of a scope.
struct Call<'a> {
    context: &'a Context,
    webhooks: &'a Webhooks,
    access: Access,
    id: &'a str,
}

impl Path {
    async fn answer(&self, mut request: Request) -> Result<Response, ApiError> {
        let operation = self.operation(request.method())?;
        let access = self.context.access(&request, Permission::Webhooks)?;
        let query = body::query(&request)?;
        let id = request.raw_path_param("webhook_id").unwrap_or_default().to_owned();
        let call = Call { context: &self.context, webhooks: &self.webhooks, access, id: &id };
        let (limits, access) = (&self.context.limits, &call.access);
        if !matches!(operation.act, Act::List | Act::Deliveries) {
            AdParameters::parse(operation.parameters, &query)?;
        }
        let sent = match operation.act {
            Act::Create | Act::Change | Act::Replay => {
                body::object(&mut request, limits, access, false, |_| ()).await?.object
            }
            _ => Map::new(),
        };
        let _turn = limits.turns.take(access).await?;
        match operation.act {
            Act::Create => call.create(&request, &sent).await,
            Act::List => call.list(&request, &query).await,
            Act::Read => call.read().await,
            Act::Change => call.change(&sent).await,
            Act::Delete => call.delete().await,
            Act::Test => call.test().await,
            Act::RotateSecret => call.rotate_secret().await,
            Act::Deliveries => call.deliveries(&request, &query).await,
            Act::Resend => call.resend(request.raw_path_param("event_id").unwrap_or_default()).await,
            Act::Replay => call.replay(&sent).await,
        }
    }

    fn operation(&self, method: &Method) -> Result<&'static Operation, ApiError> {
        let asked = if *method == Method::HEAD { &Method::GET } else { method };
        let found = self.operations.iter().copied().find(|operation| operation.method == *asked);
        found.ok_or_else(|| {
            let mut methods: Vec<_> = self.operations.iter().map(|operation| operation.method.as_str()).collect();
            // GET first, as everywhere.
            methods.sort_by_key(|method| *method != "GET");
            ApiError::only(&methods, Some(method))
        })
    }
}

impl Call<'_> {
    async fn create(&self, request: &Request, sent: &Map<String, Value>) -> Result<Response, ApiError> {
        let Webhooks { database, directory, vault, clock, per_scope, .. } = self.webhooks;
        let scope = Dealers::of(&**directory, &self.access, None);
        let fields = fields::new(sent, self.webhooks.guard(), |code| scope.contain(code)).map_err(invalid)?;
        let id = self.context.ids.next();
        let secret = SigningSecret::random().map_err(|error| internal(&error))?;
        let sealed = vault.seal(id, &secret).map_err(|error| internal(&error))?;
        let new = NewWebhook {
            id,
            access: self.access.clone(),
            url: fields.url,
            types: fields.types,
            dealer_code: fields.dealer_code,
            description: fields.description,
            secret: StoredSecret { sealed, until: None },
            created: clock.now(),
            position: self.context.store.newest_event().await?,
        };
        if !database.add_webhook(&new, *per_scope).await? {
            let text =
                format!("The token's scope has {per_scope} webhooks already, which is the maximum. Delete one first.");
            return Err(denied(Code::QuotaExceeded, text));
        }
        self.webhooks.changed.notify_one();
        let id = id.to_string();
        let (webhook, pending) = Call { id: &id, access: self.access.clone(), ..*self }.find().await?;
        let mut response = json_response(StatusCode::CREATED, &WebhookView::new(&webhook, pending).with(&secret));
        let address = links::to(self.context, request, &format!("/v4/webhooks/{id}"));
        response.headers_mut().extend(HeaderValue::try_from(address).ok().map(|address| (header::LOCATION, address)));
        Ok(response)
    }

    async fn list(&self, request: &Request, query: &[(String, String)]) -> Result<Response, ApiError> {
        let page = WebhookParameters::parse(PAGE_PARAMETERS, query)?.page;
        // There are a few of a scope.
        let all = self.webhooks.database.webhooks(&self.access).await?;
        let skipped = usize::try_from(page.offset).unwrap_or(usize::MAX);
        let rows = all.iter().skip(skipped).take(page.limit as usize);
        let rows: Vec<_> = rows.map(|(webhook, pending)| WebhookView::new(webhook, *pending)).collect();
        Ok(list(PageBody::new(self.context, request, query, page, all.len() as u64, rows)?))
    }

    async fn read(&self) -> Result<Response, ApiError> {
        let (webhook, pending) = self.find().await?;
        Ok(json_response(StatusCode::OK, &WebhookView::new(&webhook, pending)))
    }

    async fn change(&self, sent: &Map<String, Value>) -> Result<Response, ApiError> {
        let (webhook, _) = self.find().await?;
        let fields = fields::changed(sent, self.webhooks.guard(), webhook.dealer_code.as_deref()).map_err(invalid)?;
        let resume_at = if fields.resume { Some(self.context.store.newest_event().await?) } else { None };
        let change = WebhookChange {
            url: fields.url,
            types: fields.types,
            description: fields.description,
            enabled: fields.enabled,
            resume_at,
        };
        self.webhooks.database.change_webhook(webhook.id, &change, self.webhooks.clock.now()).await?;
        self.webhooks.changed.notify_one();
        self.read().await
    }

    async fn delete(&self) -> Result<Response, ApiError> {
        let (webhook, pending) = self.find().await?;
        self.webhooks.database.delete_webhook(webhook.id, self.webhooks.clock.now()).await?;
        self.webhooks.changed.notify_one();
        Ok(json_response(StatusCode::OK, &WebhookView::new(&webhook, pending)))
    }

    async fn test(&self) -> Result<Response, ApiError> {
        let webhook = self.find_enabled().await?;
        let event_id = format!("evt_test_{}", self.context.ids.next().simple());
        let now = self.webhooks.clock.now();
        if !self.webhooks.database.add_test(webhook.id, &event_id, TEST_TYPE, now, MOST_PENDING).await? {
            let text =
                format!("{MOST_PENDING} deliveries to this webhook are pending. Wait until some of them have ended.");
            return Err(denied(Code::QuotaExceeded, text));
        }
        self.queued(&webhook, &event_id).await
    }

    async fn resend(&self, event_id: &str) -> Result<Response, ApiError> {
        let webhook = self.find_enabled().await?;
        if !self.webhooks.database.resend(webhook.id, event_id, self.webhooks.clock.now()).await? {
            return Err(unknown_delivery(event_id));
        }
        self.queued(&webhook, event_id).await
    }

    /// The answer with a delivery that was queued.
    async fn queued(&self, webhook: &Webhook, event_id: &str) -> Result<Response, ApiError> {
        self.webhooks.changed.notify_one();
        let delivery = self.webhooks.database.find_delivery(webhook.id, event_id).await?;
        let delivery = delivery.ok_or_else(|| unknown_delivery(event_id))?;
        Ok(json_response(StatusCode::OK, &DeliveryView::from(&delivery)))
    }

    async fn rotate_secret(&self) -> Result<Response, ApiError> {
        loop {
            let (webhook, pending) = self.find().await?;
            let secret = SigningSecret::random().map_err(|error| internal(&error))?;
            let sealed = self.webhooks.vault.seal(webhook.id, &secret).map_err(|error| internal(&error))?;
            let now = self.webhooks.clock.now();
            let mut secrets = vec![StoredSecret { sealed, until: None }];
            let old = webhook.secrets.iter().filter(|secret| secret.until.is_none_or(|until| until > now));
            let old = old.map(|old| StoredSecret { until: old.until.or(Some(now + ROTATION)), ..old.clone() });
            secrets.extend(old.take(MOST_SECRETS - 1));
            // Another rotation may have been faster.
            if self.webhooks.database.replace_secrets(&webhook, &secrets, now).await? {
                self.webhooks.changed.notify_one();
                let webhook = Webhook { updated: now, ..webhook };
                return Ok(json_response(StatusCode::OK, &WebhookView::new(&webhook, pending).with(&secret)));
            }
        }
    }

    async fn replay(&self, sent: &Map<String, Value>) -> Result<Response, ApiError> {
        let (webhook, _) = self.find().await?;
        let after = fields::replay(sent).map_err(invalid)?;
        let store = &*self.context.store;
        let position = match after {
            ReplayAfter::Time(time) => {
                let dealers = Dealers::of(&*self.webhooks.directory, &self.access, webhook.dealer_code.as_deref());
                position_before(store, dealers.scope(), time).await?
            }
            ReplayAfter::Cursor(cursor) => {
                let position = CursorScope::of(&self.access).decode(&cursor).map_err(|NotACursor| {
                    wrong_after(
                        Code::InvalidFormat,
                        "Neither a cursor of the token's scope nor a time. Send the cursor of an event, or a time such as \
                         \"2026-01-15T10:00:00Z\".",
                    )
                })?;
                if position > store.newest_event().await? {
                    return Err(wrong_after(
                        Code::OutOfRange,
                        "The cursor lies beyond the newest event: the service was restored from a backup. Send a time instead.",
                    ));
                }
                position
            }
        };
        self.webhooks.database.replay_webhook(webhook.id, position).await?;
        self.webhooks.changed.notify_one();
        self.read().await
    }

    async fn deliveries(&self, request: &Request, query: &[(String, String)]) -> Result<Response, ApiError> {
        let WebhookParameters { state, page } = WebhookParameters::parse(DELIVERY_PARAMETERS, query)?;
        let (webhook, _) = self.find().await?;
        let (rows, count) = self.webhooks.database.deliveries(webhook.id, state, page).await?;
        let rows: Vec<_> = rows.iter().map(DeliveryView::from).collect();
        Ok(list(PageBody::new(self.context, request, query, page, count, rows)?))
    }

    /// The webhook of the path, with the number of its pending deliveries.
    async fn find(&self) -> Result<(Webhook, u64), ApiError> {
        let id: Uuid = self.id.parse().map_err(|_| self.unknown())?;
        let all = self.webhooks.database.webhooks(&self.access).await?;
        all.into_iter().find(|(webhook, _)| webhook.id == id).ok_or_else(|| self.unknown())
    }

    async fn find_enabled(&self) -> Result<Webhook, ApiError> {
        let (webhook, _) = self.find().await?;
        if webhook.disabled.is_some() {
            let text =
                "This webhook is disabled, so nothing is sent to it. Enable it first: PATCH with \"enabled\": true.";
            return Err(denied(Code::WebhookDisabled, text.to_owned()));
        }
        Ok(webhook)
    }

    fn unknown(&self) -> ApiError {
        ApiError::NotFound(format!(
            "No webhook in the token's scope has the id \"{}\". GET /v4/webhooks lists them.",
            self.id
        ))
    }
}

fn list(page: PageBody) -> Response {
    let mut response = Response::builder().content_type("application/json").body(page.bytes);
    response.headers_mut().extend(page.links.map(|links| (header::LINK, links)));
    response
}

fn invalid(errors: FieldErrors) -> ApiError {
    ServiceError::Invalid(errors).into()
}

fn denied(code: Code, text: String) -> ApiError {
    ServiceError::Refused(vec![Denial { code, text }]).into()
}

fn wrong_after(code: Code, text: &'static str) -> ApiError {
    let mut errors = FieldErrors::default();
    errors.push("after", Violation::stated(code, text));
    invalid(errors)
}

fn internal(error: &std::io::Error) -> ApiError {
    tracing::error!(%error, "cannot create a webhook secret");
    ApiError::Internal
}

fn unknown_delivery(event_id: &str) -> ApiError {
    ApiError::NotFound(format!(
        "No delivery of an event with the id \"{event_id}\" to this webhook is stored. To send older events again, use replay."
    ))
}
