//! What the parts of an import share: how far each ad has come, the journal that learns it first, and whether to go on.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    feed::{Act, Job},
    journal::{End, Entry, Identity, Journal},
    outcomes::Pending,
    send::Refusal,
};
use crate::{
    Linked,
    cli::{
        Failure,
        check::{Checker, Finding, Severity, Verdict},
        payloads::{Piece, Place},
    },
};

/// How far one ad of the file has come. Its members are what programs read, so their names stay.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Which payload of the file it is, from 0.
    pub index: u64,
    /// Where it begins.
    #[serde(flatten)]
    pub(crate) place: Place,
    /// The client's reference, where it could be read.
    pub source_id: Option<String>,
    /// The dealer, where the payload names one.
    pub dealer_code: Option<String>,
    /// `published`, `hidden`, `failed`, `refused`, `under_way`, `accepted` (where nobody waits), `not_sent` or `unclear`.
    pub outcome: String,
    /// Why.
    pub message: Option<String>,
    /// What its log calls the request.
    pub request_id: Option<Uuid>,
    /// Its id on the primary marketplace.
    pub marketplace_ad_id: Option<String>,
    /// Its id on the secondary marketplace.
    pub offer_id: Option<String>,
    /// The listings from before to which it was linked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<Linked>,
    /// What is wrong with a refused one, field by field.
    pub(crate) findings: Vec<Finding>,
    /// Whether people were told about it when the file was checked.
    #[serde(skip)]
    pub is_told: bool,
}

impl Record {
    fn new(index: u64, place: Place, ad: Option<Identity>, outcome: &str) -> Self {
        let (source_id, dealer_code) = ad.map_or((None, None), |ad| (Some(ad.source_id), ad.dealer_code));
        Self {
            index,
            place,
            source_id,
            dealer_code,
            outcome: outcome.to_owned(),
            message: None,
            request_id: None,
            marketplace_ad_id: None,
            offer_id: None,
            linked: Vec::new(),
            findings: Vec::new(),
            is_told: false,
        }
    }

    /// Whether people should see it in the end. What an import that was `cut_short` did not come to is a number, no news.
    pub(super) fn is_news(&self, cut_short: bool) -> bool {
        match self.outcome.as_str() {
            "not_sent" => false,
            "under_way" => !cut_short,
            _ => !self.is_told && (!self.is_good() || self.message.is_some()),
        }
    }

    /// Whether it has come to what one wants.
    pub(super) fn is_good(&self) -> bool {
        matches!(self.outcome.as_str(), "published" | "hidden" | "deleted" | "accepted")
    }
}

/// Ads so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Accepted by the service.
    pub(super) sent: u64,
    /// Published, or stored as they were not to be published.
    pub(super) published: u64,
    /// Refused, or failed later.
    pub(super) failed: u64,
}

/// What the parts share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) journal: Journal,
    pub(super) checker: Arc<Checker>,
    /// What is told of an ad that was accepted, as long as nothing else is.
    accepted: &'static str,
    stopping: AtomicBool,
    sending: AtomicBool,
    changed: Notify,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    counts: Counts,
    pending: VecDeque<Pending>,
    records: BTreeMap<u64, Record>,
    /// What stopped it, the first of all.
    failure: Option<Failure>,
}

impl State {
    /// Of an import that waits for what becomes of accepted ads, or not.
    pub(super) fn new(journal: Journal, checker: Arc<Checker>, waits: bool) -> Self {
        Self {
            journal,
            checker,
            accepted: if waits { "under_way" } else { "accepted" },
            stopping: AtomicBool::new(false),
            sending: AtomicBool::new(true),
            changed: Notify::new(),
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked with it left nothing half done: every change is one assignment or insertion.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks everybody to come to an end.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// The same, for a reason.
    pub(super) fn fail(&self, failure: Failure) {
        self.inner().failure.get_or_insert(failure);
        self.stop();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Notes that nothing more is sent.
    pub(super) fn all_sent(&self) {
        self.sending.store(false, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(super) fn is_sending(&self) -> bool {
        self.sending.load(Ordering::SeqCst)
    }

    /// Waits for a while, or until everybody is to come to an end or nothing more is sent.
    pub(super) async fn pause(&self, pause: Duration) {
        let changed = self.changed.notified();
        if self.is_stopping() {
            return;
        }
        let _ = tokio::time::timeout(pause, changed).await;
    }

    pub(super) fn counts(&self) -> Counts {
        self.inner().counts
    }

    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.inner().failure.take()
    }

    pub(super) fn take_records(&self) -> BTreeMap<u64, Record> {
        std::mem::take(&mut self.inner().records)
    }

    /// The ads longest without an outcome.
    pub(super) fn pending(&self, most: usize, text: usize) -> Vec<Pending> {
        let mut inner = self.inner();
        let (mut taken, mut length) = (Vec::new(), 0);
        while let Some(next) = inner.pending.front() {
            length += next.ad.source_id.len() + 3;
            if taken.len() >= most || (length > text && !taken.is_empty()) {
                break;
            }
            taken.extend(inner.pending.pop_front());
        }
        taken
    }

    pub(super) fn put_back(&self, pending: Vec<Pending>) {
        self.inner().pending.extend(pending);
    }

    /// A payload that is not sent because of what is wrong with it.
    pub(super) fn invalid(&self, verdict: &Verdict) {
        let Some(place) = verdict.findings.first().map(|finding| finding.place) else { return };
        let ad = verdict.source_id.clone().map(|source_id| Identity { source_id, dealer_code: None });
        let findings: Vec<_> = verdict.findings.iter().filter(|it| it.severity == Severity::Error).cloned().collect();
        let message = findings.iter().map(told).collect::<Vec<_>>().join(" ");
        let mut inner = self.inner();
        let record =
            inner.records.entry(verdict.index).or_insert_with(|| Record::new(verdict.index, place, ad, "refused"));
        record.message = Some(record.message.take().map_or(message.clone(), |before| format!("{before} {message}")));
        record.findings.extend(findings);
        record.is_told = true;
    }

    /// An ad that the service has, from this run or an earlier one.
    pub(super) fn accepted(&self, index: u64, place: Place, ad: Identity, request_id: Option<Uuid>) {
        let mut inner = self.inner();
        let record = Record::new(index, place, Some(ad.clone()), self.accepted);
        inner.records.insert(index, Record { request_id, ..record });
        inner.counts.sent += 1;
        inner.pending.push_back(Pending { index, ad, request_id });
    }

    /// An ad that is not part of what is done now.
    pub(super) fn left(&self, index: u64, place: Place, ad: Identity) {
        self.inner().records.insert(index, Record::new(index, place, Some(ad), "not_sent"));
    }

    /// An ad of an earlier run about which all is known.
    pub(super) fn accepted_and_ended(
        &self,
        index: u64,
        place: Place,
        ad: Identity,
        request_id: Option<Uuid>,
        end: End,
    ) {
        let mut inner = self.inner();
        let record = Record::new(index, place, Some(ad), self.accepted);
        inner.records.insert(index, Record { request_id, ..record });
        inner.counts.sent += 1;
        inner.end(index, end);
    }

    /// An ad whose request has come to an end.
    pub(super) fn ended(&self, index: u64, ad: Identity, end: End) {
        self.journal.write(Entry::Ended { ad, end: end.clone() });
        self.inner().end(index, end);
    }

    /// An ad that was accepted just now.
    pub(super) fn sent(&self, job: Job, request_id: Option<Uuid>) {
        self.journal.write(Entry::Accepted { ad: job.ad.clone(), request_id });
        self.accepted(job.index, job.place, job.ad, request_id);
    }

    /// An ad that the service refused.
    pub(super) fn refused(&self, job: Job, refusal: Refusal) {
        // What is there already stays as it was.
        if job.act == Act::Create {
            self.journal.write(Entry::Refused { ad: job.ad.clone(), message: refusal.message.clone() });
        }
        let piece = Piece { text: &job.text, place: job.place, problem: None };
        let findings = refusal.fields.map(|fields| self.checker.explain(&fields, piece)).unwrap_or_default();
        let record = Record::new(job.index, job.place, Some(job.ad), "refused");
        let mut inner = self.inner();
        inner.records.insert(job.index, Record { message: Some(refusal.message), findings, ..record });
        inner.counts.failed += 1;
    }

    /// An ad that was to be sent and was not.
    pub(super) fn not_sent(&self, job: Job) {
        // Of what may have been sent before that is not known.
        if job.is_unclear {
            return self.unclear(job);
        }
        if job.act == Act::Create {
            self.journal.write(Entry::NotSent(job.ad.clone()));
        }
        let record = Record::new(job.index, job.place, Some(job.ad), "not_sent");
        self.inner().records.insert(job.index, record);
    }

    /// An ad of which nobody knows whether the service has it.
    pub(super) fn unclear(&self, job: Job) {
        let record = Record::new(job.index, job.place, Some(job.ad), "unclear");
        let message = Some("sent without an answer; resume to find the outcome".to_owned());
        self.inner().records.insert(job.index, Record { message, ..record });
    }
}

impl Inner {
    fn end(&mut self, index: u64, end: End) {
        let Some(record) = self.records.get_mut(&index) else { return };
        record.outcome = end.outcome;
        record.message = end.message;
        record.marketplace_ad_id = end.marketplace_ad_id;
        record.offer_id = end.offer_id;
        record.linked = end.linked;
        if record.is_good() {
            self.counts.published += 1;
        } else {
            self.counts.failed += 1;
        }
    }
}

/// `category_fields.brand: "wolvo" is not a valid choice.`
fn told(finding: &Finding) -> String {
    let messages = finding.messages.join(" ");
    finding.field.as_ref().map_or(messages.clone(), |field| format!("{field}: {messages}"))
}
