//! What occurs in several rows and may not: a source id, a licence plate, a VIN. The first row counts; whether it can go itself does
//! not matter, for it has to be mended, and then there are two.

use std::{io, iter::Peekable};

use ad_cli::bulk::{
    identities::{Identities, Occurrence, Repetition, Repetitions, hash},
    payloads::Place,
};

use super::Verdict;
use crate::finding::{Finding, Severity};

/// What identifies a vehicle or its ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum IdentityKind {
    SourceId,
    Plate,
    Vin,
}

const KINDS: [IdentityKind; 3] = [IdentityKind::SourceId, IdentityKind::Plate, IdentityKind::Vin];

impl IdentityKind {
    /// The field of the ad.
    const fn field(self) -> &'static str {
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

/// What identifies a row, among those of its dealer: the dealers of a group may use the same source ids, and have listings of their own.
pub(super) fn occurrences(verdict: &Verdict, dealer_code: Option<&str>) -> impl Iterator<Item = Occurrence> {
    KINDS.into_iter().filter_map(move |kind| {
        let hash = hash(kind.of(verdict)?, dealer_code);
        let place = Place { line: verdict.line, ..Place::default() };
        Some(Occurrence { kind: kind as u8, hash, index: verdict.row, place, is_refused: false })
    })
}

/// What occurs twice, in the order of the rows in which it does so again.
#[derive(Debug)]
pub(super) struct RepeatedValues(Peekable<Repetitions>);

impl RepeatedValues {
    /// Of all rows of a file.
    ///
    /// # Errors
    /// When a temporary file cannot be used.
    pub(super) fn of(identities: Identities) -> io::Result<Self> {
        Ok(Self(identities.repeated()?.peekable()))
    }

    /// Adds to a row what it repeats. Rows have to come in their order.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub(super) fn add_to(&mut self, verdict: &mut Verdict, columns_of: impl Fn(&str) -> Vec<String>) -> io::Result<()> {
        let row = verdict.row;
        while let Some(it) = self.0.next_if(|it| it.as_ref().map_or(true, |it| it.again.index <= row)).transpose()? {
            if let Some(kind) = KINDS.get(usize::from(it.again.kind)) {
                verdict.findings.push(finding(*kind, verdict, &it, &columns_of));
            }
        }
        Ok(())
    }
}

fn finding(
    kind: IdentityKind,
    verdict: &Verdict,
    again: &Repetition,
    columns_of: impl Fn(&str) -> Vec<String>,
) -> Finding {
    let (row, line) = (again.first_index, again.first_line);
    let (severity, reason, advice) = match kind {
        IdentityKind::SourceId => (
            Severity::Error,
            "duplicate source id",
            "Each ad needs its own permanent source id: remove the row, or map the source id from another column.",
        ),
        IdentityKind::Plate => (
            Severity::Error,
            "duplicate registration number",
            "Two ads cannot be linked to one listing: remove the row that is no longer for sale, or correct the number.",
        ),
        IdentityKind::Vin => (Severity::Warning, "duplicate VIN", "If it is the same vehicle, remove one of the rows."),
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

    fn told(rows: &[(Verdict, Option<&str>)]) -> Vec<(u64, Severity, String)> {
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
        assert_eq!(told(&rows), expected.map(|(row, severity, text)| (row, severity, text.to_owned())));
    }

    #[test]
    fn dealers_of_a_group_do_not_stand_in_each_other_s_way() {
        let rows = [(row(1, "a", Some("P"), None), Some("n")), (row(2, "a", Some("P"), None), Some("s"))];
        assert!(told(&rows).is_empty());
        // Nor is a part of the one text taken for a part of the other.
        let rows = [(row(1, "ab", None, None), Some("n")), (row(2, "b", None, None), Some("na"))];
        assert!(told(&rows).is_empty());
    }
}
