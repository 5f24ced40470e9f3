//! Dates as people write them. A date that is ambiguous, or has no day, is not read.

use jiff::{Timestamp, civil::Date, fmt::strtime::BrokenDownTime, tz::TimeZone};
use serde::Deserialize;

use crate::synonyms::fold::folded;

/// Why no date is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDate {
    /// It does not look like one.
    None,
    /// It has no day, or no month.
    NotFull,
    /// There is no such day.
    Impossible,
    /// The order of day and month is ambiguous.
    Ambiguous,
}

/// A format of dates: `DD.MM.YYYY`, as jiff writes it, or Unix time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum DateFormat {
    /// `%d.%m.%Y`, and whether the month is a name.
    Parts(String, bool),
    /// Unix time: seconds since 1970-01-01 UTC.
    Unix,
    /// Unix time in milliseconds.
    UnixMillis,
}

/// What a format consists of, and how jiff writes it. The longer ones come first.
const PARTS: [(&str, &str); 5] = [("YYYY", "%Y"), ("YY", "%y"), ("MMM", "%m"), ("MM", "%m"), ("DD", "%d")];

impl TryFrom<String> for DateFormat {
    type Error = String;

    /// Reads a format: year, month and day once each, with separators.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "unix" => return Ok(Self::Unix),
            "unix_ms" => return Ok(Self::UnixMillis),
            _ => {}
        }
        let (mut format, mut counts, mut rest) = (String::new(), [0; 3], text.as_str());
        let mut is_name = false;
        while let Some(letter) = rest.chars().next() {
            if let Some((part, code)) = PARTS.iter().find(|(part, _)| rest.starts_with(part)) {
                counts["ymd".find(code[1..].to_ascii_lowercase().as_str()).unwrap_or_default()] += 1;
                is_name |= *part == "MMM";
                format.push_str(code);
                rest = &rest[part.len()..];
            } else if letter.is_alphanumeric() || letter == '%' {
                counts[0] = 0;
                break;
            } else {
                format.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
        if counts != [1; 3] {
            return Err(format!(
                "\"{text}\" is not a date format; use YYYY or YY, MM or MMM (the name of the month) and DD with their separators, such as \"DD.MM.YYYY\", or unix or unix_ms"
            ));
        }
        Ok(Self::Parts(format, is_name))
    }
}

/// The beginnings of the names of months in Swedish, Norwegian, Danish, English, German, Dutch, French and Finnish, from January; folded.
const MONTHS: [&[&str]; 12] = [
    &["jan", "tammi"],
    &["feb", "fev", "helmi"],
    &["mar", "mrt", "maerz", "maaliskuu", "maart"],
    &["apr", "avr", "huhti"],
    &["maj", "mai", "may", "mei", "touko"],
    &["jun", "juin", "kesa"],
    &["jul", "juil", "heina"],
    &["aug", "aou", "elo"],
    &["sep", "syys"],
    &["okt", "oct", "loka"],
    &["nov", "marras"],
    &["dec", "dez", "des", "joulu"],
];

/// The text with the number of the month instead of its name.
fn with_month_number(text: &str) -> Option<String> {
    let start = text.find(char::is_alphabetic)?;
    let length = text[start..].find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len() - start);
    let name = folded(&text[start..start + length]);
    // The longest beginning counts: "marraskuu" is not March.
    let of = |names: &[&str]| names.iter().filter(|it| name.starts_with(**it)).map(|it| it.len()).max();
    let (_, month) = (1..).zip(MONTHS).filter_map(|(month, names)| Some((of(names)?, month))).max()?;
    let rest = text[start + length..].strip_prefix('.').filter(|rest| rest.starts_with(' '));
    Some(format!("{}{month:02}{}", &text[..start], rest.unwrap_or(&text[start + length..])))
}

impl DateFormat {
    fn read(&self, text: &str, zone: Option<&TimeZone>) -> Result<Date, NoDate> {
        let unix = |per_second: i64| {
            let number: i64 = text.parse().map_err(|_| NoDate::None)?;
            let time = Timestamp::from_millisecond(number.saturating_mul(1000 / per_second))
                .map_err(|_| NoDate::Impossible)?;
            Ok(time.to_zoned(zone.cloned().unwrap_or(TimeZone::UTC)).date())
        };
        let (format, is_name) = match self {
            Self::Parts(format, is_name) => (format, *is_name),
            Self::Unix => return unix(1),
            Self::UnixMillis => return unix(1000),
        };
        let numbered = if is_name { with_month_number(text).ok_or(NoDate::None)? } else { text.to_owned() };
        let (parts, end) = BrokenDownTime::parse_prefix(format, &numbered).map_err(|_| NoDate::None)?;
        if parts.year().is_none_or(|year| year < 1000) || !is_time(numbered.get(end..).unwrap_or_default()) {
            return Err(NoDate::None);
        }
        parts.to_date().map_err(|_| NoDate::Impossible)
    }
}

/// Whether a text is empty, or a time after a date.
fn is_time(rest: &str) -> bool {
    let time = rest.strip_prefix(['T', 't', ' ']).map(str::trim_start);
    rest.is_empty() || time.is_some_and(|time| time.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn date(year: i16, month: i16, day: i16) -> Result<Date, NoDate> {
    let small = |number| i8::try_from(number).map_err(|_| NoDate::Impossible);
    Date::new(year, small(month)?, small(day)?).map_err(|_| NoDate::Impossible)
}

/// Reads a date, in a format or in any unambiguous one.
///
/// # Errors
/// When there is no date, or none that is certain.
pub fn read(text: &str, form: Option<&DateFormat>, zone: Option<&TimeZone>) -> Result<Date, NoDate> {
    // A time with its offset from UTC may be on another date there.
    if let (Some(zone), Ok(time)) = (zone, text.parse::<Timestamp>()) {
        return Ok(time.to_zoned(zone.clone()).date());
    }
    if let Some(form) = form {
        return form.read(text, zone);
    }
    let end = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let (day, time) = text.split_at(end);
    if !is_time(time) {
        return Err(NoDate::None);
    }
    let mut parts = [0_i16; 3];
    let mut lengths = [0; 3];
    let mut count = 0;
    for part in day.split(['-', '.', '/']) {
        if count == 3 || part.is_empty() || part.len() > 8 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NoDate::None);
        }
        if part.len() == 8 {
            return if day.len() == 8 { compact(part) } else { Err(NoDate::None) };
        }
        parts[count] = part.parse().unwrap_or(i16::MAX);
        lengths[count] = part.len();
        count += 1;
    }
    let [one, two, three] = parts;
    match (count, lengths) {
        (3, [4, 1 | 2, 1 | 2]) => date(one, two, three),
        (3, [1 | 2, 1 | 2, 4]) if day.contains('.') => date(three, two, one),
        (3, [1 | 2, 1 | 2, 4]) => match (one > 12, two > 12) {
            (true, _) => date(three, two, one),
            (_, true) => date(three, one, two),
            _ if one == two => date(three, one, two),
            _ => Err(NoDate::Ambiguous),
        },
        (2, [4, 1 | 2, _] | [1 | 2, 4, _]) | (1, [4 | 6, ..]) => Err(NoDate::NotFull),
        _ => Err(NoDate::None),
    }
}

/// Parses a date of eight digits, such as `20190504`.
fn compact(digits: &str) -> Result<Date, NoDate> {
    let part = |range| digits.get(range).and_then(|part: &str| part.parse().ok()).ok_or(NoDate::None);
    date(part(0..4)?, part(4..6)?, part(6..8)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, form: Option<&str>) -> Result<String, NoDate> {
        read(text, form.map(|form| DateFormat::try_from(form.to_owned()).unwrap()).as_ref(), None)
            .map(|date| date.to_string())
    }

    #[test]
    fn dates_that_can_be_one_day_only_are_read() {
        for text in
            ["2019-05-04", "20190504", "04.05.2019", "4.5.2019", "2019-05-04T00:00:00", "2019/5/4", "2019-05-04 12:00"]
        {
            assert_eq!(shown(text, None).as_deref(), Ok("2019-05-04"), "{text}");
        }
        assert_eq!(shown("31/12/2019", None).as_deref(), Ok("2019-12-31"));
        assert_eq!(shown("12/31/2019", None).as_deref(), Ok("2019-12-31"));
    }

    #[test]
    fn the_others_are_told_by_what_they_lack() {
        for (text, why) in [
            ("04/05/2019", NoDate::Ambiguous),
            ("05/2019", NoDate::NotFull),
            ("2019", NoDate::NotFull),
            ("201905", NoDate::NotFull),
            ("2019-02-30", NoDate::Impossible),
            ("20191340", NoDate::Impossible),
            ("soon", NoDate::None),
            ("2019-05-04x", NoDate::None),
            ("1-2-3-4", NoDate::None),
        ] {
            assert_eq!(shown(text, None), Err(why), "{text}");
        }
    }

    #[test]
    fn a_form_that_is_told_decides() {
        assert_eq!(shown("04/05/2019", Some("DD/MM/YYYY")).as_deref(), Ok("2019-05-04"));
        assert_eq!(shown("4/5/2019", Some("MM/DD/YYYY")).as_deref(), Ok("2019-04-05"));
        assert_eq!(shown("04052019", Some("DDMMYYYY")).as_deref(), Ok("2019-05-04"));
        assert_eq!(shown("2019-05-04", Some("DD.MM.YYYY")), Err(NoDate::None));
        for wrong in ["DD.MM", "YYYY-MM-DD-DD", "YYYY-MM-YY", "dd.mm.yyyy", ""] {
            assert!(DateFormat::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn short_years_names_of_months_and_unix_times_are_read() {
        for (text, form) in [
            ("04.05.19", "DD.MM.YY"),
            ("4 maj 2019", "DD MMM YYYY"),
            ("4. Mai 2019", "DD. MMM YYYY"),
            ("May 4, 2019", "MMM DD, YYYY"),
            ("04-touko-19", "DD-MMM-YY"),
            ("1556928000", "unix"),
            ("1556928000000", "unix_ms"),
        ] {
            assert_eq!(shown(text, Some(form)).as_deref(), Ok("2019-05-04"), "{text}");
        }
        assert_eq!(shown("4 marraskuuta 71", Some("DD MMM YY")).as_deref(), Ok("1971-11-04"));
        assert_eq!(shown("4 foo 2019", Some("DD MMM YYYY")), Err(NoDate::None));
    }
}
