//! Each valid row beside its payload, as lines of JSON: `{"row": 1, "line": 2, "source": {"Pris": "1 kr"}, "payload": {…},
//! "made_of": {"price": ["Pris"]}}`.

use std::{
    io::{self, Write},
    path::Path,
};

use ad_cli::terminal::output::WholeFile;
use serde_json::json;

use crate::check::Verdict;

/// The file while rows are added.
#[derive(Debug)]
pub struct SideBySide(WholeFile);

impl SideBySide {
    /// Begins the file; it exists when it is [ended](Self::end).
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        WholeFile::create(path).map(Self)
    }

    /// Adds a row, if it is valid.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        let Some(payload) = &verdict.payload else { return Ok(()) };
        let line = json!({"row": verdict.row, "line": verdict.line, "source": verdict.source, "payload": payload, "made_of": verdict.made_of});
        serde_json::to_writer(&mut self.0, &line)?;
        self.0.write_all(b"\n")
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn end(self) -> io::Result<()> {
        self.0.end()
    }
}
