//! The payloads on their way out of the file: those that are to be sent become jobs, which are written into the journal in blocks, one
//! wait for the disk each, before anybody can send them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use ad_core::{model::ApiVersion, rulebook::size::MOST_BYTES};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc::Sender;
use uuid::Uuid;

use super::{
    State,
    journal::{End, Entry, Identity, Known},
};
use crate::cli::{
    Failure,
    check::Checker,
    payloads::{Chunks, Piece, Place, Source, parse},
};

/// What is done with the ads of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Task {
    /// Those that the service does not have yet are created.
    #[default]
    Create,
    /// What failed is done again: refused ones are sent again, and of those that could not be published the service does again what it
    /// left undone.
    Failed,
    /// Those that were created hidden are shown.
    Show,
}

/// What is done with one ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// It is created, which happens once.
    Create,
    /// The service does again what it left undone.
    Retry,
    /// It becomes visible.
    Show,
}

/// What an ad's past means for it.
enum Step {
    Do(Act),
    /// Find out whether it is there; if not, create it.
    LookAndCreate,
    Follow(Option<Uuid>),
    Nothing(Option<Uuid>, End),
    Leave,
}

impl Task {
    fn step(self, known: Option<Known>) -> Step {
        match (self, known) {
            (Self::Create, None | Some(Known::Refused)) | (Self::Failed, Some(Known::Refused)) => Step::Do(Act::Create),
            (Self::Create | Self::Failed, Some(Known::Unclear)) => Step::LookAndCreate,
            (Self::Failed, Some(Known::Ended(_, end))) if end.is_failure() => Step::Do(Act::Retry),
            (Self::Show, Some(Known::Ended(_, end))) if end.is_hidden() => Step::Do(Act::Show),
            // Its requests are worked off in their order.
            (Self::Show, Some(Known::Accepted(_))) => Step::Do(Act::Show),
            (_, Some(Known::Accepted(request_id))) => Step::Follow(request_id),
            (_, Some(Known::Ended(request_id, end))) => Step::Nothing(request_id, end),
            (Self::Failed, None) | (Self::Show, None | Some(Known::Unclear | Known::Refused)) => Step::Leave,
        }
    }
}

/// One ad with which something is done.
#[derive(Debug)]
pub(super) struct Job {
    /// Which payload of the file it is.
    pub(super) index: u64,
    /// Which ad.
    pub(super) ad: Identity,
    /// The vehicle type of its path; `None` on `/v3/ad`.
    pub(super) vehicle_type: Option<&'static str>,
    /// What is sent.
    pub(super) body: Box<RawValue>,
    /// As it stands in the file, and where.
    pub(super) text: Vec<u8>,
    pub(super) place: Place,
    /// What is done.
    pub(super) act: Act,
    /// Whether an earlier run may have sent it.
    pub(super) is_unclear: bool,
}

/// What decides what becomes of a payload.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) checker: Arc<Checker>,
    /// Payloads that must not be sent.
    pub(super) refused: HashSet<u64>,
    /// What earlier runs did.
    pub(super) known: HashMap<Identity, Known>,
    /// Jobs that are written into the journal together.
    pub(super) block: usize,
    /// What is done.
    pub(super) task: Task,
    /// With so many ads at most; the others wait for another run.
    pub(super) limit: u64,
}

impl Feed {
    /// Goes through the file until its end, or until nobody takes jobs any more. It blocks.
    pub(super) fn run(mut self, source: Source, jobs: &Sender<Job>, state: &State) -> Result<(), Failure> {
        let mut chunks = Chunks::new(source);
        let (mut index, mut text) = (0, Vec::new());
        while let Some(chunk) = chunks.next(text)? {
            let mut found = Vec::new();
            chunk.each(|piece| {
                found.extend(self.job(piece, index, state));
                index += 1;
            });
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
    fn job(&mut self, piece: Piece<'_>, index: u64, state: &State) -> Option<Job> {
        if self.refused.contains(&index) {
            return None;
        }
        let object = parse(piece.text).ok()?;
        let ad = identity(&object)?;
        let (act, is_unclear) = match self.task.step(self.known.remove(&ad)) {
            Step::Do(act) => (act, false),
            Step::LookAndCreate => (Act::Create, true),
            Step::Follow(request_id) => {
                state.accepted(index, piece.place, ad, request_id);
                return None;
            }
            Step::Nothing(request_id, end) => {
                state.accepted_and_ended(index, piece.place, ad, request_id, end);
                return None;
            }
            Step::Leave => {
                state.left(index, piece.place, ad);
                return None;
            }
        };
        if self.limit == 0 {
            state.left(index, piece.place, ad);
            return None;
        }
        self.limit -= 1;
        let vehicle_type = match self.checker.version {
            ApiVersion::V3 => None,
            ApiVersion::V4 => Some(self.checker.category(&object)?.vehicle_type?),
        };
        let compact = || Value::Object(object.clone()).to_string();
        let body = match std::str::from_utf8(piece.text) {
            Ok(text) if text.len() <= MOST_BYTES => text.to_owned(),
            _ => compact(),
        };
        let body = RawValue::from_string(body).ok()?;
        Some(Job { index, ad, vehicle_type, body, text: piece.text.to_owned(), place: piece.place, act, is_unclear })
    }
}

/// Which ad a payload is about.
fn identity(object: &Map<String, Value>) -> Option<Identity> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Identity { source_id: text("source_id")?, dealer_code: text("dealer_code") })
}

/// Writes a block into the journal and hands it over; `false` when nobody takes it.
fn pass_on(block: Vec<Job>, jobs: &Sender<Job>, state: &State) -> Result<bool, Failure> {
    if state.is_stopping() {
        return Ok(false);
    }
    // The others can be done twice.
    let created = block.iter().filter(|job| job.act == Act::Create);
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
