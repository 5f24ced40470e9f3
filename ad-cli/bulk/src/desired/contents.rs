//! Differences of two contents of an ad, and the patch from one to the other.
//!
//! The tables of [`ad_core`] decide which fields are replaced and which are merged.

use ad_client::Ad;
use ad_core::{
    categories::{Category, ad_fields},
    model::{self, Content},
};
use ad_files::text::{readable, shortened};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::conversion;

/// The field that only requests have: answers show the stored images instead.
pub const IMAGES: &str = "image_urls";

const CATEGORY_FIELDS: &str = "category_fields";

/// Longest value that people see.
const LONGEST: usize = 59;

/// A field that changes. Absent and `null` are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Dotted path from the ad.
    pub field: String,
    /// The value before the change.
    pub old: Value,
    /// The value after the change.
    pub new: Value,
}

/// The content of an ad of the service, with the source addresses of its stored images.
pub fn stored(shown: &Ad) -> model::Ad {
    let images: Vec<_> = shown.image_refs.iter().map(|image| image.url.clone()).collect();
    with_images(conversion::stored(shown), &images)
}

/// The same with other images.
pub(super) fn with_images(mut stored: model::Ad, images: &[String]) -> model::Ad {
    let mut content = std::mem::take(&mut stored.content).into_fields();
    if images.is_empty() {
        content.remove(IMAGES);
    } else {
        content.insert(IMAGES.to_owned(), json!(images));
    }
    model::Ad { content: Content::from(content), ..stored }
}

/// What the service would show of an ad with this content: fields that were not written as what they mean then.
pub fn shown(stored: &model::Ad, content: &Content) -> Map<String, Value> {
    let ad = model::Ad { content: content.clone(), ..stored.clone() };
    let mut shown = match json!(ad.view(None)) {
        Value::Object(shown) => shown,
        _ => Map::new(),
    };
    shown.insert(IMAGES.to_owned(), content.image_urls().collect());
    shown
}

/// The fields that differ, in the order of the tables' names.
pub fn differences(category: &Category, old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut before = "";
    for row in ad_fields::WRITTEN {
        let name = row.path.split('.').next().unwrap_or(row.path);
        // Rows of one object stand together.
        if name != before {
            walk(category, name, old.get(name), new.get(name), &mut changes);
        }
        before = name;
    }
    changes
}

fn walk(category: &Category, path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    let (old, new) = (old.unwrap_or(&Value::Null), new.unwrap_or(&Value::Null));
    if same(old, new) {
        return;
    }
    let is_group = |value: &Value| value.is_object() || value.is_null();
    if is_group(old) && is_group(new) && !is_field(category, path) {
        let none = Map::new();
        let (old, new) = (old.as_object().unwrap_or(&none), new.as_object().unwrap_or(&none));
        let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
        for name in names {
            walk(category, &format!("{path}.{name}"), old.get(name), new.get(name), changes);
        }
        return;
    }
    changes.push(Change { field: path.to_owned(), old: old.clone(), new: new.clone() });
}

/// Whether a path is a field, and not a group of fields.
fn is_field(category: &Category, path: &str) -> bool {
    match path.strip_prefix(CATEGORY_FIELDS) {
        Some("") => false,
        Some(below) => category.field(below.trim_start_matches('.')).is_some(),
        None => ad_fields::WRITTEN.iter().any(|row| row.path == path),
    }
}

/// Whether two values mean the same: `1` is `1.0`, and `null` is nothing.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let within = |one: &Map<String, Value>, other: &Map<String, Value>| {
                one.iter().all(|(name, value)| same(value, other.get(name).unwrap_or(&Value::Null)))
            };
            within(one, other) && within(other, one)
        }
        (one, other) => one == other,
    }
}

/// A value as people write it, shortened.
pub fn shorten_value(value: &Value) -> String {
    shortened(&readable(value), LONGEST).into_owned()
}

/// Sets a field in a patch; `null` clears it. Whether the patch has changed.
pub fn put(patch: &mut Map<String, Value>, field: &str, new: &Value) -> bool {
    match field.split_once('.') {
        None => patch.insert(field.to_owned(), new.clone()).as_ref() != Some(new),
        Some((name, below)) => match patch.entry(name).or_insert_with(|| json!({})) {
            Value::Object(group) => put(group, below, new),
            _ => false,
        },
    }
}

/// Removes a field from a patch, and groups that become empty.
pub fn take(patch: &mut Map<String, Value>, field: &str) -> Option<Value> {
    let Some((name, below)) = field.split_once('.') else { return patch.remove(field) };
    let group = patch.get_mut(name)?.as_object_mut()?;
    let taken = take(group, below);
    if group.is_empty() {
        patch.remove(name);
    }
    taken
}

#[cfg(test)]
mod tests {
    use ad_core::categories;

    use super::*;

    fn changes(old: &Value, new: &Value) -> Vec<(String, Value, Value)> {
        let category = categories::by_vehicle_type("car").unwrap();
        let changes = differences(category, old.as_object().unwrap(), new.as_object().unwrap());
        changes.into_iter().map(|change| (change.field, change.old, change.new)).collect()
    }

    #[test]
    fn groups_are_told_by_their_fields_and_fields_whole() {
        let old = json!({"body": "Old", "location": {"zipcode": "90326"}, "price": [{"type": "list", "amount": 1}],
            "category_fields": {"condition": {"mileage": {"value": 2800, "unit": "mil"}}, "color": "red"}});
        let new = json!({"body": null, "location": {"zipcode": "11122"}, "price": [],
            "category_fields": {"condition": {"mileage": {"value": 2900, "unit": "mil"}, "service_book": true}, "color": "red"}});
        assert_eq!(
            changes(&old, &new),
            [
                ("body".to_owned(), json!("Old"), Value::Null),
                ("price".to_owned(), json!([{"type": "list", "amount": 1}]), json!([])),
                ("location".to_owned(), json!({"zipcode": "90326"}), json!({"zipcode": "11122"})),
                (
                    "category_fields.condition.mileage".to_owned(),
                    json!({"value": 2800, "unit": "mil"}),
                    json!({"value": 2900, "unit": "mil"})
                ),
                ("category_fields.condition.service_book".to_owned(), Value::Null, json!(true)),
            ]
        );
    }

    #[test]
    fn what_means_the_same_does_not_differ() {
        let old = json!({"price": [{"amount": 100, "type": "list"}], "contact": null,
            "category_fields": {"physics": {}, "color": null}});
        let new = json!({"price": [{"type": "list", "amount": 100.0}], "category_fields": {}});
        assert_eq!(changes(&old, &new), []);
        assert_eq!(changes(&new, &old), []);
    }

    #[test]
    fn a_patch_is_put_together_field_by_field_and_taken_apart() {
        let mut patch = Map::new();
        assert!(put(&mut patch, "category_fields.condition.mileage", &json!({"value": 1, "unit": "mil"})));
        assert!(put(&mut patch, "category_fields.color", &Value::Null));
        assert!(!put(&mut patch, "category_fields.color", &Value::Null), "it is there already");
        assert!(put(&mut patch, "visible", &json!(false)));
        assert_eq!(
            json!(patch),
            json!({"visible": false, "category_fields": {"color": null, "condition": {"mileage": {"value": 1, "unit": "mil"}}}})
        );
        assert_eq!(take(&mut patch, "category_fields.condition.mileage").unwrap()["value"], 1);
        assert_eq!(take(&mut patch, "category_fields.color"), Some(Value::Null));
        assert_eq!(json!(patch), json!({"visible": false}));
        assert_eq!(take(&mut patch, "category_fields.color"), None);
    }
}
