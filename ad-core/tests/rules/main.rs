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
//! | [`stock`], [`plans`], [`bulk`], [`bulk_change`] | the desired stock compared with stored ads; plans that make the ads so; one change of many ads |
//! | [`quality`] | what makes an ad better, and what is probably wrong with it |
//! | [`reference`] | the page that the tables write |
//! | [`lists`] | list parameters and what they select |
//! | [`store`] | what every store keeps |
//! | [`revisions`] | earlier contents of an ad |
//! | [`tags`], [`status`] | tags of ads, what has become of requests, and whether ads are live |
//! | [`life`], [`failures`], [`images`], [`retries`], [`promote`], [`crash`] | what a worker does |
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod ad_fields;
mod bounds;
mod bulk;
mod bulk_change;
mod car_fields;
mod charges;
mod crash;
mod error_codes;
mod failures;
mod hints;
mod images;
mod import;
mod life;
mod lists;
mod plans;
mod programs;
mod promote;
mod promotions;
mod quality;
mod record;
mod reference;
mod retries;
mod revisions;
mod samples;
mod slots;
mod status;
mod stock;
mod store;
mod support;
mod tags;
mod types;
mod updates;
mod versions;
