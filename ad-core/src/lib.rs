//! The rules and the life of a vehicle ad, without HTTP, SQL or a clock of its own.
//!
//! Each module uses only modules above it in this table:
//!
//! | Module | What it is for |
//! |---|---|
//! | [`lock`] | locks a mutex, also a poisoned one |
//! | [`network`] | where IP addresses lead: the public internet, a private network, or nowhere |
//! | [`printable`] | texts from outside, made safe to show on a terminal |
//! | [`csv_guard`] | texts in CSV that spreadsheets would execute |
//! | [`violation`] | what is wrong with a field, as a value: code, parameters, text, suggestions |
//! | [`synonyms`] | what other systems call fields, parameters, units and values, as data |
//! | [`written`] | numbers, dates, currencies and truth values as people and programs write them |
//! | [`not_json`] | what came instead of a JSON object, and what to write |
//! | [`model`] | ad, log entry, accepted request, list query, dealer, time |
//! | [`words`] | the words by which an ad is found, and what a search asks of them |
//! | [`catalogue`] | allowed values with display names, as data |
//! | [`fields`] | the rule engine: tables of fields, checked in one walk |
//! | [`categories`] | one table per vehicle type, the table of the ad around it, and the rules over several fields |
//! | [`quality`] | how good an ad is: goals, a score, and values that are probably wrong |
//! | [`mod@reference`] | the tables in words: the field reference of all types |
//! | [`rulebook`] | a payload in, a normalised ad or all its errors out; merge, versions, example payloads |
//! | [`ports`] | the traits that the outside implements |
//! | [`prices`] | what the recorded prices of an ad say about a reduction |
//! | `filters` | which ads and log entries pass the filters of a list, and their order |
//! | [`revisions`] | earlier contents of an ad, as differences from the present one |
//! | [`mod@status`] | the status of an ad, computed from what requests did and do |
//! | [`stock`] | the desired stock of a dealer compared with the stored ads: which changes make them equal |
//! | [`quotas`] | what one dealer may have at most, where an operator sets it |
//! | [`service`] | the use cases: create, update, delete, bump, …; import of stored ads |
//! | [`pipeline`] | what a worker does with an accepted request |
//! | [`memory`] | the ports in memory, for embedding and tests |
#![warn(missing_docs)]

/// Adds a line to a page.
macro_rules! say {
    ($page:expr, $($text:tt)*) => {
        writeln!($page, $($text)*).expect("text takes any text")
    };
}

pub mod catalogue;
pub mod categories;
pub mod csv_guard;
pub mod fields;
mod filters;
pub mod lock;
pub mod memory;
pub mod model;
pub mod network;
pub mod not_json;
pub mod pipeline;
pub mod ports;
pub mod prices;
pub mod printable;
pub mod quality;
pub mod quotas;
pub mod reference;
pub mod revisions;
pub mod rulebook;
pub mod service;
pub mod status;
pub mod stock;
pub mod synonyms;
pub mod violation;
pub mod words;
pub mod written;
