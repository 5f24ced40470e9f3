//! Values of JSON by their paths.

use serde_json::{Map, Value};

/// The value at a dotted path of an object, in which a number is the index of an item.
pub fn at<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = object.get(names.next()?)?;
    names.try_fold(first, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

/// The values within a value that are not `null`, with their dotted paths: those for which `is_one` holds, and those that contain no others.
pub fn leaves(value: &Value, is_one: fn(&Value) -> bool) -> Vec<(String, &Value)> {
    type Found<'a> = Vec<(String, &'a Value)>;
    fn walk<'a>(path: &str, value: &'a Value, is_one: fn(&Value) -> bool, found: &mut Found<'a>) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match value {
            Value::Null => {}
            Value::Object(members) if !is_one(value) => {
                members.iter().for_each(|(name, value)| walk(&below(name), value, is_one, found));
            }
            Value::Array(items) if !is_one(value) => {
                (0..)
                    .zip(items)
                    .for_each(|(index, value): (usize, _)| walk(&below(&index.to_string()), value, is_one, found));
            }
            leaf => found.push((path.to_owned(), leaf)),
        }
    }
    let mut found = Vec::new();
    walk("", value, is_one, &mut found);
    found
}

/// A path without the places in arrays: `price.0.type` as `price.type`.
pub fn attribute(path: &str) -> String {
    let is_name = |name: &&str| !name.bytes().all(|byte| byte.is_ascii_digit());
    path.split('.').filter(is_name).collect::<Vec<_>>().join(".")
}
