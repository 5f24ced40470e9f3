//! Logs, Prometheus counters and OpenTelemetry spans of a process.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`logs`] | the log on stderr, as text or JSON, and the set-up of log and traces |
//! | [`faults`] | one line for a fault that makes many operations fail |
//! | [`metrics`] | counters and their text |
//! | [`observed`] | counts and times calls of ports |
//! | `readings` | gauges that are read on request from parts of the process: circuits, connections, certificates |
//! | `process` | metrics of the process from the operating system |
//! | [`state`] | gauges that are read on request from the database: the queue |
//! | [`traces`] | spans |
//! | `otlp` | their export to a collector, in builds with that feature |
//!
//! The API observes its own requests, because only it knows their path templates; the other parts do not know that they are observed.

pub mod faults;
pub mod logs;
pub mod metrics;
pub mod observed;
#[cfg_attr(not(feature = "otlp"), path = "without_otlp.rs")]
mod otlp;
mod process;
pub mod readings;
pub mod state;
pub mod traces;

pub use faults::FaultLog;
pub use logs::{LogFormat, Telemetry, TelemetryError};
pub use metrics::Metrics;
pub use observed::MarketplaceCalls;
pub use observed::ObservedPort;
pub use state::{QueueLoad, QueueSource};
pub use traces::in_request;
