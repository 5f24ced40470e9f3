//! End-to-end tests: real processes, real databases, real images over HTTP. One binary, one module per concern.

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

mod access;
mod attacks;
mod bad_requests;
mod cli;
mod code_samples;
mod commands;
mod conformance;
mod contract_fuzz;
mod crash;
mod documentation;
mod events;
mod faults;
mod generated_clients;
mod http_headers;
mod idempotency;
mod image_hosts;
mod importing;
mod life;
mod linking;
mod lists;
mod marketplace_contract;
mod marketplace_http;
mod media;
mod media_contract;
mod migrate;
mod openapi;
mod operations;
mod pages;
mod payloads;
mod plans_postgres;
mod problems;
mod properties;
mod sandbox;
mod silences;
mod slow_clients;
mod status;
mod store_contract;
mod store_properties;
mod tags;
mod telemetry;
mod tls;
mod trouble;
mod webhooks;
mod wrong_requests;
