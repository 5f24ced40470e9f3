//! What earlier runs did with the ads of a file. Entries of the journal and payloads of the file are sorted by the hashes of the ads,
//! joined, and sorted again by the positions of the payloads, so that memory does not depend on their number.

use std::{io, iter::Peekable};

use ad_files::{
    identities::{Identities, Occurrence, RepetitionSorter, Repetitions, hash, number, record},
    sorter::{Sorted, Sorter},
};
use uuid::Uuid;

use super::{BulkError, Identity};
use crate::{AdOutcome, check::no_room};

/// What the journal knows of an ad from earlier runs, and the check of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Its payload must not be sent.
    Invalid,
    NotSent,
    /// It may have been sent; there was no answer.
    Unclear,
    Rejected,
    /// The service has it; the request, where it is known.
    Accepted(Option<Uuid>),
    Ended {
        request_id: Option<Uuid>,
        outcome: AdOutcome,
        /// Where its entry begins.
        at: u64,
    },
}

/// Number of the variant and, of the last, of the outcome; request (nil where it is not known); place of the entry.
const KNOWN: usize = 1 + 16 + 8;

impl Known {
    /// Adds a later entry of the same ad.
    fn after(self, before: Option<Self>) -> Self {
        match self {
            Self::Ended { outcome, at, .. } => {
                Self::Ended { request_id: before.and_then(Self::request_id), outcome, at }
            }
            known => known,
        }
    }

    fn request_id(self) -> Option<Uuid> {
        match self {
            Self::Accepted(request_id) | Self::Ended { request_id, .. } => request_id,
            _ => None,
        }
    }

    fn bytes(self) -> [u8; KNOWN] {
        let (number, at) = match self {
            Self::Invalid => (0, 0),
            Self::NotSent => (1, 0),
            Self::Unclear => (2, 0),
            Self::Rejected => (3, 0),
            Self::Accepted(_) => (4, 0),
            Self::Ended { outcome, at, .. } => (5 + outcome as u8, at),
        };
        record(&[&[number], self.request_id().unwrap_or_default().as_bytes(), &at.to_be_bytes()])
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let request_id = Uuid::from_slice(&bytes[1..17]).ok().filter(|id| !id.is_nil());
        Some(match bytes[0] {
            0 => Self::Invalid,
            1 => Self::NotSent,
            2 => Self::Unclear,
            3 => Self::Rejected,
            4 => Self::Accepted(request_id),
            ended => {
                let outcome = *AdOutcome::ALL.get(usize::from(ended) - 5)?;
                Self::Ended { request_id, outcome, at: number(bytes, 17) }
            }
        })
    }
}

/// Hash and number of the entry before it.
const FACT: usize = 16 + 8 + KNOWN;
/// Index before it.
const PAYLOAD: usize = 8 + KNOWN;

/// The entries of a journal, by ad.
#[derive(Debug, Default)]
pub(super) struct Facts {
    sorter: Sorter<FACT>,
    entries: u64,
}

impl Facts {
    /// Adds what the next entry says.
    pub(super) fn add(&mut self, ad: &Identity, known: Known) -> Result<(), BulkError> {
        let hash = hash(&ad.source_id, ad.dealer_code.as_deref());
        self.entries += 1;
        self.sorter.push(record(&[&hash, &self.entries.to_be_bytes(), &known.bytes()])).map_err(no_room())
    }

    /// The history of the payloads of a file, and its duplicate ads.
    pub(super) fn of(self, identities: Identities) -> io::Result<(Repetitions, KnownPayloads)> {
        let mut facts = self.sorter.sorted()?.peekable();
        let (mut repetitions, mut payloads, mut accepted) = (RepetitionSorter::default(), Sorter::default(), 0);
        let mut first: Option<Occurrence> = None;
        for occurrence in identities.sorted()? {
            let occurrence = occurrence?;
            let index = occurrence.index.to_be_bytes();
            if let Some(first) = first.as_ref().filter(|first| first.hash == occurrence.hash) {
                repetitions.add(first, &occurrence)?;
                payloads.push(record(&[&index, &Known::Invalid.bytes()]))?;
                continue;
            }
            first = Some(occurrence);
            let mut known = None;
            let is_reached =
                |fact: &io::Result<[u8; FACT]>| fact.as_ref().map_or(true, |fact| fact[..16] <= occurrence.hash[..]);
            while let Some(fact) = facts.next_if(is_reached).transpose()? {
                if fact[..16] == occurrence.hash {
                    known = Known::read(&fact[24..]).map(|fact| fact.after(known));
                }
            }
            accepted += u64::from(matches!(known, Some(Known::Accepted(_) | Known::Ended { .. })));
            if let Some(known) = if occurrence.is_rejected { Some(Known::Invalid) } else { known } {
                payloads.push(record(&[&index, &known.bytes()]))?;
            }
        }
        Ok((repetitions.sorted()?, KnownPayloads { sorted: payloads.sorted()?.peekable(), accepted }))
    }
}

/// The history of payloads, in their order.
#[derive(Debug)]
pub(super) struct KnownPayloads {
    sorted: Peekable<Sorted<PAYLOAD>>,
    /// Number of ads that were accepted in earlier runs.
    pub(super) accepted: u64,
}

impl KnownPayloads {
    pub(super) fn next(&mut self, index: u64) -> io::Result<Option<Known>> {
        let is_it =
            |record: &io::Result<[u8; PAYLOAD]>| record.as_ref().map_or(true, |record| number(record, 0) <= index);
        let record = self.sorted.next_if(is_it).transpose()?;
        Ok(record.and_then(|record| Known::read(&record[8..])))
    }
}
