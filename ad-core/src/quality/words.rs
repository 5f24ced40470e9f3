//! What a description should not contain: contact details, markup, capital letters throughout.

use std::ops::RangeInclusive;

/// What was found in a description, with the part that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFinding<'a> {
    Capitals,
    Markup(&'a str),
    Link(&'a str),
    Email(&'a str),
    Phone(&'a str),
}

/// Letters below which capitals say nothing.
const LEAST_LETTERS: usize = 40;

/// Everything of this kind in a text, each kind at most once.
pub(super) fn find(text: &str) -> Vec<TextFinding<'_>> {
    let mut found = Vec::new();
    if is_capitals(text) {
        found.push(TextFinding::Capitals);
    }
    found.extend(markup(text).map(TextFinding::Markup));
    let words = || text.split_whitespace();
    if may_have_link(text) {
        found.extend(words().find(|word| is_link(word)).map(|word| TextFinding::Link(trim_punctuation(word))));
    }
    if text.contains('@') {
        found.extend(words().map(trim_punctuation).find(|word| is_email(word)).map(TextFinding::Email));
    }
    found.extend(phone(text).map(TextFinding::Phone));
    found
}

/// Whether at least nine tenths of the letters are capitals.
fn is_capitals(text: &str) -> bool {
    // A text has no more letters than bytes, so that this ends early in most texts.
    let small = text.chars().filter(|letter| letter.is_alphabetic() && !letter.is_uppercase());
    if small.take(text.len() / 10 + 1).count() > text.len() / 10 {
        return false;
    }
    let letters = text.chars().filter(|letter| letter.is_alphabetic());
    let (letters, capitals) = letters
        .fold((0, 0), |(letters, capitals), letter| (letters + 1, capitals + usize::from(letter.is_uppercase())));
    letters >= LEAST_LETTERS && capitals * 10 >= letters * 9
}

/// A word without the punctuation around it.
fn trim_punctuation(word: &str) -> &str {
    word.trim_matches(is_punctuation)
}

fn is_punctuation(mark: char) -> bool {
    matches!(mark, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '<' | '>' | '"')
}

/// Whether any word may be a link. Few descriptions have one, and dividing a text into words takes longer than everything else here.
fn may_have_link(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair == b"//" || pair.eq_ignore_ascii_case(b"ww"))
}

fn is_link(word: &str) -> bool {
    let word = word.trim_start_matches(is_punctuation);
    let has = |start: &str| word.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    has("http://") || has("https://") || has("www.")
}

fn is_email(word: &str) -> bool {
    word.contains('@')
        && word.parse::<email_address::EmailAddress>().is_ok_and(|address| address.domain().contains('.'))
}

/// Tags that descriptions are copied with. Accepted descriptions have hyphens in the place of `<` and `>`, so that a tag is known by its
/// name only.
const TAGS: &[&str] = &[
    "a", "b", "br", "div", "em", "font", "h1", "h2", "h3", "h4", "hr", "i", "img", "li", "ol", "p", "span", "strong",
    "table", "td", "tr", "u", "ul",
];

/// The first tag: `<`, an optional slash, a letter, and an end within 40 characters; or the same with hyphens and a name of [`TAGS`].
fn markup(text: &str) -> Option<&str> {
    let bracketed = text.match_indices('<').find_map(|(start, _)| {
        let tag = &text[start..];
        let name = tag[1..].trim_start_matches('/');
        let end = tag.char_indices().take(40).find(|(_, letter)| *letter == '>')?.0;
        name.starts_with(|letter: char| letter.is_ascii_alphabetic()).then(|| &tag[..=end])
    });
    bracketed.or_else(|| text.match_indices('-').find_map(|(start, _)| hyphenated(text, start)))
}

/// The tag with hyphens that begins there: `-p-`, `-/p-`, `-br /-`. An opening one may not follow a word, as in `typ-a-fel`.
fn hyphenated(text: &str, start: usize) -> Option<&str> {
    let inner = &text[start + 1..];
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let length = name.find(|letter: char| !letter.is_ascii_alphanumeric())?;
    let (name, rest) = name.split_at(length);
    let end = ["-", "/-", " /-"].into_iter().find(|end| rest.starts_with(end))?;
    let begins = inner.starts_with('/') || !text[..start].ends_with(char::is_alphanumeric) || name == "br";
    let is_tag = begins && TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag));
    let bytes = text[start..].len() - rest.len() + end.len();
    is_tag.then(|| &text[start..start + bytes])
}

/// Digits of a phone number after the first character.
const PHONE: RangeInclusive<usize> = 8..=14;

/// The first phone number: `0` or `+` and 8 to 14 further digits, divided by spaces, hyphens, slashes or parentheses.
fn phone(text: &str) -> Option<&str> {
    let is_divider = |letter: char| matches!(letter, ' ' | '-' | '/' | '(' | ')' | '\u{a0}');
    let bytes = text.as_bytes();
    // Where the digits and dividers end. It is the same for all numbers that may begin before, so that a long list of digits is read once.
    let mut end = 0;
    for start in (0..bytes.len()).filter(|start| matches!(bytes[*start], b'0' | b'+')) {
        if start > 0 && matches!(bytes[start - 1], b'0'..=b'9' | b'.' | b',' | b'+') {
            continue;
        }
        if end <= start {
            let rest = text[start + 1..].find(|letter: char| !letter.is_ascii_digit() && !is_divider(letter));
            end = rest.map_or(text.len(), |length| start + 1 + length);
        }
        let digits = bytes[start + 1..end].iter().filter(|byte| byte.is_ascii_digit());
        if PHONE.contains(&digits.take(PHONE.end() + 1).count()) {
            return Some(text[start..end].trim_end_matches(is_divider));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_details_and_markup_are_found_in_a_text() {
        let text = "Ring 070-123 45 67 eller skriv till kalle@bilar.se. <b>Fint</b> skick, se www.bilar.se!";
        assert_eq!(
            find(text),
            [
                TextFinding::Markup("<b>"),
                TextFinding::Link("www.bilar.se"),
                TextFinding::Email("kalle@bilar.se"),
                TextFinding::Phone("070-123 45 67")
            ]
        );
        assert_eq!(find("+46 (0)70 123 45 67."), [TextFinding::Phone("+46 (0)70 123 45 67")]);
    }

    #[test]
    fn tags_are_known_by_their_names_where_they_have_hyphens() {
        for (text, tag) in [
            ("-p-Fin bil-/p-", "-p-"),
            ("Fin bil-br /-Ny kam", "-br /-"),
            ("Rak-/strong-", "-/strong-"),
            ("-UL-", "-UL-"),
        ] {
            assert_eq!(find(text), [TextFinding::Markup(tag)], "{text}");
        }
        for text in ["V60 D4 - en ägare - nybesiktad", "typ-a-fel", "e-post", "--", "-å-", "-b", "8-växlad", "-abc-"]
        {
            assert_eq!(find(text), [], "{text}");
        }
    }

    #[test]
    fn figures_of_a_vehicle_are_no_phone_number() {
        for text in
            ["Körd 12 000 mil, pris 1 000 000 kr, 2019-05-04", "0-100 km/h på 5 s", "3 < 4 och a <3", "Volvo V60 @ rea"]
        {
            assert_eq!(find(text), [], "{text}");
        }
        assert_eq!(
            find(&"0 ".repeat(100_000))[..],
            [TextFinding::Phone("0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")],
            "the last 15 digits"
        );
        assert_eq!(find("0+0701234567"), []);
    }

    #[test]
    fn capitals_throughout_are_found_in_texts_of_some_length() {
        assert_eq!(find(&"MYCKET FIN BIL ".repeat(4)), [TextFinding::Capitals]);
        assert_eq!(find("ABS, ESP, AC"), []);
        assert_eq!(find(&"Mycket fin bil ".repeat(4)), []);
    }
}
