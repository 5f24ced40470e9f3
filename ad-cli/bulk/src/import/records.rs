//! The outcome of each payload, in the order of the file: from its latest entry in the journal, or from the check.

use std::sync::Arc;

use ad_client::{FailedImage, Linked};
use ad_files::Place;
use serde::Serialize;
use uuid::Uuid;

use super::{
    BulkError, Identity, State,
    feed::Decision,
    journal::{End, Entry},
};
use crate::{
    AdOutcome,
    check::{Finding, Severity, repeated_finding},
    payloads::{NotPayloads, Piece, parse},
};

/// The outcome of one payload. Programs read its members, so their names are stable.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Record {
    /// Its index in the file, from 0.
    pub index: u64,
    /// Where it begins in the file.
    #[serde(flatten)]
    pub place: Place,
    /// The client's reference, where it could be read.
    pub source_id: Option<String>,
    /// The dealer, where the payload names one.
    pub dealer_code: Option<String>,
    /// The outcome of this run, or of an earlier one if nothing was left to do.
    pub outcome: AdOutcome,
    /// The reason, where there is something to say.
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
    /// The images of a published one that could not be fetched; the message names them too.
    #[serde(skip)]
    pub failed_images: Vec<FailedImage>,
    /// The errors of a rejected one, by field.
    pub findings: Vec<Finding>,
    /// Whether the payload was rejected when the file was checked.
    #[serde(skip)]
    pub is_invalid: bool,
    /// Whether an earlier run has brought it to its outcome, and this one had nothing to do.
    #[serde(skip)]
    pub is_earlier: bool,
}

/// The outcome of each payload; payloads that the import did not reach are missing.
#[derive(Debug)]
pub struct Records(pub(super) Arc<State>);

impl Records {
    /// Shows each of them with the text of its payload, in the order of the file, until one fails.
    ///
    /// # Errors
    /// When the file or the journal cannot be read, and those of `show`.
    pub fn each<E>(&self, mut show: impl FnMut(Record, &[u8]) -> Result<(), E>) -> Result<(), E>
    where
        E: From<BulkError> + From<NotPayloads>,
    {
        let Self(state) = self;
        let (reached, unclear) = state.unfinished();
        let mut repeated = state.repeated.iter().peekable();
        let mut index = 0;
        state.input.each(|piece| {
            let first_line = repeated.next_if(|(again, _)| *again == index).map(|(_, line)| *line);
            let record = if state.rejected.contains(index) {
                Some(invalid(state, piece, index, first_line))
            } else if index < reached {
                sent(state, piece, index, &unclear)?
            } else {
                None
            };
            index += 1;
            record.map_or(Ok(()), |record| show(record, piece.text))
        })
    }
}

/// Of a payload that was not sent because of its errors.
fn invalid(state: &State, piece: Piece<'_>, index: u64, first_line: Option<u64>) -> Record {
    let (verdict, _) = state.checker.check(piece, index);
    // If only its source id is wrong, warnings are of no use.
    let verdict = Some(verdict).filter(|verdict| !verdict.is_valid()).unwrap_or_default();
    let mut findings = verdict.findings;
    findings.extend(first_line.map(|line| repeated_finding(piece.place, line)));
    let place = findings.first().map_or(piece.place, |finding| finding.place);
    findings.retain(|finding| finding.severity == Severity::Error);
    Record {
        index,
        place,
        source_id: verdict.source_id,
        outcome: AdOutcome::Rejected,
        message: Some(findings.iter().map(Finding::text).collect::<Vec<_>>().join(" ")),
        findings,
        is_invalid: true,
        ..Record::default()
    }
}

/// Of a payload that has no errors; `None` if it names no ad.
fn sent(state: &State, piece: Piece<'_>, index: u64, unclear: &[Identity]) -> Result<Option<Record>, BulkError> {
    let Some(ad) = parse(piece.text).ok().as_ref().and_then(Identity::of) else { return Ok(None) };
    let latest = state.journal.latest(&ad)?;
    let is_unclear = unclear.contains(&ad);
    let Identity { source_id, dealer_code } = ad;
    let record = Record { index, place: piece.place, source_id: Some(source_id), dealer_code, ..Record::default() };
    if is_unclear {
        let message = Some("sent without an answer; resume to find the outcome".to_owned());
        return Ok(Some(Record { outcome: AdOutcome::Unclear, message, ..record }));
    }
    let is_of_this_run = |at| at >= state.start;
    Ok(Some(match latest {
        Some((at, entry))
            if is_of_this_run(at) || matches!(state.task.step(Some(&entry)), Decision::Follow | Decision::Nothing) =>
        {
            with_entry(state, Record { is_earlier: !is_of_this_run(at), ..record }, entry, piece)
        }
        // This run did not handle it.
        _ => record,
    }))
}

fn with_entry(state: &State, record: Record, entry: Entry, piece: Piece<'_>) -> Record {
    match entry {
        Entry::Begun(_) | Entry::Sending(_) => record,
        Entry::Accepted { request_id, .. } => {
            let outcome = if state.waits { AdOutcome::UnderWay } else { AdOutcome::Accepted };
            Record { outcome, request_id, ..record }
        }
        Entry::Rejected(rejection) | Entry::Refused(rejection) => {
            let findings = rejection.errors.map(|errors| state.checker.explain(&errors, piece)).unwrap_or_default();
            Record { outcome: AdOutcome::Rejected, message: Some(rejection.message), findings, ..record }
        }
        Entry::Ended { request_id, end, .. } => {
            let End { outcome, message, marketplace_ad_id, offer_id, linked, failed_images } = end;
            Record { outcome, message, request_id, marketplace_ad_id, offer_id, linked, failed_images, ..record }
        }
    }
}
