//! What the page shows of the rows, kept until its end: some rows of each reason, and the first that can go. Bounded, however many
//! there are.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::{check::Verdict, finding::Severity};

/// Rows that are listed under one reason.
pub(super) const MOST_OF_A_REASON: usize = 200;
/// Rows that are listed in all; beyond that, each reason has [`FEWEST_OF_A_REASON`].
const MOST: usize = 3000;
const FEWEST_OF_A_REASON: usize = 5;
/// Different reasons with rows.
const MOST_REASONS: usize = 500;
/// Rows that can go and are shown as they will be.
const MOST_GOOD: usize = 12;
/// Pictures of a row, and the longest address that is shown.
const MOST_IMAGES: usize = 20;
const LONGEST_ADDRESS: usize = 500;

/// A row under a reason.
#[derive(Debug)]
pub(super) struct ListedRow {
    pub(super) row: u64,
    pub(super) line: u64,
    pub(super) source_id: Option<String>,
    pub(super) plate: Option<String>,
    pub(super) columns: Vec<String>,
    pub(super) value: Option<String>,
    pub(super) message: String,
    pub(super) advice: Option<String>,
    pub(super) images: Vec<String>,
}

/// A row that can go.
#[derive(Debug)]
pub(super) struct Good {
    pub(super) row: u64,
    pub(super) source_id: Option<String>,
    pub(super) plate: Option<String>,
    pub(super) payload: Map<String, Value>,
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    rows: FxHashMap<(Severity, String), Vec<ListedRow>>,
    count: usize,
    pub(super) good: Vec<Good>,
}

impl Kept {
    pub(super) fn add(&mut self, mut verdict: Verdict) {
        if self.good.len() < MOST_GOOD
            && let Some(payload) = verdict.payload.take()
        {
            let (source_id, plate) = (verdict.source_id.clone(), verdict.plate.clone());
            self.good.push(Good { row: verdict.row, source_id, plate, payload });
        }
        let mut images = Some(verdict.images);
        for finding in verdict.findings {
            let has_room = self.rows.len() < MOST_REASONS;
            let key = (finding.severity, finding.reason);
            let listed = match self.rows.get_mut(&key) {
                Some(listed) => listed,
                None if has_room => self.rows.entry(key).or_default(),
                None => continue,
            };
            let most = if self.count < MOST { MOST_OF_A_REASON } else { FEWEST_OF_A_REASON };
            // A row stands under a reason once.
            if listed.len() >= most || listed.last().is_some_and(|last| last.row == verdict.row) {
                continue;
            }
            let shown = |address: &String| address.len() <= LONGEST_ADDRESS;
            listed.push(ListedRow {
                row: verdict.row,
                line: verdict.line,
                source_id: verdict.source_id.clone(),
                plate: verdict.plate.clone(),
                columns: finding.columns,
                value: finding.value,
                message: finding.message,
                advice: finding.advice,
                // The same pictures under each reason would be no help.
                images: images.take().into_iter().flatten().filter(shown).take(MOST_IMAGES).collect(),
            });
            self.count += 1;
        }
    }

    /// The rows that are listed under a reason.
    pub(super) fn of(&self, severity: Severity, reason: &str) -> &[ListedRow] {
        self.rows.get(&(severity, reason.to_owned())).map_or(&[], Vec::as_slice)
    }
}
