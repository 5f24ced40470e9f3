//! Days as programs write them: texts, times since 1970, numbers of days, and the parts of date objects.

use jiff::{
    Timestamp, ToSpan,
    civil::{Date, Time, date},
    tz::TimeZone,
};
use serde_json::{Map, Value};

use super::Meaning;
use crate::{
    violation::Slip,
    written::date::{self, DateFormat},
};

/// Days of spreadsheets that are in our time: 1954 to 2064.
const SERIAL: std::ops::Range<i64> = 20_000..60_000;

/// Members of date objects that hold the date as a text or number.
const TEXTS: [&str; 6] = ["date", "$date", "value", "iso", "timestamp", "time"];

/// Names of the parts of date objects.
const PARTS: [[&str; 4]; 3] =
    [["year", "Year", "y", "_year"], ["month", "monthValue", "Month", "m"], ["day", "dayOfMonth", "Day", "d"]];

/// Formats with the name of the month.
const WITH_NAMES: [&str; 6] = ["DD-MMM-YYYY", "DD-MMM-YY", "DD MMM YYYY", "DD. MMM YYYY", "MMM DD, YYYY", "DDMMMYYYY"];

fn meaning(day: Option<Date>, slip: Slip) -> Meaning {
    day.map_or(Meaning::Day, |day| Meaning::of(day.to_string(), slip))
}

/// The day of a text.
pub(super) fn of_text(text: &str) -> Meaning {
    // .NET: /Date(1556841600000)/
    let within = text.strip_prefix("/Date(").and_then(|rest| rest.split([')', '+']).next());
    if let Some(Ok(milliseconds)) = within.map(str::parse) {
        return meaning(of_milliseconds(milliseconds), Slip::UnixTime);
    }
    if let Ok(number @ Value::Number(_)) = serde_json::from_str::<Value>(text)
        && text.len() != 8
    {
        return of_number(&number);
    }
    // A time with an offset from UTC may be on another day where it was written, unless it is midnight.
    let is_midnight = |time: &Timestamp| time.to_zoned(TimeZone::UTC).time() == Time::midnight();
    if let Ok(time) = text.parse::<Timestamp>() {
        let has_offset = text.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
        return meaning((is_midnight(&time) && !has_offset).then(|| time.to_zoned(TimeZone::UTC).date()), Slip::Date);
    }
    let named = || {
        WITH_NAMES.iter().find_map(|format| {
            let format = DateFormat::try_from((*format).to_owned()).ok()?;
            date::read(text, Some(&format), None).ok()
        })
    };
    meaning(
        date::read(text, None, None).ok().or_else(named).or_else(|| in_words(text)).filter(|day| day.year() > 0),
        Slip::Date,
    )
}

/// The day of a time in words, as C, Java and JavaScript show it: `Fri May  3 00:00:00 2019`, `Fri May 03 2019 00:00:00 GMT+0200`. A time
/// other than midnight in a zone may be on another day where it was written.
fn in_words(text: &str) -> Option<Date> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &&&str, lengths: &[usize]| {
        lengths.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let day = words.iter().find(|word| is_number(word, &[1, 2]))?;
    let year = words.iter().find(|word| is_number(word, &[4]))?;
    let time = words.iter().find(|word| word.contains(':'))?;
    let has_zone =
        words.iter().any(|word| word.contains("GMT") || word.contains("UTC") || word.starts_with(['+', '-']));
    if has_zone && !time.starts_with("00:00") {
        return None;
    }
    let month = words.iter().find(|word| word.len() == 3 && MONTHS.contains(&word.to_ascii_lowercase().as_str()))?;
    let format = DateFormat::try_from("DD MMM YYYY".to_owned()).ok()?;
    date::read(&format!("{day} {month} {year}"), Some(&format), None).ok()
}

/// The months as C, Java and JavaScript shorten them.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The day of a number: `20190503`, milliseconds or seconds since 1970, or the serial number of a spreadsheet.
pub(super) fn of_number(sent: &Value) -> Meaning {
    let Some(float) = sent.as_f64().filter(|float| float.abs() < 1e15) else { return Meaning::Day };
    #[expect(clippy::cast_possible_truncation, reason = "within the exact numbers")]
    let number = float.trunc() as i64;
    if let Ok(day) = date::read(&number.to_string(), None, None) {
        return meaning(Some(day), Slip::Date);
    }
    if SERIAL.contains(&number) {
        return meaning(date(1899, 12, 30).checked_add(number.days()).ok(), Slip::SerialDay);
    }
    let milliseconds = if number.abs() < 100_000_000_000 { number.saturating_mul(1000) } else { number };
    meaning(of_milliseconds(milliseconds), Slip::UnixTime)
}

/// The day that begins so many milliseconds after 1970. Another time of the day may be on another day where it was written.
fn of_milliseconds(milliseconds: i64) -> Option<Date> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?.to_zoned(TimeZone::UTC);
    (time.time() == Time::midnight() && (1900..2100).contains(&time.year())).then(|| time.date())
}

/// The day of `[2019, 5, 3]`, `{"year": 2019, "month": 5, "day": 3}` or an object that has it as a text.
pub(super) fn of_parts(sent: &Value) -> Option<String> {
    let day = match sent {
        Value::Array(parts) => {
            let [year, month, day, ..] = parts.as_slice() else { return None };
            of_numbers(year, month, day)
        }
        Value::Object(members) => of_members(members),
        _ => None,
    };
    day.map(|day| day.to_string())
}

fn of_members(members: &Map<String, Value>) -> Option<Date> {
    let [year, month, day] = PARTS.map(|names| names.iter().find_map(|name| members.get(*name)));
    if let (Some(year), Some(month), Some(day)) = (year, month, day) {
        return of_numbers(year, month, day);
    }
    let held = TEXTS.iter().find_map(|name| members.get(*name))?;
    let found = match held {
        Value::String(text) => of_text(text),
        Value::Number(_) => of_number(held),
        _ => return None,
    };
    match found {
        Meaning::Values(values) => values.first()?.value.as_str()?.parse().ok(),
        _ => None,
    }
}

fn of_numbers(year: &Value, month: &Value, day: &Value) -> Option<Date> {
    let number = |value: &Value| value.as_i64();
    let year = i16::try_from(number(year)?).ok().filter(|year| *year > 1000)?;
    Date::new(year, i8::try_from(number(month)?).ok()?, i8::try_from(number(day)?).ok()?).ok()
}
