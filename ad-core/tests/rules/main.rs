//! The rules of the contract, each as a test of what a client sends and is answered.
//!
//! | Module | Rules about |
//! |---|---|
//! | [`samples`] | the sample payloads |
//! | [`car_fields`], [`ad_fields`], [`types`] | the content of a payload |
//! | [`hints`] | what is said of values and names that are nearly right |
//! | [`programs`] | bodies that real programs send |
//! | [`bounds`] | how much a dealer may write |
//! | [`updates`] | merging, `null`, what may not change |
//! | [`versions`], [`import`] | V3, the way from it to V4, and stored ads that come from elsewhere |
//! | [`quality`] | what makes an ad better, and what is probably wrong with it |
//! | [`reference`] | the page that the tables write |
//! | [`lists`] | list parameters and what they select |
//! | [`store`] | what every store keeps |
//! | [`tags`], [`status`] | tags of ads, what has become of requests, and whether ads are live |
//! | [`life`], [`failures`], [`images`], [`retries`], [`promote`], [`crash`] | what a worker does |
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod ad_fields;
mod bounds;
mod car_fields;
mod crash;
mod error_codes;
mod failures;
mod hints;
mod images;
mod import;
mod life;
mod lists;
mod programs;
mod promote;
mod quality;
mod reference;
mod retries;
mod samples;
mod status;
mod store;
mod support;
mod tags;
mod types;
mod updates;
mod versions;
