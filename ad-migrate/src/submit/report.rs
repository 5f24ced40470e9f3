//! The report of a run in a file: how many rows there are of each outcome, what became of each, and why rows are invalid.
//!
//! ```json
//! {"file": "stock.csv", "summary": {"updated": 1, "unchanged": 172, "invalid": 1, …},
//!  "rows": [{"row": 1, "source_id": "L1", "outcome": "updated", …}, {"row": 87, "line": 106, "outcome": "invalid", "findings": […], …}]}
//! ```

use std::io::{self, Write as _};

use ad_files::WholeFile;
use ad_terminal::{Failure, OutFile};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::prepare::InvalidRows;

/// A report that is wanted.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) to: &'a OutFile,
    /// Name of the file that was read.
    pub(crate) name: &'a str,
    /// The rows of it that are invalid.
    pub(crate) invalid: Option<&'a mut InvalidRows>,
}

/// Rows that a report is given, one by one.
pub(super) struct ReportRows<'a> {
    out: WholeFile,
    to: &'a OutFile,
    before: &'static str,
}

impl Report<'_> {
    /// Writes the report. `each` gives it the rows that have outcomes.
    pub(super) fn write(
        self,
        summary: &Map<String, Value>,
        each: impl FnOnce(&mut ReportRows<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { to, name, invalid } = self;
        let cannot = |error: io::Error| to.unwritable(&error);
        let mut rows = ReportRows { out: to.create()?, to, before: "\n" };
        let summary = serde_json::to_string(summary).map_err(|error| cannot(error.into()))?;
        write!(rows.out, "{{\n\"file\": {},\n\"summary\": {summary},\n\"rows\": [", json!(name)).map_err(cannot)?;
        each(&mut rows)?;
        for row in invalid.map(InvalidRows::told).transpose().map_err(cannot)?.into_iter().flatten() {
            rows.add(&row.map_err(cannot)?)?;
        }
        rows.out.write_all(b"\n]\n}\n").and_then(|()| rows.out.end()).map_err(cannot)
    }
}

impl ReportRows<'_> {
    pub(super) fn add(&mut self, row: &impl Serialize) -> Result<(), Failure> {
        let written = self.out.write_all(self.before.as_bytes());
        self.before = ",\n";
        written
            .and_then(|()| serde_json::to_writer(&mut self.out, row).map_err(io::Error::from))
            .map_err(|error| self.to.unwritable(&error))
    }
}
