//! Texts as they are compared: in lower case, without accents, spaces and punctuation; or exactly.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Puts a text into `into` as it is compared: lower-case letters without accents and digits, and nothing else, so that
/// `Mörk-grå` and `mork gra` are equal.
pub fn fold_into(text: &str, into: &mut String) {
    into.clear();
    for letter in text.chars() {
        match letter {
            'a'..='z' | '0'..='9' => into.push(letter),
            'A'..='Z' => into.push(letter.to_ascii_lowercase()),
            _ if letter.is_ascii() => {}
            'ß' => into.push_str("ss"),
            'æ' | 'Æ' => into.push('a'),
            _ if letter.is_alphanumeric() => letter.to_lowercase().for_each(|small| into.push(plain(small))),
            _ => {}
        }
    }
}

/// A text as it is compared.
pub fn folded(text: &str) -> String {
    let mut into = String::with_capacity(text.len());
    fold_into(text, &mut into);
    into
}

/// Puts a text into `into` as it is compared exactly: in lower case and without outer space. Letters whose accents are characters of their own
/// are the same letters.
pub fn exact_into(text: &str, into: &mut String) {
    into.clear();
    let text = text.trim();
    if text.is_ascii() {
        into.push_str(text);
        into.make_ascii_lowercase();
    } else if is_nfc(text) {
        into.extend(text.chars().flat_map(char::to_lowercase));
    } else {
        into.extend(text.nfc().flat_map(char::to_lowercase));
    }
}

/// A text as it is compared exactly.
pub fn exact(text: &str) -> String {
    let mut into = String::with_capacity(text.len());
    exact_into(text, &mut into);
    into
}

/// A small letter without its marks, for the alphabets that stock files of Europe come in.
fn plain(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ì' | 'í' | 'î' | 'ï' | 'ī' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ř' => 'r',
        'ś' | 'š' => 's',
        'ť' => 't',
        'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ū' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

/// The words of a text, each as it is compared.
pub fn words(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric()).map(folded).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_marks_spaces_and_hyphens_make_no_difference() {
        for text in ["Mörkgrå", "mork-gra", " MÖRK GRÅ ", "Mörk_grå."] {
            assert_eq!(folded(text), "morkgra", "{text}");
        }
        assert_eq!(folded("Škoda"), "skoda");
        assert_eq!(folded("Weiß"), "weiss");
        assert_eq!(folded("-"), "");
        assert_eq!(words("Automat, 8-växlad"), ["automat", "8", "vaxlad"]);
    }

    #[test]
    fn an_exact_text_differs_in_case_and_outer_space_only() {
        assert_eq!(exact(" SÅLD\u{a0}"), exact("Sa\u{30a}ld"));
        for (one, other) in [("1", "-1"), ("Såld", "Sald"), ("a b", "ab"), ("+", ""), ("1.0", "10")] {
            assert_ne!(exact(one), exact(other));
        }
    }
}
