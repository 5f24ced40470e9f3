//! Spans for OpenTelemetry. They have their own target, so that none is created without a collector and none appears in the log.

use std::{env, future::Future};

use poem::http::HeaderMap;
use tracing::{Instrument, field::Empty};
use uuid::Uuid;

pub(super) use super::otlp::SpanExport;
pub use super::otlp::current;
use super::otlp::{link, set_parent};
use crate::values::OtlpEndpoint;

/// Target of every span that is made for traces.
pub const SPANS: &str = "ad_server::spans";

/// The header that names a span.
pub(super) const TRACEPARENT: &str = "traceparent";

/// The environment variables for the endpoint, by the OpenTelemetry specification.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Why traces cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    #[error("cannot send traces: {0}; correct otlp_endpoint or the OTEL_ variables of the environment")]
    Export(String),
    #[error(
        "cannot send traces: this ad-server was built without them; build it with --features otlp, or unset otlp_endpoint and {} in the environment",
        ENDPOINTS.join(" and ")
    )]
    NotBuilt,
}

pub(super) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Sends spans to the endpoint, or to the one of the environment; `None` where there is neither. Spans are sent in batches by
/// a thread of its own.
pub(super) fn export(endpoint: Option<&OtlpEndpoint>) -> Result<Option<SpanExport>, TracesError> {
    let disabled = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    if disabled || (endpoint.is_none() && !ENDPOINTS.iter().any(|name| is_set(name))) {
        return Ok(None);
    }
    SpanExport::start(endpoint).map(Some)
}

/// Runs a worker's part of an API request: its log lines and its trace carry the id of the request. The trace is a new one, with a
/// link to the span in which the request was accepted (`accepted_in`).
pub async fn in_request<T>(request: Uuid, accepted_in: Option<String>, work: impl Future<Output = T>) -> T {
    let span = tracing::debug_span!(target: SPANS, "work", otel.kind = "consumer", request_id = %request);
    if let Some(accepted_in) = accepted_in.filter(|_| !span.is_disabled()) {
        link(&span, accepted_in);
    }
    work.instrument(span).instrument(logged(request)).await
}

/// The span that brings a request's id into what is logged. Of the highest level, so that it is there whatever is logged.
pub fn logged(request: Uuid) -> tracing::Span {
    tracing::error_span!("request", request_id = %request)
}

/// The span of a request of the API, below the one of its caller if the caller names one (W3C `traceparent`).
pub fn request_span(request: Uuid, method: &str, route: &str, headers: &HeaderMap) -> tracing::Span {
    let span = tracing::debug_span!(
        target: SPANS,
        "http",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        request_id = %request,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    if !span.is_disabled() && headers.contains_key(TRACEPARENT) {
        set_parent(&span, headers);
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_traces_says_so() {
        assert_eq!(
            TracesError::NotBuilt.to_string(),
            "cannot send traces: this ad-server was built without them; build it with --features otlp, or unset otlp_endpoint and \
             OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and OTEL_EXPORTER_OTLP_ENDPOINT in the environment"
        );
    }
}
