//! The rows that the page shows: some of each reason, and the first valid ones. Their number is bounded.

use rustc_hash::FxHashMap;

use crate::{
    check::Verdict,
    finding::{Finding, Severity},
};

pub(super) const MOST_OF_A_REASON: usize = 200;
/// Rows that are listed in all; beyond that, each reason has [`FEWEST_OF_A_REASON`].
const MOST: usize = 3000;
const FEWEST_OF_A_REASON: usize = 5;
/// Most different reasons for which rows are kept.
const MOST_REASONS: usize = 500;
const MOST_VALID: usize = 12;
/// Images of a row, and the longest address that is shown.
const MOST_IMAGES: usize = 20;
const LONGEST_ADDRESS: usize = 500;

#[derive(Debug)]
pub(super) struct ListedRow {
    pub(super) row: u64,
    pub(super) line: u64,
    pub(super) source_id: Option<String>,
    pub(super) plate: Option<String>,
    pub(super) finding: Finding,
    pub(super) images: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Kept {
    rows: FxHashMap<(Severity, String), Vec<ListedRow>>,
    count: usize,
    /// The first valid rows, with their payloads.
    pub(super) valid: Vec<Verdict>,
}

impl Kept {
    pub(super) fn add(&mut self, verdict: &Verdict) {
        if self.valid.len() < MOST_VALID && verdict.payload.is_some() {
            self.valid.push(verdict.clone());
        }
        let mut images = Some(&verdict.images);
        for finding in &verdict.findings {
            let has_room = self.rows.len() < MOST_REASONS;
            let key = (finding.severity, finding.reason.clone());
            let listed = match self.rows.get_mut(&key) {
                Some(listed) => listed,
                None if has_room => self.rows.entry(key).or_default(),
                None => continue,
            };
            let most = if self.count < MOST { MOST_OF_A_REASON } else { FEWEST_OF_A_REASON };
            // A row is listed under a reason once.
            if listed.len() >= most || listed.last().is_some_and(|last| last.row == verdict.row) {
                continue;
            }
            let shown = |address: &&String| address.len() <= LONGEST_ADDRESS;
            listed.push(ListedRow {
                row: verdict.row,
                line: verdict.line,
                source_id: verdict.source_id.clone(),
                plate: verdict.plate.clone(),
                finding: finding.clone(),
                // The images are shown once, not under each reason.
                images: images.take().into_iter().flatten().filter(shown).take(MOST_IMAGES).cloned().collect(),
            });
            self.count += 1;
        }
    }

    pub(super) fn of(&self, severity: Severity, reason: &str) -> &[ListedRow] {
        self.rows.get(&(severity, reason.to_owned())).map_or(&[], Vec::as_slice)
    }
}
