//! Units by what people call them, and how to come from one to another exactly.

use ad_core::synonyms::names::Names;

use super::number::Decimal;

/// The unit among these that a text means.
pub(crate) fn find(text: &str, units: &[&'static str], scratch: &mut String) -> Option<&'static str> {
    if let Some(unit) = units.iter().find(|unit| unit.eq_ignore_ascii_case(text)) {
        return Some(unit);
    }
    let meant = Names::builtin().unit(text, scratch)?;
    units.iter().copied().find(|unit| *unit == meant)
}

/// A factor between units that is exact: powers of ten, then a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Factor {
    tens: i32,
    times: i64,
}

impl Factor {
    /// The number in the other unit.
    pub(super) fn apply(self, number: Decimal) -> Option<Decimal> {
        number.shifted(self.tens)?.times(self.times)
    }
}

/// Each unit as so many times the first of its group, in powers of ten.
const TENS: &[&[(&str, i32)]] = &[
    &[("km", 0), ("mil", 1)],
    &[("g", 0), ("kg", 3), ("t", 6)],
    &[("mm", 0), ("cm", 1), ("m", 3)],
    &[("cc", 0), ("l", 3), ("m3", 6)],
];

/// How to come from one unit to another; nothing where that is not exact.
pub(super) fn factor(from: &str, to: &str) -> Option<Factor> {
    if from == to {
        return Some(Factor { tens: 0, times: 1 });
    }
    if (from, to) == ("hour", "min") {
        return Some(Factor { tens: 0, times: 60 });
    }
    let of = |group: &[(&str, i32)], unit| group.iter().find(|(name, _)| *name == unit).map(|(_, tens)| *tens);
    TENS.iter().find_map(|group| Some(Factor { tens: of(group, from)? - of(group, to)?, times: 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_names_in_three_languages() {
        let mut scratch = String::new();
        for (text, units, unit) in [
            ("hk", ["hp", "kw"], Some("hp")),
            ("PS", ["hp", "kw"], Some("hp")),
            ("kW", ["hp", "kw"], Some("kw")),
            ("Mil", ["km", "mil"], Some("mil")),
            ("cm³", ["cc", "l"], Some("cc")),
            ("liter", ["cc", "l"], Some("l")),
            ("miles", ["km", "mil"], None),
        ] {
            assert_eq!(find(text, &units, &mut scratch), unit, "{text}");
        }
    }

    #[test]
    fn only_what_is_exact_is_converted() {
        let number = super::super::number::read("205590", None).unwrap().number;
        assert_eq!(factor("km", "mil").unwrap().apply(number).unwrap().value(), 20559);
        assert_eq!(factor("hour", "min").unwrap().apply(number).unwrap().value(), 205_590 * 60);
        assert_eq!(factor("hp", "kw"), None);
        assert_eq!(factor("min", "hour"), None);
    }
}
