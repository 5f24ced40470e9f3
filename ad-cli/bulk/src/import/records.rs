//! The outcomes of payloads: recorded as they become known, and read in the order of the file. They are in a temporary file, and memory has the
//! place of each.

use std::io;

use ad_client::Linked;
use ad_files::{Place, spool::Spool};
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

/// The outcome of each payload; payloads that the import did not reach are missing.
#[derive(Debug, Default)]
pub struct Records {
    lines: Spool,
    /// Where the line of each payload begins.
    starts: Vec<u64>,
}

/// No line.
const NONE: u64 = u64::MAX;

impl Records {
    /// Adds a record; two of the same payload are merged.
    pub(super) fn add(&mut self, mut record: Record) -> io::Result<()> {
        let index = usize::try_from(record.index).map_err(io::Error::other)?;
        if self.starts.len() <= index {
            self.starts.resize(index + 1, NONE);
        }
        if self.starts[index] != NONE {
            let first = read(&mut self.lines, self.starts[index])?;
            let messages = [first.message.clone(), record.message].into_iter().flatten();
            let message = Some(messages.collect::<Vec<_>>().join(" "));
            record = Record { message, findings: [first.findings.clone(), record.findings].concat(), ..first };
        }
        self.starts[index] = self.lines.add_line(&(record.is_invalid, record))?.start;
        Ok(())
    }

    /// Each of them, in the order of the file.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read(&mut self) -> impl Iterator<Item = io::Result<Record>> {
        let starts = self.starts.iter().filter(|start| **start != NONE);
        starts.map(|start| read(&mut self.lines, *start))
    }
}

fn read(lines: &mut Spool, start: u64) -> io::Result<Record> {
    let (is_invalid, record) = lines.line::<(bool, Record)>(start)?;
    Ok(Record { is_invalid, ..record })
}
