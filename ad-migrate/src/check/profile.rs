//! Profiles of the columns of a file, in bounded memory: how many values, how many different ones, and their range.

use std::hash::{Hash, Hasher};

use ad_core::written::number;
use rustc_hash::{FxHashSet, FxHasher};
use serde::Serialize;

use crate::readers::{Batch, Row};

/// Different values that are counted of a column, and of all columns.
const MOST_DISTINCT: usize = 2_000;
const MOST_OF_ALL: usize = 200_000;

/// Values that are shown of a column, and their longest text.
const SAMPLES: usize = 3;
const LONGEST: usize = 60;

/// Numbers of which the median is taken.
const MOST_NUMBERS: usize = 400;

/// A column of the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnProfile {
    /// Name of the column, or its path.
    pub column: String,
    /// Rows that have a value in it; of a path that occurs several times in a record, its values.
    pub filled: u64,
    /// Number of different values, up to a limit.
    pub distinct: usize,
    /// Whether there are more different ones.
    pub has_more: bool,
    /// Number of values that are numbers.
    pub numbers: u64,
    /// The least of the numbers.
    pub minimum: Option<f64>,
    /// The number in the middle, of a sample where there are very many.
    pub median: Option<f64>,
    /// The greatest of the numbers.
    pub maximum: Option<f64>,
    /// The first different values, shortened.
    pub samples: Vec<String>,
}

/// Some of many numbers, evenly spread: every n-th one, where n doubles when there are too many.
#[derive(Debug, Clone)]
pub(super) struct EvenSample {
    kept: Vec<f64>,
    step: u64,
    seen: u64,
    most: usize,
}

impl EvenSample {
    pub(super) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), step: 1, seen: 0, most: most.max(2) }
    }

    pub(super) fn add(&mut self, number: f64) {
        if self.seen.is_multiple_of(self.step) {
            if self.kept.len() == self.most {
                let mut index = 0;
                self.kept.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.step *= 2;
            }
            if self.seen.is_multiple_of(self.step) {
                self.kept.push(number);
            }
        }
        self.seen += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.seen
    }

    pub(super) fn median(&self) -> Option<f64> {
        let mut sorted = self.kept.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }
}

/// A column while it is read.
#[derive(Debug)]
struct SeenValues {
    filled: u64,
    hashes: FxHashSet<u64>,
    has_more: bool,
    minimum: f64,
    maximum: f64,
    numbers: EvenSample,
    samples: Vec<String>,
}

/// All columns while they are read.
#[derive(Debug, Default)]
pub(super) struct Profiles(Vec<SeenValues>);

impl Profiles {
    pub(super) fn add(&mut self, batch: &Batch) {
        let count = batch.columns().names().len();
        let most_numbers = MOST_NUMBERS.min(MOST_OF_ALL / count.max(1));
        self.0.resize_with(count.max(self.0.len()), || SeenValues {
            filled: 0,
            hashes: FxHashSet::default(),
            has_more: false,
            minimum: f64::INFINITY,
            maximum: f64::NEG_INFINITY,
            numbers: EvenSample::new(most_numbers),
            samples: Vec::new(),
        });
        let most = MOST_DISTINCT.min(MOST_OF_ALL / count.max(1));
        for (column, text) in batch.rows().flat_map(Row::cells) {
            let text = text.trim();
            if let Some(seen) = self.0.get_mut(column.index()).filter(|_| !text.is_empty()) {
                seen.add(text, most);
            }
        }
    }

    /// The profiles, given the names of all columns.
    pub(super) fn end<'a>(self, names: impl Iterator<Item = &'a str>) -> Vec<ColumnProfile> {
        let profile = |(seen, name): (SeenValues, &str)| {
            let has_numbers = seen.numbers.count() > 0;
            ColumnProfile {
                column: name.to_owned(),
                filled: seen.filled,
                distinct: seen.hashes.len(),
                has_more: seen.has_more,
                numbers: seen.numbers.count(),
                minimum: has_numbers.then_some(seen.minimum),
                median: seen.numbers.median(),
                maximum: has_numbers.then_some(seen.maximum),
                samples: seen.samples,
            }
        };
        self.0.into_iter().zip(names).map(profile).collect()
    }
}

impl SeenValues {
    fn add(&mut self, text: &str, most: usize) {
        self.filled += 1;
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if self.hashes.len() < most {
            if self.hashes.insert(hash) && self.samples.len() < SAMPLES {
                self.samples.push(ad_files::text::shortened(text, LONGEST).into_owned());
            }
        } else {
            self.has_more |= !self.hashes.contains(&hash);
        }
        if text.len() <= 24 && text.starts_with(|first: char| first.is_ascii_digit()) {
            // A separator before three digits is nearly always one of thousands.
            let thousands = if text.contains(',') { '.' } else { ',' };
            let found = number::read(text, None).or_else(|_| number::read(text, Some(thousands)));
            if let Ok(found) = found {
                let number = found.number.float();
                self.minimum = self.minimum.min(number);
                self.maximum = self.maximum.max(number);
                self.numbers.add(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::rows_of;

    #[test]
    fn a_profile_has_counts_and_the_range_of_numbers() {
        let mut profiles = Profiles::default();
        let names = ["Pris", "Färg"];
        profiles.add(&rows_of(&names, &[&["149 900 kr", "Svart"], &["89.900", ""], &["2 000 000", "Svart"]]));
        let all = profiles.end(names.into_iter());
        let of = |index: usize| (all[index].filled, all[index].distinct, all[index].minimum, all[index].median);
        assert_eq!(of(0), (3, 3, Some(89_900.0), Some(149_900.0)));
        assert_eq!((of(1), all[1].maximum), ((2, 1, None, None), None));
        assert_eq!(all[1].samples, ["Svart"]);
    }

    #[test]
    fn memory_is_bounded_and_the_median_stays_right() {
        let mut spread = EvenSample::new(100);
        (0..100_000).for_each(|number| spread.add(f64::from(number)));
        assert!(spread.kept.len() <= 100 && spread.count() == 100_000);
        let median = spread.median().unwrap();
        assert!((40_000.0..60_000.0).contains(&median), "{median}");
        let mut profiles = Profiles::default();
        for part in 0..30 {
            let cells: Vec<String> = (0..200).map(|row| format!("x{}", part * 200 + row)).collect();
            let rows: Vec<[&str; 1]> = cells.iter().map(|cell| [cell.as_str()]).collect();
            let rows: Vec<&[&str]> = rows.iter().map(<[&str; 1]>::as_slice).collect();
            profiles.add(&rows_of(&["x"], &rows));
        }
        let profile = profiles.end(["x"].into_iter()).remove(0);
        assert_eq!((profile.filled, profile.distinct, profile.has_more), (6000, MOST_DISTINCT, true));
    }
}
