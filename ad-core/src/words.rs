//! The words by which an ad is found (`q`, extensions E11): those of its title, and its plate, VIN and ids; and what a search asks of them.
//!
//! Both are compared in lower case and without accents. Between words is everything that is neither a letter nor a digit.

use std::collections::BTreeSet;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::model::Ad;

/// Maximum number of words of a search.
pub const MOST_WORDS: usize = 10;
/// Words of a title that an ad is found by: the first ones.
const MOST_OF_TITLE: usize = 100;
/// Characters of a word that are compared.
const MOST_CHARACTERS: usize = 100;
/// Parts of a source id, if it has no more, that an ad is found by, such as those of `Lager-12`. A UUID has more.
const MOST_OF_ID: usize = 3;
/// Words of a search that may be pieces of one word of the ad, such as those of `YV1 RH5 25D`.
const MOST_PIECES: usize = 4;
/// Parts of a word of a search that are looked for one by one, such as those of `V60/V90`.
const MOST_PARTS: usize = 8;

/// The words by which an ad is found, sorted. They have letters and digits only.
pub fn of(ad: &Ad) -> BTreeSet<String> {
    let content = &ad.content;
    let plate = content.registration_number();
    let whole = [
        plate.as_deref(),
        content.text("category_fields.vin"),
        Some(ad.source_id.as_str()),
        ad.marketplace_ad_id.as_deref(),
        ad.offer_id.as_deref(),
    ];
    let mut found: BTreeSet<_> = whole.into_iter().flatten().map(joined).collect();
    let of_id: Vec<_> = parts(&ad.source_id).take(MOST_OF_ID + 1).collect();
    if of_id.len() <= MOST_OF_ID {
        found.extend(of_id);
    }
    found.extend(parts(content.title().unwrap_or_default()).take(MOST_OF_TITLE));
    found.remove("");
    found
}

/// What a search asks of the words of an ad. All its words must occur, each as the beginning of a word of the ad, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSearch {
    /// For each word the alternatives, and for each alternative the beginnings that must all occur.
    words: Vec<Vec<Vec<String>>>,
}

impl WordSearch {
    /// A search for what somebody has typed. A word may also be several words of the ad (`V60/V90`), and words that follow one another may
    /// be pieces of one (`ABC 123`). A text without letters and digits asks for nothing.
    pub fn of(text: &str) -> Self {
        let typed: Vec<_> = typed(text).map(|word| (joined(word), word)).collect();
        let alternatives = |at: usize| {
            let (whole, word) = &typed[at];
            let parts: Vec<_> = parts(word).take(MOST_PARTS + 1).collect();
            let parts = (2..=MOST_PARTS).contains(&parts.len()).then_some(parts);
            let pieces = (at.saturating_sub(MOST_PIECES - 1)..at).rev().map(|first| {
                let piece = |(whole, _): &(String, &str)| whole.clone();
                typed[first..=at].iter().map(piece).collect::<String>()
            });
            let pieces = pieces.take_while(|pieces| pieces.chars().count() <= MOST_CHARACTERS).map(|it| vec![it]);
            [vec![whole.clone()]].into_iter().chain(parts).chain(pieces).collect()
        };
        Self { words: (0..typed.len()).map(alternatives).collect() }
    }

    /// Whether it asks for nothing, which every ad has.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether an ad with these words is found.
    pub fn finds(&self, words: &BTreeSet<String>) -> bool {
        let begins = |beginning: &String| {
            words.range(beginning.clone()..).next().is_some_and(|word| word.starts_with(beginning.as_str()))
        };
        self.words.iter().all(|alternatives| alternatives.iter().any(|all| all.iter().all(begins)))
    }

    /// As an expression with these operators, of what is made of each beginning. It is not empty unless the search is.
    pub fn expression(&self, and: &str, or: &str, mut beginning: impl FnMut(&str) -> String) -> String {
        let mut all_of = |all: &Vec<String>| {
            let all: Vec<_> = all.iter().map(|it| beginning(it)).collect();
            if all.len() == 1 { all.concat() } else { format!("({})", all.join(and)) }
        };
        let words = self.words.iter().map(|alternatives| {
            let any: Vec<_> = alternatives.iter().map(&mut all_of).collect();
            format!("({})", any.join(or))
        });
        words.collect::<Vec<_>>().join(and)
    }
}

/// The words of a search as they were typed, without those that are punctuation only.
fn typed(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| parts(word).next().is_some())
}

/// The number of words of a search.
pub fn count(text: &str) -> usize {
    typed(text).count()
}

/// A text as one word, as far as it is compared.
fn joined(text: &str) -> String {
    plain(text).filter(|letter| letter.is_alphanumeric()).take(MOST_CHARACTERS).collect()
}

/// The words of a text, as far as they are compared.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let mut letters = plain(text);
    std::iter::from_fn(move || {
        let first = letters.find(|letter| letter.is_alphanumeric())?;
        let mut word = String::from(first);
        let mut length = 1;
        for letter in letters.by_ref().take_while(|letter| letter.is_alphanumeric()) {
            if length < MOST_CHARACTERS {
                word.push(letter);
                length += 1;
            }
        }
        Some(word)
    })
}

/// The letters of a text in lower case and without accents.
fn plain(text: &str) -> impl Iterator<Item = char> {
    let letters = text.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase);
    letters.flat_map(|letter| {
        let (first, second) = match letter {
            'ß' => ('s', Some('s')),
            'æ' => ('a', Some('e')),
            'œ' => ('o', Some('e')),
            'þ' => ('t', Some('h')),
            'ø' => ('o', None),
            'ł' => ('l', None),
            'đ' | 'ð' => ('d', None),
            'ı' => ('i', None),
            'ς' => ('σ', None),
            other => (other, None),
        };
        [Some(first), second].into_iter().flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> BTreeSet<String> {
        parts(text).collect()
    }

    #[track_caller]
    fn expect(search: &str, text: &str, finds: bool) {
        assert_eq!(WordSearch::of(search).finds(&words(text)), finds, "{search} in {text}");
    }

    #[test]
    fn all_words_must_occur_in_any_order() {
        for search in ["volvo v60", "V60 Volvo", "vol v6", "", "  ", "—", "v60 v60", "v 60", "d4/v60"] {
            expect(search, "Volvo V60 D4", true);
        }
        for search in ["volvo v70", "olvo", "volvo v60 d5", "v60/v70", "volvov"] {
            expect(search, "Volvo V60 D4", false);
        }
    }

    #[test]
    fn case_and_accents_make_no_difference() {
        for search in ["Citroën", "CITROEN", "citroe\u{308}n", "ｃｉｔｒｏｅｎ"] {
            expect(search, "Citroën C4", true);
        }
        for (one, other) in [("Škoda", "skoda"), ("Weiß", "WEISS"), ("Łódź", "lodz"), ("Ærø", "aero"), ("ΟΔΟΣ", "οδος")]
        {
            expect(one, other, true);
            expect(other, one, true);
        }
        expect("İstanbul ǅ", "istanbul dz", true);
    }

    #[test]
    fn pieces_of_a_plate_and_a_vin_are_found_as_one_word() {
        for search in ["ABC 123", "abc 12", "abc-123", "AB C1 23"] {
            expect(search, "abc123", true);
        }
        expect("yv1 zw a5 8x", "yv1zwa58x", true);
        expect("123 abc", "abc123", false);
        expect("c 123", "abc123", false);
    }

    #[test]
    fn long_texts_are_compared_in_their_first_part() {
        let long = "a".repeat(300);
        expect(&long, &format!("{long}b"), true);
        assert_eq!(joined(&long).len(), MOST_CHARACTERS);
        let dashes = "a-".repeat(100);
        assert_eq!(WordSearch::of(&dashes).words, [[["a".repeat(100)]]]);
        assert_eq!(count("one - two"), 2);
    }

    #[test]
    fn a_search_is_written_as_an_expression() {
        let quoted = |word: &str| format!("'{word}'");
        let search = WordSearch::of("abc v60/v90");
        assert_eq!(
            search.expression(" AND ", " OR ", quoted),
            "('abc') AND ('v60v90' OR ('v60' AND 'v90') OR 'abcv60v90')"
        );
        assert!(WordSearch::of("-").is_empty());
    }
}
