//! A whole file, checked by all processors: one thread reads and cuts, the others parse and check, and what they find is put in
//! order again. A fixed number of chunks is under way, so that memory does not depend on the file.

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

use super::{Checker, Finding, Verdict};
use crate::cli::{
    Failure,
    payloads::{Chunk, Chunks, Duplicates, NotPayloads, Seen, Source},
};

/// Most threads that check.
const MOST_THREADS: usize = 16;

/// What came of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Payloads, and what should have been some.
    pub(crate) payloads: u64,
    /// Those that cannot be sent.
    pub(crate) refused: u64,
    /// Those that can, but are odd.
    pub(crate) odd: u64,
}

/// What one chunk came to.
struct Part {
    text: Vec<u8>,
    payloads: u64,
    seen: Vec<Seen>,
    /// Those of which something is to be said.
    verdicts: Vec<Verdict>,
}

/// Checks all payloads of a file. What is to be said is shown in their order; that an ad stands in the file twice, at the end.
///
/// # Errors
/// When the file cannot be read, or what was found cannot be shown.
pub(crate) fn check_file(
    source: Source,
    checker: &Checker,
    mut show: impl FnMut(&Verdict) -> io::Result<()>,
) -> Result<Totals, Failure> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let under_way = threads + 3;
    let mut collected = Collected::default();
    thread::scope(|scope| {
        let (give_back, room) = sync_channel(under_way);
        let (work, todo) = sync_channel(under_way);
        let (tell, told) = sync_channel(under_way);
        let todo = Arc::new(Mutex::new(todo));
        for _ in 0..under_way {
            // There is room for all of them.
            let _ = give_back.send(Vec::new());
        }
        let reader = tell.clone();
        scope.spawn(move || read(Chunks::new(source), &room, &work, &reader));
        for _ in 0..threads {
            let (todo, tell) = (Arc::clone(&todo), tell.clone());
            scope.spawn(move || work_off(checker, &todo, &tell));
        }
        drop(tell);
        let mut waiting = BTreeMap::new();
        let mut next = 0_u64;
        for (number, part) in told {
            waiting.insert(number, part);
            while let Some(part) = waiting.remove(&next) {
                let text = collected.add(part?, &mut show)?;
                // The reader may have come to its end.
                let _ = give_back.send(text);
                next += 1;
            }
        }
        Ok::<_, Failure>(())
    })?;
    collected.end(&mut show)
}

type Told = (u64, Result<Part, NotPayloads>);

/// Cuts the file into chunks, as long as somebody wants them.
fn read(mut chunks: Chunks, room: &Receiver<Vec<u8>>, work: &SyncSender<(u64, Chunk)>, tell: &SyncSender<Told>) {
    for (number, text) in (0..).zip(room) {
        match chunks.next(text) {
            Ok(Some(chunk)) => {
                if work.send((number, chunk)).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                // Nobody waits for it when nobody wants chunks any more.
                let _ = tell.send((number, Err(error)));
                return;
            }
        }
    }
}

fn work_off(checker: &Checker, todo: &Mutex<Receiver<(u64, Chunk)>>, tell: &SyncSender<Told>) {
    loop {
        let next = match todo.lock() {
            Ok(todo) => todo.recv(),
            // Another thread has panicked, and the whole run with it.
            Err(_) => return,
        };
        let Ok((number, chunk)) = next else { return };
        if tell.send((number, Ok(part(checker, chunk)))).is_err() {
            return;
        }
    }
}

/// Checks the payloads of a chunk, which are counted from 0 for now.
fn part(checker: &Checker, chunk: Chunk) -> Part {
    let (mut payloads, mut seen, mut verdicts) = (0, Vec::new(), Vec::new());
    chunk.each(|piece| {
        let (verdict, ad) = checker.check(piece, payloads);
        seen.extend(ad.map(|ad| ad.with_refused(!verdict.is_valid())));
        if !verdict.findings.is_empty() {
            verdicts.push(verdict);
        }
        payloads += 1;
    });
    Part { text: chunk.text, payloads, seen, verdicts }
}

/// What has come of the chunks so far.
#[derive(Default)]
struct Collected {
    totals: Totals,
    duplicates: Duplicates,
}

impl Collected {
    fn add(&mut self, part: Part, show: &mut impl FnMut(&Verdict) -> io::Result<()>) -> Result<Vec<u8>, Failure> {
        let before = self.totals.payloads;
        self.totals.payloads += part.payloads;
        for mut seen in part.seen {
            seen.index += before;
            self.duplicates.add(seen).map_err(|error| no_temporary(&error))?;
        }
        for mut verdict in part.verdicts {
            verdict.index += before;
            if verdict.is_valid() {
                self.totals.odd += 1;
            } else {
                self.totals.refused += 1;
            }
            show(&verdict)?;
        }
        Ok(part.text)
    }

    fn end(mut self, show: &mut impl FnMut(&Verdict) -> io::Result<()>) -> Result<Totals, Failure> {
        for ads in self.duplicates.found().map_err(|error| no_temporary(&error))? {
            let Some((first, others)) = ads.split_first() else { continue };
            for again in others {
                self.totals.refused += u64::from(!again.is_refused);
                show(&twice(first, again))?;
            }
        }
        Ok(self.totals)
    }
}

/// That an ad stands in the file again.
pub(crate) fn twice(first: &Seen, again: &Seen) -> Verdict {
    let message = format!("Duplicate source_id (first on line {}): each ad needs its own.", first.place.line);
    let finding = Finding { field: Some("source_id".to_owned()), ..Finding::whole(again.place, vec![message]) };
    Verdict { index: again.index, findings: vec![finding], ..Verdict::default() }
}

fn no_temporary(error: &io::Error) -> Failure {
    Failure::failed(format!("cannot create a temporary file for duplicate detection: {error}"))
        .hint("set TMPDIR to a folder with free space")
}
