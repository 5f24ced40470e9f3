//! What has changed since an earlier check, by its JSON report.

use std::{collections::BTreeMap, fs::File, io::BufReader, path::Path};

use ad_files::text::grouped;
use serde::{Deserialize, de::IgnoredAny};

use crate::{check::Totals, finding::Severity};

/// An earlier report, as far as it is compared.
#[derive(Debug, Deserialize)]
pub struct EarlierReport {
    /// The time of that check, as in its `checked`.
    pub checked: String,
    // Read and forgotten one by one.
    #[serde(default, rename = "rows")]
    _rows: IgnoredAny,
    totals: EarlierTotals,
}

#[derive(Debug, Deserialize)]
struct EarlierTotals {
    rows: u64,
    valid: u64,
    invalid: u64,
    reasons: Vec<EarlierReason>,
}

#[derive(Debug, Deserialize)]
struct EarlierReason {
    reason: String,
    severity: Severity,
    rows: u64,
}

impl EarlierReport {
    /// The report of an earlier check, if the file is one.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_reader(BufReader::new(File::open(path).ok()?)).ok()
    }

    /// What has changed, one line for each number that is another one now.
    pub fn changes(&self, totals: &Totals) -> Vec<String> {
        let counts = [
            ("rows", self.totals.rows, totals.rows),
            ("valid", self.totals.valid, totals.valid),
            ("invalid", self.totals.invalid, totals.invalid),
        ];
        let mut reasons: BTreeMap<(Severity, &str), (u64, u64)> = BTreeMap::new();
        for reason in &self.totals.reasons {
            reasons.entry((reason.severity, &reason.reason)).or_default().0 = reason.rows;
        }
        for reason in &totals.reasons {
            reasons.entry((reason.severity, &reason.reason)).or_default().1 = reason.rows;
        }
        let reasons = reasons.into_iter().map(|((_, reason), (before, now))| (reason, before, now));
        let changed = counts.into_iter().chain(reasons).filter(|(_, before, now)| before != now);
        changed.map(|(what, before, now)| format!("{what}: {} → {}", grouped(before), grouped(now))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::tests::{finding, totals, verdict},
        report::{About, FileReport, Json},
    };

    #[test]
    fn a_second_check_says_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        assert!(EarlierReport::read(&path).is_none());
        let about =
            About { file: "a".to_owned(), mapping: "m".to_owned(), checked: "2026-11-22T03:00:00Z".parse().unwrap() };
        let bad = |reason: &str| verdict(1, vec![finding(Severity::Error, reason, "x")]);
        let first = [bad("unknown brand"), bad("model year out of range"), verdict(3, vec![])];
        let mut json = Box::new(Json::create(&path, &about).unwrap());
        for row in &first {
            json.add(row).unwrap();
        }
        json.end(&totals(&first)).unwrap();
        let earlier = EarlierReport::read(&path).unwrap();
        assert_eq!(earlier.changes(&totals(&first)), Vec::<String>::new());
        let second = [bad("unknown brand"), verdict(2, vec![]), verdict(3, vec![])];
        let expected = ["valid: 1 → 2", "invalid: 2 → 1", "model year out of range: 1 → 0"];
        assert_eq!(earlier.changes(&totals(&second)), expected);
    }
}
