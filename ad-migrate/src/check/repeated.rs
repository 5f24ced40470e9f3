//! Duplicates: source ids, plates and VINs that occur in several rows. The first row that can be sent counts; a row that will not be sent,
//! because it is invalid or a duplicate itself, blocks no other.

use std::{io, iter::Peekable};

use ad_files::{
    Bits, Place,
    identities::{Hash, Identities, Occurrence, Repetition, Repetitions, hash},
};
use rustc_hash::FxHashMap;

use super::Verdict;
use crate::finding::{Finding, Severity};

struct Identifier {
    /// The field of the ad.
    field: &'static str,
    of: fn(&Verdict) -> Option<&str>,
    /// For rows that repeat it.
    severity: Severity,
    reason: &'static str,
    advice: &'static str,
}

const IDENTIFIERS: [Identifier; 3] = [
    Identifier {
        field: "source_id",
        of: |verdict| verdict.source_id.as_deref(),
        severity: Severity::Error,
        reason: "duplicate source id",
        advice: "Each ad needs its own permanent source id: remove the row, or map the source id from another column.",
    },
    Identifier {
        field: "category_fields.registration_number",
        of: |verdict| verdict.plate.as_deref(),
        severity: Severity::Error,
        reason: "duplicate registration number",
        advice: "Two ads cannot be linked to one listing: remove the row that is no longer for sale, or correct the number.",
    },
    Identifier {
        field: "category_fields.vin",
        of: |verdict| verdict.vin.as_deref(),
        severity: Severity::Warning,
        reason: "duplicate VIN",
        advice: "If it is the same vehicle, remove one of the rows.",
    },
];

/// The identifiers of a valid row, separately for each dealer: the dealers of a group may use the same source ids, and have their own listings.
pub(super) fn occurrences(verdict: &Verdict, dealer_code: Option<&str>) -> impl Iterator<Item = Occurrence> {
    (0..).zip(&IDENTIFIERS).filter_map(move |(kind, identifier)| {
        let hash = hash((identifier.of)(verdict)?, dealer_code);
        let place = Place { line: verdict.line, ..Place::default() };
        Some(Occurrence { kind, hash, index: verdict.row, place, is_rejected: false })
    })
}

/// Repetitions, in the order of the rows that repeat an earlier one.
#[derive(Debug)]
pub(super) struct RepeatedValues {
    repetitions: Peekable<Repetitions>,
    /// The rows that will not be sent.
    rejected: Bits,
    /// Row and line of the first that can be sent, of identifiers whose first row is a duplicate itself.
    moved: FxHashMap<(u8, Hash), (u64, u64)>,
}

impl RepeatedValues {
    /// Of all rows of a file.
    pub(super) fn of(identities: Identities) -> io::Result<Self> {
        let repetitions = identities.repeated()?.peekable();
        Ok(Self { repetitions, rejected: Bits::default(), moved: FxHashMap::default() })
    }

    /// Adds the repetitions of a row to its verdict. Rows must come in order.
    pub(super) fn add_to(&mut self, verdict: &mut Verdict, columns_of: impl Fn(&str) -> Vec<String>) -> io::Result<()> {
        let row = verdict.row;
        let mut free: Vec<Repetition> = Vec::new();
        let is_due = |it: &io::Result<Repetition>| it.as_ref().map_or(true, |it| it.again.index <= row);
        while let Some(it) = self.repetitions.next_if(is_due).transpose()? {
            let Some(identifier) = IDENTIFIERS.get(usize::from(it.again.kind)) else { continue };
            let moved = self.moved.get(&(it.again.kind, it.again.hash)).copied();
            let (first, line) = moved.unwrap_or((it.first_index, it.first_line));
            if self.rejected.contains(first) {
                free.push(it);
                continue;
            }
            let value = (identifier.of)(verdict).unwrap_or_default();
            let message = format!("{value} already occurs in row {first} (line {line}).");
            verdict.findings.push(Finding {
                columns: columns_of(identifier.field),
                value: Some(value.to_owned()),
                field: Some(identifier.field.to_owned()),
                advice: Some(identifier.advice.to_owned()),
                ..Finding::new(identifier.severity, identifier.reason, message)
            });
        }
        if !verdict.is_valid() {
            self.rejected.add(row);
        }
        // From here on, this row is the first that has them.
        self.moved.extend(free.iter().map(|it| ((it.again.kind, it.again.hash), (row, verdict.line))));
        Ok(())
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

    fn finding_rows(rows: &[(Verdict, Option<&str>)]) -> Vec<(u64, Severity, String)> {
        let mut identities = Identities::default();
        for (row, dealer) in rows {
            occurrences(row, *dealer).for_each(|it| identities.add(it).unwrap());
        }
        let mut repeated = RepeatedValues::of(identities).unwrap();
        let mut told = Vec::new();
        for (row, _) in rows {
            let mut row = row.clone();
            repeated.add_to(&mut row, |field| vec![field.to_owned()]).unwrap();
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
        let expected = [
            (3, Severity::Error, "ABC123 already occurs in row 1 (line 2)."),
            (3, Severity::Warning, "V1 already occurs in row 1 (line 2)."),
            (4, Severity::Error, "a already occurs in row 1 (line 2)."),
            (5, Severity::Error, "ABC123 already occurs in row 1 (line 2)."),
        ];
        assert_eq!(finding_rows(&rows), expected.map(|(row, severity, text)| (row, severity, text.to_owned())));
    }

    #[test]
    fn a_duplicate_blocks_no_other_row() {
        let rows = [
            (row(1, "a", Some("P1"), None), None),
            // A duplicate by its source id, whose plate is free for the next row.
            (row(2, "a", Some("P2"), None), None),
            (row(3, "b", Some("P2"), None), None),
            // A duplicate of row 3, whose own id is free again.
            (row(4, "c", Some("P2"), None), None),
            (row(5, "c", Some("P5"), None), None),
        ];
        let expected = [(2, "a already occurs in row 1 (line 2)."), (4, "P2 already occurs in row 3 (line 4).")];
        assert_eq!(finding_rows(&rows), expected.map(|(row, text)| (row, Severity::Error, text.to_owned())));
    }

    #[test]
    fn dealers_of_a_group_do_not_stand_in_each_other_s_way() {
        let rows = [(row(1, "a", Some("P"), None), Some("n")), (row(2, "a", Some("P"), None), Some("s"))];
        assert!(finding_rows(&rows).is_empty());
        // Nor is a part of the one text taken for a part of the other.
        let rows = [(row(1, "ab", None, None), Some("n")), (row(2, "b", None, None), Some("na"))];
        assert!(finding_rows(&rows).is_empty());
    }
}
