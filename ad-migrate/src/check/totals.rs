//! Counts of all verdicts, in bounded memory.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use ad_core::{model::Level, violation::Code};
use ad_files::text::tally;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{
    ColumnProfile, Doubt, RowQuality, Verdict,
    doubts::{self, Doubts},
};
use crate::{
    finding::{Finding, Severity},
    readers::{Columns, Detected, ReadError},
};

/// Different reasons that are counted separately.
const MOST_REASONS: usize = 500;

/// Rows that are listed as examples of a reason.
const MOST_EXAMPLES: usize = 5;

/// The totals of a file.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Totals {
    /// Rows that were read: valid, invalid and skipped ones.
    pub rows: u64,
    /// Rows that `[rows]` of the mapping skips.
    pub skipped: u64,
    /// Rows that become ads: without errors, not skipped.
    pub valid: u64,
    /// Rows with at least one error, which are not sent.
    pub invalid: u64,
    /// Rows with warnings and without errors.
    pub with_warnings: u64,
    /// Images of the valid rows.
    pub images: u64,
    /// Rows by vehicle type; an empty name if it is unknown.
    pub types: BTreeMap<&'static str, OfType>,
    /// Reasons of errors, then of warnings, the most frequent first.
    pub reasons: Vec<Counted>,
    /// Findings for other reasons, if there are too many different ones.
    pub other_reasons: u64,
    /// Findings about the quality of the valid rows, the most frequent first. They make no row invalid.
    pub quality: Vec<CountedFinding>,
    /// Valid rows by quality score: below 10, below 20, and so on.
    pub scores: [u64; 10],
    /// What is unlikely of whole columns.
    pub doubts: Vec<Doubt>,
    /// The columns of the file: how many values, and their range; if [`Payloads`](super::Payloads) wants them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ColumnProfile>,
    /// How the file was read, and what was inferred.
    pub detected: Detected,
    /// The columns of the file.
    #[serde(skip)]
    pub columns: Arc<Columns>,
    /// Columns of the mapping that the file lacks.
    pub missing: Vec<String>,
    /// Columns that the mapping does not use.
    pub unused: Vec<String>,
    /// Why the file could not be read to its end; later rows are not counted.
    pub unread: Option<ReadError>,
}

impl Totals {
    /// Why the file cannot be used, if it cannot be read to its end or has no rows.
    pub fn unusable(&self, file: &str) -> Option<ReadError> {
        match self {
            Self { unread: Some(ReadError { message, hints }), .. } => {
                let before = if self.rows > 0 { "; the rows before it were validated" } else { "" };
                let message = format!("{file}: {}{before}", message.trim_end_matches('.'));
                Some(ReadError { message, hints: hints.clone() })
            }
            Self { rows: 0, .. } => Some(ReadError::new(format!("{file} contains no rows"))),
            _ => None,
        }
    }
}

/// Rows of a vehicle type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OfType {
    /// Rows of the type, valid or not.
    pub rows: u64,
    /// Rows of the type without errors.
    pub valid: u64,
    /// Images of the valid rows.
    pub images: u64,
}

/// A reason, and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// What the rows have in common.
    pub reason: String,
    /// Whether it makes them invalid.
    pub severity: Severity,
    /// How many rows it concerns.
    pub rows: u64,
    /// Numbers of the first rows that it concerns.
    pub examples: Vec<u64>,
    /// The columns of the first finding.
    pub columns: Vec<String>,
    /// The advice of the first finding.
    pub advice: Option<String>,
}

/// A finding about quality, and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountedFinding {
    /// Code of the finding, listed in `docs/errors.md`.
    pub code: Code,
    /// How many rows have it.
    pub rows: u64,
    /// Numbers of the first rows that have it.
    pub examples: Vec<u64>,
}

impl CountedFinding {
    /// The first rows that have it: `3, 7, 12`.
    pub fn first(&self) -> String {
        self.examples.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Totals {
    /// The number of valid rows by [level](Level): `12 excellent, 100 good, 60 basic`.
    pub fn levels(&self) -> String {
        let mut levels = BTreeMap::<Level, u64>::new();
        for (score, rows) in (0..100).step_by(10).zip(self.scores) {
            *levels.entry(Level::from(score)).or_default() += rows;
        }
        tally(levels.iter().rev().map(|(level, rows)| (*rows, level.name())))
    }
}

/// The totals while rows are counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    totals: Totals,
    /// Index in `reasons` by severity and reason.
    known: FxHashMap<(Severity, String), usize>,
    doubts: Doubts,
}

impl Counts {
    pub(super) fn new(detected: Detected) -> Self {
        Self { totals: Totals { detected, ..Totals::default() }, ..Self::default() }
    }

    pub(super) fn skip(&mut self) {
        self.totals.rows += 1;
        self.totals.skipped += 1;
    }

    pub(super) fn add(&mut self, verdict: &Verdict) {
        let totals = &mut self.totals;
        let is_valid = verdict.is_valid();
        let images = if is_valid { verdict.image_count as u64 } else { 0 };
        totals.rows += 1;
        totals.valid += u64::from(is_valid);
        totals.invalid += u64::from(!is_valid);
        totals.with_warnings += u64::from(is_valid && !verdict.findings.is_empty());
        totals.images += images;
        let of_type = totals.types.entry(verdict.vehicle_type.unwrap_or_default()).or_default();
        of_type.rows += 1;
        of_type.valid += u64::from(is_valid);
        of_type.images += images;
        if let Some(figures) = &verdict.figures {
            self.doubts.add(figures);
        }
        if let Some(RowQuality { score, findings }) = &verdict.quality {
            totals.scores[usize::from(*score / 10).min(9)] += 1;
            for code in findings {
                let at = totals.quality.iter().position(|counted| counted.code == *code).unwrap_or_else(|| {
                    totals.quality.push(CountedFinding { code: *code, rows: 0, examples: Vec::new() });
                    totals.quality.len() - 1
                });
                let counted = &mut totals.quality[at];
                counted.rows += 1;
                if counted.examples.len() < MOST_EXAMPLES {
                    counted.examples.push(verdict.row);
                }
            }
        }
        for (index, finding) in verdict.findings.iter().enumerate() {
            let is_same = |other: &Finding| other.reason == finding.reason && other.severity == finding.severity;
            if !verdict.findings[..index].iter().any(is_same) {
                self.reason(verdict.row, finding);
            }
        }
    }

    fn reason(&mut self, row: u64, finding: &Finding) {
        let reasons = &mut self.totals.reasons;
        let key = (finding.severity, finding.reason.clone());
        let at = match self.known.get(&key) {
            Some(at) => *at,
            None if reasons.len() < MOST_REASONS => {
                self.known.insert(key, reasons.len());
                reasons.push(Counted {
                    reason: finding.reason.clone(),
                    severity: finding.severity,
                    rows: 0,
                    examples: Vec::new(),
                    columns: finding.columns.clone(),
                    advice: finding.advice.clone(),
                });
                reasons.len() - 1
            }
            None => {
                self.totals.other_reasons += 1;
                return;
            }
        };
        let counted = &mut reasons[at];
        counted.rows += 1;
        if counted.examples.len() < MOST_EXAMPLES {
            counted.examples.push(row);
        }
    }

    /// The totals, with sorted reasons and findings.
    pub(super) fn end(mut self) -> Totals {
        self.totals.doubts = self.doubts.end();
        let of_columns = self.totals.quality.iter().filter_map(|counted| doubts::of_rows(counted, self.totals.valid));
        self.totals.doubts.extend(of_columns);
        self.totals.quality.sort_by_key(|counted| (Reverse(counted.rows), counted.code));
        self.totals.reasons.sort_by(|one, other| (one.severity, other.rows).cmp(&(other.severity, one.rows)));
        self.totals
    }
}
