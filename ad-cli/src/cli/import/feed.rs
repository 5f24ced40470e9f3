//! The payloads on their way out of the file: those that are to be sent become jobs, which are written into the journal in blocks, one
//! wait for the disk each, before anybody can send them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use ad_core::{ad::ApiVersion, payload::MOST_BYTES};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc::Sender;

use super::{
    State,
    journal::{Entry, Identity, Known},
};
use crate::cli::{
    Failure,
    check::Checker,
    payloads::{Chunks, Piece, Place, Source, parse},
};

/// One ad to be sent.
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
        let is_unclear = match self.known.remove(&ad) {
            None => false,
            Some(Known::Unclear) => true,
            Some(Known::Accepted(request_id)) => {
                state.accepted(index, piece.place, ad, request_id);
                return None;
            }
            Some(Known::Ended(request_id, end)) => {
                state.accepted_and_ended(index, piece.place, ad, request_id, end);
                return None;
            }
        };
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
        Some(Job { index, ad, vehicle_type, body, text: piece.text.to_owned(), place: piece.place, is_unclear })
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
    let entries: Vec<_> = block.iter().map(|job| Entry::Sending(job.ad.clone())).collect();
    state.journal.write_durably(&entries)?;
    let mut block = block.into_iter();
    for job in block.by_ref() {
        if let Err(unsent) = jobs.blocking_send(job) {
            std::iter::once(unsent.0).chain(block).for_each(|job| state.not_sent(job));
            return Ok(false);
        }
    }
    Ok(true)
}
