//! End-to-end tests: real processes, real databases, real images over HTTP. One binary, one module per concern.

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

mod access;
mod bad_requests;
mod commands;
mod conformance;
mod contract_fuzz;
mod crash;
mod documentation;
mod importing;
mod life;
mod linking;
mod lists;
mod media;
mod openapi;
mod payloads;
mod properties;
mod silences;
mod store_contract;
mod trouble;
