//! Statistics of a column, in bounded memory.

use ad_core::written::{currency, number};
use rustc_hash::{FxHashMap, FxHashSet};

use super::look::{LONGEST_NAME, LOOKS, Terms, ValueLook, separator};

/// Most different values that are kept of a column, and of all.
const MOST_DISTINCT: usize = 300;
const MOST_OF_ALL: usize = 60_000;
/// Longest value that is kept whole.
const LONGEST: usize = 120;
/// Number of values that are shown, and their longest text.
const SAMPLES: usize = 3;
const LONGEST_SAMPLE: usize = 60;

/// Separators of lists of words: those that stand for nothing else first.
const MARKS: [&str; 11] = ["|", ";", "\n", "\t", "•", "<br>", ",", " / ", " + ", " - ", "/"];
/// How many of them are certain.
const CERTAIN_MARKS: usize = 7;
/// Most texts that are kept of those that are no model of the brand beside them.
const MOST_UNKNOWN: usize = 30;

#[derive(Debug, Default)]
pub(super) struct ColumnStatistics {
    /// Rows that have a value in it.
    pub(super) filled: u32,
    /// Values; a row may have several.
    pub(super) values: u32,
    /// Rows in which it has several values.
    pub(super) repeated: u32,
    /// Different values with their counts, as far as they are kept.
    pub(super) distinct: FxHashMap<Box<str>, u32>,
    /// Whether there are more than are kept.
    pub(super) has_more: bool,
    /// The first different values, for the user.
    pub(super) samples: Vec<String>,
    looks: [u32; LOOKS],
    pub(super) numbers: Numbers,
    pub(super) dates: Dates,
    /// Values with each of the marks.
    marks: [u32; MARKS.len()],
    /// Separators of images, with the number of values that have them.
    pictures: FxHashMap<&'static str, u32>,
    /// What of it is a model of the brand beside it.
    pub(super) models: ModelEvidence,
    /// Values that are the number of their row.
    numbered: u32,
    last_row: u32,
}

/// How many values of a column are models of the brands of their rows.
#[derive(Debug, Default)]
pub(super) struct ModelEvidence {
    pub(super) checked: u32,
    pub(super) found: u32,
    /// Those that are not, with their brand and how many rows they are in, as far as they are kept.
    pub(super) unknown: FxHashMap<(Box<str>, Box<str>), u32>,
}

/// How a column separates the items of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListMark {
    /// Each value is one item, or a comma is between them.
    Usual,
    Mark(&'static str),
    /// Its values may be lists, but the mark may also be part of an item.
    Unsure(&'static str),
}

#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) count: u32,
    pub(super) greatest: f64,
    /// The least that is more than 0.
    least: Option<f64>,
    /// The first numbers, in the order of the file.
    pub(super) kept: Vec<f64>,
    /// Those that end in 00 or 900, as prices do.
    pub(super) round: u32,
    /// Ambiguous numbers with a point (`1.234`), and with a comma.
    pub(super) ambiguous: [u32; 2],
    /// Numbers whose decimal separator is a point, and a comma.
    pub(super) decimal: [u32; 2],
    /// Texts after them, such as `km`.
    pub(super) after: FxHashMap<Box<str>, u32>,
    /// Texts that are 0, as far as they are kept.
    pub(super) zeros: FxHashSet<Box<str>>,
    /// Signs of currencies around them.
    pub(super) signs: FxHashMap<Box<str>, u32>,
}

/// Statistics of dates such as `04/05/2019`.
#[derive(Debug, Default)]
pub(super) struct Dates {
    pub(super) ambiguous: u32,
    /// Dates whose first part is not a month, and whose second part is not.
    pub(super) day_first: u32,
    pub(super) month_first: u32,
    /// The separator of the parts.
    pub(super) mark: Option<char>,
}

impl ColumnStatistics {
    /// Adds a value of a row. `columns` is how many columns there are.
    pub(super) fn add(&mut self, row: u32, text: &str, terms: &mut Terms, columns: usize) {
        let text = text.trim();
        if text.is_empty() || terms.is_placeholder(text) {
            return;
        }
        self.values += 1;
        if self.last_row == row {
            self.repeated += 1;
        } else {
            self.filled += 1;
            self.last_row = row;
        }
        let is_known = text.len() <= LONGEST && self.distinct.contains_key(text);
        if let Some(count) = self.distinct.get_mut(text) {
            *count += 1;
        } else if self.distinct.len() < MOST_DISTINCT.min(MOST_OF_ALL / columns.max(1)) && text.len() <= LONGEST {
            self.distinct.insert(text.into(), 1);
        } else {
            self.has_more = true;
        }
        if !is_known && self.samples.len() < SAMPLES {
            self.samples.push(ad_files::text::shortened(text, LONGEST_SAMPLE).into_owned());
        }
        terms.count(text, &mut self.looks);
        let is_number_of_row = |first: u32| text.parse() == Ok(row - 1 + first);
        self.numbered += u32::from(is_number_of_row(1) || is_number_of_row(0));
        self.numbers.add(text);
        self.dates.add(text);
        for (count, mark) in self.marks.iter_mut().zip(MARKS) {
            *count += u32::from(text.contains(mark));
        }
        if let Some(mark) = separator(text) {
            *self.pictures.entry(mark).or_default() += 1;
        }
    }

    /// The percentage of values with this look.
    pub(super) fn share(&self, look: ValueLook) -> u32 {
        (self.looks[look as usize] * 100).checked_div(self.values).unwrap_or_default()
    }

    pub(super) fn is_unique(&self) -> bool {
        self.repeated == 0 && self.distinct.values().all(|count| *count == 1)
    }

    pub(super) fn longest(&self) -> usize {
        self.distinct.keys().map(|text| text.chars().count()).max().unwrap_or(0)
    }

    /// Adds what a value is beside the brand of its row.
    pub(super) fn add_beside(&mut self, brand: &str, text: &str, terms: &mut Terms) {
        let text = text.trim();
        let ModelEvidence { checked, found, unknown } = &mut self.models;
        // Columns of something else cost little.
        if text.is_empty() || text.len() > LONGEST_NAME || (*checked >= 50 && *found * 5 < *checked) {
            return;
        }
        *checked += 1;
        if terms.is_model(brand, text) {
            *found += 1;
        } else if unknown.len() < MOST_UNKNOWN || unknown.keys().any(|(_, known)| **known == *text) {
            *unknown.entry((brand.into(), text.into())).or_default() += 1;
        }
    }

    /// The percentage of values that are models of the brands beside them; nothing where there are too few to say so.
    pub(super) fn models_share(&self) -> Option<u32> {
        let ModelEvidence { checked, found, .. } = self.models;
        (checked >= 3).then(|| found * 100 / checked)
    }

    /// Whether its values are the numbers of the rows, which are others after the next export.
    pub(super) fn is_numbered(&self) -> bool {
        self.filled > 1 && self.numbered == self.filled
    }

    /// Whether all values are the same.
    pub(super) fn is_constant(&self) -> bool {
        self.values > 2 && self.distinct.len() == 1 && !self.has_more
    }

    /// Whether its texts begin alike, as stock numbers do and plates do not: `LAG001`, `LAG002`.
    pub(super) fn begins_alike(&self) -> bool {
        let beginnings: FxHashSet<String> = self.distinct.keys().map(|text| text.chars().take(3).collect()).collect();
        self.distinct.len() >= 4 && beginnings.len() * 4 <= self.distinct.len()
    }

    /// How its lists are separated: by the first mark that more than a tenth of the values have.
    pub(super) fn list_mark(&self) -> ListMark {
        let some = |(count, _): &(&u32, &'static str)| **count * 10 > self.values;
        let found = self.marks.iter().zip(MARKS).position(|it| some(&it));
        match found.map(|at| (at, MARKS[at])) {
            None | Some((_, ",")) => ListMark::Usual,
            Some((at, mark)) if at < CERTAIN_MARKS => ListMark::Mark(mark),
            Some((_, mark)) => ListMark::Unsure(mark),
        }
    }

    /// Whether it has lists of words.
    pub(super) fn has_lists(&self) -> bool {
        self.marks[..CERTAIN_MARKS].iter().any(|count| count * 10 > self.values)
    }

    /// How many words its values have on average.
    pub(super) fn words(&self) -> f64 {
        let words: usize = self.distinct.keys().map(|text| text.split_whitespace().count()).sum();
        f64::from(u32::try_from(words).unwrap_or(u32::MAX))
            / f64::from(u32::try_from(self.distinct.len().max(1)).unwrap_or(1))
    }

    /// The separator that all values with several images have.
    pub(super) fn picture_mark(&self) -> Option<&'static str> {
        let mut marks = self.pictures.keys().copied();
        marks.next().filter(|_| marks.next().is_none())
    }

    /// The different values, the most frequent first.
    pub(super) fn frequent(&self) -> Vec<(&str, u32)> {
        let mut all: Vec<(&str, u32)> = self.distinct.iter().map(|(text, count)| (&**text, *count)).collect();
        all.sort_by(|(one, count), (other, other_count)| other_count.cmp(count).then(one.cmp(other)));
        all
    }
}

impl Numbers {
    fn add(&mut self, text: &str) {
        let sign = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let sign = text[..text.len() - sign.len()].trim();
        if text.len() > 40 || (!sign.is_empty() && currency::of_sign(sign).is_none()) {
            return;
        }
        let mut found = number::read(text, None);
        if found == Err(number::NoNumber::Ambiguous) {
            let has_comma = text.contains(',');
            self.ambiguous[usize::from(has_comma)] += 1;
            // Nearly always thousands; a mapping would not assume this.
            found = number::read(text, Some(if has_comma { '.' } else { ',' }));
        }
        let Ok(found) = found else { return };
        self.count += 1;
        let float = found.number.float();
        self.greatest = self.greatest.max(float);
        if float == 0.0 && self.zeros.len() < 10 {
            self.zeros.insert(text.into());
        }
        if float > 0.0 {
            self.least = Some(self.least.map_or(float, |least| least.min(float)));
        }
        if self.kept.len() < MOST_DISTINCT {
            self.kept.push(float);
        }
        if let Some(sign) = [sign, found.after.trim()].into_iter().find(|sign| currency::of_sign(sign).is_some()) {
            *self.signs.entry(sign.into()).or_default() += 1;
        }
        self.round += u32::from(found.number.whole().is_some_and(|whole| whole >= 1000 && whole % 50 == 0));
        let is_decimal = found.number.decimals() > 0;
        let last = text.rfind(['.', ',']).map(|at| text.as_bytes()[at]);
        match last {
            Some(b'.') if is_decimal => self.decimal[0] += 1,
            Some(b',') if is_decimal => self.decimal[1] += 1,
            _ => {}
        }
        let after = found.after.trim();
        if !after.is_empty() && (self.after.len() < 20 || self.after.contains_key(after)) {
            *self.after.entry(after.into()).or_default() += 1;
        }
    }

    /// Whether all that are more than 0 are at least this.
    pub(super) fn are_from(&self, minimum: f64) -> bool {
        self.least.is_none_or(|least| least >= minimum)
    }

    pub(super) fn median(&self) -> Option<f64> {
        median(self.kept.clone())
    }

    /// The median of those that are more than 0.
    pub(super) fn typical(&self) -> Option<f64> {
        median(self.kept.iter().copied().filter(|number| *number > 0.0).collect())
    }

    /// Whether a text is after each of them.
    pub(super) fn have_units(&self) -> bool {
        self.count > 0 && self.after.values().sum::<u32>() == self.count
    }

    /// The text after most of them.
    pub(super) fn suffix(&self) -> Option<&str> {
        let (text, count) = self.after.iter().max_by_key(|(_, count)| **count)?;
        (count * 2 > self.count).then_some(&**text)
    }
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

impl Dates {
    fn add(&mut self, text: &str) {
        let day = text.split(['T', ' ']).next().unwrap_or(text);
        let Some(mark) = day.chars().find(|letter| matches!(letter, '/' | '-')) else { return };
        let mut parts = day.split(mark).map(str::parse::<u16>);
        let (Some(Ok(one)), Some(Ok(two)), Some(Ok(year)), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return;
        };
        if one > 31 || two > 31 || year < 1900 {
            return;
        }
        self.mark = Some(mark);
        match (one > 12, two > 12) {
            (true, false) => self.day_first += 1,
            (false, true) => self.month_first += 1,
            (false, false) => self.ambiguous += 1,
            (true, true) => {}
        }
    }

    /// The format, if some dates are ambiguous, and whether others prove it.
    pub(super) fn form(&self) -> Option<(String, bool)> {
        let mark = self.mark.filter(|_| self.ambiguous > 0)?;
        let is_month_first = self.month_first > self.day_first;
        let form = if is_month_first { format!("MM{mark}DD{mark}YYYY") } else { format!("DD{mark}MM{mark}YYYY") };
        Some((form, (self.day_first > 0) != (self.month_first > 0)))
    }
}
