//! The outcomes of payloads: recorded as they become known, and read in the order of the file.

use std::io;

use ad_client::Linked;
use ad_files::{
    Place,
    identities::{number, record},
    sorter::Sorter,
    spool::{Span, Spool},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Identity;
use crate::{AdOutcome, check::Finding};

/// The outcome of one payload. Programs read its members, so their names are stable.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Record {
    /// Its index in the file, from 0.
    pub index: u64,
    /// Where it begins.
    #[serde(flatten)]
    pub place: Place,
    /// The client's reference, where it could be read.
    pub source_id: Option<String>,
    /// The dealer, where the payload names one.
    pub dealer_code: Option<String>,
    /// What became of it.
    pub outcome: AdOutcome,
    /// Why.
    pub message: Option<String>,
    /// What its log calls the request.
    pub request_id: Option<Uuid>,
    /// Its id on the primary marketplace.
    pub marketplace_ad_id: Option<String>,
    /// Its id on the secondary marketplace.
    pub offer_id: Option<String>,
    /// The listings from before to which it was linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<Linked>,
    /// The errors of a rejected one, by field.
    pub findings: Vec<Finding>,
    /// Whether the payload was rejected when the file was checked.
    #[serde(skip)]
    pub is_invalid: bool,
}

impl Record {
    pub(super) fn new(index: u64, place: Place, ad: Option<Identity>, outcome: AdOutcome) -> Self {
        let (source_id, dealer_code) = ad.map_or((None, None), |ad| (Some(ad.source_id), ad.dealer_code));
        Self { index, place, source_id, dealer_code, outcome, ..Self::default() }
    }
}

/// Records as they come.
#[derive(Debug, Default)]
pub(super) struct Collected {
    lines: Spool,
    /// Index, start and length of each line.
    order: Sorter<24>,
}

impl Collected {
    pub(super) fn add(&mut self, it: &Record) -> io::Result<()> {
        let Span { start, length } = self.lines.add_line(&(it.is_invalid, it))?;
        let length = length as u64;
        self.order.push(record(&[&it.index.to_be_bytes(), &start.to_be_bytes(), &length.to_be_bytes()]))
    }

    /// All records, in the order of the file; two records of the same payload are merged.
    pub(super) fn in_order(mut self) -> io::Result<Records> {
        let mut records = Records::default();
        let mut last: Option<Record> = None;
        for place in self.order.sorted()? {
            let place = place?;
            let span = Span { start: number(&place, 8), length: usize::try_from(number(&place, 16)).unwrap_or(0) };
            let (is_invalid, next): (bool, Record) = serde_json::from_slice(&self.lines.text(span)?)?;
            match &mut last {
                Some(last) if last.index == next.index => {
                    last.message =
                        Some([last.message.take(), next.message].into_iter().flatten().collect::<Vec<_>>().join(" "));
                    last.findings.extend(next.findings);
                }
                _ => records.add(last.replace(Record { is_invalid, ..next }))?,
            }
        }
        records.add(last)?;
        Ok(records)
    }
}

/// The outcome of each payload, in the order of the file; payloads that the import did not reach are missing.
#[derive(Debug, Default)]
pub struct Records {
    lines: Spool,
}

impl Records {
    fn add(&mut self, record: Option<Record>) -> io::Result<()> {
        let Some(record) = record else { return Ok(()) };
        self.lines.add_line(&(record.is_invalid, record)).map(drop)
    }

    /// Each of them.
    ///
    /// # Errors
    /// When the temporary file cannot be read; so each record, later.
    pub fn read(&mut self) -> io::Result<impl Iterator<Item = io::Result<Record>>> {
        let lines = self.lines.lines::<(bool, Record)>()?;
        Ok(lines.map(|line| line.map(|(is_invalid, record)| Record { is_invalid, ..record })))
    }
}
