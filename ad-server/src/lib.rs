//! The vehicle ad import service around [`ad_core`]: a REST API, a worker, a `SQLite` store, local marketplaces and media.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`api`] | the HTTP endpoints, generated from the category tables, and their OpenAPI document |
//! | [`app`] | the parts put together and run |
//! | [`auth`] | tokens: keys, issue, verification |
//! | [`store`] | the store in SQLite, with its group-committing writer |
//! | [`marketplace`] | marketplaces: kept in the same database, called over HTTP, or served |
//! | [`directory`] | dealers and revoked tokens, fresh in memory |
//! | [`http_server`] | the server around the API: TLS, slow clients, the end |
//! | [`telemetry`] | logs, metrics, traces |
//! | [`media`] | images: fetched from public addresses, kept under their checksums in a folder or a bucket |
//! | [`worker`] | runs accepted requests through the pipeline |
//! | [`config`] | settings from flags, environment and file: one table |
//! | [`values`], [`secret`] | types of settings: times, sizes, rates, addresses; credentials |
//! | [`dealers_file`], [`toml_file`], [`lines`] | files that operators write |
//! | [`breaker`] | the circuit breaker of marketplaces and image hosts |
//! | [`processor`] | long computations, apart from what is quick |
//! | `shares` | limited resources that dealers share fairly |
//! | [`system`] | the machine's time and randomness |
//! | [`commands`] | what the binary does |
//! | [`demo`] | the main job on real input, in one command |

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
pub mod commands;
pub mod config;
pub mod dealers_file;
pub mod demo;
pub mod directory;
pub mod http_server;
pub mod lines;
pub mod marketplace;
pub mod media;
mod outbound;
pub mod processor;
pub mod secret;
mod shares;
pub mod store;
pub mod system;
pub mod telemetry;
pub mod toml_file;
pub mod values;
pub mod worker;
