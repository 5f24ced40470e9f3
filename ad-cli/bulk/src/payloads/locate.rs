//! Finds a field in the text of a payload, for findings only.

use std::ops::Range;

use ad_files::JsonEnd;

use super::is_space;

/// A position in the text of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPlace {
    /// Where the member's name begins, or the item of an array.
    pub at: usize,
    /// The text of its value.
    pub value: Range<usize>,
    /// Whether it is the field itself; otherwise the field is missing, and this is the object or array that should contain it.
    pub is_it: bool,
}

/// Finds the field at a dotted path in the text of a valid object.
pub fn locate(text: &[u8], path: &str) -> FieldPlace {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(0);
    let whole = start..JsonEnd::of(&text[start..]).map_or(text.len(), |length| start + length);
    within(text, FieldPlace { at: start, value: whole, is_it: true }, path)
}

fn within(text: &[u8], place: FieldPlace, path: &str) -> FieldPlace {
    if path.is_empty() {
        return place;
    }
    let nearest = FieldPlace { is_it: false, ..place.clone() };
    match text.get(place.value.start) {
        Some(b'{') => {
            let mut best = nearest;
            // Of repeated members the last counts. A name may contain dots itself.
            for (name, member) in members(text, place.value).into_iter().rev() {
                let Some(rest) = path.strip_prefix(name.as_str()) else { continue };
                let below = match rest.strip_prefix('.') {
                    Some(below) => below,
                    None if rest.is_empty() => "",
                    None => continue,
                };
                let found = within(text, member, below);
                if found.is_it {
                    return found;
                }
                if found.at > best.at {
                    best = found;
                }
            }
            best
        }
        Some(b'[') => {
            let (index, below) = path.split_once('.').unwrap_or((path, ""));
            let item = index.parse().ok().and_then(|index: usize| items(text, place.value).nth(index));
            item.map_or(nearest, |value| within(text, FieldPlace { at: value.start, value, is_it: true }, below))
        }
        _ => nearest,
    }
}

/// The values of an array or object, one after the other, names included.
fn items(text: &[u8], value: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = value.start + 1;
    std::iter::from_fn(move || {
        let inside = text.get(at..value.end)?;
        at += inside.iter().position(|byte| !is_space(*byte) && !b",:".contains(byte))?;
        if b"}]".contains(text.get(at)?) {
            return None;
        }
        let start = at;
        // A number ends where its container continues.
        at += JsonEnd::of(&text[at..value.end])?.max(1);
        Some(start..at)
    })
}

fn members(text: &[u8], object: Range<usize>) -> Vec<(String, FieldPlace)> {
    let mut found = Vec::new();
    let mut items = items(text, object);
    while let (Some(name), Some(value)) = (items.next(), items.next()) {
        if let Ok(key) = serde_json::from_slice::<String>(&text[name.clone()]) {
            found.push((key, FieldPlace { at: name.start, value, is_it: true }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#" {"a": 1, "price": [{"type": "x"}, {"type" : "list", "amount": -1.5e3}],
        "b": {"c.d": true, "cå": null}, "a": {"b": [1, 2 ,"]"]}, "empty": {}}"#;

    fn found(path: &str) -> (&'static str, &'static str, bool) {
        let found = locate(TEXT.as_bytes(), path);
        (&TEXT[found.at..found.at + 4], &TEXT[found.value], found.is_it)
    }

    #[test]
    fn fields_are_found_by_their_paths() {
        assert_eq!(found("price.1.amount"), ("\"amo", "-1.5e3", true));
        assert_eq!(found("price.0"), ("{\"ty", r#"{"type": "x"}"#, true));
        assert_eq!(found("b.c.d"), ("\"c.d", "true", true));
        assert_eq!(found("b.cå"), ("\"cå", "null", true));
        assert_eq!(found("a.b.2"), ("\"]\"]", "\"]\"", true));
        assert_eq!(found("a.b.1"), ("2 ,\"", "2", true));
    }

    #[test]
    fn what_is_missing_is_shown_by_what_it_should_stand_in() {
        assert_eq!(found("empty.x"), ("\"emp", "{}", false));
        assert_eq!(found("price.1.currency").1, r#"{"type" : "list", "amount": -1.5e3}"#);
        assert_eq!(found("price.7").0, "\"pri");
        assert_eq!((found("source_id").0, found("source_id").2), ("{\"a\"", false));
        assert_eq!(found("a.b.0.x").1, "1");
    }
}
