//! What needs no token: documentation and health.

use std::sync::Arc;

use poem::{
    Endpoint, EndpointExt, IntoEndpoint, Route,
    endpoint::make_sync,
    get, handler,
    http::StatusCode,
    web::{Data, Redirect},
};
use serde_json::json;

use super::{ApiError, Context, errors::json_response, openapi::Documents};

/// Mounts documentation and health.
pub(super) fn mount(route: Route, context: &Arc<Context>, documents: Documents) -> Route {
    let Documents { json, swagger_ui, redoc } = documents;
    route
        .at("/openapi.json", get(fixed("application/json", json)))
        .at("/docs/swagger-ui/", get(fixed("text/html; charset=utf-8", swagger_ui)))
        .at("/docs/redoc/", get(fixed("text/html; charset=utf-8", redoc)))
        .at("/docs/swagger-ui", get(make_sync(|_| Redirect::moved_permanent("swagger-ui/"))))
        .at("/docs/redoc", get(make_sync(|_| Redirect::moved_permanent("redoc/"))))
        .at("/healthz", get(make_sync(|_| json_response(StatusCode::OK, &json!({"status": "ok"})))))
        .at("/readyz", get(ready.data(Arc::clone(context))))
}

/// A text that never changes while the server runs.
fn fixed(content_type: &'static str, text: String) -> impl IntoEndpoint<Endpoint = impl Endpoint + 'static> {
    let bytes = bytes::Bytes::from(text);
    make_sync(move |_| poem::Response::builder().content_type(content_type).body(bytes.clone()))
}

/// Whether the store can be read and written.
#[handler]
async fn ready(context: Data<&Arc<Context>>) -> poem::Response {
    match context.store.check().await {
        Ok(()) => json_response(StatusCode::OK, &json!({"status": "ok"})),
        Err(error) => ApiError::from(error).response(),
    }
}
