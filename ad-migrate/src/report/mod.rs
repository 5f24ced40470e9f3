//! Reports of a [`check`](crate::check) in files.
//!
//! | Part | For whom |
//! |---|---|
//! | [`Json`] | programs: all findings, in a file |
//! | [`SideBySide`] | who compares: each valid row beside its payload, in a file |
//! | [`EarlierReport`] | an earlier report, with which this check is compared |
//! | [`Page`] | the dealer and those who correct the file: one self-contained HTML page to forward |
//!
//! All of them take verdicts one by one, and keep only those that they show.

mod json;
mod kept;
mod page;
mod side_by_side;
mod since;

use std::io;

use ad_core::model::Timestamp;
use serde::Serialize;

use crate::check::{Totals, Verdict};
pub use json::Json;
#[cfg(feature = "cli")]
pub(crate) use json::row_of;
pub use page::Page;
pub use side_by_side::SideBySide;
pub use since::EarlierReport;

/// A report in a file, which exists when the report is [ended](Self::end).
pub trait FileReport {
    /// Adds a row, as far as the report shows it.
    fn add(&mut self, verdict: &Verdict) -> io::Result<()>;

    /// Writes the totals and closes the report.
    fn end(self: Box<Self>, totals: &Totals) -> io::Result<()>;
}

/// What a report is about.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// The file that was checked.
    pub file: String,
    /// The mapping: its file, or the name of a built-in one.
    pub mapping: String,
    /// The time of the check.
    pub checked: Timestamp,
}

/// Names of columns that a text lists.
const MOST_COLUMNS: usize = 3;

/// The names of columns, abbreviated: `20, 21, 22 and 24 more`.
pub fn few(names: &[String]) -> String {
    match names.get(MOST_COLUMNS..) {
        None | Some([]) => names.join(", "),
        Some(more) => format!("{} and {} more", names[..MOST_COLUMNS].join(", "), more.len()),
    }
}
