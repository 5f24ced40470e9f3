//! From the nightly bulk file to the API: a dealer's legacy stock file becomes ads, once.
//!
//! ```text
//! file ─▶ readers ─▶ rows ─▶ mapping ─▶ payloads ─▶ plan ─▶ submit ─▶ the service
//!                                          │          │        │
//!                                          └──────────┴────────┴─▶ report
//! ```
//!
//! | Module | What it is for |
//! |---|---|
//! | [`readers`] | CSV, XML, JSON and NDJSON, plain or packed, in any usual encoding, as [rows](readers::Row) of texts |
//! | [`mapping`] | which column becomes which field of an ad, as a TOML file; checked against ad-core's tables |
//! | [`mod@inspect`] | a first look at an unknown file, and a mapping to begin with |
//! | [`finding`] | what is to be said of a row |
//! | [`plan`] | every row held against the rules: what goes, what cannot, and why |
//! | [`report`] | the same for people: a table, JSON, a page to forward |
//! | [`cli`] | the binary `ad-migrate` and its commands |
//!
//! What an ad must look like is not known here: [`ad_core`] has the rules, and [`ad_cli`] the client.
#![warn(missing_docs)]

pub mod cli;
pub mod finding;
pub mod inspect;
pub mod mapping;
pub mod plan;
pub mod readers;
pub mod report;
