//! Tools for files of any length, in bounded memory. They know nothing of ads: `ad-bulk` reads files of payloads with them, and `ad-migrate`
//! legacy files.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`parallel`] | processes the parts of a file on all processors |
//! | [`spool`] | stores texts for later, in a temporary file when they are many |
//! | [`sorter`], [`identities`] | which records of a file name the same thing |
//! | [`json`], [`text`] | values of JSON by their paths, and texts for messages |
//! | [`JsonEnd`], [`Transcoded`] | where a JSON value ends, and another encoding as UTF-8 |
//! | [`Place`], [`Severity`] | where a finding is, and how severe |
//! | [`Bits`], [`WholeFile`] | a set of numbers, and a file that appears when it is complete |
#![warn(missing_docs)]

mod bits;
pub mod identities;
pub mod json;
mod json_end;
pub mod parallel;
mod place;
mod severity;
pub mod sorter;
pub mod spool;
pub mod text;
mod transcode;
mod whole_file;

pub use bits::Bits;
pub use json_end::JsonEnd;
pub use place::Place;
pub use severity::Severity;
pub use transcode::{Malformed, Transcoded};
pub use whole_file::WholeFile;
