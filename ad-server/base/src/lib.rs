//! The lowest floor of the server: what every other floor uses, and what knows none of them.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`values`], [`secret`] | types of settings: times, sizes, rates, addresses; credentials |
//! | [`toml_file`], [`lines`] | files that operators write |
//! | [`system`] | the system clock and random ids |
//! | [`limits`] | what keeps limits (concurrency, rates, resources that dealers share fairly), and one table of all limits |
//! | [`processor`] | runs long computations apart from short requests |
//! | [`breaker`] | the circuit breaker of marketplaces and image hosts |
//! | [`stopping`] | a process that is going to stop |
//! | [`telemetry`] | logs, metrics, traces |
//! | [`http_server`] | the HTTP listener: TLS, timeouts, connection limits, shutdown |

/// Implements `Debug` by the name of the type, for types with parts that have none.
#[macro_export]
macro_rules! debug_by_name {
    ($($type:ident $(<$life:lifetime>)?),+) => {$(
        impl std::fmt::Debug for $type $(<$life>)? {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(stringify!($type))
            }
        }
    )+};
}

pub mod breaker;
pub mod http_server;
pub mod limits;
pub mod lines;
pub mod processor;
pub mod secret;
pub mod stopping;
pub mod system;
pub mod telemetry;
pub mod toml_file;
pub mod values;
