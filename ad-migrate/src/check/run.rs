//! A whole file, by all processors.

use std::{io, sync::Arc};

use ad_cli::bulk::{
    identities::{Identities, Occurrence},
    parallel,
    spool::Spool,
};
use ad_core::rulebook::Rulebook;

use super::{CheckError, Options, Sink, Totals, Verdict, repeated::RepeatedValues, row::RowChecker, totals::Counts};
use crate::{
    mapping::{Bound, Mapping},
    readers::{Batch, Columns, Reader},
};

/// What one batch came to.
struct CheckedBatch {
    /// For its memory.
    batch: Batch,
    /// Bytes of the file that were read then, and all there are.
    progress: (u64, u64),
    /// The verdicts as lines.
    lines: Vec<u8>,
    occurrences: Vec<Occurrence>,
}

/// Checks all rows of a file, and then hands over the verdict of each, in their order.
///
/// A file that cannot be read to its end is checked as far as it can; see [`Totals::unread`].
///
/// # Errors
/// When the temporary files cannot be used, or the sink cannot take what was found.
pub fn run(
    mut reader: Reader,
    mapping: &Mapping,
    rulebook: &Rulebook,
    options: Options,
    sink: &mut impl Sink,
) -> Result<Totals, CheckError> {
    let checker = RowChecker { rulebook, payloads: options.payloads };
    let mut collected = Collected::default();
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
            // XML and JSON tell their columns one by one.
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
    let counts = collected.end(&bound, sink)?;
    drop(bound);
    Ok(Totals { columns, missing, unused, ..counts.end(reader.detected().clone(), unread) })
}

/// What has come of the batches so far.
#[derive(Default)]
struct Collected {
    verdicts: Spool,
    identities: Identities,
    columns: Arc<Columns>,
}

impl Collected {
    fn add(&mut self, checked: CheckedBatch, sink: &mut impl Sink) -> io::Result<Batch> {
        self.verdicts.add(&checked.lines)?;
        checked.occurrences.into_iter().try_for_each(|it| self.identities.add(it))?;
        self.columns = Arc::clone(checked.batch.columns());
        let (read, of) = checked.progress;
        sink.progress(read, of);
        Ok(checked.batch)
    }

    /// Adds what occurs twice, counts, and hands over.
    fn end(mut self, bound: &Bound<'_>, sink: &mut impl Sink) -> Result<Counts, CheckError> {
        let columns_of = |field: &str| bound.columns_of(field).into_iter().map(str::to_owned).collect::<Vec<_>>();
        let mut repeated = RepeatedValues::of(self.identities).map_err(CheckError::Temporary)?;
        let mut counts = Counts::default();
        for verdict in self.verdicts.lines::<Verdict>().map_err(CheckError::Temporary)? {
            let mut verdict = verdict.map_err(CheckError::Temporary)?;
            repeated.add_to(&mut verdict, columns_of).map_err(CheckError::Temporary)?;
            verdict.findings.sort_by_key(|finding| finding.severity);
            if !verdict.is_good() {
                verdict.payload = None;
            }
            counts.add(&verdict);
            sink.verdict(verdict).map_err(CheckError::Sink)?;
        }
        Ok(counts)
    }
}
