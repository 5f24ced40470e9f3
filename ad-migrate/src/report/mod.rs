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
pub(crate) use json::Json;
pub(crate) use page::Page;
pub(crate) use side_by_side::SideBySide;
pub(crate) use since::Earlier;
pub(crate) use terminal::{Terminal, notes, problems, warn_of_missing};

/// A report in a file, which exists when the report is [ended](Self::end).
pub(crate) trait FileReport {
    /// Adds a row, as far as the report shows it.
    fn add(&mut self, verdict: &Verdict) -> io::Result<()>;

    /// Ends it.
    fn end(self: Box<Self>, totals: &Totals) -> io::Result<()>;
}

/// What a report is about.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct About {
    pub(crate) file: String,
    /// The mapping: its file, or the name of a built-in one.
    pub(crate) mapping: String,
    pub(crate) checked: Timestamp,
}
