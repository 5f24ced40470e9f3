//! What every request and every answer has in common: the id, the headers of extensions E3.5 to E3.8, and the form of errors.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use ad_core::ports::Ids;
use poem::{
    Endpoint, Request, Response, Result,
    http::{
        HeaderValue, Method, StatusCode, Uri, header,
        uri::{PathAndQuery, Scheme},
    },
};
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    ApiError, Context, RequestId,
    access_log::{LoggedRequest, RequestFacts},
    body::Read,
    compression::{self, Coding},
    conditional::IfNoneMatch,
    cors::CrossOrigin,
    errors, headers, links, missing, pages,
    problem::{self, ProblemRequest},
};
use ad_server_base::http_server::{ConnectionLimit, DiscardBody, MalformedRequest};
use ad_server_base::limits::Remaining;

/// Surrounds the router with what all requests and answers have in common.
pub(super) struct CommonLayer<E> {
    inner: E,
    ids: Arc<dyn Ids>,
    context: Arc<Context>,
    links: links::OfService,
}

/// What of a request is needed for its answer.
struct Asked {
    id: Uuid,
    is_head: bool,
    coding: Option<Coding>,
    known: IfNoneMatch,
    problem: Option<ProblemRequest>,
    cross_origin: Option<CrossOrigin>,
    links: Option<HeaderValue>,
    rate: Option<Remaining>,
    seen: Arc<RequestFacts>,
    logged: Option<LoggedRequest>,
    body: Read,
    remote: Option<IpAddr>,
    strict_transport: bool,
}

impl<E: Endpoint<Output = Response>> CommonLayer<E> {
    pub(super) fn new(inner: E, context: Arc<Context>) -> Self {
        let links = links::OfService::new(&context);
        Self { inner, ids: Arc::clone(&context.ids), context, links }
    }

    fn asked(&self, request: &Request) -> Asked {
        let id = self.ids.next();
        let seen = Arc::<RequestFacts>::default();
        let problem = problem::is_preferred(request)
            .then(|| ProblemRequest { pages: links::to(&self.context, request, "/docs/errors/"), request_id: id });
        Asked {
            id,
            is_head: *request.method() == Method::HEAD,
            coding: Coding::accepted(request.headers()),
            known: IfNoneMatch::of(request),
            problem,
            cross_origin: CrossOrigin::of(&self.context.cors_origins, request),
            links: self.links.of(request),
            rate: self.context.limits.rate.as_ref().map(|_| Remaining::default()),
            logged: LoggedRequest::of(request, id, &seen, &self.context.trusted_proxies),
            seen,
            // What a malformed request has of a body is unknown.
            body: if request.data::<MalformedRequest>().is_some() { Read::unknown() } else { Read::of(request) },
            remote: request.remote_addr().as_socket_addr().map(SocketAddr::ip),
            // The scheme is that of the connection: what proxies say does not count.
            strict_transport: self.context.strict_transport && *request.scheme() == Scheme::HTTPS,
        }
    }

    async fn answer(&self, asked: &Asked, mut request: Request) -> Response {
        let beyond = request.data::<ConnectionLimit>().copied();
        if let Some(limit) = beyond.filter(|_| !pages::is_about_health(request.uri().path())) {
            return ApiError::TooManyConnections(limit).response();
        }
        if let Some(MalformedRequest { status, detail }) = request.data().cloned() {
            return ApiError::Malformed { status, text: detail }.response();
        }
        without_trailing_slash(&mut request);
        request.set_data(RequestId(asked.id));
        request.set_data(asked.body.clone());
        if let Some(coding) = asked.coding {
            request.set_data(coding);
        }
        request.set_data(Arc::clone(&asked.seen));
        if let Some(rate) = asked.rate.clone() {
            request.set_data(rate);
        }
        let uri = request.uri().clone();
        self.inner.call(request).await.unwrap_or_else(|error| match error.status() {
            StatusCode::NOT_FOUND => ApiError::NotFound(missing::path(uri.path())).response(),
            _ => errors::from_poem(&error),
        })
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for CommonLayer<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let asked = self.asked(&request);
        let response = asked.known.answer(self.answer(&asked, request).await);
        if let Some((caller, error)) = asked.seen.caller.get().zip(response.extensions().get::<Arc<ApiError>>()) {
            self.context.limits.met.note(&caller.scope, error, Instant::now());
        }
        let response = problem::answer(response, asked.problem.as_ref());
        let mut response = compression::coded(response, asked.coding).await;
        if asked.is_head {
            response = compression::without_body(response).await;
        }
        let headers = response.headers_mut();
        if !headers.contains_key("x-request-id") {
            headers.insert("x-request-id", id_value(asked.id));
        }
        if let Some(links) = asked.links {
            headers.append(header::LINK, links);
        }
        if let Some((rate, cell)) = self.context.limits.rate.as_ref().zip(asked.rate) {
            rate.add_headers(&cell, headers);
        }
        // A body that was not read to its end closes the connection. The client must know that before it sends its next request.
        if !asked.body.is_done() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            let caller = asked.seen.caller.get().map(|caller| caller.scope.name().to_owned());
            let sender = caller.or_else(|| asked.remote.map(|address| address.to_string()));
            if let Ok(slot) = self.context.limits.discarded.try_take(sender) {
                response.extensions_mut().insert(DiscardBody(Arc::new(slot)));
            }
        }
        let headers = response.headers_mut();
        if !self.context.cors_origins.is_empty() {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        if asked.strict_transport {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, headers::STRICT_TRANSPORT);
        }
        if let Some(cross_origin) = asked.cross_origin {
            cross_origin.permit(&mut response);
        }
        let response = headers::safe(response);
        Ok(match asked.logged {
            Some(logged) => logged.answered(response),
            None => response,
        })
    }
}

fn id_value(id: Uuid) -> HeaderValue {
    let mut buffer = Uuid::encode_buffer();
    HeaderValue::from_str(id.hyphenated().encode_lower(&mut buffer)).expect("hexadecimal digits and hyphens")
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
