//! Takes off texts what programs add to protect them: guards against spreadsheets, and the escapes of database exports.
//!
//! A spreadsheet makes numbers of `00101` and formulas of `=1+1`; as `="00101"` or `'00101` it leaves them alone. `MySQL` and `PostgreSQL` write
//! a line break as `\\n`, a tab as `\\t`, a backslash as `\\\\`, and a value that is null as `\\N`.

use std::borrow::Cow;

use ad_core::csv_guard as guard;

use crate::readers::{CellKind, quoted, sheets};

/// Fewest codes of a column that show that all of them are guarded, and fewest texts of several words.
const ENOUGH: [usize; 2] = [2, 5];

/// Columns that a note names.
const SHOWN: usize = 5;

/// What is taken off the texts of each column, and how often it was.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    /// Columns all of whose values begin with an apostrophe.
    guarded: Vec<bool>,
    /// Columns whose values have escapes, such as `\n` for a line break.
    escaped: Vec<bool>,
    guards: MarkCounts,
    escapes: MarkCounts,
    nulls: MarkCounts,
}

/// Values by the index of their column.
#[derive(Debug, Default)]
struct MarkCounts(Vec<u64>);

impl MarkCounts {
    fn add(&mut self, column: usize) {
        if column >= self.0.len() {
            self.0.resize(column + 1, 0);
        }
        self.0[column] += 1;
    }
}

impl Cleaner {
    /// Detects from the first rows what to take off each column. `has_escapes`: all columns have escapes.
    pub(super) fn new(rows: &[Vec<String>], has_escapes: bool) -> Self {
        let width = rows.iter().map(Vec::len).max().unwrap_or_default();
        let column = |index: usize| rows.iter().filter_map(move |row| row.get(index)).filter(|text| !text.is_empty());
        let has_nulls = rows.iter().flatten().any(|text| text == NULL);
        // A file that quotes line breaks does not escape them.
        let has_breaks = rows.iter().flatten().any(|text| text.contains(['\n', '\r']));
        Self {
            guarded: (0..width).map(|index| is_guarded(column(index))).collect(),
            escaped: (0..width)
                .map(|index| has_escapes || (!has_breaks && shows_escapes(&column(index), has_nulls)))
                .collect(),
            ..Self::default()
        }
    }

    /// The text that was meant by a value.
    pub(super) fn cleaned<'a>(&mut self, column: usize, text: Cow<'a, str>, may_have_escapes: bool) -> Cow<'a, str> {
        match text.as_bytes().first() {
            Some(b'=') => {
                if let Some(inner) = text_of_formula(&text) {
                    self.guards.add(column);
                    return inner.into();
                }
            }
            Some(b'\'') if self.guarded.get(column) == Some(&true) || is_guard(&text) => {
                self.guards.add(column);
                return text[1..].to_owned().into();
            }
            _ => {}
        }
        if may_have_escapes && text.contains('\\') {
            if text == NULL {
                self.nulls.add(column);
                return "".into();
            }
            if self.escaped.get(column) == Some(&true)
                && let Some(meant) = unescaped(&text)
            {
                self.escapes.add(column);
                return meant.into();
            }
        }
        text
    }

    /// What was taken off, in sentences, since this was asked last.
    pub(super) fn take_notes<'n>(&mut self, name: impl Fn(usize) -> &'n str) -> Vec<String> {
        let mut notes = Vec::new();
        let kinds = [
            (&mut self.guards, "guarded as texts, such as =\"00101\" or '00101; they are read without the guard"),
            (&mut self.escapes, "written with escapes, such as \\n for a line break; they are read as the characters"),
            (&mut self.nulls, "\\N, which stands for no value in exports of databases; they are empty"),
        ];
        for (MarkCounts(counts), what) in kinds {
            let columns: Vec<_> = (0..).zip(counts.iter()).filter(|(_, count)| **count > 0).collect();
            if columns.is_empty() {
                continue;
            }
            let shown: Vec<_> = columns
                .iter()
                .take(SHOWN)
                .map(|(index, count)| format!("{} ({count})", quoted(name(*index))))
                .collect();
            let more = if columns.len() > SHOWN { ", …" } else { "" };
            notes.push(format!("Values of {}{more} are {what}.", shown.join(", ")));
            counts.clear();
        }
        notes
    }
}

/// Stands for no value in exports of databases.
const NULL: &str = "\\N";

/// The text that a formula of nothing but texts in quotes is.
fn text_of_formula(text: &str) -> Option<String> {
    if !text[1..].trim_start().starts_with('"') {
        return None;
    }
    let (kind, text) = sheets::of_formula(text, None);
    (kind == CellKind::Text).then(|| text.into_owned())
}

/// Whether an apostrophe at the beginning of a text guards it by itself: before what begins a formula, or before digits.
fn is_guard(text: &str) -> bool {
    let inner = &text[1..];
    guard::unguarded(text).is_some() || (!inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether all texts of a column are guarded.
fn is_guarded<'a>(mut texts: impl Iterator<Item = &'a String> + Clone) -> bool {
    let [codes, words] = ENOUGH;
    let enough = if texts.clone().any(|text| text.contains(' ')) { words } else { codes };
    texts.clone().nth(enough - 1).is_some()
        && texts.all(|text| text.len() > 1 && text.starts_with('\'') && !text[1..].ends_with('\''))
}

/// Whether the backslashes of a column are all escapes, and not parts of paths that happen to look like some.
fn shows_escapes<'a>(texts: &(impl Iterator<Item = &'a String> + Clone), has_nulls: bool) -> bool {
    let with = || texts.clone().filter(|text| text.contains('\\') && *text != NULL);
    // A backslash behind a drive, or two at the beginning, as a program that does not escape them writes.
    let is_path = |text: &String| {
        let of_drive = |(at, _)| {
            let mut before = text[..at].chars().rev();
            let is_drive = before.next().is_some_and(|letter| letter.is_ascii_alphabetic())
                && before.next().is_none_or(|letter| !letter.is_alphanumeric());
            is_drive && !text[at + 2..].starts_with('\\')
        };
        text.match_indices(":\\").any(of_drive) || (text.starts_with("\\\\") && !text.starts_with("\\\\\\"))
    };
    let is_evident = |text: &String| {
        text.contains("\\\\")
            || ["\\n", "\\t", "\\r"].iter().any(|escape| text.match_indices(escape).any(|(at, _)| is_break(text, at)))
    };
    with().next().is_some()
        && with().all(|text| unescaped(text).is_some() && !is_path(text))
        && (has_nulls || with().any(is_evident))
}

/// Whether an escape is where a text may break: behind a sentence, or before a new one.
fn is_break(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + 2..].chars().next();
    before.is_none_or(|letter| letter.is_whitespace() || ".!?:;,)".contains(letter))
        || after.is_some_and(|letter| letter.is_whitespace() || letter.is_uppercase() || "-*•\\".contains(letter))
}

/// A text with the characters that its escapes mean; `None` if it has others.
fn unescaped(text: &str) -> Option<String> {
    let mut meant = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        meant.push(if letter == '\\' {
            match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                // MySQL escapes signs of the file itself, too.
                sign @ ('\\' | '"' | '\'' | ',' | ';' | '|' | '\t' | '\n' | '\r') => sign,
                _ => return None,
            }
        } else {
            letter
        });
    }
    Some(meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(column: &[&str]) -> Vec<String> {
        let rows: Vec<Vec<String>> = column.iter().map(|text| vec![(*text).to_owned()]).collect();
        let mut cleaner = Cleaner::new(&rows, false);
        column.iter().map(|text| cleaner.cleaned(0, (*text).into(), true).into_owned()).collect()
    }

    #[test]
    fn guards_are_taken_off_texts_and_apostrophes_of_texts_stay() {
        assert_eq!(
            cleaned(&[
                "=\"00101\"",
                "=\"\"",
                "='x'",
                "=1+1",
                "=\"5\" x",
                "'00101",
                "'+46701234567",
                "'n Roll",
                "'=1+1",
                "''=1+1",
                "'=x'",
                "'5'"
            ]),
            [
                "00101",
                "",
                "='x'",
                "=1+1",
                "=\"5\" x",
                "00101",
                "+46701234567",
                "'n Roll",
                "=1+1",
                "'=1+1",
                "=x'",
                "'5'"
            ]
        );
        assert_eq!(cleaned(&["'ABC123", "'DEF456"]), ["ABC123", "DEF456"]);
        assert_eq!(cleaned(&["'ABC123", "DEF456"]), ["'ABC123", "DEF456"]);
        assert_eq!(cleaned(&["'a'", "'b'"]), ["'a'", "'b'"]);
    }

    #[test]
    fn escapes_are_read_where_a_whole_column_has_them() {
        assert_eq!(cleaned(&["Fin bil.\\nRing!", "A\\\\B", "\\N", "x"]), ["Fin bil.\nRing!", "A\\B", "", "x"]);
        for paths in [
            &["C:\\new\\temp", "C:\\nya\\rad"][..],
            &["bilder\\nr1.jpg", "bilder\\t2.jpg"],
            &["\\\\server\\n1", "\\\\server\\n2"],
            &["a.\\nB", "C:\\Bilder"],
            &["Mapp C:\\nya\\temp. \\n"],
        ] {
            assert_eq!(cleaned(paths), paths);
        }
        assert_eq!(cleaned(&["Rader:\\nen", "C:\\\\ny"]), ["Rader:\nen", "C:\\ny"]);
        assert_eq!(cleaned(&["\\N", "volvo\\tsaab"]), ["", "volvo\tsaab"]);
    }
}
