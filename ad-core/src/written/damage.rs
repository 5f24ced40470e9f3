//! Texts that a wrong conversion has damaged, and what they probably were.

/// What has happened to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// UTF-8 was read as Latin-1 or Windows-1252 and encoded again: `Ã¤`.
    EncodedTwice,
    /// Characters were lost: U+FFFD.
    Lost,
    /// It was encoded for HTML: `&auml;`.
    Entities,
    /// Escapes of a programming language were not read: `\n`.
    Escapes,
    /// It stands for no value in a database dump: `\N`.
    NoValue,
    /// It has NUL or other control characters.
    Control,
}

/// The damage of a text, and what the text probably was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedText {
    /// What has happened to it first.
    pub damage: Damage,
    /// The text as it probably was; `None` if that cannot be known.
    pub meant: Option<String>,
}

/// Bytes without which a text is whole: the others of damaged texts occur beside these.
const SIGNS: [bool; 256] = {
    let mut signs = [false; 256];
    let bytes = [0x82, 0x83, 0xC2, 0xEF, b'&', b'\\', 0x7F_u8];
    let mut next = 0;
    while next < bytes.len() {
        signs[bytes[next] as usize] = true;
        next += 1;
    }
    let mut control = 0;
    while control < 0x20 {
        signs[control] = control != 0x09 && control != 0x0A && control != 0x0D;
        control += 1;
    }
    signs
};

/// Entities with the characters that they stand for.
#[rustfmt::skip]
const ENTITIES: &[(&str, &str)] = &[
    ("amp", "&"), ("quot", "\""), ("apos", "'"), ("lt", "<"), ("gt", ">"), ("nbsp", " "),
    ("auml", "ä"), ("ouml", "ö"), ("uuml", "ü"), ("Auml", "Ä"), ("Ouml", "Ö"), ("Uuml", "Ü"), ("aring", "å"), ("Aring", "Å"),
    ("aelig", "æ"), ("AElig", "Æ"), ("oslash", "ø"), ("Oslash", "Ø"), ("szlig", "ß"), ("eacute", "é"), ("Eacute", "É"),
    ("egrave", "è"), ("agrave", "à"), ("ecirc", "ê"), ("euml", "ë"), ("ccedil", "ç"), ("ntilde", "ñ"),
    ("euro", "€"), ("pound", "£"), ("ndash", "–"), ("mdash", "—"), ("hellip", "…"), ("bull", "•"), ("middot", "·"),
    ("lsquo", "‘"), ("rsquo", "’"), ("ldquo", "“"), ("rdquo", "”"), ("laquo", "«"), ("raquo", "»"),
    ("copy", "©"), ("reg", "®"), ("trade", "™"), ("deg", "°"), ("sup2", "²"), ("sup3", "³"), ("frac12", "½"), ("times", "×"),
];

/// The characters of Windows-1252 from 0x80 to 0x9F; U+0000 for none.
const WINDOWS: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// Length of the longest entity without `&` and `;`, in bytes.
const LONGEST_NAME: usize = 8;

/// Most times that a text is decoded, and that it is repaired.
const MOST_TIMES: usize = 3;

/// What has happened to a text, if anything has. Nearly all texts are whole, which is seen without looking at them closely.
pub fn find(text: &str) -> Option<DamagedText> {
    find_within(text, MOST_TIMES)
}

/// As [`find`], with a limit on how many times the text is repaired: each repair of `&amp;amp;amp;` shows the next damage.
fn find_within(text: &str, times: usize) -> Option<DamagedText> {
    // Without an end at the first sign, the loop is unrolled.
    if !text.bytes().fold(false, |found, byte| found | SIGNS[usize::from(byte)]) {
        return None;
    }
    let first = |damage| move |meant: String| (damage, meant);
    let found = None
        .or_else(|| no_value(text))
        .or_else(|| encoded_twice(text).map(first(Damage::EncodedTwice)))
        .or_else(|| entities(text).map(first(Damage::Entities)))
        .or_else(|| escapes(text).map(first(Damage::Escapes)))
        .or_else(|| control(text).map(first(Damage::Control)));
    let is_lost = text.contains('\u{fffd}');
    match found {
        Some((damage, meant)) if damage == Damage::NoValue || is_lost => {
            Some(DamagedText { damage, meant: (!is_lost && !meant.is_empty()).then_some(meant) })
        }
        // Several things may have happened to it.
        Some((damage, meant)) => {
            let further = times.checked_sub(1).and_then(|times| find_within(&meant, times)?.meant);
            let meant = further.unwrap_or(meant);
            Some(DamagedText { damage, meant: Some(meant) })
        }
        None => is_lost.then_some(DamagedText { damage: Damage::Lost, meant: None }),
    }
}

/// `\N` is how `MySQL` writes that there is no value.
fn no_value(text: &str) -> Option<(Damage, String)> {
    (text.trim() == "\\N").then(|| (Damage::NoValue, String::new()))
}

/// The text before UTF-8 was encoded again.
fn encoded_twice(text: &str) -> Option<String> {
    let mut decoded = decode(text)?;
    for _ in 1..MOST_TIMES {
        match decode(&decoded) {
            Some(further) => decoded = further,
            None => break,
        }
    }
    Some(decoded)
}

/// The text with each run of characters that is UTF-8 read as single bytes decoded; `None` if there is none.
fn decode(text: &str) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let (mut decoded, mut count, mut at) = (String::with_capacity(text.len()), 0, 0);
    while let Some(letter) = letters.get(at) {
        if let Some((character, length)) = decoded_at(&letters[at..]) {
            decoded.push(character);
            count += 1;
            at += length;
        } else {
            decoded.push(*letter);
            at += 1;
        }
    }
    (count > 0).then_some(decoded)
}

/// The character that the first letters are the bytes of, and how many letters these are.
fn decoded_at(letters: &[char]) -> Option<(char, usize)> {
    let length = match byte_of(*letters.first()?)? {
        // Letters of western languages, signs, punctuation. Others occur in texts that are whole.
        0xC2 | 0xC3 => 2,
        0xE2 => 3,
        0xF0 => 4,
        _ => return None,
    };
    let bytes: Option<Vec<u8>> = letters.get(..length)?.iter().map(|letter| byte_of(*letter)).collect();
    let bytes = bytes?;
    let mut characters = std::str::from_utf8(&bytes).ok()?.chars();
    Some((characters.next()?, length))
}

/// The byte that is read as a character in Windows-1252 or Latin-1.
fn byte_of(letter: char) -> Option<u8> {
    let special = WINDOWS.iter().zip(0x80_u8..).find(|(known, _)| **known == letter && letter != '\0');
    special.map(|(_, byte)| byte).or_else(|| u8::try_from(u32::from(letter)).ok())
}

/// The text with entities decoded; `None` if there is none.
fn entities(text: &str) -> Option<String> {
    let (mut decoded, mut rest, mut count) = (String::with_capacity(text.len()), text, 0);
    while let Some(start) = rest.find('&') {
        decoded.push_str(&rest[..start]);
        rest = &rest[start..];
        // The name is short: what is behind it is not searched for each `&`.
        let end = rest.bytes().take(LONGEST_NAME + 2).position(|byte| byte == b';');
        let name = end.map(|end| &rest[1..end]);
        if let Some((name, characters)) = name.and_then(|name| Some((name, entity(name)?))) {
            decoded.push_str(&characters);
            count += 1;
            rest = &rest[name.len() + 2..];
        } else {
            decoded.push('&');
            rest = &rest[1..];
        }
    }
    decoded.push_str(rest);
    (count > 0).then_some(decoded)
}

fn entity(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else {
        return ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, characters)| (*characters).to_owned());
    };
    let number = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(number).map(String::from)
}

/// The text with escapes read; `None` if there is none.
fn escapes(text: &str) -> Option<String> {
    let (mut read, mut rest, mut count) = (String::with_capacity(text.len()), text, 0);
    while let Some(start) = rest.find('\\') {
        read.push_str(&rest[..start]);
        let behind = &rest[start + 1..];
        let unicode = behind.strip_prefix('u').and_then(|digits| digits.get(..4));
        let unicode = unicode.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        let (character, length) = match (behind.chars().next(), unicode) {
            (Some('n'), _) => ('\n', 1),
            (Some('r'), _) if behind.starts_with("r\\n") => ('\n', 3),
            (Some('t'), _) => ('\t', 1),
            (Some(quote @ ('"' | '\'')), _) => (quote, 1),
            (Some('u'), Some(character)) => (character, 5),
            _ => {
                read.push('\\');
                rest = behind;
                continue;
            }
        };
        read.push(character);
        count += 1;
        rest = &behind[length..];
    }
    read.push_str(rest);
    (count > 0).then_some(read)
}

/// The text without control characters; `None` if there is none.
fn control(text: &str) -> Option<String> {
    let is_control = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t');
    text.contains(is_control).then(|| text.replace(is_control, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_texts_are_shown_as_they_probably_were() {
        for (text, damage, meant) in [
            ("VÃ¤lskÃ¶tt bil, ny bÃ¥tmotor", Damage::EncodedTwice, "Välskött bil, ny båtmotor"),
            ("500 â\u{82}¬", Damage::EncodedTwice, "500 €"),
            ("500 â‚¬ â€“ fin", Damage::EncodedTwice, "500 € – fin"),
            ("90Â°, 2Â½", Damage::EncodedTwice, "90°, 2½"),
            ("VÃƒÂ¤lskÃƒÂ¶tt", Damage::EncodedTwice, "Välskött"),
            ("V&auml;lsk&ouml;tt, R&amp;S &#8364; &#x20AC;", Damage::Entities, "Välskött, R&S € €"),
            ("V&Atilde;&curren;l &aring;", Damage::Entities, "V&Atilde;&curren;l å"),
            ("Rad 1\\nRad 2\\r\\nRad 3", Damage::Escapes, "Rad 1\nRad 2\nRad 3"),
            ("Mats\\' bil, v\\u00e4l", Damage::Escapes, "Mats' bil, väl"),
            ("Bra\0 bil\u{1}", Damage::Control, "Bra bil"),
            ("V&amp;auml;l", Damage::Entities, "Väl"),
        ] {
            assert_eq!(find(text), Some(DamagedText { damage, meant: Some(meant.to_owned()) }), "{text}");
        }
        assert_eq!(find("V\u{fffd}lsk\u{fffd}tt"), Some(DamagedText { damage: Damage::Lost, meant: None }));
        assert_eq!(find("\\N"), Some(DamagedText { damage: Damage::NoValue, meant: None }));
    }

    #[test]
    fn a_text_is_repaired_a_few_times_only() {
        let text = format!("&{}auml;", "amp;".repeat(50_000));
        let meant = find(&text).and_then(|found| found.meant).unwrap();
        assert_eq!(meant.len(), text.len() - (MOST_TIMES + 1) * "amp;".len());
    }

    #[test]
    fn whole_texts_are_left_alone() {
        for text in [
            "Välskött bil – 500 €, 90°, 2½ l, R&S, svart & vit; fin",
            "BLÅ” PÅ – FÄ’ SKÅNE…",
            "Très bien, ça va? Größe: à 5 m², « oui »",
            "10 000 mil, ½",
            "C:\\Bilder\\1.jpg",
            "Ã la carte",
            "🚗 fin",
            "",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
