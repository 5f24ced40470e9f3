//! Endpoints that need no token: documentation and health.

use std::sync::Arc;

use ad_core::violation::Code;
use poem::{
    Endpoint, EndpointExt, IntoEndpoint, Request, Response,
    endpoint::{make, make_sync},
    get, handler,
    http::{StatusCode, header},
    web::Data,
};
use serde_json::json;

use super::{
    ApiError, Context, conditional, error_codes, errors::json_response, headers, observe::Routes, openapi::Documents,
};
use crate::telemetry::{Metrics, metrics};

/// Mounts documentation and health.
pub(super) fn mount(route: Routes, context: &Arc<Context>, documents: Documents) -> Routes {
    let Documents { json, swagger_ui, redoc } = documents;
    let route = match context.metrics.clone().filter(|_| context.serves_metrics) {
        Some(metrics) => route.at("/metrics", metrics_page(metrics)),
        None => route,
    };
    let route = Code::ALL.iter().fold(route, |route, code| {
        let html = error_codes::page_of(*code);
        route.at(format!("/docs/errors/{}", code.name()), get(page(html, context.public_url.as_deref())))
    });
    route
        .at("/docs/errors", get(index_of_errors(context.public_url.as_deref())))
        .at("/openapi.json", get(fixed("application/json", json)))
        .at("/docs/swagger-ui", get(page(swagger_ui, context.public_url.as_deref())))
        .at("/docs/redoc", get(page(redoc, context.public_url.as_deref())))
        .at("/healthz", health())
        .at("/readyz", get(ready.data(Arc::clone(context))))
}

/// What was counted. Needs no token.
pub(super) fn metrics_page(metrics: Metrics) -> impl IntoEndpoint<Endpoint = impl Endpoint + 'static> {
    get(make(move |_| {
        let metrics = metrics.clone();
        async move {
            let text = metrics.text().await;
            Ok::<_, poem::Error>(poem::Response::builder().content_type(metrics::CONTENT_TYPE).body(text))
        }
    }))
}

/// That the process serves.
pub(super) fn health() -> impl IntoEndpoint<Endpoint = impl Endpoint + 'static> {
    get(make_sync(|_| json_response(StatusCode::OK, &json!({"status": "ok"}))))
}

/// A text that never changes while the server runs.
fn fixed(content_type: &'static str, text: String) -> impl IntoEndpoint<Endpoint = impl Endpoint + 'static> {
    let bytes = bytes::Bytes::from(text);
    let etag = conditional::etag_of(&bytes);
    make_sync(move |_| {
        let response = poem::Response::builder().content_type(content_type);
        response.header(header::ETAG, etag.clone()).body(bytes.clone())
    })
}

/// A page that never changes while the server runs, about the service at this address.
pub(crate) fn page(
    html: String,
    public_url: Option<&str>,
) -> impl IntoEndpoint<Endpoint = impl Endpoint + use<>> + Endpoint + use<> {
    let mut headers = headers::of_page(&html, public_url);
    headers.push((header::ETAG, conditional::etag_of(html.as_bytes())));
    let bytes = bytes::Bytes::from(html);
    make_sync(move |_| {
        let mut response = poem::Response::builder().content_type("text/html; charset=utf-8").body(bytes.clone());
        response.headers_mut().extend(headers.clone());
        response
    })
}

/// The page of all error codes, at an address with a slash at its end, since its links are relative.
fn index_of_errors(public_url: Option<&str>) -> impl IntoEndpoint<Endpoint = impl Endpoint + use<>> + use<> {
    let page = Arc::new(page(error_codes::index(), public_url).map_to_response());
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
