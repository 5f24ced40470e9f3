//! What the name of a column says, be it a name of a CSV file or a path of XML or JSON.

mod words;

use ad_core::synonyms::names::Names;

use crate::mapping::fold::folded;
use words::{CURRENCIES, ELSEWHERE, GENERIC, HARMLESS, LARGER, OTHER_PICTURES, OTHER_PRICES, SMALLER, UNITS};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameGuess {
    pub(super) field: &'static str,
    /// How sure that is, in hundredths.
    pub(super) confidence: u8,
    pub(super) why: String,
}

/// The parts of a path, without the marks of attributes.
fn parts(name: &str) -> Vec<&str> {
    let of_path: Vec<&str> = name.split('/').flat_map(|part| part.split('.')).collect();
    // A point in a name of a CSV file separates nothing: `Reg.nr`.
    let is_path = name.contains('/') || (!name.contains(' ') && of_path.first().is_some_and(|part| part.len() > 3));
    let parts = if is_path { of_path } else { vec![name] };
    parts.into_iter().map(|part| part.trim_start_matches(['@', '#'])).filter(|part| !part.is_empty()).collect()
}

/// The words of a part: `modelYear`, `model_year` and `Model year` are the same.
fn words(part: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(part.len() + 4);
    // Small letters before the current one; `kW` is one word.
    let mut small = 0;
    for letter in part.chars() {
        if small > 1 && letter.is_uppercase() {
            spaced.push(' ');
        }
        small = if letter.is_lowercase() { small + 1 } else { 0 };
        spaced.push(letter);
    }
    crate::mapping::fold::words(&spaced)
}

/// Which version of a picture a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PictureSize {
    Small,
    Unsaid,
    Large,
}

/// Which version of pictures a name says.
pub(super) fn picture_size(name: &str) -> PictureSize {
    if has_word(name, SMALLER) {
        PictureSize::Small
    } else if has_word(name, LARGER) {
        PictureSize::Large
    } else {
        PictureSize::Unsaid
    }
}

/// Whether a name says that its pictures are of something else than the vehicle.
pub(super) fn is_other_picture(name: &str) -> bool {
    has_word(name, OTHER_PICTURES)
}

/// Whether a word beside a term says nothing that changes it: a unit, a currency, or a word without a meaning of its own.
fn is_harmless(word: &str) -> bool {
    HARMLESS.iter().any(|words| words.contains(&word))
        || Names::builtin().unit(word, &mut String::new()).is_some()
        || ["sek", "eur", "euro", "nok", "dkk", "gbp", "usd", "chf", "kr"].contains(&word)
}

/// What a name says by itself.
pub(super) fn guess_by_name(name: &str) -> Option<NameGuess> {
    if is_unit(name) || is_currency(name) {
        return None;
    }
    let mut said = by_parts(name)?;
    let mut doubt = |why: &str| {
        said.confidence = said.confidence.min(UNSURE);
        said.why = format!("{}, but {why}", said.why);
    };
    if said.field.starts_with("price.") && has_word(name, &OTHER_PRICES.concat()) {
        doubt("it may be another price than buyers pay");
    }
    let is_of_dealer = said.field == "dealer_code" || said.field.starts_with("location.");
    if said.field == "image_urls" && is_other_picture(name) {
        doubt("its pictures may be of something else");
    } else if !is_of_dealer && said.field != "category_fields.salesperson" && is_elsewhere(name) {
        doubt("it is of something else than the vehicle");
    }
    Some(said)
}

/// Whether a name has the word of a price in it, and no other that makes it another one.
pub(super) fn may_be_price(name: &str) -> bool {
    const PRICE: [&str; 6] = ["pris", "price", "preis", "hinta", "prijs", "prix"];
    let is_price = words(last(name)).iter().any(|word| PRICE.iter().any(|price| word.contains(price)));
    is_price && !has_word(name, &OTHER_PRICES.concat())
}

/// Whether what is around the last part of a path is something else than the vehicle.
fn is_elsewhere(name: &str) -> bool {
    let parts = parts(name);
    let around = parts.split_last().map_or(&[][..], |(_, around)| around);
    around.iter().any(|part| {
        let words = words(part);
        ELSEWHERE.contains(&words.concat().as_str()) || words.iter().any(|word| ELSEWHERE.contains(&word.as_str()))
    })
}

/// The confidence in a name that says more than a term.
const UNSURE: u8 = 45;

fn by_parts(name: &str) -> Option<NameGuess> {
    if name == "@key" || name == "@key2" {
        let why = "the records are the members of an object, by this name".to_owned();
        return Some(NameGuess { field: "source_id", confidence: 84, why });
    }
    let parts = parts(name);
    let last = parts.last()?;
    let is_generic = |part: &str| GENERIC.contains(&folded(part).as_str());
    let around = parts.len().checked_sub(2).and_then(|index| parts.get(index));
    let asked = |text: &str, confidence, why: &str| {
        let field = Names::builtin().column(text)?;
        Some(NameGuess { field, confidence, why: format!("\"{text}\" {why}") })
    };
    if let Some(around) = around.filter(|_| is_generic(last)) {
        return asked(around, 90, "is a usual name of such columns").or_else(|| by_words(around));
    }
    asked(last, if parts.len() == 1 { 92 } else { 90 }, "is a usual name of such columns")
        .or_else(|| asked(before_brackets(last)?, 90, "is a usual name of such columns"))
        .or_else(|| asked(&format!("{} {last}", around?), 85, "is a usual name of such columns"))
        // `Bild 2`, `image_3`: one of several.
        .or_else(|| {
            let one =
                last.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches([' ', '_', '-', '.']);
            asked(one, 88, "is a usual name of such columns")
                .filter(|said| one.len() < last.len() && said.field == "image_urls")
        })
        .or_else(|| by_words(last))
        // `features/feature`: the one of many.
        .or_else(|| {
            let around = around.filter(|around| folded(around).starts_with(&folded(last)))?;
            asked(around, 85, "is a usual name of such columns")
        })
}

/// The text before brackets in which nothing changes what it means: `Preis (EUR)`.
fn before_brackets(part: &str) -> Option<&str> {
    let (before, within) = part.split_once(['(', '['])?;
    words(within).iter().all(|word| is_harmless(word)).then(|| before.trim())
}

/// The longest term whose words the part has.
fn by_words(part: &str) -> Option<NameGuess> {
    let words = words(part);
    let mut best: Option<(usize, NameGuess)> = None;
    for from in 0..words.len() {
        for to in from + 1..=words.len() {
            let term = words[from..to].concat();
            let is_better = best.as_ref().is_none_or(|(length, _)| *length < term.len());
            if term.len() >= 3
                && is_better
                && let Some(field) = Names::builtin().column(&term)
            {
                let others = words[..from].iter().chain(&words[to..]);
                let is_size = |word: &str| field == "image_urls" && (SMALLER.contains(&word) || LARGER.contains(&word));
                let confidence = match others.filter(|word| !is_harmless(word) && !is_size(word)).count() {
                    _ if to - from == words.len() => 88,
                    0 => 76,
                    _ => UNSURE,
                };
                let why = format!("\"{part}\" contains \"{}\"", words[from..to].join(" "));
                best = Some((term.len(), NameGuess { field, confidence, why }));
            }
        }
    }
    best.map(|(_, said)| said)
}

fn ends_with(name: &str, known: &[&str]) -> bool {
    parts(name).last().is_some_and(|last| {
        let words = words(last);
        let of_last = words.last().is_some_and(|word| known.contains(&word.as_str()));
        of_last || known.contains(&folded(last).as_str())
    })
}

/// Whether a column has units.
pub(super) fn is_unit(name: &str) -> bool {
    ends_with(name, UNITS)
}

/// Whether a column has currencies.
pub(super) fn is_currency(name: &str) -> bool {
    ends_with(name, CURRENCIES)
}

/// The last part of a path.
pub(super) fn last(name: &str) -> &str {
    parts(name).last().copied().unwrap_or_default()
}

/// What two names begin with, for finding the unit beside a value: `technical.odometer` of `technical.odometer.value`.
pub(super) fn around(name: &str) -> &str {
    name.rfind(['/', '.']).map_or("", |at| &name[..at])
}

/// Whether a name has one of these texts, as they are compared, in its brackets: `Förbrukning (l/mil)`.
pub(super) fn has_brackets(name: &str, known: &[&str]) -> bool {
    let within = last(name).split_once(['(', '[']).map(|(_, within)| folded(within));
    within.is_some_and(|within| known.contains(&within.as_str()))
}

/// Whether a name has one of these words in it, or in its brackets.
pub(super) fn has_word(name: &str, known: &[&str]) -> bool {
    parts(name).into_iter().flat_map(words).any(|word| known.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use ad_core::categories::typed;

    use super::*;
    use crate::mapping::target::is_target;

    #[test]
    fn every_field_of_the_names_of_columns_is_a_target() {
        for field in Names::builtin().columns() {
            assert!(typed().any(|(_, category)| is_target(category, field)), "{field}");
        }
    }

    #[test]
    fn names_are_understood_in_three_languages_and_in_paths() {
        for (name, field) in [
            ("Regnr", "category_fields.registration_number"),
            ("Reg.nr", "category_fields.registration_number"),
            ("Kilometerstand", "category_fields.condition.mileage"),
            ("Preis (EUR)", "price.list"),
            ("Effekt (hk)", "category_fields.powertrain.power"),
            ("modelYear", "category_fields.model_year"),
            ("vehicle_make", "category_fields.brand"),
            ("technical.odometer.value", "category_fields.condition.mileage"),
            ("bilder/bild/@url", "image_urls"),
            ("photos.href", "image_urls"),
            ("identity.registrationNumber", "category_fields.registration_number"),
            ("FIRST_REGISTRATION_DATE", "category_fields.in_traffic_date"),
            ("features/feature", "category_fields.equipments"),
            ("identity.vin", "category_fields.vin"),
            ("@id", "source_id"),
        ] {
            assert_eq!(guess_by_name(name).map(|said| said.field), Some(field), "{name}");
        }
        for name in ["technical.odometer.unit", "pris/@valuta", "photos.order", "x"] {
            assert_eq!(guess_by_name(name), None, "{name}");
        }
        assert!(is_unit("matarstallning/@enhet") && is_currency("price.currency") && is_currency("priceCurrency"));
    }
}
