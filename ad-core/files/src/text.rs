//! Values, counts and long texts as people read them.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// A value as a text: texts as they are, nothing for `null`, the rest as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| item.is_string() || item.is_number()) => {
            items.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A value as people write it: a measure as `2800 mil`, a price as `list 349900 SEK`, nothing as `(none)`.
pub fn readable(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::Array(items) if items.is_empty() => "(none)".to_owned(),
        Value::Array(items) => items.iter().map(readable).collect::<Vec<_>>().join(", "),
        Value::Object(members) => object(members),
        value => plain(value),
    }
}

fn object(members: &Map<String, Value>) -> String {
    for names in [&["value", "unit"][..], &["type", "amount", "currency"]] {
        let values: Vec<_> = names.iter().filter_map(|name| members.get(*name)).collect();
        if members.keys().all(|name| names.contains(&name.as_str())) && values.len() + 1 >= names.len() {
            return values.into_iter().map(readable).collect::<Vec<_>>().join(" ");
        }
    }
    members.iter().map(|(name, value)| format!("{name} {}", readable(value))).collect::<Vec<_>>().join(" ")
}

/// A text for messages, truncated to this number of characters.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// `1 ad`, `12,345 ads`, `2 entries`.
pub fn counted(count: u64, what: &str) -> String {
    let count_text = grouped(count);
    match what.strip_suffix("ry") {
        _ if count == 1 => format!("{count_text} {what}"),
        Some(stem) => format!("{count_text} {stem}ries"),
        None => format!("{count_text} {what}s"),
    }
}

/// `1,200 updated, 1 created`: what there is some of, with its number.
pub fn tally<'a>(counts: impl IntoIterator<Item = (u64, &'a str)>) -> String {
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{} {what}", grouped(count))).collect::<Vec<_>>().join(", ")
}

/// A number in groups of three digits: `12,345`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_their_nouns_a_number() {
        assert_eq!([1, 2, 12_345].map(|count| counted(count, "ad")), ["1 ad", "2 ads", "12,345 ads"]);
        assert_eq!([1, 1_000].map(|count| counted(count, "entry")), ["1 entry", "1,000 entries"]);
        assert_eq!(tally([(200_000, "updated"), (0, "created"), (1, "deleted")]), "200,000 updated, 1 deleted");
    }
}
