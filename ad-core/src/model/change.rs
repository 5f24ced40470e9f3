//! What an accepted request has changed about the content of an ad, for people: shortened texts, which no program reads back.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{content::Content, log::short_text};

/// Most bytes of a path or value.
const MOST_TEXT_BYTES: usize = 300;

/// Most bytes of all of them.
const MOST_BYTES: usize = 4000;

/// What a field takes beside its texts.
const FIELD_BYTES: usize = 40;

/// The fields that a request has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentChange {
    /// The changed fields, in the order of their paths.
    pub fields: Vec<FieldChange>,
    /// Number of further fields, which are left out because of their size.
    #[serde(default)]
    pub left_out: usize,
}

/// A field with its values as texts of at most 300 bytes. Of a list, the values are the items that only one of both has, unless
/// both have the same in another order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Dotted path from the ad, such as `category_fields.brand`.
    pub path: String,
    /// The value before; `None` if there was none.
    pub before: Option<String>,
    /// The value after; `None` if there is none.
    pub after: Option<String>,
}

impl ContentChange {
    /// What differs between the content before and after; `None` if nothing does.
    pub fn between(before: &Content, after: &Content) -> Option<Self> {
        let mut change = Self::default();
        let mut bytes = 0;
        compare(before.fields(), after.fields(), &mut String::new(), &mut |path, before, after| {
            let text = |value: &Value| {
                (!value.is_null()).then(|| match value {
                    // A description may be long, and what is cut off need not be cleaned.
                    Value::String(text) => {
                        short_text(&text[..text.floor_char_boundary(MOST_TEXT_BYTES + 1)], MOST_TEXT_BYTES)
                    }
                    value => short_text(&shown(value), MOST_TEXT_BYTES),
                })
            };
            let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
            let field =
                FieldChange { path: short_text(path, MOST_TEXT_BYTES), before: text(before), after: text(after) };
            bytes += FIELD_BYTES + field.path.len() + length(&field.before) + length(&field.after);
            if bytes <= MOST_BYTES {
                change.fields.push(field);
            } else {
                change.left_out += 1;
            }
        });
        (!change.fields.is_empty() || change.left_out > 0).then_some(change)
    }
}

/// Finds the values below a path that differ. Objects are compared by their members, except for a measure, whose unit belongs to its
/// value.
fn compare(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &mut String,
    found: &mut impl FnMut(&str, &Value, &Value),
) {
    // Both are sorted by name, so that one pass over both meets each name once.
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let one = if order.is_le() { before.next() } else { None };
        let other = if order.is_ge() { after.next() } else { None };
        let Some((name, _)) = one.or(other) else { return };
        let (one, other) = (value_of(one), value_of(other));
        // Objects are not compared here, because their members are compared below.
        if !one.is_object() && one == other {
            continue;
        }
        let length = path.len();
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        compare_values(one, other, path, found);
        path.truncate(length);
    }
}

fn value_of<'a>(member: Option<(&String, &'a Value)>) -> &'a Value {
    member.map_or(&Value::Null, |(_, value)| value)
}

fn compare_values(one: &Value, other: &Value, path: &mut String, found: &mut impl FnMut(&str, &Value, &Value)) {
    let none = Map::new();
    if let (Some(one), Some(other)) = (members(one, &none), members(other, &none)) {
        compare(one, other, path, found);
    } else if one != other {
        match (only_in(one, other), only_in(other, one)) {
            (Some(removed), Some(added)) if !removed.is_null() || !added.is_null() => found(path, &removed, &added),
            _ => found(path, one, other),
        }
    }
}

/// A value as people read it: measures as `12 mil`, prices as `100 SEK list`.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(members) => match (members.get("value"), members.get("unit")) {
            (Some(value), Some(unit)) => format!("{} {}", shown(value), shown(unit)),
            _ => members.values().map(shown).collect::<Vec<_>>().join(" "),
        },
        other => other.to_string(),
    }
}

fn members<'a>(value: &'a Value, none: &'a Map<String, Value>) -> Option<&'a Map<String, Value>> {
    match value {
        Value::Object(members) if !members.contains_key("unit") => Some(members),
        Value::Null => Some(none),
        _ => None,
    }
}

/// Of two lists, the items that only the first one has, or null.
fn only_in(one: &Value, other: &Value) -> Option<Value> {
    let (Value::Array(one), Value::Array(other)) = (one, other) else { return None };
    let items: Vec<_> = one.iter().filter(|item| !other.contains(item)).cloned().collect();
    Some(if items.is_empty() { Value::Null } else { items.into() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(value: Value) -> Content {
        let Value::Object(fields) = value else { panic!("{value}") };
        fields.into()
    }

    fn changes(before: Value, after: Value) -> Vec<(String, Option<String>, Option<String>)> {
        let change = ContentChange::between(&content(before), &content(after)).unwrap_or_default();
        assert_eq!(change.left_out, 0);
        change.fields.into_iter().map(|field| (field.path, field.before, field.after)).collect()
    }

    #[test]
    fn fields_that_differ_have_their_values() {
        let before = json!({
            "body": "Old", "visible": true, "location": {"zipcode": "90326"},
            "price": [{"type": "list", "amount": 100}, {"type": "leasing", "amount": 9}],
            "image_urls": ["a", "b", "c"],
            "category_fields": {"model_year": 2019, "condition": {"mileage": {"value": 1, "unit": "mil"}}, "color": "red"},
        });
        let after = json!({
            "body": "New", "visible": true, "url": "https://a.example",
            "price": [{"type": "list", "amount": 90}, {"type": "leasing", "amount": 9}],
            "image_urls": ["c", "b", "a"],
            "category_fields": {"model_year": 2019, "condition": {"mileage": {"value": 2, "unit": "mil"}}, "color": null},
        });
        let some = |text: &str| Some(text.to_owned());
        let field = |path: &str, before, after| (path.to_owned(), before, after);
        assert_eq!(
            changes(before.clone(), after),
            [
                field("body", some("Old"), some("New")),
                field("category_fields.color", some("red"), None),
                field("category_fields.condition.mileage", some("1 mil"), some("2 mil")),
                field("image_urls", some("a, b, c"), some("c, b, a")),
                field("location.zipcode", some("90326"), None),
                field("price", some("100 list"), some("90 list")),
                field("url", None, some("https://a.example")),
            ]
        );
        assert_eq!(ContentChange::between(&content(before.clone()), &content(before)), None);
        assert_eq!(ContentChange::between(&content(json!({"url": null})), &content(json!({}))), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let long = json!({"body": "\0ö".repeat(10_000)});
        let [(_, None, Some(text))] = &changes(json!({}), long)[..] else { panic!("one field is new") };
        assert!(text.len() <= MOST_TEXT_BYTES && text.ends_with('…') && !text.contains('\0'), "{text}");

        let many: Map<_, _> = (0..1000).map(|number| (format!("field_{number}"), json!(number))).collect();
        let change = ContentChange::between(&Map::new().into(), &many.into()).unwrap();
        assert!(!change.fields.is_empty() && change.fields.len() + change.left_out == 1000);
        assert!(serde_json::to_string(&change).unwrap().len() < 4 * MOST_BYTES);
    }
}
