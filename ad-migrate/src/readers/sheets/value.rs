//! Values of cells as texts: numbers as their format shows them, dates, and formulas that say what they are.

use std::{borrow::Cow, sync::Arc};

use jiff::{ToSpan as _, civil::date};

use crate::readers::{CellKind, number_text};

/// From here on, a number does not have all digits that were written.
const MOST_EXACT: f64 = 1e15;

/// Most digits of a whole number that needs no rounding.
const EXACT_DIGITS: usize = 15;

/// Longest code of a format, in bytes; Excel has 255 characters. A longer one shows numbers as they are.
pub(super) const LONGEST_CODE: usize = 1020;

/// The endings of addresses of pictures.
const PICTURES: &[&str] = &[".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".avif", ".tif", ".tiff"];

/// What a number format means for the text of a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum NumberFormat {
    /// It shows the number in some way.
    #[default]
    Plain,
    Date,
    Duration,
    /// It fills the number up with zeros.
    Zeros(Arc<[Piece]>),
}

/// A part of a format of zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Digit,
    Sign(char),
}

impl NumberFormat {
    /// The format of a code such as `00000`, `000\ 00` or `yyyy-mm-dd`; its first section, which is for positive numbers.
    pub(super) fn of_code(code: &str) -> Self {
        if code.len() > LONGEST_CODE || ["general", "standard"].iter().any(|name| code.eq_ignore_ascii_case(name)) {
            return Self::Plain;
        }
        let (mut pieces, mut is_other, mut before_meridiem) = (Vec::new(), false, false);
        let mut letters = code.chars();
        while let Some(letter) = letters.next() {
            if std::mem::take(&mut before_meridiem) && matches!(letter, 'm' | 'M' | '/' | 'p' | 'P') {
                return Self::Date;
            }
            match letter {
                ';' => break,
                '"' => pieces.extend(letters.by_ref().take_while(|letter| *letter != '"').map(Piece::Sign)),
                '\\' => pieces.extend(letters.next().map(Piece::Sign)),
                // A space as wide as a letter, and a letter that fills the cell.
                '_' | '*' => _ = letters.next(),
                '[' => {
                    let within: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                    let first = within.chars().next().unwrap_or_default().to_ascii_lowercase();
                    if "hms".contains(first) && within.chars().all(|letter| letter.to_ascii_lowercase() == first) {
                        return Self::Duration;
                    }
                    // A language is no part of the text; a currency or a condition is.
                    is_other |=
                        within.starts_with(['<', '>', '=']) || (within.starts_with('$') && !within.starts_with("$-"));
                }
                '0' => pieces.push(Piece::Digit),
                '#' | '?' | ',' | '.' | '%' | '/' | '@' | 'e' | 'E' | 'g' | 'G' => is_other = true,
                'd' | 'D' | 'm' | 'M' | 'h' | 'H' | 'y' | 'Y' | 's' | 'S' => return Self::Date,
                'a' | 'A' => before_meridiem = true,
                other => pieces.push(Piece::Sign(other)),
            }
        }
        let digits = pieces.iter().filter(|piece| **piece == Piece::Digit).count();
        if is_other || digits < 2 { Self::Plain } else { Self::Zeros(pieces.into()) }
    }

    /// The format of a built-in number.
    pub(super) fn of_id(id: u32) -> Self {
        match id {
            14..=22 | 27..=36 | 45 | 47 | 50..=58 => Self::Date,
            46 => Self::Duration,
            _ => Self::Plain,
        }
    }
}

/// A whole number, filled up as a format of zeros shows it.
fn filled(digits: &str, pieces: &[Piece]) -> String {
    let places = pieces.iter().filter(|piece| **piece == Piece::Digit).count();
    let mut digits = std::iter::repeat_n('0', places.saturating_sub(digits.len())).chain(digits.chars());
    let mut surplus = digits.clone().count() - places;
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Sign(sign) => text.push(*sign),
            Piece::Digit => {
                text.extend(digits.by_ref().take(std::mem::take(&mut surplus) + 1));
            }
        }
    }
    text
}

/// The value of a number of a file, as it is written there.
pub(super) fn number<'a>(written: &'a str, format: &NumberFormat, is_1904: bool) -> (CellKind, Cow<'a, str>) {
    let is_whole = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole && matches!(format, NumberFormat::Plain) && (written.len() == 1 || !written.starts_with('0')) {
        return (CellKind::Number, written.into());
    }
    let Ok(number) = written.parse::<f64>() else { return (CellKind::Text, written.into()) };
    if !number.is_finite() {
        return (CellKind::Infinite, written.into());
    }
    match format {
        NumberFormat::Date => match date_text(number, is_1904) {
            Some(text) => (CellKind::Date, text.into()),
            // Spreadsheets show no date, either.
            None => (CellKind::Number, number_text(number).into()),
        },
        NumberFormat::Duration => (CellKind::Date, duration_text(number).into()),
        _ if is_whole && written.len() > EXACT_DIGITS => (CellKind::Number, written.into()),
        _ if number.abs() >= MOST_EXACT => (CellKind::LossyNumber, number_text(number).into()),
        NumberFormat::Zeros(pieces) if number >= 0.0 && number.fract() == 0.0 => {
            (CellKind::Number, filled(&format!("{number:.0}"), pieces).into())
        }
        _ => (CellKind::Number, number_text(number).into()),
    }
}

/// A number whose format is not known.
pub(super) fn bare((kind, text): (CellKind, Cow<'_, str>)) -> (CellKind, Cow<'_, str>) {
    (if kind == CellKind::Number { CellKind::BareNumber } else { kind }, text)
}

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The days from the end of 1899, or from the beginning of 1904: `2019-05-04`, with a time unless it is midnight. `None` if it is before that or
/// after the year 9999.
fn date_text(days: f64, is_1904: bool) -> Option<String> {
    let seconds = (days * DAY).round();
    let (day, second) = ((seconds / DAY).floor(), seconds.rem_euclid(DAY));
    if !(0.0..3_000_000.0).contains(&day) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within the range")]
    let (day, second) = (day as i64, second as i64);
    let text = match (is_1904, day) {
        // Excel has the day, as Lotus did.
        (false, 60) => "1900-02-29".to_owned(),
        (true, _) => date(1904, 1, 1).checked_add(day.days()).ok()?.to_string(),
        (false, 0..60) => date(1899, 12, 31).checked_add(day.days()).ok()?.to_string(),
        _ => date(1899, 12, 30).checked_add(day.days()).ok()?.to_string(),
    };
    Some(match (second / 3600, second / 60 % 60, second % 60) {
        (0, 0, 0) => text,
        (hour, minute, second) => format!("{text}T{hour:02}:{minute:02}:{second:02}"),
    })
}

/// A number of days in hours and minutes: `36:05`.
fn duration_text(days: f64) -> String {
    let minutes = (days * 24.0 * 60.0).round();
    format!("{}:{:02}", (minutes / 60.0).floor(), minutes % 60.0)
}

/// A date as an XML file writes it: without the time if it is midnight.
pub(super) fn iso_date(written: &str) -> &str {
    let (day, time) = written.split_once('T').unwrap_or((written, "1"));
    if time.chars().all(|letter| matches!(letter, '0' | ':' | '.' | 'Z')) { day } else { written }
}

/// The text that a number is shown as, if that fills it up with zeros: `00101` or `012 34`.
pub(super) fn shown_with_zeros<'a>(written: &str, shown: &'a str) -> Option<&'a str> {
    let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
    let number: f64 = written.parse().ok()?;
    let is_same = number >= 0.0 && number.fract() == 0.0 && digits.parse() == Ok(number);
    let is_filled = digits.len() > 1 && digits.starts_with('0') && !shown.contains(['.', ',', '%']);
    (is_same && is_filled && digits.len() <= EXACT_DIGITS).then_some(shown)
}

/// The value of a cell with a formula. `stored` is the value that the program which wrote the file has computed, if it did.
pub(in crate::readers) fn of_formula<'a>(
    formula: &str,
    stored: Option<(CellKind, Cow<'a, str>)>,
) -> (CellKind, Cow<'a, str>) {
    let formula = ["of:", "oooc:", "msoxl:"].iter().find_map(|start| formula.strip_prefix(start)).unwrap_or(formula);
    let formula = formula.trim_start_matches('=').trim();
    let address = formula
        .get(..10)
        .filter(|name| name.eq_ignore_ascii_case("hyperlink("))
        .and_then(|_| texts(&formula[10..]))
        .filter(|(_, rest)| rest.starts_with([')', ',', ';']));
    match (address, stored) {
        // What it shows is better, unless it is the name of a picture.
        (Some((address, _)), Some((CellKind::Text, shown))) if !shown.is_empty() && !is_picture(&address) => {
            (CellKind::Text, shown)
        }
        (Some((address, _)), _) => (CellKind::Text, address.into()),
        (None, Some(stored)) => stored,
        (None, None) => match texts(formula) {
            Some((text, "")) => (CellKind::Text, text.into()),
            _ => (CellKind::Formula, "".into()),
        },
    }
}

fn is_picture(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or(address).to_ascii_lowercase();
    PICTURES.iter().any(|ending| path.ends_with(ending))
}

/// Texts in quotes that are joined with `&` at the beginning of a formula, and the rest of it.
fn texts(formula: &str) -> Option<(String, &str)> {
    let (mut text, mut rest) = (String::new(), formula.trim_start());
    loop {
        rest = rest.strip_prefix('"')?;
        loop {
            let (part, behind) = rest.split_once('"')?;
            text.push_str(part);
            rest = behind;
            let Some(doubled) = rest.strip_prefix('"') else { break };
            text.push('"');
            rest = doubled;
        }
        rest = rest.trim_start();
        match rest.strip_prefix('&') {
            Some(more) => rest = more.trim_start(),
            None => return Some((text, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: &str, code: &str) -> String {
        super::number(number, &NumberFormat::of_code(code), false).1.into_owned()
    }

    #[test]
    fn formats_of_zeros_are_applied_and_others_are_not() {
        for (number, code, text) in [
            ("101", "00000", "00101"),
            ("1234", "000 00", "012 34"),
            ("1234", "000\\ 00", "012 34"),
            ("1234567", "000 00", "12345 67"),
            ("101", "\"L-\"00000;[Red]-00000", "L-00101"),
            ("701234567", "0000000000", "0701234567"),
            ("101", "[$-41D]00000", "00101"),
            ("0", "000", "000"),
            ("101", "General", "101"),
            ("101", "0", "101"),
            ("101", "0\" kr\"", "101"),
            ("99900", "# ##0", "99900"),
            ("99900", "#,##0.00", "99900"),
            ("5", "00.00", "5"),
            ("101.5", "00000", "101.5"),
            ("-101", "00000", "-101"),
            ("199900", "[$kr-41D] 000", "199900"),
            ("42", "00%", "42"),
        ] {
            assert_eq!(shown(number, code), text, "{number} as {code}");
        }
    }

    #[test]
    fn a_format_longer_than_any_program_writes_is_none() {
        assert_eq!(shown("7", &"0".repeat(LONGEST_CODE)).len(), LONGEST_CODE);
        assert_eq!(shown("7", &"0".repeat(LONGEST_CODE + 1)), "7");
    }

    #[test]
    fn dates_are_told_from_numbers_by_their_formats() {
        for code in ["yyyy-mm-dd", "D/M/YY", "[$-41D]d mmmm yyyy;@", "h:mm AM/PM", "mmm\\-yy", "m/d/yy h:mm"] {
            assert_eq!(NumberFormat::of_code(code), NumberFormat::Date, "{code}");
        }
        for code in ["[h]:mm", "[mm]:ss", "[S]"] {
            assert_eq!(NumberFormat::of_code(code), NumberFormat::Duration, "{code}");
        }
        for code in ["General", "\"day\" 0", "#,##0\\ [$kr-41D]", "0.00E+00", "# ?/?", "_-* #,##0_-", "[Red]0", "\\d0"]
        {
            assert_eq!(NumberFormat::of_code(code), NumberFormat::Plain, "{code}");
        }
    }

    #[test]
    fn numbers_have_the_digits_of_the_file() {
        let plain = |written| number(written, &NumberFormat::Plain, false);
        assert_eq!(plain("199900"), (CellKind::Number, "199900".into()));
        assert_eq!(plain("1.969"), (CellKind::Number, "1.9690".into()));
        assert_eq!(plain("164890.00000000003"), (CellKind::Number, "164890".into()));
        assert_eq!(plain("12345678901234567"), (CellKind::Number, "12345678901234567".into()));
        assert_eq!(plain("1.2345678901234499E+16"), (CellKind::LossyNumber, "12345678901234500".into()));
        assert_eq!(plain("1E5"), (CellKind::Number, "100000".into()));
        for written in ["Inf", "-INF", "NaN", "1E999"] {
            assert_eq!(plain(written).0, CellKind::Infinite, "{written}");
        }
        assert_eq!(number("43589", &NumberFormat::Date, false), (CellKind::Date, "2019-05-04".into()));
        assert_eq!(number("42127", &NumberFormat::Date, true), (CellKind::Date, "2019-05-04".into()));
        for (days, text) in [
            ("1", "1900-01-01"),
            ("59", "1900-02-28"),
            ("60", "1900-02-29"),
            ("61", "1900-03-01"),
            ("40939.4999999999", "2012-01-31T12:00:00"),
            ("40939.99999999999", "2012-02-01"),
            ("2958465", "9999-12-31"),
            ("701234567", "701234567"),
            ("-1", "-1"),
        ] {
            assert_eq!(number(days, &NumberFormat::Date, false).1, text, "{days}");
        }
        assert_eq!(number("1.5", &NumberFormat::Duration, false), (CellKind::Date, "36:00".into()));
    }

    #[test]
    fn a_formula_without_a_value_has_one_only_if_it_says_it() {
        let none = |formula| of_formula(formula, None);
        assert_eq!(none("1*199900"), (CellKind::Formula, "".into()));
        assert_eq!(none("\"00\"&\"1\"\"01\""), (CellKind::Text, "001\"01".into()));
        let address = "https://cdn.example/1.jpg?x=1";
        for formula in [
            "HYPERLINK(\"https://cdn.example/1.jpg?x=1\")",
            "of:=HYPERLINK(\"https://cdn.example/1.jpg?x=1\";\"Bild\")",
            "hyperlink( \"https://cdn.example/\" & \"1.jpg?x=1\", A2)",
        ] {
            assert_eq!(none(formula), (CellKind::Text, address.into()), "{formula}");
            let stored = Some((CellKind::Text, "Bild 1".into()));
            assert_eq!(of_formula(formula, stored), (CellKind::Text, address.into()), "{formula}");
        }
        let stored = Some((CellKind::Text, "ABC123".into()));
        assert_eq!(of_formula("HYPERLINK(\"https://a.example/car\",\"ABC123\")", stored).1, "ABC123");
        assert_eq!(none("HYPERLINK(A2)").0, CellKind::Formula);
        let stored = Some((CellKind::Number, "7".into()));
        assert_eq!(of_formula("A1+B1", stored), (CellKind::Number, "7".into()));
    }

    #[test]
    fn a_shown_text_counts_if_it_only_fills_up_with_zeros() {
        for (written, shown, kept) in [
            ("101", "00101", true),
            ("1234", "012 34", true),
            ("101", "101 kr", false),
            ("0.5", "0.5", false),
            ("5", "05,00", false),
            ("7", "0008", false),
        ] {
            assert_eq!(shown_with_zeros(written, shown).is_some(), kept, "{written} {shown}");
        }
    }
}
