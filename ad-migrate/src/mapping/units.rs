//! Units by what people call them, and how to come from one to another exactly.

use ad_core::synonyms::names::Names;

use ad_core::written::number::Decimal;

/// The unit among these that a text means.
pub(crate) fn find(text: &str, units: &[&'static str], scratch: &mut String) -> Option<&'static str> {
    if let Some(unit) = units.iter().find(|unit| unit.eq_ignore_ascii_case(text)) {
        return Some(unit);
    }
    let meant = Names::builtin().unit(text, scratch)?;
    units.iter().copied().find(|unit| *unit == meant)
}

/// A unit that no field has, and its conversion to one that some have.
#[derive(Debug)]
struct Foreign {
    unit: &'static str,
    /// Names that files use for it.
    names: &'static [&'static str],
    base: &'static str,
    /// How many of the base it is, exactly.
    factor: Decimal,
    /// Decimals to which the converted value is rounded.
    decimals: u32,
}

const FOREIGN: &[Foreign] = &[
    Foreign {
        unit: "mi",
        names: &["mi", "mile", "miles", "mls", "meilen", "miles (statute)"],
        base: "km",
        factor: Decimal::of(1_609_344, 6),
        decimals: 0,
    },
    Foreign {
        unit: "lb",
        names: &["lb", "lbs", "pound", "pounds"],
        base: "kg",
        factor: Decimal::of(45_359_237, 8),
        decimals: 0,
    },
    Foreign { unit: "ft", names: &["ft", "feet", "foot"], base: "m", factor: Decimal::of(3048, 4), decimals: 2 },
    Foreign { unit: "in", names: &["in", "inch", "inches"], base: "cm", factor: Decimal::of(254, 2), decimals: 1 },
    Foreign {
        unit: "cu in",
        names: &["cui", "cid", "cu in", "cu. in", "in³", "cubic inch", "cubic inches"],
        base: "l",
        factor: Decimal::of(16_387_064, 9),
        decimals: 1,
    },
];

fn foreign(unit: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|foreign| foreign.unit == unit)
}

/// The unit that a text means: one of these, or one that is converted to one of these.
pub(crate) fn resolve(text: &str, units: &[&'static str], scratch: &mut String) -> Option<&'static str> {
    let named =
        |foreign: &&Foreign| foreign.names.iter().any(|name| name.eq_ignore_ascii_case(text.trim_end_matches('.')));
    let converted = || FOREIGN.iter().filter(|it| units.iter().any(|to| tens(it.base, to).is_some())).find(named);
    find(text, units, scratch).or_else(|| converted().map(|foreign| foreign.unit))
}

/// The unit of a payload for a unit that is written.
pub(super) fn sent(unit: &'static str, units: &[&'static str]) -> &'static str {
    let Some(foreign) = foreign(unit) else { return unit };
    let is_base = units.contains(&foreign.base);
    let other = || units.iter().copied().find(|to| tens(foreign.base, to).is_some());
    if is_base { foreign.base } else { other().unwrap_or(unit) }
}

/// A factor between units: powers of ten, a number, and decimals to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Factor {
    tens: i32,
    times: Option<Decimal>,
    round: Option<u32>,
}

impl Factor {
    /// The number in the other unit.
    pub(super) fn apply(self, number: Decimal) -> Option<Decimal> {
        let number = self.times.map_or(Some(number), |times| number.multiplied(times))?;
        self.round.map_or(number, |decimals| number.rounded(decimals)).shifted(self.tens)
    }
}

/// Each unit as so many times the first of its group, in powers of ten.
const TENS: &[&[(&str, i32)]] = &[
    &[("km", 0), ("mil", 1)],
    &[("g", 0), ("kg", 3), ("t", 6)],
    &[("mm", 0), ("cm", 1), ("m", 3)],
    &[("cc", 0), ("l", 3), ("m3", 6)],
];

fn tens(from: &str, to: &str) -> Option<i32> {
    let of = |group: &[(&str, i32)], unit| group.iter().find(|(name, _)| *name == unit).map(|(_, tens)| *tens);
    if from == to { Some(0) } else { TENS.iter().find_map(|group| Some(of(group, from)? - of(group, to)?)) }
}

/// How to come from one unit to another; nothing where that is not exact, except for foreign units, which are rounded.
pub(super) fn factor(from: &str, to: &str) -> Option<Factor> {
    if (from, to) == ("hour", "min") {
        return Some(Factor { tens: 0, times: Some(Decimal::of(60, 0)), round: None });
    }
    match foreign(from) {
        Some(Foreign { base, factor, decimals, .. }) => {
            Some(Factor { tens: tens(base, to)?, times: Some(*factor), round: Some(*decimals) })
        }
        None => Some(Factor { tens: tens(from, to)?, times: None, round: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ad_core::written::number;

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
            ("furlong", ["km", "mil"], None),
            ("Miles", ["km", "mil"], Some("mi")),
            ("miles", ["hp", "kw"], None),
        ] {
            assert_eq!(resolve(text, &units, &mut scratch), unit, "{text}");
        }
    }

    #[test]
    fn only_what_is_exact_is_converted() {
        let number = number::read("205590", None).unwrap().number;
        assert_eq!(factor("km", "mil").unwrap().apply(number).unwrap().value(), 20559);
        assert_eq!(factor("hour", "min").unwrap().apply(number).unwrap().value(), 205_590 * 60);
        let miles = number::read("12345", None).unwrap().number;
        assert_eq!(factor("mi", "km").unwrap().apply(miles).unwrap().value(), 19867);
        assert_eq!(factor("mi", "mil").unwrap().apply(miles).unwrap().value(), 1986.7);
        assert_eq!(sent("mi", &["km", "mil"]), "km");
        assert_eq!(factor("mi", "hp"), None);
        assert_eq!(factor("hp", "kw"), None);
        assert_eq!(factor("min", "hour"), None);
    }
}
