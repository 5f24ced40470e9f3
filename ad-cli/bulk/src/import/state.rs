//! The state that the tasks of an import share: its input, the journal, what is pending, and whether to stop.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use ad_core::{fields::FieldErrors, lock::locked};
use ad_files::Bits;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    BulkError, Identity, Input, Task,
    journal::{End, Entry, Journal, Rejection},
    send::{Job, JobKind},
};
use crate::check::Checker;

/// Numbers of ads so far, those of earlier runs included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ads that the service has accepted.
    pub sent: u64,
    /// Published, or stored without being published as requested.
    pub published: u64,
    /// Ads that were rejected, or failed later.
    pub failed: u64,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) input: Input,
    pub(super) checker: Checker,
    pub(super) journal: Journal,
    pub(super) task: Task,
    /// Where the entries of this run begin in the journal.
    pub(super) start: u64,
    /// Whether to wait for the outcomes of accepted ads.
    pub(super) waits: bool,
    /// Which payloads the check has rejected.
    pub(super) rejected: Bits,
    /// Those of them that repeat a source id, with the line of the first.
    pub(super) repeated: Vec<(u64, u64)>,
    /// Stops all tasks of the import.
    pub(super) stop: CancellationToken,
    /// Cancelled once nothing more is sent.
    pub(super) all_sent: CancellationToken,
    pub(super) progress: Mutex<Progress>,
}

/// How far an import is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    counts: Counts,
    /// Payloads that were read to be sent.
    reached: u64,
    /// Where the entries of accepted ads without an outcome are in the journal, the one that has waited the longest first.
    pending: VecDeque<u64>,
    /// Ads that the service may or may not have accepted.
    unclear: Vec<Identity>,
    /// The first reason for stopping.
    failure: Option<BulkError>,
}

impl State {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        locked(&self.progress)
    }

    /// Stops all tasks, and records why.
    pub(super) fn fail(&self, error: impl Into<BulkError>) {
        self.progress().failure.get_or_insert(error.into());
        self.stop.cancel();
    }

    /// Waits for a while, or until the import stops or has sent everything.
    pub(super) async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.stop.cancelled() => {}
            () = self.all_sent.cancelled(), if !self.all_sent.is_cancelled() => {}
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.progress().counts
    }

    /// Takes the reason for stopping.
    pub(super) fn failure(&self) -> Option<BulkError> {
        self.progress().failure.take()
    }

    /// Records how many payloads were read to be sent.
    pub(super) fn reached(&self, payloads: u64) {
        self.progress().reached = payloads;
    }

    /// How many payloads were read to be sent, and the ads that the service may or may not have accepted.
    pub(super) fn unfinished(&self) -> (u64, Vec<Identity>) {
        let progress = self.progress();
        (progress.reached, progress.unclear.clone())
    }

    /// Takes the ads that have been pending the longest, with the ids of their requests, and where their entries are.
    pub(super) fn pending(&self, most: usize) -> Result<Vec<(u64, Identity, Option<Uuid>)>, BulkError> {
        let taken: Vec<u64> = {
            let pending = &mut self.progress().pending;
            let most = most.min(pending.len());
            pending.drain(..most).collect()
        };
        let mut ads = Vec::new();
        for at in taken {
            if let Entry::Accepted { ad, request_id } = self.journal.entry(at)? {
                ads.push((at, ad, request_id));
            }
        }
        Ok(ads)
    }

    /// Puts an ad behind the others that are pending.
    pub(super) fn put_back(&self, at: u64) {
        self.progress().pending.push_back(at);
    }

    /// Counts an ad that the service has, from this run or an earlier one, by its entry in the journal.
    pub(super) fn known(&self, at: u64, entry: &Entry) {
        let mut progress = self.progress();
        progress.counts.sent += 1;
        match entry {
            Entry::Ended { end, .. } => progress.counts.end(end),
            _ if self.waits => progress.pending.push_back(at),
            _ => {}
        }
    }

    /// Writes an entry; if that fails, the import stops.
    fn write(&self, entry: &Entry) -> Option<u64> {
        self.journal.write(entry).map_err(|error| self.fail(error)).ok()
    }

    /// Records an ad that was accepted now.
    pub(super) fn sent(&self, job: Job, request_id: Option<Uuid>) {
        let entry = Entry::Accepted { ad: job.ad, request_id };
        match self.write(&entry) {
            Some(at) => self.known(at, &entry),
            None => self.progress().unclear.extend(entry.ad().cloned()),
        }
    }

    pub(super) fn rejected(&self, job: Job, message: String, errors: Option<FieldErrors>) {
        let rejection = Rejection { ad: job.ad, message, errors };
        let is_create = job.kind == JobKind::Create;
        self.write(&if is_create { Entry::Rejected(rejection) } else { Entry::Refused(rejection) });
        self.progress().counts.failed += 1;
    }

    /// Records an ad that the service may or may not have accepted.
    pub(super) fn unclear(&self, job: Job) {
        self.progress().unclear.push(job.ad);
    }

    pub(super) fn ended(&self, ad: Identity, request_id: Option<Uuid>, end: End) {
        self.progress().counts.end(&end);
        self.write(&Entry::Ended { ad, request_id, end });
    }
}

impl Counts {
    fn end(&mut self, end: &End) {
        *if end.outcome.is_good() { &mut self.published } else { &mut self.failed } += 1;
    }
}
