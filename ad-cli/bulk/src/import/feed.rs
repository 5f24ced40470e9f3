//! Reads the file and makes jobs of the payloads that are to be sent.

use ad_core::{model::ApiVersion, rulebook::size::MOST_BYTES};
use serde_json::{Value, value::RawValue};
use tokio::sync::mpsc::Sender;
use uuid::Uuid;

use super::{
    BulkError, Identity, State,
    journal::{End, Entry},
    send::{Job, JobKind},
};
use crate::{
    AdOutcome,
    payloads::{Piece, parse},
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Do(JobKind),
    /// The service has it; wait for the outcome.
    Follow,
    /// The outcome is known, and nothing is left to do.
    Nothing,
    /// This task does not concern the ad.
    Leave,
}

impl Task {
    /// What is to be done with an ad, by its latest entry in the journal.
    pub(super) fn step(self, latest: Option<&Entry>) -> Decision {
        match (self, latest) {
            (Self::Create, None) | (Self::Create | Self::Failed, Some(Entry::Rejected(_))) => {
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
            (_, Some(Entry::Accepted { .. })) => Decision::Follow,
            (_, Some(Entry::Ended { .. })) => Decision::Nothing,
            _ => Decision::Leave,
        }
    }
}

/// The inputs of the decision about a payload.
#[derive(Debug)]
pub(super) struct Feed {
    /// How the keys of creates begin, in every run of the import.
    pub(super) keys: Uuid,
    /// How the keys of other requests begin, in this run.
    pub(super) run: Uuid,
    /// Whether there was an earlier run.
    pub(super) is_resumed: bool,
    /// Maximum number of ads of this run.
    pub(super) limit: u64,
}

impl Feed {
    /// Reads the file to its end, or until the import stops. Blocks.
    pub(super) fn run(mut self, jobs: &Sender<Job>, state: &State) -> Result<(), BulkError> {
        let mut index = 0;
        state.input.each(|piece| {
            if state.stop.is_cancelled() {
                return Err(BulkError::Interrupted);
            }
            let job = self.job(piece, index, state)?;
            index += 1;
            state.reached(index);
            job.map_or(Ok(()), |job| jobs.blocking_send(job).map_err(|_| BulkError::Interrupted))
        })
    }

    /// The job of a payload, unless there is nothing to be done.
    fn job(&mut self, piece: Piece<'_>, index: u64, state: &State) -> Result<Option<Job>, BulkError> {
        if state.rejected.contains(index) {
            return Ok(None);
        }
        let Ok(object) = parse(piece.text) else { return Ok(None) };
        let Some(ad) = Identity::of(&object) else { return Ok(None) };
        let latest = state.journal.latest(&ad)?;
        let kind = match state.task.step(latest.as_ref().map(|(_, entry)| entry)) {
            Decision::Do(kind) if self.limit > 0 => kind,
            Decision::Do(_) | Decision::Leave => return Ok(None),
            Decision::Follow | Decision::Nothing => {
                if let Some((at, entry)) = &latest {
                    state.known(*at, entry);
                }
                return Ok(None);
            }
        };
        self.limit -= 1;
        let vehicle_type = state.checker.category(&object).and_then(|category| category.vehicle_type);
        let vehicle_type = vehicle_type.filter(|_| state.checker.version == ApiVersion::V4);
        let body = match std::str::from_utf8(piece.text) {
            Ok(text) if text.len() <= MOST_BYTES => RawValue::from_string(text.to_owned()),
            _ => RawValue::from_string(Value::Object(object).to_string()),
        };
        // What was parsed is JSON.
        let Ok(body) = body else { return Ok(None) };
        let keys = if kind == JobKind::Create { self.keys } else { self.run };
        let key = format!("{keys}-{}", Uuid::from_bytes(ad.hash()));
        let may_exist = self.is_resumed && kind == JobKind::Create && latest.is_none();
        Ok(Some(Job { ad, vehicle_type, body, text: piece.text.to_owned(), place: piece.place, kind, key, may_exist }))
    }
}
