//! The value that was probably meant by an invalid one: what programs and people write, in the form that the kind of a field takes. The
//! candidates are made here; whether one is valid is checked by the rule engine.

mod day;

use serde_json::{Value, json};

use crate::{
    fields::Kind,
    synonyms::{names::Names, placeholders::Placeholders},
    violation::{Cure, Expected, Slip, Violation, nearest},
    written::{self, currency, number},
};

/// Members of objects that hold the value itself, in feeds and generated classes.
const HOLDERS: [&str; 9] = ["value", "id", "slug", "code", "key", "#text", "$t", "_", "text"];

/// A value that was probably meant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meant {
    pub(super) value: Value,
    pub(super) slip: Slip,
}

/// What a value probably means.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    /// These, the most probable first.
    Values(Vec<Meant>),
    /// One of these: it has more than one reading.
    OneOf(Vec<Value>),
    /// A number without a unit.
    WithUnit(Value, Vec<String>),
    /// No value: an empty text, or one such as `n/a`.
    Nothing,
    /// An empty list or object.
    Empty,
    /// A day, which is not certain.
    Day,
}

impl Meaning {
    fn of(value: impl Into<Value>, slip: Slip) -> Self {
        Self::Values(vec![Meant { value: value.into(), slip }])
    }

    fn none() -> Self {
        Self::Values(Vec::new())
    }
}

/// An error of a value that is no truth value or text, with what was probably meant. For bodies that have no table of fields.
pub fn cured(error: Violation, kind: &Kind, sent: &Value) -> Violation {
    let is_right = |value: &Value| match kind {
        Kind::Boolean => value.is_boolean(),
        _ => value.is_string(),
    };
    let Meaning::Values(values) = meaning(kind, sent) else { return error };
    match values.into_iter().find(|meant| is_right(&meant.value)) {
        Some(Meant { value, slip }) => {
            error.cured(Cure::Send { value: value.to_string(), sent: sent.to_string(), slip })
        }
        None => error,
    }
}

/// What a value of a field of this kind probably means.
pub(super) fn meaning(kind: &Kind, sent: &Value) -> Meaning {
    match sent {
        Value::Array(items) if items.is_empty() => Meaning::Empty,
        Value::Object(members) if members.is_empty() => Meaning::Empty,
        Value::String(text) if text.len() <= nearest::LONGEST || is_json(text) => of_text(kind, text),
        Value::Number(_) if matches!(kind, Kind::Date) => day::of_number(sent),
        Value::Number(_) | Value::Bool(_) => of_scalar(kind, sent),
        Value::Array(_) | Value::Object(_) if matches!(kind, Kind::Date) && day::of_parts(sent).is_some() => {
            day::of_parts(sent).map_or(Meaning::Day, |day| Meaning::of(day, Slip::Date))
        }
        // Lists within lists are not unpacked: each level would copy what is below it.
        Value::Array(items) if items.len() == 1 && !is_list(kind) && !items[0].is_array() => boxed(kind, &items[0]),
        Value::Object(members) if is_list(kind) && members.keys().all(|name| name.parse::<usize>().is_ok()) => {
            Meaning::of(members.values().cloned().collect::<Vec<_>>(), Slip::Numbered)
        }
        Value::Object(_) if matches!(kind, Kind::Objects { .. }) => Meaning::of(json!([sent]), Slip::Bare),
        Value::Object(members) => {
            let held = HOLDERS.iter().find_map(|name| members.get(*name)).filter(|held| !held.is_object());
            match held {
                Some(held) => within(kind, held, Slip::Object),
                None if matches!(kind, Kind::Date) => Meaning::Day,
                None => Meaning::none(),
            }
        }
        _ => Meaning::none(),
    }
}

/// What a value means that stands in the place of an object with members of its own.
pub(super) fn object_meaning(sent: &Value) -> Meaning {
    match sent {
        Value::Array(items) => match items.as_slice() {
            [] => Meaning::Empty,
            [only @ Value::Object(_)] => Meaning::of(only.clone(), Slip::Boxed),
            _ => Meaning::none(),
        },
        Value::String(text) if is_json(text) => twice(text).unwrap_or_else(Meaning::none),
        Value::String(text) if stands_for_nothing(text) => Meaning::Nothing,
        _ => Meaning::none(),
    }
}

fn is_list(kind: &Kind) -> bool {
    matches!(kind, Kind::List { .. } | Kind::Objects { .. })
}

/// The type that a field of a kind has, where an empty list or object stands for it.
pub(super) fn type_of(kind: &Kind) -> Expected {
    match kind {
        Kind::List { .. } | Kind::Objects { .. } => Expected::List,
        Kind::Object { .. } | Kind::CategoryFields | Kind::Measure { .. } => Expected::Object,
        _ => Expected::Text,
    }
}

fn boxed(kind: &Kind, item: &Value) -> Meaning {
    within(kind, item, Slip::Boxed)
}

/// The value within another one, as it is or as it is meant.
fn within(kind: &Kind, inner: &Value, slip: Slip) -> Meaning {
    let mut values = vec![Meant { value: inner.clone(), slip }];
    match meaning(kind, inner) {
        Meaning::Values(further) => values.extend(further.into_iter().map(|meant| Meant { slip, ..meant })),
        Meaning::Nothing => return Meaning::Nothing,
        _ => {}
    }
    Meaning::Values(values)
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// The value that a text contains as JSON; `None` if it is not JSON.
fn twice(text: &str) -> Option<Meaning> {
    let value: Value = serde_json::from_str(text).ok()?;
    Some(Meaning::of(value, Slip::Twice))
}

fn stands_for_nothing(text: &str) -> bool {
    let text = trimmed(text);
    text.is_empty() || Placeholders::default().contain(text, &mut String::new())
}

/// A text without white space, NUL and marks that are not visible at its ends.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|letter: char| {
        letter.is_whitespace() || letter.is_control() || matches!(letter, '\u{feff}' | '\u{200b}' | '\u{200e}')
    })
}

fn of_text(kind: &Kind, sent: &str) -> Meaning {
    if is_json(sent) && !matches!(kind, Kind::Text { .. }) {
        return twice(sent).unwrap_or_else(Meaning::none);
    }
    if matches!(kind, Kind::Boolean) && trimmed(sent).is_empty() {
        return Meaning::Values(Vec::new());
    }
    let is_sign = matches!(kind, Kind::Boolean | Kind::Currency) && !trimmed(sent).is_empty();
    if !is_sign && stands_for_nothing(sent) {
        return Meaning::Nothing;
    }
    let text = trimmed(sent);
    let mut values = Vec::new();
    if text != sent {
        values.push(Meant { value: text.into(), slip: Slip::Spaces });
    }
    let further = match kind {
        Kind::Integer { .. } | Kind::Decimal { .. } => number_of(text),
        Kind::Measure { units, .. } => measure_of(text, units),
        Kind::Boolean => truth_of(text),
        Kind::Date => day::of_text(text),
        Kind::List { item, .. } => list_of(item, text),
        _ => spelled(kind, text).map_or_else(Meaning::none, |(value, slip)| Meaning::of(value, slip)),
    };
    match further {
        Meaning::Values(further) => {
            values.extend(further);
            Meaning::Values(values)
        }
        other => other,
    }
}

/// A text in the spelling of its kind.
fn spelled(kind: &Kind, text: &str) -> Option<(String, Slip)> {
    match kind {
        Kind::Digits { .. } => {
            let sign = if text.starts_with('+') { "+" } else { "" };
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            let is_grouped = text.chars().all(|it| it.is_ascii_digit() || "+ -()/.\u{a0}".contains(it));
            is_grouped.then(|| (format!("{sign}{digits}"), Slip::Separators))
        }
        Kind::Currency => Some((currency::code(text), Slip::Spelling)),
        Kind::Email { .. } => {
            let within = text.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(address, _)| address);
            let plain = within.or_else(|| text.strip_prefix("mailto:"))?;
            Some((plain.to_owned(), Slip::Spelling))
        }
        Kind::Url { .. } | Kind::ImageAddress => {
            let rest = text.strip_prefix("//").or_else(|| text.starts_with("www.").then_some(text))?;
            Some((format!("https://{rest}"), Slip::Spelling))
        }
        Kind::Choice { .. } | Kind::Slug { .. } => Some((text.to_lowercase(), Slip::Spelling)),
        _ => None,
    }
}

/// The number of a text, with or without something behind it.
fn number_of(text: &str) -> Meaning {
    // Three digits behind a point may be decimals, or thousands.
    if let Ok(Value::Number(number)) = serde_json::from_str(text)
        && (text.contains(['e', 'E']) || !number::has_two_readings(text))
    {
        let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15);
        #[expect(clippy::cast_possible_truncation, reason = "a whole number within the exact ones")]
        let value = whole.map_or(Value::Number(number), |whole| Value::from(whole as i64));
        return Meaning::of(value, Slip::Quoted);
    }
    match number::read(text, None) {
        Ok(found)
            if !found.after.trim().contains(char::is_whitespace)
                && (found.before.is_empty() || currency::of_sign(found.before).is_some()) =>
        {
            Meaning::of(in_full(&found).value(), Slip::Number)
        }
        Err(number::NoNumber::Ambiguous) => {
            Meaning::OneOf(readings(text).map(|found| in_full(&found).value()).collect())
        }
        _ => Meaning::none(),
    }
}

/// The numbers that a text with one separator before three digits may be.
fn readings(text: &str) -> impl Iterator<Item = number::NumberInText<'_>> {
    [',', '.'].into_iter().filter_map(|mark| number::read(text, Some(mark)).ok())
}

/// Words behind a number of thousands: `189t`, `189 tkr`.
const THOUSANDS: [&str; 4] = ["t", "k", "tkr", "tusen"];

/// The number that a text means, with its thousands.
fn in_full(found: &number::NumberInText<'_>) -> number::Decimal {
    let after = found.after.trim().to_lowercase();
    let in_thousands = THOUSANDS.contains(&after.as_str()).then(|| found.number.shifted(3)).flatten();
    in_thousands.unwrap_or(found.number)
}

fn measure_of(text: &str, units: &[&'static str]) -> Meaning {
    let measure = |unit: &str, number: number::Decimal| json!({"unit": unit, "value": number.value()});
    let found = match number::read(text, None) {
        Ok(found) if found.before.is_empty() => found,
        Err(number::NoNumber::Ambiguous) => {
            let unit = number::read(text, Some('.')).ok().and_then(|found| unit_of(found.after, units));
            return match unit {
                Some(unit) => Meaning::OneOf(readings(text).map(|found| measure(unit, found.number)).collect()),
                None => Meaning::none(),
            };
        }
        _ => return in_words(text, units),
    };
    match unit_of(found.after, units) {
        Some(unit) => Meaning::of(measure(unit, found.number), Slip::Measure),
        None if found.after.trim().is_empty() => unitless(&found.number.value(), units),
        None => Meaning::none(),
    }
}

/// A measure whose number and unit are words of a text, such as `unit kw value 110`.
fn in_words(text: &str, units: &[&'static str]) -> Meaning {
    let words = || text.split_whitespace();
    let mut numbers = words().filter_map(|word| number::read(word, None).ok().filter(|it| it.after.is_empty()));
    let mut found = words().filter_map(|word| unit_of(word, units));
    match (numbers.next(), numbers.next(), found.next(), found.next()) {
        (Some(number), None, Some(unit), None) => {
            Meaning::of(json!({"unit": unit, "value": number.number.value()}), Slip::Measure)
        }
        _ => Meaning::none(),
    }
}

/// The unit that a text stands for, as the field spells it.
fn unit_of(text: &str, units: &[&'static str]) -> Option<&'static str> {
    let unit = Names::builtin().unit(text.trim(), &mut String::new())?;
    units.iter().copied().find(|known| known.eq_ignore_ascii_case(unit))
}

fn unitless(number: &Value, units: &[&'static str]) -> Meaning {
    let Some((first, others)) = units.split_first() else { return Meaning::none() };
    let others = others.iter().map(|unit| (*unit).to_owned()).collect();
    Meaning::WithUnit(json!({"unit": first, "value": number}), others)
}

fn truth_of(text: &str) -> Meaning {
    match serde_json::from_str(text) {
        Ok(Value::Bool(truth)) => Meaning::of(truth, Slip::Quoted),
        _ => written::truth(text).map_or_else(Meaning::none, |truth| Meaning::of(truth, Slip::Spelling)),
    }
}

/// A list from one text.
fn list_of(item: &Kind, text: &str) -> Meaning {
    let parts = |mark: char| -> Vec<Value> {
        text.split(mark).map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect()
    };
    // An address may have any of these marks in it, but not another address behind it.
    let marks: &[char] =
        if matches!(item, Kind::ImageAddress) { &[' ', '\n', ';', '|', ','] } else { &['|', ';', ',', '\n'] };
    let split = marks.iter().find(|mark| {
        let parts = parts(**mark);
        let are_addresses = || parts.iter().all(|part| part.as_str().is_some_and(|part| part.starts_with("http")));
        parts.len() > 1 && (!matches!(item, Kind::ImageAddress) || are_addresses())
    });
    match split {
        Some(mark) => Meaning::of(parts(*mark), Slip::Joined),
        None => Meaning::of(vec![Value::from(text)], Slip::Bare),
    }
}

/// A number or truth value in the place of something else.
fn of_scalar(kind: &Kind, sent: &Value) -> Meaning {
    match (kind, sent) {
        (Kind::Boolean, Value::Number(number)) => match number.as_f64() {
            Some(0.0) => Meaning::of(false, Slip::Spelling),
            Some(1.0) => Meaning::of(true, Slip::Spelling),
            _ => Meaning::none(),
        },
        (Kind::Measure { units, .. }, Value::Number(_)) => unitless(sent, units),
        (Kind::Decimal { decimals: Some(most), .. }, Value::Number(number)) => {
            let factor = 10_f64.powi(i32::from(*most));
            let rounded = number.as_f64().map(|float| (float, (float * factor).round() / factor));
            match rounded.filter(|(float, rounded)| (float - rounded).abs() <= 1e-6 * float.abs().max(1.0)) {
                #[expect(clippy::cast_possible_truncation, reason = "a whole number within the exact ones")]
                Some((_, rounded)) if rounded.fract() == 0.0 && rounded.abs() < 1e15 => {
                    Meaning::of(rounded as i64, Slip::Rounding)
                }
                Some((_, rounded)) => Meaning::of(rounded, Slip::Rounding),
                None => Meaning::none(),
            }
        }
        (Kind::List { item, .. }, _) => {
            let item = match **item {
                Kind::Text { .. } => Value::from(sent.to_string()),
                _ => sent.clone(),
            };
            Meaning::of(vec![item], Slip::Bare)
        }
        (Kind::Integer { .. } | Kind::Decimal { .. } | Kind::Object { .. } | Kind::Objects { .. }, _) => {
            Meaning::none()
        }
        (_, Value::Number(number)) => Meaning::of(digits_of(number), Slip::Unquoted),
        _ => Meaning::of(sent.to_string(), Slip::Unquoted),
    }
}

/// A number as a text, without a power of ten or a zero behind the decimal point.
fn digits_of(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
        _ => number.to_string(),
    }
}
