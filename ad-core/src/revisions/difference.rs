//! Differences between two contents, as JSON: an object is a JSON Merge Patch (RFC 7396), an array a JSON Patch (RFC 6902).
//!
//! A merge patch cannot set a value to null and replaces arrays as a whole, so of changes of these a JSON Patch is made as well, and the
//! shorter one is taken that is exact. Without them, a merge patch always is the shorter one.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::{
    categories::ad_fields,
    model::{Content, ValueChange},
};

/// What makes one content out of another; `None` if they are the same.
pub fn difference(from: &Content, to: &Content) -> Option<String> {
    let mut builder = MergePatchBuilder { is_exact: true, has_arrays: false };
    let mut merge = builder.between(from.fields(), to.fields());
    let cleared = |content: &Content| content.cleared_mileage().map(|cleared| Value::from(cleared.name()));
    let (cleared_from, cleared_to) = (cleared(from), cleared(to));
    if cleared_from != cleared_to {
        merge.insert(Content::CLEARED_MILEAGE.to_owned(), cleared_to.clone().unwrap_or_default());
    }
    if merge.is_empty() {
        return None;
    }
    let merge = builder.is_exact.then(|| Value::Object(merge).to_string());
    if let (Some(merge), false) = (&merge, builder.has_arrays) {
        return Some(merge.clone());
    }
    let mut patch = PatchBuilder::default();
    patch.between_members(from.fields(), to.fields());
    patch.at(Content::CLEARED_MILEAGE, |patch| patch.between_optional(cleared_from.as_ref(), cleared_to.as_ref()));
    let patch = serde_json::to_string(&patch.operations).ok();
    merge.into_iter().chain(patch).min_by_key(String::len)
}

/// The update that makes one content out of another by the merge of the API ('Endpoints' rule 2): null clears a field.
pub(crate) fn update_to(to: &Content, from: &Content) -> Map<String, Value> {
    let mut update = MergePatchBuilder { is_exact: true, has_arrays: false }.between(from.fields(), to.fields());
    for (name, value) in &mut update {
        if let (true, Some(whole)) = (ad_fields::replaced_whole(name), to.fields().get(name)) {
            value.clone_from(whole);
        }
    }
    update
}

/// What differs between two contents, in the order of the pointers. Objects are compared by their members.
pub fn changes(before: &Content, after: &Content) -> Vec<ValueChange> {
    let mut found = Vec::new();
    add_changes(before.fields(), after.fields(), &mut String::new(), &mut found);
    found
}

fn add_changes(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &mut String,
    found: &mut Vec<ValueChange>,
) {
    for (name, before, after) in members(before, after) {
        let length = path.len();
        path.push('/');
        path.push_str(&escaped(name));
        match (before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null)) {
            (Value::Object(before), Value::Object(after)) => add_changes(before, after, path, found),
            (before, after) if is_same(before, after) => {}
            (from, to) => found.push(ValueChange { pointer: path.clone(), from: from.clone(), to: to.clone() }),
        }
        path.truncate(length);
    }
}

/// Why a difference cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum WrongDifference {
    /// It is not JSON of a known form.
    #[error("a difference is not a patch: {0}")]
    NotAPatch(#[from] serde_json::Error),
    /// It is a difference of other content.
    #[error("a difference does not match the content: nothing is at {0:?}")]
    NothingThere(String),
}

/// The content that a difference leads to.
///
/// # Errors
/// When the text is no difference, or one of other content.
pub fn apply(text: &str, content: Content) -> Result<Content, WrongDifference> {
    let mut fields = Value::Object(content.into_stored_fields());
    if text.starts_with('[') {
        for operation in serde_json::from_str::<Vec<PatchOperation>>(text)? {
            operation.apply(&mut fields)?;
        }
    } else {
        merge_into(&mut fields, serde_json::from_str(text)?);
    }
    match fields {
        Value::Object(fields) => Ok(Content::from_stored_fields(fields)),
        _ => Err(WrongDifference::NothingThere(String::new())),
    }
}

/// Whether two values have the same text. Zero and negative zero are equal, but not the same.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other && sign(one) == sign(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            members(one, other).all(|(_, one, other)| one.zip(other).is_some_and(|(one, other)| is_same(one, other)))
        }
        _ => one == other,
    }
}

fn sign(number: &Number) -> Option<bool> {
    number.as_f64().map(f64::is_sign_negative)
}

/// Members of both objects by name, each once. Both are sorted by name.
fn members<'a>(
    from: &'a Map<String, Value>,
    to: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a String, Option<&'a Value>, Option<&'a Value>)> {
    let (mut from, mut to) = (from.iter().peekable(), to.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (from.peek(), to.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let one = if order.is_le() { from.next() } else { None };
        let other = if order.is_ge() { to.next() } else { None };
        let (name, _) = one.or(other)?;
        Some((name, one.map(|(_, value)| value), other.map(|(_, value)| value)))
    })
}

/// Builds a merge patch (RFC 7396), and notes whether it can express the difference.
struct MergePatchBuilder {
    /// Whether the merge patch says it all.
    is_exact: bool,
    /// Whether it replaces an array by another array.
    has_arrays: bool,
}

impl MergePatchBuilder {
    fn between(&mut self, from: &Map<String, Value>, to: &Map<String, Value>) -> Map<String, Value> {
        let mut patch = Map::new();
        for (name, from, to) in members(from, to) {
            let member = match (from, to) {
                (_, None) => Value::Null,
                (Some(Value::Object(from)), Some(Value::Object(to))) => {
                    let inner = self.between(from, to);
                    if inner.is_empty() {
                        continue;
                    }
                    Value::Object(inner)
                }
                (Some(from), Some(to)) if is_same(from, to) => continue,
                (from, Some(to)) => {
                    self.is_exact &= !has_null(to);
                    self.has_arrays |= to.is_array() && from.is_some_and(Value::is_array);
                    to.clone()
                }
            };
            patch.insert(name.clone(), member);
        }
        patch
    }
}

/// Whether a merge patch with the value would remove something.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// Applies a merge patch (RFC 7396, 2).
fn merge_into(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            members.remove(&name);
        } else {
            merge_into(members.entry(name).or_insert(Value::Null), value);
        }
    }
}

/// An operation of a JSON Patch, of those that are made here.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum PatchOperation {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
}

impl PatchOperation {
    fn apply(self, fields: &mut Value) -> Result<(), WrongDifference> {
        let (Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. }) = &self;
        let path = path.clone();
        self.applied(&path, fields).ok_or(WrongDifference::NothingThere(path))
    }

    /// `None`: it does not match.
    fn applied(self, path: &str, fields: &mut Value) -> Option<()> {
        let (parent, name) = path.rsplit_once('/')?;
        match (fields.pointer_mut(parent)?, self) {
            (Value::Object(members), operation) => {
                let name = name.replace("~1", "/").replace("~0", "~");
                match operation {
                    Self::Add { value, .. } => drop(members.insert(name, value)),
                    Self::Remove { .. } => drop(members.remove(&name)?),
                    Self::Replace { value, .. } => *members.get_mut(&name)? = value,
                }
            }
            (Value::Array(items), operation) => {
                let index: usize = name.parse().ok()?;
                match operation {
                    Self::Add { value, .. } if index <= items.len() => items.insert(index, value),
                    Self::Remove { .. } if index < items.len() => drop(items.remove(index)),
                    Self::Replace { value, .. } => *items.get_mut(index)? = value,
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// Builds the operations of a JSON Patch (RFC 6902).
#[derive(Default)]
struct PatchBuilder {
    path: String,
    operations: Vec<PatchOperation>,
}

impl PatchBuilder {
    /// Does something with a member of what the path leads to.
    fn at(&mut self, name: &str, find: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&escaped(name));
        find(self);
        self.path.truncate(length);
    }

    fn between_members(&mut self, from: &Map<String, Value>, to: &Map<String, Value>) {
        for (name, from, to) in members(from, to) {
            self.at(name, |patch| patch.between_optional(from, to));
        }
    }

    fn between_optional(&mut self, from: Option<&Value>, to: Option<&Value>) {
        match (from, to) {
            (Some(from), Some(to)) => self.between(from, to),
            (Some(_), None) => self.operations.push(PatchOperation::Remove { path: self.path.clone() }),
            (None, Some(to)) => {
                self.operations.push(PatchOperation::Add { path: self.path.clone(), value: to.clone() });
            }
            (None, None) => {}
        }
    }

    fn between(&mut self, from: &Value, to: &Value) {
        match (from, to) {
            (Value::Object(from), Value::Object(to)) => self.between_members(from, to),
            (Value::Array(from), Value::Array(to)) => self.between_items(from, to),
            (from, to) if is_same(from, to) => {}
            (_, to) => self.operations.push(PatchOperation::Replace { path: self.path.clone(), value: to.clone() }),
        }
    }

    /// Items at both ends that are the same stay. Of the others, as many are compared as both have.
    fn between_items(&mut self, from: &[Value], to: &[Value]) {
        let same = |(one, other): &(&Value, &Value)| is_same(one, other);
        let begin = from.iter().zip(to).take_while(same).count();
        let (from, to) = (&from[begin..], &to[begin..]);
        let end = from.iter().rev().zip(to.iter().rev()).take_while(same).count();
        let (from, to) = (&from[..from.len() - end], &to[..to.len() - end]);
        for (index, (from, to)) in from.iter().zip(to).enumerate() {
            self.at(&(begin + index).to_string(), |patch| patch.between(from, to));
        }
        let both = from.len().min(to.len());
        for _ in both..from.len() {
            self.at(&(begin + both).to_string(), |patch| patch.between_optional(Some(&Value::Null), None));
        }
        for (index, added) in to.iter().enumerate().skip(both) {
            self.at(&(begin + index).to_string(), |patch| patch.between_optional(None, Some(added)));
        }
    }
}

/// A name in a JSON Pointer (RFC 6901).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::ClearedMileage;

    fn content(value: &Value) -> Content {
        value.as_object().unwrap().clone().into()
    }

    #[track_caller]
    fn leads(from: &Value, to: &Value) -> String {
        let (from, to) = (content(from), content(to));
        let text = difference(&from, &to).unwrap();
        assert_eq!(apply(&text, from).unwrap(), to, "{text}");
        text
    }

    #[test]
    fn the_shorter_exact_form_is_taken() {
        let photos = |count| (0..count).map(|n| format!("https://cdn.example/cars/{n}.jpg")).collect::<Vec<_>>();
        for (from, to, expected) in [
            (json!({"body": "New"}), json!({"body": "Old", "url": "u"}), json!({"body": "Old", "url": "u"})),
            (json!({"body": "New"}), json!({}), json!({"body": null})),
            (
                json!({"a": {"b": 1, "c": {"d": 1}}}),
                json!({"a": {"b": 2, "c": {}}}),
                json!({"a": {"b": 2, "c": {"d": null}}}),
            ),
            (json!({"a": [1, 2]}), json!({"a": [1, 3]}), json!({"a": [1, 3]})),
            // Null is a value.
            (json!({"url": "u"}), json!({"url": null}), json!([{"op": "replace", "path": "/url", "value": null}])),
            (json!({}), json!({"url": null}), json!([{"op": "add", "path": "/url", "value": null}])),
            (json!({"url": null}), json!({}), json!({"url": null})),
            (json!({}), json!({"a": {"b": null}}), json!([{"op": "add", "path": "/a", "value": {"b": null}}])),
            (json!({"a": 1}), json!({"a": {}}), json!({"a": {}})),
            // Numbers are what was written.
            (json!({"a": 1}), json!({"a": 1.0}), json!({"a": 1.0})),
            (json!({"a": -0.0}), json!({"a": 0.0}), json!({"a": 0.0})),
            // Few items of a long list.
            (json!({"i": photos(9)}), json!({"i": photos(8)}), json!([{"op": "remove", "path": "/i/8"}])),
            (
                json!({"i": photos(8)}),
                json!({"i": photos(9)}),
                json!([{"op": "add", "path": "/i/8", "value": photos(9)[8]}]),
            ),
            (
                json!({"i": &photos(9)[2..]}),
                json!({"i": photos(9)}),
                json!([{"op": "add", "path": "/i/0", "value": photos(1)[0]}, {"op": "add", "path": "/i/1", "value": photos(2)[1]}]),
            ),
        ] {
            assert_eq!(serde_json::from_str::<Value>(&leads(&from, &to)).unwrap(), expected, "{from} {to}");
        }
        assert_eq!(difference(&content(&json!({"a": [null]})), &content(&json!({"a": [null]}))), None);
    }

    #[test]
    fn what_a_cleared_mileage_was_is_part_of_it() {
        for fields in [json!({}), json!({"url": null})] {
            let cleared = |value| content(&fields).with_cleared_mileage(value);
            let contents = [None, Some(ClearedMileage::Zero), Some(ClearedMileage::NonZero)].map(cleared);
            for from in &contents {
                for to in &contents {
                    match difference(from, to) {
                        Some(text) => assert_eq!(apply(&text, from.clone()).unwrap(), *to, "{text}"),
                        None => assert_eq!(from, to),
                    }
                }
            }
        }
    }

    #[test]
    fn a_difference_of_other_content_is_found() {
        for text in [
            "",
            "[",
            "{",
            "[1]",
            r#"[{"op":"copy","path":"/a","from":"/b"}]"#,
            r#"[{"op":"remove","path":"/a"}]"#,
            r#"[{"op":"replace","path":"/a","value":1}]"#,
            r#"[{"op":"remove","path":""}]"#,
            "1",
            "null",
            r#"[{"op":"add","path":"/items/3","value":1}]"#,
            r#"[{"op":"remove","path":"/items/2"}]"#,
            r#"[{"op":"replace","path":"/items/-","value":1}]"#,
            r#"[{"op":"add","path":"/items/0/a","value":1}]"#,
        ] {
            apply(text, content(&json!({"items": [1, 2]}))).unwrap_err();
        }
    }

    #[test]
    fn names_may_have_any_characters() {
        for name in ["a/b", "a~b", "~1", "", " ", "å", "\0"] {
            leads(&json!({name: {"x": "u"}}), &json!({name: {"x": null}}));
        }
    }
}
