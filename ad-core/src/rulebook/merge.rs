//! Deep merge of an update into stored content: a member that is absent is kept, one that is `null` is to be cleared,
//! one with a value replaces, and objects merge member by member ('Endpoints' rule 2, decision 6).

use serde_json::{Map, Value};

use crate::categories::ad_fields;

/// Stored content with a patch laid over it.
///
/// A `null` of the patch stays in the result as `null`: the check that follows clears it or refuses it, because only the
/// tables know which fields may be cleared.
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
            Some(new) => over(kept, new),
        };
        merged.insert(name.clone(), value);
    }
    merged.extend(patch);
    merged
}

fn over(kept: &Value, new: Value) -> Value {
    match (kept, new) {
        (Value::Object(kept), Value::Object(mut new)) => {
            for (name, kept) in kept {
                let value = match new.remove(name) {
                    None => kept.clone(),
                    Some(value) => over(kept, value),
                };
                new.insert(name.clone(), value);
            }
            Value::Object(new)
        }
        (_, new) => new,
    }
}
