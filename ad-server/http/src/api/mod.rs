//! The REST API: a poem router over the use cases, for this binary or to be mounted in another poem app.
//!
//! `around` gives a request its id and an answer its headers. `operations` is the table of all operations, and `perform` has every gate
//! before their handlers, which call the [`Service`] and serialize the result. No code here knows a field of an ad.

mod accept;
mod access_log;
mod account;
mod ads;
mod answers;
mod around;
pub mod body;
mod call;
mod compression;
mod conditional;
mod cors;
pub mod errors;
mod event_streams;
pub mod events;
mod handler;
mod headers;
mod idempotency;
mod json_size;
mod limits;
mod limits_met;
pub mod links;
mod lists;
mod lookups;
mod me;
mod missing;
pub mod observe;
mod openapi;
pub(crate) mod operations;
pub mod pages;
mod perform;
mod prefer;
mod problem;
mod promotions;
pub mod requests;
mod respond;
mod revisions;
mod sandbox;
pub mod static_document;
mod stock;
mod summary;
pub mod versions;
pub mod webhooks;
mod writes;

use std::sync::Arc;

use ad_core::{
    model::{RequestOrigin, Via},
    ports::{Ids, Store},
    service::{Access, Service},
};
use poem::{Endpoint, EndpointExt, IntoEndpoint, Request, Response, Route, http::header};
use tokio::sync::watch;
use uuid::Uuid;

use access_log::RequestFacts;
pub use ad_parameters::selected;
use ad_server_access::auth::{Caller, TokenError};
pub use ad_server_base::stopping::Stopping;
use ad_server_base::{
    http_server::Proxies,
    limits::RateLimited,
    telemetry::{Metrics, traces},
    values::Origin,
};
use ad_server_outside::{record_keys::RecordKeys, webhooks::Webhooks};
use around::CommonLayer;
pub use errors::ApiError;
pub use event_streams::EventStreams;
pub use limits::{BodyMemory, Limits, RequestSlots, Writes};
pub use limits_met::LimitMet;
pub use limits_met::LimitsMet;
pub use lists::Lists;
pub use openapi::first_request;
pub use pages::viewers;
pub use prefer::Waits;
pub use promotions::{EmptyAnswer, PromotionApi};
pub use sandbox::ApiFaults;
pub use stock::StockApi;
pub(crate) use stock::StockRow;

/// Largest body of a request, in bytes (decision 9).
pub const MAX_BODY: usize = ad_core::rulebook::size::MOST_BYTES;

/// Authenticates callers by their tokens.
pub trait Authenticator: Send + Sync {
    /// The caller of a token.
    ///
    /// # Errors
    /// What is wrong with the token, for the client's eyes.
    fn authenticate(&self, token: &str) -> Result<Caller, TokenError>;

    /// Checks that the token of a caller is still valid. It is asked twice a second for each open event stream and long poll.
    ///
    /// # Errors
    /// What is wrong with the token now.
    fn check(&self, caller: &Caller) -> Result<(), TokenError>;

    /// Notifies of changes of revoked tokens and of dealers, so that event streams see these at once. `None`: they look twice a second.
    fn changes(&self) -> Option<watch::Receiver<()>> {
        None
    }
}

/// What the endpoints of the API use.
#[derive(Clone)]
pub struct Context {
    /// The use cases of `ad-core`.
    pub service: Service,
    /// For `/readyz`, kept answers, and the end of requests.
    pub store: Arc<dyn Store>,
    /// Authenticates callers by their tokens.
    pub authenticator: Arc<dyn Authenticator>,
    /// Generates the ids of requests.
    pub ids: Arc<dyn Ids>,
    /// Address under which clients reach the API; the request's own host if `None`.
    pub public_url: Option<String>,
    /// Proxies whose headers about the client's request are trusted.
    pub trusted_proxies: Proxies,
    /// Origins of web pages whose scripts may use the API (CORS).
    pub cors_origins: Arc<[Origin]>,
    /// Limits of what clients use.
    pub limits: Limits,
    pub metrics: Option<Metrics>,
    /// Whether the process is about to stop, for `/readyz`.
    pub stopping: Stopping,
    /// Whether the API serves the counters, at `/metrics`.
    pub serves_metrics: bool,
    /// Makes this a sandbox, which fails requests when source ids ask for it and serves sample images; `None` in production.
    pub faults: Option<ApiFaults>,
    /// Sign the records of ads.
    pub record_keys: Arc<RecordKeys>,
    /// Plans whole stocks; `None`: it cannot.
    pub stock: Option<StockApi>,
    /// Promotes ads by the clock; `None`: it cannot.
    pub promotions: Option<PromotionApi>,
    /// Manages webhooks; `None`: there are none.
    pub webhooks: Option<Webhooks>,
    /// Whether answers over the service's own TLS tell browsers to come by https only (RFC 6797).
    pub strict_transport: bool,
}

ad_server_base::debug_by_name!(Context);

/// The whole API as a router: the endpoints, their documentation, health, and stored images.
///
/// It runs in any poem app, also below a path of its own, over any store. Links in lists follow the path of the request.
/// `images` serves the stored images at `/media/*name`: [`ServeMedia`](ad_server_outside::media::ServeMedia) does for a folder or a bucket.
///
/// `docs/embedding.md` has a complete program. It serves the API and accepts requests; a [`Worker`](ad_server_work::worker::Worker) in this program, or `ad-server serve` on
/// the same database and media folder, does the work.
pub fn router<M: IntoEndpoint>(context: Context, images: M) -> impl Endpoint<Output = Response>
where
    M::Endpoint: 'static,
{
    router_with(context, images, |routes, _| routes)
}

/// The same with further routes, which `mount` adds.
pub fn router_with<M: IntoEndpoint>(
    context: Context,
    images: M,
    mount: impl FnOnce(observe::Routes, &Arc<Context>) -> observe::Routes,
) -> impl Endpoint<Output = Response>
where
    M::Endpoint: 'static,
{
    let context = Arc::new(context);
    let route = perform::mount(observe::Routes::new(context.metrics.clone()), &context);
    let route = mount(route, &context);
    let route = pages::mount(route, &context).at("/media/*name", images);
    let route = match context.faults {
        Some(_) => route.at(format!("{}/*name", crate::sandbox::IMAGES), crate::sandbox::serve_images()),
        None => route,
    };
    let stopping = context.stopping.clone();
    CommonLayer::new(route.done(), context).around(move |endpoint, request: Request| {
        let (stopping, version) = (stopping.clone(), request.version());
        async move { Ok(stopping.closing(version, endpoint.get_response(request).await)) }
    })
}

/// `/metrics`, `/healthz` and `/readyz`, for a process without API and for a separate address of metrics. These requests are not
/// counted.
pub fn metrics_router(metrics: Metrics, store: Arc<dyn Store>, stopping: Stopping) -> impl Endpoint<Output = Response> {
    let route = Route::new()
        .at("/metrics", pages::metrics_page(metrics))
        .at("/healthz", pages::health())
        .at("/readyz", pages::readiness(store, stopping));
    route
        .catch_all_error(async |error| errors::from_poem(&error))
        .map_to_response()
        .map(async |response| headers::safe(response))
}

/// The id of a request, given to it as it comes in.
#[derive(Debug, Clone, Copy)]
pub struct RequestId(pub Uuid);

pub fn origin(caller: &Caller, via: Via) -> RequestOrigin {
    RequestOrigin { asked_by: Some(caller.jti.clone()), via: Some(via), plan_id: None, trace: traces::current() }
}

impl Context {
    /// Fails a request about an ad whose source id asks for it, in a sandbox.
    fn check_faults(&self, access: &Access, source_id: Option<&str>) -> Result<(), ApiError> {
        match self.faults.as_ref().zip(source_id) {
            Some((faults, source_id)) => faults.check(access, source_id),
            None => Ok(()),
        }
    }

    /// Counts a request in the rate of its caller.
    pub fn count(&self, caller: &Caller, request: &Request) -> Result<(), ApiError> {
        if let Some(seen) = request.data::<Arc<RequestFacts>>() {
            seen.caller.get_or_init(|| caller.clone());
        }
        let Some(rate) = &self.limits.rate else { return Ok(()) };
        let refused = |RateLimited { rate, seconds }| ApiError::TooMany { rate, seconds };
        rate.take(&caller.scope.key(), request.data()).map_err(refused)
    }

    fn authenticated(&self, request: &Request) -> Result<Caller, ApiError> {
        let none = || ApiError::NoToken { in_authorization: request.headers().contains_key(header::AUTHORIZATION) };
        let token = request.headers().get("x-auth-token").ok_or_else(none)?;
        let token = token.to_str().map_err(|_| ApiError::InvalidToken(TokenError::Malformed))?.trim();
        if token.is_empty() {
            return Err(none());
        }
        let caller = self.authenticator.authenticate(token).map_err(|error| {
            let has_scheme = token.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case("bearer"));
            ApiError::InvalidToken(if has_scheme { TokenError::WithScheme } else { error })
        })?;
        // The API has no operations for operators.
        if caller.scope == Access::Operator { Err(ApiError::OperatorToken) } else { Ok(caller) }
    }
}
