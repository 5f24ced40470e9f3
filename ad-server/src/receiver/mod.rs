//! The receiving side of the contract in `docs/marketplace-adapter.md`, over HTTP: both local marketplaces at one address, each
//! below its name, in a process of their own.
//!
//! It is the test partner of the adapter ([`HttpMarketplace`](ad_server_outside::marketplace::HttpMarketplace)), a model for marketplaces that implement the contract, and a
//! sandbox with injected faults.

mod api;
mod faults;
mod inject;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use ad_core::{model::Market, ports::Clock};
use poem::{
    Endpoint, EndpointExt, IntoResponse, Request, Response, Route, endpoint::make, get, http::StatusCode,
    middleware::CatchPanic,
};
use poem_openapi::{payload::Json, types::ToJSON};

pub use self::faults::{CallAction, Fault, Rule, Rules};
use self::{
    api::{Api, ErrorResponse, problem},
    faults::Faults,
    inject::{HANG, faulty},
};
use ad_server_base::{
    http_server::{ConnectionLimits, HttpServer, Proxies, ServerError, ServerOptions},
    secret::Secret,
    system::RandomIds,
};
use ad_server_http::api::{
    MAX_BODY,
    static_document::{CHECKED, StaticDocument},
    viewers::{ASSETS, Viewer, ViewerPage},
};
use ad_server_outside::marketplace::Local;
use ad_server_store::{Database, OpenError};
use ad_server_work::periodic::{MARKETPLACE_TASKS, MarketplaceParts, PeriodicRunner};

/// Largest body of a call: an ad as large as can be, with its images.
const MAX_CALL: usize = 2 * MAX_BODY;
/// How long a connection may be silent between calls.
const IDLE: Duration = Duration::from_hours(1);

/// How the marketplaces are served.
#[derive(Debug, Clone)]
pub struct ReceiverOptions {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Where the listings are kept.
    pub database_url: String,
    /// The token that callers need.
    pub token: Secret,
    /// The fault rules at the start.
    pub rules: Rules,
    /// Whether source ids can select faults.
    pub sandbox: bool,
    /// The seed of random choices.
    pub seed: u64,
}

/// Why the marketplaces cannot be served: one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReceiverError {
    #[error(transparent)]
    Database(#[from] OpenError),
    #[error(transparent)]
    Listen(#[from] ServerError),
}

/// Serves the marketplaces until `stop` ends.
///
/// # Errors
/// What is wrong, in a line that says what to do.
pub async fn serve(
    options: ReceiverOptions,
    clock: Arc<dyn Clock>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ReceiverError> {
    let ReceiverOptions { listen, database_url, token, rules, sandbox, seed } = options;
    let server = HttpServer::bind(&server_options(listen), "listen").await?;
    let address = server.address();
    let database = Database::open(&database_url).await?;
    let faults = Arc::new(Faults::new(rules, sandbox, seed));
    let router = router(&database, &clock, token, &faults);
    let (ids, (_stop, stopped)) = (Arc::new(RandomIds::new(Arc::clone(&clock))), tokio::sync::watch::channel(false));
    let parts = MarketplaceParts { database: database.clone(), clock };
    let periodic = PeriodicRunner { ids, metrics: None, stopped }.start(&MARKETPLACE_TASKS, parts);
    tracing::info!(%address, sandbox, "serving the marketplaces http://{address}/primary and /secondary; documentation at /docs/");
    server.run(router, stop).await;
    drop(periodic);
    database.close().await;
    Ok(())
}

/// The server of the marketplaces: their caller decides how long it waits and how many connections it needs.
pub(crate) fn server_options(listen: SocketAddr) -> ServerOptions {
    let connections = ConnectionLimits { total: usize::MAX, per_address: usize::MAX, proxies: Proxies::default() };
    ServerOptions { listen, tls: None, answer_within: 2 * HANG, idle: IDLE, connections }
}

/// The marketplaces, of which only source ids select the faults.
pub(crate) fn sandbox(
    database: &Database,
    clock: &Arc<dyn Clock>,
    token: Secret,
) -> impl Endpoint<Output = Response> + use<> {
    router(database, clock, token, &Arc::new(Faults::new(Rules::default(), true, 0)))
}

fn router(
    database: &Database,
    clock: &Arc<dyn Clock>,
    token: Secret,
    faults: &Arc<Faults>,
) -> impl Endpoint<Output = Response> + use<> {
    let local = |market| Local::new(database.clone(), market, Arc::clone(clock));
    let service = |market| api::service(Api { local: local(market), clock: Arc::clone(clock) });
    let market = |market| faulty(service(market), local(market), market, Arc::clone(faults));
    let token = Arc::new(token);
    let open = documentation(service(Market::Primary));
    let closed = Route::new()
        .nest("/primary", market(Market::Primary))
        .nest("/secondary", market(Market::Secondary))
        .at("/faults", get(inject::show(Arc::clone(faults))).put(inject::replace(Arc::clone(faults))));
    let closed = closed.around(move |endpoint, request| {
        let token = Arc::clone(&token);
        async move { if is_authorized(&request, &token) { endpoint.call(request).await } else { Err(unauthorized()) } }
    });
    let route = open.nest_no_strip("/", closed).with(CatchPanic::new());
    let route = Arc::new(route.map_to_response());
    make(move |request| {
        let route = Arc::clone(&route);
        async move {
            let response = match whole(request).await {
                Ok(request) => route.call(request).await,
                Err(error) => Err(error),
            };
            Ok::<_, poem::Error>(response.unwrap_or_else(error_response))
        }
    })
}

/// The OpenAPI document and its page.
fn documentation(service: poem_openapi::OpenApiService<Api, ()>) -> Route {
    let document = StaticDocument::new("application/json", CHECKED, move || api::document(&service).to_string().into());
    let page = ViewerPage {
        viewer: Viewer::SwaggerUi,
        title: api::TITLE,
        docs: "./",
        source: "../openapi.json",
        tags: Vec::new(),
    };
    let route = Route::new().at("/openapi.json", document).at("/docs/", page.document(None));
    ASSETS.iter().fold(route, |route, asset| route.at(format!("/docs/assets/{}", asset.name), asset.document()))
}

/// The request with its body in memory, if that is not too large.
async fn whole(mut request: Request) -> poem::Result<Request> {
    let body = request.take_body().into_bytes_limit(MAX_CALL).await?;
    request.set_body(body);
    Ok(request)
}

fn is_authorized(request: &Request, token: &Secret) -> bool {
    let given = request.header("authorization").and_then(|value| value.split_once(' '));
    given.is_some_and(|(scheme, given)| {
        scheme.eq_ignore_ascii_case("bearer") && is_same_token(given.trim().as_bytes(), token.reveal().as_bytes())
    })
}

/// Compares two tokens in constant time.
fn is_same_token(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one ^ other)) == 0
}

fn unauthorized() -> poem::Error {
    ErrorResponse::Unauthorized(problem("unauthorized", "Send the token as `Authorization: Bearer <token>`.")).into()
}

/// What poem itself refuses, in the shape of the contract.
fn error_response(error: poem::Error) -> Response {
    if error.is_from_response() {
        return error.into_response();
    }
    let error_response = error.to_string();
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ErrorResponse::TooLarge(problem("too_large", format!("The body is larger than {MAX_CALL} bytes.")))
                .into_response()
        }
        StatusCode::BAD_REQUEST => ErrorResponse::Malformed(problem("malformed", error_response)).into_response(),
        status if status.is_client_error() => {
            let answer = Json(problem("not_served", error_response).0.to_json());
            Response::builder()
                .status(status)
                .content_type("application/json")
                .body(answer.0.unwrap_or_default().to_string())
        }
        _ => {
            tracing::error!(%error, "a call failed");
            ErrorResponse::Error(problem("error", "Internal error."), None).into_response()
        }
    }
}
