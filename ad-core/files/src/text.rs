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

/// A value as people write it: a measure as `2800 mil`, a price as `list 349,900 SEK`, nothing as `(none)`.
pub fn readable(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::Array(items) if items.is_empty() => "(none)".to_owned(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(readable).collect();
            // An item of several members has commas of its own.
            items.join(if items.iter().any(|item| item.contains(", ")) { "; " } else { ", " })
        }
        Value::Object(members) => object(members),
        value => plain(value),
    }
}

fn object(members: &Map<String, Value>) -> String {
    for names in [&["value", "unit"][..], &["name", "value"], &["type", "amount", "currency"]] {
        if members.keys().all(|name| names.contains(&name.as_str())) && members.len() + 1 >= names.len() {
            let value = |name: &&str| match *name {
                "amount" => members.get(*name).map(amount),
                name => members.get(name).map(readable),
            };
            return names.iter().filter_map(value).collect::<Vec<_>>().join(" ");
        }
    }
    let member = |(name, value): (&String, &Value)| match value {
        Value::Object(below) if below.len() > 1 => format!("{name} ({})", readable(value)),
        value => format!("{name} {}", readable(value)),
    };
    members.iter().map(member).collect::<Vec<_>>().join(", ")
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

/// An amount of money in groups of three digits: `129,900.5`.
pub fn amount(number: &Value) -> String {
    let number = number.to_string();
    let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    whole + decimals.strip_suffix(".0").unwrap_or(decimals)
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
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_have_separators_and_their_nouns_a_number() {
        assert_eq!([1, 2, 12_345].map(|count| counted(count, "ad")), ["1 ad", "2 ads", "12,345 ads"]);
        assert_eq!([1, 1_000].map(|count| counted(count, "entry")), ["1 entry", "1,000 entries"]);
        assert_eq!([json!(1_129_900.5), json!(2995.0), json!(7)].map(|it| amount(&it)), ["1,129,900.5", "2,995", "7"]);
        assert_eq!(tally([(200_000, "updated"), (0, "created"), (1, "deleted")]), "200,000 updated, 1 deleted");
    }

    #[test]
    fn values_of_several_members_can_be_told_apart() {
        let price = json!([{"type": "list", "amount": 349_900, "currency": "SEK"}]);
        assert_eq!(readable(&price), "list 349,900 SEK");
        assert_eq!(
            readable(&json!([{"name": "engine", "value": "good"}, {"name": "brakes", "value": "poor"}])),
            "engine good, brakes poor"
        );
        let wheels = json!([{"name": "summer", "tires": {"left": {"depth": 6}, "right": {"depth": 5}}}, {"name": "winter", "rim_size": 18}]);
        assert_eq!(readable(&wheels), "name summer, tires (left depth 6, right depth 5); name winter, rim_size 18");
    }
}
