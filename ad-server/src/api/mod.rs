//! The REST API: a poem router over the use cases, for this binary or to be mounted in another poem app.
//!
//! [`around`](self) gives a request its id and turns errors into JSON. `paths` finds the operation, authenticates, parses the
//! request, calls the [`Service`] and serializes the result. No code here knows a field of an ad.

mod body;
mod conditional;
mod error_codes;
pub mod errors;
mod headers;
mod idempotency;
mod json_size;
mod limits;
mod links;
mod lists;
mod lookups;
mod observe;
pub(crate) mod openapi;
mod operations;
mod pages;
mod paths;
mod prefer;
mod problem;
mod requests;
mod respond;
pub(crate) mod versions;
mod writes;

use std::sync::Arc;

use ad_core::{
    ports::{Ids, Store},
    service::{Access, Service},
};
use poem::{
    Endpoint, EndpointExt, IntoEndpoint, Request, Response, Route,
    http::{HeaderValue, Uri, header, uri::PathAndQuery},
};
use uuid::Uuid;

use crate::{
    auth::{Caller, Permission, TokenError},
    http_server::Proxies,
    telemetry::Metrics,
};
pub use errors::ApiError;
pub use limits::{BodyMemory, DealerRate, Limits, Turns, Writes};
pub use lists::Lists;
pub(crate) use pages::page;
pub use prefer::Waits;

/// Largest body of a request, in bytes (decision 9).
pub const MAX_BODY: usize = ad_core::rulebook::size::MOST_BYTES;

/// Tells callers by their tokens.
pub trait Authenticator: Send + Sync {
    /// The caller of a token.
    ///
    /// # Errors
    /// What is wrong with the token, for the client's eyes.
    fn authenticate(&self, token: &str) -> Result<Caller, TokenError>;
}

/// What the API needs.
#[derive(Clone)]
pub struct Context {
    /// The use cases.
    pub service: Service,
    /// Asked by `/readyz`, for kept answers, and for the end of requests.
    pub store: Arc<dyn Store>,
    /// Tells callers by their tokens.
    pub authenticator: Arc<dyn Authenticator>,
    /// Ids of requests.
    pub ids: Arc<dyn Ids>,
    /// Address under which clients reach the API; the request's own host if `None`.
    pub public_url: Option<String>,
    /// Proxies that say under which address a client reached them.
    pub trusted_proxies: Proxies,
    /// What clients may take.
    pub limits: Limits,
    /// Counts requests, if they are to be counted.
    pub metrics: Option<Metrics>,
    /// Whether the API serves the counters, at `/metrics`.
    pub serves_metrics: bool,
}

debug_by_name!(Context);

/// The whole API as a router: the endpoints, their documentation, health, and stored images.
///
/// It runs in any poem app, also below a path of its own, over any store. Links in lists follow the path of the request.
/// `images` serves the stored images at `/media/*name`: [`ServeMedia`](crate::media::ServeMedia) does for a folder or a bucket.
///
/// ```
/// use std::sync::Arc;
///
/// use ad_core::{memory::{Kit, ManualClock}, model::Dealer, ports::Store, service::Access};
/// use ad_server::{
///     api::{self, Authenticator, Context, Limits},
///     auth::{Caller, Permissions, TokenError},
///     http_server::Proxies,
/// };
/// use poem::{Endpoint, Request, Route, endpoint::make_sync, http::StatusCode};
///
/// /// How callers are known is this program's business. Here each token is the code of a dealer.
/// struct Codes;
///
/// impl Authenticator for Codes {
///     fn authenticate(&self, token: &str) -> Result<Caller, TokenError> {
///         let scope = Access::Dealer(token.to_owned());
///         Ok(Caller { scope, permissions: Permissions::ALL, jti: token.to_owned() })
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let kit = Kit::new(Arc::new(ManualClock::default()), [Dealer::named("north-cars")]);
/// let context = Context {
///     service: kit.service.clone(),
///     store: kit.store.clone(),
///     authenticator: Arc::new(Codes),
///     ids: kit.ids.clone(),
///     public_url: Some("https://dealers.example".to_owned()),
///     trusted_proxies: Proxies::default(),
///     limits: Limits::default(),
///     metrics: None,
///     serves_metrics: false,
/// };
/// let no_images = make_sync(|_| StatusCode::NOT_FOUND);
/// let app = Route::new().nest("/ads", api::router(context, no_images));
///
/// let payload = r#"{"source_id": "c1", "category_id": 1020,
///     "category_fields": {"registration_number": "ABC123", "brand": "volvo", "model_year": 2022}}"#;
/// let request = Request::builder().method(poem::http::Method::POST).uri_str("/ads/v4/car");
/// let request = request.header("X-Auth-Token", "north-cars").header("Content-Length", payload.len());
/// let response = app.get_response(request.body(payload)).await;
/// assert_eq!(response.status(), StatusCode::CREATED);
/// assert_eq!(kit.pipeline.run_due().await.unwrap(), 1);
/// # }
/// ```
///
/// This serves the API and accepts requests; a [`Worker`](crate::worker::Worker) in this program, or `ad-server serve` on
/// the same database and media folder, does the work.
pub fn router<M: IntoEndpoint>(context: Context, images: M) -> impl Endpoint<Output = Response>
where
    M::Endpoint: 'static,
{
    let ids = Arc::clone(&context.ids);
    let documents = openapi::documents(context.service.rulebook(), context.public_url.as_deref());
    let context = Arc::new(context);
    let route = paths::mount(observe::Routes::new(context.metrics.clone()), &context);
    let route = requests::mount(route, &context);
    let route = lookups::mount(route, &context);
    let route = pages::mount(route, &context, documents).at("/media/*name", images);
    around(route.done(), ids, context)
}

/// What a process that serves no API answers, and one whose metrics have an address of their own: `/metrics` and `/healthz`.
/// What is asked here is not counted.
pub fn metrics_router(metrics: Metrics) -> impl Endpoint<Output = Response> {
    let route = Route::new().at("/metrics", pages::metrics_page(metrics)).at("/healthz", pages::health());
    route
        .catch_all_error(async |error| errors::from_poem(&error))
        .map_to_response()
        .map(async |response| headers::safe(response))
}

/// The id of a request, given to it as it comes in.
#[derive(Debug, Clone, Copy)]
struct RequestId(Uuid);

/// Gives every request an id and a path without a slash at its end, and every answer that id and the contract's shape.
fn around<E: Endpoint>(inner: E, ids: Arc<dyn Ids>, context: Arc<Context>) -> impl Endpoint<Output = Response>
where
    E::Output: poem::IntoResponse,
{
    let inner = Arc::new(inner.map_to_response());
    poem::endpoint::make(move |mut request: Request| {
        let (inner, id) = (Arc::clone(&inner), ids.next());
        let asked = problem::is_preferred(&request)
            .then(|| problem::ProblemRequest { pages: links::to(&context, &request, "/docs/errors/"), request_id: id });
        async move {
            let (body, if_none_match) = (body::Read::of(&request), conditional::IfNoneMatch::of(&request));
            without_trailing_slash(&mut request);
            request.set_data(RequestId(id));
            request.set_data(body.clone());
            let response = inner.call(request).await.unwrap_or_else(|error| errors::from_poem(&error));
            let response = if_none_match.answer(response);
            let mut response = problem::answer(response, asked.as_ref());
            // The answer to a repeated request has the id of the first one.
            if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
                response.headers_mut().entry("x-request-id").or_insert(id);
            }
            // What is left of a body ends the connection, and a client must not send its next request into that end.
            if !body.is_done() {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, poem::Error>(headers::safe(response))
        }
    })
}

/// One slash at the end of a path is ignored (extensions E3.9). A source id that ends in a slash has it encoded.
fn without_trailing_slash(request: &mut Request) {
    let uri = request.uri();
    let Some(path) = uri.path().strip_suffix('/').filter(|path| !path.is_empty()) else { return };
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(path_and_query).ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

impl Context {
    /// The caller of a request, who has this permission.
    fn caller(&self, request: &Request, permission: Permission) -> Result<Access, ApiError> {
        let token = request.headers().get("x-auth-token").ok_or(ApiError::NoToken)?;
        let token = token.to_str().map_err(|_| ApiError::InvalidToken(TokenError::Malformed))?;
        if token.trim().is_empty() {
            return Err(ApiError::NoToken);
        }
        let caller = self.authenticator.authenticate(token.trim()).map_err(ApiError::InvalidToken)?;
        if let Some(rate) = &self.limits.rate {
            rate.take(&caller.scope)?;
        }
        if !caller.permissions.contains(permission) {
            return Err(ApiError::Forbidden(permission));
        }
        Ok(caller.scope)
    }
}
