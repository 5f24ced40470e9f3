//! The languages of stock files. A few terms mean something else in one language than in the others, such as the German "Limousine".

use std::{collections::BTreeMap, sync::LazyLock};

use rustc_hash::FxHashSet;

/// The language in which terms are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Whichever: a term has the meaning that most languages give it. For hints, which nothing depends on.
    #[default]
    Any,
    /// It is not known: a term on which languages disagree has no meaning.
    Unknown,
    /// This one, by its ISO 639-1 code.
    Known(&'static str),
}

impl Language {
    /// The language of a code, in any case.
    pub fn of_code(code: &str) -> Option<Self> {
        // Norwegian is written as Bokmål in stock files.
        let code = if code.eq_ignore_ascii_case("no") { "nb" } else { code };
        codes().find(|known| known.eq_ignore_ascii_case(code)).map(Self::Known)
    }

    /// Its code, if it is known.
    pub fn code(self) -> Option<&'static str> {
        if let Self::Known(code) = self { Some(code) } else { None }
    }
}

static WORDS: LazyLock<BTreeMap<String, FxHashSet<String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("data/languages.toml")).expect("the embedded words are read by a test")
});

/// The codes of all languages that the tables have.
pub fn codes() -> impl Iterator<Item = &'static str> {
    WORDS.keys().map(String::as_str)
}

/// The language of names of columns and of values: the one of which there are most words, if it is clearly ahead.
pub fn detect<'a>(texts: impl Iterator<Item = &'a str>) -> Language {
    let words: FxHashSet<String> = texts.flat_map(words).collect();
    let mut counts: Vec<(usize, &'static str)> =
        WORDS.iter().map(|(code, known)| (known.intersection(&words).count(), code.as_str())).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    match counts[..] {
        [(most, code), (next, _), ..] if most > 0 && most * 2 >= next * 3 => Language::Known(code),
        _ => Language::Unknown,
    }
}

/// The words of a text in small letters; `fuelType` has two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in text.chars() {
        let begins = !letter.is_alphanumeric() || (was_small && letter.is_uppercase());
        was_small = letter.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_words() {
        for (text, code) in [
            ("Lagernr;Regnr;Märke;Miltal;Växellåda;Pris", Some("sv")),
            ("Marke;Modell;Kilometerstand;Kraftstoff;Getriebe", Some("de")),
            ("make;fuelType;modelYear;price", Some("en")),
            ("Merke;Kjørelengde;Girkasse", Some("nb")),
            ("Mærke;Brændstof;Farve", Some("da")),
            ("Merkki;Malli;Käyttövoima", Some("fi")),
            ("Merk;Brandstof;Kleur", Some("nl")),
            ("Marque;Énergie;Couleur", Some("fr")),
            ("id;regnr;model", None),
            ("", None),
        ] {
            assert_eq!(detect(text.split(';')).code(), code, "{text}");
        }
        assert_eq!(Language::of_code("DE"), Some(Language::Known("de")));
        assert_eq!(Language::of_code("no"), Some(Language::Known("nb")));
        assert_eq!(Language::of_code("xx"), None);
    }

    #[test]
    fn words_of_a_language_are_in_small_letters() {
        for (code, known) in &*WORDS {
            assert!(code.len() == 2 && known.iter().all(|word| words(word) == [word.clone()]), "{code}: {known:?}");
        }
    }
}
