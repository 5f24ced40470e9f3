//! `/v4/webhooks`: the endpoints of a token's scope (extensions E5.1).

mod scoped;
mod views;

use std::{collections::BTreeMap, sync::Arc};

use ad_core::parameters::{AdParameters, DELIVERY_PARAMETERS, PAGE_PARAMETERS, Parameter, WebhookParameters};
use poem::{
    Endpoint, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};
use serde_json::Map;

pub use self::scoped::ScopedWebhooks;
use self::views::WebhookView;
use super::{ApiError, Context, body, errors::json_response, headers, links, observe::Routes, respond::PageBody};
use ad_server_access::auth::Permission;
use ad_server_outside::webhooks::Webhooks;
use ad_server_store::webhooks::Webhook;

/// What an operation on webhooks does.
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

impl Path {
    async fn answer(&self, mut request: Request) -> Result<Response, ApiError> {
        let operation = self.operation(request.method())?;
        let access = self.context.access(&request, Permission::Webhooks)?;
        let query = body::query(&request)?;
        let id = request.raw_path_param("webhook_id").unwrap_or_default().to_owned();
        let (context, limits) = (&*self.context, &self.context.limits);
        let webhooks = ScopedWebhooks { context, webhooks: &self.webhooks, access: &access };
        if !matches!(operation.act, Act::List | Act::Deliveries) {
            AdParameters::parse(operation.parameters, &query)?;
        }
        let sent = match operation.act {
            Act::Create | Act::Change | Act::Replay => {
                body::object(&mut request, limits, &access, false, |_| ()).await?.object
            }
            _ => Map::new(),
        };
        let _turn = limits.turns.take(&access).await?;
        match operation.act {
            Act::Create => {
                let (webhook, pending, secret) = webhooks.create(&sent).await?;
                let view = WebhookView::new(&webhook, pending).with(&secret);
                let mut response = json_response(StatusCode::CREATED, &view);
                let address = links::to(context, &request, &format!("/v4/webhooks/{}", webhook.id));
                let location = HeaderValue::try_from(address).ok();
                response.headers_mut().extend(location.map(|address| (header::LOCATION, address)));
                Ok(response)
            }
            Act::List => {
                let page = WebhookParameters::parse(PAGE_PARAMETERS, &query)?.page;
                // A scope has only a few.
                let all = webhooks.all().await?;
                let skipped = usize::try_from(page.offset).unwrap_or(usize::MAX);
                let rows = all.iter().skip(skipped).take(page.limit as usize);
                let rows: Vec<_> = rows.map(|(webhook, pending)| WebhookView::new(webhook, *pending)).collect();
                Ok(list(PageBody::new(context, &request, &query, page, all.len() as u64, rows)?))
            }
            Act::Read => Ok(shown(&webhooks.find(&id).await?)),
            Act::Change => Ok(shown(&webhooks.change(&id, &sent).await?)),
            Act::Delete => Ok(shown(&webhooks.delete(&id).await?)),
            Act::Replay => Ok(shown(&webhooks.replay(&id, &sent).await?)),
            Act::RotateSecret => {
                let (webhook, pending, secret) = webhooks.rotate_secret(&id).await?;
                Ok(json_response(StatusCode::OK, &WebhookView::new(&webhook, pending).with(&secret)))
            }
            Act::Test => Ok(json_response(StatusCode::OK, &webhooks.test(&id).await?)),
            Act::Resend => {
                let event_id = request.raw_path_param("event_id").unwrap_or_default();
                Ok(json_response(StatusCode::OK, &webhooks.resend(&id, event_id).await?))
            }
            Act::Deliveries => {
                let WebhookParameters { state, page } = WebhookParameters::parse(DELIVERY_PARAMETERS, &query)?;
                let (rows, count) = webhooks.deliveries(&id, state, page).await?;
                Ok(list(PageBody::new(context, &request, &query, page, count, rows)?))
            }
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

fn shown((webhook, pending): &(Webhook, u64)) -> Response {
    json_response(StatusCode::OK, &WebhookView::new(webhook, *pending))
}

fn list(page: PageBody) -> Response {
    let mut response = Response::builder().content_type("application/json").body(page.bytes);
    response.headers_mut().extend(page.links.map(|links| (header::LINK, links)));
    response
}
