//! Numbers, dates, currencies and truth values as people and programs write them. Stock lists are read with these functions, and the
//! hints of the API show a value in the form that the API takes.

pub mod currency;
pub mod damage;
pub mod date;
pub mod number;

use crate::synonyms::fold::folded;

/// Words for yes, as they are compared.
const YES: &[&str] =
    &["ja", "j", "yes", "y", "true", "t", "1", "x", "sant", "wahr", "on", "si", "oui", "kylla", "tosi", "waar", "vrai"];
/// Words for no, as they are compared.
const NO: &[&str] = &[
    "nej", "nein", "n", "no", "nee", "nei", "false", "f", "0", "falskt", "falsch", "off", "ei", "non", "onwaar", "faux",
];

/// Whether a text is a word for yes or for no.
pub fn truth(text: &str) -> Option<bool> {
    let word = folded(text);
    let is_one_of = |words: &[&str]| words.contains(&word.as_str());
    if is_one_of(YES) { Some(true) } else { is_one_of(NO).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_known_in_the_languages_of_stock_lists() {
        for (text, is) in [
            ("Ja", Some(true)),
            ("TRUE", Some(true)),
            ("t", Some(true)),
            ("Kyllä", Some(true)),
            ("Nei", Some(false)),
            ("0", Some(false)),
            ("", None),
            ("kanske", None),
        ] {
            assert_eq!(truth(text), is, "{text}");
        }
    }
}
