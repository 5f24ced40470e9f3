//! Measures and prices: numbers with units and currencies.

use ad_core::{
    fields::{Kind, MOST_MEASURED},
    written::currency,
};
use serde_json::{Value, json};

use super::{BadValue, Convert, With, short};
use crate::mapping::units;

/// A number with a unit as a measure.
pub(super) fn measure(
    text: &str,
    units: &'static [&'static str],
    min: f64,
    with: With<'_>,
    scratch: &mut String,
) -> Result<Value, BadValue> {
    let found = with.number(text)?;
    if !found.before.is_empty() {
        return Err(with.no_number(text));
    }
    let written = found.after.trim();
    let own = units::resolve(written, units, scratch);
    if !written.is_empty() && own.is_none() {
        return Err(unknown_unit(text, written, with.noun, units));
    }
    let unit = match (with.unit, own, units) {
        (Some(set), Some(own), _) if set != own => {
            return Err(with.unclear(
                "has another unit than the mapping",
                format!("\"{}\" is in {own}, but the mapping sets {set}.", short(text)),
                format!("If the values contain their unit, set a default instead: unit = {{ default = \"{set}\" }}."),
            ));
        }
        (Some(unit), ..) | (None, Some(unit), _) | (None, None, &[unit]) => unit,
        (None, None, units) if with.default_unit.is_none() => {
            return Err(with.unclear(
                "has no unit",
                format!("\"{}\" has no unit.", short(text)),
                format!("Set the unit that the file means in the mapping: {}.", choices(units)),
            ));
        }
        _ => with.default_unit.unwrap_or_default(),
    };
    let to = with.to.unwrap_or_else(|| units::sent(unit, units));
    let number = units::factor(unit, to).and_then(|factor| factor.apply(found.number)).ok_or_else(|| {
        with.unclear(
            "cannot be converted",
            format!("\"{}\" cannot be converted exactly from {unit} to {to}.", short(text)),
            format!("Omit \"as\": the service accepts {unit} too."),
        )
    })?;
    with.within(number, min, MOST_MEASURED, text)?;
    Ok(json!({"unit": to, "value": number.value()}))
}

/// `unit = "km" or unit = "mil"`
fn choices(units: &[&str]) -> String {
    units.iter().map(|unit| format!("unit = \"{unit}\"")).collect::<Vec<_>>().join(" or ")
}

/// A unit that the field does not allow.
pub(in crate::mapping) fn unknown_unit(text: &str, unit: &str, noun: &str, units: &[&str]) -> BadValue {
    let allowed = ad_core::violation::nearest::quoted(units.iter().copied());
    BadValue::new(
        format!("unknown unit of {noun}"),
        format!("\"{}\" of \"{}\" is not a unit of {noun}.", short(unit), short(text)),
        format!("Units: {allowed}."),
    )
}

/// An amount as a price of a type. `set` is the currency that the mapping or a column sets.
pub(in crate::mapping) fn price(
    text: &str,
    of: &str,
    amount: &Convert,
    set: Option<&str>,
    with: With<'_>,
) -> Result<Value, BadValue> {
    let Kind::Decimal { min, max, decimals, .. } = amount.kind else { return Err(with.no_number(text)) };
    let found = with.number(text)?;
    let mut written = None;
    for sign in [found.before.trim(), found.after.trim()].into_iter().filter(|sign| !sign.is_empty()) {
        if currency::of_sign(sign).is_none() {
            return Err(with.no_number(text));
        }
        written = written.or_else(|| currency::unambiguous(sign));
    }
    with.within(found.number, min, max, text)?;
    let set = set.map(currency::code);
    if let (Some(set), Some(written)) = (&set, written)
        && set != written
    {
        return Err(with.unclear(
            "has another currency than the mapping",
            format!("\"{}\" is in {written}, but the mapping sets {set}.", short(text)),
            format!(
                "If the values contain their currency, set a default instead: currency = {{ default = \"{set}\" }}."
            ),
        ));
    }
    let mut price = json!({"type": of, "amount": with.rounded(found.number, decimals, text)?});
    let default = || with.default_currency.map(currency::code);
    if let Some(currency) = set.or_else(|| written.map(str::to_owned)).or_else(default) {
        price["currency"] = Value::String(currency);
    }
    Ok(price)
}
