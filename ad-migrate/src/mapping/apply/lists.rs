//! Values of a list as a whole: repetitions, and images.

use ad_core::categories::ad_fields::MOST_IMAGES;
use serde_json::Value;

use crate::mapping::convert::BadValue;

/// Items of a list that are compared to find equal ones; the rules check the rest.
const MOST_COMPARED: usize = 1000;

/// What separates the items in a text of a list field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Between<'r> {
    /// The separator that the mapping sets.
    Mark(&'r str),
    /// Anything that stands before the beginning of an address.
    Addresses,
    /// A line break, or a mark that no item can contain; but not the one within a number or brackets, as in `19,5 tum`.
    Lines(char),
    /// The row has the items one by one.
    Nothing,
}

/// Takes each item of a text.
pub(super) fn each_item<'t, E>(
    text: &'t str,
    between: Between<'_>,
    mut take: impl FnMut(&'t str) -> Result<(), E>,
) -> Result<(), E> {
    match between {
        Between::Mark(mark) => text.split(mark).map(str::trim).try_for_each(take),
        Between::Addresses => {
            let is_mark = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '|');
            let mut from = 0;
            for (at, letter) in text.char_indices().filter(|(_, letter)| is_mark(*letter)) {
                let next = &text[at + letter.len_utf8()..];
                if ["http://", "https://"].iter().any(|scheme| next.starts_with(scheme)) {
                    take(text[from..at].trim_matches(is_mark))?;
                    from = at;
                }
            }
            take(text[from..].trim_matches(is_mark))
        }
        Between::Lines(mark) => {
            let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
            let is_within = |at: usize| {
                let bytes = text.as_bytes();
                is_digit(at.checked_sub(1).and_then(|at| bytes.get(at))) && is_digit(bytes.get(at + mark.len_utf8()))
            };
            let (mut from, mut brackets) = (0, 0_usize);
            for (at, letter) in text.char_indices() {
                match letter {
                    '(' => brackets += 1,
                    ')' => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                if letter == '\n' || (letter == mark && brackets == 0 && !is_within(at)) {
                    take(text[from..at].trim())?;
                    (from, brackets) = (at + letter.len_utf8(), 0);
                }
            }
            take(text[from..].trim())
        }
        Between::Nothing => take(text),
    }
}

/// Whether a text begins as an address does.
pub(super) fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with("//")
            && !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

pub(super) fn remove_repeated(values: &mut Vec<Value>) {
    // Hostile rows must not take quadratic time.
    if values.len() > MOST_COMPARED {
        return;
    }
    let mut index = 0;
    while index < values.len() {
        if values[..index].contains(&values[index]) {
            values.remove(index);
        } else {
            index += 1;
        }
    }
}

pub(super) fn check_images(values: &[Value], most: usize, may_be_http: bool) -> Result<(), BadValue> {
    let count = |is: fn(&str) -> bool| values.iter().filter_map(Value::as_str).filter(|text| is(text)).count();
    let names = count(|text| !has_scheme(text));
    if names > 0 {
        return Err(BadValue::new(
            "images are file names, not addresses",
            format!("Images that are file names: {names} of {}.", values.len()),
            "Put the images on a web server, and set in the mapping: template = \"https://…/{value}\".",
        ));
    }
    let plain = count(|text| text.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://")));
    if plain > 0 && !may_be_http {
        return Err(BadValue::new(
            "image address is not https",
            format!("Images whose address begins with http://: {plain} of {}.", values.len()),
            "Use addresses that begin with https://.",
        ));
    }
    if values.len() > most {
        return Err(BadValue::new(
            "too many images",
            format!("{} images, at most {most} are allowed.", values.len()),
            if most == MOST_IMAGES {
                "Choose 20, or set max = 20 in the mapping to use the first ones."
            } else {
                "Choose fewer, or set \"max\" in the mapping to use the first ones."
            },
        ));
    }
    Ok(())
}
