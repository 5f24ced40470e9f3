//! What an answer has to look like: JSON with a few marks.

use serde_json::Value;

/// As a value that is sent: the member is left out. As one that is expected: the member is not there.
pub(super) const ABSENT: &str = "<absent>";

/// As a value that is expected: anything but nothing and `null`.
pub(super) const ANY: &str = "<any>";

/// At the end of an expected text, anything may follow; as the last item of an expected array, any more items may.
pub(super) const MORE: &str = "…";

/// How much of an answer is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All members of every object.
    Whole,
    /// Only the members that the pattern names. Arrays and single values are compared whole.
    Named,
}

/// Where an answer differs from a pattern, and how.
pub(super) fn difference(extent: Extent, expected: &Value, actual: &Value) -> Option<String> {
    differs(extent, expected, Some(actual), "")
}

fn differs(extent: Extent, expected: &Value, actual: Option<&Value>, at: &str) -> Option<String> {
    let told = || {
        let is = actual.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        Some(format!("at {}: expected {expected}, not {is}", if at.is_empty() { "the top" } else { at }))
    };
    match (expected, actual) {
        (Value::String(mark), actual) if mark == ABSENT => actual.and_then(|_| told()),
        (Value::String(mark), actual) if mark == ANY => {
            if actual.is_none_or(Value::is_null) {
                told()
            } else {
                None
            }
        }
        (Value::String(text), Some(Value::String(actual))) if text.ends_with(MORE) => {
            if actual.starts_with(text.trim_end_matches(MORE)) { None } else { told() }
        }
        (Value::Object(members), None) if !members.is_empty() => {
            members.iter().find_map(|(name, member)| differs(extent, member, None, &below(at, name)))
        }
        (Value::Object(members), Some(Value::Object(actual))) => {
            let named =
                members.iter().find_map(|(name, member)| differs(extent, member, actual.get(name), &below(at, name)));
            named.or_else(|| {
                let unexpected = actual.keys().find(|name| extent == Extent::Whole && !members.contains_key(*name))?;
                Some(format!("at {}: expected nothing, not {}", below(at, unexpected), actual[unexpected]))
            })
        }
        (Value::Array(items), Some(Value::Array(actual))) => {
            let (items, open) = match items.split_last() {
                Some((last, items)) if last == MORE => (items, true),
                // What to send instead may stand behind the texts of an error; the rules of ad-core test it.
                _ => (items.as_slice(), are_messages(items)),
            };
            if actual.len() < items.len() || (!open && actual.len() > items.len()) {
                return told();
            }
            let mut pairs = items.iter().zip(actual).enumerate();
            pairs
                .find_map(|(index, (item, actual))| differs(extent, item, Some(actual), &below(at, &index.to_string())))
        }
        // 5 and 5.0 are the same number.
        (Value::Number(number), Some(Value::Number(actual))) if number.as_f64() == actual.as_f64() => None,
        (expected, Some(actual)) if expected == actual => None,
        _ => told(),
    }
}

/// Whether an array has the texts of an error, which are sentences.
fn are_messages(texts: &[Value]) -> bool {
    let is_sentence =
        |text: &Value| text.as_str().is_some_and(|text| text.ends_with(['.', '?']) || text.ends_with(MORE));
    !texts.is_empty() && texts.iter().all(is_sentence)
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// Lays `over` over `base`: objects merge, everything else replaces, and what is [`ABSENT`] is taken out.
pub(super) fn laid_over(base: Value, over: &Value) -> Value {
    match (base, over) {
        (Value::Object(mut base), Value::Object(over)) => {
            for (name, value) in over {
                let below = base.remove(name).unwrap_or_default();
                if value != ABSENT {
                    base.insert(name.clone(), laid_over(below, value));
                }
            }
            Value::Object(base)
        }
        (_, over @ Value::Object(_)) => laid_over(Value::Object(serde_json::Map::new()), over),
        (_, Value::Array(items)) => items.iter().map(|item| laid_over(Value::Null, item)).collect(),
        (_, over) => over.clone(),
    }
}

/// `{"a": {"b": value}}` for the path `a.b`.
pub(super) fn nested(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |value, name| Value::Object([(name.to_owned(), value)].into_iter().collect()))
}

#[test]
fn patterns_tell_what_differs() {
    use serde_json::json;
    let actual = json!({"a": [1, "long text"], "b": {"c": null, "d": 2}, "m": ["Wrong.", "Send 1."]});
    for (extent, expected, told) in [
        (Extent::Whole, actual.clone(), None),
        (Extent::Named, json!({"a": [1.0, "long…"], "b": {"d": ANY}}), None),
        (Extent::Named, json!({"a": [1, MORE], "e": ABSENT}), None),
        (Extent::Named, json!({"e": {"f": ABSENT}}), None),
        (Extent::Named, json!({"e": {"f": 1}}), Some("at e.f: expected 1, not nothing")),
        (Extent::Whole, json!({"a": ANY}), Some("at b: expected nothing, not {\"c\":null,\"d\":2}")),
        (Extent::Named, json!({"a": [1]}), Some("at a: expected [1], not [1,\"long text\"]")),
        (Extent::Named, json!({"a": [1, "short…"]}), Some("at a.1: expected \"short…\", not \"long text\"")),
        (Extent::Named, json!({"m": ["Wrong."]}), None),
        (Extent::Named, json!({"m": ["Wrong"]}), Some("at m: expected [\"Wrong\"], not [\"Wrong.\",\"Send 1.\"]")),
        (Extent::Named, json!({"b": {"c": ANY}}), Some("at b.c: expected \"<any>\", not null")),
        (Extent::Named, json!({"b": {"d": ABSENT}}), Some("at b.d: expected \"<absent>\", not 2")),
    ] {
        assert_eq!(difference(extent, &expected, &actual).as_deref(), told, "{expected}");
    }
}
