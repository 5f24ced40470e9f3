//! What a process tells about itself while it runs: log lines, counters for Prometheus, spans for OpenTelemetry.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`logs`] | the log on stderr, as text or JSON, and where log and spans go |
//! | [`metrics`] | what is counted, and its text |
//! | [`observed`] | ports that count and time what goes through them |
//! | [`state`] | what is looked at when somebody asks: the queue, memory |
//! | [`traces`] | spans: what they are called, and the way to a collector |
//!
//! Requests of the API are observed in the [`api`](crate::api), for only it knows their paths; the parts that do the work know
//! nothing of being observed.

pub mod logs;
pub mod metrics;
pub mod observed;
pub mod state;
pub mod traces;

pub use logs::{LogFormat, Telemetry, TelemetryError};
pub use metrics::Metrics;
pub use observed::{Observed, ObservedMarketplace};
pub use state::{DatabaseQueue, QueueSource, QueueState};
pub use traces::in_request;
