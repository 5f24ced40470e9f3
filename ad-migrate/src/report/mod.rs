//! Shows the results of a [`check`](crate::check) to people and programs.
//!
//! | Part | For whom |
//! |---|---|
//! | [`Terminal`] | who runs the command: a table of the invalid rows; for programs, all findings as records |
//! | [`Json`] | programs: all findings, in a file |
//! | [`SideBySide`] | who compares: each valid row beside its payload, in a file |
//! | [`Earlier`] | an earlier report, with which this check is compared |
//! | [`Page`] | the dealer and those who correct the file: one self-contained HTML page to forward |
//!
//! All of them take verdicts one by one, and keep only those that they show.

mod json;
mod kept;
mod page;
mod side_by_side;
mod since;
mod terminal;

use ad_core::model::Timestamp;
use serde::Serialize;

pub use json::Json;
pub use page::Page;
pub use side_by_side::SideBySide;
pub use since::Earlier;
pub use terminal::{Terminal, notes, problems, warn_of_missing};

/// What a report is about.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// The file that was checked.
    pub file: String,
    /// The mapping: its file, or the name of a built-in one.
    pub mapping: String,
    /// When.
    pub checked: Timestamp,
}
