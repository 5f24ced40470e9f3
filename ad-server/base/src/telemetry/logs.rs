//! The log on stderr. Every line about an API request, in the API or in a worker, has the id of the request, from a span that is
//! enabled at every level.

use std::{
    io::{self, IsTerminal},
    str::FromStr,
};

use serde::Deserialize;
use tracing::{Level, Subscriber};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{Directive, FilterExt, filter_fn},
    layer::SubscriberExt,
    registry::LookupSpan,
    util::SubscriberInitExt,
};

use super::traces::{self, SPANS, SpanExport, TracesError};
use crate::values::OtlpEndpoint;

/// How log lines are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Why log and traces cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error(transparent)]
    Traces(#[from] TracesError),
    #[error("logging is already set up in this process")]
    Twice,
}

/// Log and traces of this process. Dropping the value sends the last spans.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<SpanExport>,
}

impl Telemetry {
    /// Begins to log on stderr, from `least` on unless `RUST_LOG` says otherwise, and to send traces where an endpoint is
    /// given or set in the environment.
    ///
    /// # Errors
    /// When the endpoint cannot be used, or it was called before in this process.
    pub fn start(format: LogFormat, least: Level, endpoint: Option<&OtlpEndpoint>) -> Result<Self, TelemetryError> {
        let traces = traces::export(endpoint)?;
        let registry = Registry::default().with(log(format, least)).with(traces.as_ref().map(SpanExport::layer));
        registry.try_init().map_err(|_| TelemetryError::Twice)?;
        log_panics();
        Ok(Self { traces })
    }

    /// Begins to log on stderr, for commands that do one thing.
    ///
    /// # Errors
    /// When it was called before in this process.
    pub fn log_only(least: Level) -> Result<(), TelemetryError> {
        Registry::default().with(log(LogFormat::Text, least)).try_init().map_err(|_| TelemetryError::Twice)
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        let Some(traces) = self.traces.take() else { return };
        // The exporter blocks until it has an answer, so it must not run on a thread of the runtime.
        let flushed = std::thread::spawn(move || traces.end()).join();
        if let Ok(Err(error)) = flushed {
            tracing::warn!(%error, "cannot send the last traces");
        }
    }
}

fn log<S: Subscriber + for<'a> LookupSpan<'a>>(format: LogFormat, least: Level) -> impl Layer<S> {
    // Spans for traces would repeat in every line what the line contains already.
    let levels = EnvFilter::builder().with_default_directive(least.into()).from_env_lossy();
    // sqlx logs the values of unknown parameters, which may be a password after a misspelt name.
    let levels = levels.add_directive(Directive::from_str("sqlx_postgres::options=off").expect("it is one"));
    // Its pools report each connection that is lost with a server; the service reports the fault.
    let levels = levels.add_directive(Directive::from_str("sqlx_core::pool=error").expect("it is one"));
    let ours = filter_fn(|metadata| !(metadata.is_span() && metadata.target() == SPANS));
    // The maximum level is decided by `levels`.
    let filter = levels.and(ours.with_max_level_hint(Level::TRACE));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed(),
    };
    lines.with_filter(filter)
}

/// Logs a panic as one line, with the id of its request.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let what =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {}", what.unwrap_or("no message"));
    }));
}
