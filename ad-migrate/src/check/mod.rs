//! Maps and validates all rows by the rules of [`ad_core`]. Nothing is sent.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`OpenedFile`] | a file and its mapping, by their names |
//! | `row` | one row in, its [`Verdict`] out |
//! | `explain`, `reasons` | the rules' errors as [findings](crate::finding::Finding) with columns of the file |
//! | `repeated` | the same source id, licence plate or VIN in several rows |
//! | `totals` | counts |
//! | `doubts` | what is unlikely of a whole column: mileages that do not fit the age, prices in several currencies |
//! | `profile` | how many values a column of the file has, and their range |
//!
//! # One pass, and memory that does not grow
//!
//! Duplicates can only be found by remembering every source id, plate and VIN. The file is read once. Verdicts go to a temporary file, some
//! hundred bytes a row (and its payload, if it is wanted); identifiers go, as 128 bits of SHA-256, to a second one, which is sorted in
//! parts of a few MiB. At the end of the file the repetitions are known, and the [`Sink`] gets all verdicts, in the order of the rows.
//!
//! Memory holds a fixed number of batches, one part of the identifiers, and 3 KiB for each 40,000 rows or so while these are merged.

mod doubts;
mod explain;
mod opened;
mod profile;
mod reasons;
mod repeated;
mod row;
mod run;
mod totals;

use std::{collections::BTreeMap, io};

use ad_core::violation::Code;
pub use doubts::{Doubt, Figures};
pub use opened::OpenedFile;
pub use profile::ColumnProfile;
pub(crate) use reasons::words;
pub use run::run;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
pub use totals::{Counted, CountedFinding, OfType, Totals};

use crate::finding::{Finding, Severity};

/// `{vehicle_type}` of a category, one of [`ad_core::categories::typed`].
// An alias, because serde would borrow a `&'static str` from its input.
pub type VehicleType = &'static str;

/// The result for one row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which record of the file it is, from 1.
    pub row: u64,
    /// The line of the file on which it begins.
    pub line: u64,
    /// The client's reference, if it is known.
    pub source_id: Option<String>,
    /// The licence plate, in upper case without spaces.
    pub plate: Option<String>,
    /// The vehicle identification number, as in the payload.
    pub vin: Option<String>,
    /// `{vehicle_type}` of the category, if it is known.
    #[serde(deserialize_with = "known_type")]
    pub vehicle_type: Option<VehicleType>,
    /// Number of image addresses in the row.
    pub image_count: usize,
    /// Their addresses, of rows with findings; of others they are in the payload, if it is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Errors and warnings about the row.
    pub findings: Vec<Finding>,
    /// Whether `[rows]` of the mapping skips it. The sink does not get such rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// How good the ad would be, of valid rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<RowQuality>,
    /// The payload, of valid rows, if [`Payloads`] wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
    /// The values of the row by column, if [`Payloads`] wants them; several values are a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Map<String, Value>>,
    /// The columns from which each field of the payload is made, by its path; with the values of the row.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub made_of: BTreeMap<String, Vec<String>>,
    /// What columns are compared by, of valid rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// The quality of a valid row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowQuality {
    /// Its score, 0 to 100.
    pub score: u8,
    /// The codes of its findings, each once. They do not make it invalid.
    pub findings: Vec<Code>,
}

impl Verdict {
    /// Whether the row is valid.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The findings that make it invalid.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }
}

fn known_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static str>, D::Error> {
    let name = Option::<std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    Ok(name.and_then(|name| ad_core::categories::by_vehicle_type(&name)?.vehicle_type))
}

/// The rows whose payloads are wanted; they take disk space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Payloads {
    /// Of no row; the verdicts are all there is.
    #[default]
    None,
    /// The valid ones among the first rows of the file, with the values of the row; and the profiles of all columns.
    First(u64),
    /// The payloads of all valid rows.
    All,
    /// All valid rows, with the values of the row; and the profiles of all columns.
    AllWithSources,
    /// The payloads of all rows, also what the mapping makes of invalid ones.
    AllAndInvalid,
}

impl Payloads {
    /// Whether the values of rows and the profiles of columns are wanted, too.
    fn with_sources(self) -> bool {
        matches!(self, Self::First(_) | Self::AllWithSources)
    }

    fn wants(self, row: u64) -> bool {
        match self {
            Self::None => false,
            Self::First(most) => row <= most,
            Self::All | Self::AllWithSources | Self::AllAndInvalid => true,
        }
    }

    /// Whether those of invalid rows are wanted, too.
    fn with_invalid(self) -> bool {
        matches!(self, Self::AllAndInvalid)
    }
}

/// Receives the results of a check, row by row.
pub trait Sink {
    /// The progress: bytes of the file read, and its size.
    fn progress(&mut self, _read: u64, _of: u64) {}

    /// A verdict: each row once, in order, after the file has been read to its end.
    ///
    /// # Errors
    /// When it cannot be stored; that ends the check.
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()>;
}

/// Why a check failed. If the file cannot be read to its end, [`Totals::unread`] has the reason instead.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The temporary files cannot be used.
    #[error("cannot create a temporary file for duplicate detection: {0}")]
    Temporary(#[source] io::Error),
    /// The sink cannot store the results.
    #[error("cannot store the findings: {0}")]
    Sink(#[source] io::Error),
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::readers::{Detected, Form};

    /// The totals of these rows, of a file without defects.
    pub(crate) fn totals(verdicts: &[Verdict]) -> Totals {
        let detected = Detected {
            form: Form::Csv,
            encoding: "utf-8".to_owned(),
            separator: Some(';'),
            header: Some(true),
            skip_first: 0,
            rows: None,
            packing: None,
            member: None,
            sheet: None,
            notes: vec!["columns are separated by \";\": it divides the first lines alike".to_owned()],
        };
        let mut counts = totals::Counts::new(detected);
        for verdict in verdicts {
            counts.add(verdict);
        }
        counts.end()
    }

    pub(crate) fn finding(severity: Severity, reason: &str, value: &str) -> Finding {
        Finding {
            columns: vec!["Regnr".to_owned()],
            value: Some(value.to_owned()),
            field: Some("category_fields.registration_number".to_owned()),
            advice: Some("Mend it.".to_owned()),
            ..Finding::new(severity, reason, format!("{value} will not do."))
        }
    }

    pub(crate) fn verdict(row: u64, findings: Vec<Finding>) -> Verdict {
        let source_id = Some(format!("L{row}"));
        Verdict {
            row,
            line: row + 1,
            source_id,
            vehicle_type: Some("car"),
            image_count: 3,
            findings,
            ..Verdict::default()
        }
    }

    #[test]
    fn rows_are_counted_once_for_a_reason_and_errors_come_first() {
        let doubtful = || finding(Severity::Warning, "no images", "");
        let bad = || finding(Severity::Error, "unknown brand", "Wolvo");
        let rows = [
            verdict(1, vec![doubtful()]),
            verdict(2, vec![]),
            verdict(3, vec![bad(), bad(), doubtful()]),
            verdict(4, vec![doubtful()]),
        ];
        let totals = totals(&rows);
        assert_eq!((totals.rows, totals.valid, totals.invalid, totals.with_warnings, totals.images), (4, 3, 1, 2, 9));
        assert_eq!(totals.types["car"], OfType { rows: 4, valid: 3, images: 9 });
        let reasons: Vec<_> =
            totals.reasons.iter().map(|it| (it.reason.as_str(), it.rows, it.examples.clone())).collect();
        assert_eq!(reasons, [("unknown brand", 1, vec![3]), ("no images", 3, vec![1, 3, 4])]);
    }

    #[test]
    fn findings_about_quality_are_counted_by_code_and_scores_by_tens() {
        let rated = |row, score, findings: &[Code]| Verdict {
            quality: Some(RowQuality { score, findings: findings.to_vec() }),
            ..verdict(row, vec![])
        };
        let (photos, vin) = (Code::FewPhotos, Code::VinLetter);
        let invalid = verdict(4, vec![finding(Severity::Error, "unknown brand", "Wolvo")]);
        let totals = totals(&[rated(1, 9, &[photos]), rated(2, 10, &[vin, photos]), rated(3, 100, &[]), invalid]);
        assert_eq!(totals.scores, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(totals.levels(), "1 excellent, 2 basic");
        let counted: Vec<_> = totals.quality.iter().map(|it| (it.code, it.rows, it.first())).collect();
        assert_eq!(counted, [(photos, 2, "1, 2".to_owned()), (vin, 1, "2".to_owned())]);
    }

    #[test]
    fn so_many_different_reasons_that_they_would_fill_the_memory_are_counted_together() {
        let rows: Vec<_> =
            (0..2000).map(|row| verdict(row, vec![finding(Severity::Error, &format!("reason {row}"), "")])).collect();
        let totals = totals(&rows);
        assert_eq!((totals.invalid, totals.reasons.len() as u64 + totals.other_reasons), (2000, 2000));
        assert!(totals.other_reasons > 1000);
    }

    #[test]
    fn a_verdict_is_read_back_as_it_was_kept() {
        let mut kept = verdict(7, vec![finding(Severity::Error, "unknown brand", "W\n\"ö\u{0}")]);
        kept.quality = Some(RowQuality { score: 62, findings: vec![Code::FewPhotos] });
        kept.payload = Some(serde_json::from_str(r#"{"source_id": "a", "price": [{"amount": 1.25}]}"#).unwrap());
        let mut spool = ad_files::spool::Spool::default();
        spool.add_line(&kept).unwrap();
        let read: Vec<Verdict> = spool.lines().unwrap().map(Result::unwrap).collect();
        assert_eq!(read, [kept]);
    }
}
