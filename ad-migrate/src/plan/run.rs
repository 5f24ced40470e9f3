//! A whole file, by all processors: one thread reads, the others map and check, and what they find is put in order again. A fixed
//! number of batches is under way, so that memory does not depend on the file.

use std::{
    collections::BTreeMap,
    io,
    num::NonZero,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use ad_core::rulebook::Rulebook;

use super::{
    CheckError, Options, Sink, Totals,
    judge::Judge,
    spool::Spool,
    totals::Counts,
    twice::{Identities, Seen},
};
use crate::{
    mapping::{Bound, Mapping},
    readers::{Batch, Columns, ReadError, Reader},
};

/// Most threads that check.
const MOST_THREADS: usize = 16;

/// A batch, and how far the file was read then.
struct Piece {
    number: u64,
    batch: Batch,
    progress: (u64, u64),
}

/// What one batch came to.
struct Part {
    /// For its memory.
    batch: Batch,
    progress: (u64, u64),
    /// The verdicts, as the spool keeps them.
    lines: Vec<u8>,
    seen: Vec<Seen>,
}

type Told = (u64, Part);

/// Checks all rows of a file, and then tells of each what is to be said, in their order.
///
/// A file that cannot be read to its end is checked as far as it can; see [`Totals::unread`].
///
/// # Errors
/// When the temporary files cannot be used, or the sink cannot take what was found.
pub fn check(
    reader: Reader,
    mapping: &Mapping,
    rulebook: &Rulebook,
    options: Options,
    sink: &mut impl Sink,
) -> Result<Totals, CheckError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let under_way = threads + 3;
    let judge = Judge { rulebook, payloads: options.payloads };
    let mut collected = Collected::default();
    let (reader, unread) = thread::scope(|scope| {
        let (give_back, room) = sync_channel(under_way);
        let (work, todo) = sync_channel(under_way);
        let (tell, told) = sync_channel(under_way);
        let todo = Arc::new(Mutex::new(todo));
        for _ in 0..under_way {
            // There is room for all of them.
            let _ = give_back.send(None);
        }
        let reading = scope.spawn(move || read(reader, &room, &work));
        for _ in 0..threads {
            let (todo, tell) = (Arc::clone(&todo), tell.clone());
            scope.spawn(move || work_off(judge, mapping, &todo, &tell));
        }
        drop((tell, todo));
        let mut waiting = BTreeMap::new();
        let mut next = 0_u64;
        for (number, part) in told {
            waiting.insert(number, part);
            while let Some(part) = waiting.remove(&next) {
                let batch = collected.add(part, sink).map_err(CheckError::Temporary)?;
                // The reader may have come to its end.
                let _ = give_back.send(Some(batch));
                next += 1;
            }
        }
        drop(give_back);
        reading.join().map_err(|_| CheckError::Temporary(io::Error::other("a thread ended early")))
    })?;
    let bound = mapping.bind(&collected.columns);
    let (missing, unused) = (bound.missing(), bound.unused());
    let counts = collected.end(&bound, sink)?;
    Ok(Totals { missing, unused, ..counts.end(reader.detected().clone(), unread) })
}

/// Reads batches, as long as somebody wants them.
fn read(mut reader: Reader, room: &Receiver<Option<Batch>>, work: &SyncSender<Piece>) -> (Reader, Option<ReadError>) {
    for (number, reuse) in (0..).zip(room) {
        match reader.next(reuse) {
            Ok(Some(batch)) => {
                let progress = reader.progress();
                if work.send(Piece { number, batch, progress }).is_err() {
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => return (reader, Some(error)),
        }
    }
    (reader, None)
}

fn work_off(judge: Judge<'_>, mapping: &Mapping, todo: &Mutex<Receiver<Piece>>, tell: &SyncSender<Told>) {
    let mut bound: Option<(Arc<Columns>, Bound<'_>)> = None;
    loop {
        let next = match todo.lock() {
            Ok(todo) => todo.recv(),
            // Another thread has panicked, and the whole run with it.
            Err(_) => return,
        };
        let Ok(Piece { number, batch, progress }) = next else { return };
        // XML and JSON tell their columns one by one.
        let (_, bound) = match bound.take().filter(|(columns, _)| Arc::ptr_eq(columns, batch.columns())) {
            Some(known) => bound.insert(known),
            None => bound.insert((Arc::clone(batch.columns()), mapping.bind(batch.columns()))),
        };
        let (mut lines, mut seen) = (Vec::new(), Vec::new());
        for row in batch.rows() {
            let verdict = judge.judge(bound, row, |it| seen.push(it));
            Spool::line(&verdict, &mut lines);
        }
        if tell.send((number, Part { batch, progress, lines, seen })).is_err() {
            return;
        }
    }
}

/// What has come of the batches so far.
#[derive(Default)]
struct Collected {
    spool: Spool,
    identities: Identities,
    columns: Arc<Columns>,
}

impl Collected {
    fn add(&mut self, part: Part, sink: &mut impl Sink) -> io::Result<Batch> {
        self.spool.add(&part.lines)?;
        part.seen.into_iter().try_for_each(|seen| self.identities.add(seen))?;
        self.columns = Arc::clone(part.batch.columns());
        let (read, of) = part.progress;
        sink.progress(read, of);
        Ok(part.batch)
    }

    /// Adds what occurs twice, counts, and tells.
    fn end(self, bound: &Bound<'_>, sink: &mut impl Sink) -> Result<Counts, CheckError> {
        let columns_of = |field: &str| bound.columns_of(field).into_iter().map(str::to_owned).collect::<Vec<_>>();
        let mut repeated = self.identities.repeated().map_err(CheckError::Temporary)?;
        let mut counts = Counts::default();
        for verdict in self.spool.verdicts().map_err(CheckError::Temporary)? {
            let mut verdict = verdict.map_err(CheckError::Temporary)?;
            repeated.tell(&mut verdict, columns_of).map_err(CheckError::Temporary)?;
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
