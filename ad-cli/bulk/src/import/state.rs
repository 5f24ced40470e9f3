//! The state that the tasks of an import share: the journal, pending ads, results, and whether to stop.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use ad_core::{fields::FieldErrors, lock::locked};
use ad_files::{Place, spool::Queue};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    BulkError, Identity,
    job::{Job, JobKind},
    journal::{End, Entry, Journal},
    records::{Collected, Record, Records},
};
use crate::{
    AdOutcome,
    check::{Checker, Finding, Severity, Verdict},
    payloads::Piece,
};

/// Ads so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted by the service.
    pub sent: u64,
    /// Published, or stored without being published as requested.
    pub published: u64,
    /// Rejected, or failed later.
    pub failed: u64,
}

/// An accepted ad whose outcome is not known yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) index: u64,
    pub(super) place: Place,
    pub(super) ad: Identity,
    pub(super) request_id: Option<Uuid>,
}

impl Pending {
    fn record(self, outcome: AdOutcome) -> Record {
        Record { request_id: self.request_id, ..Record::new(self.index, self.place, Some(self.ad), outcome) }
    }
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) journal: Journal,
    pub(super) checker: Arc<Checker>,
    /// Stops all tasks of the import.
    pub(super) stop: CancellationToken,
    /// Whether to wait for the outcomes of accepted ads.
    waits: bool,
    /// Cancelled once nothing more is sent.
    pub(super) all_sent: CancellationToken,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    counts: Counts,
    pending: Queue<Pending>,
    records: Collected,
    /// The first reason for stopping.
    failure: Option<BulkError>,
}

impl State {
    pub(super) fn new(journal: Journal, checker: Arc<Checker>, waits: bool) -> Self {
        Self {
            journal,
            checker,
            stop: CancellationToken::new(),
            waits,
            all_sent: CancellationToken::new(),
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        locked(&self.inner)
    }

    /// Stops all tasks, and records why.
    pub(super) fn fail(&self, error: impl Into<BulkError>) {
        self.inner().failure.get_or_insert(error.into());
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
        self.inner().counts
    }

    /// The reason for stopping, and all records. Pending ads count as unfinished.
    pub(super) fn end(&self) -> (Option<BulkError>, io::Result<Records>) {
        let mut inner = std::mem::take(&mut *self.inner());
        let records = || {
            while let Some(pending) = inner.pending.pop()? {
                inner.records.add(&pending.record(AdOutcome::UnderWay))?;
            }
            inner.records.in_order()
        };
        (inner.failure, records())
    }

    /// Takes the ads that have been pending the longest.
    pub(super) fn pending(&self, most: usize) -> io::Result<Vec<Pending>> {
        let mut inner = self.inner();
        let mut taken = Vec::new();
        while taken.len() < most
            && let Some(pending) = inner.pending.pop()?
        {
            taken.push(pending);
        }
        Ok(taken)
    }

    /// Puts an ad behind the others that are pending.
    pub(super) fn put_back(&self, pending: &Pending) {
        let put = self.inner().pending.push(pending);
        self.kept(put);
    }

    /// Stops the import if a temporary file cannot be used.
    fn kept(&self, result: io::Result<()>) {
        if let Err(error) = result {
            self.fail(no_record()(error));
        }
    }

    fn record(&self, record: &Record) {
        let added = self.inner().records.add(record);
        self.kept(added);
    }

    /// Records a payload that is not sent because of its errors.
    pub(super) fn invalid(&self, verdict: &Verdict) {
        let Some(place) = verdict.findings.first().map(|finding| finding.place) else { return };
        let ad = verdict.source_id.clone().map(|source_id| Identity { source_id, dealer_code: None });
        let findings: Vec<_> = verdict.findings.iter().filter(|it| it.severity == Severity::Error).cloned().collect();
        let message = Some(findings.iter().map(Finding::text).collect::<Vec<_>>().join(" "));
        let record = Record::new(verdict.index, place, ad, AdOutcome::Rejected);
        self.record(&Record { message, findings, is_invalid: true, ..record });
    }

    /// Records an ad that the service has, from this run or an earlier one.
    pub(super) fn accepted(&self, pending: Pending) {
        self.inner().counts.sent += 1;
        if self.waits {
            self.put_back(&pending);
        } else {
            self.record(&pending.record(AdOutcome::Accepted));
        }
    }

    /// Records an ad that this run does not handle.
    pub(super) fn left(&self, index: u64, place: Place, ad: Identity) {
        self.record(&Record::new(index, place, Some(ad), AdOutcome::NotSent));
    }

    /// Records an ad of an earlier run with a known outcome.
    pub(super) fn ended_before(&self, pending: Pending, end: End) {
        self.inner().counts.sent += 1;
        self.end_of(pending, end);
    }

    pub(super) fn ended(&self, pending: Pending, end: End) {
        let (ad, request_id) = (pending.ad.clone(), pending.request_id);
        self.journal.write(Entry::Ended { ad, request_id, end: end.clone() });
        self.end_of(pending, end);
    }

    fn end_of(&self, pending: Pending, end: End) {
        let End { outcome, message, marketplace_ad_id, offer_id, linked } = end;
        {
            let counts = &mut self.inner().counts;
            *if outcome.is_good() { &mut counts.published } else { &mut counts.failed } += 1;
        }
        self.record(&Record { message, marketplace_ad_id, offer_id, linked, ..pending.record(outcome) });
    }

    /// Records an ad that was accepted now.
    pub(super) fn sent(&self, job: Job, request_id: Option<Uuid>) {
        self.journal.write(Entry::Accepted { ad: job.ad.clone(), request_id });
        self.accepted(Pending { index: job.index, place: job.place, ad: job.ad, request_id });
    }

    pub(super) fn rejected(&self, job: Job, message: String, fields: Option<FieldErrors>) {
        // What is there already stays as it was.
        if job.kind == JobKind::Create {
            self.journal.write(Entry::Rejected { ad: job.ad.clone(), message: message.clone() });
        }
        let piece = Piece { text: &job.text, place: job.place, problem: None };
        let findings = fields.map(|fields| self.checker.explain(&fields, piece)).unwrap_or_default();
        self.inner().counts.failed += 1;
        let record = Record::new(job.index, job.place, Some(job.ad), AdOutcome::Rejected);
        self.record(&Record { message: Some(message), findings, ..record });
    }

    pub(super) fn not_sent(&self, job: Job) {
        // Of what may have been sent before that is not known.
        if job.is_unclear {
            return self.unclear(job);
        }
        if job.kind == JobKind::Create {
            self.journal.write(Entry::NotSent(job.ad.clone()));
        }
        self.left(job.index, job.place, job.ad);
    }

    /// Records an ad that the service may or may not have accepted.
    pub(super) fn unclear(&self, job: Job) {
        let message = Some("sent without an answer; resume to find the outcome".to_owned());
        self.record(&Record { message, ..Record::new(job.index, job.place, Some(job.ad), AdOutcome::Unclear) });
    }
}

/// The error of a temporary file of the import.
pub(super) fn no_record() -> impl Fn(io::Error) -> BulkError {
    BulkError::temporary("for the results of the import")
}
