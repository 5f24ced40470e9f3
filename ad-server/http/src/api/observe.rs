//! A router that counts, times, traces and logs requests by the path template of their route.

use std::{sync::Arc, time::Instant};

use poem::{
    Endpoint, EndpointExt, IntoEndpoint, Request, Response, Result, Route,
    http::{Method, StatusCode, header},
    middleware::CatchPanic,
};
use tracing::Instrument;
use uuid::Uuid;

use super::{ApiError, RequestId, access_log::RequestFacts, errors};
use ad_server_base::telemetry::{Metrics, metrics::RouteMetrics, traces};

/// The label of paths without a route.
const UNKNOWN: &str = "unknown";

/// A router that observes its endpoints.
pub struct Routes {
    route: Route,
    metrics: Option<Metrics>,
    /// Whether the console is among them.
    pub(super) has_console: bool,
}

ad_server_base::debug_by_name!(Routes);

impl Routes {
    pub(super) fn new(metrics: Option<Metrics>) -> Self {
        Self { route: Route::new(), metrics, has_console: false }
    }

    #[must_use]
    pub fn at<E>(mut self, path: impl AsRef<str>, endpoint: E) -> Self
    where
        E: IntoEndpoint,
        E::Endpoint: 'static,
    {
        let path = path.as_ref();
        self.has_console |= path == "/console";
        let shown: Arc<str> = shown(path).into();
        let route = RouteMetrics::new(self.metrics.clone(), shown.to_string());
        let inner = endpoint.map_to_response().with(CatchPanic::new().with_handler(|_| ApiError::Internal.response()));
        self.route = self.route.at(path, ObservedEndpoint { inner, route, path: shown });
        self
    }

    /// The router, with requests to unknown paths counted too.
    pub(super) fn done(self) -> impl Endpoint<Output = Response> {
        Unrouted { inner: self.route, route: RouteMetrics::new(self.metrics, UNKNOWN) }
    }
}

/// A path in the notation of the contract.
fn shown(path: &str) -> String {
    let parts = path.split('/').map(|part| match part.strip_prefix(':') {
        Some(name) => format!("{{{name}}}"),
        None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

struct ObservedEndpoint<E> {
    inner: E,
    route: RouteMetrics,
    path: Arc<str>,
}

impl<E: Endpoint<Output = Response>> Endpoint for ObservedEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let id = request.data::<RequestId>().map_or(Uuid::nil(), |id| id.0);
        if let Some(seen) = request.data::<Arc<RequestFacts>>() {
            seen.route.get_or_init(|| Arc::clone(&self.path));
        }
        let span = traces::request_span(id, request.method().as_str(), &self.path, request.headers());
        let mut watch = Watch::new(&self.route, request.method());
        async {
            let response = self.inner.call(request).await.unwrap_or_else(|error| errors::from_poem(&error));
            let response = if watch.method == Method::OPTIONS { options(response) } else { response };
            let status = watch.answered(response.status());
            let span = tracing::Span::current();
            // Unsigned numbers would become texts.
            span.record("http.response.status_code", i64::from(status));
            if status >= 500 {
                span.record("otel.status_code", "error");
            }
            Ok(response)
        }
        .instrument(span)
        .instrument(traces::logged(id))
        .await
    }
}

/// The answer to OPTIONS, with the methods of the path.
fn options(response: Response) -> Response {
    match response.headers().get(header::ALLOW) {
        Some(allow) if response.status() == StatusCode::METHOD_NOT_ALLOWED => {
            Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow.clone()).finish()
        }
        _ => response,
    }
}

/// Counts requests without a route; others are counted by their endpoint.
struct Unrouted<E> {
    inner: E,
    route: RouteMetrics,
}

impl<E: Endpoint<Output = Response>> Endpoint for Unrouted<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let method = request.method().clone();
        let begun = Instant::now();
        let answer = self.inner.call(request).await;
        if let Err(error) = &answer {
            self.route.began();
            self.route.answered(&method, Some(error.status()), begun.elapsed());
        }
        answer
    }
}

/// Counts a request also when its client disconnects and the future is dropped.
struct Watch<'a> {
    route: &'a RouteMetrics,
    method: Method,
    begun: Instant,
    is_answered: bool,
}

impl<'a> Watch<'a> {
    fn new(route: &'a RouteMetrics, method: &Method) -> Self {
        route.began();
        Self { route, method: method.clone(), begun: Instant::now(), is_answered: false }
    }

    fn answered(&mut self, status: StatusCode) -> u16 {
        self.is_answered = true;
        self.route.answered(&self.method, Some(status), self.begun.elapsed());
        status.as_u16()
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.route.answered(&self.method, None, self.begun.elapsed());
        }
    }
}
