//! The vehicle ad import service around [`ad_core`]: a REST API, a worker, stores in SQLite and PostgreSQL, local marketplaces and media.
//!
//! It is built in floors, each a crate that uses only the ones above it in this table. This crate is the last of them:
//!
//! | Floor | What it is for |
//! |---|---|
//! | `base` | values, secrets, files, clock, limits, metrics, logs, the HTTP listener |
//! | [`store`] | the store in SQLite or PostgreSQL |
//! | `access` | tokens and dealers |
//! | `outside` | what the service calls: media, marketplaces, receivers of webhooks, the register of vehicles; events as clients get them |
//! | `work` | workers, periodic tasks, what operators do |
//! | `http` | the API with its OpenAPI document, and the console |
//!
//! | Module of this crate | What it is for |
//! |---|---|
//! | [`config`] | settings from flags, environment and file: one table |
//! | [`rules`] | the catalogue and the names of the settings |
//! | [`app`] | wires the parts together and runs them |
//! | [`receiver`] | the receiving side of the HTTP contract of marketplaces, with fault injection |
//! | [`sandbox`] | `serve --sandbox`: what a process with sample images and failures on demand runs besides the service |
//! | `output` | what commands and the demo print |
//! | [`demo`] | `ad-server demo`: the service with a sample stock |
//! | [`commands`] | the subcommands of the binary |
//!
//! The modules of the floors have their names here too, for programs that embed the server.

pub mod app;
pub mod commands;
pub mod config;
pub mod demo;
mod output;
mod readings;
pub mod receiver;
pub mod rules;
pub mod sandbox;

pub use ad_server_access::{auth, dealers_file, directory};
pub use ad_server_base::{
    breaker, http_server, limits, lines, processor, secret, system, telemetry, toml_file, values,
};
pub use ad_server_http::{api, console};
pub use ad_server_outside::{events, marketplace, media, record_keys, registry, webhooks};
pub use ad_server_store as store;
pub use ad_server_work::worker;
