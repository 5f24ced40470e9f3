//! A typed client of the vehicle ad import service for Rust programs, and the command line that is built on it.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`Client`], [`ClientBuilder`] | address, token, request rate and retries |
//! | [`Ads`], [`Lookups`] | the operations of V4 and V3 |
//! | [`Client::event_stream`], [`Webhooks`] | what happens to ads, as it happens |
//! | [`Client::stock_plans`], [`StockBody`] | a whole stock, compared by the service before anything changes |
//! | [`Answer`], [`Ad`], [`Page`], [`Validation`] | answers, with the request id for support |
//! | [`Error`], [`ErrorKind`] | kinds of failures, and whether the request may have been accepted nevertheless |
//! | [`Outcome`] | the outcome of a request, from the log |
//! | `bulk` (feature `bulk`) | files of payloads: read, checked, imported and followed |
//! | `cli` (feature `cli`, on by default) | the binary `ad-cli` and its commands |
//!
//! [`ad_core`] has the rules for payloads, and the service checks them.
//!
//! # For other programs
//!
//! Without the feature `cli`, the crate is the client alone: `ad-cli = { version = "…", default-features = false }`.
//!
//! ```no_run
//! use ad_cli::{AdFilter, AdQuery, Client, ErrorKind, LogQuery, Outcome};
//! use ad_core::model::AdState;
//! use futures_util::TryStreamExt;
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("https://ads.example.com", &std::env::var("AD_TOKEN")?)?;
//! let car = json!({
//!     "source_id": "car-1", "category_id": 1020,
//!     "category_fields": {"registration_number": "ABC123", "model_year": 2019},
//! });
//! let created = match client.typed("car").create(&car).await {
//!     Ok(created) => created,
//!     Err(error) => {
//!         if let ErrorKind::Invalid(errors) = error.kind() {
//!             for (path, message) in errors.flatten() {
//!                 eprintln!("{path}: {message}");
//!             }
//!         }
//!         return Err(error.into());
//!     }
//! };
//! // The answer comes before the work is done. What was done stands in the log, under the id of the request.
//! let of_request = LogQuery { request_id: created.request_uuid(), ..LogQuery::default() };
//! let entries: Vec<_> = client.v4().log_all("car-1", &of_request).try_collect().await?;
//! match Outcome::of(&entries) {
//!     Some(outcome) => println!("{}", outcome.name()),
//!     None => println!("unfinished"),
//! }
//! // Page after page, as they are needed.
//! let mut ads = client.v4().all(&AdQuery::oldest_first([AdFilter::State(AdState::Created)]));
//! while let Some(ad) = ads.try_next().await? {
//!     println!("{} {:?}", ad.source_id, ad.title);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `examples/publish.rs` is a whole program; the end-to-end tests run it against a real server.
//!
//! # Retries
//!
//! When there is no connection, or the answer is lost, late, 429 or 5xx, a request is sent again with growing pauses. Each write carries an
//! `Idempotency-Key`, the same with every try, by which the service executes it once and answers the others with the first answer. After the
//! last try, an error of a write may be [unclear](Error::is_unclear); [`Ads::key`] repeats the write later, from any process.
//!
//! # Events
//!
//! [`Client::event_stream`] has the log entries of all ads as they are written, and resumes by itself where it was:
//!
//! ```no_run
//! use ad_cli::{After, Client, EventQuery};
//! use futures_util::TryStreamExt;
//!
//! # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
//! let types = vec!["ad.publish.done".parse()?, "ad.*.error".parse()?];
//! let mut events = client.event_stream(&EventQuery { after: After::Now, types, ..EventQuery::default() });
//! while let Some(event) = events.try_next().await? {
//!     println!("{} {} {}", event.source_id, event.event_type, event.message);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Conditional writes
//!
//! [`Answer::etag`] names the revision of an ad that was read; writes with [`Ads::if_match`] change only that revision. `bulk::write_if`
//! reads, decides and writes, and starts again if the ad was changed meanwhile.
#![warn(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(feature = "bulk")]
pub use ad_bulk as bulk;
pub use ad_client::*;
#[cfg(feature = "cli")]
pub(crate) use ad_terminal as terminal;
