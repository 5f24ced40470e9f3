//! What may stand where JSON ends: tables of words and signs, and of kinds of slips, each with what to write.

use super::{
    position,
    scan::{Awaited, Stop},
};
use crate::written::number;

/// Longest word of a body that a message repeats, in characters.
const LONGEST_WORD: usize = 40;

/// What to write for a word that no value of JSON is.
const NULL: &str = "is not a JSON value; send null, or leave the field out.";
const LOWER_NULL: &str = "is not a JSON value; send null, in lower case.";
const SEND_NULL: &str = "is not a JSON value; send null.";
const LOWER: &str = "is not a JSON value; write it in lower case.";
const SEND_TRUE: &str = "is not a JSON value; send true.";
const SEND_FALSE: &str = "is not a JSON value; send false.";

/// Words of other languages that stand for no value, yes or no, in small letters.
const WORDS: &[(&[&str], &str)] = &[
    (
        &["nan", "-nan", "infinity", "-infinity", "+infinity", "inf", "-inf", "+inf", "undefined", "-1.#ind", "1.#inf"],
        NULL,
    ),
    (&["na", "n/a", "#n/a", "#ref!", "#value!", "nat", "<na>", "missing", "null::null"], NULL),
    (&["null"], LOWER_NULL),
    (&["none", "nil", "nothing", "undef", "dbnull", "(null)", "(nil)"], SEND_NULL),
    (&["true", "false"], LOWER),
    (&["yes", "ja", "on", "y", ".t.", ".true."], SEND_TRUE),
    (&["no", "nein", "nej", "off", "n", ".f.", ".false."], SEND_FALSE),
];

/// Signs that stand in the place of others, and what is said about them.
const SIGNS: &[(&str, &str)] = &[
    ("'", "Single quote {here}; JSON uses double quotes."),
    ("\u{201c}", "Typographic quote “ {here}; JSON uses straight double quotes, \"."),
    ("\u{201d}", "Typographic quote ” {here}; JSON uses straight double quotes, \"."),
    ("\u{201e}", "Typographic quote „ {here}; JSON uses straight double quotes, \"."),
    ("`", "Backtick {here}; JSON uses double quotes."),
    ("/", "Comment {here}; JSON has no comments, remove it."),
    ("#", "Comment {here}; JSON has no comments, remove it."),
    ("--", "Comment {here}; JSON has no comments, remove it."),
    ("{{", "Placeholder of a template {here}: it was not replaced by its value."),
    ("${", "Placeholder of a template {here}: it was not replaced by its value."),
    ("<%", "Placeholder of a template {here}: it was not replaced by its value."),
    ("%s", "Placeholder of a format {here}: it was not replaced by its value."),
    ("%d", "Placeholder of a format {here}: it was not replaced by its value."),
    ("<?", "Code of PHP {here}: it was not run."),
    (
        "\\\"",
        "Backslash before a quote {here}, outside of a text: the JSON was escaped as if it stood within a text. Send it without these backslashes.",
    ),
    ("\\u", "Escape {word} {here}, outside of a text; escapes are allowed within texts only. Remove it."),
    ("\\", "Backslash {here}, outside of a text; remove it. A line break is sent as it is there, not as \\n."),
    ("\u{a0}", "No-break space (U+00A0) {here}, outside of a text; write an ordinary space."),
    ("\u{feff}", "Byte order mark (U+FEFF) {here}; remove it."),
    ("\u{200b}", "Invisible character (U+200B) {here}, outside of a text; remove it."),
    (
        "=>",
        "An arrow, =>, stands {here}; this is how Ruby and PHP show a map. Encode it as JSON: a colon stands between name and value.",
    ),
    (
        "=",
        "An equals sign stands {here}; this is how Java and other languages show a map. Encode it as JSON: a colon stands between name and value.",
    ),
    (";", "Semicolon {here}; JSON separates values by commas."),
    ("...", "Dots stand {here}; write the values themselves."),
];

/// Beginnings of texts that programs make of objects.
const OBJECTS: &[&str] = &[
    "HASH(0x",
    "ARRAY(0x",
    "SCALAR(0x",
    "CODE(0x",
    "object Object]",
    "[object Object]",
    "<__main__.",
    "table: 0x",
    "#<",
    "Decimal(",
    "datetime.",
    "Timestamp(",
    "ObjectId(",
    "ISODate(",
    "UUID(",
];

/// Where JSON ends, as the rows of the tables see it.
struct StopContext<'a> {
    text: &'a str,
    stop: Stop,
    /// The text from the place to its end.
    rest: &'a str,
    /// The word at the place: up to a sign of JSON or the end of the line.
    word: &'a str,
    /// The last character before the place that is no space.
    before: Option<char>,
    /// `at line 1, column 2`
    here: String,
}

/// A kind of slip: what it explains, where it is that.
type Explain = fn(&StopContext<'_>) -> Option<String>;

/// The kinds of slips, the more certain first.
const SLIPS: &[Explain] = &[
    within_a_text,
    trailing_comma,
    placeholder,
    decimal_comma,
    missing_value,
    object_as_text,
    behind_the_end,
    known_word,
    number_slip,
    behind_a_number,
    quote_within_a_text,
    missing_comma,
    wrong_bracket,
    sign,
    control_character,
    unquoted,
    expected,
];

/// What stands at the place where a text stops being JSON, and what to write.
pub(super) fn explain(text: &str, stop: Stop) -> Option<String> {
    let rest = text.get(stop.at..)?;
    let place = StopContext {
        text,
        stop,
        rest,
        word: word(rest),
        before: text[..stop.at].trim_end().chars().next_back(),
        here: here(text, stop.at),
    };
    SLIPS.iter().find_map(|slip| slip(&place))
}

fn here(text: &str, at: usize) -> String {
    let (line, column) = position(text.as_bytes(), at);
    format!("at line {line}, column {column}")
}

/// The text up to a sign of JSON or the end of the line, at most so long as messages repeat it.
fn word(rest: &str) -> &str {
    let end = rest.find([',', ':', '{', '}', '[', ']', '"', '\n', '\r', '=']).unwrap_or(rest.len());
    let end = rest[..end].char_indices().nth(LONGEST_WORD).map_or(end, |(end, _)| end);
    rest[..end].trim_end()
}

fn within_a_text(place: &StopContext<'_>) -> Option<String> {
    let here = &place.here;
    let escape: String = place.rest.chars().take(2).collect();
    Some(match place.stop.expected {
        Awaited::Character => match place.rest.bytes().next().unwrap_or_default() {
            b'\n' | b'\r' | b'\t' => format!("Line break or tab within a text {here}; write it as \\n or \\t."),
            byte => {
                format!("Control character U+{byte:04X} within a text {here}; remove it, or write it as \\u{byte:04x}.")
            }
        },
        Awaited::OtherHalf => {
            let half: String = place.rest.chars().take(6).collect();
            format!(
                "{half} {here} is half of a surrogate pair: a character such as an emoji was cut in two. Write both halves, \
                 the character itself, or neither."
            )
        }
        Awaited::Escape => match escape.as_str() {
            "\\'" => format!("\\' {here} is not an escape of JSON; write ' without the backslash."),
            "\\x" => format!("\\x {here} is not an escape of JSON; write \\u00 with the two digits."),
            "\\u" => format!(
                "\\u {here} is not followed by four hexadecimal digits; write such as \\u00e4, or \\\\ for a backslash."
            ),
            "\\0" => format!("\\0 {here} is not an escape of JSON; remove it, or write \\u0000."),
            "\\\n" | "\\\r" => format!("A backslash ends the line {here}, within a text; write a line break as \\n."),
            _ => format!("{escape} {here} is not an escape of JSON; write \\\\ for a backslash."),
        },
        _ => return None,
    })
}

fn trailing_comma(place: &StopContext<'_>) -> Option<String> {
    let is_end = place.rest.starts_with(['}', ']']);
    let comma = || here(place.text, place.text[..place.stop.at].trim_end().len() - 1);
    match place.before {
        Some(',') if is_end => Some(format!("Trailing comma {}; remove it.", comma())),
        Some(',') if place.rest.starts_with(',') => {
            Some(format!("Two commas {} with nothing between; remove one.", place.here))
        }
        Some('{' | '[') if place.rest.starts_with(',') => {
            Some(format!("Comma {} before the first item; remove it.", place.here))
        }
        _ => None,
    }
}

/// `12900,5`: a name is expected behind the comma.
fn decimal_comma(place: &StopContext<'_>) -> Option<String> {
    if place.stop.expected != Awaited::Name || place.before != Some(',') {
        return None;
    }
    let whole = place.text.get(place.stop.last..place.stop.at)?.trim_end().strip_suffix(',')?;
    let decimals = place.word;
    let is_number = whole.starts_with(|letter: char| letter == '-' || letter.is_ascii_digit());
    if !is_number
        || whole.len() > LONGEST_WORD
        || decimals.is_empty()
        || !decimals.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let sent = format!("{whole},{decimals}");
    let here = here(place.text, place.stop.last);
    Some(match number::read(&sent, Some(',')) {
        Ok(found) => {
            format!("{sent} {here} has a decimal comma; JSON has a decimal point: write {}.", found.number.value())
        }
        Err(_) => format!("{sent} {here} has a comma; JSON has a decimal point, and no separator of thousands."),
    })
}

/// `{{price}}`: the second bracket stands where a name is expected.
fn placeholder(place: &StopContext<'_>) -> Option<String> {
    let is_placeholder =
        place.stop.expected == Awaited::Name && place.before == Some('{') && place.rest.starts_with('{');
    let here = || here(place.text, place.stop.at - 1);
    is_placeholder.then(|| format!("Placeholder of a template {}: it was not replaced by its value.", here()))
}

fn missing_value(place: &StopContext<'_>) -> Option<String> {
    let is_missing = place.before == Some(':') && place.rest.starts_with([',', '}', ']']);
    is_missing
        .then(|| format!("A value is missing {}, behind the colon; write null, or leave the field out.", place.here))
}

fn object_as_text(place: &StopContext<'_>) -> Option<String> {
    let object = OBJECTS.iter().find(|object| place.rest.starts_with(**object) || place.word.contains("=HASH(0x"))?;
    let shown = if object.starts_with("object ") { "[object Object]" } else { place.word };
    Some(format!(
        "{shown} {} is the text of an object of the sending program, not its contents; encode the object as JSON.",
        place.here
    ))
}

fn behind_the_end(place: &StopContext<'_>) -> Option<String> {
    if place.stop.expected != Awaited::End {
        return None;
    }
    let here = &place.here;
    Some(match place.rest.chars().next()? {
        '{' | '[' => format!("A second JSON value begins {here}; send one ad in each request."),
        '/' | '#' => format!("Comment {here}; JSON has no comments, remove it."),
        '\0' => format!("NUL (U+0000) {here}, behind the JSON object; send the object without the NUL at its end."),
        '}' | ']' => format!("A bracket {here} closes nothing; remove it."),
        _ => format!("Something follows behind the JSON value {here}; remove it."),
    })
}

fn known_word(place: &StopContext<'_>) -> Option<String> {
    if place.stop.expected != Awaited::Value {
        return None;
    }
    let small = place.word.to_ascii_lowercase();
    let (_, write) = WORDS.iter().find(|(words, _)| words.contains(&small.as_str()))?;
    Some(format!("{} {} {write}", place.word, place.here))
}

/// A number that JSON writes in another way.
fn number_slip(place: &StopContext<'_>) -> Option<String> {
    if place.stop.expected != Awaited::Value {
        return None;
    }
    let (word, here) = (place.word, &place.here);
    let (sign, digits) = match word.strip_prefix(['-', '\u{2212}']) {
        Some(digits) => ("-", digits),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let is_decimal = |text: &str| {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        is_digits(whole) && is_digits(decimals) && !(whole.is_empty() && decimals.is_empty())
    };
    if !is_decimal(digits) {
        return None;
    }
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = match whole.trim_start_matches('0') {
        "" => "0",
        plain => plain,
    };
    let point = if decimals.is_empty() { "" } else { "." };
    let write = format!("{sign}{plain}{point}{decimals}");
    Some(match (whole.len() > 1 && whole.starts_with('0'), whole.is_empty(), word.starts_with('+')) {
        (true, ..) => format!(
            "{word} {here} has leading zeros, which JSON does not allow: write {write}, or \"{word}\" if it is a text."
        ),
        (_, true, _) => format!("{word} {here} has no digit before the decimal point: write {write}."),
        (.., true) => format!("{word} {here} has a plus sign, which JSON does not allow: write {write}."),
        _ => format!("{word} {here} has no digit behind the decimal point: write {write}."),
    })
}

/// What stands behind a number that was complete: `12 900`, `110kW`, `2019-05-03`.
fn behind_a_number(place: &StopContext<'_>) -> Option<String> {
    let last = place.text.get(place.stop.last..)?;
    let is_number = last.starts_with(|letter: char| letter == '-' || letter.is_ascii_digit());
    let is_sign = place.rest.starts_with(['"', '{', '[', '}', ']', '/', '#', ';']);
    if !matches!(place.stop.expected, Awaited::Comma) || !is_number || is_sign {
        return None;
    }
    let sent = word(last);
    let sent = match last.split([',', '}', ']', '\n']).next() {
        Some(with_colon) if place.rest.starts_with(':') && with_colon.len() <= LONGEST_WORD => with_colon,
        _ => sent,
    };
    let here = here(place.text, place.stop.last);
    let hexadecimal = sent.strip_prefix("0x").or_else(|| sent.strip_prefix("0X"));
    if let Some(Ok(number)) = hexadecimal.map(|digits| i64::from_str_radix(digits, 16)) {
        return Some(format!("{sent} {here} is in hexadecimal; JSON has decimal numbers: write {number}."));
    }
    let as_number =
        number::read(sent, Some('.')).ok().filter(|found| found.before.is_empty() && found.after.is_empty());
    Some(match as_number {
        Some(found) => format!("{sent} {here} is not a number of JSON: write {}.", found.number.value()),
        None => format!("{sent} {here} is neither a number nor in quotes; write \"{sent}\", or the number alone."),
    })
}

/// A quote that ends a text within it.
fn quote_within_a_text(place: &StopContext<'_>) -> Option<String> {
    let last_is_text = place.text.get(place.stop.last..)?.starts_with('"');
    let is_letter = place.rest.starts_with(|letter: char| letter.is_alphanumeric() || "!?.%-(".contains(letter));
    let quote = place.text[..place.stop.at].trim_end().len().checked_sub(1)?;
    let is_within = place.stop.expected == Awaited::Comma && last_is_text && is_letter;
    is_within.then(|| {
        format!("The quote {} ends the text early; write a quote within a text as \\\".", here(place.text, quote))
    })
}

fn missing_comma(place: &StopContext<'_>) -> Option<String> {
    let is_missing = place.stop.expected == Awaited::Comma && place.rest.starts_with(['"', '{', '[']);
    is_missing.then(|| format!("A comma is missing {}, before the next item.", place.here))
}

fn wrong_bracket(place: &StopContext<'_>) -> Option<String> {
    let (open, close) = match place.stop.within? {
        b'{' => ('{', '}'),
        _ => ('[', ']'),
    };
    let found = place.rest.chars().next().filter(|found| matches!(found, '}' | ']') && *found != close)?;
    (place.stop.expected == Awaited::Comma)
        .then(|| format!("{found} {} closes what {open} opened; write {close} first.", place.here))
}

fn sign(place: &StopContext<'_>) -> Option<String> {
    let (_, says) = SIGNS.iter().find(|(sign, _)| place.rest.starts_with(sign))?;
    let word: String = place.rest.chars().take(6).collect();
    Some(says.replace("{here}", &place.here).replace("{word}", &word))
}

fn control_character(place: &StopContext<'_>) -> Option<String> {
    let found = place.rest.chars().next().filter(|found| found.is_control())?;
    Some(format!("Control character U+{:04X} {}, outside of a text; remove it.", u32::from(found), place.here))
}

/// A name or value without quotes.
fn unquoted(place: &StopContext<'_>) -> Option<String> {
    let (word, here) = (place.word, &place.here);
    if word.is_empty() || !matches!(place.stop.expected, Awaited::Name | Awaited::Value) {
        return None;
    }
    let behind = place.rest[word.len()..].trim_start();
    let name = word.trim_start_matches(':');
    match place.stop.expected {
        Awaited::Name if behind.starts_with('=') => Some(format!(
            "{word} {here} is followed by =; this is how Java, Ruby and other languages show a map. Encode it as JSON: \
             names in quotes, and a colon between name and value."
        )),
        Awaited::Name => Some(format!("{name} {here} is not in quotes; write \"{name}\".")),
        _ => Some(format!("{word} {here} is not in quotes; write \"{word}\".")),
    }
}

/// What was expected, where nothing known stands there.
fn expected(place: &StopContext<'_>) -> Option<String> {
    let what = match (place.stop.expected, place.stop.within) {
        (Awaited::Value, _) => "a value",
        (Awaited::Name, _) => "a name in double quotes",
        (Awaited::Colon, _) => "`:`",
        (Awaited::Comma, Some(b'{')) => "`,` or `}`",
        (Awaited::Comma, _) => "`,` or `]`",
        _ => return None,
    };
    let found = place.rest.chars().next()?;
    Some(format!("expected {what} {}, and {found} stands there.", place.here))
}
