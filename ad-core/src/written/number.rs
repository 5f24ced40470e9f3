//! Numbers as people write them: `149 900 kr`, `1.234,50`, `1,234.50`, `12 345 mil`. A number with two readings is not read.

use serde_json::{Number, Value};

/// Most digits of a number; no field of an ad takes more.
const MOST_DIGITS: usize = 18;

/// A decimal number, exactly: `digits` × 10^-`scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: i64,
    scale: u32,
}

/// A number in a text, with the texts around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberInText<'a> {
    /// The value of the number, exactly.
    pub number: Decimal,
    /// The text before it, without spaces at its ends.
    pub before: &'a str,
    /// The text after it, without spaces at its end.
    pub after: &'a str,
}

/// Why no number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoNumber {
    /// It contains no digits, or they are grouped in no usual way.
    None,
    /// It has one separator before three digits: thousands or thousandths.
    Ambiguous,
}

impl Decimal {
    /// The number times 10^`by`, where its digits do not become too many.
    pub fn shifted(self, by: i32) -> Option<Self> {
        let scale = i64::from(self.scale) - i64::from(by);
        if let Ok(scale) = u32::try_from(scale) {
            return Some(Self { scale, ..self });
        }
        let factor = 10_i64.checked_pow(u32::try_from(-scale).ok()?)?;
        Some(Self { digits: self.digits.checked_mul(factor)?, scale: 0 })
    }

    /// The product, where its digits do not become too many.
    pub fn multiplied(self, by: Self) -> Option<Self> {
        Some(Self { digits: self.digits.checked_mul(by.digits)?, scale: self.scale + by.scale }.shortest())
    }

    /// Rounded to this many decimals, halves away from zero.
    #[must_use]
    pub fn rounded(self, decimals: u32) -> Self {
        let Some(surplus) = self.scale.checked_sub(decimals).filter(|surplus| *surplus > 0) else { return self };
        let unit = 10_i64.checked_pow(surplus).unwrap_or(i64::MAX);
        let half = if self.digits < 0 { -(unit / 2) } else { unit / 2 };
        Self { digits: self.digits.saturating_add(half) / unit, scale: decimals }
    }

    /// A JSON number exactly as it is written, where its digits are not too many.
    pub fn of_number(number: &Number) -> Option<Self> {
        let text = number.to_string();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{decimals}").parse().ok()?;
        Self { digits, scale: u32::try_from(decimals.len()).ok()? }.shifted(exponent.parse().ok()?)
    }

    /// A number of so many digits behind the decimal separator.
    pub const fn of(digits: i64, scale: u32) -> Self {
        Self { digits, scale }
    }

    /// Without zeros at its end.
    fn shortest(mut self) -> Self {
        while self.scale > 0 && self.digits % 10 == 0 {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }

    /// The whole number that it is.
    pub fn whole(self) -> Option<i64> {
        let shortest = self.shortest();
        (shortest.scale == 0).then_some(shortest.digits)
    }

    /// How many digits it has behind the decimal separator.
    pub fn decimals(self) -> u32 {
        self.shortest().scale
    }

    /// As a number of a payload: whole where it is.
    pub fn value(self) -> Value {
        match self.whole() {
            Some(whole) => Value::from(whole),
            None => Number::from_f64(self.float()).map_or(Value::Null, Value::Number),
        }
    }

    /// The nearest number of the machine. Digits and power of ten are both exact in it or read from text, so `0.1` stays `0.1`.
    #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 the text is read instead")]
    pub fn float(self) -> f64 {
        let it = self.shortest();
        if it.scale <= 22 && it.digits.unsigned_abs() < 1 << 53 {
            return it.digits as f64 / 10_f64.powi(it.scale.cast_signed());
        }
        format!("{}e-{}", it.digits, it.scale).parse().unwrap_or(f64::MAX)
    }
}

/// Whether a character groups digits and never is a decimal separator.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{2007}' | '\'' | '\u{2019}')
}

/// Reads the number of a text. `decimal` is the decimal separator, if it is known.
///
/// # Errors
/// When there is no number, or one with two readings.
pub fn read(text: &str, decimal: Option<char>) -> Result<NumberInText<'_>, NoNumber> {
    let first = text.find(|letter: char| letter.is_ascii_digit()).ok_or(NoNumber::None)?;
    let before = text[..first].trim_end();
    let (before, is_negative) = match before.strip_suffix(['-', '−', '–']) {
        Some(rest) => (rest, true),
        None => (before.strip_suffix('+').unwrap_or(before), false),
    };
    let groups = Groups::of(&text[first..]).ok_or(NoNumber::None)?;
    let scale = u32::from(groups.decimals(decimal)?);
    let digits = if is_negative { -groups.digits } else { groups.digits };
    let after = text[first + groups.end..].trim_end();
    Ok(NumberInText { number: Decimal { digits, scale }, before: before.trim(), after })
}

/// Whether a separator of the number of a text may be of thousands or decimals.
pub fn has_two_readings(text: &str) -> bool {
    read(text, None) == Err(NoNumber::Ambiguous)
}

/// The digits of a text in groups: `1.234,50` has groups of 1, 3 and 2 digits, separated by `.` and `,`.
#[derive(Debug, Default)]
struct Groups {
    digits: i64,
    /// Position after the last digit, in bytes.
    end: usize,
    starts_with_zero: bool,
    lengths: [u8; MOST_DIGITS],
    /// `.`, `,`, or a space for everything that only groups digits.
    separators: [u8; MOST_DIGITS],
    /// Index of the last group.
    last: usize,
}

impl Groups {
    /// The digits at the beginning of a text.
    fn of(text: &str) -> Option<Self> {
        let mut groups = Self { starts_with_zero: text.starts_with('0'), ..Self::default() };
        let mut letters = text.char_indices().peekable();
        let mut count = 0;
        while let Some((at, letter)) = letters.next() {
            if let Some(digit) = letter.to_digit(10) {
                count += 1;
                if count > MOST_DIGITS {
                    return None;
                }
                groups.digits = groups.digits * 10 + i64::from(digit);
                groups.lengths[groups.last] += 1;
                groups.end = at + 1;
                continue;
            }
            let separator = if is_space(letter) { b' ' } else { u8::try_from(letter).unwrap_or_default() };
            let goes_on = letters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
            if !goes_on || !b" .,".contains(&separator) {
                break;
            }
            groups.separators[groups.last] = separator;
            groups.last += 1;
        }
        Some(groups)
    }

    /// How many of the digits are decimals.
    fn decimals(&self, decimal: Option<char>) -> Result<u8, NoNumber> {
        let (lengths, separators) = (&self.lengths[..=self.last], &self.separators[..self.last]);
        let Some((mark, earlier)) = separators.split_last() else { return Ok(0) };
        let (first, last) = (lengths[0], lengths[self.last]);
        let are_thousands = |separators: &[u8], lengths: &[u8]| {
            first <= 3
                && lengths[1..].iter().all(|length| *length == 3)
                && separators.windows(2).all(|it| it[0] == it[1])
        };
        let whole = if are_thousands(separators, lengths) { Ok(0) } else { Err(NoNumber::None) };
        if *mark == b' ' || earlier.contains(mark) {
            return whole;
        }
        // The decimal separator, unless it could be the one of thousands as well.
        let is_decimal = last != 3 || !earlier.is_empty() || first > 3 || (self.starts_with_zero && first == 1);
        match decimal {
            Some(decimal) if decimal != char::from(*mark) && !is_decimal => whole,
            None if !is_decimal => Err(NoNumber::Ambiguous),
            _ if earlier.is_empty() || are_thousands(earlier, &lengths[..self.last]) => Ok(last),
            _ => Err(NoNumber::None),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(text: &str) -> Value {
        read(text, None).map_or(Value::Null, |found| found.number.value())
    }

    #[test]
    fn json_numbers_are_read_exactly() {
        let exact = |text: &str| Decimal::of_number(&serde_json::from_str(text).unwrap());
        for (text, digits, scale) in [
            ("19900", 19_900, 0),
            ("-0.05", -5, 2),
            ("999999999999.99", 99_999_999_999_999, 2),
            ("1e-7", 1, 7),
            ("1.5E3", 1500, 0),
            ("0", 0, 0),
        ] {
            assert_eq!(exact(text).map(Decimal::shortest), Some(Decimal::of(digits, scale)), "{text}");
        }
        for text in ["1e300", "18446744073709551615"] {
            assert_eq!(exact(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (text, is) in [
            ("149 900 kr", json!(149_900)),
            ("149\u{a0}900:-", json!(149_900)),
            ("149\u{202f}900", json!(149_900)),
            ("1.234,50", json!(1234.5)),
            ("1,234.50", json!(1234.5)),
            ("1.234.567", json!(1_234_567)),
            ("1'234'567.5", json!(1_234_567.5)),
            ("12 345 mil", json!(12_345)),
            ("85hk", json!(85)),
            ("2.0", json!(2)),
            ("2,4", json!(2.4)),
            ("0.125", json!(0.125)),
            ("12 345.678", json!(12_345.678)),
            ("1234.567", json!(1234.567)),
            ("-5", json!(-5)),
            ("kr 5", json!(5)),
            ("007", json!(7)),
        ] {
            assert_eq!(number(text), is, "{text}");
        }
        for text in ["", "kr", "12 34", "1.23.456", "1,234,56", "1.234 567.8,9", "12345678901234567890"] {
            assert_eq!(read(text, None), Err(NoNumber::None), "{text}");
        }
    }

    #[test]
    fn a_separator_before_three_digits_is_not_guessed() {
        for text in ["1.234", "1,234", "149.900 €"] {
            assert_eq!(read(text, None), Err(NoNumber::Ambiguous), "{text}");
        }
        let told = |text, decimal| read(text, Some(decimal)).unwrap().number.value();
        assert_eq!(told("1.234", ','), json!(1234));
        assert_eq!(told("1.234", '.'), json!(1.234));
        assert_eq!(told("1,234", '.'), json!(1234));
        assert_eq!(told("2.0", ','), json!(2));
        assert_eq!(told("1.234.567", ','), json!(1_234_567));
    }

    #[test]
    fn what_stands_around_a_number_is_told() {
        let found = read("ca 12 345 mil (avläst)", None).unwrap();
        assert_eq!((found.before, found.after), ("ca", " mil (avläst)"));
        assert_eq!(read("149 900:-", None).unwrap().after, ":-");
    }

    #[test]
    fn powers_of_ten_are_exact() {
        let of = |text, by| read(text, Some('.')).unwrap().number.shifted(by).unwrap().value();
        assert_eq!(of("205590", -1), json!(20559));
        assert_eq!(of("205595", -1), json!(20559.5));
        assert_eq!(of("1.5", 3), json!(1500));
    }
}
