//! Endpoints that need no token: documentation and health.

use std::{io, sync::Arc};

use ad_core::violation::Code;
use bytes::Bytes;
use poem::{
    Endpoint, EndpointExt, Request, Response, Result,
    endpoint::{make, make_sync},
    error::{InternalServerError, MethodNotAllowedError},
    handler,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    web::Data,
};
use serde_json::json;
use tokio::{sync::OnceCell, task::spawn_blocking};

use super::{
    ApiError, Context,
    compression::{self, Coding, Effort},
    conditional, error_codes,
    errors::json_response,
    headers,
    observe::Routes,
    openapi::Documents,
};
use crate::telemetry::{Metrics, metrics};

/// Mounts documentation and health.
pub(super) fn mount(route: Routes, context: &Arc<Context>, documents: Documents) -> Routes {
    let Documents { json, swagger_ui, redoc } = documents;
    let route = match context.metrics.clone().filter(|_| context.serves_metrics) {
        Some(metrics) => route.at("/metrics", metrics_page(metrics)),
        None => route,
    };
    let url = context.public_url.as_deref();
    let route = Code::ALL.iter().fold(route, |route, code| {
        route.at(format!("/docs/errors/{}", code.name()), page(error_codes::page_of(*code), url))
    });
    route
        .at("/docs/errors", ReadOnly(index_of_errors(url)))
        .at("/openapi.json", Document::new("application/json", Vec::new(), json))
        .at("/docs/swagger-ui", page(swagger_ui, url))
        .at("/docs/redoc", page(redoc, url))
        .at("/healthz", health())
        .at("/readyz", ReadOnly(ready.data(Arc::clone(context))))
}

/// What was counted. Needs no token.
pub(super) fn metrics_page(metrics: Metrics) -> impl Endpoint + 'static {
    ReadOnly(make(move |_| {
        let metrics = metrics.clone();
        async move {
            let text = metrics.text().await;
            Ok::<_, poem::Error>(poem::Response::builder().content_type(metrics::CONTENT_TYPE).body(text))
        }
    }))
}

/// That the process serves.
pub(super) fn health() -> impl Endpoint + 'static {
    ReadOnly(make_sync(|_| json_response(StatusCode::OK, &json!({"status": "ok"}))))
}

/// Whether a path is served on connections beyond the limits.
pub(super) fn is_about_health(path: &str) -> bool {
    ["/healthz", "/readyz", "/metrics"].contains(&path.strip_suffix('/').unwrap_or(path))
}

/// What is only read: GET and HEAD. That an answer to HEAD has no body is seen to [`around`](super::around) all answers.
pub(crate) struct ReadOnly<E>(E);

impl<E: Endpoint> Endpoint for ReadOnly<E> {
    type Output = E::Output;

    async fn call(&self, request: Request) -> Result<E::Output> {
        match *request.method() {
            Method::GET | Method::HEAD => self.0.call(request).await,
            _ => Err(MethodNotAllowedError.into()),
        }
    }
}

/// A document that never changes while the server runs. It is compressed when it is first asked for in a coding.
pub(crate) struct Document {
    content_type: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
    plain: Bytes,
    coded: [OnceCell<Bytes>; Coding::ALL.len()],
}

impl Document {
    fn new(content_type: &'static str, mut headers: Vec<(HeaderName, HeaderValue)>, text: String) -> ReadOnly<Self> {
        headers.push((header::ETAG, conditional::etag_of(text.as_bytes())));
        ReadOnly(Self { content_type, headers, plain: text.into(), coded: Default::default() })
    }

    async fn coded(&self, coding: Coding) -> Result<Bytes> {
        let compressed = self.coded[coding as usize].get_or_try_init(|| async {
            let plain = self.plain.clone();
            let compressed = spawn_blocking(move || coding.compress(&plain, Effort::Document)).await;
            compressed.map_err(io::Error::other).flatten().map(Bytes::from)
        });
        compressed.await.cloned().map_err(InternalServerError)
    }
}

impl Endpoint for Document {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let mut response = Response::builder().content_type(self.content_type).body(());
        response.headers_mut().extend(self.headers.iter().cloned());
        match Coding::accepted(request.headers()) {
            Some(coding) if self.plain.len() >= compression::SMALLEST => {
                response.headers_mut().insert(header::CONTENT_ENCODING, coding.name());
                response.set_body(self.coded(coding).await?);
            }
            _ => response.set_body(self.plain.clone()),
        }
        Ok(response)
    }
}

/// A page that never changes while the server runs, about the service at this address.
pub(crate) fn page(html: String, public_url: Option<&str>) -> ReadOnly<Document> {
    Document::new("text/html; charset=utf-8", headers::of_page(&html, public_url), html)
}

/// The page of all error codes, at an address with a slash at its end, since its links are relative.
fn index_of_errors(public_url: Option<&str>) -> impl Endpoint + use<> {
    let page = Arc::new(page(error_codes::index(), public_url));
    make(move |request: Request| {
        let page = Arc::clone(&page);
        async move {
            if request.original_uri().path().ends_with('/') {
                return page.call(request).await;
            }
            Ok(Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(header::LOCATION, "errors/").finish())
        }
    })
}

/// Whether the store can be read and written.
#[handler]
async fn ready(context: Data<&Arc<Context>>) -> poem::Response {
    match context.store.check().await {
        Ok(()) => json_response(StatusCode::OK, &json!({"status": "ok"})),
        Err(error) => ApiError::from(error).response(),
    }
}
