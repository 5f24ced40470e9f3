//! What is known of a column after its first rows: bounded, whatever it holds.

use rustc_hash::FxHashMap;

use super::look::{LOOKS, Terms, ValueLook, separator};
use crate::mapping::number;

/// Most different values that are kept of a column, and of all.
const MOST_DISTINCT: usize = 300;
const MOST_OF_ALL: usize = 60_000;
/// Longest value that is kept whole.
const LONGEST: usize = 120;
/// How many values are shown.
const SAMPLES: usize = 3;

/// What separates the items of lists of words.
const MARKS: [&str; 5] = ["|", ";", "\n", ",", "/"];

/// A column.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Rows that have a value in it.
    pub(super) filled: u32,
    /// Values, several of a row counted.
    pub(super) values: u32,
    /// Rows in which it has several values.
    pub(super) repeated: u32,
    /// Different values and how often each is there, as far as they are kept.
    pub(super) distinct: FxHashMap<Box<str>, u32>,
    /// Whether there are more than are kept.
    pub(super) has_more: bool,
    /// The first different values.
    pub(super) samples: Vec<String>,
    looks: [u32; LOOKS],
    pub(super) numbers: Numbers,
    pub(super) dates: Dates,
    /// Values with each of the marks.
    marks: [u32; MARKS.len()],
    /// What separates pictures, by how many values.
    pictures: FxHashMap<&'static str, u32>,
    last_row: u32,
}

/// What the numbers of a column are like.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) count: u32,
    pub(super) greatest: f64,
    /// Those that end in 00 or 900, as prices do.
    pub(super) round: u32,
    /// `1.234` and `1,234`, which can be read in two ways.
    pub(super) ambiguous: [u32; 2],
    /// Those that show that `.` or `,` is the decimal separator.
    pub(super) decimal: [u32; 2],
    /// What stands behind them, such as `km`.
    pub(super) after: FxHashMap<Box<str>, u32>,
}

/// What tells the form of dates such as `04/05/2019`.
#[derive(Debug, Default)]
pub(super) struct Dates {
    pub(super) ambiguous: u32,
    /// Those whose first part is no month, and those whose second is none.
    pub(super) day_first: u32,
    pub(super) month_first: u32,
    /// What stands between the parts.
    pub(super) mark: Option<char>,
}

impl Column {
    /// Adds a value of a row. `columns` is how many columns there are.
    pub(super) fn add(&mut self, row: u32, text: &str, terms: &mut Terms, columns: usize) {
        let text = text.trim();
        if text.is_empty() {
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
            let short: String = text.chars().take(60).collect();
            let cut = if short.len() < text.len() { "…" } else { "" };
            self.samples.push(format!("{short}{cut}"));
        }
        terms.count(text, &mut self.looks);
        self.numbers.add(text);
        self.dates.add(text);
        for (count, mark) in self.marks.iter_mut().zip(MARKS) {
            *count += u32::from(text.contains(mark));
        }
        if let Some(mark) = separator(text) {
            *self.pictures.entry(mark).or_default() += 1;
        }
    }

    /// How many of the values look so, in hundredths.
    pub(super) fn share(&self, look: ValueLook) -> u32 {
        (self.looks[look as usize] * 100).checked_div(self.values).unwrap_or_default()
    }

    /// Whether each row has another value.
    pub(super) fn is_unique(&self) -> bool {
        self.repeated == 0 && self.distinct.values().all(|count| *count == 1)
    }

    /// Longest value that is kept.
    pub(super) fn longest(&self) -> usize {
        self.distinct.keys().map(|text| text.chars().count()).max().unwrap_or(0)
    }

    /// What separates items of a list: the first mark that some values have.
    pub(super) fn mark(&self) -> Option<&'static str> {
        let some = |(count, _): &(&u32, &'static str)| **count * 10 > self.values;
        self.marks.iter().zip(MARKS).find(some).map(|(_, mark)| mark)
    }

    /// What separates pictures.
    pub(super) fn picture_mark(&self) -> Option<&'static str> {
        self.pictures.iter().max_by_key(|(_, count)| **count).map(|(mark, _)| *mark)
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
        if !text.starts_with(|letter: char| letter.is_ascii_digit() || "€$£k".contains(letter)) || text.len() > 40 {
            return;
        }
        let found = match number::read(text, None) {
            Ok(found) => found,
            Err(number::NoNumber::Ambiguous) => {
                self.ambiguous[usize::from(text.contains(','))] += 1;
                // Thousands are what it nearly always is; only for looking, not for mapping.
                let told = if text.contains(',') { '.' } else { ',' };
                let Ok(found) = number::read(text, Some(told)) else { return };
                found
            }
            Err(number::NoNumber::None) => return,
        };
        self.count += 1;
        self.greatest = self.greatest.max(found.number.float());
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

    /// What stands behind most of them.
    pub(super) fn suffix(&self) -> Option<&str> {
        let (text, count) = self.after.iter().max_by_key(|(_, count)| **count)?;
        (count * 2 > self.count).then_some(&**text)
    }
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

    /// The form to tell, where dates can be read in two ways, and whether others of the column show it.
    pub(super) fn form(&self) -> Option<(String, bool)> {
        let mark = self.mark.filter(|_| self.ambiguous > 0)?;
        let is_month_first = self.month_first > self.day_first;
        let form = if is_month_first { format!("MM{mark}DD{mark}YYYY") } else { format!("DD{mark}MM{mark}YYYY") };
        Some((form, (self.day_first > 0) != (self.month_first > 0)))
    }
}
