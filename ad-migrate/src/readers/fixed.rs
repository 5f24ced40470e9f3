//! Fixed-width files: columns at the same characters of each line.

use std::sync::Arc;

use serde::Deserialize;

use super::{Batch, Columns, LONGEST_ROW, ReadError, Records, Settings, feed::Feed, foreign_text, too_long};

/// The characters of a column, from 1: `8-13`, or `30-` up to the end of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct CharRange {
    first: usize,
    last: usize,
}

impl TryFrom<String> for CharRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let number = |text: &str| text.trim().parse().ok().filter(|number: &usize| *number > 0);
        let range = match text.split_once('-') {
            None => number(&text).map(|only| Self { first: only, last: only }),
            Some((first, "")) => number(first).map(|first| Self { first, last: usize::MAX }),
            Some((first, last)) => number(first).zip(number(last)).map(|(first, last)| Self { first, last }),
        };
        range.filter(|range| range.first <= range.last).ok_or_else(|| {
            format!("\"{text}\" is no range of characters; write the first and the last, from 1, such as \"8-13\", or \"30-\" to the end of the line")
        })
    }
}

#[derive(Debug)]
pub(super) struct Fixed {
    feed: Feed,
    columns: Arc<Columns>,
    ranges: Vec<CharRange>,
    number: u64,
    skip_last: usize,
}

impl Fixed {
    /// Skips the first lines.
    ///
    /// # Errors
    /// When the settings name no columns.
    pub(super) fn open(mut feed: Feed, settings: &Settings) -> Result<Self, ReadError> {
        if settings.columns.is_empty() {
            return Err(ReadError::new("The columns of the fixed-width file are not set.")
                .hint("Set them in [file] of the mapping: columns = { Lagernr = \"1-7\", Regnr = \"8-13\" }."));
        }
        let mut ranges: Vec<_> = settings.columns.iter().collect();
        ranges.sort_by_key(|(_, range)| **range);
        let mut columns = Columns::default();
        for (name, _) in &ranges {
            columns.add(name);
        }
        for _ in 0..settings.skip_first {
            feed.skip_line(b'\n');
        }
        let ranges = ranges.into_iter().map(|(_, range)| *range).collect();
        Ok(Self { feed, columns: Arc::new(columns), ranges, number: 0, skip_last: settings.skip_last })
    }

    /// Reads until the window has the next line and those that are skipped at the end; `None` at the end.
    fn line(&mut self) -> Option<usize> {
        loop {
            let rest = self.feed.rest();
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let is_blank = rest[..length].trim_ascii().is_empty();
            let after = rest[length..].split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            let has_more = rest.len() > length && after.take(self.skip_last).count() == self.skip_last;
            if is_blank && length > 0 && rest[length - 1] == b'\n' {
                self.feed.skip(length);
            } else if has_more || length > LONGEST_ROW {
                return Some(length);
            } else if !self.feed.more() {
                let is_row = !is_blank && self.skip_last == 0 && !self.feed.is_cut();
                return is_row.then_some(length);
            }
        }
    }
}

impl Records for Fixed {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        let Some(length) = self.line() else {
            self.feed.check()?;
            return Ok(false);
        };
        self.number += 1;
        batch.begin(self.number, self.feed.place().line);
        if length > LONGEST_ROW {
            batch.error(too_long());
            self.feed.skip_line(b'\n');
            return Ok(true);
        }
        let (text, is_foreign) = self.feed.charset.text(self.feed.rest()[..length].trim_ascii_end());
        // Where each character begins.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let start = |character: usize| starts.get(character).copied().unwrap_or(text.len());
        for (index, range) in self.ranges.iter().enumerate() {
            if let Some(column) = self.columns.at(index) {
                batch.push(column, text[start(range.first - 1)..start(range.last)].trim());
            }
        }
        if is_foreign {
            batch.error(foreign_text(self.feed.charset, "The line contains bytes", &text));
        }
        self.feed.skip(length);
        Ok(true)
    }

    fn columns(&mut self) -> &mut Arc<Columns> {
        &mut self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::testing::{file, read_with};

    fn settings(columns: &[(&str, &str)]) -> Settings {
        let range = |text: &str| CharRange::try_from(text.to_owned()).unwrap();
        let columns = columns.iter().map(|(name, text)| ((*name).to_owned(), range(text))).collect();
        Settings { columns, ..Settings::default() }
    }

    #[test]
    fn columns_are_characters_of_a_line_in_any_encoding() {
        let settings = settings(&[("Nr", "1-3"), ("Färg", "4-8"), ("Text", "10-")]);
        let text = "L1 Röd   Ett\n\nL2 Blå\nL3 Mörkb Två";
        let rows = ["1@1 Nr=L1; Färg=Röd; Text=Ett", "2@3 Nr=L2; Färg=Blå; Text=", "3@4 Nr=L3; Färg=Mörkb; Text=Två"];
        assert_eq!(read_with(text, &settings).rows, rows);
        let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
        assert_eq!(read_with(latin, &settings).rows, rows);
    }

    #[test]
    fn lines_at_top_and_bottom_are_skipped() {
        let settings = Settings { skip_first: 1, skip_last: 2, ..settings(&[("Nr", "1-2")]) };
        assert_eq!(read_with("STOCK\nL1\nL2\nSum\n\nEnd\n", &settings).rows, ["1@2 Nr=L1", "2@3 Nr=L2"]);
    }

    #[test]
    fn what_is_no_range_says_how_to_write_one() {
        for wrong in ["", "0-3", "3-1", "a-b", "-5"] {
            let error = CharRange::try_from(wrong.to_owned()).unwrap_err();
            assert!(error.contains("\"8-13\""), "{error}");
        }
        let fixed = Settings { form: Some(crate::readers::Form::Fixed), ..Settings::default() };
        let error = crate::readers::Reader::open(file(b"x").path(), &fixed).unwrap_err();
        assert_eq!(error.message, "The columns of the fixed-width file are not set.");
    }
}
