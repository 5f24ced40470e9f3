//! Spans for OpenTelemetry. They have their own target, so that none is created without a collector and none appears in the log.

use std::{collections::HashMap, env, future::Future};

use opentelemetry::{
    Context, KeyValue,
    propagation::{Extractor, TextMapPropagator},
    trace::{TraceContextExt, TracerProvider},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use poem::http::HeaderMap;
use tracing::{Instrument, Level, Subscriber, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};
use uuid::Uuid;

use crate::values::OtlpEndpoint;

/// Target of every span that is made for traces.
pub const SPANS: &str = "ad_server::spans";

/// The header that names a span.
const TRACEPARENT: &str = "traceparent";

/// The service name, unless `OTEL_SERVICE_NAME` sets another one.
const SERVICE: &str = "ad-server";

/// Where the environment may give a process attributes.
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// The environment variables for the endpoint, by the OpenTelemetry specification.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("cannot send traces: {0}; correct otlp_endpoint or the OTEL_ variables of the environment")]
pub struct TracesError(String);

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Sends spans to the endpoint, or to the one of the environment; `None` where there is neither. Spans are sent in batches by
/// a thread of its own.
pub(super) fn provider(endpoint: Option<&OtlpEndpoint>) -> Result<Option<SdkTracerProvider>, TracesError> {
    let disabled = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    if disabled || (endpoint.is_none() && !ENDPOINTS.iter().any(|name| is_set(name))) {
        return Ok(None);
    }
    let exporter = SpanExporter::builder().with_http();
    let exporter = match endpoint {
        Some(endpoint) => exporter.with_endpoint(endpoint.traces()),
        None => exporter,
    };
    let exporter = exporter.build().map_err(|error| TracesError(error.to_string()))?;
    let named = is_set("OTEL_SERVICE_NAME")
        || env::var(ATTRIBUTES).is_ok_and(|attributes| attributes.contains("service.name="));
    let resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let is_instance_named = env::var(ATTRIBUTES).is_ok_and(|attributes| attributes.contains("service.instance.id="));
    let resource = if is_instance_named {
        resource
    } else {
        // Unique for each start: process ids are the same in every container.
        resource.with_attribute(KeyValue::new("service.instance.id", Uuid::now_v7().to_string()))
    };
    let resource = if named { resource } else { resource.with_service_name(SERVICE) };
    Ok(Some(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build()))
}

/// The layer that makes spans for a provider: our own, and the warnings that are logged in them.
pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(provider: &SdkTracerProvider) -> impl Layer<S> {
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer(SERVICE));
    let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false).with_target(false);
    let filter = filter_fn(|metadata| {
        if metadata.is_span() {
            metadata.target() == SPANS
        } else {
            *metadata.level() <= Level::WARN && metadata.target().starts_with("ad_server")
        }
    });
    layer.with_filter(filter.with_max_level_hint(Level::DEBUG))
}

/// Runs a worker's part of an API request: its log lines and its trace carry the id of the request. The trace is a new one, with a
/// link to the span in which the request was accepted (`accepted_in`).
pub async fn in_request<T>(request: Uuid, accepted_in: Option<String>, work: impl Future<Output = T>) -> T {
    let span = tracing::debug_span!(target: SPANS, "work", otel.kind = "consumer", request_id = %request);
    if let Some(accepted_in) = accepted_in.filter(|_| !span.is_disabled()) {
        let carrier = HashMap::from([(TRACEPARENT.to_owned(), accepted_in)]);
        let accepting = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
        span.add_link(accepting.span().span_context().clone());
    }
    work.instrument(span).instrument(logged(request)).await
}

/// The current span (W3C `traceparent`), if it is traced.
pub fn current() -> Option<String> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&tracing::Span::current().context(), &mut carrier);
    carrier.remove(TRACEPARENT)
}

/// The span that brings a request's id into what is logged. Of the highest level, so that it is there whatever is logged.
pub fn logged(request: Uuid) -> tracing::Span {
    tracing::error_span!("request", request_id = %request)
}

/// The span of a request of the API, below the one of its caller if the caller names one (W3C `traceparent`).
pub fn served(request: Uuid, method: &str, route: &str, headers: &HeaderMap) -> tracing::Span {
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
        let caller = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
        // It fails only if no layer creates spans.
        let _unmade = span.set_parent(caller);
    }
    span
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(poem::http::HeaderName::as_str).collect()
    }
}
