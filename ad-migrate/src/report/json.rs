//! All findings as one JSON object in a file: what was checked, each row with findings, and the totals.
//!
//! ```json
//! {"file": "stock.csv", "mapping": "stock.toml", "checked": "2026-11-22T03:00:00.000Z",
//!  "rows": [{"row": 1, "line": 2, "source_id": "L1", …, "findings": [{"severity": "error", "reason": "unknown brand", …}]}, …],
//!  "totals": {"rows": 200, "valid": 170, …, "reasons": […], "detected": {…}}}
//! ```
//!
//! Each row is on a line of its own, before the totals, because the file is written while rows are checked.

use std::{
    io::{self, Write},
    path::Path,
};

use ad_files::WholeFile;
use serde_json::{Map, Value};

use super::{About, FileReport};
use crate::check::{Totals, Verdict};

/// The report as JSON, for programs.
#[derive(Debug)]
pub struct Json {
    out: WholeFile,
    before: &'static str,
}

impl Json {
    /// Begins the report.
    ///
    /// # Errors
    /// When the file cannot be created there.
    pub fn create(path: &Path, about: &About) -> io::Result<Self> {
        let mut out = WholeFile::create(path)?;
        let about = serde_json::to_string(about)?;
        // Without its closing brace: the object continues.
        out.write_all(about.trim_end_matches('}').as_bytes())?;
        out.write_all(b",\n\"rows\":[")?;
        Ok(Self { out, before: "\n" })
    }
}

impl FileReport for Json {
    fn add(&mut self, verdict: &Verdict) -> io::Result<()> {
        if verdict.findings.is_empty() {
            return Ok(());
        }
        self.out.write_all(self.before.as_bytes())?;
        self.before = ",\n";
        Ok(serde_json::to_writer(&mut self.out, &row_of(verdict)?)?)
    }

    fn end(mut self: Box<Self>, totals: &Totals) -> io::Result<()> {
        self.out.write_all(b"\n],\n\"totals\":")?;
        serde_json::to_writer(&mut self.out, totals)?;
        self.out.write_all(b"}\n")?;
        self.out.end()
    }
}

/// A row with its findings. Payloads are not part of the report.
pub(crate) fn row_of(verdict: &Verdict) -> io::Result<Map<String, Value>> {
    let row = serde_json::to_value(verdict)?;
    let members = if let Value::Object(members) = row { members } else { Map::new() };
    let is_told = |name: &str| !["payload", "source", "made_of", "figures"].contains(&name);
    Ok(members.into_iter().filter(|(name, _)| is_told(name)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        check::tests::{finding, totals, verdict},
        finding::Severity,
    };

    #[test]
    fn the_report_is_one_object_with_every_row_of_which_something_is_to_be_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let about = About {
            file: "a}\n.csv".to_owned(),
            mapping: "m".to_owned(),
            checked: "2026-11-22T03:00:00Z".parse().unwrap(),
        };
        let mut bad = verdict(2, vec![finding(Severity::Error, "unknown brand", "Wolvo")]);
        bad.payload = Some(serde_json::Map::new());
        for rows in [vec![], vec![verdict(1, vec![]), bad.clone(), verdict(3, bad.findings.clone())]] {
            let mut report = Box::new(Json::create(&path, &about).unwrap());
            assert_eq!(path.exists(), !rows.is_empty(), "not before it is whole");
            for row in &rows {
                report.add(row).unwrap();
            }
            report.end(&totals(&rows)).unwrap();
            let read: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(read["file"], "a}\n.csv");
            assert_eq!(read["totals"]["rows"], rows.len());
            let told: Vec<_> = read["rows"].as_array().unwrap().iter().map(|row| row["row"].clone()).collect();
            assert_eq!(json!(told), if rows.is_empty() { json!([]) } else { json!([2, 3]) });
            assert!(read["rows"].as_array().unwrap().iter().all(|row| row.get("payload").is_none()));
        }
    }
}
