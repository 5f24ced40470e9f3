//! Which records of a file name the same thing: the same ad, the same licence plate. A record is remembered as a hash of 128 bits of
//! SHA-256 and its place; [sorted](super::sorter) in temporary files, 40 MB for a million of them.

use std::io;

use sha2::{Digest, Sha256};

use crate::{
    Place,
    sorter::{Sorted, Sorter},
};

/// A hash of what is named; collisions are not expected.
pub type Hash = [u8; 16];

/// The hash of a text that is unique among those of one dealer: the dealers of a group may use the same source ids.
pub fn hash(text: &str, dealer_code: Option<&str>) -> Hash {
    let mut hash = Sha256::new();
    // The length of the first text is hashed too, so that no two pairs have the same input.
    hash.update(dealer_code.map_or(u64::MAX, |code| code.len() as u64).to_be_bytes());
    hash.update(dealer_code.unwrap_or_default());
    hash.update(text);
    let mut short = Hash::default();
    short.copy_from_slice(&hash.finalize()[..size_of::<Hash>()]);
    short
}

/// That a record names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The kind; only occurrences of the same kind are compared.
    pub kind: u8,
    /// Hash of what it names.
    pub hash: Hash,
    /// Which record of the file it is.
    pub index: u64,
    /// Line and column at which the record begins.
    pub place: Place,
    /// Whether the record has other errors.
    pub is_rejected: bool,
}

impl Occurrence {
    fn bytes(&self) -> [u8; OCCURRENCE] {
        let (line, column) = (self.place.line.to_be_bytes(), self.place.column.to_be_bytes());
        record(&[&[self.kind], &self.hash, &self.index.to_be_bytes(), &line, &column, &[self.is_rejected.into()]])
    }

    fn read(record: &[u8]) -> Self {
        let mut hash = Hash::default();
        hash.copy_from_slice(&record[1..17]);
        let place = Place { line: number(record, 25), column: number(record, 33) };
        Self { kind: record[0], hash, index: number(record, 17), place, is_rejected: record[41] != 0 }
    }
}

/// A record that names something again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetition {
    /// The later record, which is the repetition.
    pub again: Occurrence,
    /// Which record named it first.
    pub first_index: u64,
    /// The line on which the first one begins.
    pub first_line: u64,
}

/// Kind, hash, index, line, column, rejected.
const OCCURRENCE: usize = 1 + 16 + 8 + 8 + 8 + 1;
/// Index, the occurrence, index and line of the first.
const REPETITION: usize = 8 + OCCURRENCE + 8 + 8;

/// Joins numbers as bytes that sort as the numbers do.
fn record<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut record = [0; N];
    let mut at = 0;
    for part in parts {
        record[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    record
}

/// The number of eight bytes at a place of a record.
fn number(record: &[u8], at: usize) -> u64 {
    record[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What the records of a file have named so far.
#[derive(Debug, Default)]
pub struct Identities(Sorter<OCCURRENCE>);

impl Identities {
    /// Remembers an occurrence.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add(&mut self, it: Occurrence) -> io::Result<()> {
        self.0.push(it.bytes())
    }

    /// All occurrences, those of one thing together, in the order of the records.
    ///
    /// # Errors
    /// When the temporary file cannot be read; so each occurrence, later.
    pub fn sorted(self) -> io::Result<impl Iterator<Item = io::Result<Occurrence>>> {
        Ok(self.0.sorted()?.map(|record| record.map(|record| Occurrence::read(&record))))
    }

    /// What is named more than once, in the order of the records that repeat it.
    ///
    /// # Errors
    /// When a temporary file cannot be used.
    pub fn repeated(self) -> io::Result<Repetitions> {
        let mut repetitions = Sorter::default();
        let mut first: Option<Occurrence> = None;
        for occurrence in self.sorted()? {
            let occurrence = occurrence?;
            match &first {
                Some(first) if (first.kind, first.hash) == (occurrence.kind, occurrence.hash) => {
                    let (index, first_index) = (occurrence.index.to_be_bytes(), first.index.to_be_bytes());
                    let line = first.place.line.to_be_bytes();
                    repetitions.push(record(&[&index, &occurrence.bytes(), &first_index, &line]))?;
                }
                _ => first = Some(occurrence),
            }
        }
        repetitions.sorted().map(Repetitions)
    }
}

/// Repetitions, in the order of the records that repeat something.
#[derive(Debug)]
pub struct Repetitions(Sorted<REPETITION>);

impl Iterator for Repetitions {
    type Item = io::Result<Repetition>;

    fn next(&mut self) -> Option<Self::Item> {
        let repetition = |record: [u8; REPETITION]| Repetition {
            again: Occurrence::read(&record[8..]),
            first_index: number(&record, 8 + OCCURRENCE),
            first_line: number(&record, 16 + OCCURRENCE),
        };
        Some(self.0.next()?.map(repetition))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each index that repeats, with the first one.
    fn repeated(in_memory: usize, ids: &[&str]) -> Vec<(u64, u64)> {
        let mut identities = Identities(Sorter::with_most(in_memory));
        for (index, id) in (0..).zip(ids) {
            let (id, dealer) = id.split_once('@').map_or((*id, None), |(id, dealer)| (id, Some(dealer)));
            let place = Place { line: index + 1, column: 1 };
            let hash = hash(id, dealer);
            identities.add(Occurrence { kind: 0, hash, index, place, is_rejected: index % 2 == 1 }).unwrap();
        }
        let found: Vec<_> = identities.repeated().unwrap().map(Result::unwrap).collect();
        assert!(
            found.iter().all(
                |it| it.again.place.line == it.again.index + 1 && it.again.is_rejected == (it.again.index % 2 == 1)
            )
        );
        assert!(found.iter().all(|it| it.first_line == it.first_index + 1));
        found.iter().map(|it| (it.again.index, it.first_index)).collect()
    }

    #[test]
    fn what_is_named_twice_is_found_in_memory_or_not() {
        let ids = ["b", "a", "c", "a", "d@n", "a", "d", "b", "d@n", "e", "d@s"];
        for in_memory in [1, 2, 3, 11, 1000] {
            assert_eq!(repeated(in_memory, &ids), [(3, 1), (5, 1), (7, 0), (8, 4)], "{in_memory}");
        }
        assert!(repeated(2, &["a", "b", "c"]).is_empty());
        // The boundary between the texts matters.
        assert!(repeated(2, &["ab@n", "b@na"]).is_empty());
    }
}
