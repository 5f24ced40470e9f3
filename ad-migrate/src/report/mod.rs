//! What was found, for people and programs. Nothing is judged here: that is [`check`](crate::check)'s.
//!
//! | Part | For whom |
//! |---|---|
//! | [`Terminal`] | whoever runs the command: a table of what cannot go, or every finding as rows for programs |
//! | [`Json`] | programs: everything, in a file |
//! | [`Page`] | the dealer and those who mend the file: one HTML page to forward, which loads nothing from anywhere |
//!
//! All of them take verdicts one by one and keep no more of them than they show.

mod json;
mod kept;
mod page;
mod terminal;

use ad_core::model::Timestamp;
use serde::Serialize;

pub use json::Json;
pub use page::Page;
pub use terminal::{Terminal, warn_of_missing};

/// What a report is about.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// The file that was checked.
    pub file: String,
    /// The mapping: its file, or the name under which it comes with the program.
    pub mapping: String,
    /// When.
    pub checked: Timestamp,
}
