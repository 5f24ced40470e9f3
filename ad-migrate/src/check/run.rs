//! Checks a whole file, on all processors.

use std::{io, sync::Arc};

use ad_core::{model::Timestamp, rulebook::Rulebook};
use ad_files::{
    identities::{Identities, Occurrence},
    parallel,
    spool::Spool,
};

use super::{
    CheckError, Payloads, Sink, Totals, Verdict, doubts, profile::Profiles, repeated::RepeatedValues, row::RowChecker,
    totals::Counts,
};
use crate::{
    mapping::{Bound, Mapping},
    readers::{Batch, Columns, Reader},
};

struct CheckedBatch {
    /// The batch, whose memory is reused.
    batch: Batch,
    /// Bytes of the file read by then, and its size.
    progress: (u64, u64),
    /// The verdicts, serialised as lines.
    lines: Vec<u8>,
    occurrences: Vec<Occurrence>,
}

/// Checks all rows of a file, and then passes the verdicts to the sink, in the order of the rows.
///
/// `now` is the time by which the quality of the ads is measured: some findings depend on their age.
///
/// A file that cannot be read to its end is checked as far as possible; see [`Totals::unread`].
///
/// # Errors
/// When the temporary files cannot be used, or the sink cannot store the verdicts.
pub fn run(
    mut reader: Reader,
    mapping: &Mapping,
    rulebook: &Rulebook,
    payloads: Payloads,
    now: Timestamp,
    sink: &mut impl Sink,
) -> Result<Totals, CheckError> {
    let checker = RowChecker { rulebook, payloads, now, year: doubts::year_of(now) };
    let mut collected = Collected { profiles: payloads.with_sources().then(Profiles::default), ..Collected::default() };
    let mut unread = None;
    let next = |reuse: Option<Batch>| match reader.next(reuse) {
        Ok(batch) => batch.map(|batch| (batch, reader.progress())),
        Err(error) => {
            unread = Some(error);
            None
        }
    };
    let worker = || {
        let mut bound: Option<(Arc<Columns>, Bound<'_>)> = None;
        move |(batch, progress): (Batch, (u64, u64))| {
            // The columns of XML and JSON become known one by one.
            let (_, bound) = match bound.take().filter(|(columns, _)| Arc::ptr_eq(columns, batch.columns())) {
                Some(known) => bound.insert(known),
                None => bound.insert((Arc::clone(batch.columns()), mapping.bind(batch.columns()))),
            };
            let (mut lines, mut occurrences) = (Vec::new(), Vec::new());
            for row in batch.rows() {
                let verdict = checker.check(bound, row, |it| occurrences.push(it));
                serde_json::to_writer(&mut lines, &verdict)
                    .expect("memory takes everything, and all keys of a verdict are texts");
                lines.push(b'\n');
            }
            CheckedBatch { batch, progress, lines, occurrences }
        }
    };
    parallel::in_order(next, worker, |checked| collected.add(checked, sink)).map_err(CheckError::Temporary)?;
    let columns = Arc::clone(&collected.columns);
    let bound = mapping.bind(&columns);
    let (missing, unused) = (bound.missing(), bound.unused());
    let profiles = collected.profiles.take().map(|profiles| profiles.end(columns.names())).unwrap_or_default();
    let mut counts = Counts::new(reader.detected().clone());
    collected.end(&bound, payloads.with_invalid(), &mut counts, sink)?;
    drop(bound);
    Ok(Totals { profiles, columns, missing, unused, unread, ..counts.end() })
}

/// The results of the batches so far.
#[derive(Default)]
struct Collected {
    verdicts: Spool,
    identities: Identities,
    columns: Arc<Columns>,
    profiles: Option<Profiles>,
}

impl Collected {
    fn add(&mut self, checked: CheckedBatch, sink: &mut impl Sink) -> io::Result<Batch> {
        self.verdicts.add(&checked.lines)?;
        checked.occurrences.into_iter().try_for_each(|it| self.identities.add(it))?;
        self.columns = Arc::clone(checked.batch.columns());
        if let Some(profiles) = &mut self.profiles {
            profiles.add(&checked.batch);
        }
        let (read, of) = checked.progress;
        sink.progress(read, of);
        Ok(checked.batch)
    }

    /// Adds repetitions, counts the verdicts, and passes them on.
    fn end(
        mut self,
        bound: &Bound<'_>,
        with_invalid: bool,
        counts: &mut Counts,
        sink: &mut impl Sink,
    ) -> Result<(), CheckError> {
        let mut repeated = RepeatedValues::of(self.identities).map_err(CheckError::Temporary)?;
        for verdict in self.verdicts.lines::<Verdict>().map_err(CheckError::Temporary)? {
            let mut verdict = verdict.map_err(CheckError::Temporary)?;
            if verdict.skipped {
                counts.skip();
                continue;
            }
            repeated.add_to(&mut verdict, |field| bound.columns_of(field)).map_err(CheckError::Temporary)?;
            verdict.findings.sort_by_key(|finding| finding.severity);
            if !verdict.is_valid() {
                (verdict.source, verdict.quality, verdict.figures) = (None, None, None);
                verdict.payload = verdict.payload.filter(|_| with_invalid);
                verdict.made_of.clear();
            }
            counts.add(&verdict);
            sink.verdict(verdict).map_err(CheckError::Sink)?;
        }
        Ok(())
    }
}
