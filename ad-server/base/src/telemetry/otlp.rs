//! Sends spans to a collector of OpenTelemetry (feature `otlp`).

use std::{collections::HashMap, env};

use opentelemetry::{
    Context, KeyValue,
    propagation::{Extractor, TextMapPropagator},
    trace::{TraceContextExt, TracerProvider},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{Resource, error::OTelSdkError, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use poem::http::{HeaderMap, HeaderName};
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};
use uuid::Uuid;

use super::traces::{SPANS, TRACEPARENT, TracesError, is_set};
use crate::values::OtlpEndpoint;

/// The service name, unless `OTEL_SERVICE_NAME` sets another one.
const SERVICE: &str = "ad-server";

/// Where the environment may give a process attributes.
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// Sends spans in batches, by a thread of its own.
#[derive(Debug)]
pub(super) struct SpanExport(SdkTracerProvider);

impl SpanExport {
    /// To the endpoint, or to the one of the environment.
    pub(super) fn start(endpoint: Option<&OtlpEndpoint>) -> Result<Self, TracesError> {
        crate::system::use_ring();
        let exporter = SpanExporter::builder().with_http();
        let exporter = match endpoint {
            Some(endpoint) => exporter.with_endpoint(endpoint.traces()),
            None => exporter,
        };
        let exporter = exporter.build().map_err(|error| TracesError::Export(error.to_string()))?;
        let names = |attribute: &str| env::var(ATTRIBUTES).is_ok_and(|attributes| attributes.contains(attribute));
        let resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let resource = if names("service.instance.id=") {
            resource
        } else {
            // Unique for each start: process ids are the same in every container.
            resource.with_attribute(KeyValue::new("service.instance.id", Uuid::now_v7().to_string()))
        };
        let is_named = is_set("OTEL_SERVICE_NAME") || names("service.name=");
        let resource = if is_named { resource } else { resource.with_service_name(SERVICE) };
        Ok(Self(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build()))
    }

    /// The layer that makes spans: our own, and the warnings that are logged in them.
    pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer(SERVICE));
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

    /// Sends the last spans; blocks until they are sent.
    pub(super) fn end(self) -> Result<(), OTelSdkError> {
        self.0.shutdown()
    }
}

/// Links a span to another one (W3C `traceparent`).
pub(super) fn link(span: &Span, other: String) {
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), other)]);
    let other = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    span.add_link(other.span().span_context().clone());
}

/// The current span (W3C `traceparent`), if it is traced.
pub fn current() -> Option<String> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut carrier);
    carrier.remove(TRACEPARENT)
}

/// Puts a span below the one that headers name.
pub(super) fn set_parent(span: &Span, headers: &HeaderMap) {
    let caller = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
    // It fails only if no layer creates spans.
    let _unmade = span.set_parent(caller);
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}
