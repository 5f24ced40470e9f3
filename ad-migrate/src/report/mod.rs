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

use std::io;

use ad_core::model::Timestamp;
use serde::Serialize;

use crate::check::{Totals, Verdict};
pub use json::Json;
pub use page::Page;
pub use side_by_side::SideBySide;
pub use since::Earlier;
pub use terminal::{Terminal, notes, problems, warn_of_missing};

/// A report in a file, which exists when the report is [ended](Self::end).
pub trait FileReport {
    /// Adds a row, as far as the report shows it.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn add(&mut self, verdict: &Verdict) -> io::Result<()>;

    /// Ends it.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn end(self: Box<Self>, totals: &Totals) -> io::Result<()>;
}

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
