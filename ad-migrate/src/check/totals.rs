//! What all verdicts come to. Bounded, however many different things are wrong.

use std::{collections::BTreeMap, sync::Arc};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Verdict;
use crate::{
    finding::{Finding, Severity},
    readers::{Columns, Detected, ReadError},
};

/// Different reasons that are counted one by one.
const MOST_REASONS: usize = 500;

/// Rows that are named as examples of a reason.
const MOST_EXAMPLES: usize = 5;

/// What a file came to.
#[derive(Debug, Clone, Serialize)]
pub struct Totals {
    /// Rows that were read.
    pub rows: u64,
    /// Those that can go.
    pub good: u64,
    /// Those that cannot.
    pub refused: u64,
    /// Those that can and should be looked at.
    pub odd: u64,
    /// Pictures of the rows that can go.
    pub images: u64,
    /// Rows by vehicle type; those whose type could not be told are under an empty name.
    pub types: BTreeMap<&'static str, OfType>,
    /// What is wrong and what is odd: errors first, the most frequent first.
    pub reasons: Vec<Counted>,
    /// Findings for other reasons, where there are too many different ones.
    pub other_reasons: u64,
    /// How the file was read, and what was inferred.
    pub detected: Detected,
    /// The columns of the file.
    #[serde(skip)]
    pub columns: Arc<Columns>,
    /// Columns that the mapping names and the file does not have.
    pub missing: Vec<String>,
    /// Columns that nothing uses.
    pub unused: Vec<String>,
    /// Why the file could not be read to its end, if it could not: rows may be missing here.
    pub unread: Option<Unread>,
}

/// Rows of a vehicle type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OfType {
    /// All.
    pub rows: u64,
    /// Those that can go.
    pub good: u64,
    /// Their pictures.
    pub images: u64,
}

/// A reason, and how often it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// What the rows have in common.
    pub reason: String,
    /// Whether they cannot go for it.
    pub severity: Severity,
    /// How many rows it concerns.
    pub rows: u64,
    /// The first of them.
    pub examples: Vec<u64>,
    /// The columns that it was about first.
    pub columns: Vec<String>,
    /// What to do about it, as it was said first.
    pub advice: Option<String>,
}

/// Why a file could not be read on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// What went wrong, with the place.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl From<ReadError> for Unread {
    fn from(error: ReadError) -> Self {
        Self { message: error.message, hints: error.hints }
    }
}

/// What is being counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    rows: u64,
    good: u64,
    odd: u64,
    images: u64,
    types: BTreeMap<&'static str, OfType>,
    reasons: Vec<Counted>,
    known: FxHashMap<(Severity, String), usize>,
    other_reasons: u64,
}

impl Counts {
    /// Counts a row.
    pub(super) fn add(&mut self, verdict: &Verdict) {
        let is_good = verdict.is_good();
        let images = if is_good { verdict.image_count as u64 } else { 0 };
        self.rows += 1;
        self.good += u64::from(is_good);
        self.odd += u64::from(is_good && !verdict.findings.is_empty());
        self.images += images;
        let of_type = self.types.entry(verdict.vehicle_type.unwrap_or_default()).or_default();
        of_type.rows += 1;
        of_type.good += u64::from(is_good);
        of_type.images += images;
        for (index, finding) in verdict.findings.iter().enumerate() {
            let is_same = |other: &Finding| other.reason == finding.reason && other.severity == finding.severity;
            if !verdict.findings[..index].iter().any(is_same) {
                self.reason(verdict.row, finding);
            }
        }
    }

    fn reason(&mut self, row: u64, finding: &Finding) {
        let key = (finding.severity, finding.reason.clone());
        let next = self.reasons.len();
        let at = match self.known.get(&key) {
            Some(at) => *at,
            None if next < MOST_REASONS => {
                self.known.insert(key, next);
                self.reasons.push(Counted {
                    reason: finding.reason.clone(),
                    severity: finding.severity,
                    rows: 0,
                    examples: Vec::new(),
                    columns: finding.columns.clone(),
                    advice: finding.advice.clone(),
                });
                next
            }
            None => {
                self.other_reasons += 1;
                return;
            }
        };
        let counted = &mut self.reasons[at];
        counted.rows += 1;
        if counted.examples.len() < MOST_EXAMPLES {
            counted.examples.push(row);
        }
    }

    /// What it comes to, but for what is to be said of the columns.
    pub(super) fn end(mut self, detected: Detected, unread: Option<ReadError>) -> Totals {
        self.reasons.sort_by(|one, other| (one.severity, other.rows).cmp(&(other.severity, one.rows)));
        Totals {
            rows: self.rows,
            good: self.good,
            refused: self.rows - self.good,
            odd: self.odd,
            images: self.images,
            types: self.types,
            reasons: self.reasons,
            other_reasons: self.other_reasons,
            detected,
            columns: Arc::default(),
            missing: Vec::new(),
            unused: Vec::new(),
            unread: unread.map(Unread::from),
        }
    }
}
