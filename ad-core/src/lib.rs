//! The rules and the life of a vehicle ad, without HTTP, SQL or a clock of its own.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`fields`] | the rule engine: tables of fields, checked in one walk |
//! | [`categories`] | one table per vehicle type, and its rules over several fields |
//! | [`catalogue`] | allowed values with display names, as data |
//! | [`ad_fields`], [`price`], [`location`], [`title`] | the fields around `category_fields` |
//! | [`mod@reference`] | the field reference of all types, in words |
//! | [`payload`] | what a payload is before its fields are looked at: size, depth, category |
//! | [`rulebook`] | a payload in, a normalised ad or all its errors out |
//! | [`mod@merge`] | deep merge of updates |
//! | [`versions`] | from V3 to V4: what converts, what must migrate |
//! | [`import`] | stored ads of another system, as they are taken over |
//! | [`ad`], [`content`], [`mod@log`], [`request`], [`list`], [`time`] | the models: ad, log, accepted request, list query |
//! | [`printable`] | texts from outside, made safe to show on a terminal |
//! | [`ports`] | the traits that the outside implements |
//! | [`service`] | the use cases: create, update, delete, bump, … |
//! | [`quotas`] | what one dealer may have at most, where an operator sets it |
//! | [`pipeline`] | what a worker does with an accepted request |
//! | [`memory`] | the ports in memory, for embedding and tests |
#![warn(missing_docs)]

pub mod ad;
pub mod ad_fields;
pub mod catalogue;
pub mod categories;
mod code;
pub mod content;
pub mod fields;
pub mod import;
pub mod list;
pub mod location;
pub mod log;
pub mod memory;
pub mod merge;
pub mod nearest;
pub mod payload;
pub mod pipeline;
pub mod ports;
pub mod price;
pub mod printable;
pub mod quotas;
pub mod reference;
pub mod request;
pub mod rulebook;
pub mod service;
pub mod time;
pub mod title;
pub mod versions;
pub mod violation;
