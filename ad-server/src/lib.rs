//! The vehicle ad import service around [`ad_core`]: a REST API, a worker, a `SQLite` store, local marketplaces and media.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`api`] | the HTTP endpoints, generated from the category tables, and their OpenAPI document |
//! | [`app`] | wires the parts together and runs them |
//! | [`auth`] | tokens: keys, issue, verification |
//! | `stopping` | a process that is going to stop |
//! | [`store`] | the store in SQLite or PostgreSQL |
//! | [`marketplace`] | marketplaces: local ones, a client of remote ones, and a server |
//! | [`events`] | events as clients get them: JSON and cursors |
//! | [`directory`] | dealers and revoked tokens, cached in memory |
//! | [`http_server`] | the HTTP server: TLS, timeouts, connection limits, shutdown |
//! | [`telemetry`] | logs, metrics, traces |
//! | [`media`] | images: fetched from public addresses, stored by checksum in a folder or a bucket |
//! | [`worker`] | runs accepted requests through the pipeline |
//! | [`webhooks`] | events sent to endpoints of integrators |
//! | `cleanup` | removes what is kept for a limited time |
//! | `retention` | erases what is older than its retention time |
//! | `periodic` | what a process does every so often: one table |
//! | [`console`] | pages at `/console/` for dealers, support and operators |
//! | [`config`] | settings from flags, environment and file: one table |
//! | [`values`], [`secret`] | types of settings: times, sizes, rates, addresses; credentials |
//! | [`dealers_file`], [`toml_file`], [`lines`] | files that operators write |
//! | [`breaker`] | the circuit breaker of marketplaces and image hosts |
//! | [`rules`] | the catalogue and the names of the settings |
//! | [`registry`] | the register of vehicles that `validate` compares ads with |
//! | [`processor`] | runs long computations apart from short requests |
//! | [`limits`] | what keeps limits: concurrency, rates, and resources that dealers share fairly |
//! | [`system`] | the system clock and random ids |
//! | `operators` | what operators do and see, by commands and in the console |
//! | [`commands`] | the subcommands of the binary |
//! | [`sandbox`] | `serve --sandbox`: sample images, and failures on demand for integrators |
//! | [`demo`] | `ad-server demo`: the service with a sample stock |

/// Implements `Debug` by the name of the type, for types with parts that have none.
macro_rules! debug_by_name {
    ($($type:ident),+) => {$(
        impl std::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(stringify!($type))
            }
        }
    )+};
}

pub mod api;
pub mod app;
pub mod auth;
pub mod breaker;
mod cleanup;
pub mod commands;
pub mod config;
pub mod console;
pub mod dealers_file;
pub mod demo;
pub mod directory;
pub mod events;
pub mod http_server;
pub mod limits;
pub mod lines;
pub mod marketplace;
pub mod media;
mod operators;
mod outbound;
mod periodic;
mod photos;
pub mod processor;
pub mod registry;
mod retention;
pub mod rules;
pub mod sandbox;
pub mod secret;
mod stopping;
pub mod store;
pub mod system;
pub mod telemetry;
pub mod toml_file;
pub mod values;
pub mod webhooks;
pub mod worker;
