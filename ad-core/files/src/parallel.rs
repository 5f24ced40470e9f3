//! Processes the parts of a file on all processors, with the results in the order of the parts. A fixed number of parts is in memory at
//! the same time.

use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{
        Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

const MOST_THREADS: usize = 16;

/// Works on what `next` reads until it returns `None`, and hands each result to `take`, in order.
///
/// `next` runs on a thread of its own; `worker` makes the function that each of the other threads applies to a part. What `take` returns
/// goes back to `next`, so that memory is used again; `next` gets `None` while there is nothing to use again.
///
/// # Errors
/// The first of `take`, which ends all work.
pub fn in_order<Part: Send, Done: Send, Reuse: Send, Work: FnMut(Part) -> Done, E>(
    mut next: impl FnMut(Option<Reuse>) -> Option<Part> + Send,
    worker: impl Fn() -> Work + Sync,
    mut take: impl FnMut(Done) -> Result<Reuse, E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let under_way = threads + 3;
    thread::scope(|scope| {
        let (give_back, reusable) = sync_channel(under_way);
        let (to_workers, parts) = sync_channel(under_way);
        let (to_caller, results) = sync_channel(under_way);
        let (parts, worker) = (Mutex::new(parts), &worker);
        let parts = std::sync::Arc::new(parts);
        for _ in 0..under_way {
            // The channel has capacity for all of them.
            let _ = give_back.send(None);
        }
        scope.spawn(move || {
            for (number, reuse) in (0_u64..).zip(reusable) {
                let Some(part) = next(reuse) else { return };
                if to_workers.send((number, part)).is_err() {
                    return;
                }
            }
        });
        for _ in 0..threads {
            let (parts, to_caller) = (parts.clone(), to_caller.clone());
            scope.spawn(move || work_off(&parts, worker(), &to_caller));
        }
        drop((parts, to_caller));
        let (mut waiting, mut expected) = (BTreeMap::new(), 0);
        for (number, done) in results {
            waiting.insert(number, done);
            while let Some(done) = waiting.remove(&expected) {
                // The reader may have ended.
                let _ = give_back.send(Some(take(done)?));
                expected += 1;
            }
        }
        Ok(())
    })
}

fn work_off<Part, Done>(
    parts: &Mutex<Receiver<(u64, Part)>>,
    mut work: impl FnMut(Part) -> Done,
    to_caller: &SyncSender<(u64, Done)>,
) {
    loop {
        let next = match parts.lock() {
            Ok(parts) => parts.recv(),
            // Another thread has panicked, which ends the run.
            Err(_) => return,
        };
        let Ok((number, part)) = next else { return };
        if to_caller.send((number, work(part))).is_err() {
            return;
        }
    }
}
