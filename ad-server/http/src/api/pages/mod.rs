//! Endpoints that need no token: documentation and health.

mod error_codes;
mod text;
pub mod viewers;

use std::sync::Arc;

use ad_core::{
    fields::FieldErrors,
    ports::Store,
    violation::{Code, Violation, nearest::quoted},
};
use poem::{
    Endpoint, Request, Response, Result,
    endpoint::{make, make_sync},
    error::MethodNotAllowedError,
    http::{Method, StatusCode, header},
};
use serde_json::{Value, json};

use self::{
    text::StartPage,
    viewers::{ASSETS, Viewer, ViewerPage},
};
use super::{
    ApiError, Context, Stopping, body,
    errors::json_response,
    observe::Routes,
    openapi,
    static_document::{CHECKED, StaticDocument},
};
use ad_server_base::telemetry::{Metrics, metrics};

/// Mounts documentation, health and readiness checks.
pub(super) fn mount(route: Routes, context: &Arc<Context>) -> Routes {
    let route = match context.metrics.clone().filter(|_| context.serves_metrics) {
        Some(metrics) => route.at("/metrics", metrics_page(metrics)),
        None => route,
    };
    let has_console = route.has_console;
    let page = |html: Box<dyn Fn() -> String + Send + Sync>| StaticDocument::page(context.public_url.clone(), html);
    let viewer = |viewer| {
        let tags = openapi::tags();
        let page = ViewerPage { viewer, title: openapi::TITLE, docs: "../", source: "../../openapi.json", tags };
        ReadOnly(at_slash(page.document(context.public_url.clone())))
    };
    let start = |page_of: StartPage| {
        let context = Arc::clone(context);
        page(Box::new(move || page_of.html(&openapi::first_request(context.service.rulebook()))))
    };
    let route = Code::ALL.iter().fold(route, |route, code| {
        route.at(format!("/docs/errors/{}", code.name()), ReadOnly(page(Box::new(move || error_codes::page_of(*code)))))
    });
    let route = ASSETS
        .iter()
        .fold(route, |route, asset| route.at(format!("/docs/assets/{}", asset.name), ReadOnly(asset.document())));
    route
        .at("/", ReadOnly(at_slash(start(StartPage { root: "./", docs: "docs/", has_console }))))
        .at("/docs", ReadOnly(at_slash(start(StartPage { root: "../", docs: "./", has_console }))))
        .at("/docs/changelog", ReadOnly(page(Box::new(text::changelog))))
        .at("/docs/errors", ReadOnly(at_slash(page(Box::new(error_codes::index)))))
        .at("/docs/swagger-ui", viewer(Viewer::SwaggerUi))
        .at("/docs/redoc", viewer(Viewer::Redoc))
        .at("/openapi.json", ReadOnly(openapi_document(context, |document| document)))
        .at("/openapi-3.1.json", ReadOnly(openapi_document(context, openapi::as_3_1)))
        .at("/.well-known/jwks.json", ReadOnly(record_keys(context)))
        .at("/healthz", health())
        .at("/readyz", readiness(Arc::clone(&context.store), context.stopping.clone()))
}

/// The public keys of the records of ads. They need no token.
fn record_keys(context: &Arc<Context>) -> StaticDocument {
    let keys = Arc::clone(&context.record_keys);
    StaticDocument::new("application/jwk-set+json", CHECKED, move || keys.public().to_string().into())
}

/// The metrics. They need no token.
pub(super) fn metrics_page(metrics: Metrics) -> impl Endpoint + 'static {
    ReadOnly(make(move |_| {
        let metrics = metrics.clone();
        async move {
            let text = metrics.text().await;
            Ok::<_, poem::Error>(poem::Response::builder().content_type(metrics::CONTENT_TYPE).body(text))
        }
    }))
}

/// Liveness: 200 as long as the process answers.
pub(super) fn health() -> impl Endpoint + 'static {
    ReadOnly(make_sync(|_| json_response(StatusCode::OK, &json!({"status": "ok"}))))
}

/// Readiness: the store can be read and written, and the process is not about to stop.
pub(super) fn readiness(store: Arc<dyn Store>, stopping: Stopping) -> impl Endpoint + 'static {
    ReadOnly(make(move |_| {
        let (store, stopping) = (Arc::clone(&store), stopping.clone());
        async move {
            if stopping.has_begun() {
                let error =
                    ApiError::Unavailable("This process is going to stop. Send requests to another one.".to_owned());
                return Ok(error.response());
            }
            Ok::<_, poem::Error>(match store.check().await {
                Ok(()) => json_response(StatusCode::OK, &json!({"status": "ok"})),
                Err(error) => ApiError::from(error).response(),
            })
        }
    }))
}

/// Whether a path is served on connections beyond the limits.
pub(super) fn is_about_health(path: &str) -> bool {
    ["/healthz", "/readyz", "/metrics"].contains(&path.strip_suffix('/').unwrap_or(path))
}

/// GET and HEAD. `around` removes the body of an answer to HEAD.
#[derive(Debug)]
pub struct ReadOnly<E>(pub E);

impl<E: Endpoint> Endpoint for ReadOnly<E> {
    type Output = E::Output;

    async fn call(&self, request: Request) -> Result<E::Output> {
        match *request.method() {
            Method::GET | Method::HEAD => self.0.call(request).await,
            _ => Err(MethodNotAllowedError.into()),
        }
    }
}

/// The OpenAPI document in a dialect: whole, or with `tag` the operations of one tag.
fn openapi_document(context: &Arc<Context>, dialect: fn(Value) -> Value) -> impl Endpoint<Output = Response> + use<> {
    let document = |tag: Option<&'static str>| {
        let context = Arc::clone(context);
        StaticDocument::new("application/json", CHECKED, move || {
            let server = context.public_url.as_deref().unwrap_or("/");
            dialect(openapi::document(context.service.rulebook(), server, tag)).to_string().into()
        })
    };
    let tags = openapi::tags();
    let whole = document(None);
    let of_tags = Arc::new(tags.iter().map(|tag| (*tag, document(Some(tag)))).collect::<Vec<_>>());
    make(move |request: Request| {
        let (whole, of_tags) = (whole.clone(), Arc::clone(&of_tags));
        async move {
            match wanted_tag(&request, &of_tags) {
                Ok(found) => found.unwrap_or(&whole).call(request).await,
                Err(error) => Ok(error.response()),
            }
        }
    })
}

/// The document of the tag that a request names; `None` if it names none.
fn wanted_tag<'a>(
    request: &Request,
    of_tags: &'a [(&'static str, StaticDocument)],
) -> Result<Option<&'a StaticDocument>, ApiError> {
    let (mut found, mut errors) = (None, FieldErrors::default());
    for (name, value) in body::query(request)? {
        if name != "tag" {
            errors.push(&name, Violation::UnknownParameter { meant: Vec::new() });
            continue;
        }
        found = of_tags.iter().find(|(tag, _)| *tag == value).map(|(_, document)| document);
        if found.is_none() {
            let text =
                format!("There is no tag \"{value}\"; there are {}.", quoted(of_tags.iter().map(|(tag, _)| *tag)));
            errors.push("tag", Violation::stated(Code::InvalidChoice, text));
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors.into()) }
}

/// A page whose links are relative to its address, which therefore ends with a slash.
fn at_slash(page: StaticDocument) -> impl Endpoint<Output = Response> {
    make(move |request: Request| {
        let page = page.clone();
        async move {
            let (path, query) = (request.original_uri().path(), request.original_uri().query());
            if path.ends_with('/') {
                return page.call(request).await;
            }
            let name = path.rsplit('/').next().unwrap_or_default();
            let address = format!("{name}/{}", query.map(|query| format!("?{query}")).unwrap_or_default());
            Ok(Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(header::LOCATION, address).finish())
        }
    })
}
