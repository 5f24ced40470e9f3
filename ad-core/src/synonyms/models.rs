//! Models as dealers write them: `320d` is a 3 series, `C 220 d` a C-class, `Golf Variant` a Golf. What is left of the text is the trim or
//! variant, which fields call `model_type`. A model is found by name, by the designations of a data file, or by the form of the text; never
//! because its name is merely similar.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::{fold::folded, values};
use crate::violation::nearest;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    skipped: Vec<String>,
    endings: BTreeMap<String, Vec<String>>,
    /// The designations of each model, by the ids of brand and model.
    brands: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

static FILE: LazyLock<ModelsFile> = LazyLock::new(|| {
    toml::from_str(include_str!("data/models.toml")).expect("the embedded designations are read by a test")
});

/// The longest text that is compared, in bytes.
const LONGEST: usize = 100;

/// A model that a text stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundModel<'m> {
    /// The id of the model.
    pub id: &'m str,
    /// What the text says of trim or variant.
    pub model_type: Option<String>,
}

/// A match at the beginning of a text.
struct Match<'m> {
    id: &'m str,
    /// How many folded letters it is of.
    length: usize,
    /// The number of words, if it is of whole words that are the name.
    words: Option<usize>,
}

/// The model that a text stands for, of models with ids and names. `brand` is the id of their brand.
pub fn find<'m>(brand: &str, text: &str, models: impl Iterator<Item = (&'m str, &'m str)>) -> Option<FoundModel<'m>> {
    if text.len() > LONGEST || brand.is_empty() {
        return None;
    }
    let known: Vec<_> =
        models.map(|(id, name)| (id, plain(id), plain(name))).filter(|(id, ..)| *id != "other").collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    // The text as it stands, without the brand, and without further words before the model.
    let brandless = without_brand(brand, &words);
    let is_skipped = |word: &&str| FILE.skipped.iter().any(|skipped| plain(skipped) == plain(word));
    let mut starts: Vec<Vec<&str>> = vec![words, brandless];
    let skipped = starts[1].iter().take_while(|word| is_skipped(word)).count();
    starts.push(starts[1][skipped..].to_vec());
    let found: Vec<_> = starts.iter().filter_map(|words| Some((words, longest(brand, words, &known)?))).collect();
    // A name is more certain than a designation.
    let (words, found) = found.iter().find(|(_, found)| found.words.is_some()).or_else(|| found.first())?;
    let rest = words[found.words.unwrap_or_default()..].join(" ");
    Some(FoundModel { id: found.id, model_type: (!rest.is_empty()).then_some(rest) })
}

/// The models whose names are misspelled by a text. Names with other numbers, and other short names, are other models.
pub fn misspelled<'m>(text: &str, ids: impl Iterator<Item = &'m str>) -> Vec<&'m str> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let mut similar = nearest::similar(text, ids);
    similar.retain(|id| digits(id) == digits(text) && id.len() > SHORT && text.len() > SHORT);
    similar
}

/// The longest name in which a wrong letter makes another one.
const SHORT: usize = 4;

/// A text as models are compared: `Prius+` is `priusplus`.
fn plain(text: &str) -> String {
    folded(&text.replace('+', "plus"))
}

/// The words without the brand at their beginning, which may be joined to the first: `Mazda3`.
fn without_brand<'t>(brand: &str, words: &[&'t str]) -> Vec<&'t str> {
    let aliases = values::named("brand").into_iter().flat_map(|map| map.entries(""));
    let aliases = aliases.filter(|(_, known)| *known == brand).map(|(alias, _)| folded(alias));
    let names: Vec<String> = [folded(brand)].into_iter().chain(aliases).collect();
    for count in (1..=words.len().min(3)).rev() {
        if names.contains(&folded(&words[..count].concat())) {
            return words[count..].to_vec();
        }
    }
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some(name) = names.iter().find(|name| folded(first).starts_with(name.as_str()) && first.is_ascii())
        && let Some(rest) = first.get(name.len()..)
        && rest.starts_with(|letter: char| letter.is_ascii_digit())
    {
        *first = rest;
    }
    words
}

/// The longest match at the beginning of the words.
fn longest<'m>(brand: &str, words: &[&str], known: &[(&'m str, String, String)]) -> Option<Match<'m>> {
    let whole = plain(&words.concat());
    let mut found: Option<Match<'m>> = None;
    let mut take = |candidate: Match<'m>| {
        if found.as_ref().is_none_or(|found| candidate.length > found.length) {
            found = Some(candidate);
        }
    };
    // Whole words that are an id or a name.
    for count in 1..=words.len() {
        let prefix = plain(&words[..count].concat());
        let exact = words[..count].join(" ").to_lowercase();
        let same = known.iter().find(|(id, ..)| *id == exact);
        if let Some((id, ..)) = same.or_else(|| known.iter().find(|(_, id, name)| *id == prefix || *name == prefix)) {
            take(Match { id, length: prefix.len(), words: Some(count) });
        }
    }
    for (id, folded_id, name) in known {
        // A name that ends in a digit, with letters behind it: `308SW`.
        for name in [folded_id, name] {
            let rest = whole.strip_prefix(name.as_str()).unwrap_or_default();
            let ends_in_digit = name.ends_with(|letter: char| letter.is_ascii_digit());
            if ends_in_digit && rest.starts_with(|letter: char| letter.is_ascii_alphabetic()) && name.len() > 1 {
                take(Match { id, length: name.len(), words: None });
            }
        }
        for (ending, others) in &FILE.endings {
            let Some(stem) = folded_id.strip_suffix(ending.as_str()).filter(|stem| stem.len() <= 2) else { continue };
            for other in others {
                for term in [format!("{stem}{other}"), format!("{other}{stem}")] {
                    if begins(&whole, &term) {
                        take(Match { id, length: term.len(), words: None });
                    }
                }
            }
        }
    }
    for (id, patterns) in FILE.brands.get(brand).into_iter().flatten() {
        let Some((id, ..)) = known.iter().find(|(known, ..)| known == id) else { continue };
        for pattern in patterns {
            if let Some(length) = matched(pattern.as_bytes(), whole.as_bytes()) {
                take(Match { id, length, words: None });
            }
        }
    }
    found.or_else(|| by_letters(&whole, known))
}

/// Letters, and then two digits or more: `C 220 d` is a `c-class`, `IS 300h` an `is`.
fn by_letters<'m>(whole: &str, known: &[(&'m str, String, String)]) -> Option<Match<'m>> {
    let length = whole.find(|letter: char| letter.is_ascii_digit())?;
    let (letters, digits) = whole.split_at(length);
    if letters.is_empty() || digits.bytes().take_while(u8::is_ascii_digit).count() < 2 {
        return None;
    }
    let wanted = [letters.to_owned(), format!("{letters}class")];
    let (id, ..) = wanted.iter().find_map(|wanted| known.iter().find(|(_, id, _)| id == wanted))?;
    Some(Match { id, length, words: None })
}

/// Whether a text begins with a term, at the end of which no letter or digit of the same kind follows.
fn begins(text: &str, term: &str) -> bool {
    matched(term.as_bytes(), text.as_bytes()).is_some()
}

/// How much of a text a designation matches; `None` if it does not.
fn matched(pattern: &[u8], text: &[u8]) -> Option<usize> {
    match pattern.split_first() {
        None => Some(0),
        Some((b'*', [])) => Some(text.len()),
        Some((b'*', rest)) => (0..=text.len()).find_map(|skipped| Some(skipped + matched(rest, &text[skipped..])?)),
        Some((sign, rest)) => {
            let (found, behind) = text.split_first()?;
            let is_same = if *sign == b'#' { found.is_ascii_digit() } else { sign == found };
            if !is_same {
                return None;
            }
            // At the end, a number goes on with no digit, and a word with no letter.
            let goes_on = |next: &u8| next.is_ascii_digit() == found.is_ascii_digit();
            if rest.is_empty() && behind.first().is_some_and(goes_on) && (found.is_ascii_digit() || text.len() > 1) {
                return None;
            }
            Some(1 + matched(rest, behind)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    fn found(brand: &str, text: &str) -> Option<(String, Option<String>)> {
        let catalogue = Catalogue::embedded();
        let models = catalogue.models("car-models", brand).entries();
        let found = find(brand, text, models.iter().map(|entry| (entry.id.as_str(), entry.name.as_str())))?;
        Some((found.id.to_owned(), found.model_type))
    }

    #[test]
    fn every_designation_is_of_a_model_of_the_catalogue() {
        let catalogue = Catalogue::embedded();
        assert!(FILE.brands.len() >= 40, "{}", FILE.brands.len());
        for (brand, models) in &FILE.brands {
            let known = catalogue.models("car-models", brand);
            for (model, designations) in models {
                assert!(known.contains(model), "{brand}: {model}");
                for designation in designations {
                    let letters = designation.replace(['#', '*'], "");
                    assert_eq!(folded(&letters), letters, "{brand}: {designation}");
                }
            }
        }
    }

    #[test]
    fn models_are_found_as_dealers_write_them() {
        for (brand, text, id, rest) in [
            ("bmw", "320d", "3-series", "320d"),
            ("bmw", "320d xDrive Touring", "3-series", "320d xDrive Touring"),
            ("bmw", "BMW 118i", "1-series", "118i"),
            ("bmw", "218d Active Tourer", "2-series-active-tourer", "218d Active Tourer"),
            ("bmw", "M340i", "3-series", "M340i"),
            ("bmw", "5er", "5-series", "5er"),
            ("bmw", "3-serien", "3-series", "3-serien"),
            ("bmw", "X3 xDrive20d", "x3", "xDrive20d"),
            ("bmw", "M3 Competition", "m3", "Competition"),
            ("bmw", "2002 tii", "2002", "tii"),
            ("bmw", "i3s", "i3", "i3s"),
            ("mercedes-benz", "C 220 d", "c-class", "C 220 d"),
            ("mercedes-benz", "C220d T", "c-class", "C220d T"),
            ("mercedes-benz", "Mercedes E 63 AMG", "e-class", "E 63 AMG"),
            ("mercedes-benz", "AMG A 45", "a-class", "A 45"),
            ("mercedes-benz", "S-Klasse", "s-class", "S-Klasse"),
            ("mercedes-benz", "A-klass", "a-class", "A-klass"),
            ("mercedes-benz", "GLC 300 Coupé", "glc-coupe", "GLC 300 Coupé"),
            ("mercedes-benz", "GLA 200", "gla", "200"),
            ("mercedes-benz", "CLA 220 Shooting Brake", "cla", "220 Shooting Brake"),
            ("mercedes-benz", "ML 350", "ml", "350"),
            ("mercedes-benz", "190 E", "190", "E"),
            ("volkswagen", "Golf Variant", "golf", "Variant"),
            ("volkswagen", "VW Passat 2.0 TDI", "passat", "2.0 TDI"),
            ("volkswagen", "ID.4 Pro", "id-4", "Pro"),
            ("volkswagen", "T5", "transporter", "T5"),
            ("skoda", "Octavia Combi", "octavia", "Combi"),
            ("skoda", "Octavia RS", "octavia-rs", ""),
            ("peugeot", "308 SW", "308", "SW"),
            ("peugeot", "308SW", "308", "308SW"),
            ("peugeot", "206+", "206-plus", ""),
            ("volvo", "XC 60", "xc60", ""),
            ("volvo", "XC60 D5 AWD", "xc60", "D5 AWD"),
            ("volvo", "Volvo V 60 D4", "v60", "D4"),
            ("volvo", "V60 CC", "v60-cross-country", "V60 CC"),
            ("volvo", "Kombi V70", "v70", ""),
            ("audi", "A4 Avant", "a4", "Avant"),
            ("audi", "RS6 Avant", "rs-6", "Avant"),
            ("audi", "TT RS", "tt", "TT RS"),
            ("citroen", "C4 Grand Picasso", "grand-c4-picasso", "C4 Grand Picasso"),
            ("toyota", "RAV 4", "rav4", ""),
            ("toyota", "Landcruiser 150", "land-cruiser", "150"),
            ("toyota", "Prius+", "prius-plus", ""),
            ("kia", "cee'd SW", "ceed-sportswagon", "cee'd SW"),
            ("mazda", "Mazda3 Sport", "3", "Sport"),
            ("mazda", "CX5", "cx-5", ""),
            ("lexus", "IS 300h", "is", "300h"),
            ("lexus", "RX450h", "rx", "RX450h"),
            ("tesla", "Model 3 Long Range", "model-3", "Long Range"),
            ("tesla", "Model S 75D", "model-s", "75D"),
            ("porsche", "997 Carrera", "911", "997 Carrera"),
            ("mini", "Cooper S Countryman", "countryman", "Cooper S Countryman"),
            ("mini", "Mini Cooper S", "cooper", "S"),
            ("nissan", "Qashqai+2", "qashqai-plus-2", ""),
            ("land-rover", "Evoque", "range-rover-evoque", "Evoque"),
            ("saab", "9-3 SportCombi", "9-3", "SportCombi"),
            ("ford", "F150", "f-150", ""),
            ("mg", "MG4", "4", ""),
            ("ds", "DS 7 Crossback", "7-crossback", ""),
        ] {
            let rest = (!rest.is_empty()).then(|| rest.to_owned());
            assert_eq!(found(brand, text), Some((id.to_owned(), rest)), "{brand} {text}");
        }
    }

    #[test]
    fn a_misspelled_name_has_the_same_digits() {
        let ids = ["octavia", "2002", "i3", "cx-30", "model-3"];
        for (text, meant) in
            [("Oktavia", vec!["octavia"]), ("320d", vec![]), ("i4", vec![]), ("modell-3", vec!["model-3"])]
        {
            assert_eq!(misspelled(text, ids.into_iter()), meant, "{text}");
        }
    }

    #[test]
    fn a_similar_name_is_no_model() {
        for (brand, text) in [
            ("bmw", "1602"),
            ("bmw", "Golf"),
            ("volvo", "V65"),
            ("peugeot", "318"),
            ("audi", "A9"),
            ("skoda", "Oktavia"),
            ("volkswagen", ""),
            ("", "320d"),
        ] {
            assert_eq!(found(brand, text), None, "{brand} {text}");
        }
        assert_eq!(found("bmw", &"9".repeat(1000)), None);
    }
}
