//! What earlier runs did with the ads of a file. The journal says it ad by ad, the file is read payload by payload: both are sorted by the
//! ads' hashes, joined, and sorted again by the places of the payloads, so that memory does not depend on how many there are.

use std::{io, iter::Peekable};

use uuid::Uuid;

use super::{BulkError, Identity};
use crate::bulk::{
    AdOutcome,
    check::no_room,
    identities::{Identities, Occurrence, RepetitionSorter, Repetitions, hash, number, record},
    sorter::{Sorted, Sorter},
};

/// What the journal knows of an ad from earlier runs, and the check of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Its payload must not be sent.
    Invalid,
    /// It may have been sent; no answer was seen.
    Unclear,
    /// The service did not want it.
    Refused,
    /// The service has it.
    Accepted(Option<Uuid>),
    /// All is done.
    Ended {
        request_id: Option<Uuid>,
        outcome: AdOutcome,
        /// Where its entry begins.
        at: u64,
    },
}

const INVALID: u8 = 0;
const NOT_SENT: u8 = 1;
const UNCLEAR: u8 = 2;
const REFUSED: u8 = 3;
const ACCEPTED: u8 = 4;
/// And the number of the outcome.
const ENDED: u8 = 5;

/// What an entry says of an ad: what kind of entry it is, the request (nil where it is not known), and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fact {
    kind: u8,
    request_id: Uuid,
    at: u64,
}

impl Fact {
    const fn of(kind: u8) -> Self {
        Self { kind, request_id: Uuid::nil(), at: 0 }
    }

    pub(super) const fn sending() -> Self {
        Self::of(UNCLEAR)
    }

    pub(super) const fn not_sent() -> Self {
        Self::of(NOT_SENT)
    }

    pub(super) const fn refused() -> Self {
        Self::of(REFUSED)
    }

    pub(super) fn accepted(request_id: Option<Uuid>) -> Self {
        Self { request_id: request_id.unwrap_or_default(), ..Self::of(ACCEPTED) }
    }

    pub(super) const fn ended(outcome: AdOutcome, at: u64) -> Self {
        Self { at, ..Self::of(ENDED + outcome as u8) }
    }

    /// What is known when this follows what was known before.
    fn after(self, before: Option<Self>) -> Option<Self> {
        match self.kind {
            NOT_SENT => None,
            ENDED.. => Some(Self { request_id: before.map_or(Uuid::nil(), |before| before.request_id), ..self }),
            _ => Some(self),
        }
    }

    /// As the last bytes of a record.
    fn bytes(self) -> [u8; FACT] {
        record(&[&[self.kind], self.request_id.as_bytes(), &self.at.to_be_bytes()])
    }

    fn read(bytes: &[u8]) -> Self {
        let request_id = Uuid::from_u128(u128::from(number(bytes, 1)) << 64 | u128::from(number(bytes, 9)));
        Self { kind: bytes[0], request_id, at: number(bytes, 17) }
    }

    fn known(self) -> Option<Known> {
        let request_id = Some(self.request_id).filter(|id| !id.is_nil());
        Some(match self.kind {
            INVALID => Known::Invalid,
            UNCLEAR => Known::Unclear,
            REFUSED => Known::Refused,
            ACCEPTED => Known::Accepted(request_id),
            kind => {
                let outcome = *AdOutcome::ALL.get(usize::from(kind.checked_sub(ENDED)?))?;
                Known::Ended { request_id, outcome, at: self.at }
            }
        })
    }
}

/// Kind, request, place.
const FACT: usize = 1 + 16 + 8;
/// Hash and number of the entry before it.
const FACT_OF_AD: usize = 16 + 8 + FACT;
/// Index before it.
const FACT_OF_PAYLOAD: usize = 8 + FACT;

/// What the entries of a journal say.
#[derive(Debug, Default)]
pub(super) struct Facts {
    sorter: Sorter<FACT_OF_AD>,
    entries: u64,
}

impl Facts {
    /// Adds what the next entry says.
    pub(super) fn add(&mut self, ad: &Identity, fact: Fact) -> Result<(), BulkError> {
        let hash = hash(&ad.source_id, ad.dealer_code.as_deref());
        self.entries += 1;
        self.sorter.push(record(&[&hash, &self.entries.to_be_bytes(), &fact.bytes()])).map_err(no_room())
    }

    /// What is known of the payloads of a file, and which of their ads are in it again.
    pub(super) fn of(self, identities: Identities) -> io::Result<(Repetitions, KnownPayloads)> {
        let mut facts = self.sorter.sorted()?.peekable();
        let (mut repetitions, mut payloads, mut accepted) = (RepetitionSorter::default(), Sorter::default(), 0);
        let mut first: Option<Occurrence> = None;
        for occurrence in identities.sorted()? {
            let occurrence = occurrence?;
            let index = occurrence.index.to_be_bytes();
            if let Some(first) = first.as_ref().filter(|first| first.hash == occurrence.hash) {
                repetitions.add(first, &occurrence)?;
                payloads.push(record(&[&index, &Fact::of(INVALID).bytes()]))?;
                continue;
            }
            first = Some(occurrence);
            let mut known = None;
            let is_reached = |fact: &io::Result<[u8; FACT_OF_AD]>| {
                fact.as_ref().map_or(true, |fact| fact[..16] <= occurrence.hash[..])
            };
            while let Some(fact) = facts.next_if(is_reached).transpose()? {
                if fact[..16] == occurrence.hash {
                    known = Fact::read(&fact[24..]).after(known);
                }
            }
            accepted += u64::from(known.is_some_and(|fact| fact.kind >= ACCEPTED));
            if let Some(fact) = if occurrence.is_refused { Some(Fact::of(INVALID)) } else { known } {
                payloads.push(record(&[&index, &fact.bytes()]))?;
            }
        }
        Ok((repetitions.sorted()?, KnownPayloads { sorted: payloads.sorted()?.peekable(), accepted }))
    }
}

/// What is known of payloads, to be asked in their order.
#[derive(Debug)]
pub(super) struct KnownPayloads {
    sorted: Peekable<Sorted<FACT_OF_PAYLOAD>>,
    /// How many ads earlier runs have had accepted.
    pub(super) accepted: u64,
}

impl KnownPayloads {
    /// What is known of a payload.
    pub(super) fn next(&mut self, index: u64) -> io::Result<Option<Known>> {
        let is_it = |record: &io::Result<[u8; FACT_OF_PAYLOAD]>| {
            record.as_ref().map_or(true, |record| number(record, 0) <= index)
        };
        let record = self.sorted.next_if(is_it).transpose()?;
        Ok(record.and_then(|record| Fact::read(&record[8..]).known()))
    }
}
