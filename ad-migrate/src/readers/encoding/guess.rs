//! Guesses the encoding of a text that does not say it. Another one than UTF-8 or windows-1252 is chosen only if the evidence is clear.

use encoding_rs::{Encoding, IBM866, ISO_8859_5, KOI8_R, WINDOWS_1251, WINDOWS_1252, X_MAC_CYRILLIC};

use super::{
    CENTRAL, CP850, CP858, CYRILLIC, Charset, KOI8, LATIN_1, LATIN_9, Legacy, MAC, MAC_CYRILLIC, charset, of, sequences,
};

/// Bytes that windows-1252 does not define.
const UNDEFINED: &[u8] = &[0x81, 0x8D, 0x8F, 0x90, 0x9D];

/// Fewest letters that are evidence.
const ENOUGH: usize = 3;

pub(super) fn guess(head: &[u8]) -> (Charset, String) {
    if head.is_ascii() {
        let note =
            "Encoding utf-8: the beginning of the file has plain ASCII only, which is the same in most encodings.";
        return (of(encoding_rs::UTF_8), note.to_owned());
    }
    let (good, bad) = sequences(head);
    if bad == 0 {
        return (
            of(encoding_rs::UTF_8),
            format!("Encoding utf-8: all of the first {} bytes are valid UTF-8.", head.len()),
        );
    }
    if good > bad {
        let note = format!(
            "Encoding utf-8: {good} letters of the beginning are valid UTF-8, though {bad} bytes are not; rows with such bytes are reported."
        );
        return (of(encoding_rs::UTF_8), note);
    }
    let beyond = &beyond_ascii(head);
    if let Some(charset) = detect_legacy(beyond) {
        let note = format!(
            "Encoding {}: the file is not valid UTF-8, and only so its letters make words. If letters look wrong, set the encoding.",
            charset.name
        );
        return (charset, note);
    }
    match beyond.iter().map(|[_, byte, _]| byte).find(|byte| UNDEFINED.contains(byte)) {
        None => {
            let note = "Encoding windows-1252: the beginning of the file is not valid UTF-8; windows-1252 is the usual alternative.";
            (of(WINDOWS_1252), note.to_owned())
        }
        Some(byte) => {
            let note = format!(
                "Encoding iso-8859-1: the file is not valid UTF-8 and has bytes such as 0x{byte:02X} that windows-1252 does not define. \
                 It is read as browsers read ISO-8859-1: as windows-1252, and such bytes as control characters. If letters look wrong, \
                 save the file as UTF-8."
            );
            (LATIN_1, note)
        }
    }
}

/// A byte beyond ASCII, between those before and after it.
type Beyond = [u8; 3];

/// The bytes beyond ASCII, which are few in most files.
fn beyond_ascii(head: &[u8]) -> Vec<Beyond> {
    let at = |place: Option<usize>| place.and_then(|place| head.get(place)).copied().unwrap_or_default();
    let beyond = head.iter().enumerate().filter(|(_, byte)| !byte.is_ascii());
    beyond.map(|(place, byte)| [at(place.checked_sub(1)), *byte, at(place.checked_add(1))]).collect()
}

/// The encoding whose letters make words, if they do so only in it.
fn detect_legacy(head: &[Beyond]) -> Option<Charset> {
    if let Some(cyrillic) = detect_cyrillic(head) {
        return Some(cyrillic);
    }
    let table = |charset: Charset| move |byte| letter(charset, byte);
    let of_1252 = score(head, table(of(WINDOWS_1252)));
    let candidates = [(score(head, table(CP850)), CP850), (score(head, table(MAC)), MAC)];
    let (best, charset) = candidates.into_iter().max_by_key(|(score, _)| *score)?;
    if best > 0 && best > of_1252 {
        // Where 850 has a letter of Turkish, 858 has the euro.
        let has_euro = charset == CP850 && around(head, |_, byte, after| byte == 0xD5 && !is_letter(after)) > 0;
        return Some(if has_euro { CP858 } else { charset });
    }
    if is_central_european(head) {
        return Some(CENTRAL);
    }
    is_latin_9(head).then_some(LATIN_9)
}

/// The letter of a byte beyond ASCII.
fn letter(charset: Charset, byte: u8) -> Option<char> {
    match charset.legacy {
        Some(Legacy::Dos(upper_half)) => upper_half.chars().nth(usize::from(byte.checked_sub(0x80)?)),
        _ => single(charset.encoding, byte),
    }
}

fn single(encoding: &'static Encoding, byte: u8) -> Option<char> {
    encoding.decode_without_bom_handling(&[byte]).0.chars().next()
}

/// Whether a byte is a letter, or may be one.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0xC0
}

/// How many bytes are as wanted, between two others.
fn around(head: &[Beyond], is_wanted: impl Fn(u8, u8, u8) -> bool) -> usize {
    head.iter().filter(|[before, byte, after]| is_wanted(*before, *byte, *after)).count()
}

/// Letters of the languages of stock files.
const LETTERS: &str = "åäöÅÄÖæøÆØüÜßéèêëàâçîïôûùÉÈÀÇñ";

/// How many bytes beyond ASCII are likely letters in their words, less those that are not.
fn score(head: &[Beyond], letter_of: impl Fn(u8) -> Option<char>) -> i64 {
    let table: Vec<(bool, bool)> = (0x80..=0xFF)
        .map(|byte| letter_of(byte).map_or((false, false), |letter| (LETTERS.contains(letter), letter.is_uppercase())))
        .collect();
    let mut score = 0;
    for &[before, byte, after] in head {
        if !(before.is_ascii_alphabetic() || after.is_ascii_alphabetic()) {
            continue;
        }
        let (is_usual, is_capital) = table[usize::from(byte - 0x80)];
        // A capital letter does not follow a small one.
        let fits = is_usual && !(is_capital && before.is_ascii_lowercase());
        score += if fits { 1 } else { -1 };
    }
    score
}

/// Whether words have letters of Polish, Czech, Slovak or Hungarian, which in windows-1252 are signs, or letters that no language of Western
/// Europe has together.
fn is_central_european(head: &[Beyond]) -> bool {
    // ł, ą, ż and ľ are ³, ¹, ¿ and ¾ in windows-1252, which do not stand between letters; nor does ³ stand before one.
    let signs = around(head, |before, byte, after| {
        let is_between = is_letter(before) && is_letter(after);
        (matches!(byte, 0xB3 | 0xB9 | 0xBF | 0xBE) && is_between) || (byte == 0xB3 && after.is_ascii_lowercase())
    });
    let has =
        |letter: u8| around(head, |before, byte, after| byte == letter && (is_letter(before) || is_letter(after)));
    // Czech ř with ě or ů is ø with ì or ù; Hungarian ő with ű is õ with û.
    let czech = has(0xF8).min(has(0xEC) + has(0xF9));
    let hungarian = if has(0xE3) == 0 { has(0xF5).min(has(0xFB)) } else { 0 };
    signs + czech + hungarian >= ENOUGH
}

/// Whether a text has what only ISO-8859-15 has: the euro where others have ¤, and Š, š, ž, Œ, œ and Ÿ where they have signs.
fn is_latin_9(head: &[Beyond]) -> bool {
    if head.iter().any(|[_, byte, _]| (0x80..0xA0).contains(byte)) {
        return false;
    }
    let has_euro = head.iter().any(|[_, byte, _]| *byte == 0xA4);
    let is_letter = |byte: u8| byte.is_ascii_alphabetic();
    has_euro
        || around(head, |before, byte, after| match byte {
            0xA6 | 0xA8 | 0xB8 => is_letter(before) || is_letter(after),
            0xBC..=0xBE => is_letter(before) && is_letter(after),
            _ => false,
        }) > 0
}

/// Encodings of Russian, with their names. If several fit equally well, the first is taken.
const CYRILLIC_ENCODINGS: [(&str, &Encoding); 5] = [
    (CYRILLIC.name, WINDOWS_1251),
    (KOI8.name, KOI8_R),
    (MAC_CYRILLIC.name, X_MAC_CYRILLIC),
    ("ibm866", IBM866),
    ("iso-8859-5", ISO_8859_5),
];

/// The encoding in which a text is Russian, or another language with Cyrillic letters.
fn detect_cyrillic(head: &[Beyond]) -> Option<Charset> {
    // Letters beyond ASCII are beside each other, while those of other languages are few in each word.
    let beyond = head.len();
    let together = around(head, |before, _, after| !before.is_ascii() && !after.is_ascii());
    if beyond < 10 || together * 2 < beyond {
        return None;
    }
    let scored = CYRILLIC_ENCODINGS.map(|(name, encoding)| (cyrillic_score(head, encoding), charset(name, encoding)));
    // Of equal ones, the first.
    let (score, best) = scored.into_iter().rev().max_by_key(|(score, _)| *score)?;
    (score > i64::try_from(beyond).unwrap_or(i64::MAX) / 2).then_some(best)
}

/// How well letters make Russian words: frequent ones count most, capitals within words and signs among letters against it.
fn cyrillic_score(head: &[Beyond], encoding: &'static Encoding) -> i64 {
    let table: Vec<Option<char>> = (0x80..=0xFF).map(|byte| single(encoding, byte)).collect();
    let letter = |byte: u8| byte.checked_sub(0x80).and_then(|at| table[usize::from(at)]);
    let is_cyrillic = |letter: char| ('\u{400}'..='\u{4FF}').contains(&letter);
    let mut score = 0;
    for &[before, byte, _] in head {
        let Some(here) = letter(byte) else { continue };
        let before = letter(before).filter(|letter| is_cyrillic(*letter));
        score += match before {
            _ if "оеаинтсрвлкмдпу".contains(here) => 2,
            Some(before) if is_cyrillic(here) && here.is_uppercase() && before.is_lowercase() => -2,
            Some(_) if !is_cyrillic(here) => -2,
            _ if is_cyrillic(here) && here.is_lowercase() => 1,
            _ => 0,
        };
    }
    score
}
