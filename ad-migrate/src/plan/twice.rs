//! What occurs in several rows and may not: a source id, a licence plate, a VIN. The first row counts; whether it can go itself does
//! not matter, for it has to be mended, and then there are two.

use std::{io, iter::Peekable};

use sha2::{Digest, Sha256};

use super::{
    Verdict,
    sorter::{Sorted, Sorter},
};
use crate::finding::{Finding, Severity};

/// What identifies a vehicle or its ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    SourceId,
    Plate,
    Vin,
}

const KINDS: [Kind; 3] = [Kind::SourceId, Kind::Plate, Kind::Vin];

impl Kind {
    /// The field of the ad.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::SourceId => "source_id",
            Self::Plate => "category_fields.registration_number",
            Self::Vin => "category_fields.vin",
        }
    }

    fn of(self, verdict: &Verdict) -> Option<&str> {
        match self {
            Self::SourceId => verdict.source_id.as_deref(),
            Self::Plate => verdict.plate.as_deref(),
            Self::Vin => verdict.vin.as_deref(),
        }
    }
}

/// Kind, hash, row, line.
const SEEN: usize = 1 + 16 + 8 + 8;
/// Row, kind, and row and line of the first one.
const AGAIN: usize = 8 + 1 + 8 + 8;

/// That something was seen in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen([u8; SEEN]);

impl Seen {
    /// What identifies a row, among those of its dealer: the dealers of a group may use the same source ids, and have listings of
    /// their own.
    pub(super) fn all(verdict: &Verdict, dealer_code: Option<&str>) -> impl Iterator<Item = Self> {
        KINDS.into_iter().filter_map(move |kind| {
            let text = kind.of(verdict)?;
            let mut hash = Sha256::new();
            // Where the first text ends is part of what is hashed.
            hash.update(dealer_code.map_or(u64::MAX, |code| code.len() as u64).to_be_bytes());
            hash.update(dealer_code.unwrap_or_default());
            hash.update(text);
            let mut seen = [0; SEEN];
            seen[0] = kind as u8;
            seen[1..17].copy_from_slice(&hash.finalize()[..16]);
            seen[17..25].copy_from_slice(&verdict.row.to_be_bytes());
            seen[25..].copy_from_slice(&verdict.line.to_be_bytes());
            Some(Self(seen))
        })
    }
}

/// A number of eight bytes in a record.
fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// All that was seen so far.
#[derive(Debug, Default)]
pub(super) struct Identities(Sorter<SEEN>);

impl Identities {
    /// Remembers it.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub(super) fn add(&mut self, seen: Seen) -> io::Result<()> {
        self.0.push(seen.0)
    }

    /// What occurs twice, to be asked row by row.
    ///
    /// # Errors
    /// When a temporary file cannot be used.
    pub(super) fn repeated(self) -> io::Result<Repeated> {
        let mut again = Sorter::default();
        let mut first: Option<[u8; SEEN]> = None;
        for seen in self.0.sorted()? {
            let seen = seen?;
            match first {
                Some(first) if first[..17] == seen[..17] => {
                    let mut record = [0; AGAIN];
                    record[..8].copy_from_slice(&seen[17..25]);
                    record[8] = seen[0];
                    record[9..].copy_from_slice(&first[17..]);
                    again.push(record)?;
                }
                _ => first = Some(seen),
            }
        }
        Ok(Repeated(again.sorted()?.peekable()))
    }
}

/// What occurs twice, in the order of the rows in which it does so again.
#[derive(Debug)]
pub(super) struct Repeated(Peekable<Sorted<AGAIN>>);

impl Repeated {
    /// Adds to a row what it repeats. Rows have to come in their order.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub(super) fn tell(&mut self, verdict: &mut Verdict, columns_of: impl Fn(&str) -> Vec<String>) -> io::Result<()> {
        let row = verdict.row;
        while let Some(again) =
            self.0.next_if(|again| again.as_ref().map_or(true, |again| number(again, 0) <= row)).transpose()?
        {
            if let Some(kind) = KINDS.get(usize::from(again[8])) {
                let finding = finding(*kind, verdict, number(&again, 9), number(&again, 17), &columns_of);
                verdict.findings.push(finding);
            }
        }
        Ok(())
    }
}

fn finding(kind: Kind, verdict: &Verdict, row: u64, line: u64, columns_of: impl Fn(&str) -> Vec<String>) -> Finding {
    let (severity, reason, advice) = match kind {
        Kind::SourceId => (
            Severity::Error,
            "duplicate source id",
            "Each ad needs its own permanent source id: remove the row, or map the source id from another column.",
        ),
        Kind::Plate => (
            Severity::Error,
            "duplicate registration number",
            "Two ads cannot be linked to one listing: remove the row that is no longer for sale, or correct the number.",
        ),
        Kind::Vin => (Severity::Warning, "duplicate VIN", "If it is the same vehicle, remove one of the rows."),
    };
    let value = kind.of(verdict).map(str::to_owned);
    Finding {
        severity,
        reason: reason.to_owned(),
        columns: columns_of(kind.field()),
        message: format!("{} already occurs in row {row} (line {line}).", value.as_deref().unwrap_or_default()),
        value,
        field: Some(kind.field().to_owned()),
        advice: Some(advice.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(row: u64, source_id: &str, plate: Option<&str>, vin: Option<&str>) -> Verdict {
        Verdict {
            row,
            line: row + 1,
            source_id: Some(source_id.to_owned()),
            plate: plate.map(str::to_owned),
            vin: vin.map(str::to_owned),
            ..Verdict::default()
        }
    }

    fn told(rows: &[(Verdict, Option<&str>)], most: usize) -> Vec<(u64, Severity, String)> {
        let mut identities = Identities(Sorter::with_most(most));
        for (row, dealer) in rows {
            Seen::all(row, *dealer).for_each(|seen| identities.add(seen).unwrap());
        }
        let mut repeated = identities.repeated().unwrap();
        let mut told = Vec::new();
        for (row, _) in rows {
            let mut row = row.clone();
            repeated.tell(&mut row, |field| vec![field.to_owned()]).unwrap();
            told.extend(row.findings.into_iter().map(|finding| (row.row, finding.severity, finding.message)));
        }
        told
    }

    #[test]
    fn the_first_row_counts_and_the_later_ones_name_it() {
        let rows = [
            (row(1, "a", Some("ABC123"), Some("V1")), None),
            (row(2, "b", None, Some("V2")), None),
            (row(3, "c", Some("ABC123"), Some("V1")), None),
            (row(4, "a", None, None), None),
            (row(5, "d", Some("ABC123"), None), None),
        ];
        for most in [1, 2, 3, 1000] {
            let expected = [
                (3, Severity::Error, "ABC123 already occurs in row 1 (line 2)."),
                (3, Severity::Warning, "V1 already occurs in row 1 (line 2)."),
                (4, Severity::Error, "a already occurs in row 1 (line 2)."),
                (5, Severity::Error, "ABC123 already occurs in row 1 (line 2)."),
            ];
            assert_eq!(told(&rows, most), expected.map(|(row, severity, text)| (row, severity, text.to_owned())));
        }
    }

    #[test]
    fn dealers_of_a_group_do_not_stand_in_each_other_s_way() {
        let rows = [(row(1, "a", Some("P"), None), Some("n")), (row(2, "a", Some("P"), None), Some("s"))];
        assert!(told(&rows, 8).is_empty());
        // Nor is a part of the one text taken for a part of the other.
        let rows = [(row(1, "ab", None, None), Some("n")), (row(2, "b", None, None), Some("na"))];
        assert!(told(&rows, 8).is_empty());
    }
}
