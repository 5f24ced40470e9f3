//! A whole file, checked by all processors.

use std::io;

use ad_files::{
    Place,
    identities::{Identities, Occurrence, Repetition, Repetitions},
    parallel,
};

use super::{Checker, Finding, Verdict};
use crate::{
    BulkError,
    payloads::{Chunk, Chunks, Source},
};

/// Counts of a checked file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// All payloads, including those that cannot be read.
    pub payloads: u64,
    /// Those that cannot be sent.
    pub rejected: u64,
    /// Those that can, with warnings.
    pub warned: u64,
}

impl Totals {
    /// Counts a payload by what the check has found.
    pub fn add(&mut self, verdict: &Verdict) {
        self.payloads += 1;
        self.rejected += u64::from(!verdict.is_valid());
        self.warned += u64::from(verdict.is_valid() && !verdict.findings.is_empty());
    }
}

/// What one chunk came to.
struct CheckedChunk {
    text: Vec<u8>,
    totals: Totals,
    occurrences: Vec<Occurrence>,
    /// Those with findings or a rating.
    verdicts: Vec<Verdict>,
}

/// Checks all payloads of a file, and shows those with findings or a rating, in order, and from time to time how many have been checked.
/// [`show_repetitions`] then finds duplicate ads among the identities.
///
/// # Errors
/// When the file cannot be read, or the findings cannot be shown.
pub fn check_file(
    source: Source,
    checker: &Checker,
    mut show: impl FnMut(&Verdict) -> io::Result<()>,
    mut progress: impl FnMut(u64) -> io::Result<()>,
) -> Result<(Totals, Identities), BulkError> {
    let (mut totals, mut identities) = (Totals::default(), Identities::default());
    let (mut chunks, mut unread) = (Chunks::new(source), None);
    let next = |text: Option<Vec<u8>>| {
        chunks.next(text.unwrap_or_default()).unwrap_or_else(|error| {
            unread = Some(error);
            None
        })
    };
    parallel::in_order(
        next,
        || |chunk| check_chunk(checker, chunk),
        |checked: CheckedChunk| {
            let before = totals.payloads;
            for it in checked.occurrences {
                identities.add(Occurrence { index: it.index + before, ..it }).map_err(no_room())?;
            }
            for mut verdict in checked.verdicts {
                verdict.index += before;
                show(&verdict)?;
            }
            totals.payloads += checked.totals.payloads;
            totals.rejected += checked.totals.rejected;
            totals.warned += checked.totals.warned;
            progress(totals.payloads)?;
            Ok::<_, BulkError>(checked.text)
        },
    )?;
    match unread {
        Some(error) => Err(error.into()),
        None => Ok((totals, identities)),
    }
}

/// Checks the payloads of a chunk, which are counted from 0 for now.
fn check_chunk(checker: &Checker, chunk: Chunk) -> CheckedChunk {
    let (mut totals, mut occurrences, mut verdicts) = (Totals::default(), Vec::new(), Vec::new());
    chunk.each(|piece| {
        let (verdict, occurrence) = checker.check(piece, totals.payloads);
        totals.add(&verdict);
        occurrences.extend(occurrence);
        if !verdict.findings.is_empty() || verdict.rating.is_some() {
            verdicts.push(verdict);
        }
    });
    CheckedChunk { text: chunk.text, totals, occurrences, verdicts }
}

/// Shows duplicate ads, each with the line of the first, and counts them as rejected.
///
/// # Errors
/// When a temporary file cannot be used, or it cannot be shown.
pub fn show_repetitions(
    repetitions: io::Result<Repetitions>,
    totals: &mut Totals,
    mut show: impl FnMut(&Verdict, u64) -> io::Result<()>,
) -> Result<(), BulkError> {
    for repetition in repetitions.map_err(no_room())? {
        let Repetition { again, first_line, .. } = repetition.map_err(no_room())?;
        totals.rejected += u64::from(!again.is_rejected);
        let findings = vec![repeated_finding(again.place, first_line)];
        show(&Verdict { index: again.index, findings, ..Verdict::default() }, first_line)?;
    }
    Ok(())
}

/// The finding about a payload whose source id is in the file before, on this line.
pub(crate) fn repeated_finding(place: Place, first_line: u64) -> Finding {
    let message = format!("Duplicate source_id (first on line {first_line}): each ad needs its own.");
    Finding { field: Some("source_id".to_owned()), ..Finding::whole(place, vec![message]) }
}

/// The error of the temporary file of the identities.
fn no_room() -> impl Fn(io::Error) -> BulkError {
    BulkError::temporary("for duplicate detection")
}
