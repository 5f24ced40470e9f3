//! Deep merge of an update into stored content: an absent member is kept, `null` clears, any other value replaces, and objects
//! merge member by member ('Endpoints' rule 2, decision 6).

use serde_json::{Map, Value};

use crate::categories::ad_fields;

/// Stored content with a patch merged into it.
///
/// A `null` of the patch stays in the result as `null`. The check that follows clears or refuses it, because the tables say which
/// fields are nullable.
///
/// ```
/// use serde_json::json;
/// let stored = json!({"body": "Old", "category_fields": {"color": "red", "model_year": 2019}});
/// let patch = json!({"category_fields": {"color": null, "model_year": 2020}});
/// let merged = ad_core::rulebook::merge::merge(stored.as_object().unwrap(), patch.as_object().unwrap().clone());
/// assert_eq!(json!(merged), json!({"body": "Old", "category_fields": {"color": null, "model_year": 2020}}));
/// ```
#[must_use]
pub fn merge(stored: &Map<String, Value>, patch: Map<String, Value>) -> Map<String, Value> {
    let mut patch = patch;
    let mut merged = Map::new();
    for (name, kept) in stored {
        let value = match patch.remove(name) {
            None => kept.clone(),
            Some(new) if ad_fields::replaced_whole(name) => new,
            Some(new) => merge_value(kept, new),
        };
        merged.insert(name.clone(), value);
    }
    merged.extend(patch);
    merged
}

fn merge_value(kept: &Value, new: Value) -> Value {
    match (kept, new) {
        (Value::Object(kept), Value::Object(mut new)) => {
            for (name, kept) in kept {
                let value = match new.remove(name) {
                    None => kept.clone(),
                    Some(value) => merge_value(kept, value),
                };
                new.insert(name.clone(), value);
            }
            Value::Object(new)
        }
        (_, new) => new,
    }
}
