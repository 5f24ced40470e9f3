//! The check of single values of each kind: valid values are normalised in place, invalid ones are reported.

use email_address::EmailAddress;
use serde_json::{Number, Value};
use url::Url;

use super::{
    errors::FieldErrors,
    field::{ChoiceValue, Kind, MOST_MEASURED},
};
use crate::{
    model::{DEFAULT_CURRENCY, plate},
    violation::{Choices, Code, Expected, TextFormat, Violation},
};

/// The kinds that are a JSON string.
pub(super) fn text_kind(kind: &Kind, images: &'static [&'static str], text: &mut String, errors: &mut FieldErrors) {
    match kind {
        Kind::Text { min, max, without } => {
            // There are at most as many characters as bytes, so they are counted only if the bytes exceed the maximum.
            if text.len() > *max && text.chars().count() > *max {
                errors.here(Violation::TooLong(*max));
            } else if *min > 0 && text.chars().nth(*min - 1).is_none() {
                errors.here(if *min == 1 { Violation::Blank } else { Violation::TooShort(*min) });
            }
            if let Some(mark) = without
                && text.contains(*mark)
            {
                errors.here(Violation::WrongFormat(TextFormat::Without(*mark)));
            }
        }
        Kind::Date if text.len() != 10 || text.parse::<jiff::civil::Date>().is_err() => {
            errors.here(Violation::WrongFormat(if looks_like_a_date(text) {
                TextFormat::Day
            } else {
                TextFormat::Date
            }));
        }
        Kind::Url { schemes } => address(schemes, text, errors),
        Kind::ImageAddress => address(images, text, errors),
        Kind::Plate { max } => {
            if text.contains(|mark: char| mark.is_whitespace() || mark.is_lowercase()) {
                *text = plate(text);
            }
            let length = text.chars().count();
            if length == 0 {
                errors.here(Violation::Blank);
            } else if length > *max {
                let plain = text.replace('-', "");
                errors.here(if plain.chars().nth(*max).is_none() {
                    let text = format!("Ensure this field has no more than {max} characters.");
                    let note = format!("Send it without the hyphen: \"{plain}\".");
                    Violation::stated(Code::TooLong, text).with_note(Some(note))
                } else {
                    Violation::TooLong(*max)
                });
            }
        }
        Kind::Email { or_empty: true } if text.is_empty() => {}
        Kind::Email { .. } if !is_email(text) => {
            errors.here(Violation::WrongFormat(TextFormat::Email));
        }
        Kind::Digits { lengths, plus } => {
            let digits = text.strip_prefix('+').filter(|_| *plus).unwrap_or(text);
            if !lengths.contains(&text.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                errors.here(Violation::WrongFormat(TextFormat::Digits { lengths, plus: *plus }));
            }
        }
        // Looking a code up takes its time, and nearly every price has this one.
        Kind::Currency if text != DEFAULT_CURRENCY && iso_currency::Currency::from_code(text).is_none() => {
            errors.here(Violation::NotAChoice {
                sent: format!("\"{text}\""),
                choices: Choices::Omitted,
                note: Some("Send an ISO 4217 code such as \"SEK\".".to_owned()),
                request: None,
            });
        }
        _ => {}
    }
}

/// Whether it is `YYYY-MM-DD` with any digits.
fn looks_like_a_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.concat().bytes().all(|byte| byte.is_ascii_digit())
}

/// A bare address at a domain: nothing that a mail program would take apart first.
fn is_email(text: &str) -> bool {
    // Most are plain words and need no parser.
    if let Some((local, domain)) = text.split_once('@')
        && is_plain_name(local)
        && domain.contains('.')
        && domain.split('.').all(is_plain_name)
    {
        return true;
    }
    let options = email_address::Options::default().without_display_text().without_domain_literal().with_required_tld();
    EmailAddress::parse_with_options(text, options).is_ok()
}

/// Whether it is a short name of lower-case ASCII letters and digits.
fn is_plain_name(text: &str) -> bool {
    (1..64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn address(schemes: &'static [&'static str], text: &str, errors: &mut FieldErrors) {
    if text.len() > 2000 {
        return errors.here(Violation::TooLong(2000));
    }
    if plain_host(schemes, text).is_some() {
        return;
    }
    match Url::parse(text) {
        Ok(url) if url.host().is_none() => errors.here(Violation::WrongFormat(TextFormat::Address)),
        Ok(url) if !schemes.contains(&url.scheme()) => {
            errors.here(Violation::WrongFormat(TextFormat::Scheme(schemes)));
        }
        Ok(_) => {}
        Err(_) => errors.here(Violation::WrongFormat(TextFormat::Address)),
    }
}

/// The host of an address, if the address has one of these schemes and a host of lower-case ASCII letters, digits and dots whose
/// last label starts with a letter. Such an address is valid whatever follows the host, and so most addresses need no parser.
pub(crate) fn plain_host<'a>(schemes: &[&str], text: &'a str) -> Option<&'a str> {
    let rest = match text.strip_prefix("https://") {
        Some(rest) if schemes.contains(&"https") => rest,
        _ => schemes.iter().find_map(|scheme| text.strip_prefix(scheme)?.strip_prefix("://"))?,
    };
    let end = rest.bytes().position(|byte| !IN_PLAIN_HOSTS[usize::from(byte)]).unwrap_or(rest.len());
    let (host, rest) = rest.split_at_checked(end)?;
    let label = host.bytes().rposition(|byte| byte == b'.').map_or(0, |point| point + 1);
    // A last label that starts with a digit may be part of an IP address.
    let is_plain = host.as_bytes().get(label).is_some_and(u8::is_ascii_lowercase);
    (is_plain && matches!(rest.as_bytes().first(), None | Some(b'/' | b'?' | b'#'))).then_some(host)
}

/// Hosts with other characters are parsed.
const IN_PLAIN_HOSTS: [bool; 256] = {
    let plain = b"abcdefghijklmnopqrstuvwxyz0123456789.";
    let (mut known, mut next) = ([false; 256], 0);
    while next < plain.len() {
        known[plain[next] as usize] = true;
        next += 1;
    }
    known
};

/// A number, or the number that a numeric string holds, which then replaces it.
fn number(value: &mut Value, numeric_text: bool) -> Option<&Number> {
    if numeric_text && let Value::String(text) = &*value {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        *value = Value::Number(serde_json::from_str(text).ok().filter(|_| plain)?);
    }
    match value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// The integer that a number is; 5.0 is the integer 5 in JSON. Numbers beyond the range of i64 saturate, and all limits are
/// within.
fn whole(number: &Number) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, as it should")]
    number.as_i64().or_else(|| number.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as i64))
}

/// The integer that a value is, or that a numeric string holds.
pub(crate) fn as_integer(value: &Value) -> Option<i64> {
    whole(number(&mut value.clone(), true)?)
}

/// A limit of an integer field as a float; all limits are small enough to be exact.
#[expect(clippy::cast_precision_loss, reason = "bounds are at most 10^12")]
const fn bound(integer: i64) -> f64 {
    integer as f64
}

pub(super) fn integer(min: i64, max: i64, numeric_text: bool, value: &mut Value, errors: &mut FieldErrors) {
    let Some(number) = number(value, numeric_text) else { return errors.here(Violation::WrongType(Expected::Integer)) };
    let whole = whole(number);
    match whole {
        None => errors.here(Violation::WrongType(Expected::Integer)),
        Some(whole) if whole < min => errors.here(Violation::TooSmall(bound(min))),
        Some(whole) if whole > max => errors.here(Violation::TooLarge(bound(max))),
        Some(whole) if number.is_f64() => *value = Value::from(whole),
        Some(_) => {}
    }
}

pub(super) fn decimal(
    min: f64,
    max: f64,
    decimals: Option<u8>,
    numeric_text: bool,
    value: &mut Value,
    errors: &mut FieldErrors,
) {
    let Some(number) = number(value, numeric_text) else { return errors.here(Violation::WrongType(Expected::Number)) };
    let float = number.as_f64().unwrap_or(f64::MAX);
    if float < min {
        errors.here(Violation::TooSmall(min));
    } else if float > max {
        errors.here(Violation::TooLarge(max));
    } else if let Some(most) = decimals
        && number.is_f64()
    {
        let text = float.to_string();
        let digits = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        if digits > usize::from(most) {
            errors.here(Violation::WrongFormat(TextFormat::Decimals(most)));
        }
    }
}

pub(super) fn choice(values: &[ChoiceValue], any_case: bool, value: &mut Value, errors: &mut FieldErrors) {
    let Value::String(text) = value else { return errors.here(not_a_choice(value, values.iter().map(|(id, _)| *id))) };
    if values.iter().any(|(id, _)| id == text) {
        return;
    }
    match values.iter().find(|(id, _)| any_case && id.eq_ignore_ascii_case(text)) {
        Some((id, _)) => (*id).clone_into(text),
        None => errors.here(not_a_choice(value, values.iter().map(|(id, _)| *id))),
    }
}

pub(super) fn measure(units: &[&'static str], min: f64, value: &mut Value, errors: &mut FieldErrors) {
    let Value::Object(members) = value else {
        return errors.here(Violation::WrongType(Expected::Measure(units[0])));
    };
    let (mut has_unit, mut has_value) = (false, false);
    for (name, member) in members {
        match name.as_str() {
            "unit" => {
                has_unit = true;
                unit(units, member, errors);
            }
            "value" => {
                has_value = true;
                let mut wrong = FieldErrors::default();
                match member {
                    Value::Null => wrong.here(Violation::Null),
                    number => decimal(min, MOST_MEASURED, None, true, number, &mut wrong),
                }
                errors.put(name, wrong);
            }
            _ => errors.push(name, Violation::UnknownField { meant: Vec::new(), of_ad: false }),
        }
    }
    for (name, has) in [("unit", has_unit), ("value", has_value)] {
        if !has {
            errors.push(name, Violation::Required);
        }
    }
}

fn unit(units: &[&'static str], value: &mut Value, errors: &mut FieldErrors) {
    let known = match value {
        Value::Null => return errors.push("unit", Violation::Null),
        Value::String(text) if units.contains(&text.as_str()) => return,
        Value::String(text) => units.iter().find(|unit| unit.eq_ignore_ascii_case(text)),
        _ => None,
    };
    match known {
        Some(known) => *value = Value::from(*known),
        None => errors.push("unit", not_a_choice(value, units.iter().copied())),
    }
}

/// The violation of a value that is none of the valid ones, with suggestions (decision 4).
pub fn not_a_choice<'a>(value: &Value, valid: impl Iterator<Item = &'a str> + Clone) -> Violation {
    Violation::NotAChoice { sent: shown(value), choices: Choices::of(value.as_str(), valid), note: None, request: None }
}

/// A value for a message: in quotes, and truncated to 80 characters.
pub fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    if text.chars().nth(80).is_some() {
        format!("\"{}…\"", text.chars().take(80).collect::<String>())
    } else {
        format!("\"{text}\"")
    }
}
