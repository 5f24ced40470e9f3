//! Reads the file and makes jobs of the payloads that are to be sent. Jobs are written to the journal in blocks, with one sync each, before
//! they are sent.

use std::sync::Arc;

use ad_core::{model::ApiVersion, rulebook::size::MOST_BYTES};
use ad_files::{Bits, identities::hash};
use serde_json::{Value, value::RawValue};
use tokio::sync::mpsc::Sender;
use uuid::Uuid;

use super::{
    BulkError, Identity, State,
    job::{Job, JobKind},
    journal::{End, Entry, Past},
    state::{Pending, no_record},
};
use crate::{
    AdOutcome,
    check::Checker,
    payloads::{Chunks, Piece, Source, parse},
};

/// The mode of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Task {
    /// Create the ads that the service does not have yet.
    #[default]
    Create,
    /// Retry failures: rejected ads are sent again, and the service retries the failed steps of the others.
    Failed,
    /// Show the ads that were created hidden.
    Show,
}

/// The decision about an ad by its history.
enum Decision {
    Do(JobKind),
    Follow(Option<Uuid>),
    /// Nothing is left to do.
    Nothing(Option<Uuid>, End),
    Leave,
}

impl Task {
    /// What is to be done with an ad, by its latest entry in the journal.
    fn step(self, latest: Option<Entry>) -> Decision {
        match (self, latest) {
            (Self::Create, None | Some(Entry::NotSent(_)))
            | (Self::Create | Self::Failed, Some(Entry::Rejected { .. } | Entry::Sending(_))) => {
                Decision::Do(JobKind::Create)
            }
            (Self::Failed, Some(Entry::Ended { end: End { outcome: AdOutcome::Failed, .. }, .. })) => {
                Decision::Do(JobKind::Retry)
            }
            // The requests of an accepted ad are processed in order.
            (
                Self::Show,
                Some(Entry::Ended { end: End { outcome: AdOutcome::Hidden, .. }, .. } | Entry::Accepted { .. }),
            ) => Decision::Do(JobKind::Show),
            (_, Some(Entry::Accepted { request_id, .. })) => Decision::Follow(request_id),
            (_, Some(Entry::Ended { request_id, end, .. })) => Decision::Nothing(request_id, end),
            (Self::Failed | Self::Show, _) | (_, Some(Entry::Begun(_))) => Decision::Leave,
        }
    }
}

/// The inputs of the decision about a payload.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) checker: Arc<Checker>,
    /// Which payloads the check has rejected.
    pub(super) rejected: Bits,
    /// The journal, as it was when the import was opened.
    pub(super) past: Past,
    /// How the keys of creates begin, in every run of the import.
    pub(super) keys: Uuid,
    /// How the keys of other requests begin, in this run.
    pub(super) run: Uuid,
    /// Jobs that are written into the journal together.
    pub(super) block: usize,
    pub(super) task: Task,
    /// Maximum number of ads of this run.
    pub(super) limit: u64,
}

impl Feed {
    /// Reads the file to its end, or until no sender takes jobs any more. Blocks.
    pub(super) fn run(mut self, source: Source, jobs: &Sender<Job>, state: &State) -> Result<(), BulkError> {
        let mut chunks = Chunks::new(source);
        let (mut index, mut text) = (0, Vec::new());
        while let Some(chunk) = chunks.next(text)? {
            let (mut found, mut failed) = (Vec::new(), Ok(()));
            chunk.each(|piece| {
                match self.job(piece, index, state) {
                    Ok(job) => found.extend(job),
                    Err(error) => failed = Err(error),
                }
                index += 1;
            });
            failed?;
            text = chunk.text;
            while !found.is_empty() {
                let rest = found.split_off(self.block.min(found.len()));
                let block = std::mem::replace(&mut found, rest);
                if !pass_on(block, jobs, state)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The job of a payload, unless there is nothing to be done.
    fn job(&mut self, piece: Piece<'_>, index: u64, state: &State) -> Result<Option<Job>, BulkError> {
        if self.rejected.contains(index) {
            // Recorded by the check.
            return Ok(None);
        }
        let Ok(object) = parse(piece.text) else { return Ok(None) };
        let Some(ad) = Identity::of(&object) else { return Ok(None) };
        let place = piece.place;
        let latest = self.past.latest(&ad).map_err(no_record())?;
        let is_unclear = matches!(latest, Some(Entry::Sending(_)));
        let kind = match self.task.step(latest) {
            Decision::Do(kind) if self.limit > 0 => kind,
            Decision::Do(_) | Decision::Leave => {
                state.left(index, place, ad);
                return Ok(None);
            }
            Decision::Follow(request_id) => {
                state.accepted(Pending { index, place, ad, request_id });
                return Ok(None);
            }
            Decision::Nothing(request_id, end) => {
                state.ended_before(Pending { index, place, ad, request_id }, end);
                return Ok(None);
            }
        };
        self.limit -= 1;
        let vehicle_type = self.checker.category(&object).and_then(|category| category.vehicle_type);
        let vehicle_type = vehicle_type.filter(|_| self.checker.version == ApiVersion::V4);
        let body = match std::str::from_utf8(piece.text) {
            Ok(text) if text.len() <= MOST_BYTES => RawValue::from_string(text.to_owned()),
            _ => RawValue::from_string(Value::Object(object).to_string()),
        };
        // What was parsed is JSON.
        let Ok(body) = body else { return Ok(None) };
        let keys = if kind == JobKind::Create { self.keys } else { self.run };
        let key = format!("{keys}-{}", Uuid::from_bytes(hash(&ad.source_id, ad.dealer_code.as_deref())));
        let text = piece.text.to_owned();
        Ok(Some(Job { index, ad, vehicle_type, body, text, place, kind, key, is_unclear }))
    }
}

/// Writes a block to the journal and passes it to the senders; `false` when there are none left.
fn pass_on(block: Vec<Job>, jobs: &Sender<Job>, state: &State) -> Result<bool, BulkError> {
    if state.stop.is_cancelled() {
        return Ok(false);
    }
    // Other jobs can be repeated safely.
    let created = block.iter().filter(|job| job.kind == JobKind::Create);
    let entries: Vec<_> = created.map(|job| Entry::Sending(job.ad.clone())).collect();
    if entries.is_empty() {
        state.journal.check()?;
    } else {
        state.journal.write_durably(&entries)?;
    }
    let mut block = block.into_iter();
    for job in block.by_ref() {
        if let Err(unsent) = jobs.blocking_send(job) {
            std::iter::once(unsent.0).chain(block).for_each(|job| state.not_sent(job));
            return Ok(false);
        }
    }
    Ok(true)
}
