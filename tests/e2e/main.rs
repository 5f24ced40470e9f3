//! End-to-end tests: real processes, real databases, real images over HTTP. One binary, one module per concern.

mod access;
mod bad_requests;
mod commands;
mod crash;
mod documentation;
mod life;
mod linking;
mod lists;
mod media;
mod payloads;
mod store_contract;
mod trouble;
