//! Each valid row beside its payload, as lines of JSON: `{"row": 1, "line": 2, "source": {"Pris": "1 kr"}, "payload": {…},
//! "made_of": {"price": ["Pris"]}}`. Where the values of rows are not wanted, without `source` and `made_of`.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use ad_files::WholeFile;
use serde::Serialize;
use serde_json::{Map, Value};

use super::FileReport;
use crate::check::{Totals, Verdict};

/// A line of the file.
#[derive(Serialize)]
struct ValidRow<'a> {
    row: u64,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a Map<String, Value>>,
    payload: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    made_of: &'a BTreeMap<String, Vec<String>>,
}

/// The file while rows are added.
#[derive(Debug)]
pub struct SideBySide(WholeFile);

impl SideBySide {
    /// Begins the report.
    ///
    /// # Errors
    /// When the file cannot be created there.
    pub fn create(path: &Path) -> io::Result<Self> {
        WholeFile::create(path).map(Self)
    }
}

impl FileReport for SideBySide {
    fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        let Some(payload) = &verdict.payload else { return Ok(()) };
        let Verdict { row, line, source, made_of, .. } = verdict;
        let line = ValidRow { row: *row, line: *line, source: source.as_ref(), payload, made_of };
        serde_json::to_writer(&mut self.0, &line)?;
        self.0.write_all(b"\n")
    }

    fn end(self: Box<Self>, _: &Totals) -> io::Result<()> {
        self.0.end()
    }
}
