//! Dates as people write them. A date that is ambiguous, or has no day, is not read.

use jiff::{civil::Date, fmt::strtime::BrokenDownTime};
use serde::Deserialize;

/// Why a text is not a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoDate {
    /// It does not look like one.
    None,
    /// It has no day, or no month.
    NotFull,
    /// There is no such day.
    Impossible,
    /// Day and month cannot be told apart.
    Ambiguous,
}

/// A format of dates, such as `DD.MM.YYYY`, as jiff writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct DateFormat(String);

impl TryFrom<String> for DateFormat {
    type Error = String;

    /// Reads a format: `YYYY`, `MM` and `DD` once each, with separators.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let format = text.replacen("YYYY", "%Y", 1).replacen("MM", "%m", 1).replacen("DD", "%d", 1);
        let separators = format.replacen("%Y", "", 1).replacen("%m", "", 1).replacen("%d", "", 1);
        if format.len() != text.len() - 2 || separators.contains(|mark: char| mark.is_alphanumeric() || mark == '%') {
            return Err(format!(
                "\"{text}\" is not a date format; use YYYY, MM and DD with their separators, such as \"DD.MM.YYYY\""
            ));
        }
        Ok(Self(format))
    }
}

impl DateFormat {
    fn read(&self, text: &str) -> Result<Date, NoDate> {
        let (parts, end) = BrokenDownTime::parse_prefix(&self.0, text).map_err(|_| NoDate::None)?;
        if parts.year().is_none_or(|year| year < 1000) || !is_time(text.get(end..).unwrap_or_default()) {
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
pub(crate) fn read(text: &str, form: Option<&DateFormat>) -> Result<Date, NoDate> {
    if let Some(form) = form {
        return form.read(text);
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

/// `20190504`
fn compact(digits: &str) -> Result<Date, NoDate> {
    let part = |range| digits.get(range).and_then(|part: &str| part.parse().ok()).ok_or(NoDate::None);
    date(part(0..4)?, part(4..6)?, part(6..8)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, form: Option<&str>) -> Result<String, NoDate> {
        read(text, form.map(|form| DateFormat::try_from(form.to_owned()).unwrap()).as_ref())
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
        for wrong in ["DD.MM", "YYYY-MM-DD-DD", "YY-MM-DD", "dd.mm.yyyy"] {
            assert!(DateFormat::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
