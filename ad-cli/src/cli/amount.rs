//! Amounts of money as people write them: `179 900 kr`, `179,900`, `SEK 179900`.

use ad_core::written::{
    currency,
    number::{self, NoNumber},
};
use serde_json::Number;

/// An amount, with its currency where the text has one that is certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenAmount {
    pub(super) number: Number,
    pub(super) currency: Option<String>,
}

/// Reads an amount of money of more than 0. It has at most two decimals, so a comma before three digits separates thousands, as in the output of
/// this program; a point may be that of JSON.
///
/// # Errors
/// What to write instead.
pub(super) fn amount(text: &str) -> Result<WrittenAmount, String> {
    const EXPECTED: &str = "expected an amount such as 329900 or \"329 900 kr\"";
    const TWO_READINGS: &str = "a point before three digits has two readings; write 329900 or 329,900";
    let found = match number::read(text, None) {
        Err(NoNumber::Ambiguous) if text.contains('.') => return Err(TWO_READINGS.to_owned()),
        Err(NoNumber::Ambiguous) => number::read(text, Some('.')),
        found => found,
    };
    let found = found.map_err(|_| EXPECTED.to_owned())?;
    let sign = [found.before, found.after].map(str::trim);
    let (["", sign] | [sign, ""]) = sign else { return Err(EXPECTED.to_owned()) };
    let currency = match sign {
        "" => None,
        sign => match currency::of_sign(sign) {
            Some("") => None,
            Some(code) => Some(code.to_owned()),
            None => return Err(EXPECTED.to_owned()),
        },
    };
    if found.number.decimals() > 2 {
        return Err("an amount has at most two decimals".to_owned());
    }
    let number = serde_json::from_value::<Number>(found.number.value()).map_err(|_| EXPECTED.to_owned())?;
    if number.as_f64().is_none_or(|amount| amount <= 0.0) {
        return Err("an amount has to be more than 0".to_owned());
    }
    Ok(WrittenAmount { number, currency })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_and_this_program_write_them() {
        for text in ["179900", "179 900 kr", "179,900", "179,900 SEK", "SEK 179900", "179 900:-", "179900.00"] {
            let read = amount(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(read.number, Number::from(179_900), "{text}");
        }
        assert_eq!(amount("9 500 EUR").unwrap().currency.as_deref(), Some("EUR"));
        assert_eq!(amount("100,50").unwrap().number.as_f64(), Some(100.5));
        for wrong in ["", "kr", "JKL123", "-5", "0", "1e5", "179.900", "12 34", "1.5.5", "0.125", "179900 per month"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
